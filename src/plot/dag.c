/* The task graph of a trace with its levels: finds boxes, tasks and the dependencies shown; writes text for
 * Graphviz. */
#include "dag.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/base.h"
#include "base/text.h"
#include "report/report.h"
#include "trace/trace.h"

enum { MOST_DRAWN = 2000, MOST_LEVELS = 1000 };

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct hd_dag_node *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (!x->layout || !y->layout)
		return (y->layout != NULL) - (x->layout != NULL);
	return (x->layout > y->layout) - (x->layout < y->layout); /* the trace has them by time */
}

/* The node of the task with this id, expanded or not; HD_NO_NODE: the trace has no such task. */
static size_t find(const struct hd_dag *d, uint64_t id)
{
	size_t low = 0, high = d->n_nodes;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (d->nodes[middle].id < id || (d->nodes[middle].id == id && d->nodes[middle].layout))
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->n_nodes && d->nodes[low].id == id ? low : HD_NO_NODE;
}

static void add_node(struct hd_dag *d, struct hd_dag_node node)
{
	node.box = node.first = node.last = node.next = HD_NO_NODE;
	d->nodes[d->n_nodes++] = node;
}

static int make_nodes(struct hd_dag *d)
{
	const struct heddle_trace *t = d->trace;
	d->nodes = malloc((t->n_tasks + t->n_expansions + t->n_layouts + 1) * sizeof *d->nodes);
	if (!d->nodes)
		return hd_no_memory("the graph of a trace");
	for (size_t i = 0; i < t->n_tasks; i++)
		add_node(d, (struct hd_dag_node){.id = t->tasks[i].id, .codelet = t->tasks[i].codelet});
	for (size_t i = 0; i < t->n_expansions; i++)
		add_node(d, (struct hd_dag_node){.id = t->expansions[i].id,
		                                 .codelet = t->expansions[i].codelet,
		                                 .expansion = &t->expansions[i]});
	for (size_t i = 0; i < t->n_layouts && d->options.layouts; i++)
		if (t->layouts[i].before)
			add_node(d, (struct hd_dag_node){.id = t->layouts[i].before - 1, .layout = &t->layouts[i]});
	qsort(d->nodes, d->n_nodes, sizeof *d->nodes, by_id);
	return 0;
}

/* The box around task `id`, for its field `inside`: 1 + the id of the hierarchical task around it; 0: none. A task has
 * a larger id than the hierarchical tasks around it. HD_NO_NODE: there is no box. */
static size_t box_of(const struct hd_dag *d, uint64_t inside, uint64_t id)
{
	size_t box = inside && inside - 1 < id ? find(d, inside - 1) : HD_NO_NODE;
	return box != HD_NO_NODE && d->nodes[box].expansion ? box : HD_NO_NODE;
}

static void find_boxes(struct hd_dag *d)
{
	const struct heddle_trace *t = d->trace;
	for (size_t i = 0; i < t->n_tasks; i++)
		d->nodes[find(d, t->tasks[i].id)].box = box_of(d, t->tasks[i].inside, t->tasks[i].id);
	for (size_t i = 0; i < d->n_nodes; i++) {
		struct hd_dag_node *n = &d->nodes[i];
		size_t task = n->layout ? find(d, n->id) : HD_NO_NODE;
		if (n->expansion)
			n->box = box_of(d, n->expansion->inside, n->id);
		else if (task != HD_NO_NODE)
			n->box = d->nodes[task].expansion ? box_of(d, d->nodes[task].expansion->inside, n->id)
			                                  : d->nodes[task].box;
	}
}

/* Decides which nodes are shown, and lists the contents of each box. Boxes stand before their contents. The depth is
 * limited, because put_nodes() calls itself for each level and must not use up the stack. */
