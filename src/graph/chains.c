/* The access chains: which accesses are granted and which must wait.
 *
 * The chain of a datum: `granted` accesses of mode `granted_mode` are in force; `queue` holds the accesses that must
 * wait, in the order of submission. Two accesses are compatible when both read, both commute or both reduce.
 * Consecutive compatible accesses form a group, which is granted together. Invariant, unless the datum is deep
 * (tree_chains.c): if the queue is not empty, `granted` is not 0 and the head of the queue is not compatible with
 * granted_mode. */
#include "chains.h"
#include <stdlib.h>
#include "state/data.h"
#include "state/flow_calls.h"
#include "state/runtime.h"
#include "tree_chains.h"

static __attribute__((cold)) void cancel_for(heddle_task *t, const heddle_data *d)
{
	hd_task_cancel(t, d->extra ? d->extra->cause : NULL);
}

/* Cancels the task of `a`, whose datum is poisoned, unless the value was forgotten and is not missed: at the end of the
 * datum, and in a reduction, which then begins with the neutral element. */
static __attribute__((cold)) void lacks_value(struct hd_access *a)
{
	heddle_task *t = hd_access_task(a);
	int misses = a->mode != HEDDLE_REDUX && t->kind != HD_TASK_REDUCE && t->kind != HD_TASK_UNREGISTER;
	if (misses || a->data->poisoned != HD_FORGOTTEN)
		cancel_for(t, a->data);
}

/* Grants an access. Cancels the task if it needs a value that was never computed, because a predecessor failed. */
static void grant(struct hd_access *a)
{
	heddle_data *d = a->data;
	d->granted++;
	d->granted_mode = (uint8_t)hd_chain_mode(a->mode);
	if (HD_UNLIKELY(d->poisoned) && a->mode != HEDDLE_W && a->mode != HEDDLE_SCRATCH)
		lacks_value(a);
}

void hd_chain_grant(struct hd_access *a)
{
	HD_HELD(&a->data->rt->lock);
	grant(a);
}

/* Counts the waiting access `a` in the last group of the chain of `d`, or begins a new group with `a`; stores in `a`
 * the size of the previous group. d->tail_mode and d->tail_count describe the last group, d->prev_count is the size of
 * the group before it. While no access waits, the granted accesses are the last group, and the counts are unused. */
static inline void count_group(heddle_data *d, struct hd_access *a, unsigned mode)
{
	if (d->queue && hd_modes_compatible(d->tail_mode, mode)) {
		d->tail_count++;
	} else {
		d->prev_count = d->queue ? d->tail_count : d->granted;
		d->tail_count = 1;
		d->tail_mode = (uint8_t)mode;
	}
	a->n_preds = (uint16_t)(d->prev_count < HD_MAX_PREDS ? d->prev_count : HD_MAX_PREDS);
}

static inline void link_access(heddle_task *t, struct hd_access *a)
{
	heddle_data *d = a->data;
	unsigned mode = hd_chain_mode(a->mode);
	if (!d->queue && (!d->granted || hd_modes_compatible(d->granted_mode, mode))) {
		d->tail_mode = (uint8_t)mode;
		a->n_preds = 0;
		grant(a);
		return;
	}
	count_group(d, a, mode);
	hd_chain_append(d, a);
	t->pending++;
}

static __attribute__((noinline)) void link_deep(heddle_task *t)
{
	const heddle_task *outer = hd_task_inside(t);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (!hd_access_is_chained(a))
			continue;
		if (a->data->deep || (a->flags & HD_ACCESS_MARKER))
			hd_chain_link_deep(a, outer);
		else
			link_access(t, a);
	}
}

void hd_chain_link(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_UNLIKELY(t->special & HD_TASK_DEEP)) {
		if (t->special & HD_TASK_COVERED)
			hd_chain_link_covered(t);
		else if ((t->special & (HD_TASK_EXPANDS | HD_TASK_INSIDE)) == HD_TASK_EXPANDS)
			hd_chain_link_markers(t);
		else
			link_deep(t);
		return;
	}
	for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		if (HD_LIKELY(!a->flags) || hd_access_is_chained(a))
			link_access(t, a);
}

/* Prefetches into the CPU cache what advance() needs of the access at `address` and of its task. `address` may be a
 * guess: tasks that a loop has submitted often lie at equal distances in memory, and following the links from one to
 * the next costs a cache miss per task. `like` is an access with the same index in its own task. */
