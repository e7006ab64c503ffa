/* Every routine on random data by its name: residuals in all precisions, layouts and triangles, what makes them large,
 * and what virtual time makes of the tasks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dense/internal.h>
#include "../machine.h"
#include "virtual_machine.h"

static void start(heddle_runtime **rt, heddle_dense **dense)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.platform = NULL;
	config.model_dir = "none";
	OK(heddle_start(&config, rt));
	OK(heddle_dense_open(*rt, dense));
}

static void stop(heddle_runtime *rt, heddle_dense *dense)
{
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

/* So many tiles in place that products take blocks of several rows and columns of them. */
static void residuals_of_products_of_blocks_are_small(void **state)
{
	static const char *const names[] = {"gemm", "potrf", "getrf", "getrf_nopiv", "trtri", "lauum", "poinv", "gesv"};
	heddle_runtime *rt;
	heddle_dense *dense;
	(void)state;
	start(&rt, &dense);
	for (unsigned v = 0; v < 2 * sizeof names / sizeof *names; v++) {
		struct heddle_dense_problem problem = {
		    .routine = names[v / 2],
		    .n = 300 + v,
		    .uplo = v % 2 ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER,
		    .seed = v,
		    .check = 1,
		    .options = {.tile = 8},
		};
		struct heddle_dense_report report;
		OK(heddle_dense_run(dense, &problem, &report));
		if (!(report.residual >= 0 && report.residual < 30))
			fail_msg("%s: residual %g", names[v / 2], report.residual);
	}
	stop(rt, dense);
}

/* Problem v of those that a routine is tried with. */
static struct heddle_dense_problem problem_of(const struct heddle_dense_routine *routine, unsigned v)
{
	return (struct heddle_dense_problem){
	    .routine = routine->name,
	    .precision = v % 4,
	    .n = v / 4 % 2 ? 75 : 1,
	    .m = v % 3 == 1 ? 90 : 0, /* at least n, as least squares need it */
	    .k = v % 3 == 2 ? 17 : 0,
	    .n_right = v % 5,
	    .uplo = v / 8 % 2 ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER,
	    .seed = v,
	    .check = 1,
	    .options = {.tile = 16, .layout = v / 16 % 2, .priority = v % 3},
	};
}

static void residuals_of_all_routines_are_small(void **state)
{
	heddle_runtime *rt;
	heddle_dense *dense;
	const struct heddle_dense_routine *routine;
	(void)state;
	start(&rt, &dense);
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)); i++) {
		assert_ptr_equal(heddle_dense_routine_find(routine->name), routine);
		for (unsigned v = 0; v < 32; v++) {
			struct heddle_dense_problem problem = problem_of(routine, v);
			struct heddle_dense_report report;
			OK(heddle_dense_run(dense, &problem, &report));
			if (!(report.residual >= 0 && report.residual < 30))
				fail_msg("%s, problem %u: residual %g", routine->name, v, report.residual);
		}
	}
	stop(rt, dense);
}

/* One element of the result, matrix `which` of the experiment, is changed a little. */
static double residual_after_damage(heddle_dense *dense, const char *routine, size_t which)
{
	struct heddle_dense_problem problem = {.routine = routine, .n = 60, .seed = 3, .options = {.tile = 16}};
	heddle_dense_experiment *e;
	struct heddle_part part;
	double residual;
	OK(heddle_dense_experiment_open(dense, &problem, &e));
	OK(heddle_dense_experiment_fill(e));
	OK(heddle_dense_experiment_submit(e));
	heddle_data *tile = heddle_dense_tile(e->m[which], 2, 0);
	OK(heddle_acquire(tile, HEDDLE_RW));
	OK(heddle_data_part(tile, 0, &part));
	double *x = (double *)part.base + 3 + 5 * part.stride[1];
	*x += fabs(*x) * 1e-3;
	OK(heddle_release(tile));
	OK(heddle_dense_experiment_residual(e, &residual));
	OK(heddle_dense_experiment_close(e));
	return residual;
}

static void residuals_of_slightly_wrong_results_are_large(void **state)
{
	static const struct {
		const char *routine;
		size_t result;
	} cases[] = {{"gemm", 2},  {"syrk", 2}, {"symm", 2},  {"trsm", 1},  {"trmm", 1},  {"potrf", 0},
	             {"potrs", 1}, {"posv", 1}, {"trtri", 0}, {"lauum", 0}, {"potri", 0}, {"poinv", 0}};
	heddle_runtime *rt;
	heddle_dense *dense;
	(void)state;
	start(&rt, &dense);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double residual = residual_after_damage(dense, cases[i].routine, cases[i].result);
		if (!(residual > 1e4))
			fail_msg("%s: residual %g", cases[i].routine, residual);
	}
	stop(rt, dense);
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

