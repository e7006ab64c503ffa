/* Dense routines on tiles that are cut into smaller ones: residuals of all routines, on cores and accelerators; how
 * many tasks there are; priorities of sub-graphs; what is refused. */
#include <math.h>
#include <string.h>
#include <dense/internal.h>
#include "../sanitized.h"
#include "dense_runtime.h"
#include "virtual_machine.h"

/* Problem v of those that a routine is tried with. */
static struct heddle_dense_problem problem_of(const char *routine, unsigned v)
{
	static const char *const bands[] = {"", "1", "0"};
	struct heddle_dense_problem p = {
	    .routine = routine,
	    .precision = v % 4,
	    .n = v % 2 ? 75 : 96,
	    .m = v % 3 == 1 ? 100 : 0, /* at least n, as least squares need it */
	    .n_right = 1 + 20 * (v % 3),
	    .uplo = v / 2 % 2 ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER,
	    .seed = v,
	    .check = 1,
	    .options = {.tile = 32, .layout = v / 2 % 2, .priority = v % 3},
	};
	strcpy(p.cut, v % 2 ? "16/8" : "16");
	strcpy(p.refine, bands[v % 3]);
	return p;
}

/* Runs all routines, each with as many problems. */
static void run_all(struct heddle_config *config, unsigned problems)
{
	heddle_runtime *rt;
	heddle_dense *dense;
	const struct heddle_dense_routine *routine;
	OK(heddle_start(config, &rt));
	OK(heddle_dense_open(rt, &dense));
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)); i++) {
		for (unsigned k = 0; k < problems; k++) {
			unsigned v = k + (unsigned)i;
			struct heddle_dense_problem problem = problem_of(routine->name, v);
			struct heddle_dense_report report;
			OK(heddle_dense_run(dense, &problem, &report));
			if (!(report.residual >= 0 && report.residual < 30))
				fail_msg("%s, problem %u: residual %g", routine->name, v, report.residual);
			OK(heddle_selfcheck(rt));
		}
	}
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

static void residuals_are_small_on_cores(void **state)
{
	struct heddle_config config = settings(2, 0, 0);
	(void)state;
	config.expand = "always";
	run_all(&config, SANITIZED ? 3 : 6);
}

static void residuals_are_small_on_accelerators(void **state)
{
	struct heddle_config config = settings(1, 2, 0);
	(void)state;
	config.expand = "always";
	run_all(&config, SANITIZED ? 2 : 4);
}

