/* heddle_unordered: who waits for whom, coherence, the end of handles. */
#include <pthread.h>
#include "forgotten.h"
#include "virtual_machine.h"
#include "../sanitized.h"

struct gate {
	atomic_int entered, open;
};

static int wait_at_gate(heddle_context *c)
{
	struct gate *g = *(struct gate *const *)heddle_value_ptr(c, 0);
	g->entered++;
	while (!g->open)
		sched_yield();
	++*(long *)heddle_ptr(c, 0);
	return 0;
}

static void unordered_accesses_neither_wait_nor_are_waited_for(void **state)
{
	(void)state;
	for (int check = 0; check < 2; check++) {
		struct heddle_config config = small_config();
		config.check = check;
		heddle_runtime *rt = start_cpus(config, 2);
		heddle_codelet *hold = heddle_codelet_new(rt, .name = "hold", .cpu = wait_at_gate);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
		long x = 0;
		struct gate gate = {0}, *at = &gate;
		heddle_data *d;
		heddle_task *t;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		/* an ordered one holds the datum; an unordered one does not wait for it */
		assert_ok(heddle_submit(rt, heddle_call(hold), heddle_rw(d), heddle_value(at)));
		while (!gate.entered)
			sched_yield();
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_unordered(heddle_rw(d)), heddle_out(&t)));
		assert_ok(heddle_task_wait(t));
		assert_ok(heddle_selfcheck(rt));
		heddle_task_release(t);
		gate.open = 1;
		heddle_wait_all(rt); /* in checking mode the second task is a misuse of the first one's datum */
		/* the other way round */
		gate.open = gate.entered = 0;
		assert_ok(heddle_submit(rt, heddle_call(hold), heddle_unordered(heddle_rw(d)), heddle_value(at)));
		while (!gate.entered)
			sched_yield();
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_out(&t)));
		assert_ok(heddle_task_wait(t));
		assert_ok(heddle_selfcheck(rt));
		heddle_task_release(t);
		gate.open = 1;
		heddle_wait_all(rt);
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 4);
		assert_ok(heddle_stop(rt));
	}
}

static void *open_later(void *arg)
{
	struct gate *g = arg;
	while (!g->entered)
		sched_yield();
	g->open = 1;
	return NULL;
}

static void the_end_of_a_handle_waits_for_unordered_accesses(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_cpus(config, 2);
	heddle_codelet *hold = heddle_codelet_new(rt, .name = "hold", .cpu = wait_at_gate);
	for (int i = 0; i < 20; i++) {
		long x = 0;
		struct gate gate = {0}, *at = &gate;
		heddle_data *d;
		pthread_t thread;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_submit(rt, heddle_call(hold), heddle_unordered(heddle_rw(d)), heddle_value(at)));
		if (i % 2 == 0) {
			assert_ok(heddle_unregister_async(d));
			assert_ok(heddle_selfcheck(rt));
		}
		assert_int_equal(pthread_create(&thread, NULL, open_later, &gate), 0);
		assert_ok(i % 2 ? heddle_unregister(d) : heddle_wait_all(rt));
		assert_int_equal(x, 1);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_stop(rt));
}

static void unordered_accesses_move_values_between_memories(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 1, 0);
	long x = 0;
	heddle_data *d;
	heddle_task *before = NULL;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 100; i++) {
		heddle_task *t;
		struct heddle_item items[] = {heddle_call(i % 2 ? c.add : c.add_far), heddle_unordered(heddle_rw(d)),
		                              heddle_out(&t), heddle_after(before)};
		assert_ok(heddle_submit_items(rt, before ? 4 : 3, items));
		if (before)
			heddle_task_release(before);
		before = t;
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_task_wait(before));
	heddle_task_release(before);
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 100);
	assert_ok(heddle_stop(rt));
}

/* What the readers see is undefined; afterwards all is as the last task has left it. */
static void unordered_tasks_at_once_leave_the_runtime_whole(void **state)
{
	(void)state;
	if (SANITIZED)
		skip(); /* it is full of data races of its own */
	struct codelets c;
	heddle_runtime *rt = begin(&c, 2, 0);
	heddle_codelet *peek = heddle_codelet_new(rt, .name = "peek", .cpu = nothing, .emulated = nothing);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 400; i++) {
		assert_ok(heddle_submit(rt,
		                        heddle_call(i % 3   ? peek
		                                    : i % 2 ? c.add
		                                            : c.add_far),
		                        heddle_unordered(i % 3 ? heddle_r(d) : heddle_rw(d))));
		if (i % 7 == 0)
			assert_ok(heddle_submit(rt, heddle_call(c.add_far), heddle_rw(d)));
		if (i % 20 == 0)
			assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_submit(rt, heddle_call(c.put_far), heddle_w(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 7);
	assert_ok(heddle_stop(rt));
}

/* The writer makes the source of a transfer invalid that has begun meanwhile. */
static void a_reader_may_fetch_what_a_writer_replaces(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .workers_per_gpu = 1};
	heddle_data *d;
	heddle_task *t;
	double at;
	machine_start(&m);
	machine_data(&m, 1, &d);
	assert_ok(heddle_submit(m.rt, heddle_call(m.work), LASTS(20), heddle_unordered(heddle_rw(d)), heddle_on(1)));
	assert_ok(heddle_submit(m.rt, heddle_call(m.work), LASTS(30), heddle_on(2)));
	assert_ok(heddle_submit(m.rt, heddle_call(m.work), LASTS(20), heddle_unordered(heddle_r(d)), heddle_on(2),
	                        heddle_out(&t)));
	while (heddle_virtual_step(m.rt, INFINITY, &at) > 0)
		assert_ok(heddle_selfcheck(m.rt));
	assert_true(heddle_now(m.rt) == 30 + HOP + 20);
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	assert_ok(heddle_stop(m.rt));
}

