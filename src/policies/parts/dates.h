/* When each worker will have done its tasks, its date, and which worker of a group will have done them first. For
 * policies that place a task on a worker when it becomes ready (dm, heft and their kin).
 *
 *   date(w) = max(now, until(w)) + backlog(w) + queued(w)
 *     until    when the kernel that w runs is predicted to end
 *     backlog  predicted time of the tasks that w has been given and has not begun, which the core knows
 *     queued   predicted time of the tasks in the policy's queue for w
 *
 * A group is the workers of one class on one node: predictions for a task are the same for all of them, so they differ
 * in their dates alone. Each group has a tournament tree over its workers, in the order of their numbers. A worker
 * whose kernel ends later than now is `ahead`: its date does not depend on now. Any other worker is `late`: its date is
 * now + work. A node of the tree has the earliest date of the workers below it that are ahead, the least work of those
 * that are late, and the earliest `until`, by which workers are found that have become late. Late workers with backlog
 * and queued tasks are `mixed`: (now + backlog) + queued may be rounded otherwise than now + work, so the least work
 * only says which of them must be looked at.
 *
 * A policy that tries schedules before it places tasks (dada) hides the workers that a schedule has loaded, and
 * compares the loaded workers itself.
 *
 * Cost: O(log workers of the group) per change and per question, whatever the number of workers. Workers that are not
 * driven (heddle_sched_driven) are in no tree.
 */
#ifndef HD_POLICIES_PARTS_DATES_H
#define HD_POLICIES_PARTS_DATES_H

#include <heddle/policy.h>
#include "base/base.h"

struct hd_dates_node {
	double ahead, late, mixed, until; /* us; INFINITY: there is no such worker */
};

struct hd_dates_group {
	unsigned class_id, node;
	unsigned n, n_driven; /* workers */
	unsigned *workers;    /* borrows from hd_dates.members: by increasing number */
	size_t n_leaves;      /* a power of two, at least n */
	/* borrows from hd_dates.trees: node i has the children 2i and 2i + 1; 1 is the root */
	struct hd_dates_node *tree;
};

struct hd_dates_worker {
	double until, backlog, queued; /* us */
	/* us: the worker's date, if tasks were placed on the worker in this batch; otherwise NAN */
	double placed;
	unsigned group, leaf;
	int is_driven, is_hidden;
};

struct hd_dates {
	heddle_sched *sched; /* borrows */
	size_t n_workers, n_groups;
	double now;                      /* us: the date at which hd_dates_renew was called last */
	struct hd_dates_worker *workers; /* owns */
	struct hd_dates_group *groups;   /* owns */
	unsigned *members;               /* owns */
	unsigned *placed;                /* owns; the workers on which tasks were placed in this batch */
	size_t n_placed;
	struct hd_dates_node *trees; /* owns */
	/* owns; NULL unless hd_dates_watch_latest was called: trees at the same places, over the negative dates */
	struct hd_dates_node *latest;
};

/* Puts the workers of the platform into groups. HEDDLE_E_MEMORY; call hd_dates_fini even then. */
int hd_dates_init(struct hd_dates *d, heddle_sched *sched);
void hd_dates_fini(struct hd_dates *d);
/* Makes the trees that hd_dates_latest needs. To be called before hd_dates_renew. HEDDLE_E_MEMORY. */
int hd_dates_watch_latest(struct hd_dates *d);
/* Takes over the changes of the workers' loads since the last call from the core. To be called before each batch of
 * ready tasks. */
void hd_dates_renew(struct hd_dates *d);
/* A task has been placed in the policy's queue for a worker, whose date grows by its predicted time, us. Until the next
 * batch the date is the previous date plus `us`, not a new sum of its parts: equal workers that get equal tasks in turn
 * must have equal dates, rounding errors included. */
void hd_dates_place(struct hd_dates *d, unsigned worker, double us);
/* A task has left the policy's queue for a worker; the queue now has tasks of `queued` us in all. */
void hd_dates_leave(struct hd_dates *d, unsigned worker, double queued);
/* Hides a worker from hd_dates_earliest, or shows it again. */
void hd_dates_hide(struct hd_dates *d, unsigned worker, int is_hidden);
/* The date of a worker. */
double hd_dates_of(const struct hd_dates *d, unsigned worker);
/* us: the terms of a task that, with the date of a worker, give the date when the worker will have done the task. */
struct hd_dates_terms {
	double arrival; /* the date before which the task's data are not on the node */
	double length;  /* INFINITY: the worker cannot run the task */
	double moved;   /* an additional cost of moving data */
};
static inline double hd_dates_cost(double date, const struct hd_dates_terms *terms)
{
	double start = date > terms->arrival ? date : terms->arrival;
	return start + terms->length + terms->moved;
}
/* Of the driven workers of a group, the one with the least cost, the first among equals; sets *cost, to INFINITY if all
 * are hidden. The group must have one. */
unsigned hd_dates_earliest(const struct hd_dates *d, const struct hd_dates_group *g, const struct hd_dates_terms *terms,
                           double *cost);
/* The latest date of the driven workers of a group, hidden ones or not; -INFINITY: it has none. */
double hd_dates_latest(const struct hd_dates *d, const struct hd_dates_group *g);
/* Of all workers that can run the task, the one with the least cost, the first among equals; terms[group] are those for
 * the workers of a group. */
unsigned hd_dates_best(const struct hd_dates *d, const heddle_task *t, const struct hd_dates_terms *terms);

#endif
