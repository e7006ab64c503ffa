/* dada: affinity first, then dual approximation of the shortest schedule of the ready tasks.
 *
 * Bleuse, Gautier, Lima, Mounie, Trystram, "Scheduling data flow program in XKaapi: a new affinity based algorithm for
 * heterogeneous architectures", Euro-Par 2014, section 3.2, Algorithm 2 (the activate operation), on a batch LR:
 *
 *   1-2    lower = 0, upper = sum of max(p_cpu, p_gpu)
 *   3-4    while upper - lower > epsilon: lambda = (upper + lower) / 2
 *   5-7      local affinity: tasks by decreasing score go to their affinity resource, which is loaded up to
 *            overreaching alpha lambda. Score of (task, node): bytes that the task writes and that are valid there; 0:
 *            no affinity
 *   8-9      global balance: dual approximation (Kedad-Sidhoum et al., HeteroPar 2013). p_cpu > lambda: to a GPU; p_gpu
 *            > lambda: to a CPU; both: lambda is rejected. GPUs are filled in the order of decreasing speedup p_cpu /
 *            p_gpu until each overreaches lambda; the rest goes to CPUs, earliest finish time
 *   10-15    if all fits into (2 + alpha) lambda: upper = lambda, keep this schedule; else lower = lambda
 *   19     push by the last schedule kept, update the dates
 *
 * With cp, p includes the predicted time of transfers. With alpha = 0 and no backlog the schedule is at most twice as
 * long as the shortest one, plus 2 epsilon.
 *
 * Choices. epsilon is the option's share of the first upper. The first upper is tried before the loop, so that there
 * always is a schedule. The paper does not give the initial load of a worker. Here the option `backlog` chooses it: the
 * worker's backlog minus the smallest backlog of its side (CPUs or GPUs; `side`), the worker's backlog minus the
 * smallest backlog of all workers (`all`), or 0 (`none`). The first upper includes the largest initial load. Workers
 * that are not driven do not count, even if a retired worker still has tasks. With `all`, idle CPUs make every GPU look
 * loaded beyond alpha lambda, and few tasks stay where their data are. With `none`, only stealing moves work to an idle
 * worker. In the paper's framework a worker without tasks steals from a worker that it draws (section 2.1); here it
 * does so with the option `steal`. With `fit`, affinity does not place a task on a resource on which this task alone
 * takes longer than lambda. If several nodes have the same score, the task goes to the node on which it takes the
 * shortest time. If a side has several classes, p is the time on the fastest class. Equal tasks are placed in the order
 * of submission, and the first of equal workers is taken. docs/policy-study.md, "Figures behind the defaults" and
 * "Where a paper can be read in two ways", shows the gain of `backlog`, `fit` and `steal`. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "parts/batch_mapping.h"
#include "policies.h"

enum { DADA_ROOM = 64 /* the initial capacity of the list */, DADA_NOWHERE = UINT_MAX };

struct dada_task {
	heddle_task *task;
	uint64_t order, score; /* score: bytes that the task writes and that are valid on `node` */
	double cpu, gpu, speedup;
	unsigned node;
	unsigned row; /* the task's row in dada.times */
	/* the task's worker in the schedule that is being tried, and in the last kept schedule; DADA_NOWHERE: not
	 * placed yet */
	unsigned trial, kept;
	int alike; /* 1: in each group all driven workers can run the task, or none can */
};

/* The largest load of a schedule, and the bounds down to which lambda gives the same schedule: alpha lambda > `affine`,
 * lambda > `filled`, lambda >= `longest`. All in us. Within these bounds each chosen worker is still allowed; it is
 * still the best, because a smaller lambda allows only a part of the workers that a larger lambda allows. */
struct dada_bounds {
	double largest, affine, filled, longest;
};

enum dada_phase { DADA_AFFINITY, DADA_FORCED, DADA_FILLED, DADA_REST, DADA_PHASES };

enum dada_start { DADA_ALL, DADA_SIDE, DADA_EMPTY }; /* values of the option `backlog`: the initial loads */

