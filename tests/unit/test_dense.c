/* apps/dense: the random matrix, the tasks of the factorisation, its result on every layout and on accelerators whose
 * memory is too small for the matrix, its errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include <dense/internal.h>
#include "dense_runtime.h"

/* --- Runtimes ----------------------------------------------------------------------------------------------------- */

static double spd_element(uint64_t seed, size_t n, size_t i, size_t j)
{
	return heddle_dense_random_element(HEDDLE_DENSE_SPD, seed, n, i, j).re;
}

/* --- The random matrix -------------------------------------------------------------------------------------------- */

static void element_of_a_seed_is_always_the_same(void **state)
{
	(void)state;
	/* Written down once: a change would make old reports irreproducible. */
	assert_true(spd_element(1, 10, 3, 2) == -0x1.c47112e985876p-2);
	assert_true(spd_element(1, 10, 4, 4) == 0x1.33b9da17c333cp+3);
	assert_true(spd_element(1, 10, 3, 2) == spd_element(1, 99, 3, 2));
	assert_true(spd_element(1, 10, 3, 2) != spd_element(2, 10, 3, 2));
}

static void elements_are_symmetric_centred_and_dominated_by_the_diagonal(void **state)
{
	(void)state;
	enum { N = 200 };
	double sum = 0, squares = 0;
	for (size_t i = 0; i < N; i++) {
		for (size_t j = 0; j < N; j++) {
			double x = spd_element(7, N, i, j) - (i == j ? N : 0);
			assert_true(x >= -0.5 && x < 0.5);
			assert_true(spd_element(7, N, i, j) == spd_element(7, N, j, i));
			sum += x;
			squares += x * x;
		}
	}
	assert_true(fabs(sum / (N * N)) < 0.01); /* 5 deviations */
	assert_true(fabs(squares / (N * N) - 1.0 / 12) < 0.005);
}

static void filling_by_tiles_gives_the_elements_whatever_the_tile(void **state)
{
	struct fixture *f = *state;
	enum { N = 50, LD = 53 };
	static const size_t tiles[] = {1, 7, 25, 64};
	for (size_t t = 0; t < 4; t++) {
		double a[LD * N];
		memset(a, 0, sizeof a);
		struct heddle_dense_shape shape = {.rows = N, .columns = N, .tile = tiles[t]};
		heddle_dense_matrix *matrix;
		OK(heddle_dense_matrix_create(f->dense, &shape, a, LD, &matrix));
		OK(heddle_dense_random_submit(matrix, HEDDLE_DENSE_SPD, 5));
		OK(heddle_dense_matrix_destroy(matrix));
		for (size_t i = 0; i < LD; i++)
			for (size_t j = 0; j < N; j++)
				assert_true(a[i + j * LD] == (i < N ? spd_element(5, N, i, j) : 0));
	}
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* max |(A - L L^T)(i, j)| over the lower triangle of the first n rows, by the definition. */
static double largest_error(const double *l, size_t ld, size_t n, uint64_t seed)
{
	double largest = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double x = spd_element(seed, n, i, j);
			for (size_t k = 0; k <= j; k++)
				x -= l[i + k * ld] * l[j + k * ld];
			largest = fmax(largest, fabs(x));
		}
	}
	return largest;
}

/* Returns largest_error, after checking that nothing but the lower triangle was touched. */
static double factor_in_user_memory(heddle_dense *dense, size_t n, size_t tile, enum heddle_dense_layout layout)
{
	size_t ld = n + 3;
	double *a = malloc(ld * n * sizeof *a);
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < ld; i++)
			a[i + j * ld] = i < j || i >= n ? -7 : spd_element(3, n, i, j);
	struct heddle_dense_array array = {.rows = n, .columns = n, .data = a, .ld = ld};
	OK(heddle_dense_potrf(dense, HEDDLE_DENSE_LOWER, &array,
	                      &(struct heddle_dense_options){.tile = tile, .layout = layout}));
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < ld; i++)
			assert_true((i >= j && i < n) || a[i + j * ld] == -7);
	double error = largest_error(a, ld, n, 3);
	free(a);
	return error;
}

