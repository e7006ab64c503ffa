/* Ranks of all submitted tasks, and prices of classes (submitted.h). */
#include "submitted.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "speed.h"

/* What a pass has met of a datum, from the last task on: the mode of the present group of accesses, and the largest
 * rank of the group, with the time to move the datum, and of the group behind it. */
struct hd_submitted_datum {
	const heddle_data *data;
	uint32_t pass, mode;
	double group, behind;
};

enum { CHUNK = 256, FEWEST_NEW = 32, SAMPLE = 256, ROUNDS = 40 };
struct hd_item_chunk {
	struct hd_item_chunk *next;
	struct hd_item items[CHUNK];
};

/* --- Records ------------------------------------------------------------------------------------------------------ */

static void find_speeds(struct hd_submitted *s)
{
	double sum = 0;
	for (size_t l = 0; l < s->platform->n_links; l++)
		sum += heddle_link_rate(s->platform, &s->platform->links[l]);
	s->us_per_byte = s->platform->n_links ? (double)s->platform->n_links / sum : 0;
	for (size_t w = 0; w < s->platform->n_workers; w++)
		s->n_workers[s->platform->workers[w].class_id]++;
}

int hd_submitted_init(struct hd_submitted *s, heddle_sched *sched, double mean, int prices)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*s = (struct hd_submitted){.sched = sched,
	                           .platform = p,
	                           .mean = mean,
	                           .prices_wanted = prices,
	                           .calibrates = heddle_sched_calibrate(sched) > 0};
	s->n_workers = calloc(p->n_classes, sizeof *s->n_workers);
	s->prices = calloc(p->n_classes, sizeof *s->prices);
	s->times = calloc(p->n_classes, sizeof *s->times);
	s->balance = calloc(SAMPLE * p->n_classes, sizeof *s->balance);
	if (!s->n_workers || !s->prices || !s->times || !s->balance)
		return hd_no_memory("the submitted tasks of the policy");
	for (size_t c = 0; c < p->n_classes; c++)
		s->prices[c] = 1;
	find_speeds(s);
	return HEDDLE_OK;
}

void hd_submitted_fini(struct hd_submitted *s)
{
	for (struct hd_item_chunk *c; (c = s->chunks);) {
		s->chunks = c->next;
		free(c);
	}
	free(s->n_workers);
	free(s->prices);
	free(s->times);
	free(s->balance);
	free(s->data);
}

static struct hd_item *take_record(struct hd_submitted *s)
{
	if (HD_UNLIKELY(!s->free)) {
		struct hd_item_chunk *c = malloc(sizeof *c);
		if (!c)
			return NULL;
		c->next = s->chunks;
		s->chunks = c;
		for (size_t i = CHUNK; i-- > 0;) {
			c->items[i].newer = s->free;
			s->free = &c->items[i];
		}
	}
	struct hd_item *item = s->free;
	s->free = item->newer;
	return item;
}

void hd_submitted_add(struct hd_submitted *s, heddle_task *t)
{
	struct hd_item *item = take_record(s);
	if (!item)
		return;
	*item = (struct hd_item){.node.order = heddle_task_order(t), .task = t, .older = s->newest};
	*heddle_task_word(t) = (uint64_t)(uintptr_t)item;
	*(s->newest ? &s->newest->newer : &s->oldest) = item;
	s->newest = item;
	s->n++;
	s->n_new++;
}

void hd_submitted_remove(struct hd_submitted *s, heddle_task *t)
{
	struct hd_item *item = hd_item_of(t);
	if (!item)
		return;
	*(item->older ? &item->older->newer : &s->oldest) = item->newer;
	*(item->newer ? &item->newer->older : &s->newest) = item->older;
	item->newer = s->free;
	s->free = item;
	s->n--;
}

/* --- The data of a pass ------------------------------------------------------------------------------------------- */

static struct hd_submitted_datum *slot_of(const struct hd_submitted *s, const heddle_data *d)
{
	size_t i = (size_t)hd_mix((uint64_t)(uintptr_t)d) & (s->data_size - 1);
	while (s->data[i].pass == s->pass && s->data[i].data != d)
		i = (i + 1) & (s->data_size - 1);
	return &s->data[i];
}

