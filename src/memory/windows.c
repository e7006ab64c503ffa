/* Windows: replicas of children that lie inside the replica of their parent on the same node. windows.h states the
 * invariants. */
#include "windows.h"
#include <string.h>
#include "misuse/misuse.h"
#include "state/engine.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "allocation.h"
#include "transfers.h"

/* Whether the child `d` is read as a part of its parent, because the parent is not scattered over the child's plan. */
static int is_part(const heddle_data *d)
{
	return hd_data_layout(d->plan->data)->scattered != d->plan;
}

heddle_data *hd_window_owner(heddle_data *d)
{
	while (d->plan && is_part(d))
		d = d->plan->data;
	return d;
}

int hd_window_stays(const struct hd_replica *r)
{
	return !r->window || !is_part(hd_replica_data(r)) || hd_window_host(r)->valid;
}

/* --- Becoming a window -------------------------------------------------------------------------------------------- */

/* The address of the window `w` in `whole`, the part of a replica of the parent. */
static char *address(const struct hd_window *w, const struct heddle_part *whole)
{
	size_t offset = 0;
	for (unsigned dim = 0; dim < whole->n_dims; dim++)
		offset += w->offset[dim] * whole->stride[dim];
	return (char *)whole->base + offset * whole->elem_size;
}

/* Makes a child a window of its parent's buffer in main memory. */
static void place(const heddle_plan *p, size_t i, const struct heddle_part *whole)
{
	heddle_data *child = p->children[i];
	struct hd_replica *home = &child->replicas[0];
	home->ptr = address(&p->windows[i], whole);
	home->user_buffer = 1;
	home->window = 1;
	if (HD_UNLIKELY(child->rt->misuse != NULL))
		hd_misuse_registered(child);
	child->part.base = home->ptr;
	memcpy(child->part.stride, whole->stride, sizeof whole->stride);
}

void hd_plan_place(const heddle_plan *p)
{
	const heddle_data *d = p->data;
	HD_HELD(&d->rt->lock);
	struct heddle_part whole;
	if (!d->replicas[0].ptr)
		return;
	hd_data_part_at(d, &d->replicas[0], 0, &whole);
	for (size_t i = 0; i < p->n_children; i++)
		place(p, i, &whole);
}

/* Whether an unallocated replica outside main memory can become a window. */
static int can_attach(const struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	if (!d->plan || !d->plan->active || r->node == 0)
		return 0;
	const struct hd_replica *host = hd_window_host(r);
	return host->ptr && (is_part(d) ? host->valid : !d->read_only);
}

static void attach(struct hd_replica *r, size_t i)
{
	heddle_data *d = hd_replica_data(r);
	const heddle_plan *p = d->plan;
	struct hd_replica *host = hd_window_host(r);
	r->ptr = host->ptr;
	if (d->rt->engine->alloc) {
		struct heddle_part whole;
		hd_data_part_at(p->data, host, 0, &whole);
		r->ptr = address(&p->windows[i], &whole);
	}
	r->window = 1;
	d->n_away++;
	hd_data_layout(p->data)->n_windows[r->node]++;
	if (r->pins)
		hd_replica_pin(host);
	hd_replica_set_valid(r, is_part(d));
}

int hd_window_attach(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	if (HD_LIKELY(!d->plan) || r->ptr || !can_attach(r))
		return r->window;
	size_t i = 0;
	while (d->plan->children[i] != d)
		i++;
	attach(r, i);
	return 1;
}

struct hd_replica *hd_window_base(struct hd_replica *r)
{
	while (r->window || (!r->ptr && can_attach(r)))
		r = hd_window_host(r);
	return r;
}

/* --- When a replica is no window any more ------------------------------------------------------------------------- */

void hd_window_detach(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_replica *host = hd_window_host(r);
	r->window = 0;
	if (r->node == 0)
		return;
	struct hd_layout *l = hd_data_layout(hd_replica_data(host));
	if (--l->n_windows[r->node] == 0 && !host->valid && !host->pins)
		hd_memory_free(host);
}

/* Frees the window `r`. If the parent `whole` is poisoned and the child has no valid replica, poisons the child. */
static void free_window(struct hd_replica *r, const heddle_data *whole)
{
	heddle_data *d = hd_replica_data(r);
	hd_memory_free(r);
	if (HD_UNLIKELY(whole->poisoned) && !d->n_valid && !d->poisoned)
		hd_data_spoil(d, whole->extra->cause ? hd_format("%s", whole->extra->cause) : NULL);
}

void hd_window_unpinned(struct hd_replica *r)
{
	HD_HELD(&hd_replica_data(r)->rt->lock);
	struct hd_replica *host = hd_window_host(r);
	hd_replica_unpin(host);
	if (r->window && r->node && !hd_window_stays(r))
		free_window(r, hd_replica_data(host));
}

