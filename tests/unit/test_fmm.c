/* The fast multipole method: each target sees each source once, under all policies and engines; results beside direct
 * sums, for distributions of all kinds; forces that sum to zero; the same bits under every schedule; small and wrong
 * arguments. */
#include "../sanitized.h"
#include "base/base.h"
#include "fmm_fixture.h"
#include <fmm/experiments/points.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 6000 };

static double xyz[3 * MOST], charges[MOST], potential[MOST], gradient[3 * MOST];

/* Charges of both signs, or of one. */
static void make(enum hd_fmm_distribution distribution, size_t n, int both)
{
	hd_fmm_make_points(distribution, n, 42, xyz);
	for (size_t i = 0; i < n; i++)
		charges[i] = (both && i % 3 == 0 ? -1 : 1) * (0.5 + (double)(i * 7 % 11) / 11);
}

/* --- Counts ------------------------------------------------------------------------------------------------------- */

static void check_counts(struct fixture *f, size_t n, const struct heddle_fmm_options *options)
{
	const struct heddle_fmm_points points = {n, xyz};
	heddle_fmm_plan *plan;
	for (size_t i = 0; i < n; i++)
		charges[i] = 1;
	memset(potential, 0, n * sizeof *potential);
	OK(hd_fmm_plan_counting(f->fmm, &points, NULL, options, &plan));
	OK(heddle_fmm_evaluate(plan, charges, potential, NULL));
	for (size_t i = 0; i < n; i++)
		if (potential[i] != (double)(n - 1))
			fail_msg("particle %zu of %zu sees %g others", i, n, potential[i]);
	OK(heddle_fmm_plan_destroy(plan));
}

static void each_target_sees_all_others_once(void **state)
{
	static const double cells[] = {0, 1, 2, 3, 4, 7, 8, 13};
	const size_t n = 800;
	for (int d = HD_FMM_CUBE; d <= HD_FMM_COINCIDENT; d++)
		for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
			make((enum hd_fmm_distribution)d, n, 0);
			check_counts(*state, n, &(struct heddle_fmm_options){.cells = cells[k], .task_us = 3});
			check_counts(
			    *state, n,
			    &(struct heddle_fmm_options){.cells = cells[k], .task_us = 20, .pairs = HEDDLE_FMM_MUTUAL});
		}
}

/* Points around a few places, from close by to far away: cells beside each other have many points, or few. */
static void make_nested(uint64_t seed, size_t n, double *out)
{
	double places[3][3];
	struct hd_rng rng;
	hd_rng_seed(&rng, seed);
	for (int i = 0; i < 9; i++)
		places[i / 3][i % 3] = hd_rng_uniform(&rng);
	for (size_t i = 0; i < n; i++) {
		const double *place = places[(size_t)(3 * hd_rng_uniform(&rng))];
		double size = exp2(-14 * hd_rng_uniform(&rng));
		for (size_t c = 0; c < 3; c++)
			out[3 * i + c] = place[c] + size * (hd_rng_uniform(&rng) - 0.5);
	}
}

static void leaves_of_several_sizes_see_all_others_once(void **state)
{
	struct fixture *f = *state;
	for (uint64_t seed = 0; seed < (SANITIZED ? 5 : 25); seed++) {
		const size_t n = 400 + 43 * seed;
		const struct heddle_fmm_points points = {n, xyz};
		heddle_fmm_plan *plan;
		make_nested(seed, n, xyz);
		check_counts(f, n, &(struct heddle_fmm_options){.task_us = 3});
		check_counts(f, n, &(struct heddle_fmm_options){.task_us = 20, .pairs = HEDDLE_FMM_MUTUAL});
		OK(hd_fmm_plan_counting(f->fmm, &points, NULL, NULL, &plan));
		assert_true(plan->sources.tree.first_leaves < plan->box.depth);
		OK(heddle_fmm_plan_destroy(plan));
	}
}

