/* A binary max-heap that can be walked in order. */
#include "heap.h"
#include <stdlib.h>

static int entry_before(const struct hd_heap_entry *a, const struct hd_heap_entry *b)
{
	return a->key > b->key || (a->key == b->key && a->order < b->order);
}

void hd_heap_fini(struct hd_heap *h)
{
	free(h->entries);
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
	if (h->n)
		memcpy(entries, h->entries, h->n * sizeof *entries);
	free(h->entries);
	h->entries = entries;
	h->capacity = capacity;
	return 1;
}

static void sift_up(struct hd_heap *h, size_t i, struct hd_heap_entry entry)
{
	while (i > 0 && entry_before(&entry, &h->entries[(i - 1) / 2])) {
		h->entries[i] = h->entries[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->entries[i] = entry;
}

static void sift_down(struct hd_heap *h, size_t i, struct hd_heap_entry entry)
{
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && entry_before(&h->entries[child + 1], &h->entries[child]))
			child++;
		if (!entry_before(&h->entries[child], &entry))
			break;
		h->entries[i] = h->entries[child];
	}
	h->entries[i] = entry;
}

void hd_heap_push(struct hd_heap *h, struct hd_heap_entry entry)
{
	sift_up(h, h->n++, entry);
}

void hd_heap_remove(struct hd_heap *h, size_t i)
{
	struct hd_heap_entry last = h->entries[--h->n];
	if (i == h->n)
		return;
	if (i > 0 && entry_before(&last, &h->entries[(i - 1) / 2]))
		sift_up(h, i, last);
	else
		sift_down(h, i, last);
}

void hd_heap_filter(struct hd_heap *h, int (*keep)(const void *arg, const struct hd_heap_entry *entry), const void *arg)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n; i++)
		if (keep(arg, &h->entries[i]))
			h->entries[n++] = h->entries[i];
	h->n = n;
	for (size_t i = n / 2; i-- > 0;)
		sift_down(h, i, h->entries[i]);
}

static void reach(struct hd_heap_walk *w, size_t i)
{
	if (i >= w->heap->n || w->n > HD_HEAP_WALK)
		return;
	struct hd_heap_entry reached = w->heap->entries[i];
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
	reach(w, 0);
}

size_t hd_heap_walk_next(struct hd_heap_walk *w)
{
	if (!w->n || w->visited == HD_HEAP_WALK)
		return SIZE_MAX;
	size_t i = w->frontier[--w->n].slot;
	w->visited++;
	reach(w, 2 * i + 1);
	reach(w, 2 * i + 2);
	return i;
}
