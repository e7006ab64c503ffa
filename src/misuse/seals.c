/* Seals: checksums of the program's buffers, valid while no running task may write the buffers. The seal of a buffer is
 * broken when a task is about to write the buffer; the buffer is sealed again when the task has ended. Nothing may
 * change a sealed buffer: if its checksum differs at the next check, a task has changed it without declaring the
 * access, or the program has changed it without heddle_acquire. Suspects are the tasks that ran since the check before.
 *
 * When a task begins, the seals of its own data are checked. When it has ended, the seals within NEAR bytes of its data
 * are checked: an index that is slightly out of bounds is found at once and blamed on the right task. Waits check all
 * seals.
 *
 * Buffers may share memory: a datum and its children, or an array that was registered twice. Therefore a task that
 * writes a buffer breaks the seals of all buffers that overlap it, and a buffer is not sealed while a running task
 * writes an overlapping buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "misuse.h"
#include "base/grow.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/plan.h"
#include "state/runtime.h"

enum { NEAR = 4096 };

/* --- The table ---------------------------------------------------------------------------------------------------- */

int hd_is_home(const heddle_data *d)
{
	const heddle_data *whole = d;
	while (whole->plan) /* pieces of a temporary are windows, too, but of a replica that Heddle has allocated */
		whole = whole->plan->data;
	return whole->replicas[0].user_buffer && d->replicas[0].ptr && !(d->traits & HD_DATA_OBJECT);
}

/* Updates the address of the buffer: the address of a child is known only after its parent was partitioned. */
static void locate(struct hd_seal *s)
{
	const heddle_data *d = s->data;
	s->low = UINTPTR_MAX;
	s->high = 0;
	for (size_t i = 0; i < hd_data_n_parts(d); i++) {
		struct heddle_part part;
		uintptr_t low, high;
		hd_data_part_at(d, &d->replicas[0], i, &part);
		hd_span_of(&part, &low, &high);
		s->low = low < s->low ? low : s->low;
		s->high = high > s->high ? high : s->high;
	}
}

/* Notes that a datum has children. Its buffer is never sealed again: the values of the children arrive in it from other
 * memory nodes, and the states of the parent's replicas do not say when. */
static void note_split(heddle_data *parent)
{
	struct hd_seal *s = hd_seal_of(parent);
	if (!s)
		return;
	s->split = 1;
	s->sealed = 0;
}

static int add(struct hd_misuse *m, heddle_data *d, struct hd_data_extra *extra)
{
	if (d->plan)
		note_split(d->plan->data);
	if (HD_GROW(m->seals, m->n_seals, m->max_seals, 64))
		return HEDDLE_E_MEMORY;
	m->seals[m->n_seals++] = (struct hd_seal){.data = d};
	extra->seal = m->n_seals;
	locate(&m->seals[extra->seal - 1]);
	return 0;
}

struct hd_seal *hd_seal_of(heddle_data *d)
{
	struct hd_misuse *m = d->rt->misuse;
	struct hd_data_extra *extra = hd_is_home(d) ? hd_data_extra(d) : NULL;
	if (!extra)
		return NULL;
	if (!extra->seal && add(m, d, extra))
		return NULL;
	return &m->seals[extra->seal - 1];
}

static void forget(heddle_data *d)
{
	struct hd_misuse *m = d->rt->misuse;
	size_t at = d->extra ? d->extra->seal : 0;
	if (!at)
		return;
	d->extra->seal = 0;
	hd_twice_forget(m, d);
	m->seals[at - 1] = m->seals[--m->n_seals];
	if (at - 1 < m->n_seals)
		m->seals[at - 1].data->extra->seal = at;
}

/* --- Sealing ------------------------------------------------------------------------------------------------------ */

int hd_buffers_meet(const heddle_data *a, const heddle_data *b, hd_parts_test meet)
{
	struct heddle_part p, q;
	for (size_t i = 0; i < hd_data_n_parts(a); i++) {
		hd_data_part_at(a, &a->replicas[0], i, &p);
		for (size_t k = 0; k < hd_data_n_parts(b); k++) {
			hd_data_part_at(b, &b->replicas[0], k, &q);
			if (meet(&p, &q))
				return 1;
		}
	}
	return 0;
}

static int overlap(const heddle_data *a, const heddle_data *b)
{
	return hd_buffers_meet(a, b, hd_parts_overlap);
}

/* Whether a running task writes part of the datum. */
static int is_written(const struct hd_misuse *m, const heddle_data *d)
{
	for (const struct hd_watch *w = m->running; w; w = w->next)
		for (size_t i = 0; i < w->n; i++) {
			const struct hd_watched *x = &w->items[i];
			if (x->writes && x->data && (x->data == d || (x->home && overlap(x->data, d))))
				return 1;
		}
	return 0;
}

uint64_t hd_checksum_home(const heddle_data *d)
{
	struct heddle_part part;
	uint64_t sum = 0;
	for (size_t i = 0; i < hd_data_n_parts(d); i++) {
		hd_data_part_at(d, &d->replicas[0], i, &part);
		sum = hd_fold(sum, hd_checksum(&part));
	}
	return sum;
}

static void seal(struct hd_misuse *m, struct hd_seal *s, uint64_t sum)
{
	s->sum = sum;
	s->since = m->step;
	s->sealed = !s->split;
}

/* Whether the seal still applies: node 0 has a valid replica, and the buffer is where it was. */
static int holds(const struct hd_seal *s)
{
	return s->sealed && hd_is_home(s->data) && s->data->replicas[0].valid;
}

