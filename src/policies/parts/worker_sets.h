/* Sets of workers: tasks that the same workers can run share one queue, and a worker looks only into queues with tasks
 * that it can run.
 *
 * A task is first put into the set of all workers of the classes that can run it, which takes one call per class. This
 * set may be too large: the task may be bound to one worker, or its codelet's can_run may accept only some workers of a
 * class. To ask about each worker for every task would take too long. So when a worker cannot run the first task of a
 * queue, the task is moved to its exact set.
 *
 * The sets contain retired workers, too, so that a worker that is driven again finds the tasks that it can run.
 *
 * Set 0 has all workers; it is the only set if all workers can run the same tasks. The table has a fixed capacity, so
 * nothing is allocated after the start. If the table is full, tasks that would need a new set are put into set 0, where
 * a worker must then look beyond the first task (HD_SETS_REACH).
 */
#ifndef HD_POLICIES_PARTS_WORKER_SETS_H
#define HD_POLICIES_PARTS_WORKER_SETS_H

#include <heddle/policy.h>
#include "base/base.h"

struct hd_sets {
	const struct heddle_platform *platform; /* borrows */
	size_t n, capacity;                     /* n: number of sets in the table; capacity: room for sets */
	size_t words;                           /* number of words that one set needs: one bit per worker */
	/* the classes that have workers. Class c is bit c % 64, so with more than 64 classes a set may be too large */
	uint64_t all_classes;
	uint64_t *classes; /* owns; per set: its classes, or 0 if it is an exact set */
	/* owns; per set: a bit per worker, in `words` words; and one additional, spare row for hd_sets_exact */
	uint64_t *members;
};

/* The number of tasks of set 0 at which a worker looks before it gives up. */
enum { HD_SETS_REACH = 64 };

/* Makes the table with room for `n_exact` exact sets besides the sets of whole classes. HEDDLE_E_MEMORY. */
int hd_sets_init(struct hd_sets *s, const struct heddle_platform *platform, size_t n_exact);
void hd_sets_fini(struct hd_sets *s);
/* Does what hd_sets_of does, if there are several classes. */
unsigned hd_sets_of_classes(struct hd_sets *s, const heddle_task *t);
/* The exact set of the task: the set of the workers that can run it. Adds the set if the table has none; returns 0 if
 * the table is full. */
unsigned hd_sets_exact(struct hd_sets *s, const heddle_task *t);

/* The set for a new task, which has all workers of the classes that can run the task. */
static inline unsigned hd_sets_of(struct hd_sets *s, const heddle_task *t)
{
	return s->platform->n_classes == 1 ? 0 : hd_sets_of_classes(s, t);
}

static inline int hd_sets_has(const struct hd_sets *s, size_t set, unsigned worker)
{
	return (s->members[set * s->words + worker / 64] >> worker % 64) & 1;
}

#endif
