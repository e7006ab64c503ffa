/* External tasks (heddle_outside): when they begin and end, what waits for them, failure, cancellation, virtual time,
 * the checking mode. */
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "internals.h"
#include "program.h"

/* What the function of an external task was given. */
struct begun {
	heddle_event *event;
	atomic_int n;
	long *at; /* the datum in main memory, to which the function adds 1; NULL: none */
	int at_once;
	heddle_runtime *rt; /* not NULL: submits a task that adds 1 to `d` */
	heddle_codelet *codelet;
	heddle_data *d;
};

static void on_begin(heddle_event *event, void *arg)
{
	struct begun *b = arg;
	b->event = event;
	if (b->at)
		++*b->at;
	if (b->rt)
		assert_ok(heddle_submit(b->rt, heddle_call(b->codelet), heddle_rw(b->d)));
	if (b->at_once)
		assert_ok(heddle_fulfill(event, 0));
	b->n++;
}

static heddle_runtime *start_checked(int check)
{
	struct heddle_config config = small_config();
	config.check = check;
	return start_with(&config);
}

static void external_task_has_its_turn_and_keeps_it_until_its_event(void **state)
{
	(void)state;
	for (int check = 0; check < 2; check++) {
		heddle_runtime *rt = start_checked(check);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
		long x = 0;
		struct begun b = {.at = &x};
		heddle_data *d;
		heddle_task *t;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		for (int i = 0; i < 5; i++)
			assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_rw(d), heddle_out(&t)));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		while (!b.n)
			sched_yield();
		assert_int_equal(x, 6); /* the five tasks before it, and its own work */
		assert_ok(heddle_selfcheck(rt));
		assert_false(heddle_task_done(t));
		x = 40;
		assert_ok(heddle_fulfill(b.event, 0));
		assert_true(heddle_task_done(t));
		assert_int_equal(heddle_fulfill(b.event, 0), HEDDLE_E_STATE);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 41);
		struct heddle_stats stats;
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_int_equal(stats.tasks_submitted, 7);
		assert_int_equal(stats.tasks_executed, 7);
		heddle_task_release(t);
		assert_ok(heddle_stop(rt));
	}
}

static void its_data_come_to_main_memory(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .emulated = increment);
	long x = 0;
	struct begun b = {.at = &x, .at_once = 1};
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 10; i++) {
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_commute(d)));
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 20);
	assert_ok(heddle_stop(rt));
}

static void it_may_submit_more_than_the_window_and_end_at_once(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.window = 4;
	heddle_runtime *rt = start_with(&config);
	long x = 0;
	struct begun b = {.at_once = 1, .rt = rt};
	b.codelet = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	assert_ok(heddle_variable(rt, &x, sizeof x, &b.d));
	for (int i = 0; i < 200; i++)
		assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(b.d));
	assert_int_equal(b.n, 200);
	assert_int_equal(x, 200);
	assert_ok(heddle_stop(rt));
}

static void failure_cancels_its_readers_and_is_reported_by_the_wait(void **state)
{
	(void)state;
	heddle_runtime *rt = start_checked(0);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	long x = 0;
	struct begun b = {0}, never = {0};
	heddle_data *d;
	heddle_task *t;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_rw(d), heddle_named("read"), heddle_out(&t)));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &never), heddle_r(d)));
	while (!b.n)
		sched_yield();
	assert_ok(heddle_event_fail(b.event, 5, "the disk is full"));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_non_null(strstr(heddle_last_error(), "read (external task, task 0): the disk is full"));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_int_equal(never.n, 0);
	heddle_task_release(t);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

static void cancelled_before_its_turn_it_never_begins(void **state)
{
	(void)state;
	heddle_runtime *rt = start_checked(0);
	long x = 0;
	struct begun b = {0}, never = {0};
	heddle_data *d;
	heddle_group *g;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_group_create(rt, &g));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &never), heddle_r(d), heddle_in_group(g)));
	while (!b.n)
		sched_yield();
	assert_int_equal(heddle_group_cancel(g), 1);
	assert_ok(heddle_fulfill(b.event, 0));
	assert_int_equal(heddle_group_wait(g), HEDDLE_E_CANCELLED);
	assert_int_equal(never.n, 0);
	heddle_group_free(g);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void what_it_cannot_have_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_checked(0);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	long x = 0;
	struct begun b = {0};
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_int_equal(heddle_submit(rt, heddle_call(add), heddle_outside(on_begin, &b), heddle_rw(d)),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_outside(on_begin, &b)),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_outside(NULL, &b)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_scratch(d)), HEDDLE_E_UNSUPPORTED);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
	assert_int_equal(b.n, 0);
}

