/* The tiled Cholesky factorisation, right-looking, lower (Buttari, Langou, Kurzak, Dongarra: A class of parallel tiled
 * linear algebra algorithms for multicore architectures, 2009, section 3).
 *
 * The matrix has t x t tiles. Task (k, m, n) updates tile (m, n) at step k, k <= n <= m: potrf has k = n = m, trsm k =
 * n < m, syrk k < n = m, gemm k < n < m.
 *
 * HEDDLE_DENSE_PRIORITY_STARPU is 2 (t - k) for potrf, 2 (t - k) - m for trsm, 2 (t - k) - m - n for updates (StarPU,
 * examples/cholesky/cholesky_implicit.c; Chameleon has the same for all but syrk).
 *
 * HEDDLE_DENSE_PRIORITY_PATH is the number of operations on the longest path from a task to the end, in units of the
 * cube of the tile's order: trsm and syrk count 1, gemm 2, and the 1/3 of potrf is neglected. The longest path from
 * gemm (k, m, n) follows row m: n - k updates of its own tile, up to step n; then, from column to column, a trsm and a
 * gemm; to the end, or to the potrf of row m, from which the longest path is 3 (t - m). Of two tasks with equal paths,
 * the one nearer to the diagonal has more successors and goes first.
 */
#include <dense/internal.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static long long path_from(long long t, long long k, long long m, long long n)
{
	if (n == k)
		return 3 * (t - k) - (m > k);
	return m == n ? 3 * t - 2 * m - k : 3 * t - 2 * k - n - 1;
}

static int priority_of(enum heddle_dense_priority rule, size_t t, size_t k, size_t m, size_t n)
{
	long long priority = 0;
	if (rule == HEDDLE_DENSE_PRIORITY_PATH)
		priority = path_from((long long)t, (long long)k, (long long)m, (long long)n) * (long long)(2 * t) -
		           (long long)(m + n);
	else if (rule == HEDDLE_DENSE_PRIORITY_STARPU) /* potrf leaves out m and n, trsm leaves out n */
		priority = 2 * (long long)(t - k) - (long long)(m > k ? m : 0) - (long long)(n > k ? n : 0);
	return priority < INT_MAX ? (int)priority : INT_MAX;
}

static int submit_potrf(heddle_dense_matrix *a, enum heddle_dense_priority rule, size_t k)
{
	size_t first_row = k * a->shape.tile;
	return heddle_submit(a->dense->rt, heddle_call(hd_dense_codelet(a, HD_DENSE_POTRF)),
	                     heddle_rw(heddle_dense_tile(a, k, k)), heddle_value(first_row),
	                     heddle_priority(priority_of(rule, a->tile_rows, k, k, k)));
}

static int submit_trsm(heddle_dense_matrix *a, enum heddle_dense_priority rule, size_t k, size_t m)
{
	return heddle_submit(a->dense->rt, heddle_call(hd_dense_codelet(a, HD_DENSE_TRSM)),
	                     heddle_rw(heddle_dense_tile(a, m, k)), heddle_r(heddle_dense_tile(a, k, k)),
	                     heddle_priority(priority_of(rule, a->tile_rows, k, m, k)));
}

static int submit_update(heddle_dense_matrix *a, enum heddle_dense_priority rule, size_t k, size_t m, size_t n)
{
	heddle_data *c = heddle_dense_tile(a, m, n);
	heddle_data *left = heddle_dense_tile(a, m, k), *right = heddle_dense_tile(a, n, k);
	int priority = priority_of(rule, a->tile_rows, k, m, n);
	if (m == n)
		return heddle_submit(a->dense->rt, heddle_call(hd_dense_codelet(a, HD_DENSE_SYRK)), heddle_rw(c),
		                     heddle_r(left), heddle_priority(priority));
	return heddle_submit(a->dense->rt, heddle_call(hd_dense_codelet(a, HD_DENSE_GEMM)), heddle_rw(c),
	                     heddle_r(left), heddle_r(right), heddle_priority(priority));
}

int heddle_dense_potrf_submit(heddle_dense_matrix *a, enum heddle_dense_priority priority)
{
	if (!a || a->shape.rows != a->shape.columns)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_potrf_submit needs a square matrix");
	size_t t = a->tile_rows;
	int status = 0;
	for (size_t k = 0; status >= 0 && k < t; k++) {
		status = submit_potrf(a, priority, k);
		for (size_t m = k + 1; status >= 0 && m < t; m++)
			status = submit_trsm(a, priority, k, m);
		for (size_t n = k + 1; n < t; n++)
			for (size_t m = n; status >= 0 && m < t; m++)
				status = submit_update(a, priority, k, m, n);
	}
	return status;
}

/* --- One-call forms ----------------------------------------------------------------------------------------------- */

