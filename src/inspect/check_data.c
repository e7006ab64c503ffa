/* The part of heddle_selfcheck for data: access chains, commute tokens, replicas, transfers, and the counters of memory
 * nodes. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/grow.h"
#include "graph/chains.h"
#include "graph/tree_chains.h"
#include "memory/uses.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"

const char *hd_check_name(const struct hd_checked_data *seen)
{
	static _Thread_local char text[80]; /* one per thread */
	return hd_data_name(seen->owner ? seen->owner : seen->data, text, sizeof text);
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

static int note_data(struct hd_check *c, const heddle_data *d, const heddle_data *owner)
{
	if (HD_GROW(c->data, c->n_data, c->max_data, 64))
		return hd_no_memory("a check");
	for (heddle_plan *p = hd_data_plans(d); p; p = p->next)
		p->checked = 0;
	c->data[c->n_data++] = (struct hd_checked_data){.key = (uint64_t)(uintptr_t)d, .data = d, .owner = owner};
	return 0;
}

static int note_private_copies(struct hd_check *c, const heddle_data *d)
{
	const struct hd_private *p = d->extra ? d->extra->privates : NULL;
	size_t n = 0;
	for (int status; p; p = p->next) {
		if (p->worker >= c->rt->n_workers || p->slot >= c->rt->workers[p->worker].n_slots ||
		    p->copy->rt != c->rt || ++n > 2 * c->rt->n_slots)
			return hd_broken("datum %u: the list of its private copies is wrong", d->id);
		if ((status = note_data(c, p->copy, d)))
			return status;
	}
	return 0;
}

/* Collects the data in the runtime's list, and their private copies, which are in no list. */
int hd_check_collect_data(struct hd_check *c)
{
	const struct hd_handles *h = &c->rt->handles;
	heddle_data *const *link = &h->list;
	uint64_t bytes = 0;
	for (heddle_data *d = *link; d; link = &d->next, d = *link) {
		if (d->prev_next != link || d->rt != c->rt)
			return hd_broken("the list of data: datum %u does not point back to where it is linked", d->id);
		int status = note_data(c, d, NULL);
		if (!status)
			status = note_private_copies(c, d);
		if (status)
			return status;
		bytes += d->plan || d->is_private || !h->capacity ? 0 : d->bytes;
	}
	if (bytes != h->bytes || bytes > h->capacity)
		return hd_broken("main memory has %llu bytes of data, of which %llu are counted, and room for %llu",
		                 (unsigned long long)bytes, (unsigned long long)h->bytes,
		                 (unsigned long long)h->capacity);
	c->pins = calloc(c->n_data * c->rt->n_nodes + 1, sizeof *c->pins);
	if (!c->pins)
		return hd_no_memory("a check");
	for (size_t i = 0; i < c->n_tasks; i++)
		c->n_accesses += c->tasks[i].task->n_accesses;
	if (c->n_data)
		qsort(c->data, c->n_data, sizeof *c->data, hd_check_by_key);
	for (size_t i = 0; i < c->n_data; i++)
		c->data[i].pins = c->pins + i * c->rt->n_nodes;
	return 0;
}

struct hd_checked_data *hd_check_find_data(const struct hd_check *c, const heddle_data *d)
{
	size_t i = hd_search(c->data, c->n_data, sizeof *c->data, (uint64_t)(uintptr_t)d);
	return i < c->n_data && c->data[i].data == d ? &c->data[i] : NULL;
}

/* --- Chains: waiting accesses ------------------------------------------------------------------------------------- */

static enum hd_access_kind kind_of_mode(unsigned mode)
{
	switch (mode) {
	case HEDDLE_R:
	case HEDDLE_SCRATCH: return HD_READS;
	case HEDDLE_COMMUTE: return HD_COMMUTES;
	case HEDDLE_REDUX: return HD_REDUCES;
	default: return HD_WRITES;
	}
}

static int has_place_in_chain(const struct hd_access *a)
{
	return !(a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED));
}

/* The plan through which the task of an access in the chain of `d` accesses data below `d`; NULL: the access is to `d`
 * itself. */
static heddle_plan *plan_below(const heddle_data *d, const struct hd_access *a)
{
	const heddle_data *x = a->data;
	while (x != d && x->plan->data != d)
		x = x->plan->data;
	return x == d ? NULL : x->plan;
}

