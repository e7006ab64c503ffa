/* Operations on single tasks: their `extra`, references, names and messages, and the functions heddle_task_* for
 * policies. */
#include "task.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "data.h"
#include "engine.h"
#include "memory.h"
#include "runtime.h"
#include "task_pool.h"
#include "perf/perf.h"

static const struct {
	const char *name;
	uint32_t mode;
} modes[] = {
    {"R", HEDDLE_R},         {"W", HEDDLE_W},
    {"RW", HEDDLE_RW},       {"SCRATCH", HEDDLE_SCRATCH},
    {"REDUX", HEDDLE_REDUX}, {"COMMUTE", HEDDLE_COMMUTE},
};
enum { N_MODES = sizeof modes / sizeof *modes };

const char *hd_mode_name(uint32_t mode)
{
	for (size_t i = 0; i < N_MODES; i++)
		if (modes[i].mode == mode)
			return modes[i].name;
	return NULL;
}

uint32_t hd_mode_of(const char *name)
{
	for (size_t i = 0; i < N_MODES; i++)
		if (strcmp(modes[i].name, name) == 0)
			return modes[i].mode;
	return 0;
}

struct hd_task_extra *hd_task_extra(heddle_task *t)
{
	if (!t->extra && !(t->extra = calloc(1, sizeof *t->extra + hd_task_runtime(t)->adapt.task_bytes)))
		hd_no_memory("a task");
	return t->extra;
}

/* Whether the task's `extra` lies inside the task's own memory: see hd_task_place_extra. */
static int extra_is_inside(const heddle_task *t)
{
	uintptr_t begin = (uintptr_t)t, at = (uintptr_t)t->extra;
	return at > begin && at < begin + hd_pool_task_size(t);
}

void hd_task_place_extra(heddle_task *t, size_t offset, size_t bytes)
{
	t->extra = (struct hd_task_extra *)(void *)((char *)t + offset);
	memset(t->extra, 0, bytes);
}

void hd_task_forget(heddle_task *t)
{
	if (!t->extra)
		return;
	free(t->extra->name);
	free(t->extra->message);
	free(t->extra->cause);
	if (!extra_is_inside(t))
		free(t->extra);
	t->extra = NULL;
}

void hd_task_reuse(heddle_runtime *rt, heddle_task *t)
{
	hd_task_forget(t);
	hd_pool_give(rt->pool, t);
}

void hd_task_retire(heddle_runtime *rt, heddle_task *t)
{
	if (t->extra->released)
		rt->retire_task(t);
	else
		hd_task_reuse(rt, t);
}

/* Frees what a task owns. The task's memory itself is freed with the pool. */
static void forget(const heddle_task *t, void *arg)
{
	(void)arg;
	if (!t->extra)
		return;
	for (struct hd_edge *e = t->extra->after, *next; e; e = next) {
		next = e->next;
		free(e);
	}
	free(t->extra->before);
	hd_task_forget((heddle_task *)(uintptr_t)t);
}

void hd_task_forget_all(heddle_runtime *rt)
{
	if (rt->pool) /* NULL: the start has failed early */
		hd_pool_each(rt->pool, forget, NULL);
}

void hd_task_message(heddle_task *t, const char *message)
{
	struct hd_task_extra *extra = hd_task_extra(t);
	if (extra && !extra->message)
		extra->message = strdup(message);
}

void hd_task_returned(heddle_task *t, int code)
{
	struct hd_task_extra *extra = hd_task_extra(t);
	if (extra && !t->status && !extra->code)
		extra->code = code;
}

void hd_task_cancel(heddle_task *t, const char *cause)
{
	t->cancelled = 1;
	struct hd_task_extra *extra = cause ? hd_task_extra(t) : NULL;
	if (extra && !extra->cause)
		extra->cause = strdup(cause);
}

