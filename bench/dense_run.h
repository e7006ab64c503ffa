/* One run of a routine of libheddle-dense. */
#ifndef BENCH_DENSE_RUN_H
#define BENCH_DENSE_RUN_H

#include <heddle/dense.h>
#include "good.h"

/* Seconds from the first submission to the end of the last task, on fresh data. */
static inline double run_once(heddle_runtime *rt, heddle_dense_experiment *e)
{
	good(heddle_dense_experiment_fill(e));
	good(heddle_wait_all(rt));
	double start = bench_seconds();
	good(heddle_dense_experiment_submit(e));
	good(heddle_wait_all(rt));
	return bench_seconds() - start;
}

#endif
