/* Filters: compute the windows of a datum that become its children. */
#include <stdlib.h>
#include <string.h>
#include "memory/windows.h"
#include "state/data.h"
#include "state/plan.h"

/* The number of pieces into which a dimension of `extent` elements is cut: tiles of `tile` elements; or, if `tile` is
 * 0, `pieces` nearly equal pieces. */
static size_t count_pieces(size_t extent, size_t pieces, size_t tile)
{
	if (tile)
		return extent ? (extent - 1) / tile + 1 : 1;
	return pieces ? pieces : 1;
}

static void cut(size_t extent, size_t pieces, size_t tile, size_t i, size_t *offset, size_t *n)
{
	if (tile) {
		*offset = i * tile;
		*n = extent - *offset < tile ? extent - *offset : tile;
		return;
	}
	size_t base = extent / pieces, longer = extent % pieces; /* the first `longer` pieces have one more element */
	*offset = i * base + (i < longer ? i : longer);
	*n = base + (i < longer);
}

/* Widens a piece of one dimension into its neighbours, by up to `halo` elements on each side. */
static void widen(size_t extent, size_t halo, size_t *offset, size_t *n)
{
	size_t behind = extent - *offset - *n;
	size_t left = halo < *offset ? halo : *offset, right = halo < behind ? halo : behind;
	*offset -= left;
	*n += left + right;
}

/* Whether the filter cuts all dimensions: tiles, or tiles with a halo. */
static int is_grid(const struct heddle_filter *f)
{
	return f->kind == HEDDLE_SPLIT_TILES || f->kind == HEDDLE_SPLIT_HALO;
}

static void cut_grid(const struct heddle_part *p, const struct heddle_filter *f, size_t i, struct hd_window *w)
{
	size_t rows = count_pieces(p->n[0], f->nx, f->tile_x);
	cut(p->n[0], f->nx, f->tile_x, i % rows, &w->offset[0], &w->n[0]);
	if (p->n_dims > 1)
		cut(p->n[1], f->ny, f->tile_y, i / rows, &w->offset[1], &w->n[1]);
	if (f->kind != HEDDLE_SPLIT_HALO)
		return;
	widen(p->n[0], f->halo, &w->offset[0], &w->n[0]);
	if (p->n_dims > 1)
		widen(p->n[1], f->halo_y, &w->offset[1], &w->n[1]);
}

static int unknown_kind(const struct heddle_filter *f)
{
	return hd_error(
	    HEDDLE_E_INVALID,
	    "there is no filter of kind %d: kind is HEDDLE_SPLIT_VECTOR, _HALO, _COLUMNS, _ROWS, _TILES or _CUSTOM",
	    (int)f->kind);
}

static int window(const struct heddle_part *p, const struct heddle_filter *f, size_t i, struct hd_window *w)
{
	memcpy(w->n, p->n, sizeof w->n);
	switch (f->kind) {
	case HEDDLE_SPLIT_VECTOR:
	case HEDDLE_SPLIT_ROWS: cut(p->n[0], f->nx, f->tile_x, i, &w->offset[0], &w->n[0]); return 0;
	case HEDDLE_SPLIT_COLUMNS: cut(p->n[1], f->ny, f->tile_y, i, &w->offset[1], &w->n[1]); return 0;
	case HEDDLE_SPLIT_HALO:
	case HEDDLE_SPLIT_TILES: cut_grid(p, f, i, w); return 0;
	case HEDDLE_SPLIT_CUSTOM:
		return f->child(p, i, w->offset, w->n, f->arg)
		           ? hd_error(HEDDLE_E_INVALID, "the filter refused child %zu", i)
		           : 0;
	}
	return unknown_kind(f);
}

static size_t n_windows(const struct heddle_part *p, const struct heddle_filter *f)
{
	switch (f->kind) {
	case HEDDLE_SPLIT_VECTOR:
	case HEDDLE_SPLIT_ROWS: return count_pieces(p->n[0], f->nx, f->tile_x);
	case HEDDLE_SPLIT_COLUMNS: return count_pieces(p->n[1], f->ny, f->tile_y);
	case HEDDLE_SPLIT_HALO:
	case HEDDLE_SPLIT_TILES:
		return count_pieces(p->n[0], f->nx, f->tile_x) *
		       (p->n_dims > 1 ? count_pieces(p->n[1], f->ny, f->tile_y) : 1);
	case HEDDLE_SPLIT_CUSTOM: return f->n_children;
	}
	return 0;
}

static int check_pieces(size_t extent, size_t pieces, size_t tile, const char *what)
{
	if (!tile && !pieces)
		return hd_error(HEDDLE_E_INVALID, "the filter does not say into how many %s, nor of what size", what);
	if (!tile && pieces > extent)
		return hd_error(HEDDLE_E_INVALID, "%zu elements cannot be split into %zu %s", extent, pieces, what);
	return 0;
}

