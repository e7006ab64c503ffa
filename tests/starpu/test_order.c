/* Order without data: dependencies of tasks and tags, ends that wait, acquired data by callbacks, data without an
 * order, pauses. */
#include "check.h"

static _Atomic int clock_now;

/* Stores when it ran. */
static void stamp(void *buffers[], void *cl_arg)
{
	(void)buffers;
	*(int *)cl_arg = ++clock_now;
}

static struct starpu_codelet stamp_cl = {.cpu_funcs = {stamp}};
static struct starpu_codelet stamp_rw_cl = {.cpu_funcs = {stamp}, .nbuffers = 1, .modes = {STARPU_RW}};

static struct starpu_task *make(int *when)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = &stamp_cl;
	task->cl_arg = when;
	task->detach = 0;
	return task;
}

static void tasks_on_tasks(void)
{
	int a, b, c;
	struct starpu_task *first = make(&a), *second = make(&b), *third = make(&c);
	starpu_task_declare_deps(second, 1, first);
	starpu_task_declare_deps_array(third, 2, (struct starpu_task *[]){first, second});
	CHECK(starpu_task_submit(third) == 0 && starpu_task_submit(second) == 0 && starpu_task_submit(first) == 0);
	CHECK(starpu_task_wait_array((struct starpu_task *[]){third, first, second}, 3) == 0);
	CHECK(a < b && b < c);
}

static void tags(void)
{
	int when[3];
	starpu_tag_declare_deps(11, 1, (starpu_tag_t)10);
	starpu_tag_declare_deps_array(12, 2, (starpu_tag_t[]){11, 99});
	for (int i = 2; i >= 0; i--)
		CHECK(starpu_task_insert(&stamp_cl, STARPU_CL_ARGS_NFREE, &when[i], sizeof when[i], STARPU_TAG,
		                         (starpu_tag_t)(10 + i), 0) == 0);
	CHECK(starpu_tag_wait(11) == 0);
	CHECK(starpu_tag_get_task(12));
	starpu_tag_notify_from_apps(99);
	CHECK(starpu_tag_wait(12) == 0);
	CHECK(when[0] < when[1] && when[1] < when[2]);
	CHECK(starpu_task_wait_for_all() == 0);
	starpu_tag_remove(12);
}

static void ends(void)
{
	int a, b;
	starpu_data_handle_t h;
	starpu_void_data_register(&h);
	struct starpu_task *task = starpu_task_build(&stamp_rw_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &a, sizeof a, 0);
	CHECK(task);
	task->detach = 0;
	starpu_task_end_dep_add(task, 1);
	CHECK(starpu_task_submit(task) == 0);
	CHECK(starpu_task_insert(&stamp_rw_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &b, sizeof b, 0) == 0);
	CHECK(!starpu_task_finished(task));
	starpu_task_end_dep_release(task);
	CHECK(starpu_task_wait(task) == 0);
	starpu_data_unregister(h);
	CHECK(a < b);
}

static starpu_data_handle_t asked;
static int got;

static void on_acquired(void *arg)
{
	(void)arg;
	got = *(int *)starpu_data_get_local_ptr(asked);
	starpu_data_release(asked);
}

static void add_one(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]); /* the first of a vector, too */
}

static struct starpu_codelet add_one_cl = {.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};

static void callbacks(void)
{
	int value = 1;
	starpu_variable_data_register(&asked, STARPU_MAIN_RAM, (uintptr_t)&value, sizeof value);
	CHECK(starpu_task_insert(&add_one_cl, STARPU_RW, asked, 0) == 0);
	CHECK(starpu_data_acquire_cb(asked, STARPU_R, on_acquired, NULL) == 0);
	CHECK(starpu_task_insert(&add_one_cl, STARPU_RW, asked, 0) == 0);
	CHECK(starpu_data_acquire(asked, STARPU_RW) == 0);
	CHECK(got == 2 && value == 3);
	CHECK(starpu_data_acquire_try(asked, STARPU_R) == -EAGAIN);
	starpu_data_release(asked);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_acquire_try(asked, STARPU_RW) == 0);
	starpu_data_release(asked);
	starpu_data_unregister(asked);
}

/* The second task waits for the first, which is submitted later and uses the same data. */
static void no_order(void)
{
	int value[2] = {0, 0};
	starpu_data_handle_t h, parts[2];
	struct starpu_data_filter halves = {.filter_func = starpu_vector_filter_block, .nchildren = 2};
	for (int of_parts = 0; of_parts < 2; of_parts++) {
		starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)value, 2, sizeof *value);
		starpu_data_partition_plan(h, &halves, parts);
		if (!of_parts)
			starpu_data_partition_clean(h, 2, parts);
		struct starpu_task *late = make(&value[0]), *early = make(&value[0]);
		late->cl = early->cl = &add_one_cl;
		late->handles[0] = early->handles[0] = of_parts ? parts[0] : h;
		late->sequential_consistency = early->sequential_consistency = 0;
		starpu_task_declare_deps(late, 1, early);
		CHECK(starpu_task_submit(late) == 0 && starpu_task_submit(early) == 0);
		CHECK(starpu_task_wait(late) == 0 && starpu_task_wait(early) == 0);
		if (of_parts)
			starpu_data_partition_clean(h, 2, parts);
		starpu_data_unregister(h);
	}
	CHECK(value[0] == 4);
}

static void pauses(void)
{
	int when = 0;
	starpu_pause();
	CHECK(starpu_is_paused());
	struct starpu_task *task = make(&when);
	CHECK(starpu_task_submit(task) == 0 && !starpu_task_finished(task) && !when);
	starpu_resume();
	CHECK(starpu_task_wait(task) == 0 && when);
}

int main(void)
{
	start(2);
	tasks_on_tasks();
	tags();
	ends();
	callbacks();
	no_order();
	pauses();
	starpu_shutdown();
	return 0;
}
