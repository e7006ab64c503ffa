/* Handles: makes and frees them, and computes where the parts of a datum lie in a replica. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/poison.h"
#include "core_lock.h"
#include "engine.h"
#include "known_handles.h"
#include "process.h"
#include "tree.h"
#include "base/fresh.h"

enum { PART_ALIGN = 64 }; /* parts of a dense replica begin on a cache line */
/* the largest size of a datum, in bytes: larger than any address space, small enough that sums do not overflow */
#define MOST_BYTES (SIZE_MAX >> 8)

struct hd_data_extra *hd_data_extra(heddle_data *d)
{
	if (!d->extra && !(d->extra = calloc(1, sizeof *d->extra)))
		hd_no_memory("a handle");
	return d->extra;
}

static size_t part_count(const struct heddle_part *p)
{
	size_t n = 1;
	for (unsigned d = 0; d < p->n_dims; d++)
		n *= p->n[d];
	return n;
}

static size_t padded(size_t size)
{
	return hd_round_up(size, PART_ALIGN);
}

static uint64_t hash_shape(uint64_t h, const struct heddle_part *p)
{
	h = hd_hash(h, p->elem_size);
	for (unsigned d = 0; d < p->n_dims; d++)
		h = hd_hash(h, p->n[d]);
	return h;
}

size_t hd_data_n_parts(const heddle_data *d)
{
	return d->traits & HD_DATA_PARTS ? d->extra->n_parts : 1;
}

static const struct heddle_part *registered_part(const heddle_data *d, size_t i)
{
	return d->traits & HD_DATA_PARTS ? &d->extra->parts[i] : &d->part;
}

size_t hd_data_dense_size(const heddle_data *d)
{
	if (!(d->traits & HD_DATA_PARTS))
		return d->bytes ? padded(d->bytes) : PART_ALIGN; /* drivers do not allocate 0 bytes */
	size_t size = 0;
	for (size_t i = 0; i < d->extra->n_parts; i++) {
		const struct heddle_part *p = &d->extra->parts[i];
		size += padded(part_count(p) * p->elem_size);
	}
	return size;
}

/* Sets dense strides for a datum without a buffer, which is dense on every node; windows of the datum use them. */
static void set_dense_strides(struct heddle_part *p)
{
	size_t stride = 1;
	for (unsigned dim = 0; dim < p->n_dims; dim++) {
		p->stride[dim] = stride;
		stride *= p->n[dim];
	}
}

void hd_data_part_at(const heddle_data *d, const struct hd_replica *r, size_t i, struct heddle_part *out)
{
	*out = *registered_part(d, i);
	if (r->user_buffer) {
		if (i == 0)
			out->base = r->ptr;
		return;
	}
	char *base = r->ptr;
	for (size_t k = 0; k < i; k++) {
		const struct heddle_part *before = registered_part(d, k);
		base += padded(part_count(before) * before->elem_size);
	}
	out->base = base;
	if (HD_UNLIKELY(r->window)) {
		struct heddle_part whole;
		const struct hd_replica *host = hd_window_host(r);
		hd_data_part_at(hd_replica_data(host), host, 0, &whole);
		memcpy(out->stride, whole.stride, sizeof out->stride);
	} else {
		set_dense_strides(out);
	}
}

static int too_large(void)
{
	return hd_error(HEDDLE_E_INVALID, "data of more bytes than memory has");
}

static int check_part(const struct heddle_part *p)
{
	if ((p->elem_size == 0 && p->n_dims) || p->n_dims > HEDDLE_MAX_DIMS)
		return hd_error(HEDDLE_E_INVALID,
		                "data need elements of at least one byte and at most %d dimensions, not %zu and %u",
		                HEDDLE_MAX_DIMS, p->elem_size, p->n_dims);
	size_t span = 1, bytes = p->elem_size, spanned;
	for (unsigned d = 0; d < p->n_dims; d++) {
		if (p->base && p->n[d] > 1 && p->stride[d] < span)
			return hd_error(
			    HEDDLE_E_INVALID,
			    "dimension %u has stride %zu, less than the %zu elements below it: lines would overlap", d,
			    p->stride[d], span);
		if ((p->n[d] && __builtin_mul_overflow(bytes, p->n[d], &bytes)) ||
		    __builtin_mul_overflow(p->n[d], p->base ? p->stride[d] : span, &span) ||
		    __builtin_mul_overflow(span, p->elem_size, &spanned))
			return too_large();
	}
	return bytes > MOST_BYTES ? too_large() : 0;
}

