/* When hierarchical tasks are expanded: the decisions of the setting `expand` for codelets without a function of their
 * own.
 *
 * The paper on hierarchical tasks (Faverge et al., Inria RR-9466) leaves open when a task should be expanded. The rules
 * are Heddle's own, chosen by virtual runs of dense routines: bench/RESULTS.md has the figures, `heddle repro ht-gemm`
 * and `heddle repro ht-chol` repeat them. The rules use the predicted times on each class, the state of the workers,
 * the places of replicas, and the tasks submitted so far. A hierarchical task that runs its kernel is said to run
 * *whole*.
 *
 * `always` and `never` need no prediction. `class` asks, when the task is ready, which worker would end it first if it
 * ran whole, and expands the task if that worker is a CPU.
 *
 * `adaptive` decides as late as possible. A ready task waits, undecided, until a worker lacks work. Then two lower
 * bounds on the time until the end of the program are compared: the remaining work divided by the number of
 * accelerators, and the longest chain of tasks that begins with this task (work_ahead.c).
 *
 *   - If the chain is longer, tasks of this size make accelerators wait for each other. The task is expanded for all
 *     workers, unless its sub-graph is much slower. Gathering its data, which the whole task needs, counts as time of
 *     the whole task. The policy gets the tasks of that sub-graph at once, like any submitted tasks, because it can
 *     only spread tasks that it has over the accelerators. If tasks of the sub-graph are hierarchical themselves, the
 *     same rule is applied to them, with their own remaining work and their own, shorter chains. They run whole if
 *     their own sub-graphs would be much more work for CPUs.
 *   - Otherwise accelerators get whole tasks, because these suit accelerators best. Accelerators always need a few
 *     tasks in reserve; without a reserve they would be idle at times, and the policy could not prefetch data. So tasks
 *     are given to the policy whole while the policy has less work for the accelerators than that reserve. If many
 *     tasks are ready, the policy gets all of them except the tasks that CPUs will soon begin: the policy knows better
 *     than a heap which tasks use the same data, and data are evicted if only tasks outside the policy need them.
 *   - CPU workers without a task get a sub-graph, under two conditions. First: the accelerators have work for at least
 *     as long as the CPUs need for the sub-graph, for the copies of its data to main memory, and for the copies back of
 *     data that it writes and that accelerators had. Otherwise, near the end of a graph or while few tasks are ready,
 *     the task that the CPUs have begun would be the last to end; so the policy gets the task whole: the policy can
 *     prefetch the task's data, or knows a CPU that would end the task first. Second: the tasks of the sub-graphs that
 *     were submitted for CPUs before are too few for the CPUs, counting tasks that are not ready yet. Tasks of
 *     sub-graphs for all workers do not count here, because nearly all of them are faster on accelerators, and run
 *     there. CPUs do not get a task of a sub-graph for all workers if its results are on an accelerator already while
 *     several accelerators wait for their links: the results would have to come back over busy links. The policy gets
 *     such a task whole, so that the links can move other data meanwhile.
 *   - Hierarchical tasks of a sub-graph for CPUs are for CPUs, too. They are expanded again if there are more idle CPUs
 *     than such tasks, and otherwise run whole. Accelerators do not get them, because small tasks would slow
 *     accelerators down.
 *   - A task whose sub-graph is faster than its kernel, each task of the sub-graph on its fastest class, is expanded at
 *     once.
 *   - A task whose data are being computed by sub-graphs waits until these are complete. It does not wait if the
 *     accelerators have hardly any work, and would not be much slower with the task's own sub-graph, which can begin
 *     piece by piece.
 *   - A task that is fastest on a CPU is expanded if there are more idle CPUs than tasks for them, and all CPUs
 *     together are faster with the sub-graph than one CPU with the whole task.
 *
 * The times of sub-graphs are known from earlier submissions (subgraph_times.c). A sub-graph that was never tried is
 * tried, unless its task is itself in a sub-graph: such tasks are small, and expanding them seldom pays, so they wait
 * until CPUs need work. If there are several sub-graphs, the one with the least work counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "flow/dispatch.h"
#include "flow/expand.h"
#include "inspect/check.h"
#include "perf/perf.h"
#include "state/tree.h"
#include "adapt.h"
#include "expansions.h"

/* --- What the machine needs --------------------------------------------------------------------------------------- */

/* The state of the machine for the decision about one task. cpus: number of CPU workers. idle: number of CPU workers
 * without a task. accelerators: number of accelerators that can run the task. The last two are in us, summed over these
 * accelerators: busy: time in which kernels ran; waited: time in which an accelerator waited for the data of a picked
 * task. */
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
			m.idle += w->hungry && !w->in_flight; /* the worker asks for a task, and the policy has none */
		} else if (heddle_task_can_run(t, w->id)) {
			look_at_accelerator(&m, w, rt->now);
		}
	}
	return m;
}

/* Whether the access writes the datum's value. */
static int writes(const struct hd_access *a)
{
	return a->mode != HEDDLE_R && a->mode != HEDDLE_SCRATCH;
}

/* Whether all tasks that write the data of a ready hierarchical task have ended. If not, a predecessor was expanded and
 * its sub-graph is unfinished: the whole task would have to wait for it, while tasks of its own sub-graph could begin
 * one by one. */
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

/* The time in us to gather the task's data that are scattered over children; the whole task would have to wait for
 * this. */
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

/* Whether the value of a datum is on an accelerator or on the way to one, or is scattered over children that may be
 * there, or is about to be written for the first time. */
static int is_away(const heddle_runtime *rt, const heddle_data *d)
{
	int away = !d->replicas[0].valid;
	for (size_t n = 1; n < rt->n_nodes && !away; n++)
		away = d->replicas[n].valid || d->replicas[n].incoming;
	return away;
}

