/* The analysis of sparse matrices: what must hold of the fronts of thousands of random matrices, counts of rows of R
 * and numbers of fronts as CHOLMOD has them, operations as published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cholmod.h>
#include <sparse/internal.h>
#include "base/base.h"
#include "chance.h"
#include "ok.h"
#include "sparse_invariants.h"
#include <sparse/analysis/analysis.h>

/* --- Beside CHOLMOD ----------------------------------------------------------------------------------------------- */

/* R by elimination of columns, one at a time, in a dense pattern: row k of R has what the rows that begin in column k
 * have together, and leaves all but column k to the next one. */
static void check_counts(const struct heddle_sparse_analysis *a)
{
	size_t n = a->columns;
	char *pattern = calloc(n * n + 1, 1); /* row k: the columns of rows that begin in column k */
	for (size_t i = 0; i < a->rows; i++)
		for (int64_t e = a->row_start[i]; e < a->row_start[i + 1]; e++)
			pattern[(size_t)a->column[a->row_start[i]] * n + (size_t)a->column[e]] = 1;
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		size_t in_last = 0, last = front->first_pivot + front->n_pivots - 1;
		for (size_t k = front->first_pivot; k <= last; k++) {
			size_t next = k + 1;
			while (next < n && !pattern[k * n + next])
				next++;
			for (size_t j = next; j < n; j++)
				pattern[next * n + j] |= pattern[k * n + j];
			pattern[k * n + k] = 1;
		}
		for (size_t j = last; j < n; j++) { /* amalgamation adds nothing to the row of the last pivot */
			assert_true(!pattern[last * n + j] || in_last < front->n_columns - front->n_pivots + 1);
			if (pattern[last * n + j])
				assert_int_equal(front->columns[front->n_pivots - 1 + in_last++], j);
		}
		assert_int_equal(in_last, front->n_columns - front->n_pivots + 1);
	}
	free(pattern);
}

/* As many fronts as CHOLMOD makes supernodes, with the same order. */
static void check_supernodes(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a)
{
	cholmod_common common;
	cholmod_l_start(&common);
	common.print = 0;
	common.nmethods = 1;
	common.method[0].ordering = CHOLMOD_GIVEN;
	common.supernodal = CHOLMOD_SUPERNODAL;
	cholmod_sparse given = {.nrow = m->rows,
	                        .ncol = m->columns,
	                        .nzmax = (size_t)m->column_start[m->columns],
	                        .p = m->column_start,
	                        .i = m->row,
	                        .itype = CHOLMOD_LONG,
	                        .xtype = CHOLMOD_PATTERN,
	                        .packed = 1};
	cholmod_sparse *turned = a->transposed ? NULL : cholmod_l_transpose(&given, 0, &common);
	cholmod_factor *l = cholmod_l_analyze_p(turned ? turned : &given, a->column_order, NULL, 0, &common);
	assert_non_null(l);
	assert_int_equal(l->nsuper, a->n_fronts);
	cholmod_l_free_factor(&l, &common);
	cholmod_l_free_sparse(&turned, &common);
	cholmod_l_finish(&common);
}

/* --- Random matrices ---------------------------------------------------------------------------------------------- */

static struct heddle_sparse_analysis *analyse(const struct heddle_sparse_matrix *m,
                                              const struct heddle_sparse_analysis_options *options)
{
	heddle_sparse_analysis *a = NULL;
	OK(heddle_sparse_analyse(m, options, &a));
	check_analysis(m, a);
	return a;
}

