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

static int chained(const struct hd_access *a)
{
	return !(a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED));
}

static __attribute__((cold)) void cancel_for(heddle_task *t, const heddle_data *d)
{
	hd_task_cancel(t, d->extra ? d->extra->cause : NULL);
}

/* Grants an access. Cancels the task if it needs a value that was never computed, because a predecessor failed. */
static void grant(struct hd_access *a)
{
	heddle_data *d = a->data;
	d->granted++;
	d->granted_mode = (uint8_t)hd_chain_mode(a->mode);
	if (HD_UNLIKELY(d->poisoned) && a->mode != HEDDLE_W && a->mode != HEDDLE_SCRATCH)
		cancel_for(hd_access_task(a), d);
}

void hd_chain_grant(struct hd_access *a)
{
	HD_HELD(&a->data->rt->lock);
	grant(a);
}

/* Counts a waiting access in the last group of the chain, or begins a new group with it; stores the size of the group
 * before its own in the access. tail_mode and tail_count describe the last group, prev_count is the size of the group
 * before it. While no access waits, the last group is the one in force, and the two counts are not used. */
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
		if (!chained(a))
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
		if (HD_LIKELY(!a->flags) || chained(a))
			link_access(t, a);
}

/* Prefetches into the cache what advance() needs of the access at `address`, and of its task. The address may be a
 * guess: the tasks of a loop often lie at equal distances, and following their links one by one costs a cache miss
 * each. `like` is an access with the same index in its task. */
static void fetch_access(uintptr_t address, const struct hd_access *like)
{
	uintptr_t to_pending = (uintptr_t)&hd_access_task(like)->pending - (uintptr_t)like;
	__builtin_prefetch((const void *)address);
	__builtin_prefetch((const void *)(address + to_pending), 1);
}

/* Calls hd_task_fetch for the task of `a`. The index of `a` lies in a cache line that is not loaded yet, so it is
 * guessed to be that of `like`. */
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

/* Called when the access has been granted: its task is ready if it waited for nothing else. */
static inline void go_on(struct hd_access *a)
{
	a->next = NULL;
	heddle_task *t = hd_access_task(a);
	if (--t->pending == 0)
		hd_tell_ready(t);
}

/* Removes the group at the head of the queue, which ends with `last`. This happens before the tasks of the group are
 * told that they are ready, because `ready` may link new accesses to this datum. */
static inline void cut_off(heddle_data *d, const struct hd_access *last)
{
	d->queue = last->next;
	if (d->queue)
		fetch_task(d->queue, last); /* this access is the next to be granted, often very soon */
}

/* Grants the group at the head of the queue, which may have several accesses. */
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

/* Grants the group at the head of the queue, if there is one. To be called when no access is in force any more, or
 * those in force are compatible with that group. After granting a writer, does not read the access behind it: that
 * access belongs to a task submitted much later, so reading it is a cache miss. */
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
	return a->mode == HEDDLE_COMMUTE && chained(a);
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

/* The first access of the task whose commute token another task holds, searched from access number `first` on,
 * cyclically. NULL: all tokens are free. */
static struct hd_access *lacking_token(heddle_task *t, uint32_t first)
{
	for (uint32_t k = 0; k < t->n_accesses; k++) {
		uint32_t i = first + k < t->n_accesses ? first + k : first + k - t->n_accesses;
		if (needs_token(&t->accesses[i]) && t->accesses[i].data->token)
			return &t->accesses[i];
	}
	return NULL;
}

/* Offers the free token of the datum to the tasks that wait for it, one after the other, until one takes it. A task
 * that lacks another token queues for that token instead. The search for it begins at the offered access, so that a
 * task with many tokens does not search the first ones again and again. A loop instead of recursion, because thousands
 * of tasks may wait. */
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

/* Poisons the datum, because the task failed. Messages name the task that failed first as the cause: a task that was
 * cancelled because of it does not replace the cause. */
static __attribute__((cold)) void spoil(struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	heddle_data *d = hd_access_place(a);
	if (d->poisoned && t->status == HEDDLE_E_CANCELLED)
		return;
	hd_data_spoil(d, hd_task_blame(t));
}

