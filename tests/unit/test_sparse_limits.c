/* Sparse QR at the limits of its arguments: sizes that no memory holds, no right-hand sides, options that make no
 * sense, values near the largest and the smallest numbers. */
#include "sparse_fixture.h"
#include <math.h>
#include <sparse/experiments/experiment.h>

/* --- Sizes -------------------------------------------------------------------------------------------------------- */

static void sizes_that_no_memory_holds_are_refused(void **state)
{
	struct heddle_sparse_matrix a;
	(void)state;
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, SIZE_MAX, 1, 0, NULL, NULL, NULL, &a),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 1, SIZE_MAX, 0, NULL, NULL, NULL, &a),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, INT64_MAX, 1, 0, NULL, NULL, NULL, &a),
	                 HEDDLE_E_MEMORY);
}

/* --- Problems ----------------------------------------------------------------------------------------------------- */

enum { M = 30, N = 20 };

/* A dense matrix by columns, of which the last column is the sum of the first two. */
struct problem {
	int64_t start[N + 1], row[M * N];
	double values[M * N];
	struct heddle_sparse_matrix a;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
};

static void make(struct problem *p, int is_deficient, double scale)
{
	for (int e = 0; e < M * N; e++) {
		p->row[e] = e % M;
		p->values[e] = scale * sin(1 + (double)e * e);
		if (is_deficient && e >= M * (N - 1))
			p->values[e] = p->values[e % M] + p->values[M + e % M];
	}
	for (int j = 0; j <= N; j++)
		p->start[j] = (int64_t)j * M;
	p->a = (struct heddle_sparse_matrix){HEDDLE_DENSE_DOUBLE, M, N, p->start, p->row, p->values};
}

static void open_qr(struct fixture *f, struct problem *p, double share, const struct heddle_sparse_options *options)
{
	const struct heddle_sparse_analysis_options how = {.ordering = HEDDLE_SPARSE_NATURAL, .subtree = share};
	OK(heddle_sparse_analyse(&p->a, &how, &p->analysis));
	OK(heddle_sparse_qr_create(f->sparse, p->analysis, HEDDLE_DENSE_DOUBLE, options, &p->qr));
}

static void close_qr(struct problem *p)
{
	OK(heddle_sparse_qr_destroy(p->qr));
	heddle_sparse_analysis_free(p->analysis);
}

static int set_up(void **state)
{
	const struct heddle_config config = config_of("eager", 2, 0);
	return set_up_with(state, &config);
}

static void no_right_hand_sides_are_solved_at_any_rank(void **state)
{
	for (int is_deficient = 0; is_deficient < 2; is_deficient++) {
		struct problem p;
		double nothing[1];
		const struct heddle_dense_array b = {HEDDLE_DENSE_DOUBLE, M, 0, nothing, M},
		                                x = {HEDDLE_DENSE_DOUBLE, N, 0, nothing, N};
		make(&p, is_deficient, 1);
		open_qr(*state, &p, -1, NULL);
		OK(heddle_sparse_factorise(p.qr, p.values));
		assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), is_deficient);
		OK(heddle_sparse_solve(p.qr, &b, &x));
		OK(heddle_sparse_solve_submit(p.qr, &b, &x));
		OK(heddle_sparse_apply_q(p.qr, HEDDLE_DENSE_NO_TRANS, &b));
		close_qr(&p);
	}
}

/* Nothing behind the arrays is touched: BLAS counts columns by int, and a solution is not written over its right-hand
 * side while other tasks read that. */
