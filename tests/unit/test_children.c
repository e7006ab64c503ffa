/* Kernels that wait for tasks that they have submitted: heddle_group_wait inside a kernel. */
#define _GNU_SOURCE
#include <pthread.h>
#include "internals.h"
#include "program.h"

static const char *const policies[] = {"eager", "prio", "lws", "dm"};
enum { N_POLICIES = sizeof policies / sizeof *policies };

static heddle_runtime *start_workers(int n_cpu, int caller_works, const char *policy)
{
	struct heddle_config config = small_config();
	config.n_cpu = cores_up_to(n_cpu);
	config.caller_works = caller_works;
	config.sched = policy;
	return start_with(&config);
}

/* --- Recursion ---------------------------------------------------------------------------------------------------- */

struct fib {
	heddle_codelet *codelet;
	int n;
	long *result;
};

static void submit_fib(heddle_runtime *rt, heddle_group *g, struct fib f)
{
	assert_ok(heddle_submit(rt, heddle_call(f.codelet), heddle_value(f), heddle_in_group(g)));
}

static int fib_kernel(heddle_context *c)
{
	struct fib f = heddle_get(c, 0, struct fib);
	heddle_runtime *rt = heddle_context_runtime(c);
	if (f.n < 2) {
		*f.result = f.n;
		return 0;
	}
	long a = 0, b = 0;
	heddle_group *g;
	if (heddle_group_create(rt, &g))
		return 1;
	submit_fib(rt, g, (struct fib){f.codelet, f.n - 1, &a});
	submit_fib(rt, g, (struct fib){f.codelet, f.n - 2, &b});
	int status = heddle_group_wait(g);
	heddle_group_free(g);
	if (f.n == 7 && !status)
		status = heddle_selfcheck(rt);
	*f.result = a + b;
	return status;
}

static void recursive_tasks_end_on_any_number_of_workers(void **state)
{
	(void)state;
	for (int k = 0; k < 4 * N_POLICIES; k++) {
		heddle_runtime *rt =
		    start_workers(1 + k / (2 * N_POLICIES), k / N_POLICIES % 2, policies[k % N_POLICIES]);
		struct fib f = {.n = 11};
		f.codelet = heddle_codelet_new(rt, .name = "fib", .cpu = fib_kernel);
		long result = 0;
		heddle_task *t;
		f.result = &result;
		assert_ok(heddle_submit(rt, heddle_call(f.codelet), heddle_value(f), heddle_out(&t)));
		assert_ok(heddle_task_wait(t));
		heddle_task_release(t);
		assert_int_equal(result, 89);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
		struct heddle_stats stats;
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_int_equal(stats.live_tasks, 0);
		assert_int_equal(stats.tasks_executed, 287);
		/* the time in which a kernel has waited is not counted twice */
		double most = stats.makespan * (double)heddle_runtime_platform(rt)->n_workers;
		assert_true(stats.busy >= 0 && stats.busy <= 1.001 * most);
		assert_ok(heddle_stop(rt));
	}
}

/* --- Bursts ------------------------------------------------------------------------------------------------------- */

struct parent {
	heddle_runtime *rt;
	heddle_codelet *child;
	heddle_data *data;
	heddle_group *group;
	atomic_int n_ended;
	int waited, after, code;
};

static int count_child(heddle_context *c)
{
	atomic_fetch_add(&heddle_get(c, 0, struct parent *)->n_ended, 1);
	return 0;
}

static int wait_for_children(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group *g;
	if (heddle_group_create(p->rt, &g))
		return 1;
	for (int i = 0; i < 3; i++)
		heddle_submit(p->rt, heddle_call(p->child), heddle_value(p), heddle_in_group(g));
	int status = heddle_group_wait(g);
	heddle_group_free(g);
	return status;
}

