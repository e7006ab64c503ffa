/* The policy of a runtime, and what the core keeps for it. The core lock guards all of it. */
#ifndef HD_STATE_SCHED_H
#define HD_STATE_SCHED_H

#include <heddle/runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <heddle/policy.h>
#include "base/base.h"

struct hd_worker;

/* Workers that the policy opens and closes together. */
struct hd_ask_group {
	struct hd_worker *hungry; /* its hungry workers, in the order of the hungry list */
	struct hd_worker *next;   /* while workers are asked: the one of them that is asked next; NULL: none */
	unsigned place;           /* its place in hd_ask.askable, plus 1; 0: it is not there */
	unsigned n_full;        /* hungry workers that are full: hd_ask_hungry is to take them out of the hungry list */
	uint8_t closed, queued; /* by the policy; it is in hd_ask.queue */
};

/* Guarded by the core lock, like all that refers to it. Arrays have an element per worker, and are owned. */
struct hd_ask {
	struct hd_ask_group *groups;
	size_t n_groups; /* 1: the policy has made none, and the other fields are not used */
	int formed;      /* the policy has been made: its groups stay as they are */
	/* The groups with hungry workers that are open, or in which a hungry worker is full. */
	struct hd_ask_group **askable;
	size_t n_askable;
	/* While workers are asked: a heap of groups by their `next`, and the worker that is being asked. */
	struct hd_ask_group **queue;
	size_t n_queue;
	const struct hd_worker *asked;
	uint64_t n_hungry; /* how often workers became hungry */
};

/* Whose load has changed (flow/loads.c). Arrays have an element per worker, and are owned. */
struct hd_loads {
	/* The workers that the next call of heddle_sched_moved names, and the workers that the last call named. */
	unsigned *moved, *told;
	/* The workers that it names each time, because time changes their loads in another way than
	 * heddle_sched_worker_load says: they have several slots or rivals. */
	unsigned *unsteady;
	size_t n_moved, n_unsteady;
	int watched; /* the policy has called heddle_sched_moved, so `moved` is kept */
};

/* The runtime's instance of its policy, and the handle that the policy gets: see heddle/policy.h. */
struct heddle_sched {
	heddle_runtime *rt;
	const struct heddle_policy *policy; /* NULL: its create has failed */
	void *state;                        /* the policy's */
	char **options;                     /* owned: the values, in the order of policy->options */
	struct hd_rng rng;
	int special; /* to ask for a task takes more than one call of `pick`: pick.h */
	int checked; /* the policy is the program's own, not one of the library: each of its picks is checked */
	/* The set of workers has changed, and another instance is made for the next batch of ready tasks. */
	int absent;
	/* us: when the instance was made; 0: it is the first one. It hears only of tasks that it has picked:
	 * hd_sched_knows. */
	double born;
	void (*on_report)(void *arg, const char *name, double value, const char *unit); /* NULL unless in a report */
	void *report_arg;
	int counts_alone; /* on_report is told the figures of heddle_sched_count only */
	struct hd_ask ask;
	struct hd_loads loads;
};

#endif
