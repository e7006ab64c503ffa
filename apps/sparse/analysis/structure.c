/* What a front is made of: its columns, its rows, and where rows and columns go in its parent (Davis: Algorithm 915,
 * SuiteSparseQR, 2011). */
#include "analysis.h"
#include <stdlib.h>
#include <string.h>

/* Rows of fronts and contributions follow from their numbers of columns alone. */
static void count_rows(struct heddle_sparse_analysis *a)
{
	for (size_t f = 0; f < a->n_fronts; f++) {
		struct hd_sparse_front *front = &a->fronts[f];
		front->n_rows += front->n_own_rows; /* its children have added theirs */
		size_t last = front->n_rows < front->n_columns ? front->n_rows : front->n_columns;
		front->n_contributed = last > front->n_pivots ? last - front->n_pivots : 0;
		if (front->parent != HD_SPARSE_NONE)
			a->fronts[front->parent].n_rows += front->n_contributed;
	}
}

static const int64_t *take(int64_t **memory, size_t n)
{
	*memory += n;
	return *memory - n;
}

/* The arrays of all fronts, in one block of memory. */
static int allocate(struct heddle_sparse_analysis *a)
{
	size_t n = 0;
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		n += 3 * front->n_columns - front->n_pivots + front->n_own_rows + front->n_contributed;
	}
	int64_t *memory = a->memory = hd_sparse_allocate(n, sizeof *memory);
	if (!memory)
		return hd_sparse_no_memory("the fronts of a matrix");
	for (size_t f = 0; f < a->n_fronts; f++) {
		struct hd_sparse_front *front = &a->fronts[f];
		front->columns = take(&memory, front->n_columns);
		front->stair = take(&memory, front->n_columns);
		front->own_place = take(&memory, front->n_own_rows);
		front->up_row = take(&memory, front->n_contributed);
		front->up_column = take(&memory, front->n_columns - front->n_pivots);
	}
	return 0;
}

/* Columns are gone through in order, and so a front's columns are found in order: column k is one of them if a row with
 * k belongs to it or to a descendant, which are the fronts on the way up from the front of the row. `last`: the column
 * that was last found for each front; `n_found`: how many there are already. */
static void find_columns(struct hd_sparse_work *work, const int64_t *front_of_row, int64_t *last, int64_t *n_found)
{
	const struct hd_sparse_pattern *f = work->f;
	struct heddle_sparse_analysis *a = work->analysis;
	for (size_t g = 0; g < a->n_fronts; g++) {
		int64_t *columns = (int64_t *)a->fronts[g].columns;
		last[g] = -1;
		n_found[g] = (int64_t)a->fronts[g].n_pivots;
		for (size_t k = 0; k < a->fronts[g].n_pivots; k++)
			columns[k] = (int64_t)(a->fronts[g].first_pivot + k);
	}
	for (size_t k = 0; k < f->columns; k++) {
		int64_t column = work->tree.order[k];
		size_t own = (size_t)work->front_of[k];
		for (int64_t e = f->column_start[column]; e < f->column_start[column + 1]; e++) {
			size_t g = (size_t)front_of_row[f->column_rows[e]];
			for (; g != own && last[g] != (int64_t)k; g = a->fronts[g].parent) {
				((int64_t *)a->fronts[g].columns)[n_found[g]++] = (int64_t)k;
				last[g] = (int64_t)k;
			}
		}
	}
}

/* Columns of the contribution in the parent, of which place[k] is where column k is. */
static void find_up_columns(struct hd_sparse_front *child, const int64_t *place)
{
	for (size_t j = child->n_pivots; j < child->n_columns; j++)
		((int64_t *)child->up_column)[j - child->n_pivots] = place[child->columns[j]];
}

/* Sorts the rows of a front by their leftmost columns, by counting: at[j] is where the next row that begins in column j
 * comes. Its own rows come before rows of children. */
static void place_rows(struct heddle_sparse_analysis *a, struct hd_sparse_front *front, int64_t *at)
{
	int64_t *stair = (int64_t *)front->stair, n = 0;
	memset(at, 0, front->n_columns * sizeof *at);
	for (size_t i = 0; i < front->n_own_rows; i++)
		at[a->column[a->row_start[front->first_row + i]] - (int64_t)front->first_pivot]++;
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
		for (size_t i = 0; i < a->fronts[c].n_contributed; i++)
			at[a->fronts[c].up_column[i]]++;
	for (size_t j = 0; j < front->n_columns; j++) {
		stair[j] = n += at[j];
		at[j] = n - at[j];
	}
	for (size_t i = 0; i < front->n_own_rows; i++)
		((int64_t *)front->own_place)[i] =
		    at[a->column[a->row_start[front->first_row + i]] - (int64_t)front->first_pivot]++;
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
		for (size_t i = 0; i < a->fronts[c].n_contributed; i++)
			((int64_t *)a->fronts[c].up_row)[i] = at[a->fronts[c].up_column[i]]++;
}

/* `place` and `at` have room for all columns. */
static void assemble(struct heddle_sparse_analysis *a, int64_t *place, int64_t *at)
{
	for (size_t f = 0; f < a->n_fronts; f++) {
		struct hd_sparse_front *front = &a->fronts[f];
		for (size_t j = 0; j < front->n_columns; j++)
			place[front->columns[j]] = (int64_t)j;
		for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
			find_up_columns(&a->fronts[c], place);
		place_rows(a, front, at);
	}
}

/* The front that each row of F belongs to. */
static void find_fronts_of_rows(const struct heddle_sparse_analysis *a, int64_t *front_of_row)
{
	for (size_t f = 0; f < a->n_fronts; f++)
		for (size_t i = 0; i < a->fronts[f].n_own_rows; i++)
			front_of_row[a->row_order[a->fronts[f].first_row + i]] = (int64_t)f;
}

int hd_sparse_structure(struct hd_sparse_work *work)
{
	struct heddle_sparse_analysis *a = work->analysis;
	size_t columns = work->f->columns;
	count_rows(a);
	int status = allocate(a);
	int64_t *front_of_row = hd_sparse_allocate(work->f->rows, sizeof *front_of_row);
	int64_t *place = hd_sparse_allocate(columns, sizeof *place), *at = hd_sparse_allocate(columns, sizeof *at);
	if (!status && (!front_of_row || !place || !at))
		status = hd_sparse_no_memory("the fronts of a matrix");
	if (!status) {
		find_fronts_of_rows(a, front_of_row);
		find_columns(work, front_of_row, place, at);
		assemble(a, place, at);
	}
	free(front_of_row);
	free(place);
	free(at);
	return status;
}
