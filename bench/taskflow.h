/* What on_taskflow.h calls: Taskflow is a library for C++. Nothing here may be called by two threads at once. */
#ifndef BENCH_TASKFLOW_H
#define BENCH_TASKFLOW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts workers; every task calls `kernel`. */
void taskflow_start(size_t workers, int async, void (*kernel)(void));
void taskflow_stop(void);
/* Makes n data, numbered from 0, in place of the former ones, which nothing has to use any more. */
void taskflow_data(size_t n);
/* A task without data. */
void taskflow_task0(void);
/* A task that comes after the last writers of n data, `after`, and is now the last writer of datum w. */
void taskflow_task(size_t w, const size_t *after, size_t n);
/* Runs what was built, waits until all tasks have ended, and frees them. */
void taskflow_wait(void);
/* The same, but runs what was built twice; returns the seconds of the second run. 0: this is not done with async. */
double taskflow_again(void);

#ifdef __cplusplus
}
#endif

#endif
