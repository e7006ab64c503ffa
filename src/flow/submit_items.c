/* The rare steps of copying items (submit_items.h): items other than data, data that need more checks, and all
 * errors. */
#include "submit_items.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codelet.h"
#include "errands.h"
#include "expand.h"
#include "group.h"
#include "register.h"
#include "task_model.h"
#include "base/table.h"
#include "misuse/misuse.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/known_handles.h"
#include "state/memory.h"
#include "state/plan.h"

/* The largest total size of a task's values in bytes: their offsets have 32 bits. */
#define MOST_VALUE_BYTES ((size_t)1 << 31)

int hd_request_count(const heddle_runtime *rt, const struct heddle_item *item, const struct heddle_item *end,
                     struct hd_request *q)
{
	for (; item < end; item++) {
		int what = item->what;
		q->n_data += what < HEDDLE_ITEM_CODELET;
		if (what == HEDDLE_ITEM_VALUE) {
			q->n_values++;
			q->value_bytes += hd_value_gap(item->u.size) + hd_rounded(item->u.size);
			q->too_large |= item->u.size > MOST_VALUE_BYTES;
			continue;
		}
		if (what == HEDDLE_ITEM_CODELET) {
			q->codelet = item->ptr;
			q->n_codelets++;
		}
		q->n_after += what == HEDDLE_ITEM_AFTER;
		q->has_extra |= what == HEDDLE_ITEM_AFTER || what == HEDDLE_ITEM_CALLBACK || what == HEDDLE_ITEM_NAME ||
		                what >= HEDDLE_ITEM_GROUP;
	}
	if (HD_UNLIKELY(rt->misuse != NULL))
		q->value_bytes += q->n_values * HD_VALUE_ZONE;
	if (HD_UNLIKELY(q->too_large || q->value_bytes > MOST_VALUE_BYTES))
		return hd_error(HEDDLE_E_INVALID,
		                "%s: more than %zu bytes of values: what is large belongs in a datum (heddle_vector)",
		                q->codelet ? q->codelet->desc.name : "task", MOST_VALUE_BYTES);
	return 0;
}

static int refuse(const heddle_codelet *c, const heddle_data *d, const char *why)
{
	char name[80];
	return hd_error(HEDDLE_E_INVALID, "%s: %s %s", c ? c->desc.name : "task",
	                hd_data_name_unlocked(d, name, sizeof name), why);
}

static __attribute__((cold)) int no_handle(const heddle_codelet *c, const heddle_data *d, uint32_t i)
{
	char what[128];
	snprintf(what, sizeof what, "%.100s: datum %u", c ? c->desc.name : "task", i);
	return hd_no_handle(d, what);
}

static int check_access(heddle_runtime *rt, const heddle_codelet *c, const heddle_data *d, unsigned mode)
{
	if (HD_UNLIKELY(!d))
		return hd_error(HEDDLE_E_INVALID, "%s: one of its data is NULL", c ? c->desc.name : "task");
	if (HD_UNLIKELY(mode == 0 || mode > HEDDLE_COMMUTE || (mode > HEDDLE_RW && (mode & (mode - 1)))))
		return refuse(c, d, "is accessed in a way that does not exist");
	if (HD_UNLIKELY(d->rt != rt))
		return refuse(c, d, "belongs to another runtime");
	/* A first check, without the core lock. Another thread may close the datum later, so hd_drain in inlet.c checks
	 * again under the lock. A sub-graph may use the data of its hierarchical task even after the program has closed
	 * them. */
	if (HD_UNLIKELY(hd_data_closed(d) != HD_OPEN) && !hd_expansion_cover(rt, d)) {
		int closed = hd_data_check_open_unlocked(d, c ? c->desc.name : "task");
		if (closed)
			return closed;
	}
	if (HD_UNLIKELY(d->read_only && mode != HEDDLE_R))
		return refuse(c, d, "overlaps its neighbours and can only be read");
	if (HD_UNLIKELY(mode == HEDDLE_REDUX && !(d->traits & HD_DATA_REDUCIBLE)))
		return refuse(c, d, "has no reduction: call heddle_data_set_reduction first");
	if (HD_UNLIKELY((d->traits & HD_DATA_OBJECT) && mode != HEDDLE_R && mode != HEDDLE_RW &&
	                mode != HEDDLE_COMMUTE && !(mode == HEDDLE_W && (d->traits & HD_DATA_OWN_MEMORY))))
		return refuse(c, d, "is an object: it can be accessed as R, RW and COMMUTE");
	return 0;
}

