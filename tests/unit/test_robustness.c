/* What must hold when several threads wait, when a picked task cannot have its data, when something hangs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "list_policy.h"
#include "program.h"

/* --- Several threads that wait, with both engines ----------------------------------------------------------------- */

static double thousand_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1000;
}

static double hundred_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 100;
}

static heddle_runtime *start_virtual(int trace)
{
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	config.trace = trace;
	return start_with(&config);
}

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

/* --- Reductions in virtual time ----------------------------------------------------------------------------------- */

static heddle_runtime *reduced(int n_contributions, heddle_data **sum)
{
	heddle_runtime *rt = start_virtual(1);
	heddle_codelet *ten = given(rt, "ten", ten_us);
	assert_ok(heddle_variable(rt, NULL, 8, sum));
	assert_ok(heddle_data_set_reduction(*sum, given(rt, "init", hundred_us), given(rt, "combine", thousand_us)));
	for (int i = 0; i < n_contributions; i++)
		assert_ok(heddle_submit(rt, heddle_call(ten), heddle_redux(*sum), heddle_on((unsigned)i)));
	assert_ok(heddle_submit(rt, heddle_call(ten), heddle_r(*sum), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	return rt;
}

static void init_kernels_take_their_time(void **state)
{
	(void)state;
	heddle_data *sum;
	heddle_runtime *rt = reduced(1, &sum);
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.busy == 100 + 10 + 1000 + 10);
	assert_ok(heddle_stop(rt));
}

static int has_edge(const struct heddle_trace *trace, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].from == from && trace->edges[i].to == to)
			return 1;
	return 0;
}

static double time_by_name(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)class_id;
	(void)arg;
	return strcmp(trace->codelets[trace->tasks[task].codelet].name, "combine") == 0 ? 1000 : 10;
}

/* Contributions 0 and 1; REDUCE is number 2, the reader 3, the steps 4 and 5. */
static void steps_of_a_reduction_have_edges(void **state)
{
	(void)state;
	heddle_data *sum;
	heddle_runtime *rt = reduced(2, &sum);
	struct heddle_trace *trace;
	struct heddle_bounds bounds;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 5);
	assert_true(has_edge(trace, 0, 4) && has_edge(trace, 1, 4) && has_edge(trace, 4, 5) && has_edge(trace, 5, 3));
	assert_int_equal(trace->n_edges, 4);
	assert_ok(heddle_trace_bounds(trace, time_by_name, NULL, 0, &bounds));
	assert_true(bounds.critical_path == 10 + 1000 + 1000 + 10);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* --- Picked tasks that end without having begun ------------------------------------------------------------------- */

static int cannot_unpack(void **object, const void *buffer, size_t size)
{
	(void)object;
	(void)buffer;
	(void)size;
	return -1;
}
static void destroy_nothing(void *object)
{
	(void)object;
}
static const struct heddle_type stubborn = {"stubborn", one_byte, pack_nothing, cannot_unpack, destroy_nothing};

static atomic_int n_done;

static void count_done(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	(void)task;
	(void)worker;
	n_done++;
}
static const struct heddle_policy counting = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "counting",
                                              .summary = "counts",
                                              .source = "this test",
                                              .create = list_create,
                                              .destroy = list_destroy,
                                              .ready = list_ready,
                                              .pick = list_pick,
                                              .done = count_done};

static void every_picked_task_is_reported_done(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&counting));
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.sched = "counting";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	heddle_data *d;
	int object = 0;
	assert_ok(heddle_object(rt, &object, &stubborn, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_on(2)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_on(0)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("type stubborn: packing or unpacking failed");
	assert_int_equal(n_picked, 2);
	assert_int_equal(n_done, 2);
	assert_ok(heddle_stop(rt));
}

/* --- Others ------------------------------------------------------------------------------------------------------- */

static void there_may_be_very_many_implementations(void **state)
{
	(void)state;
	enum { MANY = 1000 };
	heddle_runtime *rt = start();
	struct heddle_implementation all[MANY];
	for (int i = 0; i < MANY; i++)
		all[i] = (struct heddle_implementation){"cpu", NULL, nothing};
	all[MANY - 1].kernel = increment;
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "many", .implementations = all, .n_implementations = MANY);
	assert_non_null(codelet);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < MANY; i++) /* the least measured first, so each once */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1);
	assert_ok(heddle_stop(rt));
}

static heddle_runtime *dumped;
static FILE *dump_file;

static void dump_inside(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	heddle_dump(dumped, dump_file);
	list_ready(state, batch, n, releaser);
}
static const struct heddle_policy dumping = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "dumping",
                                             .summary = "dumps",
                                             .source = "this test",
                                             .create = list_create,
                                             .destroy = list_destroy,
                                             .ready = dump_inside,
                                             .pick = list_pick};

