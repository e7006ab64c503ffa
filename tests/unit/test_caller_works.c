/* A thread that waits and drives worker 0 meanwhile: what it runs, and what it leaves to others when it goes. */
#define _GNU_SOURCE
#include <pthread.h>
#include "internals.h"
#include "program.h"

static heddle_runtime *start_working(int n_cpu, const char *policy)
{
	struct heddle_config config = small_config();
	config.caller_works = 1;
	config.sched = policy;
	return start_cpus(config, n_cpu);
}

/* --- Kernels that submit ------------------------------------------------------------------------------------------ */

struct generation {
	heddle_codelet *codelet;
	atomic_int left, status;
};

static int beget(heddle_context *c)
{
	struct generation *g = pointer_value(c);
	if (--g->left > 0)
		g->status += heddle_submit(heddle_context_runtime(c), heddle_call(g->codelet), heddle_value(g));
	return 0;
}

/* Nothing else is unfinished when the kernel of one has submitted the next, which nobody has counted yet. */
static void tasks_of_kernels_on_the_caller_are_waited_for(void **state)
{
	for (int n_cpu = 1; n_cpu <= 2; n_cpu++) {
		heddle_runtime *rt = start_working(n_cpu, *state);
		struct generation g = {.codelet = heddle_codelet_new(rt, .name = "beget", .cpu = beget)}, *first = &g;
		for (int i = 0; i < 100; i++) {
			g.left = 10;
			assert_ok(heddle_submit(rt, heddle_call(g.codelet), heddle_value(first)));
			assert_ok(heddle_wait_all(rt));
			assert_int_equal(g.left, 0);
		}
		g.left = 10;
		assert_ok(heddle_submit(rt, heddle_call(g.codelet), heddle_value(first)));
		assert_ok(heddle_stop(rt));
		assert_int_equal(g.left, 0);
		assert_int_equal(g.status, 0);
	}
}

/* --- What the caller takes ---------------------------------------------------------------------------------------- */

static int note_thread(heddle_context *c)
{
	*(pthread_t *)pointer_value(c) = pthread_self();
	return 0;
}

static void pretend(struct hd_worker *w, enum hd_worker_state state)
{
	hd_core_enter(w->rt);
	hd_worker_enter(w, state);
	hd_gate_open(w->rt, 0);
	hd_core_leave(w->rt);
}

/* Another worker is hungry, too, and would take the task at once; its thread sleeps in truth. */
static void caller_takes_what_it_has_just_submitted(void **state)
{
	heddle_runtime *rt = start_working(2, *state);
	struct hd_worker *other = &rt->workers[1];
	heddle_codelet *note = heddle_codelet_new(rt, .name = "note", .cpu = note_thread);
	pthread_t ran, *where = &ran;
	assert_ok(heddle_submit(rt, heddle_call(note), heddle_value(where)));
	assert_ok(heddle_wait_all(rt));
	while (atomic_load(&other->wake.state) != 2) /* 2: its thread sleeps */
		sched_yield();
	pretend(other, HD_SPINNING);
	assert_ok(heddle_submit(rt, heddle_call(note), heddle_value(where)));
	assert_ok(heddle_wait_all(rt));
	assert_true(pthread_equal(ran, pthread_self()));
	pretend(other, HD_SLEEPING);
	assert_ok(heddle_stop(rt));
}

/* --- What the caller leaves --------------------------------------------------------------------------------------- */

static int be_slow(heddle_context *c)
{
	(void)c;
	give_others_time(); /* so that the other worker has nothing to do and waits for more */
	return 0;
}

/* The program waits for a task on `worker` alone; its successors run all the same, without another call. */
static void successors_run_without_the_caller(unsigned worker, const char *policy)
{
	enum { SUCCESSORS = 4 };
	heddle_runtime *rt = start_working(2, policy);
	heddle_codelet *first = heddle_codelet_new(rt, .name = "first", .cpu = be_slow);
	heddle_codelet *next = heddle_codelet_new(rt, .name = "next", .cpu = count_up);
	atomic_int n = 0, *counted = &n;
	heddle_data *d;
	heddle_task *t;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(first), heddle_w(d), heddle_on(worker), heddle_out(&t)));
	for (int i = 0; i < SUCCESSORS; i++)
		assert_ok(heddle_submit(rt, heddle_call(next), heddle_r(d), heddle_value(counted)));
	assert_ok(heddle_task_wait(t));
	wait_for(&n, SUCCESSORS);
	heddle_task_release(t);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n, SUCCESSORS);
	assert_ok(heddle_stop(rt));
}

static void what_the_callers_last_task_released_runs_without_it(void **state)
{
	successors_run_without_the_caller(0, *state);
}

static void nothing_stays_on_worker_0_when_the_caller_goes(void **state)
{
	successors_run_without_the_caller(1, *state);
}

static int wait_for_flag(heddle_context *c)
{
	const atomic_int *flag = pointer_value(c);
	while (!*flag)
		sched_yield();
	return 0;
}

/* The next task cannot end before the wait for the first has returned. */
static void wait_for_one_task_runs_no_other_after_it(void **state)
{
	heddle_runtime *rt = start_working(1, *state);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "wait for flag", .cpu = wait_for_flag);
	for (int i = 0; i < 10; i++) {
		atomic_int open = 1, later = 0, *flags[] = {&open, &later};
		heddle_task *first;
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(flags[0]), heddle_out(&first)));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(flags[1])));
		assert_ok(heddle_task_wait(first));
		later = 1;
		heddle_task_release(first);
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

