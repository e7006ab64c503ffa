/* No runtime: the kernels of all tasks in a parallel loop, in no order. What this takes beyond the kernels is what the
 * machine takes, by interrupts and by giving its processors to others. on_heddle.h describes the functions. */
#ifndef BENCH_ON_LOOP_H
#define BENCH_ON_LOOP_H

#include "bench.h"

static size_t bench_count; /* tasks that bench_wait() is to run */
static int bench_n_threads;

static inline void bench_data(size_t n)
{
	(void)n;
}

static inline void bench_task0(void)
{
	bench_count++;
}

static inline void bench_task1(size_t w)
{
	(void)w;
	bench_count++;
}

static inline void bench_task2(size_t w, size_t a)
{
	(void)w, (void)a;
	bench_count++;
}

static inline void bench_task3(size_t w, size_t a, size_t b)
{
	(void)w, (void)a, (void)b;
	bench_count++;
}

static inline void bench_task4(size_t w, size_t a, size_t b, size_t c)
{
	(void)w, (void)a, (void)b, (void)c;
	bench_count++;
}

static inline void bench_wait(void)
{
	size_t n = bench_count;
	bench_count = 0;
#pragma omp parallel for num_threads(bench_n_threads) schedule(dynamic, 4)
	for (size_t i = 0; i < n; i++)
		bench_kernel();
}

static inline int bench_core(struct bench_core *core)
{
	(void)core;
	return 0;
}

static inline void bench_run(size_t workers, void (*body)(void *arg), void *arg)
{
	bench_n_threads = (int)workers;
	body(arg);
}

#endif