/* Copies the matrix into contiguous tiles, factorises them, copies them back. */
static int submit_tiled(heddle_dense_matrix *a, enum heddle_dense_priority priority)
{
	heddle_dense_matrix *tiles;
	int status = heddle_dense_matrix_create(a->dense, &a->shape, NULL, 0, &tiles);
	if (status < 0)
		return status;
	status = heddle_dense_copy_submit(tiles, a);
	if (status >= 0)
		status = heddle_dense_potrf_submit(tiles, priority);
	if (status >= 0)
		status = heddle_dense_copy_submit(a, tiles);
	return hd_dense_finish(tiles, status);
}

static int problem_matrix(heddle_dense *dense, const struct heddle_dense_problem *p, void *a, size_t lda,
                          heddle_dense_matrix **out)
{
	if (!dense || !p)
		return heddle_error(HEDDLE_E_INVALID, "a factorisation needs a dense context and a problem");
	struct heddle_dense_shape shape = {
	    .precision = p->precision, .rows = p->n, .columns = p->n, .tile = p->tile, .lower = 1};
	return heddle_dense_matrix_create(dense, &shape, a, lda, out);
}

/* Factorises `a` and writes the times to *report. */
static int factor(heddle_dense_matrix *a, const struct heddle_dense_problem *p, int through_copies,
                  struct heddle_dense_report *report)
{
	heddle_runtime *rt = a->dense->rt;
	double start = heddle_now(rt);
	int status = through_copies ? submit_tiled(a, p->priority) : heddle_dense_potrf_submit(a, p->priority);
	status = hd_dense_wait(a->dense, status);
	report->seconds = (heddle_now(rt) - start) * 1e-6;
	report->gflops = report->seconds > 0 ? heddle_dense_potrf_flops(p->n) / report->seconds * 1e-9 : 0;
	report->residual = NAN;
	return status;
}

int heddle_dense_potrf(heddle_dense *dense, const struct heddle_dense_problem *problem, void *a, size_t lda,
                       struct heddle_dense_report *report)
{
	heddle_dense_matrix *matrix;
	if (!a)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_potrf needs a matrix; heddle_dense_potrf_graph goes without");
	int status = problem_matrix(dense, problem, a, lda, &matrix);
	if (status < 0)
		return status;
	struct heddle_dense_report result;
	status = hd_dense_check_space(matrix);
	if (status >= 0)
		status = factor(matrix, problem, problem->layout == HEDDLE_DENSE_TILED, &result);
	status = hd_dense_finish(matrix, status);
	if (status >= 0 && report)
		*report = result;
	return status;
}

enum { CACHE_LINE = 64 };

/* Allocates a column-major matrix. Its columns begin on cache lines, but not a power of two apart, because they would
 * share cache sets. */
static int allocate(const struct heddle_dense_problem *p, void **a, size_t *lda)
{
	size_t size = hd_dense_elem_size(p->precision), line = CACHE_LINE / size;
	if (p->n > SIZE_MAX / size / 2 / (p->n + 2 * line))
		return heddle_error(HEDDLE_E_INVALID, "a matrix of order %zu does not fit in the address space", p->n);
	*lda = ((p->n + line - 1) / line | 1) * line;
	*a = aligned_alloc(CACHE_LINE, *lda * (p->n ? p->n : 1) * size);
	return *a ? 0 : hd_dense_no_memory("the random matrix");
}

static int run_on(heddle_dense_matrix *a, const struct heddle_dense_problem *p, struct heddle_dense_report *report)
{
	int status = hd_dense_wait(a->dense, heddle_dense_spd_submit(a, p->seed));
	if (status >= 0)
		status = factor(a, p, 0, report);
	if (status >= 0 && p->check)
		status = heddle_dense_potrf_residual(a, p->seed, &report->residual);
	return status;
}

int heddle_dense_potrf_run(heddle_dense *dense, const struct heddle_dense_problem *problem,
                           struct heddle_dense_report *report)
{
	void *buffer = NULL;
	size_t lda = 0;
	int status = 0;
	if (problem && problem->layout == HEDDLE_DENSE_IN_PLACE)
		status = allocate(problem, &buffer, &lda);
	heddle_dense_matrix *matrix;
	if (status >= 0)
		status = problem_matrix(dense, problem, buffer, lda, &matrix);
	if (status >= 0) {
		struct heddle_dense_report result;
		status = hd_dense_finish(matrix, run_on(matrix, problem, &result));
		if (status >= 0 && report)
			*report = result;
	}
	free(buffer);
	return status;
}

int heddle_dense_potrf_graph(heddle_dense *dense, const struct heddle_dense_problem *problem,
                             struct heddle_dense_report *report)
{
	heddle_dense_matrix *matrix;
	int status = problem_matrix(dense, problem, NULL, 0, &matrix);
	if (status < 0)
		return status;
	struct heddle_dense_report result;
	status = hd_dense_finish(matrix, factor(matrix, problem, 0, &result));
	if (status >= 0 && report)
		*report = result;
	return status;
}