static void fetch_access(uintptr_t address, const struct hd_access *like)
{
	uintptr_t to_pending = (uintptr_t)&hd_access_task(like)->pending - (uintptr_t)like;
	__builtin_prefetch((const void *)address);
	__builtin_prefetch((const void *)(address + to_pending), 1);
}

/* Calls hd_task_fetch for the task of `a`. Takes the index of `like`, because that of `a` lies in a line not loaded
 * yet. */
static inline void fetch_task(const struct hd_access *a, const struct hd_access *like)
{
	uintptr_t offset = (uintptr_t)like - (uintptr_t)hd_access_task(like);
	hd_task_fetch((const heddle_task *)((uintptr_t)a - offset));
}

void hd_chain_fetch_successors(const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (const struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
		if (a->data->queue && a->data->granted == 1)
			fetch_task(a->data->queue, a);
}

/* Called when `a` has been granted. Announces the task of `a` as ready if it waits for nothing else. */
static inline void go_on(struct hd_access *a)
{
	a->next = NULL;
	heddle_task *t = hd_access_task(a);
	if (--t->pending == 0)
		hd_tell_ready(t);
}

/* Removes from the queue the group at its head, whose last access is `last`. Callers do this before they announce the
 * tasks of the group as ready, because hd_tell_ready may link new accesses to this datum. */
static inline void cut_off(heddle_data *d, const struct hd_access *last)
{
	d->queue = last->next;
	if (d->queue)
		fetch_task(d->queue, last); /* the new head of the queue is granted next, often very soon */
}

/* Grants all accesses of the group at the head of the queue. */
static __attribute__((noinline)) void advance_group(heddle_data *d)
{
	struct hd_access *a = d->queue, *last = a;
	unsigned mode = hd_chain_mode(a->mode);
	grant(a);
	while (last->next && hd_chain_mode(last->next->mode) == mode) {
		uintptr_t stride = (uintptr_t)last->next - (uintptr_t)last;
		last = last->next;
		fetch_access((uintptr_t)last, last);
		fetch_access((uintptr_t)last + 2 * stride, last);
		grant(last);
	}
	cut_off(d, last);
	last->next = NULL;
	while (a) {
		struct hd_access *next = a->next;
		go_on(a);
		a = next;
	}
}

/* Grants the group at the head of the queue, if there is one. To be called when no access to `d` is in force any more,
 * or the accesses in force are compatible with this group. If the group is a single writer, the access behind the
 * writer is not read: it belongs to a task submitted much later, so reading it is a cache miss. */
static inline void advance(heddle_data *d)
{
	struct hd_access *a = d->queue;
	if (!a)
		return;
	if (HD_UNLIKELY(d->deep)) {
		hd_chain_advance(d);
	} else if (hd_mode_is_shared(a->mode)) {
		advance_group(d);
	} else {
		grant(a);
		cut_off(d, a);
		go_on(a);
	}
}

static int needs_token(const struct hd_access *a)
{
	return a->mode == HEDDLE_COMMUTE && hd_access_is_chained(a);
}

static void wait_for_token(struct hd_access *a)
{
	heddle_data *d = a->data;
	a->next = NULL;
	if (d->commuters)
		d->commuters_tail->next = a;
	else
		d->commuters = a;
	d->commuters_tail = a;
}

/* Searches the COMMUTE accesses of `t`, cyclically from access number `first` on, for one to a datum whose token
 * another task holds. NULL: all tokens that `t` needs are free. */
static struct hd_access *lacking_token(heddle_task *t, uint32_t first)
{
	for (uint32_t k = 0; k < t->n_accesses; k++) {
		uint32_t i = first + k < t->n_accesses ? first + k : first + k - t->n_accesses;
		if (needs_token(&t->accesses[i]) && t->accesses[i].data->token)
			return &t->accesses[i];
	}
	return NULL;
}

/* Offers the free commute token of `d` to the tasks that wait for it, one after the other, until one takes it. A task
 * that lacks another token queues for that other token instead; the search for a lacking token begins at the access to
 * `d`, so that a task with many tokens does not search its first ones again and again. A loop instead of a recursion,
 * because thousands of tasks may wait. */
static void offer_token(heddle_data *d)
{
	while (d->commuters && !d->token) {
		struct hd_access *a = d->commuters, *lacking;
		d->commuters = a->next;
		a->next = NULL;
		lacking = lacking_token(hd_access_task(a), a->index);
		if (lacking)
			wait_for_token(lacking);
		else
			hd_tell_ready(hd_access_task(a));
	}
}

/* Poisons the datum of `a`, because the task of `a` failed. Messages name the task that failed first as the cause: a
 * task that was cancelled because of that failure does not replace the cause. */
static __attribute__((cold)) void spoil(struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	heddle_data *d = hd_access_place(a);
	if (d->poisoned && t->status == HEDDLE_E_CANCELLED)
		return;
	hd_data_spoil(d, hd_task_blame(t));
}

/* Called when the task of `a` has ended with `status`: poisons the datum if the task was to write it and failed; ends
 * the poisoning of the datum if the task has replaced the value (mode W). */
static inline void judge_value(struct hd_access *a, int status)
{
	if (HD_UNLIKELY(status) && a->mode != HEDDLE_R && a->mode != HEDDLE_SCRATCH)
		spoil(a);
	else if (a->mode == HEDDLE_W)
		hd_data_heal(a->data);
}

/* Marks all commute tokens of `t` as free, and updates whether their data have values. This is done before the first of
 * these tokens is offered, because the task that gets the offer may take all of them at once. */
static void give_tokens_up(heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (!(t->accesses[i].flags & HD_ACCESS_TOKEN))
			continue;
		t->accesses[i].data->token = 0;
		judge_value(&t->accesses[i], t->status);
	}
}

