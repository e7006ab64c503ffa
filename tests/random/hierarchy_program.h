/* Random programs as values, for random_hierarchy.c: data with plans in plans, operations on pieces of them, and
 * operations that are programs themselves.
 *
 * A program can be run on plain arrays, one operation after the other (run_op), and through Heddle. An operation that
 * has a body is what its body does: so it has a kernel, which runs the body on the memory of the operation's own data,
 * and a sub-graph, which submits the body. Whatever is decided, the result is the same. */
#ifndef RANDOM_HIERARCHY_PROGRAM_H
#define RANDOM_HIERARCHY_PROGRAM_H

#include "elements.h"
#include "support.h"

enum {
	MAX_NODES = 400,
	MAX_PLANS = 80,
	MAX_OPS = 220,
	FEW_OPS = 60 /* kept for operations without bodies */,
	MAX_ROOTS = 3,
	MAX_ACCESS = 3,
	MAX_DEPTH = 4,
	N_KINDS = 5
};

/* A datum, or a piece of one. */
struct node {
	size_t i, j, m, n; /* its first element in its root, and its extents */
	unsigned root;     /* the number of the datum that it is a piece of */
	int parent, plan;  /* a node, and which plan of the program it is a child of; -1: it is a root */
	unsigned index;    /* among the children of that plan */
	unsigned depth;    /* plans above it */
	int plans[2];      /* its own plans; n_plans of them */
	unsigned n_plans;
	heddle_data *handle; /* NULL: its plan is not made yet */
};
struct split {
	unsigned node, first, n; /* whose plan; its children are the nodes first ... first + n - 1 */
	struct heddle_filter filter;
	heddle_plan *made; /* NULL: not yet, or ended */
	int late;          /* it is made just before the first operation that needs it */
};

struct access {
	unsigned node;
	int mode;
};
struct op {
	struct access access[MAX_ACCESS];
	unsigned n;
	uint64_t k;     /* what it computes, if it has no body */
	int body, next; /* first operation of its body, the next one in the body that it is in; -1: none */
	unsigned codelet;
	int priority;
	int fails;       /* its kernel, or its sub-graph, is told to */
	struct outcome { /* what has become of it: written by its tasks, read when all have ended */
		int called, expanded;
		int told, n_told; /* the status that its end had, and how many ends */
	} outcome;
};

struct program {
	struct hd_rng rng;
	struct node nodes[MAX_NODES];
	struct split plans[MAX_PLANS];
	struct op ops[MAX_OPS];
	unsigned n_nodes, n_plans, n_ops, n_roots;
	int first;                     /* operation of the program itself; -1: none */
	unsigned n_init;               /* how many of these write the temporaries, before the others */
	struct mem want[MAX_ROOTS];    /* the roots in a sequential run */
	struct mem own[MAX_ROOTS];     /* the program's buffers; base is NULL for temporaries */
	struct mem is_void[MAX_ROOTS]; /* which elements have no value in a sequential run, for programs that fail */
	int touched[MAX_ROOTS];        /* something in the datum had no value */
	int failing;
	int judged, submitted; /* operation of the program up to which that is done; -1: all */
	int broken;            /* kernels and sub-graphs that saw something wrong; atomic */
};

static int without_plans; /* the option --no-plans: tasks use whole data alone */

/* --- Data and their plans ----------------------------------------------------------------------------------------- */

static inline size_t pieces(size_t extent, size_t n, size_t i, size_t *first)
{
	size_t base = extent / n, longer = extent % n;
	*first = i * base + (i < longer ? i : longer);
	return base + (i < longer);
}

