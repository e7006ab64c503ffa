/* Writes files of the Matrix Market, with as many digits as give back the same numbers. */
#include "matrix.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"

static double component(const struct heddle_sparse_matrix *matrix, int64_t element, int c)
{
	size_t i = (size_t)element * (size_t)hd_sparse_components(matrix->precision) + (size_t)c;
	return hd_sparse_is_single(matrix->precision) ? (double)((const float *)matrix->values)[i]
	                                              : ((const double *)matrix->values)[i];
}

static void write_element(FILE *file, const struct heddle_sparse_matrix *matrix, size_t column, int64_t element)
{
	char text[64];
	fprintf(file, "%lld %zu", (long long)matrix->row[element] + 1, column + 1);
	for (int c = 0; matrix->values && c < hd_sparse_components(matrix->precision); c++) {
		hd_print_into(text, sizeof text, " %.*g", hd_sparse_is_single(matrix->precision) ? 9 : 17,
		              component(matrix, element, c));
		fputs(text, file);
	}
	putc('\n', file);
}

int heddle_sparse_write(const char *path, const struct heddle_sparse_matrix *matrix)
{
	if (!path)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_write needs a path");
	int status = hd_sparse_check(matrix, "heddle_sparse_write");
	if (status)
		return status;
	FILE *file = fopen(path, "we");
	if (!file)
		return heddle_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(errno));
	int complex = hd_sparse_components(matrix->precision) == 2;
	fprintf(file, "%%%%MatrixMarket matrix coordinate %s general\n%zu %zu %zu\n",
	        !matrix->values ? "pattern"
	        : complex       ? "complex"
	                        : "real",
	        matrix->rows, matrix->columns, hd_sparse_n_elements(matrix));
	for (size_t j = 0; j < matrix->columns; j++)
		for (int64_t e = matrix->column_start[j]; e < matrix->column_start[j + 1]; e++)
			write_element(file, matrix, j, e);
	int failed = ferror(file);
	if (fclose(file) || failed)
		return heddle_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(errno));
	return 0;
}