/* Counts an access in the chain of `seen` that leads to a handle below; `one` is 1, or -1 to undo the counting. */
static void count_weak(struct hd_checked_data *seen, const struct hd_access *a, uint32_t one)
{
	seen->changing += a->flags & HD_ACCESS_CHANGES ? one : 0;
	plan_below(seen->data, a)->checked += one;
}

/* Whether an access that follows `last` may be in the queue of `d`: it waits, or is a marker in force. */
static int may_be_queued(const heddle_data *d, const struct hd_access *a, const struct hd_access *last)
{
	const heddle_task *t = hd_access_task(a);
	int marker = (a->flags & HD_ACCESS_MARKER) && a->data == d, in_force = (a->flags & HD_ACCESS_IN_FORCE) != 0;
	return has_place_in_chain(a) && hd_access_place(a) == d && (!marker || a->before == last) &&
	       (in_force ? marker && hd_check_state(t) < HD_RELEASED : hd_check_state(t) == HD_WAITING);
}

/* Checks the queue of ungranted accesses and of markers in force. Each ungranted access counts in the `pending` of its
 * task. */
static int check_queue(struct hd_check *c, struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	const struct hd_access *last = NULL;
	size_t n = 0, n_waiting = 0;
	for (const struct hd_access *a = d->queue; a; a = a->next) {
		struct hd_checked_task *task = hd_check_find_task(c, hd_access_task(a));
		if (!task || !may_be_queued(d, a, last))
			return hd_broken("%s: an access that cannot be there waits in its chain", hd_check_name(seen));
		if (++n > c->n_accesses)
			return hd_broken("%s: the queue of its chain runs in a circle", hd_check_name(seen));
		n_waiting += !(a->flags & HD_ACCESS_IN_FORCE);
		task->pending += !(a->flags & HD_ACCESS_IN_FORCE);
		if (a->data != d)
			count_weak(seen, a, -1u);
		else if (!(a->flags & HD_ACCESS_MARKER))
			seen->queued[kind_of_mode(a->mode)]++;
		last = a;
	}
	if (d->deep && d->n_waiting != n_waiting)
		return hd_broken("%s: %u accesses are said to wait in its chain, but %zu do", hd_check_name(seen),
		                 (unsigned)d->n_waiting, n_waiting);
	return !last || last == d->queue_tail
	           ? 0
	           : hd_broken("%s: the tail of its chain is not the last access", hd_check_name(seen));
}

static int check_commuters(struct hd_check *c, const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	const struct hd_access *last = NULL;
	if (d->commuters && !d->token)
		return hd_broken("%s: tasks wait for its token, which is free", hd_check_name(seen));
	for (const struct hd_access *a = d->commuters; a; a = a->next) {
		if (a->data != d || a->mode != HEDDLE_COMMUTE || (a->flags & HD_ACCESS_TOKEN))
			return hd_broken("%s: an access that needs no token waits for it", hd_check_name(seen));
		int status =
		    hd_check_place(c, hd_access_task(a), HD_WAITS_FOR_TOKEN, "the tasks that wait for a token");
		if (status)
			return status;
		last = a;
	}
	return !last || last == d->commuters_tail
	           ? 0
	           : hd_broken("%s: the tail of those that wait for its token is not the last", hd_check_name(seen));
}

int hd_check_chains(struct hd_check *c)
{
	uint64_t n_transfers = 0;
	for (size_t i = 0; i < c->n_data; i++) {
		struct hd_checked_data *seen = &c->data[i];
		int status = check_queue(c, seen);
		if (!status)
			status = check_commuters(c, seen);
		if (!status)
			status = hd_check_transfers(c, seen);
		if (status)
			return status;
		n_transfers += seen->data->n_transfers;
	}
	return n_transfers == c->rt->count.transfers
	           ? hd_check_lanes(c)
	           : hd_broken("%llu transfers are under way; n_transfers of the runtime says %llu",
	                       (unsigned long long)n_transfers, (unsigned long long)c->rt->count.transfers);
}

/* --- The accesses of tasks ---------------------------------------------------------------------------------------- */

/* Whether the task has all its data: it is about to run, runs, waits for its events, or is a granted ACQUIRE
 * control. */
static int has_begun(const heddle_task *t)
{
	unsigned state = hd_check_state(t);
	return state == HD_STAGED || state == HD_RUNNING || state == HD_DETACHED;
}

