/* Lower bounds of the makespan of a traced graph: area (area.c) and critical path. */
#include "trace/bounds.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "trace/trace.h"

/* Tasks with the same times on all classes are one type. Under models and platforms that is what the tasks of one (codelet,
 * footprint) have; a time function may also give every task its own. */
struct types {
	size_t n_classes, n, room;
	double *times, *counts, *best; /* own; of each type: n_classes times in us, number of tasks, least time */
	size_t *slots, mask;           /* owns; open addressing by the times: 1 + type, or 0 */
	size_t *of;                    /* owns; type of each task */
};

static double platform_time(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	const struct heddle_trace_task *t = &trace->tasks[task];
	(void)arg;
	return heddle_platform_time(trace->platform, trace->codelets[t->codelet].name, class_id, t->bytes, t->flops);
}

static int rehash(struct types *types)
{
	size_t size = types->slots ? 4 * (types->mask + 1) : 1024;
	size_t *slots = calloc(size, sizeof *slots);
	if (!slots)
		return hd_no_memory("types of tasks");
	free(types->slots);
	types->slots = slots;
	types->mask = size - 1;
	for (size_t i = 0; i < types->n; i++) {
		size_t slot = hd_hash_reals(types->times + i * types->n_classes, types->n_classes) & types->mask;
		while (slots[slot])
			slot = (slot + 1) & types->mask;
		slots[slot] = i + 1;
	}
	return 0;
}

static int enlarge(struct types *types)
{
	size_t room = types->room ? 2 * types->room : 64;
	double *times = realloc(types->times, room * types->n_classes * sizeof *times);
	types->times = times ? times : types->times;
	double *counts = realloc(types->counts, room * sizeof *counts);
	types->counts = counts ? counts : types->counts;
	double *best = realloc(types->best, room * sizeof *best);
	types->best = best ? best : types->best;
	if (!times || !counts || !best)
		return hd_no_memory("types of tasks");
	types->room = room;
	return 0;
}

/* The type with these times, made when there is none yet. */
static int find_type(struct types *types, const double *times, double best, size_t *out)
{
	size_t size = types->n_classes * sizeof *times;
	int status = 2 * (types->n + 1) > types->mask ? rehash(types) : 0;
	if (!status && types->n == types->room)
		status = enlarge(types);
	if (status)
		return status;
	size_t slot = hd_hash_reals(times, types->n_classes) & types->mask;
	while (types->slots[slot] && memcmp(types->times + (types->slots[slot] - 1) * types->n_classes, times, size) != 0)
		slot = (slot + 1) & types->mask;
	if (!types->slots[slot]) {
		memcpy(types->times + types->n * types->n_classes, times, size);
		types->counts[types->n] = 0;
		types->best[types->n] = best;
		types->slots[slot] = ++types->n;
	}
	*out = types->slots[slot] - 1;
	return 0;
}

/* The times of one task, NAN for classes that cannot run it or have no workers; *best is the least. */
static int times_of(const struct heddle_trace *trace, size_t task, const struct hd_area *area, double *times, double *best)
{
	*best = INFINITY;
	for (size_t c = 0; c < area->n_classes; c++) {
		if (area->workers[c] == 0 || isnan(times[c]))
			times[c] = NAN;
		else if (!(times[c] >= 0) || isinf(times[c]))
			return hd_error(HEDDLE_E_INVALID, "bounds: the time of task %llu on class %s is %g us",
			                (unsigned long long)trace->tasks[task].id, trace->platform->classes[c].name, times[c]);
		else
			*best = fmin(*best, times[c] += 0.0); /* minus zero becomes zero: times are compared bit by bit */
	}
	if (isinf(*best))
		return hd_error(HEDDLE_E_INVALID,
		                "bounds: platform %s has no time for codelet %s (task %llu) on any class; give a time function",
		                trace->platform->name, trace->codelets[trace->tasks[task].codelet].name,
		                (unsigned long long)trace->tasks[task].id);
	return 0;
}

static int find_types(struct types *types, const struct heddle_trace *trace, const struct hd_area *area, heddle_time_fn time,
                      void *arg)
{
	types->of = malloc((trace->n_tasks + 1) * sizeof *types->of);
	double *times = malloc((types->n_classes + 1) * sizeof *times);
	int status = types->of && times ? rehash(types) : hd_no_memory("types of tasks");
	for (size_t i = 0; i < trace->n_tasks && !status; i++) {
		double best = 0;
		for (size_t c = 0; c < types->n_classes; c++)
			times[c] = time(trace, i, (unsigned)c, arg);
		status = times_of(trace, i, area, times, &best);
		if (!status)
			status = find_type(types, times, best, &types->of[i]);
		if (!status)
			types->counts[types->of[i]]++;
	}
	free(times);
	return status;
}

static void types_free(struct types *types)
{
	free(types->times);
	free(types->counts);
	free(types->best);
	free(types->slots);
	free(types->of);
}

