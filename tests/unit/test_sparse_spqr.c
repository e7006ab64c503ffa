/* The rank of sparse matrices beside SuiteSparseQR: dead columns, |r_jj| of the others, and least squares, for the same
 * order of columns and the same tolerance. */
#include "ok.h"
#include "../machine.h"
#include <SuiteSparseQR_C.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sparse/tasks/tasks.h>

/* A matrix, its factorisation here, and what SuiteSparseQR makes of it. */
struct both {
	struct heddle_sparse_matrix a;
	heddle_runtime *rt;
	heddle_sparse *sparse;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
	double *b, *x;
	cholmod_common common;
	cholmod_sparse *f;     /* with its columns in the order of elimination */
	cholmod_sparse *r;     /* a row for each column that is alive */
	cholmod_dense *solved; /* for b */
	int64_t rank;
};

static void open_ours(struct both *t, size_t tile, double subtree)
{
	struct heddle_config config;
	const struct heddle_sparse_analysis_options analysis = {.subtree = subtree};
	const struct heddle_sparse_options options = {.tile = tile, .inner = 8};
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.n_cuda = config.n_opencl = config.n_emulated = 0;
	config.platform = NULL;
	config.model_dir = "none";
	OK(heddle_start(&config, &t->rt));
	OK(heddle_sparse_open(t->rt, &t->sparse));
	OK(heddle_sparse_analyse(&t->a, &analysis, &t->analysis));
	OK(heddle_sparse_qr_create(t->sparse, t->analysis, HEDDLE_DENSE_DOUBLE, &options, &t->qr));
	OK(heddle_sparse_factorise(t->qr, t->a.values));
	t->b = malloc((t->a.rows + 1) * sizeof *t->b);
	t->x = calloc(t->a.columns + 1, sizeof *t->x);
	for (size_t i = 0; i < t->a.rows; i++)
		t->b[i] = sin((double)i);
	const struct heddle_dense_array b = {HEDDLE_DENSE_DOUBLE, t->a.rows, 1, t->b, t->a.rows};
	const struct heddle_dense_array x = {HEDDLE_DENSE_DOUBLE, t->a.columns, 1, t->x, t->a.columns};
	OK(heddle_sparse_solve(t->qr, &b, &x));
}

static void open_theirs(struct both *t)
{
	cholmod_sparse view = {.nrow = t->a.rows,
	                       .ncol = t->a.columns,
	                       .nzmax = (size_t)t->a.column_start[t->a.columns],
	                       .p = t->a.column_start,
	                       .i = t->a.row,
	                       .x = t->a.values,
	                       .itype = CHOLMOD_LONG,
	                       .xtype = CHOLMOD_REAL,
	                       .packed = 1};
	cholmod_dense b = {t->a.rows, 1, t->a.rows, t->a.rows, t->b, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE};
	int64_t *order = (int64_t *)heddle_sparse_column_order(t->analysis);
	cholmod_l_start(&t->common);
	t->f = cholmod_l_submatrix(&view, NULL, -1, order, (int64_t)t->a.columns, 1, 1, &t->common);
	t->rank = SuiteSparseQR_C(SPQR_ORDERING_FIXED, t->qr->tolerance, 0, 2, t->f, NULL, &b, NULL, &t->solved, &t->r,
	                          NULL, NULL, NULL, NULL, &t->common);
	assert_true(t->rank >= 0);
}

static void close_both(struct both *t)
{
	cholmod_l_free_sparse(&t->f, &t->common);
	cholmod_l_free_sparse(&t->r, &t->common);
	cholmod_l_free_dense(&t->solved, &t->common);
	cholmod_l_finish(&t->common);
	OK(heddle_sparse_qr_destroy(t->qr));
	heddle_sparse_analysis_free(t->analysis);
	heddle_sparse_close(t->sparse);
	OK(heddle_stop(t->rt));
	heddle_sparse_matrix_free(&t->a);
	free(t->b), free(t->x);
}

/* || b - A x ||. */
static double residual(const struct both *t, const double *x)
{
	double sum = 0, *r = malloc((t->a.rows + 1) * sizeof *r);
	memcpy(r, t->b, t->a.rows * sizeof *r);
	for (size_t j = 0; j < t->a.columns; j++)
		for (int64_t e = t->a.column_start[j]; e < t->a.column_start[j + 1]; e++)
			r[t->a.row[e]] -= ((const double *)t->a.values)[e] * x[j];
	for (size_t i = 0; i < t->a.rows; i++)
		sum += r[i] * r[i];
	free(r);
	return sqrt(sum);
}