static int unregister_own(heddle_context *c)
{
	heddle_data *d = *(heddle_data *const *)heddle_value_ptr(c, 0);
	return heddle_unregister(d) == HEDDLE_E_STATE ? 0 : heddle_fail(c, 3, "%s", heddle_last_error());
}

static void a_kernel_cannot_wait_for_the_end_of_what_it_uses_unordered(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "end", .cpu = unregister_own);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_unordered(heddle_rw(d)), heddle_value(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* The buffer stays the task's until it has ended. */
static void forgetting_frees_nothing_that_is_used_unordered(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	heddle_codelet *hold = heddle_codelet_new(rt, .name = "hold", .cpu = wait_at_gate);
	heddle_codelet *put = heddle_codelet_new(rt, .name = "put", .cpu = put_seven);
	struct gate gate = {0}, *at = &gate;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(put), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(hold), heddle_unordered(heddle_rw(d)), heddle_value(at)));
	while (!gate.entered)
		sched_yield();
	assert_ok(heddle_forget(d));
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	gate.open = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_submit(rt, heddle_call(put), heddle_w(d)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_int_equal(*(long *)heddle_data_ptr(d), 7);
	assert_ok(heddle_release(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static int break_it(heddle_context *c)
{
	return heddle_fail(c, 3, "broken");
}

static void a_value_that_failed_cancels_unordered_readers(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = break_it);
	long x = 0;
	heddle_data *d;
	heddle_task *t, *u;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_unordered(heddle_rw(d)), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_r(d)), heddle_out(&u)));
	assert_int_equal(heddle_task_wait(u), HEDDLE_E_CANCELLED);
	heddle_task_release(t);
	heddle_task_release(u);
	heddle_wait_all(rt);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* Whether the unordered task has entered the graph or not. */
static void no_plan_is_made_of_what_is_used_unordered(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 1);
	heddle_codelet *hold = heddle_codelet_new(rt, .name = "hold", .cpu = wait_at_gate);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	long x[2] = {0}, y = 0;
	struct gate gate = {0}, *at = &gate;
	heddle_data *d, *e;
	heddle_plan *plan;
	assert_ok(heddle_vector(rt, x, 2, sizeof *x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &e));
	assert_ok(heddle_submit(rt, heddle_call(hold), heddle_rw(e), heddle_value(at)));
	while (!gate.entered)
		sched_yield();
	for (int i = 0; i < 3; i++) {
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_unordered(heddle_rw(d))));
		assert_int_equal(heddle_plan_create(d, &halves, &plan), HEDDLE_E_STATE);
		assert_int_equal(heddle_partition(d, &halves, NULL), HEDDLE_E_STATE);
	}
	gate.open = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_plan_create(d, &halves, &plan));
	heddle_plan_destroy(plan);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(e));
	assert_ok(heddle_stop(rt));
}

static void what_cannot_be_unordered_is_refused(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	long x[2] = {0};
	heddle_data *d;
	heddle_plan *plan;
	assert_ok(heddle_vector(rt, x, 2, sizeof *x, &d));
	assert_int_equal(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_commute(d))), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_rw(d)), heddle_r(d)),
	                 HEDDLE_E_INVALID);
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_rw(d)), heddle_unordered(heddle_r(d))));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	assert_int_equal(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_rw(d))), HEDDLE_E_UNSUPPORTED);
	assert_int_equal(heddle_submit(rt, heddle_call(c.add), heddle_unordered(heddle_r(heddle_plan_child(plan, 0)))),
	                 HEDDLE_E_UNSUPPORTED);
	heddle_plan_destroy(plan);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unordered_accesses_neither_wait_nor_are_waited_for),
	    cmocka_unit_test(the_end_of_a_handle_waits_for_unordered_accesses),
	    cmocka_unit_test(unordered_accesses_move_values_between_memories),
	    cmocka_unit_test(unordered_tasks_at_once_leave_the_runtime_whole),
	    cmocka_unit_test(a_reader_may_fetch_what_a_writer_replaces),
	    cmocka_unit_test(a_kernel_cannot_wait_for_the_end_of_what_it_uses_unordered),
	    cmocka_unit_test(forgetting_frees_nothing_that_is_used_unordered),
	    cmocka_unit_test(a_value_that_failed_cancels_unordered_readers),
	    cmocka_unit_test(no_plan_is_made_of_what_is_used_unordered),
	    cmocka_unit_test(what_cannot_be_unordered_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