/* Checks whether the filter suits the number of dimensions: a filter for vectors would silently leave other dimensions
 * whole. */
static int check_dimensions(const struct heddle_filter *f, unsigned n_dims, const char *name)
{
	static const struct {
		const char *name;
		unsigned least, most;
	} kinds[] = {[HEDDLE_SPLIT_VECTOR] = {"HEDDLE_SPLIT_VECTOR", 1, 1},
	             [HEDDLE_SPLIT_HALO] = {"HEDDLE_SPLIT_HALO", 1, HEDDLE_MAX_DIMS},
	             [HEDDLE_SPLIT_COLUMNS] = {"HEDDLE_SPLIT_COLUMNS", 2, HEDDLE_MAX_DIMS},
	             [HEDDLE_SPLIT_ROWS] = {"HEDDLE_SPLIT_ROWS", 2, HEDDLE_MAX_DIMS},
	             [HEDDLE_SPLIT_TILES] = {"HEDDLE_SPLIT_TILES", 2, HEDDLE_MAX_DIMS},
	             [HEDDLE_SPLIT_CUSTOM] = {"HEDDLE_SPLIT_CUSTOM", 0, HEDDLE_MAX_DIMS}};
	if (n_dims >= kinds[f->kind].least && n_dims <= kinds[f->kind].most)
		return 0;
	const char *instead = n_dims == 0   ? "only HEDDLE_SPLIT_CUSTOM is for a variable"
	                      : n_dims == 1 ? "for a vector use HEDDLE_SPLIT_VECTOR or _HALO"
	                                    : "use HEDDLE_SPLIT_ROWS, _COLUMNS, _TILES or _HALO";
	return hd_error(HEDDLE_E_INVALID, "%s has %u dimension%s, which %s cannot split: %s", name, n_dims,
	                n_dims == 1 ? "" : "s", kinds[f->kind].name, instead);
}

int hd_filter_check(const heddle_data *d, const struct heddle_filter *f)
{
	char name[80];
	if ((unsigned)f->kind > HEDDLE_SPLIT_CUSTOM)
		return unknown_kind(f);
	hd_data_name_unlocked(d, name, sizeof name);
	if (hd_data_n_parts(d) != 1 || (d->traits & HD_DATA_OBJECT))
		return hd_error(HEDDLE_E_UNSUPPORTED, "%s: only data of one dense part can be split", name);
	int status = check_dimensions(f, d->part.n_dims, name);
	if (status)
		return status;
	if (f->kind == HEDDLE_SPLIT_VECTOR || f->kind == HEDDLE_SPLIT_ROWS || is_grid(f))
		status = check_pieces(d->part.n[0], f->nx, f->tile_x, "blocks");
	if (!status && (f->kind == HEDDLE_SPLIT_COLUMNS || (is_grid(f) && d->part.n_dims > 1)))
		status = check_pieces(d->part.n[1], f->ny, f->tile_y, "blocks of columns");
	if (!status && f->kind == HEDDLE_SPLIT_CUSTOM && (!f->child || !f->n_children))
		status = hd_error(HEDDLE_E_INVALID, "a custom filter needs n_children and child");
	return status;
}

static int check_window(const struct heddle_part *p, const struct hd_window *w, size_t i)
{
	for (unsigned d = 0; d < p->n_dims; d++)
		if (w->offset[d] > p->n[d] || w->n[d] > p->n[d] - w->offset[d])
			return hd_error(HEDDLE_E_INVALID, "child %zu reaches past its parent in dimension %u", i, d);
	return 0;
}

/* Computes the windows of all `n` children, and sets `shared` of windows that overlap. No child exists yet. */
static int make_windows(const struct heddle_part *p, const struct heddle_filter *f, struct hd_window *windows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int status = window(p, f, i, &windows[i]);
		if (!status)
			status = check_window(p, &windows[i], i);
		if (status)
			return status;
		windows[i].shared = f->kind == HEDDLE_SPLIT_HALO;
	}
	return f->kind == HEDDLE_SPLIT_CUSTOM ? hd_windows_overlap(windows, n, p->n_dims) : 0;
}

struct hd_window *hd_filter_windows(const struct heddle_part *p, const struct heddle_filter *f, size_t *n, int *status)
{
	*n = n_windows(p, f);
	struct hd_window *windows = calloc(*n, sizeof *windows);
	*status = windows ? make_windows(p, f, windows, *n) : hd_no_memory("children");
	if (!*status)
		return windows;
	free(windows);
	return NULL;
}
