/* What the sub-graphs of hierarchical tasks take, for the setting expand=adaptive.
 *
 * The times of sub-graphs are those of their tasks, by the models, and are remembered from the last time that a task of
 * the same codelet and size was expanded with that sub-graph. How long a sub-graph of n tasks takes on CPUs is
 * estimated from the mean time of its tasks and a longest path of cuberoot(n) tasks, as a product of matrices has.
 * Tasks on that path that are hierarchical themselves do not take longer than their own sub-graphs: CPUs that have
 * nothing else to do expand them again. Of one that was never tried it is guessed that it is cut like the one around
 * it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "expand_times.h"
#include "state/codelet.h"
#include "base/base.h"
#include "base/lock.h"
#include "state/runtime.h"
#include "state/task.h"
#include "state/engine.h"

/* What does not fit is forgotten, and tried again: programs have few sizes of hierarchical tasks. */
enum { PLACES = 512 };

static struct hd_refined *place_of(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	uint64_t hash = hd_hash(hd_hash(t->footprint, t->codelet->id), subgraph);
	return &rt->adaptive.refined[hash % PLACES];
}

static struct hd_refined *find_refined(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	struct hd_refined *r = rt->adaptive.refined ? place_of(rt, t, subgraph) : NULL;
	return r && r->codelet == t->codelet && r->footprint == t->footprint && r->subgraph == subgraph ? r : NULL;
}

int hd_expand_is_cpu(const heddle_runtime *rt, unsigned class_id)
{
	return strcmp(rt->platform->classes[class_id].kind, "cpu") == 0;
}

double hd_expand_least_time(const heddle_runtime *rt, const heddle_task *t, double *on_cpu, unsigned *class_id)
{
	double least = INFINITY;
	*on_cpu = INFINITY;
	*class_id = 0;
	for (unsigned c = 0; c < rt->n_classes; c++) {
		if (!t->perf || !heddle_task_can_run_class(t, c))
			continue;
		double us = hd_perf_time(t->perf, c);
		if (isnan(us)) {
			if (rt->engine->times_are_given)
				continue; /* a class that cannot run it */
			return NAN;
		}
		if (hd_expand_is_cpu(rt, c))
			*on_cpu = fmin(*on_cpu, us);
		if (us < least) {
			least = us;
			*class_id = c;
		}
	}
	return isinf(least) ? NAN : least;
}

/* What CPUs take for a task of a sub-graph of n tasks, of which they may expand the task. */
static double step_of(heddle_runtime *rt, const heddle_task *child, double on_cpu, double n)
{
	const struct hd_refined *r = NULL;
	if (!(child->special & HD_TASK_EXPANDS))
		return on_cpu;
	hd_refined_best(rt, child, &r);
	return fmin(on_cpu, r && r->n > 0 ? r->path_us : hd_refined_path(on_cpu, n));
}

void hd_expand_note_child(heddle_runtime *rt, heddle_task *t, const heddle_task *child)
{
	HD_HELD(&rt->lock);
	if (child->kind != HD_TASK_CODELET)
		return;
	double on_cpu;
	unsigned class_id;
	double us = hd_expand_least_time(rt, child, &on_cpu, &class_id);
	if (isinf(on_cpu))
		on_cpu = us;
	rt->adaptive.n_children += t->extra->for_cpus;
	t->extra->refined_us += us; /* NAN if it is unknown */
	t->extra->refined_cpu_us += on_cpu;
	t->extra->refined_steps_us += step_of(rt, child, on_cpu, (double)t->extra->n_entered);
}

void hd_expand_child_left(heddle_runtime *rt, const heddle_task *child)
{
	HD_HELD(&rt->lock);
	rt->adaptive.n_children -= child->kind == HD_TASK_CODELET && hd_task_inside(child)->extra->for_cpus;
}

void hd_expand_submitted(heddle_runtime *rt, heddle_task *t, int status)
{
	HD_HELD(&rt->lock);
	struct hd_task_extra *extra = t->extra;
	rt->adaptive.n_expected -= extra->expected;
	extra->expected = 0;
	struct hd_refined *r = find_refined(rt, t, extra->subgraph);
	if (!r)
		return; /* another one has its place */
	if (status || isnan(extra->refined_us) || extra->n_entered == 0) {
		r->codelet = NULL; /* it will be tried again */
		return;
	}
	r->n = (double)extra->n_entered;
	r->cpu_us = extra->refined_cpu_us;
	r->best_us = extra->refined_us;
	r->path_us = hd_refined_path(extra->refined_steps_us, r->n);
}

const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	HD_HELD(&rt->lock);
	if (!rt->adaptive.refined)
		rt->adaptive.refined = calloc(PLACES, sizeof *rt->adaptive.refined);
	if (rt->adaptive.refined && !find_refined(rt, t, subgraph))
		*place_of(rt, t, subgraph) = (struct hd_refined){t->codelet, t->footprint, subgraph, 0, 0, 0, 0};
	return find_refined(rt, t, subgraph);
}

unsigned hd_refined_best(heddle_runtime *rt, const heddle_task *t, const struct hd_refined **out)
{
	HD_HELD(&rt->lock);
	unsigned best = 0;
	for (unsigned s = 1; s <= t->codelet->desc.n_subgraphs; s++) {
		const struct hd_refined *r = find_refined(rt, t, s);
		if (!r) {
			*out = NULL;
			return s;
		}
		if (!best || r->best_us < (*out)->best_us) {
			best = s;
			*out = r;
		}
	}
	return best;
}

double hd_refined_path(double us, double n)
{
	return us / n * cbrt(n);
}

double hd_refined_on_cpus(const struct hd_refined *r, double cpus)
{
	return fmax(r->cpu_us / cpus, r->path_us);
}
