/* How long tasks of a codelet are expected to take, which decides how many of them make a burst. */
#include "engine/threads/threads.h"
#include "program.h"

static const double USUAL_US = 20;

static void one_long_task_does_not_shorten_the_bursts_that_follow(void **state)
{
	(void)state;
	heddle_codelet c = {.typical_us = HUGE_VAL};
	hd_note_length(&c, USUAL_US);
	assert_true(c.typical_us == USUAL_US);
	for (double us = 25; us < 1e6; us *= 3) { /* by an interrupt, another process */
		hd_note_length(&c, us);
		for (int i = 0; i < 100; i++)
			hd_note_length(&c, USUAL_US);
		assert_true(c.typical_us >= USUAL_US / 1.25);
		assert_true(2 * c.typical_us < HD_LONG_BURST_US);
	}
}

/* Each change would take the cache line of the codelet away from other workers. */
static void tasks_that_vary_little_change_nothing(void **state)
{
	(void)state;
	heddle_codelet c = {.typical_us = USUAL_US};
	for (double us = 0.9 * USUAL_US; us < 1.2 * USUAL_US; us += 0.5)
		hd_note_length(&c, us);
	assert_true(c.typical_us == USUAL_US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_long_task_does_not_shorten_the_bursts_that_follow),
	    cmocka_unit_test(tasks_that_vary_little_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
