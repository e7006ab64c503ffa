/* mkN-bK: the boundary matrix of the complex of matchings of the complete graph of N vertices, from matchings of K + 1
 * edges (rows) to matchings of K (columns). The element where edge i of the row is left out is (-1)^i. (Dumas,
 * Heckenbach, Saunders, Welker: Computing simplicial homology based on efficient Smith normal form algorithms,
 * 2003.) */
#include "families.h"
#include <stdlib.h>

/* A matching is a number: its edges, ascending, 7 bits each, the first edge in the highest bits. */
enum { EDGE_BITS = 7, MOST_VERTICES = 15 };

struct matchings {
	uint64_t n_vertices, n_edges;
	size_t n;
	uint64_t *codes; /* owns; ascending */
};

/* How many matchings of so many edges there are: n! / (2^k k! (n - 2k)!). */
static size_t count(uint64_t n_vertices, uint64_t n_edges)
{
	size_t n = 1;
	for (uint64_t e = 0; e < n_edges; e++)
		n = n * (n_vertices - 2 * e) * (n_vertices - 2 * e - 1) / 2 / (e + 1);
	return n;
}

/* Appends all matchings that begin with the edges of `code`, which use the vertices `used`; further edges are numbered
 * from `edge` on, whose lower vertex is `low`. */
static void extend(struct matchings *m, uint64_t code, unsigned used, uint64_t n_left, uint64_t low)
{
	if (!n_left) {
		m->codes[m->n++] = code;
		return;
	}
	for (; low + 1 < m->n_vertices; low++)
		for (uint64_t high = low + 1; high < m->n_vertices; high++) {
			unsigned both = 1u << low | 1u << high;
			uint64_t edge = low * (2 * m->n_vertices - low - 1) / 2 + high - low - 1;
			if (!(used & both))
				extend(m, code << EDGE_BITS | edge, used | both, n_left - 1, low + 1);
		}
}

static int list(struct matchings *m)
{
	m->codes = hd_sparse_allocate(count(m->n_vertices, m->n_edges), sizeof *m->codes);
	if (!m->codes)
		return hd_sparse_no_memory("the matchings of a graph");
	extend(m, 0, 0, m->n_edges, 0);
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int add_boundaries(const struct matchings *rows, const struct matchings *columns,
                          struct hd_sparse_triplets *triplets)
{
	for (size_t i = 0; i < rows->n; i++)
		for (uint64_t e = 0; e < rows->n_edges; e++) {
			uint64_t shift = EDGE_BITS * (rows->n_edges - 1 - e), code = rows->codes[i];
			uint64_t without = code >> shift >> EDGE_BITS << shift | (code & (((uint64_t)1 << shift) - 1));
			const uint64_t *column = bsearch(&without, columns->codes, columns->n, sizeof without, compare);
			double sign = e % 2 ? -1 : 1;
			if (hd_sparse_triplets_add(triplets, i, (size_t)(column - columns->codes), &sign))
				return HEDDLE_E_MEMORY;
		}
	return 0;
}

int hd_sparse_matchings(const uint64_t *numbers, struct hd_sparse_made *out)
{
	struct matchings rows = {numbers[0], numbers[1] + 1, 0, NULL}, columns = {numbers[0], numbers[1], 0, NULL};
	if (2 * rows.n_edges > rows.n_vertices)
		return heddle_error(HEDDLE_E_UNKNOWN, "%llu vertices have no matching of %llu edges",
		                    (unsigned long long)rows.n_vertices, (unsigned long long)rows.n_edges);
	int status = list(&rows);
	if (!status)
		status = list(&columns);
	if (!status)
		status = add_boundaries(&rows, &columns, &out->triplets);
	out->rows = rows.n;
	out->columns = columns.n;
	free(rows.codes);
	free(columns.codes);
	return status;
}
