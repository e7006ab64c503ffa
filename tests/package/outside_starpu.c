/* A program written for StarPU outside Heddle's tree. Prints the version of Heddle. */
#include <heddle/status.h>
#include <starpu.h>

static void add_one(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet cl = {.cpu_funcs = {add_one}, .nbuffers = 1, .modes = {STARPU_RW}};

int main(void)
{
	int value = 1;
	starpu_data_handle_t h;
	if (starpu_init(NULL))
		return 1;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&value, sizeof value);
	starpu_task_insert(&cl, STARPU_RW, h, 0);
	starpu_data_unregister(h);
	starpu_shutdown();
	if (value == 2)
		printf("%s\n", heddle_version());
	return value != 2;
}
