/* The common part of heteroprio, laheteroprio and autoheteroprio: buckets of ready tasks, from which workers take
 * tasks.
 *
 *   a bucket   first-in first-out; with locality, split in one list per memory node
 *   an order   per class of workers: which buckets it wants first
 *   the gate   a class that is slow for a bucket may only take when there is more in it than the fast workers can do at
 *              once
 *
 * Each list is divided by the set of workers that can run the tasks (worker_sets.h), so that a worker need not pass
 * tasks that it cannot run. The policy chooses the bucket of each task, and sets the orders.
 *
 * Cost per call: O(buckets * sets), with locality O(buckets * sets * nodes), at worst; an empty bucket takes one
 * comparison.
 */
#ifndef HD_POLICIES_PARTS_BUCKETS_H
#define HD_POLICIES_PARTS_BUCKETS_H

#include "base/table.h"
#include "central_queue.h"
#include "locality.h"
#include "nearest.h"

struct hd_bucket {
	char *name;             /* owns */
	size_t n;               /* number of tasks in the bucket */
	size_t *n_on;           /* owns; per list: number of tasks in the list */
	struct hd_deque *lists; /* owns; [list * sets.capacity + set] */
	double *time;           /* owns; per class: running average of the predicted times, us; NAN: unknown */
	uint64_t *samples;      /* owns; per class: number of predictions of which `time` is the average */
	uint64_t *taken;        /* owns; per class: number of tasks that its workers have taken */
	uint64_t tasks;         /* number of tasks that were ever put into the bucket */
};

/* The tasks that a worker holds ahead: no other worker takes them, except by stealing. Their data are prefetched. */
struct hd_held {
	struct hd_deque queue;
	size_t n;
};

/* The last orders that a class has had, for the report. */
enum { HD_ORDERS_KEPT = 8, HD_ORDER_FRONT = 8 };
struct hd_order_log {
	uint64_t changes;
	struct {
		double at;                    /* us: when the class got this order */
		size_t front[HD_ORDER_FRONT]; /* the first buckets of the order */
		size_t n;
	} last[HD_ORDERS_KEPT]; /* a ring buffer: change i is at index i % HD_ORDERS_KEPT */
};

enum hd_bucket_gate { HD_GATE_NO, HD_GATE_BUCKET, HD_GATE_ORDER };

struct hd_buckets {
	heddle_sched *sched; /* borrows */
	const struct heddle_platform *platform;
	struct hd_sets sets;
	uint8_t *serves;        /* owns; [set * n_classes + class]: some worker of the class is in the set */
	size_t n_served;        /* number of sets for which `serves` is filled */
	struct hd_bucket **all; /* owns */
	/* the number of buckets; bucket 0, "others", takes the tasks for whose buckets there was no memory */
	size_t n, capacity;
	struct hd_table by_key; /* owns; the buckets by the keys of hd_buckets_find */
	/* own; per class: the numbers of the buckets, in the order in which the class takes from them */
	size_t **orders;
	struct hd_order_log *logs; /* owns; per class */
	unsigned *workers;         /* owns; per class: number of driven workers */
	size_t *remaining;         /* owns; per class: number of tasks in the buckets that the class can run */
	struct hd_held *held;      /* owns; per worker */
	struct hd_nearest holders; /* marks the workers that hold tasks */
	unsigned *group_of; /* owns; per worker: its group (groups.h), which is also its group for heddle_sched_group */
	unsigned n_groups;
	size_t n_lists; /* number of lists of each bucket: with locality one per node, otherwise 1 */
	size_t *n_on;   /* owns; per list: number of tasks in this list, over all buckets */
	/* owns; from [node * n_lists] on: the lists in the order in which the node's workers look into them */
	unsigned *visit;
	/* owns; [node * n_lists + list]: time to bring data from the list's node, relative to the slowest such
	 * transfer */
	double *near;
	double *away;                /* owns, scratch; per list: its distance */
	double *scores;              /* owns, scratch; per list: its score for a task */
	struct hd_presence *present; /* owns, scratch; per list */
	int *class_of_node;          /* owns; per node: class of the node's first worker; -1: the node has no worker */
	enum hd_locality locality;
	enum hd_bucket_gate gate;
	size_t ahead;  /* number of tasks that a worker may hold */
	uint64_t news; /* counts events after which a worker that found no task may find one; starts at 1 */
	uint64_t told; /* `news` when the core was last told to ask all workers */
	/* owns; `news` when a worker last found no task; per worker, and at [n_workers + group] for all workers of a
	 * group */
	uint64_t *idle_at;
	/* numbers of picks that the gate refused, and of tasks stolen from workers of the same class */
	uint64_t refused, stolen;
	/* numbers of tasks given to workers, and of such tasks from the list of the worker's own node */
	uint64_t given, local;
	uint64_t refiled; /* number of tasks moved to the list of their exact set */
	size_t *held_now; /* owns; per class: number of tasks that its workers hold */
};

