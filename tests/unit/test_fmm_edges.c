/* The fast multipole method at the edges of what it accepts: coordinates and charges of all sizes, few points, targets
 * far from the sources, absurd options, calls where nobody may wait, virtual time, threads. */
#define _GNU_SOURCE
#include "../machine.h"
#include "ok.h"
#include <fmm/experiments/points.h>
#include <fmm/tasks/tasks.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

static double xyz[3 * MOST], charges[MOST], potential[MOST], gradient[3 * MOST];
static heddle_runtime *rt;
static heddle_fmm *fmm;

static int set_up(void **state)
{
	struct heddle_config config;
	(void)state;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.n_cuda = config.n_opencl = 0;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	OK(heddle_fmm_open(rt, &fmm));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	heddle_fmm_close(fmm);
	OK(heddle_stop(rt));
	return 0;
}

static void make(size_t n)
{
	hd_fmm_make_points(HD_FMM_CUBE, n, 42, xyz);
	for (size_t i = 0; i < n; i++)
		charges[i] = i % 3 ? 1 : -0.5;
}

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

/* --- Sizes of numbers --------------------------------------------------------------------------------------------- */

/* Points, charges and results multiplied by powers of two, by which a program's units differ. */
static void units_of_length_and_charge_do_not_matter(void **state)
{
	static const int lengths[] = {-990, -500, -200, 0, 200, 500, 990}, of_charge[] = {-900, -300, 0, 300, 900};
	static double at[3 * 500], q[500], phi[500], slope[3 * 500];
	const size_t n = 500;
	(void)state;
	make(n);
	const struct heddle_fmm_options options = {.cells = 5};
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){n, xyz}, charges, potential, gradient, &options));
	for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
		for (size_t c = 0; c < sizeof of_charge / sizeof *of_charge; c++) {
			for (size_t i = 0; i < 3 * n; i++)
				at[i] = ldexp(xyz[i], lengths[k]);
			for (size_t i = 0; i < n; i++)
				q[i] = ldexp(charges[i], of_charge[c]);
			OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){n, at}, q, phi, slope, &options));
			int of_potential = of_charge[c] - lengths[k], of_gradient = of_potential - lengths[k];
			for (size_t i = 0; i < n && abs(of_potential) < 1000; i++)
				near(phi[i], ldexp(potential[i], of_potential));
			for (size_t i = 0; i < 3 * n && abs(of_gradient) < 1000; i++)
				near(slope[i], ldexp(gradient[i], of_gradient));
		}
}

/* Masses of stars in kg at places in m: what two of them cause has six digits less than float may have. */
static void single_precision_takes_any_units(void **state)
{
	static float at[3 * 2000], q[2000], phi[2000], slope[3 * 2000];
	const struct heddle_fmm_options options = {.digits = 4, .precision = HEDDLE_FMM_SINGLE, .cells = 8};
	const size_t n = 2000;
	(void)state;
	hd_fmm_make_points(HD_FMM_CUBE, n, 42, xyz);
	for (size_t i = 0; i < 3 * n; i++)
		xyz[i] = at[i] = (float)(1e17 * xyz[i]);
	for (size_t i = 0; i < n; i++)
		charges[i] = q[i] = 2e35f;
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){n, at}, q, phi, slope, &options));
	for (size_t i = 0; i < 3 * n; i++) {
		gradient[i] = slope[i];
		potential[i / 3] = phi[i / 3];
	}
	struct hd_fmm_errors e = hd_fmm_errors_of(n, xyz, charges, potential, gradient, 300);
	if (!(e.potential < 1e-4 && e.gradient < 1e-4))
		fail_msg("errors %g, %g", e.potential, e.gradient);
}

