/* Calibration: a hash table, with open addressing, of the kinds of tasks that lack samples. If memory runs out, tasks
 * are not counted, and samples are only spread less evenly over the classes. */
#include "sample_placement.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void hd_calibration_init(struct hd_calibration *c, heddle_sched *sched)
{
	*c = (struct hd_calibration){.n_classes = heddle_sched_platform(sched)->n_classes,
	                             .wanted = heddle_sched_calibrate(sched)};
}

void hd_calibration_fini(struct hd_calibration *c)
{
	free(c->keys);
	free(c->in_flight);
}

/* How many samples a task needs on a class. Even if the setting `calibrate` is 0, one is needed if nothing is known. */
static unsigned wanted(const struct hd_calibration *c, const heddle_task *t, unsigned class_id)
{
	return c->wanted ? c->wanted : (unsigned)!!isnan(heddle_task_time(t, class_id));
}

static int lacks_samples(const struct hd_calibration *c, const heddle_task *t, unsigned class_id)
{
	unsigned want = wanted(c, t, class_id);
	return want && heddle_task_samples(t, class_id) < want;
}

static uint64_t key_of(const heddle_task *t)
{
	uint64_t key = hd_mix((uint64_t)(uintptr_t)heddle_task_codelet(t));
	for (size_t i = 0; i < heddle_task_n_data(t); i++)
		key = hd_hash(key, heddle_data_bytes(heddle_task_data(t, i)));
	return key ? key : 1;
}

/* The slot of a key, or the free slot where it belongs. */
static size_t slot_of(const struct hd_calibration *c, uint64_t key)
{
	size_t slot = key & (c->capacity - 1);
	while (c->keys[slot] && c->keys[slot] != key)
		slot = (slot + 1) & (c->capacity - 1);
	return slot;
}

static int grow(struct hd_calibration *c)
{
	struct hd_calibration larger = *c;
	larger.capacity = c->capacity ? 2 * c->capacity : 16;
	larger.keys = calloc(larger.capacity, sizeof *larger.keys);
	larger.in_flight = calloc(larger.capacity * c->n_classes, sizeof *larger.in_flight);
	if (!larger.keys || !larger.in_flight) {
		hd_calibration_fini(&larger);
		return 0;
	}
	for (size_t i = 0; i < c->capacity; i++) {
		if (!c->keys[i])
			continue;
		size_t slot = slot_of(&larger, c->keys[i]);
		larger.keys[slot] = c->keys[i];
		memcpy(larger.in_flight + slot * c->n_classes, c->in_flight + i * c->n_classes,
		       c->n_classes * sizeof *c->in_flight);
	}
	hd_calibration_fini(c);
	*c = larger;
	return 1;
}

/* The counts, per class, of the task's kind; NULL: it is not in the table. */
static uint32_t *counts(const struct hd_calibration *c, const heddle_task *t)
{
	if (!c->n)
		return NULL;
	size_t slot = slot_of(c, key_of(t));
	return c->keys[slot] ? c->in_flight + slot * c->n_classes : NULL;
}

int hd_calibration_class(struct hd_calibration *c, const heddle_task *t)
{
	const uint32_t *in_flight = NULL;
	int best = -1;
	unsigned fewest = 0;
	for (unsigned class_id = 0; class_id < c->n_classes; class_id++) {
		if (HD_LIKELY(!lacks_samples(c, t, class_id)) || !heddle_task_can_run_class(t, class_id))
			continue;
		if (!in_flight)
			in_flight = counts(c, t);
		unsigned samples = heddle_task_samples(t, class_id) + (in_flight ? in_flight[class_id] : 0);
		if (samples < wanted(c, t, class_id) && (best < 0 || samples < fewest)) {
			best = (int)class_id;
			fewest = samples;
		}
	}
	return best;
}

void hd_calibration_placed(struct hd_calibration *c, const heddle_task *t, unsigned class_id)
{
	if (HD_LIKELY(!lacks_samples(c, t, class_id)))
		return;
	if (2 * (c->n + 1) > c->capacity && !grow(c))
		return;
	uint64_t key = key_of(t);
	size_t slot = slot_of(c, key);
	c->n += c->keys[slot] == 0;
	c->keys[slot] = key;
	c->in_flight[slot * c->n_classes + class_id]++;
}

void hd_calibration_done(struct hd_calibration *c, const heddle_task *t, unsigned class_id)
{
	if (!c->n || HD_LIKELY(!lacks_samples(c, t, class_id)))
		return;
	uint32_t *in_flight = counts(c, t);
	if (in_flight && in_flight[class_id])
		in_flight[class_id]--;
}