static void counts_are_right_under_all_policies(void **state)
{
	const struct heddle_policy **all = heddle_policies();
	(void)state;
	make(HD_FMM_PLUMMER, 1500, 0);
	for (size_t p = 0; all[p]; p++)
		for (int n_emulated = 0; n_emulated < 2; n_emulated++) {
			struct fixture f;
			start(&f, all[p]->name, n_emulated, 2);
			check_counts(&f, 1500, &(struct heddle_fmm_options){.task_us = 3});
			check_counts(&f, 1500, &(struct heddle_fmm_options){.task_us = 20, .pairs = HEDDLE_FMM_MUTUAL});
			stop(&f);
		}
	free(all);
}

static void targets_of_their_own_see_all_sources(void **state)
{
	struct fixture *f = *state;
	static double targets[3 * 700];
	const struct heddle_fmm_points from = {1000, xyz}, to = {700, targets};
	for (size_t k = 0; k < 5; k++) {
		const struct heddle_fmm_options options = {.cells = (double[]){0, 6, 11, 0, 0}[k], .task_us = 5};
		heddle_fmm_plan *plan;
		/* on a line, all leaves with sources are smaller than the largest ones with targets */
		make(k == 4 ? HD_FMM_LINE : HD_FMM_CUBE, 1000, 0);
		if (k == 3)
			make_nested(3, 1000, xyz);
		hd_fmm_make_points(HD_FMM_SPHERE, 700, 7, targets);
		for (size_t i = 0; i < 1000; i++)
			charges[i] = 1;
		OK(hd_fmm_plan_counting(f->fmm, &from, &to, &options, &plan));
		OK(heddle_fmm_evaluate(plan, charges, potential, NULL));
		for (size_t i = 0; i < 700; i++)
			if (potential[i] != 1000)
				fail_msg("target %zu sees %g sources", i, potential[i]);
		OK(heddle_fmm_plan_destroy(plan));
	}
}

/* --- Digits ------------------------------------------------------------------------------------------------------- */

static void check_digits(struct fixture *f, size_t n, int digits, double cells)
{
	const struct heddle_fmm_points points = {n, xyz};
	const struct heddle_fmm_options options = {.digits = digits, .cells = cells, .task_us = 200};
	OK(heddle_fmm_compute(f->fmm, &points, charges, potential, gradient, &options));
	struct hd_fmm_errors e = hd_fmm_errors_of(n, xyz, charges, potential, gradient, 300);
	double most = pow(10, -digits);
	if (!(e.potential < most && e.gradient < most))
		fail_msg("%d digits, %g cells: potential %.2g, gradient %.2g", digits, cells, e.potential, e.gradient);
}

static void digits_asked_for_are_kept(void **state)
{
	size_t n = SANITIZED ? 3000 : MOST;
	for (int d = HD_FMM_CUBE; d <= HD_FMM_COINCIDENT; d++)
		for (int digits = 1; digits <= 8; digits++) {
			make((enum hd_fmm_distribution)d, n, digits % 2);
			check_digits(*state, n, digits,
			             (d + digits / 2) % 2 ? 0
			             : d == HD_FMM_LINE   ? 60
			             : SANITIZED          ? 5
			                                  : 9);
		}
}

static void leaves_of_several_sizes_keep_digits(void **state)
{
	for (int digits = 1; digits <= 8; digits++) {
		make(HD_FMM_CUBE, 5000, digits % 2);
		make_nested(100 + (uint64_t)digits, 5000, xyz);
		check_digits(*state, 5000, digits, 0);
	}
}

/* Results in single precision, of the same points. On a sphere, on a line and in clusters, many points are so close to
 * each other that the rounding of coordinates within their leaf takes digits. */