/* Makes the buckets, by the options of HD_BUCKET_OPTIONS. HEDDLE_E_MEMORY; call hd_buckets_fini even then. */
int hd_buckets_init(struct hd_buckets *b, heddle_sched *sched);
void hd_buckets_fini(struct hd_buckets *b);
/* The bucket with this name. If there is none, creates the bucket, as the last one in every order. `key` is a number
 * that stands for the name, so that names need not be compared; several keys may have the same name. Returns 0 when out
 * of memory. */
size_t hd_buckets_find(struct hd_buckets *b, uint64_t key, const char *name);
/* Does what hd_buckets_find does, without a key; slower, because names are compared. */
size_t hd_buckets_named(struct hd_buckets *b, const char *name);
/* The bucket with the name of the codelet, which is created if there is none. */
size_t hd_buckets_of_codelet(struct hd_buckets *b, const heddle_codelet *codelet);
/* Whether the order of a class differs from `before`, which has n buckets; if so, notes it for the report. */
int hd_buckets_note_order(struct hd_buckets *b, size_t class_id, const size_t *before, size_t n);
/* To be called when orders have changed: computes the distances of the lists again. */
void hd_buckets_reordered(struct hd_buckets *b);
/* Adds a task and its predicted times to the averages of a bucket. hd_buckets_push calls it. */
void hd_buckets_learn(struct hd_buckets *b, size_t bucket, const heddle_task *t);
/* Puts a task into a bucket. `releaser`: the worker whose task made it ready, or -1. */
void hd_buckets_push(struct hd_buckets *b, size_t bucket, heddle_task *t, int releaser);
/* The next task for a worker: lets the worker hold as many tasks as it may, and returns the first of them; if there is
 * none, steals a task that another worker of the class holds; NULL: no task. This function, hd_buckets_take_back and
 * hd_buckets_report can be callbacks of a policy whose state begins with its struct hd_buckets. */
heddle_task *hd_buckets_pick(void *buckets, unsigned worker);
/* To be called at the end of each callback that may push tasks or change orders: lets the core ask workers again that
 * have found no task. */
void hd_buckets_call(struct hd_buckets *b);
/* For the callback `changed`, after the set of driven workers has changed. If a bucket has no time for a class,
 * predicts the time from a task in the bucket. */
void hd_buckets_changed(struct hd_buckets *b);
/* For the callback take_back: takes the first task that a retired worker holds; NULL: it holds none. */
heddle_task *hd_buckets_take_back(void *buckets, unsigned worker);
/* Reports the statistics, among them the number of tasks that each class took from each bucket. */
void hd_buckets_report(void *buckets, heddle_sched *sched);

#define HD_BUCKET_OPTIONS(default_locality, default_ahead, default_gate)                                               \
	{"locality",                                                                                                   \
	 default_locality,                                                                                             \
	 HD_LOCALITY_NAMES,                                                                                            \
	 "which memory node's list a task waits in: none, one list for all; the "                                      \
	 "releaser's; by transfer time; by bytes present (five scores)",                                               \
	 0,                                                                                                            \
	 0},                                                                                                           \
	    {"ahead",                                                                                                  \
	     default_ahead,                                                                                            \
	     "tasks",                                                                                                  \
	     "tasks that a worker takes at once; it gets the first, and the data of the others are "                   \
	     "fetched meanwhile",                                                                                      \
	     1,                                                                                                        \
	     64},                                                                                                      \
	{                                                                                                              \
		"gate", default_gate, "no|bucket|order",                                                               \
		    "a class that is f times slower for a bucket than the fastest takes only when "                    \
		    "there are f tasks in it per worker of the fastest; order: those of the buckets that the fastest " \
		    "wants more count, too",                                                                           \
		    0, 0                                                                                               \
	}

#endif
