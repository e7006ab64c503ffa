/* The LU family of libheddle-dense beside LAPACK, in four precisions: factorisations with and without pivoting,
 * solvers, their errors; tasks that overlap, small accelerators, virtual time, priorities. */
#include "dense_views.h"
#include <dense/internal.h>
#include "dense_runtime.h"
#include "virtual_machine.h"

/* BIG matrices have products of several tiles. */
#ifdef DENSE_ON_CUDA
enum { NB = 16, LARGEST = 3 * NB + 7, BIG = 4 * NB + 5 };
static const int sizes[] = {NB + 1, LARGEST};
#else
enum { NB = 16, LARGEST = 3 * NB + 7, BIG = 12 * NB + 5 };
static const int sizes[] = {1, 2, NB - 1, NB, NB + 1, LARGEST};
#endif
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Matrices. FROM_BELOW: the pivots are among the last rows. ZERO_PIVOT: U has a zero, though no column of A has only
 * zeros. */
enum { RANDOM, GRADED, FROM_BELOW, ZERO_COLUMN, ZERO_PIVOT, N_KINDS, DOMINANT };

#define HD_TEMPLATE <unit/dense_lu_tests.h>
#include <dense/kernels/precisions.h>

static const char *const routines[] = {"getrf", "getrf_nopiv", "getrs", "gesv", "gesv_nopiv"};
enum { N_ROUTINES = sizeof routines / sizeof *routines };

/* --- Submitted calls ---------------------------------------------------------------------------------------------- */

static void solver_may_be_submitted_before_the_factorisation_has_ended(void **state)
{
	struct fixture *f = *state;
	enum { N = LARGEST, RIGHT = 5 };
	struct heddle_dense_shape square = {.rows = N, .columns = N, .tile = NB};
	struct heddle_dense_shape tall = {.rows = N, .columns = RIGHT, .tile = NB};
	struct hd_d_view a = hd_d_random_view(N, N, 1), factors = hd_d_copy(a);
	struct hd_d_view b = hd_d_random_view(N, RIGHT, 2), x = hd_d_copy(b);
	int ipiv[N];
	heddle_dense_matrix *of_a, *of_b;
	heddle_dense_pivots *pivots;
	OK(heddle_dense_matrix_create(f->dense, &square, factors.a, (size_t)factors.ld, &of_a));
	OK(heddle_dense_matrix_create(f->dense, &tall, x.a, (size_t)x.ld, &of_b));
	OK(heddle_dense_pivots_create(of_a, ipiv, &pivots));
	OK(heddle_dense_getrf_submit(of_a, pivots, NULL));
	OK(heddle_dense_getrs_submit(HEDDLE_DENSE_NO_TRANS, of_a, pivots, of_b, NULL));
	OK(heddle_dense_pivots_destroy(pivots));
	OK(heddle_dense_matrix_destroy(of_a));
	OK(heddle_dense_matrix_destroy(of_b));
	assert_true(hd_d_factor_residual(a, factors, ipiv) < 30);
	assert_true(hd_d_solution_residual(a, CblasNoTrans, x, b) < 30);
	hd_d_free_view(a), hd_d_free_view(factors), hd_d_free_view(b), hd_d_free_view(x);
}

static void failure_reaches_the_pivots_and_the_solution(void **state)
{
	struct fixture *f = *state;
	enum { N = LARGEST };
	struct heddle_dense_shape square = {.rows = N, .columns = N, .tile = NB};
	struct hd_d_view a = hd_d_exact_view(N, N, 20, 1), b = hd_d_random_view(N, N, 2);
	int ipiv[N];
	size_t info;
	heddle_dense_matrix *of_a, *of_b;
	heddle_dense_pivots *pivots;
	OK(heddle_dense_matrix_create(f->dense, &square, a.a, (size_t)a.ld, &of_a));
	OK(heddle_dense_matrix_create(f->dense, &square, b.a, (size_t)b.ld, &of_b));
	OK(heddle_dense_pivots_create(of_a, ipiv, &pivots));
	OK(heddle_dense_gesv_submit(of_a, pivots, of_b, &(struct heddle_dense_options){.info = &info}));
	assert_int_equal(heddle_wait_all(f->rt), HEDDLE_E_KERNEL);
	assert_int_equal(info, 21);
	assert_int_equal(heddle_dense_pivots_destroy(pivots), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_dense_matrix_destroy(of_b), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_dense_matrix_destroy(of_a), HEDDLE_E_CANCELLED);
	hd_d_free_view(a), hd_d_free_view(b);
}

