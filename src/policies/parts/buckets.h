/* The buckets of Heteroprio, and how workers take tasks from them: what heteroprio, laheteroprio and autoheteroprio
 * share.
 *
 *   a bucket   first-in first-out; with locality, split in one list per memory node
 *   an order   per class of workers: which buckets it wants first
 *   the gate   a class that is slow for a bucket may only take when there is more in it than the fast workers can do at
 *              once
 *
 * Within a list the tasks are kept apart by the set of workers that can run them (worker_sets.h), so that none stands
 * in the way. The policy says which bucket a task belongs to, and sets the orders.
 *
 * Cost per call: O(buckets x sets met) at worst, and the nodes times that with locality; empty ones are one comparison.
 */
#ifndef HD_POLICIES_PARTS_BUCKETS_H
#define HD_POLICIES_PARTS_BUCKETS_H

#include "central_queue.h"
#include "locality.h"

struct hd_bucket {
	char *name;             /* owns */
	size_t n;               /* tasks in it */
	size_t *n_on;           /* owns; per node: tasks in that list */
	struct hd_deque *lists; /* owns; [node * sets.capacity + set] */
	double *time;           /* owns; per class: running average of the predicted times, us; NAN: unknown */
	uint64_t *samples;      /* owns; per class: behind it */
	uint64_t *taken;        /* owns; per class */
	uint64_t tasks;         /* ever filed */
};

/* A worker's own tasks, which it was promised and whose data are on their way. */
struct hd_held {
	struct hd_deque queue;
	size_t n;
};

struct hd_bucket_key {
	uint64_t key; /* 0: free */
	size_t bucket;
};

/* The orders that a class has had, the last ones: for the report. */
enum { HD_ORDERS_KEPT = 8, HD_ORDER_FRONT = 8 };
struct hd_order_log {
	uint64_t changes;
	struct {
		double at;                    /* us */
		size_t front[HD_ORDER_FRONT]; /* its first buckets */
		size_t n;
	} last[HD_ORDERS_KEPT]; /* a ring: change i is at i % HD_ORDERS_KEPT */
};

enum hd_gate { HD_GATE_NO, HD_GATE_BUCKET, HD_GATE_ORDER };

struct hd_buckets {
	heddle_sched *sched; /* borrows, as the platform */
	const struct heddle_platform *platform;
	struct hd_sets sets;
	uint8_t *serves;            /* owns; [set * n_classes + class]: some worker of the class is in the set */
	size_t n_served;            /* sets for which that is known */
	struct hd_bucket **all;     /* owns */
	size_t n, capacity;         /* bucket 0, "others", is where tasks go when there is no memory for more buckets */
	struct hd_bucket_key *keys; /* owns: an open-addressing table */
	size_t n_keys, max_keys;
	size_t **orders;           /* own; per class: buckets, first to take first */
	struct hd_order_log *logs; /* owns; per class */
	unsigned *workers;         /* owns; per class: how many */
	size_t *remaining;         /* owns; per class: tasks in buckets that it could run */
	struct hd_held *held;      /* owns; per worker */
	unsigned *peers;           /* owns; [worker * n_workers ...]: the other workers of its class, nearest first */
	unsigned *n_peers;         /* owns */
	size_t n_lists;            /* per bucket: nodes with locality, 1 without */
	size_t *n_on;              /* owns; per list: tasks in all buckets */
	/* owns; [node * n_lists ...]: the lists in the order in which its workers look into them */
	unsigned *visit;
	double *near;       /* owns; [node * n_lists + list]: relative time to bring data from there */
	double *away;       /* owns, scratch; per list */
	int *class_of_node; /* owns; that of its first worker; -1: none */
	enum hd_locality locality;
	enum hd_gate gate;
	size_t ahead;  /* tasks that a worker may hold */
	uint64_t news; /* counts what may give work to a worker that found none; starts at 1 */
	/* owns; per worker, then [n_workers + class * n_nodes + node] for all of them: the news when nothing was
	 * found */
	uint64_t *idle_at;
	uint64_t refused, stolen; /* by the gate; from peers */
	uint64_t given, local;    /* tasks; of which from the own node's list */
	uint64_t refiled;         /* tasks moved to their exact set */
	size_t *held_now;         /* owns; per class: by all its workers */
};

/* Reads the options of HD_BUCKET_OPTIONS. HEDDLE_E_MEMORY. After an error as after success, hd_buckets_fini. */
int hd_buckets_init(struct hd_buckets *b, heddle_sched *sched);
void hd_buckets_fini(struct hd_buckets *b);
/* The bucket of a name, made if new, and then empty and last in every order. `key` stands for the name and saves
 * comparing it; several keys may share one. 0 when out of memory. */
size_t hd_buckets_find(struct hd_buckets *b, uint64_t key, const char *name);
/* The same, slowly. */
size_t hd_buckets_named(struct hd_buckets *b, const char *name);
/* The same by the name of the task's codelet. */
size_t hd_buckets_of_codelet(struct hd_buckets *b, const heddle_codelet *codelet);
/* Whether the order of a class is another than `before`, which has n buckets; if so, it is noted for the report. */
int hd_buckets_note_order(struct hd_buckets *b, size_t class_id, const size_t *before, size_t n);
/* To be called when orders have changed: finds the nearest lists again. */
void hd_buckets_reordered(struct hd_buckets *b);
/* Counts a task of a bucket and its predicted times; hd_buckets_push does it itself. */
void hd_buckets_learn(struct hd_buckets *b, size_t bucket, const heddle_task *t);
/* `releaser`: the worker whose task made this one ready, or -1. */
void hd_buckets_push(struct hd_buckets *b, size_t bucket, heddle_task *t, int releaser);
/* The next task of a worker: fills what it holds, then gives the first of it, or one that a worker of its class
 * holds. */
heddle_task *hd_buckets_pick(struct hd_buckets *b, unsigned worker);
/* Figures, with what each class took from each bucket, in its order. */
void hd_buckets_report(struct hd_buckets *b, heddle_sched *sched);

#define HD_BUCKET_OPTIONS(default_locality, default_ahead, default_gate)                                               \
	{"locality",                                                                                                   \
	 default_locality,                                                                                             \
	 HD_LOCALITY_NAMES,                                                                                            \
	 "which memory node's list a task waits in: none, one list for all; the "                                      \
	 "releaser's; by transfer time; by bytes present (four scores)",                                               \
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