/* The diagonal of R, with 0 where a pivot is dead. */
static double *our_diagonal(const struct both *t)
{
	struct heddle_sparse_matrix r;
	double *diagonal = calloc(t->a.columns + 1, sizeof *diagonal);
	OK(heddle_sparse_r(t->qr, &r));
	for (size_t j = 0; j < r.columns; j++)
		for (int64_t e = r.column_start[j]; e < r.column_start[j + 1]; e++)
			if (r.row[e] == (int64_t)j)
				diagonal[j] = ((const double *)r.values)[e];
	heddle_sparse_matrix_free(&r);
	return diagonal;
}

/* SuiteSparseQR's R has a row for each column that is alive: that column is the first in it. */
static double *their_diagonal(const struct both *t)
{
	double *diagonal = calloc(t->a.columns + 1, sizeof *diagonal);
	char *has_column = calloc(t->a.rows + t->a.columns + 1, 1);
	const int64_t *start = t->r->p, *row = t->r->i;
	for (size_t j = 0; j < t->r->ncol; j++)
		for (int64_t e = start[j]; e < start[j + 1]; e++)
			if (!has_column[row[e]] && ((const double *)t->r->x)[e] != 0) {
				has_column[row[e]] = 1;
				diagonal[j] = ((const double *)t->r->x)[e];
			}
	free(has_column);
	return diagonal;
}

static void compare(struct heddle_sparse_matrix a, size_t tile, double subtree)
{
	struct both t = {.a = a};
	open_ours(&t, tile, subtree);
	open_theirs(&t);
	assert_int_equal(heddle_sparse_deficient_columns(t.qr, NULL), (int64_t)a.columns - t.rank);
	double *ours = our_diagonal(&t), *theirs = their_diagonal(&t), norm = 0;
	for (size_t j = 0; j < a.columns; j++)
		norm = fmax(norm, fabs(theirs[j]));
	for (size_t j = 0; j < a.columns; j++)
		if (fabs(fabs(ours[j]) - fabs(theirs[j])) > 1e-9 * norm)
			fail_msg("|r_jj| of column %zu is %g, SuiteSparseQR has %g", j, fabs(ours[j]), fabs(theirs[j]));
	double *x = malloc((a.columns + 1) * sizeof *x);
	for (size_t j = 0; j < a.columns; j++)
		x[heddle_sparse_column_order(t.analysis)[j]] = ((const double *)t.solved->x)[j];
	double our_residual = residual(&t, t.x), their_residual = residual(&t, x);
	assert_true(fabs(our_residual - their_residual) <= 1e-9 * (1 + their_residual));
	free(ours), free(theirs), free(x);
	close_both(&t);
}

static void compare_all_ways(const char *name, void (*change)(struct heddle_sparse_matrix *a))
{
	static const size_t tiles[] = {16, 64};
	static const double subtrees[] = {-1, 0, 1};
	for (size_t tile = 0; tile < 2; tile++)
		for (size_t s = 0; s < 3; s++) {
			struct heddle_sparse_matrix a;
			OK(heddle_sparse_generate(name, &a));
			if (change)
				change(&a);
			compare(a, tiles[tile], subtrees[s]);
		}
}

static void generated_matrices_have_its_rank(void **state)
{
	static const char *const names[] = {"random:300,200,3,1,20,0", "random:300,200,3,2,60,3",
	                                    "random:150,150,2,3,40", "grid2d:12", "mk7-b2"};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		compare_all_ways(names[i], NULL);
}

/* Every third column becomes zero. */
static void spoil_columns(struct heddle_sparse_matrix *a)
{
	double *values = a->values;
	for (size_t j = 0; j < a->columns; j++)
		for (int64_t e = a->column_start[j]; j % 3 == 0 && e < a->column_start[j + 1]; e++)
			values[e] = 0;
}

/* All elements are 1: many columns, and blocks of them, are the same. */
static void make_ones(struct heddle_sparse_matrix *a)
{
	for (int64_t e = 0; e < a->column_start[a->columns]; e++)
		((double *)a->values)[e] = 1;
}

static void columns_of_zeros_are_dead(void **state)
{
	(void)state;
	compare_all_ways("random:200,120,6,5", spoil_columns);
	compare_all_ways("grid3d:6", spoil_columns);
}

static void blocks_of_low_rank_are_found(void **state)
{
	(void)state;
	compare_all_ways("random:60,60,30,6", make_ones);
	compare_all_ways("random:90,80,70,7", make_ones);
	compare_all_ways("random:400,300,2,8", make_ones);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(generated_matrices_have_its_rank),
	    cmocka_unit_test(columns_of_zeros_are_dead),
	    cmocka_unit_test(blocks_of_low_rank_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
