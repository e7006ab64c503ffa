/* The fast multipole method in a periodic cube: each target sees each image once; results beside Ewald's sums, for all
 * distributions; constants of crystals; forces that sum to zero; the same bits under every schedule. */
#include "../sanitized.h"
#include "fmm_fixture.h"
#include <fmm/experiments/points.h>
#include <math.h>
#include <string.h>

enum { MOST = 2000, NEAR_AND_FAR = 28 /* 27 cubes near the root, and once for all others */ };

static double xyz[3 * MOST], charges[MOST], potential[MOST], gradient[3 * MOST];

/* Charges that sum to 0, or are of one sign. */
static void make(enum hd_fmm_distribution distribution, size_t n, int neutral)
{
	hd_fmm_make_points(distribution, n, 42, xyz);
	for (size_t i = 0; i < n; i++)
		charges[i] = (neutral && i < n / 2 ? -1 : 1) * (0.5 + (double)(i % (n / 2) * 7 % 11) / 11);
}

/* --- Counts ------------------------------------------------------------------------------------------------------- */

static void check_counts(struct fixture *f, size_t n, const struct heddle_fmm_points *targets,
                         const struct heddle_fmm_options *options)
{
	const struct heddle_fmm_points points = {n, xyz};
	size_t n_targets = targets ? targets->n : n;
	double expected = (double)(NEAR_AND_FAR * n - (targets ? 0 : 1));
	heddle_fmm_plan *plan;
	for (size_t i = 0; i < n; i++)
		charges[i] = 1;
	memset(potential, 0, n_targets * sizeof *potential);
	OK(hd_fmm_plan_counting(f->fmm, &points, targets, options, &plan));
	OK(heddle_fmm_evaluate(plan, charges, potential, NULL));
	for (size_t i = 0; i < n_targets; i++)
		if (potential[i] != expected)
			fail_msg("target %zu sees %g, not %g", i, potential[i], expected);
	OK(heddle_fmm_plan_destroy(plan));
}

static void each_target_sees_all_images_once(void **state)
{
	static const double cells[] = {0, 1, 2, 3, 8};
	static double targets[3 * 300];
	hd_fmm_make_points(HD_FMM_SPHERE, 300, 7, targets);
	for (int d = HD_FMM_CUBE; d <= HD_FMM_COINCIDENT; d++)
		for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
			struct heddle_fmm_options options = {.cells = cells[k], .task_us = 5, .periodic = 1.7};
			make((enum hd_fmm_distribution)d, 400, 0);
			check_counts(*state, 400, NULL, &options);
			check_counts(*state, 400, &(struct heddle_fmm_points){300, targets}, &options);
			options.pairs = HEDDLE_FMM_MUTUAL;
			check_counts(*state, 400, NULL, &options);
		}
}

static void counts_are_right_under_all_policies(void **state)
{
	const struct heddle_policy **all = heddle_policies();
	(void)state;
	make(HD_FMM_PLUMMER, 500, 0);
	for (size_t p = 0; all[p]; p++)
		for (int n_emulated = 0; n_emulated < 2; n_emulated++) {
			struct fixture f;
			start(&f, all[p]->name, n_emulated, 2);
			check_counts(&f, 500, NULL, &(struct heddle_fmm_options){.task_us = 5, .periodic = 3});
			stop(&f);
		}
	free(all);
}

/* --- Crystals ----------------------------------------------------------------------------------------------------- */

static void near(double a, double b, double error)
{
	if (!(fabs(a - b) <= error))
		fail_msg("%.15g is not %.15g", a, b);
}

/* Eight ions of rock salt in a cube of side 2. Madelung's constant: E. Madelung, 1918; Crandall, Buhler:
 * Elementary function expansions for Madelung constants, 1987. */
static void rock_salt_has_madelungs_constant(void **state)
{
	struct fixture *f = *state;
	const double constant = -1.747564594633182;
	for (double cells = 0; cells <= 4; cells++) {
		const struct heddle_fmm_options options = {.degree = 20, .cells = cells, .periodic = 2};
		for (size_t i = 0; i < 8; i++) {
			const size_t bits[] = {i & 1, i >> 1 & 1, i >> 2};
			for (size_t c = 0; c < 3; c++)
				xyz[3 * i + c] = (double)bits[c] - 7;
			charges[i] = (bits[0] + bits[1] + bits[2]) % 2 ? -1 : 1;
		}
		OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){8, xyz}, charges, potential, gradient,
		                      &options));
		for (size_t i = 0; i < 24; i++) {
			near(potential[i / 3], charges[i / 3] * constant, 1e-8);
			near(gradient[i], 0, 1e-7);
		}
	}
}

