/* Tiles that are cut into smaller tiles: such a tile has a matrix of the smaller tiles, which may be cut in turn.
 *
 * The smaller tiles are the children of a plan (heddle_plan_create), so tasks may use a tile and its children in any
 * order. A tile finds its matrix by the pointer that the program may give a datum (heddle_data_set_user). */
#include <dense/internal.h>
#include <stdlib.h>
#include <string.h>

enum { APART = HD_DENSE_APART, MOST_APART = APART * APART * APART };

static size_t n_tiles(size_t extent, size_t tile)
{
	return extent / tile + (extent % tile != 0);
}

/* How a matrix is cut, and which part of it. */
struct refinement {
	const size_t *tiles; /* orders of tiles, the largest first */
	size_t n;
	size_t band; /* only tiles (i, j) with |i - j| at most this, on the first level */
};

/* Makes the matrix of the smaller tiles of `tile`, whose first row is `row`, and puts it into the list that begins at
 * `whole`. */
static int cut(heddle_dense_matrix *whole, heddle_data *tile, struct heddle_dense_shape shape, size_t row,
               heddle_dense_matrix **out)
{
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_TILES, .tile_x = shape.tile, .tile_y = shape.tile};
	size_t mt = n_tiles(shape.rows, shape.tile), nt = n_tiles(shape.columns, shape.tile);
	heddle_plan *plan;
	heddle_dense_matrix *part = calloc(1, sizeof *part + mt * nt * sizeof(heddle_data *));
	if (!part)
		return hd_dense_no_memory("smaller tiles");
	int status = heddle_plan_create(tile, &filter, &plan);
	if (status >= 0)
		status = heddle_data_set_user(tile, part);
	if (status < 0) {
		free(part);
		return status;
	}
	part->dense = whole->dense;
	part->shape = shape;
	part->mt = mt;
	part->nt = nt;
	part->temporary = whole->temporary;
	part->row = row;
	part->unit = 1;
	part->parts = whole->parts;
	whole->parts = part;
	for (size_t t = 0; t < mt * nt; t++)
		part->tiles[t] = heddle_plan_child(plan, t);
	*out = part;
	return 0;
}

static int cut_all(heddle_dense_matrix *whole, heddle_dense_matrix *a, const struct refinement *r)
{
	const struct refinement next = {r->tiles + 1, r->n - 1, SIZE_MAX};
	int status = 0;
	for (size_t j = 0; j < a->nt; j++) {
		for (size_t i = 0; status >= 0 && i < a->mt; i++) {
			heddle_dense_matrix *part = NULL;
			struct hd_dense_window w = hd_dense_tile_window(a, i, j);
			struct heddle_dense_shape shape = {
			    .precision = a->shape.precision, .rows = w.rows, .columns = w.columns, .tile = r->tiles[0]};
			if (!hd_dense_has_tile(a, i, j) || (i > j ? i - j : j - i) > r->band)
				continue;
			status = cut(whole, hd_dense_tile(a, i, j), shape, hd_dense_first_row(a, i), &part);
			if (status >= 0 && next.n > 0)
				status = cut_all(whole, part, &next);
		}
	}
	a->unit = APART;
	for (size_t level = 1; level < r->n && a->unit < MOST_APART; level++)
		a->unit *= APART;
	return status;
}

int heddle_dense_refine(heddle_dense_matrix *matrix, const size_t *tiles, size_t n_tiles, size_t band)
{
	if (!matrix || !tiles || n_tiles == 0)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_refine needs a matrix and orders of tiles");
	if (matrix->parts)
		return heddle_error(HEDDLE_E_STATE, "the tiles of this matrix are cut already");
	size_t larger = matrix->shape.tile;
	for (size_t i = 0; i < n_tiles; i++) {
		if (tiles[i] == 0 || tiles[i] > larger)
			return heddle_error(HEDDLE_E_INVALID, "tiles of order %zu cannot be cut into tiles of %zu",
			                    larger, tiles[i]);
		larger = tiles[i];
	}
	int status = hd_dense_hierarchical_codelets(matrix->dense, matrix->shape.precision);
	return status < 0 ? status : cut_all(matrix, matrix, &(struct refinement){tiles, n_tiles, band});
}

void hd_dense_widths(const heddle_dense_matrix *a, size_t widths[HD_DENSE_WIDTHS])
{
	memset(widths, 0, HD_DENSE_WIDTHS * sizeof *widths);
	for (size_t i = 0; i < HD_DENSE_WIDTHS - 1 && a && a->mt * a->nt > 0; i++) {
		a = hd_dense_refined(a->tiles[0]);
		widths[i] = a ? a->shape.tile : 0;
	}
}

void hd_dense_refined_free(heddle_dense_matrix *a)
{
	while (a->parts) {
		heddle_dense_matrix *part = a->parts;
		a->parts = part->parts;
		free(part);
	}
}
