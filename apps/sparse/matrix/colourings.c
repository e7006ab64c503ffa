/* flower_K_D, cat_ears_K_D: linear systems that decide whether a graph can be coloured with 3 colours, by Hilbert's
 * Nullstellensatz (De Loera, Lee, Malkin, Margulies: Hilbert's Nullstellensatz and an algorithm for proving
 * combinatorial infeasibility, 2008). A column is a polynomial times a monomial: for each edge, x^2 + x y + y^2 times
 * monomials of degree 1, 4 ... D; and for one vertex, x^3 + 1 times monomials of degree 0, 3 ... D - 1. A row is a
 * monomial of degree 0, 3 ... D + 2. Coefficients are taken modulo 2.
 *
 * The graphs have as many vertices and edges as the graphs behind the matrices of the collection; which edges the
 * latter have is not known to us. flower_K: the antiprism of 2 K vertices and 4 K edges. cat_ears_K: a hub and a rim of
 * 2 K vertices, and K vertices that lie outside at two neighbours of the rim: 3 K + 1 vertices, 6 K edges. */
#include "families.h"
#include <string.h>

enum { MOST_EDGES = 40, MOST_DEGREE = 9 };

struct graph {
	unsigned n_vertices, n_edges;
	unsigned ends[MOST_EDGES][2];
};

/* A monomial: its variables, ascending, each as often as its exponent says. */
struct monomial {
	unsigned degree;
	unsigned variable[MOST_DEGREE + 1];
};

static size_t binomial(size_t n, size_t k)
{
	size_t value = 1;
	for (size_t i = 0; i < k; i++)
		value = value * (n - i) / (i + 1);
	return value;
}

static size_t n_monomials(const struct graph *g, unsigned degree)
{
	return binomial(g->n_vertices + degree - 1, degree);
}

/* Its number among the monomials of degree 0, 3, 6 ...: variables plus their places are a subset, which has a number in
 * the combinatorial number system. */
static size_t number_of(const struct graph *g, const struct monomial *m)
{
	size_t number = 0;
	for (unsigned degree = m->degree % 3; degree < m->degree; degree += 3)
		number += n_monomials(g, degree);
	for (unsigned i = 0; i < m->degree; i++)
		number += binomial(m->variable[i] + i, i + 1);
	return number;
}

static struct monomial times(struct monomial m, unsigned variable)
{
	unsigned i = m.degree++;
	for (; i > 0 && m.variable[i - 1] > variable; i--)
		m.variable[i] = m.variable[i - 1];
	m.variable[i] = variable;
	return m;
}

/* The next monomial of the same degree: 0 if there is none. */
static int next(const struct graph *g, struct monomial *m)
{
	for (unsigned i = 0; i < m->degree; i++)
		if (m->variable[i] + 1 < (i + 1 < m->degree ? m->variable[i + 1] + 1 : g->n_vertices)) {
			m->variable[i]++;
			memset(m->variable, 0, i * sizeof *m->variable);
			return 1;
		}
	return 0;
}

static int add_term(const struct graph *g, const struct monomial *m, struct hd_sparse_made *out)
{
	static const double one = 1;
	return hd_sparse_triplets_add(&out->triplets, number_of(g, m), out->columns, &one);
}

/* Columns of the polynomial of an edge. */
static int add_edge(const struct graph *g, const unsigned *ends, unsigned degree, struct hd_sparse_made *out)
{
	struct monomial m = {.degree = degree};
	do {
		struct monomial x = times(m, ends[0]), y = times(m, ends[1]);
		struct monomial terms[] = {times(x, ends[0]), times(x, ends[1]), times(y, ends[1])};
		for (int t = 0; t < 3; t++)
			if (add_term(g, &terms[t], out))
				return HEDDLE_E_MEMORY;
		out->columns++;
	} while (next(g, &m));
	return 0;
}

/* Columns of x^3 + 1, where x is the first vertex. */
static int add_vertex(const struct graph *g, unsigned degree, struct hd_sparse_made *out)
{
	struct monomial m = {.degree = degree};
	do {
		struct monomial cube = times(times(times(m, 0), 0), 0);
		if (add_term(g, &cube, out) || add_term(g, &m, out))
			return HEDDLE_E_MEMORY;
		out->columns++;
	} while (next(g, &m));
	return 0;
}

static int add_system(const struct graph *g, unsigned most, struct hd_sparse_made *out)
{
	if (most % 3 != 1)
		return heddle_error(HEDDLE_E_UNKNOWN, "the degree of a Nullstellensatz matrix is 1, 4 or 7, not %u",
		                    most);
	for (unsigned e = 0; e < g->n_edges; e++)
		for (unsigned degree = 1; degree <= most; degree += 3)
			if (add_edge(g, g->ends[e], degree, out))
				return HEDDLE_E_MEMORY;
	for (unsigned degree = 0; degree < most; degree += 3)
		if (add_vertex(g, degree, out))
			return HEDDLE_E_MEMORY;
	for (unsigned degree = 0; degree <= most + 2; degree += 3)
		out->rows += n_monomials(g, degree);
	return 0;
}

static void connect(struct graph *g, unsigned a, unsigned b)
{
	g->ends[g->n_edges][0] = a;
	g->ends[g->n_edges++][1] = b;
}

int hd_sparse_flower(const uint64_t *numbers, struct hd_sparse_made *out)
{
	unsigned k = (unsigned)numbers[0];
	struct graph g = {.n_vertices = 2 * k};
	for (unsigned i = 0; i < 2 * k; i++) { /* inner and outer vertices in turn */
		connect(&g, i, (i + 1) % (2 * k));
		connect(&g, i, (i + 2) % (2 * k));
	}
	return add_system(&g, (unsigned)numbers[1], out);
}

int hd_sparse_cat_ears(const uint64_t *numbers, struct hd_sparse_made *out)
{
	unsigned k = (unsigned)numbers[0], rim = 2 * k, hub = 2 * k, ears = 2 * k + 1;
	struct graph g = {.n_vertices = 3 * k + 1};
	for (unsigned i = 0; i < rim; i++) {
		connect(&g, i, (i + 1) % rim);
		connect(&g, i, hub);
		connect(&g, i, ears + i / 2);
	}
	return add_system(&g, (unsigned)numbers[1], out);
}