/* Tiny tasks are run several at a time; one in the middle waits, again and again. */
static void tasks_of_a_burst_are_not_left_behind(void **state)
{
	(void)state;
	for (int k = 0; k < 2 * N_POLICIES; k++) {
		heddle_runtime *rt = start_workers(1 + k / N_POLICIES, 0, policies[k % N_POLICIES]);
		struct parent parent = {.rt = rt}, *p = &parent;
		p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
		heddle_codelet *waits = heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_children);
		for (int round = 0; round < 5; round++) {
			p->n_ended = 0;
			for (int i = 0; i < 100; i++)
				assert_ok(
				    heddle_submit(rt, heddle_call(i % 10 == 5 ? waits : p->child), heddle_value(p)));
			assert_ok(heddle_wait_all(rt));
			assert_int_equal(p->n_ended, 90 + 30);
		}
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
	}
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static int fail_by_value(heddle_context *c)
{
	return heddle_fail(c, heddle_get(c, 0, int), "the child failed");
}

static int expect_failure(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group_create(p->rt, &p->group);
	heddle_submit(p->rt, heddle_call(p->child), heddle_value((int){7}), heddle_in_group(p->group));
	p->waited = heddle_group_wait(p->group);
	p->code = heddle_last_code();
	p->after = heddle_group_wait(p->group);
	heddle_group_free(p->group);
	return 0;
}

static void the_error_of_a_child_reaches_the_kernel(void **state)
{
	(void)state;
	heddle_runtime *rt = start_workers(1, 0, "eager");
	struct parent parent = {.rt = rt}, *p = &parent;
	p->child = heddle_codelet_new(rt, .name = "fails", .cpu = fail_by_value);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "expects", .cpu = expect_failure);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p)));
	assert_ok(heddle_wait_all(rt)); /* the kernel has dealt with it */
	assert_int_equal(p->waited, HEDDLE_E_KERNEL);
	assert_int_equal(p->code, 7);
	assert_int_equal(p->after, 0);
	assert_ok(heddle_stop(rt));
}

static int wait_for_own_data(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group_create(p->rt, &p->group);
	heddle_submit(p->rt, heddle_call(p->child), heddle_rw(p->data), heddle_value(p), heddle_in_group(p->group));
	p->waited = heddle_group_wait(p->group);
	return 0;
}

static void a_child_that_needs_its_parents_data_is_a_deadlock(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		heddle_runtime *rt = start_workers(1 + k / 2, k % 2, "eager");
		struct parent parent = {.rt = rt}, *p = &parent;
		long x = 0;
		assert_ok(heddle_variable(rt, &x, sizeof x, &p->data));
		p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_own_data);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(p->data), heddle_value(p)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(p->waited, HEDDLE_E_DEADLOCK);
		assert_int_equal(p->n_ended, 1); /* after its parent */
		assert_ok(heddle_unregister(p->data));
		assert_ok(heddle_stop(rt));
	}
}

/* The kernel looks for a deadlock while the thread, whose first wait is over, may still act, and sleeps. When the
 * thread waits again it acts no more, and the kernel must be told. */
static void a_thread_that_waits_again_tells_the_kernel(void **state)
{
	(void)state;
	heddle_runtime *rt = start_workers(1, 0, "eager");
	struct parent parent = {.rt = rt}, *p = &parent;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &p->data));
	p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_own_data);
	for (int i = 0; i < 100; i++) {
		heddle_task *first;
		p->waited = 0;
		assert_ok(heddle_submit(rt, heddle_call(p->child), heddle_value(p), heddle_out(&first)));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(p->data), heddle_value(p)));
		assert_ok(heddle_task_wait(first));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(p->waited, HEDDLE_E_DEADLOCK);
		heddle_task_release(first);
		heddle_group_free(p->group);
	}
	assert_ok(heddle_unregister(p->data));
	assert_ok(heddle_stop(rt));
}

static int wait_for_worker_0(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group_create(p->rt, &p->group);
	heddle_submit(p->rt, heddle_call(p->child), heddle_value(p), heddle_in_group(p->group), heddle_on(0));
	p->n_ended = 1;
	p->waited = heddle_group_wait(p->group);
	return 0;
}

