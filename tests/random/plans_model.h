/* The programs of random_plans.c, and a model of which of their handles have a value when kernels fail. */
#ifndef RANDOM_PLANS_MODEL_H
#define RANDOM_PLANS_MODEL_H

#include "../chance.h"
#include "elements.h"

enum {
	MAX_NODES = 160,
	MAX_TREES = 3,
	MAX_ACCESS = 3,
	MAX_TASKS = 40,
	MAX_EXTENT = 12,
	LARGEST = MAX_EXTENT * MAX_EXTENT * sizeof(uint64_t)
};

/* A handle: a matrix, or a window of one. */
struct node {
	heddle_data *handle;
	struct mem expected; /* in the matrix of a sequential run */
	heddle_plan *plan;   /* the one that it belongs to; NULL: the matrix itself */
	int parent, depth;
	int read_only; /* it shares elements with another child of its plan, or its parent does */
	int ended;     /* its plan is freed, and another one may lie there */
	/* What a sequential run would know of it, for programs in which kernels fail. */
	heddle_plan *scattered; /* the children of this plan have the value */
	int is_void, tried;     /* it has no value; it could not be gathered */
	int has_gaps;           /* of a child: some elements of its parent are in several children, or in none */
	int lacks;              /* it is scattered over a plan with gaps, and what lies there has no value */
};

struct work {
	struct program *program;
	uint64_t k;
	unsigned n, task;
	int modes[MAX_ACCESS];
	int fails;
};

struct program {
	heddle_runtime *rt;
	heddle_codelet **codelets;
	heddle_codelet **reduction; /* init, combine */
	struct hd_rng rng;
	unsigned n_codelets, n_nodes, n_trees, n_tasks;
	uint64_t room; /* bytes that every memory can hold */
	struct node nodes[MAX_NODES];
	uint64_t *buffers[MAX_TREES], *expected[MAX_TREES];
	size_t lines[MAX_TREES];
	int failing, is_virtual;
	int wanted[MAX_TASKS]; /* how each task is to end */
	_Atomic int ended[MAX_TASKS], broken;
	char problem[300];
};

/* --- The model ---------------------------------------------------------------------------------------------------- */

static inline int has_value(struct program *p, int x);

/* Whether some child of the plan has no value that can be gathered. */
static inline int lacks_value(struct program *p, const heddle_plan *plan)
{
	int lacks = 0;
	for (unsigned i = 0; i < p->n_nodes; i++)
		if (p->nodes[i].plan == plan && !p->nodes[i].ended)
			lacks |= !has_value(p, (int)i);
	return lacks;
}

/* Whether the node has a value as a whole; if it must be gathered, it is. */
static inline int has_value(struct program *p, int x)
{
	struct node *n = &p->nodes[x];
	if (!n->scattered)
		return !n->is_void;
	if (!n->tried && !n->lacks && !lacks_value(p, n->scattered))
		n->scattered = NULL;
	n->tried = n->scattered != NULL;
	return !n->tried;
}

/* The node's own copies become the value. */
static inline void join(struct program *p, int x)
{
	struct node *n = &p->nodes[x];
	n->is_void = !has_value(p, x);
	n->scattered = NULL;
	n->tried = n->lacks = 0;
}

/* The children of the plan become the value. */
static inline void scatter(struct program *p, int x, heddle_plan *plan)
{
	struct node *n = &p->nodes[x];
	if (n->scattered != plan) {
		join(p, x);
		n->lacks = 0;
		for (unsigned i = 0; i < p->n_nodes; i++)
			if (p->nodes[i].plan == plan && !p->nodes[i].ended) {
				p->nodes[i].is_void = n->is_void;
				p->nodes[i].scattered = NULL;
				p->nodes[i].tried = p->nodes[i].lacks = 0;
				n->lacks |= n->is_void && p->nodes[i].has_gaps;
			}
	}
	n->scattered = plan;
	n->is_void = n->tried = 0;
}

/* All above the node is scattered over the plans that lead there, for the end of a plan of the node. But where the
 * pieces of another plan are the value, they stay, and nothing below is done. Returns whether all is scattered. */
static inline int scatter_above(struct program *p, int x)
{
	const struct node *n = &p->nodes[x];
	if (n->parent < 0)
		return 1;
	if (!scatter_above(p, n->parent))
		return 0;
	const heddle_plan *value = p->nodes[n->parent].scattered;
	if (value && value != n->plan)
		return 0;
	scatter(p, n->parent, n->plan);
	return 1;
}

/* Whether a task that uses the node as `mode` says finds the value that it needs. */
static inline int comes_to(struct program *p, int x, int mode)
{
	int path[8], depth = p->nodes[x].depth;
	for (int i = depth, y = x; i >= 0; i--, y = p->nodes[y].parent)
		path[i] = y;
	for (int i = 0; i < depth; i++) {
		heddle_plan *plan = p->nodes[path[i + 1]].plan;
		if (mode == HEDDLE_R && p->nodes[path[i]].scattered != plan)
			return has_value(p, path[i]);
		if (mode != HEDDLE_R)
			scatter(p, path[i], plan);
	}
	if (mode == HEDDLE_R)
		return has_value(p, x);
	join(p, x);
	return mode == HEDDLE_W || !p->nodes[x].is_void;
}

/* The node is scattered over the plan, for the program, which is to change a child. Returns 0 if other pieces are its
 * value and cannot be gathered: these stay. */
static inline int opens(struct program *p, int x, heddle_plan *plan)
{
	const struct node *n = &p->nodes[x];
	if (n->parent >= 0 && !opens(p, n->parent, n->plan))
		return 0;
	if (n->scattered && n->scattered != plan && !has_value(p, x))
		return 0;
	scatter(p, x, plan);
	return 1;
}

/* Whether the program, which is to change the node, finds its value. If it does not, no pieces are dropped. */
static inline int lends(struct program *p, int x)
{
	const struct node *n = &p->nodes[x];
	return (n->parent < 0 || opens(p, n->parent, n->plan)) && has_value(p, x);
}

static inline int overlap(const struct program *p, int x, int y)
{
	while (p->nodes[x].depth > p->nodes[y].depth)
		x = p->nodes[x].parent;
	while (p->nodes[y].depth > p->nodes[x].depth)
		y = p->nodes[y].parent;
	const heddle_plan *px = NULL, *py = NULL;
	while (x != y) {
		px = p->nodes[x].plan;
		py = p->nodes[y].plan;
		x = p->nodes[x].parent;
		y = p->nodes[y].parent;
		if (x < 0 || y < 0)
			return 0;
	}
	return px != py || !px;
}

#endif