static void wrong_arguments_are_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	double data[64] = {0};
	struct heddle_dense_shape wide = {.rows = 4, .columns = 8, .tile = 2},
	                          square = {.rows = 4, .columns = 4, .tile = 2};
	struct heddle_dense_shape triangle = {.rows = 4, .columns = 4, .tile = 2, .uplo = HEDDLE_DENSE_LOWER};
	struct heddle_dense_shape low = {.rows = 3, .columns = 4, .tile = 2},
	                          thin = {.rows = 4, .columns = 3, .tile = 2};
	heddle_dense_matrix *w, *s, *t, *l, *n;
	heddle_dense_pivots *of_l, *of_n;
	OK(heddle_dense_matrix_create(f->dense, &wide, data, 4, &w));
	OK(heddle_dense_matrix_create(f->dense, &square, NULL, 0, &s));
	OK(heddle_dense_matrix_create(f->dense, &triangle, NULL, 0, &t));
	OK(heddle_dense_matrix_create(f->dense, &low, NULL, 0, &l));
	OK(heddle_dense_matrix_create(f->dense, &thin, NULL, 0, &n));
	OK(heddle_dense_pivots_create(l, NULL, &of_l));
	OK(heddle_dense_pivots_create(n, NULL, &of_n));
#define REFUSED(call, reason)                                                                    \
	do {                                                                                     \
		assert_int_equal(call, HEDDLE_E_INVALID);                                        \
		if (!strstr(heddle_last_error(), reason))                                        \
			fail_msg("%s: \"%s\" lacks \"%s\"", #call, heddle_last_error(), reason); \
	} while (0)
	REFUSED(heddle_dense_getrf_submit(w, NULL, NULL), "pivots");
	REFUSED(heddle_dense_getrf_submit(s, of_l, NULL), "another shape");
	REFUSED(heddle_dense_getrf_submit(s, of_n, NULL), "another shape");
	REFUSED(heddle_dense_getrf_nopiv_submit(t, NULL), "triangle");
	REFUSED(heddle_dense_gesv_submit(w, NULL, s, NULL), "square matrix, this one is 4 x 8");
	REFUSED(heddle_dense_gesv_nopiv_submit(s, l, NULL), "A has 4 rows and B has 3");
	REFUSED(heddle_dense_gesv_submit(s, NULL, NULL, NULL), "gesv: matrix B is NULL");
	REFUSED(heddle_dense_gesv_submit(NULL, NULL, s, NULL), "gesv: matrix A is NULL");
	REFUSED(heddle_dense_getrs_submit(7, s, NULL, s, NULL), "transpositions 7");
	REFUSED(heddle_dense_getrf(f->dense, NULL, NULL, NULL), "getrf: matrix A is NULL");
	OK(heddle_dense_pivots_destroy(of_l));
	OK(heddle_dense_pivots_destroy(of_n));
	OK(heddle_dense_matrix_destroy(n));
	OK(heddle_dense_matrix_destroy(w));
	OK(heddle_dense_matrix_destroy(s));
	OK(heddle_dense_matrix_destroy(t));
	OK(heddle_dense_matrix_destroy(l));
}

