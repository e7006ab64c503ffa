/* How long tasks of a codelet are expected to take, which decides how many of them make a burst. */
#include "engine/threads/threads.h"
#include "program.h"
#include "internals.h"

enum { N_TASKS = 200 };

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

/* Of the worker that runs the task: how many tasks it has been given and has not given back. */
static int note_held(heddle_context *c)
{
	unsigned *most = pointer_value(c);
	heddle_runtime *rt = heddle_context_runtime(c);
	hd_core_enter(rt);
	unsigned held = rt->workers[0].in_flight;
	hd_core_leave(rt);
	*most = held > *most ? held : *most;
	return 0;
}

/* Stays until a thread waits for one task in particular. */
static int await_reacting(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	unsigned reacting = 0;
	while (!reacting) {
		hd_core_enter(rt);
		reacting = rt->count.reacting;
		hd_core_leave(rt);
		sched_yield();
	}
	return 0;
}

/* All tasks of a burst are seen to end together. So the worker takes no more tasks than its pipeline holds while a
 * thread waits for one of them, however tiny they are expected to be. */
static void no_bursts_while_a_thread_waits_for_one_task(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	unsigned most = 0, *address = &most;
	heddle_codelet *holds = heddle_codelet_new(rt, .name = "holds", .cpu = await_reacting);
	heddle_codelet *notes = heddle_codelet_new(rt, .name = "notes", .cpu = note_held);
	hd_note_length(notes, 0.01); /* where it takes longer, there are fewer bursts, but none is wrong */
	heddle_task *last;
	assert_ok(heddle_submit(rt, heddle_call(holds)));
	for (int i = 0; i < N_TASKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(notes), heddle_value(address)));
	assert_ok(heddle_submit(rt, heddle_call(notes), heddle_value(address), heddle_out(&last)));
	assert_ok(heddle_task_wait(last));
	heddle_task_release(last);
	assert_int_equal(most, rt->workers[0].pipeline);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_long_task_does_not_shorten_the_bursts_that_follow),
	    cmocka_unit_test(tasks_that_vary_little_change_nothing),
	    cmocka_unit_test(no_bursts_while_a_thread_waits_for_one_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