static void arrays_that_cannot_be_solved_are_refused(void **state)
{
	struct problem p;
	double one[M] = {1};
	const struct heddle_dense_array b = {HEDDLE_DENSE_DOUBLE, M, 1, one, M},
	                                x = {HEDDLE_DENSE_DOUBLE, N, 1, one, N};
	struct heddle_dense_array wide_b = b, wide_x = x;
	wide_b.columns = wide_x.columns = (size_t)INT32_MAX + 1;
	make(&p, 1, 1);
	open_qr(*state, &p, -1, NULL);
	OK(heddle_sparse_factorise(p.qr, p.values));
	assert_int_equal(heddle_sparse_solve(p.qr, &wide_b, &wide_x), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "2147483648 columns"));
	assert_int_equal(heddle_sparse_solve_submit(p.qr, &wide_b, &wide_x), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_apply_q(p.qr, HEDDLE_DENSE_NO_TRANS, &wide_b), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_solve(p.qr, &b, &x), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "same memory"));
	close_qr(&p);
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* b = A (1, 2, ... N): the solution is known where the rank is full. */
static void solve_known(struct problem *p, double scale)
{
	double b[M], x[N];
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, M, 1, b, M},
	                                of_x = {HEDDLE_DENSE_DOUBLE, N, 1, x, N};
	for (int i = 0; i < M; i++) {
		b[i] = 0;
		for (int j = 0; j < N; j++)
			b[i] += p->values[i + j * M] * (j + 1) / N; /* without an overflow */
	}
	OK(heddle_sparse_factorise(p->qr, p->values));
	assert_int_equal(heddle_sparse_deficient_columns(p->qr, NULL), 0);
	OK(heddle_sparse_solve(p->qr, &of_b, &of_x));
	for (int j = 0; j < N; j++)
		if (!(fabs(x[j] - (j + 1.) / N) < 1e-9))
			fail_msg("scale %g: x[%d] is %g", scale, j, x[j]);
}

static void values_of_any_scale_give_the_same_solution(void **state)
{
	static const double scales[] = {1, 1e-300, 1e-290, 1e-200, 1e-160, 1e160, 1e200, 1e300, 1e306};
	for (double share = -1; share <= 1; share += 2)
		for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
			struct problem p;
			make(&p, 0, scales[s]);
			open_qr(*state, &p, share, &(struct heddle_sparse_options){.tile = 8, .inner = 3});
			solve_known(&p, scales[s]);
			close_qr(&p);
		}
}

/* Norms of columns are larger than the largest number, or pivots have no reciprocal. */
static void factors_out_of_range_are_an_error(void **state)
{
	static const struct {
		double scale;
		const char *what;
	} cases[] = {{1.7e308, "overflows"}, {1e-310, "underflows"}};
	double b[M] = {1}, x[N];
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, M, 1, b, M},
	                                of_x = {HEDDLE_DENSE_DOUBLE, N, 1, x, N};
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct problem p;
		make(&p, 0, cases[i / 2].scale);
		open_qr(*state, &p, i % 2 ? 1 : -1, &(struct heddle_sparse_options){.tile = 8, .inner = 3});
		OK(heddle_sparse_factorise(p.qr, p.values));
		assert_int_equal(heddle_sparse_solve(p.qr, &of_b, &of_x), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), cases[i / 2].what));
		assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), HEDDLE_E_KERNEL);
		OK(heddle_sparse_solve_submit(p.qr, &of_b, &of_x));
		assert_int_equal(heddle_wait_all(((struct fixture *)*state)->rt), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), cases[i / 2].what));
		make(&p, 0, 1);
		solve_known(&p, 1);
		close_qr(&p);
	}
}

/* [1 x; 0 1] on tiles of one element: no other element of R depends on x, the only one that fails. */
static void no_result_hides_an_element_that_failed(void **state)
{
	static const double wrong[] = {NAN, INFINITY};
	int64_t start[] = {0, 1, 3}, row[] = {0, 0, 1};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		double values[] = {1, wrong[i], 1}, b[2] = {1, 1}, x[2];
		const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, 2, 1, b, 2},
		                                of_x = {HEDDLE_DENSE_DOUBLE, 2, 1, x, 2};
		struct problem p = {.a = {HEDDLE_DENSE_DOUBLE, 2, 2, start, row, values}};
		open_qr(*state, &p, -1, &(struct heddle_sparse_options){.tile = 1, .inner = 1});
		assert_int_equal(heddle_sparse_factorise(p.qr, values), HEDDLE_E_KERNEL);
		assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), HEDDLE_E_CANCELLED);
		assert_int_equal(heddle_sparse_solve(p.qr, &of_b, &of_x), HEDDLE_E_CANCELLED);
		close_qr(&p);
	}
}