static void pivots_that_are_no_rows_are_refused(void **state)
{
	struct fixture *f = *state;
	static const int wrong[] = {0, -5, LARGEST + 1, 1 << 30};
	for (size_t w = 0; w < 4; w++) {
		struct hd_d_view a = hd_d_random_view(LARGEST, LARGEST, 1), b = hd_d_random_view(LARGEST, 3, 2);
		struct heddle_dense_array of_a = hd_d_array(a), of_b = hd_d_array(b);
		int pivots[LARGEST];
		for (int i = 0; i < LARGEST; i++)
			pivots[i] = i == 37 ? wrong[w] : i + 1;
		assert_int_equal(heddle_dense_getrs(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, pivots, &of_b,
		                                    &(struct heddle_dense_options){.tile = NB}),
		                 HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "a pivot is not the number of a row from 1 to 55"));
		hd_d_free_view(a), hd_d_free_view(b);
	}
}

/* --- Experiments -------------------------------------------------------------------------------------------------- */

static void every_experiment_has_a_small_residual(void **state)
{
	struct fixture *f = *state;
	for (unsigned v = 0; v < N_ROUTINES * 4 * 3 * 2; v++) {
		struct heddle_dense_problem problem = {
		    .routine = routines[v % N_ROUTINES],
		    .precision = v / N_ROUTINES % 4,
		    .options = {.tile = 32, .layout = v / 4 % 2, .priority = v / N_ROUTINES / 4 % 3},
		    .n = v % 2 ? 150 : 33,
		    .m = v % 3 ? 100 : 0,
		    .n_right = v % 40,
		    .seed = v,
		    .check = 1,
		};
		struct heddle_dense_report report;
		OK(heddle_dense_run(f->dense, &problem, &report));
		if (!(report.residual > 0 && report.residual < 30))
			fail_msg("%s, variant %u: residual %g", problem.routine, v, report.residual);
	}
}

static void residual_of_slightly_wrong_factors_is_large(void **state)
{
	struct fixture *f = *state;
	static const size_t places[][2] = {{0, 0}, {40, 3}, {3, 40}, {49, 49}, {20, 17}};
	for (size_t p = 0; p < 2 * sizeof places / sizeof *places; p++) {
		struct heddle_dense_problem problem = {
		    .routine = routines[p % 2], .n = 50, .options = {.tile = NB}, .seed = 3};
		heddle_dense_experiment *e;
		double residual;
		OK(heddle_dense_experiment_open(f->dense, &problem, &e));
		OK(heddle_dense_experiment_fill(e));
		OK(heddle_dense_experiment_submit(e));
		OK(heddle_dense_experiment_residual(e, &residual));
		assert_true(residual < 30);
		size_t i = places[p / 2][0], j = places[p / 2][1];
		heddle_data *tile = heddle_dense_tile(e->m[0], i / NB, j / NB);
		struct heddle_part part;
		OK(heddle_acquire(tile, HEDDLE_RW));
		OK(heddle_data_part(tile, 0, &part));
		((double *)part.base)[i % NB + j % NB * part.stride[1]] += 1e-6;
		OK(heddle_release(tile));
		OK(heddle_dense_experiment_residual(e, &residual));
		assert_true(residual > 1000);
		OK(heddle_dense_experiment_close(e));
	}
}

