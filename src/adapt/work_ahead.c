/* Predicts the remaining work of a program, for the setting expand=adaptive: the times of its hierarchical tasks, each
 * run whole on its fastest class, in total and along the longest chain.
 *
 * The chain is known when a task enters the graph, because tasks enter in the sequential order. A task begins at the
 * earliest when its predecessors have ended; each datum with plans records their ends. A datum that no task has used is
 * copied to an accelerator first. The longest of these chains is the *path of the program*. The part of the path behind
 * the beginning of a task is taken for the longest chain that begins with this task. For tasks that are not on the path
 * this is too long, which does no harm: they are ready together with a task that is on the path.
 *
 * There are two levels of paths. The tasks that the program has submitted are on the first level. The hierarchical
 * tasks in their sub-graphs (depth 1), if these are for all workers, are on the second level: its path grows as
 * sub-graphs are submitted, and its data are the children. The second path is shorter than the first, because children
 * of one task are computed beside those of another. A task at a greater depth has the chain of the task of depth 1
 * around it; a task in a sub-graph for CPUs has no place on a path. When a program has waited for all its tasks, new
 * paths begin where the last ones ended. */
#include <math.h>
#include "state/tree.h"
#include "expansions.h"
#include "machine/hops.h"

double hd_ahead_copy_time(const heddle_runtime *rt, double bytes)
{
	if (rt->n_nodes == 1)
		return 0;
	const struct hd_hop *hop = hd_hop(rt->hops, 0, 1);
	return hop->latency + bytes * hop->us_per_byte;
}

/* When the task can begin at the earliest, us on the path. *load: us to copy those of its data that no task has
 * used. */
static double earliest(const heddle_runtime *rt, const heddle_task *t, double begun, double *load)
{
	double top = begun;
	*load = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (!hd_data_layout(a->data))
			continue;
		const struct hd_expansion_ends *ends = hd_expansion_ends(a->data);
		if (ends->read_us == 0)
			*load += hd_ahead_copy_time(rt, (double)a->data->bytes);
		top = fmax(top, a->mode == HEDDLE_R ? ends->written_us : ends->read_us);
	}
	return top;
}

static void note_end(const heddle_task *t, double end)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (!hd_data_layout(a->data))
			continue;
		struct hd_expansion_ends *ends = hd_expansion_ends(a->data);
		ends->read_us = fmax(ends->read_us, end);
		if (a->mode != HEDDLE_R)
			ends->written_us = end;
	}
}

/* Puts the task, which takes `us`, on the path behind its predecessors. */
static void note_path(const heddle_runtime *rt, heddle_task *t, struct hd_ahead *ahead, double us)
{
	double load;
	hd_expansion_record(t)->top_us = earliest(rt, t, ahead->begun_us, &load);
	double end = hd_expansion_record(t)->top_us + load + us;
	note_end(t, end);
	ahead->path_us = fmax(ahead->path_us, end);
}

static int level_of(const heddle_task *t)
{
	return t->extra->depth > 0;
}

static void begin_again(struct hd_ahead *ahead)
{
	ahead->begun_us = ahead->path_us;
	ahead->later_us = 0;
}

void hd_ahead_entered(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	double on_cpu;
	unsigned class_id;
	const heddle_task *outer = hd_task_inside(t);
	struct hd_expansion_record *record = hd_expansion_record(t);
	record->for_cpus = outer && hd_expansion_record(outer)->for_cpus;
	if (record->for_cpus)
		return;
	/* 1: `t` is the only hierarchical task in the graph */
	for (int i = 0; i < 2 && rt->count.hierarchical == 1; i++)
		begin_again(&rt->adapt.expansions->ahead[i]);
	double us = hd_expand_least_time(rt, t, &on_cpu, &class_id);
	if (isnan(us))
		us = 0;
	struct hd_ahead *ahead = &rt->adapt.expansions->ahead[level_of(t)];
	if (t->extra->depth <= 1)
		note_path(rt, t, ahead, us);
	record->later_us = us < on_cpu ? us : 0;
	ahead->later_us += record->later_us;
}

void hd_ahead_ready(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	rt->adapt.expansions->ahead[level_of(t)].later_us -= hd_expansion_record(t)->later_us;
	hd_expansion_record(t)->later_us = 0;
}

double hd_ahead_later(const heddle_runtime *rt)
{
	return rt->adapt.expansions->ahead[0].later_us + rt->adapt.expansions->ahead[1].later_us;
}

double hd_ahead_chain(const heddle_runtime *rt, const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	while (t->extra->depth > 1)
		t = hd_task_inside(t);
	return rt->adapt.expansions->ahead[level_of(t)].path_us - hd_expansion_record(t)->top_us;
}
