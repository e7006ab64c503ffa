/* Sets of workers, so that tasks that may run on the same workers share one queue and a worker looks only into those
 * queues that hold something for it.
 *
 * A task is first filed by the classes that can run it, which costs one question per class. That can be too generous: a
 * task may be bound to one worker, or its codelet's can_run may tell workers of a class apart. Asking every worker
 * about every task would be dear, so this is found out when a worker is refused, and the task is then filed by its
 * exact set: once.
 *
 * Set 0 is everybody; it is the only one when all workers are alike. The table has a fixed capacity, so nothing is
 * allocated after the start; sets that do not fit fall into set 0, whose users must look further than the first task
 * (HD_SETS_REACH).
 */
#ifndef HD_POLICIES_PARTS_WORKER_SETS_H
#define HD_POLICIES_PARTS_WORKER_SETS_H

#include <heddle/policy.h>
#include "base/base.h"

struct hd_sets {
	const struct heddle_platform *platform; /* borrows */
	size_t n, capacity;                     /* n grows as sets are met, up to capacity */
	size_t words;                           /* of 64 workers */
	/* those with workers; class c is bit c % 64, so beyond 64 classes a set is a little too generous */
	uint64_t all_classes;
	uint64_t *classes; /* owns; per set: the classes it was made for, 0 for an exact set */
	uint64_t *members; /* owns; per set: words of worker bits, and one spare for hd_sets_exact */
};

/* Tasks of set 0 that a worker looks at before it gives up. */
enum { HD_SETS_REACH = 64 };

/* `n_exact`: room for that many sets that are not simply classes. HEDDLE_E_MEMORY. */
int hd_sets_init(struct hd_sets *s, const struct heddle_platform *platform, size_t n_exact);
void hd_sets_fini(struct hd_sets *s);
unsigned hd_sets_of_classes(struct hd_sets *s, const heddle_task *t);
/* The set of exactly the workers that can run the task; 0 if the table is full. */
unsigned hd_sets_exact(struct hd_sets *s, const heddle_task *t);

/* The set to file a new task under. */
static inline unsigned hd_sets_of(struct hd_sets *s, const heddle_task *t)
{
	return s->platform->n_classes == 1 ? 0 : hd_sets_of_classes(s, t);
}

static inline int hd_sets_has(const struct hd_sets *s, size_t set, unsigned worker)
{
	return (s->members[set * s->words + worker / 64] >> worker % 64) & 1;
}

#endif