/* One charge, its images, and a background: Wigner's crystal (Nijboer, Ruijgrok: On the energy per particle in three-
 * and two-dimensional Wigner lattices, 1988). */
static void a_charge_sees_its_images(void **state)
{
	struct fixture *f = *state;
	for (double cells = 0; cells <= 4; cells++) {
		const struct heddle_fmm_options options = {.degree = 20, .cells = cells, .periodic = 0.5};
		const double at[] = {3.1, -0.2, 0.1 * cells}, q = -3;
		OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){1, at}, &q, potential, gradient, &options));
		near(potential[0], q * -2.837297479480619 / 0.5, 1e-7);
		for (int c = 0; c < 3; c++)
			near(gradient[c], 0, 1e-7);
	}
}

/* --- Digits ------------------------------------------------------------------------------------------------------- */

static void check_errors(struct hd_fmm_errors e, int digits, int distribution)
{
	if (!(e.potential < pow(10, -digits) && e.gradient < pow(10, -digits)))
		fail_msg("distribution %d, %d digits: potential %.2g, gradient %.2g", distribution, digits, e.potential,
		         e.gradient);
}

/* A Plummer model that is wider than the cube; others fill it, or lie on its faces. */
static double side_for(int distribution)
{
	return distribution == HD_FMM_PLUMMER ? 4 : 1;
}

static void digits_asked_for_are_kept(void **state)
{
	struct fixture *f = *state;
	const size_t n = SANITIZED ? 500 : MOST;
	for (int i = 0; i < 2 * (HD_FMM_COINCIDENT + 1); i++) {
		int d = i / 2, neutral = i % 2;
		struct hd_fmm_ewald ewald;
		make((enum hd_fmm_distribution)d, n, neutral);
		assert_int_equal(hd_fmm_ewald_open(&ewald, side_for(d), n, xyz, charges), 0);
		for (int digits = 2 - neutral; digits <= (d ? 6 : 8); digits += 2) {
			const struct heddle_fmm_options options = {.digits = digits,
			                                           .cells = (digits / 2 + d) % 2 ? 0
			                                                    : SANITIZED          ? 2
			                                                                         : 3,
			                                           .periodic = side_for(d)};
			OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){n, xyz}, charges, potential, gradient,
			                      &options));
			check_errors(hd_fmm_periodic_errors_of(&ewald, potential, gradient, 100), digits, d);
		}
		hd_fmm_ewald_close(&ewald);
	}
}

static void digits_are_kept_in_single_precision(void **state)
{
	static const enum hd_fmm_distribution distributions[] = {HD_FMM_CUBE, HD_FMM_PLUMMER, HD_FMM_COINCIDENT};
	static float at[3 * MOST], q[MOST], phi[MOST], slope[3 * MOST];
	struct fixture *f = *state;
	const size_t n = 1500;
	for (int k = 0; k < 6; k++) {
		enum hd_fmm_distribution d = distributions[k / 2];
		struct hd_fmm_ewald ewald;
		make(d, n, k % 2);
		for (size_t i = 0; i < 3 * n; i++)
			xyz[i] = at[i] = (float)xyz[i];
		for (size_t i = 0; i < n; i++)
			charges[i] = q[i] = (float)charges[i];
		assert_int_equal(hd_fmm_ewald_open(&ewald, side_for(d), n, xyz, charges), 0);
		for (int digits = 3; digits <= 5; digits++) {
			const struct heddle_fmm_options options = {.digits = digits,
			                                           .precision = HEDDLE_FMM_SINGLE,
			                                           .cells = digits % 2 ? 0 : 4,
			                                           .periodic = side_for(d)};
			OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){n, at}, q, phi, slope, &options));
			for (size_t i = 0; i < 3 * n; i++) {
				gradient[i] = slope[i];
				potential[i / 3] = phi[i / 3];
			}
			check_errors(hd_fmm_periodic_errors_of(&ewald, potential, gradient, 100), digits, (int)d);
		}
		hd_fmm_ewald_close(&ewald);
	}
}

static double square(double x)
{
	return x * x;
}

