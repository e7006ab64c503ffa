/* Waiting, callbacks, acquire and release; what happens when a kernel fails or a policy never decides. */
#include <pthread.h>
#include "program.h"

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static void wait_for_one_does_not_wait_for_others(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1; /* one worker and eager: in the order of submission */
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *gate_codelet = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	atomic_int gate = 0, *gate_address = &gate;
	heddle_task *quick, *slow;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&quick)));
	assert_ok(heddle_submit(rt, heddle_call(gate_codelet), heddle_value(gate_address), heddle_out(&slow)));
	assert_ok(heddle_task_wait(quick));
	assert_true(heddle_task_done(quick));
	assert_false(heddle_task_done(slow));
	gate = 1;
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_task_done(slow));
	heddle_task_release(quick);
	heddle_task_release(slow);
	assert_ok(heddle_stop(rt));
}

struct call {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	heddle_data *data;
	atomic_int count, status;
};

static void note_and_submit(void *arg, int status)
{
	struct call *call = arg;
	call->count++;
	call->status = status;
	if (call->data)
		call->status += heddle_submit(call->rt, heddle_call(call->codelet), heddle_rw(call->data));
}

static void callback_may_submit_and_is_waited_for(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	long x = 0;
	struct call call = {.rt = rt, .codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment)};
	assert_ok(heddle_variable(rt, &x, sizeof x, &call.data));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(call.codelet), heddle_rw(call.data),
		                        heddle_then(note_and_submit, &call)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(call.count, 20);
	assert_int_equal(call.status, 0);
	assert_ok(heddle_unregister(call.data));
	assert_int_equal(x, 40);
	assert_ok(heddle_stop(rt));
}

struct errand {
	pthread_t program;
	atomic_int go, back;
};

static int wait_to_go(heddle_context *c)
{
	struct errand *e = pointer_value(c);
	wait_for(&e->go, 1);
	give_others_time();
	return 0;
}

/* Were it run by the thread that is to come back, which nobody forbids, it would have nothing to wait for. */
static void wait_until_back(void *arg, int status)
{
	struct errand *e = arg;
	(void)status;
	if (!pthread_equal(pthread_self(), e->program))
		wait_for(&e->back, 1);
}

/* The worker that ends the task goes on to the callback of its successor. */
static void wait_for_one_does_not_wait_for_callbacks_of_others(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "errand", .cpu = wait_to_go);
	struct errand e = {.program = pthread_self()}, *errand = &e;
	long x = 0;
	heddle_data *d;
	heddle_task *t;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d), heddle_value(errand), heddle_out(&t)));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_r(d), heddle_then(wait_until_back, errand)));
	e.go = 1;
	assert_ok(heddle_task_wait(t));
	e.back = 1;
	heddle_task_release(t);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

static void task_without_codelet_only_synchronises(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x[3] = {0, 0, 0};
	heddle_data *d[3];
	struct call call = {.rt = rt};
	heddle_task *joined;
	for (int i = 0; i < 3; i++) {
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d[i])));
	}
	assert_ok(heddle_submit(rt, heddle_r(d[0]), heddle_r(d[1]), heddle_r(d[2]), heddle_then(note_and_submit, &call),
	                        heddle_out(&joined)));
	assert_ok(heddle_task_wait(joined));
	heddle_task_release(joined);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(call.count, 1);
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_unregister(d[i]));
	assert_int_equal(x[0] + x[1] + x[2], 3);
	assert_ok(heddle_stop(rt));
}

