/* Calibration: a table of the kinds of tasks that lack samples. Out of memory is no error: the tasks of a new kind are
 * then not counted, and their samples are spread less evenly over the classes. */
#include "sample_placement.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

void hd_calibration_init(struct hd_calibration *c, heddle_sched *sched)
{
	*c = (struct hd_calibration){.n_classes = heddle_sched_platform(sched)->n_classes,
	                             .wanted = heddle_sched_calibrate(sched)};
}

void hd_calibration_fini(struct hd_calibration *c)
{
	free(c->kinds.slots);
	free(c->in_flight);
}

/* The number of samples that the model of a task needs on a class: at least one, even if the setting `calibrate` is 0,
 * if the time is unknown. */
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
	return key;
}

/* The counts, per class, of the task's kind; NULL: the kind is not in the table. */
static uint32_t *counts(const struct hd_calibration *c, const heddle_task *t)
{
	const struct hd_table_slot *slot = c->kinds.used ? hd_table_find(&c->kinds, key_of(t)) : NULL;
	return slot && slot->value ? c->in_flight + (slot->value - 1) * c->n_classes : NULL;
}

/* Adds the task's kind to the table, and returns its counts; NULL: out of memory. */
static uint32_t *add_kind(struct hd_calibration *c, const heddle_task *t)
{
	size_t n = c->kinds.used, size = c->n_classes * sizeof *c->in_flight;
	if (hd_grow(&c->in_flight, n, &c->room, size, 16) || hd_table_reserve(&c->kinds, 1))
		return NULL;
	uint64_t key = key_of(t);
	hd_table_fill(&c->kinds, hd_table_find(&c->kinds, key), key, n);
	return memset(c->in_flight + n * c->n_classes, 0, size);
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
	uint32_t *in_flight = counts(c, t);
	if (!in_flight)
		in_flight = add_kind(c, t);
	if (in_flight)
		in_flight[class_id]++;
}

void hd_calibration_done(struct hd_calibration *c, const heddle_task *t, unsigned class_id)
{
	if (!c->kinds.used || HD_LIKELY(!lacks_samples(c, t, class_id)))
		return;
	uint32_t *in_flight = counts(c, t);
	if (in_flight && in_flight[class_id])
		in_flight[class_id]--;
}
