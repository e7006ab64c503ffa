/* Finds the pieces of data: see pieces.h. The beginnings and ends of all windows cut a datum into a grid of cells. Each
 * window has a random number, and each cell the sum of the numbers of the windows that contain it. Cells with equal
 * sums are in the same windows, and form one piece. */
#include "pieces.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "trace/recorder.h"
#include "base/grow.h"

enum { DIMS = HEDDLE_MAX_DIMS };
/* A limit on time and memory. A datum becomes a single piece if one of these numbers exceeds the limit: the cells of
 * its grid; the sum of the numbers of cells of its handles; the additional accesses of its tasks, for example if many
 * tasks name a whole datum that has many tiles. */
enum { MOST_CELLS = 1 << 22 };

/* A window of a root. A root is a datum that is no child. */
struct box {
	size_t offset[DIMS], n[DIMS]; /* in elements */
};

/* A handle that tasks have named, and its window in the root. */
struct member {
	uint32_t root, handle;
	const struct box *box; /* borrowed; NULL: the handle is the root */
};

/* The members of one root. Members with equal windows follow one another. */
struct family {
	struct hd_pieces *pieces;
	const struct hd_recorder *recorder;
	const struct hd_handle_use *use; /* borrowed; per handle */
	const struct member *members;    /* borrowed */
	size_t n;
	uint64_t element; /* size of an element, bytes */
};

struct cell {
	uint64_t sum; /* the sum of the numbers of the windows that contain the cell; 0: no window contains it */
	size_t number;
};

struct grid {
	size_t *cuts[DIMS]; /* own; in ascending order */
	size_t n_cuts[DIMS], n_cells;
	struct cell *cells; /* owns; at first in the order of the grid, then sorted by their sums */
	uint32_t *of;       /* owns; per cell: the number of its piece */
};

/* --- Where children are ------------------------------------------------------------------------------------------- */

struct places {
	/* owns; by registration number of a handle: 1 + the index of its window in `boxes`; 0: the handle is a root */
	uint32_t *of;
	uint32_t *roots;
	struct box *boxes; /* own; per child, in the order of creation, so that a parent precedes its children */
	size_t n;
};

static void add_place(const struct hd_recorded_child *child, void *arg)
{
	struct places *p = arg;
	struct box *box = &p->boxes[p->n];
	memcpy(box->n, child->n, sizeof box->n);
	memcpy(box->offset, child->offset, sizeof box->offset);
	uint32_t above = p->of[child->parent];
	for (size_t d = 0; d < DIMS && above; d++)
		box->offset[d] += p->boxes[above - 1].offset[d];
	p->roots[p->n] = above ? p->roots[above - 1] : child->parent;
	p->of[child->child] = (uint32_t)++p->n;
}

static int find_places(struct places *p, const struct hd_recorder *r, size_t n_handles)
{
	size_t n = hd_recorder_n_children(r);
	p->of = calloc(n_handles + 1, sizeof *p->of);
	p->roots = malloc((n + 1) * sizeof *p->roots);
	p->boxes = malloc((n + 1) * sizeof *p->boxes);
	if (!p->of || !p->roots || !p->boxes)
		return hd_no_memory("a task graph");
	hd_recorder_children(r, add_place, p);
	return 0;
}

static int by_box(const struct member *x, const struct member *y)
{
	if (!x->box || !y->box)
		return (x->box != NULL) - (y->box != NULL);
	return memcmp(x->box, y->box, sizeof *x->box);
}

static int by_root(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	int order = by_box(x, y);
	return order ? order : (x->handle > y->handle) - (x->handle < y->handle);
}

/* --- Lists of pieces ---------------------------------------------------------------------------------------------- */

static int room(void *array, size_t n, size_t *max, size_t size)
{
	return hd_grow(array, n, max, size, 64) ? hd_no_memory("a task graph") : 0;
}

static int add_piece(struct hd_pieces *p, uint64_t bytes)
{
	if (room(&p->pieces, p->n, &p->max, sizeof *p->pieces))
		return HEDDLE_E_MEMORY;
	p->pieces[p->n++] = (struct hd_piece){bytes, HD_NO_HANDLE};
	return 0;
}