/* Checks an unordered access. Its datum gets an `extra`, which will count it. */
static int check_unordered(heddle_task *t, heddle_data *d, unsigned mode)
{
	if (mode > HEDDLE_RW)
		return refuse(t->codelet, d, "is unordered, and so can be accessed as R, W and RW only");
	if (!hd_data_is_plain(d) || d->plan || (t->codelet && t->codelet->desc.n_subgraphs)) {
		char name[80];
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "%s: %s has plans, is a piece, or is used by a hierarchical task, and so all accesses "
		                "to it are ordered",
		                hd_task_name(t), hd_data_name_unlocked(d, name, sizeof name));
	}
	hd_core_enter(d->rt); /* another thread may be allocating it */
	struct hd_data_extra *extra = hd_data_extra(d);
	if (extra)
		extra->unordered = 1;
	hd_core_leave(d->rt);
	t->special |= HD_TASK_UNORDERED;
	return extra ? 0 : HEDDLE_E_MEMORY;
}

static int merge_modes(unsigned a, unsigned b, unsigned *out)
{
	if (a == b && a != HEDDLE_REDUX) {
		*out = a;
		return 0;
	}
	if (a > HEDDLE_RW || b > HEDDLE_RW)
		return -1;
	*out = a | b;
	return 0;
}

/* Merges two accesses of a task to one datum: the first access represents both, with the mode that covers both. */
static int merge(heddle_task *t, struct hd_access *first, struct hd_access *again)
{
	unsigned mode;
	char name[80];
	if (hd_is_unordered(first) != hd_is_unordered(again))
		return hd_error(HEDDLE_E_INVALID, "%s: %s is accessed in order and unordered by one task",
		                hd_task_name(t), hd_data_name_unlocked(again->data, name, sizeof name));
	if (merge_modes(first->mode, again->mode, &mode)) {
		return hd_error(HEDDLE_E_INVALID,
		                "%s: %s is accessed as %s and as %s by one task: name it once, or use another "
		                "datum for one of them; only R, W and RW mix",
		                hd_task_name(t), hd_data_name_unlocked(again->data, name, sizeof name),
		                hd_mode_name(first->mode), hd_mode_name(again->mode));
	}
	first->mode = mode & 0x1f;
	again->flags |= HD_ACCESS_ALIAS;
	t->special |= HD_TASK_ALIASES;
	again->next = first;
	return 0;
}

/* Up to this number of data, comparing all pairs is faster than a table. */
enum { FEW_DATA = 32 };

static int merge_few(heddle_task *t)
{
	int status = 0;
	const struct hd_access *end = t->accesses + t->n_accesses;
	for (struct hd_access *a = t->accesses; a < end && !status; a++) {
		struct hd_access *first = t->accesses;
		while (first->data != a->data)
			first++;
		if (first != a)
			status = merge(t, first, a);
	}
	return status;
}

static int merge_many(heddle_task *t)
{
	struct hd_table first = {0}; /* maps each datum to the index of its first access */
	int status = hd_table_reserve(&first, t->n_accesses) ? hd_no_memory("a task with many data") : 0;
	for (uint32_t i = 0; i < t->n_accesses && !status; i++) {
		struct hd_access *a = &t->accesses[i];
		struct hd_table_slot *slot = hd_table_find(&first, (uintptr_t)a->data);
		if (slot->value)
			status = merge(t, &t->accesses[slot->value - 1], a);
		else
			hd_table_fill(&first, slot, (uintptr_t)a->data, i);
	}
	free(first.slots);
	return status;
}