/* Nobody runs the tasks of worker 0 until the program waits, and then that is no deadlock. */
static void children_may_be_for_the_thread_of_the_program(void **state)
{
	(void)state;
	heddle_runtime *rt = start_workers(2, 1, "eager");
	if (heddle_runtime_platform(rt)->n_workers == 2) {
		struct parent parent = {.rt = rt}, *p = &parent;
		p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_worker_0);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_on(1)));
		wait_for(&p->n_ended, 1);
		give_others_time();
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(p->waited, 0);
		assert_int_equal(p->n_ended, 2);
	}
	assert_ok(heddle_stop(rt));
}

static int unregister_data_of_the_parent(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	p->after = heddle_unregister(p->data);
	return 0;
}

/* The child runs on top of its parent, on the same stack, so the parent cannot end before the child. */
static void a_child_cannot_unregister_data_of_its_parent(void **state)
{
	(void)state;
	heddle_runtime *rt = start_workers(1, 0, "eager");
	struct parent parent = {.rt = rt}, *p = &parent;
	long x = 7;
	assert_ok(heddle_variable(rt, &x, sizeof x, &p->data));
	p->child = heddle_codelet_new(rt, .name = "child", .cpu = unregister_data_of_the_parent);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "parent", .cpu = wait_for_worker_0);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(p->data), heddle_value(p)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(p->waited, 0);
	assert_int_equal(p->after, HEDDLE_E_STATE);
	heddle_group_free(p->group);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(p->data)); /* nothing has changed */
	assert_ok(heddle_stop(rt));
}

static int keep_data_of_its_own(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	long x = 1;
	heddle_data *d;
	if (heddle_variable(p->rt, &x, sizeof x, &d))
		return 1;
	for (int i = 0; i < 10; i++)
		heddle_submit(p->rt, heddle_call(p->child), heddle_rw(d));
	p->waited = heddle_unregister(d);
	p->after = (int)x;
	return 0;
}

/* On the emulated accelerator as well: the newest value comes home before the kernel goes on. */
static void kernels_may_unregister_their_own_data(void **state)
{
	(void)state;
	for (int n_emulated = 0; n_emulated < 2; n_emulated++) {
		struct heddle_config config = small_config();
		config.n_cpu = 1;
		config.n_emulated = n_emulated;
		heddle_runtime *rt = start_with(&config);
		struct parent parent = {.rt = rt}, *p = &parent;
		p->child = heddle_codelet_new(rt, .name = "child", .cpu = increment);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "keeps", .cpu = keep_data_of_its_own);
		for (int i = 0; i < 20; i++) {
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_on(0)));
			assert_ok(heddle_wait_all(rt));
			assert_int_equal(p->waited, 0);
			assert_int_equal(p->after, 11);
		}
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
	}
}

static int wait_for_given_group(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	p->waited = heddle_group_wait(p->group);
	return 0;
}

static void wait_in_callback(void *arg, int status)
{
	struct parent *p = arg;
	(void)status;
	p->after = heddle_group_wait(p->group);
}

static void wait_is_refused_where_it_is_forbidden(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	struct parent parent = {.rt = rt}, *p = &parent;
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_group_create(rt, &p->group));
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_given_group, .emulated = wait_for_given_group);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_on(0), heddle_in_group(p->group)));
	assert_ok(heddle_group_wait(p->group));
	assert_int_equal(p->waited, HEDDLE_E_STATE); /* it is in the group */
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_on(1), heddle_then(wait_in_callback, p)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(p->waited, HEDDLE_E_STATE); /* an accelerator */
	assert_int_equal(p->after, HEDDLE_E_STATE);  /* a callback */
	p->child = heddle_codelet_new(rt, .name = "child", .cpu = increment);
	assert_ok(heddle_submit(rt, heddle_call(p->child), heddle_rw(d), heddle_in_group(p->group)));
	assert_ok(heddle_group_wait(p->group));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_on(0), heddle_scratch(d)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(p->waited, 0); /* there is nothing to wait for */
	assert_ok(heddle_unregister(d));
	heddle_group_free(p->group);
	assert_ok(heddle_stop(rt));
}

