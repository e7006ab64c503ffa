/* Conducts the bounds that know of transfers and of what must happen before and after a task (docs/bounds.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/near.h"

enum { SEARCHES = 6 /* for the best window; each but the last improves the prices by a linear program */ };

struct near {
	const struct hd_costed *graph; /* borrows */
	struct hd_flows flows, reversed;
	struct hd_ways ways;
	/* how early each task can start, and how long the schedule must go on after its end */
	struct hd_heads starts, rests;
	struct heddle_near_bounds *out; /* borrows */
};

/* The longest path through any task, on the class on which it is shortest. */
static double longest_path(const struct near *near)
{
	const struct hd_costed *g = near->graph;
	double longest = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		double least = INFINITY;
		for (size_t k = i * g->n_classes; k < (i + 1) * g->n_classes; k++) {
			double through = near->starts.start[k] + g->times[k] + near->rests.start[k];
			least = through < least ? through : least; /* NAN is not */
		}
		longest = fmax(longest, least);
	}
	return longest;
}

/* --- Windows ------------------------------------------------------------------------------------------------------ */

/* Finds the best window, improves the prices for it, and so on until that gains nothing. */
static int search_window(const struct near *near, struct hd_prices *prices, struct hd_bound_window *best)
{
	double work = 0;
	int status = hd_prices_find(prices, near->starts.least, near->rests.least, &(struct hd_bound_window){0}, &work);
	*best = (struct hd_bound_window){.bound = work};
	for (int i = 0; i < SEARCHES && !status; i++) {
		struct hd_bound_window window;
		status = hd_window_find(prices, near->starts.least, near->rests.least, &window);
		if (status || window.bound <= best->bound)
			break;
		*best = window;
		if (i + 1 < SEARCHES)
			status = hd_prices_find(prices, near->starts.least, near->rests.least, &window, &work);
		best->bound = fmax(best->bound, window.from + work + window.left);
	}
	return status;
}

static int is_in(const struct near *near, const struct hd_bound_window *window, size_t task)
{
	return near->starts.least[task] >= window->from && near->rests.least[task] >= window->left;
}

/* Makes a graph of the tasks in the window. A path between two of them has no task outside, because starts rise along
 * a path and rests fall. */
static int cut_out(const struct near *near, const struct hd_bound_window *window, size_t *number, struct hd_costed *out)
{
	const struct hd_costed *g = near->graph;
	size_t n = 0, n_edges = 0, n_classes = g->n_classes;
	for (size_t i = 0; i < g->n_tasks; i++)
		number[i] = is_in(near, window, i) ? n++ : SIZE_MAX;
	int status = hd_costed_init(out, g->platform, n);
	struct hd_costed_edge *edges = malloc((g->first[g->n_tasks] + 1) * sizeof *edges);
	if (!status && !edges)
		status = hd_no_memory("bounds");
	for (size_t i = 0; i < g->n_tasks && !status; i++) {
		if (number[i] == SIZE_MAX)
			continue;
		memcpy(out->times + number[i] * n_classes, g->times + i * n_classes, n_classes * sizeof *out->times);
		out->best[number[i]] = g->best[i];
		out->like[number[i]] = number[i];
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
			if (number[g->to[e]] != SIZE_MAX)
				edges[n_edges++] = (struct hd_costed_edge){number[i], number[g->to[e]]};
	}
	if (!status)
		status = hd_costed_set_edges(out, edges, n_edges);
	free(edges);
	return status;
}

/* The window with the iterative bound of its tasks in place of their area. */
static int iterate_window(const struct near *near, const struct hd_bound_window *window, unsigned rounds, double *out)
{
	struct hd_costed inner;
	struct heddle_bounds bounds = {.mixed = 0};
	size_t *number = malloc((near->graph->n_tasks + 1) * sizeof *number);
	if (!number)
		return hd_no_memory("bounds");
	int status = cut_out(near, window, number, &inner);
	if (!status)
		status = hd_bounds(&inner, rounds, &bounds);
	if (!status)
		*out = fmax(*out, window->from + bounds.mixed + window->left);
	hd_costed_free(&inner);
	free(number);
	return status;
}

static int window_bound(const struct near *near, unsigned rounds)
{
	struct hd_prices prices;
	struct hd_bound_window window = {0};
	int status = hd_prices_init(&prices, near->graph);
	if (!status)
		status = search_window(near, &prices, &window);
	near->out->window = window.bound;
	if (!status && rounds > 0 && (window.from > 0 || window.left > 0))
		status = iterate_window(near, &window, rounds, &near->out->window);
	hd_prices_free(&prices);
	return status;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

static int open_near(struct near *near, const struct heddle_graph *graph)
{
	int status = hd_flows_init(&near->flows, graph);
	if (!status)
		status = hd_flows_reverse(&near->flows, &near->reversed);
	if (!status)
		status = hd_ways_init(&near->ways, near->graph->platform);
	if (!status)
		status = hd_heads_init(&near->starts, near->graph, &near->flows, &near->ways);
	if (!status)
		status = hd_heads_init(&near->rests, near->graph, &near->reversed, &near->ways);
	near->rests.backwards = 1;
	return status;
}

static void close_near(struct near *near)
{
	hd_heads_free(&near->starts);
	hd_heads_free(&near->rests);
	hd_flows_free(&near->flows);
	hd_flows_free(&near->reversed);
	hd_ways_free(&near->ways);
}

static void find_largest(struct heddle_near_bounds *b)
{
	const struct {
		const char *name;
		double bound;
	} all[] = {{"area", b->plain.area},
	           {"critical path", b->plain.critical_path},
	           {"iterative", b->plain.iterative},
	           {"communication", b->communication},
	           {"window", b->window}};
	b->best = 0;
	b->largest = all[0].name;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].bound > b->best) { /* NAN is not */
			b->best = all[i].bound;
			b->largest = all[i].name;
		}
}

int hd_near_bounds(const struct hd_costed *costed, const struct heddle_graph *graph, unsigned rounds,
                   struct heddle_near_bounds *out)
{
	struct near near = {.graph = costed, .out = out};
	int status = open_near(&near, graph);
	if (!status) {
		hd_heads_find(&near.starts);
		hd_heads_find(&near.rests);
		out->communication = longest_path(&near);
		status = window_bound(&near, rounds);
	}
	close_near(&near);
	find_largest(out);
	return status;
}
