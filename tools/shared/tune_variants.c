/* What `heddle tune` tries: see tune_variants.h. */
#include "tune_variants.h"
#include "tool.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_TILE = 32, MOST_TILES = 40, STEP = 32 };

/* --- Options by their names --------------------------------------------------------------------------------------- */

static const struct heddle_parameter *find(const struct work *work, const char *name)
{
	for (const struct heddle_parameter *p = work_application(work)->parameters; p && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

static int uses(const struct work *work, const char *codelet)
{
	return strstr(heddle_dense_routine_find(work->problem.routine)->codelets, codelet) != NULL;
}

int variants_matters(const struct work *work, const char *name)
{
	int of_qr = strcmp(name, "inner") == 0 || strcmp(name, "tree") == 0;
	return find(work, name) && !(of_qr && work_is_dense(work) && !uses(work, "geqrt"));
}

void variants_text(const struct work *work, const char *name, char *text, size_t size)
{
	if (variants_matters(work, name))
		heddle_application_value(find(work, name), work->options, text, size);
	else
		snprintf(text, size, "-");
}

double variants_number(const struct work *work, const char *name)
{
	char text[HEDDLE_PARAMETERS_MAX];
	variants_text(work, name, text, sizeof text);
	double x = hd_real(text, NULL);
	return x > 0 ? x : NAN;
}

int variants_is_given(const struct work *work, const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < work->n_given; i++)
		if (strcmp(work->given[i].name, name) == 0)
			return 1;
	for (const char *at = work->name + strcspn(work->name, ":"); *at; at += strcspn(at, ","))
		if (strncmp(++at, name, length) == 0 && at[length] == '=')
			return 1;
	return 0;
}

void variants_add(struct variants *v, const struct work *work)
{
	for (size_t i = 0; i < v->n; i++)
		if (memcmp(v->list[i].options, work->options, work_application(work)->size) == 0)
			return;
	struct work copy = *work; /* it may be one of the list, which moves */
	if (v->n == v->room) {
		v->room = v->room ? 2 * v->room : 64;
		v->list = tool_realloc(v->list, v->room * sizeof *v->list);
	}
	v->list[v->n++] = copy;
}

void variants_add_with(struct variants *v, const struct work *work, const char *name, const char *value)
{
	struct work other = *work;
	if (heddle_application_set(work_application(work), other.options, name, value) == 0)
		variants_add(v, &other);
}

/* Adds each variant with each word that an option may be, but not "none". Adds nothing if the user gave the option. */
static void add_words(struct variants *v, const char *name)
{
	size_t n = v->n && variants_matters(v->list, name) && !variants_is_given(v->list, name) ? v->n : 0;
	for (size_t i = 0; i < n; i++)
		for (const struct heddle_word *w = find(v->list, name)->words; w->word; w++)
			if (strcmp(w->word, "none") != 0)
				variants_add_with(v, &v->list[i], name, w->word);
}

void variants_of_priorities(struct variants *v)
{
	add_words(v, "priorities");
}

/* --- Tiles -------------------------------------------------------------------------------------------------------- */

/* Adds the work with a tile, all trees and several inner blockings. */
static void add_tile(struct variants *v, const struct work *work, size_t tile)
{
	static const size_t inners[] = {32, 64, 128};
	struct variants one = {.n = 0};
	int find_inner = variants_matters(work, "inner") && !variants_is_given(work, "inner");
	char *order = tool_format("%zu", tile);
	for (size_t i = 0; i < (find_inner ? sizeof inners / sizeof *inners : 1); i++) {
		struct work with = *work;
		char *inner = tool_format("%zu", inners[i] < tile ? inners[i] : tile);
		if (find_inner)
			heddle_application_set(work_application(work), with.options, "inner", inner);
		variants_add_with(&one, &with, "tile", order);
		free(inner);
	}
	add_words(&one, "tree");
	for (size_t i = 0; i < one.n; i++)
		variants_add(v, &one.list[i]);
	free(one.list);
	free(order);
}

/* The order of tiles of a product with so many bytes of data. */
static size_t tile_of(double bytes, const struct work *work)
{
	static const double sizes[] = {8, 4, 16, 8};
	return (size_t)(sqrt(bytes / 3 / sizes[work->problem.precision]) + 0.5);
}

/* The order, a multiple of STEP, of tiles as near to `tile` as can be that, of dense routines, divide the matrix into
 * equal rows but for rounding: a last row of narrow tiles has all the tasks of another one and little work for them. */
static size_t even(double tile, const struct work *work)
{
	if (!work_is_dense(work))
		return (size_t)fmax(nearbyint(tile / STEP), 1) * STEP;
	double n = (double)work_largest_extent(&work->problem), rows = fmax(floor(n / tile + 0.5), 1);
	return (size_t)ceil(n / rows / STEP) * STEP;
}

/* Tiles about a fifth apart, from those with MOST_TILES tiles in a row to the whole matrix in two, as far as products
 * of this order have been measured. */
static size_t dense_tiles(struct variants *v, const struct work *work, const struct heddle_platform *platform)
{
	size_t n = work_largest_extent(&work->problem), low = n / MOST_TILES, high = n / 2;
	const char gemm[] = {work_letter(work), 'g', 'e', 'm', 'm', '\0'};
	for (size_t i = 0; i < platform->n_kernels; i++) {
		const struct heddle_kernel_time *k = &platform->kernels[i];
		if (k->n_table == 0 || strcmp(k->codelet, gemm) != 0)
			continue;
		size_t least = tile_of(k->table[0].bytes, work), most = tile_of(k->table[k->n_table - 1].bytes, work);
		low = least > low ? least : low;
		high = most < high ? most : high;
	}
	low = low < LEAST_TILE ? LEAST_TILE : low;
	for (double tile = (double)low; tile <= (double)high; tile *= 1.2) {
		size_t order = even(tile, work);
		add_tile(v, work, order <= high ? order : high);
	}
	if (v->n == 0) /* the matrix is smaller than all of them */
		add_tile(v, work, low < n ? low : n);
	high = high > low ? high : low;
	return high < n ? high : n;
}

size_t variants_of_tiles(struct variants *v, const struct work *work, const struct heddle_platform *platform)
{
	static const double most = 4; /* times the default tile, and the least as many times less */
	double tile = variants_number(work, "tile");
	if (variants_is_given(work, "tile")) {
		add_tile(v, work, (size_t)tile);
		return (size_t)tile;
	}
	if (work_is_dense(work))
		return dense_tiles(v, work, platform);
	for (double times = 1 / most; times <= most; times *= sqrt(2))
		add_tile(v, work, even(times * tile, work));
	return even(most * tile, work);
}

/* The tiles half and a quarter of the way to the next one of dense_tiles, on both sides; for dense routines also those
 * of one row more and one row less. */
void variants_about(struct variants *v, const struct work *best, size_t most)
{
	static const double ways[] = {0.91, 0.95, 1.05, 1.1};
	double tile = variants_number(best, "tile"), tiles[] = {tile, tile, tile, tile, tile, tile};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		tiles[i] *= ways[i];
	if (work_is_dense(best)) {
		double n = (double)work_largest_extent(&best->problem), rows = ceil(n / tile);
		tiles[4] = n / (rows + 1);
		tiles[5] = n / fmax(rows - 1, 1);
	}
	for (size_t i = 0; i < sizeof tiles / sizeof *tiles && !variants_is_given(best, "tile"); i++) {
		size_t order = even(tiles[i], best);
		char *text = tool_format("%zu", order);
		if (order >= LEAST_TILE && order <= most)
			variants_add_with(v, best, "tile", text);
		free(text);
	}
}