static void digits_are_kept_in_single_precision(void **state)
{
	static const enum hd_fmm_distribution distributions[] = {HD_FMM_CUBE, HD_FMM_PLUMMER, HD_FMM_COINCIDENT};
	struct fixture *f = *state;
	static float at[3 * 4000], q[4000], phi[4000], slope[3 * 4000];
	const size_t n = 4000;
	for (size_t d = 0; d < sizeof distributions / sizeof *distributions; d++)
		for (int digits = 2; digits <= 5; digits++) {
			const struct heddle_fmm_points points = {n, at};
			const struct heddle_fmm_options options = {
			    .digits = digits, .precision = HEDDLE_FMM_SINGLE, .cells = digits % 2 ? 0 : 7};
			make(distributions[d], n, 1);
			for (size_t i = 0; i < 3 * n; i++)
				xyz[i] = at[i] = (float)xyz[i];
			for (size_t i = 0; i < n; i++)
				charges[i] = q[i] = (float)charges[i];
			OK(heddle_fmm_compute(f->fmm, &points, q, phi, slope, &options));
			for (size_t i = 0; i < 3 * n; i++) {
				gradient[i] = slope[i];
				potential[i / 3] = phi[i / 3];
			}
			struct hd_fmm_errors e = hd_fmm_errors_of(n, xyz, charges, potential, gradient, 300);
			double most = pow(10, -digits);
			if (!(e.potential < most && e.gradient < most))
				fail_msg("distribution %d, %d digits: %.2g, %.2g", distributions[d], digits,
				         e.potential, e.gradient);
		}
}

/* Positions far from the origin, and of another scale. */
static void place_and_scale_do_not_matter(void **state)
{
	static const double scales[] = {1e-30, 1e20};
	for (size_t k = 0; k < 2; k++) {
		make(HD_FMM_CUBE, 3000, 1);
		for (size_t i = 0; i < 3 * 3000; i++)
			xyz[i] = scales[k] * (xyz[i] + 100);
		check_digits(*state, 3000, 6, 8);
	}
}

/* Newton: action is reaction, so that forces sum to zero. */
static void forces_sum_to_zero(void **state)
{
	struct fixture *f = *state;
	const struct heddle_fmm_points points = {5000, xyz};
	double sum[3] = {0}, size = 0;
	make(HD_FMM_PLUMMER, 5000, 0);
	OK(heddle_fmm_compute(f->fmm, &points, charges, potential, gradient, NULL));
	for (size_t i = 0; i < 5000; i++)
		for (size_t c = 0; c < 3; c++) {
			sum[c] += charges[i] * gradient[3 * i + c];
			size += fabs(charges[i] * gradient[3 * i + c]);
		}
	for (size_t c = 0; c < 3; c++)
		if (!(fabs(sum[c]) < 1e-6 * size))
			fail_msg("forces by %c sum to %g of %g", "xyz"[c], sum[c], size);
}

static void potentials_without_gradients_are_the_same(void **state)
{
	struct fixture *f = *state;
	static double alone[5000];
	const struct heddle_fmm_points points = {5000, xyz};
	make(HD_FMM_CUBE, 5000, 1);
	OK(heddle_fmm_compute(f->fmm, &points, charges, potential, gradient, NULL));
	OK(heddle_fmm_compute(f->fmm, &points, charges, alone, NULL, NULL));
	for (size_t i = 0; i < 5000; i++)
		if (!(fabs(alone[i] - potential[i]) < 1e-11 * fabs(potential[i]) + 1e-8))
			fail_msg("point %zu: %.17g, %.17g", i, alone[i], potential[i]);
	OK(heddle_fmm_compute(f->fmm, &points, charges, NULL, gradient, NULL));
}

/* By the estimates that decide which cells are leaves. */
static double estimate(struct fixture *f, enum hd_fmm_distribution distribution, size_t n, double *at, int digits)
{
	const struct heddle_fmm_options options = {.digits = digits};
	heddle_fmm_plan *plan;
	hd_fmm_make_points(distribution, n, 1, at);
	OK(heddle_fmm_plan_create(f->fmm, &(struct heddle_fmm_points){n, at}, NULL, &options, &plan));
	struct heddle_fmm_statistics s = heddle_fmm_plan_statistics(plan);
	double us = plan->costs.pair * s.pairs + plan->costs.translation * s.translations;
	OK(heddle_fmm_plan_destroy(plan));
	return us;
}