/* A matrix in compressed columns, rows in any order, sometimes with duplicates, a dense row, a dense column. */
static struct heddle_sparse_matrix random_matrix(struct hd_rng *rng)
{
	struct heddle_sparse_matrix m = {.rows = below(rng, below(rng, 2) ? 6 : 60),
	                                 .columns = below(rng, below(rng, 2) ? 6 : 60)};
	size_t per_column = below(rng, 5), n = 0;
	int dense_row = below(rng, 8) == 0, may_repeat = below(rng, 3) == 0;
	size_t dense_column = below(rng, 8) == 0 && m.columns ? below(rng, (uint32_t)m.columns) : SIZE_MAX;
	m.column_start = filled(m.columns + 1, 0);
	m.row = filled(m.columns * (m.rows + 8), 0);
	for (size_t j = 0; j < m.columns; j++) {
		size_t wanted = j == dense_column ? m.rows : per_column ? below(rng, (uint32_t)per_column + 1) : 0;
		for (size_t e = 0; m.rows && e < wanted; e++) {
			int64_t row = j == dense_column ? (int64_t)e : (int64_t)below(rng, (uint32_t)m.rows);
			int repeated = 0;
			for (int64_t other = m.column_start[j]; other < (int64_t)n; other++)
				repeated |= m.row[other] == row;
			if (!repeated || may_repeat)
				m.row[n++] = row;
		}
		if (dense_row && m.rows)
			m.row[n++] = 0;
		m.column_start[j + 1] = (int64_t)n;
	}
	return m;
}

static int has_duplicates(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a)
{
	return a->statistics.elements != (size_t)m->column_start[m->columns];
}

static void test_random_matrices(void **state)
{
	(void)state;
	struct hd_rng rng;
	for (unsigned seed = 1; seed <= 4000; seed++) {
		hd_rng_seed(&rng, seed);
		struct heddle_sparse_matrix m = random_matrix(&rng);
		size_t n = m.rows < m.columns ? m.rows : m.columns;
		int64_t *order = filled(n, 0);
		for (size_t k = 0; k < n; k++) { /* a random order */
			size_t at = below(&rng, (uint32_t)k + 1);
			order[k] = order[at];
			order[at] = (int64_t)k;
		}
		struct heddle_sparse_analysis_options options = {
		    .ordering = (enum heddle_sparse_ordering)below(&rng, 5),
		    .order = order,
		    .subtree = below(&rng, 3) ? 0.01 * below(&rng, 100) : -1,
		    .workers = (int)below(&rng, 9)};
		struct heddle_sparse_analysis *a = analyse(&m, below(&rng, 8) ? &options : NULL);
		check_counts(a);
		if (!has_duplicates(&m, a))
			check_supernodes(&m, a);
		heddle_sparse_analysis_free(a);
		free(order);
		heddle_sparse_matrix_free(&m);
	}
}

/* --- Given matrices ----------------------------------------------------------------------------------------------- */

static struct heddle_sparse_analysis *analyse_named(const char *name, enum heddle_sparse_ordering ordering)
{
	struct heddle_sparse_matrix m;
	OK(heddle_sparse_generate(name, &m));
	struct heddle_sparse_analysis *a = analyse(&m, &(struct heddle_sparse_analysis_options){.ordering = ordering});
	heddle_sparse_matrix_free(&m);
	return a;
}

/* multiprio's paper and the collection have those of TF matrices; mk11-b4's was counted by CHOLMOD with METIS. */
static void test_operations(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		double flops;
	} known[] = {{"TF14", 4.9e9}, {"TF15", 75e9}, {"TF16", 1317e9}, {"mk11-b4", 123e9}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct heddle_sparse_analysis *a = analyse_named(known[i].name, HEDDLE_SPARSE_METIS);
		assert_true(fabs(a->statistics.flops / known[i].flops - 1) < 0.2);
		heddle_sparse_analysis_free(a);
	}
}

static void test_best_is_the_better_one(void **state)
{
	(void)state;
	static const char *const names[] = {"TF12", "mk9-b3", "grid2d:40", "flower_4_1", "random:300,200,3,1"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		double flops[3];
		for (int o = HEDDLE_SPARSE_BEST; o <= HEDDLE_SPARSE_COLAMD; o++) {
			struct heddle_sparse_analysis *a = analyse_named(names[i], (enum heddle_sparse_ordering)o);
			flops[o] = a->statistics.flops;
			heddle_sparse_analysis_free(a);
		}
		assert_true(flops[0] == flops[1] || flops[0] == flops[2]);
	}
}