int hd_request_merge(heddle_task *t)
{
	return t->n_accesses <= FEW_DATA ? merge_few(t) : merge_many(t);
}

/* Makes all checks of datum i of a task. */
static int check_datum(heddle_runtime *rt, const heddle_codelet *c, const struct heddle_item *item, uint32_t i)
{
	const heddle_data *d = item->ptr;
	unsigned mode = (unsigned)(item->what & ~HEDDLE_ITEM_UNORDERED);
	if (rt->misuse && d && hd_is_wild(d))
		return no_handle(c, d, i);
	int status = check_access(rt, c, d, mode);
	if (status || !c || !c->desc.n_modes || (i < c->desc.n_modes && (unsigned)c->desc.modes[i] == mode))
		return status;
	return hd_error(HEDDLE_E_INVALID, "%s: datum %u is accessed as %s, the codelet says %s", c->desc.name, i,
	                hd_mode_name(mode), i < c->desc.n_modes ? hd_mode_name((unsigned)c->desc.modes[i]) : "nothing");
}

int hd_request_check_data(heddle_runtime *rt, const heddle_codelet *c, size_t n, const struct heddle_item *items)
{
	int status = 0;
	uint32_t n_data = 0;
	for (const struct heddle_item *item = items, *end = items + n; item < end && !status; item++)
		if (item->what < HEDDLE_ITEM_CODELET)
			status = check_datum(rt, c, item, n_data++);
	return status;
}

/* Adds any datum, and records in the task what its mode needs. */
int hd_request_add_data(heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, struct hd_request_sum *s)
{
	heddle_data *d = (heddle_data *)(uintptr_t)item->ptr;
	unsigned mode = (unsigned)(item->what & ~HEDDLE_ITEM_UNORDERED), unordered = (unsigned)item->what != mode;
	int status = check_access(rt, t->codelet, d, mode);
	if (HD_UNLIKELY(unordered) && !status)
		status = check_unordered(t, d, mode);
	if (status)
		return status;
	if (!hd_data_is_plain(d))
		t->special |= HD_TASK_DEEP;
	if (mode > HEDDLE_RW)
		t->special |= mode == HEDDLE_COMMUTE ? HD_TASK_COMMUTES : HD_TASK_PRIVATE;
	/* private copies may have no memory yet; heddle_forget frees data that are not pinned */
	if (t->special & (HD_TASK_PRIVATE | HD_TASK_UNORDERED))
		t->special &= (uint16_t)~HD_TASK_ONE_NODE;
	hd_sum_add(s, d, mode, (uint32_t)(s->next - t->accesses), hd_data_caveats(d));
	if (HD_UNLIKELY(unordered))
		s->next[-1].flags = HD_ACCESS_UNORDERED;
	return 0;
}

static int add_value(const heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, struct hd_request *q)
{
	uint32_t i = q->filled_values++;
	if (HD_UNLIKELY(!item->ptr))
		return hd_error(HEDDLE_E_INVALID, "%s: value %u is at address NULL", hd_task_name(t), i);
	char *values = hd_task_values(t);
	char *at = values + hd_rounded(q->n_values * sizeof(uint32_t)) + q->filled_bytes;
	size_t size = item->u.size, gap = hd_value_gap(size);
	q->filled_bytes += gap + hd_rounded(size);
	if (HD_UNLIKELY(rt->misuse != NULL)) {
		q->filled_bytes += HD_VALUE_ZONE;
		at += HD_VALUE_HEAD;
	}
	at += -(uintptr_t)at & gap;
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_lay_value(at, size);
	((uint32_t *)(void *)values)[i] = (uint32_t)(at - values);
	memcpy(at, item->ptr, size);
	return 0;
}

