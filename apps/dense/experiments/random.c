/* Random matrices (as PLASMA's dplrnt and dplgsy), and the Frobenius norm of what remains of them. */
#include <dense/internal.h>
#include <math.h>
#include <stdlib.h>

int heddle_dense_random_submit(heddle_dense_matrix *a, enum heddle_dense_random kind, uint64_t seed)
{
	if (!a || (unsigned)kind > HEDDLE_DENSE_SYMMETRIC)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_random_submit needs a matrix and a kind of it");
	if (kind != HEDDLE_DENSE_RANDOM && kind != HEDDLE_DENSE_DOMINANT && a->shape.rows != a->shape.columns)
		return heddle_error(HEDDLE_E_INVALID, "a symmetric random matrix must be square, this one is %zu x %zu",
		                    a->shape.rows, a->shape.columns);
	int status = hd_dense_check_space(a); /* checks the address space before the first kernel */
	if (status < 0)
		return status;
	struct hd_dense_flow flow = hd_dense_flow_of(a);
	for (size_t j = 0; j < a->nt; j++) {
		for (size_t i = 0; i < a->mt; i++) {
			if (!hd_dense_has_tile(a, i, j))
				continue;
			struct hd_dense_window w = hd_dense_tile_window(a, i, j);
			w.kind = kind;
			w.seed = seed;
			hd_dense_insert(&flow, HD_DENSE_RANDOM_TILE, heddle_w(hd_dense_tile(a, i, j)), heddle_value(w));
		}
	}
	return flow.status;
}

/* Each slot's sum is added up in a fixed order, whatever the schedule. */
static int norm_submit(heddle_dense_matrix *a, enum heddle_dense_random kind, heddle_data *const *sums, size_t n)
{
	struct hd_dense_flow flow = hd_dense_flow_of(a);
	size_t next = 0;
	for (size_t j = 0; j < a->nt; j++) {
		for (size_t i = 0; i < a->mt; i++) {
			if (!hd_dense_has_tile(a, i, j))
				continue;
			struct hd_dense_window w = hd_dense_tile_window(a, i, j);
			w.kind = kind;
			hd_dense_insert(&flow, HD_DENSE_NORM, heddle_rw(sums[next]), heddle_r(hd_dense_tile(a, i, j)),
			                heddle_value(w));
			next = (next + 1) % n;
		}
	}
	return flow.status;
}

static int norm_of(heddle_dense_matrix *a, enum heddle_dense_random kind, double *norm)
{
	enum { SLOTS = 16 };
	double values[SLOTS] = {0}, sum = 0;
	heddle_data *sums[SLOTS] = {NULL};
	int status = 0;
	for (size_t s = 0; status >= 0 && s < SLOTS; s++)
		status = heddle_variable(a->dense->rt, &values[s], sizeof values[s], &sums[s]);
	if (status >= 0)
		status = norm_submit(a, kind, sums, SLOTS);
	for (size_t s = 0; s < SLOTS && sums[s]; s++) {
		int ended = hd_dense_unregister(sums[s]); /* waits for the tasks */
		if (status >= 0)
			status = ended;
		sum += values[s];
	}
	*norm = sqrt(sum);
	return status;
}

int hd_dense_norm(heddle_dense_matrix *a, double *norm)
{
	return norm_of(a, HEDDLE_DENSE_RANDOM, norm);
}

int hd_dense_norm_symmetric(heddle_dense_matrix *a, double *norm)
{
	return norm_of(a, HEDDLE_DENSE_SYMMETRIC, norm);
}