/* Updates whether the datum has a value, after a task that was to write it has ended. */
static inline void judge_value(struct hd_access *a, int status)
{
	if (HD_UNLIKELY(status) && a->mode != HEDDLE_R && a->mode != HEDDLE_SCRATCH)
		spoil(a);
	else if (a->mode == HEDDLE_W)
		hd_data_heal(a->data);
}

/* Frees all tokens of the task, and updates which of its data have values, before the first token is offered: the task
 * that gets the offer may take all of these tokens. */
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

static inline void release_access(struct hd_access *a, int status)
{
	heddle_data *d = a->data;
	judge_value(a, status);
	if (HD_UNLIKELY(a->flags != 0)) {
		if (a->flags & HD_ACCESS_UNCHAINED)
			return;
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

/* Counts the sizes of the last group of the chain and of the group before it anew. */
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

/* Removes the access, which follows `before` (NULL: it is the first), from the queue of a datum that is not deep. If it
 * was the first, the group behind it is granted if it is compatible with the accesses in force. */
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

/* Removes the task's edges and returns them in the order in which they were made; extra->after has the newest first. */
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
		e->to->refs--; /* not the last reference: the graph keeps one until the task ends */
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
			if (HD_UNLIKELY(t->accesses[i].data->poisoned)) /* a commuting task before this one failed */
				cancel_for(t, t->accesses[i].data);
			t->accesses[i].flags |= HD_ACCESS_TOKEN;
		}
	}
}

int hd_chain_take_tokens(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	/* A task that waits for a token holds none, so no two tasks can wait for each other. */
	struct hd_access *lacking = lacking_token(t, 0);
	if (lacking) {
		wait_for_token(lacking);
		return 0;
	}
	take_all_tokens(t);
	return 1;
}

/* --- What follows a task, for policies ---------------------------------------------------------------------------- */

static unsigned count_preds(const heddle_task *t)
{
	unsigned n = t->extra ? t->extra->n_preds : 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		n += t->accesses[i].n_preds;
	return n ? n : 1; /* 0 for a step of a reduction, which waits for one task, the step before it */
}

/* Whether a worker will run the task. A cancelled task only waits for its turn to end; a hierarchical task may leave
 * the work to its sub-graph. */
static int will_run(const heddle_task *t)
{
	return t->kind == HD_TASK_CODELET && !t->cancelled && !(t->special & HD_TASK_EXPANDS);
}

/* The first access from `a` on that is not a marker in force. */
static struct hd_access *first_waiting(struct hd_access *a)
{
	while (a && (a->flags & HD_ACCESS_IN_FORCE))
		a = a->next;
	return a;
}

/* Whether this walk over successors has met the task before. The number of the last walk that has met it is stored in
 * its `link`, which no policy uses while the task waits. */
static int seen_before(heddle_task *s, uint64_t walk)
{
	int seen = s->link.u.word == walk;
	s->link.u.word = walk;
	return seen;
}

void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *, unsigned, void *), void *arg)
{
	/* The successor met last: a successor with many data in common is met many times in a row, and its predecessors
	 * are counted only once. */
	const heddle_task *last = NULL;
	unsigned n_preds = 0;
	uint64_t walk = ++hd_task_runtime(t)->n_walks;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		if (!chained(&t->accesses[i]))
			continue;
		struct hd_access *a = first_waiting(t->accesses[i].data->queue);
		unsigned mode = a ? hd_chain_mode(a->mode) : 0;
		for (struct hd_access *s = a; s && (s == a || hd_modes_compatible(mode, hd_chain_mode(s->mode)));
		     s = s->next) {
			heddle_task *successor = hd_access_task(s);
			if (!will_run(successor) || (s->flags & HD_ACCESS_IN_FORCE) ||
			    (once && seen_before(successor, walk)))
				continue;
			if (successor != last)
				n_preds = count_preds(successor);
			last = successor;
			f(successor, n_preds, arg);
		}
	}
	for (struct hd_edge *e = t->extra ? t->extra->after : NULL; e; e = e->next)
		if (will_run(e->to) && !(once && seen_before(e->to, walk)))
			f(e->to, count_preds(e->to), arg);
}
