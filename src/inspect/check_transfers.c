/* The part of heddle_selfcheck about transfers and the lanes in which they wait. */
#include "check.h"
#include "memory/transfers.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "state/tree.h"

/* Whether the access may wait for a transfer of `d`: it is an access to `d` or to a part of `d`, or `d` is its private
 * copy. */
static int waits_for_value_of(const struct hd_access *a, const heddle_data *d)
{
	const heddle_data *x = a->private_copy == d ? d : a->data;
	while (x != d && x->plan)
		x = x->plan->data;
	return x == d;
}

static int check_waiters(struct hd_check *c, const struct hd_checked_data *seen, const struct hd_transfer *tr)
{
	size_t n = 0;
	const struct hd_access *last = NULL;
	for (const struct hd_access *a = tr->waiters; a; last = a, a = a->next) {
		struct hd_checked_task *task = hd_check_find_task(c, hd_access_task(a));
		unsigned state = task ? hd_check_state(task->task) : HD_OUTSIDE;
		if (!task || !waits_for_value_of(a, seen->data) ||
		    state != (task->task->codelet ? HD_PICKED : HD_WAITING) || ++n > c->n_accesses)
			return hd_broken("%s: something that cannot be there waits for a transfer of it",
			                 hd_check_name(seen));
		task->pending++;
	}
	return !last || last == tr->last_waiter
	           ? 0
	           : hd_broken("%s: the last task that waits for a transfer of it is not its last",
	                       hd_check_name(seen));
}

const struct hd_transfer *hd_check_transfer_to(const heddle_data *d, unsigned node)
{
	const struct hd_transfer *tr = d->transfers;
	while (tr && tr->to != node)
		tr = tr->next;
	return tr;
}

static int is_transfer_of(const heddle_data *d, const struct hd_transfer *wanted)
{
	const struct hd_transfer *tr = d->transfers;
	while (tr && tr != wanted)
		tr = tr->next;
	return tr != NULL;
}

/* Checks the fields of a transfer, and that the transfer that it follows is at least as urgent. */
static int check_transfer(const struct hd_checked_data *seen, const struct hd_transfer *tr)
{
	const heddle_data *d = seen->data;
	if (hd_check_transfer_to(d, tr->to) != tr)
		return hd_broken("%s: two transfers of it go to node %u", hd_check_name(seen), tr->to);
	if (tr->behind && (tr->moving || !is_transfer_of(d, tr->behind)))
		return hd_broken("%s: a transfer of it moves and follows another, or follows none of it",
		                 hd_check_name(seen));
	if (tr->behind && !tr->behind->moving && tr->behind->urgency > tr->urgency)
		return hd_broken("%s: a transfer of it is more urgent than the one that it follows",
		                 hd_check_name(seen));
	if (tr->urgency >= HD_URGENCIES || (tr->waiters && !tr->moving && tr->urgency != HD_AWAITED))
		return hd_broken("%s: tasks wait for a transfer of it that is not urgent, or its urgency is wrong",
		                 hd_check_name(seen));
	if ((tr->evict && hd_transfer_is_hint(tr)) || (hd_transfer_is_hint(tr) && tr->urgency == HD_AWAITED))
		return hd_broken("%s: a transfer of it is both a prefetch and awaited", hd_check_name(seen));
	/* a task that was writing the datum when a stale transfer was made may have ended */
	int void_meanwhile = tr->stale || (tr->moving && (d->poisoned & HD_UNWANTED));
	if (!tr->behind && !d->replicas[tr->from].valid && !void_meanwhile)
		return hd_broken("%s: a transfer of it comes from node %u, which has no valid copy",
		                 hd_check_name(seen), tr->from);
	return 0;
}

int hd_check_transfers(struct hd_check *c, struct hd_checked_data *seen)
{
	const heddle_data *d = seen->data;
	unsigned n = 0;
	for (const struct hd_transfer *tr = d->transfers; tr; tr = tr->next) {
		if (tr->data != d || tr->from >= c->rt->n_nodes || tr->to >= c->rt->n_nodes || ++n > d->n_transfers)
			return hd_broken(
			    "%s: it has %u transfers or more, or one of another datum; n_transfers says %u",
			    hd_check_name(seen), n, d->n_transfers);
		int status = check_transfer(seen, tr);
		if (!status)
			status = check_waiters(c, seen, tr);
		if (status)
			return status;
		seen->pins[tr->to]++;
		seen->pins[tr->from] += (uint32_t)hd_transfer_pins_source(tr);
		c->n_in_lanes += !tr->moving;
	}
	return n == d->n_transfers
	           ? 0
	           : hd_broken("%s: it has %u transfers; n_transfers says %u", hd_check_name(seen), n, d->n_transfers);
}

/* Checks one list of a lane, and adds the number of its transfers to *n. */
static int check_lane_list(const struct hd_check *c, const struct hd_lane *lane, unsigned list, size_t *n)
{
	const struct hd_transfer *before = NULL;
	for (const struct hd_transfer *tr = lane->first[list]; tr; before = tr, tr = tr->lane_next) {
		const struct hd_checked_data *seen = hd_check_find_data(c, tr->data);
		if (!seen || !is_transfer_of(seen->data, tr) || hd_lane_of(tr) != lane || ++*n > c->n_in_lanes)
			return hd_broken("a lane has a transfer that does not wait there");
		if (tr->moving || (tr->behind ? HD_BEHIND : tr->urgency) != list || tr->lane_prev != before)
			return hd_broken("%s: a transfer of it is in the wrong list of its lane, or linked wrongly",
			                 hd_check_name(seen));
	}
	return lane->last[list] == before ? 0 : hd_broken("the tail of a lane is not its last transfer");
}

/* Checks that each transfer that does not move yet is in its lane exactly once. */
int hd_check_lanes(const struct hd_check *c)
{
	size_t n = 0;
	int status = 0;
	for (size_t i = 0; i < c->rt->n_nodes; i++) {
		const struct hd_memory *m = &c->rt->memories[i];
		for (unsigned list = 0; list < HD_LANE_LISTS && !status; list++) {
			status = check_lane_list(c, &m->in, list, &n);
			if (!status)
				status = check_lane_list(c, &m->out, list, &n);
		}
	}
	if (status || n == c->n_in_lanes)
		return status;
	return hd_broken("%zu transfers wait to move, %zu are in lanes", c->n_in_lanes, n);
}