/* A row with elements in all columns would fill A^T A, and so METIS would see no structure. */
static void test_dense_row_is_left_out_of_the_order(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	OK(heddle_sparse_generate("grid2d:60", &m));
	size_t n = m.columns, n_elements = (size_t)m.column_start[n];
	int64_t *row = filled(n_elements + n, 0), *column = filled(n_elements + n, 0);
	for (size_t j = 0, e = 0; j < n; j++) {
		for (int64_t of = m.column_start[j]; of < m.column_start[j + 1]; of++, e++) {
			row[e] = m.row[of];
			column[e] = (int64_t)j;
		}
		row[n_elements + j] = (int64_t)m.rows;
		column[n_elements + j] = (int64_t)j;
	}
	struct heddle_sparse_matrix with;
	OK(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, m.rows + 1, n, n_elements + n, row, column, NULL, &with));
	struct heddle_sparse_analysis_options options = {.ordering = HEDDLE_SPARSE_METIS};
	struct heddle_sparse_analysis *a = analyse(&m, &options), *b = analyse(&with, &options);
	/* the order of the grid, but for the postorder, which has become another one */
	assert_true(b->statistics.r_elements >= n * (n + 1) / 2);
	options = (struct heddle_sparse_analysis_options){HEDDLE_SPARSE_GIVEN, b->column_order, 0, 0};
	struct heddle_sparse_analysis *c = analyse(&m, &options);
	assert_true(c->statistics.flops < 1.01 * a->statistics.flops);
	heddle_sparse_analysis_free(a);
	heddle_sparse_analysis_free(b);
	heddle_sparse_analysis_free(c);
	heddle_sparse_matrix_free(&m);
	heddle_sparse_matrix_free(&with);
	free(row);
	free(column);
}

/* 1000 columns that have nothing to do with each other are a few tasks. */
static void test_forest_of_single_columns(void **state)
{
	(void)state;
	int64_t index[1000];
	struct heddle_sparse_matrix m;
	for (int64_t i = 0; i < 1000; i++)
		index[i] = i;
	OK(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 1000, 1000, 1000, index, index, NULL, &m));
	struct heddle_sparse_analysis *a = analyse(&m, &(struct heddle_sparse_analysis_options){.subtree = 0.01});
	assert_int_equal(a->n_fronts, 1000);
	assert_in_range(a->n_subtrees, 32, 500);
	heddle_sparse_analysis_free(a);
	a = analyse(&m, NULL); /* so little work needs no other worker */
	assert_int_equal(a->n_subtrees, 1);
	heddle_sparse_analysis_free(a);
	heddle_sparse_matrix_free(&m);
}

/* A diagonal and a row through all columns: one front of 4.9e9 elements, R of 2.45e9. */
static void test_sizes_beyond_32_bits(void **state)
{
	(void)state;
	enum { N = 70000 };
	struct heddle_sparse_matrix m = {.rows = N + 1, .columns = N, .column_start = filled(N + 1, 0)};
	m.row = filled(2 * N, 0);
	for (int64_t j = 0; j < N; j++) {
		m.column_start[j + 1] = 2 * j + 2;
		m.row[2 * j + 1] = j + 1;
	}
	struct heddle_sparse_analysis *a =
	    analyse(&m, &(struct heddle_sparse_analysis_options){.ordering = HEDDLE_SPARSE_NATURAL});
	assert_int_equal(a->n_fronts, 1);
	assert_int_equal(a->statistics.r_elements, (size_t)N * (N + 1) / 2);
	assert_int_equal(a->statistics.h_elements, N);
	assert_int_equal(a->statistics.peak_elements, (size_t)(N + 1) * N);
	heddle_sparse_analysis_free(a);
	heddle_sparse_matrix_free(&m);
}

/* Subtrees for this machine keep its cores busy for no longer than all work would keep the machine busy, and the
 * largest one a core for a tenth of that. Their number. */
