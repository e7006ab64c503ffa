/* The records of hd_selfcheck while it follows the lists of a runtime. For each live task and each datum they say in
 * which lists it was found, and count the references to it. */
#ifndef HD_INSPECT_CHECK_H
#define HD_INSPECT_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/task.h"

struct hd_transfer;

/* The list in which a live task was found. */
enum hd_place {
	HD_NOWHERE,
	HD_IN_BATCH,
	HD_AMONG_CONTROLS,
	HD_WAITS_FOR_ROOM,
	HD_WAITS_FOR_TOKEN,
	HD_ON_WORKER,
	HD_CALLED,
	HD_TO_EXPAND,
	HD_PARKED
};

/* Accesses by the kind of their group. */
enum hd_access_kind { HD_READS, HD_WRITES, HD_COMMUTES, HD_REDUCES, HD_ACCESS_KINDS };

struct hd_checked_task {
	uint64_t key; /* the task's address */
	const heddle_task *task;
	/* number of accesses, predecessors or transfers that the task waits for, as counted by the check */
	uint32_t pending;
	uint32_t edges;  /* number of explicit dependencies on the task */
	uint64_t inside; /* number of tasks of its sub-graph that are in the graph */
	enum hd_place place;
};

struct hd_checked_data {
	uint64_t key; /* the datum's address */
	const heddle_data *data;
	/* the datum whose private copy this is; NULL: it is not a private copy, or the owner is gone */
	const heddle_data *owner;
	uint32_t accesses[HD_ACCESS_KINDS]; /* number of accesses of live tasks */
	uint32_t queued[HD_ACCESS_KINDS];   /* number of these accesses that wait in the datum's queue */
	uint32_t changing;  /* number of accesses granted at this handle that lead to a handle below and change it */
	uint32_t tokens;    /* number of accesses that hold the commute token */
	uint32_t uses;      /* number of accesses of tasks whose uses are listed */
	uint32_t writers;   /* number of accesses that count as writing the datum */
	uint32_t unordered; /* number of accesses that are in no chain: heddle_unordered */
	uint32_t *pins;     /* per node: pins on the replica; part of the array in struct hd_check */
};

struct hd_check {
	heddle_runtime *rt;
	struct hd_checked_task *tasks; /* owned; sorted by key */
	struct hd_checked_data *data;  /* owned; sorted by key */
	uint32_t *pins;                /* owned; the pin counters of all data */
	size_t n_tasks, n_data, max_data;
	size_t n_accesses; /* number of accesses of all tasks in `tasks` */
	size_t n_in_lanes; /* number of transfers that do not move yet */
};

/* Returns HEDDLE_E_STATE, with a message that names the broken invariant. */
#define hd_broken(...) hd_error(HEDDLE_E_STATE, __VA_ARGS__)

/* Compares two entries of either table by key, for qsort and bsearch. */
int hd_check_by_key(const void *a, const void *b);
/* The entry of the task or of the datum. NULL: `t` is not a live task, `d` is not a datum of the runtime. */
struct hd_checked_task *hd_check_find_task(const struct hd_check *c, const heddle_task *t);
struct hd_checked_data *hd_check_find_data(const struct hd_check *c, const heddle_data *d);
/* Notes that the task was found in a list: the task must be live and in no other list. `list` names the list in
 * messages. */
int hd_check_place(struct hd_check *c, const heddle_task *t, enum hd_place place, const char *list);
static inline unsigned hd_check_state(const heddle_task *t)
{
	/* Relaxed, pairs with nothing: the core lock orders this load with the stores in hd_set_state. */
	return atomic_load_explicit(&t->state, memory_order_relaxed);
}

/* Follows a queue of tasks through link.next: each task must be live and in no other list, and `tail` the last task.
 * Adds the length of the queue to *n, unless `n` is NULL. */
int hd_check_queue(struct hd_check *c, const heddle_task *first, const heddle_task *tail, enum hd_place place,
                   const char *name, uint64_t *n);
/* Checks workers, the tasks that they hold, and the hungry list. In check_workers.c. */
int hd_check_workers(struct hd_check *c);
int hd_check_loads(struct hd_check *c);
/* Check chains, replicas, transfers and memories. In check_data.c, check_transfers.c and check_memory.c. */
int hd_check_collect_data(struct hd_check *c);
int hd_check_transfers(struct hd_check *c, struct hd_checked_data *seen);
/* The transfer of the datum to a node; NULL: there is none. */
const struct hd_transfer *hd_check_transfer_to(const heddle_data *d, unsigned node);
int hd_check_lanes(const struct hd_check *c);
int hd_check_chains(struct hd_check *c);
int hd_check_accesses(struct hd_check *c);
int hd_check_data(struct hd_check *c);
int hd_check_memories(struct hd_check *c);
/* Checks the datum's plans, after the accesses have been counted. In check_layout.c. */
int hd_check_layout(const struct hd_check *c, const struct hd_checked_data *seen);
/* Counts the pins of windows on the replicas in which they lie. In check_layout.c. */
int hd_check_windows(const struct hd_check *c);
/* The name of a datum for messages; for a private copy, the name of its owner. Valid until the same thread's next
 * call. */
const char *hd_check_name(const struct hd_checked_data *seen);

/* Checks the hierarchical tasks that wait to be expanded or decided, the workers that submissions wake for them, and
 * that each task of a sub-graph is counted in its hierarchical task. In check_hierarchy.c. */
int hd_check_unexpanded(struct hd_check *c);
/* Checks a heap of unexpanded tasks, which must all be decided (1) or undecided (0). Adds their number to *n. */
int hd_check_expansions(struct hd_check *c, const heddle_task *heap, int decided, size_t *n);
int hd_check_expanders(struct hd_check *c);
int hd_check_insides(struct hd_check *c);

/* Checks the invariants of the whole runtime: lists, counters, references, chains, replicas, memories. Called with the
 * core lock, wherever the lock may be released. HEDDLE_E_STATE, with a message that names the first broken invariant;
 * HEDDLE_E_MEMORY. In check.c. */
int hd_selfcheck(heddle_runtime *rt);

#endif