static void potrf_of_any_size_and_layout_factors_the_lower_triangle_only(void **state)
{
	struct fixture *f = *state;
	static const size_t sizes[][2] = {{1, 4}, {7, 16}, {48, 16}, {50, 16}, {65, 1000}, {17, 1}};
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (unsigned layout = HEDDLE_DENSE_IN_PLACE; layout <= HEDDLE_DENSE_TILED; layout++)
			assert_true(factor_in_user_memory(f->dense, sizes[s][0], sizes[s][1], layout) < 1e-12);
}

static void potrf_of_order_zero_does_nothing(void **state)
{
	struct fixture *f = *state;
	struct heddle_dense_problem problem = {.n = 0, .options = {.tile = 16}, .check = 1};
	struct heddle_dense_report report;
	OK(heddle_dense_run(f->dense, &problem, &report));
	assert_true(report.residual == 0);
}

static void run_in_each_precision_layout_and_priority_has_a_small_residual(void **state)
{
	struct fixture *f = *state;
	static const size_t orders[] = {1, 7, 64, 150};
	for (unsigned v = 0; v < 2 * 2 * 3 * 4; v++) {
		struct heddle_dense_problem problem = {
		    .precision = v % 2,
		    .options = {.tile = 32, .layout = v / 2 % 2, .priority = v / 4 % 3},
		    .n = orders[v / 12],
		    .seed = v,
		    .check = 1,
		};
		struct heddle_dense_report report;
		OK(heddle_dense_run(f->dense, &problem, &report));
		if (!(report.residual >= 0 && report.residual < 10))
			fail_msg("variant %u: residual %g", v, report.residual);
	}
}

static void residual_of_a_slightly_wrong_factor_is_large(void **state)
{
	struct fixture *f = *state;
	static const size_t places[][2] = {{0, 0}, {40, 3}, {49, 49}, {20, 17}};
	for (size_t p = 0; p < 4; p++) {
		struct heddle_dense_shape shape = {.rows = 50, .columns = 50, .tile = 16, .uplo = HEDDLE_DENSE_LOWER};
		heddle_dense_matrix *matrix;
		double residual;
		OK(heddle_dense_matrix_create(f->dense, &shape, NULL, 0, &matrix));
		OK(heddle_dense_random_submit(matrix, HEDDLE_DENSE_SPD, 11));
		OK(heddle_dense_potrf_submit(HEDDLE_DENSE_LOWER, matrix,
		                             &(struct heddle_dense_options){.priority = HEDDLE_DENSE_PRIORITY_PATH}));
		OK(heddle_dense_potrf_residual(HEDDLE_DENSE_LOWER, matrix, 11, &residual));
		assert_true(residual < 10);
		size_t i = places[p][0], j = places[p][1];
		heddle_data *tile = heddle_dense_tile(matrix, i / 16, j / 16);
		struct heddle_part part;
		OK(heddle_acquire(tile, HEDDLE_RW));
		OK(heddle_data_part(tile, 0, &part));
		((double *)part.base)[i % 16 + j % 16 * part.stride[1]] += 1e-6;
		OK(heddle_release(tile));
		OK(heddle_dense_potrf_residual(HEDDLE_DENSE_LOWER, matrix, 11, &residual));
		assert_true(residual > 1000);
		OK(heddle_dense_matrix_destroy(matrix));
	}
}