static size_t check_cut(const struct heddle_sparse_matrix *m, struct hd_sparse_machine machine)
{
	struct heddle_sparse_analysis *a = analyse(m, &(struct heddle_sparse_analysis_options){.subtree = -1});
	double all = 0, sum = 0;
	OK(hd_sparse_subtrees(a, 0.9, machine));
	check_subtrees(a);
	for (size_t f = 0; f < a->n_fronts; f++)
		all += hd_sparse_front_work(&a->fronts[f]);
	for (size_t i = 0; i < a->n_subtrees; i++) {
		sum += a->subtrees[i].work;
		assert_true(a->subtrees[i].work <= all / machine.power / 10);
	}
	assert_true(sum / machine.cores <= all / machine.power * 1.001);
	size_t n = a->n_subtrees;
	heddle_sparse_analysis_free(a);
	return n;
}

static void test_subtrees_suit_the_machine(void **state)
{
	static const double machines[][2] = {{1, 1}, {4, 4}, {8, 8}, {2, 16}};
	const double no_way = 1e9; /* one worker is so fast that no way up the tree is long */
	(void)state;
	struct heddle_sparse_matrix m;
	size_t before = 0;
	OK(heddle_sparse_generate("grid2d:60", &m));
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		size_t n = check_cut(&m, (struct hd_sparse_machine){machines[i][0], machines[i][1], no_way, 64});
		assert_true(n > before);
		before = n;
	}
	const struct heddle_sparse_analysis_options many = {.subtree = 0.9, .workers = 256};
	struct heddle_sparse_analysis *long_way = analyse(&m, &many); /* which leaves time for larger subtrees */
	assert_in_range(long_way->n_subtrees, 2, check_cut(&m, (struct hd_sparse_machine){256, 256, no_way, 256}) - 1);
	heddle_sparse_analysis_free(long_way);
	struct heddle_sparse_analysis *a = analyse(&m, &(struct heddle_sparse_analysis_options){.subtree = -1});
	assert_int_equal(a->n_subtrees, 0);
	heddle_sparse_analysis_free(a);
	heddle_sparse_matrix_free(&m);
}

/* METIS keeps its random numbers where all threads of the process see them. */
static void *order_many(void *arg)
{
	const struct heddle_sparse_matrix *m = arg;
	uint64_t hash = 0;
	for (int i = 0; i < 20; i++) {
		heddle_sparse_analysis *a = NULL;
		struct heddle_sparse_analysis_options options = {.ordering = HEDDLE_SPARSE_METIS};
		if (heddle_sparse_analyse(m, &options, &a))
			return NULL;
		for (size_t k = 0; k < a->columns; k++)
			hash = hd_hash(hash, (uint64_t)a->column_order[k]);
		heddle_sparse_analysis_free(a);
	}
	return (void *)(uintptr_t)hash;
}

