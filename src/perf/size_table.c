/* The table of a model's entries by footprint: a hash table with chains that doubles when it is full. The entry that
 * was asked for last is found without it. bound.c chooses which entries leave. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "internal.h"

static size_t bucket_of(uint64_t footprint, size_t n_buckets)
{
	return (size_t)hd_mix(footprint) & (n_buckets - 1);
}

struct hd_perf_entry *hd_perf_entry_find(struct hd_perf_model *model, uint64_t footprint)
{
	if (!model->n_buckets)
		return NULL;
	struct hd_perf_entry *e = model->buckets[bucket_of(footprint, model->n_buckets)];
	while (e && e->footprint != footprint)
		e = e->next;
	return e;
}

static int grow(struct hd_perf_model *model)
{
	size_t n = model->n_buckets ? 2 * model->n_buckets : 8;
	struct hd_perf_entry **buckets = calloc(n, sizeof *buckets);
	if (!buckets)
		return -1;
	for (size_t i = 0; i < model->n_buckets; i++)
		for (struct hd_perf_entry *e = model->buckets[i], *next; e; e = next) {
			struct hd_perf_entry **bucket = &buckets[bucket_of(e->footprint, n)];
			next = e->next;
			e->next = *bucket;
			*bucket = e;
		}
	free(model->buckets);
	model->buckets = buckets;
	model->n_buckets = n;
	return 0;
}

struct hd_perf_entry *hd_perf_entry_add(struct hd_perf_model *model, uint64_t footprint)
{
	size_t n_classes = model->perf->platform->n_classes;
	struct hd_perf_entry *e = hd_perf_evict(model, model->perf->bound - 1);
	if (e) { /* the new entry takes the memory of the one that leaves */
		free(e->regressors);
		memset(e, 0, sizeof *e + n_classes * sizeof e->cells[0]);
	} else if (model->n_entries == model->n_buckets && grow(model)) {
		return NULL;
	} else {
		e = calloc(1, sizeof *e + n_classes * sizeof e->cells[0]);
	}
	if (!e)
		return NULL;
	e->model = model;
	e->footprint = footprint;
	for (size_t c = 0; c < n_classes; c++)
		e->cells[c].estimate = NAN;
	struct hd_perf_entry **bucket = &model->buckets[bucket_of(footprint, model->n_buckets)];
	e->next = *bucket;
	*bucket = e;
	model->n_entries++;
	hd_perf_touch(e);
	return e;
}

void hd_perf_entry_remove(struct hd_perf_entry *entry)
{
	struct hd_perf_model *model = entry->model;
	struct hd_perf_entry **at = &model->buckets[bucket_of(entry->footprint, model->n_buckets)];
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	model->n_entries--;
	if (model->recent == entry)
		model->recent = NULL;
}

void hd_perf_entry_free(struct hd_perf_entry *entry)
{
	free(entry->regressors);
	free(entry);
}

int hd_perf_entry_regressors(struct hd_perf_entry *entry, const double *x, size_t n)
{
	free(entry->regressors);
	entry->n_regressors = 0;
	entry->regressors = n ? malloc(n * sizeof *x) : NULL;
	if (!entry->regressors)
		return n ? -1 : 0;
	memcpy(entry->regressors, x, n * sizeof *x);
	entry->n_regressors = n;
	entry->model->n_regressors = n;
	return 0;
}

void hd_perf_entries_free(struct hd_perf_model *model)
{
	for (size_t i = 0; i < model->n_buckets; i++)
		for (struct hd_perf_entry *e = model->buckets[i], *next; e; e = next) {
			next = e->next;
			hd_perf_entry_free(e);
		}
	free(model->buckets);
	model->buckets = NULL;
	model->n_buckets = model->n_entries = 0;
	model->idle[0] = model->idle[1] = (struct hd_perf_idle){0};
	model->recent = NULL;
}

/* --- What the codelet says about a size --------------------------------------------------------------------------- */

static int ask_regressors(struct hd_perf_entry *entry, const struct heddle_size *size)
{
	double few[16], *x = few;
	size_t room = sizeof few / sizeof *few, n = entry->model->regressors(size, few, room);
	if (n > room) { /* call again with room for all regressors */
		room = n;
		x = malloc(room * sizeof *x);
		if (!x)
			return -1;
		n = entry->model->regressors(size, x, room);
		n = n < room ? n : room;
	}
	int failed = hd_perf_entry_regressors(entry, x, n);
	if (x != few)
		free(x);
	return failed;
}

/* Sets bytes, flops and regressors of an entry to what the codelet's functions say. -1: out of memory. */
static int ask(struct hd_perf_entry *entry, const struct heddle_size *size)
{
	struct hd_perf_model *model = entry->model;
	const struct hd_perf *perf = model->perf;
	entry->bytes = size->bytes;
	entry->flops = model->flops ? model->flops(size) : 0;
	if (!(entry->flops > 0 && isfinite(entry->flops)))
		entry->flops = 0;
	if (model->kind == HEDDLE_MODEL_LINEAR && model->regressors && ask_regressors(entry, size))
		return -1;
	for (unsigned c = 0; c < perf->platform->n_classes; c++) {
		if (model->kind == HEDDLE_MODEL_GIVEN) {
			double us = model->time(size, c);
			entry->cells[c].estimate = us >= 0 && us < INFINITY ? us : NAN;
		} else if (perf->from_platform) {
			entry->cells[c].estimate =
			    heddle_platform_time(perf->platform, model->name, c, entry->bytes, entry->flops);
		} else {
			hd_perf_estimate(entry, c);
			continue;
		}
		entry->cells[c].samples = UINT32_MAX;
	}
	entry->asked = 1;
	return 0;
}

struct hd_perf_entry *hd_perf_entry(struct hd_perf_model *model, uint64_t footprint, const struct heddle_size *size)
{
	struct hd_perf_entry *e = model->recent;
	if (HD_LIKELY(e && e->footprint == footprint))
		return e;
	e = hd_perf_entry_find(model, footprint);
	if (e)
		hd_perf_touch(e);
	else
		e = hd_perf_entry_add(model, footprint);
	if (!e || (!e->asked && ask(e, size)))
		return NULL;
	model->recent = e;
	return e;
}
