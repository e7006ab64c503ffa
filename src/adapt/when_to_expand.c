/* When hierarchical tasks are expanded: what the setting `expand` decides for codelets without a function of their own.
 *
 * The paper on hierarchical tasks (Faverge et al., Inria RR-9466) leaves open when a task should be expanded. The rules
 * are Heddle's own, chosen by virtual runs of dense routines: bench/RESULTS.md has the figures, `heddle repro ht-gemm`
 * and `heddle repro ht-chol` repeat them. They reckon with the times of models on each class, the state of the workers,
 * where data are, and what was submitted.
 *
 * `always` and `never` need no thought. `class` asks, when the task is ready, which worker would end it first if it ran
 * whole, and expands it if that is a CPU.
 *
 * `adaptive` decides as late as it can. A ready task waits, undecided, until a processor needs work. It compares two
 * times that are left until the program ends: what is left to do, divided among the accelerators, and the longest chain
 * of tasks that begins with this one (work_ahead.c).
 *
 *   - If the chain is longer, tasks as large as this one make accelerators wait for each other: it is expanded for all
 *     workers, unless its sub-graph is much slower. To bring pieces of its data together, which it needs whole, counts
 *     as time that it takes. The policy gets the tasks of that sub-graph at once, like those of any program: it can
 *     only spread over the accelerators what it has. Where those tasks are hierarchical themselves, the same question
 *     is asked again, of what is left of them and of the chains that they are in, which are shorter. They stay whole if
 *     their own sub-graphs would be much more work for CPUs.
 *   - Otherwise accelerators get whole tasks, with which they are fast. They must always have a few in reserve, or they
 *     would be idle, and the policy could not fetch data ahead. So tasks are given to the policy whole while what it
 *     has for the accelerators is less than that reserve. Where many tasks are ready, it gets all but what CPUs will
 *     begin in a while: it knows better than a heap which tasks use the same data, and what it does not know of is
 *     evicted.
 *   - CPU workers without a task get a sub-graph, but only if the accelerators have work for at least as long as the
 *     CPUs will take for it, and for the copies of its data, to them and, of what is written and was on accelerators,
 *     back: near the end of a graph, or where few tasks are ready, a task that CPUs have begun would be the last to
 *     end. Then the policy gets it whole: it can fetch its data, or knows a CPU that would end it first. And only if
 *     the tasks of the sub-graphs that were submitted for CPUs before are not enough already: it takes a while until
 *     they are ready. Those of sub-graphs for all workers do not count: nearly all of them are faster on accelerators,
 *     and stay there.
 *     Nor do CPUs get a task of a sub-graph for all workers whose results are on an accelerator already, while several
 *     accelerators wait for their links: what CPUs take from one has to come back, over links that have no time for it.
 *     The policy gets such a task whole, so that it can send other data meanwhile.
 *   - The tasks of such a sub-graph are for CPUs, too. They are expanded again if there are more idle CPUs than such
 *     tasks, and otherwise run whole: were they offered to accelerators, these would be slowed down by small tasks.
 *   - A task whose sub-graph is faster than its kernel, each task on the class that is fastest with it, is expanded at
 *     once.
 *   - A task whose data are being computed by sub-graphs waits until they are complete, unless the accelerators have
 *     hardly anything to do, and would not be much slower with its sub-graph, which can begin piece by piece.
 *   - A task that is fastest on a CPU is expanded if there are more idle CPUs than tasks for them, and they are faster
 *     together than one of them alone.
 *
 * What sub-graphs take is known from those that were submitted before (subgraph_times.c). One that was never tried is
 * tried, unless its task is in a sub-graph itself: such tasks are small, and few of them are better off, so they wait
 * until CPUs need work. Of several sub-graphs, the one with the least work counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "adapt.h"
#include "expansions.h"
#include "flow/dispatch.h"
#include "flow/expand.h"
#include "state/tree.h"
#include "inspect/check.h"

/* --- What the machine needs --------------------------------------------------------------------------------------- */

/* CPU workers, and those of them that have nothing to do; accelerators that can run the task, and for how long these
 * have run kernels, and have waited for data of tasks that they had, us. */
struct machine {
	double cpus, idle, accelerators, busy, waited;
};

static void look_at_accelerator(struct machine *m, const struct hd_worker *w, double now)
{
	m->accelerators++;
	m->busy += w->busy;
	m->waited += w->waited_for_data;
	if (w->in_flight && now > w->waits_since)
		*(hd_worker_runs(w) ? &m->busy : &m->waited) += now - w->waits_since;
}

