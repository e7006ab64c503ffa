/* The tiled Cholesky factorisation, right-looking (Buttari, Langou, Kurzak, Dongarra: A class of parallel tiled linear
 * algebra algorithms for multicore architectures, 2009, section 3).
 *
 * The matrix has t x t tiles. For the lower triangle, task (k, m, n) updates tile (m, n) at step k, k <= n <= m: potrf
 * has k = n = m, trsm k = n < m, syrk k < n = m, gemm k < n < m. The upper triangle is its mirror image.
 *
 * HEDDLE_DENSE_PRIORITY_STARPU is 2 (t - k) for potrf, 2 (t - k) - m for trsm, 2 (t - k) - m - n for updates (StarPU,
 * examples/cholesky/cholesky_implicit.c; Chameleon has the same priorities except for syrk).
 */
#include <dense/internal.h>

/* Tile (m, n) of the lower triangle, or its mirror image. */
static heddle_data *tile(const struct hd_dense_args *x, size_t m, size_t n)
{
	return x->uplo == HEDDLE_DENSE_LOWER ? hd_dense_tile(x->m[0], m, n) : hd_dense_tile(x->m[0], n, m);
}

/* StarPU's priority; potrf leaves out m and n, trsm leaves out n. */
static void set_expert(struct hd_dense_flow *flow, size_t t, size_t k, size_t m, size_t n)
{
	hd_dense_expert(flow, 2 * (long long)(t - k) - (long long)(m > k ? m : 0) - (long long)(n > k ? n : 0));
}

static void factor(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k)
{
	struct hd_dense_diagonal_values v = {
	    .uplo = x->uplo, .row = hd_dense_first_row(x->m[0], k), .info = flow->options.info};
	hd_dense_insert(flow, HD_DENSE_POTRF, heddle_rw(tile(x, k, k)), heddle_value(v));
}

/* A(m, k) := A(m, k) L(k, k)^-H, or A(k, m) := U(k, k)^-H A(k, m). */
static void solve(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t m)
{
	struct hd_dense_triangle_values v = {
	    .side = x->uplo == HEDDLE_DENSE_LOWER ? HEDDLE_DENSE_RIGHT : HEDDLE_DENSE_LEFT,
	    .uplo = x->uplo,
	    .trans = HEDDLE_DENSE_CONJ_TRANS,
	    .alpha = heddle_dense_real(1),
	};
	hd_dense_insert(flow, HD_DENSE_TRSM, heddle_rw(tile(x, m, k)), heddle_r(tile(x, k, k)), heddle_value(v));
}

/* A(n, n) := A(n, n) - A(n, k) A(n, k)^H, or A(n, n) - A(k, n)^H A(k, n). */
static void update_diagonal(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t n)
{
	struct hd_dense_syrk_values v = {x->uplo, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), heddle_dense_real(1)};
	if (x->uplo == HEDDLE_DENSE_UPPER)
		v.trans = HEDDLE_DENSE_CONJ_TRANS;
	hd_dense_insert(flow, HD_DENSE_HERK, heddle_rw(tile(x, n, n)), heddle_r(tile(x, n, k)), heddle_value(v));
}

/* A(n, m) := A(n, m) - A(k, n)^H A(k, m), for m > n. */
static void update_row(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t n)
{
	struct hd_dense_gemm_values v = {HEDDLE_DENSE_CONJ_TRANS, HEDDLE_DENSE_NO_TRANS, {-1, 0}, {1, 0}, 0};
	size_t t = x->m[0]->mt;
	for (size_t m = n + 1; m < t; m++) {
		set_expert(flow, t, k, m, n);
		hd_dense_insert(flow, HD_DENSE_GEMM, heddle_rw(tile(x, m, n)), heddle_r(tile(x, n, k)),
		                heddle_r(tile(x, m, k)), heddle_value(v));
	}
}

/* A(m, n) := A(m, n) - A(m, k) A(n, k)^H, for m > n. */
static void update_column(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t n)
{
	size_t t = x->m[0]->mt;
	struct hd_dense_block block = hd_dense_block(flow, x->m[0], (t - k - 1) * (t - k - 2) / 2, 1);
	struct hd_dense_block_product p = {
	    .c = x->m[0],
	    .a = x->m[0],
	    .b = x->m[0],
	    .k = k,
	    .left = n,
	    .right = n + 1,
	    .values = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_CONJ_TRANS, {-1, 0}, {1, 0}, 0},
	};
	for (p.first = n + 1; p.first < t; p.first = p.end) {
		p.end = hd_dense_block_end(p.first, block.down, t);
		set_expert(flow, t, k, p.first, n);
		hd_dense_insert_block(flow, &p);
	}
}

void hd_dense_potrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	size_t t = x->m[0]->mt;
	for (size_t k = 0; k < t; k++) {
		set_expert(flow, t, k, k, k);
		factor(flow, x, k);
		for (size_t m = k + 1; m < t; m++) {
			set_expert(flow, t, k, m, k);
			solve(flow, x, k, m);
		}
		for (size_t n = k + 1; n < t; n++) {
			set_expert(flow, t, k, n, n);
			update_diagonal(flow, x, k, n);
			if (x->uplo == HEDDLE_DENSE_LOWER)
				update_column(flow, x, k, n);
			else
				update_row(flow, x, k, n);
		}
	}
}

static int check(const struct hd_dense_args *x)
{
	return hd_dense_check_triangle("potrf", x->m[0], x->uplo);
}

const struct hd_dense_operation hd_dense_potrf_operation = {"potrf", "A", check, hd_dense_potrf_tasks};

int heddle_dense_potrf_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options)
{
	return hd_dense_submit(&hd_dense_potrf_operation, &(struct hd_dense_args){.m = {a}, .uplo = uplo}, options);
}

int heddle_dense_potrf(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.uplo = uplo};
	struct hd_dense_operand operand = {.name = "A", .array = a, .uplo = uplo, .mode = HEDDLE_RW};
	return hd_dense_call(dense, &hd_dense_potrf_operation, &x, &operand, options);
}