/* Runs the routine on a machine on which each codelet that it may call has 1 GFlop/s. The caller frees the trace. */
static struct heddle_dense_report trace_of(const struct heddle_dense_problem *problem, unsigned cpus,
                                           struct heddle_trace **trace)
{
	static const char letters[] = "dszc";
	char kernels[2048] = "kernels:\n", names[256], *rest = names, *name;
	snprintf(names, sizeof names, "%s", heddle_dense_routine_find(problem->routine)->codelets);
	while ((name = strtok_r(rest, " ", &rest)))
		snprintf(kernels + strlen(kernels), sizeof kernels - strlen(kernels),
		         "- {codelet: %c%s, class: cpu, gflops: 1}\n", letters[problem->precision], name);
	struct machine m = {.cpus = cpus, .kernels = kernels, .sched = "prio"};
	struct heddle_dense_report report;
	heddle_dense *dense;
	machine_start(&m);
	OK(heddle_dense_open(m.rt, &dense));
	OK(heddle_dense_graph(dense, problem, &report));
	*trace = machine_trace(&m);
	heddle_dense_close(dense);
	OK(heddle_stop(m.rt));
	return report;
}

static struct heddle_dense_report simulate(const struct heddle_dense_problem *problem, unsigned cpus, double *flops)
{
	struct heddle_trace *trace;
	struct heddle_dense_report report = trace_of(problem, cpus, &trace);
	*flops = 0;
	for (size_t i = 0; i < trace->n_tasks; i++)
		*flops += trace->tasks[i].flops;
	heddle_trace_free(trace);
	return report;
}

/* The last tiles are narrower than the others: every operation is asked for the extents that it really has. */
static void operations_of_the_tasks_add_up_to_those_of_the_routine(void **state)
{
	static const char *const routines[] = {"gemm",  "syrk", "symm",  "trsm",  "trmm",  "potrf",
	                                       "potrs", "posv", "trtri", "lauum", "potri", "poinv"};
	(void)state;
	for (unsigned v = 0; v < 4 * sizeof routines / sizeof *routines; v++) {
		struct heddle_dense_problem problem = {.routine = routines[v / 4],
		                                       .precision = v % 4,
		                                       .n = 47,
		                                       .m = 35,
		                                       .k = 23,
		                                       .n_right = 7,
		                                       .uplo = v % 2 ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER,
		                                       .options = {.tile = 10}};
		double sum, whole = heddle_dense_flops(&problem);
		simulate(&problem, 1, &sum);
		if (!(fabs(sum - whole) <= 1e-12 * whole))
			fail_msg("%s: the tasks have %g operations and the routine %g", problem.routine, sum, whole);
	}
}

static void the_sweeps_of_poinv_overlap(void **state)
{
	struct heddle_dense_problem problem = {.n = 300, .options = {.tile = 50}};
	double apart = 0, flops;
	(void)state;
	static const char *const sweeps[] = {"potrf", "trtri", "lauum"};
	for (int i = 0; i < 3; i++) {
		problem.routine = sweeps[i];
		apart += simulate(&problem, 8, &flops).seconds;
	}
	problem.routine = "poinv";
	double together = simulate(&problem, 8, &flops).seconds;
	if (!(together < 0.8 * apart))
		fail_msg("%g s together, %g s one after the other", together, apart);
}

/* StarPU's priorities of potrf would mean nothing beside those of what follows it. */
static void priorities_of_routines_made_of_others_are_longest_paths(void **state)
{
	static const char *const routines[] = {"posv", "poinv"};
	(void)state;
	for (size_t r = 0; r < 2; r++) {
		struct heddle_dense_problem problem = {
		    .routine = routines[r], .n = 60, .options = {.tile = 10, .priority = HEDDLE_DENSE_PRIORITY_STARPU}};
		struct heddle_trace *starpu, *path;
		trace_of(&problem, 2, &starpu);
		problem.options.priority = HEDDLE_DENSE_PRIORITY_PATH;
		trace_of(&problem, 2, &path);
		assert_int_equal(starpu->n_tasks, path->n_tasks);
		for (size_t i = 0; i < path->n_tasks; i++) {
			assert_int_equal(starpu->tasks[i].priority, path->tasks[i].priority);
			assert_true(path->tasks[i].priority > 0);
		}
		heddle_trace_free(starpu);
		heddle_trace_free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residuals_of_all_routines_are_small),
	    cmocka_unit_test(residuals_of_products_of_blocks_are_small),
	    cmocka_unit_test(residuals_of_slightly_wrong_results_are_large),
	    cmocka_unit_test(operations_of_the_tasks_add_up_to_those_of_the_routine),
	    cmocka_unit_test(the_sweeps_of_poinv_overlap),
	    cmocka_unit_test(priorities_of_routines_made_of_others_are_longest_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
