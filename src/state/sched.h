/* The scheduling policy of a runtime, and the core's bookkeeping for it. The core lock guards all of it. */
#ifndef HD_STATE_SCHED_H
#define HD_STATE_SCHED_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/policy.h>
#include <heddle/runtime.h>
#include "base/base.h"

struct hd_worker;

/* A group of workers (heddle_sched_group), which the policy opens and closes together. */
struct hd_ask_group {
	struct hd_worker *hungry; /* its hungry workers, in the order of the hungry list */
	/* during a round of questions: the worker of the group that is asked next; NULL: none */
	struct hd_worker *next;
	unsigned place; /* 1 + its index in hd_ask.askable; 0: it is not in that array */
	/* number of hungry workers that are full; hd_ask_hungry takes them out of the hungry list */
	unsigned n_full;
	uint8_t closed, queued; /* closed: by the policy; queued: it is in hd_ask.queue */
};

/* For which workers the core asks the policy next. Arrays have one element per worker, and are owned. */
struct hd_ask {
	struct hd_ask_group *groups;
	size_t n_groups; /* 1: the policy has made no groups, and the other fields are not used */
	int formed;      /* 1: the policy instance has been created, so its groups are final */
	/* The groups that are open and have hungry workers, and the groups in which a hungry worker is full. */
	struct hd_ask_group **askable;
	size_t n_askable;
	/* During a round of questions: queue: a heap of groups by `next`; asked: the worker that is being asked. */
	struct hd_ask_group **queue;
	size_t n_queue;
	const struct hd_worker *asked;
	uint64_t n_hungry; /* how often a worker became hungry: the clock of hungry_since */
};

/* The workers whose load has changed (flow/loads.c). Arrays have one element per worker, and are owned. */
struct hd_loads {
	/* moved: the workers that the next call of heddle_sched_moved returns; told: the workers that the last call
	 * returned. */
	unsigned *moved, *told;
	/* The workers that heddle_sched_moved returns every time, because they have several slots or rivals: what
	 * heddle_sched_worker_load says of them is right only at the moment of the call. */
	unsigned *unsteady;
	size_t n_moved, n_unsteady;
	int watched; /* 1: the policy has called heddle_sched_moved, so `moved` is kept up to date */
};

/* The runtime's instance of its policy. The policy receives it as its handle: see heddle/policy.h. */
struct heddle_sched {
	heddle_runtime *rt;
	const struct heddle_policy *policy; /* NULL: the policy's create has failed */
	void *state;                        /* the policy's own state */
	char **options;                     /* owned: the values, in the order of policy->options */
	struct hd_rng rng;
	int special; /* 1: asking for a task takes more than one call of `pick`: pick.h */
	int checked; /* 1: the policy is user-defined, so each of its picks is checked */
	/* 1: the set of workers has changed, and another instance of the policy is created for the next batch of ready
	 * tasks. */
	int absent;
	/* us: when the instance was created; 0: it is the first one. An instance is told only about the tasks that it
	 * has picked: hd_sched_knows. */
	double born;
	/* receives the figures of a report; set only while a report is made */
	void (*on_report)(void *arg, const char *name, double value, const char *unit);
	void *report_arg;
	int counts_alone; /* 1: on_report gets only the figures of heddle_sched_count */
	struct hd_ask ask;
	struct hd_loads loads;
};

#endif