static int wait_with_private_data(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group_create(p->rt, &p->group);
	heddle_submit(p->rt, heddle_call(p->child), heddle_value(p), heddle_in_group(p->group));
	p->waited = heddle_group_wait(p->group);
	return 0;
}

static void private_data_would_be_shared(void **state)
{
	(void)state;
	heddle_runtime *rt = start_workers(1, 0, "eager");
	struct parent parent = {.rt = rt}, *p = &parent;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &p->data));
	p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = wait_with_private_data);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_scratch(p->data), heddle_value(p)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(p->waited, HEDDLE_E_UNSUPPORTED);
	assert_int_equal(p->n_ended, 1);
	assert_ok(heddle_unregister(p->data));
	assert_ok(heddle_stop(rt));
}

/* --- The stack ---------------------------------------------------------------------------------------------------- */

static int take_stack_and_wait(heddle_context *c)
{
	char much[100000];
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group *g;
	__asm__ volatile("" : : "r"(much) : "memory"); /* the compiler must believe that it is used */
	if (heddle_group_create(p->rt, &g))
		return 1;
	heddle_submit(p->rt, heddle_call(p->child), heddle_value(p), heddle_in_group(g));
	int status = heddle_group_wait(g);
	if (status)
		p->waited = status;
	heddle_group_free(g);
	return 0;
}

static int wait_for_gate(heddle_context *c)
{
	wait_for(&heddle_get(c, 0, struct parent *)->n_ended, 1);
	return 0;
}

static void set_stack(size_t bytes) /* of workers' threads, whatever `ulimit -s` says */
{
	pthread_attr_t attr;
	assert_int_equal(pthread_getattr_default_np(&attr), 0);
	assert_int_equal(pthread_attr_setstacksize(&attr, bytes), 0);
	assert_int_equal(pthread_setattr_default_np(&attr), 0);
	pthread_attr_destroy(&attr);
}

/* All of them are ready before any of their children, and `eager` gives a worker all of them before the children: they
 * are put aside until the kernel that waits has gone on. */
static void kernels_do_not_wait_on_top_of_each_other(void **state)
{
	(void)state;
	enum { N = 1000, STACK = 1 << 23 };
	set_stack(STACK);
	heddle_runtime *rt = start_workers(1, 0, "eager");
	struct parent parent = {.rt = rt}, *p = &parent;
	p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = take_stack_and_wait);
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = wait_for_gate);
	assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(p)));
	for (int i = 0; i < N; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p)));
	p->n_ended = 1;
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(p->waited, 0);
	assert_int_equal(p->n_ended, 1 + N);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* Submits itself, deeper than the stack has room for. */
static int nest_and_wait(heddle_context *c)
{
	char much[100000];
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_group *g;
	__asm__ volatile("" : : "r"(much) : "memory"); /* the compiler must believe that it is used */
	if (atomic_fetch_add(&p->n_ended, 1) == 1000 || heddle_group_create(p->rt, &g))
		return 1;
	heddle_submit(p->rt, heddle_call(p->child), heddle_value(p), heddle_in_group(g));
	int status = heddle_group_wait(g);
	if (status == HEDDLE_E_MEMORY)
		p->waited = status;
	heddle_group_free(g);
	return 0;
}

static void kernels_that_wait_do_not_overflow_the_stack(void **state)
{
	(void)state;
	set_stack(1 << 23);
	heddle_runtime *rt = start_workers(1, 0, "lws");
	struct parent parent = {.rt = rt}, *p = &parent;
	p->child = heddle_codelet_new(rt, .name = "nests", .cpu = nest_and_wait);
	assert_ok(heddle_submit(rt, heddle_call(p->child), heddle_value(p)));
	heddle_wait_all(rt); /* the last one fails */
	assert_int_equal(p->waited, HEDDLE_E_MEMORY);
	assert_ok(heddle_stop(rt));
}

