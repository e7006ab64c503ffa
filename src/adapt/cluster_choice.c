/* The setting clusters=adaptive: cores are merged into clusters when few tasks are ready, and split when many are. The
 * rules are Heddle's own, chosen by virtual runs (docs/clusters.md). They use the predicted times of the ready tasks on
 * each class, the transfer times of their data, and the times when workers will be free.
 *
 * Splitting gives throughput, because a kernel on k cores is less than k times as fast as on one core; but it gives
 * little where accelerators do most of the work. Merging gives latency: a task of the critical path that runs on one
 * core delays all its successors, and a cluster cannot begin before the tasks that single cores have begun are done. So
 * the cluster set with the largest clusters is driven unless one of two conditions holds. Both depend on how long the
 * ready tasks are expected to last with a cluster set. The tasks count as equal, with their mean time on each class.
 * Each worker, accelerators included, completes as many tasks as it can from the time when it is free. Cores that still
 * run a kernel of a retired worker are free when that kernel ends.
 *
 *  - The ready tasks last much longer (PATIENCE) than one task takes on a worker of a cluster set with smaller
 *    clusters. Then even a slower task ends long before its successors are needed, so that cluster set is driven.
 *  - The accelerators complete all ready tasks before such a worker would have done a small part of one task (UNUSED),
 *    and no later than with the largest clusters. Then the cores are not needed, so that cluster set is driven, and the
 *    policy leaves such tasks to the accelerators. If a fast cluster were driven, the policy would use it, and an
 *    urgent task would have to wait for the cluster.
 *
 * If several cluster sets qualify, the set with the smallest clusters is driven. If some tasks cannot run on any
 * accelerator, such as the panels of an LU factorisation, these tasks alone decide. While a cluster waits for the data
 * of a task that it was given, no cluster set with smaller clusters takes over: the task would be given back, and begin
 * on one core.
 *
 * The first tasks of each worker wait for their data, which matters while there are few tasks. So the transfer times of
 * few tasks count as if the buses were busy (BUSY), as in policies that take transfers into account. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "flow/dispatch.h"
#include "flow/inlet.h"
#include "flow/worker_set.h"
#include "machine/machine.h"
#include "perf/perf.h"
#include "state/engine.h"
#include "adapt.h"

/* A cluster set that may be driven. */
struct candidate {
	/* owned; per worker: 1 if it belongs to the cluster set; 0 for workers of accelerators */
	char *wanted;
	unsigned class_id; /* the class of the largest clusters in the set */
	size_t stuck;      /* number of ready tasks that neither workers of the set nor accelerators can run */
};

/* Sums over a set of tasks, for one class. */
struct ready_time {
	double us; /* us: sum of the predicted times of the tasks, each as predicted when the task was added */
	/* us: sum of the times to transfer the data of each task, as if no other task had transfers */
	double transfers;
	size_t n; /* number of tasks that have a predicted time on the class */
};

/* Ready tasks, as sums over them. */
struct ready_tasks {
	size_t n;
	struct ready_time *on; /* owned; per class */
};

/* The heuristic's record of a runtime. */
struct hd_cluster_choice {
	size_t n;              /* number of candidates; constant after the start */
	struct candidate *all; /* owned; from single cores to the largest clusters */
	size_t present;        /* index in `all` of the cluster set that is driven */
	double decided;        /* us: the time of the last decision */
	/* owned; per worker, during a decision: us from now until the worker could begin a task */
	double *begins;
	struct ready_tasks ready;    /* all ready tasks that the policy has or will get */
	struct ready_tasks only_cpu; /* the ready tasks that no accelerator can run */
	size_t n_cpu;                /* number of CPU workers of all cluster sets; constant after the start */
};

/* How long the ready tasks must last, in mean times of one task on a worker of the cluster set, so that a cluster set
 * with smaller clusters takes over (PATIENCE), or stays driven (REMAINING). */
static const double PATIENCE = 10, REMAINING = 8;
static const double UNUSED = 0.1, BUSY = 4;
/* us between two decisions. If tasks take longer than LONG_US on a core, decisions are not limited: a task that begins
 * on a core because the decision came late would delay clusters by more than the decision costs. */
