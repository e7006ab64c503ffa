/* Finds types of tasks: tasks with equal times on all classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

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

/* Finds the type with these times, or makes it. */
static int find_type(struct hd_bound_types *types, const double *times, double best, size_t *out)
{
	size_t size = types->n_classes * sizeof *times;
	int status = hd_table_reserve(&types->by_times, 1) ? hd_no_memory("types of tasks") : 0;
	if (!status && types->n == types->room)
		status = enlarge(types);
	if (status)
		return status;
	uint64_t hash = hd_hash_reals(times, types->n_classes);
	struct hd_table_slot *slot = hd_table_find(&types->by_times, hash);
	while (slot->value && memcmp(types->times + (slot->value - 1) * types->n_classes, times, size) != 0)
		slot = hd_table_next(&types->by_times, slot);
	if (!slot->value) {
		memcpy(types->times + types->n * types->n_classes, times, size);
		types->counts[types->n] = 0;
		types->best[types->n] = best;
		hd_table_fill(&types->by_times, slot, hash, types->n++);
	}
	*out = slot->value - 1;
	return 0;
}

int hd_types_init(struct hd_bound_types *types, const struct hd_costed *graph)
{
	*types = (struct hd_bound_types){.n_classes = graph->n_classes,
	                                 .of = malloc((graph->n_tasks + 1) * sizeof *types->of)};
	int status = types->of ? 0 : hd_no_memory("types of tasks");
	for (size_t i = 0; i < graph->n_tasks && !status; i++) {
		if (graph->like[i] != i)
			types->of[i] = types->of[graph->like[i]];
		else
			status = find_type(types, graph->times + i * graph->n_classes, graph->best[i], &types->of[i]);
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
	free(types->by_times.slots);
	free(types->of);
}
