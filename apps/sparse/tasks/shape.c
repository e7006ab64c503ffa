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

enum hd_sparse_end hd_sparse_tile_end(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i,
                                      size_t k)
{
	int has_r = i * qr->options.tile < hd_sparse_r_rows(front);
	if (has_r || (i >= k && !qr->options.drop_q))
		return HD_SPARSE_STAYS;
	return i > k ? HD_SPARSE_WITH_FRONT : HD_SPARSE_WITH_CONTRIBUTION;
}

int hd_sparse_has_copy(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k)
{
	int is_written = i > k || (k + 1 < hd_sparse_column(qr, front, k).end);
	return is_written && hd_sparse_is_head(qr, front, i, k) && (k + 1) * qr->options.tile < front->n_columns;
}

static void tile_elements(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front,
                          size_t elements[HD_SPARSE_N_ENDS])
{
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	for (size_t k = 0; k < nt; k++) {
		size_t columns = hd_sparse_tile_columns(qr, front, k);
		for (size_t i = 0; i < mt; i++) {
			size_t rows = hd_sparse_tile_rows(qr, front, i, k);
			if (rows == 0)
				break; /* nor do those below exist */
			elements[hd_sparse_tile_end(qr, front, i, k)] += rows * columns;
			size_t factors = i < k ? 0 : i > k && hd_sparse_is_head(qr, front, i, k) ? 2 : 1;
			elements[qr->options.drop_q ? HD_SPARSE_WITH_FRONT : HD_SPARSE_STAYS] +=
			    factors * qr->packing.inner * columns;
			if (hd_sparse_has_copy(qr, front, i, k))
				elements[HD_SPARSE_WITH_FRONT] += rows * columns;
		}
	}
}

void hd_sparse_elements(const struct heddle_sparse_qr *qr, size_t f, size_t elements[HD_SPARSE_N_ENDS])
{
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	for (int end = 0; end < HD_SPARSE_N_ENDS; end++)
		elements[end] = 0;
	if (front->subtree == HD_SPARSE_NONE) {
		tile_elements(qr, front, elements);
		return;
	}
	const struct hd_sparse_job job = hd_sparse_job(qr, front->subtree);
	if (job.tree->root != f)
		return;
	elements[HD_SPARSE_STAYS] = qr->packed_at[f] + hd_sparse_packed(front, &qr->packing);
	elements[HD_SPARSE_WITH_CONTRIBUTION] = front->n_contributed * hd_sparse_rest(front);
	elements[HD_SPARSE_WITH_FRONT] = hd_sparse_subtree_work(&job);
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
