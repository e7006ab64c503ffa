/* Finds the least makespan of a small graph, by branch and bound over semi-active schedules.
 *
 * A schedule is built by appending one task after the other, each after the tasks for which it waits: choose a task and
 * a class, and start the task as early as possible on the worker of this class that is free first. Some such sequence
 * gives an optimal schedule: append the tasks of an optimal schedule in the order of their starts. That the worker that
 * is free first is used can only make the workers of the class free earlier.
 *
 * What the rest of the schedule depends on is when each worker is free, and when each remaining task may start. If all
 * these times of a partial schedule are at least as late as those of an earlier partial schedule of the same tasks, the
 * partial schedule is dropped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

/* the most numbers that are kept of partial schedules; if there are more, the search only takes longer */
enum { MAX_SEEN = 1 << 22 };

/* The kept partial schedules of one set of tasks, `width` numbers each. None is at least as good as another. */
struct seen {
	double *states; /* owns */
	size_t n, room;
};

struct search {
	const struct hd_costed *graph; /* borrows */
	size_t n, width;
	/* owns; per class: index of its first worker in a state, which is an array (see is_dominated); and one more
	 * entry: index of the first task */
	size_t *slot;
	unsigned before[HD_OPTIMUM_TASKS], after[HD_OPTIMUM_TASKS]; /* sets of tasks: bit i is task i */
	double best_time[HD_OPTIMUM_TASKS], tail[HD_OPTIMUM_TASKS];
	/* an earlier task that is interchangeable with this one; if there is none, the task itself */
	size_t twin[HD_OPTIMUM_TASKS];
	/* owns; a state for each depth of the search: when each worker is free (class by class, the earliest first),
	 * then when each task may start */
	double *states;
	struct seen *seen; /* owns; one per set of tasks */
	size_t n_seen;     /* room of all elements of `seen` together, in numbers */
	double best;
};

/* Whether each number of `a` is at most the same number of `b`. */
static int is_as_good(const double *a, const double *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] > b[i])
			return 0;
	return 1;
}

/* Whether a kept partial schedule of the tasks `done` is at least as good as `state`. If not, keeps `state`, and drops
 * the kept ones to which `state` is at least as good. */
static int is_dominated(struct search *s, unsigned done, const double *state)
{
	struct seen *seen = &s->seen[done];
	size_t kept = 0, size = s->width * sizeof *state;
	for (size_t i = 0; i < seen->n; i++)
		if (is_as_good(seen->states + i * s->width, state, s->width))
			return 1;
	for (size_t i = 0; i < seen->n; i++)
		if (!is_as_good(state, seen->states + i * s->width, s->width))
			memmove(seen->states + kept++ * s->width, seen->states + i * s->width, size);
	seen->n = kept;
	if (kept == seen->room) {
		size_t room = kept ? 2 * kept : 8;
		double *states = s->n_seen + room * s->width <= MAX_SEEN ? realloc(seen->states, room * size) : NULL;
		if (!states)
			return 0; /* there is no room, so `state` is not kept */
		s->n_seen += (room - kept) * s->width;
		seen->states = states;
		seen->room = room;
	}
	memcpy(seen->states + seen->n++ * s->width, state, size);
	return 0;
}

/* A lower bound of the makespan of all completions of a partial schedule: each remaining task is followed by its
 * longest path, and the workers must share the remaining work. */
static double bound(const struct search *s, unsigned done, const double *state)
{
	size_t n_workers = s->width - s->n;
	double longest = 0, sum = 0;
	for (size_t w = 0; w < n_workers; w++) {
		longest = fmax(longest, state[w]);
		sum += state[w];
	}
	for (size_t i = 0; i < s->n; i++) {
		if (done >> i & 1)
			continue;
		longest = fmax(longest, state[n_workers + i] + s->tail[i]);
		sum += s->best_time[i];
	}
	/* less a little, because the sum has rounding errors */
	return fmax(longest, sum / (double)n_workers * (1 - 1e-12));
}

/* Writes to `to` the state after `task` is appended on class `c` to the state `from`. */
static void append(const struct search *s, size_t task, size_t c, const double *from, double *to)
{
	size_t n_workers = s->width - s->n, w = s->slot[c];
	memcpy(to, from, s->width * sizeof *to);
	double end = fmax(from[w], from[n_workers + task]) + s->graph->times[task * s->graph->n_classes + c];
	for (; w + 1 < s->slot[c + 1] && to[w + 1] < end; w++)
		to[w] = to[w + 1];
	to[w] = end;
	to[n_workers + task] = 0; /* a constant, because the task has started, and states are compared */
	for (size_t i = 0; i < s->n; i++)
		if (s->after[task] >> i & 1)
			to[n_workers + i] = fmax(to[n_workers + i], end);
}

