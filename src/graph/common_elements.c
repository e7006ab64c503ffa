/* Which data of a tree share elements; and the check that no task names two data that share elements if it changes one
 * of them, because such a task would wait for itself. */
#include "common_elements.h"
#include <stdlib.h>
#include "base/table.h"
#include "state/tree.h"
#include "chains.h"

int hd_data_meet(const heddle_data *x, const heddle_data *y)
{
	uint32_t nx = hd_data_depth(x), ny = hd_data_depth(y);
	for (; nx > ny; nx--)
		x = hd_data_above(x);
	for (; ny > nx; ny--)
		y = hd_data_above(y);
	const heddle_plan *px = NULL, *py = NULL;
	for (; x != y; x = hd_data_above(x), y = hd_data_above(y)) {
		px = x->plan;
		py = y->plan;
		if (!px || !py)
			return 0;
	}
	/* 1: the last steps of `x` and `y` up to their common ancestor went through two different plans; or no step was
	 * needed (px is NULL), because one datum lies above the other */
	return px != py || !px;
}

/* --- The data of one task ----------------------------------------------------------------------------------------- */

static int only_reads(const struct hd_access *a)
{
	return hd_chain_mode(a->mode) == HEDDLE_R;
}

static int exclude(const struct hd_access *a, const struct hd_access *b)
{
	return a->data->plan != b->data->plan && !((a->flags | b->flags) & HD_ACCESS_ALIAS) &&
	       !(only_reads(a) && only_reads(b)) && hd_data_meet(a->data, b->data);
}

/* The first access of `t` before `a` that excludes `a`; `a` itself if there is none. */
static const struct hd_access *find_excluded(const heddle_task *t, const struct hd_access *a)
{
	const struct hd_access *b = t->accesses;
	while (b != a && !exclude(a, b))
		b++;
	return b;
}

static __attribute__((cold)) int refuse(const heddle_task *t, const struct hd_access *a)
{
	const struct hd_access *b = find_excluded(t, a);
	char x[80], y[80];
	return hd_error(HEDDLE_E_INVALID, "%s: %s and %s share elements, and one of them is not only read",
	                hd_task_name(t), hd_data_name_unlocked(b->data, x, sizeof x),
	                hd_data_name_unlocked(a->data, y, sizeof y));
}

/* How the accesses of a task use one handle: directly, or through its plans. */
struct use {
	/* changed: a plan through which elements are changed; read: one through which elements are read; or NULL */
	const heddle_plan *changed, *read;
	uint8_t several; /* 1: elements are read through several plans */
	uint8_t itself_is_named, itself_is_changed;
};

/* The entry of `uses` for the handle `d`; a new entry if the table `handles` has none yet. Both have room enough, and
 * entries that are not in use yet are zero. */
static struct use *use_of(struct hd_table *handles, struct use *uses, const heddle_data *d)
{
	struct hd_table_slot *slot = hd_table_find(handles, (uintptr_t)d);
	if (!slot->value)
		hd_table_fill(handles, slot, (uintptr_t)d, handles->used);
	return &uses[slot->value - 1];
}

/* Notes in `u` the access `a`, which goes through the plan `via` of the handle, or names the handle itself if `via` is
 * NULL. Returns whether `a` excludes an access that was noted before. */
static int note(struct use *u, const struct hd_access *a, const heddle_plan *via)
{
	int changes = !only_reads(a);
	if (!via) {
		u->itself_is_named = 1;
		u->itself_is_changed = (uint8_t)changes;
		return u->changed || (changes && u->read);
	}
	int excludes = (u->itself_is_named && changes) || u->itself_is_changed || (u->changed && u->changed != via) ||
	               (changes && u->read && (u->several || u->read != via));
	if (changes) {
		u->changed = via;
	} else {
		u->several |= u->read && u->read != via;
		u->read = via;
	}
	return excludes;
}

/* Checks a task with many data, in time linear in the number of data. */
static __attribute__((cold)) int check_many(const heddle_task *t)
{
	size_t n = 0;
	struct hd_table handles = {0};
	for (uint32_t i = 0; i < t->n_accesses; i++)
		n += 1 + hd_data_depth(t->accesses[i].data);
	struct use *uses = calloc(n, sizeof *uses);
	int status = uses && !hd_table_reserve(&handles, n) ? 0 : hd_no_memory("a task with many data");
	for (uint32_t i = 0; i < t->n_accesses && !status; i++) {
		const struct hd_access *a = &t->accesses[i];
		int excludes = 0;
		const heddle_plan *via = NULL;
		const heddle_data *d = a->flags & HD_ACCESS_ALIAS ? NULL : a->data;
		for (; d; via = d->plan, d = hd_data_above(d))
			excludes |= note(use_of(&handles, uses, d), a, via);
		status = excludes ? refuse(t, a) : 0;
	}
	free(uses);
	free(handles.slots);
	return status;
}

enum { FEW = 32 };

static __attribute__((noinline)) int check_few(const heddle_task *t)
{
	const heddle_data *roots[FEW];
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		roots[i] = hd_data_root(t->accesses[i].data);
		for (uint32_t k = 0; k < i; k++)
			if (roots[k] == roots[i] && exclude(&t->accesses[k], &t->accesses[i]))
				return refuse(t, &t->accesses[i]);
	}
	return 0;
}

int hd_task_check_overlaps(const heddle_task *t)
{
	const struct hd_access *a = t->accesses, *end = a + t->n_accesses;
	while (a < end && !a->data->plan)
		a++;
	if (a == end) /* all data are roots of their trees */
		return 0;
	return HD_LIKELY(t->n_accesses <= FEW) ? check_few(t) : check_many(t);
}