static const double INTERVAL_US = 100, LONG_US = 1000;

/* The time, in us, to bring the task's data to a memory of the class: the memory that is fastest to reach. */
static double transfer_time(const heddle_runtime *rt, const heddle_task *t, unsigned class_id)
{
	double least = INFINITY;
	size_t last = SIZE_MAX; /* node of the last such worker: neighbours often share a node */
	for (size_t w = 0; w < rt->n_workers; w++) {
		if (rt->workers[w].class_id != class_id || rt->workers[w].node == last)
			continue;
		last = rt->workers[w].node;
		least = fmin(least, heddle_task_transfer_time(t, rt->workers[w].node));
	}
	return least;
}

/* Whether the class of some accelerator may run the task. */
static int has_accelerator(const heddle_runtime *rt, const heddle_task *t)
{
	for (unsigned c = 0; c < rt->n_classes; c++)
		if (t->codelet->class_ok[c] && strcmp(rt->platform->classes[c].kind, "cpu") != 0 &&
		    (!rt->engine->times_are_given || !isnan(hd_perf_time(t->perf, c))))
			return 1;
	return 0;
}

static void count_among(heddle_runtime *rt, const heddle_task *t, int sign, struct ready_tasks *tasks)
{
	tasks->n += (size_t)sign;
	for (unsigned c = 0; c < rt->n_classes; c++) {
		struct ready_time *r = &tasks->on[c];
		double us = t->codelet->class_ok[c] ? hd_perf_time(t->perf, c) : (double)NAN;
		if (isnan(us) || (sign < 0 && !r->n))
			continue;
		r->us += sign * us;
		r->transfers += sign > 0 ? transfer_time(rt, t, c) : -r->transfers / (double)r->n;
		r->n += (size_t)sign;
		/* predictions change meanwhile, so the sums are not exact: without tasks they are reset to 0 */
		if (!r->n)
			*r = (struct ready_time){.n = 0};
	}
}

/* Whether a worker of the cluster set or, if `or_accelerator` is 1, an accelerator could run the task. */
static int could_run_with(const heddle_runtime *rt, const heddle_task *t, const struct candidate *candidate,
                          int or_accelerator)
{
	for (unsigned w = 0; w < rt->n_workers; w++) {
		const struct hd_worker *worker = &rt->workers[w];
		if (!worker->lost && (candidate->wanted[w] || (or_accelerator && !hd_worker_is_cpu(worker))) &&
		    heddle_task_could_run(t, w))
			return 1;
	}
	return 0;
}

static void count_stuck(heddle_runtime *rt, const heddle_task *t, int sign)
{
	struct hd_cluster_choice *r = rt->adapt.clusters;
	if (t->codelet->everywhere && !t->only_worker)
		return;
	for (size_t i = 0; i < r->n; i++)
		if ((sign > 0 || r->all[i].stuck) && !could_run_with(rt, t, &r->all[i], 1))
			r->all[i].stuck += (size_t)sign;
}

static void count(heddle_runtime *rt, const heddle_task *t, int sign)
{
	HD_HELD(&rt->lock);
	struct hd_cluster_choice *r = rt->adapt.clusters;
	count_stuck(rt, t, sign);
	count_among(rt, t, sign, &r->ready);
	if (!has_accelerator(rt, t))
		count_among(rt, t, sign, &r->only_cpu);
}

static void clear(const heddle_runtime *rt, struct ready_tasks *tasks)
{
	tasks->n = 0;
	memset(tasks->on, 0, rt->n_classes * sizeof *tasks->on);
}

static void count_none(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_cluster_choice *r = rt->adapt.clusters;
	clear(rt, &r->ready);
	clear(rt, &r->only_cpu);
	for (size_t i = 0; i < r->n; i++)
		r->all[i].stuck = 0;
}

/* The tasks that decide: the ready tasks that only CPUs can run; if there are none, all ready tasks. */
static const struct ready_tasks *decisive(const heddle_runtime *rt)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	return r->only_cpu.n ? &r->only_cpu : &r->ready;
}

