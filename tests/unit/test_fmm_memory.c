/* Each allocation of opening, of a plan, of the thread that submits an evaluation, and of a file of particles fails
 * once: the call says so and leaves nothing behind. */
#define _GNU_SOURCE
#include "ok.h"
#include "failing_allocations.h"
#include <fmm/experiments/points.h>
#include <fmm/tasks/tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

enum { N = 400, TARGETS = 100 };

static heddle_runtime *rt;
static heddle_fmm *fmm;
static double xyz[3 * N], targets[3 * TARGETS], charges[N], potential[N], gradient[3 * N];
static float single_xyz[3 * N], single_targets[3 * TARGETS], single_charges[N];
static struct heddle_fmm_options options;

static void start(void)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = 1;
	config.n_cuda = config.n_opencl = 0;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
}

static int open_method(void)
{
	heddle_fmm *method;
	int status = heddle_fmm_open(rt, &method);
	if (!status)
		heddle_fmm_close(method);
	return status;
}

static int compute(void)
{
	int is_single = options.precision == HEDDLE_FMM_SINGLE;
	const struct heddle_fmm_points points = {N, is_single ? (void *)single_xyz : xyz};
	const void *q = is_single ? (void *)single_charges : charges;
	return heddle_fmm_compute(fmm, &points, q, potential, gradient, &options);
}

static int compute_at_targets(void)
{
	heddle_fmm_plan *plan;
	int is_single = options.precision == HEDDLE_FMM_SINGLE;
	const struct heddle_fmm_points from = {N, is_single ? (void *)single_xyz : xyz},
	                               to = {TARGETS, is_single ? (void *)single_targets : targets};
	int status = heddle_fmm_plan_create(fmm, &from, &to, &options, &plan);
	if (status)
		return status;
	status = heddle_fmm_evaluate(plan, is_single ? (void *)single_charges : charges, potential, gradient);
	OK(heddle_fmm_plan_destroy(plan));
	return status;
}

static char path[64];

static int read_file(void)
{
	size_t n;
	double *x, *q;
	int status = hd_fmm_read_points(path, &n, &x, &q);
	if (!status) {
		assert_int_equal(n, 3000);
		free(x);
		free(q);
	}
	return status;
}

/* One open method per runtime is what programs have; here a failure leaves a runtime that is started anew. */
static void opening(void **state)
{
	(void)state;
	int is_over = 0;
	for (int n = 0; !is_over; n++) {
		start();
		until_failure = n;
		int status = open_method();
		is_over = until_failure >= 0;
		until_failure = -1;
		assert_true(status == 0 || (status == HEDDLE_E_MEMORY && !is_over));
		OK(heddle_stop(rt));
	}
}

static void evaluating(void **state)
{
	(void)state;
	start();
	OK(heddle_fmm_open(rt, &fmm));
	hd_fmm_make_points(HD_FMM_CUBE, N, 42, xyz);
	hd_fmm_make_points(HD_FMM_SPHERE, TARGETS, 7, targets);
	for (size_t i = 0; i < N; i++)
		charges[i] = single_charges[i] = 1;
	for (size_t i = 0; i < 3 * N; i++)
		single_xyz[i] = (float)xyz[i];
	for (size_t i = 0; i < 3 * TARGETS; i++)
		single_targets[i] = (float)targets[i];
	for (int k = 0; k < 4; k++) {
		options = (struct heddle_fmm_options){.cells = k % 2 ? 5 : 0,
		                                      .precision = k / 2 ? HEDDLE_FMM_SINGLE : HEDDLE_FMM_DOUBLE,
		                                      .digits = 2,
		                                      .task_us = 50,
		                                      .periodic = k == 1 ? 2 : 0};
		fail_each(compute, 15);
		fail_each(compute_at_targets, 15);
	}
	options = (struct heddle_fmm_options){.cells = 5, .digits = 2, .task_us = 50, .pairs = HEDDLE_FMM_MUTUAL};
	fail_each(compute, 15);
	struct hd_fmm_errors e = hd_fmm_errors_of(N, xyz, charges, potential, gradient, N);
	assert_true(e.potential < 1e-2 && e.gradient < 1e-2);
	heddle_fmm_close(fmm);
	OK(heddle_stop(rt));
}

static void reading(void **state)
{
	(void)state;
	int file = memfd_create("points", 0);
	assert_true(file >= 0);
	for (int i = 0; i < 3000; i++)
		dprintf(file, "1 2 3 4\n");
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	fail_each(read_file, 4);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(opening),
	    cmocka_unit_test(evaluating),
	    cmocka_unit_test(reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
