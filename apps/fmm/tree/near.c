/* Near and far cells: see tree.h. */
#include <fmm/kernels/translations.h>
#include <fmm/tree/tree.h>
#include <stdlib.h>

static int coordinate(unsigned octant, int c)
{
	return (int)(octant >> (2 - c) & 1);
}

/* The neighbours of a cell are children of its parent's neighbours. */
static void find(const uint32_t *of_parent, const struct hd_fmm_level *sources, unsigned octant, uint32_t *out)
{
	for (int number = 0; number < HD_FMM_NEAR; number++) {
		const int step[] = {number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1};
		unsigned up = 0, child = 0;
		for (int c = 0; c < 3; c++) {
			int place = coordinate(octant, c) + step[c] + 2; /* of two parents' four children, from 0 on */
			up = 3 * up + (unsigned)place / 2;
			child = 2 * child + (unsigned)place % 2;
		}
		out[number] =
		    of_parent[up] == HD_FMM_NO_CELL ? HD_FMM_NO_CELL : hd_fmm_child(sources, of_parent[up], child);
	}
}

static void find_kinds(struct hd_fmm_near *near)
{
	for (unsigned i = 0; i < 8 * HD_FMM_NEAR * 8; i++) {
		unsigned target = i / 8 / HD_FMM_NEAR, number = i / 8 % HD_FMM_NEAR, source = i % 8, reflection;
		const int step[] = {(int)number / 9 - 1, (int)number / 3 % 3 - 1, (int)number % 3 - 1};
		int offset[3], is_far = 0; /* from the source to the target */
		for (int c = 0; c < 3; c++) {
			offset[c] = coordinate(target, c) - coordinate(source, c) - 2 * step[c];
			is_far |= abs(offset[c]) > 1;
		}
		unsigned matrix = is_far ? hd_fmm_offset(offset, &reflection) : 0;
		near->kinds[target][number][source] =
		    is_far ? (uint16_t)(1 + HD_FMM_REFLECTIONS * matrix + reflection) : 0;
	}
}

int hd_fmm_near_make(struct hd_fmm_near *near, const struct hd_fmm_tree *targets, const struct hd_fmm_tree *sources,
                     int periodic)
{
	*near = (struct hd_fmm_near){.first_far = periodic ? 0 : 2};
	find_kinds(near);
	for (int level = 0; level <= targets->depth; level++) {
		const struct hd_fmm_level *t = &targets->levels[level];
		uint32_t *all = near->levels[level] = malloc((t->n + 1) * HD_FMM_NEAR * sizeof *all);
		if (!all)
			return -1;
		if (level == 0) {
			for (int i = 0; i < HD_FMM_NEAR; i++)
				all[i] = (i == HD_FMM_NEAR / 2 || periodic) && sources->n > 0 ? 0 : HD_FMM_NO_CELL;
			continue;
		}
		for (size_t cell = 0; cell < t->n; cell++)
			find(near->levels[level - 1] + (size_t)HD_FMM_NEAR * t->parent[cell],
			     &sources->levels[level - 1], t->octant[cell], all + HD_FMM_NEAR * cell);
	}
	return 0;
}

void hd_fmm_near_free(struct hd_fmm_near *near)
{
	for (int level = 0; level <= HD_FMM_MOST_DEPTH; level++)
		free(near->levels[level]);
	*near = (struct hd_fmm_near){.levels = {NULL}};
}

size_t hd_fmm_far_of(const struct hd_fmm_near *near, const struct hd_fmm_tree *targets,
                     const struct hd_fmm_tree *sources, int level, uint32_t target, struct hd_fmm_far *out)
{
	if (level == 0) {
		*out = (struct hd_fmm_far){0, HD_FMM_REFLECTIONS * HD_FMM_IMAGES};
		return sources->n > 0;
	}
	const struct hd_fmm_level *t = &targets->levels[level], *up = &sources->levels[level - 1];
	const uint32_t *parents = near->levels[level - 1] + (size_t)HD_FMM_NEAR * t->parent[target];
	size_t n = 0;
	for (int number = 0; number < HD_FMM_NEAR; number++) {
		const uint16_t *kinds = near->kinds[t->octant[target]][number];
		if (parents[number] == HD_FMM_NO_CELL)
			continue;
		uint32_t source = up->first_child[parents[number]];
		for (unsigned left = up->children[parents[number]]; left; left &= left - 1, source++) {
			uint16_t kind = kinds[__builtin_ctz(left)];
			if (kind)
				out[n++] = (struct hd_fmm_far){source, (uint16_t)(kind - 1)};
		}
	}
	return n;
}

static inline void add_leaf(const struct hd_fmm_level *l, const struct hd_fmm_direct *leaf, struct hd_fmm_directs *out)
{
	out->sources += l->count[leaf->cell];
	if (out->all)
		out->all[out->n] = *leaf;
	out->n++;
}

/* Adds the leaves below a cell. */
static void add_leaves(const struct hd_fmm_tree *tree, struct hd_fmm_direct at, struct hd_fmm_directs *out)
{
	const struct hd_fmm_level *l = &tree->levels[at.level];
	struct hd_fmm_direct child = {l->first_child[at.cell], at.level + 1, {0}};
	for (unsigned left = l->children[at.cell]; left; left &= left - 1, child.cell++) {
		for (int c = 0; c < 3; c++)
			child.offset[c] = at.offset[c] + (2 * coordinate((unsigned)__builtin_ctz(left), c) - 1) *
			                                     (1 << (tree->depth - child.level));
		if (hd_fmm_is_leaf(l + 1, child.cell))
			add_leaf(l + 1, &child, out);
		else
			add_leaves(tree, child, out);
	}
}

void hd_fmm_direct_of(const struct hd_fmm_near *near, const struct hd_fmm_tree *targets,
                      const struct hd_fmm_tree *sources, int level, uint32_t target, struct hd_fmm_directs *out)
{
	int centre[3] = {0}; /* of the target's ancestor */
	int last = sources->first_leaves < level ? sources->first_leaves : level;
	for (int l = level; l >= last; l--) {
		const uint32_t *cells = near->levels[l] + (size_t)HD_FMM_NEAR * target;
		int half = 1 << (sources->depth - l);
		for (int number = 0; number < HD_FMM_NEAR; number++) {
			const int step[] = {number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1};
			struct hd_fmm_direct at = {cells[number], l, {0}};
			if (at.cell == HD_FMM_NO_CELL)
				continue;
			for (int c = 0; c < 3; c++)
				at.offset[c] = centre[c] + 2 * half * step[c];
			if (hd_fmm_is_leaf(&sources->levels[l], at.cell))
				add_leaf(&sources->levels[l], &at, out);
			else if (l == level)
				add_leaves(sources, at, out);
		}
		if (l == 0)
			break;
		for (int c = 0; c < 3; c++)
			centre[c] += (1 - 2 * coordinate(targets->levels[l].octant[target], c)) * half;
		target = targets->levels[l].parent[target];
	}
}
