/* Random places of elements, and settings of a factorisation. */
#ifndef TEST_SPARSE_QR_PATTERNS_H
#define TEST_SPARSE_QR_PATTERNS_H

#include "../chance.h"
#include <heddle/sparse.h>

struct pattern {
	int m, n, per_thousand;                                       /* elements */
	int dense_row, dense_column, empty_row, empty_column, blocks; /* -1: none; blocks on the diagonal: a forest */
	int dependent;                                                /* of a thousand columns, or rows */
};

static struct hd_rng rng_of(uint64_t seed)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, seed);
	return rng;
}

static int some_or_none(struct hd_rng *c, int n)
{
	return below(c, 4) || n == 0 ? -1 : (int)below(c, (uint32_t)n);
}

static struct pattern random_pattern(struct hd_rng *c)
{
	static const uint32_t sizes[] = {2, 12, 40, 40, 90};
	uint32_t size = sizes[below(c, 5)];
	struct pattern p = {.n = (int)below(c, size), .blocks = 1 + (int)below(c, 3) / 2 * 3};
	p.m = below(c, 3) ? p.n + (int)below(c, size) : (int)below(c, size);
	p.per_thousand = below(c, 6) ? (1 + (int)below(c, 6)) * 1000 / (p.n + 1) : 600;
	p.dense_row = some_or_none(c, p.m);
	p.empty_row = some_or_none(c, p.m);
	p.dense_column = some_or_none(c, p.n);
	p.empty_column = below(c, 4) ? -1 : some_or_none(c, p.n);
	p.dependent = below(c, 3) ? 0 : (int)below(c, 700);
	return p;
}

/* How many elements the matrix has at this place: two are added. */
static int elements_at(struct hd_rng *c, const struct pattern *p, int i, int j)
{
	int is_in_block = i * p->blocks / (p->m + 1) == j * p->blocks / (p->n + 1);
	if (i == p->empty_row || j == p->empty_column)
		return 0;
	int is_there = i == j || i == p->dense_row || j == p->dense_column ||
	               (is_in_block && (int)below(c, 1000) < p->per_thousand);
	return is_there ? 1 + !below(c, 10) : 0;
}

struct settings_of_qr {
	struct heddle_sparse_analysis_options analysis;
	struct heddle_sparse_options options;
};

static struct settings_of_qr random_settings(struct hd_rng *c)
{
	static const size_t tiles[] = {4, 8, 13, 16, 32, 64};
	static const double shares[] = {-1, -1, 0, 0.1, 1};
	static const double relax[] = {0, 1, 1.5};
	struct settings_of_qr s = {
	    {.ordering = (enum heddle_sparse_ordering)below(c, 4), .subtree = shares[below(c, 5)]},
	    {.tile = tiles[below(c, 6)],
	     .inner = 1 + below(c, 9),
	     .domain = below(c, 4),
	     .strips = {below(c, 3) * 8, below(c, 2) * 4},
	     .priority = (enum heddle_sparse_priority)below(c, 3),
	     .relax = relax[below(c, 3)]}};
	return s;
}

#endif
