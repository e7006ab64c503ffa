/* Threads that wait for each other, with both engines: what is a deadlock, and what only looks like one. */
#include <pthread.h>
#include <heddle/clusters.h>
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

static void waiting_for_the_acquisition_of_another_thread_is_no_deadlock(void **state)
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

static void waiting_for_ones_own_acquisition_is_a_deadlock(void **state)
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

/* What is in force, what is asked for in vain, and what is read then: a datum, or children of its plan. */
enum { ROOT, FIRST, SECOND, HANDLES };
static const struct in_vain {
	int held, asked, read;
	int planned; /* the datum has a plan */
} in_vain[] = {
    {ROOT, ROOT, ROOT, 0},    {ROOT, ROOT, ROOT, 1},   {ROOT, ROOT, FIRST, 1},   {ROOT, FIRST, ROOT, 1},
    {ROOT, FIRST, SECOND, 1}, {FIRST, ROOT, FIRST, 1}, {FIRST, FIRST, FIRST, 1}, {FIRST, FIRST, ROOT, 1},
};

/* Nobody waits for a write that was given up: those who go along with what is in force begin at once. */
static void data_that_were_given_up_delay_no_task(void **state)
{
	static const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	for (size_t k = 0; k < sizeof in_vain / sizeof *in_vain; k++) {
		const struct in_vain *v = &in_vain[k];
		heddle_runtime *rt = start_where(*state);
		heddle_codelet *ten = given(rt, "ten", ten_us);
		heddle_data *handle[HANDLES] = {NULL};
		struct heddle_stats stats;
		heddle_plan *plan;
		heddle_task *t;
		long x[2] = {0};
		assert_ok(heddle_vector(rt, x, 2, sizeof *x, &handle[ROOT]));
		assert_ok(v->planned ? heddle_plan_create(handle[ROOT], &halves, &plan) : 0);
		for (unsigned i = 0; v->planned && i < 2; i++)
			handle[FIRST + i] = heddle_plan_child(plan, i);
		assert_ok(heddle_acquire(handle[v->held], HEDDLE_R));
		for (int times = 0; times < 3; times++) {
			assert_int_equal(heddle_acquire(handle[v->asked], HEDDLE_RW), HEDDLE_E_DEADLOCK);
			assert_ok(heddle_selfcheck(rt));
			assert_ok(heddle_runtime_stats(rt, &stats));
			assert_int_equal(stats.live_tasks, 1);
			assert_ok(heddle_submit(rt, heddle_call(ten), heddle_r(handle[v->read]), heddle_out(&t)));
			assert_ok(heddle_task_wait(t));
			assert_ok(heddle_wait_all(rt));
			heddle_task_release(t);
		}
		assert_ok(heddle_release(handle[v->held]));
		assert_ok(heddle_submit(rt, heddle_call(ten), heddle_rw(handle[v->asked])));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
	}
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

/* --- What came true meanwhile ------------------------------------------------------------------------------------- */

/* A kernel of worker 0, which has two cores, waits for a task of the other worker, which is not driven. */
static struct {
	heddle_codelet *one, *add;
	heddle_task *task;
	int n_calls, ended;
	long value;
} late;

static const char two_workers[] = "version: 1\n"
                                  "name: two\n"
                                  "nodes: [{name: ram}]\n"
                                  "classes: [{name: cpu, kind: cpu}, {name: cpu*2, kind: cpu, cores: 2}]\n"
                                  "workers:\n"
                                  "- {name: pair, class: cpu*2, node: ram, core: 0}\n"
                                  "- {name: single, retired: 1, class: cpu, node: ram, core: 2}\n";

/* The third call comes when the kernel has been told of the deadlock and is about to go on. */
static void drive_both(const struct heddle_cluster *cluster, void *rt)
{
	const unsigned both[] = {0, 1};
	struct heddle_stats stats;
	(void)cluster;
	if (++late.n_calls != 3 || heddle_workers_drive(rt, both, 2))
		return;
	while (!heddle_task_done(late.task))
		sched_yield();
	heddle_runtime_stats(rt, &stats); /* when this returns, what follows the task has been done */
}

static int unregister_own(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d;
	int status = heddle_variable(rt, &late.value, sizeof late.value, &d);
	if (!status) /* in the same thread, as long as the kernel waits; then this one is set up anew */
		status = heddle_submit(rt, heddle_call(late.one), heddle_on(0));
	if (!status)
		status = heddle_submit(rt, heddle_call(late.add), heddle_rw(d), heddle_on(1), heddle_out(&late.task));
	if (!status)
		late.ended = heddle_unregister(d);
	return status;
}

/* Nothing moves, but before the wait has returned the program lets the task run after all. */
static void a_wait_that_has_come_true_is_no_deadlock(void **state)
{
	(void)state;
	const struct heddle_config config = small_config();
	struct heddle_platform *platform;
	heddle_runtime *rt;
	memset(&late, 0, sizeof late);
	assert_ok(heddle_platform_parse("two", two_workers, strlen(two_workers), &platform));
	assert_ok(heddle_start_on(&config, platform, 0, &rt));
	heddle_platform_free(platform);
	assert_ok(heddle_set_prologue(rt, drive_both, rt));
	late.one = heddle_codelet_new(rt, .name = "one", .cpu = nothing);
	late.add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "outer", .cpu = unregister_own, .parallel = HEDDLE_FORK_JOIN);
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_true(late.n_calls >= 3); /* and once more, since others are driven */
	assert_int_equal(late.ended, 0);
	assert_int_equal(late.value, 1);
	heddle_task_release(late.task);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(waiting_for_the_acquisition_of_another_thread_is_no_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_the_acquisition_of_another_thread_is_no_deadlock, simulated),
	    cmocka_unit_test_prestate(waiting_for_what_a_callback_will_do_is_no_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_what_a_callback_will_do_is_no_deadlock, simulated),
	    cmocka_unit_test_prestate(waiting_for_ones_own_acquisition_is_a_deadlock, NULL),
	    cmocka_unit_test_prestate(waiting_for_ones_own_acquisition_is_a_deadlock, simulated),
	    cmocka_unit_test_prestate(data_that_were_given_up_delay_no_task, NULL),
	    cmocka_unit_test_prestate(data_that_were_given_up_delay_no_task, simulated),
	    cmocka_unit_test_prestate(two_threads_that_wait_for_each_other_are_a_deadlock, NULL),
	    cmocka_unit_test_prestate(two_threads_that_wait_for_each_other_are_a_deadlock, simulated),
	    cmocka_unit_test(a_wait_that_has_come_true_is_no_deadlock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
