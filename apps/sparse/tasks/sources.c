/* Where a tile of a front comes from: which tiles of its children, or of its parent, have part of it. This follows from
 * the analysis alone, so tasks have no lists. */
#include <sparse/tasks/tasks.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The first row from `row` on that is also the first one of its child from `top` on; `bottom`: there is none. Going
 * through rows takes less time than going through all children, of which a front may have thousands. */
static size_t next_child(const struct heddle_sparse_qr *qr, size_t f, size_t row, size_t top, size_t bottom)
{
	const struct hd_sparse_origin *origins = qr->origins + qr->row_at[f];
	for (; row < bottom; row++) {
		const struct hd_sparse_origin *o = &origins[row];
		if (o->child != HD_SPARSE_NONE &&
		    (o->row == 0 || (size_t)qr->analysis->fronts[o->child].up_row[o->row - 1] < top))
			break;
	}
	return row;
}

static size_t child_of(const struct heddle_sparse_qr *qr, size_t f, size_t row)
{
	return qr->origins[qr->row_at[f] + row].child;
}

/* The part of a piece that is in a tile of the child: visits it, if there is one. Of the contribution, only what is on
 * and above its diagonal counts. */
static int visit_tile(const struct heddle_sparse_qr *qr, const struct hd_sparse_piece *piece, size_t rows,
                      struct hd_sparse_source *s, hd_sparse_visit visit, void *arg)
{
	size_t tile = qr->options.tile, pivots = piece->child->n_pivots, top = s->tile_row * tile;
	size_t left = s->tile_column * tile, columns = hd_sparse_tile_columns(qr, piece->child, s->tile_column);
	size_t row = larger(top, pivots + piece->row), column = larger(left, pivots + piece->column);
	size_t right = smaller(left + columns, pivots + piece->column + piece->columns);
	size_t below = smaller(smaller(top + rows, pivots + piece->row + piece->rows), right);
	if (below <= row || right <= column)
		return 0;
	s->piece = (struct hd_sparse_piece){piece->child, row - pivots, column - pivots, below - row, right - column};
	s->row = row - top;
	s->column = column - left;
	return visit(arg, s);
}

static int visit_tiles(const struct heddle_sparse_qr *qr, const struct hd_sparse_piece *piece, size_t c,
                       hd_sparse_visit visit, void *arg)
{
	const struct hd_sparse_front *child = piece->child;
	size_t tile = qr->options.tile, row = child->n_pivots + piece->row, column = child->n_pivots + piece->column;
	int status = 0;
	for (size_t k = column / tile; status == 0 && k * tile < column + piece->columns; k++)
		for (size_t i = row / tile; status == 0 && i * tile < row + piece->rows; i++) {
			struct hd_sparse_source s = {.front = c, .tile_row = i, .tile_column = k};
			status = visit_tile(qr, piece, hd_sparse_tile_rows(qr, child, i, k), &s, visit, arg);
		}
	return status;
}

int hd_sparse_tile_sources(const struct heddle_sparse_qr *qr, size_t f, size_t i, size_t k, hd_sparse_visit visit,
                           void *arg)
{
	const struct hd_sparse_front *fronts = qr->analysis->fronts;
	size_t tile = qr->options.tile, columns = hd_sparse_tile_columns(qr, &fronts[f], k), top = i * tile;
	size_t bottom = top + hd_sparse_tile_rows(qr, &fronts[f], i, k);
	int status = 0;
	for (size_t row = next_child(qr, f, top, top, bottom); status == 0 && row < bottom;
	     row = next_child(qr, f, row + 1, top, bottom)) {
		size_t c = child_of(qr, f, row);
		struct hd_sparse_piece piece = hd_sparse_piece(&fronts[c], top, k * tile, bottom - top, columns);
		if (piece.rows == 0 || piece.columns == 0)
			continue;
		if (fronts[c].subtree == HD_SPARSE_NONE)
			status = visit_tiles(qr, &piece, c, visit, arg);
		else
			status = visit(arg, &(struct hd_sparse_source){
			                        .piece = piece, .front = c, .row = piece.row, .column = piece.column});
	}
	return status;
}

int hd_sparse_up_sources(const struct heddle_sparse_qr *qr, size_t f, size_t i, hd_sparse_visit visit, void *arg)
{
	const struct hd_sparse_front *fronts = qr->analysis->fronts;
	size_t tile = qr->options.tile, top = i * tile, bottom = top + hd_sparse_rows_of_tile(qr, &fronts[f], i);
	int status = 0;
	for (size_t first = next_child(qr, f, top, top, bottom); status == 0 && first < bottom;
	     first = next_child(qr, f, first + 1, top, bottom)) {
		size_t c = child_of(qr, f, first);
		const struct hd_sparse_front *child = &fronts[c];
		size_t row = qr->origins[qr->row_at[f] + first].row;
		size_t end = hd_sparse_search(child->up_row, child->n_contributed, bottom);
		size_t before = child->n_pivots;
		int whole = child->subtree != HD_SPARSE_NONE;
		for (size_t next; status == 0 && row < end; row = next) {
			size_t t = whole ? 0 : (before + row) / tile;
			next = whole ? end : smaller(end, (t + 1) * tile - before);
			struct hd_sparse_source s = {.piece = {child, row, 0, next - row, 0},
			                             .front = c,
			                             .tile_row = t,
			                             .row = before + row - t * tile};
			if (whole)
				s.row += qr->row_at[c] - qr->row_at[qr->analysis->subtrees[child->subtree].first_front];
			status = visit(arg, &s);
		}
	}
	return status;
}

int hd_sparse_down_sources(const struct heddle_sparse_qr *qr, size_t f, size_t row, size_t rows, hd_sparse_visit visit,
                           void *arg)
{
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t tile = qr->options.tile, first = front->n_pivots, last = first + front->n_contributed;
	size_t i = larger(row, first), end = smaller(row + rows, last);
	int status = 0;
	for (size_t next; status == 0 && i < end; i = next) {
		size_t t = (size_t)front->up_row[i - first] / tile;
		next = first + hd_sparse_search(front->up_row, front->n_contributed, (t + 1) * tile);
		next = smaller(next, end);
		const struct hd_sparse_source s = {
		    .piece = {front, i - first, 0, next - i, 0}, .front = front->parent, .tile_row = t};
		status = visit(arg, &s);
	}
	return status;
}