/* (2 degree)! is soon no float. */
static void every_degree_gives_numbers(void **state)
{
	static float at[3 * 1000], q[1000], phi[1000], slope[3 * 1000];
	const size_t n = 1000;
	(void)state;
	make(n);
	for (size_t i = 0; i < 3 * n; i++)
		xyz[i] = at[i] = (float)xyz[i];
	for (size_t i = 0; i < n; i++)
		q[i] = (float)charges[i];
	for (int degree = 1; degree <= HD_FMM_MOST_DEGREE_SINGLE; degree++) {
		const struct heddle_fmm_options options = {
		    .degree = degree, .precision = HEDDLE_FMM_SINGLE, .cells = 8};
		OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){n, at}, q, phi, slope, &options));
		for (size_t i = 0; i < 3 * n; i++) {
			gradient[i] = slope[i];
			potential[i / 3] = phi[i / 3];
		}
		struct hd_fmm_errors e = hd_fmm_errors_of(n, xyz, charges, potential, gradient, 300);
		double most = degree > 8 ? 1e-5 : degree > 4 ? 1e-3 : 1e-1;
		if (!(e.potential < most && e.gradient < most))
			fail_msg("degree %d: errors %g, %g", degree, e.potential, e.gradient);
	}
}

static void distant_origins_and_tiny_extents(void **state)
{
	double phi[3], slope[9];
	const double one[] = {1, 1, 1};
	(void)state;
	/* at 1e18, the next numbers are 128 away */
	const double far[] = {1e18, 1e18, 1e18, 1e18 + 1, 1e18, 1e18, 1e18 + 1024, 1e18, 1e18};
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){3, far}, one, phi, slope, NULL));
	near(phi[0], 1.0 / 1024);
	near(phi[2], 2.0 / 1024);
	const double tiny[] = {0, 0, 0, 1e-300, 0, 0, 0, 2e-300, 0};
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){3, tiny}, one, phi, slope, NULL));
	near(phi[0], 1.5e300);
	/* 1 / r is no number, but 0 / r is 0 */
	const double least[] = {0, 0, 0, 5e-324, 0, 0, 0, 1e-323, 0}, zero[] = {0, 0, 0};
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){3, least}, one, phi, slope, NULL));
	assert_true(isinf(phi[0]) && phi[0] > 0);
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){3, least}, zero, phi, slope, NULL));
	for (int i = 0; i < 9; i++)
		assert_true(phi[i / 3] == 0 && slope[i] == 0);
	const double huge[] = {0, 0, 0, 1.7e308, 0, 0, 0, 1e308, 0};
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){3, huge}, (double[]){1e300, 1e300, 1e300}, phi, NULL,
	                      NULL));
	near(phi[0], 1e300 / 1.7e308 + 1e300 / 1e308);
}

/* --- Sources and targets ------------------------------------------------------------------------------------------ */

static void evaluate(const struct heddle_fmm_points *from, const struct heddle_fmm_points *to, double cells)
{
	heddle_fmm_plan *plan;
	const struct heddle_fmm_options options = {.cells = cells, .task_us = 20};
	memset(potential, 0x55, sizeof potential);
	memset(gradient, 0x55, sizeof gradient);
	OK(heddle_fmm_plan_create(fmm, from, to, &options, &plan));
	OK(heddle_fmm_evaluate(plan, charges, potential, gradient));
	OK(heddle_fmm_plan_destroy(plan));
}

static void either_side_may_be_empty(void **state)
{
	(void)state;
	make(100);
	const struct heddle_fmm_points none = {0, NULL}, some = {100, xyz};
	for (double cells = 0; cells < 9; cells += 4) {
		evaluate(&none, &some, cells);
		for (size_t i = 0; i < 300; i++)
			assert_true(potential[i / 3] == 0 && gradient[i] == 0);
		evaluate(&some, &none, cells);
		evaluate(&none, &none, cells);
	}
}

static double square(double x)
{
	return x * x;
}

