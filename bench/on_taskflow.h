/* Tasks on Taskflow. on_heddle.h describes the functions; taskflow.cpp has what is C++.
 *
 * Taskflow infers nothing: the program itself says after which tasks a task runs. As a program would, this keeps the
 * handle of the task that last wrote each datum. That is enough for the shapes in which no task writes what an
 * unfinished one reads, unless it waits for that one anyway: all but `readers`. BENCH_TASKFLOW chooses how: "graph",
 * the default, builds the whole graph, then runs it; "async" submits dependent tasks while others run.
 * BENCH_TASKFLOW_WORKERS is the number of workers; the submitting thread comes on top of these. */
#ifndef BENCH_ON_TASKFLOW_H
#define BENCH_ON_TASKFLOW_H

#include "bench.h"
#include "taskflow.h"

static inline void bench_data(size_t n)
{
	taskflow_data(n);
}

static inline void bench_task0(void)
{
	taskflow_task0();
}

static inline void bench_task1(size_t w)
{
	taskflow_task(w, &w, 1);
}

static inline void bench_task2(size_t w, size_t a)
{
	taskflow_task(w, (const size_t[]){w, a}, 2);
}

static inline void bench_task3(size_t w, size_t a, size_t b)
{
	taskflow_task(w, (const size_t[]){w, a, b}, 3);
}

/* Only the stencil has such tasks. There a task that comes after the writers of what it reads also comes after the
 * former writer of what it writes, which these waited for; a program would leave this edge out. */
static inline void bench_task4(size_t w, size_t a, size_t b, size_t c)
{
	taskflow_task(w, (const size_t[]){a, b, c}, 3);
}

static inline void bench_wait(void)
{
	taskflow_wait();
}

static inline int bench_core(struct bench_core *core)
{
	(void)core;
	return 0;
}

/* Taskflow can run a graph again that was built before; the others build it each time. BENCH_AGAIN(): the seconds of
 * another run of the graph that was submitted last, without its construction; 0: the tasks are submitted anew each
 * time. */
#define BENCH_AGAIN taskflow_again

static inline void bench_run(size_t workers, void (*body)(void *arg), void *arg)
{
	const char *wanted = getenv("BENCH_TASKFLOW_WORKERS"), *way = getenv("BENCH_TASKFLOW");
	bench_need(!way || strcmp(way, "graph") == 0 || strcmp(way, "async") == 0,
	           "BENCH_TASKFLOW is neither graph nor async");
	taskflow_start(wanted ? strtoul(wanted, NULL, 10) : workers, way && strcmp(way, "async") == 0, bench_kernel);
	body(arg);
	taskflow_stop();
}

#endif