char *hd_task_blame(const heddle_task *t)
{
	if (t->extra && t->extra->cause)
		return strdup(t->extra->cause);
	const char *why = t->extra && t->extra->message ? t->extra->message : heddle_status_name(t->status);
	char title[HD_TITLE];
	return hd_format("%s failed: %s", hd_task_title(t, title, sizeof title), why);
}

const char *hd_task_reason(const heddle_task *t, char *buffer, size_t size)
{
	if (t->extra && t->extra->message)
		return t->extra->message;
	if (!t->extra || !t->extra->cause)
		return heddle_status_name(t->status);
	snprintf(buffer, size, "it was not run, for %s", t->extra->cause);
	return buffer;
}

/* The name of the task's codelet or kind, not the name that the program gave the task. */
static const char *kind_name(const heddle_task *t)
{
	static const char *const kinds[] = {"task",        "external task", "synchronisation", "acquire",
	                                    "unregister",  "prefetch",      "forget",          "partition",
	                                    "unpartition", "reduction",     "end of a plan"};
	return t->codelet ? t->codelet->desc.name : kinds[t->kind];
}

const char *hd_task_name(const heddle_task *t)
{
	return t->extra && t->extra->name ? t->extra->name : kind_name(t);
}

const char *hd_task_title(const heddle_task *t, char *buffer, size_t size)
{
	if (t->extra && t->extra->name)
		snprintf(buffer, size, "%s (%s, task %llu)", t->extra->name, kind_name(t),
		         (unsigned long long)t->order);
	else
		snprintf(buffer, size, "%s (task %llu)", kind_name(t), (unsigned long long)t->order);
	return buffer;
}

struct heddle_task_links *heddle_task_link(heddle_task *t)
{
	return &t->link;
}

int heddle_task_priority(const heddle_task *t)
{
	return t->priority;
}

uint64_t heddle_task_order(const heddle_task *t)
{
	return t->order;
}

heddle_codelet *heddle_task_codelet(const heddle_task *t)
{
	return t->codelet;
}

size_t heddle_task_n_data(const heddle_task *t)
{
	return t->n_accesses;
}

enum heddle_mode heddle_task_mode(const heddle_task *t, size_t i)
{
	return (enum heddle_mode)t->accesses[i].mode;
}

heddle_data *heddle_task_data(const heddle_task *t, size_t i)
{
	return t->accesses[i].data;
}

uint64_t hd_task_bytes(const heddle_task *t)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (!(t->accesses[i].flags & HD_ACCESS_ALIAS))
			bytes += t->accesses[i].data->bytes;
	return bytes;
}

int hd_task_fits(const heddle_runtime *rt, const heddle_task *t, unsigned node)
{
	uint64_t capacity = rt->memories[node].capacity;
	return !capacity || hd_task_bytes(t) <= capacity;
}

/* Whether the workers that may run the task are all workers of the classes that have a kernel for it. */
static inline int asks_class_only(const heddle_runtime *rt, const heddle_task *t)
{
	return !t->only_worker && ((t->special & HD_TASK_FITS) || !rt->limited) && !t->codelet->desc.can_run;
}

static __attribute__((noinline)) int allowed_one(const heddle_task *t, unsigned worker)
{
	const heddle_runtime *rt = t->codelet->rt;
	if (t->only_worker && t->only_worker != worker + 1)
		return 0;
	if (!(t->special & HD_TASK_FITS) && rt->limited && !hd_task_fits(rt, t, rt->workers[worker].node))
		return 0;
	return !t->codelet->desc.can_run || t->codelet->desc.can_run(worker, t, t->codelet->desc.can_run_arg);
}

/* Whether the worker may run the task; does not ask whether the worker is lost or retired. */
static inline int allowed(const heddle_runtime *rt, const heddle_task *t, unsigned worker)
{
	return t->codelet->class_ok[rt->workers[worker].class_id] &&
	       (HD_LIKELY(asks_class_only(rt, t)) || allowed_one(t, worker));
}

