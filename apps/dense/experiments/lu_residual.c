/* The residual of an LU factorisation, in little memory.
 *
 * It is computed column of tiles by column: T := A(:, j), generated again from the seed, with its rows interchanged;
 * T(i) := T(i) - L(i, k) U(k, j) for all k; then the sum of squares of T. Columns share a few T in turn: the tasks of a
 * column wait for the tasks of the column that used the same T before. So sums are also added up in an order that does
 * not depend on the schedule. The tiles on the diagonal contain both L and U; the two parts are copied to separate
 * tiles first.
 */
#include <dense/routines/lu.h>
#include <math.h>
#include <stdlib.h>

enum { SLOTS = 4, A = 0, DIFFERENCE = 1 };

struct residual {
	heddle_dense_matrix *a;       /* borrows for the call */
	heddle_dense_pivots *pivots;  /* borrows for the call; NULL: none */
	struct hd_dense_window what;  /* kind and seed of the random matrix */
	size_t t;                     /* tiles on the diagonal */
	heddle_dense_matrix *slots;   /* owns; column s of its tiles is the T of slot s */
	heddle_data **lower, **upper; /* owned; the parts of the tiles on the diagonal */
	heddle_data *sums[SLOTS][2];  /* owns */
	double values[SLOTS][2];      /* the memory of `sums`: sums of squares of A and of the difference */
};

static size_t minimum(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int residual_open(struct residual *r)
{
	heddle_runtime *rt = r->a->dense->rt;
	const struct heddle_dense_shape *a = &r->a->shape;
	struct heddle_dense_shape shape = {
	    .precision = a->precision, .rows = a->rows, .columns = SLOTS * a->tile, .tile = a->tile};
	size_t size = hd_dense_elem_size(a->precision);
	r->lower = calloc(2 * r->t + 1, sizeof(heddle_data *));
	if (!r->lower)
		return hd_dense_no_memory("the residual");
	r->upper = r->lower + r->t;
	int status = heddle_dense_matrix_create(r->a->dense, &shape, NULL, 0, &r->slots);
	for (size_t k = 0; status >= 0 && k < r->t; k++) {
		struct hd_dense_window w = hd_dense_tile_window(r->a, k, k);
		size_t steps = minimum(w.rows, w.columns);
		status = heddle_matrix(rt, NULL, w.rows, steps, w.rows, size, &r->lower[k]);
		if (status >= 0)
			status = heddle_matrix(rt, NULL, steps, w.columns, steps, size, &r->upper[k]);
	}
	for (size_t s = 0; status >= 0 && s < SLOTS; s++) {
		status = heddle_variable(rt, &r->values[s][A], sizeof(double), &r->sums[s][A]);
		if (status >= 0)
			status =
			    heddle_variable(rt, &r->values[s][DIFFERENCE], sizeof(double), &r->sums[s][DIFFERENCE]);
	}
	return status;
}

/* Waits for the tasks, by unregistering the sums. */
static int residual_close(struct residual *r)
{
	int status = 0;
	for (size_t s = 0; s < 2 * SLOTS; s++) {
		heddle_data *sum = r->sums[s / 2][s % 2];
		int ended = sum ? hd_dense_unregister(sum) : 0;
		if (status == 0)
			status = ended;
	}
	for (size_t k = 0; r->lower && k < 2 * r->t; k++)
		if (r->lower[k])
			heddle_unregister_async(r->lower[k]);
	heddle_dense_matrix_destroy(r->slots);
	free(r->lower);
	return status;
}

/* The window of tile (i, j) of the random matrix. */
static struct hd_dense_window window_of(const struct residual *r, size_t i, size_t j)
{
	struct hd_dense_window w = hd_dense_tile_window(r->a, i, j);
	w.kind = r->what.kind;
	w.seed = r->what.seed;
	return w;
}

/* T(i) := T(i) - L(i, :) U(:, j), and its norm. */
static void subtract(struct hd_dense_flow *flow, const struct residual *r, size_t i, size_t j)
{
	struct hd_dense_gemm_values v = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, {-1, 0}, {1, 0}, 0};
	struct hd_dense_window w = window_of(r, i, j);
	heddle_data *t = hd_dense_tile(r->slots, i, j % SLOTS);
	for (size_t k = 0; k <= minimum(i, j) && k < r->t; k++)
		hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(t),
		                heddle_r(i == k ? r->lower[k] : hd_dense_tile(r->a, i, k)),
		                heddle_r(j == k ? r->upper[k] : hd_dense_tile(r->a, k, j)), heddle_value(v));
	hd_dense_insert(flow, HD_DENSE_NORM, heddle_rw(r->sums[j % SLOTS][DIFFERENCE]), heddle_r(t), heddle_value(w));
}

static void residual_tasks(struct hd_dense_flow *flow, const struct residual *r)
{
	struct hd_dense_args x = {.m = {r->a}, .pivots = r->pivots};
	for (size_t k = 0; k < r->t; k++)
		hd_dense_insert(flow, HD_DENSE_LU_PARTS, heddle_w(r->lower[k]), heddle_w(r->upper[k]),
		                heddle_r(hd_dense_tile(r->a, k, k)));
	for (size_t j = 0; j < r->a->nt; j++) {
		size_t s = j % SLOTS;
		for (size_t i = 0; i < r->a->mt; i++) {
			struct hd_dense_window w = window_of(r, i, j);
			heddle_data *t = hd_dense_tile(r->slots, i, s);
			hd_dense_insert(flow, HD_DENSE_RANDOM_TILE, heddle_w(t), heddle_value(w));
			hd_dense_insert(flow, HD_DENSE_NORM, heddle_rw(r->sums[s][A]), heddle_r(t), heddle_value(w));
		}
		if (r->pivots)
			hd_dense_laswp_insert(flow, &x, r->slots, &(struct hd_dense_interchanges){s, 0, r->t, 0});
		for (size_t i = 0; i < r->a->mt; i++)
			subtract(flow, r, i, j);
	}
}

static double residual_value(const struct residual *r)
{
	double norm_a = 0, norm = 0;
	for (size_t s = 0; s < SLOTS; s++) {
		norm_a += r->values[s][A];
		norm += r->values[s][DIFFERENCE];
	}
	double scale = (double)r->a->shape.columns * sqrt(norm_a) * hd_dense_roundoff(r->a->shape.precision);
	return scale > 0 ? sqrt(norm) / scale : sqrt(norm);
}

int hd_dense_getrf_residual(heddle_dense_matrix *a, heddle_dense_pivots *pivots, enum heddle_dense_random kind,
                            uint64_t seed, double *residual)
{
	struct residual r = {
	    .a = a, .pivots = pivots, .what = {.kind = kind, .seed = seed}, .t = minimum(a->mt, a->nt)};
	int status = residual_open(&r);
	if (status >= 0) {
		struct hd_dense_flow flow = hd_dense_flow_of(a);
		residual_tasks(&flow, &r);
		status = flow.status;
	}
	int ended = residual_close(&r);
	if (status >= 0)
		status = ended;
	if (status >= 0)
		*residual = residual_value(&r);
	return status;
}
