/* Chooses the entry that leaves a model with more entries than its bound: perf.h has the rules. Only entries that are
 * not in use are in lists, so the entry that leaves is found as fast among a million entries as among ten.
 *
 * Entries that are often used stay even while many sizes come only once; this is the idea of 2Q: T. Johnson and D.
 * Shasha, VLDB 1994. */
#include <stdlib.h>
#include "base/base.h"
#include "perf/internal.h"

static int is_known(const struct hd_perf_entry *e)
{
	size_t n_classes = e->model->perf->platform->n_classes;
	for (size_t c = 0; c < n_classes; c++)
		if (e->cells[c].samples >= HD_PERF_OWN)
			return 1;
	return 0;
}

static void enlist(struct hd_perf_entry *e)
{
	e->known = (uint8_t)is_known(e);
	struct hd_perf_idle *list = &e->model->idle[e->known];
	e->idle_next = NULL;
	e->idle_prev = list->last;
	if (list->last)
		list->last->idle_next = e;
	else
		list->first = e;
	list->last = e;
	list->n++;
}

static void unlist(struct hd_perf_entry *e)
{
	struct hd_perf_idle *list = &e->model->idle[e->known];
	if (e->idle_prev)
		e->idle_prev->idle_next = e->idle_next;
	else
		list->first = e->idle_next;
	if (e->idle_next)
		e->idle_next->idle_prev = e->idle_prev;
	else
		list->last = e->idle_prev;
	list->n--;
}

void hd_perf_bound(struct hd_perf *perf, size_t most)
{
	perf->bound = most;
}

struct hd_perf_entry *hd_perf_evict(struct hd_perf_model *model, size_t most)
{
	struct hd_perf_idle *few = &model->idle[0], *known = &model->idle[1];
	if (!model->perf->bound || model->n_entries <= most)
		return NULL;
	while (few->first && is_known(few->first)) /* such an entry got its samples after it was put into this list */
		hd_perf_touch(few->first);
	struct hd_perf_entry *e = few->n > model->perf->bound / 2 || !known->first ? few->first : known->first;
	if (!e)
		return NULL; /* all entries are in use */
	hd_perf_past_add(e);
	unlist(e);
	hd_perf_entry_remove(e);
	return e;
}

void hd_perf_touch(struct hd_perf_entry *e)
{
	if (e->users)
		return;
	if (e->idle_next || e->idle_prev || e->model->idle[e->known].first == e)
		unlist(e);
	enlist(e);
}

void hd_perf_first_user(struct hd_perf_entry *e)
{
	unlist(e);
}

void hd_perf_no_user(struct hd_perf_entry *e)
{
	struct hd_perf_model *model = e->model;
	enlist(e);
	e = hd_perf_evict(model, model->perf->bound); /* if all were in use, there may be too many */
	if (e)
		hd_perf_entry_free(e);
}

/* --- The check ---------------------------------------------------------------------------------------------------- */

static const char *check_list(const struct hd_perf_model *model, int known, size_t *n_idle)
{
	const struct hd_perf_idle *list = &model->idle[known];
	const struct hd_perf_entry *before = NULL;
	size_t n = 0;
	for (const struct hd_perf_entry *e = list->first; e && n <= list->n; before = e, e = e->idle_next, n++)
		if (e->model != model || e->users || e->known != known || e->idle_prev != before)
			return "the list of sizes that nobody uses has a wrong member";
	if (n != list->n || list->last != before)
		return "the list of sizes that nobody uses has another length or end than it says";
	*n_idle += n;
	return NULL;
}

static const char *check_model(const struct hd_perf_model *model, uint64_t *n_users)
{
	size_t n = 0, n_used = 0, n_idle = 0, bound = model->perf->bound;
	HD_PERF_EACH_ENTRY(model, e)
	{
		n++;
		n_used += e->users != 0;
		*n_users += e->users;
	}
	const char *wrong = check_list(model, 0, &n_idle);
	if (!wrong)
		wrong = check_list(model, 1, &n_idle);
	if (!wrong && (n != model->n_entries || n_used + n_idle != n))
		wrong = "it has another number of sizes than it says";
	/* one entry beyond the bound may be idle: its size was asked for while all others were in use, for no task */
	if (!wrong && bound && n > bound && n_idle > 1)
		wrong = "it remembers more sizes than model_sizes allows";
	return wrong;
}

const char *hd_perf_check(const struct hd_perf *perf, const char **codelet, uint64_t *n_users)
{
	const char *wrong = NULL;
	*n_users = 0;
	for (const struct hd_perf_model *m = perf->models; m && !wrong; m = m->next) {
		*codelet = m->name;
		wrong = check_model(m, n_users);
	}
	return wrong;
}
