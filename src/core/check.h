/* What hd_check knows while it looks at a runtime: every live task and every datum, found by address, and what the
 * lists and references that it has followed so far say about each. */
#ifndef HD_CORE_CHECK_H
#define HD_CORE_CHECK_H

#include "runtime.h"

/* The list in which a live task was found. */
enum hd_place {
	HD_NOWHERE,
	HD_IN_BATCH,
	HD_AMONG_CONTROLS,
	HD_WAITS_FOR_ROOM,
	HD_WAITS_FOR_TOKEN,
	HD_ON_WORKER,
	HD_CALLED
};

/* Accesses by what they may be in force with. A reader that gave up waiting (see heddle_acquire) stays in the chain as
 * whatever it was. */
enum hd_access_kind { HD_READS, HD_WRITES, HD_COMMUTES, HD_REDUCES, HD_GIVEN_UP, HD_ACCESS_KINDS };

struct hd_checked_task {
	uint64_t key; /* its address */
	const heddle_task *task;
	uint32_t pending; /* what it waits for, counted anew */
	uint32_t edges;   /* explicit dependencies that point to it */
	enum hd_place place;
};

struct hd_checked_data {
	uint64_t key; /* its address */
	const heddle_data *data;
	const heddle_data *owner;           /* of a private copy; NULL: it is no such copy, or nobody's any more */
	uint32_t accesses[HD_ACCESS_KINDS]; /* of live tasks */
	uint32_t queued[HD_ACCESS_KINDS];   /* those of them that wait for their turn */
	uint32_t tokens;                    /* accesses that hold its commute token */
	uint32_t writers;                   /* accesses that are counted as writing it */
	uint32_t *pins;                     /* per node */
};

struct hd_check {
	heddle_runtime *rt;
	struct hd_checked_task *tasks; /* owns; sorted */
	struct hd_checked_data *data;  /* owns; sorted */
	uint32_t *pins;                /* owns */
	size_t n_tasks, n_data, max_data;
};

/* HEDDLE_E_STATE with the sentence. */
#define hd_broken(...) hd_error(HEDDLE_E_STATE, __VA_ARGS__)

/* Compares two entries of either table. */
int hd_check_by_key(const void *a, const void *b);
/* NULL: it is no live task; no datum of the runtime. */
struct hd_checked_task *hd_check_find_task(const struct hd_check *c, const heddle_task *t);
struct hd_checked_data *hd_check_find_data(const struct hd_check *c, const heddle_data *d);
/* A list has the task: it must be live and in no other list. `list` names it for the sentence. */
int hd_check_place(struct hd_check *c, const heddle_task *t, enum hd_place place, const char *list);
static inline unsigned hd_check_state(const heddle_task *t)
{
	/* relaxed: the core lock is held; pairs: nothing */
	return atomic_load_explicit(&t->state, memory_order_relaxed);
}

/* src/data/check_data.c: chains, copies, transfers, memories. */
int hd_check_collect_data(struct hd_check *c);
int hd_check_chains(struct hd_check *c);
int hd_check_accesses(struct hd_check *c);
int hd_check_data(struct hd_check *c);
int hd_check_memories(struct hd_check *c);

#endif