static int area_bound(const struct types *types, struct hd_area *area, double *out)
{
	double *work = malloc((types->n * types->n_classes + 1) * sizeof *work);
	if (!work)
		return hd_no_memory("the area bound");
	for (size_t i = 0; i < types->n * types->n_classes; i++)
		work[i] = types->times[i] * types->counts[i / types->n_classes];
	area->n_types = types->n;
	area->work = work;
	int status = hd_area_bound(area, out);
	free(work);
	return status;
}

/* --- Critical path -------------------------------------------------------------------------------------------------------- */

/* The graph as successors; edges from or to tasks that are not in the trace are left out. */
struct successors {
	size_t *first, *to; /* own; those of task i: to[first[i] .. first[i + 1] - 1] */
	size_t *waits_for;  /* owns; per task: number of tasks before it that are not done */
};

static int successors_init(struct successors *s, const struct heddle_trace *trace)
{
	size_t n = trace->n_tasks, m = trace->n_edges;
	struct hd_trace_index index;
	size_t *from = malloc((m + 1) * sizeof *from), *to = malloc((m + 1) * sizeof *to);
	*s = (struct successors){calloc(n + 2, sizeof(size_t)), malloc((m + 1) * sizeof(size_t)), calloc(n + 1, sizeof(size_t))};
	int status = hd_trace_index_init(&index, trace);
	if (!from || !to || !s->first || !s->to || !s->waits_for)
		status = hd_no_memory("a critical path");
	size_t kept = 0;
	for (size_t e = 0; e < m && !status; e++) {
		from[kept] = hd_trace_index_find(&index, trace->edges[e].from);
		to[kept] = hd_trace_index_find(&index, trace->edges[e].to);
		if (from[kept] == HD_NO_TASK || to[kept] == HD_NO_TASK)
			continue;
		s->first[from[kept] + 2]++; /* two up: it is a running position below and a beginning in the end */
		s->waits_for[to[kept++]]++;
	}
	for (size_t i = 0; i + 1 < n && !status; i++)
		s->first[i + 2] += s->first[i + 1];
	for (size_t e = 0; e < kept && !status; e++)
		s->to[s->first[from[e] + 1]++] = to[e];
	hd_trace_index_free(&index);
	free(from);
	free(to);
	return status;
}

static void successors_free(struct successors *s)
{
	free(s->first);
	free(s->to);
	free(s->waits_for);
}

/* Kahn's order: a task is done when all before it are. `queue` and `start` have room for every task; start is zeroed. */
static int longest_path(struct successors *s, const struct types *types, size_t n, size_t *queue, double *start, double *out)
{
	size_t head = 0, tail = 0;
	double longest = 0;
	for (size_t i = 0; i < n; i++)
		if (s->waits_for[i] == 0)
			queue[tail++] = i;
	while (head < tail) {
		size_t task = queue[head++];
		double end = start[task] + types->best[types->of[task]];
		longest = fmax(longest, end);
		for (size_t e = s->first[task]; e < s->first[task + 1]; e++) {
			size_t to = s->to[e];
			start[to] = fmax(start[to], end);
			if (--s->waits_for[to] == 0)
				queue[tail++] = to;
		}
	}
	if (tail < n)
		return hd_error(HEDDLE_E_INVALID, "bounds: the edges of the trace make a circle");
	*out = longest;
	return 0;
}

static int path_bound(const struct types *types, const struct heddle_trace *trace, double *out)
{
	struct successors s;
	int status = successors_init(&s, trace);
	size_t *queue = malloc((trace->n_tasks + 1) * sizeof *queue);
	double *start = calloc(trace->n_tasks + 1, sizeof *start);
	if (!status && (!queue || !start))
		status = hd_no_memory("a critical path");
	if (!status)
		status = longest_path(&s, types, trace->n_tasks, queue, start, out);
	free(queue);
	free(start);
	successors_free(&s);
	return status;
}

int heddle_trace_bounds(const struct heddle_trace *trace, heddle_time_fn time, void *arg, struct heddle_bounds *out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_bounds: out is NULL");
	int status = hd_trace_check(trace);
	if (status)
		return status;
	const struct heddle_platform *platform = trace->platform;
	double *workers = calloc(platform->n_classes + 1, sizeof *workers);
	if (!workers)
		return hd_no_memory("bounds");
	for (size_t w = 0; w < platform->n_workers; w++)
		workers[platform->workers[w].class_id]++;
	struct hd_area area = {.n_classes = platform->n_classes, .workers = workers};
	struct types types = {.n_classes = platform->n_classes};
	struct heddle_bounds bounds = {0};
	status = find_types(&types, trace, &area, time ? time : platform_time, arg);
	if (!status)
		status = area_bound(&types, &area, &bounds.area);
	if (!status)
		status = path_bound(&types, trace, &bounds.critical_path);
	if (!status) {
		bounds.best = fmax(bounds.area, bounds.critical_path);
		*out = bounds;
	}
	types_free(&types);
	free(workers);
	return status;
}
