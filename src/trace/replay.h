/* Dependencies as edges, from a list of accesses in submission order: what the access chains (core/chains.c) would have
 * made tasks wait for, without running anything. Traces and task graphs get their edges here.
 *
 * Tasks are told in ascending order of their ids. A *control* (acquire, partition, a task without codelet, ...) is no
 * end of an edge itself: it stands for the tasks that it waited for.
 */
#ifndef HD_TRACE_REPLAY_H
#define HD_TRACE_REPLAY_H

#include <heddle/graph.h>

struct hd_replay_task {
	uint64_t id;
	const struct heddle_graph_access *accesses; /* each datum once */
	size_t n_accesses;
	const uint64_t *after; /* ids of what it waits for explicitly: tasks, and controls with HD_REPLAY_NAMED */
	size_t n_after;
	int control; /* 0: a task that runs; else HD_REPLAY_CONTROL ... */
};
enum { HD_REPLAY_CONTROL = 1, HD_REPLAY_NAMED /* a control that tasks may wait for explicitly */ };

struct hd_replay;

/* Data are numbered from 0 to n_data - 1. `edge` is called for every dependency, once, by ascending `to`, then
 * ascending `from`. NULL: out of memory, with the error said. */
struct hd_replay *hd_replay_open(size_t n_data, void (*edge)(uint64_t from, uint64_t to, void *arg), void *arg);
/* HEDDLE_E_MEMORY. */
int hd_replay_task(struct hd_replay *replay, const struct hd_replay_task *task);
void hd_replay_close(struct hd_replay *replay);

#endif
