/* Dense routines on tiles that are cut into smaller ones: residuals of all routines, on cores and accelerators; how
 * many tasks there are; priorities of sub-graphs; what is refused. */
#include <math.h>
#include <string.h>
#include <dense/internal.h>
#include "dense_runtime.h"

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
			OK(heddle_check(rt));
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
	run_all(&config, 6);
}

static void residuals_are_small_on_accelerators(void **state)
{
	struct heddle_config config = settings(1, 2, 0);
	(void)state;
	config.expand = "always";
	run_all(&config, 4);
}

static void residuals_are_small_where_some_tasks_run_whole(void **state)
{
	struct heddle_config config = settings(1, 1, 100000);
	(void)state;
	config.expand = "adaptive";
	run_all(&config, 4);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residuals_are_small_on_cores),
	    cmocka_unit_test(residuals_are_small_on_accelerators),
	    cmocka_unit_test(residuals_are_small_where_some_tasks_run_whole),
	    cmocka_unit_test(tasks_expand_where_all_their_tiles_are_cut),
	    cmocka_unit_test(impossible_cuts_are_refused),
	    cmocka_unit_test(errors_in_sub_graphs_name_the_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