/* Of the results at targets that are no sources. */
static void check_errors_at(const double *at, size_t n_targets, size_t n_sources, double most)
{
	double error[2] = {0}, norm[2] = {0};
	for (size_t i = 0; i < n_targets; i++) {
		double sum[4] = {0}, size[2] = {0};
		for (size_t j = 0; j < n_sources; j++) {
			double d[3], r2 = 0;
			for (size_t c = 0; c < 3; c++) {
				d[c] = at[3 * i + c] - xyz[3 * j + c];
				r2 += d[c] * d[c];
			}
			sum[0] += charges[j] / sqrt(r2);
			size[0] += fabs(charges[j]) / sqrt(r2);
			size[1] += fabs(charges[j]) / r2;
			for (size_t c = 0; c < 3; c++)
				sum[1 + c] -= charges[j] / sqrt(r2) / r2 * d[c];
		}
		error[0] += square(potential[i] - sum[0]);
		for (size_t c = 0; c < 3; c++)
			error[1] += square(gradient[3 * i + c] - sum[1 + c]);
		norm[0] += square(size[0]);
		norm[1] += square(size[1]);
	}
	for (int k = 0; k < 2; k++)
		if (!(error[k] < most * most * norm[k]))
			fail_msg("%s: error %g", k ? "gradient" : "potential", sqrt(error[k] / norm[k]));
}

/* The sources lie in a corner of the only leaf that has any, where expansions have the largest errors. */
static void targets_far_from_all_sources(void **state)
{
	static double at[3 * 50];
	(void)state;
	make(1000);
	for (size_t k = 0; k < 3; k++) {
		const double distance[] = {10, 1e4, 1e9};
		for (size_t i = 0; i < 50; i++) {
			at[3 * i] = distance[k] * (1 + (double)i / 50);
			at[3 * i + 1] = at[3 * i + 2] = i < 25 ? 0 : -distance[k];
		}
		evaluate(&(struct heddle_fmm_points){1000, xyz}, &(struct heddle_fmm_points){50, at}, 0);
		check_errors_at(at, 50, 1000, 1e-3);
	}
}

/* All sources in one leaf, all targets in another that is as near as far cells are, and nothing that is nearer. */
static void far_cells_alone_keep_the_digits(void **state)
{
	static double at[3 * 400];
	(void)state;
	make(400);
	hd_fmm_make_points(HD_FMM_CUBE, 400, 7, at);
	for (size_t i = 0; i < 400; i++) {
		charges[i] = 1;
		at[3 * i] += 2;
	}
	evaluate(&(struct heddle_fmm_points){400, xyz}, &(struct heddle_fmm_points){400, at}, 3);
	check_errors_at(at, 400, 400, 1e-6);
}

static void all_at_one_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3 * 1000; i++)
		xyz[i] = 1 + (double)(i % 3);
	for (size_t i = 0; i < 1000; i++)
		charges[i] = 1;
	evaluate(&(struct heddle_fmm_points){1000, xyz}, NULL, 0);
	for (size_t i = 0; i < 3 * 1000; i++)
		assert_true(potential[i / 3] == 0 && gradient[i] == 0);
	/* and targets beside */
	evaluate(&(struct heddle_fmm_points){1000, xyz}, &(struct heddle_fmm_points){1, (double[]){1, 2, 7}}, 0);
	near(potential[0], 250);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

static int status_with(struct heddle_fmm_options options)
{
	make(300);
	return heddle_fmm_compute(fmm, &(struct heddle_fmm_points){300, xyz}, charges, potential, gradient, &options);
}

static void accepted(struct heddle_fmm_options options)
{
	OK(status_with(options));
	struct hd_fmm_errors e = hd_fmm_errors_of(300, xyz, charges, potential, gradient, 300);
	if (!(e.potential < 1e-6 && e.gradient < 1e-5)) /* leaves have few particles */
		fail_msg("cells %g, task_us %g: errors %g, %g", options.cells, options.task_us, e.potential,
		         e.gradient);
}

static void refused(struct heddle_fmm_options options)
{
	assert_int_equal(status_with(options), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "options."));
}

