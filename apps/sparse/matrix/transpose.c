/* The transpose of a pattern, by counting (Gustavson: Two fast algorithms for sparse matrices, 1978). */
#include "matrix.h"
#include <stdlib.h>
#include <string.h>

void hd_sparse_lists_free(struct hd_sparse_lists *lists)
{
	free(lists->start);
	free(lists->index);
	free(lists->source);
	memset(lists, 0, sizeof *lists);
}

/* start[i + 1]: where list i begins. Filling the lists moves each of these to where list i + 1 begins. */
static void count_rows(const struct heddle_sparse_matrix *matrix, int64_t *start)
{
	memset(start, 0, (matrix->rows + 1) * sizeof *start);
	for (size_t e = 0; e < hd_sparse_n_elements(matrix); e++)
		if ((size_t)matrix->row[e] + 2 <= matrix->rows)
			start[matrix->row[e] + 2]++;
	for (size_t i = 2; i <= matrix->rows; i++)
		start[i] += start[i - 1];
}

int hd_sparse_by_rows(const struct heddle_sparse_matrix *matrix, struct hd_sparse_lists *out)
{
	size_t n_elements = hd_sparse_n_elements(matrix);
	out->start = hd_sparse_allocate(matrix->rows + 1, sizeof *out->start);
	out->index = hd_sparse_allocate(n_elements, sizeof *out->index);
	out->source = hd_sparse_allocate(n_elements, sizeof *out->source);
	if (!out->start || !out->index || !out->source) {
		hd_sparse_lists_free(out);
		return hd_sparse_no_memory("the transpose of a matrix");
	}
	count_rows(matrix, out->start);
	for (size_t j = 0; j < matrix->columns; j++)
		for (int64_t e = matrix->column_start[j]; e < matrix->column_start[j + 1]; e++) {
			int64_t to = out->start[matrix->row[e] + 1]++;
			out->index[to] = (int64_t)j;
			out->source[to] = e;
		}
	return 0;
}