static void particles_cost_little_more_where_their_density_varies(void **state)
{
	const size_t n = 1000000;
	if (SANITIZED)
		skip();
	double *at = malloc(3 * n * sizeof *at);
	assert_non_null(at);
	for (int digits = 4; digits <= 6; digits += 2) {
		double cube = estimate(*state, HD_FMM_CUBE, n, at, digits);
		double plummer = estimate(*state, HD_FMM_PLUMMER, n, at, digits);
		if (!(plummer < 1.5 * cube))
			fail_msg("%d digits: a Plummer model costs %.3g times a cube", digits, plummer / cube);
	}
	free(at);
}

/* --- Plans -------------------------------------------------------------------------------------------------------- */

static void check_bits(enum hd_fmm_distribution distribution)
{
	static double first[6000], first_slope[3 * 6000];
	static const char *const policies[] = {"eager", "ws", "lws", "dmdas", "multiprio"};
	const struct heddle_fmm_points points = {6000, xyz};
	const struct heddle_fmm_options options = {.task_us = 50};
	make(distribution, 6000, 1);
	for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
		struct fixture f;
		start(&f, policies[p], 0, 1 + (int)p % 2);
		OK(heddle_fmm_compute(f.fmm, &points, charges, potential, gradient, &options));
		stop(&f);
		if (p == 0) {
			memcpy(first, potential, sizeof first);
			memcpy(first_slope, gradient, sizeof first_slope);
		}
		assert_memory_equal(first, potential, sizeof first);
		assert_memory_equal(first_slope, gradient, sizeof first_slope);
	}
}

static void results_are_the_same_bits_under_every_schedule(void **state)
{
	(void)state;
	check_bits(HD_FMM_CUBE);
	check_bits(HD_FMM_PLUMMER);
}

static void a_plan_is_used_again_with_other_charges(void **state)
{
	struct fixture *f = *state;
	static double second[4000], other[4000];
	const struct heddle_fmm_points points = {4000, xyz};
	heddle_fmm_plan *plan;
	make(HD_FMM_SPHERE, 4000, 1);
	for (size_t i = 0; i < 4000; i++)
		other[i] = -2 * charges[i];
	OK(heddle_fmm_plan_create(f->fmm, &points, NULL, NULL, &plan));
	/* one after the other, without a wait between them */
	OK(heddle_fmm_evaluate_submit(plan, charges, potential, gradient));
	OK(heddle_fmm_evaluate_submit(plan, other, second, NULL));
	OK(heddle_wait_all(f->rt));
	struct hd_fmm_errors e = hd_fmm_errors_of(4000, xyz, charges, potential, gradient, 200);
	assert_true(e.potential < 1e-6 && e.gradient < 1e-6);
	e = hd_fmm_errors_of(4000, xyz, other, second, NULL, 200);
	assert_true(e.potential < 1e-6);
	OK(heddle_fmm_plan_destroy(plan));
}

static void tasks_are_as_many_as_the_plan_says(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		enum heddle_fmm_pairs pairs = k % 2 ? HEDDLE_FMM_MUTUAL : HEDDLE_FMM_ONE_SIDED;
		const struct heddle_fmm_points points = {3000, xyz};
		const struct heddle_fmm_options options = {.task_us = 40, .pairs = pairs};
		heddle_fmm_plan *plan;
		struct fixture f;
		make(k < 2 ? HD_FMM_CUBE : HD_FMM_PLUMMER, 3000, 0);
		start(&f, "eager", 0, 2);
		OK(heddle_fmm_plan_create(f.fmm, &points, NULL, &options, &plan));
		OK(heddle_fmm_evaluate(plan, charges, potential, gradient));
		struct heddle_stats s;
		OK(heddle_runtime_stats(f.rt, &s));
		assert_int_equal(s.tasks_executed, heddle_fmm_plan_statistics(plan).tasks);
		struct hd_fmm_errors e = hd_fmm_errors_of(3000, xyz, charges, potential, gradient, 200);
		assert_true(e.potential < 1e-6 && e.gradient < 1e-6);
		OK(heddle_fmm_plan_destroy(plan));
		stop(&f);
	}
}

/* Adds what all groups have to do with each group of sources to `work`, whose row g is that of group g of targets, and
 * returns the number of threads and sources in blocks of 256 threads for each leaf. */
