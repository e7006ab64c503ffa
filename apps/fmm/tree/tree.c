/* The tree: particles sorted into leaves, and the levels above. */
#include <fmm/tree/tree.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hd_fmm_place_of(const struct hd_fmm_box *box, const double x[3], uint32_t place[3])
{
	const double most = (double)((1u << box->depth) - 1), per_side = 1 / box->leaf_side;
	for (int c = 0; c < 3; c++) {
		double cell = (x[c] - box->low[c]) * per_side;
		place[c] = (uint32_t)(cell > most ? most : cell > 0 ? cell : 0);
	}
}

void hd_fmm_centre_of(const struct hd_fmm_tree *tree, int level, size_t cell, double centre[3])
{
	centre[0] = centre[1] = centre[2] = 0;
	for (; level > 0; level--) {
		const struct hd_fmm_level *l = &tree->levels[level];
		for (int c = 0; c < 3; c++)
			centre[c] += ldexp(l->octant[cell] >> (2 - c) & 1 ? 0.5 : -0.5, -level);
		cell = l->parent[cell];
	}
}

static size_t padded(size_t n)
{
	return (n + HD_FMM_PADDING - 1) / HD_FMM_PADDING * HD_FMM_PADDING;
}

/* Memory that is cut into arrays; NULL: it is only measured. */
struct memory {
	char *begin;
	size_t used;
};

static void *cut(struct memory *m, size_t n, size_t bytes)
{
	void *at = m->begin ? m->begin + m->used : NULL;
	m->used += (n * bytes + 63) / 64 * 64;
	return at;
}

static int has(struct hd_fmm_particles which, uint32_t particle)
{
	return particle - which.first < which.n;
}

/* How many cells each level has. */
static void count_cells(const struct hd_fmm_sorted *s, size_t n, int depth, struct hd_fmm_particles which,
                        size_t *cells)
{
	const struct hd_fmm_sorted *last = NULL;
	memset(cells, 0, (HD_FMM_MOST_DEPTH + 1) * sizeof *cells);
	for (size_t i = 0; i < n; i++) {
		if (!has(which, s[i].particle))
			continue;
		for (int level = last ? hd_fmm_parting(s[i].key, last->key, depth) : 0; level <= (int)s[i].level;
		     level++)
			cells[level]++;
		last = &s[i];
	}
}

static int allocate(struct hd_fmm_tree *t, const size_t *cells)
{
	for (int pass = 0; pass < 2; pass++) { /* the first one measures */
		struct memory at = {t->memory, 0};
		for (int level = 0; level <= t->depth; level++) {
			struct hd_fmm_level *l = &t->levels[level];
			*l = (struct hd_fmm_level){.n = cells[level]};
			l->parent = cut(&at, l->n, sizeof *l->parent);
			l->first_child = cut(&at, l->n + 1, sizeof *l->first_child);
			l->children = cut(&at, l->n, sizeof *l->children);
			l->octant = cut(&at, l->n, sizeof *l->octant);
			l->first = cut(&at, l->n, sizeof *l->first);
			l->count = cut(&at, l->n, sizeof *l->count);
			l->first_slot = cut(&at, l->n + 1, sizeof *l->first_slot);
		}
		t->order = cut(&at, t->n, sizeof *t->order);
		if (!pass && !(t->memory = calloc(1, at.used + 1)))
			return -1;
	}
	return 0;
}

static void fill(struct hd_fmm_tree *t, const struct hd_fmm_sorted *s, size_t n, struct hd_fmm_particles which)
{
	size_t next[HD_FMM_MOST_DEPTH + 2] = {0}, kept = 0;
	const struct hd_fmm_sorted *last = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!has(which, s[i].particle))
			continue;
		for (int level = last ? hd_fmm_parting(s[i].key, last->key, t->depth) : 0; level <= (int)s[i].level;
		     level++) {
			struct hd_fmm_level *l = &t->levels[level];
			size_t cell = next[level]++;
			l->first[cell] = (uint32_t)kept;
			l->first_child[cell] = (uint32_t)next[level + 1];
			if (level == 0)
				continue;
			l->parent[cell] = (uint32_t)(next[level - 1] - 1);
			l->octant[cell] = (uint8_t)(s[i].key >> 3 * (t->depth - level) & 7);
			t->levels[level - 1].children[l->parent[cell]] |= (uint8_t)(1u << l->octant[cell]);
		}
		t->levels[s[i].level].count[next[s[i].level] - 1]++;
		t->order[kept++] = s[i].particle - (uint32_t)which.first;
		last = &s[i];
	}
	for (int level = 0; level <= t->depth; level++)
		t->levels[level].first_child[t->levels[level].n] = (uint32_t)next[level + 1];
}

/* Counts of cells that are no leaves; slots. */
static void sum_up(struct hd_fmm_tree *t)
{
	for (int level = t->depth; level > 0; level--)
		for (size_t cell = 0; cell < t->levels[level].n; cell++)
			t->levels[level - 1].count[t->levels[level].parent[cell]] += t->levels[level].count[cell];
	size_t slot = 0;
	t->first_leaves = t->depth;
	for (int level = 0; level <= t->depth; level++) {
		struct hd_fmm_level *l = &t->levels[level];
		for (size_t cell = 0; cell < l->n; cell++) {
			l->first_slot[cell] = slot;
			if (!hd_fmm_is_leaf(l, cell))
				continue;
			t->leaves++;
			t->first_leaves = level < t->first_leaves ? level : t->first_leaves;
			slot += padded(l->count[cell]);
		}
		l->first_slot[l->n] = slot;
	}
}

int hd_fmm_tree_make(struct hd_fmm_tree *tree, int depth, const struct hd_fmm_sorted *sorted, size_t n_sorted,
                     struct hd_fmm_particles which)
{
	size_t cells[HD_FMM_MOST_DEPTH + 1];
	*tree = (struct hd_fmm_tree){.n = which.n, .depth = depth};
	count_cells(sorted, n_sorted, depth, which, cells);
	if (allocate(tree, cells))
		return -1;
	fill(tree, sorted, n_sorted, which);
	sum_up(tree);
	return 0;
}

void hd_fmm_tree_free(struct hd_fmm_tree *tree)
{
	free(tree->memory);
	*tree = (struct hd_fmm_tree){.n = 0};
}
