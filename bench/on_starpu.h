/* Tasks on StarPU, through its fastest interface: starpu_task_create and starpu_task_submit, without a performance
 * model. on_heddle.h describes the functions. STARPU_SCHED chooses the policy, STARPU_NCPU the number of workers; the
 * main thread comes on top of these. */
#ifndef BENCH_ON_STARPU_H
#define BENCH_ON_STARPU_H

#include <starpu.h>
#include "bench.h"

static int bench_gate_open; /* atomic */
static starpu_data_handle_t *bench_handles;
static double *bench_values;
static size_t n_bench_handles;

static inline void starpu_kernel(void *buffers[], void *arg)
{
	(void)buffers, (void)arg;
	bench_kernel();
}

static inline void starpu_gate(void *buffers[], void *arg)
{
	(void)buffers, (void)arg;
	while (!__atomic_load_n(&bench_gate_open, __ATOMIC_ACQUIRE))
		;
}

#define STARPU_CODELET(function, n, ...)                                         \
	{                                                                        \
		.cpu_funcs = {function}, .nbuffers = n, .modes = { __VA_ARGS__ } \
	}
static struct starpu_codelet starpu_codelets[5] = {
    STARPU_CODELET(starpu_kernel, 0, STARPU_NONE),
    STARPU_CODELET(starpu_kernel, 1, STARPU_RW),
    STARPU_CODELET(starpu_kernel, 2, STARPU_RW, STARPU_R),
    STARPU_CODELET(starpu_kernel, 3, STARPU_RW, STARPU_R, STARPU_R),
    STARPU_CODELET(starpu_kernel, 4, STARPU_RW, STARPU_R, STARPU_R, STARPU_R),
};
static struct starpu_codelet starpu_gate_codelet = STARPU_CODELET(starpu_gate, 1, STARPU_RW);

/* Unregisters the former data and makes n new ones. n = 0 ends the use of data. */
static inline void bench_data(size_t n)
{
	for (size_t i = 0; i < n_bench_handles; i++)
		starpu_data_unregister(bench_handles[i]);
	free(bench_handles);
	free(bench_values);
	n_bench_handles = n;
	bench_handles = calloc(n + 1, sizeof *bench_handles);
	bench_values = calloc(n + 1, sizeof *bench_values);
	bench_need(bench_handles && bench_values, "no memory for the data");
	for (size_t i = 0; i < n; i++)
		starpu_variable_data_register(&bench_handles[i], STARPU_MAIN_RAM, (uintptr_t)&bench_values[i],
		                              sizeof bench_values[i]);
}

static inline void bench_submit(struct starpu_codelet *codelet, size_t n, const size_t *data)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = codelet;
	for (size_t i = 0; i < n; i++)
		task->handles[i] = bench_handles[data[i]];
	bench_need(starpu_task_submit(task) == 0, "starpu_task_submit failed");
}

static inline void bench_task0(void)
{
	bench_submit(&starpu_codelets[0], 0, NULL);
}

static inline void bench_task1(size_t w)
{
	bench_submit(&starpu_codelets[1], 1, (const size_t[]){w});
}

static inline void bench_task2(size_t w, size_t a)
{
	bench_submit(&starpu_codelets[2], 2, (const size_t[]){w, a});
}

static inline void bench_task3(size_t w, size_t a, size_t b)
{
	bench_submit(&starpu_codelets[3], 3, (const size_t[]){w, a, b});
}

static inline void bench_task4(size_t w, size_t a, size_t b, size_t c)
{
	bench_submit(&starpu_codelets[4], 4, (const size_t[]){w, a, b, c});
}

static inline void bench_gate(size_t w)
{
	__atomic_store_n(&bench_gate_open, 0, __ATOMIC_RELEASE);
	bench_submit(&starpu_gate_codelet, 1, (const size_t[]){w});
}

static inline void bench_wait(void)
{
	starpu_task_wait_for_all();
}

static inline int bench_core(struct bench_core *core)
{
	(void)core;
	return 0;
}

/* Runs body(arg) with StarPU started. Data that are left are not unregistered, which would take long and is not
 * measured. */
static inline void bench_run(size_t workers, void (*body)(void *arg), void *arg)
{
	struct starpu_conf conf;
	(void)workers;
	starpu_conf_init(&conf);
	conf.ncuda = 0;
	conf.nopencl = 0;
	bench_need(starpu_init(&conf) == 0, "starpu_init failed");
	body(arg);
	fflush(stdout);
	_exit(0);
}

#endif
