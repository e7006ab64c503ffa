/* The statistics that the verdicts of `heddle repro` rest on, on cases that can be checked by hand or by a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "repro/repro.h"

static int near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

static void rank_counts_smaller_values(void **unused)
{
	(void)unused;
	const double v[] = {3, 1, 3, 2};
	assert_true(repro_rank(v, 4, 1) == 1 && repro_rank(v, 4, 3) == 2 && repro_rank(v, 4, 0) == 3 &&
	            repro_rank(v, 4, 2) == 3);
}

/* 1 - 6 sum d^2 / (n (n^2 - 1)): d = 0 1 1 1 1, so 1 - 24/120. With ties it is the correlation of mean ranks. */
static void spearman_of_small_lists(void **unused)
{
	(void)unused;
	const double a[] = {10, 20, 30, 40, 50}, b[] = {1, 3, 2, 5, 4}, down[] = {5, 4, 3, 2, 1};
	const double ties[] = {1, 1, 2}, order[] = {1, 2, 3};
	assert_true(near(repro_spearman(a, b, 5), 0.8, 1e-12));
	assert_true(near(repro_spearman(a, down, 5), -1, 1e-12));
	assert_true(
	    near(repro_spearman(ties, order, 3), sqrt(3) / 2, 1e-12)); /* ranks 1.5 1.5 3: 1.5 / sqrt(1.5 * 2) */
	assert_true(isnan(repro_spearman((const double[]){7, 7, 7}, order, 3)));
}

/* n = 3, k = 2, both in order: L = 28, its expectation 24, its variance 4. */
static void page_of_ordered_blocks(void **unused)
{
	(void)unused;
	const double up[] = {1, 2, 3, 10, 20, 30}, down[] = {3, 2, 1, 30, 20, 10}, both[] = {1, 2, 3, 30, 20, 10};
	assert_true(near(repro_page_z(&(struct repro_blocks){up, 2, 3}), 2, 1e-12));
	assert_true(near(repro_page_z(&(struct repro_blocks){down, 2, 3}), -2, 1e-12));
	assert_true(near(repro_page_z(&(struct repro_blocks){both, 2, 3}), 0, 1e-12));
}

/* The height of a block does not matter, and on a line there is nothing uncertain. */
static void slope_of_lines_is_exact(void **unused)
{
	(void)unused;
	const double v[] = {1, 3, 5, 7, 100, 102, 104, 106};
	struct repro_slope s = repro_slope_of(&(struct repro_blocks){v, 2, 4});
	assert_true(near(s.slope, 2, 1e-12) && near(s.low, 2, 1e-9) && near(s.high, 2, 1e-9));
}

/* 7 values, so 5 degrees of freedom: t = 2.5706. +1 and -1 around 0: sum of squares about the mean 7 - 1/7, slope 0,
 * sum of squares of the steps 28. */
static void slope_has_students_interval(void **unused)
{
	(void)unused;
	const double v[] = {1, -1, 1, -1, 1, -1, 1};
	struct repro_slope s = repro_slope_of(&(struct repro_blocks){v, 1, 7});
	double half = 2.5706 * sqrt((7 - 1.0 / 7) / 5 / 28);
	assert_true(near(s.slope, 0, 1e-12));
	assert_true(near(s.high, half, 2e-3 * half) && near(s.low, -half, 2e-3 * half));
}

/* The interval misses the true slope in 5 of 100 experiments. */
static void slope_interval_covers_as_often_as_it_says(void **unused)
{
	(void)unused;
	enum { TRIES = 4000, BLOCKS = 3, N = 8 };
	struct hd_rng rng;
	int missed = 0;
	hd_rng_seed(&rng, 5);
	for (int i = 0; i < TRIES; i++) {
		double v[BLOCKS * N];
		for (int j = 0; j < BLOCKS * N; j++)
			v[j] = 100 * (j / N) + 0.3 * (j % N) + hd_rng_normal(&rng);
		struct repro_slope s = repro_slope_of(&(struct repro_blocks){v, BLOCKS, N});
		missed += s.low > 0.3 || s.high < 0.3;
	}
	assert_true(missed > 0.04 * TRIES && missed < 0.06 * TRIES);
}

/* Mean 3, standard deviation sqrt(2.5), t(4) at 97.5 % is 2.776. */
static void mean_has_students_interval(void **unused)
{
	(void)unused;
	const double v[] = {1, 2, 3, 4, 5};
	struct repro_mean m = repro_mean_of(v, 5), one = repro_mean_of(v, 1);
	assert_true(near(m.mean, 3, 1e-12) && near(m.half, 2.776 * sqrt(2.5 / 5), 0.01));
	assert_true(near(one.mean, 1, 1e-12) && isnan(one.half));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rank_counts_smaller_values),
	    cmocka_unit_test(spearman_of_small_lists),
	    cmocka_unit_test(page_of_ordered_blocks),
	    cmocka_unit_test(slope_of_lines_is_exact),
	    cmocka_unit_test(mean_has_students_interval),
	    cmocka_unit_test(slope_has_students_interval),
	    cmocka_unit_test(slope_interval_covers_as_often_as_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
