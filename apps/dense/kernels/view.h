/* Views: rectangles of column-major matrices, on which the kernels work, in four precisions.
 *
 * A kernel never keeps a view, and writes only to the views that its description names as written. It makes no thread,
 * allocates nothing and may run in any number of threads at the same time, on different data. Zero rows or columns are
 * allowed everywhere. */
#ifndef HD_DENSE_VIEW_H
#define HD_DENSE_VIEW_H

#include <stddef.h>
#include <string.h>

#define HD_TEMPLATE <dense/kernels/view.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Element (i, j) is a[i + j * ld], with i < m, j < n and m <= ld. */
struct P(view) {
	element *a; /* borrows; may be anything if m or n is 0 */
	int m, n;   /* rows, columns */
	int ld;     /* elements from one column to the next */
};

static inline struct P(view) P(view)(element *a, int m, int n, int ld)
{
	return (struct P(view)){a, m, n, ld};
}

/* The address of element (i, j). */
static inline element *P(at)(struct P(view) a, int i, int j)
{
	return a.a + i + (ptrdiff_t)j * a.ld;
}

/* The m rows and n columns from element (i, j) on. */
static inline struct P(view) P(part)(struct P(view) a, int i, int j, int m, int n)
{
	return (struct P(view)){P(at)(a, i, j), m, n, a.ld};
}

/* Whether `next` begins where `above` ends, as another part of the same matrix. */
static inline int P(follows)(struct P(view) above, struct P(view) next)
{
	return next.a == above.a + above.m && next.ld == above.ld && above.m + next.m <= above.ld;
}

/* Whether `next` begins where `left` ends on its right, as another part of the same matrix. */
static inline int P(is_beside)(struct P(view) left, struct P(view) next)
{
	return next.a == P(at)(left, 0, left.n) && next.ld == left.ld;
}

/* TO := FROM, which have the same shape. */
static inline void P(copy_to)(struct P(view) from, struct P(view) to)
{
	for (int j = 0; j < from.n; j++)
		memcpy(P(at)(to, 0, j), P(at)(from, 0, j), (size_t)from.m * sizeof(element));
}

#endif