static void dump_takes_the_lock_unless_its_holder_calls(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size;
	dump_file = open_memstream(&text, &size);
	assert_non_null(dump_file);
	assert_ok(heddle_policy_register(&dumping));
	struct heddle_config config = small_config();
	config.sched = "dumping";
	dumped = start_with(&config);
	heddle_dump(dumped, dump_file);
	fflush(dump_file);
	assert_non_null(strstr(text, "in flight"));
	assert_null(strstr(text, "lock is held"));
	assert_ok(heddle_submit(dumped, heddle_call(heddle_codelet_new(dumped, .name = "nothing", .cpu = nothing))));
	assert_ok(heddle_wait_all(dumped));
	fflush(dump_file);
	assert_non_null(strstr(text, "lock is held"));
	assert_ok(heddle_stop(dumped));
	fclose(dump_file);
	free(text);
}

/* The dump as text, which the caller frees. */
static char *dump_of(heddle_runtime *rt)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	heddle_dump(rt, out);
	fclose(out);
	return text;
}

static void dump_does_not_look_at_tasks_that_were_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "refused", .cpu = nothing);
	heddle_data *d[2];
	long x[2] = {0, 0};
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	for (int i = 0; i < 200; i++) /* tasks that have ended still say what they accessed */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d[0]), heddle_rw(d[1])));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_r(NULL), heddle_rw(d[1])), HEDDLE_E_INVALID);
	assert_ok(heddle_unregister(d[0]));
	assert_ok(heddle_unregister(d[1]));
	char *text = dump_of(rt);
	assert_non_null(strstr(text, "in flight"));
	assert_null(strstr(text, "refused"));
	free(text);
	assert_ok(heddle_stop(rt));
}

static void stay_in_callback(void *arg, int status)
{
	struct other *o = arg;
	o->status = status;
	o->stage = 1;
	wait_for(&o->stage, 2);
}

static void dump_does_not_look_at_the_data_of_a_task_whose_callback_runs(void **state)
{
	(void)state;
	struct other o = {.rt = start()};
	heddle_codelet *codelet = heddle_codelet_new(o.rt, .name = "talkative", .cpu = nothing);
	assert_ok(heddle_variable(o.rt, NULL, 8, &o.data));
	assert_ok(heddle_submit(o.rt, heddle_call(codelet), heddle_w(o.data), heddle_then(stay_in_callback, &o)));
	wait_for(&o.stage, 1);
	assert_ok(heddle_unregister(o.data));
	char *text = dump_of(o.rt);
	assert_non_null(strstr(text, "talkative (task 0)"));
	assert_non_null(strstr(text, "has ended, its callback runs"));
	assert_null(strstr(text, "datum"));
	free(text);
	o.stage = 2;
	assert_ok(heddle_wait_all(o.rt));
	assert_ok(o.status);
	assert_ok(heddle_stop(o.rt));
}

/* --- Release ------------------------------------------------------------------------------------------------------ */

static void unregister_in_callback(void *arg, int status)
{
	struct other *o = arg;
	o->status = status ? status : heddle_unregister_async(o->data);
}

/* The thread that releases the datum runs the callback itself, and the handle is gone when it comes back. */
static void callback_run_by_release_may_end_the_handle(void **state)
{
	struct other o = {.rt = start_where(*state)};
	heddle_data *other;
	long x = 0;
	assert_ok(heddle_variable(o.rt, &x, sizeof x, &other));
	for (int i = 0; i < 20; i++) {
		assert_ok(heddle_variable(o.rt, &o.value, sizeof o.value, &o.data));
		assert_ok(heddle_acquire(o.data, HEDDLE_RW));
		assert_ok(heddle_submit(o.rt, heddle_r(o.data), heddle_then(unregister_in_callback, &o)));
		assert_ok(heddle_acquire(other, HEDDLE_R)); /* the task is in the graph now, not on its way */
		assert_ok(heddle_release(other));
		assert_ok(heddle_release(o.data));
		assert_ok(heddle_wait_all(o.rt));
		assert_ok(o.status);
	}
	assert_ok(heddle_stop(o.rt));
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
	    cmocka_unit_test(init_kernels_take_their_time),
	    cmocka_unit_test(steps_of_a_reduction_have_edges),
	    cmocka_unit_test(every_picked_task_is_reported_done),
	    cmocka_unit_test(there_may_be_very_many_implementations),
	    cmocka_unit_test(dump_takes_the_lock_unless_its_holder_calls),
	    cmocka_unit_test(dump_does_not_look_at_tasks_that_were_refused),
	    cmocka_unit_test(dump_does_not_look_at_the_data_of_a_task_whose_callback_runs),
	    cmocka_unit_test_prestate(callback_run_by_release_may_end_the_handle, NULL),
	    cmocka_unit_test_prestate(callback_run_by_release_may_end_the_handle, simulated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
