/* What the recorder (record.c) knows of submitted tasks, for those who make graphs of it. Under the core lock. */
#ifndef HD_RECORDER_H
#define HD_RECORDER_H

#include "core/runtime.h"
#include "replay.h"

struct hd_recorded {
	struct hd_replay_task task;
	const heddle_codelet *codelet;    /* NULL: a control */
	const struct hd_perf_entry *perf; /* NULL: a control, or the task could not be */
	const char *name;                 /* given with heddle_named, or NULL */
	int32_t priority;
	int step; /* of a reduction: submitted by the core */
};
typedef int (*hd_recorded_fn)(const struct hd_recorded *recorded, void *arg);

/* Calls `f` for everything submitted since the start or, once something was submitted after it, since the last
 * heddle_trace_take; in order, until it returns an error, which is returned. */
int hd_recorder_each(const struct hd_recorder *recorder, hd_recorded_fn f, void *arg);
/* The size of a datum, by its number. */
uint64_t hd_recorder_data_bytes(const struct hd_recorder *recorder, uint32_t id);
/* The name given to it, or NULL. */
const char *hd_recorder_data_name(const struct hd_recorder *recorder, uint32_t id);

#endif
