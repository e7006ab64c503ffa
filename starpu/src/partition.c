/* Data in parts: filters become plans of Heddle, whose layouts follow by themselves. */
#include "internal.h"
#include <stdarg.h>

/* An address that stands for the memory of a datum that has none yet, so that filters can compute with it. */
#define HD_NO_MEMORY ((uintptr_t)1 << 40)

/* A child as a window of the array of the root: heddle_filter's callback copies it. */
struct window {
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
};

/* The array of the parent, whose elements lie where `shape` says, in the dimensions of the root. */
struct array {
	unsigned n_dims;
	size_t n[HEDDLE_MAX_DIMS], stride[HEDDLE_MAX_DIMS];
};

static int copy_window(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                       size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	const struct window *w = (const struct window *)arg + i;
	(void)parent;
	memcpy(offset, w->offset, sizeof w->offset);
	memcpy(n, w->n, sizeof w->n);
	return 0;
}

/* The window of a child whose address and shape a filter has written. Returns false if the child is no window: its
 * strides are not those of dimensions of the parent. */
static bool find_window(const struct array *parent, const struct hd_shape *whole, const struct hd_shape *child,
                        struct starpu_data_state *h, struct window *w)
{
	if (child->elem_size != whole->elem_size || child->address < whole->address)
		return false;
	size_t left = (child->address - whole->address) / whole->elem_size;
	for (unsigned d = parent->n_dims; d-- > 0;) {
		w->offset[d] = parent->stride[d] ? left / parent->stride[d] : 0;
		left -= w->offset[d] * parent->stride[d];
		w->n[d] = 1;
	}
	for (unsigned k = 0; k < child->n_dims; k++) {
		unsigned d = 0;
		/* a dimension of extent 1 may be any; the first of several that have the same stride is meant */
		while (d < parent->n_dims && (parent->stride[d] != child->ld[k] || w->n[d] > 1))
			d++;
		if (d == parent->n_dims && child->n[k] > 1)
			return false;
		if (d < parent->n_dims && w->offset[d] + child->n[k] <= parent->n[d])
			w->n[d] = child->n[k];
		else if (child->n[k] > 1)
			return false;
		h->dim_of[k] = (unsigned char)(d < parent->n_dims ? d : k);
	}
	return left == 0;
}

/* Fills the structure of the parent as a filter sees it, and the array. */
static int see_parent(struct starpu_data_state *h, union hd_interface *seen, struct array *array)
{
	struct heddle_part part;
	int status = heddle_data_part(h->data, 0, &part);
	if (status)
		return status;
	array->n_dims = part.n_dims;
	size_t ld[HEDDLE_MAX_DIMS] = {1, 1, 1, 1};
	for (unsigned d = 0; d < part.n_dims; d++) {
		array->n[d] = part.n[d];
		array->stride[d] = part.stride[d];
	}
	for (unsigned d = 1; d < HEDDLE_MAX_DIMS; d++)
		ld[d] = h->dim_of[d] < part.n_dims ? part.stride[h->dim_of[d]] : 1;
	*seen = h->interface;
	h->kind->place(seen, part.base ? (uintptr_t)part.base : HD_NO_MEMORY, ld);
	return 0;
}

/* Makes the handle of child i and finds its window. */
static int make_child(struct starpu_data_state *parent, struct starpu_data_filter *filter, unsigned i, unsigned n,
                      struct window *window)
{
	union hd_interface seen, child = {0};
	struct array array;
	struct hd_shape whole, part;
	int status = see_parent(parent, &seen, &array);
	if (status)
		return status;
	const struct hd_kind *kind =
	    filter->get_child_ops ? hd_kind_of(filter->get_child_ops(filter, i)->interfaceid) : parent->kind;
	if (!kind || !kind->shape)
		return heddle_error(HEDDLE_E_UNSUPPORTED, "a filter makes child %u of a kind that is no array", i);
	struct starpu_data_state *h = parent->children[i] = hd_handle_child(parent, kind->id);
	if (!h)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a part of a datum");
	filter->filter_func(&seen, &child, filter, i, n);
	child.id = kind->id;
	h->interface = child;
	parent->kind->shape(&seen, &whole);
	h->kind->shape(&child, &part);
	if (!find_window(&array, &whole, &part, h, window))
		return heddle_error(HEDDLE_E_UNSUPPORTED,
		                    "a filter makes child %u of %u no window of its datum: a child has "
		                    "the element size and the strides of its datum, and lies inside",
		                    i, n);
	return 0;
}

