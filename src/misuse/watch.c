/* The checks before and after each kernel, and the checks of data that the program has acquired. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "misuse.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/failure.h"
#include "state/kernel_context.h"

static struct hd_misuse *misuse_of(const struct hd_watch *w)
{
	return hd_task_runtime(w->task)->misuse;
}

void hd_finding(struct hd_watch *w, char *text, const heddle_data *d)
{
	if (w->finding) {
		free(text);
		return;
	}
	w->finding = text;
	w->about = d;
}

/* Returns the finding as a message, which the caller frees. NULL: out of memory. Called with the core lock. */
static char *report(const struct hd_watch *w)
{
	char last[200] = "";
	HD_HELD(&hd_task_runtime(w->task)->lock);
	if (w->about)
		hd_last_writer(w->about, last, sizeof last);
	if (!w->worker)
		return hd_format("%s, which had acquired the datum: %s%s", w->title, w->finding, last);
	return hd_format("on %s %s%s", w->worker->rt->platform->workers[w->worker->id].name, w->finding, last);
}

/* --- Suspects: who has changed a datum ---------------------------------------------------------------------------- */

/* The tasks that ran since the datum was last found unchanged. */
struct suspects {
	unsigned n;
	char names[400];
};

static void add_suspect(struct suspects *s, const char *name)
{
	enum { MOST = 3 };
	size_t used = strlen(s->names);
	if (s->n++ < MOST)
		snprintf(s->names + used, sizeof s->names - used, "%s%s", used ? ", " : "", name);
}

/* Collects the suspects, except the task that has just ended, which is the last entry of the ring `pasts`. */
static void find_suspects(const struct hd_misuse *m, const struct hd_found_change *c, struct suspects *s)
{
	for (const struct hd_watch *w = m->running; w; w = w->next)
		if (w != c->innocent && w->worker)
			add_suspect(s, w->title);
	uint64_t n = m->n_pasts - (c->watch && c->watch->worker ? 1 : 0);
	for (uint64_t k = 1; k <= HD_PASTS && k <= n; k++)
		if (m->pasts[(n - k) % HD_PASTS].ended > c->since)
			add_suspect(s, m->pasts[(n - k) % HD_PASTS].title);
	size_t used = strlen(s->names);
	if (s->n > 3)
		snprintf(s->names + used, sizeof s->names - used, " and %u more", s->n - 3);
}

/* Returns the message for the case that the task that has just ended is among the suspects. NULL: out of memory. */
static char *accuse(const struct hd_found_change *c, const struct suspects *s, const char *name)
{
	const char *what = c->by_reader ? "which it only reads" : "which it does not access";
	if (!s->n)
		return hd_format("it changed %s, %s", name, what);
	return hd_format("it changed %s, %s, or one of these did, which ran meanwhile: %s", name, what, s->names);
}

void hd_changed(struct hd_misuse *m, const struct hd_found_change *c)
{
	heddle_runtime *rt = c->data->rt;
	char name[80], last[200];
	struct suspects s = {0};
	hd_data_name(c->data, name, sizeof name);
	find_suspects(m, c, &s);
	if (c->watch && c->watch->worker) {
		hd_finding(c->watch, accuse(c, &s, name), c->data);
		return;
	}
	hd_last_writer(c->data, last, sizeof last);
	char *text;
	if (c->watch)
		text =
		    hd_format("%s changed %s, which it had acquired for reading only%s", c->watch->title, name, last);
	else if (s.n == 1)
		text = hd_format("%s changed %s, which it may not write%s", s.names, name, last);
	else if (s.n)
		text =
		    hd_format("%s was changed by one of these, none of which may write it: %s%s", name, s.names, last);
	else
		text = hd_format("the program changed %s while no task ran, without heddle_acquire%s", name, last);
	hd_failure_note(rt->outcome.failure, HEDDLE_E_MISUSE, 0, text);
	free(text);
}

/* --- Beginning ---------------------------------------------------------------------------------------------------- */

static struct hd_watch *make_watch(heddle_task *t, const struct hd_worker *worker)
{
	struct hd_watch *w = calloc(1, sizeof *w + t->n_accesses * sizeof *w->items);
	if (!w)
		return NULL;
	w->task = t;
	w->worker = worker;
	w->n = t->n_accesses;
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_access *a = &t->accesses[i];
		heddle_data *d = a->private_copy ? a->private_copy : a->data;
		if ((a->flags & HD_ACCESS_ALIAS) || (d->traits & HD_DATA_OBJECT))
			continue;
		w->items[i].data = d;
		w->items[i].mode = a->mode;
		w->items[i].writes = a->private_copy || hd_mode_writes(a->mode);
	}
	return w;
}

