/* Heaps of ready tasks per class and node, which read the news of their class (class_heaps.h). */
#include "class_heaps.h"
#include <stdlib.h>
#include "base/base.h"
#include "groups.h"

enum { ROOM = 256 /* for the news of a class */ };

int hd_class_heaps_init(struct hd_class_heaps *h, heddle_sched *sched)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*h = (struct hd_class_heaps){.sched = sched, .slots.free = HD_NO_SLOT};
	h->heaps = calloc(p->n_workers, sizeof *h->heaps);
	h->heap_of = calloc(p->n_workers, sizeof *h->heap_of);
	h->news = calloc(p->n_classes, sizeof *h->news);
	if (!h->heaps || !h->heap_of || !h->news)
		return hd_no_memory("the policy's heaps");
	h->n_workers = (unsigned)p->n_workers;
	h->n_classes = (unsigned)p->n_classes;
	for (unsigned a = 0; a < p->n_classes; a++)
		if (!(h->news[a].all = calloc(ROOM, sizeof *h->news[a].all)))
			return hd_no_memory("the policy's heaps");
	for (unsigned w = 0; w < p->n_workers; w++) {
		unsigned mate = hd_group_mate(p, w);
		h->heap_of[w] = mate < w ? h->heap_of[mate] : h->n_heaps++;
		if (mate == w)
			h->heaps[h->heap_of[w]] = (struct hd_class_heap){
			    .class_id = p->workers[w].class_id, .node = p->workers[w].node, .first_worker = w};
		heddle_sched_group(sched, w, h->heap_of[w]);
	}
	return HEDDLE_OK;
}

void hd_class_heaps_fini(struct hd_class_heaps *h)
{
	for (unsigned i = 0; i < h->n_heaps; i++)
		hd_heap_fini(&h->heaps[i].heap);
	for (unsigned a = 0; a < h->n_classes; a++)
		free(h->news[a].all);
	free(h->heaps);
	free(h->heap_of);
	free(h->news);
	free(h->slots.all);
}

static uint64_t bit_of(unsigned class_id)
{
	return (uint64_t)1 << class_id % 64;
}

/* Whether a worker of heap i can run the task. `all`: what heddle_task_can_run_all returned for the class. */
static int can_run_in(const struct hd_class_heaps *h, unsigned i, const heddle_task *t, int all)
{
	for (unsigned w = h->heaps[i].first_worker; w < h->n_workers && all < 0; w++)
		if (h->heap_of[w] == i && heddle_task_can_run(t, w))
			return 1;
	return all > 0;
}

/* --- News --------------------------------------------------------------------------------------------------------- */

static int has_unread(const struct hd_class_news *news, const struct hd_class_heap *heap)
{
	return news->n && (heap->issue != news->issue || heap->n_read < news->n);
}

static void throw_away(struct hd_class_news *news)
{
	news->n = 0;
	news->issue++;
}

int hd_class_heaps_has(const void *heaps, const struct hd_heap_entry *e)
{
	const struct hd_class_heaps *h = heaps;
	return h->slots.all[e->slot].task && h->slots.all[e->slot].order == e->order;
}

/* Drops the entries of tasks that are gone. */
static void compact(struct hd_class_heaps *h, struct hd_heap *heap)
{
	size_t before = hd_heap_n(heap);
	hd_heap_filter(heap, hd_class_heaps_has, h);
	h->gone += before - hd_heap_n(heap);
	h->compactions++;
}

/* Without entries of tasks that are gone, a heap has room, because it has room for all ready tasks of its class. */
void hd_class_heaps_read(struct hd_class_heaps *h, struct hd_class_heap *heap)
{
	const struct hd_class_news *news = &h->news[heap->class_id];
	if (!has_unread(news, heap))
		return;
	size_t n = hd_heap_n(&heap->heap), first = heap->issue == news->issue ? heap->n_read : 0;
	if (n + news->n - first > heap->heap.capacity || n > 2 * news->ready + 64)
		compact(h, &heap->heap);
	for (const struct hd_class_entry *e = news->all + first; e < news->all + news->n; e++) {
		unsigned i = (unsigned)(heap - h->heaps);
		if (!hd_class_heaps_has(h, &e->entry))
			h->gone++;
		else if (!e->some || can_run_in(h, i, h->slots.all[e->entry.slot].task, -1))
			hd_heap_push(&heap->heap, e->entry);
	}
	heap->n_read = news->n;
	heap->issue = news->issue;
}

/* Makes room for a larger number of ready tasks in each heap of a class. Returns 0 when out of memory. */
static int grow(struct hd_class_heaps *h, unsigned class_id)
{
	struct hd_class_news *news = &h->news[class_id];
	size_t capacity = 2 * (news->ready + 1);
	for (unsigned i = 0; i < h->n_heaps; i++)
		if (h->heaps[i].class_id == class_id && !hd_heap_reserve(&h->heaps[i].heap, capacity))
			return 0;
	news->capacity = capacity;
	return 1;
}