static struct machine look_at(heddle_runtime *rt, const heddle_task *t)
{
	struct machine m = {0, 0, 0, 0, 0};
	for (size_t i = 0; i < rt->n_workers; i++) {
		const struct hd_worker *w = &rt->workers[i];
		if (hd_worker_is_out(w))
			continue;
		if (hd_expand_is_cpu(rt, w->class_id)) {
			m.cpus++;
			m.idle += w->hungry && !w->in_flight; /* the policy has nothing for it */
		} else if (heddle_task_can_run(t, w->id)) {
			look_at_accelerator(&m, w, rt->now);
		}
	}
	return m;
}

/* Whether the access leaves a new value. */
static int writes(const struct hd_access *a)
{
	return a->mode != HEDDLE_R && a->mode != HEDDLE_SCRATCH;
}

/* Whether all that writes the data of a ready hierarchical task has ended. Otherwise what it waits for was expanded,
 * and is being computed: run whole, the task would wait, while the tasks of its sub-graph could begin one by one. */
static int has_its_data(const heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		const struct hd_layout *l = hd_data_layout(a->data);
		if (a->flags & HD_ACCESS_ALIAS)
			continue;
		if ((l && (writes(a) ? l->n_used : l->n_changing)) || (writes(a) && a->data->granted))
			return 0;
	}
	return 1;
}

/* What it takes to bring the data of a task together that are in pieces; whole, it would wait for that. */
static double gathering_time(const heddle_runtime *rt, const heddle_task *t)
{
	double bytes = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const heddle_data *d = t->accesses[i].data;
		const struct hd_layout *l = hd_data_layout(d);
		if (l && l->scattered)
			bytes += (double)d->bytes;
	}
	return hd_ahead_copy_time(rt, bytes);
}

/* Whether the value of a datum is on an accelerator, or on the way to one, or in pieces that may be there, or is about
 * to be written for the first time. */
static int is_away(const heddle_runtime *rt, const heddle_data *d)
{
	int away = !d->replicas[0].valid;
	for (size_t n = 1; n < rt->n_nodes && !away; n++)
		away = d->replicas[n].valid || d->replicas[n].incoming;
	return away;
}

/* What it takes to copy all data of a task, and to bring those back that it writes and accelerators had. */
static double moving_time(const heddle_runtime *rt, const heddle_task *t)
{
	uint64_t bytes = hd_task_bytes(t);
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		if (writes(a) && is_away(rt, a->data))
			bytes += a->data->bytes;
	}
	return hd_ahead_copy_time(rt, (double)bytes);
}

/* Whether the task would be taken from accelerators that share data, and that wait for their links: they have had
 * tasks, but no data to begin one, for a quarter of their time. */
static int is_for_busy_links(const heddle_runtime *rt, const heddle_task *t, const struct machine *m)
{
	int away = 0;
	if (!hd_task_inside(t) || m->accelerators < 2)
		return 0;
	for (uint32_t i = 0; i < t->n_accesses && !away; i++)
		away = writes(&t->accesses[i]) && is_away(rt, t->accesses[i].data);
	return away && m->waited > m->busy / 3;
}

/* Whether the chain of tasks that begins with this one is longer than what is left for each accelerator. */
static int is_on_chain(const heddle_runtime *rt, const heddle_task *t, double work, const struct machine *m)
{
	return work + hd_ahead_later(rt) / m->accelerators < hd_ahead_chain(rt, t);
}

/* Whether accelerators would rather wait for each other, with tasks as large as this one, than be busy: then the
 * sub-graph is for all workers. */
static int is_too_large(const heddle_runtime *rt, const heddle_task *t, double whole, const struct hd_refined *r,
                        double work, const struct machine *m)
{
	enum { FEW = 2, SLOWER = 2 };
	if (!hd_task_inside(t) && is_on_chain(rt, t, work, m) && r->best_us < SLOWER * (whole + gathering_time(rt, t)))
		return 1;
	return !has_its_data(t) && work < FEW * whole && r->best_us < SLOWER * whole;
}

/* Whether the policy is to have a task of a sub-graph that is for all workers: it is on the longest chain, or as small
 * as CPUs like it, so that they would take longer for its pieces, all in all, than for the whole. */