static void matrices_larger_than_the_accelerators_are_evicted_and_results_right(void **state)
{
	(void)state;
	for (unsigned v = 0; v < N_ROUTINES * 2; v++) {
		struct heddle_dense_problem problem = {
		    .routine = routines[v / 2],
		    .precision = v % 2 ? HEDDLE_DENSE_DOUBLE : HEDDLE_DENSE_COMPLEX_SINGLE,
		    .options = {.tile = 32, .layout = v % 2},
		    .n = 250,
		    .n_right = 250,
		    .seed = 9,
		    .check = 1,
		};
		struct heddle_config config;
		heddle_runtime *rt;
		heddle_dense *dense;
		struct heddle_dense_report report;
		struct heddle_stats stats;
		OK(heddle_config_init(&config));
		config.n_cpu = 1;
		config.bind = 0;
		config.n_emulated = 2;
		config.emulated_memory = 250 * 250 * sizeof(double) / 4;
		config.sched = "random"; /* every worker gets its share, however busy the machine is */
		config.model_dir = "none";
		OK(heddle_start(&config, &rt));
		OK(heddle_dense_open(rt, &dense));
		OK(heddle_dense_run(dense, &problem, &report));
		if (!(report.residual < 30))
			fail_msg("%s: residual %g", problem.routine, report.residual);
		OK(heddle_runtime_stats(rt, &stats));
		assert_true(stats.transfers > 0 && stats.evictions > 0);
		heddle_dense_close(dense);
		OK(heddle_stop(rt));
	}
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static const char kernel_times[] = "kernels:\n- {codelet: dgetrf_panel, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgetrf_nopiv, class: cpu, gflops: 1}\n"
                                   "- {codelet: dlaswp, class: cpu, bandwidth_mbs: 1000}\n"
                                   "- {codelet: dtrsm, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgemm, class: cpu, gflops: 1}\n";

/* What a problem's tasks are in virtual time. The caller frees it. */
static struct heddle_trace *simulate(const struct heddle_dense_problem *problem)
{
	struct machine m = {.cpus = 2, .kernels = kernel_times};
	struct heddle_dense_report report;
	heddle_dense *dense;
	machine_start(&m);
	OK(heddle_dense_open(m.rt, &dense));
	OK(heddle_dense_graph(dense, problem, &report));
	struct heddle_trace *trace = machine_trace(&m);
	heddle_dense_close(dense);
	OK(heddle_stop(m.rt));
	return trace;
}

static size_t count_of(const struct heddle_trace *trace, const char *codelet)
{
	size_t n = 0;
	for (size_t i = 0; i < trace->n_tasks; i++)
		n += strcmp(trace->codelets[trace->tasks[i].codelet].name, codelet) == 0;
	return n;
}

static void graphs_in_virtual_time_have_all_tasks(void **state)
{
	(void)state;
	/* for 5 x 5 tiles and 2 columns of right-hand sides: panels, laswp, trsm, gemm, getrf_nopiv */
	static const size_t expected[N_ROUTINES][5] = {
	    {5, 10 + 4, 10, 30, 0},       {0, 0, 20, 30, 5},           {0, 2, 20, 40, 0},
	    {5, 24, 10 + 20, 30 + 40, 0}, {0, 0, 20 + 20, 30 + 40, 5},
	};
	static const char *const codelets[] = {"dgetrf_panel", "dlaswp", "dtrsm", "dgemm", "dgetrf_nopiv"};
	for (size_t r = 0; r < N_ROUTINES; r++) {
		struct heddle_trace *trace = simulate(&(struct heddle_dense_problem){
		    .routine = routines[r], .n = 5 * NB - 3, .n_right = 2 * NB, .options = {.tile = NB}});
		for (size_t c = 0; c < 5; c++)
			if (count_of(trace, codelets[c]) != expected[r][c])
				fail_msg("%s has %zu tasks %s instead of %zu", routines[r],
				         count_of(trace, codelets[c]), codelets[c], expected[r][c]);
		heddle_trace_free(trace);
	}
}

static void operations_are_counted_as_lapack_does(void **state)
{
	(void)state;
	struct heddle_dense_problem problem = {.routine = "getrf", .n = 10, .n_right = 3};
	assert_true(fabs(heddle_dense_flops(&problem) - (340 + 285)) < 1e-9);
	problem.precision = HEDDLE_DENSE_COMPLEX_DOUBLE;
	assert_true(fabs(heddle_dense_flops(&problem) - (6 * 340 + 2 * 285)) < 1e-9);
	problem.routine = "gesv-nopiv";
	assert_true(fabs(heddle_dense_flops(&problem) - (6 * (340 + 300) + 2 * (285 + 270))) < 1e-9);
}

/* The solves with a unit triangle are counted as others are, with one operation more per element. LAPACK's count for
 * wide matrices is that of the transposed ones, which have other divisions. */
static void operations_of_the_tasks_add_up_to_those_of_the_factorisation(void **state)
{
	(void)state;
	for (int v = 0; v < 3; v++) {
		struct heddle_dense_problem problem = {
		    .routine = "getrf", .n = v == 1 ? 61 : 47, .m = v == 2 ? 61 : 47, .options = {.tile = 10}};
		double sum = 0, whole = heddle_dense_flops(&problem), solved = 0;
		size_t steps = problem.n < problem.m ? problem.n : problem.m;
		for (size_t i = 0; i < steps; i++)
			solved += (double)problem.n - fmin((double)(i / 10 * 10 + 10), (double)problem.n);
		struct heddle_trace *trace = simulate(&problem);
		for (size_t i = 0; i < trace->n_tasks; i++)
			sum += trace->tasks[i].flops;
		if (!(fabs(sum - solved - whole) <= (problem.n > problem.m ? 0.01 : 1e-12) * whole))
			fail_msg("the tasks have %g + %g operations and the factorisation %g", sum - solved, solved,
			         whole);
		heddle_trace_free(trace);
	}
}

/* Two tiles in a column: panel of both, laswp, trsm, gemm, panel, and the interchanges in the first column. */
static void path_priorities_count_the_tiles_of_a_panel(void **state)
{
	(void)state;
	static const struct {
		const char *codelet;
		int path, starpu;
	} expected[] = {
	    {"dgetrf_panel", 10 + 2 + 3 + 6 + 5 + 1, 4},
	    {"dlaswp", 2 + 3 + 6 + 5 + 1, 3},
	    {"dtrsm", 3 + 6 + 5 + 1, 3},
	    {"dgemm", 6 + 5 + 1, 2},
	    {"dgetrf_panel", 5 + 1, 2},
	    {"dlaswp", 1, -4},
	};
	for (int path = 0; path < 2; path++) {
		struct heddle_dense_problem problem = {.routine = "getrf", .n = 2 * NB, .options = {.tile = NB}};
		problem.options.priority = path ? HEDDLE_DENSE_PRIORITY_PATH : HEDDLE_DENSE_PRIORITY_STARPU;
		struct heddle_trace *trace = simulate(&problem);
		assert_int_equal(trace->n_tasks, 6);
		for (size_t i = 0; i < 6; i++) {
			const struct heddle_trace_task *t = task_of(trace, i);
			assert_string_equal(trace->codelets[t->codelet].name, expected[i].codelet);
			if (t->priority != (path ? expected[i].path : expected[i].starpu))
				fail_msg("task %zu, %s, has priority %d", i, expected[i].codelet, t->priority);
		}
		heddle_trace_free(trace);
	}
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TESTS_OF(letter)                                                                      \
	WITH_RUNTIME(hd_##letter##_getrf_of_any_matrix_is_lapacks),                           \
	    WITH_RUNTIME(hd_##letter##_big_matrices_are_right),                               \
	    WITH_RUNTIME(hd_##letter##_getrf_nopiv_of_any_shape_has_a_small_residual),        \
	    WITH_RUNTIME(hd_##letter##_every_solver_has_a_small_residual),                    \
	    WITH_RUNTIME(hd_##letter##_singular_matrix_is_not_solved_and_the_pivot_is_named), \
	    WITH_RUNTIME(hd_##letter##_what_is_no_number_is_said)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TESTS_OF_ALL,
	    WITH_RUNTIME(solver_may_be_submitted_before_the_factorisation_has_ended),
	    WITH_RUNTIME(failure_reaches_the_pivots_and_the_solution),
	    WITH_RUNTIME(wrong_arguments_are_refused_with_a_reason),
	    WITH_RUNTIME(pivots_that_are_no_rows_are_refused),
	    WITH_RUNTIME(every_experiment_has_a_small_residual),
	    WITH_RUNTIME(residual_of_slightly_wrong_factors_is_large),
	    cmocka_unit_test(matrices_larger_than_the_accelerators_are_evicted_and_results_right),
	    cmocka_unit_test(graphs_in_virtual_time_have_all_tasks),
	    cmocka_unit_test(operations_are_counted_as_lapack_does),
	    cmocka_unit_test(operations_of_the_tasks_add_up_to_those_of_the_factorisation),
	    cmocka_unit_test(path_priorities_count_the_tiles_of_a_panel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