static void absurd_options(void **state)
{
	static const double cells[] = {1, 1.5, 2, 65536}, task_us[] = {1e-300, 1e12, 1e300, INFINITY};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		accepted((struct heddle_fmm_options){.cells = cells[i]});
		accepted((struct heddle_fmm_options){.task_us = task_us[i], .cells = 6});
	}
	refused((struct heddle_fmm_options){.cells = 0.5});
	refused((struct heddle_fmm_options){.cells = 5e-324});
	refused((struct heddle_fmm_options){.cells = -1e300});
	refused((struct heddle_fmm_options){.cells = 65537});
	refused((struct heddle_fmm_options){.cells = INFINITY});
	refused((struct heddle_fmm_options){.cells = NAN});
	refused((struct heddle_fmm_options){.task_us = NAN});
	refused((struct heddle_fmm_options){.task_us = -1});
	refused((struct heddle_fmm_options){.digits = 99});
	refused((struct heddle_fmm_options){.digits = -1});
	refused((struct heddle_fmm_options){.degree = -1});
	refused((struct heddle_fmm_options){.degree = 15, .precision = HEDDLE_FMM_SINGLE});
	refused((struct heddle_fmm_options){.precision = (enum heddle_fmm_precision)7});
	refused((struct heddle_fmm_options){.pairs = (enum heddle_fmm_pairs) - 1});
}

/* --- What is wrong ------------------------------------------------------------------------------------------------ */

static void says(int status, int expected, const char *word)
{
	assert_int_equal(status, expected);
	if (!strstr(heddle_last_error(), word))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), word);
}

static void arguments_are_checked_before_anything_runs(void **state)
{
	heddle_fmm_plan *plan;
	const struct heddle_fmm_points points = {100, xyz};
	(void)state;
	make(100);
	says(heddle_fmm_plan_create(NULL, &points, NULL, NULL, &plan), HEDDLE_E_INVALID, "heddle_fmm_open");
	says(heddle_fmm_plan_create(fmm, NULL, NULL, NULL, &plan), HEDDLE_E_INVALID, "sources");
	says(heddle_fmm_plan_create(fmm, &points, NULL, NULL, NULL), HEDDLE_E_INVALID, "result");
	says(heddle_fmm_evaluate(NULL, charges, potential, NULL), HEDDLE_E_INVALID, "plan");
	says(heddle_fmm_compute(fmm, NULL, charges, potential, NULL, NULL), HEDDLE_E_INVALID, "sources");
	OK(heddle_fmm_plan_create(fmm, &points, NULL, NULL, &plan));
	says(heddle_fmm_evaluate_submit(plan, NULL, potential, NULL), HEDDLE_E_INVALID, "charges");
	charges[17] = -INFINITY;
	says(heddle_fmm_evaluate(plan, charges, potential, gradient), HEDDLE_E_INVALID, "charge 17 is infinite");
	charges[17] = NAN;
	says(heddle_fmm_evaluate_submit(plan, charges, potential, gradient), HEDDLE_E_INVALID, "charge 17 is NaN");
	OK(heddle_fmm_plan_destroy(plan));
}

static int results_of_virtual_time(double *phi, double *slope)
{
	struct heddle_config config;
	heddle_runtime *simulated;
	heddle_fmm *method;
	heddle_fmm_plan *plan;
	OK(heddle_config_init(&config));
	config.platform = "intel-v100";
	OK(heddle_start(&config, &simulated));
	OK(heddle_fmm_open(simulated, &method));
	OK(heddle_fmm_plan_create(method, &(struct heddle_fmm_points){100, xyz}, NULL, NULL, &plan));
	int status = heddle_fmm_evaluate(plan, charges, phi, slope);
	OK(heddle_fmm_plan_destroy(plan));
	heddle_fmm_close(method);
	OK(heddle_stop(simulated));
	return status;
}

static void virtual_time_has_no_results(void **state)
{
	(void)state;
	make(100);
	OK(results_of_virtual_time(NULL, NULL));
	says(results_of_virtual_time(potential, NULL), HEDDLE_E_STATE, "virtual time");
	says(results_of_virtual_time(NULL, gradient), HEDDLE_E_STATE, "virtual time");
}

static int statuses[3];

/* Where a kernel's task has a workspace, nobody may wait. */
static int wait_in_vain(heddle_context *c)
{
	heddle_fmm_plan *plan = *(heddle_fmm_plan *const *)heddle_value_ptr(c, 0);
	const struct heddle_fmm_points points = {100, xyz};
	statuses[0] = heddle_fmm_compute(fmm, &points, charges, potential, gradient, NULL);
	statuses[1] = heddle_fmm_evaluate(plan, charges, potential, gradient);
	statuses[2] = heddle_fmm_plan_destroy(plan);
	return 0;
}

