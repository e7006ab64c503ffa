/* The graph of a trace as boxes in boxes: dag.c makes and writes it, dag_picture.c lays it out and draws it. */
#ifndef HD_PLOT_DAG_H
#define HD_PLOT_DAG_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/trace.h>

#define HD_NO_NODE SIZE_MAX

/* A node: a task; an expanded task, which is a box around the tasks of its sub-graph; or a change of a layout. */
struct hd_dag_node {
	uint64_t id; /* id of the task; for a change of a layout: of the task that waited for it */
	uint32_t codelet;
	const struct heddle_trace_expansion *expansion; /* NULL: the task was not expanded */
	const struct heddle_trace_layout *layout;       /* NULL: the node is a task */
	size_t box;                                     /* index of the box around the node; HD_NO_NODE: none */
	unsigned depth;                                 /* number of boxes around the node */
	size_t shown; /* the node itself, or the outermost box around it whose contents are not drawn */
	/* the drawn contents of a box, a list in the order of submission: first and last node; next node in the list of
	 * the box around this node */
	size_t first, last, next;
	/* The layout of the picture, in points. */
	size_t row; /* in its box */
	double x, y, width, height;
};
/* A dependency between nodes that are shown. */
struct hd_dag_edge {
	size_t from, to;
	int is_layout; /* 1: the edge begins at a change of a layout */
};
struct hd_dag {
	const struct heddle_trace *trace; /* borrows */
	struct heddle_dag_options options;
	struct hd_dag_node *nodes; /* owns; by id, changes of layouts before the task that waited for them */
	size_t n_nodes, n_shown;
	size_t first, last;        /* as of a box: the nodes in no box */
	struct hd_dag_edge *edges; /* owns; no two are equal */
	size_t n_edges;
	uint32_t *colors; /* owns; of the codelets */
};

/* Whether the node is a box whose contents are drawn. */
static inline int hd_dag_is_open(const struct hd_dag *d, size_t i)
{
	return d->nodes[i].first != HD_NO_NODE;
}
/* The label of a node; `room` holds the text if it must be made. */
const char *hd_dag_label(const struct hd_dag *d, size_t i, char *room, size_t size);

/* Draws the graph as .png, .svg or .pdf. */
int hd_dag_picture(struct hd_dag *d, const char *path);

#endif