static void search(struct search *s, unsigned done, double *state)
{
	double *next = state + s->width;
	if (bound(s, done, state) >= s->best)
		return;
	if (done + 1 == 1u << s->n) {
		s->best = bound(s, done, state);
		return;
	}
	if (is_dominated(s, done, state))
		return;
	for (size_t i = 0; i < s->n; i++) {
		int has_twin_to_come = s->twin[i] != i && !(done >> s->twin[i] & 1);
		if (done >> i & 1 || (s->before[i] & ~done) || has_twin_to_come)
			continue;
		for (size_t c = 0; c < s->graph->n_classes; c++) {
			if (isnan(s->graph->times[i * s->graph->n_classes + c]))
				continue;
			append(s, i, c, state, next);
			search(s, done | 1u << i, next);
		}
	}
}

/* --- Preparation -------------------------------------------------------------------------------------------------- */

static int are_twins(const struct search *s, size_t a, size_t b)
{
	const double *times = s->graph->times;
	size_t n = s->graph->n_classes;
	return s->before[a] == s->before[b] && s->after[a] == s->after[b] &&
	       memcmp(times + a * n, times + b * n, n * sizeof *times) == 0;
}

/* Collects what the search needs to know of each task. The weights of `paths` are the least times. */
static void describe(struct search *s, struct hd_paths *paths)
{
	const struct hd_costed *g = s->graph;
	hd_paths_find(paths);
	for (size_t i = 0; i < s->n; i++) {
		s->best_time[i] = paths->weights[i];
		s->tail[i] = paths->tails[i];
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
			s->after[i] |= 1u << g->to[e];
			s->before[g->to[e]] |= 1u << i;
		}
	}
	for (size_t i = 0; i < s->n; i++) {
		s->twin[i] = i;
		for (size_t k = 0; k < i; k++)
			if (are_twins(s, k, i))
				s->twin[i] = k;
	}
}

static int allocate(struct search *s)
{
	const struct hd_costed *g = s->graph;
	s->slot = calloc(g->n_classes + 1, sizeof *s->slot);
	if (!s->slot)
		return hd_no_memory("an exhaustive search");
	for (size_t c = 0; c < g->n_classes; c++) /* no class needs more workers than there are tasks */
		s->slot[c + 1] = s->slot[c] + (size_t)fmin(g->workers[c], (double)s->n);
	s->width = s->slot[g->n_classes] + s->n;
	s->states = calloc((s->n + 1) * s->width + 1, sizeof *s->states);
	s->seen = calloc((size_t)1 << s->n, sizeof *s->seen);
	return s->states && s->seen ? 0 : hd_no_memory("an exhaustive search");
}

int hd_optimum(const struct hd_costed *graph, double *makespan)
{
	struct search s = {.graph = graph, .n = graph->n_tasks, .best = INFINITY};
	struct hd_paths paths = {0};
	if (s.n > HD_OPTIMUM_TASKS)
		return hd_error(HEDDLE_E_UNSUPPORTED, "%zu tasks are too many to find the least makespan: at most %d",
		                s.n, HD_OPTIMUM_TASKS);
	if (graph->n_cores > 0)
		return hd_error(HEDDLE_E_UNSUPPORTED, "the least makespan is not known for several cluster sets");
	for (size_t c = 0; c < graph->n_classes; c++)
		if (graph->workers[c] > 0 && graph->platform->classes[c].streams > 1)
			return hd_error(HEDDLE_E_UNSUPPORTED,
			                "the least makespan is not known for class %s, whose workers run several "
			                "kernels at once",
			                graph->platform->classes[c].name);
	int status = allocate(&s);
	if (!status)
		status = hd_paths_init(&paths, graph);
	if (!status) {
		memcpy(paths.weights, graph->best, graph->n_tasks * sizeof *paths.weights);
		describe(&s, &paths);
		search(&s, 0, s.states);
		*makespan = s.n ? s.best : 0;
	}
	for (size_t i = 0; s.seen && i < (size_t)1 << s.n; i++)
		free(s.seen[i].states);
	free(s.seen);
	free(s.states);
	free(s.slot);
	hd_paths_free(&paths);
	return status;
}