static void test_threads_find_the_same_order(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	pthread_t threads[4];
	OK(heddle_sparse_generate("grid2d:20", &m));
	void *wanted = order_many(&m), *found;
	assert_non_null(wanted);
	for (int t = 0; t < 4; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, order_many, &m), 0);
	for (int t = 0; t < 4; t++) {
		assert_int_equal(pthread_join(threads[t], &found), 0);
		assert_ptr_equal(found, wanted);
	}
	heddle_sparse_matrix_free(&m);
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void test_what_is_no_matrix(void **state)
{
	(void)state;
	int64_t start[] = {0, 1, 2}, row[] = {0, 1}, order[] = {0, 2}, twice[] = {1, 1};
	struct heddle_sparse_matrix m = {.rows = 2, .columns = 2, .column_start = start, .row = row};
	heddle_sparse_analysis *a;
	assert_int_equal(heddle_sparse_analyse(NULL, NULL, &a), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_analyse(&m, NULL, NULL), HEDDLE_E_INVALID);
	start[0] = 1;
	assert_int_equal(heddle_sparse_analyse(&m, NULL, &a), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "column_start[0] is 1"));
	start[0] = 0;
	start[1] = 3;
	assert_int_equal(heddle_sparse_analyse(&m, NULL, &a), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "column_start[2] is 2, less than the one before, 3"));
	start[1] = 1;
	row[1] = 2;
	assert_int_equal(heddle_sparse_analyse(&m, NULL, &a), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "element 1, in column 1, is in row 2"));
	row[1] = -1;
	assert_int_equal(heddle_sparse_analyse(&m, NULL, &a), HEDDLE_E_INVALID);
	row[1] = 1;
	m.precision = (enum heddle_dense_precision)7;
	assert_int_equal(heddle_sparse_analyse(&m, NULL, &a), HEDDLE_E_INVALID);
	m.precision = HEDDLE_DENSE_DOUBLE;
	struct heddle_sparse_analysis_options options = {.ordering = HEDDLE_SPARSE_GIVEN};
	assert_int_equal(heddle_sparse_analyse(&m, &options, &a), HEDDLE_E_INVALID);
	options.order = order;
	assert_int_equal(heddle_sparse_analyse(&m, &options, &a), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "order[1] is 2, which is no column"));
	options.order = twice;
	assert_int_equal(heddle_sparse_analyse(&m, &options, &a), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "order[1] is 1, which is there before"));
	options.ordering = (enum heddle_sparse_ordering)9;
	assert_int_equal(heddle_sparse_analyse(&m, &options, &a), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_analysis_statistics(NULL).fronts, 0);
	assert_null(heddle_sparse_column_order(NULL));
	heddle_sparse_analysis_free(NULL);
}

/* Each allocation of CHOLMOD, METIS excepted, fails once. */
static int until_failure;

static void *failing_malloc(size_t size)
{
	return until_failure-- == 0 ? NULL : malloc(size);
}

static void *failing_calloc(size_t n, size_t size)
{
	return until_failure-- == 0 ? NULL : calloc(n, size);
}

static void *failing_realloc(void *p, size_t size)
{
	return until_failure-- == 0 ? NULL : realloc(p, size);
}

/* From version 6 on SuiteSparse has functions for this. */
static void allocate_with(void *(*by_malloc)(size_t), void *(*by_calloc)(size_t, size_t),
                          void *(*by_realloc)(void *, size_t))
{
#if SUITESPARSE_MAIN_VERSION > 5
	SuiteSparse_config_malloc_func_set(by_malloc);
	SuiteSparse_config_calloc_func_set(by_calloc);
	SuiteSparse_config_realloc_func_set(by_realloc);
#else
	SuiteSparse_config.malloc_func = by_malloc;
	SuiteSparse_config.calloc_func = by_calloc;
	SuiteSparse_config.realloc_func = by_realloc;
#endif
}

static void test_no_memory_in_cholmod(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	OK(heddle_sparse_generate("random:60,40,3,1", &m));
	allocate_with(failing_malloc, failing_calloc, failing_realloc);
	int status = HEDDLE_E_MEMORY, n_failed = 0;
	for (int n = 0; status; n++) {
		heddle_sparse_analysis *a = NULL;
		until_failure = n;
		status = heddle_sparse_analyse(
		    &m, &(struct heddle_sparse_analysis_options){.ordering = HEDDLE_SPARSE_COLAMD}, &a);
		n_failed += status != 0;
		assert_true(status == 0 || status == HEDDLE_E_MEMORY);
		heddle_sparse_analysis_free(a);
	}
	assert_true(n_failed > 5);
	allocate_with(malloc, calloc, realloc);
	heddle_sparse_matrix_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_matrices),           cmocka_unit_test(test_operations),
	    cmocka_unit_test(test_best_is_the_better_one),    cmocka_unit_test(test_dense_row_is_left_out_of_the_order),
	    cmocka_unit_test(test_forest_of_single_columns),  cmocka_unit_test(test_sizes_beyond_32_bits),
	    cmocka_unit_test(test_subtrees_suit_the_machine), cmocka_unit_test(test_threads_find_the_same_order),
	    cmocka_unit_test(test_what_is_no_matrix),         cmocka_unit_test(test_no_memory_in_cholmod),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