/* Gives the children their data, when the plan is there. */
static void adopt(struct starpu_data_state *parent, heddle_plan *plan)
{
	for (unsigned i = 0; i < parent->n_children; i++) {
		struct starpu_data_state *h = parent->children[i];
		struct heddle_part part;
		h->data = heddle_plan_child(plan, i);
		heddle_data_set_user(h->data, h);
		if (h->has_buffer && !heddle_data_part(h->data, 0, &part))
			h->kind->place(&h->interface, (uintptr_t)part.base, (size_t[]){1, 1, 1, 1});
		if (h->init && parent->redux) {
			h->redux = parent->redux;
			hd_codelet_reduction(h);
		}
	}
}

/* Makes the children of `parent`, which has none, and the plan. */
static int plan(struct starpu_data_state *parent, struct starpu_data_filter *filter, unsigned n, heddle_plan **out)
{
	struct window *windows = calloc(n, sizeof *windows);
	int status = 0;
	parent->children = calloc(n, sizeof *parent->children);
	if (!windows || !parent->children)
		status = heddle_error(HEDDLE_E_MEMORY, "no memory for %u parts of a datum", n);
	else if (!parent->kind->shape)
		status = heddle_error(HEDDLE_E_UNSUPPORTED, "no filter cuts this kind of data");
	for (unsigned i = 0; i < n && !status; i++, parent->n_children = i)
		status = make_child(parent, filter, i, n, &windows[i]);
	struct heddle_filter cut = {.kind = HEDDLE_SPLIT_CUSTOM, .n_children = n, .child = copy_window, .arg = windows};
	if (!status)
		status = heddle_plan_create(parent->data, &cut, out);
	if (!status) {
		parent->has_plans = true;
		adopt(parent, *out);
	}
	free(windows);
	return status;
}

static void forget_children(struct starpu_data_state *parent)
{
	for (unsigned i = 0; i < parent->n_children; i++)
		if (parent->children[i])
			hd_handle_free(parent->children[i]);
	free(parent->children);
	parent->children = NULL;
	parent->n_children = 0;
}

static unsigned number_of_children(struct starpu_data_state *h, struct starpu_data_filter *filter)
{
	return filter->get_nchildren ? filter->get_nchildren(filter, h) : filter->nchildren;
}

/* The handles of children that tasks may still read, until the runtime stops. */
static struct starpu_data_state *old_children;
static pthread_mutex_t old_children_lock = PTHREAD_MUTEX_INITIALIZER;

void hd_children_free_later(struct starpu_data_state **children, unsigned n)
{
	pthread_mutex_lock(&old_children_lock);
	for (unsigned i = 0; i < n; i++) {
		children[i]->next = old_children;
		old_children = children[i];
	}
	pthread_mutex_unlock(&old_children_lock);
	free(children);
}

void hd_starpu_forget_children(void)
{
	while (old_children) {
		struct starpu_data_state *h = old_children;
		old_children = h->next;
		hd_handle_free(h);
	}
}

/* --- Partition ---------------------------------------------------------------------------------------------------- */

void starpu_data_partition(starpu_data_handle_t h, struct starpu_data_filter *filter)
{
	int status = plan(h, filter, number_of_children(h, filter), &h->plan);
	if (hd_starpu_complain(__func__, status))
		forget_children(h);
}

