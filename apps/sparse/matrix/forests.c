/* TFn: rows are the forests of two trees on n vertices together, columns the trees on n vertices, both without labels.
 * The element is the number of edges of the tree of which each leaves the forest when it is deleted. (N. Thiery's
 * matrices in the collection of J.-G. Dumas; that the elements count edges is a guess.) Up to n = 17 these have an
 * empty column more, the last.
 *
 * A tree is a number: the walk around it from its centroid, 1 for a step away from it and 0 for one back; branches
 * begin with the largest number. With two centroids the larger number counts. */
#include "families.h"
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum { MOST = 18 };

struct tree {
	unsigned n;
	unsigned n_neighbours[MOST];
	unsigned neighbours[MOST][MOST];
};

/* Trees of one size, as ascending numbers. */
struct trees {
	size_t n, size;
	uint64_t *codes; /* owns */
};

static void connect(struct tree *t, unsigned a, unsigned b)
{
	t->neighbours[a][t->n_neighbours[a]++] = b;
	t->neighbours[b][t->n_neighbours[b]++] = a;
}

/* The tree of a number of n steps away from the root. */
static struct tree decode(uint64_t code, unsigned n_edges)
{
	struct tree t = {.n = 1};
	unsigned path[MOST], depth = 0;
	path[0] = 0;
	for (unsigned step = 2 * n_edges; step-- > 0;) {
		if (code >> step & 1) {
			connect(&t, path[depth], t.n);
			path[++depth] = t.n++;
		} else {
			depth--;
		}
	}
	return t;
}

struct branch {
	uint64_t code;
	unsigned n; /* vertices */
};

/* The branch at `vertex`, seen from `from`; `from` = vertex: the whole tree with this root. */
static struct branch branch_at(const struct tree *t, unsigned vertex, unsigned from)
{
	struct branch branches[MOST], whole = {0, 1};
	unsigned n = 0;
	for (unsigned i = 0; i < t->n_neighbours[vertex]; i++) {
		unsigned next = t->neighbours[vertex][i], at = n;
		if (next == from)
			continue;
		struct branch b = branch_at(t, next, vertex);
		b.code = (b.code | (uint64_t)1 << (2 * b.n - 1)) & ~(uint64_t)1;
		for (; at > 0 && branches[at - 1].code < b.code; at--)
			branches[at] = branches[at - 1];
		branches[at] = b;
		n++;
	}
	for (unsigned i = 0; i < n; i++) {
		whole.code = whole.code << (2 * branches[i].n) | branches[i].code;
		whole.n += branches[i].n;
	}
	whole.code <<= from == vertex ? 0 : 1; /* room for the step back */
	return whole;
}

/* Vertices at and behind `vertex`, seen from `from`. Notes whether each vertex is a centroid of the tree of n vertices:
 * no branch at it has more than half of them. */
static unsigned find_centroids(const struct tree *t, unsigned vertex, unsigned from, unsigned n, int *is_centroid)
{
	unsigned size = 1, largest = 0;
	for (unsigned i = 0; i < t->n_neighbours[vertex]; i++)
		if (t->neighbours[vertex][i] != from) {
			unsigned behind = find_centroids(t, t->neighbours[vertex][i], vertex, n, is_centroid);
			largest = behind > largest ? behind : largest;
			size += behind;
		}
	largest = n - size > largest ? n - size : largest;
	is_centroid[vertex] = 2 * largest <= n;
	return size;
}

static unsigned count_from(const struct tree *t, unsigned vertex, unsigned from)
{
	int ignored[MOST];
	return find_centroids(t, vertex, from, t->n, ignored);
}

/* The number of the tree that has `vertex`. */
static uint64_t encode(const struct tree *t, unsigned vertex, unsigned *n)
{
	int is_centroid[MOST] = {0};
	uint64_t code = 0;
	*n = count_from(t, vertex, vertex);
	find_centroids(t, vertex, vertex, *n, is_centroid);
	for (unsigned v = 0; v < t->n; v++)
		if (is_centroid[v]) {
			uint64_t other = branch_at(t, v, v).code;
			code = other > code ? other : code;
		}
	return code;
}

