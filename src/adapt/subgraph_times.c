/* Predicts the times of the sub-graphs of hierarchical tasks, for the setting expand=adaptive.
 *
 * The times of a sub-graph are the predicted times of its tasks, recorded when a task of the same codelet and footprint
 * was last expanded with this sub-graph. The time of a sub-graph on CPUs alone is the work divided by the number of
 * CPUs, or the length of the longest path, whichever is longer (Graham's two bounds). The length of the path is
 * guessed: cuberoot(n) times the mean of n tasks, as if the tasks filled a cube and depended on each other along one of
 * its dimensions. The true path, which follows from the data of the tasks, was tried instead. It is far longer in
 * factorisations, although CPUs work on several sub-graphs at once; rates were 3 % lower in the mean, and 62 % at
 * worst. A hierarchical task on that path takes no longer than its own sub-graph, because idle CPUs expand it again.
 * Other guesses gave lower rates, too, in the mean of the adaptive points of `heddle repro ht-gemm ht-chol --quick`
 * that they change: one task .970, log2(n + 1) .990, n^.4 .993, sqrt(n) .986; each is higher at some points and lower
 * at others. A sub-graph that was never tried is assumed to be cut like the sub-graph around it. */
#include <math.h>
#include <string.h>
#include "state/engine.h"
#include "expansions.h"
#include "perf/perf.h"

static struct hd_refined *place_of(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	uint64_t hash = hd_hash(hd_hash(t->perf->footprint, t->codelet->id), subgraph);
	return &rt->adapt.expansions->refined[hash % HD_REFINED_PLACES];
}

static struct hd_refined *find_refined(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	struct hd_refined *r = place_of(rt, t, subgraph);
	return r->codelet == t->codelet && r->footprint == t->perf->footprint && r->subgraph == subgraph ? r : NULL;
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
				continue; /* this class cannot run the task */
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

/* The time in us that CPUs need for one task of a sub-graph of n tasks; CPUs may expand this task again. */
static double step_of(heddle_runtime *rt, const heddle_task *child, double on_cpu, double n)
{
	const struct hd_refined *r = NULL;
	if (!(child->special & HD_TASK_EXPANDS))
		return on_cpu;
	hd_refined_best(rt, child, &r);
	return fmin(on_cpu, r && r->n > 0 ? r->path_us : hd_refined_path(on_cpu, n));
}

void hd_refined_child_entered(heddle_runtime *rt, const heddle_task *child)
{
	HD_HELD(&rt->lock);
	if (child->kind != HD_TASK_CODELET)
		return;
	const heddle_task *t = hd_task_inside(child);
	struct hd_expansion_record *record = hd_expansion_record(t);
	double on_cpu;
	unsigned class_id;
	double us = hd_expand_least_time(rt, child, &on_cpu, &class_id);
	if (isinf(on_cpu))
		on_cpu = us;
	rt->adapt.expansions->n_children += record->for_cpus;
	record->best_us += us; /* NAN: the time is unknown */
	record->cpu_us += on_cpu;
	record->steps_us += step_of(rt, child, on_cpu, (double)t->extra->n_entered);
}

void hd_refined_child_ended(heddle_runtime *rt, const heddle_task *child)
{
	HD_HELD(&rt->lock);
	rt->adapt.expansions->n_children -=
	    child->kind == HD_TASK_CODELET && hd_expansion_record(hd_task_inside(child))->for_cpus;
}

void hd_refined_submitted(heddle_runtime *rt, heddle_task *t, int status)
{
	HD_HELD(&rt->lock);
	const struct hd_task_extra *extra = t->extra;
	struct hd_expansion_record *record = hd_expansion_record(t);
	rt->adapt.expansions->n_expected -= record->expected;
	record->expected = 0;
	struct hd_refined *r = find_refined(rt, t, extra->subgraph);
	if (!r)
		return; /* the record of another sub-graph has overwritten this entry of the table */
	if (status || isnan(record->best_us) || extra->n_entered == 0) {
		r->codelet = NULL; /* so that the sub-graph is tried again */
		return;
	}
	r->n = (double)extra->n_entered;
	r->cpu_us = record->cpu_us;
	r->best_us = record->best_us;
	r->path_us = hd_refined_path(record->steps_us, r->n);
}

const struct hd_refined *hd_refined_begin(heddle_runtime *rt, const heddle_task *t, unsigned subgraph)
{
	HD_HELD(&rt->lock);
	if (!find_refined(rt, t, subgraph))
		*place_of(rt, t, subgraph) = (struct hd_refined){t->codelet, t->perf->footprint, subgraph, 0, 0, 0, 0};
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

double hd_refined_steps(double n)
{
	return cbrt(n);
}

double hd_refined_path(double us, double n)
{
	return us / n * hd_refined_steps(n);
}

double hd_refined_on_cpus(const struct hd_refined *r, double cpus)
{
	return fmax(r->cpu_us / cpus, r->path_us);
}