struct dada {
	struct hd_mapping mapping; /* the first field, because hd_mapping_pick gets the address of the state */
	double alpha, epsilon;
	int cp, fit;
	enum dada_start from;
	size_t n, room;         /* n: number of tasks in `list`; room: its capacity */
	struct dada_task *list; /* owns; LR, or the slice of LR that `list` has room for, by decreasing speedup */
	double *times;          /* owns; [row * n_groups + group]: p of each task, us */
	/* owns; during the search the n_affine tasks with affinity, by decreasing score; afterwards all tasks, in the
	 * order in which they are pushed */
	struct dada_task **sorted;
	size_t n_affine;
	/* The initial load of a worker is its date minus base[1] for a CPU, minus base[0] for a GPU. */
	double base[2], largest; /* us; largest: the largest initial load */
	/* The schedule that is being tried. The dates hide the workers that are loaded in it. */
	double *loads;    /* owns; per worker: us; NAN: the worker has no task in this schedule */
	unsigned *loaded; /* owns; the workers that have tasks in this schedule */
	size_t n_loaded;
	/* owns; per group: us that a comparison adds to the loads of the group's workers; INFINITY: these workers are
	 * not compared */
	double *terms;
	double most; /* us: the schedule that is being tried is rejected if a load is larger */
	struct dada_bounds bounds, kept_bounds; /* of the schedule that is being tried, and of the last kept schedule */
	uint64_t *bytes; /* owns; per node: bytes that the task being scored writes and that are valid on the node */
	/* number of tasks that each phase has placed */
	uint64_t trial[DADA_PHASES], kept[DADA_PHASES], total[DADA_PHASES];
	uint64_t batches, iterations, rejected;
	double lambda; /* us: sum of the final lambdas of all batches */
};

static void dada_destroy(void *state)
{
	struct dada *d = state;
	hd_mapping_fini(&d->mapping);
	free(d->list);
	free(d->times);
	free(d->sorted);
	free(d->loads);
	free(d->loaded);
	free(d->terms);
	free(d->bytes);
	free(d);
}

/* Makes room for a batch of n tasks. Returns 0 when out of memory; then the capacity has not changed. */
static int dada_make_room(struct dada *d, size_t n)
{
	if (n <= d->room)
		return 1;
	struct dada_task *list = calloc(n, sizeof *list), **sorted = calloc(n, sizeof(struct dada_task *));
	double *times = calloc(n * d->mapping.n_groups, sizeof *times);
	if (!list || !sorted || !times) {
		free(list);
		free(sorted);
		free(times);
		return 0;
	}
	free(d->list);
	free(d->sorted);
	free(d->times);
	d->list = list;
	d->sorted = sorted;
	d->times = times;
	d->room = n;
	return 1;
}

static int dada_alloc(struct dada *d, heddle_sched *sched)
{
	int status = hd_mapping_init(&d->mapping, sched, 1);
	if (!status)
		status = hd_dates_watch_latest(&d->mapping.dates);
	if (status < 0)
		return status;
	d->loads = calloc(d->mapping.n_workers, sizeof *d->loads);
	d->loaded = calloc(d->mapping.n_workers, sizeof *d->loaded);
	d->terms = calloc(d->mapping.n_groups, sizeof *d->terms);
	d->bytes = calloc(heddle_sched_platform(sched)->n_nodes, sizeof *d->bytes);
	if (!dada_make_room(d, DADA_ROOM) || !d->loads || !d->loaded || !d->terms || !d->bytes)
		return hd_no_memory("the policy's list");
	for (size_t w = 0; w < d->mapping.n_workers; w++)
		d->loads[w] = NAN;
	return HEDDLE_OK;
}