/* Stores the first part in the handle; if there are several parts, stores all of them in `extra`. */
static int keep_parts(heddle_data *d, const struct heddle_part *parts, size_t n)
{
	d->part = parts[0];
	if (!d->part.base)
		set_dense_strides(&d->part);
	if (n == 1)
		return 0;
	struct hd_data_extra *extra = hd_data_extra(d);
	if (!extra || !(extra->parts = malloc(n * sizeof *parts)))
		return hd_no_memory("a handle");
	memcpy(extra->parts, parts, n * sizeof *parts);
	extra->n_parts = n;
	d->traits |= HD_DATA_PARTS;
	return 0;
}

static void describe(heddle_data *d)
{
	uint64_t shape = 0;
	size_t n = hd_data_n_parts(d);
	for (size_t i = 0; i < n; i++) {
		const struct heddle_part *p = registered_part(d, i);
		shape = hash_shape(shape, p);
		d->bytes += part_count(p) * p->elem_size;
	}
	d->shape = shape;
}

static int check_parts(const struct heddle_part *parts, size_t n_parts)
{
	size_t bytes = 0;
	for (size_t i = 0; i < n_parts; i++) {
		int status = check_part(&parts[i]);
		if (status)
			return status;
		if (!parts[i].base != !parts[0].base)
			return hd_error(HEDDLE_E_INVALID, "either all parts of a datum have a buffer or none has");
		bytes += padded(part_count(&parts[i]) * parts[i].elem_size);
		if (bytes > MOST_BYTES)
			return too_large();
	}
	return 0;
}

size_t hd_data_handle_bytes(const heddle_runtime *rt)
{
	size_t uses = rt->limited ? sizeof(struct hd_use_list) : 0;
	return offsetof(heddle_data, replicas) + rt->n_nodes * sizeof(struct hd_replica) + uses;
}

static size_t handle_size(const heddle_runtime *rt)
{
	return hd_round_up(hd_data_handle_bytes(rt) + rt->adapt.datum_bytes, HD_CACHE_LINE);
}

/* Takes the memory of a freed handle. NULL: no handle is free. The caller holds the core lock. */
static heddle_data *reuse_handle(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	heddle_data *d = rt->handles.free;
	if (!d)
		return NULL;
	hd_unpoison(d, handle_size(rt));
	rt->handles.free = d->next;
	return d;
}

/* Clears a handle to zeros: `d`, or newly allocated memory if `d` is NULL. NULL when out of memory. May make a system
 * call. `held`: 1 if the caller holds the core lock. */
static heddle_data *begin_handle(heddle_runtime *rt, heddle_data *d, int held)
{
	if (!d)
		d = hd_fresh_take(rt->handles.memory, handle_size(rt), _Alignof(heddle_data), held);
	if (!d) {
		hd_no_memory("a handle");
		return NULL;
	}
	memset(d, 0, handle_size(rt));
	d->rt = rt;
	d->prev_next = &d->next; /* the handle is in no list; a link to itself makes unlinking it harmless */
	/* If hd_handle_note runs out of memory, the handle's memory is lost until the runtime stops. */
	return HD_UNLIKELY(rt->misuse != NULL) && hd_handle_note(d, rt) ? NULL : d;
}

static void give_handle(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	heddle_runtime *rt = d->rt;
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_handle_note(d, NULL);
	d->next = rt->handles.free;
	rt->handles.free = d;
	/* AddressSanitizer then reports a later use of the handle as a use after free() */
	hd_poison(d, handle_size(rt));
}

/* Fills a new handle. After HEDDLE_E_MEMORY the handle owns nothing. */
static int fill(heddle_data *d, const struct heddle_part *parts, size_t n_parts)
{
	if (keep_parts(d, parts, n_parts)) {
		free(d->extra);
		return HEDDLE_E_MEMORY;
	}
	describe(d);
	for (size_t i = 0; i < d->rt->n_nodes; i++)
		d->replicas[i].node = (uint16_t)i;
	return 0;
}

void hd_handle_enlist(heddle_data *d)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	d->next = rt->handles.list;
	d->prev_next = &rt->handles.list;
	if (rt->handles.list)
		rt->handles.list->prev_next = &d->next;
	rt->handles.list = d;
}

/* In virtual time, reserves room in main memory for a datum from its registration to its end: the datum lies there at
 * first, and evictions bring it back there. A child needs no room of its own: it lies in its parent. */
