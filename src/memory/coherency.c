/* Coherency: which replicas are valid, and which transfers a task awaits before it runs.
 *
 * Staging a task on a node means: reserve and pin a replica of each of its data, begin the transfers that make the
 * replicas valid (transfers.c), and wait for these transfers. A task that writes a datum also waits until no transfer
 * of the datum is under way. Until the task has ended, no transfer of the datum begins (n_writers), because it could
 * copy a half-written value. When the task has succeeded, the replica that it has written is the only valid one. Until
 * then the other replicas keep the previous value, unless their memory is needed.
 */
#include "coherency.h"
#include "state/data.h"
#include "state/flow_calls.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "allocation.h"
#include "eviction.h"
#include "lost_memory.h"
#include "transfers.h"

static int needs_value(const struct hd_access *a)
{
	if (!a->private_copy)
		return hd_mode_reads(a->mode);
	/* A private copy has no value before its first contribution to a reduction: then its init kernel will write
	 * one. */
	return a->mode != HEDDLE_SCRATCH && a->private_copy->n_valid;
}

static int writes(const struct hd_access *a)
{
	return a->private_copy != NULL || hd_mode_writes(a->mode);
}

/* Marks a task as failed because it cannot get its data. Keeps the message of heddle_last_error now, because the task
 * may end later, in another thread. */
static void fail(heddle_task *t, int status)
{
	if (!t->status)
		hd_task_message(t, heddle_last_error());
	t->status = status;
}

/* A transfer that must end before the datum is written or freed; NULL: there is none. Drops the transfers that have not
 * begun to move and for which no task waits. */
static struct hd_transfer *transfer_in_the_way(heddle_data *d)
{
	if (HD_LIKELY(!d->transfers))
		return NULL;
	hd_drop_unawaited(d);
	return d->transfers;
}

/* Whether the task needs a valid replica of the datum. A cancelled control task needs none, and neither does an ACQUIRE
 * task for which no thread waits any more: such tasks only wait for the transfers under way. */
static int must_have_value(const struct hd_access *a)
{
	const heddle_task *t = hd_access_task(a);
	return needs_value(a) && !t->cancelled && !(t->kind == HD_TASK_ACQUIRE && t->given_up);
}

/* Begins the transfer that access `a` still needs on `node`. 0: the access needs no transfer; HEDDLE_PENDING: it waits
 * for a transfer; or an error. */
static int stage_access(struct hd_access *a, unsigned node)
{
	heddle_data *d = hd_access_datum(a);
	struct hd_transfer *tr = NULL;
	if (HD_UNLIKELY(!d->replicas[node].valid && must_have_value(a)) && !(a->flags & HD_ACCESS_LATE)) {
		int status = hd_fetch(d, node, HD_DEMAND, &tr);
		if (status)
			return status;
	} else if (writes(a)) {
		tr = transfer_in_the_way(d); /* the task must not write the datum while this transfer copies it */
	}
	if (HD_LIKELY(!tr)) {
		/* A control task that only waits for transfers has pinned nothing. It must not be counted as a writer,
		 * because hd_stage_end would not subtract it. */
		if (writes(a) && (a->flags & HD_ACCESS_PINNED)) {
			a->flags |= HD_ACCESS_WRITES;
			d->n_writers++;
		}
		return 0;
	}
	hd_transfer_await(tr, a);
	return HEDDLE_PENDING;
}

/* Called when the transfer for which `a` has waited has ended or was dropped: begins the next transfer that `a`
 * needs. */
static void restage_access(struct hd_access *a)
{
	heddle_task *t = hd_access_task(a);
	heddle_runtime *rt = a->data->rt;
	t->pending--;
	if (!t->status) {
		unsigned node = hd_task_node(rt, t);
		int s = HD_LIKELY(!rt->memories[node].lost) ? stage_access(a, node) : HEDDLE_E_DEVICE;
		if (s < 0)
			fail(t, s);
	} else if (t->kind == HD_TASK_UNREGISTER) {
		/* an UNREGISTER task frees the datum, so it must wait for all transfers even if it has failed */
		struct hd_transfer *tr = transfer_in_the_way(a->data);
		if (tr)
			hd_transfer_await(tr, a);
	}
	if (!t->pending)
		rt->flow->staged(rt, t, t->status);
}