/* Targets far from all sources, and in other images of the cube. */
static void targets_of_their_own_keep_digits(void **state)
{
	struct fixture *f = *state;
	enum { N = 1000, TARGETS = 50 };
	static double targets[3 * TARGETS];
	const struct heddle_fmm_points from = {N, xyz}, to = {TARGETS, targets};
	for (int k = 0; k < 4; k++) {
		const struct heddle_fmm_options options = {.periodic = 2, .cells = k % 2 ? 4 : 0};
		double error[2] = {0}, norm[2] = {0}, sum[6];
		struct hd_fmm_ewald ewald;
		heddle_fmm_plan *plan;
		make(k / 2 ? HD_FMM_LINE : HD_FMM_CUBE, N, k % 2);
		hd_fmm_make_points(HD_FMM_SPHERE, TARGETS, 7, targets);
		for (size_t i = 0; i < 3 * TARGETS; i++)
			targets[i] = 4 * targets[i] + 10;
		OK(heddle_fmm_plan_create(f->fmm, &from, &to, &options, &plan));
		OK(heddle_fmm_evaluate(plan, charges, potential, gradient));
		OK(heddle_fmm_plan_destroy(plan));
		assert_int_equal(hd_fmm_ewald_open(&ewald, 2, N, xyz, charges), 0);
		for (size_t i = 0; i < TARGETS; i++) {
			hd_fmm_ewald_sum(&ewald, targets + 3 * i, sum);
			error[0] += square(potential[i] - sum[0]);
			for (size_t c = 0; c < 3; c++)
				error[1] += square(gradient[3 * i + c] - sum[1 + c]);
			norm[0] += square(sum[4]);
			norm[1] += square(sum[5]);
		}
		hd_fmm_ewald_close(&ewald);
		check_errors((struct hd_fmm_errors){sqrt(error[0] / norm[0]), sqrt(error[1] / norm[1])}, 6, k / 2);
	}
}

/* The matrix for the images of the root beside Ewald's sum of one charge. */
static void images_beside_ewald(void **state)
{
	enum { TERMS = (HD_FMM_MOST_DEGREE + 1) * (HD_FMM_MOST_DEGREE + 1) };
	static double k[TERMS * TERMS], from[TERMS], to[TERMS];
	const double y[] = {0.21, -0.1, 0.05}, x[] = {-0.15, 0.2, -0.25}, one = 1;
	double sum[6], series = 0, direct = 0, squares = 0;
	struct hd_fmm_ewald ewald;
	(void)state;
	hd_fmm_images_to_local(HD_FMM_MOST_DEGREE, k, TERMS);
	hd_fmm_regular(HD_FMM_MOST_DEGREE, y, from);
	hd_fmm_regular(HD_FMM_MOST_DEGREE, x, to);
	for (size_t i = 0; i < TERMS; i++)
		for (size_t j = 0; j < TERMS; j++)
			series += to[i] * k[i + j * TERMS] * from[j];
	for (int image = 0; image < 27; image++) {
		const int v[] = {image / 9 - 1, image / 3 % 3 - 1, image % 3 - 1};
		double r2 = 0;
		for (int c = 0; c < 3; c++)
			r2 += square(x[c] - y[c] - v[c]);
		direct += 1 / sqrt(r2);
	}
	for (int c = 0; c < 3; c++)
		squares += x[c] * x[c] + y[c] * y[c];
	assert_int_equal(hd_fmm_ewald_open(&ewald, 1, 1, y, &one), 0);
	hd_fmm_ewald_sum(&ewald, x, sum);
	hd_fmm_ewald_close(&ewald);
	near(series + direct + 2 * M_PI / 3 * squares, sum[0], 1e-9);
}

/* --- Laws --------------------------------------------------------------------------------------------------------- */

static void forces_sum_to_zero(void **state)
{
	struct fixture *f = *state;
	const struct heddle_fmm_points points = {MOST, xyz};
	for (int neutral = 0; neutral < 2; neutral++) {
		double sum[3] = {0}, size = 0;
		make(HD_FMM_CUBE, MOST, neutral);
		OK(heddle_fmm_compute(f->fmm, &points, charges, potential, gradient,
		                      &(struct heddle_fmm_options){.periodic = 1.5}));
		for (size_t i = 0; i < MOST; i++)
			for (size_t c = 0; c < 3; c++) {
				sum[c] += charges[i] * gradient[3 * i + c];
				size += fabs(charges[i] * gradient[3 * i + c]);
			}
		for (size_t c = 0; c < 3; c++)
			near(sum[c], 0, 1e-6 * size);
	}
}