void starpu_data_unpartition(starpu_data_handle_t h, unsigned gathering_node)
{
	(void)gathering_node;
	for (unsigned i = 0; i < h->n_children; i++) {
		if (h->children[i]->n_children)
			starpu_data_unpartition(h->children[i], gathering_node);
		if (h->children[i]->has_value)
			h->has_value = true;
	}
	if (!h->plan)
		return;
	hd_starpu_complain(__func__, heddle_plan_destroy(h->plan));
	h->plan = NULL;
	hd_children_free_later(h->children, h->n_children);
	h->children = NULL;
	h->n_children = 0;
}

void starpu_data_vmap_filters(starpu_data_handle_t h, unsigned nfilters, va_list filters)
{
	va_list rest;
	if (!nfilters)
		return;
	starpu_data_partition(h, va_arg(filters, struct starpu_data_filter *));
	for (unsigned i = 0; i < h->n_children; i++) {
		va_copy(rest, filters);
		starpu_data_vmap_filters(h->children[i], nfilters - 1, rest);
		va_end(rest);
	}
}

void starpu_data_map_filters(starpu_data_handle_t h, unsigned nfilters, ...)
{
	va_list filters;
	va_start(filters, nfilters);
	starpu_data_vmap_filters(h, nfilters, filters);
	va_end(filters);
}

int starpu_data_get_nb_children(starpu_data_handle_t h)
{
	return (int)h->n_children;
}

starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t h, unsigned i)
{
	return i < h->n_children ? h->children[i] : NULL;
}

starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t h, unsigned depth, va_list indices)
{
	for (unsigned d = 0; d < depth && h; d++)
		h = starpu_data_get_child(h, va_arg(indices, unsigned));
	return h;
}

starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t h, unsigned depth, ...)
{
	va_list indices;
	va_start(indices, depth);
	h = starpu_data_vget_sub_data(h, depth, indices);
	va_end(indices);
	return h;
}

/* --- Plans -------------------------------------------------------------------------------------------------------- */

void starpu_data_partition_plan(starpu_data_handle_t h, struct starpu_data_filter *filter,
                                starpu_data_handle_t *children)
{
	unsigned n = number_of_children(h, filter);
	struct starpu_data_state **kept = h->children;
	unsigned n_kept = h->n_children;
	heddle_plan *made = NULL;
	h->children = NULL;
	h->n_children = 0;
	if (hd_starpu_complain(__func__, plan(h, filter, n, &made)))
		forget_children(h);
	for (unsigned i = 0; i < n; i++) {
		children[i] = i < h->n_children ? h->children[i] : NULL;
		if (children[i])
			children[i]->of_plan = made;
	}
	free(h->children);
	h->children = kept;
	h->n_children = n_kept;
}

void starpu_data_partition_clean(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children)
{
	if (!n || !children[0])
		return;
	for (unsigned i = 0; i < n; i++)
		if (children[i]->has_value)
			h->has_value = true;
	hd_starpu_complain(__func__, heddle_plan_destroy(children[0]->of_plan));
	struct starpu_data_state **list = malloc(n * sizeof *list);
	if (list) { /* otherwise the handles stay */
		memcpy(list, children, n * sizeof *list);
		hd_children_free_later(list, n);
	}
}

void starpu_data_partition_submit(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children)
{
	(void)h, (void)n, (void)children;
}

void starpu_data_partition_readonly_submit(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children)
{
	(void)h, (void)n, (void)children;
}

void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children)
{
	(void)h, (void)n, (void)children;
}

void starpu_data_unpartition_submit(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children,
                                    int gathering_node)
{
	(void)gathering_node;
	for (unsigned i = 0; i < n; i++)
		if (children[i] && children[i]->has_value)
			h->has_value = true;
}

void starpu_data_unpartition_readonly_submit(starpu_data_handle_t h, unsigned n, starpu_data_handle_t *children,
                                             int gathering_node)
{
	(void)h, (void)n, (void)children, (void)gathering_node;
}

void starpu_data_partition_not_automatic(starpu_data_handle_t h)
{
	(void)h;
}
