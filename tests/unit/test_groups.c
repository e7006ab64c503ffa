/* Groups of tasks: who waits for a group gets the error of its tasks, and of no others. */
#include <pthread.h>
#include <heddle/dense.h>
#include "internals.h"
#include "program.h"

static int fail_by_value(heddle_context *c)
{
	int code = heddle_get(c, 0, int);
	return code ? heddle_fail(c, code, "this is failure %d", code) : 0;
}

static heddle_codelet *failing(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "fail_by_value", .cpu = fail_by_value);
}

static heddle_group *group(heddle_runtime *rt)
{
	heddle_group *g;
	assert_ok(heddle_group_create(rt, &g));
	return g;
}

static void submit_to(heddle_runtime *rt, heddle_codelet *c, heddle_group *g, int code)
{
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(code), heddle_in_group(g)));
}

static void each_group_has_its_own_error(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = failing(rt);
	heddle_group *well = group(rt), *ill = group(rt);
	for (int i = 0; i < 20; i++) {
		submit_to(rt, c, well, 0);
		submit_to(rt, c, ill, i == 7 ? 7 : 0);
	}
	assert_ok(heddle_group_wait(well));
	assert_int_equal(heddle_group_wait(ill), HEDDLE_E_KERNEL);
	assert_says("this is failure 7");
	assert_ok(heddle_group_wait(ill)); /* it has been reported */
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	heddle_group_free(well);
	heddle_group_free(ill);
	assert_ok(heddle_stop(rt));
}

static void error_of_a_group_is_not_reported_by_other_waits(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = failing(rt);
	heddle_group *g = group(rt);
	submit_to(rt, c, g, 3);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value((int){4})));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("this is failure 4");
	assert_int_equal(heddle_group_wait(g), HEDDLE_E_KERNEL);
	assert_says("this is failure 3");
	heddle_group_free(g);
	assert_ok(heddle_stop(rt));
}

static void cancelled_tasks_count_less_than_the_one_that_failed(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = failing(rt);
	heddle_group *g = group(rt);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value((int){5})));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value((int){0}), heddle_in_group(g)));
	assert_int_equal(heddle_group_wait(g), HEDDLE_E_CANCELLED);
	assert_says("this is failure 5");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	heddle_group_free(g);
	assert_ok(heddle_stop(rt));
}

static void unreported_errors_are_not_lost(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = failing(rt);
	heddle_group *g = group(rt);
	submit_to(rt, c, g, 3);
	heddle_group_free(g); /* before or after its task has ended */
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("this is failure 3");
	submit_to(rt, c, group(rt), 6);
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
	assert_says("this is failure 6");
}

static void a_thread_may_set_a_group(void **state)
{
	(void)state;
	heddle_runtime *rt = start(), *other = start();
	heddle_codelet *c = failing(rt);
	heddle_group *a = group(rt), *b = group(rt);
	assert_null(heddle_group_set(rt, a));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value((int){1})));
	assert_ptr_equal(heddle_group_set(rt, b), a);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value((int){2})));
	submit_to(rt, c, a, 0);
	assert_ptr_equal(heddle_group_set(rt, NULL), b);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value((int){3})));
	assert_int_equal(heddle_group_wait(a), HEDDLE_E_KERNEL);
	assert_says("this is failure 1");
	assert_int_equal(heddle_group_wait(b), HEDDLE_E_KERNEL);
	assert_says("this is failure 2");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("this is failure 3");
	assert_int_equal(heddle_submit(other, heddle_in_group(a)), HEDDLE_E_INVALID);
	assert_says("another runtime");
	assert_null(heddle_group_set(other, a));
	assert_says("another runtime");
	assert_ok(heddle_stop(other));
	assert_ok(heddle_stop(rt));
}

/* --- Kernels that submit ------------------------------------------------------------------------------------------ */

struct parent {
	heddle_codelet *child;
	heddle_group *group;
	int waited;
	heddle_group *set;
};