static int is_for_policy(const heddle_runtime *rt, const heddle_task *t, const struct hd_refined *r, double work,
                         const struct machine *m)
{
	const double more = 1.25;
	double on_cpu;
	unsigned class_id;
	if (!hd_task_inside(t))
		return 0;
	hd_expand_least_time(rt, t, &on_cpu, &class_id);
	return r->cpu_us > more * on_cpu || is_on_chain(rt, t, work, m);
}

/* For a task that is fastest on an accelerator, and not part of a sub-graph for CPUs. All times are per accelerator. */
static int decide_for_accelerators(heddle_runtime *rt, heddle_task *t, double whole, const struct hd_refined *r,
                                   const struct machine *m)
{
	enum { RESERVE = 4, ROUNDS = 12 };
	const struct hd_expansions *x = rt->adapt.expansions;
	double held = x->whole_us / m->accelerators, work = held + (x->undecided_us + whole) / m->accelerators;
	if (is_too_large(rt, t, whole, r, work, m))
		return (int)r->subgraph;
	if (!has_its_data(t))
		return HD_EXPAND_LATER;
	if (is_for_policy(rt, t, r, work, m))
		return 0;
	double on_cpus = hd_refined_on_cpus(r, m->cpus) + moving_time(rt, t);
	/* What the accelerators will do in the end, but for what CPUs begin in the next rounds. */
	double share = work * on_cpus / (on_cpus + whole / m->accelerators) - ROUNDS * on_cpus;
	/* The reserve must also be long enough for CPUs to be the better choice for a task of the sub-graph. */
	if (held < fmax(fmax(RESERVE * whole, share), 2 * r->cpu_us / r->n))
		return 0;
	if (work < on_cpus)
		return 0; /* there is less and less work, and nothing to wait for */
	int enough = (double)(x->n_children + x->n_expected) >= m->cpus * hd_refined_steps(r->n);
	if (m->idle == 0 || enough)
		return HD_EXPAND_LATER;
	if (is_for_busy_links(rt, t, m))
		return 0;
	hd_expansion_record(t)->for_cpus = 1;
	return (int)r->subgraph;
}

/* Whether the task is expanded whatever the machine does: its sub-graph is faster, or nothing is known. */
static int is_clear(double whole, const struct hd_refined *r)
{
	return !r || isnan(whole) || (r->n > 0 && r->best_us <= whole);
}

/* A guess for a sub-graph that was never tried, of a task that is in a sub-graph itself: it has as many tasks as the
 * one around it has by now, takes CPUs as long as the task does whole, and does not suit accelerators. Returns 0 if no
 * guess can be made, or if by it CPUs would be faster than the whole task: then the sub-graph is tried. */
static int guess_refined(const heddle_runtime *rt, const heddle_task *t, double whole, double on_cpu,
                         const struct machine *m, struct hd_refined *guess)
{
	const heddle_task *outer = hd_task_inside(t);
	if (!outer || isinf(on_cpu))
		return 0;
	double n = (double)outer->extra->n_entered;
	*guess = (struct hd_refined){.subgraph = guess->subgraph,
	                             .n = n,
	                             .cpu_us = on_cpu,
	                             .path_us = hd_refined_path(on_cpu, n),
	                             .best_us = INFINITY};
	return whole == on_cpu || hd_refined_on_cpus(guess, m->cpus) + moving_time(rt, t) > whole;
}

/* 1 + the index of a sub-graph, 0 or HD_EXPAND_LATER. */
static int decide_now(heddle_runtime *rt, heddle_task *t)
{
	const struct hd_refined *r = NULL;
	unsigned class_id, subgraph = hd_refined_best(rt, t, &r);
	double on_cpu, whole = hd_expand_least_time(rt, t, &on_cpu, &class_id);
	const struct machine m = look_at(rt, t);
	struct hd_refined guess = {.subgraph = subgraph};
	if (!r && guess_refined(rt, t, whole, on_cpu, &m, &guess))
		r = &guess;
	if (is_clear(whole, r))
		return (int)subgraph;
	if (r->n == 0)
		return HD_EXPAND_LATER;
	if (m.accelerators > 0 && m.cpus > 0 && !hd_expand_is_cpu(rt, class_id) && !hd_expansion_record(t)->for_cpus)
		return decide_for_accelerators(rt, t, whole, r, &m);
	if (m.idle == 0)
		return rt->count.running + rt->count.staged ? HD_EXPAND_LATER : 0;
	if (hd_refined_on_cpus(r, m.cpus) > on_cpu + gathering_time(rt, t))
		return 0;
	size_t n_ready = hd_expansion_record(t)->for_cpus ? rt->adapt.expansions->n_for_cpus
	                                                  : rt->count.ready + rt->dispatch.n_undecided;
	return (double)n_ready >= m.idle ? 0 : (int)subgraph;
}

