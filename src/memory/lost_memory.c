/* Memories of lost devices: how replicas leave them.
 *
 * A replica that no task and no transfer uses is freed if the datum has another valid replica or no value. The only
 * valid replica of a datum is first written back to main memory by an ordinary transfer, because some devices can still
 * be read when they run kernels no more. If the transfer fails, the datum has lost its value, as if the task that wrote
 * it had failed. */
#include "lost_memory.h"
#include "state/flow_calls.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"
#include "allocation.h"
#include "eviction.h"
#include "transfers.h"
#include "windows.h"

int hd_is_valid_beside(const heddle_data *d, size_t node)
{
	for (size_t i = 0; i < d->rt->n_nodes; i++)
		if (i != node && d->replicas[i].valid && !d->rt->memories[i].lost && hd_window_stays(&d->replicas[i]))
			return 1;
	return 0;
}

void hd_replica_lose(struct hd_replica *r, const char *why)
{
	heddle_data *d = hd_replica_data(r);
	HD_HELD(&d->rt->lock);
	hd_replica_set_valid(r, 0);
	if (!d->n_valid && !d->poisoned)
		d->rt->flow->lose_value(d, r->node, why);
	if (HD_UNLIKELY(hd_windows_in(r)) && !r->pins)
		hd_memory_free(r); /* frees its windows, too, which are invalid */
}

/* Frees a replica on a lost node, or begins to write it back. */
static void leave(struct hd_replica *r)
{
	heddle_data *d = hd_replica_data(r);
	/* an invalid replica with windows is freed when its windows have left one by one */
	if (!r->ptr || (!r->valid && hd_windows_in(r)))
		return;
	/* A datum that is being written on another node needs no write-back: it will get a new value, or lose its
	 * value. */
	if (!r->valid || d->poisoned || d->n_writers || (hd_is_valid_beside(d, r->node) && hd_is_clean(r))) {
		if (!r->pins)
			hd_memory_free(r);
		return;
	}
	int status = hd_write_back(r, d->bytes);
	if (status >= 0)
		return;
	hd_replica_lose(r, heddle_last_error());
	if (r->ptr && !r->pins)
		hd_memory_free(r);
}

void hd_memory_leave(heddle_runtime *rt, unsigned node)
{
	HD_HELD(&rt->lock);
	for (heddle_data *d = rt->handles.list; d; d = d->next) {
		leave(&d->replicas[node]);
		for (const struct hd_private *p = d->extra ? d->extra->privates : NULL; p; p = p->next)
			leave(&p->copy->replicas[node]);
	}
}

int hd_memories_left(const heddle_runtime *rt)
{
	for (size_t i = 1; i < rt->n_nodes; i++)
		if (rt->memories[i].lost && rt->memories[i].n_copies)
			return 0;
	return 1;
}