/* Cuts a node into nx rows and ny columns of pieces. */
static inline void make_split(struct program *p, unsigned at, size_t nx, size_t ny)
{
	struct node *node = &p->nodes[at];
	struct split *plan = &p->plans[p->n_plans];
	if (p->n_plans == MAX_PLANS || p->n_nodes + nx * ny > MAX_NODES)
		return;
	*plan = (struct split){.node = at, .first = p->n_nodes, .n = (unsigned)(nx * ny), .late = chance(&p->rng, 0.3)};
	plan->filter = (struct heddle_filter){
	    .kind = ny == 1   ? HEDDLE_SPLIT_ROWS
	            : nx == 1 ? HEDDLE_SPLIT_COLUMNS
	                      : HEDDLE_SPLIT_TILES,
	    .nx = nx,
	    .ny = ny,
	};
	node->plans[node->n_plans++] = (int)p->n_plans;
	for (unsigned c = 0; c < plan->n; c++) {
		struct node *child = &p->nodes[p->n_nodes++];
		size_t i, j;
		*child = (struct node){.root = node->root,
		                       .parent = (int)at,
		                       .plan = (int)p->n_plans,
		                       .index = c,
		                       .depth = node->depth + 1};
		child->m = pieces(node->m, nx, c % nx, &i);
		child->n = pieces(node->n, ny, c / nx, &j);
		child->i = node->i + i;
		child->j = node->j + j;
	}
	p->n_plans++;
}

/* Plans of a node and of its children. */
static inline void make_plans(struct program *p, unsigned at)
{
	unsigned depth = p->nodes[at].depth,
	         wanted = below(&p->rng, depth ? 2 : 3) + (depth == 0 && chance(&p->rng, 0.6));
	for (unsigned k = 0; k < wanted && k < 2 && depth < 3 && !without_plans; k++) {
		size_t m = p->nodes[at].m, n = p->nodes[at].n;
		size_t nx = 1 + below(&p->rng, (uint32_t)(m < 4 ? m : 4)),
		       ny = 1 + below(&p->rng, (uint32_t)(n < 4 ? n : 4));
		unsigned first = p->n_nodes;
		if (chance(&p->rng, 0.6)) /* stripes, in one direction or the other */
			*(chance(&p->rng, 0.5) ? &nx : &ny) = 1;
		make_split(p, at, nx, ny);
		unsigned last = p->n_nodes;
		for (unsigned c = first; c < last; c++)
			if (chance(&p->rng, 0.5))
				make_plans(p, c);
	}
}

static inline int make_root(struct program *p)
{
	unsigned r = p->n_roots++;
	struct node *node = &p->nodes[p->n_nodes++];
	size_t m = 1 + below(&p->rng, 12), n = 1 + below(&p->rng, 9), ld = m + below(&p->rng, 3);
	*node = (struct node){.m = m, .n = n, .root = r, .parent = -1, .plan = -1};
	int temporary = chance(&p->rng, 0.2);
	p->want[r] = (struct mem){calloc(m * n, sizeof(uint64_t)), m, n, m};
	p->own[r] = (struct mem){temporary ? NULL : calloc(ld * n, sizeof(uint64_t)), m, n, ld};
	if (!p->want[r].base || (!temporary && !p->own[r].base))
		return -1;
	for (size_t e = 0; !temporary && e < m * n; e++)
		*element(&p->own[r], e) = *element(&p->want[r], e) = hd_rng_next(&p->rng);
	make_plans(p, p->n_nodes - 1);
	return 0;
}

/* The part of `mem`, which is node `whole`, that is node `part`. */
static inline struct mem window_of(const struct program *p, const struct mem *mem, unsigned whole, unsigned part)
{
	const struct node *w = &p->nodes[whole], *n = &p->nodes[part];
	return (struct mem){mem->base + (n->i - w->i) + (n->j - w->j) * mem->ld, n->m, n->n, mem->ld};
}

static inline int is_in(const struct program *p, unsigned part, unsigned whole)
{
	for (int at = (int)part; at >= 0; at = p->nodes[at].parent)
		if (at == (int)whole)
			return 1;
	return 0;
}

/* Whether one task may name both, one of them to write: they are no part of each other, and the layouts in which they
 * can be used do not exclude each other. */