/* --- The setting `class` ------------------------------------------------------------------------------------------ */

/* us until the first worker of the class can begin a task. */
static double wait_of(heddle_runtime *rt, unsigned class_id)
{
	double least = INFINITY;
	for (size_t i = 0; i < rt->n_workers; i++)
		if (rt->workers[i].class_id == class_id && !hd_worker_is_out(&rt->workers[i]))
			least = fmin(least, hd_worker_free_at(&rt->workers[i], rt->now) - rt->now);
	return least;
}

static int ends_first_on_cpu(heddle_runtime *rt, const heddle_task *t)
{
	double least = INFINITY;
	int on_cpu = 1;
	for (unsigned c = 0; c < rt->n_classes; c++) {
		double us =
		    t->perf && heddle_task_can_run_class(t, c) ? hd_perf_time(t->perf, c) + wait_of(rt, c) : NAN;
		if (us < least) { /* not if it is NAN */
			least = us;
			on_cpu = hd_expand_is_cpu(rt, c);
		}
	}
	return on_cpu;
}

/* --- Undecided tasks ---------------------------------------------------------------------------------------------- */

/* What the task takes if it runs whole, us, and on what it is fastest. */
static double whole_time(const heddle_runtime *rt, const heddle_task *t, int *heap)
{
	double on_cpu;
	unsigned class_id;
	double us = hd_expand_least_time(rt, t, &on_cpu, &class_id);
	*heap = hd_expansion_record(t)->for_cpus || hd_expand_is_cpu(rt, class_id) ? HD_FOR_CPUS : HD_FOR_ACCELERATORS;
	return us > 0 && *heap == HD_FOR_ACCELERATORS ? us : 0;
}

/* Puts the task into a heap of undecided ones; NULL: into its own. */
static void wait(heddle_runtime *rt, heddle_task *t, heddle_task **heap)
{
	int own;
	struct hd_expansions *x = rt->adapt.expansions;
	struct hd_expansion_record *record = hd_expansion_record(t);
	record->whole_us = whole_time(rt, t, &own);
	x->n_for_cpus += !heap && own == HD_FOR_CPUS;
	hd_expand_push(heap ? heap : &x->undecided[own], t);
	rt->dispatch.n_undecided++;
	x->undecided_us += record->whole_us;
	rt->dispatch.retry |= HD_RETRY_EXPANSIONS;
}

/* Decides about the task, or lets it wait, among `others` if it waits for other tasks. Returns whether the next one has
 * its turn. */
static int try_to_decide(heddle_runtime *rt, heddle_task *t, heddle_task **others)
{
	struct hd_expansions *x = rt->adapt.expansions;
	struct hd_expansion_record *record = hd_expansion_record(t);
	int heap, chosen = decide_now(rt, t);
	if (chosen == HD_EXPAND_LATER) {
		int waits = !has_its_data(t);
		wait(rt, t, waits ? others : NULL);
		return waits;
	}
	if (chosen) {
		t->extra->subgraph = (unsigned)chosen;
		const struct hd_refined *r = hd_refined_begin(rt, t, (unsigned)chosen);
		record->expected = record->for_cpus ? (uint64_t)r->n : 0;
		x->n_expected += record->expected;
		hd_expand_do(rt, t);
	} else {
		record->whole_us = whole_time(rt, t, &heap);
		x->whole_us += record->whole_us;
		hd_expand_not(rt, t);
	}
	return 1;
}

/* The tasks that become ready together are decided about together. */
static void ready(heddle_runtime *rt, heddle_task *t, int chosen)
{
	HD_HELD(&rt->lock);
	hd_ahead_ready(rt, t);
	if (chosen == HD_EXPAND_LATER)
		wait(rt, t, NULL);
}

/* Decides about the tasks of a heap, the most urgent first, until one has to wait for what the machine does. Those that
 * wait for others do not hold up those behind them. */
