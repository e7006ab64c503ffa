/* The matrix of tiles: a grid of data, which are windows of an array of the program, or temporaries. */
#include <dense/internal.h>
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static size_t minimum(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t n_tiles(size_t extent, size_t tile)
{
	return extent / tile + (extent % tile != 0);
}

int hd_dense_check_shape(const struct heddle_dense_shape *s)
{
	if ((unsigned)s->precision >= HEDDLE_DENSE_PRECISIONS)
		return heddle_error(HEDDLE_E_INVALID,
		                    "precision %d of a dense matrix is not a value of enum heddle_dense_precision",
		                    (int)s->precision);
	if ((unsigned)s->uplo > HEDDLE_DENSE_UPPER)
		return heddle_error(HEDDLE_E_INVALID,
		                    "part %d of a dense matrix is not a value of enum heddle_dense_uplo", (int)s->uplo);
	if (s->tile == 0 || s->tile > INT_MAX)
		return heddle_error(HEDDLE_E_INVALID, "tile order %zu of a dense matrix is not between 1 and %d",
		                    s->tile, INT_MAX);
	if (s->uplo != HEDDLE_DENSE_GENERAL && s->rows != s->columns)
		return heddle_error(HEDDLE_E_INVALID, "a triangular matrix must be square, this one is %zu x %zu",
		                    s->rows, s->columns);
	size_t mt = n_tiles(s->rows, s->tile), nt = n_tiles(s->columns, s->tile);
	if (mt > INT_MAX || nt > INT_MAX || (nt > 0 && mt > SIZE_MAX / sizeof(heddle_data *) / 2 / nt))
		return heddle_error(HEDDLE_E_INVALID, "%zu x %zu tiles are too many: take larger ones than %zu", mt, nt,
		                    s->tile);
	return 0;
}

static int tile_register(heddle_dense_matrix *matrix, char *a, size_t lda, size_t i, size_t j)
{
	struct hd_dense_window w = hd_dense_tile_window(matrix, i, j);
	size_t size = hd_dense_elem_size(matrix->shape.precision);
	char *base = a ? a + size * (w.row + w.column * lda) : NULL;
	heddle_data **tile = &matrix->tiles[i + j * matrix->mt];
	return heddle_matrix(matrix->dense->rt, base, w.rows, w.columns, a ? lda : w.rows, size, tile);
}

int heddle_dense_matrix_create(heddle_dense *dense, const struct heddle_dense_shape *shape, void *a, size_t lda,
                               heddle_dense_matrix **out)
{
	if (!dense || !shape || !out)
		return heddle_error(
		    HEDDLE_E_INVALID,
		    "heddle_dense_matrix_create needs a dense context, a shape and a place for its result");
	int status = hd_dense_check_shape(shape);
	if (status < 0)
		return status;
	if (a && (lda < shape->rows || lda > INT_MAX))
		return heddle_error(HEDDLE_E_INVALID,
		                    "leading dimension %zu of a matrix of %zu rows is not between %zu and %d", lda,
		                    shape->rows, shape->rows, INT_MAX);
	size_t mt = n_tiles(shape->rows, shape->tile), nt = n_tiles(shape->columns, shape->tile);
	heddle_dense_matrix *matrix = calloc(1, sizeof *matrix + mt * nt * sizeof(heddle_data *));
	if (!matrix)
		return hd_dense_no_memory("a dense matrix");
	matrix->dense = dense;
	matrix->shape = *shape;
	matrix->mt = mt;
	matrix->nt = nt;
	matrix->temporary = a == NULL;
	matrix->unit = 1;
	for (size_t j = 0; j < nt; j++) {
		for (size_t i = 0; i < mt; i++) {
			status = hd_dense_has_tile(matrix, i, j) ? tile_register(matrix, a, lda, i, j) : 0;
			if (status < 0)
				return hd_dense_finish(matrix, status);
		}
	}
	*out = matrix;
	return 0;
}

int heddle_dense_matrix_destroy(heddle_dense_matrix *matrix)
{
	if (!matrix)
		return 0;
	int status = 0;
	for (size_t t = 0; t < matrix->mt * matrix->nt; t++) {
		if (!matrix->tiles[t])
			continue;
		/* hierarchical tasks that have not been processed need the smaller tiles, too */
		int s = matrix->temporary && !matrix->parts ? heddle_unregister_async(matrix->tiles[t])
		                                            : hd_dense_unregister(matrix->tiles[t]);
		if (status == 0)
			status = s;
	}
	hd_dense_refined_free(matrix);
	free(matrix);
	return status;
}

int hd_dense_finish(heddle_dense_matrix *a, int status)
{
	if (status >= 0)
		return heddle_dense_matrix_destroy(a);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	heddle_dense_matrix_destroy(a);
	return heddle_error(status, "%s", message);
}

heddle_data *heddle_dense_tile(const heddle_dense_matrix *matrix, size_t i, size_t j)
{
	if (!matrix || i >= matrix->mt || j >= matrix->nt)
		return NULL;
	return matrix->tiles[i + j * matrix->mt];
}

struct heddle_dense_shape heddle_dense_matrix_shape(const heddle_dense_matrix *matrix)
{
	static const struct heddle_dense_shape none;
	return matrix ? matrix->shape : none;
}

int hd_dense_has_tile(const heddle_dense_matrix *a, size_t i, size_t j)
{
	return hd_dense_is_in(a->shape.uplo, i, j);
}

size_t hd_dense_elem_size(enum heddle_dense_precision precision)
{
	static const size_t sizes[] = {sizeof(double), sizeof(float), 2 * sizeof(double), 2 * sizeof(float)};
	return sizes[precision];
}

double hd_dense_roundoff(enum heddle_dense_precision precision)
{
	return (hd_dense_elem_size(precision) / (hd_dense_is_complex(precision) ? 2 : 1) == sizeof(double)
	            ? DBL_EPSILON
	            : (double)FLT_EPSILON) /
	       2;
}

struct hd_dense_window hd_dense_tile_window(const heddle_dense_matrix *a, size_t i, size_t j)
{
	size_t row = i * a->shape.tile, column = j * a->shape.tile;
	return (struct hd_dense_window){
	    .uplo = a->shape.uplo,
	    .order = a->shape.rows > a->shape.columns ? a->shape.rows : a->shape.columns,
	    .row = row,
	    .column = column,
	    .rows = minimum(a->shape.tile, a->shape.rows - row),
	    .columns = minimum(a->shape.tile, a->shape.columns - column),
	};
}

static int same_grid(const struct heddle_dense_shape *x, const struct heddle_dense_shape *y)
{
	return x->precision == y->precision && x->rows == y->rows && x->columns == y->columns && x->tile == y->tile &&
	       x->uplo == y->uplo;
}

static void copy_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	hd_dense_copy_tasks(flow, x->m[0], x->m[1], &(struct hd_dense_operand){.name = NULL});
}

int heddle_dense_copy_submit(heddle_dense_matrix *to, heddle_dense_matrix *from)
{
	if (!to || !from || to->dense != from->dense || !same_grid(&to->shape, &from->shape))
		return heddle_error(
		    HEDDLE_E_INVALID,
		    "heddle_dense_copy_submit needs two matrices of one dense context with the same precision, extents "
		    "and tiles");
	struct heddle_dense_options options = {.priority = HEDDLE_DENSE_PRIORITY_NONE};
	static const struct hd_dense_operation copy = {"copy", "BA", NULL, copy_tasks};
	return hd_dense_submit(&copy, &(struct hd_dense_args){.m = {to, from}}, &options);
}
