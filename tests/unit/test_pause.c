/* heddle_pause and heddle_resume. */
#include <pthread.h>
#include "internals.h"
#include "program.h"
#include "flow/errands.h"

static void on_event(heddle_event *event, void *arg)
{
	++*(atomic_int *)arg;
	heddle_fulfill(event, 0);
}

static void paused_workers_begin_nothing(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) { /* with an accelerator, with a thread that runs worker 0 while it waits */
		struct heddle_config config = small_config();
		config.n_emulated = n & 1;
		config.caller_works = n >> 1;
		config.window = 8;
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment, .emulated = increment);
		long x = 0, y = 0;
		atomic_int begun = 0;
		heddle_data *d, *e;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_variable(rt, &y, sizeof y, &e));
		for (int round = 0; round < 20; round++) {
			assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
			assert_ok(heddle_pause(rt));
			assert_ok(heddle_pause(rt));
			struct heddle_stats before, after;
			for (int i = 0; i < 50; i++) /* more than the window */
				assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
			assert_ok(heddle_submit(rt, heddle_outside(on_event, &begun), heddle_w(e)));
			while (begun != round + 1)
				sched_yield();
			assert_ok(heddle_acquire(e, HEDDLE_R));
			assert_ok(heddle_release(e));
			assert_ok(heddle_resume(rt));
			assert_ok(heddle_selfcheck(rt));
			assert_ok(heddle_runtime_stats(rt, &before));
			assert_ok(heddle_runtime_stats(rt, &after));
			/* at most the task that ran when the pause began */
			assert_true(after.tasks_executed <= 52 * (uint64_t)round + 2);
			assert_ok(heddle_resume(rt));
			assert_ok(heddle_wait_all(rt));
		}
		assert_int_equal(heddle_resume(rt), HEDDLE_E_STATE);
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 20 * 51);
		assert_ok(heddle_stop(rt));
	}
}

static heddle_codelet *new_add(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "add", .cpu = increment, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
}

static int somebody_waits(heddle_runtime *rt)
{
	hd_core_enter(rt);
	int waits = rt->waits.waiters != NULL;
	hd_core_leave(rt);
	return waits;
}

static void *resume(void *arg)
{
	heddle_runtime *rt = arg;
	while (!somebody_waits(rt))
		sched_yield();
	assert_ok(heddle_resume(rt));
	return NULL;
}

static void a_wait_in_a_pause_is_no_deadlock(void **state)
{
	(void)state;
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_where(virtual_time ? "haswell-k40m" : NULL);
		heddle_codelet *add = new_add(rt);
		long x = 0;
		heddle_data *d;
		pthread_t thread;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_pause(rt));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_int_equal(pthread_create(&thread, NULL, resume, rt), 0);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(heddle_pause(rt));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_stop(rt)); /* resumes */
		assert_int_equal(x, virtual_time ? 0 : 2);
	}
}

static void pause_again(void *arg, int status)
{
	(void)status;
	assert_int_equal(heddle_pause(arg), HEDDLE_E_STATE);
	assert_int_equal(heddle_resume(arg), HEDDLE_E_STATE);
}

/* Nobody could resume it: the program is in heddle_stop. */
static void a_runtime_that_stops_is_not_paused_any_more(void **state)
{
	(void)state;
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_where(virtual_time ? "haswell-k40m" : NULL);
		heddle_codelet *add = new_add(rt);
		long x = 0;
		heddle_data *d;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_pause(rt)); /* so that the callback comes in heddle_stop, which resumes */
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_then(pause_again, rt)));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_stop(rt));
		assert_int_equal(x, virtual_time ? 0 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paused_workers_begin_nothing),
	    cmocka_unit_test(a_wait_in_a_pause_is_no_deadlock),
	    cmocka_unit_test(a_runtime_that_stops_is_not_paused_any_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