/* The mean time in us of the deciding tasks on a class; INFINITY: none of them has a time there. A class of clusters
 * that has no times yet counts as fast as its cores together, so that it is tried. */
static double mean_time(const heddle_runtime *rt, unsigned class_id)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	const struct heddle_class *classes = rt->platform->classes;
	const struct ready_time *on = decisive(rt)->on, *t = &on[class_id], *single = &on[r->all[0].class_id];
	if (t->n)
		return fmax(t->us, 0) / (double)t->n; /* predictions change meanwhile, so the sum is not exact */
	if (!single->n || strcmp(classes[class_id].kind, classes[r->all[0].class_id].kind) != 0)
		return INFINITY;
	return single->us / (double)single->n * classes[r->all[0].class_id].cores / classes[class_id].cores;
}

/* How many tasks end within the next `time` us. */
static double ended_by(const heddle_runtime *rt, double time)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	double n = 0;
	for (size_t w = 0; w < rt->n_workers; w++)
		if (r->begins[w] < time)
			n += floor((time - r->begins[w]) / mean_time(rt, rt->workers[w].class_id));
	return n;
}

/* us from now until the worker could begin a deciding task; INFINITY: it cannot, or is not in the cluster set. */
static double begin_on(heddle_runtime *rt, struct hd_worker *w, const struct candidate *candidate)
{
	size_t n = decisive(rt)->n;
	const struct ready_time *t = &decisive(rt)->on[w->class_id];
	if (w->lost || isinf(mean_time(rt, w->class_id)) || (hd_worker_is_cpu(w) && !candidate->wanted[w->id]))
		return INFINITY;
	int few = 2 * n <= rt->n_workers - rt->adapt.clusters->n_cpu || n == 1;
	double data = t->n ? (few ? BUSY : 1) * t->transfers / (double)t->n : 0;
	return fmax(hd_worker_free_at(w, rt->now) - rt->now, data);
}

/* How many us the deciding tasks last with a cluster set. */
static double last_with(heddle_runtime *rt, const struct candidate *candidate)
{
	enum { STEPS = 12 };
	double n = (double)decisive(rt)->n, low = 0, high = 1;
	for (size_t w = 0; w < rt->n_workers; w++)
		rt->adapt.clusters->begins[w] = begin_on(rt, &rt->workers[w], candidate);
	while (high < 1e15 && ended_by(rt, high) < n) {
		low = high;
		high *= 2;
	}
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;
		*(ended_by(rt, middle) < n ? &low : &high) = middle;
	}
	return high;
}

/* Whether a set with smaller clusters is to be driven. `with_largest`: us that the deciding tasks last with the largest
 * clusters. */
static int is_worth(heddle_runtime *rt, size_t candidate, double with_largest)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	double lasts = last_with(rt, &r->all[candidate]), each = mean_time(rt, r->all[candidate].class_id);
	if (lasts >= (candidate < r->present ? PATIENCE : REMAINING) * each)
		return 1;
	return !r->only_cpu.n && lasts < UNUSED * each && lasts <= with_largest;
}

/* The index of the cluster set to drive: if possible, a set whose workers can, together with the accelerators, run all
 * ready tasks. */
static size_t choose(heddle_runtime *rt)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	size_t largest = r->n;
	while (largest && r->all[largest - 1].stuck)
		largest--;
	if (!largest--)
		return r->present;
	double with_largest = last_with(rt, &r->all[largest]);
	size_t i = 0;
	while (i < largest && (r->all[i].stuck || !is_worth(rt, i, with_largest)))
		i++;
	return i;
}

/* Whether a cluster of the driven cluster set has been given a task and waits for its data. */
static int a_cluster_waits(const heddle_runtime *rt)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	for (size_t i = 0; i < rt->n_workers; i++) {
		const struct hd_worker *w = &rt->workers[i];
		if (r->all[r->present].wanted[i] && rt->platform->classes[w->class_id].cores > 1 && w->in_flight &&
		    !hd_worker_runs(w))
			return 1;
	}
	return 0;
}