/* Doubles the table, and keeps what the pass has met. Returns 0 when out of memory. */
static int grow_data(struct hd_submitted *s)
{
	struct hd_submitted_datum *old = s->data;
	size_t n = s->data_size;
	s->data_size = n ? 2 * n : 256;
	s->data = calloc(s->data_size, sizeof *s->data);
	if (!s->data) {
		s->data = old;
		s->data_size = n;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		if (old[i].pass == s->pass)
			*slot_of(s, old[i].data) = old[i];
	free(old);
	return 1;
}

/* What the pass has met of a datum; a fresh slot if nothing. NULL when out of memory. */
static struct hd_submitted_datum *find_datum(struct hd_submitted *s, const heddle_data *d)
{
	if (HD_UNLIKELY(2 * s->n_data >= s->data_size) && !grow_data(s))
		return NULL;
	struct hd_submitted_datum *found = slot_of(s, d);
	if (found->pass != s->pass) {
		*found = (struct hd_submitted_datum){.data = d, .pass = s->pass};
		s->n_data++;
	}
	return found;
}

/* Whether accesses of this mode form groups; SCRATCH counts as R. */
static int is_shared(uint32_t mode)
{
	return !(mode & HEDDLE_W);
}

/* The largest rank of a task behind access `i` of `t`. The access becomes part of the present group of its datum. */
static double enter_group(struct hd_submitted *s, const heddle_task *t, size_t i)
{
	struct hd_submitted_datum *d = find_datum(s, heddle_task_data(t, i));
	uint32_t mode = heddle_task_mode(t, i);
	mode = mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
	if (!d)
		return 0;
	if (!(d->mode == mode && is_shared(mode))) {
		d->behind = d->group;
		d->group = 0;
		d->mode = mode;
	}
	return d->behind;
}

/* The rank of a task counts for those that wait before it, with the time to move the datum if it reads the datum. */
static void count_rank(struct hd_submitted *s, const heddle_task *t, size_t i, double rank)
{
	const heddle_data *data = heddle_task_data(t, i);
	uint32_t mode = heddle_task_mode(t, i);
	int reads = (mode & HEDDLE_R) || mode == HEDDLE_COMMUTE;
	struct hd_submitted_datum *d = find_datum(s, data);
	double us = rank + (reads ? (double)heddle_data_bytes(data) * s->us_per_byte : 0);
	if (d && us > d->group)
		d->group = us;
}

/* --- Ranks -------------------------------------------------------------------------------------------------------- */

double hd_submitted_time(const struct hd_submitted *s, const heddle_task *t, unsigned class_id)
{
	double us = heddle_task_time(t, class_id);
	if (HD_LIKELY(!isnan(us)))
		return us;
	if (!heddle_task_can_run_class(t, class_id))
		return INFINITY;
	return (s->typical > 0 ? s->typical : 1) / hd_class_speed(&s->platform->classes[class_id]);
}

/* Fills `times` for a task, and computes its own part of the rank. */
static void find_own(struct hd_submitted *s, struct hd_item *item)
{
	double least = INFINITY, sum = 0;
	unsigned n = 0;
	for (unsigned c = 0; c < s->platform->n_classes; c++) {
		double us = s->times[c] = hd_submitted_time(s, item->task, c);
		least = fmin(least, us);
		if (isfinite(us)) {
			sum += us * s->n_workers[c];
			n += s->n_workers[c];
		}
	}
	item->best = n ? (float)least : 0;
	item->own = n ? (float)(least + s->mean * sum / n) : 0;
}

static void note_highest(heddle_task *successor, unsigned n_preds, void *arg)
{
	const struct hd_item *item = hd_item_of(successor);
	(void)n_preds;
	if (item)
		*(double *)arg = fmax(*(double *)arg, item->node.rank);
}

/* The largest rank behind a task. */
static double rank_behind(struct hd_submitted *s, heddle_task *t)
{
	double behind = 0;
	for (size_t i = 0, n = heddle_task_n_data(t); i < n; i++)
		behind = fmax(behind, enter_group(s, t, i));
	if (HD_UNLIKELY(!heddle_task_is_plain(t)))
		heddle_task_successors(t, 0, note_highest, &behind);
	return behind;
}

/* --- Prices ------------------------------------------------------------------------------------------------------- */

/* The class on which a task with these times costs least. */
static size_t cheapest(const struct hd_submitted *s, const double *times)
{
	size_t best = 0;
	for (size_t c = 1; c < s->platform->n_classes; c++)
		if (times[c] * s->prices[c] < times[best] * s->prices[best])
			best = c;
	return best;
}

/* Raises the prices of classes that would get too much work if each task of the sample went where it costs least, and
 * lowers the others, by smaller and smaller steps. */
static void find_prices(struct hd_submitted *s, size_t n)
{
	size_t n_classes = s->platform->n_classes;
	double *load = s->times;
	for (int round = 0; round < ROUNDS; round++) {
		double mean = 0, step = 1 / (1 + round / 4.0);
		for (size_t c = 0; c < n_classes; c++)
			load[c] = 0;
		for (size_t i = 0; i < n; i++) {
			const double *times = &s->balance[i * n_classes];
			size_t c = cheapest(s, times);
			if (isfinite(times[c]))
				load[c] += times[c] / s->n_workers[c];
		}
		for (size_t c = 0; c < n_classes; c++)
			mean += load[c] / (double)n_classes;
		for (size_t c = 0; c < n_classes && mean > 0; c++)
			s->prices[c] = fmax(1e-6, s->prices[c] * exp(step * fmin(1, load[c] / mean - 1)));
	}
	double first = s->prices[0];
	for (size_t c = 0; c < n_classes; c++)
		s->prices[c] /= first;
}

/* --- The pass ----------------------------------------------------------------------------------------------------- */

void hd_submitted_renew(struct hd_submitted *s, void (*moved)(void *arg, struct hd_item *item, double rank), void *arg)
{
	if (HD_LIKELY(s->n_new < FEWEST_NEW || 4 * s->n_new < s->n))
		return;
	size_t stride = s->n / SAMPLE + 1, n_seen = 0, n_sample = 0, n_classes = s->platform->n_classes;
	double sum = 0;
	s->n_new = s->n_data = 0;
	s->pass++;
	for (struct hd_item *item = s->newest; item; item = item->older) {
		if (item->is_given)
			continue;
		int sampled = s->prices_wanted && n_seen % stride == 0 && n_sample < SAMPLE;
		if (sampled || item->own <= 0 || s->calibrates)
			find_own(s, item);
		double rank = (double)item->own + rank_behind(s, item->task);
		for (size_t i = 0, n = heddle_task_n_data(item->task); i < n; i++)
			count_rank(s, item->task, i, rank);
		if (sampled) {
			for (size_t c = 0; c < n_classes; c++)
				s->balance[n_sample * n_classes + c] = s->times[c];
			n_sample++;
		}
		sum += (double)item->best;
		n_seen++;
		if (item->is_queued && rank != item->node.rank)
			moved(arg, item, rank);
		else
			item->node.rank = rank;
	}
	s->typical = n_seen ? sum / (double)n_seen : s->typical;
	if (n_sample)
		find_prices(s, n_sample);
}