/* How many kernels lie on top of each other on the stack of the thread, and the most there ever were. */
static _Thread_local int n_nested;
static atomic_int most_nested;

static int nested_fib_kernel(heddle_context *c)
{
	int most = most_nested;
	n_nested++;
	while (n_nested > most && !atomic_compare_exchange_weak(&most_nested, &most, n_nested))
		;
	int status = fib_kernel(c);
	n_nested--;
	return status;
}

/* Under every policy, whatever another worker takes away. */
static void kernels_lie_no_deeper_than_the_program_nests_them(void **state)
{
	(void)state;
	enum { N = 13 };
	const struct heddle_policy **all = heddle_policies();
	for (size_t i = 0; all && all[i]; i++) {
		for (int n_cpu = 1; n_cpu < 4; n_cpu++) {
			struct heddle_config config = small_config();
			config.sched = all[i]->name;
			config.caller_works = n_cpu % 2;
			heddle_runtime *rt = start_cpus(config, n_cpu);
			long result = 0;
			struct fib f = {.n = N, .result = &result};
			f.codelet = heddle_codelet_new(rt, .name = "fib", .cpu = nested_fib_kernel);
			most_nested = 0;
			assert_ok(heddle_submit(rt, heddle_call(f.codelet), heddle_value(f)));
			assert_ok(heddle_wait_all(rt));
			assert_int_equal(result, 233);
			assert_in_range(most_nested, 2, N); /* 13, 12 ... 1 */
			assert_ok(heddle_stop(rt));
		}
	}
	free(all);
}

/* The child waits for a task of the program, which no worker runs but the one whose kernel waits. */
static int wait_behind_others(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	wait_for(&p->n_ended, 1);
	heddle_group_create(p->rt, &p->group);
	heddle_submit(p->rt, heddle_call(p->child), heddle_rw(p->data), heddle_value(p), heddle_in_group(p->group));
	p->waited = heddle_group_wait(p->group);
	heddle_group_free(p->group);
	return 0;
}

static void what_a_child_waits_for_is_run_where_nobody_else_can(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		heddle_runtime *rt = start_workers(1, caller_works, "lws");
		struct parent parent = {.rt = rt, .waited = 1}, *p = &parent;
		long x = 0;
		assert_ok(heddle_variable(rt, &x, sizeof x, &p->data));
		p->child = heddle_codelet_new(rt, .name = "child", .cpu = count_child);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "waits", .cpu = wait_behind_others);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p), heddle_priority(1)));
		for (int i = 0; i < 10; i++)
			assert_ok(heddle_submit(rt, heddle_call(p->child), heddle_rw(p->data), heddle_value(p)));
		p->n_ended = 1;
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(p->waited, 0);
		assert_int_equal(p->n_ended, 12);
		assert_ok(heddle_unregister(p->data));
		assert_ok(heddle_stop(rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(recursive_tasks_end_on_any_number_of_workers),
	    cmocka_unit_test(tasks_of_a_burst_are_not_left_behind),
	    cmocka_unit_test(the_error_of_a_child_reaches_the_kernel),
	    cmocka_unit_test(a_child_that_needs_its_parents_data_is_a_deadlock),
	    cmocka_unit_test(a_thread_that_waits_again_tells_the_kernel),
	    cmocka_unit_test(children_may_be_for_the_thread_of_the_program),
	    cmocka_unit_test(a_child_cannot_unregister_data_of_its_parent),
	    cmocka_unit_test(kernels_may_unregister_their_own_data),
	    cmocka_unit_test(wait_is_refused_where_it_is_forbidden),
	    cmocka_unit_test(private_data_would_be_shared),
	    cmocka_unit_test(kernels_do_not_wait_on_top_of_each_other),
	    cmocka_unit_test(kernels_that_wait_do_not_overflow_the_stack),
	    cmocka_unit_test(kernels_lie_no_deeper_than_the_program_nests_them),
	    cmocka_unit_test(what_a_child_waits_for_is_run_where_nobody_else_can),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