static double work_of_groups(const heddle_fmm_plan *plan, struct hd_fmm_direct *room, struct hd_fmm_near_work *work)
{
	const struct hd_fmm_side *side = &plan->sources;
	size_t all = hd_fmm_all_groups(plan, side);
	double blocks = 0;
	for (int level = 0; level <= plan->box.depth; level++) {
		const struct hd_fmm_groups *groups = &side->groups[level];
		const struct hd_fmm_level *l = &side->tree.levels[level];
		for (size_t g = 0; g < groups->n; g++)
			hd_fmm_near_work(plan, level, g, room, work + (groups->before + g) * all);
		for (size_t cell = 0; cell < l->n; cell++) {
			struct hd_fmm_directs direct = {.all = NULL};
			if (!hd_fmm_is_leaf(l, cell))
				continue;
			hd_fmm_direct_of(&plan->near, &side->tree, &side->tree, level, (uint32_t)cell, &direct);
			blocks += (double)((l->count[cell] + 255) / 256 * 256) * (double)direct.sources;
		}
	}
	return blocks;
}

/* Work between groups: each pair of particles once, in blocks of 256 threads for the targets of a leaf, and what a
 * group has to do with another is what that returns. */
static void work_of_pairs_of_groups_is_that_of_the_plan(void **state)
{
	struct fixture *f = *state;
	enum { N = 5000 };
	for (int several_sizes = 0; several_sizes < 2; several_sizes++) {
		const struct heddle_fmm_options options = {.cells = several_sizes ? 0 : 6, .task_us = 20};
		struct hd_fmm_near_work sum = {0};
		heddle_fmm_plan *plan;
		make(HD_FMM_PLUMMER, N, 0);
		OK(heddle_fmm_plan_create(f->fmm, &(struct heddle_fmm_points){N, xyz}, NULL, &options, &plan));
		size_t n = hd_fmm_all_groups(plan, &plan->sources);
		assert_in_range(n, 2, N);
		assert_int_equal(several_sizes, plan->sources.tree.first_leaves < plan->box.depth);
		struct hd_fmm_near_work *work = calloc(n * n, sizeof *work);
		struct hd_fmm_direct *room = malloc((hd_fmm_most_direct(plan) + 1) * sizeof *room);
		double blocks = work_of_groups(plan, room, work);
		for (size_t i = 0; i < n * n; i++) {
			const struct hd_fmm_near_work *back = &work[i % n * n + i / n];
			assert_true(work[i].pairs == back->pairs && work[i].blocks == back->returned);
			sum.pairs += work[i].pairs;
			sum.blocks += work[i].blocks;
		}
		assert_true(sum.pairs == plan->statistics.pairs);
		assert_true(sum.blocks == blocks && blocks > sum.pairs);
		free(room);
		free(work);
		OK(heddle_fmm_plan_destroy(plan));
	}
}

static void virtual_time_needs_no_charges(void **state)
{
	struct heddle_config config;
	struct fixture f;
	heddle_fmm_plan *plan;
	const struct heddle_fmm_points points = {3000, xyz};
	(void)state;
	make(HD_FMM_CUBE, 3000, 0);
	OK(heddle_config_init(&config));
	config.platform = "intel-v100";
	OK(heddle_start(&config, &f.rt));
	OK(heddle_fmm_open(f.rt, &f.fmm));
	OK(heddle_fmm_plan_create(f.fmm, &points, NULL, NULL, &plan));
	OK(heddle_fmm_evaluate(plan, NULL, NULL, NULL));
	OK(heddle_fmm_plan_destroy(plan));
	stop(&f);
}

/* --- Few points, and wrong ones ----------------------------------------------------------------------------------- */

