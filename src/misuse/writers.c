/* The last writer of each datum, which findings name beside the faulty task. A task that writes a piece has written
 * part of the whole datum; a task that writes the whole datum has written each piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "state/data.h"
#include "state/plan.h"
#include "state/runtime.h"

struct written {
	uint64_t step; /* the step of the write; 0: no task has written */
	char title[128];
};

struct hd_writers {
	struct written whole, piece; /* the last writers: whole: of the datum itself; piece: of a piece of the datum */
};

static struct hd_writers *writers_of(heddle_data *d)
{
	struct hd_data_extra *extra = hd_data_extra(d);
	if (extra && !extra->writers)
		extra->writers = calloc(1, sizeof *extra->writers);
	return extra ? extra->writers : NULL;
}

void hd_writers_note(const struct hd_watch *w)
{
	HD_HELD(&hd_task_runtime(w->task)->lock);
	struct written now = {.step = hd_task_runtime(w->task)->misuse->step};
	memcpy(now.title, w->title, sizeof now.title);
	for (size_t i = 0; i < w->n && !w->failed; i++) {
		heddle_data *d = w->items[i].data;
		if (!d || !w->items[i].writes || d->is_private)
			continue;
		struct hd_writers *of = writers_of(d);
		if (of)
			of->whole = now;
		while (d->plan) {
			d = d->plan->data;
			if ((of = writers_of(d)))
				of->piece = now;
		}
	}
}

static const struct written *later(const struct written *a, const struct written *b)
{
	return b->step > a->step ? b : a;
}

const char *hd_last_writer(const heddle_data *d, char *buffer, size_t size)
{
	static const struct written nobody;
	const struct written *last = &nobody;
	HD_HELD(&d->rt->lock);
	if (d->extra && d->extra->writers)
		last = later(&d->extra->writers->whole, &d->extra->writers->piece);
	for (; d->plan; d = d->plan->data)
		if (d->plan->data->extra->writers)
			last = later(last, &d->plan->data->extra->writers->whole);
	buffer[0] = '\0';
	if (last->step)
		snprintf(buffer, size, "; %s had written it last", last->title);
	return buffer;
}