static void kernels_that_may_not_wait_change_nothing(void **state)
{
	heddle_fmm_plan *plan;
	heddle_codelet *codelet;
	heddle_data *work;
	const struct heddle_codelet_desc desc = {.name = "wait", .cpu = wait_in_vain};
	(void)state;
	make(100);
	OK(heddle_fmm_plan_create(fmm, &(struct heddle_fmm_points){100, xyz}, NULL, NULL, &plan));
	OK(heddle_codelet_create(rt, &desc, &codelet));
	OK(heddle_vector(rt, NULL, 1, 1, &work));
	OK(heddle_submit(rt, heddle_call(codelet), heddle_scratch(work), heddle_value(plan)));
	OK(heddle_wait_all(rt));
	for (int i = 0; i < 3; i++)
		assert_int_equal(statuses[i], HEDDLE_E_UNSUPPORTED);
	OK(heddle_fmm_evaluate(plan, charges, potential, gradient));
	OK(heddle_fmm_plan_destroy(plan));
	OK(heddle_unregister(work));
}

/* --- At the same time --------------------------------------------------------------------------------------------- */

static void plans_end_while_their_tasks_run(void **state)
{
	const struct heddle_fmm_options options = {.task_us = 10, .cells = 8};
	(void)state;
	make(2000);
	for (int round = 0; round < 5; round++) {
		heddle_fmm_plan *plan;
		OK(heddle_fmm_plan_create(fmm, &(struct heddle_fmm_points){2000, xyz}, NULL, &options, &plan));
		OK(heddle_fmm_evaluate_submit(plan, charges, potential, gradient));
		OK(heddle_fmm_plan_destroy(plan)); /* waits */
		struct hd_fmm_errors e = hd_fmm_errors_of(2000, xyz, charges, potential, gradient, 100);
		assert_true(e.potential < 1e-6 && e.gradient < 1e-6);
	}
}

static void *evaluate_in_thread(void *arg)
{
	static const struct heddle_fmm_options options = {.task_us = 20, .cells = 6};
	double *phi = arg;
	for (int round = 0; round < 4; round++) {
		heddle_fmm_plan *plan;
		OK(heddle_fmm_plan_create(fmm, &(struct heddle_fmm_points){1000, xyz}, NULL, &options, &plan));
		OK(heddle_fmm_evaluate(plan, charges, phi, NULL));
		OK(heddle_fmm_evaluate(plan, charges, phi, NULL));
		OK(heddle_fmm_plan_destroy(plan));
	}
	return NULL;
}

static void threads_have_plans_of_their_own(void **state)
{
	enum { THREADS = 4 };
	static double results[THREADS][1000];
	pthread_t threads[THREADS];
	(void)state;
	make(1000);
	for (int t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, evaluate_in_thread, results[t]), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 1; t < THREADS; t++)
		assert_memory_equal(results[0], results[t], sizeof results[0]);
	struct hd_fmm_errors e = hd_fmm_errors_of(1000, xyz, charges, results[0], NULL, 100);
	assert_true(e.potential < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(units_of_length_and_charge_do_not_matter),
	    cmocka_unit_test(single_precision_takes_any_units),
	    cmocka_unit_test(every_degree_gives_numbers),
	    cmocka_unit_test(distant_origins_and_tiny_extents),
	    cmocka_unit_test(either_side_may_be_empty),
	    cmocka_unit_test(targets_far_from_all_sources),
	    cmocka_unit_test(far_cells_alone_keep_the_digits),
	    cmocka_unit_test(all_at_one_place),
	    cmocka_unit_test(absurd_options),
	    cmocka_unit_test(arguments_are_checked_before_anything_runs),
	    cmocka_unit_test(virtual_time_has_no_results),
	    cmocka_unit_test(kernels_that_may_not_wait_change_nothing),
	    cmocka_unit_test(plans_end_while_their_tasks_run),
	    cmocka_unit_test(threads_have_plans_of_their_own),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
