/* R, part by part, for the thread that asks for it: it borrows the data one by one. */
#ifndef HD_SPARSE_TASKS_PARTS_H
#define HD_SPARSE_TASKS_PARTS_H

#include <complex.h>
#include <sparse/tasks/tasks.h>

/* A rectangle of R: rows of pivots from `row` of a front on, and columns of it from `column` on. What is below the
 * diagonal in it is not R's. */
struct hd_sparse_part {
	const struct hd_sparse_front *front;
	size_t row, column, rows, columns;
	const char *first; /* element; the others by bytes */
	size_t elem, ld;
};

/* Which parts are meant. */
struct hd_sparse_visitor {
	const struct heddle_sparse_qr *qr;
	int diagonal; /* parts with elements of the diagonal alone */
	/* returns 0, or a negative status, which ends the visits */
	int (*visit)(void *arg, const struct hd_sparse_part *part);
	void *arg;
};
/* Visits the parts of all fronts, or of front f. Waits for the tasks that make them. Returns the status of the first
 * visit that fails, or of a datum that cannot be had. */
int hd_sparse_visit_r(const struct hd_sparse_visitor *v);
int hd_sparse_visit_front(const struct hd_sparse_visitor *v, size_t f);

/* Waits for the tiles of R right of the diagonal, and leaves them where they are: a task without a codelet reads them,
 * which is cancelled if a task that makes one has failed. Returns its status. */
int hd_sparse_wait_for_r(struct heddle_sparse_qr *qr);

/* Element (i, j) of a part. */
double _Complex hd_sparse_value_at(const struct hd_sparse_part *p, size_t i, size_t j,
                                   enum heddle_dense_precision precision);
/* The elements of R in the rows of front f, n_pivots x n_columns, with zeros where there are none; column-major,
 * without gaps. The caller frees them. */
int hd_sparse_copy_r(const struct heddle_sparse_qr *qr, size_t f, void **out);

#endif
