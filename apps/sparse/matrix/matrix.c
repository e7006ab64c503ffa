/* What a matrix by compressed columns is: sizes of its elements, whether it is one. */
#include "matrix.h"
#include <stdlib.h>
#include <string.h>

int hd_sparse_is_single(enum heddle_dense_precision precision)
{
	return precision == HEDDLE_DENSE_SINGLE || precision == HEDDLE_DENSE_COMPLEX_SINGLE;
}

int hd_sparse_components(enum heddle_dense_precision precision)
{
	return precision == HEDDLE_DENSE_COMPLEX_DOUBLE || precision == HEDDLE_DENSE_COMPLEX_SINGLE ? 2 : 1;
}

size_t hd_sparse_element_size(enum heddle_dense_precision precision)
{
	return (hd_sparse_is_single(precision) ? sizeof(float) : sizeof(double)) *
	       (size_t)hd_sparse_components(precision);
}

void *hd_sparse_allocate(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return malloc(bytes ? bytes : 1);
}

int hd_sparse_no_memory(const char *what)
{
	return heddle_error(HEDDLE_E_MEMORY, "out of memory for %s", what);
}

int hd_sparse_check_extents(size_t rows, size_t columns, const char *who)
{
	if (rows <= INT64_MAX && columns < INT64_MAX)
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "%s: a matrix of %zu x %zu is too large", who, rows, columns);
}

static int check_shape(const struct heddle_sparse_matrix *matrix, const char *who)
{
	if (!matrix || !matrix->column_start)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a matrix, with its column_start", who);
	if ((unsigned)matrix->precision >= HEDDLE_DENSE_PRECISIONS)
		return heddle_error(HEDDLE_E_INVALID, "%s: precision %d is none", who, (int)matrix->precision);
	int status = hd_sparse_check_extents(matrix->rows, matrix->columns, who);
	if (!status && matrix->column_start[0] != 0)
		return heddle_error(HEDDLE_E_INVALID, "%s: column_start[0] is %lld instead of 0", who,
		                    (long long)matrix->column_start[0]);
	return status;
}

/* Before any element is looked at: column_start says how many there are. */
static int check_starts(const struct heddle_sparse_matrix *matrix, const char *who)
{
	const int64_t *start = matrix->column_start;
	for (size_t j = 0; j < matrix->columns; j++)
		if (start[j + 1] < start[j])
			return heddle_error(HEDDLE_E_INVALID,
			                    "%s: column_start[%zu] is %lld, less than the one before, %lld", who, j + 1,
			                    (long long)start[j + 1], (long long)start[j]);
	return start[matrix->columns] > 0 && !matrix->row
	           ? heddle_error(HEDDLE_E_INVALID, "%s needs the rows of the elements", who)
	           : 0;
}

static int check_rows(const struct heddle_sparse_matrix *matrix, const char *who)
{
	const int64_t *start = matrix->column_start;
	for (size_t j = 0; j < matrix->columns; j++)
		for (int64_t e = start[j]; e < start[j + 1]; e++)
			if (matrix->row[e] < 0 || (uint64_t)matrix->row[e] >= matrix->rows)
				return heddle_error(
				    HEDDLE_E_INVALID,
				    "%s: element %lld, in column %zu, is in row %lld, but there are %zu rows", who,
				    (long long)e, j, (long long)matrix->row[e], matrix->rows);
	return 0;
}

int hd_sparse_check(const struct heddle_sparse_matrix *matrix, const char *who)
{
	int status = check_shape(matrix, who);
	if (!status)
		status = check_starts(matrix, who);
	return status ? status : check_rows(matrix, who);
}

void heddle_sparse_matrix_free(struct heddle_sparse_matrix *matrix)
{
	if (!matrix)
		return;
	free(matrix->column_start);
	free(matrix->row);
	free(matrix->values);
	memset(matrix, 0, sizeof *matrix);
}
