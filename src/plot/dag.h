/* The graph of a trace as boxes in boxes: dag.c makes it and writes it, dag_picture.c lays it out and draws it. */
#ifndef HD_PLOT_DAG_H
#define HD_PLOT_DAG_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/trace.h>

#define HD_NO_NODE SIZE_MAX

/* A node: a task; or an expanded task, which is a box around the tasks of its sub-graph; or a change of a layout. */
struct hd_dag_node {
	uint64_t id; /* id of the task; of a change of a layout: id of the task that waited for it */
	uint32_t codelet;
	const struct heddle_trace_expansion *expansion; /* NULL: the task was not expanded */
	const struct heddle_trace_layout *layout;       /* NULL: the node is a task */
	size_t box;                                     /* index of the box around the node; HD_NO_NODE: none */
	unsigned depth;                                 /* number of boxes around the node */
	/* the node that is drawn for it: itself, or the outermost box around it whose contents are not drawn */
	size_t shown;
	/* first, last: of a box whose contents are drawn: the first and the last node in it, in the order of
	 * submission; next: the node after this one in its box */
	size_t first, last, next;
	/* the layout of the picture; lengths are in points */
	size_t row; /* index of the row in its box */
	double x, y, width, height;
};
/* A dependency between two nodes that are shown. */
struct hd_dag_edge {
	size_t from, to;
	int is_layout; /* 1: the edge begins at a change of a layout */
};
struct hd_dag {
	const struct heddle_trace *trace; /* borrowed */
	struct heddle_dag_options options;
	struct hd_dag_node *nodes; /* owned; by id; changes of layouts stand before the task that waited for them */
	size_t n_nodes, n_shown;
	size_t first, last;        /* the nodes that are in no box, as a list like the list of a box */
	struct hd_dag_edge *edges; /* owned; no two are equal */
	size_t n_edges;
	uint32_t *colors; /* owned; per codelet */
};

/* Whether the node is a box whose contents are drawn. */
static inline int hd_dag_is_open(const struct hd_dag *d, size_t i)
{
	return d->nodes[i].first != HD_NO_NODE;
}
/* The label of a node; `room`, of `size` bytes, holds it if it is no name from the trace. */
const char *hd_dag_label(const struct hd_dag *d, size_t i, char *room, size_t size);

/* Draws the graph. The extension of the path is the format: .png, .svg or .pdf. */
int hd_dag_picture(struct hd_dag *d, const char *path);

#endif