/* Every point may be replaced by any of its images, and the cube may lie anywhere. */
static void images_stand_for_each_other(void **state)
{
	struct fixture *f = *state;
	static double first[1000], first_slope[3000];
	const struct heddle_fmm_points points = {1000, xyz};
	const struct heddle_fmm_options options = {.periodic = 2};
	make(HD_FMM_CUBE, 1000, 0);
	OK(heddle_fmm_compute(f->fmm, &points, charges, first, first_slope, &options));
	for (size_t i = 0; i < 3000; i++)
		xyz[i] += 2 * (double)(i * 7 % 5) - 6 + 0.7;
	OK(heddle_fmm_compute(f->fmm, &points, charges, potential, gradient, &options));
	for (size_t i = 0; i < 3000; i++) {
		near(potential[i / 3], first[i / 3], 1e-6 * 1000);
		near(gradient[i], first_slope[i], 1e-6 * 1000 * 10);
	}
}

static void results_are_the_same_bits_under_every_schedule(void **state)
{
	static double first[2000], first_slope[3 * 2000];
	static const char *const policies[] = {"eager", "lws", "multiprio"};
	const struct heddle_fmm_options options = {.task_us = 50, .digits = 4, .periodic = 5};
	(void)state;
	make(HD_FMM_PLUMMER, 2000, 1);
	for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
		struct fixture f;
		start(&f, policies[p], 0, 1 + (int)p % 2);
		OK(heddle_fmm_compute(f.fmm, &(struct heddle_fmm_points){2000, xyz}, charges, potential, gradient,
		                      &options));
		stop(&f);
		if (p == 0) {
			memcpy(first, potential, sizeof first);
			memcpy(first_slope, gradient, sizeof first_slope);
		}
		assert_memory_equal(first, potential, sizeof first);
		assert_memory_equal(first_slope, gradient, sizeof first_slope);
	}
}

/* --- Plans -------------------------------------------------------------------------------------------------------- */

static void virtual_time_needs_no_charges(void **state)
{
	struct heddle_config config;
	struct heddle_stats s;
	struct fixture f;
	heddle_fmm_plan *plan;
	(void)state;
	make(HD_FMM_CUBE, 1500, 0);
	OK(heddle_config_init(&config));
	config.platform = "intel-v100";
	OK(heddle_start(&config, &f.rt));
	OK(heddle_fmm_open(f.rt, &f.fmm));
	OK(heddle_fmm_plan_create(f.fmm, &(struct heddle_fmm_points){1500, xyz}, NULL,
	                          &(struct heddle_fmm_options){.periodic = 1}, &plan));
	OK(heddle_fmm_evaluate(plan, NULL, NULL, NULL));
	OK(heddle_runtime_stats(f.rt, &s));
	assert_int_equal(s.tasks_executed, heddle_fmm_plan_statistics(plan).tasks);
	OK(heddle_fmm_plan_destroy(plan));
	stop(&f);
}

static void a_side_that_is_none_is_refused(void **state)
{
	static const double sides[] = {-1, NAN, INFINITY, 1e-300};
	struct fixture *f = *state;
	heddle_fmm_plan *plan;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(heddle_fmm_plan_create(f->fmm, &(struct heddle_fmm_points){1, xyz}, NULL,
		                                        &(struct heddle_fmm_options){.periodic = sides[i]}, &plan),
		                 HEDDLE_E_INVALID);
		assert_non_null(strstr(heddle_last_error(), "the side of the periodic cube"));
	}
}

/* Nothing, and coordinates of any size beside the side. */
static void few_points_and_extreme_sides(void **state)
{
	struct fixture *f = *state;
	const double at[] = {1e300, -1e300, 1e-300}, sides[] = {1e-290, 1, 1e290}, one = 1;
	OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){0, NULL}, NULL, NULL, NULL,
	                      &(struct heddle_fmm_options){.periodic = 1}));
	for (size_t i = 0; i < 3; i++) {
		OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){1, at}, &one, potential, NULL,
		                      &(struct heddle_fmm_options){.periodic = sides[i]}));
		near(potential[0] * sides[i], -2.8372975, 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_target_sees_all_images_once),
	    cmocka_unit_test(counts_are_right_under_all_policies),
	    cmocka_unit_test(rock_salt_has_madelungs_constant),
	    cmocka_unit_test(a_charge_sees_its_images),
	    cmocka_unit_test(digits_asked_for_are_kept),
	    cmocka_unit_test(digits_are_kept_in_single_precision),
	    cmocka_unit_test(targets_of_their_own_keep_digits),
	    cmocka_unit_test(images_beside_ewald),
	    cmocka_unit_test(forces_sum_to_zero),
	    cmocka_unit_test(images_stand_for_each_other),
	    cmocka_unit_test(results_are_the_same_bits_under_every_schedule),
	    cmocka_unit_test(virtual_time_needs_no_charges),
	    cmocka_unit_test(a_side_that_is_none_is_refused),
	    cmocka_unit_test(few_points_and_extreme_sides),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
