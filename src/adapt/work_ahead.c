/* How far a program is from its end, for the setting expand=adaptive: what its hierarchical tasks take if they run
 * whole, each on the class that is fastest with it, together and along the longest chain.
 *
 * The chain is known when a task enters the graph, because tasks enter in the sequential order: a task begins at the
 * earliest when the tasks before it have ended whose data it needs, which each datum with plans remembers, and a datum
 * that no task has had is copied to an accelerator first. The longest of these ways is the path of the program. What is
 * left of it behind the beginning of a task is taken for the chain that begins with that task. For tasks that are not
 * on the longest path it is too much, which does no harm: they are ready together with the one that is on it.
 *
 * Hierarchical tasks of a sub-graph that is for all workers have a path of their own, which grows as sub-graphs are
 * submitted, and has data of its own: the parts. That path is shorter than the path of the tasks that they are in,
 * because parts of one task are computed beside those of another. A hierarchical task that is nested more deeply
 * counts with the one of depth 1 that it is in, one of a sub-graph for CPUs with the task that was expanded. A program
 * that has waited for all its tasks begins new paths where the last ones ended. */
#include <math.h>
#include "expansions.h"
#include "state/tree.h"

double hd_ahead_copy_time(const heddle_runtime *rt, double bytes)
{
	if (rt->n_nodes == 1)
		return 0;
	const struct hd_hop *hop = hd_hop(&rt->hops, 0, 1);
	return hop->latency + bytes * hop->us_per_byte;
}

/* When the task can begin at the earliest; *load: what it takes to copy data that no task has had. */
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

/* Puts the task, which lasts for `us`, behind those whose data it needs. */
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
	for (int i = 0; i < 2 && rt->count.hierarchical == 1; i++) /* it is the only one */
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