static void few_points_are_summed(void **state)
{
	struct fixture *f = *state;
	const double two[] = {0, 0, 0, 3, 0, 4}, q[] = {2, 7};
	double phi[2] = {1, 1}, slope[6] = {1, 1, 1};
	OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){0, NULL}, NULL, NULL, NULL, NULL));
	OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){1, two}, q, phi, slope, NULL));
	assert_true(phi[0] == 0 && slope[0] == 0 && slope[1] == 0 && slope[2] == 0);
	OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){2, two}, q, phi, slope, NULL));
	assert_true(fabs(phi[0] - 7.0 / 5) < 1e-14 && fabs(phi[1] - 2.0 / 5) < 1e-14);
	assert_true(fabs(slope[0] - 7.0 * 3 / 125) < 1e-14 && fabs(slope[3] + 2.0 * 3 / 125) < 1e-14);
	/* all at one place */
	const double same[] = {1, 2, 3, 1, 2, 3};
	OK(heddle_fmm_compute(f->fmm, &(struct heddle_fmm_points){2, same}, q, phi, slope, NULL));
	assert_true(phi[0] == 0 && phi[1] == 0);
}

static void refuses(struct fixture *f, size_t n, const double *at, const struct heddle_fmm_options *options,
                    const char *word)
{
	heddle_fmm_plan *plan;
	assert_int_not_equal(heddle_fmm_plan_create(f->fmm, &(struct heddle_fmm_points){n, at}, NULL, options, &plan),
	                     0);
	if (!strstr(heddle_last_error(), word))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), word);
}

static void what_is_wrong_is_said(void **state)
{
	struct fixture *f = *state;
	const double bad[] = {0, 0, 0, 0, NAN, 0}, far[] = {0, 0, INFINITY}, wide[] = {-1e308, 0, 0, 1e308, 0, 0};
	double q[] = {1, 1, NAN}, phi[3];
	refuses(f, 2, bad, NULL, "point 1 has NaN as its coordinate y");
	refuses(f, 1, far, NULL, "infinite");
	refuses(f, 2, wide, NULL, "too far apart");
	refuses(f, 1, NULL, NULL, "without coordinates");
	refuses(f, SIZE_MAX / 100, bad, NULL, "at most");
	refuses(f, 1, q, &(struct heddle_fmm_options){.digits = 9}, "1 to 8");
	refuses(f, 1, q, &(struct heddle_fmm_options){.digits = 6, .precision = HEDDLE_FMM_SINGLE}, "1 to 5");
	refuses(f, 1, q, &(struct heddle_fmm_options){.degree = 21}, "degree");
	refuses(f, 1, q, &(struct heddle_fmm_options){.cells = -1}, "cells");
	refuses(f, 1, q, &(struct heddle_fmm_options){.task_us = NAN}, "task_us");
	make(HD_FMM_CUBE, 3, 0);
	const struct heddle_fmm_points points = {3, xyz};
	assert_int_equal(heddle_fmm_compute(f->fmm, &points, q, phi, NULL, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "charge 2 is NaN"));
	assert_int_equal(heddle_fmm_compute(f->fmm, &points, NULL, phi, NULL, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "charges is NULL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_target_sees_all_others_once),
	    cmocka_unit_test(leaves_of_several_sizes_see_all_others_once),
	    cmocka_unit_test(counts_are_right_under_all_policies),
	    cmocka_unit_test(targets_of_their_own_see_all_sources),
	    cmocka_unit_test(digits_asked_for_are_kept),
	    cmocka_unit_test(leaves_of_several_sizes_keep_digits),
	    cmocka_unit_test(particles_cost_little_more_where_their_density_varies),
	    cmocka_unit_test(digits_are_kept_in_single_precision),
	    cmocka_unit_test(place_and_scale_do_not_matter),
	    cmocka_unit_test(forces_sum_to_zero),
	    cmocka_unit_test(potentials_without_gradients_are_the_same),
	    cmocka_unit_test(results_are_the_same_bits_under_every_schedule),
	    cmocka_unit_test(a_plan_is_used_again_with_other_charges),
	    cmocka_unit_test(tasks_are_as_many_as_the_plan_says),
	    cmocka_unit_test(work_of_pairs_of_groups_is_that_of_the_plan),
	    cmocka_unit_test(virtual_time_needs_no_charges),
	    cmocka_unit_test(few_points_are_summed),
	    cmocka_unit_test(what_is_wrong_is_said),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