static int add_to_list(struct hd_pieces *p, uint32_t piece)
{
	if (room(&p->list, p->n_list, &p->max_list, sizeof *p->list))
		return HEDDLE_E_MEMORY;
	p->list[p->n_list++] = piece;
	return 0;
}

/* Assigns the pieces in the list from index `first` on to the handle `member` and to the handles after it that have an
 * equal window. Returns the number of these handles. */
static size_t give(const struct family *f, size_t member, size_t first)
{
	struct hd_pieces *p = f->pieces;
	size_t i = member;
	for (; i < f->n && by_box(&f->members[i], &f->members[member]) == 0; i++) {
		p->first[f->members[i].handle] = first;
		p->end[f->members[i].handle] = p->n_list;
		/* takes the last named handle, because a program may create equal children again and again */
		int named = hd_recorder_data_name(f->recorder, f->members[i].handle) != NULL;
		if (p->n_list == first + 1 && (named || p->pieces[p->list[first]].handle == HD_NO_HANDLE))
			p->pieces[p->list[first]].handle = f->members[i].handle;
	}
	return i - member;
}

/* Makes the whole datum one piece with the datum's name, which all its handles use. */
static int make_one_piece(const struct family *f)
{
	struct hd_pieces *p = f->pieces;
	size_t first = p->n_list;
	int status = add_piece(p, hd_recorder_data_bytes(f->recorder, f->members->root));
	if (!status)
		status = add_to_list(p, (uint32_t)p->n - 1);
	for (size_t i = 0; i < f->n && !status;)
		i += give(f, i, first);
	if (!status)
		p->pieces[p->list[first]].handle = f->members->root;
	return status;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

static int cut(struct grid *g, const struct family *f, size_t d)
{
	size_t n = 0, kept = 0, *cuts = g->cuts[d] = malloc(2 * (f->n + 1) * sizeof *cuts);
	if (!cuts)
		return hd_no_memory("a task graph");
	for (size_t i = 0; i < f->n; i++) {
		if (!f->members[i].box)
			continue;
		cuts[n++] = f->members[i].box->offset[d];
		cuts[n++] = f->members[i].box->offset[d] + f->members[i].box->n[d];
	}
	qsort(cuts, n, sizeof *cuts, by_size);
	for (size_t i = 0; i < n; i++)
		if (!kept || cuts[i] != cuts[kept - 1])
			cuts[kept++] = cuts[i];
	g->n_cuts[d] = kept;
	return 0;
}

static size_t find_cut(const struct grid *g, size_t d, size_t at)
{
	const size_t *found = bsearch(&at, g->cuts[d], g->n_cuts[d], sizeof at, by_size);
	return (size_t)(found - g->cuts[d]);
}

/* A walk over the cells of a window; next_cell() makes the steps. */
struct walk {
	const struct grid *grid;
	size_t low[DIMS], high[DIMS], at[DIMS];
	int more;
};

static struct walk walk_of(const struct grid *g, const struct box *box)
{
	struct walk w = {.grid = g, .more = 1};
	for (size_t d = 0; d < DIMS; d++) {
		w.at[d] = w.low[d] = find_cut(g, d, box->offset[d]);
		w.high[d] = find_cut(g, d, box->offset[d] + box->n[d]);
		w.more &= w.low[d] < w.high[d];
	}
	return w;
}

static size_t next_cell(struct walk *w)
{
	size_t cell = 0, d = 0;
	for (size_t k = DIMS; k-- > 0;)
		cell = cell * (w->grid->n_cuts[k] - 1) + w->at[k];
	while (d < DIMS && ++w->at[d] == w->high[d]) {
		w->at[d] = w->low[d];
		d++;
	}
	w->more = d < DIMS;
	return cell;
}

static uint64_t elements_of(const struct grid *g, size_t cell)
{
	uint64_t n = 1;
	for (size_t d = 0; d < DIMS; d++) {
		size_t at = cell % (g->n_cuts[d] - 1);
		n *= g->cuts[d][at + 1] - g->cuts[d][at];
		cell /= g->n_cuts[d] - 1;
	}
	return n;
}

static size_t cells_of(const struct grid *g, const struct box *box)
{
	size_t n = 1;
	for (size_t d = 0; d < DIMS; d++)
		n *= find_cut(g, d, box->offset[d] + box->n[d]) - find_cut(g, d, box->offset[d]);
	return n;
}

/* Makes the grid. If it would have too many cells, n_cells is 0 afterwards. */
static int make_grid(struct grid *g, const struct family *f)
{
	size_t together = 0;
	g->n_cells = 1;
	for (size_t d = 0; d < DIMS; d++) {
		if (cut(g, f, d))
			return HEDDLE_E_MEMORY;
		g->n_cells = g->n_cuts[d] > 1 && g->n_cells <= MOST_CELLS ? g->n_cells * (g->n_cuts[d] - 1) : 0;
	}
	for (size_t i = 0; i < f->n && g->n_cells && g->n_cells <= MOST_CELLS && together <= MOST_CELLS; i++)
		if (f->members[i].box && (i == 0 || by_box(&f->members[i - 1], &f->members[i]) != 0))
			together += cells_of(g, f->members[i].box);
	if (g->n_cells > MOST_CELLS || together > MOST_CELLS)
		g->n_cells = 0;
	g->cells = calloc(g->n_cells + 1, sizeof *g->cells);
	g->of = malloc((g->n_cells + 1) * sizeof *g->of);
	for (size_t i = 0; i < g->n_cells && g->cells; i++)
		g->cells[i].number = i;
	return g->cells && g->of ? 0 : hd_no_memory("a task graph");
}

static void free_grid(struct grid *g)
{
	for (size_t d = 0; d < DIMS; d++)
		free(g->cuts[d]);
	free(g->cells);
	free(g->of);
}

static int by_sum(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Makes one piece of all cells with equal sums. */
static int join_cells(struct grid *g, const struct family *f)
{
	struct hd_pieces *p = f->pieces;
	size_t i = 0;
	qsort(g->cells, g->n_cells, sizeof *g->cells, by_sum);
	while (i < g->n_cells && g->cells[i].sum == 0)
		i++;
	for (size_t first = i; i < g->n_cells; i++) {
		size_t number = g->cells[i].number;
		int begins = i == first || g->cells[i].sum != g->cells[i - 1].sum;
		if (begins && add_piece(p, 0))
			return HEDDLE_E_MEMORY;
		g->of[number] = (uint32_t)p->n - 1;
		p->pieces[p->n - 1].bytes += elements_of(g, number) * f->element;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Lists the pieces of a window, each piece once. */
static int list_cells(const struct grid *g, const struct family *f, const struct box *box)
{
	struct hd_pieces *p = f->pieces;
	size_t first = p->n_list, n = first;
	for (struct walk w = walk_of(g, box); w.more;)
		if (add_to_list(p, g->of[next_cell(&w)]))
			return HEDDLE_E_MEMORY;
	if (p->n_list > first)
		qsort(p->list + first, p->n_list - first, sizeof *p->list, by_number);
	for (size_t i = first; i < p->n_list; i++)
		if (n == first || p->list[i] != p->list[n - 1])
			p->list[n++] = p->list[i];
	p->n_list = n;
	return 0;
}

/* Lists the pieces of the root: all pieces from number `from` on, and a new piece for the elements that are in no
 * window. */
static int list_whole(const struct family *f, size_t from)
{
	struct hd_pieces *p = f->pieces;
	uint64_t bytes = hd_recorder_data_bytes(f->recorder, f->members->root), in_windows = 0;
	int status = 0;
	for (size_t i = from; i < p->n; i++)
		in_windows += p->pieces[i].bytes;
	if (in_windows < bytes)
		status = add_piece(p, bytes - in_windows);
	for (size_t i = from; i < p->n && !status; i++)
		status = add_to_list(p, (uint32_t)i);
	return status;
}

static int make_cells(const struct family *f, struct grid *g)
{
	size_t from = f->pieces->n;
	uint64_t key = 0;
	for (size_t i = 0; i < f->n; i++)
		if (f->members[i].box && (i == 0 || by_box(&f->members[i - 1], &f->members[i]) != 0)) {
			uint64_t random = hd_mix(++key);
			for (struct walk w = walk_of(g, f->members[i].box); w.more;)
				g->cells[next_cell(&w)].sum += random;
		}
	int status = join_cells(g, f);
	for (size_t i = 0; i < f->n && !status;) {
		size_t first = f->pieces->n_list;
		status = f->members[i].box ? list_cells(g, f, f->members[i].box) : list_whole(f, from);
		i += give(f, i, first);
	}
	return status;
}

/* Whether tasks would get too many accesses, because handles have several pieces. */
static int has_too_many_accesses(const struct family *f)
{
	size_t more = 0;
	for (size_t i = 0; i < f->n && more <= MOST_CELLS; i++) {
		uint32_t handle = f->members[i].handle;
		size_t n = f->pieces->end[handle] - f->pieces->first[handle];
		more += n ? f->use[handle].n_accesses * (n - 1) : 0;
	}
	return more > MOST_CELLS;
}

static uint64_t element_bytes(const struct hd_recorder *r, const struct member *m)
{
	uint64_t n = 1;
	for (size_t d = 0; d < DIMS; d++)
		n *= m->box->n[d];
	return n ? hd_recorder_data_bytes(r, m->handle) / n : 0;
}

static int make_family(struct family *f)
{
	struct grid g = {.n_cells = 0};
	struct hd_pieces *p = f->pieces;
	size_t n = p->n, n_list = p->n_list;
	int status = 0;
	f->element = 0;
	for (size_t i = 0; i < f->n && !f->element; i++)
		f->element = f->members[i].box ? element_bytes(f->recorder, &f->members[i]) : 0;
	if (f->element)
		status = make_grid(&g, f);
	if (!status && g.n_cells)
		status = make_cells(f, &g);
	int one_piece = !status && (!g.n_cells || has_too_many_accesses(f));
	if (one_piece) {
		p->n = n;
		p->n_list = n_list;
		status = make_one_piece(f);
	}
	free_grid(&g);
	return status;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static size_t collect(struct member *members, const struct places *places, const struct hd_handle_use *use,
                      size_t n_handles)
{
	size_t n = 0;
	for (uint32_t i = 0; i < n_handles; i++) {
		uint32_t place = places->of[i];
		if (use[i].is_named)
			members[n++] = (struct member){place ? places->roots[place - 1] : i, i,
			                               place ? &places->boxes[place - 1] : NULL};
	}
	qsort(members, n, sizeof *members, by_root);
	return n;
}

int hd_pieces_make(struct hd_pieces *out, const struct hd_recorder *recorder, const struct hd_handle_use *use,
                   size_t n_handles)
{
	struct places places = {0};
	*out = (struct hd_pieces){.first = calloc(n_handles + 1, sizeof *out->first),
	                          .end = calloc(n_handles + 1, sizeof *out->end)};
	struct member *members = malloc((n_handles + 1) * sizeof *members);
	int status = out->first && out->end && members ? 0 : hd_no_memory("a task graph");
	if (!status)
		status = find_places(&places, recorder, n_handles);
	size_t n = status ? 0 : collect(members, &places, use, n_handles);
	for (size_t i = 0, behind; i < n && !status; i = behind) {
		for (behind = i; behind < n && members[behind].root == members[i].root;)
			behind++;
		struct family family = {out, recorder, use, members + i, behind - i, 0};
		status = make_family(&family);
	}
	free(places.of);
	free(places.roots);
	free(places.boxes);
	free(members);
	return status;
}

void hd_pieces_free(struct hd_pieces *p)
{
	free(p->pieces);
	free(p->list);
	free(p->first);
	free(p->end);
}
