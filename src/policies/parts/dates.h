/* The *date* of a worker, at which it will have done its tasks, and the worker of a group with the earliest date. For
 * policies that place a task on a worker when the task becomes ready (dm, heft and dada).
 *
 *   date(w) = max(now, until(w)) + backlog(w) + queued(w)
 *     until    the predicted end of the kernel that w runs
 *     backlog  predicted time of the tasks that w has been given and has not begun, which the core knows
 *     queued   predicted time of the tasks in the policy's queue for w
 *
 * A group consists of the workers of one class on one node. The predictions for a task are the same on all of them, so
 * only their dates differ. A family consists of groups of one class whose nodes are alike (heddle_sched_alike): the
 * predictions are also the same on all its nodes that hold none of the task's data. All workers of a group have lower
 * numbers than those of the next group of the family. Each family has a tournament tree over its workers, in the order
 * of their numbers, in which each group has a subtree. So for a task with few data on few of many nodes, only the
 * family as a whole and the groups on those few nodes, which are *apart*, are compared. A worker
 * whose kernel ends later than now is `ahead`: its date does not depend on now. Any other worker is `late`: its date is
 * now + work. A node of the tree has the earliest date of the workers below it that are ahead, the least work of the
 * workers that are late, and the earliest `until`, by which the workers are found that have become late. Late workers
 * with backlog and queued tasks are `mixed`: (now + backlog) + queued may be rounded differently from now + work, so
 * the least work only gives a bound, and the dates of these workers must be compared one by one.
 *
 * A policy that tries schedules before it places tasks (dada) hides the workers that a schedule has loaded, and
 * compares the loaded workers itself.
 *
 * Cost: O(log workers of the family) per change and per question. Workers that are not driven (heddle_sched_driven) are
 * in no tree.
 */
#ifndef HD_POLICIES_PARTS_DATES_H
#define HD_POLICIES_PARTS_DATES_H

#include <heddle/policy.h>
#include "base/base.h"

struct hd_dates_node {
	double ahead, late, mixed, until; /* us; INFINITY: there is no such worker */
};

/* The terms of a task, in us, from which and from a worker's date hd_dates_cost computes the task's cost on the worker:
 * the date at which the worker will have done the task, plus `moved`. */
struct hd_dates_terms {
	double arrival; /* the date at which the task's data will have arrived on the node */
	double length;  /* INFINITY: the worker cannot run the task */
	double moved;   /* an additional cost of moving data */
};

struct hd_dates_group {
	unsigned class_id, node;
	unsigned n, n_driven; /* workers */
	unsigned last;        /* the highest number of its workers */
	unsigned family;
	unsigned next;             /* 1 + the next group on the node; 0: there is none */
	size_t root;               /* the root of its subtree in the tree of its family */
	uint64_t apart_at;         /* the last question for which it is apart */
	struct hd_dates_terms own; /* for the caller: the terms of a task for which the group is apart */
};

struct hd_dates_family {
	unsigned class_id, node; /* of its first group */
	unsigned at;             /* the index of its time in hd_dates.far */
	unsigned n_groups, last_group;
	double earliest;       /* no driven worker that is not hidden has an earlier date; INFINITY: there is none */
	size_t n_leaves;       /* a power of two */
	size_t n_group_leaves; /* of the subtree of a group; a power of two */
	unsigned *workers;     /* borrows from hd_dates.members: the worker of each leaf that has one */
	/* borrows from hd_dates.trees: node i has the children 2i and 2i + 1; 1 is the root */
	struct hd_dates_node *tree;
	struct hd_dates_terms far; /* for the caller: the terms of a task for its groups that are not apart */
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
	double now;                       /* us: the time of the last call of hd_dates_renew */
	struct hd_dates_worker *workers;  /* owns */
	struct hd_dates_group *groups;    /* owns */
	struct hd_dates_family *families; /* owns */
	size_t n_families, n_leaves;
	unsigned *on_node; /* owns; per node: 1 + its first group; 0: it has none */
	/* Of the last call of hd_dates_find_moves: the number of families with groups that are not apart, all or none;
	 * and the groups that are apart. */
	size_t n_far, n_apart;
	uint64_t question; /* how often hd_dates_find_moves has asked for times of few nodes, plus 1 */
	unsigned *apart;   /* owns */
	/* Own: us for moving the task's data to the node of a group that is apart: near[node]; of another group:
	 * far[at of the family]. */
	double *near, *far;
	/* 1: there are few groups, or few are alike, so that each is a family of its own, and none is apart */
	int are_alone;
	unsigned *nodes;   /* owns; scratch memory */
	unsigned *members; /* owns */
	unsigned *stale;   /* owns; the workers whose leaves the next hd_dates_renew must compute */
	size_t n_stale;
	struct hd_dates_node *trees; /* owns */
	/* owns; NULL unless hd_dates_watch_latest was called: a tree for each family, at the same place as in `trees`,
	 * over the negated dates */
	struct hd_dates_node *latest;
};

/* Puts the workers of the platform into groups, and these into families; groups on nodes with different `weights` are
 * in different families. `weights`, one per node, may be NULL. `each`: each group is a family of its own, for a policy
 * that looks at each group. HEDDLE_E_MEMORY; call hd_dates_fini even then. */
int hd_dates_init(struct hd_dates *d, heddle_sched *sched, const double *weights, int each);
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
/* The cost of a task on a worker with this date. */
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
/* No driven worker of the group that is not hidden has an earlier date; INFINITY: there is none. */
double hd_dates_bound(const struct hd_dates *d, const struct hd_dates_group *g);
/* Asks for the times to move a task's data: sets n_far, n_apart, `apart`, `near` and `far`. Before the first call no
 * group is apart, and all times are 0. */
void hd_dates_find_moves(struct hd_dates *d, const heddle_task *t);
/* The terms of the task on a worker, after the caller has set `far` of the first n_far families, and `own` of the
 * groups that are apart. `own` must not exceed `far`, if both are set: this makes it needless to leave the groups that
 * are apart out of their family. */
static inline const struct hd_dates_terms *hd_dates_terms_of(const struct hd_dates *d, unsigned worker)
{
	const struct hd_dates_group *g = &d->groups[d->workers[worker].group];
	return g->apart_at == d->question ? &g->own : &d->families[g->family].far;
}
/* The worker with the least cost, by hd_dates_terms_of, among all workers that can run the task, the first one of equal
 * workers. */
unsigned hd_dates_best(const struct hd_dates *d, const heddle_task *t);

#endif
