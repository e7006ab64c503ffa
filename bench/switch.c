/* What it costs to drive other workers: the median time of heddle_workers_drive over batches. switch [DECLARED [READY
 * [POLICY [COUNT]]]]
 *
 * DECLARED CPU workers: single cores, and a cluster of all of them. Each call goes from one of these partitions to the
 * other. With READY 0 the runtime has threads and no tasks. Otherwise the time is virtual and stands still, and the
 * policy holds READY tasks, which it goes on with, or is given anew. */
#include <heddle.h>
#include "bench.h"

enum { BATCHES = 51 };

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

static double time_of(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 10.0 - class_id;
}

static heddle_runtime *start(unsigned n_single, int virtual_time, const char *policy)
{
	char text[400];
	struct heddle_platform *platform;
	struct heddle_config config;
	heddle_runtime *rt;
	snprintf(text, sizeof text,
	         "version: 1\nname: bench\nnodes: [{name: ram}]\nclasses:\n- {name: cpu, kind: cpu, cores: 1}\n"
	         "- {name: cpu*%u, kind: cpu, cores: %u}\nworkers:\n"
	         "- {name: single, count: %u, class: cpu, node: ram, core: 0}\n"
	         "- {name: all, class: cpu*%u, node: ram, core: 0, retired: 1}\n",
	         n_single, n_single, n_single, n_single);
	bench_need(heddle_platform_parse("bench", text, strlen(text), &platform) == 0, heddle_last_error());
	bench_need(heddle_config_init(&config) == 0, heddle_last_error());
	config.bind = 0;
	config.sched = policy;
	config.model_dir = "none";
	bench_need(heddle_start_on(&config, platform, virtual_time, &rt) == 0, heddle_last_error());
	heddle_platform_free(platform);
	return rt;
}

static void change(heddle_runtime *rt, unsigned n_single, size_t count)
{
	unsigned singles[64];
	for (unsigned w = 0; w < n_single; w++)
		singles[w] = w;
	for (size_t i = 0; i < count; i++) {
		int status =
		    i % 2 ? heddle_workers_drive(rt, singles, n_single) : heddle_workers_drive(rt, &n_single, 1);
		bench_need(status == 0, heddle_last_error());
	}
}

int main(int argc, char **argv)
{
	size_t n_declared = bench_number(argc, argv, 1, 3), n_ready = argc > 2 ? (size_t)atoi(argv[2]) : 0,
	       count = bench_number(argc, argv, 4, 100);
	bench_need(n_declared >= 3 && n_declared <= 64, "from 3 to 64 workers are declared");
	unsigned n_single = (unsigned)n_declared - 1;
	heddle_runtime *rt = start(n_single, n_ready != 0, argc > 3 ? argv[3] : "lws");
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "nothing", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = time_of);
	for (size_t i = 0; i < n_ready; i++)
		bench_need(c && heddle_submit(rt, heddle_call(c)) == 0, heddle_last_error());
	double each[BATCHES];
	for (size_t b = 0; b < BATCHES; b++) {
		double begin = bench_seconds();
		change(rt, n_single, count);
		each[b] = (bench_seconds() - begin) / (double)count;
	}
	qsort(each, BATCHES, sizeof *each, by_value);
	bench_row(n_ready ? "switch_ready" : "switch", (int)n_declared, "us", each[BATCHES / 2] * 1e6);
	heddle_stop(rt);
	return 0;
}