static int count_pin(struct hd_check *c, const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	struct hd_checked_data *seen = hd_check_find_data(c, a->private_copy ? a->private_copy : a->data);
	if (!seen || (t->codelet && (hd_check_state(t) < HD_PICKED || t->worker >= c->rt->n_workers)))
		return hd_broken("task %llu: its access %u has a pin on what it cannot pin",
		                 (unsigned long long)t->order, a->index);
	int writes = (a->flags & HD_ACCESS_WRITES) != 0;
	if (!writes && has_begun(t) && (a->private_copy || hd_mode_writes(a->mode)))
		return hd_broken("task %llu: it writes datum %u of it, and is not counted",
		                 (unsigned long long)t->order, a->index);
	seen->pins[hd_task_node(c->rt, t)]++;
	seen->writers += (uint32_t)writes;
	return 0;
}

/* Counts the places of the access in the chain of its datum and in the chains of the data above. */
static int count_places(struct hd_check *c, const struct hd_access *a, struct hd_checked_data *seen)
{
	if (!(a->flags & (HD_ACCESS_ABOVE | HD_ACCESS_MARKER)))
		seen->accesses[kind_of_mode(a->mode)]++;
	const heddle_data *d = hd_access_place(a);
	if (d == a->data)
		d = a->flags & HD_ACCESS_LOCAL || !d->plan ? NULL : d->plan->data;
	for (; d; d = hd_data_above(d)) {
		struct hd_checked_data *above = hd_check_find_data(c, d);
		if (!above)
			return hd_broken("%s: its parent is not there any more", hd_check_name(seen));
		count_weak(above, a, 1);
	}
	return 0;
}

static int count_access(struct hd_check *c, const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	struct hd_checked_data *seen = hd_check_find_data(c, a->data);
	if (!seen)
		return hd_broken("task %llu: datum %u of it is not there any more", (unsigned long long)t->order,
		                 a->index);
	/* a task that has not entered the graph is not among the tasks */
	seen->unordered += (uint32_t)hd_is_unordered(a);
	if (has_place_in_chain(a)) {
		int status = count_places(c, a, seen);
		if (status)
			return status;
		seen->tokens += (a->flags & HD_ACCESS_TOKEN) != 0;
	}
	if ((a->flags & HD_ACCESS_WRITES) && !(a->flags & HD_ACCESS_PINNED))
		return hd_broken("task %llu: it writes datum %u of it, which has no pin", (unsigned long long)t->order,
		                 a->index);
	if ((t->special & HD_TASK_LISTED) && (a->flags & HD_ACCESS_PINNED))
		return hd_broken("task %llu: it has its data, and is listed among those that will need them",
		                 (unsigned long long)t->order);
	const struct hd_dispatch *dispatch = &c->rt->dispatch;
	if (!(t->special & HD_TASK_LISTED) != !(dispatch->n_tight && c->rt->next_use && hd_uses_are_due(t)))
		return hd_broken("task %llu: it is%s listed among those that will need data, with %u tight memories",
		                 (unsigned long long)t->order, t->special & HD_TASK_LISTED ? "" : " not",
		                 dispatch->n_tight);
	seen->uses += (t->special & HD_TASK_LISTED) && hd_is_use(a);
	return a->flags & HD_ACCESS_PINNED ? count_pin(c, a) : 0;
}

/* Counts the accesses and pins of all tasks that have not released their accesses. */
int hd_check_accesses(struct hd_check *c)
{
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task;
		if (hd_check_state(t) >= HD_EXPANDED)
			continue;
		for (uint32_t k = 0; k < t->n_accesses; k++) {
			const struct hd_access *a = &t->accesses[k];
			if (a->index != k)
				return hd_broken("task %llu: the index of access %u is %u",
				                 (unsigned long long)t->order, k, a->index);
			int status = a->flags & HD_ACCESS_ALIAS ? 0 : count_access(c, a);
			if (status)
				return status;
		}
	}
	return 0;
}

/* --- Each datum --------------------------------------------------------------------------------------------------- */

/* Checks that the number and the modes of granted accesses agree with the fields of the datum, and that these modes may
 * be granted together. */
static int check_granted(const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	uint32_t granted[HD_ACCESS_KINDS], n = 0, kinds = 0;
	for (int k = 0; k < HD_ACCESS_KINDS; k++) {
		granted[k] = seen->accesses[k] - seen->queued[k];
		n += granted[k];
		kinds += granted[k] != 0;
	}
	if (n != d->granted)
		return hd_broken("%s: %u accesses are in force; granted says %u", hd_check_name(seen), n, d->granted);
	if (!n)
		return 0;
	if (kinds > 1 || granted[HD_WRITES] > 1 || !granted[kind_of_mode(d->granted_mode)])
		return hd_broken("%s: accesses are in force that do not go together, or not with granted_mode %u",
		                 hd_check_name(seen), d->granted_mode);
	return 0;
}