static void potrf_larger_than_the_accelerators_evicts_and_is_right(void **state)
{
	(void)state;
	for (unsigned v = 0; v < 4; v++) {
		struct heddle_dense_problem problem = {
		    .precision = v % 2,
		    .options = {.tile = 32, .layout = v / 2},
		    .n = 250,
		    .seed = 9,
		    .check = 1,
		};
		size_t matrix_bytes = 250 * 251 / 2 * (v % 2 ? sizeof(float) : sizeof(double));
		struct heddle_config config = settings(1, 2, matrix_bytes / 4);
		config.sched = "random"; /* every worker gets its share, however busy the machine is */
		heddle_runtime *rt;
		heddle_dense *dense;
		struct heddle_dense_report report;
		struct heddle_stats stats;
		OK(heddle_start(&config, &rt));
		OK(heddle_dense_open(rt, &dense));
		OK(heddle_dense_run(dense, &problem, &report));
		assert_true(report.residual < 10);
		OK(heddle_runtime_stats(rt, &stats));
		assert_true(stats.transfers > 0 && stats.evictions > 0);
		heddle_dense_close(dense);
		OK(heddle_stop(rt));
	}
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

enum { N_SIMULATED = 12 };

/* Twelve workers of one class, 10 GFlop/s for each kernel. */
static struct heddle_dense_report simulate(enum heddle_dense_priority priority, uint64_t *n_tasks)
{
	struct heddle_node node = {.name = "ram"};
	struct heddle_class class = {
	    .name = "cpu", .kind = "cpu", .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1};
	char names[N_SIMULATED][16];
	struct heddle_worker workers[N_SIMULATED];
	for (int w = 0; w < N_SIMULATED; w++) {
		snprintf(names[w], sizeof names[w], "w%d", w);
		workers[w] = (struct heddle_worker){.name = names[w], .core = -1};
	}
	struct heddle_kernel_time kernels[4] = {
	    {.codelet = "dpotrf", .gflops = 10},
	    {.codelet = "dtrsm", .gflops = 10},
	    {.codelet = "dsyrk", .gflops = 10},
	    {.codelet = "dgemm", .gflops = 10},
	};
	struct heddle_platform platform = {
	    .name = "twelve",
	    .nodes = &node,
	    .n_nodes = 1,
	    .classes = &class,
	    .n_classes = 1,
	    .workers = workers,
	    .n_workers = N_SIMULATED,
	    .kernels = kernels,
	    .n_kernels = 4,
	};
	struct heddle_config config = settings(0, 0, 0);
	config.sched = "prio";
	heddle_runtime *rt;
	heddle_dense *dense;
	struct heddle_dense_report report;
	struct heddle_stats stats;
	OK(heddle_start_on(&config, &platform, 1, &rt));
	OK(heddle_dense_open(rt, &dense));
	struct heddle_dense_problem problem = {.n = 20 * 1000, .options = {.tile = 1000, .priority = priority}};
	OK(heddle_dense_graph(dense, &problem, &report));
	OK(heddle_runtime_stats(rt, &stats));
	*n_tasks = stats.tasks_executed;
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
	return report;
}

static void graph_in_virtual_time_runs_every_task_near_the_peak(void **state)
{
	(void)state;
	uint64_t n_tasks;
	struct heddle_dense_report path = simulate(HEDDLE_DENSE_PRIORITY_PATH, &n_tasks);
	assert_int_equal(n_tasks, 20 + 2 * 190 + 1140);
	if (!(path.gflops > 110 && path.gflops < 120))
		fail_msg("%g GFlop/s", path.gflops);
	assert_true(isnan(path.residual));
	struct heddle_dense_report again = simulate(HEDDLE_DENSE_PRIORITY_PATH, &n_tasks);
	assert_true(path.seconds == again.seconds);
}

static void graph_in_real_time_fails_instead_of_computing(void **state)
{
	struct fixture *f = *state;
	struct heddle_dense_problem problem = {.n = 40, .options = {.tile = 16}};
	assert_true(heddle_dense_graph(f->dense, &problem, NULL) < 0);
	assert_true(factor_in_user_memory(f->dense, 50, 16, HEDDLE_DENSE_IN_PLACE) < 1e-12);
}

static void priorities_shorten_the_schedule(void **state)
{
	(void)state;
	uint64_t n_tasks;
	double none = simulate(HEDDLE_DENSE_PRIORITY_NONE, &n_tasks).seconds;
	assert_true(simulate(HEDDLE_DENSE_PRIORITY_PATH, &n_tasks).seconds < none);
	assert_true(simulate(HEDDLE_DENSE_PRIORITY_STARPU, &n_tasks).seconds < none);
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* Element (row, row), counted from 0, of a good matrix is replaced; the message must name row + 1. */
static void expect_not_definite(heddle_dense *dense, enum heddle_dense_precision precision,
                                enum heddle_dense_layout layout, size_t row, double value)
{
	enum { N = 50 };
	double a[N * N];
	for (size_t j = 0; j < N; j++) {
		for (size_t i = 0; i < N; i++) {
			double x = i == row && j == row ? value : spd_element(3, N, i, j);
			if (precision == HEDDLE_DENSE_DOUBLE)
				a[i + j * N] = x;
			else
				((float *)(void *)a)[i + j * N] = (float)x;
		}
	}
	struct heddle_dense_array array = {.precision = precision, .rows = N, .columns = N, .data = a, .ld = N};
	size_t info = 77;
	struct heddle_dense_options options = {.tile = 16, .layout = layout, .info = &info};
	assert_int_equal(heddle_dense_potrf(dense, HEDDLE_DENSE_LOWER, &array, &options), HEDDLE_E_KERNEL);
	char expected[128];
	if (isnan(value))
		snprintf(expected, sizeof expected, "matrix A has NaN in row %zu, column %zu (counted from 1)", row + 1,
		         row + 1);
	else
		snprintf(expected, sizeof expected,
		         "matrix is not positive definite: the leading minor of order %zu is not positive", row + 1);
	assert_int_equal(info, isnan(value) ? 0 : row + 1);
	if (!strstr(heddle_last_error(), expected))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), expected);
}