static int show(struct hd_dag *d)
{
	unsigned levels = d->options.levels;
	d->first = d->last = HD_NO_NODE;
	for (size_t i = 0; i < d->n_nodes; i++) {
		struct hd_dag_node *n = &d->nodes[i], *box = n->box == HD_NO_NODE ? NULL : &d->nodes[n->box];
		n->depth = box ? box->depth + 1 : 0;
		n->shown = !levels || n->depth < levels ? i : box ? box->shown : i;
		if (n->shown != i)
			continue;
		if (n->depth > MOST_LEVELS)
			return hd_error(HEDDLE_E_INVALID,
			                "the graph is more than %d levels deep: ask for fewer of them (heddle trace "
			                "--dag --levels N)",
			                (int)MOST_LEVELS);
		size_t *first = box ? &box->first : &d->first, *last = box ? &box->last : &d->last;
		*(*first == HD_NO_NODE ? first : &d->nodes[*last].next) = i;
		*last = i;
		d->n_shown++;
	}
	return 0;
}

static unsigned depth_of_all(const struct hd_dag *d)
{
	unsigned depth = 0;
	for (size_t i = 0; i < d->n_nodes; i++)
		depth = d->nodes[i].depth > depth ? d->nodes[i].depth : depth;
	return depth + 1;
}

/* --- Edges -------------------------------------------------------------------------------------------------------- */

