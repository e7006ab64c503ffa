/* Whether the order in which tasks are expected to use their data deserves trust: trial.c. Included by data.h. */
#ifndef HD_TRIAL_H
#define HD_TRIAL_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/task.h>

struct hd_memo;
struct hd_memory;
struct hd_replica;

/* Of a memory that has a limit: which copies would be there if always the least recently used one had left, and how
 * that compares with what was done: trial.c. */
struct hd_trial {
	struct hd_memo *newest, *oldest; /* borrowed: the copies that would be there, by their last use */
	uint64_t held;                   /* bytes of these */
	uint64_t used;                   /* bytes that tasks have used on the node so far: the clock of this */
	int64_t regret;    /* bytes that tasks lacked and would have had, less those that they had and would not */
	uint64_t until;    /* on that clock: when the order of use is given another chance */
	uint64_t patience; /* bytes: how long the last such time was; 0: there was none */
	uint8_t
	    distrusted; /* 1: what is needed is evicted by its last use; not by the order in which tasks may use it */
};

/* The memory has become tight, or loose. */
void hd_trial_begin(struct hd_memory *m);
void hd_trial_end(struct hd_memory *m);
/* A task has got its data on the node, whose memory is tight: the order is judged by that. */
void hd_trial_used(heddle_task *t, unsigned node);
/* The copy leaves its memory. */
void hd_trial_left(const struct hd_replica *r);
/* The datum has got another value, which is on `node` alone; SIZE_MAX: nowhere, because the datum ends. */
void hd_trial_replaced(const heddle_data *d, size_t node);

#endif
