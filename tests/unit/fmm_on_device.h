/* The near field and translations on a device: each target sees each source once, and results are as precise as those
 * of a core, in both precisions, with targets of their own, mutual pairs and a memory that holds a few groups. The
 * includer says how many points there are, N, up to how many digits, MOST_DIGITS, and has open_method. */
#ifndef FMM_ON_DEVICE_H
#define FMM_ON_DEVICE_H

#include <fmm/experiments/points.h>
#include <fmm/tasks/tasks.h>
#include <math.h>
#include "ok.h"

enum { TARGETS = N / 4 };

static double xyz[3 * N], targets[3 * TARGETS], charges[N], potential[N], gradient[3 * N], directly[N];
static float single_xyz[3 * N], single_charges[N], single_potential[N], single_gradient[3 * N];
static heddle_runtime *rt;
static heddle_fmm *fmm;
static uint64_t before; /* transfers of this runtime that were counted */

/* Starts the runtime, whose device has so many bytes (0: any), and opens the method. */
static void open_method(uint64_t memory);

static void close_method(void)
{
	heddle_fmm_close(fmm);
	OK(heddle_stop(rt));
}

static int set_up(void **state)
{
	(void)state;
	open_method(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_method();
	return 0;
}

static void make(enum hd_fmm_distribution distribution)
{
	hd_fmm_make_points(distribution, N, 42, xyz);
	hd_fmm_make_points(HD_FMM_SPHERE, TARGETS, 7, targets);
	for (size_t i = 0; i < N; i++)
		charges[i] = i % 3 ? 1 : -0.5;
}

/* Whether data were copied, to a device and back, since the last call: other workers need no copies. */
static int device_took_part(void)
{
	struct heddle_stats s;
	OK(heddle_runtime_stats(rt, &s));
	int is_more = s.transfers > before;
	before = s.transfers;
	return is_more;
}

static void each_target_sees_all_sources_once(void **state)
{
	static const double cells[] = {0, 1, 3, 7};
	(void)state;
	for (int d = HD_FMM_CUBE; d <= HD_FMM_COINCIDENT; d++)
		for (size_t k = 0; k < 4; k++)
			for (int way = 0; way < (d == HD_FMM_PLUMMER ? 4 : 3); way++) {
				int has_targets = way == 1, periodic = way == 3;
				/* 26 cubes that touch the root, and once for all others */
				int seen = (periodic ? 28 : 1) * N - (has_targets ? 0 : 1);
				const struct heddle_fmm_points from = {N, xyz}, to = {TARGETS, targets};
				const struct heddle_fmm_options options = {.cells = cells[k],
				                                           .task_us = 20,
				                                           .pairs = way == 2 ? HEDDLE_FMM_MUTUAL
				                                                             : HEDDLE_FMM_ONE_SIDED,
				                                           .periodic = periodic ? 2 : 0};
				heddle_fmm_plan *plan;
				make((enum hd_fmm_distribution)d);
				for (size_t i = 0; i < N; i++)
					charges[i] = 1;
				OK(hd_fmm_plan_counting(fmm, &from, has_targets ? &to : NULL, &options, &plan));
				OK(heddle_fmm_evaluate(plan, charges, potential, NULL));
				for (size_t i = 0; i < (has_targets ? TARGETS : N); i++)
					if (potential[i] != seen)
						fail_msg("target %zu sees %g sources", i, potential[i]);
				OK(heddle_fmm_plan_destroy(plan));
			}
	assert_true(device_took_part());
}

static void digits_are_kept(void **state)
{
	(void)state;
	for (int d = HD_FMM_CUBE; d <= HD_FMM_COINCIDENT; d++)
		for (int digits = 2; digits <= MOST_DIGITS; digits += 2) {
			const struct heddle_fmm_options options = {.digits = digits, .task_us = 10};
			make((enum hd_fmm_distribution)d);
			OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){N, xyz}, charges, potential, gradient,
			                      &options));
			struct hd_fmm_errors e = hd_fmm_errors_of(N, xyz, charges, potential, gradient, 200);
			double most = pow(10, -digits);
			if (!(e.potential < most && e.gradient < most))
				fail_msg("distribution %d, %d digits: %g, %g", d, digits, e.potential, e.gradient);
		}
	assert_true(device_took_part());
}

/* Without far cells all is the near field, which has the precision of the numbers. */
static void the_near_field_has_all_digits(void **state)
{
	const struct heddle_fmm_options options = {.cells = 3, .task_us = 10};
	(void)state;
	make(HD_FMM_CUBE);
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){N, xyz}, charges, potential, gradient,
	                      &(struct heddle_fmm_options){.cells = 2, .task_us = 10}));
	struct hd_fmm_errors e = hd_fmm_errors_of(N, xyz, charges, potential, gradient, 200);
	assert_true(e.potential < 1e-13 && e.gradient < 1e-13);
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){N, xyz}, charges, directly, NULL, &options));
	for (size_t i = 0; i < N; i++)
		assert_true(fabs(directly[i] - potential[i]) < 1e-6 * N);
	assert_true(device_took_part());
}

static void single_precision(void **state)
{
	const struct heddle_fmm_options options = {.precision = HEDDLE_FMM_SINGLE, .digits = 5, .task_us = 10};
	(void)state;
	make(HD_FMM_PLUMMER);
	for (size_t i = 0; i < 3 * N; i++)
		xyz[i] = single_xyz[i] = (float)xyz[i];
	for (size_t i = 0; i < N; i++)
		charges[i] = single_charges[i] = (float)charges[i];
	OK(heddle_fmm_compute(fmm, &(struct heddle_fmm_points){N, single_xyz}, single_charges, single_potential,
	                      single_gradient, &options));
	for (size_t i = 0; i < 3 * N; i++) {
		gradient[i] = single_gradient[i];
		potential[i / 3] = single_potential[i / 3];
	}
	struct hd_fmm_errors e = hd_fmm_errors_of(N, xyz, charges, potential, gradient, 200);
	assert_true(e.potential < 1e-5 && e.gradient < 1e-5);
	assert_true(device_took_part());
}

static void little_memory(void **state)
{
	(void)state;
	struct heddle_stats s = {.evictions = 0};
	close_method();
	open_method(5 << 16);
	/* chance says how much of an evaluation the device gets */
	for (int round = 0; round < 20 && s.evictions == 0; round++) {
		each_target_sees_all_sources_once(state);
		OK(heddle_runtime_stats(rt, &s));
	}
	assert_true(s.evictions > 0);
}

static const struct CMUnitTest fmm_on_device[] = {
    cmocka_unit_test(each_target_sees_all_sources_once),
    cmocka_unit_test(digits_are_kept),
    cmocka_unit_test(the_near_field_has_all_digits),
    cmocka_unit_test(single_precision),
    cmocka_unit_test(little_memory),
};

#endif