static int compare_edges(const void *a, const void *b)
{
	const struct hd_dag_edge *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_edge(struct hd_dag *d, size_t from, size_t to)
{
	if (from == HD_NO_NODE || to == HD_NO_NODE || d->nodes[from].shown == d->nodes[to].shown)
		return;
	int is_layout = d->nodes[from].layout != NULL;
	d->edges[d->n_edges++] = (struct hd_dag_edge){d->nodes[from].shown, d->nodes[to].shown, is_layout};
}

static int make_edges(struct hd_dag *d)
{
	const struct heddle_trace *t = d->trace;
	d->edges = malloc((t->n_edges + d->n_nodes + 1) * sizeof *d->edges);
	if (!d->edges)
		return hd_no_memory("the graph of a trace");
	for (size_t i = 0; i < t->n_edges; i++)
		add_edge(d, find(d, t->edges[i].from), find(d, t->edges[i].to));
	for (size_t i = 0; i < d->n_nodes; i++)
		if (d->nodes[i].layout && d->nodes[i].shown == i)
			add_edge(d, i, find(d, d->nodes[i].id));
	qsort(d->edges, d->n_edges, sizeof *d->edges, compare_edges);
	size_t n = 0;
	for (size_t i = 0; i < d->n_edges; i++)
		if (!n || compare_edges(&d->edges[i], &d->edges[n - 1]) != 0)
			d->edges[n++] = d->edges[i];
	d->n_edges = n;
	return 0;
}

/* --- Labels ------------------------------------------------------------------------------------------------------- */

/* P and U stand for partition and unpartition, as in the report on hierarchical tasks. */
static const char *label_of_layout(const struct hd_dag *d, const struct heddle_trace_layout *l, char *room, size_t size)
{
	const char *name = heddle_name_of(&d->trace->data_names, l->data);
	char number[32];
	snprintf(number, sizeof number, "datum %lu", (unsigned long)l->data);
	int splits = l->step == HEDDLE_LAYOUT_READ || l->step == HEDDLE_LAYOUT_WRITE;
	int reads = l->step == HEDDLE_LAYOUT_READ || l->step == HEDDLE_LAYOUT_GATHER;
	snprintf(room, size, "%s %s%s", splits ? "P" : "U", name ? name : number, reads ? " (read)" : "");
	return room;
}

const char *hd_dag_label(const struct hd_dag *d, size_t i, char *room, size_t size)
{
	const struct hd_dag_node *n = &d->nodes[i];
	if (n->layout)
		return label_of_layout(d, n->layout, room, size);
	const char *name = heddle_name_of(&d->trace->task_names, n->id);
	name = name ? name : d->trace->codelets[n->codelet].name;
	if (!n->expansion || hd_dag_is_open(d, i))
		return name;
	snprintf(room, size, "%s: %llu tasks", name, (unsigned long long)n->expansion->n_tasks);
	return room;
}

/* --- Graphviz ----------------------------------------------------------------------------------------------------- */

static void put_string(struct hd_text *text, const char *s)
{
	hd_text_char(text, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			hd_text_char(text, '\\');
		hd_text_char(text, *s == '\n' ? ' ' : *s);
	}
	hd_text_char(text, '"');
}

static void put_node(struct hd_text *text, const struct hd_dag *d, size_t i)
{
	char room[256];
	const struct hd_dag_node *n = &d->nodes[i];
	hd_text_format(text, "n%zu [label=", i);
	put_string(text, hd_dag_label(d, i, room, sizeof room));
	if (n->layout) {
		hd_text_put(text, ", shape=diamond, type=layout];\n");
		return;
	}
	hd_text_put(text, ", type=");
	put_string(text, d->trace->codelets[n->codelet].name);
	hd_text_format(text, ", fillcolor=\"#%06x\"%s];\n", (unsigned)d->colors[n->codelet],
	               n->expansion ? ", shape=box3d" : "");
}

/* Writes the nodes of the list that begins with `first`, and the contents of the boxes among them. */
static void put_nodes(struct hd_text *text, const struct hd_dag *d, size_t first)
{
	for (size_t i = first; i != HD_NO_NODE; i = d->nodes[i].next) {
		const struct hd_dag_node *n = &d->nodes[i];
		for (unsigned k = 0; k <= n->depth; k++)
			hd_text_char(text, '\t');
		if (!hd_dag_is_open(d, i)) {
			put_node(text, d, i);
			continue;
		}
		char room[256];
		hd_text_format(text, "subgraph cluster_%zu { label=", i);
		put_string(text, hd_dag_label(d, i, room, sizeof room));
		hd_text_format(text, "; color=\"#%06x\";\n", (unsigned)d->colors[n->codelet]);
		put_nodes(text, d, n->first);
		for (unsigned k = 0; k <= n->depth; k++)
			hd_text_char(text, '\t');
		hd_text_put(text, "}\n");
	}
}

static int write_dot(const struct hd_dag *d, const char *path)
{
	struct hd_text text = {0};
	hd_text_put(&text, "digraph run {\n\tnode [style=filled, fillcolor=white];\n");
	if (d->options.title) {
		hd_text_put(&text, "\tlabel=");
		put_string(&text, d->options.title);
		hd_text_put(&text, ";\n");
	}
	put_nodes(&text, d, d->first);
	for (size_t i = 0; i < d->n_edges; i++)
		hd_text_format(&text, "\tn%zu -> n%zu%s;\n", d->edges[i].from, d->edges[i].to,
		               d->edges[i].is_layout ? " [style=dashed]" : "");
	hd_text_put(&text, "}\n");
	return hd_text_write(&text, path);
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int is_dot(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot && (strcasecmp(dot, ".dot") == 0 || strcasecmp(dot, ".gv") == 0);
}

static int check_size(const struct hd_dag *d)
{
	if (d->n_shown <= MOST_DRAWN)
		return 0;
	unsigned depth = depth_of_all(d);
	if (depth == 1 || d->options.levels == 1)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "the graph has %zu tasks, sub-graphs and changes of layouts, more than the %d that a picture can "
		    "show: a file for Graphviz (.dot) can have them",
		    d->n_shown, (int)MOST_DRAWN);
	return hd_error(
	    HEDDLE_E_INVALID,
	    "the graph has %zu tasks, sub-graphs and changes of layouts on %u levels, more than the %d that "
	    "a picture can show: ask for fewer levels (heddle trace --dag --levels 1), or for a file for "
	    "Graphviz (.dot)",
	    d->n_shown, depth, (int)MOST_DRAWN);
}

static int make(struct hd_dag *d)
{
	d->colors = hd_trace_colors(d->trace);
	int status = d->colors ? make_nodes(d) : hd_no_memory("the colours of codelets");
	if (status)
		return status;
	find_boxes(d);
	status = show(d);
	return status ? status : make_edges(d);
}

int hd_trace_dag(const struct heddle_trace *trace, const char *path, const struct heddle_dag_options *options)
{
	static const struct heddle_dag_options usual = {.layouts = 1};
	struct hd_dag d = {.trace = trace, .options = options ? *options : usual};
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_dag: path is NULL");
	int status = hd_trace_check(trace);
	if (!status)
		status = make(&d);
	if (!status && is_dot(path))
		status = write_dot(&d, path);
	else if (!status && !(status = check_size(&d)))
		status = hd_dag_picture(&d, path);
	free(d.nodes);
	free(d.edges);
	free(d.colors);
	return status;
}
