/* A tournament tree of counts (most.h). */
#include "most.h"
#include <stdlib.h>
#include "base/base.h"

int hd_most_init(struct hd_most *m, size_t n_workers)
{
	m->n_leaves = 1;
	while (m->n_leaves < n_workers)
		m->n_leaves *= 2;
	m->tree = calloc(2 * m->n_leaves, sizeof *m->tree);
	return m->tree ? HEDDLE_OK : hd_no_memory("the loads of workers");
}

void hd_most_fini(struct hd_most *m)
{
	free(m->tree);
}

void hd_most_add(struct hd_most *m, unsigned worker, int change)
{
	size_t i = m->n_leaves + worker;
	unsigned count = m->tree[i] += (unsigned)change;
	for (; i > 1 && m->tree[i / 2] != count; i /= 2) {
		if (count < m->tree[i ^ 1])
			count = m->tree[i ^ 1];
		m->tree[i / 2] = count;
	}
}

unsigned hd_most_next(const struct hd_most *m, size_t from, unsigned least)
{
	size_t i = m->n_leaves + from;
	if (from >= m->n_leaves)
		return UINT32_MAX;
	while (m->tree[i] < least) { /* climbs to the next subtree to the right */
		while (i % 2)
			i /= 2;
		if (!i)
			return UINT32_MAX;
		i++;
	}
	while (i < m->n_leaves) {
		i *= 2;
		i += m->tree[i] < least;
	}
	return (unsigned)(i - m->n_leaves);
}