static void acquire_shows_the_value_so_far_and_lets_change_it(void **state)
{
	const int *caller_works = *state;
	struct heddle_config config = small_config();
	config.caller_works = *caller_works;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ptr_equal(heddle_data_ptr(d), &x);
	assert_int_equal(x, 10);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	x = 100;
	assert_ok(heddle_release(d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_int_equal(x, 101);
	assert_ok(heddle_release(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void acquire_and_release_out_of_turn_are_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_int_equal(heddle_acquire(d, HEDDLE_REDUX), HEDDLE_E_INVALID);
	assert_int_equal(heddle_acquire(NULL, HEDDLE_R), HEDDLE_E_INVALID);
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void unregister_async_ends_the_handle_after_its_tasks(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	static long x[100];
	for (int i = 0; i < 100; i++) {
		heddle_data *d;
		x[i] = i;
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
		assert_ok(heddle_unregister_async(d));
	}
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < 100; i++)
		assert_int_equal(x[i], i + 1);
	assert_ok(heddle_stop(rt));
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

static void kernel_failure_cancels_its_readers_only(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "factor", .cpu = fail_with);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long bad = 0, good = 0;
	heddle_data *db, *dg;
	heddle_task *failed, *cancelled, *fine;
	struct call call = {.rt = rt};
	int code = 9;
	assert_ok(heddle_variable(rt, &bad, sizeof bad, &db));
	assert_ok(heddle_variable(rt, &good, sizeof good, &dg));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_rw(db), heddle_value(code), heddle_out(&failed)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(db), heddle_out(&cancelled),
	                        heddle_then(note_and_submit, &call)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(dg), heddle_out(&fine)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("factor");
	assert_says("9");
	assert_says("row 42 is bad");
	assert_int_equal(heddle_task_wait(failed), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_task_wait(cancelled), HEDDLE_E_CANCELLED);
	assert_ok(heddle_task_wait(fine));
	assert_int_equal(call.count, 1);
	assert_int_equal(call.status, HEDDLE_E_CANCELLED);
	heddle_task_release(failed);
	heddle_task_release(cancelled);
	heddle_task_release(fine);

	assert_ok(heddle_wait_all(rt)); /* reported once */
	assert_int_equal(heddle_acquire(db, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_ok(heddle_acquire(db, HEDDLE_W)); /* good again */
	bad = 5;
	assert_ok(heddle_release(db));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(db)));
	assert_ok(heddle_unregister(db));
	assert_ok(heddle_unregister(dg));
	assert_int_equal(bad, 6);
	assert_int_equal(good, 1);
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_failed, 1);
	assert_int_equal(stats.tasks_cancelled, 1);
	assert_int_equal(stats.live_tasks, 0);
	assert_ok(heddle_stop(rt));
}

static void failure_reaches_explicit_successors(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	int code = 1;
	heddle_task *a, *b, *c;
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code), heddle_out(&a)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_after(a), heddle_out(&b)));
	assert_int_equal(heddle_task_wait(a), HEDDLE_E_KERNEL);
	/* a has ended */
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_after(a), heddle_after(b), heddle_out(&c)));
	assert_int_equal(heddle_task_wait(b), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_task_wait(c), HEDDLE_E_CANCELLED);
	heddle_task_release(a);
	heddle_task_release(b);
	heddle_task_release(c);
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
}

static void unregistering_what_was_never_computed_says_so(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	long x = 0;
	heddle_data *d;
	int code = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_rw(d), heddle_value(code)));
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
}

/* A policy that gives nothing away until it is allowed to. */
struct stubborn {
	heddle_task *first;
};
static atomic_int stubborn_gives; /* for the policy below, which has no other way to hear of it */

static int stubborn_create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = calloc(1, sizeof(struct stubborn));
	return *state ? 0 : HEDDLE_E_MEMORY;
}

static void stubborn_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct stubborn *s = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = s->first;
		s->first = batch[i];
	}
}

static heddle_task *stubborn_pick(void *state, unsigned worker)
{
	struct stubborn *s = state;
	heddle_task *t = s->first;
	if (!stubborn_gives || !t || !heddle_task_can_run(t, worker))
		return NULL;
	s->first = heddle_task_link(t)->next;
	return t;
}

static void policy_that_refuses_every_worker_is_a_deadlock(void **state)
{
	(void)state;
	static const struct heddle_policy policy = {.abi = HEDDLE_POLICY_ABI,
	                                            .name = "stubborn",
	                                            .summary = "gives nothing away",
	                                            .source = "this test",
	                                            .create = stubborn_create,
	                                            .destroy = free,
	                                            .ready = stubborn_ready,
	                                            .pick = stubborn_pick};
	assert_ok(heddle_policy_register(&policy));
	struct heddle_config config = small_config();
	config.sched = "stubborn";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "forgotten", .cpu = nothing);
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("forgotten");
	stubborn_gives = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* A task too large for the pool's size classes is named as others are, and its memory is not lost. */
static void large_task_that_hangs_is_named(void **state)
{
	(void)state;
	static const char values[5000];
	stubborn_gives = 0;
	struct heddle_config config = small_config();
	config.sched = "stubborn"; /* registered by the test before */
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "voluminous", .cpu = nothing);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(values)));
	assert_int_equal(heddle_stop(rt), HEDDLE_E_DEADLOCK);
	assert_says("voluminous");
}

enum { IN_TURN = 5 };
struct turns {
	int order[IN_TURN], n;
};

static int note_turn(heddle_context *c)
{
	struct turns *t = heddle_get(c, 0, struct turns *);
	t->order[t->n++] = heddle_get(c, 1, int);
	return 0;
}

/* Explicit successors become ready in the order in which they were submitted. */
static void explicit_successors_come_in_turn(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.sched = "eager";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *first = heddle_codelet_new(rt, .name = "first", .cpu = nothing);
	heddle_codelet *turn = heddle_codelet_new(rt, .name = "turn", .cpu = note_turn);
	struct turns turns = {.n = 0}, *to = &turns;
	heddle_data *gate;
	heddle_task *t;
	int x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &gate));
	assert_ok(heddle_acquire(gate, HEDDLE_RW));
	assert_ok(heddle_submit(rt, heddle_call(first), heddle_r(gate), heddle_out(&t)));
	for (int i = 0; i < IN_TURN; i++)
		assert_ok(heddle_submit(rt, heddle_call(turn), heddle_value(to), heddle_value(i), heddle_after(t)));
	assert_ok(heddle_release(gate));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < IN_TURN; i++)
		assert_int_equal(turns.order[i], i);
	heddle_task_release(t);
	assert_ok(heddle_unregister(gate));
	assert_ok(heddle_stop(rt));
}