static int add_after(heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, size_t n_after)
{
	if (!item->ptr)
		return hd_error(HEDDLE_E_INVALID, "%s: heddle_after without a task", hd_task_name(t));
	if (hd_task_runtime(item->ptr) != rt)
		return hd_error(HEDDLE_E_INVALID, "%s: heddle_after a task of another runtime", hd_task_name(t));
	if (HD_UNLIKELY(rt->misuse != NULL) && hd_misuse_check_task(item->ptr, "heddle_after"))
		return HEDDLE_E_STATE;
	if (!t->extra->before && !(t->extra->before = malloc(n_after * sizeof *t->extra->before)))
		return hd_no_memory("a dependency");
	t->extra->before[t->extra->n_before++] = (heddle_task *)(uintptr_t)item->ptr;
	return 0;
}

static __attribute__((noinline)) int make_outside(heddle_task *t, const struct heddle_item *item)
{
	if (!item->u.begin)
		return hd_error(HEDDLE_E_INVALID, "%s: heddle_outside without a function", hd_task_name(t));
	if (t->codelet || t->kind == HD_TASK_OUTSIDE)
		return hd_error(HEDDLE_E_INVALID, "%s: a task has one heddle_call or one heddle_outside",
		                hd_task_name(t));
	t->kind = HD_TASK_OUTSIDE;
	t->extra->begin = item->u.begin;
	t->extra->begin_arg = (void *)(uintptr_t)item->ptr;
	return 0;
}

int hd_request_add_option(heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, struct hd_request *q)
{
	switch (item->what) {
	case HEDDLE_ITEM_CODELET: return 0;
	case HEDDLE_ITEM_VALUE: return add_value(rt, t, item, q);
	case HEDDLE_ITEM_PRIORITY: t->priority = item->number; return 0;
	case HEDDLE_ITEM_WORKER:
		if (item->number < 0 || (size_t)item->number >= rt->n_workers || item->number >= HD_MOST_WORKERS)
			return hd_error(HEDDLE_E_INVALID, "%s: there is no worker %d, only 0 to %zu", hd_task_name(t),
			                item->number, rt->n_workers - 1);
		t->only_worker = (uint32_t)(item->number + 1) & (uint32_t)HD_MOST_WORKERS;
		return 0;
	case HEDDLE_ITEM_CALLBACK:
		t->extra->callback = item->u.call;
		t->extra->callback_arg = (void *)(uintptr_t)item->ptr;
		return 0;
	case HEDDLE_ITEM_NAME:
		free(t->extra->name);
		t->extra->name = NULL; /* an empty name: the task is called by the codelet's name */
		if (item->ptr && *(const char *)item->ptr && !(t->extra->name = strdup(item->ptr)))
			return hd_no_memory("a name");
		return 0;
	case HEDDLE_ITEM_GROUP:
		if (item->ptr && hd_group_runtime(item->ptr) != rt)
			return hd_error(HEDDLE_E_INVALID, "%s: its group belongs to another runtime", hd_task_name(t));
		if (item->ptr && HD_UNLIKELY(rt->misuse != NULL) && hd_group_check(item->ptr, "heddle_in_group"))
			return HEDDLE_E_STATE;
		t->extra->group = (heddle_group *)(uintptr_t)item->ptr;
		return 0;
	case HEDDLE_ITEM_AFTER: return add_after(rt, t, item, q->n_after);
	case HEDDLE_ITEM_OUTSIDE: return make_outside(t, item);
	case HEDDLE_ITEM_OUT:
		if (!item->ptr)
			return hd_error(HEDDLE_E_INVALID, "%s: heddle_out without a place for the task",
			                hd_task_name(t));
		t->refs = 2;
		return 0;
	default:
		if (item->what == HD_ITEM_KIND) {
			t->kind = (uint8_t)item->number;
			return 0;
		}
		return hd_error(HEDDLE_E_INVALID, "%s: a task cannot have an item of kind %d", hd_task_name(t),
		                item->what);
	}
}