static int is_due(const heddle_runtime *rt)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	double each = r->ready.n ? mean_time(rt, r->all[0].class_id) : 0;
	return r->ready.n && (rt->now >= r->decided + INTERVAL_US || (isfinite(each) && each > LONG_US));
}

/* If only parked tasks are ready, which only retired workers can run: the cluster set for the first of these. */
static size_t one_for_parked(const heddle_runtime *rt)
{
	const struct hd_cluster_choice *r = rt->adapt.clusters;
	for (size_t i = 0; i < r->n; i++)
		if (could_run_with(rt, rt->dispatch.parked.first, &r->all[i], 0))
			return i;
	return r->present;
}

static void drive(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct hd_cluster_choice *r = rt->adapt.clusters;
	size_t next = r->present;
	if (!rt->count.ready && !rt->dispatch.n_batch && rt->dispatch.parked.first)
		next = one_for_parked(rt); /* decided at once, because a waiting thread would report a deadlock */
	else if (is_due(rt))
		next = choose(rt);
	else
		return;
	r->decided = rt->now;
	if (next == r->present || (next < r->present && !r->all[r->present].stuck && a_cluster_waits(rt)))
		return;
	r->present = next;
	if (hd_workers_retire_others(rt, r->all[next].wanted))
		hd_gate_worker_begins(rt); /* a worker that looked into the ring may be retired now */
}

static int read_candidate(heddle_runtime *rt, const char *text, struct candidate *to)
{
	unsigned *workers = malloc(rt->n_workers * sizeof *workers);
	to->wanted = calloc(rt->n_workers, 1);
	size_t n = 0;
	int status = workers && to->wanted ? hd_cluster_set_workers(rt->platform, text, workers, &n)
	                                   : hd_no_memory("cluster sets");
	for (size_t i = 0; i < n && !status; i++) {
		unsigned class_id = rt->workers[workers[i]].class_id;
		to->wanted[workers[i]] = 1;
		if (i == 0 || rt->platform->classes[class_id].cores > rt->platform->classes[to->class_id].cores)
			to->class_id = class_id;
	}
	free(workers);
	return status;
}

static int read_candidates(heddle_runtime *rt, char *list)
{
	struct hd_cluster_choice *r = rt->adapt.clusters;
	size_t most = 1;
	for (const char *at = list; *at; at++)
		most += *at == ',';
	r->all = calloc(most, sizeof *r->all);
	r->begins = calloc(rt->n_workers, sizeof *r->begins);
	r->ready.on = calloc(rt->n_classes, sizeof *r->ready.on);
	r->only_cpu.on = calloc(rt->n_classes, sizeof *r->only_cpu.on);
	if (!r->all || !r->begins || !r->ready.on || !r->only_cpu.on)
		return hd_no_memory("cluster sets");
	int status = 0;
	char *rest = NULL;
	for (char *text = strtok_r(list, ",", &rest); text && !status; text = strtok_r(NULL, ",", &rest))
		status = read_candidate(rt, text, &r->all[r->n++]);
	return status;
}

int hd_clusters_open(heddle_runtime *rt)
{
	char *list = NULL;
	int status = rt->config.clusters ? hd_cluster_sets_adaptive(rt->platform, rt->config.clusters, &list) : 0;
	if (status || !list)
		return status;
	struct hd_cluster_choice *r = rt->adapt.clusters = calloc(1, sizeof *r);
	status = r ? read_candidates(rt, list) : hd_no_memory("cluster sets");
	free(list);
	for (size_t w = 0; w < rt->n_workers && !status; w++) {
		r->n_cpu += (size_t)hd_worker_is_cpu(&rt->workers[w]);
	}
	if (status || r->n < 2)
		return status;
	r->decided = -INFINITY;
	rt->adapt.count = count;
	rt->adapt.count_none = count_none;
	rt->adapt.drive = drive;
	return 0;
}

void hd_clusters_close(heddle_runtime *rt)
{
	struct hd_cluster_choice *r = rt->adapt.clusters;
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free(r->all[i].wanted);
	free(r->all);
	free(r->begins);
	free(r->ready.on);
	free(r->only_cpu.on);
	free(r);
}