static void give_token_back(struct hd_access *a)
{
	a->flags &= ~HD_ACCESS_TOKEN & HD_ACCESS_FLAGS;
	offer_token(a->data);
}

/* --- Unordered accesses ------------------------------------------------------------------------------------------- */

void hd_unordered_enter(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (hd_is_unordered(&t->accesses[i]) && !(t->accesses[i].flags & HD_ACCESS_ALIAS))
			t->accesses[i].data->extra->n_unordered++;
}

void hd_unordered_ready(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (hd_is_unordered(a) && a->data->poisoned && a->mode != HEDDLE_W)
			cancel_for(t, a->data);
	}
}

int hd_unordered_await(heddle_task *unregister)
{
	struct hd_data_extra *extra = unregister->accesses[0].data->extra;
	HD_HELD(&hd_task_runtime(unregister)->lock);
	if (!extra || !extra->n_unordered)
		return 0;
	extra->unregister = unregister;
	unregister->pending++;
	return 1;
}

static void leave_unordered(const heddle_data *d)
{
	heddle_task *unregister = d->extra->unregister;
	if (--d->extra->n_unordered || !unregister)
		return;
	d->extra->unregister = NULL;
	unregister->pending--;
	hd_tell_ready(unregister);
}

static inline void release_access(struct hd_access *a, int status)
{
	heddle_data *d = a->data;
	judge_value(a, status);
	if (HD_UNLIKELY(a->flags != 0)) {
		if (a->flags & HD_ACCESS_UNCHAINED) {
			if (hd_is_unordered(a))
				leave_unordered(d);
			return;
		}
		if (a->flags & HD_ACCESS_TOKEN)
			give_token_back(a);
	}
	if (--d->granted == 0)
		advance(d);
}

/* Releases the accesses of a task with COMMUTE accesses or with deep data. */
static __attribute__((noinline)) void release_special(heddle_task *t)
{
	give_tokens_up(t);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if (a->flags & HD_ACCESS_ALIAS)
			continue;
		if ((a->flags & HD_ACCESS_UNCHAINED) || !a->data->deep) {
			release_access(a, t->status);
			continue;
		}
		if (!(a->flags & HD_ACCESS_MARKER))
			judge_value(a, t->status);
		if (a->flags & HD_ACCESS_TOKEN)
			give_token_back(a);
		hd_chain_release_deep(a);
	}
}

/* Counts anew the sizes of the last group of the chain (tail_count) and of the group before it (prev_count). */
static void count_groups(heddle_data *d)
{
	d->tail_mode = d->granted_mode;
	d->tail_count = d->granted;
	d->prev_count = 0;
	for (const struct hd_access *a = d->queue; a; a = a->next) {
		unsigned mode = hd_chain_mode(a->mode);
		if (!hd_modes_compatible(d->tail_mode, mode)) {
			d->prev_count = d->tail_count;
			d->tail_count = 0;
			d->tail_mode = (uint8_t)mode;
		}
		d->tail_count++;
	}
}