/* Each is a number; their sum, the element of A, is none. */
static void duplicates_that_overflow_are_an_infinite_element(void **state)
{
	int64_t start[] = {0, 1, 4}, row[] = {0, 0, 0, 1};
	double values[] = {1, 1.7e308, 1.7e308, 1};
	struct problem p = {.a = {HEDDLE_DENSE_DOUBLE, 2, 2, start, row, values}};
	for (double share = -1; share <= 1; share += 2) {
		open_qr(*state, &p, share, &(struct heddle_sparse_options){.tile = 1, .inner = 1});
		assert_int_equal(heddle_sparse_factorise(p.qr, values), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "an infinite value in row 1, column 2"));
		close_qr(&p);
	}
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

/* A limit of work that is infinite could be halved for ever. */
static void options_of_an_analysis_are_checked(void **state)
{
	static const double shares[] = {2, 1e300, INFINITY, -INFINITY};
	struct heddle_sparse_analysis_options wrong = {.subtree = NAN};
	struct problem p;
	(void)state;
	make(&p, 0, 1);
	for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
		const struct heddle_sparse_analysis_options options = {.subtree = shares[s]};
		OK(heddle_sparse_analyse(&p.a, &options, &p.analysis));
		heddle_sparse_analysis_free(p.analysis);
	}
	assert_int_equal(heddle_sparse_analyse(&p.a, &wrong, &p.analysis), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "subtree is nan"));
	wrong = (struct heddle_sparse_analysis_options){.workers = -1};
	assert_int_equal(heddle_sparse_analyse(&p.a, &wrong, &p.analysis), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "workers is -1"));
}

/* The smallest and the largest that the types have. */
static void any_domain_strip_and_bound_gives_the_solution(void **state)
{
	static const struct heddle_sparse_options all[] = {
	    {.tile = 8, .domain = SIZE_MAX},      {.tile = 8, .strips = {SIZE_MAX, SIZE_MAX - 1}},
	    {.tile = 8, .strips = {SIZE_MAX, 4}}, {.tile = 8, .inner = 8, .relax = INFINITY},
	    {.tile = 8, .relax = 1e300},          {.tile = 1, .inner = 1, .domain = 1, .strips = {1, 1}},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct problem p;
		make(&p, 0, 1);
		open_qr(*state, &p, -1, &all[i]);
		solve_known(&p, 1);
		close_qr(&p);
	}
}

/* With an infinite tolerance all columns are dead, and the solution is 0. */
static void a_tolerance_of_any_size_counts_columns(void **state)
{
	static const struct {
		double tolerance;
		int is_deficient, dead;
	} cases[] = {{INFINITY, 0, N}, {1e308, 0, N}, {-INFINITY, 0, 0}, {-1, 1, 0}, {0, 1, 1}};
	double b[M] = {1}, x[N];
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, M, 1, b, M},
	                                of_x = {HEDDLE_DENSE_DOUBLE, N, 1, x, N};
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const struct heddle_sparse_options options = {.tile = 8, .tolerance = cases[i / 2].tolerance};
		struct problem p;
		make(&p, cases[i / 2].is_deficient, 1);
		open_qr(*state, &p, i % 2 ? 1 : -1, &options);
		OK(heddle_sparse_factorise(p.qr, p.values));
		assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), cases[i / 2].dead);
		OK(heddle_sparse_solve(p.qr, &of_b, &of_x));
		for (int j = 0; cases[i / 2].dead == N && j < N; j++)
			assert_true(x[j] == 0);
		close_qr(&p);
	}
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_that_no_memory_holds_are_refused),
	    WITH_RUNTIME(no_right_hand_sides_are_solved_at_any_rank),
	    WITH_RUNTIME(values_of_any_scale_give_the_same_solution),
	    cmocka_unit_test(options_of_an_analysis_are_checked),
	    WITH_RUNTIME(any_domain_strip_and_bound_gives_the_solution),
	    WITH_RUNTIME(a_tolerance_of_any_size_counts_columns),
	    WITH_RUNTIME(arrays_that_cannot_be_solved_are_refused),
	    WITH_RUNTIME(no_result_hides_an_element_that_failed),
	    WITH_RUNTIME(duplicates_that_overflow_are_an_infinite_element),
	    WITH_RUNTIME(factors_out_of_range_are_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