static void residuals_are_small_where_some_tasks_run_whole(void **state)
{
	struct heddle_config config = settings(1, 1, 100000);
	(void)state;
	config.expand = "adaptive";
	run_all(&config, SANITIZED ? 2 : 4);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Kernels that ran for this problem. */
static uint64_t executed(const struct heddle_dense_problem *problem, const char *expand)
{
	struct heddle_config config = settings(1, 0, 0);
	struct heddle_stats stats;
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_experiment *e;
	config.expand = expand;
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
	OK(heddle_dense_experiment_open(dense, problem, &e));
	OK(heddle_dense_experiment_fill(e));
	OK(heddle_wait_all(rt));
	OK(heddle_runtime_stats(rt, &stats));
	uint64_t before = stats.tasks_executed;
	OK(heddle_dense_experiment_submit(e));
	OK(heddle_wait_all(rt));
	OK(heddle_runtime_stats(rt, &stats));
	OK(heddle_dense_experiment_close(e));
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
	return stats.tasks_executed - before;
}

static void tasks_expand_where_all_their_tiles_are_cut(void **state)
{
	struct heddle_dense_problem p = {
	    .routine = "gemm", .n = 96, .options = {.tile = 32, .layout = HEDDLE_DENSE_TILED}};
	(void)state;
	assert_int_equal(executed(&p, "always"), 27);
	strcpy(p.cut, "16");
	assert_int_equal(executed(&p, "never"), 27);
	assert_int_equal(executed(&p, "always"), 27 * 8);
	strcpy(p.cut, "16/8");
	assert_int_equal(executed(&p, "always"), 27 * 64);
	strcpy(p.cut, "16");
	strcpy(p.refine, "0"); /* the diagonal alone: A(i, i) B(i, i) into C(i, i) */
	assert_int_equal(executed(&p, "always"), 24 + 3 * 8);
	p = (struct heddle_dense_problem){
	    .routine = "potrf", .n = 96, .options = {.tile = 32, .layout = HEDDLE_DENSE_TILED}, .cut = "16"};
	assert_int_equal(executed(&p, "always"), 6 * 7 * 8 / 6); /* as with tiles of 16 */
	p = (struct heddle_dense_problem){
	    .routine = "getrf", .n = 64, .options = {.tile = 32, .layout = HEDDLE_DENSE_TILED}, .cut = "16"};
	/* The first panel has two columns of four tiles: 2 panels, interchanges to the right and to the left, trsm and
	 * gemm for 3 and 2 tiles below; each interchange of two columns 2 tasks, trsm 2 * 3, gemm 8; then the second
	 * panel. */
	assert_int_equal(executed(&p, "never"), 6);
	assert_int_equal(executed(&p, "always"), (2 + 2 + 1 + 3) + 2 + 6 + 8 + (2 + 2 + 1 + 1) + 2);
}

static void impossible_cuts_are_refused(void **state)
{
	struct fixture *f;
	heddle_dense_matrix *a;
	static const size_t larger[] = {64}, ascending[] = {8, 16}, zero[] = {0}, good[] = {16};
	const struct heddle_dense_shape shape = {.rows = 50, .columns = 50, .tile = 32};
	OK(set_up(state));
	f = *state;
	OK(heddle_dense_matrix_create(f->dense, &shape, NULL, 0, &a));
	assert_int_equal(heddle_dense_refine(a, larger, 1, 0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_refine(a, ascending, 2, 0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_refine(a, zero, 1, 0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_refine(a, good, 0, 0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_refine(NULL, good, 1, 0), HEDDLE_E_INVALID);
	OK(heddle_dense_refine(a, good, 1, 0));
	assert_int_equal(heddle_dense_refine(a, good, 1, 0), HEDDLE_E_STATE);
	OK(heddle_dense_matrix_destroy(a));
	tear_down(state);
}

/* LAPACK's info names the row in the whole matrix. */
static void errors_in_sub_graphs_name_the_row(void **state)
{
	enum { N = 40, BAD = 30 };
	static double x[N * N];
	static const size_t smaller[] = {8};
	const struct heddle_dense_shape shape = {.rows = N, .columns = N, .tile = 16};
	struct fixture *f;
	heddle_dense_matrix *a;
	size_t info = 0;
	const struct heddle_dense_options options = {.info = &info};
	OK(set_up(state));
	f = *state;
	for (size_t i = 0; i < (size_t)N * N; i++)
		x[i] = i % (N + 1) ? 0 : 1;
	x[BAD + BAD * N] = -1;
	OK(heddle_dense_matrix_create(f->dense, &shape, x, N, &a));
	OK(heddle_dense_refine(a, smaller, 1, SIZE_MAX));
	OK(heddle_dense_potrf_submit(HEDDLE_DENSE_LOWER, a, &options));
	assert_int_equal(heddle_wait_all(f->rt), HEDDLE_E_KERNEL);
	assert_non_null(strstr(heddle_last_error(), "leading minor of order 31"));
	assert_int_equal(info, BAD + 1);
	heddle_dense_matrix_destroy(a);
	tear_down(state);
}

/* --- LU with pivoting --------------------------------------------------------------------------------------------- */

enum { ROWS = 75, COLUMNS = 61, PIVOTS = 61 };

/* Factorises a random matrix whose tiles of 32 are cut into tiles of 16 and of 4. Column `zero` is zero. Returns the
 * status of the wait. */
static int factorise(const char *expand, size_t zero, double *a, int *ipiv, size_t *info)
{
	static const size_t smaller[] = {16, 4};
	const struct heddle_dense_shape shape = {.rows = ROWS, .columns = COLUMNS, .tile = 32};
	struct heddle_config config = settings(2, 0, 0);
	struct heddle_dense_options options = {.info = info};
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_matrix *matrix;
	heddle_dense_pivots *pivots;
	config.expand = expand;
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
	uint64_t x = 1;
	for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		a[i] = i / ROWS == zero ? 0 : (double)(x >> 40) / (1 << 24) - .5;
	}
	OK(heddle_dense_matrix_create(dense, &shape, a, ROWS, &matrix));
	OK(heddle_dense_refine(matrix, smaller, 2, SIZE_MAX));
	OK(heddle_dense_pivots_create(matrix, ipiv, &pivots));
	OK(heddle_dense_getrf_submit(matrix, pivots, &options));
	int status = heddle_wait_all(rt);
	heddle_dense_pivots_destroy(pivots);
	heddle_dense_matrix_destroy(matrix);
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
	return status;
}

static void pivots_are_those_of_whole_tiles(void **state)
{
	static double whole[ROWS * COLUMNS], cut[ROWS * COLUMNS];
	int pivots[PIVOTS], same[PIVOTS];
	size_t info;
	(void)state;
	OK(factorise("never", SIZE_MAX, whole, pivots, &info));
	OK(factorise("always", SIZE_MAX, cut, same, &info));
	assert_int_equal(info, 0);
	assert_memory_equal(pivots, same, sizeof pivots);
	for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
		assert_true(fabs(whole[i] - cut[i]) < 1e-11);
}

/* The first panel of a tall matrix has the longest path behind it, so that its priority would be too large a number for
 * three levels of smaller tiles. */
static void priorities_of_long_paths_are_numbers(void **state)
{
	struct machine machine = {.cpus = 1,
	                          .kernels = "kernels:\n"
	                                     "- {codelet: dgetrf_panel, class: cpu, gflops: 1}\n"
	                                     "- {codelet: dtrsm, class: cpu, gflops: 1}\n"
	                                     "- {codelet: dgemm, class: cpu, gflops: 1}\n"};
	struct heddle_dense_problem problem = {.routine = "getrf",
	                                       .m = 1600,
	                                       .n = 64,
	                                       .options = {.tile = 8, .priority = HEDDLE_DENSE_PRIORITY_PATH},
	                                       .cut = "8/8/8"};
	heddle_dense *dense;
	(void)state;
	machine_start(&machine);
	OK(heddle_dense_open(machine.rt, &dense));
	OK(heddle_dense_graph(dense, &problem, &(struct heddle_dense_report){0}));
	struct heddle_trace *trace = machine_trace(&machine);
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (!(trace->tasks[i].priority > 0))
			fail_msg("task %zu has priority %d", i, (int)trace->tasks[i].priority);
	heddle_trace_free(trace);
	heddle_dense_close(dense);
	OK(heddle_stop(machine.rt));
}

static void zero_pivots_in_sub_graphs_are_named(void **state)
{
	static double a[ROWS * COLUMNS];
	int pivots[PIVOTS];
	size_t info;
	(void)state;
	OK(factorise("always", 52, a, pivots, &info));
	assert_int_equal(info, 53);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residuals_are_small_on_cores),
	    cmocka_unit_test(residuals_are_small_on_accelerators),
	    cmocka_unit_test(residuals_are_small_where_some_tasks_run_whole),
	    cmocka_unit_test(tasks_expand_where_all_their_tiles_are_cut),
	    cmocka_unit_test(impossible_cuts_are_refused),
	    cmocka_unit_test(errors_in_sub_graphs_name_the_row),
	    cmocka_unit_test(pivots_are_those_of_whole_tiles),
	    cmocka_unit_test(priorities_of_long_paths_are_numbers),
	    cmocka_unit_test(zero_pivots_in_sub_graphs_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
