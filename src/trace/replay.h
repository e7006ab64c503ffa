/* Computes the dependencies between tasks, as edges, from their accesses in the order of submission. The edges are the
 * dependencies for which the access chains (graph/chains.c) make tasks wait, but no task is run. Traces and task graphs
 * get their edges here.
 *
 * The caller passes tasks in ascending order of their ids. A *control* (acquire, partition, a task without codelet,
 * ...) is never an end of an edge: it stands for the tasks for which it waited.
 */
#ifndef HD_TRACE_REPLAY_H
#define HD_TRACE_REPLAY_H

#include <heddle/graph.h>

struct hd_replay_task {
	uint64_t id;
	const struct heddle_graph_access *accesses; /* no datum occurs twice */
	size_t n_accesses;
	const uint64_t *after; /* ids of the tasks and HD_REPLAY_NAMED controls for which it waits explicitly */
	size_t n_after;
	int control; /* 0: the task runs; otherwise HD_REPLAY_CONTROL or HD_REPLAY_NAMED */
};
enum { HD_REPLAY_CONTROL = 1, HD_REPLAY_NAMED /* a control for which tasks may wait explicitly */ };

struct hd_replay;

/* Data are numbered from 0 to n_data - 1. `edge` is called once for every dependency, by ascending `to`, then ascending
 * `from`. NULL: out of memory; the error is set. */
struct hd_replay *hd_replay_open(size_t n_data, void (*edge)(uint64_t from, uint64_t to, void *arg), void *arg);
/* Makes datum `child` a child of `parent`, made by the plan with the number `plan`: tasks on the child and tasks on the
 * parent wait for each other, as far as their modes demand. To be called before tasks are added. */
void hd_replay_child(struct hd_replay *replay, uint32_t child, uint32_t parent, uint32_t plan);
/* Adds the next task. Returns 0 or HEDDLE_E_MEMORY. */
int hd_replay_task(struct hd_replay *replay, const struct hd_replay_task *task);
void hd_replay_close(struct hd_replay *replay);

#endif
