/* Pivots: one datum per column of tiles; each datum is a window of an array of the program, or a temporary. */
#include <dense/internal.h>
#include <stdio.h>
#include <stdlib.h>

static size_t minimum(size_t a, size_t b)
{
	return a < b ? a : b;
}

int heddle_dense_pivots_create(const heddle_dense_matrix *a, int *ipiv, heddle_dense_pivots **out)
{
	if (!a || !out)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_pivots_create needs a matrix and a place for its result");
	size_t tile = a->shape.tile, n = minimum(a->shape.rows, a->shape.columns), count = minimum(a->mt, a->nt);
	heddle_dense_pivots *pivots = calloc(1, sizeof *pivots + count * sizeof(heddle_data *));
	if (!pivots)
		return hd_dense_no_memory("pivots");
	pivots->dense = a->dense;
	pivots->rows = a->shape.rows;
	pivots->n = n;
	pivots->tile = tile;
	pivots->count = count;
	pivots->temporary = ipiv == NULL;
	for (size_t k = 0; k < count; k++) {
		int *part = ipiv ? ipiv + k * tile : NULL;
		int status =
		    heddle_vector(a->dense->rt, part, minimum(tile, n - k * tile), sizeof *part, &pivots->parts[k]);
		if (status < 0)
			return hd_dense_pivots_finish(pivots, status);
	}
	*out = pivots;
	return 0;
}

int heddle_dense_pivots_destroy(heddle_dense_pivots *pivots)
{
	if (!pivots)
		return 0;
	int status = 0;
	for (size_t k = 0; k < pivots->count && pivots->parts[k]; k++) {
		int s = pivots->temporary ? heddle_unregister_async(pivots->parts[k])
		                          : hd_dense_unregister(pivots->parts[k]);
		if (status == 0)
			status = s;
	}
	free(pivots);
	return status;
}

int hd_dense_pivots_finish(heddle_dense_pivots *pivots, int status)
{
	if (status >= 0)
		return heddle_dense_pivots_destroy(pivots);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	heddle_dense_pivots_destroy(pivots);
	return heddle_error(status, "%s", message);
}
