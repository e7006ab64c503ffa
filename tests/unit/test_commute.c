/* Tasks that commute: many that wait for the same tokens, and one that comes after a failure. */
#include <pthread.h>
#include "detached.h"

static int copy_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 1) = *(long *)heddle_ptr(c, 0);
	return 0;
}

static int fail_at_gate(heddle_context *c)
{
	pass_gate(c);
	return 3;
}

static void commuting_task_after_one_that_failed_is_cancelled(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fail_always);
	heddle_codelet *copy = heddle_codelet_new(rt, .name = "copy", .cpu = copy_long);
	long x = 0, y = 0;
	atomic_int gate = 0, *gate_address = &gate;
	heddle_data *a, *b;
	heddle_task *after;
	assert_ok(heddle_variable(rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(rt, &y, sizeof y, &b));
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_rw(a), heddle_value(gate_address)));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_commute(a)));
	assert_ok(heddle_submit(rt, heddle_call(copy), heddle_commute(a), heddle_w(b), heddle_out(&after)));
	gate = 1;
	assert_int_equal(heddle_task_wait(after), HEDDLE_E_CANCELLED);
	heddle_task_release(after);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_unregister(b), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_unregister(a), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* The end of the first task grants the second one its other datum, before the token of the common one is offered. */
static void who_gets_the_token_of_one_that_failed_is_cancelled(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fail_at_gate);
	heddle_codelet *copy = heddle_codelet_new(rt, .name = "copy", .cpu = copy_long);
	long x = 0, y = 0;
	atomic_int gate = 0, *gate_address = &gate;
	heddle_data *a, *b;
	heddle_task *after;
	assert_ok(heddle_variable(rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(rt, &y, sizeof y, &b));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_r(a), heddle_commute(b), heddle_value(gate_address)));
	assert_ok(heddle_submit(rt, heddle_call(copy), heddle_commute(b), heddle_w(a), heddle_out(&after)));
	gate = 1;
	assert_int_equal(heddle_task_wait(after), HEDDLE_E_CANCELLED);
	heddle_task_release(after);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
}

enum { N_COMMUTING = 10000 };

/* Tasks that commute on two data and note the order in which they run. */
struct commuting {
	heddle_runtime *rt;
	long order[N_COMMUTING], n;
};

static int note_order(heddle_context *c)
{
	struct commuting *s = pointer_value(c);
	s->order[s->n++] = heddle_get(c, 1, long);
	return 0;
}

static void *wait_for_all(void *arg)
{
	struct commuting *s = arg;
	return heddle_wait_all(s->rt) ? s : NULL;
}

/* The first one gives up one datum while it still has the other: all that wait for it then wait for the other
 * instead. */
static void thousands_may_wait_for_two_tokens_on_a_small_stack(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.window = 0;
	static struct commuting s, *scene = &s;
	s = (struct commuting){.rt = start_with(&config)};
	heddle_codelet *note = heddle_codelet_new(s.rt, .name = "note", .cpu = note_order);
	heddle_data *a, *b;
	long x = 0, y = 0;
	assert_ok(heddle_variable(s.rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(s.rt, &y, sizeof y, &b));
	for (long i = 0; i < N_COMMUTING; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(note), heddle_commute(a), heddle_commute(b),
		                        heddle_value(scene), heddle_value(i)));
	pthread_t thread;
	pthread_attr_t small;
	void *failed;
	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, 1 << 18), 0);
	assert_int_equal(pthread_create(&thread, &small, wait_for_all, &s), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(s.n, N_COMMUTING);
	for (long i = 0; i < N_COMMUTING; i++)
		assert_int_equal(s.order[i], i);
	assert_int_equal(pthread_attr_destroy(&small), 0);
	assert_ok(heddle_stop(s.rt));
}

/* How the program gives a waiting task up. */
enum way { BY_GROUP, BY_ALL, BY_DATUM, N_WAYS };

/* One task has the token of a datum, one waits for it and is given up, and others wait behind that one. */
static void those_behind_a_commuting_task_that_is_given_up_have_their_turn(enum way way, int by_event)
{
	struct outside out = {.n = 0}, *at = &out;
	atomic_int gate = 0, *gate_address = &gate;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	heddle_codelet *leave = heddle_codelet_new(rt, .name = "leave", .cpu = detach);
	heddle_codelet *none = heddle_codelet_new(rt, .name = "none", .cpu = nothing);
	long x = 0, y = 0;
	heddle_data *a, *b;
	heddle_group *group;
	heddle_task *behind[2];
	assert_ok(heddle_variable(rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(rt, &y, sizeof y, &b));
	assert_ok(heddle_group_create(rt, &group));
	if (by_event)
		assert_ok(heddle_submit(rt, heddle_call(leave), heddle_commute(a), heddle_value(at)));
	else
		assert_ok(heddle_submit(rt, heddle_call(stay), heddle_commute(a), heddle_value(gate_address)));
	assert_ok(heddle_submit(rt, heddle_call(none), heddle_commute(a), heddle_commute(b), heddle_in_group(group)));
	if (way == BY_GROUP)
		assert_int_equal(heddle_group_cancel(group), 1);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(none), heddle_commute(i ? b : a), heddle_out(&behind[i])));
	if (by_event)
		wait_for(&out.n, 1);
	if (way == BY_ALL)
		assert_true(heddle_cancel_all(rt) >= 1);
	else if (way == BY_DATUM)
		assert_ok(heddle_data_give_up(b));
	assert_ok(heddle_selfcheck(rt));
	gate = 1;
	if (by_event)
		assert_ok(heddle_fulfill(out.events[0], 0));
	for (int i = 0; i < 2; i++) {
		int status = heddle_task_wait(behind[i]);
		if (status != 0 && status != HEDDLE_E_CANCELLED)
			fail_msg("%s: %s", heddle_status_name(status), heddle_last_error());
		heddle_task_release(behind[i]);
	}
	int status = heddle_wait_all(rt);
	assert_true(status == 0 || status == HEDDLE_E_CANCELLED); /* those behind may have gone first */
	assert_int_equal(heddle_group_wait(group), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	heddle_group_free(group);
	assert_ok(heddle_stop(rt));
}

static void who_waits_behind_a_commuting_task_that_is_given_up_has_its_turn(void **state)
{
	(void)state;
	for (enum way way = 0; way < N_WAYS; way++)
		for (int by_event = 0; by_event < 2; by_event++)
			those_behind_a_commuting_task_that_is_given_up_have_their_turn(way, by_event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_waits_behind_a_commuting_task_that_is_given_up_has_its_turn),
	    cmocka_unit_test(commuting_task_after_one_that_failed_is_cancelled),
	    cmocka_unit_test(who_gets_the_token_of_one_that_failed_is_cancelled),
	    cmocka_unit_test(thousands_may_wait_for_two_tokens_on_a_small_stack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
