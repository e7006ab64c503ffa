/* Many simulations on several threads: see simulations.h. Each has a runtime of its own and writes only its own
 * outcome. */
#include "simulations.h"
#include <stdlib.h>
#include <string.h>

/* Whether both simulations submit the same tasks. Traced runs count as different, because they do not repeat a
 * recording. */
static int are_alike(const struct simulation *a, const struct simulation *b)
{
	const struct heddle_application *app = work_application(&a->work);
	const char *expand = a->config.expand ? a->config.expand : "",
	           *other = b->config.expand ? b->config.expand : "";
	if (a == b || a->work.keep_trace || b->work.keep_trace)
		return a == b;
	return a->platform == b->platform && work_application(&b->work) == app && strcmp(expand, other) == 0 &&
	       memcmp(a->work.options, b->work.options, app->size) == 0;
}

/* Gives simulations of the same tasks one recording, and puts them one after the other in `order`, so that few
 * recordings are in memory at once. Returns the recordings, at most n; the caller frees them. */
static struct recording *share(struct simulation *list, size_t n, size_t *order, size_t *n_recordings)
{
	struct recording *recordings = tool_alloc((n + 1) * sizeof *recordings);
	size_t placed = 0;
	*n_recordings = 0;
	for (size_t i = 0; i < n; i++) {
		size_t first = placed;
		struct recording *recording = &recordings[*n_recordings];
		for (size_t k = i; k < n && !list[i].work.recording; k++)
			if (!list[k].work.recording && are_alike(&list[i], &list[k]))
				order[placed++] = k;
		for (size_t k = first; k < placed; k++)
			list[order[k]].work.recording = recording;
		if (placed > first)
			recording_init(&recordings[(*n_recordings)++], placed - first);
	}
	return recordings;
}

struct batch {
	const struct simulation *list;
	const size_t *order;
};

static int run(void *arg, size_t i)
{
	const struct batch *batch = arg;
	const struct simulation *s = &batch->list[batch->order[i]];
	return work_sim(&s->config, s->platform, &s->work, s->outcome);
}

int simulations_run(struct simulation *list, size_t n)
{
	size_t *order = tool_alloc((n + 1) * sizeof *order), n_recordings;
	struct recording *recordings = share(list, n, order, &n_recordings);
	struct batch batch = {list, order};
	int status = tool_jobs(run, &batch, n, tool_cores());
	for (size_t i = 0; i < n_recordings; i++)
		recording_free(&recordings[i]);
	free(recordings);
	free(order);
	return status;
}
