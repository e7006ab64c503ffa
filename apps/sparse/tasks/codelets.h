/* The data of tasks as views, in four precisions. */
#ifndef HD_SPARSE_CODELETS_H
#define HD_SPARSE_CODELETS_H

#include <sparse/tasks/tasks.h>

#define HD_TEMPLATE <sparse/tasks/codelets.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Datum i of a task. */
static inline struct P(view) P(datum)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

#endif
