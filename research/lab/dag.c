/* Converts a typed graph to the form that the simulator uses: successors in one array, costs per type. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

enum { MAX_TASKS = 1 << 24, MAX_TIME_BITS = 40 }; /* sim.c packs a time and a number of a task into one word */

static int find_columns(const struct heddle_graph *g, size_t columns[HD_LAB_CLASSES])
{
	static const char *const names[HD_LAB_CLASSES] = {"cpu", "cuda"};
	for (int c = 0; c < HD_LAB_CLASSES; c++) {
		columns[c] = g->n_classes;
		for (size_t i = 0; i < g->n_classes && g->times; i++)
			if (strcmp(g->classes[i], names[c]) == 0)
				columns[c] = i;
		if (columns[c] == g->n_classes)
			return hd_error(HEDDLE_E_INVALID, "graph %s has no times for %s", g->name, names[c]);
	}
	return 0;
}

static int set_cost(struct hd_lab_dag *dag, const struct heddle_graph *g, const size_t columns[HD_LAB_CLASSES],
                    size_t task)
{
	uint32_t type = g->tasks[task].type;
	for (int c = 0; c < HD_LAB_CLASSES; c++) {
		double us = g->times[task * g->n_classes + columns[c]];
		if (!(us >= 1) || us > 1e9 || us != floor(us))
			return hd_error(
			    HEDDLE_E_INVALID,
			    "task %zu of graph %s takes %g us on %s: it must be a whole number from 1 to 1e9", task,
			    g->name, us, g->classes[columns[c]]);
		if (dag->tasks[type] && dag->cost[type][c] != (uint32_t)us)
			return hd_error(HEDDLE_E_INVALID,
			                "tasks of type %s of graph %s take %u and %g us on %s: all must take the same",
			                g->types[type].name, g->name, dag->cost[type][c], us, g->classes[columns[c]]);
		dag->cost[type][c] = (uint32_t)us;
	}
	dag->least[type] = dag->cost[type][0] < dag->cost[type][1] ? dag->cost[type][0] : dag->cost[type][1];
	dag->least_work += dag->least[type];
	dag->tasks[type]++;
	dag->type[task] = (uint8_t)type;
	return 0;
}

static int fill_tasks(struct hd_lab_dag *dag, const struct heddle_graph *g)
{
	size_t columns[HD_LAB_CLASSES];
	uint64_t longest = 0;
	int status = find_columns(g, columns);
	for (size_t i = 0; i < g->n_tasks && !status; i++) {
		status = set_cost(dag, g, columns, i);
		if (!status)
			longest += dag->cost[dag->type[i]][0] + (uint64_t)dag->cost[dag->type[i]][1];
	}
	if (!status && longest >> MAX_TIME_BITS)
		status = hd_error(HEDDLE_E_INVALID, "the tasks of graph %s take more than 2^%d us together", g->name,
		                  MAX_TIME_BITS);
	return status;
}

static void fill_edges(struct hd_lab_dag *dag, const struct heddle_graph *g)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		dag->n_preds[g->edges[i].to]++;
		dag->first[g->edges[i].from]++;
	}
	for (uint32_t i = 0; i < dag->n_tasks; i++) {
		dag->first[i] += i ? dag->first[i - 1] : 0; /* where the successors of i end */
		if (dag->n_preds[i] == 0)
			dag->roots[dag->n_roots++] = i;
	}
	dag->first[dag->n_tasks] = (uint32_t)g->n_edges;
	for (size_t i = g->n_edges; i-- > 0;) /* filling backwards turns the ends into beginnings */
		dag->succ[--dag->first[g->edges[i].from]] = g->edges[i].to;
}

static void fill_tails(struct hd_lab_dag *dag)
{
	for (uint32_t i = dag->n_tasks; i-- > 0;)
		for (uint32_t e = dag->first[i]; e < dag->first[i + 1]; e++) {
			uint64_t longer = dag->tail[dag->succ[e]] + dag->least[dag->type[dag->succ[e]]];
			dag->tail[i] = longer > dag->tail[i] ? longer : dag->tail[i];
		}
}

static int check(const struct heddle_graph *g, const unsigned workers[HD_LAB_CLASSES])
{
	if (g->n_types > HD_LAB_TYPES)
		return hd_error(HEDDLE_E_INVALID,
		                "graph %s has %zu types of tasks; the laboratory takes %d, whose orders it can all try",
		                g->name, g->n_types, HD_LAB_TYPES);
	if (g->n_tasks == 0 || g->n_tasks >= MAX_TASKS || g->n_edges >= UINT32_MAX)
		return hd_error(HEDDLE_E_INVALID, "graph %s has %zu tasks; the laboratory takes 1 to %d", g->name,
		                g->n_tasks, MAX_TASKS - 1);
	if (g->n_accesses)
		return hd_error(HEDDLE_E_INVALID, "graph %s has data; the laboratory knows explicit dependencies alone",
		                g->name);
	if (workers[0] + workers[1] == 0 || workers[0] > 128 || workers[1] > 127)
		return hd_error(HEDDLE_E_INVALID, "%u CPUs and %u GPUs: the laboratory simulates 1 to 255 workers",
		                workers[0], workers[1]);
	return 0;
}

int hd_lab_dag_new(const struct heddle_graph *graph, const unsigned workers[HD_LAB_CLASSES], struct hd_lab_dag **out)
{
	int status = check(graph, workers);
	if (status)
		return status;
	struct hd_lab_dag *dag = calloc(1, sizeof *dag);
	if (!dag)
		return hd_no_memory("a graph to simulate");
	dag->n_tasks = (uint32_t)graph->n_tasks;
	dag->n_types = (uint32_t)graph->n_types;
	memcpy(dag->workers, workers, sizeof dag->workers);
	dag->type = malloc(graph->n_tasks);
	dag->n_preds = calloc(graph->n_tasks, sizeof *dag->n_preds);
	dag->first = calloc(graph->n_tasks + 1, sizeof *dag->first);
	dag->succ = malloc((graph->n_edges + 1) * sizeof *dag->succ);
	dag->roots = malloc(graph->n_tasks * sizeof *dag->roots);
	dag->tail = calloc(graph->n_tasks, sizeof *dag->tail);
	if (!dag->type || !dag->n_preds || !dag->first || !dag->succ || !dag->roots || !dag->tail)
		status = hd_no_memory("a graph to simulate");
	if (!status)
		status = fill_tasks(dag, graph);
	if (status) {
		hd_lab_dag_free(dag);
		return status;
	}
	fill_edges(dag, graph);
	fill_tails(dag);
	*out = dag;
	return 0;
}

void hd_lab_dag_free(struct hd_lab_dag *dag)
{
	if (!dag)
		return;
	free(dag->type);
	free(dag->n_preds);
	free(dag->first);
	free(dag->succ);
	free(dag->roots);
	free(dag->tail);
	free(dag);
}
