/* The submitted tasks, as the recorder (record.c) keeps them; taskgraph/record.c makes a task graph of them. Call these
 * functions under the core lock. */
#ifndef HD_TRACE_RECORDER_H
#define HD_TRACE_RECORDER_H

#include "record/events.h"
#include "replay.h"

struct hd_recorded {
	/* The id of this task is its place in the order of the sequential program; the ids in `after` are such places,
	 * too. The place equals the submission number unless tasks were expanded. */
	struct hd_replay_task task;
	uint64_t id;                      /* submission number */
	const heddle_codelet *codelet;    /* NULL: a control */
	const struct hd_perf_entry *perf; /* NULL: a control, or a task without an entry in the models */
	const char *name;                 /* the name given with heddle_named, or NULL */
	int32_t priority;
	int step;   /* 1: a step of a reduction, which the core has submitted */
	int layout; /* 1: a control that changes the layout of a datum, because one of its plans ends */
	int ends;   /* 1: a control that unregisters its datum */
};
typedef int (*hd_recorded_fn)(const struct hd_recorded *recorded, void *arg);

/* Calls `f` for every submission that the recorder keeps, in the order of the sequential program, until `f` returns an
 * error; returns that error. heddle_trace_take does not drop submissions: the first task that the program submits
 * afterwards drops them. */
int hd_recorder_each(const struct hd_recorder *recorder, hd_recorded_fn f, void *arg);
/* Whether some of the kept submissions may wait for other submissions although no access implies it. */
int hd_recorder_has_edges(const struct hd_recorder *recorder);
/* Whether the program has waited between the kept submissions, or some of them name their worker or have callbacks. */
int hd_recorder_is_irregular(const struct hd_recorder *recorder);
/* Opens a replay of the kept submissions: see hd_replay_open. */
struct hd_replay *hd_recorder_replay(const struct hd_recorder *recorder,
                                     void (*edge)(uint64_t from, uint64_t to, void *arg), void *arg);
size_t hd_recorder_n_children(const struct hd_recorder *recorder);
/* Calls `f` for the children of all plans that were ever made, parents before their children. */
void hd_recorder_children(const struct hd_recorder *recorder, void (*f)(const struct hd_recorded_child *, void *arg),
                          void *arg);
/* The size of a datum, by its number. */
uint64_t hd_recorder_data_bytes(const struct hd_recorder *recorder, uint32_t id);
/* The name that the program has given to a datum, or NULL. */
const char *hd_recorder_data_name(const struct hd_recorder *recorder, uint32_t id);

#endif
