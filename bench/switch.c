/* What it costs to drive other workers: the median time of heddle_workers_drive over batches. switch [DECLARED [READY
 * [POLICY [COUNT]]]]
 *
 * DECLARED CPU workers: single cores, and a cluster of all of them. Each call goes from one of these cluster sets to
 * the other; those of the second row, from one core to all, and those of the third, from all to one. With READY 0 the
 * runtime has threads and no tasks. Otherwise the time is virtual and stands still, and the policy holds READY tasks,
 * which it goes on with, or is given anew. */
#include <heddle.h>
#include "bench.h"

enum { BATCHES = 51 };

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

struct run {
	heddle_runtime *rt;
	unsigned workers[64], n_single; /* the single cores, and the cluster behind them */
	size_t count;
	const char *name; /* of rows */
};

static void drive(const struct run *r, unsigned first, size_t n)
{
	bench_need(heddle_workers_drive(r->rt, r->workers + first, n) == 0, heddle_last_error());
}

static void report(const struct run *r, const char *which, double *seconds)
{
	char name[60];
	qsort(seconds, BATCHES, sizeof *seconds, bench_compare);
	snprintf(name, sizeof name, "%s%s", r->name, which);
	bench_row(name, (int)r->n_single + 1, "us", seconds[BATCHES / 2] / (double)r->count * 1e6);
}

static void swap(const struct run *r)
{
	double seconds[BATCHES];
	for (size_t b = 0; b < BATCHES; b++) {
		double begin = bench_seconds();
		for (size_t i = 0; i < r->count; i++)
			drive(r, i % 2 ? 0 : r->n_single, i % 2 ? r->n_single : 1);
		seconds[b] = bench_seconds() - begin;
	}
	report(r, "", seconds);
}

/* The clock is read around each call: the two directions are unlike. */
static void grow_and_shrink(const struct run *r)
{
	double more[BATCHES] = {0}, fewer[BATCHES] = {0};
	drive(r, 0, 1);
	for (size_t b = 0; b < BATCHES; b++) {
		for (size_t i = 0; i < r->count; i++) {
			double begin = bench_seconds();
			drive(r, 0, r->n_single);
			double middle = bench_seconds();
			drive(r, 0, 1);
			more[b] += middle - begin;
			fewer[b] += bench_seconds() - middle;
		}
	}
	report(r, "_more", more);
	report(r, "_fewer", fewer);
}

int main(int argc, char **argv)
{
	size_t n_declared = bench_number(argc, argv, 1, 3), n_ready = argc > 2 ? (size_t)atoi(argv[2]) : 0;
	bench_need(n_declared >= 3 && n_declared <= 64, "from 3 to 64 workers are declared");
	struct run r = {.n_single = (unsigned)n_declared - 1,
	                .count = bench_number(argc, argv, 4, 100),
	                .name = n_ready ? "switch_ready" : "switch"};
	for (unsigned w = 0; w <= r.n_single; w++)
		r.workers[w] = w;
	r.rt = start(r.n_single, n_ready != 0, argc > 3 ? argv[3] : "lws");
	heddle_codelet *c =
	    heddle_codelet_new(r.rt, .name = "nothing", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = time_of);
	for (size_t i = 0; i < n_ready; i++)
		bench_need(c && heddle_submit(r.rt, heddle_call(c)) == 0, heddle_last_error());
	swap(&r);
	grow_and_shrink(&r);
	heddle_stop(r.rt);
	return 0;
}