/* Whether the task of `a` still needs the value that the failed transfer `tr` was to bring to the task's node; or to
 * main memory, if `tr` was to bring the parent, from which the datum would then be copied. A task may also wait for
 * transfers to other nodes; their failure does not concern it. */
static int lacks(const struct hd_access *a, const struct hd_transfer *tr)
{
	unsigned node = hd_task_node(a->data->rt, hd_access_task(a));
	return (node == tr->to || tr->data != hd_access_datum(a)) && must_have_value(a) &&
	       !hd_access_datum(a)->replicas[node].valid;
}

void hd_stage_arrived(struct hd_transfer *tr)
{
	HD_HELD(&tr->data->rt->lock);
	struct hd_access *a = tr->waiters;
	while (a) {
		struct hd_access *next = a->next;
		a->next = NULL;
		/* If a transfer has failed because a device is lost, restage_access begins another one, from another
		 * node or by another route. */
		if (tr->status && tr->status != HEDDLE_E_DEVICE && lacks(a, tr))
			fail(hd_access_task(a), tr->status);
		/* the task was told that it gets an undefined value: heddle_unordered */
		if (HD_UNLIKELY(tr->stale) && !tr->status && tr->data == hd_access_datum(a) &&
		    tr->to == hd_task_node(a->data->rt, hd_access_task(a)))
			a->flags |= HD_ACCESS_LATE;
		restage_access(a);
		a = next;
	}
}

void hd_stage_again(struct hd_access *waiters)
{
	while (waiters) {
		struct hd_access *a = waiters;
		waiters = a->next;
		a->next = NULL;
		restage_access(a);
	}
}

/* Staging on a machine with one memory node, where nothing is copied, evicted or pinned. Returns 0 if some datum has no
 * buffer or no value yet. */
static int stage_local(heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const heddle_data *d = t->accesses[i].data;
		if (HD_LIKELY(d->at_home))
			continue;
		const struct hd_replica *r = &d->replicas[0];
		if (!r->ptr || !(r->valid || t->accesses[i].mode == HEDDLE_W))
			return 0;
	}
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (HD_UNLIKELY(!t->accesses[i].data->at_home))
			/* set valid although the task has not written it yet, because no other task reads the replica
			 * before this task has ended */
			hd_replica_set_valid(&t->accesses[i].data->replicas[0], 1);
	return 1;
}

int hd_stage(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_LIKELY(t->special & HD_TASK_ONE_NODE) && HD_LIKELY(stage_local(t)))
		return 0;
	t->special &= (uint16_t)~HD_TASK_ONE_NODE;
	t->pending = 0;
	int status = hd_memory_reserve(t, node);
	if (HD_UNLIKELY(status)) {
		if (status < 0)
			fail(t, status);
		return status;
	}
	/* This 1 keeps `pending` above 0 until all transfers have begun, even if one of them ends meanwhile. */
	t->pending = 1;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_access *a = &t->accesses[i];
		if ((a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_LATE)) ||
		    (a->mode == HEDDLE_R && a->data->replicas[node].valid))
			continue;
		int s = stage_access(a, node);
		if (s < 0)
			fail(t, s);
	}
	if (--t->pending)
		return HEDDLE_PENDING;
	return t->status;
}

int hd_stage_quiet(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	t->pending = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		struct hd_transfer *tr = transfer_in_the_way(t->accesses[i].data);
		if (tr)
			hd_transfer_await(tr, &t->accesses[i]);
	}
	return t->pending ? HEDDLE_PENDING : 0;
}

void hd_stage_begin(heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	t->special |= HD_TASK_BEGUN;
}

/* Whether a replica on a node other than `node`, whose replica is valid, is valid or allocated. */
static int has_copies_but(const heddle_data *d, unsigned node)
{
	return d->n_valid > 1 || d->n_away > (node != 0);
}