static void checking_mode_names_it_when_it_writes_what_it_only_reads(void **state)
{
	(void)state;
	heddle_runtime *rt = start_checked(1);
	long x = 0;
	struct begun b = {.at = &x};
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_r(d), heddle_named("peek")));
	while (!b.n)
		sched_yield();
	assert_ok(heddle_fulfill(b.event, 0));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MISUSE);
	assert_non_null(strstr(heddle_last_error(), "peek (external task, task 0) changed"));
	heddle_unregister(d);
	heddle_stop(rt);
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static heddle_runtime *start_virtual(void)
{
	struct heddle_config config;
	assert_ok(heddle_config_init(&config));
	config.platform = "haswell-k40m";
	config.sched = "eager";
	return start_with(&config);
}

static void it_ends_at_a_virtual_time_and_the_clock_goes_step_by_step(void **state)
{
	(void)state;
	heddle_runtime *rt = start_virtual();
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "c", .cpu = increment, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	long x = 0;
	struct begun b = {0};
	heddle_data *d;
	double at;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_int_equal(heddle_virtual_step(rt, 9, &at), 0);
	assert_true(at == 10);
	assert_int_equal(heddle_virtual_step(rt, 10, &at), 1);
	assert_true(at == 10);
	assert_int_equal(b.n, 1);
	assert_int_equal(heddle_virtual_step(rt, 1e9, &at), 0);
	assert_true(isinf(at));
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(heddle_fulfill_at(b.event, 0, NAN), HEDDLE_E_INVALID);
	assert_ok(heddle_fulfill_at(b.event, 0, 25));
	assert_int_equal(heddle_fulfill_at(b.event, 0, 26), HEDDLE_E_STATE);
	assert_int_equal(heddle_fulfill(b.event, 0), HEDDLE_E_STATE);
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(heddle_virtual_step(rt, 1e9, &at), 1);
	assert_true(at == 25);
	assert_int_equal(heddle_virtual_step(rt, 1e9, &at), 1);
	assert_true(at == 35);
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_now(rt) == 35);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void a_failure_at_a_virtual_time_is_one(void **state)
{
	(void)state;
	heddle_runtime *rt = start_virtual();
	struct begun b = {0};
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b)));
	double at;
	assert_int_equal(heddle_virtual_step(rt, 0, &at), 0);
	assert_ok(heddle_fulfill_at(b.event, 3, 7));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_true(heddle_now(rt) == 7);
	assert_ok(heddle_stop(rt));
}

static void *fulfill_soon(void *arg)
{
	struct begun *b = arg;
	while (!b->n)
		sched_yield();
	assert_ok(heddle_fulfill(b->event, 0));
	return NULL;
}

static void a_wait_in_virtual_time_waits_for_the_thread_that_has_the_event(void **state)
{
	(void)state;
	heddle_runtime *rt = start_virtual();
	struct begun b = {0};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, fulfill_soon, &b), 0);
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(heddle_stop(rt));
}

static void a_child_cannot_name_the_time_of_an_event(void **state)
{
	(void)state;
	heddle_runtime *rt = start_virtual();
	struct begun b = {.rt = NULL};
	double at;
	int ended;
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b)));
	assert_int_equal(heddle_virtual_step(rt, 0, &at), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(heddle_fulfill_at(b.event, 0, 7) != HEDDLE_E_STATE);
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	assert_ok(heddle_fulfill_at(b.event, 0, 7));
	assert_ok(heddle_stop(rt));
}

static void real_time_has_no_virtual_clock(void **state)
{
	(void)state;
	heddle_runtime *rt = start_checked(0);
	struct begun b = {0};
	double at;
	assert_int_equal(heddle_virtual_step(rt, 1, &at), HEDDLE_E_UNSUPPORTED);
	assert_ok(heddle_submit(rt, heddle_outside(on_begin, &b)));
	while (!b.n)
		sched_yield();
	assert_int_equal(heddle_fulfill_at(b.event, 0, 1), HEDDLE_E_UNSUPPORTED);
	assert_ok(heddle_fulfill(b.event, 0));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(external_task_has_its_turn_and_keeps_it_until_its_event),
	    cmocka_unit_test(its_data_come_to_main_memory),
	    cmocka_unit_test(it_may_submit_more_than_the_window_and_end_at_once),
	    cmocka_unit_test(failure_cancels_its_readers_and_is_reported_by_the_wait),
	    cmocka_unit_test(cancelled_before_its_turn_it_never_begins),
	    cmocka_unit_test(what_it_cannot_have_is_refused),
	    cmocka_unit_test(checking_mode_names_it_when_it_writes_what_it_only_reads),
	    cmocka_unit_test(it_ends_at_a_virtual_time_and_the_clock_goes_step_by_step),
	    cmocka_unit_test(a_failure_at_a_virtual_time_is_one),
	    cmocka_unit_test(a_wait_in_virtual_time_waits_for_the_thread_that_has_the_event),
	    cmocka_unit_test(a_child_cannot_name_the_time_of_an_event),
	    cmocka_unit_test(real_time_has_no_virtual_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