static int submit_children(heddle_context *c)
{
	struct parent *p = heddle_get(c, 0, struct parent *);
	heddle_runtime *rt = heddle_context_runtime(c);
	for (int code = 0; code < 10; code++)
		if (heddle_submit(rt, heddle_call(p->child), heddle_value(code), heddle_in_group(p->group)))
			return 1;
	p->waited = heddle_group_wait(p->group);
	p->set = heddle_group_set(rt, p->group); /* what the thread has set that may run this kernel is not meant */
	int failed = heddle_submit(rt, heddle_call(p->child), heddle_value((int){10}));
	return heddle_group_set(rt, NULL) == p->group ? failed : 1;
}

static void kernels_may_submit_to_a_group_and_not_wait_for_it(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		config.caller_works = caller_works;
		config.n_cpu = 1;
		heddle_runtime *rt = start_with(&config);
		struct parent parent = {.child = failing(rt), .group = group(rt)}, *p = &parent;
		heddle_codelet *c = heddle_codelet_new(rt, .name = "submit_children", .cpu = submit_children);
		heddle_group_set(rt, p->group);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(p)));
		assert_int_equal(heddle_group_wait(p->group), HEDDLE_E_KERNEL);
		assert_says("this is failure 1");
		assert_int_equal(p->waited, HEDDLE_E_STATE);
		assert_null(p->set);
		assert_ok(heddle_wait_all(rt));
		struct heddle_stats stats;
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_int_equal(stats.live_tasks, 0);
		assert_int_equal(stats.tasks_failed, 10);
		assert_ptr_equal(heddle_group_set(rt, NULL), p->group); /* the kernel has not changed it */
		heddle_group_free(p->group);
		assert_ok(heddle_stop(rt));
	}
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

struct user {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	heddle_dense *dense;
	int fails, n_wrong;
};

static void *use_group(void *arg)
{
	struct user *u = arg;
	for (int round = 0; round < 50; round++) {
		heddle_group *g = group(u->rt);
		for (int i = 0; i < 20; i++)
			submit_to(u->rt, u->codelet, g, u->fails && i == 11 ? 11 : 0);
		int status = heddle_group_wait(g);
		u->n_wrong += status != (u->fails ? HEDDLE_E_KERNEL : 0);
		heddle_group_free(g);
	}
	return NULL;
}

/* Factorises a matrix that is positive definite, or not. */
static void *use_dense(void *arg)
{
	struct user *u = arg;
	enum { N = 96 };
	double *x = calloc((size_t)N * N, sizeof *x);
	for (int round = 0; round < 10; round++) {
		struct heddle_dense_array a = {
		    .precision = HEDDLE_DENSE_DOUBLE, .rows = N, .columns = N, .data = x, .ld = N};
		struct heddle_dense_options options = {.tile = 32};
		for (size_t i = 0; i < N; i++)
			for (size_t j = 0; j < N; j++)
				x[i + j * N] = i != j ? 1 : u->fails && i == N / 2 ? -1 : 2 * N;
		int status = heddle_dense_potrf(u->dense, HEDDLE_DENSE_LOWER, &a, &options);
		u->n_wrong += status != (u->fails ? HEDDLE_E_KERNEL : 0);
	}
	free(x);
	return NULL;
}

