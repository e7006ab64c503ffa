/* Turns the checking mode on and off, and keeps ended objects: data, tasks, groups and runtimes. A program that uses a
 * handle after its end gets an error that names the handle. Therefore the memory of an ended object is not used again
 * at once: the mode keeps the last KEPT data, the last KEPT tasks, and the last KEPT_RUNTIMES stopped runtimes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "misuse.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/process.h"

enum { KEPT = 4096, KEPT_RUNTIMES = 8 };

/* --- On and off --------------------------------------------------------------------------------------------------- */

/* Whether the CPU can read the memory of a node. */
static int is_host(const heddle_runtime *rt, size_t node)
{
	unsigned class_id = rt->platform->workers[rt->node_worker[node]].class_id;
	return node == 0 || strcmp(rt->platform->classes[class_id].kind, "emulated") == 0;
}

int hd_misuse_open(heddle_runtime *rt)
{
	struct hd_misuse *m = calloc(1, sizeof *m);
	if (!m)
		return hd_no_memory("the checking mode");
	m->last_datum = &m->data;
	m->host = calloc(rt->n_nodes, 1);
	m->spare = calloc(1, HD_SPARE);
	rt->misuse = m;
	rt->retire_task = hd_misuse_retire_task;
	if (!m->host || !m->spare)
		return hd_no_memory("the checking mode");
	for (size_t i = 0; i < rt->n_nodes; i++)
		m->host[i] = (uint8_t)is_host(rt, i);
	m->crashes = (uint8_t)rt->engine->runs_kernels;
	if (m->crashes)
		hd_crash_open();
	return 0;
}

void hd_misuse_stops(heddle_runtime *rt)
{
	rt->misuse->stops = 1;
}

static void free_mode(struct hd_misuse *m)
{
	for (size_t i = 0; i < HD_OTHERS; i++)
		free(m->others[i]);
	free(m);
}

int hd_misuse_close(heddle_runtime *rt)
{
	struct hd_misuse *m = rt->misuse;
	if (!m)
		return 0;
	if (m->crashes)
		hd_crash_close();
	free(m->host);
	free(m->spare);
	free(m->seals);
	m->host = NULL;
	m->spare = NULL;
	m->seals = NULL;
	m->n_seals = m->max_seals = 0;
	if (m->stops)
		return 1;
	rt->misuse = NULL;
	free_mode(m);
	return 0;
}

/* The runtimes that were stopped last: a ring, whose newest entry is at n_tombs - 1. They are kept because the program
 * may still name the runtimes, their data and their tasks. Leak detectors find the memory here. */
static struct hd_lock tombs_lock; /* guards tombs and n_tombs */
static heddle_runtime *tombs[KEPT_RUNTIMES];
static size_t n_tombs; /* number of runtimes kept so far, including those freed since */

heddle_runtime *hd_misuse_retire_runtime(heddle_runtime *rt)
{
	hd_lock(&tombs_lock);
	heddle_runtime **place = &tombs[n_tombs++ % KEPT_RUNTIMES], *oldest = *place;
	*place = rt;
	hd_unlock(&tombs_lock);
	if (!oldest)
		return NULL;
	hd_lock(&oldest->lock); /* no other thread uses this runtime, but hd_data_reuse asserts that its lock is held */
	for (heddle_data *d = oldest->misuse->data, *next; d; d = next) {
		next = d->next;
		hd_data_reuse(d);
	}
	hd_unlock(&oldest->lock);
	free_mode(oldest->misuse);
	return oldest;
}

/* Resets the locks in a child of fork, which has one thread. */
static void forked(void)
{
	tombs_lock = (struct hd_lock){0};
	hd_crash_forked();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forked);
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

void hd_misuse_datum_ends(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	if (d->rt->misuse->host)
		hd_seal_end(d);
}

void hd_misuse_retire_datum(heddle_data *d)
{
	struct hd_misuse *m = d->rt->misuse;
	HD_HELD(&d->rt->lock);
	if (hd_data_closed(d) != HD_UNREGISTERED)
		hd_data_close(d, HD_UNREGISTERED);
	d->plan = NULL;
	d->next = NULL;
	*m->last_datum = d;
	m->last_datum = &d->next;
	if (++m->n_data <= KEPT)
		return;
	heddle_data *oldest = m->data;
	m->data = oldest->next;
	m->n_data--;
	hd_data_reuse(oldest);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

int hd_misuse_release(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	int before = hd_misuse_check_task(t, "heddle_task_release");
	hd_core_enter(rt);
	struct hd_task_extra *extra = before ? NULL : hd_task_extra(t);
	if (before)
		hd_failure_note(rt->outcome.failure, HEDDLE_E_MISUSE, 0, heddle_last_error());
	else if (extra)
		extra->released = 1;
	hd_core_unlock(rt);
	return before != 0;
}

void hd_misuse_retire_task(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	struct hd_misuse *m = rt->misuse;
	HD_HELD(&rt->lock);
	hd_queue_push(&m->tasks, t);
	if (++m->n_tasks <= KEPT)
		return;
	m->n_tasks--;
	hd_task_reuse(rt, hd_queue_pop(&m->tasks));
}

int hd_misuse_check_task(const heddle_task *t, const char *what)
{
	heddle_runtime *rt = hd_task_runtime(t);
	char title[HD_TITLE];
	int status = hd_check_process(rt);
	if (status)
		return status;
	hd_core_enter(rt);
	if (t->extra && t->extra->released)
		status = hd_error(HEDDLE_E_STATE, "%s: the program has given its reference to %s back", what,
		                  hd_task_title(t, title, sizeof title));
	hd_core_unlock(rt);
	return status;
}

/* --- Others ------------------------------------------------------------------------------------------------------- */

void *hd_misuse_keep(heddle_runtime *rt, void *memory)
{
	struct hd_misuse *m = rt->misuse;
	HD_HELD(&rt->lock);
	void **place = &m->others[m->n_others++ % HD_OTHERS], *before = *place;
	*place = memory;
	return before;
}

/* --- For heddle_selfcheck ----------------------------------------------------------------------------------------- */

const char *hd_misuse_broken(heddle_runtime *rt)
{
	const struct hd_misuse *m = rt->misuse;
	size_t n_data = 0, n_tasks = 0;
	HD_HELD(&rt->lock);
	for (size_t i = 0; i < m->n_seals; i++)
		if (!m->seals[i].data->extra || m->seals[i].data->extra->seal != i + 1)
			return "a seal is not that of its datum";
	for (const struct hd_watch *w = m->running; w; w = w->next)
		if (*w->prev_next != w || hd_task_runtime(w->task) != rt)
			return "the list of watched tasks is wrong";
	for (const heddle_data *d = m->data; d; d = d->next)
		if (++n_data > m->n_data || hd_data_closed(d) != HD_UNREGISTERED)
			return "the list of data that have ended is wrong";
	for (const heddle_task *t = m->n_tasks ? m->tasks.first : NULL; t; t = t->link.next)
		if (++n_tasks > m->n_tasks || t->refs)
			return "the list of tasks that have ended is wrong";
	return n_data == m->n_data && n_tasks == m->n_tasks ? NULL : "what has ended is counted wrongly";
}
