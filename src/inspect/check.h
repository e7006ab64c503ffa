/* What hd_check notes while it follows the lists of a runtime: for every live task and every datum, the places where it
 * was found and the references to it. */
#ifndef HD_CORE_CHECK_H
#define HD_CORE_CHECK_H

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

/* Accesses by the kind of group that they are in. */
enum hd_access_kind { HD_READS, HD_WRITES, HD_COMMUTES, HD_REDUCES, HD_ACCESS_KINDS };

struct hd_checked_task {
	uint64_t key; /* its address */
	const heddle_task *task;
	uint32_t pending; /* how many things it waits for, counted by the check */
	uint32_t edges;   /* explicit dependencies that point to it */
	uint64_t inside;  /* tasks of its sub-graph that are in the graph */
	enum hd_place place;
};

struct hd_checked_data {
	uint64_t key; /* its address */
	const heddle_data *data;
	const heddle_data *owner; /* the datum whose private copy this is; NULL: it is none, or its owner is gone */
	uint32_t accesses[HD_ACCESS_KINDS]; /* accesses of live tasks */
	uint32_t queued[HD_ACCESS_KINDS];   /* those of `accesses` that wait in the datum's queue */
	uint32_t changing;                  /* accesses that change handles below; less those that wait here */
	uint32_t tokens;                    /* accesses that hold its commute token */
	uint32_t uses;                      /* accesses of tasks whose uses are listed */
	uint32_t writers;                   /* accesses that are counted as writing it */
	uint32_t *pins;                     /* per node: pins on its replica; a part of the array in struct hd_check */
};

struct hd_check {
	heddle_runtime *rt;
	struct hd_checked_task *tasks; /* owned; sorted by key */
	struct hd_checked_data *data;  /* owned; sorted by key */
	uint32_t *pins;                /* owned; the counters of all data */
	size_t n_tasks, n_data, max_data;
	size_t n_accesses; /* of all these tasks */
	size_t n_in_lanes; /* transfers that do not move yet */
};

/* Returns HEDDLE_E_STATE, with a message that says which invariant is broken. */
#define hd_broken(...) hd_error(HEDDLE_E_STATE, __VA_ARGS__)

/* Compares two entries of either table. */
int hd_check_by_key(const void *a, const void *b);
/* NULL: `t` is no live task, `d` is no datum of the runtime. */
struct hd_checked_task *hd_check_find_task(const struct hd_check *c, const heddle_task *t);
struct hd_checked_data *hd_check_find_data(const struct hd_check *c, const heddle_data *d);
/* Notes that the task was found in a list: it must be live and in no other list. `list` names the list in messages. */
int hd_check_place(struct hd_check *c, const heddle_task *t, enum hd_place place, const char *list);
static inline unsigned hd_check_state(const heddle_task *t)
{
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	return atomic_load_explicit(&t->state, memory_order_relaxed);
}

/* Follows a queue through link.next. Adds its length to *n, which may be NULL. */
int hd_check_queue(struct hd_check *c, const heddle_task *first, const heddle_task *tail, enum hd_place place,
                   const char *name, uint64_t *n);
/* check_workers.c: workers, what they hold, and the hungry list. */
int hd_check_workers(struct hd_check *c);
int hd_check_loads(struct hd_check *c);
/* check_data.c, check_transfers.c and check_memory.c: chains, copies, transfers, memories. */
int hd_check_collect_data(struct hd_check *c);
int hd_check_transfers(struct hd_check *c, struct hd_checked_data *seen);
/* The transfer of the datum to a node; NULL: there is none. */
const struct hd_transfer *hd_check_transfer_to(const heddle_data *d, unsigned node);
int hd_check_lanes(const struct hd_check *c);
int hd_check_chains(struct hd_check *c);
int hd_check_accesses(struct hd_check *c);
int hd_check_data(struct hd_check *c);
int hd_check_memories(struct hd_check *c);
/* check_layout.c: the datum's plans, when the accesses have been counted. */
int hd_check_layout(const struct hd_check *c, const struct hd_checked_data *seen);
/* check_layout.c: counts the pins that windows have on the copies in which they lie. */
int hd_check_windows(const struct hd_check *c);
/* The name of a datum for messages; of a private copy, the name of the datum that it belongs to. Valid until the
 * thread's next call. */
const char *hd_check_name(const struct hd_checked_data *seen);

/* check_hierarchy.c: the tasks that wait to be expanded, or to be decided about; which workers submissions wake for
 * them; and each task of a sub-graph is counted where it is. */
int hd_check_unexpanded(struct hd_check *c);
/* Goes through a heap of such tasks, which are `decided` or not, and adds their number to *n. */
int hd_check_expansions(struct hd_check *c, const heddle_task *heap, int decided, size_t *n);
int hd_check_expanders(struct hd_check *c);
int hd_check_insides(struct hd_check *c);

/* check.c: checks the invariants of the whole structure: lists, counters, references, chains, copies, memory. May be
 * called wherever the lock may be given up, with the lock held. HEDDLE_E_STATE, with a message that names the first
 * invariant that is broken; HEDDLE_E_MEMORY. */
int hd_selfcheck(heddle_runtime *rt);

#endif