static int take_place(heddle_runtime *rt, const heddle_data *d)
{
	struct hd_handles *h = &rt->handles;
	char name[80];
	if (d->plan || !h->capacity)
		return 0;
	if (d->bytes > h->capacity - h->bytes)
		return hd_error(HEDDLE_E_MEMORY,
		                "%s does not fit into %s, whose capacity in the platform %s is %llu bytes: it has %llu "
		                "of other data; simulate less, unregister what is not needed, or give it a larger "
		                "capacity or none",
		                hd_data_name(d, name, sizeof name), rt->platform->nodes[0].name, rt->platform->name,
		                (unsigned long long)h->capacity, (unsigned long long)h->bytes);
	h->bytes += d->bytes;
	return 0;
}

void hd_handle_unlist(heddle_data *d)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(rt->handles.capacity) && !d->plan && !d->is_private)
		rt->handles.bytes -= d->bytes;
	if (HD_UNLIKELY(rt->handles.next_left == d))
		rt->handles.next_left = d->next;
	*d->prev_next = d->next;
	if (d->next)
		d->next->prev_next = d->prev_next;
}

int hd_handle_make(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "a datum needs a runtime and a place for its handle");
	int status = check_parts(parts, n);
	if (!status)
		status = hd_check_process(rt);
	if (status)
		return status;
	hd_core_enter(rt);
	heddle_data *d = reuse_handle(rt);
	/* clearing the handle takes long, and no other thread knows the handle until it is listed */
	hd_core_unlock(rt);
	d = begin_handle(rt, d, 0);
	if (!d)
		return HEDDLE_E_MEMORY;
	status = fill(d, parts, n);
	if (status) {
		hd_core_enter(rt);
		give_handle(d);
		hd_core_unlock(rt);
		return status;
	}
	static char nothing; /* the buffer of all data without bytes, which therefore have values from the start */
	struct hd_replica *home = &d->replicas[0];
	home->ptr = !parts[0].base && !d->bytes && !plan ? &nothing : parts[0].base;
	home->user_buffer = home->ptr != NULL;
	d->settled = home->user_buffer && rt->n_nodes == 1;
	hd_data_set_caveats(d, HD_OPEN);
	/* In virtual time a datum without a buffer has a valid value in main memory from the start, because no kernel
	 * runs that would write it. */
	hd_replica_set_valid(home, home->user_buffer || !rt->engine->runs_kernels);
	d->plan = plan;
	*out = d;
	return 0;
}

int hd_handle_list(heddle_data *d)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	d->id = rt->handles.n_made;
	int status = take_place(rt, d);
	if (status) {
		hd_data_reuse(d);
		return status;
	}
	rt->handles.n_made++;
	hd_handle_enlist(d);
	return 0;
}

int hd_data_clone_shape(const heddle_data *d, heddle_data **out)
{
	HD_HELD(&d->rt->lock);
	heddle_data *copy = begin_handle(d->rt, reuse_handle(d->rt), 1);
	if (!copy)
		return HEDDLE_E_MEMORY;
	if (fill(copy, d->extra && d->extra->parts ? d->extra->parts : &d->part, hd_data_n_parts(d))) {
		give_handle(copy);
		return HEDDLE_E_MEMORY;
	}
	copy->id = d->rt->handles.n_made++;
	copy->is_private = 1;
	*out = copy;
	return 0;
}

static void free_extra(struct hd_data_extra *extra)
{
	free(extra->name);
	free(extra->cause);
	free(extra->parts);
	free(extra->layout);
	free(extra->writers);
	free(extra);
}

void hd_data_reuse(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	if (d->extra)
		free_extra(d->extra);
	give_handle(d);
}

void hd_holder_left(heddle_data *d, size_t node)
{
	size_t n = d->rt->n_nodes, bit = node % HD_NODE_BITS;
	d->holders &= ~((uint64_t)1 << bit);
	for (node = bit; HD_UNLIKELY(n > HD_NODE_BITS) && node < n; node += HD_NODE_BITS)
		d->holders |= (uint64_t)d->replicas[node].valid << bit;
}

void hd_data_spoil(heddle_data *d, char *cause)
{
	HD_HELD(&d->rt->lock);
	d->poisoned |= HD_NOT_COMPUTED;
	struct hd_data_extra *extra = d->extra || cause ? hd_data_extra(d) : NULL;
	if (!extra) {
		free(cause);
		return;
	}
	free(extra->cause);
	extra->cause = cause;
}

