/* Task graphs as arguments of commands, and their statistics: see graph_facts.h. */
#include "graph_facts.h"
#include "tool.h"
#include <heddle/daggen/random.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char random_prefix[] = "random:";

static int is_random(const char *what)
{
	return strncmp(what, random_prefix, sizeof random_prefix - 1) == 0;
}

int graph_is_named(const char *what)
{
	static const char *const extensions[] = {".json", ".dot", ".gv", ".stg"};
	for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
		if (strcasecmp(tool_extension(what), extensions[i]) == 0)
			return 1;
	return is_random(what);
}

static int make_random(const char *settings, struct heddle_graph **out)
{
	struct heddle_daggen_layers parameters;
	heddle_daggen_random_init(&parameters);
	if (heddle_daggen_random_set(&parameters, settings) || heddle_daggen_random(&parameters, out))
		return tool_usage_error("%s%s: %s", random_prefix, settings, heddle_last_error());
	free((*out)->name);
	(*out)->name = tool_format("%s%s", random_prefix, settings);
	return TOOL_OK;
}

int graph_open(const char *what, struct heddle_graph **out)
{
	if (is_random(what))
		return make_random(what + sizeof random_prefix - 1, out);
	int status = heddle_graph_load(what, out);
	if (status == HEDDLE_E_INVALID)
		return tool_usage_error("%s", heddle_last_error());
	return status ? tool_library_error("the graph cannot be read") : TOOL_OK;
}

int graph_check_output(const char *path, const char *option)
{
	const char *extension = tool_extension(path);
	if (strcasecmp(extension, ".json") != 0 && strcasecmp(extension, ".dot") != 0 &&
	    strcasecmp(extension, ".gv") != 0)
		return tool_usage_error("%s is \"%s\": it must end in .json, .dot or .gv", option, path);
	return tool_check_writable(path);
}

/* --- Figures ------------------------------------------------------------------------------------------------------ */

static void measure_levels(const struct heddle_graph *g, const struct heddle_graph_edge *edges, struct graph_facts *out)
{
	size_t *level = tool_alloc((g->n_tasks + 1) * sizeof *level),
	       *widths = tool_alloc((g->n_tasks + 1) * sizeof *widths);
	for (size_t e = 0; e < out->edges; e++) /* edges are sorted by `to`, so the level of `from` is final */
		if (level[edges[e].to] <= level[edges[e].from])
			level[edges[e].to] = level[edges[e].from] + 1;
	for (size_t i = 0; i < g->n_tasks; i++) {
		size_t width = ++widths[level[i]];
		out->depth = level[i] + 1 > out->depth ? level[i] + 1 : out->depth;
		out->width = width > out->width ? width : out->width;
	}
	free(level);
	free(widths);
}

static void measure_data(const struct heddle_graph *g, struct graph_facts *out)
{
	char *written = tool_alloc(g->n_data + 1);
	for (size_t i = 0; i < g->n_data; i++)
		out->bytes += (double)g->data[i].bytes;
	for (size_t i = 0; i < g->n_tasks; i++) {
		const struct heddle_graph_access *a = g->accesses + g->tasks[i].first_access;
		for (size_t k = 0; k < g->tasks[i].n_accesses; k++) {
			int reads = a[k].mode == HEDDLE_R || a[k].mode == HEDDLE_RW || a[k].mode == HEDDLE_COMMUTE;
			if (reads && written[a[k].data])
				out->handed += (double)g->data[a[k].data].bytes;
			written[a[k].data] |= a[k].mode != HEDDLE_R && a[k].mode != HEDDLE_SCRATCH;
		}
	}
	free(written);
}

int graph_measure(const struct heddle_graph *graph, struct graph_facts *out)
{
	struct heddle_graph_edge *edges;
	*out = (struct graph_facts){0};
	int status = heddle_graph_edges(graph, &edges, &out->edges);
	if (status)
		return status;
	measure_levels(graph, edges, out);
	measure_data(graph, out);
	free(edges);
	return 0;
}

double graph_ccr(const struct heddle_graph *graph, const struct graph_facts *facts,
                 const struct heddle_platform *platform)
{
	double bandwidth = 0, us = 0;
	for (size_t i = 0; i < platform->n_links; i++)
		bandwidth += heddle_link_rate(platform, &platform->links[i]) / (double)platform->n_links;
	for (size_t i = 0; i < graph->n_tasks; i++) {
		double sum = 0, n = 0;
		for (size_t w = 0; w < platform->n_workers; w++) {
			double time = heddle_graph_time(graph, i, platform, platform->workers[w].class_id);
			sum += isnan(time) ? 0 : time;
			n += !isnan(time);
		}
		us += sum / n; /* NAN when no worker can run the task */
	}
	return platform->n_links ? facts->handed / bandwidth / us : us >= 0 ? 0 : NAN;
}