static inline int are_apart(const struct program *p, unsigned a, unsigned b)
{
	if (p->nodes[a].root != p->nodes[b].root)
		return 1;
	while (p->nodes[a].depth > p->nodes[b].depth)
		a = (unsigned)p->nodes[a].parent;
	while (p->nodes[b].depth > p->nodes[a].depth)
		b = (unsigned)p->nodes[b].parent;
	if (a == b)
		return 0;
	while (p->nodes[a].parent != p->nodes[b].parent) {
		a = (unsigned)p->nodes[a].parent;
		b = (unsigned)p->nodes[b].parent;
	}
	return p->nodes[a].plan == p->nodes[b].plan;
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

/* What the operations of a body may use: the data of the operation that has the body. */
struct scope {
	struct access access[MAX_ROOTS > MAX_ACCESS ? MAX_ROOTS : MAX_ACCESS];
	unsigned n, depth;
};

/* The node itself, or a piece of it. */
static inline unsigned draw_piece(struct program *p, unsigned at)
{
	while (p->nodes[at].n_plans && chance(&p->rng, 0.65)) {
		const struct split *plan = &p->plans[p->nodes[at].plans[below(&p->rng, p->nodes[at].n_plans)]];
		at = plan->first + below(&p->rng, plan->n);
	}
	return at;
}

static inline void draw_access(struct program *p, const struct scope *scope, struct op *op)
{
	static const int modes[] = {HEDDLE_R, HEDDLE_R, HEDDLE_RW, HEDDLE_RW, HEDDLE_W, HEDDLE_COMMUTE};
	const struct access *from = &scope->access[below(&p->rng, scope->n)];
	struct access a = {draw_piece(p, from->node), HEDDLE_R};
	if (from->mode != HEDDLE_R)
		a.mode = modes[below(&p->rng, 6)];
	for (unsigned i = 0; i < op->n; i++)
		if (op->access[i].node == a.node || ((a.mode != HEDDLE_R || op->access[i].mode != HEDDLE_R) &&
		                                     !are_apart(p, op->access[i].node, a.node)))
			return;
	op->access[op->n++] = a;
}

static inline int new_op(struct program *p)
{
	if (p->n_ops == MAX_OPS)
		return -1;
	p->ops[p->n_ops] = (struct op){.body = -1, .next = -1, .k = hd_rng_next(&p->rng)};
	return (int)p->n_ops++;
}

static inline int make_body(struct program *p, const struct scope *scope, unsigned n, int **end);

/* Gives an operation a body, perhaps. */
static inline void make_inside(struct program *p, struct op *op, unsigned depth)
{
	struct scope inner = {.n = op->n, .depth = depth + 1};
	op->codelet = below(&p->rng, N_KINDS);
	op->priority = (int)below(&p->rng, 7) - 3;
	int writes = 0;
	for (unsigned i = 0; i < op->n; i++)
		writes |= op->access[i].mode != HEDDLE_R;
	if (depth >= MAX_DEPTH || p->n_ops > MAX_OPS - FEW_OPS || !chance(&p->rng, !writes ? 0.15 : depth ? 0.45 : 0.6))
		return;
	for (unsigned i = 0; i < op->n; i++) {
		inner.access[i] = op->access[i];
		if (op->access[i].mode == HEDDLE_COMMUTE) /* its body need not commute */
			inner.access[i].mode = op->access[i].mode = HEDDLE_RW;
	}
	int *end = &op->body, **last = &end;
	if (make_body(p, &inner, 1 + below(&p->rng, 5), last) < 0)
		op->body = -1;
}

/* Writes a datum that has no value: as a whole, or all pieces of a plan. */
static inline int make_writers(struct program *p, unsigned node, unsigned depth, int **end)
{
	unsigned first = node, n = 1;
	if (p->nodes[node].n_plans && chance(&p->rng, 0.6)) {
		const struct split *plan = &p->plans[p->nodes[node].plans[below(&p->rng, p->nodes[node].n_plans)]];
		first = plan->first;
		n = plan->n;
	}
	for (unsigned i = 0; i < n; i++) {
		int op = new_op(p);
		if (op < 0)
			return -1;
		p->n_init += depth == 0;
		**end = op;
		*end = &p->ops[op].next;
		p->ops[op].access[p->ops[op].n++] = (struct access){first + i, HEDDLE_W};
		make_inside(p, &p->ops[op], depth);
	}
	return 0;
}

/* The operations of a body, or of the program: *end is where the next one is linked. -1: there is no room for them. */
static inline int make_body(struct program *p, const struct scope *scope, unsigned n, int **end)
{
	for (unsigned i = 0; i < scope->n; i++)
		if (scope->access[i].mode == HEDDLE_W && make_writers(p, scope->access[i].node, scope->depth, end))
			return -1;
	for (unsigned i = 0; i < n; i++) {
		int op = new_op(p);
		if (op < 0)
			return 0;
		unsigned wanted = 1 + below(&p->rng, MAX_ACCESS);
		for (unsigned a = 0; a < wanted; a++)
			draw_access(p, scope, &p->ops[op]);
		make_inside(p, &p->ops[op], scope->depth);
		**end = op;
		*end = &p->ops[op].next;
	}
	return 0;
}

/* -1: without memory. */
static inline int make_program(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	hd_rng_seed(&p->rng, seed);
	p->first = -1;
	struct scope all = {.n = 1 + below(&p->rng, MAX_ROOTS)};
	for (unsigned r = 0; r < all.n; r++) {
		all.access[r] = (struct access){p->n_nodes, HEDDLE_RW};
		if (make_root(p))
			return -1;
		if (!p->own[r].base)
			all.access[r].mode = HEDDLE_W;
	}
	int *end = &p->first, **last = &end;
	if (make_body(p, &all, 3 + below(&p->rng, 20), last))
		p->first = -1;
	return 0;
}

static inline void free_program(struct program *p)
{
	for (unsigned r = 0; r < p->n_roots; r++) {
		free(p->want[r].base);
		free(p->is_void[r].base);
		free(p->own[r].base);
	}
}

/* Runs one operation on memory: mem[i] is its datum i. */
static inline void run_op(const struct program *p, const struct op *op, const struct mem *mem)
{
	int modes[MAX_ACCESS] = {0};
	uint64_t sum;
	for (unsigned i = 0; i < op->n; i++)
		modes[i] = op->access[i].mode;
	if (op->body < 0)
		compute(op->k, op->n, modes, mem, &sum);
	for (int at = op->body; at >= 0; at = p->ops[at].next) {
		const struct op *inner = &p->ops[at];
		struct mem part[MAX_ACCESS];
		for (unsigned i = 0; i < inner->n; i++)
			for (unsigned k = 0; k < op->n; k++)
				if (is_in(p, inner->access[i].node, op->access[k].node))
					part[i] = window_of(p, &mem[k], op->access[k].node, inner->access[i].node);
		run_op(p, inner, part);
	}
}

/* The name of a node: the number of its root and, for each plan on the way to it, which plan and which child. */
static inline int name_node(const struct program *p, unsigned at, char *name, int size)
{
	const struct node *n = &p->nodes[at];
	if (n->parent < 0)
		return snprintf(name, (size_t)size, "%u", n->root);
	int length = name_node(p, (unsigned)n->parent, name, size);
	return length + snprintf(name + length, (size_t)(size - length), "%c%u",
	                         p->nodes[n->parent].plans[0] == n->plan ? 'a' : 'b', n->index);
}

/* Prints operations, from `at` on: RW 0a1 R 1 is one that reads and writes child 1 of the first plan of datum 0, and
 * reads datum 1. */
static inline void print_ops(const struct program *p, int at, int depth)
{
	static const char *const modes[] = {
	    [HEDDLE_R] = "R", [HEDDLE_W] = "W", [HEDDLE_RW] = "RW", [HEDDLE_COMMUTE] = "C"};
	for (; at >= 0; at = p->ops[at].next) {
		const struct op *op = &p->ops[at];
		printf("%*s%d:", 2 * depth, "", at);
		for (unsigned i = 0; i < op->n; i++) {
			char name[40];
			name_node(p, op->access[i].node, name, sizeof name);
			printf(" %s %s", modes[op->access[i].mode], name);
		}
		if (op->body >= 0)
			printf(" (codelet %u)", op->codelet);
		if (op->fails)
			printf(" fails");
		printf("\n");
		print_ops(p, op->body, depth + 1);
	}
}

/* Runs an operation of the program in the sequential run: on the values in p->want. */
static inline void run_reference(struct program *p, const struct op *op)
{
	struct mem mem[MAX_ACCESS] = {{0}};
	for (unsigned i = 0; i < op->n; i++) {
		unsigned root = op->access[i].node;
		while (p->nodes[root].parent >= 0)
			root = (unsigned)p->nodes[root].parent;
		mem[i] = window_of(p, &p->want[p->nodes[root].root], root, op->access[i].node);
	}
	run_op(p, op, mem);
}

#endif
