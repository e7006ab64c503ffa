/* The functions of heddle/policy.h about the data of tasks and about prefetches. */
#include <math.h>
#include "machine/hops.h"
#include "state/data.h"
#include "state/runtime.h"
#include "fetch_times.h"
#include "transfers.h"
#include "uses.h"

/* Whether the access counts as one that needs a valid replica where the task runs: the access reads the datum, and no
 * other access of the task stands for it. */
static int fetched(const struct hd_access *a)
{
	return !(a->flags & HD_ACCESS_ALIAS) && hd_mode_reads(a->mode);
}

uint64_t heddle_task_missing_bytes(const heddle_task *t, unsigned node)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]) && !t->accesses[i].data->replicas[node].valid)
			bytes += t->accesses[i].data->bytes;
	return bytes;
}

double heddle_task_transfer_time(const heddle_task *t, unsigned node)
{
	double us = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]))
			us += hd_fetch_time(t->accesses[i].data, node);
	return us;
}

void heddle_task_transfer_times(const heddle_task *t, double *us)
{
	size_t n_nodes = hd_task_runtime(t)->n_nodes;
	for (size_t node = 0; node < n_nodes; node++)
		us[node] = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]))
			hd_fetch_times_add(t->accesses[i].data, us);
}

/* Returns 0 if the times of all nodes may differ. */
static int add_apart(const heddle_task *t, struct hd_fetch_times *times)
{
	const heddle_runtime *rt = hd_task_runtime(t);
	if (!hd_fetch_times_pay(rt))
		return 0;
	hd_fetch_times_open(rt, times);
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]) && !hd_fetch_times_join(t->accesses[i].data, times))
			return 0;
	return 1;
}

size_t heddle_task_transfer_times_apart(const heddle_task *t, double *far, double *us, unsigned *nodes)
{
	const heddle_runtime *rt = hd_task_runtime(t);
	struct hd_fetch_times times = {.far = far, .us = us, .nodes = nodes};
	int found = add_apart(t, &times);
	far[0] = INFINITY;
	if (found)
		return times.n;
	for (size_t i = 0; i < rt->hops->n_distinct; i++)
		far[rt->hops->distinct[i]] = INFINITY;
	for (unsigned node = 0; node < rt->n_nodes; node++)
		nodes[node] = node;
	heddle_task_transfer_times(t, us);
	return rt->n_nodes;
}

void heddle_task_prefetch(heddle_task *t, unsigned node)
{
	if (HD_UNLIKELY(t->special & HD_TASK_USES))
		hd_uses_place(t, node);
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]))
			hd_prefetch(t->accesses[i].data, node);
}

double heddle_sched_link_free_at(heddle_sched *s, unsigned node)
{
	return hd_lane_free_at(s->rt, node);
}

void heddle_task_arrivals(const heddle_task *t, double *us, double *transfer)
{
	const heddle_runtime *rt = hd_task_runtime(t);
	double out = rt->now; /* when the lanes are free by which data come to main memory that are not there */
	heddle_task_transfer_times(t, us);
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (fetched(&t->accesses[i]))
			out = fmax(out, hd_way_out_free_at(t->accesses[i].data));
	for (unsigned node = 0; node < rt->n_nodes; node++) {
		double begin = node ? fmax(out, hd_lane_free_at(rt, node)) : out;
		if (transfer)
			transfer[node] = us[node];
		us[node] = us[node] > 0 ? begin + us[node] : rt->now;
		for (uint32_t i = 0; i < t->n_accesses; i++)
			if (fetched(&t->accesses[i]) && t->accesses[i].data->n_transfers)
				us[node] = fmax(us[node], hd_transfer_due(t->accesses[i].data, node));
	}
}

void heddle_data_prefetch(heddle_data *d, unsigned node, int urgency)
{
	if (!d)
		return;
	hd_prefetch(d, node);
	if (urgency && d->n_transfers)
		hd_transfer_rank(d, node, urgency);
}

int heddle_data_prefetch_cancel(heddle_data *d, unsigned node)
{
	if (!d)
		return 0;
	struct hd_replica *r = &d->replicas[node];
	int was_marked = r->hinted || r->wanted;
	hd_prefetch_forget(r);
	d->n_wanted = (uint16_t)(d->n_wanted - r->wanted);
	r->wanted = 0;
	return hd_drop_prefetch(d, node) || (was_marked && !r->incoming);
}
