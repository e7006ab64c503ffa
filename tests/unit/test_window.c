/* The window of unfinished tasks, as kernels and callbacks that submit meet it. */
#include <sched.h>
#include "program.h"
#include "internals.h"

enum { WINDOW = 16 };

static struct {
	heddle_codelet *codelet;
	atomic_long ran;
	atomic_int most; /* unfinished tasks, seen by a kernel */
} seen;

static void note_live(heddle_runtime *rt)
{
	hd_core_enter(rt);
	int live = (int)hd_live(rt);
	hd_core_leave(rt);
	if (live > seen.most)
		seen.most = live;
	seen.ran++;
}

static heddle_runtime *start_in_window(int n, const char *sched, int window)
{
	struct heddle_config config = small_config();
	config.n_cpu = cores_up_to(n < 2 ? 1 : 2);
	config.n_emulated = (int)n - config.n_cpu;
	config.window = window;
	config.sched = sched;
	seen.ran = 0;
	seen.most = 0;
	return start_with(&config);
}

static heddle_runtime *start_with_workers(int n, const char *sched)
{
	return start_in_window(n, sched, WINDOW);
}

/* --- One that produces -------------------------------------------------------------------------------------------- */

enum { PRODUCED = 2000 };

static int leaf(heddle_context *c)
{
	note_live(heddle_context_runtime(c));
	return 0;
}

static int produce(heddle_context *c)
{
	int status = 0;
	for (int i = 0; i < PRODUCED; i++)
		status |= heddle_submit(heddle_context_runtime(c), heddle_call(seen.codelet));
	return status;
}

static void produce_in_callback(void *arg, int status)
{
	for (int i = 0; i < PRODUCED && !status; i++)
		status = heddle_submit(arg, heddle_call(seen.codelet));
}

/* Each other kernel that runs takes one of the produced tasks, so there is never more than one above the window for
 * each thread that submits. */
static void producing_kernel_stays_within_the_window(void **state)
{
	(void)state;
	heddle_runtime *rt = start_with_workers(2, "eager");
	seen.codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "produce", .cpu = produce))));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(seen.ran, PRODUCED);
	assert_in_range(seen.most, 1, WINDOW + 2);
	assert_ok(heddle_stop(rt));
}

static void producing_callback_stays_within_the_window(void **state)
{
	(void)state;
	heddle_runtime *rt = start_with_workers(2, "eager");
	seen.codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
	assert_ok(heddle_submit(rt, heddle_call(seen.codelet), heddle_then(produce_in_callback, rt)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(seen.ran, PRODUCED + 1);
	assert_in_range(seen.most, 1, WINDOW + 2);
	assert_ok(heddle_stop(rt));
}

/* All workers are in kernels that wait for room, then one of them is let through. */
static void producers_on_all_workers_end(void **state)
{
	(void)state;
	for (int n = 1; n <= 4; n *= 2) {
		heddle_runtime *rt = start_with_workers(n, n == 2 ? "lws" : "eager");
		seen.codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
		heddle_codelet *producer = heddle_codelet_new(rt, .name = "produce", .cpu = produce);
		for (int i = 0; i < 2 * n; i++)
			assert_ok(heddle_submit(rt, heddle_call(producer)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(seen.ran, 2 * n * PRODUCED);
		assert_ok(heddle_stop(rt));
	}
}

/* --- One whose own task is in the window -------------------------------------------------------------------------- */

static struct {
	heddle_codelet *codelet;
	atomic_int runs, submitted, saw;
} other;

/* Runs until the callback has submitted; a callback that is held back for that long never would. */
static int run_until_submitted(heddle_context *c)
{
	static const double patience_us = 10e6;
	double start = hd_clock_us();
	(void)c;
	other.runs = 1;
	while (!other.submitted && hd_clock_us() - start < patience_us)
		sched_yield();
	other.saw = other.submitted;
	return 0;
}

static void submit_one(void *arg, int status)
{
	while (!other.runs)
		sched_yield();
	if (!status && !heddle_submit(arg, heddle_call(seen.codelet)))
		other.submitted = 1;
}

/* The window is 2: the task whose callback submits, which cannot end before that, and the one that runs meanwhile. */
static void task_of_a_callback_that_submits_takes_no_room(void **state)
{
	(void)state;
	heddle_runtime *rt = start_in_window(2, "eager", 2);
	seen.codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
	other.codelet = heddle_codelet_new(rt, .name = "other", .cpu = run_until_submitted);
	assert_ok(heddle_submit(rt, heddle_call(seen.codelet), heddle_then(submit_one, rt)));
	assert_ok(heddle_submit(rt, heddle_call(other.codelet)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(other.saw, 1);
	assert_int_equal(seen.ran, 2);
	assert_ok(heddle_stop(rt));
}

/* --- Recursion ---------------------------------------------------------------------------------------------------- */

enum { DEPTH = 16 };

static int fib(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	const int n = heddle_get(c, 0, int);
	int status = 0;
	note_live(rt);
	for (int k = n - 1; k >= n - 2 && n >= 2; k--)
		status |= heddle_submit(rt, heddle_call(seen.codelet), heddle_priority(DEPTH - k), heddle_value(k));
	return status;
}

/* A kernel time that is so long that a worker takes one task at a time, us. */
static double long_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size, (void)class_id;
	return 100;
}

/* The deepest tasks go first, so the tree is as wide as it is deep for each worker, beyond what the window allows. */
static void recursive_kernels_end_and_stay_bounded(void **state)
{
	(void)state;
	static const int numbers[] = {1, 2, 4};
	long calls[DEPTH + 1] = {1, 1};
	for (int n = 2; n <= DEPTH; n++)
		calls[n] = 1 + calls[n - 1] + calls[n - 2];
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		heddle_runtime *rt = start_with_workers(numbers[i], "prio");
		const int n = DEPTH;
		seen.codelet =
		    heddle_codelet_new(rt, .name = "fib", .cpu = fib, .model = HEDDLE_MODEL_GIVEN, .time = long_time);
		assert_ok(heddle_submit(rt, heddle_call(seen.codelet), heddle_value(n)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(seen.ran, calls[DEPTH]);
		assert_in_range(seen.most, 2, WINDOW + numbers[i] * DEPTH);
		assert_ok(heddle_stop(rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(producing_kernel_stays_within_the_window),
	    cmocka_unit_test(producing_callback_stays_within_the_window),
	    cmocka_unit_test(producers_on_all_workers_end),
	    cmocka_unit_test(task_of_a_callback_that_submits_takes_no_room),
	    cmocka_unit_test(recursive_kernels_end_and_stay_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
