/* A max-heap that can be walked in order: a sorted array of the first entries, and a binary heap of the others. */
#include "heap.h"
#include <stdlib.h>

static int entry_before(const struct hd_heap_entry *a, const struct hd_heap_entry *b)
{
	return a->key > b->key || (a->key == b->key && a->order < b->order);
}

void hd_heap_fini(struct hd_heap *h)
{
	free(h->rest);
}

int hd_heap_reserve(struct hd_heap *h, size_t n)
{
	if (n <= h->capacity)
		return 1;
	size_t capacity = h->capacity ? h->capacity : 32;
	while (capacity < n)
		capacity *= 2;
	struct hd_heap_entry *entries = calloc(capacity, sizeof *entries);
	if (!entries)
		return 0;
	if (h->n_rest)
		memcpy(entries, h->rest, h->n_rest * sizeof *entries);
	free(h->rest);
	h->rest = entries;
	h->capacity = capacity;
	return 1;
}

static void sift_up(struct hd_heap *h, size_t i, struct hd_heap_entry entry)
{
	while (i > 0 && entry_before(&entry, &h->rest[(i - 1) / 2])) {
		h->rest[i] = h->rest[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->rest[i] = entry;
}

static void sift_down(struct hd_heap *h, size_t i, struct hd_heap_entry entry)
{
	for (size_t child; (child = 2 * i + 1) < h->n_rest; i = child) {
		if (child + 1 < h->n_rest && entry_before(&h->rest[child + 1], &h->rest[child]))
			child++;
		if (!entry_before(&h->rest[child], &entry))
			break;
		h->rest[i] = h->rest[child];
	}
	h->rest[i] = entry;
}

static void remove_from_rest(struct hd_heap *h, size_t i)
{
	struct hd_heap_entry last = h->rest[--h->n_rest];
	if (i == h->n_rest)
		return;
	if (i > 0 && entry_before(&last, &h->rest[(i - 1) / 2]))
		sift_up(h, i, last);
	else
		sift_down(h, i, last);
}

/* Moves the first entry of the binary heap to the end of the front. Returns 0 if the heap is empty. */
static int refill_front(struct hd_heap *h)
{
	if (!h->n_rest)
		return 0;
	h->front[h->n_front++] = h->rest[0];
	remove_from_rest(h, 0);
	return 1;
}

/* The number of entries of the front that come before `entry`. */
static size_t place_in_front(const struct hd_heap *h, const struct hd_heap_entry *entry)
{
	size_t first = 0, n = h->n_front;
	while (n > 0) {
		size_t half = n / 2;
		int is_behind = !entry_before(entry, &h->front[first + half]);
		first += is_behind ? half + 1 : 0;
		n = is_behind ? n - half - 1 : half;
	}
	return first;
}

void hd_heap_push(struct hd_heap *h, struct hd_heap_entry entry)
{
	/* whether an entry that comes after all entries of the front belongs to the rest */
	int closed = h->n_rest || h->n_front == HD_HEAP_FRONT;
	if (closed && !entry_before(&entry, &h->front[h->n_front - 1])) {
		sift_up(h, h->n_rest++, entry);
		return;
	}
	if (h->n_front == HD_HEAP_FRONT) {
		struct hd_heap_entry last = h->front[--h->n_front];
		sift_up(h, h->n_rest++, last);
	}
	size_t at = place_in_front(h, &entry);
	memmove(&h->front[at + 1], &h->front[at], (h->n_front++ - at) * sizeof h->front[0]);
	h->front[at] = entry;
}

void hd_heap_remove(struct hd_heap *h, size_t place)
{
	if (place >= h->n_front) {
		remove_from_rest(h, place - h->n_front);
		return;
	}
	memmove(&h->front[place], &h->front[place + 1], (--h->n_front - place) * sizeof h->front[0]);
	if (h->n_front == 0)
		refill_front(h);
}

size_t hd_heap_tidy(struct hd_heap *h, size_t n, int (*keep)(const void *arg, const struct hd_heap_entry *entry),
                    const void *arg)
{
	size_t kept = 0, removed = 0;
	while (kept < n && (kept < h->n_front || refill_front(h))) {
		if (keep(arg, &h->front[kept])) {
			kept++;
		} else {
			hd_heap_remove(h, kept);
			removed++;
		}
	}
	return removed;
}

static size_t filter(struct hd_heap_entry *entries, size_t n,
                     int (*keep)(const void *arg, const struct hd_heap_entry *entry), const void *arg)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (keep(arg, &entries[i]))
			entries[kept++] = entries[i];
	return kept;
}

void hd_heap_filter(struct hd_heap *h, int (*keep)(const void *arg, const struct hd_heap_entry *entry), const void *arg)
{
	h->n_front = filter(h->front, h->n_front, keep, arg);
	h->n_rest = filter(h->rest, h->n_rest, keep, arg);
	for (size_t i = h->n_rest / 2; i-- > 0;)
		sift_down(h, i, h->rest[i]);
	if (h->n_front == 0)
		refill_front(h);
}

static void reach(struct hd_heap_walk *w, size_t i)
{
	if (i >= w->heap->n_rest || w->n > HD_HEAP_WALK)
		return;
	struct hd_heap_entry reached = w->heap->rest[i];
	reached.slot = (uint32_t)i;
	size_t at = w->n++;
	for (; at > 0 && entry_before(&w->frontier[at - 1], &reached); at--)
		w->frontier[at] = w->frontier[at - 1];
	w->frontier[at] = reached;
}

void hd_heap_walk_init(struct hd_heap_walk *w, const struct hd_heap *h)
{
	w->heap = h;
	w->n = w->visited = 0;
}

size_t hd_heap_walk_next(struct hd_heap_walk *w)
{
	size_t n_front = w->heap->n_front;
	if (w->visited < n_front)
		return w->visited++;
	if (w->visited == n_front)
		reach(w, 0);
	if (!w->n || w->visited == HD_HEAP_WALK)
		return SIZE_MAX;
	size_t i = w->frontier[--w->n].slot;
	w->visited++;
	reach(w, 2 * i + 1);
	reach(w, 2 * i + 2);
	return n_front + i;
}
