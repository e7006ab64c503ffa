/* The program's choice of driven workers (heddle/clusters.h). worker_set.c handles the change. */
#include <stdlib.h>
#include <heddle/clusters.h>
#include "dispatch.h"
#include "errands.h"
#include "inlet.h"
#include "wait.h"
#include "worker_set.h"
#include "machine/machine.h"
#include "state/core_lock.h"
#include "state/process.h"

static const char *name_of(const struct hd_worker *w)
{
	return w->rt->platform->workers[w->id].name;
}

/* Marks the workers that are to be driven. HEDDLE_E_INVALID. */
static int mark(const heddle_runtime *rt, const unsigned *workers, size_t n, char *wanted)
{
	for (size_t i = 0; i < n; i++) {
		if (workers[i] >= rt->n_workers)
			return hd_error(HEDDLE_E_INVALID, "heddle_workers_drive: there is no worker %u; there are %zu",
			                workers[i], rt->n_workers);
		wanted[workers[i]] = 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hd_worker *w = &rt->workers[workers[i]];
		for (size_t k = 0; k < w->n_rivals; k++)
			if (wanted[w->rivals[k]->id])
				return hd_error(HEDDLE_E_INVALID,
				                "heddle_workers_drive: %s and %s have cores in common, and so only one "
				                "of them can be driven",
				                name_of(w), name_of(w->rivals[k]));
	}
	return 0;
}

int heddle_workers_drive(heddle_runtime *rt, const unsigned *workers, size_t n)
{
	if (!rt || (n && !workers))
		return hd_error(HEDDLE_E_INVALID, "heddle_workers_drive needs a runtime, and the workers to drive");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	char *wanted = calloc(rt->n_workers, 1);
	int status = wanted ? mark(rt, workers, n, wanted) : hd_no_memory("a cluster set");
	if (!status) {
		hd_core_enter(rt);
		hd_core_clock_now(rt);
		rt->dispatch.releaser = -1;
		hd_drain(rt);
		hd_adapt_clusters_end(&rt->adapt);
		hd_workers_retire_others(rt, wanted);
		hd_core_settle(rt);
		/* the set of lookouts may have changed: a worker that was a lookout may get no more tasks */
		hd_gate_worker_begins(rt);
		hd_wake_if_still(rt, NULL);
		hd_core_leave(rt);
	}
	free(wanted);
	return status;
}

int heddle_clusters_set(heddle_runtime *rt, const char *clusters)
{
	if (!rt || !clusters)
		return hd_error(HEDDLE_E_INVALID, "heddle_clusters_set needs a runtime and a cluster set");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	unsigned *workers = malloc(rt->n_workers * sizeof *workers);
	size_t n = 0;
	int status =
	    workers ? hd_cluster_set_workers(rt->platform, clusters, workers, &n) : hd_no_memory("a cluster set");
	if (!status)
		status = heddle_workers_drive(rt, workers, n);
	free(workers);
	return status;
}

int heddle_worker_is_driven(heddle_runtime *rt, unsigned worker)
{
	if (!rt || worker >= rt->n_workers || hd_check_process(rt))
		return 0;
	hd_core_enter(rt);
	int driven = !hd_worker_is_out(&rt->workers[worker]);
	hd_core_leave(rt);
	return driven;
}

/* Called with the core lock. */
static void pause(heddle_runtime *rt, int pauses)
{
	HD_HELD(&rt->lock);
	hd_core_clock_now(rt);
	rt->dispatch.releaser = -1;
	/* while workers sleep, each submission enters the graph at once: hd_gate_open */
	hd_revoke(rt);
	hd_drain(rt);
	hd_workers_pause(rt, pauses);
	hd_core_settle(rt);
	hd_gate_worker_begins(rt);
	hd_wake_if_still(rt, NULL);
}

int heddle_pause(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_pause needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int stops = rt->dispatch.stops;
	if (!stops)
		pause(rt, 1);
	hd_core_leave(rt);
	return stops ? hd_error(HEDDLE_E_STATE, "heddle_pause: heddle_stop has begun") : 0;
}

int heddle_resume(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_resume needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int paused = rt->dispatch.pauses != 0;
	if (paused)
		pause(rt, -1);
	hd_core_leave(rt);
	return paused ? 0 : hd_error(HEDDLE_E_STATE, "heddle_resume: the runtime is not paused");
}

void hd_resume_all(heddle_runtime *rt)
{
	hd_core_enter(rt);
	rt->dispatch.stops = 1;
	if (rt->dispatch.pauses)
		pause(rt, 0);
	hd_core_leave(rt);
}
