/* A program that tests/gdb/run.py stops in `stop_here`: a task runs, two others wait for what it writes, and a datum is
 * of no use to anybody. */
#include <heddle.h>
#include <sched.h>
#include <stdio.h>

__attribute__((noinline)) void stop_here(heddle_runtime *rt, heddle_data *x);

static heddle_data *shared;

void stop_here(heddle_runtime *rt, heddle_data *x)
{
	__asm__ volatile("" : : "r"(rt), "r"(x) : "memory"); /* so that the call is made */
}

/* Waits until all three tasks are in the graph, which the thread that waits for them puts there. */
static int write_kernel(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	struct heddle_stats stats;
	do {
		sched_yield();
		if (heddle_runtime_stats(rt, &stats))
			return 1;
	} while (stats.live_tasks < 3);
	stop_here(rt, shared);
	*(double *)heddle_ptr(c, 0) = 1;
	return 0;
}

static int read_kernel(heddle_context *c)
{
	return *(double *)heddle_ptr(c, 0) != 1;
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt;
	double values[2] = {0, 0};
	heddle_data *other;
	if (heddle_config_init(&config))
		return 1;
	config.n_cpu = 1;
	config.sched = "eager";
	config.model_dir = "none";
	if (heddle_start(&config, &rt) || heddle_variable(rt, &values[0], sizeof *values, &shared) ||
	    heddle_vector(rt, &values[1], 1, sizeof *values, &other))
		return 1;
	heddle_data_set_name(shared, "x");
	heddle_data_set_name(other, "spare");
	heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .cpu = write_kernel);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .cpu = read_kernel);
	int status = heddle_submit(rt, heddle_call(writer), heddle_w(shared), heddle_named("first"));
	for (int i = 0; i < 2 && !status; i++)
		status = heddle_submit(rt, heddle_call(reader), heddle_r(shared), heddle_priority(i));
	if (!status)
		status = heddle_wait_all(rt);
	if (heddle_stop(rt) || status)
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	return 0;
}