int hd_class_heaps_reserve(struct hd_class_heaps *h)
{
	for (unsigned a = 0; a < h->n_classes; a++) {
		struct hd_class_news *news = &h->news[a];
		if (news->ready >= news->capacity && !grow(h, a))
			return 0;
		if (news->n < ROOM)
			continue;
		for (unsigned i = 0; i < h->n_heaps; i++)
			if (h->heaps[i].class_id == a)
				hd_class_heaps_read(h, &h->heaps[i]);
		throw_away(news);
	}
	return 1;
}

void hd_class_heaps_add(struct hd_class_heaps *h, unsigned class_id, const struct hd_heap_entry *entry, int some)
{
	struct hd_class_news *news = &h->news[class_id];
	struct hd_ready_slot *slot = &h->slots.all[entry->slot];
	news->all[news->n++] = (struct hd_class_entry){*entry, some};
	if (slot->classes & bit_of(class_id))
		return;
	slot->classes |= bit_of(class_id);
	for (unsigned a = class_id % 64; a < h->n_classes; a += 64)
		h->news[a].ready++;
}

void hd_class_heaps_taken(struct hd_class_heaps *h, uint32_t slot, int all)
{
	int emptied = 0;
	for (unsigned a = 0; a < h->n_classes; a++) {
		struct hd_class_news *news = &h->news[a];
		if (!(h->slots.all[slot].classes & bit_of(a)) || --news->ready)
			continue;
		throw_away(news);
		news->is_open = 0;
		emptied = 1;
	}
	hd_slots_free(&h->slots, slot);
	if (emptied)
		hd_class_heaps_open_all(h, all);
}

void hd_class_heaps_clear(struct hd_class_heaps *h)
{
	for (unsigned i = 0; i < h->n_heaps; i++) {
		h->heaps[i].heap.n_front = h->heaps[i].heap.n_rest = 0;
		h->heaps[i].work = 0;
	}
	for (unsigned a = 0; a < h->n_classes; a++) {
		h->news[a].ready = 0;
		h->news[a].best_remaining_work = 0;
		h->news[a].is_open = 0;
		throw_away(&h->news[a]);
	}
}

/* --- Groups of workers -------------------------------------------------------------------------------------------- */

void hd_class_heaps_open(struct hd_class_heaps *h, unsigned heap, int all)
{
	const struct hd_class_heap *i = &h->heaps[heap];
	struct hd_class_news *news = &h->news[i->class_id];
	int open = all || (news->ready && (hd_heap_n(&i->heap) || has_unread(news, i)));
	news->is_open &= open;
	heddle_sched_open(h->sched, heap, open);
}

void hd_class_heaps_open_all(struct hd_class_heaps *h, int all)
{
	for (unsigned a = 0; a < h->n_classes; a++) {
		if (h->news[a].is_open)
			continue;
		h->news[a].is_open = 1;
		for (unsigned i = 0; i < h->n_heaps; i++)
			if (h->heaps[i].class_id == a)
				hd_class_heaps_open(h, i, all);
	}
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

void hd_class_heaps_add_work(struct hd_class_heaps *h, unsigned class_id, const heddle_task *t, int64_t work)
{
	int all = heddle_task_can_run_all(t, class_id);
	h->news[class_id].best_remaining_work += all > 0 ? work : 0;
	h->uneven |= all < 0;
	for (unsigned i = 0; i < h->n_heaps && all < 0; i++)
		if (h->heaps[i].class_id == class_id && can_run_in(h, i, t, all))
			h->heaps[i].work += work;
}

double hd_class_heaps_least_work(const struct hd_class_heaps *h, unsigned class_id, const heddle_task *t)
{
	int64_t least = INT64_MAX, common = h->news[class_id].best_remaining_work;
	if (!h->uneven)
		return (double)common / 1000;
	int all = heddle_task_can_run_all(t, class_id);
	for (unsigned i = 0; i < h->n_heaps; i++)
		if (h->heaps[i].class_id == class_id && common + h->heaps[i].work < least && can_run_in(h, i, t, all))
			least = common + h->heaps[i].work;
	return (double)least / 1000;
}

double hd_class_heaps_largest_work(const struct hd_class_heaps *h)
{
	int64_t largest = 0;
	for (unsigned i = 0; i < h->n_heaps; i++) {
		int64_t work = h->news[h->heaps[i].class_id].best_remaining_work + h->heaps[i].work;
		largest = llabs(work) > llabs(largest) ? work : largest;
	}
	return (double)largest / 1000;
}