static void two_threads(void *(*use)(void *))
{
	heddle_runtime *rt = start();
	struct user users[2];
	pthread_t threads[2];
	heddle_dense *dense;
	assert_ok(heddle_dense_open(rt, &dense));
	for (int i = 0; i < 2; i++) {
		users[i] = (struct user){.rt = rt, .codelet = failing(rt), .dense = dense, .fails = i};
		pthread_create(&threads[i], NULL, use, &users[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(users[0].n_wrong, 0);
	assert_int_equal(users[1].n_wrong, 0);
	heddle_dense_close(dense);
	assert_ok(heddle_stop(rt));
}

static void threads_wait_for_their_own(void **state)
{
	(void)state;
	two_threads(use_group);
}

static void dense_calls_of_two_threads_have_their_own_errors(void **state)
{
	(void)state;
	two_threads(use_dense);
}

/* Registers a datum of its own and waits for its task, with less stack than when it was told that it may wait. */
static __attribute__((noinline)) int wait_deeper(const struct other *o)
{
	volatile char used[16 << 10];
	long x = 0;
	heddle_data *d;
	for (size_t i = 0; i < sizeof used; i += 1000) /* a loop, so that compilers keep all of it */
		used[i] = 1;
	if (heddle_variable(o->rt, &x, sizeof x, &d) || heddle_submit(o->rt, heddle_call(o->codelet), heddle_rw(d)))
		return HEDDLE_E_STATE;
	int status = heddle_unregister(d);
	if (status)
		heddle_data_give_up(d);
	return status ? status : x + used[0] == 2 ? 0 : HEDDLE_E_STATE;
}

/* Calls itself until it may not wait any more; the last call but one waits. */
static int fill_stack(struct other *o)
{
	volatile char used[32 << 10];
	if (heddle_may_wait(o->rt))
		return 1;
	for (size_t i = 0; i < sizeof used; i += 1000)
		used[i] = 1;
	if (fill_stack(o))
		o->status = wait_deeper(o);
	return used[0] - 1;
}

static int wait_on_full_stack(heddle_context *c)
{
	struct other *o = heddle_get(c, 0, struct other *);
	o->status = HEDDLE_E_STATE;
	return fill_stack(o);
}

static void kernel_that_may_wait_may_unregister(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;        /* nobody else runs its task */
	config.caller_works = 0; /* the stack of the test's own thread may be without limit */
	struct other other = {.rt = start_with(&config)}, *o = &other;
	heddle_codelet *c = heddle_codelet_new(o->rt, .name = "fill", .cpu = wait_on_full_stack);
	o->codelet = heddle_codelet_new(o->rt, .name = "increment", .cpu = increment);
	assert_ok(heddle_submit(o->rt, heddle_call(c), heddle_value(o)));
	assert_ok(heddle_wait_all(o->rt));
	assert_ok(o->status);
	assert_ok(heddle_stop(o->rt));
}

struct late {
	heddle_group *group;
	atomic_int waits;
};

/* What heddle_submit does when its thread is held up before the task is in the graph, and then refused. */
static void *submit_late(void *arg)
{
	struct late *l = arg;
	wait_for(&l->waits, 1);
	give_others_time();
	hd_group_refused(l->group);
	return NULL;
}

static void a_group_that_another_thread_submits_to_is_no_deadlock(void **state)
{
	(void)state;
	static const char *const platforms[] = {NULL, "haswell-k40m"};
	for (int i = 0; i < 2; i++) {
		heddle_runtime *rt = start_where(platforms[i]);
		struct late l = {.group = group(rt)};
		pthread_t thread;
		hd_group_enter(l.group);
		assert_int_equal(pthread_create(&thread, NULL, submit_late, &l), 0);
		l.waits = 1;
		assert_ok(heddle_group_wait(l.group));
		assert_int_equal(pthread_join(thread, NULL), 0);
		heddle_group_free(l.group);
		assert_ok(heddle_stop(rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_group_has_its_own_error),
	    cmocka_unit_test(error_of_a_group_is_not_reported_by_other_waits),
	    cmocka_unit_test(cancelled_tasks_count_less_than_the_one_that_failed),
	    cmocka_unit_test(unreported_errors_are_not_lost),
	    cmocka_unit_test(a_thread_may_set_a_group),
	    cmocka_unit_test(kernels_may_submit_to_a_group_and_not_wait_for_it),
	    cmocka_unit_test(threads_wait_for_their_own),
	    cmocka_unit_test(a_group_that_another_thread_submits_to_is_no_deadlock),
	    cmocka_unit_test(dense_calls_of_two_threads_have_their_own_errors),
	    cmocka_unit_test(kernel_that_may_wait_may_unregister),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
