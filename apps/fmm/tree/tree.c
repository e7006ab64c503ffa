/* The tree: particles sorted into leaves, and the levels above. */
#include <fmm/tree/tree.h>
#include <stdlib.h>
#include <string.h>

void hd_fmm_place_of(const struct hd_fmm_box *box, const double x[3], uint32_t place[3])
{
	const double most = (double)((1u << box->depth) - 1);
	for (int c = 0; c < 3; c++) {
		double cell = (x[c] - box->low[c]) / box->leaf_side;
		place[c] = (uint32_t)(cell > most ? most : cell > 0 ? cell : 0);
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

/* How many cells each level has, from sorted keys of leaves. */
static void count_cells(const struct hd_fmm_sorted *s, size_t n, int depth, size_t *cells)
{
	memset(cells, 0, ((size_t)depth + 1) * sizeof *cells);
	for (size_t i = 0; i < n; i++)
		for (int level = 0; level <= depth; level++)
			cells[level] += i == 0 || (s[i].key ^ s[i - 1].key) >> 3 * (depth - level) > 0;
}

static int allocate(struct hd_fmm_tree *t, const size_t *cells)
{
	for (int pass = 0; pass < 2; pass++) { /* the first one measures */
		struct memory at = {t->memory, 0};
		for (int level = 0; level <= t->depth; level++) {
			struct hd_fmm_level *l = &t->levels[level];
			*l = (struct hd_fmm_level){.n = cells[level]};
			l->parent = cut(&at, l->n, sizeof *l->parent);
			l->first_child = cut(&at, l->n, sizeof *l->first_child);
			l->children = cut(&at, l->n, sizeof *l->children);
			l->octant = cut(&at, l->n, sizeof *l->octant);
		}
		t->first = cut(&at, cells[t->depth] + 1, sizeof *t->first);
		t->first_slot = cut(&at, cells[t->depth] + 1, sizeof *t->first_slot);
		t->order = cut(&at, t->n, sizeof *t->order);
		if (!pass && !(t->memory = calloc(1, at.used + 1)))
			return -1;
	}
	return 0;
}

static void fill(struct hd_fmm_tree *t, const struct hd_fmm_sorted *s)
{
	size_t next[HD_FMM_MOST_DEPTH + 1] = {0};
	for (size_t i = 0; i < t->n; i++) {
		t->order[i] = s[i].particle;
		for (int level = 0; level <= t->depth; level++) {
			struct hd_fmm_level *l = &t->levels[level];
			int shift = 3 * (t->depth - level);
			if (i > 0 && (s[i].key ^ s[i - 1].key) >> shift == 0)
				continue;
			size_t cell = next[level]++;
			if (level == t->depth)
				t->first[cell] = i;
			if (level == 0)
				continue;
			struct hd_fmm_level *up = &t->levels[level - 1];
			l->parent[cell] = (uint32_t)(next[level - 1] - 1);
			l->octant[cell] = (uint8_t)(s[i].key >> shift & 7);
			if (!up->children[l->parent[cell]])
				up->first_child[l->parent[cell]] = (uint32_t)cell;
			up->children[l->parent[cell]] |= (uint8_t)(1u << l->octant[cell]);
		}
	}
	size_t leaves = hd_fmm_leaves(t);
	t->first[leaves] = t->n;
	for (size_t leaf = 0; leaf < leaves; leaf++)
		t->first_slot[leaf + 1] = t->first_slot[leaf] + padded(hd_fmm_count(t, leaf));
}

int hd_fmm_tree_make(struct hd_fmm_tree *tree, const struct hd_fmm_box *box, const double *xyz, size_t n)
{
	struct hd_fmm_sorted *s = malloc((n + 1) * sizeof *s), *work = malloc((n + 1) * sizeof *work);
	size_t cells[HD_FMM_MOST_DEPTH + 1];
	int status = -1;
	*tree = (struct hd_fmm_tree){.n = n, .depth = box->depth};
	if (s && work) {
		for (size_t i = 0; i < n; i++) {
			uint32_t place[3];
			hd_fmm_place_of(box, xyz + 3 * i, place);
			s[i] = (struct hd_fmm_sorted){hd_fmm_key(place), (uint32_t)i};
		}
		const struct hd_fmm_sorted *sorted = hd_fmm_sort(s, work, n, 3 * box->depth);
		count_cells(sorted, n, box->depth, cells);
		status = allocate(tree, cells);
		if (status == 0)
			fill(tree, sorted);
	}
	free(s);
	free(work);
	return status;
}

void hd_fmm_tree_free(struct hd_fmm_tree *tree)
{
	free(tree->memory);
	*tree = (struct hd_fmm_tree){.n = 0};
}
