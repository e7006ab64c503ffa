/* The random symmetric positive definite matrix (as PLASMA's dplgsy: random, with the order added to the diagonal) and
 * the residual of its factorisation.
 *
 * The residual is computed tile by tile: T := A(i, j), generated again from the seed; T := T - L(i, k) L(j, k)^T for
 * all k < j; T := T - L(i, j) tril(L(j, j))^T; then the sum of squares of T. To bound the memory, tiles share a few T
 * in turn: the tasks of a tile wait for those of the tile that used the same T before. This also makes the order in
 * which the sums of a T are added up independent of the schedule.
 */
#include <dense/internal.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

double heddle_dense_spd_element(uint64_t seed, size_t n, size_t i, size_t j)
{
	double x = hd_dense_random(hd_dense_hash(seed, (i < j ? i : j) + 1), i < j ? j : i);
	return i == j ? x + (double)n : x;
}

static int square_check(const heddle_dense_matrix *a, const char *what)
{
	if (!a || a->shape.rows != a->shape.columns)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a square matrix", what);
	return 0;
}

int heddle_dense_spd_submit(heddle_dense_matrix *a, uint64_t seed)
{
	int status = square_check(a, "heddle_dense_spd_submit");
	if (status >= 0)
		status = hd_dense_check_space(a); /* this matrix is factorised next */
	if (status < 0)
		return status;
	heddle_codelet *spd = hd_dense_codelet(a, HD_DENSE_SPD);
	for (size_t j = 0; j < a->tile_columns; j++) {
		for (size_t i = a->shape.lower ? j : 0; i < a->tile_rows; i++) {
			struct hd_dense_window w = hd_dense_tile_window(a, seed, i, j);
			status = heddle_submit(a->dense->rt, heddle_call(spd), heddle_w(heddle_dense_tile(a, i, j)),
			                       heddle_value(w));
			if (status < 0)
				return status;
		}
	}
	return 0;
}

/* One T of the few that tiles share, and the sums of squares of A and of the residual over all tiles that used it. */
struct slot {
	heddle_data *tile, *sums; /* owns */
	double values[2];         /* the memory of `sums` */
};

struct residual {
	heddle_dense_matrix *l; /* borrows for the call */
	uint64_t seed;
	heddle_data *work; /* owns; the shape of the tasks' scratch tiles; it has no value */
	size_t n_slots;
	struct slot *slots; /* owns */
};

static int residual_open(struct residual *r)
{
	heddle_runtime *rt = r->l->dense->rt;
	size_t b = r->l->shape.tile < r->l->shape.rows ? r->l->shape.tile : r->l->shape.rows;
	size_t size = hd_dense_elem_size(r->l->shape.precision);
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

/* Unregistering the sums waits for the tasks. */
static int residual_close(struct residual *r)
{
	int status = 0;
	for (size_t s = 0; r->slots && s < r->n_slots; s++) {
		int ended = r->slots[s].sums ? heddle_unregister(r->slots[s].sums) : 0;
		if (r->slots[s].tile)
			heddle_unregister_async(r->slots[s].tile);
		if (status == 0)
			status = ended;
	}
	if (r->work)
		heddle_unregister_async(r->work);
	return status;
}

static int residual_tile(const struct residual *r, const struct slot *slot, size_t i, size_t j)
{
	heddle_dense_matrix *l = r->l;
	heddle_runtime *rt = l->dense->rt;
	struct hd_dense_window w = hd_dense_tile_window(l, r->seed, i, j);
	int status = heddle_submit(rt, heddle_call(hd_dense_codelet(l, HD_DENSE_RESIDUAL_BEGIN)), heddle_w(slot->tile),
	                           heddle_rw(slot->sums), heddle_value(w));
	for (size_t k = 0; status >= 0 && k < j; k++) {
		if (i == j)
			status = heddle_submit(rt, heddle_call(hd_dense_codelet(l, HD_DENSE_SYRK)),
			                       heddle_rw(slot->tile), heddle_r(heddle_dense_tile(l, j, k)));
		else
			status =
			    heddle_submit(rt, heddle_call(hd_dense_codelet(l, HD_DENSE_GEMM)), heddle_rw(slot->tile),
			                  heddle_r(heddle_dense_tile(l, i, k)), heddle_r(heddle_dense_tile(l, j, k)));
	}
	if (status < 0)
		return status;
	struct heddle_item items[] = {
	    heddle_call(hd_dense_codelet(l, HD_DENSE_RESIDUAL_END)),
	    heddle_value(w),
	    heddle_rw(slot->tile),
	    heddle_scratch(r->work),
	    heddle_rw(slot->sums),
	    heddle_r(heddle_dense_tile(l, j, j)),
	    heddle_r(heddle_dense_tile(l, i, j)),
	};
	return heddle_submit_items(rt, i == j ? 6 : 7, items);
}

static int residual_submit(const struct residual *r)
{
	size_t next = 0;
	for (size_t j = 0; j < r->l->tile_columns; j++) {
		for (size_t i = j; i < r->l->tile_rows; i++) {
			int status = residual_tile(r, &r->slots[next], i, j);
			if (status < 0)
				return status;
			next = (next + 1) % r->n_slots;
		}
	}
	return 0;
}

static double residual_value(const struct residual *r)
{
	double norm_a = 0, norm_residual = 0;
	for (size_t s = 0; s < r->n_slots; s++) {
		norm_a += r->slots[s].values[0];
		norm_residual += r->slots[s].values[1];
	}
	double roundoff = (r->l->shape.precision == HEDDLE_DENSE_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON) / 2;
	return sqrt(norm_residual) / ((double)r->l->shape.rows * sqrt(norm_a) * roundoff);
}

int heddle_dense_potrf_residual(heddle_dense_matrix *l, uint64_t seed, double *residual)
{
	int status = square_check(l, "heddle_dense_potrf_residual");
	if (status < 0)
		return status;
	if (!residual)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_potrf_residual needs a place for its result");
	if (l->shape.rows == 0) {
		*residual = 0;
		return 0;
	}
	struct residual r = {.l = l, .seed = seed};
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
