/* Finds the longest paths of a graph. */
#include <stdlib.h>
#include "base/base.h"
#include "bounds/internal.h"

/* Kahn's algorithm: the next task in the order is one whose predecessors are all in the order. `waits_for`: per task,
 * the number of its predecessors that are not in the order yet. */
static int sort(struct hd_paths *p, size_t *waits_for)
{
	const struct hd_costed *g = p->graph;
	size_t head = 0, tail = 0;
	for (size_t e = 0; e < g->first[g->n_tasks]; e++)
		waits_for[g->to[e]]++;
	for (size_t i = 0; i < g->n_tasks; i++)
		if (waits_for[i] == 0)
			p->order[tail++] = i;
	while (head < tail) {
		size_t task = p->order[head++];
		for (size_t e = g->first[task]; e < g->first[task + 1]; e++)
			if (--waits_for[g->to[e]] == 0)
				p->order[tail++] = g->to[e];
	}
	return tail == g->n_tasks ? 0
	                          : hd_error(HEDDLE_E_INVALID, "bounds: the dependencies of the tasks make a circle");
}

int hd_paths_init(struct hd_paths *p, const struct hd_costed *graph)
{
	size_t n = graph->n_tasks, *waits_for = calloc(n + 1, sizeof *waits_for);
	*p = (struct hd_paths){.graph = graph,
	                       .order = malloc((n + 1) * sizeof *p->order),
	                       .weights = calloc(n + 1, sizeof *p->weights),
	                       .tails = malloc((n + 1) * sizeof *p->tails),
	                       .next = malloc((n + 1) * sizeof *p->next)};
	int is_whole = waits_for && p->order && p->weights && p->tails && p->next;
	int status = is_whole ? sort(p, waits_for) : hd_no_memory("longest paths");
	free(waits_for);
	return status;
}

void hd_paths_free(struct hd_paths *p)
{
	free(p->order);
	free(p->weights);
	free(p->tails);
	free(p->next);
}

double hd_paths_find(struct hd_paths *p)
{
	const struct hd_costed *g = p->graph;
	double longest = 0;
	p->start = HD_PATH_END;
	for (size_t k = g->n_tasks; k-- > 0;) {
		size_t task = p->order[k];
		double behind = 0;
		p->next[task] = HD_PATH_END;
		for (size_t e = g->first[task]; e < g->first[task + 1]; e++) {
			if (p->next[task] == HD_PATH_END || p->tails[g->to[e]] > behind) {
				p->next[task] = g->to[e];
				behind = p->tails[g->to[e]];
			}
		}
		p->tails[task] = p->weights[task] + behind;
		if (p->start == HD_PATH_END || p->tails[task] > longest) {
			p->start = task;
			longest = p->tails[task];
		}
	}
	return longest;
}
