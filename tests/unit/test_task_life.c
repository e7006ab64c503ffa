/* The end of a task as others see it: what a program may read once it is done, and whom a batch of tiny tasks keeps
 * waiting. */
#include "program.h"

/* --- What a program may read -------------------------------------------------------------------------------------- */

static int write_result(heddle_context *c)
{
	*(long *)pointer_value(c) = heddle_get(c, 1, long);
	return 0;
}

/* The program takes no lock between the task's end and reading what the task wrote: only heddle_task_done stands
 * between the two. Elsewhere than under a detector of races the order of the processor hides most mistakes. */
static void result_may_be_read_once_the_task_is_done(void **state)
{
	(void)state;
	enum { ROUNDS = 50 };
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "write", .cpu = write_result);
	for (long i = 1; i <= ROUNDS; i++) {
		long result = 0, *address = &result;
		heddle_task *t;
		assert_ok(
		    heddle_submit(rt, heddle_call(codelet), heddle_value(address), heddle_value(i), heddle_out(&t)));
		while (!heddle_task_done(t))
			sched_yield();
		assert_int_equal(result, i);
		heddle_task_release(t);
	}
	assert_ok(heddle_stop(rt));
}

/* --- Tiny tasks that somebody may wait for ------------------------------------------------------------------------ */

enum { WARM = 20000, PAIRS = 300 };

/* A tiny task, which the program holds or has told to call it back, and whether its end has been told. */
struct tiny {
	heddle_task *task; /* NULL: it has a callback */
	atomic_int called;
};

static void note_call(void *arg, int status)
{
	struct tiny *t = arg;
	t->called += status == 0;
}

/* Counts itself if the end of the tiny task before it in the queue has not been told. */
static int look_back(heddle_context *c)
{
	const struct tiny *before = pointer_value(c);
	*heddle_get(c, 1, int *) += before->task ? !heddle_task_done(before->task) : !before->called;
	return 0;
}

/* The number of tasks that began before the end of the one before them was told. One worker, and all tasks become ready
 * together. */
static int count_late(int with_callback)
{
	static struct tiny before[PAIRS];
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *tiny = heddle_codelet_new(rt, .name = "tiny", .cpu = nothing);
	heddle_codelet *next = heddle_codelet_new(rt, .name = "next", .cpu = look_back);
	int n_late = 0, *late = &n_late;
	long x = 0;
	heddle_data *gate;
	for (int i = 0; i < WARM; i++)
		assert_ok(heddle_submit(rt, heddle_call(tiny)));
	assert_ok(heddle_variable(rt, &x, sizeof x, &gate));
	assert_ok(heddle_acquire(gate, HEDDLE_RW));
	for (int i = 0; i < PAIRS; i++) {
		struct tiny *t = &before[i];
		*t = (struct tiny){.task = NULL};
		assert_ok(heddle_submit(rt, heddle_call(tiny), heddle_r(gate),
		                        with_callback ? heddle_then(note_call, t) : heddle_out(&t->task)));
		assert_ok(heddle_submit(rt, heddle_call(next), heddle_r(gate), heddle_value(t), heddle_value(late)));
	}
	assert_ok(heddle_release(gate));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < PAIRS; i++)
		heddle_task_release(before[i].task);
	assert_ok(heddle_stop(rt));
	return n_late;
}

/* A worker takes tiny tasks several at a time and tells their ends together: but a task for which somebody may be
 * waiting is the last of those. */
static void tiny_task_that_the_program_holds_is_done_before_the_next_begins(void **state)
{
	(void)state;
	assert_int_equal(count_late(0), 0);
}

static void callback_of_a_tiny_task_comes_before_the_next_begins(void **state)
{
	(void)state;
	assert_int_equal(count_late(1), 0);
}

static uint64_t task_bytes(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.task_bytes;
}

/* A task too large to be made of what others leave has memory of its own, which goes when the task has ended. */
static void memory_of_a_large_task_goes_with_it(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	static const char large[5000];
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	uint64_t before = task_bytes(rt);
	heddle_task *held;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_bytes(large, sizeof large), heddle_out(&held)));
	for (int i = 0; i < 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_bytes(large, sizeof large)));
	assert_in_range(task_bytes(rt), before + sizeof large, before + 2 * sizeof large); /* that of the one held */
	heddle_task_release(held);
	assert_int_equal(task_bytes(rt), before);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(result_may_be_read_once_the_task_is_done),
	    cmocka_unit_test(tiny_task_that_the_program_holds_is_done_before_the_next_begins),
	    cmocka_unit_test(callback_of_a_tiny_task_comes_before_the_next_begins),
	    cmocka_unit_test(memory_of_a_large_task_goes_with_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
