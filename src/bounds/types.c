/* Types of tasks: those with the same times on all classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

static int rehash(struct hd_bound_types *types)
{
	size_t size = types->slots ? 4 * (types->mask + 1) : 1024;
	size_t *slots = calloc(size, sizeof *slots);
	if (!slots)
		return hd_no_memory("types of tasks");
	free(types->slots);
	types->slots = slots;
	types->mask = size - 1;
	for (size_t i = 0; i < types->n; i++) {
		size_t slot = hd_hash_reals(types->times + i * types->n_classes, types->n_classes) & types->mask;
		while (slots[slot])
			slot = (slot + 1) & types->mask;
		slots[slot] = i + 1;
	}
	return 0;
}

static int enlarge(struct hd_bound_types *types)
{
	size_t room = types->room ? 2 * types->room : 64;
	double *times = realloc(types->times, room * types->n_classes * sizeof *times);
	types->times = times ? times : types->times;
	double *counts = realloc(types->counts, room * sizeof *counts);
	types->counts = counts ? counts : types->counts;
	double *best = realloc(types->best, room * sizeof *best);
	types->best = best ? best : types->best;
	if (!times || !counts || !best)
		return hd_no_memory("types of tasks");
	types->room = room;
	return 0;
}

/* The type with these times; made if there is none. */
static int find_type(struct hd_bound_types *types, const double *times, double best, size_t *out)
{
	size_t size = types->n_classes * sizeof *times;
	int status = 2 * (types->n + 1) > types->mask ? rehash(types) : 0;
	if (!status && types->n == types->room)
		status = enlarge(types);
	if (status)
		return status;
	size_t slot = hd_hash_reals(times, types->n_classes) & types->mask;
	while (types->slots[slot] &&
	       memcmp(types->times + (types->slots[slot] - 1) * types->n_classes, times, size) != 0)
		slot = (slot + 1) & types->mask;
	if (!types->slots[slot]) {
		memcpy(types->times + types->n * types->n_classes, times, size);
		types->counts[types->n] = 0;
		types->best[types->n] = best;
		types->slots[slot] = ++types->n;
	}
	*out = types->slots[slot] - 1;
	return 0;
}

int hd_types_init(struct hd_bound_types *types, const struct hd_costed *graph)
{
	*types = (struct hd_bound_types){.n_classes = graph->n_classes,
	                                 .of = malloc((graph->n_tasks + 1) * sizeof *types->of)};
	int status = types->of ? rehash(types) : hd_no_memory("types of tasks");
	for (size_t i = 0; i < graph->n_tasks && !status; i++) {
		const double *times = graph->times + i * graph->n_classes;
		status = find_type(types, times, hd_best_time(graph, i), &types->of[i]);
		if (!status)
			types->counts[types->of[i]]++;
	}
	return status;
}

void hd_types_free(struct hd_bound_types *types)
{
	free(types->times);
	free(types->counts);
	free(types->best);
	free(types->slots);
	free(types->of);
}
