/* Writes graphs as DOT, for pictures and for other programs. The attribute `bytes` of an edge is the size of the data
 * that its first task writes and its second task reads. */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"

static void write_escaped(struct hd_text *text, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			hd_text_char(text, '\\');
		hd_text_char(text, *s);
	}
}

static void write_string(struct hd_text *text, const char *s)
{
	hd_text_char(text, '"');
	write_escaped(text, s);
	hd_text_char(text, '"');
}

static void write_number(struct hd_text *text, const char *key, double value)
{
	hd_text_format(text, ", %s=\"", key);
	hd_text_real(text, value);
	hd_text_char(text, '"');
}

/* Writes the attribute for a time: its name is the kind of workers (cpu, cuda), or time_NAME for any other class. */
static void write_time(struct hd_text *text, const char *class_, double us)
{
	for (size_t i = 0; i < HD_N_KINDS; i++)
		if (strcmp(hd_kinds[i], class_) == 0) {
			write_number(text, class_, us);
			return;
		}
	hd_text_put(text, ", ");
	char *key = hd_format("time_%s", class_);
	if (!key) {
		text->failed = 1;
		return;
	}
	write_string(text, key);
	free(key);
	hd_text_put(text, "=\"");
	hd_text_real(text, us);
	hd_text_char(text, '"');
}

static void write_task(const struct heddle_graph *g, size_t i, struct hd_text *text)
{
	const struct heddle_graph_task *t = &g->tasks[i];
	const struct heddle_graph_type *type = &g->types[t->type];
	hd_text_format(text, "\tt%zu [type=", i);
	write_string(text, type->name);
	const char *name = heddle_name_of(&g->task_names, i);
	hd_text_put(text, ", label=");
	write_string(text, name ? name : type->name);
	if (type->color)
		hd_text_format(text, ", fillcolor=\"#%06x\"", type->color);
	if (t->priority)
		hd_text_format(text, ", priority=\"%d\"", t->priority);
	if (t->flops > 0)
		write_number(text, "flops", t->flops);
	for (size_t c = 0; g->times && c < g->n_classes; c++)
		if (!isnan(g->times[i * g->n_classes + c]))
			write_time(text, g->classes[c], g->times[i * g->n_classes + c]);
	hd_text_put(text, "];\n");
}

static int reads(uint32_t mode)
{
	return mode == HEDDLE_R || mode == HEDDLE_RW || mode == HEDDLE_COMMUTE;
}

static int writes(uint32_t mode)
{
	return mode == HEDDLE_W || mode == HEDDLE_RW || mode == HEDDLE_COMMUTE || mode == HEDDLE_REDUX;
}

/* Whether the edge stands for the datum of access `a`, an access of its second task: this task reads the datum, and the
 * edge's first task is the last that has written it. `writer`: per datum, 1 + the task that has written it last; 0:
 * none. */
static int is_handed(const struct heddle_graph_edge *e, const struct heddle_graph_access *a, const uint32_t *writer)
{
	return reads(a->mode) && writer[a->data] == e->from + 1;
}

/* Writes the attributes of an edge: the bytes of the data for which it stands and, as a label for pictures, their
 * names. */
static void write_handed(const struct heddle_graph *g, const struct heddle_graph_edge *e, const uint32_t *writer,
                         struct hd_text *text)
{
	const struct heddle_graph_task *t = &g->tasks[e->to];
	const struct heddle_graph_access *a = &g->accesses[t->first_access];
	uint64_t bytes = 0;
	for (size_t k = 0; k < t->n_accesses; k++)
		bytes += is_handed(e, &a[k], writer) ? g->data[a[k].data].bytes : 0;
	if (bytes)
		hd_text_format(text, " [bytes=\"%llu\"", (unsigned long long)bytes);
	int named = 0;
	for (size_t k = 0; k < t->n_accesses && bytes && g->data_names.n; k++) {
		const char *name = is_handed(e, &a[k], writer) ? heddle_name_of(&g->data_names, a[k].data) : NULL;
		if (!name)
			continue;
		hd_text_put(text, named++ ? ", " : ", label=\"");
		write_escaped(text, name);
	}
	hd_text_put(text, named ? "\"" : "");
	hd_text_put(text, bytes ? "]" : "");
}

static void write_edges(const struct heddle_graph *g, const struct heddle_graph_edge *edges, size_t n, uint32_t *writer,
                        struct hd_text *text)
{
	size_t e = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		for (; e < n && edges[e].to == i; e++) {
			hd_text_format(text, "\tt%u -> t%u", edges[e].from, edges[e].to);
			write_handed(g, &edges[e], writer, text);
			hd_text_put(text, ";\n");
		}
		const struct heddle_graph_task *t = &g->tasks[i];
		for (size_t k = 0; k < t->n_accesses; k++)
			if (writes(g->accesses[t->first_access + k].mode))
				writer[g->accesses[t->first_access + k].data] = (uint32_t)i + 1;
	}
}

int hd_graph_write_dot(const struct heddle_graph *g, struct hd_text *text)
{
	struct heddle_graph_edge *edges;
	size_t n;
	int status = heddle_graph_edges(g, &edges, &n);
	if (status)
		return status;
	uint32_t *writer = calloc(g->n_data + 1, sizeof *writer);
	if (writer) {
		hd_text_put(text, "digraph ");
		write_string(text, g->name);
		hd_text_put(text, " {\n\tnode [style=\"filled\", fillcolor=\"white\"];\n");
		for (size_t i = 0; i < g->n_tasks; i++)
			write_task(g, i, text);
		write_edges(g, edges, n, writer, text);
		hd_text_put(text, "}\n");
	} else {
		status = hd_no_memory("a task graph");
	}
	free(writer);
	free(edges);
	return status;
}