void hd_windows_free(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	r->pins++; /* pinned, so that the free of the last window does not free `r` */
	for (const heddle_plan *p = hd_data_layout(d)->plans; p; p = p->next)
		for (size_t i = 0; i < p->n_children; i++)
			if (p->children[i]->replicas[r->node].window)
				free_window(&p->children[i]->replicas[r->node], d);
	r->pins--;
}

/* --- What layouts need -------------------------------------------------------------------------------------------- */

static int is_split_to_read(const heddle_data *d)
{
	const struct hd_layout *l = hd_data_layout(d);
	return l && !l->scattered;
}

int hd_windows_hinder(const heddle_data *d, unsigned node)
{
	return node && is_split_to_read(d) && !d->replicas[node].valid && hd_data_layout(d)->n_windows[node];
}

/* Called when the parent has become valid on `node`: makes child `i` of the plan a valid window on the node, unless the
 * child has memory of its own there. */
static void follow(const heddle_plan *p, size_t i, unsigned node)
{
	heddle_data *child = p->children[i];
	struct hd_replica *r = &child->replicas[node];
	if (node && r->ptr && !r->window && !r->pins)
		hd_memory_free(r);
	if (node && !r->ptr)
		attach(r, i);
	if (node && !r->window)
		return;
	hd_replica_set_valid(r, 1);
	if (is_split_to_read(child))
		hd_windows_follow(r);
}

void hd_windows_follow(struct hd_replica *r)
{
	const heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	for (const heddle_plan *p = hd_data_layout(d)->plans; p; p = p->next)
		for (size_t i = 0; p->active && i < p->n_children; i++)
			follow(p, i, r->node);
}

void hd_windows_scatter(const heddle_plan *p)
{
	heddle_data *d = p->data;
	HD_HELD(&d->rt->lock);
	hd_adapt_replaced(&d->rt->adapt, d, SIZE_MAX);
	for (size_t n = 0; n < d->rt->n_nodes; n++) {
		struct hd_replica *r = &d->replicas[n];
		hd_replica_set_valid(r, 0);
		if (n && r->ptr && !r->pins && !hd_windows_in(r))
			hd_memory_free(r);
	}
}

/* Whether all children are valid windows of the datum's replica on the node. */
static int is_complete(const heddle_plan *p, size_t node)
{
	if (!p->data->replicas[node].ptr && node)
		return 0;
	if (node && hd_data_layout(p->data)->n_windows[node] < p->n_children)
		return 0;
	for (size_t i = 0; i < p->n_children; i++)
		if (!p->children[i]->replicas[node].valid)
			return 0;
	return 1;
}

void hd_windows_gather(const heddle_plan *p)
{
	heddle_data *d = p->data;
	HD_HELD(&d->rt->lock);
	for (size_t n = 0; n < d->rt->n_nodes; n++)
		if (is_complete(p, n))
			hd_replica_set_valid(&d->replicas[n], 1);
}

/* Makes a child invalid in main memory, and all data that are read as parts of it. */
static void void_at_home(heddle_data *d)
{
	hd_drop_prefetches_from(&d->replicas[0]);
	hd_replica_set_valid(&d->replicas[0], 0);
	for (const heddle_plan *p = is_split_to_read(d) ? hd_data_layout(d)->plans : NULL; p; p = p->next)
		for (size_t i = 0; p->active && i < p->n_children; i++)
			void_at_home(p->children[i]);
}

void hd_windows_settle(const heddle_plan *p)
{
	const heddle_data *d = p->data;
	HD_HELD(&d->rt->lock);
	for (size_t n = 0; n < d->rt->n_nodes; n++)
		for (size_t i = 0; !d->replicas[n].valid && i < p->n_children; i++) {
			struct hd_replica *r = &p->children[i]->replicas[n];
			if (n == 0)
				void_at_home(p->children[i]);
			else if (r->window && !r->pins)
				hd_memory_free(r);
		}
}

int hd_windows_used_at_home(const heddle_plan *p)
{
	HD_HELD(&p->data->rt->lock);
	int used = 0;
	for (size_t i = 0; i < p->n_children && !used; i++) {
		const struct hd_replica *home = &p->children[i]->replicas[0];
		used = home->incoming || (home->valid && home->pins);
	}
	return used && !is_complete(p, 0);
}

uint64_t hd_windows_missing(const heddle_plan *p, unsigned node)
{
	HD_HELD(&p->data->rt->lock);
	uint64_t bytes = 0;
	if (node && !hd_data_layout(p->data)->n_windows[node])
		return UINT64_MAX;
	for (size_t i = 0; i < p->n_children; i++) {
		const struct hd_replica *r = &p->children[i]->replicas[node];
		if (node && r->ptr && !r->window)
			return UINT64_MAX;
		if (!r->valid)
			bytes += p->children[i]->bytes;
	}
	return bytes;
}
