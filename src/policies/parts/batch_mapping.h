/* The common part of heft and dada, which place a whole batch of ready tasks at once: a first-in first-out queue per
 * worker, the date when each worker will have done its tasks, predictions, and the placement of tasks whose models lack
 * samples.
 *
 * dates.h defines groups. Workers that are not driven get no tasks, and do not count.
 */
#ifndef HD_POLICIES_PARTS_BATCH_MAPPING_H
#define HD_POLICIES_PARTS_BATCH_MAPPING_H

#include "dates.h"
#include "queue.h"
#include "sample_placement.h"

struct hd_mapping_worker {
	struct hd_deque queue;
	double speed; /* in CPU cores; used for tasks without a prediction */
	size_t load;  /* number of tasks placed on the worker and not ended */
};

/* The workers from which a worker without tasks steals. */
enum hd_mapping_steal { HD_STEAL_NOTHING, HD_STEAL_IN_CLASS, HD_STEAL_FROM_ALL };

struct hd_mapping {
	heddle_sched *sched;
	struct hd_calibration calibration;
	size_t n_workers, n_groups, n_classes;
	struct hd_mapping_worker *workers; /* owns */
	struct hd_dates dates;
	int *is_cpu;       /* owns; per group */
	unsigned *allowed; /* owns; per group: how many of its driven workers can run the task being predicted */
	double *moving;    /* owns; per node: us for moving the data of this task to the node */
	/* owns; per class: us: the time of this task on the class; INFINITY: not known, or no worker can run the
	 * task */
	double *lengths;
	int prefetch;
	enum hd_mapping_steal steal;
	size_t n_queued; /* number of tasks in all queues */
	uint64_t placed, calibrating, greedy, stolen;
};

#define HD_MAPPING_PREFETCH                                                                           \
	{                                                                                             \
		"prefetch", "yes", "no|yes", "fetch the data of a task as soon as it is placed", 0, 0 \
	}

#define HD_MAPPING_STEAL                                                                                 \
	{                                                                                                \
		"steal", "no", "no|class|all",                                                           \
		    "a worker without tasks takes one from another, drawn, of its class or of all", 0, 0 \
	}

/* `each`: as of hd_dates_init. HEDDLE_E_MEMORY; call hd_mapping_fini even then. */
int hd_mapping_init(struct hd_mapping *m, heddle_sched *sched, int each);
void hd_mapping_fini(struct hd_mapping *m);

/* If the models of a task need samples (sample_placement.h) or have no prediction, places the task on the worker with
 * the fewest tasks in proportion to its speed and returns 1. Otherwise returns 0. */
int hd_mapping_divert(struct hd_mapping *m, heddle_task *t);
/* Fills times[group] with the predicted time of a task, us, plus the time of its transfers if `with_comm`; INFINITY:
 * the group cannot run the task, or the time is unknown. Returns 0 if some driven workers of a group can run the task
 * and others cannot: then the caller must also ask heddle_task_can_run. */
int hd_mapping_predict(const struct hd_mapping *m, const heddle_task *t, int with_comm, double *times);
/* Sets the terms of the groups and families of m->dates: the length is the predicted time of a task, us, plus the time
 * of its transfers; an arrival of 0 delays nothing. */
void hd_mapping_predict_terms(struct hd_mapping *m, const heddle_task *t);
/* The group of a worker. */
static inline unsigned hd_mapping_group(const struct hd_mapping *m, unsigned worker)
{
	return m->dates.workers[worker].group;
}
/* The speedup of the task on the fastest class of accelerators, compared with the fastest class of CPUs, without
 * transfers. 0: only CPUs can run the task; INFINITY: no CPU can. */
double hd_mapping_speedup(const struct hd_mapping *m, const heddle_task *t);
/* The least of the `times` over the groups of CPUs, or over the other groups. */
double hd_mapping_best(const struct hd_mapping *m, const double *times, int is_cpu);
/* Appends a task to a worker's queue, and adds `us` to the worker's date. */
void hd_mapping_place(struct hd_mapping *m, heddle_task *t, unsigned worker, double us);
/* The callbacks `pick`, `done` and `take_back` of a policy whose state begins with its struct hd_mapping. With the
 * option `steal`, a worker without tasks draws another worker, and picks the last task of its queue that it can run; if
 * there is none, it tries the next worker. */
heddle_task *hd_mapping_pick(void *mapping, unsigned worker);
heddle_task *hd_mapping_take_back(void *mapping, unsigned worker);
void hd_mapping_done(void *mapping, heddle_task *t, unsigned worker);
void hd_mapping_report(const struct hd_mapping *m, heddle_sched *sched);

#endif