static void feed(heddle_runtime *rt, heddle_task **heap)
{
	struct hd_expansions *x = rt->adapt.expansions;
	heddle_task *others = NULL;
	int decided = 1, are_for_cpus = heap == &x->undecided[HD_FOR_CPUS];
	while (decided && *heap) {
		heddle_task *t = hd_expand_pop(heap);
		rt->dispatch.n_undecided--;
		x->n_for_cpus -= (size_t)are_for_cpus;
		x->undecided_us -= hd_expansion_record(t)->whole_us;
		hd_expansion_record(t)->whole_us = 0;
		decided = try_to_decide(rt, t, &others);
	}
	while (others) {
		hd_expand_push(heap, hd_expand_pop(&others));
		x->n_for_cpus += (size_t)are_for_cpus;
	}
}

static void decide(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	if (!rt->dispatch.n_undecided)
		return;
	for (int i = 0; i < HD_N_HEAPS; i++)
		feed(rt, &rt->adapt.expansions->undecided[i]);
	if (!rt->dispatch.n_undecided) {
		rt->adapt.expansions->undecided_us = 0; /* without what rounding has left */
		if (!rt->dispatch.unexpanded)
			rt->dispatch.retry &= ~HD_RETRY_EXPANSIONS;
	}
}

static void ended(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (t->codelet && t->codelet->desc.n_subgraphs) /* else it has no record */
		rt->adapt.expansions->whole_us -= hd_expansion_record(t)->whole_us;
}

/* --- The settings ------------------------------------------------------------------------------------------------- */

static int never(heddle_runtime *rt, const heddle_task *t)
{
	(void)rt;
	(void)t;
	return 0;
}

static int later(heddle_runtime *rt, const heddle_task *t)
{
	(void)rt;
	(void)t;
	return HD_EXPAND_LATER;
}

static const struct setting {
	const char *name;
	int (*choose)(heddle_runtime *rt, const heddle_task *t);
} settings[] = {{"always", NULL}, {"never", never}, {"class", ends_first_on_cpu}, {"adaptive", later}};

static const struct setting *find_setting(const char *value)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (!value || strcmp(value, settings[i].name) == 0)
			return &settings[i];
	return NULL;
}

int hd_adapt_is_expand(const char *value)
{
	return find_setting(value) != NULL;
}

static int check(struct hd_check *c)
{
	const struct hd_expansions *x = c->rt->adapt.expansions;
	size_t n = 0, n_for_cpus = 0;
	double later_us = 0;
	int status = hd_check_expansions(c, x->undecided[HD_FOR_CPUS], 0, &n_for_cpus);
	if (!status)
		status = hd_check_expansions(c, x->undecided[HD_FOR_ACCELERATORS], 0, &n);
	if (status)
		return status;
	n += n_for_cpus;
	if (n_for_cpus != x->n_for_cpus)
		return hd_broken("%zu tasks for CPUs are undecided; n_for_cpus says %zu", n_for_cpus, x->n_for_cpus);
	if (n != c->rt->dispatch.n_undecided)
		return hd_broken("%zu tasks are undecided; n_undecided says %zu", n, c->rt->dispatch.n_undecided);
	for (size_t i = 0; i < c->n_tasks; i++)
		if (c->tasks[i].task->special & HD_TASK_EXPANDS)
			later_us += hd_expansion_record(c->tasks[i].task)->later_us;
	double noted_us = hd_ahead_later(c->rt);
	return fabs(later_us - noted_us) <= 1e-6 * (1 + x->ahead[0].path_us)
	           ? 0
	           : hd_broken("tasks that are not ready take %g us; later_us says %g", later_us, noted_us);
}

int hd_expansions_open(heddle_runtime *rt)
{
	struct hd_adapt *a = &rt->adapt;
	a->choose = find_setting(rt->config.expand)->choose;
	if (a->choose != later)
		return 0;
	a->expansions = calloc(1, sizeof *a->expansions);
	if (!a->expansions)
		return hd_no_memory("the setting expand=adaptive");
	a->entered = hd_ahead_entered;
	a->ready = ready;
	a->decide = decide;
	a->child_entered = hd_refined_child_entered;
	a->child_ended = hd_refined_child_ended;
	a->submitted = hd_refined_submitted;
	a->ended = ended;
	a->check_tasks = check;
	a->task_bytes = sizeof(struct hd_expansion_record);
	a->datum_bytes += sizeof(struct hd_expansion_ends);
	return 0;
}
