/* The rows of F, sorted by their leftmost columns in the order of elimination. All columns of a row lie on one path of
 * the elimination tree, so that a row first meets the front of its leftmost column, and then only ancestors of it. */
#include "analysis.h"
#include <stdlib.h>
#include <string.h>

/* Rows are numbered as they are met when columns are gone through in order; each belongs to the front of the column
 * where it is met first. `number`: of each row. */
static void sort_rows(struct hd_sparse_work *work, int64_t *number)
{
	const struct hd_sparse_pattern *f = work->f;
	struct heddle_sparse_analysis *a = work->analysis;
	size_t n = 0;
	memset(number, 0xff, f->rows * sizeof *number);
	for (size_t g = 0; g < a->n_fronts; g++) {
		struct hd_sparse_front *front = &a->fronts[g];
		front->first_row = n;
		for (size_t k = front->first_pivot; k < front->first_pivot + front->n_pivots; k++) {
			int64_t column = work->tree.order[k];
			for (int64_t e = f->column_start[column]; e < f->column_start[column + 1]; e++)
				if (number[f->column_rows[e]] < 0) {
					a->row_order[n] = f->column_rows[e];
					number[f->column_rows[e]] = (int64_t)n++;
				}
		}
		front->n_own_rows = n - front->first_row;
	}
	for (size_t i = 0; i < f->rows; i++) /* rows without elements */
		if (number[i] < 0) {
			a->row_order[n] = (int64_t)i;
			number[i] = (int64_t)n++;
		}
}

/* While a row is filled, row_start[i + 1] is where its next element comes, and in the end where the next row begins. */
static void fill_rows(struct hd_sparse_work *work, const int64_t *number)
{
	const struct hd_sparse_pattern *f = work->f;
	struct heddle_sparse_analysis *a = work->analysis;
	int64_t at = 0;
	a->row_start[0] = 0;
	for (size_t i = 0; i < f->rows; i++) {
		a->row_start[i + 1] = at;
		at += f->row_start[a->row_order[i] + 1] - f->row_start[a->row_order[i]];
	}
	for (size_t k = 0; k < f->columns; k++) {
		int64_t column = work->tree.order[k];
		for (int64_t e = f->column_start[column]; e < f->column_start[column + 1]; e++) {
			int64_t to = a->row_start[number[f->column_rows[e]] + 1]++;
			a->column[to] = (int64_t)k;
			a->source[to] = f->source ? f->source[e] : e;
		}
	}
}

int hd_sparse_rows(struct hd_sparse_work *work)
{
	struct heddle_sparse_analysis *a = work->analysis;
	size_t rows = work->f->rows, n_elements = work->f->n_elements;
	int64_t *number = hd_sparse_allocate(rows, sizeof *number);
	a->row_order = hd_sparse_allocate(rows, sizeof *a->row_order);
	a->row_start = hd_sparse_allocate(rows + 1, sizeof *a->row_start);
	a->column = hd_sparse_allocate(n_elements, sizeof *a->column);
	a->source = hd_sparse_allocate(n_elements, sizeof *a->source);
	int status = 0;
	if (!number || !a->row_order || !a->row_start || !a->column || !a->source)
		status = hd_sparse_no_memory("the rows of a sparse matrix");
	if (!status) {
		sort_rows(work, number);
		fill_rows(work, number);
	}
	free(number);
	return status;
}
