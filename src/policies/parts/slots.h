/* The ready tasks of multiprio, in numbered slots. The entries of its heaps (heap.h) have the number of a task's slot
 * instead of a pointer. A slot is free again when its task has been given to a worker. */
#ifndef HD_POLICIES_PARTS_SLOTS_H
#define HD_POLICIES_PARTS_SLOTS_H

#include <heddle/policy.h>

struct hd_ready_slot {
	heddle_task *task; /* NULL: free */
	uint64_t order;
	double best_time; /* us, on the task's best class */
	int64_t work;     /* ns: the task's part of best_remaining_work; an integer, so that sums return to 0 */
	uint64_t classes; /* the classes for which the task has entries, as bits; class a has bit a % 64 */
	unsigned best_class;
	uint32_t next_free;
	uint32_t cluster_set; /* multiprio.cluster_set when the task's entries were made */
};

enum { HD_NO_SLOT = UINT32_MAX };

struct hd_slots {
	struct hd_ready_slot *all; /* owns */
	uint32_t n, free;          /* number of slots; the first free slot, or HD_NO_SLOT */
};

/* Takes a free slot, whose fields the caller fills; HD_NO_SLOT when out of memory. Slots may move. */
uint32_t hd_slots_take(struct hd_slots *s);
void hd_slots_free(struct hd_slots *s, uint32_t slot);

#endif