static void potrf_of_an_indefinite_matrix_names_the_row(void **state)
{
	struct fixture *f = *state;
	static const size_t rows[] = {0, 1, 15, 16, 37, 49};
	for (size_t r = 0; r < 6; r++)
		for (unsigned v = 0; v < 4; v++)
			expect_not_definite(f->dense, v % 2, v / 2, rows[r], r % 2 ? -1 : 0);
	/* The runtime is as good as before. */
	assert_true(factor_in_user_memory(f->dense, 50, 16, HEDDLE_DENSE_IN_PLACE) < 1e-12);
}

static void potrf_of_a_matrix_with_nan_names_the_row(void **state)
{
	struct fixture *f = *state;
	expect_not_definite(f->dense, HEDDLE_DENSE_DOUBLE, HEDDLE_DENSE_IN_PLACE, 20, NAN);
	expect_not_definite(f->dense, HEDDLE_DENSE_SINGLE, HEDDLE_DENSE_TILED, 20, NAN);
}

static void submitted_failure_reaches_wait_and_residual(void **state)
{
	struct fixture *f = *state;
	static double a[20 * 20]; /* zero */
	struct heddle_dense_shape shape = {.rows = 20, .columns = 20, .tile = 8, .uplo = HEDDLE_DENSE_LOWER};
	heddle_dense_matrix *matrix;
	double residual = -1;
	OK(heddle_dense_matrix_create(f->dense, &shape, a, 20, &matrix));
	OK(heddle_dense_potrf_submit(HEDDLE_DENSE_LOWER, matrix,
	                             &(struct heddle_dense_options){.priority = HEDDLE_DENSE_PRIORITY_NONE}));
	assert_int_equal(heddle_wait_all(f->rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_dense_potrf_residual(HEDDLE_DENSE_LOWER, matrix, 1, &residual), HEDDLE_E_CANCELLED);
	assert_true(residual < 0);
	assert_int_equal(heddle_dense_matrix_destroy(matrix), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_wait_all(f->rt), HEDDLE_E_CANCELLED); /* the tasks of the residual */
}

static void wrong_arguments_are_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	double a[16] = {0};
	struct {
		struct heddle_dense_shape shape;
		size_t lda;
		const char *reason;
	} cases[] = {
	    {{.rows = 4, .columns = 4, .tile = 0}, 4, "tile order 0"},
	    {{.rows = 4, .columns = 4, .tile = 2}, 3, "leading dimension 3"},
	    {{.rows = 4, .columns = 3, .tile = 2, .uplo = HEDDLE_DENSE_LOWER}, 4, "must be square"},
	    {{.precision = 7, .rows = 4, .columns = 4, .tile = 2}, 4, "precision 7"},
	};
	heddle_dense_matrix *matrix = NULL;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(heddle_dense_matrix_create(f->dense, &cases[i].shape, a, cases[i].lda, &matrix),
		                 HEDDLE_E_INVALID);
		assert_non_null(strstr(heddle_last_error(), cases[i].reason));
		assert_null(matrix);
	}
	struct heddle_dense_array missing = {.rows = 4, .columns = 4, .ld = 4};
	assert_int_equal(heddle_dense_potrf(f->dense, HEDDLE_DENSE_LOWER, &missing, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_potrf(f->dense, HEDDLE_DENSE_LOWER, NULL, NULL), HEDDLE_E_INVALID);
	struct heddle_dense_shape wide = {.rows = 2, .columns = 4, .tile = 2};
	OK(heddle_dense_matrix_create(f->dense, &wide, a, 2, &matrix));
	assert_int_equal(
	    heddle_dense_potrf_submit(HEDDLE_DENSE_LOWER, matrix,
	                              &(struct heddle_dense_options){.priority = HEDDLE_DENSE_PRIORITY_PATH}),
	    HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_random_submit(matrix, HEDDLE_DENSE_SPD, 1), HEDDLE_E_INVALID);
	assert_null(heddle_dense_tile(matrix, 1, 0));
	assert_non_null(heddle_dense_tile(matrix, 0, 1));
	OK(heddle_dense_matrix_destroy(matrix));
}