static int dada_create(heddle_sched *sched, void **state)
{
	struct dada *d = calloc(1, sizeof *d);
	if (!d)
		return hd_no_memory("the policy's queues");
	int status = dada_alloc(d, sched);
	if (status < 0) {
		dada_destroy(d);
		return status;
	}
	d->alpha = heddle_sched_option(sched, "alpha");
	d->epsilon = heddle_sched_option(sched, "epsilon");
	d->cp = heddle_sched_option(sched, "cp") > 0;
	d->from = (enum dada_start)heddle_sched_option(sched, "backlog");
	d->fit = heddle_sched_option(sched, "fit") > 0;
	*state = d;
	return HEDDLE_OK;
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static const double *dada_times(const struct dada *d, const struct dada_task *t)
{
	return d->times + t->row * d->mapping.n_groups;
}

/* Fills d->bytes: per node, the bytes that the task writes and that are valid on the node. */
static void dada_hosted(struct dada *d, const heddle_task *t)
{
	size_t n_nodes = heddle_sched_platform(d->mapping.sched)->n_nodes;
	memset(d->bytes, 0, n_nodes * sizeof *d->bytes);
	for (size_t i = 0; i < heddle_task_n_data(t); i++) {
		if (!(heddle_task_mode(t, i) & (HEDDLE_W | HEDDLE_COMMUTE)))
			continue;
		const heddle_data *data = heddle_task_data(t, i);
		for (unsigned node = 0; node < n_nodes; node++)
			if (heddle_data_valid_on(data, node))
				d->bytes[node] += heddle_data_bytes(data);
	}
}

/* Finds the node with the best score among the nodes whose workers can run the task. */
static void dada_affinity(struct dada *d, struct dada_task *t, const double *times)
{
	const struct hd_mapping *m = &d->mapping;
	double shortest = INFINITY;
	dada_hosted(d, t->task);
	for (size_t g = 0; g < m->n_groups; g++) {
		unsigned node = m->dates.groups[g].node;
		uint64_t score = isinf(times[g]) ? 0 : d->bytes[node];
		if (score > t->score || (score && score == t->score && times[g] < shortest)) {
			t->score = score;
			t->node = node;
			shortest = times[g];
		}
	}
}

static int dada_compare_speedup(const void *a, const void *b)
{
	const struct dada_task *x = a, *y = b;
	if (x->speedup != y->speedup)
		return x->speedup > y->speedup ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int dada_compare_score(const void *a, const void *b)
{
	const struct dada_task *x = *(struct dada_task *const *)a, *y = *(struct dada_task *const *)b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void dada_add(struct dada *d, heddle_task *task)
{
	const struct hd_mapping *m = &d->mapping;
	struct dada_task *t = &d->list[d->n];
	double *times = d->times + d->n * m->n_groups;
	*t = (struct dada_task){.task = task, .order = heddle_task_order(task), .row = (unsigned)d->n};
	t->alike = hd_mapping_predict(m, task, d->cp, times);
	t->cpu = hd_mapping_best(m, times, 1);
	t->gpu = hd_mapping_best(m, times, 0);
	t->speedup = isinf(t->gpu) ? 0 : isinf(t->cpu) ? INFINITY : t->cpu / t->gpu;
	if (d->alpha > 0)
		dada_affinity(d, t, times);
	d->n++;
}

/* Sorts a list, unless it is sorted already: for example if all tasks are equal. */
static void dada_put_in_order(void *list, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	size_t i = 1;
	while (i < n && compare((char *)list + (i - 1) * size, (char *)list + i * size) < 0)
		i++;
	if (i < n)
		qsort(list, n, size, compare);
}

static void dada_sort(struct dada *d)
{
	dada_put_in_order(d->list, d->n, sizeof *d->list, dada_compare_speedup);
	d->n_affine = 0;
	for (struct dada_task *t = d->list; t < d->list + d->n; t++)
		if (t->score)
			d->sorted[d->n_affine++] = t;
	dada_put_in_order(d->sorted, d->n_affine, sizeof(struct dada_task *), dada_compare_score);
}

/* --- Loads -------------------------------------------------------------------------------------------------------- */

/* The terms with which hd_dates_cost turns a date of the group into a load plus `term`. */
static struct hd_dates_terms dada_start(const struct dada *d, size_t group, double term)
{
	const double end = 1e300; /* later than all dates, so that each load is 0 */
	if (d->from == DADA_EMPTY)
		return (struct hd_dates_terms){.arrival = end, .length = -end, .moved = term};
	return (struct hd_dates_terms){
	    .arrival = -INFINITY, .length = -d->base[d->mapping.is_cpu[group]], .moved = term};
}

static double dada_load(const struct dada *d, unsigned worker)
{
	struct hd_dates_terms start = dada_start(d, hd_mapping_group(&d->mapping, worker), 0);
	return isnan(d->loads[worker]) ? hd_dates_cost(hd_dates_of(&d->mapping.dates, worker), &start)
	                               : d->loads[worker];
}

/* Drops the schedule that was tried. */
static void dada_unload(struct dada *d)
{
	while (d->n_loaded) {
		unsigned worker = d->loaded[--d->n_loaded];
		d->loads[worker] = NAN;
		hd_dates_hide(&d->mapping.dates, worker, 0);
	}
}

/* Loads the worker with the task. Returns 0 if the load is now larger than d->most. */
static int dada_assign(struct dada *d, struct dada_task *t, unsigned worker, enum dada_phase phase)
{
	double load = dada_load(d, worker) + dada_times(d, t)[hd_mapping_group(&d->mapping, worker)];
	if (isnan(d->loads[worker])) {
		d->loaded[d->n_loaded++] = worker;
		hd_dates_hide(&d->mapping.dates, worker, 1);
	}
	t->trial = worker;
	d->loads[worker] = load;
	d->bounds.largest = fmax(d->bounds.largest, load);
	d->trial[phase]++;
	return load <= d->most;
}

struct dada_choice {
	unsigned worker;
	double least; /* us: the worker's load plus its group's term */
};

/* Makes the worker the choice if it is better than the present choice, or equal with a lower number. */
static void dada_prefer(struct dada_choice *choice, unsigned worker, double us)
{
	if (us < choice->least || (us == choice->least && worker < choice->worker))
		*choice = (struct dada_choice){worker, us};
}

/* The best of all driven workers that can run the task. Compares the workers one by one. */
static struct dada_choice dada_least_of_each(const struct dada *d, const struct dada_task *t, double limit)
{
	struct dada_choice choice = {DADA_NOWHERE, DBL_MAX};
	for (unsigned w = 0; w < d->mapping.n_workers; w++) {
		double load = dada_load(d, w), term = d->terms[hd_mapping_group(&d->mapping, w)];
		if (d->mapping.dates.workers[w].is_driven && load < limit && heddle_task_can_run(t->task, w))
			dada_prefer(&choice, w, load + term);
	}
	return choice;
}

/* Compares the choice with the workers of a group that have no task in the schedule: only with the first worker that
 * has the least sum of load and term. Returns 0 if the load of this worker is not below `limit`, but the load of
 * another one is. */
static int dada_compare_idle(const struct dada *d, size_t group, double limit, struct dada_choice *choice)
{
	const struct hd_dates_group *g = &d->mapping.dates.groups[group];
	double us;
	if (isinf(d->terms[group]) || !g->n_driven) /* on a machine with many nodes, most groups end here */
		return 1;
	struct hd_dates_terms sum = dada_start(d, group, d->terms[group]), load = dada_start(d, group, 0);
	if (hd_dates_cost(hd_dates_bound(&d->mapping.dates, g), &sum) >
	    choice->least) /* no worker of the group can be better */
		return 1;
	unsigned worker = hd_dates_earliest(&d->mapping.dates, g, &sum, &us);
	if (dada_load(d, worker) < limit) {
		dada_prefer(choice, worker, us);
		return 1;
	}
	hd_dates_earliest(&d->mapping.dates, g, &load, &us);
	return us >= limit;
}

/* The worker with the least sum of load and term, among the workers that can run the task and whose load is below
 * `limit`; the first one of equal workers. */
static unsigned dada_least(const struct dada *d, const struct dada_task *t, double limit)
{
	struct dada_choice choice = {DADA_NOWHERE, DBL_MAX};
	int sure = t->alike;
	for (size_t g = 0; sure && g < d->mapping.n_groups; g++)
		sure = dada_compare_idle(d, g, limit, &choice);
	if (!sure)
		return dada_least_of_each(d, t, limit).worker;
	for (size_t i = 0; i < d->n_loaded; i++) {
		unsigned w = d->loaded[i];
		if (d->loads[w] < limit)
			dada_prefer(&choice, w, d->loads[w] + d->terms[hd_mapping_group(&d->mapping, w)]);
	}
	return choice.worker;
}

/* --- One guess of lambda ------------------------------------------------------------------------------------------ */

/* Lines 5-7 of Algorithm 2, local affinity. Returns 0 if a worker is loaded too much. */
static int dada_local_phase(struct dada *d, double lambda)
{
	const struct hd_mapping *m = &d->mapping;
	double longest = d->fit ? lambda : DBL_MAX;
	for (size_t i = 0; i < d->n_affine; i++) {
		struct dada_task *t = d->sorted[i];
		const double *times = dada_times(d, t);
		for (size_t g = 0; g < m->n_groups; g++)
			d->terms[g] = m->dates.groups[g].node == t->node && times[g] <= longest ? 0 : INFINITY;
		unsigned best = dada_least(d, t, d->alpha * lambda);
		if (best == DADA_NOWHERE)
			continue;
		d->bounds.affine = fmax(d->bounds.affine, dada_load(d, best));
		if (d->fit)
			d->bounds.longest = fmax(d->bounds.longest, times[hd_mapping_group(m, best)]);
		if (!dada_assign(d, t, best, DADA_AFFINITY))
			return 0;
	}
	return 1;
}

/* The worker that ends the task first, among the workers of a side (CPUs or GPUs) with a load below `limit`. */
static unsigned dada_earliest(struct dada *d, const struct dada_task *t, int is_cpu, double limit)
{
	for (size_t g = 0; g < d->mapping.n_groups; g++)
		d->terms[g] = d->mapping.is_cpu[g] == is_cpu ? dada_times(d, t)[g] : INFINITY;
	return dada_least(d, t, limit);
}

/* Lines 8-9 of Algorithm 2, global balance. Returns 0 if a task is too long for both sides, or a load too large. */
static int dada_global_phase(struct dada *d, double lambda)
{
	struct dada_bounds *bounds = &d->bounds;
	for (struct dada_task *t = d->list; t < d->list + d->n; t++) {
		if (t->trial != DADA_NOWHERE)
			continue;
		int is_forced = t->cpu > lambda;
		bounds->longest = fmax(bounds->longest, is_forced ? t->gpu : t->cpu);
		if (is_forced && (t->gpu > lambda || !dada_assign(d, t, dada_earliest(d, t, 0, INFINITY), DADA_FORCED)))
			return 0;
	}
	for (struct dada_task *t = d->list; t < d->list + d->n; t++) {
		unsigned best =
		    t->trial == DADA_NOWHERE && t->gpu <= lambda ? dada_earliest(d, t, 0, lambda) : DADA_NOWHERE;
		if (best == DADA_NOWHERE)
			continue;
		bounds->longest = fmax(bounds->longest, t->gpu);
		bounds->filled = fmax(bounds->filled, dada_load(d, best));
		if (!dada_assign(d, t, best, DADA_FILLED))
			return 0;
	}
	for (struct dada_task *t = d->list; t < d->list + d->n; t++)
		if (t->trial == DADA_NOWHERE && !dada_assign(d, t, dada_earliest(d, t, 1, INFINITY), DADA_REST))
			return 0;
	return 1;
}

static void dada_keep(struct dada *d)
{
	for (size_t i = 0; i < d->n; i++)
		d->list[i].kept = d->list[i].trial;
	memcpy(d->kept, d->trial, sizeof d->kept);
	d->kept_bounds = d->bounds;
}

/* Makes the schedule that follows from lambda, and keeps it if it fits into `most` us. Returns whether it fits. */
static int dada_make(struct dada *d, double lambda, double most)
{
	d->most = most;
	d->bounds = (struct dada_bounds){.largest = d->largest, .affine = -1, .filled = -1};
	memset(d->trial, 0, sizeof d->trial);
	for (size_t i = 0; i < d->n; i++)
		d->list[i].trial = DADA_NOWHERE;
	int fits = d->largest <= most && dada_local_phase(d, lambda) && dada_global_phase(d, lambda);
	dada_unload(d);
	if (fits)
		dada_keep(d);
	return fits;
}

/* Whether the schedule of lambda fits. Makes the schedule only if it may differ from the kept schedule, whose lambda is
 * larger. */
static int dada_try(struct dada *d, double lambda)
{
	const struct dada_bounds *b = &d->kept_bounds;
	double most = (2 + d->alpha) * lambda;
	if (b->affine < d->alpha * lambda && b->filled < lambda && b->longest <= lambda)
		return b->largest <= most;
	return dada_make(d, lambda, most);
}

/* --- Algorithm 2 -------------------------------------------------------------------------------------------------- */

/* Computes `base`, which gives the initial loads, and `largest`, the largest initial load. */
static void dada_set_base(struct dada *d)
{
	const struct hd_dates_terms date = {.arrival = -INFINITY};
	const struct hd_dates *dates = &d->mapping.dates;
	double latest[2] = {-INFINITY, -INFINITY}; /* the latest date of the GPUs, of the CPUs */
	d->base[0] = d->base[1] = INFINITY;
	for (size_t g = 0; g < dates->n_groups; g++) {
		double us, *base = &d->base[d->mapping.is_cpu[g]], *last = &latest[d->mapping.is_cpu[g]];
		if (!dates->groups[g].n_driven)
			continue;
		hd_dates_earliest(dates, &dates->groups[g], &date, &us);
		*base = fmin(*base, us);
		*last = fmax(*last, hd_dates_latest(dates, &dates->groups[g]));
	}
	if (d->from != DADA_SIDE)
		d->base[0] = d->base[1] = fmin(d->base[0], d->base[1]);
	d->largest = 0;
	for (int is_cpu = 0; is_cpu < 2 && d->from != DADA_EMPTY; is_cpu++)
		d->largest = fmax(d->largest, latest[is_cpu] - d->base[is_cpu]);
}

/* Lines 1-18 of Algorithm 2: leaves the schedule in dada_task.kept. */
static void dada_search(struct dada *d)
{
	dada_set_base(d);
	double lower = 0, upper = d->largest;
	for (const struct dada_task *t = d->list; t < d->list + d->n; t++)
		upper += isinf(t->cpu) ? t->gpu : isinf(t->gpu) ? t->cpu : fmax(t->cpu, t->gpu);
	double epsilon = d->epsilon * upper;
	dada_make(d, upper, INFINITY);
	d->iterations++;
	while (upper - lower > epsilon) {
		double lambda = (upper + lower) / 2;
		int fits = dada_try(d, lambda);
		*(fits ? &upper : &lower) = lambda;
		d->iterations++;
		d->rejected += !fits;
	}
	d->lambda += upper;
}

static int dada_compare_order(const void *a, const void *b)
{
	const struct dada_task *x = *(struct dada_task *const *)a, *y = *(struct dada_task *const *)b;
	return (x->order > y->order) - (x->order < y->order);
}

/* Line 19 of Algorithm 2: pushes the tasks to their workers, in the order of submission. */
static void dada_push(struct dada *d)
{
	for (size_t i = 0; i < d->n; i++)
		d->sorted[i] = &d->list[i];
	dada_put_in_order(d->sorted, d->n, sizeof(struct dada_task *), dada_compare_order);
	for (size_t i = 0; i < d->n; i++) {
		const struct dada_task *t = d->sorted[i];
		hd_mapping_place(&d->mapping, t->task, t->kept,
		                 dada_times(d, t)[hd_mapping_group(&d->mapping, t->kept)]);
	}
	for (int phase = 0; phase < DADA_PHASES; phase++)
		d->total[phase] += d->kept[phase];
}

static void dada_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct dada *d = state;
	(void)releaser;
	dada_make_room(d, n); /* if there is no memory, the batch is placed slice by slice */
	hd_dates_renew(&d->mapping.dates);
	for (size_t i = 0; i < n;) {
		for (d->n = 0; i < n && d->n < d->room; i++)
			if (!hd_mapping_divert(&d->mapping, batch[i]))
				dada_add(d, batch[i]);
		if (!d->n)
			continue;
		d->batches++;
		dada_sort(d);
		dada_search(d);
		dada_push(d);
	}
}

static void dada_report(void *state, heddle_sched *sched)
{
	const struct dada *d = state;
	double batches = d->batches ? (double)d->batches : 1;
	hd_mapping_report(&d->mapping, sched);
	heddle_sched_count(sched, "batches", (double)d->batches, "batches");
	heddle_sched_count(sched, "lambda iterations", (double)d->iterations, "iterations");
	heddle_sched_count(sched, "lambda rejected", (double)d->rejected, "iterations");
	heddle_sched_report(sched, "lambda kept, mean", d->lambda / batches, "us");
	heddle_sched_count(sched, "placed by affinity", (double)d->total[DADA_AFFINITY], "tasks");
	heddle_sched_count(sched, "too long for a CPU", (double)d->total[DADA_FORCED], "tasks");
	heddle_sched_count(sched, "placed on GPUs by speedup", (double)d->total[DADA_FILLED], "tasks");
	heddle_sched_count(sched, "left to CPUs", (double)d->total[DADA_REST], "tasks");
}

static const struct heddle_option dada_options[] = {
    {"alpha", "0.5", "", "how far affinity may load a resource, as a share of lambda: 0 plain dual approximation", 0,
     1},
    {"cp", "no", "no|yes", "communication prediction: times include those of transfers", 0, 0},
    {"epsilon", "1e-3", "of the first upper bound", "precision of lambda", 1e-9, 1},
    {"backlog", "side", "all|side|none",
     "loads start at the backlog less the smallest of all workers, of all CPUs or all GPUs, or "
     "at 0",
     0, 0},
    {"fit", "yes", "no|yes", "affinity does not keep a task where it alone lasts longer than lambda", 0, 0},
    HD_MAPPING_STEAL,
    HD_MAPPING_PREFETCH,
    {0},
};

const struct heddle_policy hd_policy_dada = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "dada",
    .summary = "where the data are that a task writes, within limits; then dual approximation of the shortest schedule",
    .source = "Bleuse et al., Euro-Par 2014, section 3.2, Algorithm 2",
    .options = dada_options,
    .pushes = 1,
    .create = dada_create,
    .destroy = dada_destroy,
    .ready = dada_ready,
    .pick = hd_mapping_pick,
    .done = hd_mapping_done,
    .report = dada_report,
    .take_back = hd_mapping_take_back,
};