/* Checks the seal of a buffer. `w` is the watch of the task that has just ended, or NULL. */
static void look(struct hd_misuse *m, struct hd_seal *s, struct hd_watch *w)
{
	if (!holds(s) || is_written(m, s->data)) {
		s->sealed = 0;
		return;
	}
	const struct hd_seal before = *s;
	seal(m, s, hd_checksum_home(s->data));
	if (s->sum != before.sum)
		hd_changed(m, &(struct hd_found_change){.data = s->data, .since = before.since, .watch = w});
}

void hd_seal_end(heddle_data *d)
{
	struct hd_misuse *m = d->rt->misuse;
	if (d->extra && d->extra->seal && m->seals[d->extra->seal - 1].sealed)
		look(m, &m->seals[d->extra->seal - 1], NULL);
	forget(d);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Breaks the seals of all buffers that overlap the buffer that the task writes, and sets `shared` in the watches of the
 * running tasks that use an overlapping buffer. Such a running task has submitted this task; otherwise one of the two
 * tasks is wrong. */
static void break_seals(struct hd_watch *w, const struct hd_watched *x)
{
	struct hd_misuse *m = x->data->rt->misuse;
	for (size_t i = 0; i < m->n_seals; i++) {
		struct hd_seal *s = &m->seals[i];
		if (s->sealed && (s->data == x->data || (x->home && hd_is_home(s->data) && overlap(s->data, x->data))))
			s->sealed = 0;
	}
	for (struct hd_watch *other = m->running; other; other = other->next)
		for (size_t i = 0; i < other->n && other != w; i++) {
			const heddle_data *d = other->items[i].data;
			if (d && (d == x->data || (x->home && other->items[i].home && overlap(d, x->data))))
				other->shared = 1;
		}
}

void hd_seals_begin(struct hd_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct hd_watched *x = &w->items[i];
		const struct hd_seal *s = x->home ? hd_seal_of(x->data) : NULL;
		x->sealed = s && holds(s);
		x->seal = s ? s->sum : 0;
		x->since = s ? s->since : 0;
	}
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i].data && w->items[i].writes)
			break_seals(w, &w->items[i]);
	hd_twice_look(w);
}

/* Whether the buffer of `s` lies near a buffer that the task uses, and the task does not use it itself. */
static int is_near(const struct hd_watch *w, const struct hd_seal *s)
{
	int near = 0;
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_watched *x = &w->items[i];
		if (x->data == s->data)
			return 0;
		const struct hd_seal *own = x->home && x->data->extra && x->data->extra->seal
		                                ? &x->data->rt->misuse->seals[x->data->extra->seal - 1]
		                                : NULL;
		near |= own && s->low < own->high + NEAR && own->low < s->high + NEAR;
	}
	return near;
}

/* Whether the buffer holds the newest value, and will until a task begins to write it. A task that has run on an
 * accelerator may have no watch any more although its worker has not yet ended it; then the value is about to become
 * invalid. */
static int can_be_sealed(const struct hd_misuse *m, const struct hd_seal *s)
{
	const heddle_data *d = s->data;
	return hd_is_home(d) && d->replicas[0].valid && !d->n_writers && !is_written(m, d);
}

/* Seals the buffer of a new datum at once: from now on the buffer belongs to the runtime. A child is sealed after the
 * first task that uses it. */
void hd_misuse_registered(heddle_data *d)
{
	struct hd_misuse *m = d->rt->misuse;
	HD_HELD(&d->rt->lock);
	struct hd_seal *s = hd_seal_of(d);
	if (s && !d->plan && d->rt->engine->runs_kernels && can_be_sealed(m, s))
		seal(m, s, hd_checksum_home(d));
}

void hd_seals_near(struct hd_watch *w)
{
	struct hd_misuse *m = hd_task_runtime(w->task)->misuse;
	for (size_t i = 0; i < m->n_seals; i++) {
		struct hd_seal *s = &m->seals[i];
		if (!s->sealed && is_near(w, s) && can_be_sealed(m, s))
			seal(m, s, hd_checksum_home(s->data));
	}
}

/* Seals the buffers of the program that the task of the watch, which has just ended, has used. After a failure the
 * buffers that the task wrote are not sealed: an earlier value may replace the value in them. */
static void seal_own(const struct hd_watch *w)
{
	struct hd_misuse *m = hd_task_runtime(w->task)->misuse;
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_watched *x = &w->items[i];
		struct hd_seal *s = x->looked && x->home ? hd_seal_of(x->data) : NULL;
		if (!s || (w->failed && x->writes) || is_written(m, x->data))
			continue;
		seal(m, s, x->after);
	}
}

void hd_seals_end(struct hd_watch *w)
{
	struct hd_misuse *m = hd_task_runtime(w->task)->misuse;
	if (hd_watch_node(w) != 0) /* the task has used replicas on another node */
		return;
	if (!w->shared)
		seal_own(w);
	for (size_t i = 0; i < m->n_seals; i++)
		if (m->seals[i].sealed && is_near(w, &m->seals[i]))
			look(m, &m->seals[i], w);
	/* the task fails: an earlier value may replace the values that it wrote, as in seal_own */
	for (size_t i = 0; w->finding && i < w->n; i++)
		if (w->items[i].writes && w->items[i].home && hd_seal_of(w->items[i].data))
			hd_seal_of(w->items[i].data)->sealed = 0;
}

void hd_misuse_look(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	for (size_t i = 0; i < rt->misuse->n_seals; i++)
		if (rt->misuse->seals[i].sealed)
			look(rt->misuse, &rt->misuse->seals[i], NULL);
}
