/* The residual of a Cholesky factorisation, in little memory.
 *
 * It is computed tile by tile: T := A(i, j), generated again from the seed; T := T - L(i, k) L(j, k)^H for all k < j; T
 * := T - L(i, j) tril(L(j, j))^H; then the sum of squares of T. The upper triangle is the mirror image. To bound the
 * memory, tiles share a few T in turn: the tasks of a tile wait for the tasks of the tile that used the same T before.
 * So the sums of a T are also added up in an order that does not depend on the schedule.
 */
#include <dense/internal.h>
#include <math.h>
#include <stdlib.h>

/* One T of the few that tiles share, and the sums of squares of A and of the residual over all tiles that used it. */
struct slot {
	heddle_data *tile, *sums; /* owns */
	double values[2];         /* the memory of `sums` */
};

struct residual {
	heddle_dense_matrix *a; /* borrows for the call */
	enum heddle_dense_uplo uplo;
	uint64_t seed;
	heddle_data *work; /* owns; a datum without a value: the shape of the tasks' scratch tiles */
	size_t n_slots;
	struct slot *slots; /* owns */
};

static int residual_open(struct residual *r)
{
	heddle_runtime *rt = r->a->dense->rt;
	size_t b = r->a->shape.tile < r->a->shape.rows ? r->a->shape.tile : r->a->shape.rows;
	size_t size = hd_dense_elem_size(r->a->shape.precision);
	r->n_slots = 4 * heddle_runtime_platform(rt)->n_workers;
	r->slots = calloc(r->n_slots, sizeof *r->slots);
	if (!r->slots)
		return hd_dense_no_memory("the residual");
	int status = heddle_matrix(rt, NULL, b, b, b, size, &r->work);
	for (size_t s = 0; status >= 0 && s < r->n_slots; s++) {
		status = heddle_matrix(rt, NULL, b, b, b, size, &r->slots[s].tile);
		if (status >= 0)
			status = heddle_vector(rt, r->slots[s].values, 2, sizeof(double), &r->slots[s].sums);
	}
	return status;
}

/* Waits for the tasks, by unregistering the sums. */
static int residual_close(struct residual *r)
{
	int status = 0;
	for (size_t s = 0; r->slots && s < r->n_slots; s++) {
		int ended = r->slots[s].sums ? hd_dense_unregister(r->slots[s].sums) : 0;
		if (r->slots[s].tile)
			heddle_unregister_async(r->slots[s].tile);
		if (status == 0)
			status = ended;
	}
	if (r->work)
		heddle_unregister_async(r->work);
	return status;
}

/* T := T - L(i, k) L(j, k)^H, or T - U(k, i)^H U(k, j). */
static void subtract(struct hd_dense_flow *flow, const struct residual *r, heddle_data *t, heddle_data *left,
                     heddle_data *right)
{
	int lower = r->uplo == HEDDLE_DENSE_LOWER;
	struct hd_dense_syrk_values herk = {r->uplo, lower ? HEDDLE_DENSE_NO_TRANS : HEDDLE_DENSE_CONJ_TRANS,
	                                    heddle_dense_real(-1), heddle_dense_real(1)};
	struct hd_dense_gemm_values gemm = {lower ? HEDDLE_DENSE_NO_TRANS : HEDDLE_DENSE_CONJ_TRANS,
	                                    lower ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS,
	                                    heddle_dense_real(-1), heddle_dense_real(1), 0};
	if (left == right)
		hd_dense_insert(flow, HD_DENSE_HERK, heddle_rw(t), heddle_r(left), heddle_value(herk));
	else
		hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(t), heddle_r(left), heddle_r(right), heddle_value(gemm));
}

static void residual_tile(struct hd_dense_flow *flow, const struct residual *r, const struct slot *slot, size_t i,
                          size_t j)
{
	heddle_dense_matrix *a = r->a;
	int lower = r->uplo == HEDDLE_DENSE_LOWER;
	size_t diagonal = lower ? j : i;
	struct hd_dense_window w = hd_dense_tile_window(a, i, j);
	w.seed = r->seed;
	w.kind = HEDDLE_DENSE_SPD;
	w.uplo = r->uplo;
	hd_dense_insert(flow, HD_DENSE_RESIDUAL_BEGIN, heddle_w(slot->tile), heddle_rw(slot->sums), heddle_value(w));
	for (size_t k = 0; k < diagonal; k++)
		subtract(flow, r, slot->tile, lower ? hd_dense_tile(a, i, k) : hd_dense_tile(a, k, i),
		         lower ? hd_dense_tile(a, j, k) : hd_dense_tile(a, k, j));
	struct heddle_item items[] = {
	    {0},
	    {0},
	    heddle_value(w),
	    heddle_rw(slot->tile),
	    heddle_scratch(r->work),
	    heddle_rw(slot->sums),
	    heddle_r(hd_dense_tile(a, diagonal, diagonal)),
	    heddle_r(hd_dense_tile(a, i, j)),
	};
	hd_dense_insert_items(flow, HD_DENSE_RESIDUAL_END, i == j ? 7 : 8, items);
}

static int residual_submit(const struct residual *r)
{
	struct hd_dense_flow flow = hd_dense_flow_of(r->a);
	size_t next = 0;
	for (size_t j = 0; j < r->a->nt; j++) {
		for (size_t i = 0; i < r->a->mt; i++) {
			if (r->uplo == HEDDLE_DENSE_LOWER ? i < j : i > j)
				continue;
			residual_tile(&flow, r, &r->slots[next], i, j);
			next = (next + 1) % r->n_slots;
		}
	}
	return flow.status;
}

static double residual_value(const struct residual *r)
{
	double norm_a = 0, norm_residual = 0;
	for (size_t s = 0; s < r->n_slots; s++) {
		norm_a += r->slots[s].values[0];
		norm_residual += r->slots[s].values[1];
	}
	double n = (double)r->a->shape.rows;
	return sqrt(norm_residual) / (n * sqrt(norm_a) * hd_dense_roundoff(r->a->shape.precision));
}

int heddle_dense_potrf_residual(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, uint64_t seed, double *residual)
{
	if (!a || !residual)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_potrf_residual needs a matrix and a place for its result");
	int status = hd_dense_check_triangle("heddle_dense_potrf_residual", a, uplo);
	if (status < 0)
		return status;
	if (a->shape.rows == 0) {
		*residual = 0;
		return 0;
	}
	struct residual r = {.a = a, .uplo = uplo, .seed = seed};
	status = residual_open(&r);
	if (status >= 0)
		status = residual_submit(&r);
	int ended = residual_close(&r);
	if (status >= 0)
		status = ended;
	if (status >= 0)
		*residual = residual_value(&r);
	free(r.slots);
	return status;
}