/* Removes `a` from the queue of its datum, which is not deep. `before`: the access in front of `a` in the queue; NULL:
 * `a` is the first. If `a` was the first, the group behind it is granted if it suits the accesses in force. */
static void withdraw(struct hd_access *a, struct hd_access *before)
{
	heddle_data *d = a->data;
	*(before ? &before->next : &d->queue) = a->next;
	if (!a->next)
		d->queue_tail = before;
	a->next = NULL;
	count_groups(d);
	if (!before && d->queue && hd_modes_compatible(d->granted_mode, hd_chain_mode(d->queue->mode)))
		advance(d);
}

int hd_chain_withdraw(struct hd_access *a)
{
	const heddle_data *d = hd_access_place(a);
	HD_HELD(&d->rt->lock);
	struct hd_access *before = NULL, *queued = d->queue;
	for (; queued && queued != a; queued = queued->next)
		before = queued;
	if (!queued)
		return 0;
	if (d->deep)
		hd_chain_withdraw_deep(a, before);
	else
		withdraw(a, before);
	a->flags |= HD_ACCESS_UNCHAINED;
	hd_access_task(a)->pending--;
	return 1;
}

/* Removes the edges to the explicit successors of `t`, and returns them in the order in which they were made;
 * extra->after lists the newest first. */
static struct hd_edge *take_edges(heddle_task *t)
{
	struct hd_edge *reversed = NULL;
	for (struct hd_edge *e = t->extra->after, *next; e; e = next) {
		next = e->next;
		e->next = reversed;
		reversed = e;
	}
	t->extra->after = NULL;
	return reversed;
}

void hd_chain_release_explicit(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (!t->extra || !t->extra->after)
		return;
	struct hd_edge *e = take_edges(t);
	char *cause = t->status ? hd_task_blame(t) : NULL;
	while (e) {
		struct hd_edge *next = e->next;
		if (t->status)
			hd_task_cancel(e->to, cause);
		if (--e->to->pending == 0)
			hd_tell_ready(e->to);
		/* not the last reference to the successor: the graph keeps one until the successor ends */
		e->to->refs--;
		free(e);
		e = next;
	}
	free(cause);
}

void hd_chain_release(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	int status = t->status;
	if (HD_UNLIKELY(t->special & (HD_TASK_DEEP | HD_TASK_COMMUTES)))
		release_special(t);
	else
		for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++)
			if (HD_LIKELY(!a->flags) || !(a->flags & HD_ACCESS_ALIAS))
				release_access(a, status);
	if (HD_UNLIKELY(t->extra && t->extra->after) && !(t->special & HD_TASK_EXPANDS))
		hd_chain_release_explicit(t);
}

int hd_chain_after(heddle_task *before, heddle_task *after)
{
	HD_HELD(&hd_task_runtime(after)->lock);
	/* Relaxed, pairs with nothing: the core lock is held whenever the state of a task in the graph changes. */
	if (atomic_load_explicit(&before->state, memory_order_relaxed) >= HD_RELEASED) {
		if (before->status) {
			char *cause = hd_task_blame(before);
			hd_task_cancel(after, cause);
			free(cause);
		}
		return 0;
	}
	struct hd_task_extra *extra = hd_task_extra(before);
	struct hd_edge *e = extra ? malloc(sizeof *e) : NULL;
	if (!e)
		return hd_no_memory("a dependency");
	e->to = after;
	e->next = extra->after;
	extra->after = e;
	after->refs++;
	after->pending++;
	return 0;
}

void hd_chain_undo_after(heddle_task *before)
{
	HD_HELD(&hd_task_runtime(before)->lock);
	struct hd_edge *e = before->extra->after;
	before->extra->after = e->next;
	e->to->refs--;
	e->to->pending--;
	free(e);
}

static void take_all_tokens(heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (needs_token(&t->accesses[i])) {
			t->accesses[i].data->token = 1;
			if (HD_UNLIKELY(t->accesses[i].data->poisoned)) /* a task that commuted before `t` failed */
				cancel_for(t, t->accesses[i].data);
			t->accesses[i].flags |= HD_ACCESS_TOKEN;
		}
	}
}

int hd_chain_take_tokens(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	/* A task that waits for a token holds no token, so no two tasks can wait for each other. */
	struct hd_access *lacking = lacking_token(t, 0);
	if (lacking) {
		wait_for_token(lacking);
		return 0;
	}
	take_all_tokens(t);
	return 1;
}
