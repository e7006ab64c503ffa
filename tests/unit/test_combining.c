/* How workers get the core's attention: those that end their tasks while it is busy post what they want, and the first
 * of them that gets in serves all. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "internals.h"
#include "program.h"
#include "probe.h"

enum { WORKERS = 70 }; /* the posts of more than 64 workers take two words */

static atomic_int n_running, gate;
static pthread_t server[WORKERS]; /* the threads that gave tasks back; written under the core lock */
static int n_given_back;

static int wait_for_gate(heddle_context *c)
{
	(void)c;
	n_running++;
	while (!gate)
		sched_yield();
	return 0;
}

static void note_server(heddle_task *t, unsigned worker)
{
	(void)t;
	(void)worker;
	server[n_given_back++] = pthread_self();
}

static int n_posts(const heddle_runtime *rt)
{
	int n = 0;
	for (size_t i = 0; i < rt->n_posts; i++)
		n += __builtin_popcountll(atomic_load(&rt->posts[i]));
	return n;
}

/* A machine with more workers than cores. */
static heddle_runtime *start_many(int n)
{
	char yaml[400];
	snprintf(yaml, sizeof yaml,
	         "version: 1\nname: many\nnodes:\n  - {name: ram}\nclasses:\n  - {name: cpu, kind: cpu}\nworkers:\n"
	         "  - {name: cpu, class: cpu, node: ram, count: %d}\n",
	         n);
	struct heddle_platform *platform;
	heddle_runtime *rt;
	struct heddle_config config = small_config();
	config.sched = "probe";
	assert_ok(heddle_platform_parse("test", yaml, strlen(yaml), &platform));
	assert_ok(heddle_start_on(&config, platform, 0, &rt));
	heddle_platform_free(platform);
	return rt;
}

/* All workers end their tasks while the test is in the core. */
static void one_worker_serves_all_that_have_posted(void **state)
{
	(void)state;
	enum { N = 20 };
	n_running = gate = n_given_back = 0;
	probe_set((struct probe){.on_done = note_server});
	heddle_runtime *rt = start_many(N);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "gate", .cpu = wait_for_gate);
	for (int i = 0; i < N; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	while (n_running < N)
		sched_yield();
	hd_core_enter(rt);
	gate = 1;
	while (n_posts(rt) < N)
		sched_yield();
	hd_core_leave(rt);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_given_back, N);
	for (int i = 1; i < N; i++)
		assert_true(pthread_equal(server[i], server[0]));
	assert_ok(heddle_stop(rt));
}

/* Many more than one thread serves in turn, and than fit into a word: all get in all the same. */
static void every_post_is_served(void **state)
{
	(void)state;
	probe_set((struct probe){.on_done = note_server});
	heddle_runtime *rt = start_many(WORKERS);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "gate", .cpu = wait_for_gate);
	for (int round = 0; round < 5; round++) {
		n_running = gate = n_given_back = 0;
		for (int i = 0; i < WORKERS; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet)));
		while (n_running < WORKERS)
			sched_yield();
		hd_core_enter(rt);
		gate = 1;
		while (n_posts(rt) < WORKERS)
			sched_yield();
		hd_core_leave(rt);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(n_given_back, WORKERS);
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_stop(rt));
}

static int open_gate(heddle_context *c)
{
	(void)c;
	gate = 1;
	return 0;
}

static void callback_waits_for_gate(void *arg, int status)
{
	(void)status;
	atomic_int *begun = arg;
	*begun = 1;
	while (!gate)
		sched_yield();
}

/* The callback ends when another task has run, which only the other worker can do. */
static void worker_that_runs_a_callback_is_given_no_tasks(void **state)
{
	(void)state;
	probe_set((struct probe){0});
	heddle_runtime *rt = start_many(2);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "open", .cpu = open_gate);
	heddle_codelet *brief = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	for (int i = 0; i < 20; i++) {
		atomic_int begun = 0;
		gate = 0;
		assert_ok(heddle_submit(rt, heddle_call(brief), heddle_then(callback_waits_for_gate, &begun)));
		while (!begun)
			sched_yield();
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

static void callback_waits_for_flag(void *arg, int status)
{
	(void)status;
	const atomic_int *flag = arg;
	while (!*flag)
		sched_yield();
}

static int set_flag(heddle_context *c)
{
	*(atomic_int *)pointer_value(c) = 1;
	return 0;
}

/* When the first task ends, its worker is given the second one, and then runs a callback that waits for it. The other
 * worker sleeps. */
static void task_given_before_a_callback_runs_elsewhere(void **state)
{
	(void)state;
	probe_set((struct probe){0});
	heddle_runtime *rt = start_many(2);
	heddle_codelet *waits = heddle_codelet_new(rt, .name = "gate", .cpu = wait_for_gate);
	heddle_codelet *sets = heddle_codelet_new(rt, .name = "set", .cpu = set_flag);
	atomic_int flag, *address = &flag;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(int), &d));
	for (int i = 0; i < 10; i++) {
		gate = n_running = flag = 0;
		assert_ok(
		    heddle_submit(rt, heddle_call(waits), heddle_w(d), heddle_then(callback_waits_for_flag, &flag)));
		assert_ok(heddle_submit(rt, heddle_call(sets), heddle_r(d), heddle_value(address)));
		for (unsigned asleep = 0; asleep != 1 || !n_running; sched_yield()) {
			hd_core_enter(rt);
			asleep = rt->count.asleep;
			hd_core_leave(rt);
		}
		gate = 1;
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

static void worker_that_posts_while_the_core_is_busy_is_told(void **state)
{
	(void)state;
	probe_set((struct probe){0});
	heddle_runtime *rt = start_many(1);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "gate", .cpu = wait_for_gate);
	n_running = gate = 0;
	heddle_task *task;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&task)));
	while (!n_running)
		sched_yield();
	hd_core_enter(rt);
	gate = 1;
	while (n_posts(rt) < 1)
		sched_yield();
	hd_core_leave(rt);
	while (!heddle_task_done(task)) /* nothing else enters the core */
		sched_yield();
	heddle_task_release(task);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_worker_serves_all_that_have_posted),
	    cmocka_unit_test(every_post_is_served),
	    cmocka_unit_test(worker_that_runs_a_callback_is_given_no_tasks),
	    cmocka_unit_test(task_given_before_a_callback_runs_elsewhere),
	    cmocka_unit_test(worker_that_posts_while_the_core_is_busy_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
