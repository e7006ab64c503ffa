/* Finds the best window: numbers a and b for which a + (time of the work of S) + b is largest, where S are the tasks
 * that cannot start before a and after whose end at least b must pass. S must run between a and the makespan less b.
 *
 * For given prices all windows are looked at: a sinks from the largest start to the least, so that tasks join S one
 * after the other; a task adds its work to all b up to its rest; a tree of maxima over b has b + work at its leaves. */
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "bounds/near.h"

/* Leaf i is the i-th least rest. The value of a leaf is its node's `most`; that of another node is the most of its
 * children, and `added` has been added to all leaves below a node. */
struct tree {
	double *most, *added; /* own; node 1 is the root, and the children of node i are 2 i and 2 i + 1 */
	size_t n_leaves;      /* a power of 2 */
};

static void update(struct tree *t, size_t node)
{
	for (node /= 2; node >= 1; node /= 2)
		t->most[node] = fmax(t->most[2 * node], t->most[2 * node + 1]) + t->added[node];
}

/* Adds to the leaves 0 to `last`. */
static void add_to(struct tree *t, size_t last, double value)
{
	size_t node = t->n_leaves + last;
	t->most[node] += value;
	for (; node > 1; node /= 2)
		if (node & 1) {
			t->most[node - 1] += value;
			t->added[node - 1] += value;
		}
	update(t, t->n_leaves + last);
}

/* Sets a leaf that was -INFINITY; what was added to nodes above it stays. */
static void set_leaf(struct tree *t, size_t leaf, double value)
{
	size_t node = t->n_leaves + leaf;
	t->most[node] = value;
	for (size_t up = node / 2; up >= 1; up /= 2)
		t->most[node] -= t->added[up];
	update(t, node);
}

/* The leaf with the largest value. */
static size_t best_leaf(const struct tree *t)
{
	size_t node = 1;
	while (node < t->n_leaves)
		node = t->most[2 * node] >= t->most[2 * node + 1] ? 2 * node : 2 * node + 1;
	return node - t->n_leaves;
}

struct key {
	double value;
	uint32_t task;
};

static int by_value(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
	                            : (x->task > y->task) - (x->task < y->task);
}

struct sweep {
	const struct hd_prices *prices;
	const double *start, *rest;
	size_t n;
	struct key *starts, *rests; /* own; ascending */
	uint32_t *rank;             /* owns; per task: its place in rests */
	struct tree tree;
};

static void clear(struct tree *t)
{
	for (size_t i = 0; i < 2 * t->n_leaves; i++) {
		t->most[i] = -INFINITY;
		t->added[i] = 0;
	}
}

/* Looks at all windows by prices k. A leaf counts only if some task of S has its rest, or a longer one. */
static void sweep_by(struct sweep *s, size_t k, struct hd_bound_window *best)
{
	size_t n_set = 0;
	clear(&s->tree);
	for (size_t i = s->n; i-- > 0;) {
		size_t task = s->starts[i].task, rank = s->rank[task];
		for (; n_set <= rank; n_set++)
			set_leaf(&s->tree, n_set, s->rests[n_set].value);
		add_to(&s->tree, rank, s->prices->work[task * HD_PRICES + k]);
		double bound = s->starts[i].value + s->tree.most[1];
		if (bound > best->bound)
			*best =
			    (struct hd_bound_window){bound, s->starts[i].value, s->rests[best_leaf(&s->tree)].value};
	}
}

static int prepare(struct sweep *s)
{
	size_t n = s->n;
	for (s->tree.n_leaves = 1; s->tree.n_leaves < n;)
		s->tree.n_leaves *= 2;
	s->starts = malloc((n + 1) * sizeof *s->starts);
	s->rests = malloc((n + 1) * sizeof *s->rests);
	s->rank = malloc((n + 1) * sizeof *s->rank);
	s->tree.most = malloc(2 * s->tree.n_leaves * sizeof *s->tree.most);
	s->tree.added = malloc(2 * s->tree.n_leaves * sizeof *s->tree.added);
	if (!s->starts || !s->rests || !s->rank || !s->tree.most || !s->tree.added)
		return hd_no_memory("bounds");
	for (size_t i = 0; i < n; i++) {
		s->starts[i] = (struct key){s->start[i], (uint32_t)i};
		s->rests[i] = (struct key){s->rest[i], (uint32_t)i};
	}
	qsort(s->starts, n, sizeof *s->starts, by_value);
	qsort(s->rests, n, sizeof *s->rests, by_value);
	for (size_t i = 0; i < n; i++)
		s->rank[s->rests[i].task] = (uint32_t)i;
	return 0;
}

int hd_window_find(const struct hd_prices *prices, const double *start, const double *rest, struct hd_bound_window *out)
{
	struct sweep s = {.prices = prices, .start = start, .rest = rest, .n = prices->graph->n_tasks};
	int status = prepare(&s);
	*out = (struct hd_bound_window){.bound = 0};
	for (size_t k = 0; k < prices->n && !status; k++)
		sweep_by(&s, k, out);
	free(s.starts);
	free(s.rests);
	free(s.rank);
	free(s.tree.most);
	free(s.tree.added);
	return status;
}
