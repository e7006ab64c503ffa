/* Filters split a datum into several, its children, which share its buffer in main memory.
 *
 * Splitting and joining are control tasks that access the parent and all the children: PARTITION brings the parent to
 * main memory and makes the children windows of its buffer; UNPARTITION brings the children to main memory. In between,
 * tasks may not use the parent.
 */
#include <stdlib.h>
#include <string.h>
#include "core/runtime.h"

/* Into how many pieces one dimension is cut: tiles of a given length, or a given number of nearly equal pieces. */
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

static void cut_halo(const struct heddle_part *p, const struct heddle_filter *f, size_t i, struct hd_window *w)
{
	size_t first, n;
	cut(p->n[0], f->nx, f->tile_x, i, &first, &n);
	size_t behind = p->n[0] - first - n;
	size_t left = f->halo < first ? f->halo : first, right = f->halo < behind ? f->halo : behind;
	w->offset[0] = first - left;
	w->n[0] = left + n + right;
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
	size_t rows = count_pieces(p->n[0], f->nx, f->tile_x);
	switch (f->kind) {
	case HEDDLE_SPLIT_VECTOR:
	case HEDDLE_SPLIT_ROWS: cut(p->n[0], f->nx, f->tile_x, i, &w->offset[0], &w->n[0]); return 0;
	case HEDDLE_SPLIT_HALO: cut_halo(p, f, i, w); return 0;
	case HEDDLE_SPLIT_COLUMNS: cut(p->n[1], f->ny, f->tile_y, i, &w->offset[1], &w->n[1]); return 0;
	case HEDDLE_SPLIT_TILES:
		cut(p->n[0], f->nx, f->tile_x, i % rows, &w->offset[0], &w->n[0]);
		cut(p->n[1], f->ny, f->tile_y, i / rows, &w->offset[1], &w->n[1]);
		return 0;
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
	case HEDDLE_SPLIT_HALO:
	case HEDDLE_SPLIT_ROWS: return count_pieces(p->n[0], f->nx, f->tile_x);
	case HEDDLE_SPLIT_COLUMNS: return count_pieces(p->n[1], f->ny, f->tile_y);
	case HEDDLE_SPLIT_TILES:
		return count_pieces(p->n[0], f->nx, f->tile_x) * count_pieces(p->n[1], f->ny, f->tile_y);
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

static int check_filter(const heddle_data *d, const struct heddle_filter *f)
{
	char name[80];
	if ((unsigned)f->kind > HEDDLE_SPLIT_CUSTOM)
		return unknown_kind(f);
	hd_data_name_unlocked(d, name, sizeof name);
	if (hd_data_n_parts(d) != 1 || (d->traits & HD_DATA_OBJECT))
		return hd_error(HEDDLE_E_UNSUPPORTED, "%s: only data of one dense part can be split", name);
	unsigned dims = f->kind == HEDDLE_SPLIT_VECTOR || f->kind == HEDDLE_SPLIT_HALO ? 1
	                : f->kind == HEDDLE_SPLIT_CUSTOM                               ? 0
	                                                                               : 2;
	if (d->part.n_dims < dims)
		return hd_error(HEDDLE_E_INVALID, "%s has %u dimensions, the filter needs %u", name, d->part.n_dims,
		                dims);
	int status = 0;
	if (f->kind == HEDDLE_SPLIT_VECTOR || f->kind == HEDDLE_SPLIT_HALO || f->kind == HEDDLE_SPLIT_ROWS ||
	    f->kind == HEDDLE_SPLIT_TILES)
		status = check_pieces(d->part.n[0], f->nx, f->tile_x, "blocks");
	if (!status && (f->kind == HEDDLE_SPLIT_COLUMNS || f->kind == HEDDLE_SPLIT_TILES))
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

/* Makes the windows of all children, and finds out which overlap, before any child is made. */
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

/* Makes the handle of one child. The child gets its place in main memory when PARTITION has run. */
static int make_child(heddle_data *d, struct heddle_part part, const struct hd_window *w, heddle_data **out)
{
	size_t offset = 0;
	for (unsigned dim = 0; dim < part.n_dims; dim++) {
		part.n[dim] = w->n[dim];
		offset += w->offset[dim] * part.stride[dim];
	}
	part.base = NULL;
	heddle_data *child;
	int status = hd_data_create(d->rt, &part, 1, &child);
	if (status)
		return status;
	/* because the child is in the runtime's list of data, where heddle_check may be reading it */
	hd_core_enter(d->rt);
	/* the strides are the parent's; hd_data_create has set those of a dense array */
	memcpy(child->part.stride, part.stride, sizeof part.stride);
	/* until PARTITION has run: the distance, in bytes, from the parent's address */
	child->part.base = (void *)(uintptr_t)(offset * part.elem_size);
	child->parent = d;
	child->read_only = (uint8_t)(w->shared || d->read_only);
	hd_replica_set_valid(&child->replicas[0], 0);
	hd_core_leave(d->rt);
	*out = child;
	return 0;
}

/* Frees children that no task uses. The lock is held. */
static void drop_children(heddle_runtime *rt, heddle_data **children, size_t n)
{
	HD_HELD(&rt->lock);
	for (size_t i = 0; i < n; i++)
		hd_data_destroy(children[i]);
	free(children);
}

/* Makes the children that `f` describes, in an array that the caller owns; NULL on error. Needs no lock, because the
 * datum does not change before adopt_children. */
static heddle_data **make_children(heddle_data *d, const struct heddle_filter *f, size_t *n_children, int *status)
{
	hd_core_enter(d->rt); /* because PARTITION of the datum's own parent sets d->part */
	const struct heddle_part part = d->part;
	hd_core_leave(d->rt);
	size_t n = n_windows(&part, f), made = 0;
	heddle_data **children = calloc(n, sizeof(heddle_data *));
	struct hd_window *windows = calloc(n, sizeof *windows);
	*status = children && windows ? make_windows(&part, f, windows, n) : hd_no_memory("children");
	while (made < n && !*status && !(*status = make_child(d, part, &windows[made], &children[made])))
		made++;
	free(windows);
	*n_children = n;
	if (!*status)
		return children;
	hd_core_enter(d->rt);
	drop_children(d->rt, children, made);
	hd_core_leave(d->rt);
	return NULL;
}

/* Makes the control task that splits or joins a datum. The lock is held. */
static heddle_task *family_task(heddle_data *d, int kind, heddle_data *const *children, size_t n, unsigned child_mode)
{
	HD_HELD(&d->rt->lock);
	heddle_task *t = hd_control_make(d->rt, kind, 1 + n);
	if (!t)
		return NULL;
	hd_task_set_access(t, 0, d, HEDDLE_RW);
	for (size_t i = 0; i < n; i++)
		hd_task_set_access(t, i + 1, children[i], child_mode);
	return t;
}

/* Gives the children to the datum and puts PARTITION into the graph, if the datum is open. The lock is held throughout,
 * so that this is one step for other threads. */
static int adopt_children(heddle_data *d, heddle_data **children, size_t n)
{
	HD_HELD(&d->rt->lock);
	hd_control_begin(d->rt);
	int status = hd_data_check_open(d, "heddle_partition");
	struct hd_data_extra *extra = status ? NULL : hd_data_extra(d);
	heddle_task *t = extra ? family_task(d, HD_TASK_PARTITION, children, n, HEDDLE_W) : NULL;
	if (!t)
		return status ? status : HEDDLE_E_MEMORY;
	/* The children are not staged with PARTITION, because they have no place before it has run. */
	for (uint32_t i = 1; i < t->n_accesses; i++)
		t->accesses[i].flags |= HD_ACCESS_LATE;
	extra->children = children;
	extra->n_children = n;
	hd_data_close(d, HD_PARTITIONED);
	hd_control_enter(d->rt, t);
	return 0;
}

int heddle_partition(heddle_data *d, const struct heddle_filter *filter, size_t *n_children)
{
	if (!d || !filter)
		return hd_error(HEDDLE_E_INVALID, "heddle_partition needs a datum and a filter");
	int status = hd_check_process(d->rt);
	if (!status)
		status = hd_data_seems_closed(d, "heddle_partition"); /* adopt_children checks again, under the lock */
	if (!status)
		status = check_filter(d, filter);
	if (status)
		return status;
	size_t n;
	heddle_runtime *rt = d->rt;
	heddle_data **children = make_children(d, filter, &n, &status);
	if (!children)
		return status;
	hd_core_enter(rt);
	status = adopt_children(d, children, n);
	if (status)
		drop_children(rt, children, n);
	hd_core_leave(rt);
	if (!status && n_children)
		*n_children = n;
	return status;
}

void hd_partition_staged(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	heddle_data *d = t->accesses[0].data;
	struct heddle_part whole;
	hd_data_part_at(d, &d->replicas[0], 0, &whole);
	/* Those that still wait for blocks would read the buffer while tasks write the children. */
	for (size_t i = 0; i < d->rt->n_nodes; i++)
		hd_prefetch_forget(&d->replicas[i]);
	for (uint32_t i = 1; i < t->n_accesses; i++) {
		heddle_data *child = t->accesses[i].data;
		struct hd_replica *home = &child->replicas[0];
		size_t offset = (size_t)(uintptr_t)child->part.base;
		home->ptr = (char *)whole.base + offset;
		home->user_buffer = 1;
		child->part.base = home->ptr;
		memcpy(child->part.stride, whole.stride, sizeof whole.stride);
	}
}

heddle_data *heddle_child(heddle_data *d, size_t i)
{
	if (!d) {
		hd_error(HEDDLE_E_INVALID, "heddle_child needs a datum");
		return NULL;
	}
	if (hd_check_process(d->rt))
		return NULL;
	hd_core_enter(d->rt); /* another thread may be calling heddle_unpartition */
	int partitioned = hd_data_closed(d) == HD_PARTITIONED;
	heddle_data *child = partitioned && i < d->extra->n_children ? d->extra->children[i] : NULL;
	hd_core_leave(d->rt);
	if (!child)
		hd_error(HEDDLE_E_INVALID,
		         partitioned ? "there is no child %zu" : "the datum is not partitioned: no child %zu", i);
	return child;
}

/* Takes the children from the datum and puts UNPARTITION into the graph, in one step like adopt_children. */
static int give_up_children(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	hd_control_begin(d->rt);
	if (hd_data_closed(d) != HD_PARTITIONED)
		return hd_error(HEDDLE_E_STATE, "heddle_unpartition: the datum is not partitioned");
	struct hd_data_extra *extra = d->extra;
	for (size_t i = 0; i < extra->n_children; i++)
		if (hd_data_closed(extra->children[i]) == HD_PARTITIONED)
			return hd_error(HEDDLE_E_STATE, "heddle_unpartition: child %zu is still partitioned itself", i);
	heddle_task *t = family_task(d, HD_TASK_UNPARTITION, extra->children, extra->n_children, HEDDLE_RW);
	if (!t)
		return HEDDLE_E_MEMORY;
	for (size_t i = 0; i < extra->n_children; i++)
		hd_data_close(extra->children[i], HD_UNREGISTERED);
	free(extra->children); /* only the array: UNPARTITION frees the children */
	extra->children = NULL;
	extra->n_children = 0;
	hd_data_close(d, HD_OPEN);
	hd_control_enter(d->rt, t);
	return 0;
}

int heddle_unpartition(heddle_data *d)
{
	if (!d)
		return hd_error(HEDDLE_E_INVALID, "heddle_unpartition needs a datum");
	heddle_runtime *rt = d->rt;
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int status = give_up_children(d);
	hd_core_leave(rt);
	return status;
}

int heddle_plan_create(heddle_data *data, const struct heddle_filter *filter, heddle_plan **out)
{
	(void)data;
	(void)filter;
	(void)out;
	return hd_error(HEDDLE_E_UNSUPPORTED, "there are no plans yet");
}

size_t heddle_plan_size(const heddle_plan *plan)
{
	(void)plan;
	return 0;
}

heddle_data *heddle_plan_child(const heddle_plan *plan, size_t i)
{
	(void)plan;
	(void)i;
	return NULL;
}

int heddle_plan_destroy(heddle_plan *plan)
{
	(void)plan;
	return hd_error(HEDDLE_E_UNSUPPORTED, "there are no plans yet");
}