static int append(struct trees *trees, uint64_t code)
{
	if (HD_GROW(trees->codes, trees->n, trees->size, 64) < 0)
		return hd_sparse_no_memory("the trees of a matrix");
	trees->codes[trees->n++] = code;
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void sort_out(struct trees *trees)
{
	size_t n = 0;
	qsort(trees->codes, trees->n, sizeof *trees->codes, compare);
	for (size_t i = 0; i < trees->n; i++)
		if (n == 0 || trees->codes[n - 1] != trees->codes[i])
			trees->codes[n++] = trees->codes[i];
	trees->n = n;
}

/* Trees on one vertex more: each tree with a leaf at each vertex. */
static int grow(const struct trees *from, unsigned n_vertices, struct trees *to)
{
	for (size_t i = 0; i < from->n; i++)
		for (unsigned v = 0; v < n_vertices; v++) {
			unsigned n;
			struct tree t = decode(from->codes[i], n_vertices - 1);
			connect(&t, v, t.n++);
			if (append(to, encode(&t, 0, &n)))
				return HEDDLE_E_MEMORY;
		}
	sort_out(to);
	return 0;
}

static void disconnect(struct tree *t, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < t->n_neighbours[a]; i++)
		if (t->neighbours[a][i] == b)
			t->neighbours[a][i] = t->neighbours[a][--t->n_neighbours[a]];
}

/* The number of the forest of two trees, given by their numbers and sizes: forests are sorted by the smaller size, and
 * then by the numbers of both. */
static size_t forest(const struct trees *trees, const uint64_t *code, const unsigned *n)
{
	unsigned smaller = n[0] > n[1] || (n[0] == n[1] && code[0] > code[1]);
	const struct trees *all[2] = {&trees[n[smaller]], &trees[n[!smaller]]};
	uint64_t codes[2] = {code[smaller], code[!smaller]};
	size_t first =
	    (size_t)((uint64_t *)bsearch(&codes[0], all[0]->codes, all[0]->n, sizeof *codes, compare) - all[0]->codes);
	size_t second =
	    (size_t)((uint64_t *)bsearch(&codes[1], all[1]->codes, all[1]->n, sizeof *codes, compare) - all[1]->codes);
	size_t before = 0;
	for (unsigned k = 1; k < n[smaller]; k++)
		before += trees[k].n * trees[n[0] + n[1] - k].n;
	return before + first * all[1]->n + second - (all[0] == all[1] ? first * (first + 1) / 2 : 0);
}

/* The column of a tree. Each edge is deleted in turn; the step from vertex v > 0 to its parent is its first
 * neighbour. */
static int add_tree(const struct trees *trees, unsigned n_vertices, size_t column, struct hd_sparse_triplets *triplets)
{
	static const double one = 1;
	const struct tree whole = decode(trees[n_vertices].codes[column], n_vertices - 1);
	for (unsigned v = 1; v < n_vertices; v++) {
		struct tree t = whole;
		unsigned parent = t.neighbours[v][0], n[2];
		disconnect(&t, v, parent);
		disconnect(&t, parent, v);
		uint64_t code[2] = {encode(&t, v, &n[0]), encode(&t, parent, &n[1])};
		if (hd_sparse_triplets_add(triplets, forest(trees, code, n), column, &one))
			return HEDDLE_E_MEMORY;
	}
	return 0;
}

static size_t count_forests(const struct trees *trees, unsigned n_vertices)
{
	size_t n = 0;
	for (unsigned k = 1; 2 * k < n_vertices; k++)
		n += trees[k].n * trees[n_vertices - k].n;
	return n_vertices % 2 ? n : n + trees[n_vertices / 2].n * (trees[n_vertices / 2].n + 1) / 2;
}

int hd_sparse_forests(const uint64_t *numbers, struct hd_sparse_made *out)
{
	struct trees trees[MOST + 1];
	memset(trees, 0, sizeof trees);
	unsigned n = (unsigned)numbers[0];
	int status = append(&trees[1], 0);
	for (unsigned k = 1; !status && k < n; k++)
		status = grow(&trees[k], k, &trees[k + 1]);
	for (size_t j = 0; !status && j < trees[n].n; j++)
		status = add_tree(trees, n, j, &out->triplets);
	out->rows = count_forests(trees, n);
	out->columns = trees[n].n + (n <= 17);
	for (unsigned k = 1; k <= MOST; k++)
		free(trees[k].codes);
	return status;
}
