/* No task is forgotten: the program submits and then asks for nothing but whether the task is done, so that nobody but
 * the runtime itself can see to it. A test that fails here never ends. */
#include <pthread.h>
#include "base/base.h"
#include "base/lock.h"
#include "internals.h"
#include "../wrapped.h"
#include "program.h"

static int count(heddle_context *c)
{
	++*(atomic_int *)pointer_value(c);
	return 0;
}

/* --- Workers that fall asleep ------------------------------------------------------------------------------------- */

static heddle_runtime *start_one_worker(heddle_codelet **codelet)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	*codelet = heddle_codelet_new(rt, .name = "count", .cpu = count);
	return rt;
}

/* A stream of tasks lets the program submit without the lock. Then the worker falls asleep: the next task must reach it
 * all the same. */
static void task_after_a_pause_runs_though_nobody_waits_for_it(void **state)
{
	(void)state;
	enum { ROUNDS = 5, STREAM = 3000 };
	heddle_codelet *codelet;
	heddle_runtime *rt = start_one_worker(&codelet);
	atomic_int n = 0, *counted = &n;
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < STREAM; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(counted)));
		wait_for(&n, round * (STREAM + 1) - 1);
		give_others_time(); /* enough for a worker that finds nothing to do to fall asleep */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(counted)));
		wait_for(&n, round * (STREAM + 1));
	}
	assert_ok(heddle_stop(rt));
}

/* Stores to memory that is in no cache: they are on their way still when the program submits, and what it writes then
 * waits behind them, as long as the processor lets it. */
enum { COLD = 1 << 24, LINE = 64, LINES = 24 };
static volatile char cold[COLD];

static void write_cold_lines(unsigned round)
{
	for (unsigned i = 0; i < LINES; i++)
		cold[((round * LINES + i) * 4099u * LINE) % COLD] = 1;
}

/* Returns how long the submission took, us. */
static double submit_one(heddle_runtime *rt, heddle_codelet *codelet, atomic_int *counted)
{
	int before = *counted;
	double start = hd_clock_us();
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(counted)));
	double took = hd_clock_us() - start;
	for (int i = 0; i < 10000 && *counted == before; i++)
		hd_cpu_relax(); /* whoever yields may come back when the worker sleeps again */
	wait_for(counted, before + 1);
	return took;
}

/* The program comes with its task just when the worker falls asleep, or as near to that as it can aim: a submission
 * that takes long had to wake the worker, and so the next one comes a little earlier. The two tasks before wake the
 * worker, and let the program submit without the lock, unless other programs are in the way. */
static void task_submitted_while_a_worker_falls_asleep_runs(void **state)
{
	(void)state;
	enum { ROUNDS = 2000 };
	static const double LONG_US = 2, STEP_US = 0.4, LEAST_US = 10;
	heddle_codelet *codelet;
	heddle_runtime *rt = start_one_worker(&codelet);
	atomic_int n = 0;
	double delay = LEAST_US;
	for (unsigned round = 0; round < ROUNDS; round++) {
		submit_one(rt, codelet, &n);
		int undisturbed = submit_one(rt, codelet, &n) < LONG_US;
		double then = hd_clock_us() + delay;
		while (hd_clock_us() < then)
			hd_cpu_relax();
		write_cold_lines(round);
		double took = submit_one(rt, codelet, &n);
		if (undisturbed)
			delay += took < LONG_US ? STEP_US : delay > LEAST_US ? -STEP_US : 0;
	}
	assert_ok(heddle_stop(rt));
}

/* --- Waiting threads that run tasks ------------------------------------------------------------------------------- */

struct caller {
	heddle_runtime *rt;
	heddle_task *task; /* what it waits for */
	atomic_int about_to_wait;
	int status;
};

static void *wait_for_task(void *arg)
{
	struct caller *c = arg;
	c->about_to_wait = 1;
	c->status = heddle_task_wait(c->task);
	return NULL;
}

/* Lasts until the other caller waits. */
static int await_other(heddle_context *c)
{
	struct caller *other = pointer_value(c);
	wait_for(&other->about_to_wait, 1);
	give_others_time();
	return 0;
}

/* The only worker has no thread. The program runs its own task and goes; the other caller, asleep because the worker
 * was taken, must take it over. */
static void next_caller_takes_the_worker_over(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.watchdog = 0;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *first = heddle_codelet_new(rt, .name = "first", .cpu = await_other);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "count", .cpu = count);
	atomic_int n = 0, *counted = &n;
	for (int round = 1; round <= 10; round++) {
		struct caller caller = {.rt = rt}, *other = &caller;
		pthread_t thread;
		heddle_task *own;
		assert_ok(heddle_submit(rt, heddle_call(first), heddle_value(other), heddle_out(&own)));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(counted), heddle_out(&caller.task)));
		assert_int_equal(pthread_create(&thread, NULL, wait_for_task, other), 0);
		assert_ok(heddle_task_wait(own));
		wait_for(&n, round);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(caller.status);
		heddle_task_release(own);
		heddle_task_release(caller.task);
	}
	assert_ok(heddle_stop(rt));
}

/* --- Many threads that sleep, and no memory ----------------------------------------------------------------------- */

static atomic_int is_short, n_refused;

void *__wrap_realloc(void *p, size_t size)
{
	n_refused += is_short;
	return is_short ? NULL : __real_realloc(p, size);
}

static unsigned count_sleepers(heddle_runtime *rt)
{
	unsigned n = 0;
	hd_core_enter(rt);
	for (const struct hd_waiter *w = rt->waits.waiters; w; w = w->next)
		n += atomic_load(&w->event->state) == 2; /* its thread is in the system */
	hd_core_leave(rt);
	return n;
}

/* More threads wait for one task than there is room for in the list of those that are woken when the core is left. If
 * the list cannot grow, the others are woken at once; all are. */
static void threads_wake_though_there_is_no_memory(void **state)
{
	(void)state;
	enum { CALLERS = 40, ROUNDS = 2 };
	heddle_codelet *codelet;
	heddle_runtime *rt = start_one_worker(&codelet);
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	assert_true(rt->max_roused < CALLERS);
	for (int round = 0; round < ROUNDS; round++) {
		atomic_int open = 0, *gate_address = &open;
		struct caller callers[CALLERS];
		pthread_t threads[CALLERS];
		heddle_task *task;
		assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(gate_address), heddle_out(&task)));
		for (int i = 0; i < CALLERS; i++) {
			callers[i] = (struct caller){.rt = rt, .task = task};
			assert_int_equal(pthread_create(&threads[i], NULL, wait_for_task, &callers[i]), 0);
		}
		while (count_sleepers(rt) < CALLERS)
			sched_yield();
		is_short = round == 0;
		open = 1;
		for (int i = 0; i < CALLERS; i++) {
			assert_int_equal(pthread_join(threads[i], NULL), 0);
			assert_ok(callers[i].status);
		}
		is_short = 0;
		heddle_task_release(task);
		assert_true(n_refused > 0);
		assert_int_equal(rt->max_roused >= CALLERS, round != 0); /* with memory it grows */
	}
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_after_a_pause_runs_though_nobody_waits_for_it),
	    cmocka_unit_test(task_submitted_while_a_worker_falls_asleep_runs),
	    cmocka_unit_test(next_caller_takes_the_worker_over),
	    cmocka_unit_test(threads_wake_though_there_is_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
