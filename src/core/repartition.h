/* The setting clusters=adaptive: which of the declared partitions is driven while tasks run. A part of the runtime;
 * repartition.c. */
#ifndef HD_CORE_REPARTITION_H
#define HD_CORE_REPARTITION_H

#include <heddle/runtime.h>
#include "state/task.h"

/* One partition that may be driven. */
struct hd_candidate {
	char *wanted;      /* owned; per worker: 1 if it is of the partition; 0 for those that are no CPU workers */
	unsigned class_id; /* of its largest clusters */
	size_t stuck;      /* ready tasks that neither its workers nor accelerators can run */
};

/* What some tasks take on a class. */
struct hd_ready_time {
	double us;        /* together, as far as models know now */
	double transfers; /* until their data are there, us: each alone, together */
	size_t n;         /* how many they are: those that have a time there */
};

/* Tasks that the policy has, or will be told of. */
struct hd_ready_tasks {
	size_t n;
	struct hd_ready_time *on; /* owned; per class */
};

struct hd_repartition {
	int on;   /* the setting is adaptive, and the program has not driven workers itself; guarded by the core lock */
	size_t n; /* const after start */
	struct hd_candidate *all;    /* owned; from single cores to the largest clusters */
	size_t present;              /* the one that is driven */
	double decided;              /* us: when that was last looked at */
	double *begins;              /* owned; per worker, while a decision is made: when it could begin a task, us */
	struct hd_ready_tasks ready; /* all of them */
	struct hd_ready_tasks only_cpu; /* those that no accelerator can run */
	size_t n_cpu, n_cores;          /* const after start: CPU workers of all partitions; cores of one */
};

/* For the start: reads the setting `clusters`, and turns this on if that is adaptive, which is what auto means to a
 * runtime. HEDDLE_E_MEMORY, and what is wrong with the partitions. */
int hd_repartition_open(heddle_runtime *rt, const char *clusters);
void hd_repartition_close(heddle_runtime *rt);
/* The task becomes one that the policy has, or will have (1), or is not any more (-1). Only if `on`. */
void hd_repartition_ready(heddle_runtime *rt, const heddle_task *t, int sign);
/* Forgets all ready tasks. */
void hd_repartition_clear(heddle_runtime *rt);
/* Drives another partition, if that is better for the tasks that are ready. The caller settles. Only if `on`. */
void hd_repartition(heddle_runtime *rt);

#endif
