/* When workers were driven, and how much of this time they were idle. Workers change between driven and retired while
 * tasks run (heddle/clusters.h), and devices are lost.
 *
 * A worker that is retired or lost ends its running kernels. So there are two times: the time in which the worker was
 * driven, and the time in which it was *there*, which goes on until these kernels have ended. The idle share of a
 * worker is a share of the time in which it was there. Sums over workers use the time in which workers were driven,
 * since the cores of a retired worker belong to other workers. A sum counts each worker as often as it has cores: an
 * idle cluster of ten cores wastes ten cores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"
#include "trace/trace.h"

/* The state of a worker while the walk goes through the tasks and the changes in the order of time. */
struct known {
	double since; /* us: when the worker was last driven or retired */
	double until; /* us: the latest end of the tasks that the worker has begun so far */
	double left;  /* us: the latest end of the tasks that the worker had begun when it was retired */
	int driven;   /* 1: a thread runs the worker's tasks from `since` on; 0: it is retired */
};

struct walk {
	const struct heddle_trace *trace;
	struct known *workers; /* owned */
	size_t next_task;
	struct hd_absences *absences; /* NULL: not asked for */
	double begin, end;            /* us: the walk counts only the time in between */
	struct hd_duty *duties;       /* NULL: not asked for */
};

static int walk_begin(struct walk *k, const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	*k = (struct walk){.trace = trace, .workers = malloc((p->n_workers + 1) * sizeof *k->workers)};
	for (size_t w = 0; w < p->n_workers && k->workers; w++)
		k->workers[w] = (struct known){-INFINITY, INFINITY, -INFINITY, !p->workers[w].retired};
	return k->workers ? 0 : hd_no_memory("the workers that were driven");
}

/* The part of the time from `from` to `to` that the walk counts, us. */
static double span(const struct walk *k, double from, double to)
{
	return fmax(0, fmin(to, k->end) - fmax(from, k->begin));
}

/* Counts the time from `since` to `at`, in which the worker was driven. */
static void was_driven(struct walk *k, size_t worker, double at)
{
	double us = span(k, k->workers[worker].since, at);
	if (k->duties) {
		k->duties[worker].driven += us;
		k->duties[worker].there += us;
	}
}

/* Counts the time from `since` to `at`, not driven: the worker was there until its kernels had ended, then absent. */
static void was_retired(struct walk *k, size_t worker, double at)
{
	const struct known *w = &k->workers[worker];
	double gone = fmax(w->since, fmin(w->left, at));
	if (k->duties)
		k->duties[worker].there += span(k, w->since, gone);
	if (k->absences && span(k, gone, at) > 0)
		k->absences->list[k->absences->n++] =
		    (struct hd_absence){worker, fmax(gone, k->begin), fmin(at, k->end)};
}

static void end_period(struct walk *k, size_t worker, double at)
{
	(k->workers[worker].driven ? was_driven : was_retired)(k, worker, at);
}

/* Notes in `until` the ends of the tasks that workers have begun by the time `at`. */
static void see_tasks(struct walk *k, double at)
{
	const struct heddle_trace *trace = k->trace;
	for (; k->next_task < trace->n_tasks && trace->tasks[k->next_task].start <= at; k->next_task++) {
		const struct heddle_trace_task *t = &trace->tasks[k->next_task];
		k->workers[t->worker].until = fmax(k->workers[t->worker].until, t->end);
	}
}

/* Notes tasks that a worker has begun before it is first driven in the trace: the worker was retired at the beginning
 * of the trace, and had begun the tasks before. Such a worker may not be driven in the trace at all. */
static void see_earlier_tasks(struct walk *k)
{
	const struct heddle_trace *trace = k->trace;
	for (size_t i = trace->n_drives; i--;) /* backwards, so that the first drive of each worker is kept */
		k->workers[trace->drives[i].worker].until = trace->drives[i].at;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		struct known *w = &k->workers[t->worker];
		if (!w->driven && t->start < w->until)
			w->left = fmax(w->left, t->end);
	}
	for (size_t w = 0; w < trace->platform->n_workers; w++)
		k->workers[w].until = -INFINITY;
}

static void walk_all(struct walk *k)
{
	const struct heddle_trace *trace = k->trace;
	see_earlier_tasks(k);
	for (size_t i = 0; i < trace->n_drives; i++) {
		const struct heddle_trace_drive *d = &trace->drives[i];
		struct known *w = &k->workers[d->worker];
		if (w->driven == (int)d->driven)
			continue;
		end_period(k, d->worker, d->at);
		see_tasks(k, d->at); /* includes the tasks that the newly driven workers begin at this moment */
		w->since = d->at;
		w->left = w->until;
		w->driven = (int)d->driven;
	}
	for (size_t w = 0; w < trace->platform->n_workers; w++)
		end_period(k, w, INFINITY);
	free(k->workers);
}

static int by_worker(const void *a, const void *b)
{
	const struct hd_absence *x = a, *y = b;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

int hd_trace_absences(const struct heddle_trace *trace, double from, double to, struct hd_absences *out)
{
	struct walk k;
	*out =
	    (struct hd_absences){.list = malloc((trace->n_drives + trace->platform->n_workers + 1) * sizeof *out->list),
	                         .first = calloc(trace->platform->n_workers + 2, sizeof *out->first)};
	int status = out->list && out->first ? walk_begin(&k, trace) : hd_no_memory("the workers that were retired");
	if (status)
		return status;
	k.absences = out;
	k.begin = from;
	k.end = to;
	walk_all(&k);
	qsort(out->list, out->n, sizeof *out->list, by_worker);
	for (size_t i = 0; i < out->n; i++)
		out->first[out->list[i].worker + 1]++;
	for (size_t w = 0; w <= trace->platform->n_workers; w++)
		out->first[w + 1] += out->first[w];
	return 0;
}

void hd_absences_free(struct hd_absences *absences)
{
	free(absences->list);
	free(absences->first);
}

struct hd_duty *hd_trace_duties(const struct heddle_trace *trace)
{
	struct walk k;
	double *busy = hd_trace_busy(trace);
	struct hd_duty *duties = calloc(trace->platform->n_workers + 1, sizeof *duties);
	int status = busy && duties ? walk_begin(&k, trace) : hd_no_memory("what workers did");
	if (!status) {
		k.duties = duties;
		k.begin = hd_trace_begin(trace);
		k.end = hd_trace_end(trace);
		walk_all(&k);
		for (size_t w = 0; w < trace->platform->n_workers; w++)
			duties[w].busy = busy[w];
		for (size_t i = 0; i < trace->n_tasks; i++)
			duties[trace->tasks[i].worker].n++;
	}
	free(busy);
	if (!status)
		return duties;
	free(duties);
	return NULL;
}

double hd_duty_idle(const struct hd_duty *duty)
{
	return duty->there > 0 ? fmax(0, 1 - duty->busy / duty->there) : (double)NAN;
}

double hd_trace_idle(const struct heddle_trace *trace, const struct hd_duty *duties)
{
	const struct heddle_platform *p = trace->platform;
	double busy = 0, driven = 0;
	for (size_t w = 0; w < p->n_workers; w++) {
		unsigned n = hd_class_processors(&p->classes[p->workers[w].class_id]);
		busy += n * duties[w].busy;
		driven += n * duties[w].driven;
	}
	return driven > 0 ? fmax(0, 1 - busy / driven) : (double)NAN;
}

const char *hd_trace_machine(const struct heddle_trace *trace)
{
	const char *name = trace->platform->name;
	return strcmp(name, "this") == 0 ? "this machine" : name;
}
