/* heddle_forget, heddle_copy, heddle_unordered, heddle_pause: what becomes of values, order and workers. */
#include <pthread.h>
#include "internals.h"
#include "program.h"

static int put_seven(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 7;
	return 0;
}
static int init_zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}
static int combine(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

struct codelets {
	heddle_codelet *add, *put, *zero, *combine, *add_far, *put_far;
};

static heddle_runtime *begin(struct codelets *c, int n_emulated, int check)
{
	struct heddle_config config = small_config();
	config.n_emulated = n_emulated;
	config.check = check;
	heddle_runtime *rt = start_with(&config);
	*c = (struct codelets){
	    .add = heddle_codelet_new(rt, .name = "add", .cpu = increment),
	    .put = heddle_codelet_new(rt, .name = "put", .cpu = put_seven),
	    .zero = heddle_codelet_new(rt, .name = "zero", .cpu = init_zero),
	    .combine = heddle_codelet_new(rt, .name = "combine", .cpu = combine),
	};
	if (n_emulated) {
		c->add_far = heddle_codelet_new(rt, .name = "add far", .emulated = increment);
		c->put_far = heddle_codelet_new(rt, .name = "put far", .emulated = put_seven);
	}
	return rt;
}

/* --- heddle_forget ------------------------------------------------------------------------------------------------ */

static void a_forgotten_value_must_be_written_before_it_is_read(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) { /* one memory or two; with a buffer or without */
		struct codelets c;
		heddle_runtime *rt = begin(&c, n & 1, 0);
		long x = 1;
		heddle_data *d;
		assert_ok(heddle_variable(rt, n & 2 ? NULL : &x, sizeof x, &d));
		assert_ok(heddle_data_set_name(d, "x"));
		assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(d)));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(d)));
		assert_ok(heddle_forget(d));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
		assert_says("x was forgotten (heddle_forget)");
		assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
		assert_says("x was forgotten (heddle_forget)");
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.put_far : c.put), heddle_w(d)));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_ok(heddle_acquire(d, HEDDLE_R));
		assert_int_equal(*(long *)heddle_data_ptr(d), 8);
		assert_ok(heddle_release(d));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_stop(rt));
	}
}

static void its_copies_are_freed_and_it_ends_without_a_value(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 1, 0);
	long x = 1;
	heddle_data *d;
	struct heddle_memory_stats far;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c.add_far), heddle_rw(d)));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_memory_stats(rt, 1, &far));
	assert_int_equal(far.used, 0);
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1); /* nothing was copied back */
	assert_ok(heddle_stop(rt));
}

static void a_reduction_into_it_begins_with_the_neutral_element(void **state)
{
	(void)state;
	for (int n = 0; n < 2; n++) {
		struct codelets c;
		heddle_runtime *rt = begin(&c, 0, n);
		long x = 100;
		heddle_data *d;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_data_set_reduction(d, c.zero, c.combine));
		assert_ok(heddle_forget(d));
		for (int i = 0; i < 5; i++)
			assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_redux(d)));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 6);
		assert_ok(heddle_stop(rt));
	}
}

static void pieces_of_it_must_be_written_too(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	long x[2] = {1, 2};
	heddle_data *d;
	heddle_plan *plan;
	assert_ok(heddle_vector(rt, x, 2, sizeof *x, &d));
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(heddle_plan_child(plan, 0))));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(heddle_plan_child(plan, 0))));
	assert_ok(heddle_submit(rt, heddle_call(c.put), heddle_w(heddle_plan_child(plan, 1))));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_forget(d));
	assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(heddle_plan_child(plan, 1))));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	heddle_plan_destroy(plan);
	heddle_unregister(d);
	assert_int_equal(x[0], 8);
	heddle_stop(rt);
}

static void what_cannot_be_forgotten_is_refused(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	assert_int_equal(heddle_forget(NULL), HEDDLE_E_INVALID);
	heddle_stop(rt);
}

/* --- heddle_copy -------------------------------------------------------------------------------------------------- */

static void a_copy_takes_its_place_in_the_order(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) {
		struct codelets c;
		heddle_runtime *rt = begin(&c, n & 1, n >> 1);
		long from = 1, to = 0;
		heddle_data *f, *t;
		assert_ok(heddle_variable(rt, &from, sizeof from, &f));
		assert_ok(heddle_variable(rt, &to, sizeof to, &t));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(f)));
		assert_ok(heddle_copy(t, f));
		assert_ok(heddle_submit(rt, heddle_call(c.add), heddle_rw(f)));
		assert_ok(heddle_submit(rt, heddle_call(n & 1 ? c.add_far : c.add), heddle_rw(t)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(f));
		assert_ok(heddle_unregister(t));
		assert_int_equal(from, 3);
		assert_int_equal(to, 3);
		assert_ok(heddle_stop(rt));
	}
}

