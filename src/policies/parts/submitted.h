/* The submitted tasks that have not ended, with their *ranks*, and the *prices* of the classes of workers.
 *
 *   rank(t)   the predicted time from the beginning of t to the end of everything that is submitted, if there were
 *             workers for all:  own(t) + max over successors s of (rank(s) + the time to move the datum between them)
 *             own(t) = min over classes of time + `mean` * mean over workers of time
 *   price(c)  what an hour of a worker of class c is worth: the dual values of the linear program that divides the work
 *             of all these tasks among the classes so that all workers end at the same time (the area bound)
 *
 * Both are computed by one pass backwards over the tasks, whenever a quarter of them is new. The pass does not follow
 * edges: for each datum it keeps the largest rank of the last group of accesses that it has met, and of the group
 * behind. Tasks that are not plain (heddle_task_is_plain) are asked for their successors.
 *
 * Cost: O(accesses) per task and pass; each task is passed a few times. */
#ifndef HD_POLICIES_PARTS_SUBMITTED_H
#define HD_POLICIES_PARTS_SUBMITTED_H

#include <heddle/policy.h>
#include "ranked.h"

/* A task from its submission to its end: the record to which its word points. */
struct hd_item {
	struct hd_ranked_node node; /* in the queue of a worker, while is_queued; the first field */
	heddle_task *task;
	struct hd_item *older, *newer; /* the neighbours in the order of submission; `newer` links free records */
	double us;                     /* while queued: the predicted time that it adds to the date of its worker */
	double placed;                 /* us: when it was placed */
	float own, best;               /* us: its own part of the rank; its least time on any class */
	uint32_t worker;               /* in whose queue it is, or to which it was given */
	uint8_t is_queued, is_given;   /* is_given: a worker has got it */
	uint8_t is_fetched, is_placed_again;
};

struct hd_submitted_datum;
struct hd_submitted {
	heddle_sched *sched; /* borrows */
	const struct heddle_platform *platform;
	struct hd_item *oldest, *newest;
	size_t n, n_new;              /* number of tasks; number of them submitted since the last pass */
	struct hd_item *free;         /* free records, linked by `newer` */
	struct hd_item_chunk *chunks; /* owns: the memory of all records */
	double mean;                  /* see above */
	double us_per_byte;           /* 1 / the mean rate of the links */
	unsigned *n_workers;          /* owns; per class */
	double *prices, *times;       /* own; per class: the prices; us: the times of the task being ranked */
	double typical;               /* us: the mean time of tasks on their best class; 0: none is known */
	double *balance;              /* owns: the work that is divided, by the ratio of its times: see submitted.c */
	struct hd_submitted_datum *data; /* owns: the hash table of a pass */
	size_t data_size, n_data;        /* a power of two; in use */
	uint32_t pass;                   /* number of the pass; a slot of another pass is free */
	int prices_wanted;
	int calibrates; /* 1: predicted times change while tasks run */
};

/* HEDDLE_E_MEMORY; call hd_submitted_fini even then. */
int hd_submitted_init(struct hd_submitted *s, heddle_sched *sched, double mean, int prices);
void hd_submitted_fini(struct hd_submitted *s);
/* The policy's callbacks `submitted` and `ended`. If there is no memory, the word of the task stays 0. */
void hd_submitted_add(struct hd_submitted *s, heddle_task *t);
void hd_submitted_remove(struct hd_submitted *s, heddle_task *t);
/* Ranks all tasks anew if enough of them are new. Calls `moved` for each task in a queue whose rank changes, instead of
 * setting the rank of its node. */
void hd_submitted_renew(struct hd_submitted *s, void (*moved)(void *arg, struct hd_item *item, double rank), void *arg);
/* The time of a task on a class; INFINITY: the class cannot run it. A time that no model knows is guessed from that of
 * other tasks and the speed of the class. */
double hd_submitted_time(const struct hd_submitted *s, const heddle_task *t, unsigned class_id);
static inline struct hd_item *hd_item_of(heddle_task *t)
{
	return (struct hd_item *)(uintptr_t)*heddle_task_word(t);
}

#endif
