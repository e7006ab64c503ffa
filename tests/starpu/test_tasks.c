/* Tasks: starpu_task_insert and its arguments, starpu_task_submit, callbacks, waits, tasks that run again. */
#include "check.h"

static _Atomic int n_called; /* callbacks */

static void scale(void *buffers[], void *cl_arg)
{
	double *x = (double *)STARPU_VECTOR_GET_PTR(buffers[0]), factor;
	int offset;
	starpu_codelet_unpack_args(cl_arg, &factor, &offset);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] = x[i] * factor + offset;
}

static struct starpu_codelet scale_cl = {.cpu_funcs = {scale}, .nbuffers = 1, .modes = {STARPU_RW}, .name = "scale"};

static void sum(void *buffers[], void *cl_arg)
{
	int n = STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());
	int *total = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
	(void)cl_arg;
	CHECK(starpu_worker_get_id() >= 0);
	for (int i = 1; i < n; i++)
		*total += *(int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static struct starpu_codelet sum_cl = {.cpu_funcs = {sum}, .nbuffers = STARPU_VARIABLE_NBUFFERS};

static void count(void *arg)
{
	n_called += *(int *)arg;
}

static void values_and_callbacks(void)
{
	double x[3] = {1, 2, 3}, factor = 2;
	int offset = 1, one = 1, *freed = malloc(sizeof *freed);
	starpu_data_handle_t h;
	*freed = 10;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)x, 3, sizeof *x);
	CHECK(starpu_task_insert(&scale_cl, STARPU_RW, h, STARPU_VALUE, &factor, sizeof factor, STARPU_VALUE, &offset,
	                         sizeof offset, STARPU_PRIORITY, 3, STARPU_NAME, "first",
	                         STARPU_CALLBACK_WITH_ARG_NFREE, count, &one, 0) == 0);
	CHECK(starpu_task_insert(&scale_cl, STARPU_RW, h, STARPU_VALUE, &factor, sizeof factor, STARPU_VALUE, &offset,
	                         sizeof offset, STARPU_CALLBACK_WITH_ARG, count, freed, 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(n_called == 11);
	starpu_data_unregister(h);
	CHECK(x[0] == 7 && x[1] == 11 && x[2] == 15);
}

/* More data than a codelet has room for. */
static void many_data(void)
{
	enum { N = STARPU_NMAXBUFS + 4 };
	int value[N];
	struct starpu_data_descr descrs[N];
	for (int i = 0; i < N; i++) {
		value[i] = i;
		descrs[i].mode = i ? STARPU_R : STARPU_RW;
		starpu_variable_data_register(&descrs[i].handle, STARPU_MAIN_RAM, (uintptr_t)&value[i],
		                              sizeof value[i]);
	}
	CHECK(starpu_task_insert(&sum_cl, STARPU_DATA_MODE_ARRAY, descrs, (int)N, STARPU_TASK_SYNCHRONOUS, 1, 0) == 0);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(descrs[i].handle);
	CHECK(value[0] == N * (N - 1) / 2);
}

static void add_one(void *buffers[], void *cl_arg)
{
	(void)buffers;
	++*(int *)cl_arg;
}

static struct starpu_codelet add_one_cl = {.cpu_funcs = {add_one}};

static void stop_at_five(void *arg)
{
	if (*(int *)arg == 5)
		starpu_task_get_current()->regenerate = 0;
}

static void tasks_that_run_again(void)
{
	int n = 0, m = 0;
	struct starpu_task task, *waited = starpu_task_create();
	starpu_task_init(&task);
	task.cl = &add_one_cl;
	task.cl_arg = task.callback_arg = &n;
	task.callback_func = stop_at_five;
	task.regenerate = 1;
	CHECK(starpu_task_submit(&task) == 0);
	waited->cl = &add_one_cl;
	waited->cl_arg = &m;
	waited->detach = waited->destroy = 0;
	for (int i = 0; i < 3; i++) {
		CHECK(starpu_task_submit(waited) == 0);
		CHECK(starpu_task_wait(waited) == 0);
		CHECK(starpu_task_finished(waited) && m == i + 1);
	}
	starpu_task_destroy(waited);
	CHECK(starpu_task_wait_for_all() == 0 && n == 5);
	starpu_task_clean(&task);
}

static void nobody(void *buffers[], void *cl_arg)
{
	(void)buffers, (void)cl_arg;
}

static int not_on_the_first(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
	(void)task, (void)nimpl;
	return worker != 0;
}

static void where_tasks_run(void)
{
	struct starpu_codelet on_cuda = {.cuda_funcs = {nobody}}, picky = {.cpu_funcs = {nobody}};
	struct starpu_task *task = starpu_task_create();
	CHECK(starpu_task_insert(&on_cuda, 0) == -ENODEV);
	task->cl = &picky;
	picky.can_execute = not_on_the_first;
	task->destroy = task->detach = 0;
	task->execute_on_a_specific_worker = 1;
	task->workerid = 0;
	CHECK(starpu_task_submit(task) == -ENODEV);
	task->workerid = 1;
	CHECK(starpu_task_submit(task) == 0 && starpu_task_wait(task) == 0);
	starpu_task_destroy(task);
	CHECK(starpu_task_insert(&picky, 77, 0) == -EINVAL);
}

int main(void)
{
	start(2);
	values_and_callbacks();
	many_data();
	tasks_that_run_again();
	where_tasks_run();
	starpu_shutdown();
	return 0;
}