/* The time in us to copy all data of a task to main memory, and then to copy the written data back to the accelerators
 * on which they had replicas. */
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

/* Whether CPUs would take the task from accelerators that share its data and wait for their links: the accelerators
 * have waited for data in a quarter of the time in which they had tasks. */
static int is_for_busy_links(const heddle_runtime *rt, const heddle_task *t, const struct machine *m)
{
	int away = 0;
	if (!hd_task_inside(t) || m->accelerators < 2)
		return 0;
	for (uint32_t i = 0; i < t->n_accesses && !away; i++)
		away = writes(&t->accesses[i]) && is_away(rt, t->accesses[i].data);
	return away && m->waited > m->busy / 3;
}

/* Whether the longest chain that begins with this task is longer than the remaining work per accelerator. `work`: the
 * part of that work that is ready, us per accelerator. */
static int is_on_chain(const heddle_runtime *rt, const heddle_task *t, double work, const struct machine *m)
{
	return work + hd_ahead_later(rt) / m->accelerators < hd_ahead_chain(rt, t);
}

/* Whether tasks of this size would make accelerators wait for each other, so that the sub-graph is for all workers. */
static int is_too_large(const heddle_runtime *rt, const heddle_task *t, double whole, const struct hd_refined *r,
                        double work, const struct machine *m)
{
	enum { FEW = 2, SLOWER = 2 };
	if (!hd_task_inside(t) && is_on_chain(rt, t, work, m) && r->best_us < SLOWER * (whole + gathering_time(rt, t)))
		return 1;
	return !has_its_data(t) && work < FEW * whole && r->best_us < SLOWER * whole;
}

/* Whether the policy gets a task whole that is in a sub-graph for all workers: because it is on the longest chain, or
 * because CPUs would need more time, all in all, for its sub-graph than for the whole task. */
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

/* Decides about a task that is fastest on an accelerator and in no sub-graph for CPUs. Times are in us per
 * accelerator. */
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
	/* us: the accelerators' share of the remaining work, less the work that CPUs will begin in ROUNDS rounds */
	double share = work * on_cpus / (on_cpus + whole / m->accelerators) - ROUNDS * on_cpus;
	/* the reserve must also last so long that a CPU ends a task of the sub-graph before an accelerator could */
	if (held < fmax(fmax(RESERVE * whole, share), 2 * r->cpu_us / r->n))
		return 0;
	if (work < on_cpus)
		return 0; /* waiting is useless, because the work can only shrink */
	int enough = (double)(x->n_children + x->n_expected) >= m->cpus * hd_refined_steps(r->n);
	if (m->idle == 0 || enough)
		return HD_EXPAND_LATER;
	if (is_for_busy_links(rt, t, m))
		return 0;
	hd_expansion_record(t)->for_cpus = 1;
	return (int)r->subgraph;
}

/* Whether the task is expanded in any case: its sub-graph is faster, or times are unknown. */
static int is_clear(double whole, const struct hd_refined *r)
{
	return !r || isnan(whole) || (r->n > 0 && r->best_us <= whole);
}

/* Guesses the times of a sub-graph that was never tried, if its task is in a sub-graph itself. The guess: the sub-graph
 * has as many tasks as the sub-graph around the task has by now, CPUs take as long for it as for the whole task, and it
 * does not suit accelerators. Returns 0 if no guess is possible, or if by the guess CPUs would be faster with the
 * sub-graph: then the sub-graph is tried. */
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

/* Decides about a task now. Returns 1 + the index of a sub-graph, 0 (run whole), or HD_EXPAND_LATER. */
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
		if (us < least) { /* false if `us` is NAN */
			least = us;
			on_cpu = hd_expand_is_cpu(rt, c);
		}
	}
	return on_cpu;
}

/* --- Undecided tasks ---------------------------------------------------------------------------------------------- */

/* The time in us of the task run whole, if an accelerator runs it fastest; else 0. *heap: the heap for the task. */
static double whole_time(const heddle_runtime *rt, const heddle_task *t, int *heap)
{
	double on_cpu;
	unsigned class_id;
	double us = hd_expand_least_time(rt, t, &on_cpu, &class_id);
	*heap = hd_expansion_record(t)->for_cpus || hd_expand_is_cpu(rt, class_id) ? HD_FOR_CPUS : HD_FOR_ACCELERATORS;
	return us > 0 && *heap == HD_FOR_ACCELERATORS ? us : 0;
}

/* Puts the task into a heap of undecided tasks; `heap` NULL: into the heap for the workers that run it fastest. */
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

/* Decides about the task, or makes it wait again: in the heap `others` if its data are still being computed, otherwise
 * among the undecided tasks. Returns 0 if the next tasks of the heap must wait, too. */
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

/* Only adds the task to the undecided tasks: decide() decides together about tasks that become ready together. */
static void ready(heddle_runtime *rt, heddle_task *t, int chosen)
{
	HD_HELD(&rt->lock);
	hd_ahead_ready(rt, t);
	if (chosen == HD_EXPAND_LATER)
		wait(rt, t, NULL);
}

/* Decides about the tasks of a heap, the most urgent first, until one must wait for a change of the machine's state.
 * Tasks whose data are still being computed do not make later ones wait. */
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
		rt->adapt.expansions->undecided_us = 0; /* the sum is 0 now, except for rounding errors */
		if (!rt->dispatch.unexpanded)
			rt->dispatch.retry &= ~HD_RETRY_EXPANSIONS;
	}
}

static void ended(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (t->codelet && t->codelet->desc.n_subgraphs) /* only hierarchical tasks have a record */
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