static void replace_copy(struct hd_replica *r)
{
	hd_replica_set_valid(r, 0);
	if (r->node != 0 && r->ptr && !r->pins && !r->user_buffer)
		hd_memory_free(r); /* an invalid replica only occupies room */
}

/* Called when a task has written the datum on `node`: makes the other replicas invalid. On a machine with many nodes,
 * visits only the nodes that may have a valid replica; then, if other nodes have allocated invalid replicas, all
 * nodes. */
static void replace_copies(heddle_data *d, unsigned node)
{
	hd_replica_set_valid(&d->replicas[node], 1);
	if (HD_UNLIKELY(d->rt->dispatch.n_tight != 0))
		hd_adapt_replaced(&d->rt->adapt, d, node);
	for (uint64_t left = d->holders; has_copies_but(d, node) && left; left &= left - 1)
		for (size_t k = (size_t)__builtin_ctzll(left); k < d->rt->n_nodes; k += HD_NODE_BITS)
			if (k != node)
				replace_copy(&d->replicas[k]);
	for (size_t k = 0; has_copies_but(d, node) && k < d->rt->n_nodes; k++)
		if (k != node)
			replace_copy(&d->replicas[k]);
}

void hd_forget_value(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	for (size_t i = 0; i < d->rt->n_nodes && !d->settled; i++) {
		struct hd_replica *r = &d->replicas[i];
		hd_replica_set_valid(r, 0);
		hd_free_if_void(r);
	}
}

/* Called when a task that had begun to write the datum on `node` has ended. If the task has failed, the replica on
 * `node` becomes invalid; the previous value may still be valid on another node. */
static void end_writing(const heddle_task *t, const struct hd_access *a, unsigned node)
{
	heddle_data *d = hd_access_datum(a);
	if (a->mode == HEDDLE_SCRATCH)
		hd_replica_set_valid(&d->replicas[node], 0); /* so that an eviction need not write it back */
	else if (HD_LIKELY(!t->status))
		replace_copies(d, node);
	else if (d->n_valid > d->replicas[node].valid)
		hd_replica_set_valid(&d->replicas[node], 0);
}

void hd_stage_end(heddle_task *t, unsigned node)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	if (HD_LIKELY(t->special & HD_TASK_ONE_NODE))
		return;
	for (struct hd_access *a = t->accesses, *end = a + t->n_accesses; a < end; a++) {
		unsigned flags = a->flags;
		if (!(flags & HD_ACCESS_PINNED))
			continue;
		heddle_data *d = hd_access_datum(a);
		a->flags = flags & (unsigned)~(HD_ACCESS_PINNED | HD_ACCESS_WRITES | HD_ACCESS_LATE) & HD_ACCESS_FLAGS;
		if (flags & HD_ACCESS_WRITES) {
			if (HD_LIKELY(t->special & HD_TASK_BEGUN))
				end_writing(t, a, node);
			d->n_writers--;
		}
		hd_replica_unpin(&d->replicas[node]);
		if (HD_UNLIKELY(d->n_wanted && !d->n_writers))
			hd_prefetch_wanted(d, !t->status && (t->codelet || t->kind == HD_TASK_ACQUIRE));
	}
}

int hd_can_run_again(const heddle_task *t, unsigned node, const heddle_data **stuck)
{
	HD_HELD(&t->codelet->rt->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if ((a->flags & HD_ACCESS_ALIAS) || !needs_value(a) || !writes(a))
			continue;
		if (hd_is_valid_beside(hd_access_datum(a), node))
			continue;
		*stuck = a->data;
		return 0;
	}
	return 1;
}

void hd_stage_undo(heddle_task *t, unsigned node, int begun)
{
	HD_HELD(&t->codelet->rt->lock);
	for (uint32_t i = 0; begun && i < t->n_accesses; i++)
		if (writes(&t->accesses[i]) && !(t->accesses[i].flags & HD_ACCESS_ALIAS))
			hd_replica_set_valid(&hd_access_datum(&t->accesses[i])->replicas[node], 0);
	t->special &= (uint16_t)~HD_TASK_BEGUN;
	hd_stage_end(t, node);
}
