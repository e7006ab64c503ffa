/* Deliberate mistakes with what has ended: data, tasks, groups and runtimes that are used afterwards. Each is named by
 * the checking mode, or by an error that the mode is not needed for. */
#include <malloc.h>
#include "mistakes.h"

static double elsewhere[N];

static heddle_data *ended_datum(heddle_runtime *rt)
{
	heddle_data *d = vector(rt, "x", NULL);
	assert_ok(heddle_unregister(d));
	return d;
}

static int submit_after_unregister(heddle_runtime *rt)
{
	return heddle_submit(rt, heddle_call(codelet(rt, "late", nothing)), heddle_rw(ended_datum(rt)));
}

static int unregister_twice(heddle_runtime *rt)
{
	return heddle_unregister(ended_datum(rt));
}

static int acquire_after_unregister(heddle_runtime *rt)
{
	return heddle_acquire(ended_datum(rt), HEDDLE_R);
}

static int release_after_unregister(heddle_runtime *rt)
{
	return heddle_release(ended_datum(rt));
}

static int partition_after_unregister(heddle_runtime *rt)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	return heddle_partition(ended_datum(rt), &halves, NULL);
}

static int child_after_unpartition(heddle_runtime *rt)
{
	static double x[N];
	heddle_data *d = vector(rt, "x", x);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_partition(d, &halves, NULL));
	heddle_data *child = heddle_child(d, 1);
	assert_ok(heddle_data_set_name(child, "right"));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_wait_all(rt));
	return heddle_submit(rt, heddle_call(codelet(rt, "late", nothing)), heddle_rw(child));
}

/* A task that has ended, and that the program has released. */
static heddle_task *released_task(heddle_runtime *rt)
{
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "early", nothing)), heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	return t;
}

static int wait_for_a_released_task(heddle_runtime *rt)
{
	return heddle_task_wait(released_task(rt));
}

static int release_a_task_twice(heddle_runtime *rt)
{
	heddle_task_release(released_task(rt));
	return heddle_wait_all(rt);
}

static int after_a_released_task(heddle_runtime *rt)
{
	return heddle_submit(rt, heddle_call(codelet(rt, "late", nothing)), heddle_after(released_task(rt)));
}

/* Another runtime, because that of the test is stopped at the end. */
static heddle_runtime *stopped_runtime(heddle_data **d, heddle_codelet **c)
{
	heddle_runtime *rt = watched(0);
	*d = vector(rt, "x", NULL);
	*c = codelet(rt, "late", nothing);
	assert_ok(heddle_stop(rt));
	return rt;
}

static int submit_after_stop(heddle_runtime *rt)
{
	heddle_data *d;
	heddle_codelet *c;
	rt = stopped_runtime(&d, &c);
	return heddle_submit(rt, heddle_call(c), heddle_rw(d));
}

static int acquire_after_stop(heddle_runtime *rt)
{
	heddle_data *d;
	heddle_codelet *c;
	stopped_runtime(&d, &c);
	(void)rt;
	return heddle_acquire(d, HEDDLE_R);
}

static int stop_twice(heddle_runtime *rt)
{
	heddle_data *d;
	heddle_codelet *c;
	rt = stopped_runtime(&d, &c);
	return heddle_stop(rt);
}

static heddle_group *freed_group(heddle_runtime *rt)
{
	heddle_group *g;
	assert_ok(heddle_group_create(rt, &g));
	heddle_group_free(g);
	return g;
}

static int wait_for_a_freed_group(heddle_runtime *rt)
{
	return heddle_group_wait(freed_group(rt));
}

static int task_in_a_freed_group(heddle_runtime *rt)
{
	return heddle_submit(rt, heddle_call(codelet(rt, "late", nothing)), heddle_in_group(freed_group(rt)));
}

static int free_a_group_twice(heddle_runtime *rt)
{
	heddle_group_free(freed_group(rt));
	return heddle_wait_all(rt);
}

static size_t bytes_in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* What the last ones take is kept; so after some the memory does not grow with their number. */
static int stopped_runtimes_are_kept_up_to_a_bound(heddle_runtime *rt)
{
	enum { FEW = 12, MANY = 60, N_DATA = 200 };
	size_t after_few = 0;
	(void)rt;
	for (int i = 0; i < MANY; i++) {
		heddle_runtime *other = watched(0);
		for (int k = 0; k < N_DATA; k++)
			assert_ok(heddle_unregister(vector(other, "x", elsewhere)));
		assert_ok(heddle_stop(other));
		if (i == FEW)
			after_few = bytes_in_use();
	}
	assert_true(bytes_in_use() <= after_few + after_few / 2); /* 0 with AddressSanitizer */
	return 0;
}

static const struct mistake mistakes[] = {
    {"a datum is used after heddle_unregister", submit_after_unregister, 0, HEDDLE_E_STATE,
     "late: x has been unregistered"},
    {"a datum is unregistered twice", unregister_twice, 0, HEDDLE_E_STATE, "x has been unregistered"},
    {"a datum is acquired after heddle_unregister", acquire_after_unregister, 0, HEDDLE_E_STATE,
     "x has been unregistered"},
    {"a datum is released after heddle_unregister", release_after_unregister, 0, HEDDLE_E_STATE,
     "x has been unregistered"},
    {"a datum is partitioned after heddle_unregister", partition_after_unregister, 0, HEDDLE_E_STATE,
     "x has been unregistered"},
    {"a child is used after heddle_unpartition", child_after_unpartition, 0, HEDDLE_E_STATE,
     "late: right has been unregistered"},
    {"a task is waited for after heddle_task_release", wait_for_a_released_task, 0, HEDDLE_E_STATE,
     "heddle_task_wait: the program has given its reference to early (task 0) back"},
    {"a task is released twice", release_a_task_twice, 0, HEDDLE_E_MISUSE,
     "heddle_task_release: the program has given its reference to early (task 0) back"},
    {"a task follows one that was released", after_a_released_task, 0, HEDDLE_E_STATE,
     "heddle_after: the program has given its reference to early (task 0) back"},
    {"a group is waited for after heddle_group_free", wait_for_a_freed_group, 0, HEDDLE_E_STATE,
     "heddle_group_wait: the group has been freed"},
    {"a task is in a group that was freed", task_in_a_freed_group, 0, HEDDLE_E_STATE,
     "heddle_in_group: the group has been freed"},
    {"a group is freed twice", free_a_group_twice, 0, HEDDLE_E_MISUSE, "a group was freed twice"},
    {"a task is submitted after heddle_stop", submit_after_stop, 0, HEDDLE_E_STATE, "this runtime has been stopped"},
    {"a datum is acquired after heddle_stop", acquire_after_stop, 0, HEDDLE_E_STATE, "this runtime has been stopped"},
    {"the memory of stopped runtimes is bounded", stopped_runtimes_are_kept_up_to_a_bound, 0, 0, ""},
    {"a runtime is stopped twice", stop_twice, 0, HEDDLE_E_STATE, "this runtime has been stopped"},
};

int main(void)
{
	return run_mistakes("mistakes_ended", mistakes, sizeof mistakes / sizeof *mistakes);
}