/* Adds data as long as each datum is a piece of the datum with the same index in the hierarchical task, and has the
 * same mode. Most tasks of sub-graphs have only such data, which need no other check: they belong to the runtime, they
 * are different data, they overlap no more than the data of the hierarchical task do, and they are open for the
 * sub-graph. */
const struct heddle_item *hd_request_add_pieces(heddle_task *t, const struct heddle_item *items,
                                                const struct heddle_item *end, const struct hd_request *q,
                                                struct hd_request_sum *sum)
{
	const struct heddle_item *item = items;
	struct hd_access *cover = q->outer->accesses, *last = cover + q->outer->n_accesses;
	hd_task_inside_of(t)->task = q->outer;
	if (q->outer->special & (HD_TASK_ALIASES | HD_TASK_PRIVATE | HD_TASK_COMMUTES))
		return item; /* stops: a datum occurs twice, or a mode is not R, W or RW */
	for (; item < end; item++) {
		heddle_data *d = (heddle_data *)(uintptr_t)item->ptr;
		unsigned mode = (unsigned)item->what;
		if (item->what == HEDDLE_ITEM_CODELET)
			continue;
		if (cover == last || cover->mode != mode || !d || !d->plan || d->plan->data != cover->data ||
		    (d->read_only && mode != HEDDLE_R))
			break;
		hd_sum_add(sum, d, mode, (uint32_t)(sum->next - t->accesses), hd_data_caveats(d));
		sum->next[-1].cover = cover++;
	}
	if (HD_LIKELY(sum->next == t->accesses + q->n_data))
		t->special |= HD_TASK_COVERED;
	return item;
}

/* Calls can_run with the core lock, because the program's function may rely on never being called by two threads at
 * once. */
static int check_can_run(heddle_runtime *rt, const heddle_task *t)
{
	hd_core_enter(rt);
	int found = hd_task_has_worker(t);
	hd_core_leave(rt);
	return found ? 0
	             : hd_error(HEDDLE_E_NO_WORKER,
	                        "no worker that has an implementation of codelet %s is allowed to run this task: "
	                        "can_run refuses them%s",
	                        t->codelet->desc.name, t->only_worker ? ", or heddle_on does" : "");
}

int hd_no_fit(const char *who, uint64_t bytes, uint64_t room)
{
	return hd_error(
	    HEDDLE_E_NO_FIT,
	    "%s %llu bytes of data at once, more than the %llu of any memory it can run in: split them into "
	    "smaller pieces (tiles), or give such a memory more room (the setting emulated_memory; capacity_mib in "
	    "a platform)",
	    who, (unsigned long long)bytes, (unsigned long long)room);
}

static __attribute__((cold)) int no_fit(const heddle_codelet *c, uint64_t bytes, uint64_t room)
{
	char *who = hd_format("%s needs", c->desc.name);
	int status = hd_no_fit(who ? who : "a task needs", bytes, room);
	free(who);
	return status;
}

static int check_room(const heddle_runtime *rt, heddle_task *t)
{
	const heddle_codelet *c = t->codelet;
	uint64_t bytes = hd_task_bytes(t);
	if (HD_LIKELY(bytes <= rt->least_capacity)) {
		t->special |= HD_TASK_FITS;
		return 0;
	}
	uint64_t limit = t->only_worker ? rt->memories[rt->workers[t->only_worker - 1].node].capacity : c->max_bytes;
	if (!limit || bytes <= limit)
		return 0;
	return no_fit(c, bytes, limit);
}

