/* Small machines made by hand and run in virtual time, where every time is known exactly.
 *
 * Worker numbers: the CPUs first, then the workers of the first GPU, then those of the second ... GPU g (from 1) has
 * memory node g. Each GPU has a link from and to main memory, and none to the others. */
#ifndef TEST_VIRTUAL_MACHINE_H
#define TEST_VIRTUAL_MACHINE_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "ok.h"

/* A datum of one unit, and the us that a link takes for it: its latency, then 1000 bytes per us. */
enum { UNIT = 10000, LATENCY = 5, HOP = LATENCY + 10 };

struct machine {
	/* What the test asks for. */
	unsigned cpus, gpus, workers_per_gpu;
	int foreign;          /* 1: the last GPU is of another class than the others, "other" */
	unsigned pipeline;    /* of the GPUs' workers; 0: 1 */
	uint64_t units;       /* that fit into the memory of a GPU; 0: no limit */
	const char *sched;    /* NULL: eager */
	const char *links;    /* more of them, as in its file; NULL: none */
	const char *kernels;  /* kernel times of the platform, as in its file; NULL: none */
	const char *options;  /* of the policy */
	const char *eviction; /* NULL: as the settings say */
	const char *expand;   /* the same */
	/* What it gets. */
	heddle_runtime *rt;
	heddle_codelet *work; /* a task of it lasts as long as its first value says: LASTS */
};

/* The first value of a task of `work`: us on a CPU and on a GPU. */
#define LASTS_EACH(cpu, gpu) heddle_bytes((double[]){cpu, gpu}, 2 * sizeof(double))
#define LASTS(us) LASTS_EACH(us, us)

static inline double machine_time(const struct heddle_size *size, unsigned class_id)
{
	return ((const double *)size->values[0])[class_id];
}

static inline uint64_t machine_footprint(const struct heddle_size *size)
{
	uint64_t words[2];
	memcpy(words, size->values[0], sizeof words);
	return hd_hash(words[0], words[1]);
}

static inline int machine_kernel(heddle_context *c)
{
	(void)c;
	return 0;
}

/* The caller frees it. */
static inline struct heddle_platform *machine_platform(const struct machine *m)
{
	char text[65536], *end = text, *last = text + sizeof text;
	end += snprintf(end, (size_t)(last - end), "version: 1\nname: by hand\nnodes:\n- {name: ram}\n");
	for (unsigned g = 1; g <= m->gpus; g++)
		end += snprintf(end, (size_t)(last - end), "- {name: memory%u}\n", g);
	end += snprintf(end, (size_t)(last - end), "classes:\n- {name: cpu, kind: cpu}\n");
	if (m->gpus)
		end += snprintf(end, (size_t)(last - end), "- {name: gpu, kind: cuda, pipeline: %u}\n",
		                m->pipeline ? m->pipeline : 1);
	if (m->foreign)
		end += snprintf(end, (size_t)(last - end), "- {name: other, kind: opencl}\n");
	end += snprintf(end, (size_t)(last - end), "workers:\n");
	if (m->cpus)
		end +=
		    snprintf(end, (size_t)(last - end), "- {name: core, class: cpu, node: ram, count: %u}\n", m->cpus);
	for (unsigned g = 1; g <= m->gpus; g++)
		end += snprintf(end, (size_t)(last - end), "- {name: card%u, class: %s, node: memory%u, count: %u}\n",
		                g, m->foreign && g == m->gpus ? "other" : "gpu", g,
		                m->workers_per_gpu ? m->workers_per_gpu : 1);
	if (m->gpus)
		end += snprintf(end, (size_t)(last - end), "links:\n");
	for (unsigned g = 1; g <= m->gpus; g++)
		end += snprintf(end, (size_t)(last - end),
		                "- {from: ram, to: memory%u, bandwidth_mbs: 1000, latency_us: %d}\n"
		                "- {from: memory%u, to: ram, bandwidth_mbs: 1000, latency_us: %d}\n",
		                g, LATENCY, g, LATENCY);
	end += snprintf(end, (size_t)(last - end), "%s%s", m->links ? m->links : "", m->kernels ? m->kernels : "");
	struct heddle_platform *platform;
	assert_true(end < last);
	OK(heddle_platform_parse("by hand", text, (size_t)(end - text), &platform));
	for (unsigned g = 1; g <= m->gpus; g++)
		platform->nodes[g].capacity = m->units * UNIT;
	return platform;
}

static inline void machine_start(struct machine *m)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.sched = m->sched ? m->sched : "eager";
	config.sched_options = m->options;
	config.trace = 1;
	config.virtual_time.noise = config.virtual_time.sched_cost = 0;
	config.pipeline = 0;
	if (m->eviction)
		config.eviction = m->eviction;
	if (m->expand)
		config.expand = m->expand;
	struct heddle_platform *platform = machine_platform(m);
	OK(heddle_start_on(&config, platform, 1, &m->rt));
	heddle_platform_free(platform);
	m->work = heddle_codelet_new(m->rt, .name = "work", .cpu = machine_kernel, .cuda = machine_kernel,
	                             .model = HEDDLE_MODEL_GIVEN, .time = machine_time, .footprint = machine_footprint);
	assert_non_null(m->work);
}

/* Data of one unit each, which begin in main memory. */
static inline void machine_data(const struct machine *m, size_t n, heddle_data **data)
{
	for (size_t i = 0; i < n; i++)
		OK(heddle_variable(m->rt, NULL, UNIT, &data[i]));
}

/* A task of `work` with the items given after its length in us. */
#define WORK(m, us, ...) OK(heddle_submit((m)->rt, heddle_call((m)->work), LASTS(us), __VA_ARGS__))

static inline struct heddle_stats machine_stats(const struct machine *m)
{
	struct heddle_stats stats;
	OK(heddle_runtime_stats(m->rt, &stats));
	return stats;
}

/* What happened since the start, or since it was asked last; the caller frees it. */
static inline struct heddle_trace *machine_trace(const struct machine *m)
{
	struct heddle_trace *trace;
	OK(heddle_wait_all(m->rt));
	OK(heddle_trace_take(m->rt, &trace));
	return trace;
}

/* The task with a submission number, in which waits and data count as well. */
static inline const struct heddle_trace_task *task_of(const struct heddle_trace *trace, uint64_t id)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].id == id)
			return &trace->tasks[i];
	fail_msg("task %llu has left no trace", (unsigned long long)id);
	return NULL;
}

#endif
