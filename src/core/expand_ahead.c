/* How far a program is from its end, for the setting expand=adaptive: what its hierarchical tasks take if they run
 * whole, each on the class that is fastest with it, together and along the longest chain.
 *
 * The chain is known when a task enters the graph, because tasks enter in the sequential order: a task begins at the
 * earliest when the tasks before it have ended whose data it needs, which each datum with plans remembers, and a datum
 * that no task has had is copied to an accelerator first. The longest of these ways is the path of the program. What is
 * left of it behind the beginning of a task is taken for the chain that begins with that task. For tasks that are not
 * on the longest path it is too much, which does no harm: they are ready together with the one that is on it.
 *
 * Tasks of sub-graphs belong to their hierarchical task. A program that has waited for all its tasks begins a new path
 * where the last one ended. */
#include <math.h>
#include "expand.h"

static struct hd_layout *layout_of(const struct hd_access *a)
{
	return a->data->extra ? a->data->extra->layout : NULL;
}

double hd_expand_copy_time(const heddle_runtime *rt, double bytes)
{
	if (rt->n_nodes == 1)
		return 0;
	const struct hd_hop *hop = hd_hop(&rt->hops, 0, 1);
	return hop->latency + bytes * hop->us_per_byte;
}

/* When the task can begin at the earliest; *load: what it takes to copy data that no task has had. */
static double earliest(const heddle_runtime *rt, const heddle_task *t, double *load)
{
	double top = rt->adaptive.begun_us;
	*load = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		const struct hd_layout *l = layout_of(a);
		if (!l)
			continue;
		if (l->read_us == 0)
			*load += hd_expand_copy_time(rt, (double)a->data->bytes);
		top = fmax(top, a->mode == HEDDLE_R ? l->written_us : l->read_us);
	}
	return top;
}

static void note_end(const heddle_task *t, double end)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		struct hd_layout *l = layout_of(a);
		if (!l)
			continue;
		l->read_us = fmax(l->read_us, end);
		if (a->mode != HEDDLE_R)
			l->written_us = end;
	}
}

void hd_expand_expect(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	struct hd_adaptive *all = &rt->adaptive;
	double on_cpu, load;
	unsigned class_id;
	if (hd_task_inside(t))
		return;
	if (rt->count.hierarchical == 1) { /* it is the only one */
		all->begun_us = all->path_us;
		all->later_us = 0;
	}
	double us = hd_expand_least_time(rt, t, &on_cpu, &class_id);
	if (isnan(us))
		us = 0;
	t->extra->top_us = earliest(rt, t, &load);
	double end = t->extra->top_us + load + us;
	note_end(t, end);
	all->path_us = fmax(all->path_us, end);
	t->extra->later_us = us < on_cpu ? us : 0;
	all->later_us += t->extra->later_us;
}

void hd_expand_arrived(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	rt->adaptive.later_us -= t->extra->later_us;
	t->extra->later_us = 0;
}

double hd_expand_chain(const heddle_runtime *rt, const heddle_task *t)
{
	HD_HELD(&hd_task_runtime(t)->lock);
	for (const heddle_task *outer; (outer = hd_task_inside(t));)
		t = outer;
	return rt->adaptive.path_us - t->extra->top_us;
}
