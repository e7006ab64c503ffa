/* What must hold of the analysis of any sparse matrix: check_analysis. */
#ifndef TEST_SPARSE_INVARIANTS_H
#define TEST_SPARSE_INVARIANTS_H

#include <math.h>
#include <stdlib.h>
#include <sparse/internal.h>
#include "ok.h"

static const int64_t none = -1;

static int64_t *filled(size_t n, int64_t value)
{
	int64_t *array = malloc((n + 1) * sizeof *array);
	assert_non_null(array);
	for (size_t i = 0; i < n; i++)
		array[i] = value;
	return array;
}

static void check_is_permutation(const int64_t *order, size_t n)
{
	int64_t *seen = filled(n, 0);
	for (size_t k = 0; k < n; k++) {
		assert_in_range(order[k], 0, n - 1);
		assert_int_equal(seen[order[k]]++, 0);
	}
	free(seen);
}

static void check_ascends(const int64_t *numbers, size_t n, size_t below)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(numbers[i] >= 0 && (size_t)numbers[i] < below);
		assert_true(i == 0 || numbers[i] > numbers[i - 1]);
	}
}

/* F by rows has each element of A once, where it belongs. */
static void check_rows(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a)
{
	size_t n_elements = (size_t)m->column_start[m->columns];
	int64_t *column_of = filled(n_elements, none), *seen = filled(n_elements, 0);
	for (size_t j = 0; j < m->columns; j++)
		for (int64_t e = m->column_start[j]; e < m->column_start[j + 1]; e++)
			column_of[e] = (int64_t)j;
	assert_int_equal(a->row_start[0], 0);
	assert_int_equal(a->row_start[a->rows], n_elements);
	for (size_t i = 0; i < a->rows; i++)
		for (int64_t e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
			int64_t source = a->source[e], row = a->row_order[i], column = a->column_order[a->column[e]];
			assert_int_equal(seen[source]++, 0);
			assert_int_equal(m->row[source], a->transposed ? column : row);
			assert_int_equal(column_of[source], a->transposed ? row : column);
			assert_true(e == a->row_start[i] || a->column[e] >= a->column[e - 1]);
		}
	for (size_t i = 1; i < a->rows; i++) { /* sorted by leftmost columns, rows without elements last */
		int is_empty = a->row_start[i] == a->row_start[i + 1];
		int after_empty = a->row_start[i - 1] == a->row_start[i];
		assert_true(is_empty || !after_empty);
		assert_true(is_empty || a->column[a->row_start[i - 1]] <= a->column[a->row_start[i]]);
	}
	free(column_of);
	free(seen);
}

/* The columns of a front are its pivots, and what its rows and children have behind them. */
static void check_columns(const struct heddle_sparse_analysis *a, const struct hd_sparse_front *front, int64_t *seen)
{
	size_t n = 0, end = front->first_pivot + front->n_pivots;
	check_ascends(front->columns, front->n_columns, a->columns);
	for (size_t j = 0; j < front->n_pivots; j++)
		assert_int_equal(front->columns[j], front->first_pivot + j);
	for (size_t j = 0; j < front->n_columns; j++)
		seen[front->columns[j]] = 1;
	for (int64_t e = a->row_start[front->first_row]; e < a->row_start[front->first_row + front->n_own_rows]; e++) {
		assert_true(seen[a->column[e]]);
		seen[a->column[e]] = 2;
	}
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
		for (size_t j = a->fronts[c].n_pivots; j < a->fronts[c].n_columns; j++) {
			assert_true(seen[a->fronts[c].columns[j]]);
			seen[a->fronts[c].columns[j]] = 2;
		}
	for (size_t j = 0; j < front->n_columns; j++) {
		n += (size_t)front->columns[j] >= end && seen[front->columns[j]] == 2;
		seen[front->columns[j]] = 0;
	}
	assert_int_equal(n, front->n_columns - front->n_pivots);
}

/* A row at `place` begins in column `leftmost`: leftmost[place] notes that, once. */
static void note_row(int64_t place, int64_t column, const struct hd_sparse_front *front, int64_t *leftmost)
{
	assert_true(place >= 0 && (size_t)place < front->n_rows);
	assert_int_equal(leftmost[place], none);
	leftmost[place] = column;
}

/* Its rows are sorted, each at a place of its own, and the staircase says where they begin. */
static void check_places(const struct heddle_sparse_analysis *a, const struct hd_sparse_front *front)
{
	int64_t *leftmost = filled(front->n_rows, none), n = 0;
	size_t rows = front->n_own_rows;
	for (size_t i = 0; i < front->n_own_rows; i++) {
		int64_t column = a->column[a->row_start[front->first_row + i]] - (int64_t)front->first_pivot;
		assert_true(column >= 0 && (size_t)column < front->n_pivots);
		note_row(front->own_place[i], column, front, leftmost);
	}
	check_ascends(front->own_place, front->n_own_rows, front->n_rows);
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling) {
		const struct hd_sparse_front *child = &a->fronts[c];
		rows += child->n_contributed;
		check_ascends(child->up_row, child->n_contributed, front->n_rows);
		check_ascends(child->up_column, child->n_columns - child->n_pivots, front->n_columns);
		for (size_t i = 0; i < child->n_contributed; i++)
			note_row(child->up_row[i], child->up_column[i], front, leftmost);
		for (size_t j = child->n_pivots; j < child->n_columns; j++)
			assert_int_equal(front->columns[child->up_column[j - child->n_pivots]], child->columns[j]);
	}
	assert_int_equal(rows, front->n_rows);
	for (size_t i = 1; i < front->n_rows; i++)
		assert_true(leftmost[i - 1] <= leftmost[i]);
	for (size_t j = 0; j < front->n_columns; j++) {
		while (n < (int64_t)front->n_rows && leftmost[n] <= (int64_t)j)
			n++;
		assert_int_equal(front->stair[j], n);
	}
	free(leftmost);
}

