/* What heteroprio, laheteroprio and autoheteroprio share: buckets of ready tasks, and how workers take tasks from them.
 *
 *   a bucket   first-in first-out; with locality, split in one list per memory node
 *   an order   per class of workers: which buckets it wants first
 *   the gate   a class that is slow for a bucket may only take when there is more in it than the fast workers can do at
 *              once
 *
 * Each list is divided by the set of workers that can run the tasks (worker_sets.h), so that a worker need not pass
 * tasks that it cannot run. The policy says which bucket a task belongs to, and sets the orders.
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
	size_t n;               /* tasks in the bucket */
	size_t *n_on;           /* owns; per list: how many tasks it has */
	struct hd_deque *lists; /* owns; [list * sets.capacity + set] */
	double *time;           /* owns; per class: running average of the predicted times, us; NAN: unknown */
	uint64_t *samples;      /* owns; per class: how many predictions `time` averages */
	uint64_t *taken;        /* owns; per class: how many tasks its workers took */
	uint64_t tasks;         /* how many tasks were ever put into the bucket */
};

/* The tasks that a worker holds: only this worker takes them, unless another worker steals one; their data are being
 * fetched. */
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
		size_t front[HD_ORDER_FRONT]; /* its first buckets */
		size_t n;
	} last[HD_ORDERS_KEPT]; /* a ring: change i is at i % HD_ORDERS_KEPT */
};

enum hd_bucket_gate { HD_GATE_NO, HD_GATE_BUCKET, HD_GATE_ORDER };

struct hd_buckets {
	heddle_sched *sched; /* borrows; also the platform */
	const struct heddle_platform *platform;
	struct hd_sets sets;
	uint8_t *serves;        /* owns; [set * n_classes + class]: some worker of the class is in the set */
	size_t n_served;        /* how many sets `serves` is filled for */
	struct hd_bucket **all; /* owns */
	/* the number of buckets; bucket 0, "others", takes the tasks for whose buckets there was no memory */
	size_t n, capacity;
	struct hd_table by_key;    /* owns; the buckets by the keys of hd_buckets_find */
	size_t **orders;           /* own; per class: the buckets, first the one to take from first */
	struct hd_order_log *logs; /* owns; per class */
	unsigned *workers;         /* owns; per class: how many are driven */
	size_t *remaining;         /* owns; per class: tasks in the buckets that the class could run */
	struct hd_held *held;      /* owns; per worker */
	struct hd_nearest holders; /* workers that hold tasks are marked */
	unsigned *group_of;        /* owns; per worker: its group (groups.h), which is one for the core, too */
	unsigned n_groups;
	size_t n_lists; /* lists of each bucket: with locality one per node, otherwise 1 */
	size_t *n_on;   /* owns; per list: tasks in that list of all buckets */
	/* owns; from [node * n_lists] on: the lists in the order in which the node's workers look into them */
	unsigned *visit;
	/* owns; [node * n_lists + list]: time to bring data from the list's node, relative to the slowest */
	double *near;
	double *away;                /* owns, scratch; per list: its distance */
	double *scores;              /* owns, scratch; per list: its score for a task */
	struct hd_presence *present; /* owns, scratch; per list */
	int *class_of_node;          /* owns; per node: class of its first worker; -1: it has none */
	enum hd_locality locality;
	enum hd_bucket_gate gate;
	size_t ahead;  /* tasks that a worker may hold */
	uint64_t news; /* counts events after which a worker that found no task may find one; starts at 1 */
	uint64_t told; /* `news` when the core was last told to ask all workers */
	/* owns; `news` when a worker last found no task; per worker, and at [n_workers + group] for all workers of a
	 * group */
	uint64_t *idle_at;
	uint64_t refused, stolen; /* picks that the gate refused; tasks stolen from peers */
	uint64_t given, local;    /* tasks given to workers; those that came from the list of the worker's own node */
	uint64_t refiled;         /* tasks moved to the list of their exact set */
	size_t *held_now;         /* owns; per class: tasks that its workers hold */
};

/* Makes the buckets, by the options of HD_BUCKET_OPTIONS. HEDDLE_E_MEMORY; call hd_buckets_fini even then. */
int hd_buckets_init(struct hd_buckets *b, heddle_sched *sched);
void hd_buckets_fini(struct hd_buckets *b);
/* The bucket of a name. If there is none, a new bucket is made, which is the last in every order. `key` is a number
 * that stands for the name, so that names need not be compared; several keys may have the same name. Returns 0 when out
 * of memory. */
size_t hd_buckets_find(struct hd_buckets *b, uint64_t key, const char *name);
/* The bucket of a name, made if there is none, as by hd_buckets_find. Slower, because there is no key. */
size_t hd_buckets_named(struct hd_buckets *b, const char *name);
/* The bucket with the name of the codelet, made if there is none. */
size_t hd_buckets_of_codelet(struct hd_buckets *b, const heddle_codelet *codelet);
/* Whether the order of a class differs from `before`, which has n buckets; if so, notes it for the report. */
int hd_buckets_note_order(struct hd_buckets *b, size_t class_id, const size_t *before, size_t n);
/* To be called when orders have changed: computes the distances of the lists again. */
void hd_buckets_reordered(struct hd_buckets *b);
/* Adds a task and its predicted times to the averages of a bucket. hd_buckets_push calls it. */
void hd_buckets_learn(struct hd_buckets *b, size_t bucket, const heddle_task *t);
/* Puts a task into a bucket. `releaser`: the worker whose task made it ready, or -1. */
void hd_buckets_push(struct hd_buckets *b, size_t bucket, heddle_task *t, int releaser);
/* The next task for a worker: fills what the worker holds and returns the first of that; if it is empty, one that
 * another worker of the class holds; or NULL. This function, hd_buckets_take_back and hd_buckets_report can be the
 * callbacks of a policy whose state begins with its struct hd_buckets. */
heddle_task *hd_buckets_pick(void *buckets, unsigned worker);
/* To be called at the end of each callback that may push tasks or change orders: lets the core ask workers again that
 * have found no task. */
void hd_buckets_call(struct hd_buckets *b);
/* For the callback `changed`: other workers are driven. A class for which a bucket has no time gets the time of a task
 * in the bucket. */
void hd_buckets_changed(struct hd_buckets *b);
/* For the callback of the same name: takes the first task that a retired worker holds; NULL: it holds none. */
heddle_task *hd_buckets_take_back(void *buckets, unsigned worker);
/* Reports the statistics, among them what each class took from each bucket. */
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