/* Whether the task's codelet can run on the class, and some worker of the class is neither lost nor retired. */
static int has_class(const heddle_task *t, unsigned class_id)
{
	const struct hd_class_count *count = &t->codelet->rt->class_counts[class_id];
	return t->codelet->class_ok[class_id] && count->n_out < count->n;
}

int hd_task_has_worker(const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	const heddle_runtime *rt = t->codelet->rt;
	for (size_t w = 0; w < rt->n_workers; w++)
		if (!rt->workers[w].lost && allowed(rt, t, (unsigned)w))
			return 1;
	return 0;
}

/* Whether the engine has a time for the task on the class, or needs none. */
static inline int has_time(const heddle_runtime *rt, const heddle_task *t, unsigned class_id)
{
	return !rt->engine->times_are_given || !isnan(hd_perf_time(t->perf, class_id));
}

int heddle_task_could_run(const heddle_task *t, unsigned worker)
{
	const heddle_runtime *rt = t->codelet->rt;
	unsigned class_id = rt->workers[worker].class_id;
	return t->codelet->class_ok[class_id] && has_time(rt, t, class_id) && allowed(rt, t, worker);
}

static __attribute__((noinline)) int can_run(const heddle_task *t, unsigned worker)
{
	const heddle_runtime *rt = t->codelet->rt;
	return !hd_worker_is_out(&rt->workers[worker]) && heddle_task_could_run(t, worker);
}

int heddle_task_can_run(const heddle_task *t, unsigned worker)
{
	return HD_LIKELY(t->codelet->anywhere && !t->only_worker) || can_run(t, worker);
}

/* Whether all workers of a class could run a task whose codelet can run on the class; -1: the answer differs between
 * the workers. */
static inline int all_could_run(const heddle_runtime *rt, const heddle_task *t, unsigned class_id)
{
	return asks_class_only(rt, t) ? has_time(rt, t, class_id) : -1;
}

int heddle_task_can_run_all(const heddle_task *t, unsigned class_id)
{
	const heddle_runtime *rt = t->codelet->rt;
	if (!has_class(t, class_id))
		return 0;
	return rt->class_counts[class_id].n_out ? -1 : all_could_run(rt, t, class_id);
}

int heddle_task_can_run_class(const heddle_task *t, unsigned class_id)
{
	const heddle_runtime *rt = t->codelet->rt;
	int all = has_class(t, class_id) ? all_could_run(rt, t, class_id) : 0;
	if (all >= 0)
		return all;
	for (size_t w = 0; w < rt->n_workers; w++)
		if (rt->workers[w].class_id == class_id && heddle_task_can_run(t, (unsigned)w))
			return 1;
	return 0;
}

int heddle_task_could_run_class(const heddle_task *t, unsigned class_id)
{
	const heddle_runtime *rt = t->codelet->rt;
	int all = t->codelet->class_ok[class_id] ? all_could_run(rt, t, class_id) : 0;
	if (all >= 0)
		return all && rt->class_counts[class_id].n;
	for (size_t w = 0; w < rt->n_workers; w++)
		if (rt->workers[w].class_id == class_id && heddle_task_could_run(t, (unsigned)w))
			return 1;
	return 0;
}

double hd_class_full_rate(const heddle_runtime *rt, unsigned class_id)
{
	const struct heddle_class *c = &rt->platform->classes[class_id];
	unsigned n = hd_class_slots(c);
	return n == 1 ? 1 : n * heddle_class_rate(c, n);
}

double heddle_task_time(const heddle_task *t, unsigned class_id)
{
	if (!has_class(t, class_id))
		return NAN;
	return hd_perf_time(t->perf, class_id) / hd_class_full_rate(hd_task_runtime(t), class_id);
}

unsigned heddle_task_samples(const heddle_task *t, unsigned class_id)
{
	return has_class(t, class_id) ? t->perf->cells[class_id].samples : 0;
}
