/* Tasks on Heddle. on_openmp.h and on_starpu.h have the same functions for the other runtimes, on_loop.h for none, so
 * that one source serves all of them:
 *
 *   bench_run(workers, body, arg)   starts the runtime, runs body(arg) in the submitting thread, stops it
 *   bench_data(n)                   makes n data, numbered from 0, in place of the former ones
 *   bench_task0() ... bench_task4(w, r, r, r)   submit one task that calls bench_kernel
 *   bench_gate(w)                   submits a task on datum w that lasts until bench_gate_open is set (not OpenMP)
 *   bench_wait()                    waits until all tasks have ended
 *   bench_core(core)                what the runtime has counted so far of its sequential core; 0: it does not count it
 *
 * Settings other than the number of workers are Heddle's defaults; HEDDLE_* variables change them. The waiting thread
 * is one of the `workers` threads, as in a team of OpenMP (setting caller_works).
 */
#ifndef BENCH_ON_HEDDLE_H
#define BENCH_ON_HEDDLE_H

#include <heddle.h>
#include "bench.h"

static int bench_gate_open; /* atomic */
static heddle_runtime *bench_rt;
static heddle_codelet *empty, *gate;
static heddle_data **bench_handles;
static double *bench_values;
static size_t n_bench_handles;

static inline void heddle_good(int status)
{
	if (status < 0)
		bench_need(0, heddle_last_error());
}

static inline int heddle_empty_kernel(heddle_context *c)
{
	(void)c;
	bench_kernel();
	return 0;
}

static inline int heddle_gate_kernel(heddle_context *c)
{
	(void)c;
	while (!__atomic_load_n(&bench_gate_open, __ATOMIC_ACQUIRE))
		;
	return 0;
}

static inline void bench_data(size_t n)
{
	for (size_t i = 0; i < n_bench_handles; i++)
		heddle_good(heddle_unregister(bench_handles[i]));
	free(bench_handles);
	free(bench_values);
	n_bench_handles = n;
	bench_handles = calloc(n + 1, sizeof(heddle_data *));
	bench_values = calloc(n + 1, sizeof *bench_values);
	bench_need(bench_handles && bench_values, "no memory for the data");
	for (size_t i = 0; i < n; i++)
		heddle_good(heddle_variable(bench_rt, &bench_values[i], sizeof bench_values[i], &bench_handles[i]));
}

static inline void bench_task0(void)
{
	heddle_good(heddle_submit(bench_rt, heddle_call(empty)));
}

static inline void bench_task1(size_t w)
{
	heddle_good(heddle_submit(bench_rt, heddle_call(empty), heddle_rw(bench_handles[w])));
}

static inline void bench_task2(size_t w, size_t a)
{
	heddle_good(
	    heddle_submit(bench_rt, heddle_call(empty), heddle_rw(bench_handles[w]), heddle_r(bench_handles[a])));
}

static inline void bench_task3(size_t w, size_t a, size_t b)
{
	heddle_good(heddle_submit(bench_rt, heddle_call(empty), heddle_rw(bench_handles[w]), heddle_r(bench_handles[a]),
	                          heddle_r(bench_handles[b])));
}

static inline void bench_task4(size_t w, size_t a, size_t b, size_t c)
{
	heddle_good(heddle_submit(bench_rt, heddle_call(empty), heddle_rw(bench_handles[w]), heddle_r(bench_handles[a]),
	                          heddle_r(bench_handles[b]), heddle_r(bench_handles[c])));
}

static inline void bench_gate(size_t w)
{
	__atomic_store_n(&bench_gate_open, 0, __ATOMIC_RELEASE);
	heddle_good(heddle_submit(bench_rt, heddle_call(gate), heddle_rw(bench_handles[w])));
}

static inline void bench_wait(void)
{
	heddle_good(heddle_wait_all(bench_rt));
}

static inline int bench_core(struct bench_core *core)
{
	struct heddle_stats stats;
	heddle_good(heddle_runtime_stats(bench_rt, &stats));
	*core = (struct bench_core){.us = stats.core_time, .entries = (double)stats.core_entries};
	return 1;
}

/* With more workers than cores, no worker is bound to a core. */
static inline void bench_start(struct heddle_config *config, size_t workers)
{
	if ((long)workers <= sysconf(_SC_NPROCESSORS_ONLN)) {
		config->n_cpu = (int)workers;
		heddle_good(heddle_start(config, &bench_rt));
		return;
	}
	char text[256];
	struct heddle_platform *platform;
	int length = snprintf(text, sizeof text,
	                      "version: 1\nname: oversubscribed\nnodes:\n- {name: ram, capacity_mib: 0}\nclasses:\n"
	                      "- {name: cpu, kind: cpu}\nworkers:\n- {name: cpu, count: %zu, class: cpu, node: ram}\n",
	                      workers);
	heddle_good(heddle_platform_parse("oversubscribed", text, (size_t)length, &platform));
	heddle_good(heddle_start_on(config, platform, 0, &bench_rt));
	heddle_platform_free(platform);
}

static inline void bench_run(size_t workers, void (*body)(void *arg), void *arg)
{
	struct heddle_config config;
	heddle_good(heddle_config_init(&config));
	config.model_dir = "none";
	if (!getenv("HEDDLE_CALLER_WORKS"))
		config.caller_works = 1;
	bench_start(&config, workers);
	empty = heddle_codelet_new(bench_rt, .name = "empty", .cpu = heddle_empty_kernel, .model = HEDDLE_MODEL_NONE);
	gate = heddle_codelet_new(bench_rt, .name = "gate", .cpu = heddle_gate_kernel, .model = HEDDLE_MODEL_NONE);
	bench_need(empty && gate, heddle_last_error());
	body(arg);
	bench_data(0);
	heddle_good(heddle_stop(bench_rt));
	free(bench_handles);
	free(bench_values);
}

#endif
