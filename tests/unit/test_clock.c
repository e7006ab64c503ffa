/* The clock runs as fast as the system's. */
#include <time.h>
#include "base/base.h"
#include "program.h"

static double system_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Our clock was read after `before` and before `after`, which are of the system's. */
struct reading {
	double before, ours, after;
};

/* Of some readings that during which the least time has passed: the thread may lose its processor. */
static struct reading read_both(void)
{
	struct reading best = {0, 0, 1e18};
	for (int i = 0; i < 100; i++) {
		struct reading r;
		r.before = system_us();
		r.ours = hd_clock_us();
		r.after = system_us();
		if (r.after - r.before < best.after - best.before)
			best = r;
	}
	return best;
}

static void clock_runs_as_fast_as_that_of_the_system(void **state)
{
	(void)state;
	const double error = 1e-4, us = 20000;
	struct reading first = read_both(), last;
	do
		last = read_both();
	while (last.before - first.after < us);
	double ours = last.ours - first.ours;
	assert_true(ours >= (1 - error) * (last.before - first.after));
	assert_true(ours <= (1 + error) * (last.after - first.before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(clock_runs_as_fast_as_that_of_the_system)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
