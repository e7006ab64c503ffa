/* Ready tasks in a heap (heap.h) for each pair of a class and a memory node with workers of this class: for multiprio.
 *
 * All heaps of a class get the same entries, but for tasks that some workers of the class cannot run. So an entry is
 * put into the *news* of the class, and a heap reads the news when a worker looks for a task: by then most tasks were
 * taken, and need no entry in this heap. News that all heaps have read, or whose tasks were all taken, are thrown away.
 *
 * Each heap is a group of workers for the core (heddle_sched_group), which is open while the heap may have a ready
 * task.
 */
#ifndef HD_POLICIES_PARTS_CLASS_HEAPS_H
#define HD_POLICIES_PARTS_CLASS_HEAPS_H

#include "heap.h"
#include "slots.h"

struct hd_class_heap {
	struct hd_heap heap;
	size_t n_read;  /* how many of the news of this issue the heap has read */
	uint64_t issue; /* hd_class_news.issue when the heap has read last */
	int64_t work;   /* ns: what hd_class_heaps_add_work has added for this heap and not for all of its class */
	unsigned class_id, node, first_worker;
};

struct hd_class_entry {
	struct hd_heap_entry entry;
	int some; /* 1: only for heaps with a worker that can run the task */
};

struct hd_class_news {
	struct hd_class_entry *all; /* owns */
	size_t n;
	uint64_t issue;  /* how often news were thrown away */
	size_t ready;    /* number of ready tasks with entries for this class, or for one that has the same bit */
	size_t capacity; /* each heap of the class has room for so many entries */
	int64_t best_remaining_work; /* ns: what hd_class_heaps_add_work has added for all heaps of the class */
	int is_open;                 /* 1: the groups of all its heaps are open */
};

struct hd_class_heaps {
	heddle_sched *sched; /* borrows */
	unsigned n_workers, n_classes, n_heaps;
	struct hd_class_heap *heaps; /* owns; the first n_heaps are used, in the order of their first workers */
	unsigned *heap_of;           /* owns; per worker: the index of its heap */
	struct hd_class_news *news;  /* owns; per class */
	struct hd_slots slots;
	int uneven;                 /* 1: some heap has had `work` of its own */
	uint64_t gone, compactions; /* entries dropped because their task was gone; heaps cleared of all of those */
};

int hd_class_heaps_init(struct hd_class_heaps *h, heddle_sched *sched); /* HEDDLE_E_MEMORY; call ..._fini even then */
void hd_class_heaps_fini(struct hd_class_heaps *h);
/* Makes room for the entries of a task; returns 0 when out of memory. */
int hd_class_heaps_reserve(struct hd_class_heaps *h);
/* Adds an entry for the heaps of a class; `some`: only for those with a worker that can run the task. There must be
 * room. */
void hd_class_heaps_add(struct hd_class_heaps *h, unsigned class_id, const struct hd_heap_entry *entry, int some);
/* Puts the news of its class into a heap, but for those of tasks that were taken. */
void hd_class_heaps_read(struct hd_class_heaps *h, struct hd_class_heap *heap);
/* Whether the task of an entry is still ready. `heaps`: a struct hd_class_heaps. */
int hd_class_heaps_has(const void *heaps, const struct hd_heap_entry *e);
/* Frees the slot of a task that was taken. `all`: as of hd_class_heaps_open_all, which it calls when this was the last
 * ready task of a class. */
void hd_class_heaps_taken(struct hd_class_heaps *h, uint32_t slot, int all);
/* Drops all entries. The slots stay. */
void hd_class_heaps_clear(struct hd_class_heaps *h);
/* Opens or closes the group of a heap, or of all heaps; `all`: opens it in any case. */
void hd_class_heaps_open(struct hd_class_heaps *h, unsigned heap, int all);
void hd_class_heaps_open_all(struct hd_class_heaps *h, int all);
/* Adds work, ns, to that of each heap of a class with a worker that can run the task. */
void hd_class_heaps_add_work(struct hd_class_heaps *h, unsigned class_id, const heddle_task *t, int64_t work);
/* The least work, us, of the heaps of a class with a worker that can run the task. */
double hd_class_heaps_least_work(const struct hd_class_heaps *h, unsigned class_id, const heddle_task *t);
/* The work of the heap, us, whose work has the largest absolute value. */
double hd_class_heaps_largest_work(const struct hd_class_heaps *h);

#endif
