/* Threads that wait for each other, with both engines: what is a deadlock, and what only looks like one. */
#include <pthread.h>
#include "program.h"

static void *hold_for_a_while(void *arg)
{
	struct other *o = arg;
	o->status = heddle_acquire(o->data, HEDDLE_RW);
	o->stage = 1;
	give_others_time();
	o->status = o->status ? o->status : heddle_release(o->data);
	return NULL;
}

static void waiting_for_what_another_thread_holds_is_no_deadlock(void **state)
{
	struct other o = {.rt = start_where(*state)};
	pthread_t thread;
	assert_ok(heddle_variable(o.rt, &o.value, sizeof o.value, &o.data));
	assert_int_equal(pthread_create(&thread, NULL, hold_for_a_while, &o), 0);
	while (!o.stage)
		sched_yield();
	assert_ok(heddle_submit(o.rt, heddle_call(given(o.rt, "ten", ten_us)), heddle_rw(o.data)));
	assert_ok(heddle_wait_all(o.rt));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(o.status);
	assert_ok(heddle_stop(o.rt));
}

static void release_later(void *arg, int status)
{
	struct other *o = arg;
	o->stage = 1;
	give_others_time();
	o->status = status ? status : heddle_release(o->data);
}

static void *wait_for_task(void *arg)
{
	struct other *o = arg;
	o->status = heddle_task_wait(o->task);
	return NULL;
}

static void waiting_for_what_a_callback_will_do_is_no_deadlock(void **state)
{
	struct other holder = {.rt = start_where(*state)}, waiter = {.rt = holder.rt};
	heddle_task *after;
	pthread_t thread;
	heddle_codelet *ten = given(holder.rt, "ten", ten_us);
	assert_ok(heddle_variable(holder.rt, &holder.value, sizeof holder.value, &holder.data));
	assert_ok(heddle_acquire(holder.data, HEDDLE_RW));
	assert_ok(heddle_submit(holder.rt, heddle_call(ten), heddle_rw(holder.data), heddle_out(&after)));
	assert_ok(
	    heddle_submit(holder.rt, heddle_call(ten), heddle_then(release_later, &holder), heddle_out(&waiter.task)));
	assert_int_equal(pthread_create(&thread, NULL, wait_for_task, &waiter), 0); /* it runs the callback */
	while (!holder.stage)
		sched_yield();
	assert_ok(heddle_task_wait(after));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(holder.status);
	assert_ok(waiter.status);
	heddle_task_release(after);
	heddle_task_release(waiter.task);
	assert_ok(heddle_stop(holder.rt));
}

static void waiting_for_what_one_holds_oneself_is_a_deadlock(void **state)
{
	heddle_runtime *rt = start_where(*state);
	heddle_data *d;
	heddle_task *t;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ok(heddle_submit(rt, heddle_call(given(rt, "ten", ten_us)), heddle_rw(d), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_DEADLOCK);
	assert_says("acquired by the program");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("acquired by the program");
	assert_int_equal(heddle_acquire(d, HEDDLE_RW), HEDDLE_E_DEADLOCK);
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_DEADLOCK); /* it is given up, not acquired later */
	assert_ok(heddle_release(d));
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_ok(heddle_task_wait(t));
	assert_ok(heddle_submit(rt, heddle_call(given(rt, "ten", ten_us)), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	heddle_task_release(t);
	assert_ok(heddle_stop(rt));
}

static void *hold_and_wait(void *arg)
{
	struct other *o = arg;
	o->status = heddle_acquire(o->data, HEDDLE_RW);
	o->stage = 1;
	while (o->stage != 2)
		sched_yield();
	o->status = o->status ? o->status : heddle_task_wait(o->task);
	heddle_release(o->data);
	return NULL;
}

static void two_threads_that_wait_for_each_other_are_a_deadlock(void **state)
{
	struct other a = {.rt = start_where(*state)}, b = {.rt = a.rt};
	heddle_codelet *ten = given(a.rt, "ten", ten_us);
	pthread_t threads[2];
	assert_ok(heddle_variable(a.rt, &a.value, sizeof a.value, &a.data));
	assert_ok(heddle_variable(a.rt, &b.value, sizeof b.value, &b.data));
	assert_int_equal(pthread_create(&threads[0], NULL, hold_and_wait, &a), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, hold_and_wait, &b), 0);
	while (!a.stage || !b.stage)
		sched_yield();
	assert_ok(heddle_submit(a.rt, heddle_call(ten), heddle_rw(b.data), heddle_out(&a.task)));
	assert_ok(heddle_submit(a.rt, heddle_call(ten), heddle_rw(a.data), heddle_out(&b.task)));
	a.stage = b.stage = 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	/* the other is freed by the release */
	assert_true(a.status == HEDDLE_E_DEADLOCK || b.status == HEDDLE_E_DEADLOCK);
	heddle_task_release(a.task);
	heddle_task_release(b.task);
	assert_ok(heddle_stop(a.rt));
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(waiting_for_what_another_thread_holds_is_no_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_what_another_thread_holds_is_no_deadlock, simulated),
	    cmocka_unit_test_prestate(waiting_for_what_a_callback_will_do_is_no_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_what_a_callback_will_do_is_no_deadlock, simulated),
	    cmocka_unit_test_prestate(waiting_for_what_one_holds_oneself_is_a_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_what_one_holds_oneself_is_a_deadlock, simulated),
	    cmocka_unit_test_prestate(two_threads_that_wait_for_each_other_are_a_deadlock, NULL),
	    cmocka_unit_test_prestate(two_threads_that_wait_for_each_other_are_a_deadlock, simulated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
