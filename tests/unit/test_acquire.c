/* Data that threads of the program acquire: several readers, waits that end with a release, a stop that releases. */
#include <pthread.h>
#include "program.h"

/* One thread holds a datum, another waits for the first of two tasks behind it. */
struct scene {
	heddle_data *data;
	heddle_task *first;
	atomic_int held, release, gate, first_ended;
};

static void *hold(void *arg)
{
	struct scene *s = arg;
	int status = heddle_acquire(s->data, HEDDLE_RW);
	s->held = 1;
	wait_for(&s->release, 1);
	return heddle_release(s->data) || status ? s : NULL;
}

static void *wait_for_first(void *arg)
{
	struct scene *s = arg;
	int status = heddle_task_wait(s->first);
	s->first_ended = 1;
	return status ? s : NULL;
}

static void *open_gate_later(void *arg)
{
	struct scene *s = arg;
	wait_for(&s->first_ended, 1);
	for (int i = 0; i < 1000; i++) /* a wait that ends too early gets its chance */
		sched_yield();
	s->gate = 1;
	return NULL;
}

static int release_then_open(heddle_context *c)
{
	struct scene *s = pointer_value(c);
	wait_for(&s->gate, 1);
	return 0;
}

static void wait_for_all_counts_what_another_thread_has_released(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *quick = heddle_codelet_new(rt, .name = "quick", .cpu = nothing);
	heddle_codelet *slow = heddle_codelet_new(rt, .name = "slow", .cpu = release_then_open);
	long x = 0;
	struct scene s = {0}, *scene = &s;
	pthread_t threads[3];
	void *failed[3];
	heddle_task *last;
	assert_ok(heddle_variable(rt, &x, sizeof x, &s.data));
	assert_int_equal(pthread_create(&threads[0], NULL, hold, &s), 0);
	wait_for(&s.held, 1);
	assert_ok(heddle_submit(rt, heddle_call(quick), heddle_rw(s.data), heddle_out(&s.first)));
	assert_ok(heddle_submit(rt, heddle_call(slow), heddle_rw(s.data), heddle_value(scene), heddle_out(&last)));
	assert_int_equal(pthread_create(&threads[1], NULL, wait_for_first, &s), 0);
	assert_int_equal(pthread_create(&threads[2], NULL, open_gate_later, &s), 0);
	s.release = 1;
	assert_ok(heddle_wait_all(rt));
	int done = heddle_task_done(last);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], &failed[i]), 0);
	assert_null(failed[0]);
	assert_null(failed[1]);
	assert_true(done);
	heddle_task_release(s.first);
	heddle_task_release(last);
	assert_ok(heddle_stop(rt));
}

static void readers_may_acquire_together(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	assert_ok(heddle_release(d));
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1);
	assert_ok(heddle_stop(rt));
}

static void stop_releases_what_tasks_wait_for(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wait_for_all_counts_what_another_thread_has_released),
	    cmocka_unit_test(readers_may_acquire_together),
	    cmocka_unit_test(stop_releases_what_tasks_wait_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
