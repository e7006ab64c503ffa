/* A runtime in the child of a fork: it belongs to the parent, and every function says so instead of waiting for
 * ever. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../sanitized.h"
#include "machine/machine.h"
#include "program.h"

enum { GIVE_UP_S = 60 }; /* a child that hangs is ended by its alarm */

/* A sanitizer's allocator has locks that stay locked in a child for ever if another thread of the parent had them
 * at the fork; in this test one allocates all the time. */
enum { CAN_ALLOCATE = !SANITIZED };

struct mine {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	heddle_data *data, *split;
	heddle_task *task;
	atomic_int stop;
	long x, y[4];
};

static void say_nothing(void *arg, const char *name, double value, const char *unit)
{
	(void)arg;
	(void)name;
	(void)value;
	(void)unit;
}

static int n_wrong; /* in the child, which counts instead of failing: the test is the parent's */

static void refused(const char *what, int status)
{
	if (status == HEDDLE_E_STATE && strstr(heddle_last_error(), "belongs to the parent process"))
		return;
	fprintf(stderr, "%s in a child: %s, \"%s\"\n", what, heddle_status_name(status), heddle_last_error());
	n_wrong++;
}
#define REFUSED(call) refused(#call, call)

static void try_data(struct mine *m)
{
	heddle_data *d;
	REFUSED(heddle_variable(m->rt, &m->x, sizeof m->x, &d));
	REFUSED(heddle_data_set_name(m->data, "x"));
	REFUSED(heddle_data_set_reduction(m->data, m->codelet, m->codelet));
	REFUSED(heddle_prefetch(m->data, 0));
	REFUSED(heddle_acquire(m->data, HEDDLE_R));
	REFUSED(heddle_release(m->data));
	REFUSED(heddle_unregister(m->data));
	REFUSED(heddle_unregister_async(m->data));
	REFUSED(heddle_data_give_up(m->data));
	REFUSED(heddle_forget(m->data));
	REFUSED(heddle_copy(m->data, m->split));
	REFUSED(heddle_partition(m->data, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	REFUSED(heddle_unpartition(m->split));
}

static void try_all(struct mine *m)
{
	const unsigned first = 0;
	heddle_codelet *c;
	struct heddle_stats stats;
	struct heddle_trace *trace;
	struct heddle_graph *graph;
	struct heddle_platform *platform;
	REFUSED(heddle_submit(m->rt, heddle_call(m->codelet), heddle_rw(m->data)));
	REFUSED(heddle_submit(m->rt));
	REFUSED(heddle_codelet_create(m->rt, &(struct heddle_codelet_desc){.name = "c", .cpu = nothing}, &c));
	REFUSED(heddle_wait_all(m->rt));
	REFUSED(heddle_task_wait(m->task));
	heddle_now(m->rt); /* tells nothing, but returns */
	heddle_task_release(m->task);
	try_data(m);
	REFUSED(heddle_may_wait(m->rt));
	REFUSED(heddle_cancel_all(m->rt));
	REFUSED(heddle_pause(m->rt));
	REFUSED(heddle_resume(m->rt));
	REFUSED(heddle_workers_drive(m->rt, &first, 1));
	REFUSED(heddle_clusters_set(m->rt, "none"));
	REFUSED(heddle_set_prologue(m->rt, NULL, NULL));
	n_wrong += heddle_worker_is_driven(m->rt, first);
	REFUSED(heddle_runtime_stats(m->rt, &stats));
	REFUSED(heddle_selfcheck(m->rt));
	REFUSED(heddle_policy_report(m->rt, say_nothing, NULL));
	REFUSED(heddle_policy_counts(m->rt, say_nothing, NULL));
	REFUSED(heddle_models_save(m->rt));
	REFUSED(heddle_models_save_to(m->rt, "."));
	REFUSED(heddle_trace_take(m->rt, &trace));
	REFUSED(heddle_graph_record(m->rt, &graph));
	REFUSED(heddle_platform_measured(m->rt, "here", &platform));
	REFUSED(heddle_stop(m->rt));
}

/* In virtual time, which needs no threads: ThreadSanitizer allows none in a child. */
static int run_own(struct mine *m)
{
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	config.check = 1; /* it knows its own handles, and does not take those of the parent for something else */
	heddle_runtime *rt;
	int status = heddle_start(&config, &rt);
	REFUSED(heddle_acquire(m->data, HEDDLE_R));
	status = status ? status : heddle_submit(rt);
	status = status ? status : heddle_wait_all(rt);
	return status ? status : heddle_stop(rt);
}

static void expect_of_child(struct mine *m)
{
	int ended;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(GIVE_UP_S);
		try_all(m);
		if (CAN_ALLOCATE && run_own(m))
			refused("a runtime of its own", 0);
		_exit(n_wrong != 0);
	}
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFEXITED(ended));
	assert_int_equal(WEXITSTATUS(ended), 0);
}

static void *submit_all_the_time(void *arg)
{
	struct mine *m = arg;
	while (!m->stop)
		if (heddle_submit(m->rt, heddle_call(m->codelet), heddle_rw(m->data)))
			return m;
	return NULL;
}

/* Another thread submits meanwhile, so that the lock may be held at the fork. The parent's runtime is as before. */
static void child_is_told_that_the_runtime_is_not_its_own(void **state)
{
	struct heddle_config config = small_config();
	config.platform = *state;
	config.trace = 1;
	struct mine m = {.rt = start_with(&config)};
	void *failed;
	pthread_t thread;
	m.codelet =
	    heddle_codelet_new(m.rt, .name = "nothing", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	assert_non_null(m.codelet);
	assert_ok(heddle_variable(m.rt, &m.x, sizeof m.x, &m.data));
	assert_ok(heddle_vector(m.rt, m.y, 4, sizeof m.y[0], &m.split));
	assert_ok(heddle_partition(m.split, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	assert_ok(heddle_submit(m.rt, heddle_call(m.codelet), heddle_out(&m.task)));
	assert_int_equal(pthread_create(&thread, NULL, submit_all_the_time, &m), 0);
	for (int i = 0; i < 10; i++)
		expect_of_child(&m);
	m.stop = 1;
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_ok(heddle_task_wait(m.task));
	heddle_task_release(m.task);
	assert_ok(heddle_stop(m.rt));
}

static void *look_all_the_time(void *stop)
{
	while (!*(atomic_int *)stop) {
		struct hd_topology *t;
		if (!hd_topology_open(0, &t))
			hd_topology_close(t);
	}
	return NULL;
}

/* Another thread opens topologies meanwhile, so that their lock may be held at the fork. */
static void child_may_look_at_the_machine(void **state)
{
	(void)state;
	atomic_int stop = 0;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, look_all_the_time, &stop), 0);
	for (int i = 0; CAN_ALLOCATE && i < 50; i++) {
		pid_t child = fork();
		if (child == 0) {
			struct hd_topology *t;
			alarm(GIVE_UP_S);
			_exit(hd_topology_open(0, &t) != 0);
		}
		int status;
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	stop = 1;
	pthread_join(thread, NULL);
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(child_is_told_that_the_runtime_is_not_its_own, NULL),
	    cmocka_unit_test_prestate(child_is_told_that_the_runtime_is_not_its_own, simulated),
	    cmocka_unit_test(child_may_look_at_the_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
