/* What policies share that map a whole batch of ready tasks to workers at once (heft, dada): a first-in first-out queue
 * and a date per worker, predictions, and the tasks about which models say too little to be mapped.
 *
 * A group is the workers of one class on one node: all that models can tell apart.
 */
#ifndef HD_POLICIES_PARTS_BATCH_MAPPING_H
#define HD_POLICIES_PARTS_BATCH_MAPPING_H

#include "sample_placement.h"
#include "queue.h"

struct hd_mapping_worker {
	struct hd_deque queue;
	double queued; /* us: costs of the tasks in the queue */
	double speed;  /* without models, in CPU cores */
	size_t load;   /* tasks placed and not ended */
	unsigned group;
	int is_cpu;
};

struct hd_mapping_group {
	unsigned class_id, node, n_workers;
	int is_cpu;
};

struct hd_mapping {
	heddle_sched *sched;
	struct hd_calibration calibration;
	size_t n_workers, n_groups;
	struct hd_mapping_worker *workers; /* owns */
	struct hd_mapping_group *groups;   /* owns; room for one per worker */
	double *ends;      /* owns; per worker: when it will have done all it has, since hd_mapping_dates */
	unsigned *allowed; /* owns; per group: its workers that can run the task being predicted */
	int prefetch;
	uint64_t placed, calibrating, greedy;
};

#define HD_MAPPING_PREFETCH                                                                           \
	{                                                                                             \
		"prefetch", "yes", "no|yes", "fetch the data of a task as soon as it is placed", 0, 0 \
	}

int hd_mapping_init(struct hd_mapping *m, heddle_sched *sched); /* HEDDLE_E_MEMORY; hd_mapping_fini all the same */
void hd_mapping_fini(struct hd_mapping *m);

/* Brings `ends` up to date: once per batch. */
void hd_mapping_dates(struct hd_mapping *m);
/* Places a task by itself, and returns 1, when its models need a sample or know nothing at all: sample_placement.h, on
 * the worker with the fewest tasks for its speed. */
int hd_mapping_divert(struct hd_mapping *m, heddle_task *t);
/* Fills times[group] with delta, plus comm if asked: us; INFINITY where the task cannot run or its time is not known.
 * Returns 0 when workers of a group differ in whether they can run it: ask heddle_task_can_run as well. */
int hd_mapping_predict(const struct hd_mapping *m, const heddle_task *t, int with_comm, double *times);
/* The least of those times over the groups of CPUs, or over the others. */
double hd_mapping_best(const struct hd_mapping *m, const double *times, int is_cpu);
/* At the end of the worker's queue; `us` more until it is done. */
void hd_mapping_place(struct hd_mapping *m, heddle_task *t, unsigned worker, double us);
heddle_task *hd_mapping_pick(struct hd_mapping *m, unsigned worker);
void hd_mapping_done(struct hd_mapping *m, const heddle_task *t, unsigned worker);
void hd_mapping_report(const struct hd_mapping *m, heddle_sched *sched);

#endif
