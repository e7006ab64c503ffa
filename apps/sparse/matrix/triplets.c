/* Matrices from triplets: sorted by columns and rows by counting, duplicates added. */
#include "matrix.h"
#include <stdlib.h>
#include <string.h>

/* Counts the elements of each key: sets start[i] to the place at which the elements with key i begin when sorted. */
static void count(const int64_t *key, size_t n, int64_t *start, size_t n_lists)
{
	memset(start, 0, (n_lists + 1) * sizeof *start);
	for (size_t e = 0; e < n; e++)
		start[key[e] + 1]++;
	for (size_t i = 0; i < n_lists; i++)
		start[i + 1] += start[i];
}

/* Sorts the elements `from` (NULL: 0, 1, 2 ...) by their keys into `to`; elements with the same key stay in their
 * order. Afterwards start[i] is the place behind the elements with key i. */
static void distribute(const int64_t *key, const int64_t *from, size_t n, int64_t *start, int64_t *to)
{
	for (size_t e = 0; e < n; e++) {
		int64_t element = from ? from[e] : (int64_t)e;
		to[start[key[element]]++] = element;
	}
}

/* The triplets in the order of their columns, and of rows in each column. Afterwards start[i] is the place behind
 * column i. */
static int sort(const struct hd_sparse_triplets *t, size_t rows, size_t columns, int64_t *start, int64_t *order)
{
	int64_t *by_row = hd_sparse_allocate(t->n, sizeof *by_row);
	int64_t *row_start = hd_sparse_allocate(rows + 1, sizeof *row_start);
	int status = by_row && row_start ? 0 : hd_sparse_no_memory("sorting triplets");
	if (!status) {
		count(t->row, t->n, row_start, rows);
		distribute(t->row, NULL, t->n, row_start, by_row);
		count(t->column, t->n, start, columns);
		distribute(t->column, by_row, t->n, start, order);
	}
	free(by_row);
	free(row_start);
	return status;
}

static void add_value(struct heddle_sparse_matrix *out, size_t to, const void *values, size_t from)
{
	size_t components = (size_t)hd_sparse_components(out->precision);
	for (size_t c = 0; c < components; c++)
		if (hd_sparse_is_single(out->precision))
			((float *)out->values)[to * components + c] += ((const float *)values)[from * components + c];
		else
			((double *)out->values)[to * components + c] += ((const double *)values)[from * components + c];
}

/* Fills the matrix from the sorted triplets; `start` has where columns end. */
static void gather(const int64_t *row, const int64_t *order, const void *values, struct heddle_sparse_matrix *out)
{
	int64_t end, n = 0, e = 0;
	for (size_t j = 0; j < out->columns; j++) {
		end = out->column_start[j];
		out->column_start[j] = n;
		for (; e < end; e++) {
			if (n == out->column_start[j] || out->row[n - 1] != row[order[e]])
				out->row[n++] = row[order[e]];
			if (values)
				add_value(out, (size_t)n - 1, values, (size_t)order[e]);
		}
	}
	out->column_start[out->columns] = n;
}

static int check(size_t rows, size_t columns, size_t n, const int64_t *row, const int64_t *column)
{
	int status = hd_sparse_check_extents(rows, columns, "heddle_sparse_from_triplets");
	if (status)
		return status;
	for (size_t e = 0; e < n; e++)
		if (row[e] < 0 || column[e] < 0 || (uint64_t)row[e] >= rows || (uint64_t)column[e] >= columns)
			return heddle_error(
			    HEDDLE_E_INVALID,
			    "triplet %zu is in row %lld, column %lld (counted from 0), and the matrix is "
			    "%zu x %zu",
			    e, (long long)row[e], (long long)column[e], rows, columns);
	return 0;
}

int heddle_sparse_from_triplets(enum heddle_dense_precision precision, size_t rows, size_t columns, size_t n_elements,
                                const int64_t *row, const int64_t *column, const void *values,
                                struct heddle_sparse_matrix *out)
{
	struct hd_sparse_triplets t = {.n = n_elements, .row = (int64_t *)row, .column = (int64_t *)column};
	if (!out || (n_elements && (!row || !column)))
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_from_triplets needs rows, columns and a place "
		                                      "for its result");
	if ((unsigned)precision >= HEDDLE_DENSE_PRECISIONS)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_from_triplets: precision %d is none",
		                    (int)precision);
	int status = check(rows, columns, n_elements, row, column);
	if (status)
		return status;
	*out = (struct heddle_sparse_matrix){.precision = precision, .rows = rows, .columns = columns};
	size_t size = hd_sparse_element_size(precision);
	int64_t *order = hd_sparse_allocate(n_elements, sizeof *order);
	out->column_start = hd_sparse_allocate(columns + 1, sizeof *out->column_start);
	out->row = hd_sparse_allocate(n_elements, sizeof *out->row);
	out->values = values ? calloc(n_elements ? n_elements : 1, size) : NULL;
	if (!order || !out->column_start || !out->row || (values && !out->values))
		status = hd_sparse_no_memory("a sparse matrix");
	if (!status)
		status = sort(&t, rows, columns, out->column_start, order);
	if (!status)
		gather(row, order, values, out);
	free(order);
	if (status)
		heddle_sparse_matrix_free(out);
	return status;
}

/* Twice the room for triplets. */
static int grow(struct hd_sparse_triplets *t)
{
	size_t size = t->size ? 2 * t->size : 1024;
	int64_t *row = realloc(t->row, size * sizeof *row);
	t->row = row ? row : t->row;
	int64_t *column = row ? realloc(t->column, size * sizeof *column) : NULL;
	t->column = column ? column : t->column;
	double *value = column ? realloc(t->value, size * (size_t)t->components * sizeof *value) : NULL;
	t->value = value ? value : t->value;
	if (!value)
		return hd_sparse_no_memory("the elements of a sparse matrix");
	t->size = size;
	return 0;
}

int hd_sparse_triplets_add(struct hd_sparse_triplets *t, size_t row, size_t column, const double *value)
{
	if (t->n == t->size && grow(t))
		return HEDDLE_E_MEMORY;
	t->row[t->n] = (int64_t)row;
	t->column[t->n] = (int64_t)column;
	for (int c = 0; c < t->components; c++)
		t->value[t->n * (size_t)t->components + (size_t)c] = value[c];
	t->n++;
	return 0;
}

void hd_sparse_triplets_free(struct hd_sparse_triplets *t)
{
	free(t->row);
	free(t->column);
	free(t->value);
	*t = (struct hd_sparse_triplets){.components = t->components};
}

int hd_sparse_triplets_finish(struct hd_sparse_triplets *t, size_t rows, size_t columns,
                              struct heddle_sparse_matrix *out)
{
	static const double none[2];
	int status =
	    heddle_sparse_from_triplets(t->components == 2 ? HEDDLE_DENSE_COMPLEX_DOUBLE : HEDDLE_DENSE_DOUBLE, rows,
	                                columns, t->n, t->row, t->column, t->value ? t->value : none, out);
	hd_sparse_triplets_free(t);
	return status;
}
