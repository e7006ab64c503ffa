/* Finds for what each task of a graph waits, and how many bytes come from there.
 *
 * The value that a task reads of a datum comes from the last tasks before it that have written the datum: from one of
 * them, or from a group of tasks that commute, through all of which it goes in some order. So it goes from the memory
 * of each of them to that of the reader, perhaps by way of others. A reduction makes a value of its own in private
 * copies; nothing is known of the way of such a value. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/near.h"

/* Who has written a datum last. */
struct writers {
	uint32_t *list; /* owns */
	size_t n, room;
	uint32_t mode;    /* of the last tasks that wrote: HEDDLE_COMMUTE, or another one; 0: none has */
	size_t n_earlier; /* of the list: those from which a commuting group got the value; the group itself follows */
	int is_unknown;   /* a reduction has made the value */
};

static int writers_add(struct writers *w, uint32_t task)
{
	if (w->n == w->room) {
		size_t room = 2 * w->room + 1;
		uint32_t *list = realloc(w->list, room * sizeof *list);
		if (!list)
			return hd_no_memory("bounds");
		w->list = list;
		w->room = room;
	}
	w->list[w->n++] = task;
	return 0;
}

/* Notes that the value of a datum goes from one task to another; there is an edge between the two. */
static void note(struct hd_flows *f, uint32_t from, size_t to, double bytes)
{
	size_t low = f->first[to], high = f->first[to + 1];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (f->from[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < f->first[to + 1] && f->from[low] == from && bytes > f->bytes[low])
		f->bytes[low] = bytes;
}

/* The task reads the value: from the members of the last group, or, if the task joins a commuting group, from those
 * from whom the group has it. */
static void read_value(struct hd_flows *f, const struct writers *w, size_t task, double bytes, int joins)
{
	size_t begin = joins || w->mode != HEDDLE_COMMUTE ? 0 : w->n_earlier;
	size_t end = joins ? w->n_earlier : w->n;
	if (w->is_unknown)
		return;
	if (begin == end && bytes > f->initial[task])
		f->initial[task] = bytes;
	for (size_t i = begin; i < end; i++)
		note(f, w->list[i], task, bytes);
}

static int write_value(struct writers *w, size_t task, uint32_t mode, int joins)
{
	if (mode == HEDDLE_COMMUTE && !joins) {
		size_t first = w->mode == HEDDLE_COMMUTE ? w->n_earlier : 0;
		if (w->n > first)
			memmove(w->list, w->list + first, (w->n - first) * sizeof *w->list);
		w->n_earlier = w->n -= first;
	} else if (mode != HEDDLE_COMMUTE) {
		w->n = w->n_earlier = 0;
	}
	w->mode = mode;
	if (mode != HEDDLE_COMMUTE)
		w->is_unknown = 0;
	return writers_add(w, (uint32_t)task);
}

/* A reader between two commuting tasks ends their group. */
static void end_group(struct writers *w)
{
	if (w->mode != HEDDLE_COMMUTE)
		return;
	memmove(w->list, w->list + w->n_earlier, (w->n - w->n_earlier) * sizeof *w->list);
	w->n -= w->n_earlier;
	w->n_earlier = 0;
	w->mode = HEDDLE_RW;
}

static int take_access(struct hd_flows *f, struct writers *w, size_t task, const struct heddle_graph_access *a,
                       double bytes)
{
	int joins = a->mode == HEDDLE_COMMUTE && w->mode == HEDDLE_COMMUTE, status = 0;
	switch (a->mode) {
	case HEDDLE_R:
		read_value(f, w, task, bytes, 0);
		end_group(w);
		break;
	case HEDDLE_RW:
	case HEDDLE_COMMUTE:
		read_value(f, w, task, bytes, joins);
		status = write_value(w, task, a->mode, joins);
		break;
	case HEDDLE_W: status = write_value(w, task, a->mode, 0); break;
	case HEDDLE_REDUX:
		w->is_unknown = 1;
		w->n = w->n_earlier = 0;
		w->mode = HEDDLE_REDUX;
		break;
	default: end_group(w); /* HEDDLE_SCRATCH */
	}
	return status;
}

static int set_edges(struct hd_flows *f, const struct heddle_graph *graph)
{
	struct heddle_graph_edge *edges;
	size_t n;
	int status = heddle_graph_edges(graph, &edges, &n);
	if (status)
		return status;
	f->from = malloc((n + 1) * sizeof *f->from);
	f->bytes = calloc(n + 1, sizeof *f->bytes);
	if (f->from && f->bytes)
		for (size_t e = 0; e < n; e++) { /* sorted by `to`, then `from` */
			f->first[edges[e].to + 1]++;
			f->from[e] = edges[e].from;
		}
	for (size_t i = 0; i < f->n_tasks; i++)
		f->first[i + 1] += f->first[i];
	free(edges);
	return f->from && f->bytes ? 0 : hd_no_memory("bounds");
}

int hd_flows_init(struct hd_flows *f, const struct heddle_graph *graph)
{
	*f = (struct hd_flows){.n_tasks = graph->n_tasks,
	                       .first = calloc(graph->n_tasks + 2, sizeof *f->first),
	                       .initial = calloc(graph->n_tasks + 1, sizeof *f->initial)};
	struct writers *writers = calloc(graph->n_data + 1, sizeof *writers);
	int status = f->first && f->initial && writers ? set_edges(f, graph) : hd_no_memory("bounds");
	for (size_t i = 0; i < graph->n_tasks && !status; i++) {
		const struct heddle_graph_access *a = hd_graph_accesses(graph, i);
		for (size_t k = 0; k < graph->tasks[i].n_accesses && !status; k++)
			status = take_access(f, &writers[a[k].data], i, &a[k], (double)graph->data[a[k].data].bytes);
	}
	for (size_t d = 0; writers && d < graph->n_data; d++)
		free(writers[d].list);
	free(writers);
	return status;
}

int hd_flows_reverse(const struct hd_flows *flows, struct hd_flows *out)
{
	size_t n = flows->n_tasks, n_edges = flows->first[n];
	*out = (struct hd_flows){.n_tasks = n,
	                         .first = calloc(n + 2, sizeof *out->first),
	                         .from = malloc((n_edges + 1) * sizeof *out->from),
	                         .bytes = malloc((n_edges + 1) * sizeof *out->bytes)};
	if (!out->first || !out->from || !out->bytes)
		return hd_no_memory("bounds");
	size_t *next = out->first + 1; /* first[i + 1] counts, then moves to the end of task i */
	for (size_t e = 0; e < n_edges; e++)
		next[n - 1 - flows->from[e] + 1]++;
	for (size_t i = 0; i < n; i++)
		next[i + 1] += next[i];
	for (size_t i = n; i-- > 0;)
		for (size_t e = flows->first[i]; e < flows->first[i + 1]; e++) {
			size_t place = next[n - 1 - flows->from[e]]++;
			out->from[place] = (uint32_t)(n - 1 - i);
			out->bytes[place] = flows->bytes[e];
		}
	return 0;
}

void hd_flows_free(struct hd_flows *flows)
{
	free(flows->first);
	free(flows->from);
	free(flows->bytes);
	free(flows->initial);
}
