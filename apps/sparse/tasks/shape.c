/* Tiles of fronts: which exist, and how many rows each has. */
#include <sparse/tasks/tasks.h>

enum { ROUND = 32 }; /* rows of clipped tiles are a multiple of it, so that models see few shapes */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t hd_sparse_rows_of_tile(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i)
{
	return smaller(qr->options.tile, front->n_rows - i * qr->options.tile);
}

size_t hd_sparse_tile_columns(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t k)
{
	return smaller(qr->options.tile, front->n_columns - k * qr->options.tile);
}

size_t hd_sparse_tile_rows(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k)
{
	size_t tile = qr->options.tile, last = smaller((k + 1) * tile, front->n_columns) - 1;
	size_t reach = (size_t)front->stair[last], first = i * tile;
	if (reach <= first)
		return 0;
	size_t rows = (reach - first + ROUND - 1) / ROUND * ROUND;
	return smaller(rows, hd_sparse_rows_of_tile(qr, front, i));
}

struct hd_sparse_job hd_sparse_job(const struct heddle_sparse_qr *qr, size_t subtree)
{
	return (struct hd_sparse_job){.analysis = qr->analysis,
	                              .tree = &qr->analysis->subtrees[subtree],
	                              .packing = qr->packing,
	                              .packed_at = qr->packed_at,
	                              .row_at = qr->row_at,
	                              .column_at = qr->column_at};
}

int hd_sparse_is_inside(const struct heddle_sparse_analysis *a, size_t f)
{
	size_t subtree = a->fronts[f].subtree;
	return subtree != HD_SPARSE_NONE && a->subtrees[subtree].root != f;
}
