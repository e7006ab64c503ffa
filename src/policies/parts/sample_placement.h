/* Calibration: chooses the class that runs a task whose models lack samples. StarPU does so, too, when it has no
 * prediction. Tasks that have been placed and have not ended count as samples, so that many equal tasks do not all go
 * to one class.
 *
 * Tasks are of the same *kind* if they have the same codelet and the same sizes of data.
 */
#ifndef HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H
#define HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H

#include <heddle/policy.h>
#include "base/table.h"

struct hd_calibration {
	size_t n_classes;
	unsigned wanted; /* number of samples that a model needs: the setting `calibrate` */
	/* owns; maps the hash of a kind of tasks that lacked samples to the number of the kind */
	struct hd_table kinds;
	size_t room;         /* number of kinds for which `in_flight` has room */
	uint32_t *in_flight; /* owns; per kind and class: number of tasks placed and not ended */
};

void hd_calibration_init(struct hd_calibration *c, heddle_sched *sched);
void hd_calibration_fini(struct hd_calibration *c);
/* The class that can run the task and has the fewest samples, if it lacks samples. Tasks that were placed on a class
 * and have not ended count as samples. -1: no class lacks samples. */
int hd_calibration_class(struct hd_calibration *c, const heddle_task *t);
/* To be called when a task is placed on a class, and when it ends. Both return at once if the class has enough
 * samples. */
void hd_calibration_placed(struct hd_calibration *c, const heddle_task *t, unsigned class_id);
void hd_calibration_done(struct hd_calibration *c, const heddle_task *t, unsigned class_id);

#endif