static void a_copy_keeps_strides_and_parts(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 1);
	double a[12], b[6], v[3] = {1, 2, 3}, w[3] = {0};
	uint32_t col[3] = {0, 1, 0}, row[3] = {0, 2, 3}, col2[3], row2[3];
	for (int i = 0; i < 12; i++)
		a[i] = i;
	heddle_data *m, *n, *s, *t;
	assert_ok(heddle_matrix(rt, a, 2, 3, 4, sizeof *a, &m));
	assert_ok(heddle_matrix(rt, b, 2, 3, 2, sizeof *b, &n));
	assert_ok(heddle_csr(rt, 2, 3, v, col, row, sizeof *v, &s));
	assert_ok(heddle_csr(rt, 2, 3, w, col2, row2, sizeof *w, &t));
	assert_ok(heddle_copy(n, m));
	assert_ok(heddle_copy(t, s));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < 6; i++)
		assert_true(b[i] == i % 2 + 4 * (i / 2));
	assert_memory_equal(w, v, sizeof v);
	assert_memory_equal(col2, col, sizeof col);
	assert_memory_equal(row2, row, sizeof row);
	assert_int_equal(heddle_copy(m, s), HEDDLE_E_INVALID);
	assert_int_equal(heddle_copy(m, m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_copy(m, NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

static void a_copy_of_nothing_is_cancelled(void **state)
{
	(void)state;
	struct codelets c;
	heddle_runtime *rt = begin(&c, 0, 0);
	long from = 1, to = 0;
	heddle_data *f, *t;
	assert_ok(heddle_variable(rt, &from, sizeof from, &f));
	assert_ok(heddle_variable(rt, &to, sizeof to, &t));
	assert_ok(heddle_forget(f));
	assert_ok(heddle_copy(t, f));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_says("copy (external task");
	assert_int_equal(heddle_unregister(t), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* --- heddle_unordered --------------------------------------------------------------------------------------------- */

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
	struct codelets c;
	heddle_runtime *rt = begin(&c, 2, 0);
	heddle_codelet *peek = heddle_codelet_new(rt, .name = "peek", .cpu = nothing, .emulated = nothing);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 400; i++) {
		assert_ok(heddle_submit(rt, heddle_call(i % 3 ? peek : i % 2 ? c.add : c.add_far),
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

/* --- heddle_pause ------------------------------------------------------------------------------------------------- */

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

static void *resume(void *arg)
{
	heddle_runtime *rt = arg;
	while (!rt->waits.waiters) /* the wait has begun; TSan: the lock is not needed to see this some time */
		sched_yield();
	assert_ok(heddle_resume(rt));
	return NULL;
}

static void a_wait_in_a_pause_is_no_deadlock(void **state)
{
	(void)state;
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		struct heddle_config config = small_config();
		if (virtual_time)
			config.platform = "haswell-k40m";
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment,
		                                         .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_forgotten_value_must_be_written_before_it_is_read),
	    cmocka_unit_test(its_copies_are_freed_and_it_ends_without_a_value),
	    cmocka_unit_test(a_reduction_into_it_begins_with_the_neutral_element),
	    cmocka_unit_test(pieces_of_it_must_be_written_too),
	    cmocka_unit_test(what_cannot_be_forgotten_is_refused),
	    cmocka_unit_test(a_copy_takes_its_place_in_the_order),
	    cmocka_unit_test(a_copy_keeps_strides_and_parts),
	    cmocka_unit_test(a_copy_of_nothing_is_cancelled),
	    cmocka_unit_test(unordered_accesses_neither_wait_nor_are_waited_for),
	    cmocka_unit_test(the_end_of_a_handle_waits_for_unordered_accesses),
	    cmocka_unit_test(unordered_accesses_move_values_between_memories),
	    cmocka_unit_test(unordered_tasks_at_once_leave_the_runtime_whole),
	    cmocka_unit_test(a_value_that_failed_cancels_unordered_readers),
	    cmocka_unit_test(what_cannot_be_unordered_is_refused),
	    cmocka_unit_test(paused_workers_begin_nothing),
	    cmocka_unit_test(a_wait_in_a_pause_is_no_deadlock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
