/* Calibration: which class should run a task so that its models get the samples they lack. StarPU does the same when it
 * finds no prediction; we also count the tasks that are on their way, so that a crowd of equal tasks does not all go to
 * one class.
 *
 * Equal tasks are those of one codelet whose data have the same sizes.
 */
#ifndef HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H
#define HD_POLICIES_PARTS_SAMPLE_PLACEMENT_H

#include <heddle/policy.h>
#include "base/base.h"

struct hd_calibration {
	size_t n_classes;
	unsigned wanted;     /* samples */
	size_t n, capacity;  /* kinds of tasks met while they lacked samples; capacity is a power of two, or 0 */
	uint64_t *keys;      /* owns; 0: free slot */
	uint32_t *in_flight; /* owns; per slot and class: tasks placed there and not ended */
};

void hd_calibration_init(struct hd_calibration *c, heddle_sched *sched);
void hd_calibration_fini(struct hd_calibration *c);
/* The class that lacks samples and has the fewest, those on their way included; -1: none of those that can run the task
 * lacks any, or enough are on their way. */
int hd_calibration_class(struct hd_calibration *c, const heddle_task *t);
/* To be told of every placement and every end; costs one question when the class has its samples. */
void hd_calibration_placed(struct hd_calibration *c, const heddle_task *t, unsigned class_id);
void hd_calibration_done(struct hd_calibration *c, const heddle_task *t, unsigned class_id);

#endif
