/* The *date* of a worker, at which it will have done its tasks, and the worker of a group with the earliest date. For
 * policies that place a task on a worker when the task becomes ready (dm, heft and dada).
 *
 *   date(w) = max(now, until(w)) + backlog(w) + queued(w)
 *     until    the predicted end of the kernel that w runs
 *     backlog  predicted time of the tasks that w has been given and has not begun, which the core knows
 *     queued   predicted time of the tasks in the policy's queue for w
 *
 * A group consists of the workers of one class on one node. The predictions for a task are the same on all of them, so
 * only their dates differ. Each group has a tournament tree over its workers, in the order of their numbers. A worker
 * whose kernel ends later than now is `ahead`: its date does not depend on now. Any other worker is `late`: its date is
 * now + work. A node of the tree has the earliest date of the workers below it that are ahead, the least work of the
 * workers that are late, and the earliest `until`, by which the workers are found that have become late. Late workers
 * with backlog and queued tasks are `mixed`: (now + backlog) + queued may be rounded differently from now + work, so
 * the least work only gives a bound, and the dates of these workers must be compared one by one.
 *
 * A policy that tries schedules before it places tasks (dada) hides the workers that a schedule has loaded, and
 * compares the loaded workers itself.
 *
 * Cost: O(log workers of the group) per change and per question. Workers that are not driven (heddle_sched_driven) are
 * in no tree.
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
	double earliest;      /* no driven worker that is not hidden has an earlier date; INFINITY: there is none */
	unsigned *workers;    /* borrows from hd_dates.members: the workers, by increasing number */
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
	int is_stale; /* 1: it is in the list `stale` */
};

struct hd_dates {
	heddle_sched *sched; /* borrows */
	size_t n_workers, n_groups;
	double now;                      /* us: the time of the last call of hd_dates_renew */
	struct hd_dates_worker *workers; /* owns */
	struct hd_dates_group *groups;   /* owns */
	unsigned *members;               /* owns */
	unsigned *stale;                 /* owns; the workers whose leaves the next hd_dates_renew must compute */
	size_t n_stale;
	struct hd_dates_node *trees; /* owns */
	/* owns; NULL unless hd_dates_watch_latest was called: a tree for each group, at the same place as in `trees`,
	 * over the negated dates */
	struct hd_dates_node *latest;
};

/* Puts the workers of the platform into groups. HEDDLE_E_MEMORY; call hd_dates_fini even then. */
int hd_dates_init(struct hd_dates *d, heddle_sched *sched);
void hd_dates_fini(struct hd_dates *d);
/* Makes the trees that hd_dates_latest needs. To be called before hd_dates_renew. HEDDLE_E_MEMORY. */
int hd_dates_watch_latest(struct hd_dates *d);
/* Gets the loads of the workers that have changed since the last call from the core. To be called before each batch of
 * ready tasks. */
void hd_dates_renew(struct hd_dates *d);
/* Records that a task was placed in the policy's queue for a worker: the worker's date grows by `us`, the task's
 * predicted time. Until the next batch the date is the previous date plus `us`, not a new sum of its parts: equal
 * workers that get equal tasks in turn must have equal dates, rounding errors included. */
void hd_dates_place(struct hd_dates *d, unsigned worker, double us);
/* Records that a task has left the policy's queue for a worker. `queued`, us: the predicted time of the remaining tasks
 * in this queue. To be called between batches: hd_dates_earliest counts it after the next hd_dates_renew. */
void hd_dates_leave(struct hd_dates *d, unsigned worker, double queued);
/* Hides a worker from hd_dates_earliest, or shows it again. */
void hd_dates_hide(struct hd_dates *d, unsigned worker, int is_hidden);
/* The date of a worker. */
double hd_dates_of(const struct hd_dates *d, unsigned worker);
/* The terms of a task, in us, from which and from a worker's date hd_dates_cost computes the task's cost on the worker:
 * the date at which the worker will have done the task, plus `moved`. */
struct hd_dates_terms {
	double arrival; /* the date at which the task's data will have arrived on the node */
	double length;  /* INFINITY: the worker cannot run the task */
	double moved;   /* an additional cost of moving data */
};
static inline double hd_dates_cost(double date, const struct hd_dates_terms *terms)
{
	double start = date > terms->arrival ? date : terms->arrival;
	return start + terms->length + terms->moved;
}
/* The driven worker of a group with the least cost, the first one of equal workers. Sets *cost; INFINITY: all workers
 * are hidden. The group must have a driven worker. */
unsigned hd_dates_earliest(const struct hd_dates *d, const struct hd_dates_group *g, const struct hd_dates_terms *terms,
                           double *cost);
/* The latest date of the driven workers of a group, hidden workers included; -INFINITY: it has no driven worker. */
double hd_dates_latest(const struct hd_dates *d, const struct hd_dates_group *g);
/* The worker with the least cost among all workers that can run the task, the first one of equal workers. terms[group]:
 * the terms of the task on the workers of the group. */
unsigned hd_dates_best(const struct hd_dates *d, const heddle_task *t, const struct hd_dates_terms *terms);

#endif