static void trace_of_a_runtime_that_does_not_trace_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	struct heddle_trace *trace = NULL;
	assert_int_equal(heddle_trace_take(rt, &trace), HEDDLE_E_STATE);
	assert_null(trace);
	assert_ok(heddle_stop(rt));
}

/* --- What sentences say ------------------------------------------------------------------------------------------- */

static void sentences_name_the_task_that_failed(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *fails = heddle_codelet_new(rt, .name = "fails", .cpu = fail_with);
	heddle_codelet *inc = heddle_codelet_new(rt, .name = "inc", .cpu = increment);
	long a = 0, b = 0;
	int code = 7;
	heddle_data *da, *db;
	heddle_task *bad, *through_data, *through_edge;
	assert_ok(heddle_variable(rt, &a, sizeof a, &da));
	assert_ok(heddle_variable(rt, &b, sizeof b, &db));
	assert_ok(heddle_data_set_name(da, "apple"));
	assert_ok(heddle_submit(rt, heddle_call(fails), heddle_rw(da), heddle_value(code), heddle_named("culprit"),
	                        heddle_out(&bad)));
	assert_ok(heddle_submit(rt, heddle_call(inc), heddle_rw(da), heddle_out(&through_data)));
	assert_ok(
	    heddle_submit(rt, heddle_call(inc), heddle_rw(db), heddle_after(through_data), heddle_out(&through_edge)));
	heddle_task *const cancelled[] = {through_data, through_edge};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(heddle_task_wait(cancelled[i]), HEDDLE_E_CANCELLED);
		assert_says("inc (task ");
		assert_says("culprit (fails, task 0) failed: row 42 is bad");
	}
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_submit(rt, heddle_call(inc), heddle_r(da)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_says("culprit (fails, task 0)");
	assert_int_equal(heddle_acquire(da, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_says("apple");
	assert_says("culprit (fails, task 0)");
	assert_int_equal(heddle_unregister(da), HEDDLE_E_CANCELLED);
	assert_says("apple");
	assert_says("culprit (fails, task 0)");
	assert_int_equal(heddle_unregister(db), HEDDLE_E_CANCELLED);
	assert_says("(8 bytes)");
	assert_says("culprit (fails, task 0)");
	heddle_task_release(bad);
	heddle_task_release(through_data);
	heddle_task_release(through_edge);
	assert_ok(heddle_stop(rt));
}

static void a_new_value_has_a_new_failure(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *fails = heddle_codelet_new(rt, .name = "fails", .cpu = fail_with);
	long a = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &a, sizeof a, &d));
	for (int code = 1; code >= 0; code--) {
		assert_ok(
		    heddle_submit(rt, heddle_call(fails), heddle_w(d), heddle_value(code), heddle_named("first")));
		assert_int_equal(heddle_wait_all(rt), code ? HEDDLE_E_KERNEL : 0);
	}
	int code = 1;
	assert_ok(heddle_submit(rt, heddle_call(fails), heddle_rw(d), heddle_value(code), heddle_named("second")));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_says("second (fails, task 2) failed");
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	static int no = 0, yes = 1;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wait_for_one_does_not_wait_for_others),
	    cmocka_unit_test(callback_may_submit_and_is_waited_for),
	    cmocka_unit_test(wait_for_one_does_not_wait_for_callbacks_of_others),
	    cmocka_unit_test(task_without_codelet_only_synchronises),
	    cmocka_unit_test_prestate(acquire_shows_the_value_so_far_and_lets_change_it, &no),
	    cmocka_unit_test_prestate(acquire_shows_the_value_so_far_and_lets_change_it, &yes),
	    cmocka_unit_test(acquire_and_release_out_of_turn_are_refused),
	    cmocka_unit_test(unregister_async_ends_the_handle_after_its_tasks),
	    cmocka_unit_test(kernel_failure_cancels_its_readers_only),
	    cmocka_unit_test(failure_reaches_explicit_successors),
	    cmocka_unit_test(unregistering_what_was_never_computed_says_so),
	    cmocka_unit_test(sentences_name_the_task_that_failed),
	    cmocka_unit_test(a_new_value_has_a_new_failure),
	    cmocka_unit_test(policy_that_refuses_every_worker_is_a_deadlock),
	    cmocka_unit_test(large_task_that_hangs_is_named),
	    cmocka_unit_test(explicit_successors_come_in_turn),
	    cmocka_unit_test(trace_of_a_runtime_that_does_not_trace_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