/* --- Who takes over ----------------------------------------------------------------------------------------------- */

static int never(heddle_runtime *rt, void *arg)
{
	(void)rt;
	(void)arg;
	return 0;
}

/* A thread that waits while another one runs the tasks of worker 0 looks for a deadlock, which runs callbacks. If the
 * other one goes meanwhile, this thread must take over, and not report a deadlock because nothing moves. */
static void tasks_that_nobody_runs_are_no_deadlock(void **state)
{
	(void)state;
	heddle_runtime *rt = start_working(1, "heft");
	heddle_codelet *note = heddle_codelet_new(rt, .name = "note", .cpu = note_thread);
	pthread_t ran, *where = &ran;
	assert_ok(heddle_submit(rt, heddle_call(note), heddle_value(where)));
	struct hd_wakeup event = {0};
	struct hd_waiter waiter = {.done = never, .event = &event};
	hd_core_enter(rt);
	int stuck = hd_core_stuck(rt, &waiter);
	hd_core_leave(rt);
	assert_false(stuck);
	assert_ok(heddle_stop(rt));
	assert_true(pthread_equal(ran, pthread_self()));
}

/* --- Cores -------------------------------------------------------------------------------------------------------- */

/* The first runtime has bound this thread, which is all of the process, to its only core. */
static void second_runtime_has_all_cores_of_the_process(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.caller_works = config.bind = config.n_cpu = 1;
	heddle_runtime *first = start_with(&config);
	config.n_cpu = cores_up_to(2);
	heddle_runtime *second = start_with(&config);
	assert_ok(heddle_stop(second));
	assert_ok(heddle_stop(first));
	assert_ok(heddle_stop(start_with(&config)));
}

struct stopper {
	heddle_runtime *rt;
	int stopped, keeps_its_own; /* the binding of the thread that stops */
};

static void *stop_runtime(void *arg)
{
	struct stopper *s = arg;
	cpu_set_t one, mine;
	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	s->stopped = heddle_stop(s->rt);
	s->keeps_its_own = !sched_getaffinity(0, sizeof mine, &mine) && CPU_EQUAL(&mine, &one);
	return NULL;
}

/* The thread that has started it may run everywhere again. */
static void another_thread_stops_the_runtime(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.caller_works = config.bind = 1;
	cpu_set_t before, after;
	pthread_t other;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	for (int i = 0; i < 2; i++) { /* the next start finds all cores, too */
		struct stopper s = {.rt = start_with(&config)};
		assert_int_equal(pthread_create(&other, NULL, stop_runtime, &s), 0);
		assert_int_equal(pthread_join(other, NULL), 0);
		assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
		assert_true(CPU_EQUAL(&after, &before));
		assert_int_equal(s.stopped, 0);
		assert_true(s.keeps_its_own);
	}
}

struct bound {
	cpu_set_t set, in, after;
	int n_cpu;
};

/* Starts and stops a runtime in a thread that is bound to the last core it may use. */
static void *start_where_it_is_bound(void *arg)
{
	struct bound *b = arg;
	struct heddle_config config = small_config();
	config.caller_works = config.bind = 1;
	config.n_cpu = b->n_cpu;
	sched_setaffinity(0, sizeof b->set, &b->set);
	heddle_runtime *rt = start_with(&config);
	sched_getaffinity(0, sizeof b->in, &b->in);
	assert_ok(heddle_stop(rt));
	sched_getaffinity(0, sizeof b->after, &b->after);
	return NULL;
}

/* Not the starter's only: other threads of the program may run elsewhere. */
static void a_thread_that_has_bound_itself_stays_where_it_is(void **state)
{
	(void)state;
	struct bound b = {.n_cpu = cores_up_to(2)};
	cpu_set_t all;
	pthread_t thread;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&b.set);
	for (unsigned i = CPU_SETSIZE; i-- > 0 && !CPU_COUNT(&b.set);)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &b.set);
	assert_int_equal(pthread_create(&thread, NULL, start_where_it_is_bound, &b), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(CPU_EQUAL(&b.in, &b.set));
	assert_true(CPU_EQUAL(&b.after, &b.set));
}

int main(void)
{
	static char eager[] = "eager", lws[] = "lws";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(tasks_of_kernels_on_the_caller_are_waited_for, eager),
	    cmocka_unit_test_prestate(tasks_of_kernels_on_the_caller_are_waited_for, lws),
	    cmocka_unit_test_prestate(caller_takes_what_it_has_just_submitted, eager),
	    cmocka_unit_test_prestate(caller_takes_what_it_has_just_submitted, lws),
	    cmocka_unit_test_prestate(what_the_callers_last_task_released_runs_without_it, eager),
	    cmocka_unit_test_prestate(what_the_callers_last_task_released_runs_without_it, lws),
	    cmocka_unit_test_prestate(nothing_stays_on_worker_0_when_the_caller_goes, eager),
	    cmocka_unit_test_prestate(nothing_stays_on_worker_0_when_the_caller_goes, lws),
	    cmocka_unit_test_prestate(wait_for_one_task_runs_no_other_after_it, eager),
	    cmocka_unit_test(tasks_that_nobody_runs_are_no_deadlock),
	    cmocka_unit_test(second_runtime_has_all_cores_of_the_process),
	    cmocka_unit_test(another_thread_stops_the_runtime),
	    cmocka_unit_test(a_thread_that_has_bound_itself_stays_where_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