/* Refuses a task that no worker can run, because it would wait for ever. */
static int check_workers(heddle_runtime *rt, heddle_task *t)
{
	const heddle_codelet *c = t->codelet;
	if (HD_UNLIKELY(c->n_able == 0)) {
		if (rt->engine->times_are_given && !c->cores_refused)
			return hd_error(HEDDLE_E_NO_WORKER,
			                "platform %s has no time for codelet %s: add it under kernels",
			                rt->platform->name, c->desc.name);
		return hd_codelet_no_worker(c);
	}
	if (HD_UNLIKELY(t->only_worker && !c->class_ok[rt->workers[t->only_worker - 1].class_id]))
		return hd_codelet_not_on(c, t->only_worker - 1);
	int status = HD_UNLIKELY(rt->limited) ? check_room(rt, t) : 0;
	return HD_UNLIKELY(c->desc.can_run != NULL) && !status ? check_can_run(rt, t) : status;
}

/* Marks the task as hierarchical: it may be expanded, and then needs no worker that can run its kernel. */
static __attribute__((noinline)) int make_hierarchical(const heddle_runtime *rt, heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses && HD_UNLIKELY(t->special & HD_TASK_PRIVATE); i++)
		if (t->accesses[i].mode == HEDDLE_REDUX)
			return hd_error(
			    HEDDLE_E_UNSUPPORTED,
			    "%s: datum %u is accessed as REDUX, which a task with a sub-graph cannot: let the "
			    "tasks of the sub-graph reduce into a datum of their own",
			    hd_task_name(t), i);
	if (rt->limited && t->codelet->n_able && hd_task_bytes(t) <= rt->least_capacity)
		t->special |= HD_TASK_FITS;
	t->special |= HD_TASK_EXPANDS;
	t->special &= (uint16_t)~HD_TASK_ONE_NODE;
	t->extra->n_inside = 1;
	return 0;
}

/* A task without a codelet item is legal: it only synchronises. A codelet item that is NULL is an error; probably
 * heddle_codelet_new_of has failed, so the message ends with the thread's last error. */
int hd_request_check_codelet(const heddle_runtime *rt, const struct hd_request *q)
{
	if (HD_UNLIKELY(q->n_codelets > 1))
		return hd_error(HEDDLE_E_INVALID, "a task has one codelet, not %zu", q->n_codelets);
	if (HD_UNLIKELY(q->codelet && q->codelet->rt != rt))
		return hd_error(HEDDLE_E_INVALID, "codelet %s belongs to another runtime", q->codelet->desc.name);
	if (HD_LIKELY(q->codelet || !q->n_codelets))
		return 0;
	char why[256];
	snprintf(why, sizeof why, "%s", heddle_last_error());
	return hd_error(HEDDLE_E_INVALID, "a task's codelet is NULL%s%s", why[0] ? "; the last error was: " : "", why);
}

int hd_request_check_bare(const heddle_task *t)
{
	if (HD_LIKELY(!(t->special & HD_TASK_PRIVATE) || t->kind != HD_TASK_OUTSIDE))
		return 0;
	return hd_error(HEDDLE_E_UNSUPPORTED,
	                "%s has SCRATCH or REDUX data, which belong to a worker: give it a temporary (W) instead",
	                hd_task_name(t));
}

int hd_request_complete(heddle_runtime *rt, heddle_task *t)
{
	const struct heddle_codelet_desc *desc = &t->codelet->desc;
	if (HD_UNLIKELY(desc->n_modes && desc->n_modes != t->n_accesses))
		return hd_error(HEDDLE_E_INVALID, "%s: the codelet accesses %zu data, the task gives %u", desc->name,
		                desc->n_modes, t->n_accesses);
	int status = HD_UNLIKELY(desc->footprint != NULL) ? hd_task_add_footprint(t) : 0;
	if (HD_UNLIKELY(status))
		return status;
	return HD_LIKELY(!desc->n_subgraphs) ? check_workers(rt, t) : make_hierarchical(rt, t);
}
