/* Matrices by compressed columns, inside the library. */
#ifndef HD_SPARSE_MATRIX_H
#define HD_SPARSE_MATRIX_H

#include <sparse/internal.h>

/* matrix.c: bytes of an element; the real numbers that it has, 1 or 2. */
size_t hd_sparse_element_size(enum heddle_dense_precision precision);
int hd_sparse_components(enum heddle_dense_precision precision);
int hd_sparse_is_single(enum heddle_dense_precision precision);
/* malloc of n elements of `size` bytes; never NULL because there are no bytes. NULL: no memory, or too much. */
void *hd_sparse_allocate(size_t n, size_t size);
/* Returns HEDDLE_E_MEMORY with the sentence "out of memory for WHAT". */
int hd_sparse_no_memory(const char *what);
/* HEDDLE_E_INVALID: indices of this matrix are no int64_t; the sentence begins with `who`. */
int hd_sparse_check_extents(size_t rows, size_t columns, const char *who);
/* Whether this is a matrix. HEDDLE_E_INVALID: it is none; the sentence begins with `who` and says where. */
int hd_sparse_check(const struct heddle_sparse_matrix *matrix, const char *who);
static inline size_t hd_sparse_n_elements(const struct heddle_sparse_matrix *matrix)
{
	return (size_t)matrix->column_start[matrix->columns];
}

/* generate.c: reads the file `what`, if there is one or its name ends with .mtx; otherwise makes the matrix of that
 * name. */
int hd_sparse_load(const char *what, struct heddle_sparse_matrix *out);

/* Lists of elements by their columns, or by their rows. */
struct hd_sparse_lists {
	int64_t *start;  /* owns; one more than there are lists */
	int64_t *index;  /* owns; the row, or the column, of each element */
	int64_t *source; /* owns; which element of the matrix it is */
};
/* transpose.c: the elements of a matrix by its rows. Columns ascend in each list; duplicates follow each other.
 * HEDDLE_E_MEMORY. */
int hd_sparse_by_rows(const struct heddle_sparse_matrix *matrix, struct hd_sparse_lists *out);
void hd_sparse_lists_free(struct hd_sparse_lists *lists);

/* Triplets of which the number is not known beforehand (triplets.c). Begins as zeros. */
struct hd_sparse_triplets {
	size_t n, size;
	int64_t *row, *column; /* own */
	double *value;         /* owns; `components` for each triplet */
	int components;        /* 1 or 2 */
};
/* HEDDLE_E_MEMORY. */
int hd_sparse_triplets_add(struct hd_sparse_triplets *triplets, size_t row, size_t column, const double *value);
/* Makes a matrix in double precision. Frees the triplets, also if it fails. */
int hd_sparse_triplets_finish(struct hd_sparse_triplets *triplets, size_t rows, size_t columns,
                              struct heddle_sparse_matrix *out);
void hd_sparse_triplets_free(struct hd_sparse_triplets *triplets);

#endif