/* Prepares the names of the task and of its data for messages. */
static void name_all(struct hd_watch *w)
{
	char title[HD_TITLE];
	HD_HELD(&hd_task_runtime(w->task)->lock);
	hd_task_title(w->task, title, sizeof title);
	if (w->worker)
		snprintf(w->title, sizeof w->title, "%.90s on %.30s", title,
		         w->worker->rt->platform->workers[w->worker->id].name);
	else
		snprintf(w->title, sizeof w->title, "%.120s", w->task->kind == HD_TASK_ACQUIRE ? "the program" : title);
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i].data)
			hd_data_name(w->items[i].data, w->items[i].name, sizeof w->items[i].name);
}

static void enlist(struct hd_watch *w)
{
	struct hd_misuse *m = misuse_of(w);
	HD_HELD(&hd_task_runtime(w->task)->lock);
	for (size_t i = 0; i < w->n; i++)
		w->items[i].home = w->items[i].data && hd_is_home(w->items[i].data);
	name_all(w);
	w->began = ++m->step;
	w->next = m->running;
	w->prev_next = &m->running;
	if (w->next)
		w->next->prev_next = &w->next;
	m->running = w;
	hd_seals_begin(w);
}

static void unlist(struct hd_watch *w)
{
	*w->prev_next = w->next;
	if (w->next)
		w->next->prev_next = w->prev_next;
}

/* Frees the watch, which is not in the list any more. */
static void end_watch(struct hd_watch *w)
{
	hd_writers_note(w);
	free(w->finding);
	free(w->values);
	free(w);
}

/* The checksum of the replica that the task uses. Needs no lock: the access is granted and the replica is pinned. */
static uint64_t sum_of(const struct hd_watch *w, const struct hd_watched *x)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < hd_data_n_parts(x->data); i++) {
		struct heddle_part part;
		hd_data_part_at(x->data, &x->data->replicas[hd_watch_node(w)], i, &part);
		sum = hd_fold(sum, hd_checksum(&part));
	}
	return sum;
}

/* Called before the task's replicas are read: if their memory is not mapped any more, the crash is then reported as a
 * crash of the task's kernel. Returns the argument of end_look. */
static struct hd_watch *begin_look(struct hd_watch *w)
{
	struct hd_inside *here = hd_inside();
	struct hd_watch *before = here->watch;
	here->watch = w;
	hd_crash_watch_thread();
	return before;
}

static void end_look(struct hd_watch *before)
{
	hd_inside()->watch = before;
}

/* Whether the buffer of the program was changed before the task began. */
static int found_changed(const struct hd_watch *w, const struct hd_watched *x)
{
	return x->known && x->sealed && hd_watch_node(w) == 0 && x->before != x->seal;
}

/* Takes the checksums of replicas that the task only reads, and of sealed buffers. Called without the core lock. */
static void sum_before(struct hd_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct hd_watched *x = &w->items[i];
		if (!x->data || (x->writes && !(x->sealed && hd_watch_node(w) == 0)))
			continue;
		x->before = sum_of(w, x);
		x->known = 1;
	}
}

/* Reports the buffers that were changed before the task began. */
static void tell_before(struct hd_watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (found_changed(w, &w->items[i]))
			hd_changed(misuse_of(w), &(struct hd_found_change){.data = w->items[i].data,
			                                                   .since = w->items[i].since,
			                                                   .innocent = w});
}

int hd_misuse_begin(heddle_context *c)
{
	heddle_runtime *rt = c->worker->rt;
	struct hd_watch *w = make_watch(c->task, c->worker);
	if (!w || hd_values_keep(w)) {
		free(w);
		hd_core_enter(rt);
		hd_task_message(c->task, "out of memory for watching it, as the setting check wants");
		hd_core_unlock(rt);
		return HEDDLE_E_MEMORY;
	}
	hd_core_enter(rt);
	enlist(w);
	hd_core_unlock(rt);
	struct hd_watch *outer = begin_look(w);
	if (rt->misuse->host[c->worker->node])
		sum_before(w);
	end_look(outer);
	if (c->worker->node == 0) {
		hd_core_enter(rt);
		tell_before(w);
		hd_seals_near(w);
		hd_core_unlock(rt);
	}
	c->watch = w;
	return 0;
}

