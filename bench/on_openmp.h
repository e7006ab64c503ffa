/* Tasks on OpenMP, with `task depend`. The compiler chooses the runtime: gcc libgomp, clang libomp. on_heddle.h
 * describes the functions. Use at least two threads: a team of one runs each task when it is created, and builds no
 * graph. */
#ifndef BENCH_ON_OPENMP_H
#define BENCH_ON_OPENMP_H

#include "bench.h"

static char *bench_cells; /* one per datum; only their addresses are used */

static inline void bench_data(size_t n)
{
	free(bench_cells);
	bench_cells = calloc(n, 1);
	bench_need(bench_cells != NULL, "no memory for the data");
}

static inline void bench_task0(void)
{
#pragma omp task
	bench_kernel();
}

static inline void bench_task1(size_t w)
{
#pragma omp task depend(inout : bench_cells[w])
	bench_kernel();
}

static inline void bench_task2(size_t w, size_t a)
{
#pragma omp task depend(inout : bench_cells[w]) depend(in : bench_cells[a])
	bench_kernel();
}

static inline void bench_task3(size_t w, size_t a, size_t b)
{
#pragma omp task depend(inout : bench_cells[w]) depend(in : bench_cells[a], bench_cells[b])
	bench_kernel();
}

static inline void bench_task4(size_t w, size_t a, size_t b, size_t c)
{
#pragma omp task depend(inout : bench_cells[w]) depend(in : bench_cells[a], bench_cells[b], bench_cells[c])
	bench_kernel();
}

static inline void bench_wait(void)
{
#pragma omp taskwait
}

static inline int bench_core(struct bench_core *core)
{
	(void)core;
	return 0;
}

/* Runs body(arg) with the runtime started: one thread of the team submits, the others run tasks. */
static inline void bench_run(size_t workers, void (*body)(void *arg), void *arg)
{
#pragma omp parallel num_threads((int)workers)
#pragma omp single
	body(arg);
	free(bench_cells);
}

#endif