static void check_fronts(const struct heddle_sparse_analysis *a)
{
	size_t pivot = 0, row = 0, children = 0, roots = 0;
	int64_t *seen = filled(a->columns, 0);
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		assert_int_equal(front->first_pivot, pivot);
		assert_int_equal(front->first_row, row);
		assert_true(front->n_pivots > 0 && front->n_columns >= front->n_pivots);
		pivot += front->n_pivots;
		row += front->n_own_rows;
		size_t last = front->n_rows < front->n_columns ? front->n_rows : front->n_columns;
		assert_int_equal(front->n_contributed, last > front->n_pivots ? last - front->n_pivots : 0);
		assert_true(front->parent == HD_SPARSE_NONE || (front->parent > f && front->parent < a->n_fronts));
		assert_true(front->parent != HD_SPARSE_NONE || front->n_columns == front->n_pivots);
		roots += front->parent == HD_SPARSE_NONE;
		for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling) {
			children++;
			assert_int_equal(a->fronts[c].parent, f);
			assert_true(a->fronts[c].next_sibling == HD_SPARSE_NONE || a->fronts[c].next_sibling > c);
		}
		check_columns(a, front, seen);
		check_places(a, front);
	}
	assert_int_equal(pivot, a->columns);
	assert_int_equal(children + roots, a->n_fronts);
	for (size_t i = 0; i < a->rows; i++) /* only rows without elements are in no front */
		assert_int_equal(a->row_start[i] < a->row_start[i + 1], i < row);
	free(seen);
}

/* Postorder: all that is below a front comes directly before it. */
static void check_postorder(const struct heddle_sparse_analysis *a)
{
	size_t *below = calloc(a->n_fronts + 1, sizeof *below);
	for (size_t f = 0; f < a->n_fronts; f++) {
		size_t next = f - below[f];
		for (size_t c = a->fronts[f].first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling) {
			next += below[c];
			assert_int_equal(c, next++);
		}
		assert_int_equal(next, f);
		if (a->fronts[f].parent != HD_SPARSE_NONE)
			below[a->fronts[f].parent] += below[f] + 1;
	}
	free(below);
}

static void check_subtrees(const struct heddle_sparse_analysis *a)
{
	size_t inside = 0;
	for (size_t s = 0; s < a->n_subtrees; s++) {
		const struct hd_sparse_subtree *subtree = &a->subtrees[s];
		double flops = 0;
		for (size_t f = subtree->first_front; f <= subtree->root; f++) {
			size_t parent = a->fronts[f].parent;
			flops += a->fronts[f].flops;
			assert_int_equal(a->fronts[f].subtree, s);
			assert_true(subtree->work_elements >= a->fronts[f].n_rows * a->fronts[f].n_columns);
			assert_true(parent == HD_SPARSE_NONE || parent <= subtree->root || f == subtree->root);
		}
		assert_true(fabs(flops - subtree->flops) <= 1e-9 * flops);
		inside += subtree->root - subtree->first_front + 1;
	}
	for (size_t f = 0; f < a->n_fronts; f++) {
		inside -= a->fronts[f].subtree != HD_SPARSE_NONE;
		if (a->fronts[f].subtree != HD_SPARSE_NONE) { /* all that is below it, too */
			for (size_t c = a->fronts[f].first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
				assert_int_equal(a->fronts[c].subtree, a->fronts[f].subtree);
		}
	}
	assert_int_equal(inside, 0);
}

static void check_statistics(const struct heddle_sparse_analysis *a)
{
	struct heddle_sparse_statistics s = heddle_sparse_analysis_statistics(a);
	double flops = 0;
	size_t live = 0, most = 0;
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		size_t end = front->n_pivots < front->n_rows ? front->n_pivots : front->n_rows;
		for (size_t j = 0; j < front->n_columns; j++) {
			double rows = (double)front->stair[j] - (double)j;
			flops += rows > 0 ? 3 * rows + 4 * rows * (double)(front->n_columns - 1 - j) : 0;
			s.h_elements -= rows > 1 ? (size_t)rows - 1 : 0;
		}
		for (size_t i = 0; i < end; i++)
			s.r_elements -= front->n_columns - i;
		live += front->n_rows * front->n_columns;
		most = front->n_rows * front->n_columns > most ? front->n_rows * front->n_columns : most;
	}
	assert_true(fabs(flops - s.flops) <= 1e-9 * flops);
	assert_int_equal(s.r_elements, 0);
	assert_int_equal(s.h_elements, 0);
	assert_int_equal(s.fronts, a->n_fronts);
	assert_true(s.peak_elements >= most && s.peak_elements <= 3 * live);
	assert_true(s.seconds >= s.seconds_ordering);
}

static void check_analysis(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a)
{
	assert_int_equal(a->transposed, m->rows < m->columns);
	assert_int_equal(a->rows, m->rows < m->columns ? m->columns : m->rows);
	assert_int_equal(a->columns, m->rows < m->columns ? m->rows : m->columns);
	check_is_permutation(a->column_order, a->columns);
	check_is_permutation(a->row_order, a->rows);
	check_rows(m, a);
	check_fronts(a);
	check_postorder(a);
	check_subtrees(a);
	check_statistics(a);
}

#endif
