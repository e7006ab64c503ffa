/* Calibration: which class should run a task so that its models get the samples they lack. StarPU chooses such classes,
 * too, when it has no prediction. Here tasks that have been placed and have not ended count as samples, so that many
 * equal tasks do not all go to one class.
 *
 * Equal tasks are those of one codelet whose data have the same sizes.
 */
#ifndef HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H
#define HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H

#include <heddle/policy.h>
#include "base/table.h"

struct hd_calibration {
	size_t n_classes;
	unsigned wanted;       /* how many samples a model needs: the setting `calibrate` */
	struct hd_table kinds; /* owns; numbers of the kinds of tasks that lacked samples, by a hash of the kind */
	size_t room;           /* for how many kinds `in_flight` has room */
	uint32_t *in_flight;   /* owns; per kind and class: tasks placed there and not ended */
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