/* --- OpenBLAS ----------------------------------------------------------------------------------------------------- */

static void blas_threads_are_one_while_open_and_come_back(void **state)
{
	struct fixture *f = *state;
	if (!openblas_set_num_threads || !openblas_get_num_threads)
		skip();
	heddle_dense_close(f->dense);
	f->dense = NULL;
	int former = openblas_get_num_threads();
	openblas_set_num_threads(2);
	int before = openblas_get_num_threads(); /* 1 if it was built so */
	heddle_dense *first, *second;
	OK(heddle_dense_open(f->rt, &first));
	OK(heddle_dense_open(f->rt, &second));
	assert_int_equal(openblas_get_num_threads(), 1);
	heddle_dense_close(first);
	assert_int_equal(openblas_get_num_threads(), 1);
	heddle_dense_close(second);
	assert_int_equal(openblas_get_num_threads(), before);
	openblas_set_num_threads(former);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(element_of_a_seed_is_always_the_same),
	    cmocka_unit_test(elements_are_symmetric_centred_and_dominated_by_the_diagonal),
	    WITH_RUNTIME(filling_by_tiles_gives_the_elements_whatever_the_tile),
	    WITH_RUNTIME(potrf_of_any_size_and_layout_factors_the_lower_triangle_only),
	    WITH_RUNTIME(potrf_of_order_zero_does_nothing),
	    WITH_RUNTIME(run_in_each_precision_layout_and_priority_has_a_small_residual),
	    WITH_RUNTIME(residual_of_a_slightly_wrong_factor_is_large),
	    cmocka_unit_test(potrf_larger_than_the_accelerators_evicts_and_is_right),
	    cmocka_unit_test(graph_in_virtual_time_runs_every_task_near_the_peak),
	    WITH_RUNTIME(graph_in_real_time_fails_instead_of_computing),
	    cmocka_unit_test(priorities_shorten_the_schedule),
	    WITH_RUNTIME(potrf_of_an_indefinite_matrix_names_the_row),
	    WITH_RUNTIME(potrf_of_a_matrix_with_nan_names_the_row),
	    WITH_RUNTIME(submitted_failure_reaches_wait_and_residual),
	    WITH_RUNTIME(wrong_arguments_are_refused_with_a_reason),
	    WITH_RUNTIME(blas_threads_are_one_while_open_and_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