/* --- Ending ------------------------------------------------------------------------------------------------------- */

/* Checks the task's guard zones and values, and its data only if `at_data`. Called without the core lock, except for an
 * ACQUIRE task. */
static void look_after(struct hd_watch *w, int at_data)
{
	hd_values_look(w);
	if (!at_data || !misuse_of(w)->host[hd_watch_node(w)])
		return;
	for (size_t i = 0; i < w->n; i++) {
		struct hd_watched *x = &w->items[i];
		if (!x->data)
			continue;
		hd_zones_look(w, x, hd_watch_node(w));
		if (x->known || (x->home && hd_watch_node(w) == 0)) {
			x->after = sum_of(w, x);
			x->looked = 1;
		}
	}
}

/* Records a change of a replica that several tasks were reading. Returns whether the change was reported already. */
static int was_told(struct hd_misuse *m, const void *ptr, uint64_t sum)
{
	for (size_t k = 0; k < HD_TOLD; k++)
		if (m->told[k].ptr == ptr && m->told[k].sum == sum)
			return 1;
	m->told[m->n_told++ % HD_TOLD] = (struct hd_told){ptr, sum};
	return 0;
}

/* Compares the checksums of the data that the task only reads with those from its begin. */
static void compare_read(struct hd_watch *w)
{
	struct hd_misuse *m = misuse_of(w);
	for (size_t i = 0; i < w->n; i++) {
		const struct hd_watched *x = &w->items[i];
		if (!x->looked || x->writes || w->shared || x->after == x->before ||
		    was_told(m, x->data->replicas[hd_watch_node(w)].ptr, x->after))
			continue;
		hd_changed(m,
		           &(struct hd_found_change){.data = x->data, .since = w->began, .watch = w, .by_reader = 1});
	}
}

/* Takes the watch out of the list and adds the task to the ring of ended tasks. */
static void retire(struct hd_watch *w)
{
	struct hd_misuse *m = misuse_of(w);
	HD_HELD(&hd_task_runtime(w->task)->lock);
	unlist(w);
	m->step++;
	if (!w->worker)
		return;
	struct hd_past *past = &m->pasts[m->n_pasts++ % HD_PASTS];
	memcpy(past->title, w->title, sizeof past->title);
	past->ended = m->step;
}

int hd_misuse_end(heddle_context *c, int status)
{
	struct hd_watch *w = c->watch;
	heddle_runtime *rt = c->worker->rt;
	heddle_task *t = c->task;
	c->watch = NULL;
	hd_core_enter(rt);
	/* a task that waits for events still uses its data */
	int stays = t->extra && t->extra->n_events;
	w->failed = status || t->status;
	hd_core_unlock(rt);
	struct hd_watch *outer = begin_look(w);
	look_after(w, !stays);
	end_look(outer);
	hd_core_enter(rt);
	if (!stays) {
		retire(w);
		compare_read(w);
		hd_seals_end(w);
	}
	if (w->finding && !status) {
		char *text = report(w);
		hd_task_message(t, text ? text : w->finding);
		free(text);
		status = HEDDLE_E_MISUSE;
	}
	if (!stays)
		end_watch(w);
	hd_core_unlock(rt);
	return status;
}

static struct hd_watch *find_watch(const struct hd_misuse *m, const heddle_task *t)
{
	struct hd_watch *w = m->running;
	while (w && w->task != t)
		w = w->next;
	return w;
}

void hd_misuse_conclude(heddle_task *t)
{
	struct hd_watch *w = find_watch(hd_task_runtime(t)->misuse, t);
	if (!w)
		return;
	retire(w);
	end_watch(w);
}

/* --- The program -------------------------------------------------------------------------------------------------- */

void hd_misuse_acquired(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct hd_watch *w = make_watch(t, NULL);
	if (!w) /* out of memory: this acquisition is not checked */
		return;
	enlist(w);
	sum_before(w);
	tell_before(w);
}

void hd_misuse_given_back(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	struct hd_watch *w = find_watch(hd_task_runtime(t)->misuse, t);
	if (!w)
		return;
	look_after(w, 1);
	retire(w);
	compare_read(w);
	hd_seals_end(w);
	if (w->finding) {
		char *text = report(w);
		hd_failure_note(hd_task_runtime(t)->outcome.failure, HEDDLE_E_MISUSE, 0, text);
		free(text);
	}
	end_watch(w);
}