const char *hd_data_name(const heddle_data *d, char *buffer, size_t size)
{
	HD_HELD(&d->rt->lock);
	if (d->extra && d->extra->name && *d->extra->name)
		snprintf(buffer, size, "%s", d->extra->name);
	else
		snprintf(buffer, size, "datum %u (%llu bytes)", d->id, (unsigned long long)d->bytes);
	return buffer;
}

const char *hd_data_name_unlocked(const heddle_data *d, char *buffer, size_t size)
{
	hd_core_enter(d->rt);
	hd_data_name(d, buffer, size);
	hd_core_unlock(d->rt);
	return buffer;
}

int hd_data_closed_error(const char *name, enum hd_closed why, const char *what)
{
	if (why == HD_UNREGISTERED)
		return hd_error(HEDDLE_E_STATE, "%s: %s has been unregistered", what, name);
	return hd_error(HEDDLE_E_STATE, "%s: %s is partitioned: use its children, or call heddle_unpartition first",
	                what, name);
}

void hd_data_set_caveats(heddle_data *d, enum hd_closed why)
{
	int choosy = d->read_only || (d->traits & HD_DATA_OBJECT);
	unsigned caveats =
	    why | (d->deep ? HD_DEEP_BIT : 0) | (choosy ? HD_CHOOSY_BIT : 0) | (d->settled ? 0 : HD_UNSETTLED_BIT);
	/* relaxed, pairs with nothing: see heddle_data.caveats */
	atomic_store_explicit(&d->caveats, (uint8_t)caveats, memory_order_relaxed);
}

void hd_data_close(heddle_data *d, enum hd_closed why)
{
	HD_HELD(&d->rt->lock);
	hd_data_set_caveats(d, why);
	/* pairs: the load in submit() (submit.c), after which the submitting thread reads the datum */
	atomic_fetch_add_explicit(&d->rt->gate.n_closings, 1, memory_order_release);
}

void hd_data_deepen(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	d->deep = 1;
	hd_data_close(d, hd_data_closed(d));
}

/* Whether `d` is no handle, as far as checking mode knows; sets the last error then. */
static int is_wild(const heddle_data *d, const char *what)
{
	return hd_is_wild(d) && hd_no_handle(d, what);
}

int hd_data_check(const heddle_data *d, const char *what)
{
	return is_wild(d, what) ? HEDDLE_E_INVALID : hd_check_process(d->rt);
}

int heddle_data_set_user(heddle_data *d, void *user)
{
	if (!d)
		return hd_error(HEDDLE_E_INVALID, "a datum is needed");
	int status = hd_data_check(d, "heddle_data_set_user");
	if (status)
		return status;
	hd_core_enter(d->rt);
	struct hd_data_extra *extra = hd_data_extra(d);
	if (extra) {
		extra->user = user;
		d->traits |= HD_DATA_USER;
	}
	hd_core_unlock(d->rt);
	return extra ? 0 : hd_no_memory("the pointer of a datum");
}

void *heddle_data_user(const heddle_data *d)
{
	return d && d->traits & HD_DATA_USER ? d->extra->user : NULL;
}

uint64_t heddle_data_bytes(const heddle_data *d)
{
	return d ? d->bytes : 0;
}

int heddle_data_valid_on(const heddle_data *d, unsigned node)
{
	return d && d->replicas[node].valid;
}

/* Part i of the datum's replica in main memory. */
static void home_part(const heddle_data *d, size_t i, struct heddle_part *out)
{
	if (!(d->traits & HD_DATA_OBJECT)) {
		hd_data_part_at(d, &d->replicas[0], i, out);
		return;
	}
	*out = d->part;
	out->base = d->replicas[0].ptr ? *(void **)d->replicas[0].ptr : NULL;
}

int heddle_data_part(heddle_data *d, size_t i, struct heddle_part *out)
{
	if (d && is_wild(d, "heddle_data_part"))
		return HEDDLE_E_INVALID;
	if (!d || !out || i >= hd_data_n_parts(d))
		return hd_error(HEDDLE_E_INVALID, "the datum has no part %zu", i);
	home_part(d, i, out);
	return 0;
}

void *heddle_data_ptr(heddle_data *d)
{
	struct heddle_part part = {.base = NULL};
	if (!d || is_wild(d, "heddle_data_ptr"))
		return NULL;
	if (d->replicas[0].ptr)
		home_part(d, 0, &part);
	return part.base;
}