/* Checks the invariant of access chains that src/graph/chains.c states. */
static int check_head(const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	if (!d->queue)
		return 0;
	if (d->deep)
		return hd_chain_can_advance((heddle_data *)(uintptr_t)d)
		           ? hd_broken("%s: the first access that waits could go along with those in force",
		                       hd_check_name(seen))
		           : 0;
	if (!d->granted)
		return hd_broken("%s: accesses wait in its chain and none is in force", hd_check_name(seen));
	enum hd_access_kind head = kind_of_mode(d->queue->mode), now = kind_of_mode(d->granted_mode);
	return head != now || head == HD_WRITES
	           ? 0
	           : hd_broken("%s: the first access that waits could go along with those in force",
	                       hd_check_name(seen));
}

static int check_chain(const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	int status = check_granted(seen);
	if (!status)
		status = check_head(seen);
	if (status)
		return status;
	if (seen->tokens != d->token)
		return hd_broken("%s: %u accesses have its token; token says %u", hd_check_name(seen), seen->tokens,
		                 d->token);
	const heddle_task *reduce = d->extra ? d->extra->reduce : NULL;
	if ((d->tail_mode == HEDDLE_REDUX) != (reduce != NULL) ||
	    (reduce && (hd_check_state(reduce) != HD_OUTSIDE || reduce->accesses[0].data != d)))
		return hd_broken("%s: its chain ends with a reduction that no task will close, or the other way round",
		                 hd_check_name(seen));
	return 0;
}

static int check_replica(const struct hd_check *c, const struct hd_checked_data *seen, const struct hd_replica *r)
{
	const heddle_data *d = seen->data;
	unsigned node = r->node;
	if (&d->replicas[node] != r || r->valid > 1 || r->incoming > 1)
		return hd_broken("%s: a copy of it has the wrong number", hd_check_name(seen));
	/* Data of 0 bytes have none. In virtual time no kernel writes, so data without memory may be valid in main
	 * memory. */
	int needs_memory = d->bytes && (c->rt->engine->runs_kernels || node != 0);
	if (r->valid && !r->ptr && needs_memory)
		return hd_broken("%s: its copy on node %u is valid and has no memory", hd_check_name(seen), node);
	if (r->pins != seen->pins[node])
		return hd_broken("%s: %u tasks and transfers use its copy on node %u; pins says %u",
		                 hd_check_name(seen), seen->pins[node], node, r->pins);
	if (r->pins && !r->ptr && needs_memory)
		return hd_broken("%s: its copy on node %u is pinned and has no memory", hd_check_name(seen), node);
	if (r->incoming != (hd_check_transfer_to(d, node) != NULL))
		return hd_broken("%s: its copy on node %u is %sincoming, and %s transfer goes there",
		                 hd_check_name(seen), node, r->incoming ? "" : "not ", r->incoming ? "no" : "a");
	if (r->block && (r->ptr != r->block->ptr || r->block->node != node || r->user_buffer))
		return hd_broken("%s: its copy on node %u does not lie in its block", hd_check_name(seen), node);
	int listed = c->rt->memories[node].tight && r->ptr && !r->user_buffer && !r->window && !r->pins;
	if ((r->place != 0) != listed || (r->user_buffer && node != 0))
		return hd_broken("%s: its copy on node %u %s", hd_check_name(seen), node,
		                 listed ? "could be evicted and is not listed for that"
		                        : "cannot be evicted and is listed for that");
	return 0;
}

static int check_replicas(const struct hd_check *c, const struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	uint64_t holders = 0;
	unsigned n_valid = 0, n_away = 0, n_wanted = 0;
	for (size_t i = 0; i < c->rt->n_nodes; i++) {
		int status = check_replica(c, seen, &d->replicas[i]);
		if (status)
			return status;
		n_valid += d->replicas[i].valid;
		holders |= (uint64_t)d->replicas[i].valid << i % HD_NODE_BITS;
		n_away += i != 0 && d->replicas[i].ptr;
		n_wanted += d->replicas[i].wanted;
	}
	if (n_valid && (d->poisoned & HD_UNWANTED))
		return hd_broken("%s: it was given up, and a copy of it is valid", hd_check_name(seen));
	if (n_valid != d->n_valid || n_away != d->n_away)
		return hd_broken(
		    "%s: %u copies are valid and %u lie outside main memory; n_valid and n_away say %u and %u",
		    hd_check_name(seen), n_valid, n_away, d->n_valid, d->n_away);
	if (holders != d->holders)
		return hd_broken("%s: `holders` says which copies are valid, wrongly", hd_check_name(seen));
	if (d->at_home != (d->replicas[0].ptr && d->replicas[0].valid))
		return hd_broken("%s: at_home says %u", hd_check_name(seen), d->at_home);
	if (d->settled && !d->at_home && !d->deep && !(d->poisoned & HD_UNWANTED) && !d->rt->dispatch.n_lost)
		return hd_broken("%s: its value has left the buffer of the program", hd_check_name(seen));
	unsigned caveats = hd_data_caveats(d) & ~(unsigned)HD_CLOSED_BITS;
	int choosy = d->read_only || (d->traits & HD_DATA_OBJECT);
	if (!d->is_private && caveats != ((d->deep ? HD_DEEP_BIT : 0u) | (choosy ? HD_CHOOSY_BIT : 0u) |
	                                  (d->settled ? 0u : HD_UNSETTLED_BIT)))
		return hd_broken("%s: its caveats say %u", hd_check_name(seen), caveats);
	if (n_wanted != d->n_wanted || (n_wanted && !d->n_writers))
		return hd_broken("%s: prefetches to %u copies are remembered with %u writers; n_wanted says %u",
		                 hd_check_name(seen), n_wanted, d->n_writers, d->n_wanted);
	if (seen->writers != d->n_writers)
		return hd_broken("%s: %u tasks are about to write it or do; n_writers says %u", hd_check_name(seen),
		                 seen->writers, d->n_writers);
	if (d->n_writers && d->transfers && !d->transfers->stale)
		return hd_broken("%s: it is being written, and transfers of it are under way", hd_check_name(seen));
	return 0;
}

static int check_uses(const struct hd_check *c, const struct hd_checked_data *seen)
{
	if (!c->rt->limited)
		return 0;
	const heddle_data *d = seen->data;
	const struct hd_use_list *uses = hd_data_uses(d);
	struct hd_use *const *link = &uses->first;
	uint32_t n = 0;
	for (const struct hd_use *u = *link; u; link = &u->next, u = *link) {
		const struct hd_checked_task *task = hd_check_find_task(c, hd_access_task(u->access));
		if (u->prev_next != link || u->access->data != d || !task || !(task->task->special & HD_TASK_LISTED) ||
		    ++n > seen->uses)
			return hd_broken("%s: the list of tasks that will use it is wrong", hd_check_name(seen));
	}
	return n == seen->uses && (!n || uses->end == link)
	           ? 0
	           : hd_broken("%s: %u tasks will use it, %u are listed, or the end of the list is wrong",
	                       hd_check_name(seen), seen->uses, n);
}

/* Checks the REDUCE tasks that are not in the graph yet: each datum whose chain ends with a reduction has one. */
static int check_open_reductions(const struct hd_check *c)
{
	size_t n = 0, listed = 0;
	for (size_t i = 0; i < c->n_data; i++)
		n += c->data[i].data->extra && c->data[i].data->extra->reduce;
	const heddle_task *before = NULL;
	for (const heddle_task *t = c->rt->dispatch.open_reductions; t; before = t, t = t->link.next) {
		const struct hd_checked_data *seen = hd_check_find_data(c, t->accesses[0].data);
		if (!seen || t->link.prev != before || !seen->data->extra || seen->data->extra->reduce != t)
			return hd_broken(
			    "the list of open reductions: one of them is no datum's, or its links are wrong");
		listed++;
	}
	return n == listed ? 0 : hd_broken("%zu data have open reductions, %zu are in the list of those", n, listed);
}

int hd_check_data(struct hd_check *c)
{
	int status = check_open_reductions(c);
	if (!status)
		status = hd_check_windows(c);
	for (size_t i = 0; i < c->n_data && !status; i++) {
		status = check_chain(&c->data[i]);
		if (!status)
			status = check_replicas(c, &c->data[i]);
		if (!status)
			status = hd_check_layout(c, &c->data[i]);
		if (!status)
			status = check_uses(c, &c->data[i]);
	}
	return status;
}
