/* autoheteroprio: Heteroprio with orders that are found automatically. C. Flint, B. Bramas, "Finding new heuristics for
 * automated task prioritizing in heterogeneous computing" (2020), sections 4.3, 5 and 6.1.
 *
 *   ready  the task goes to the bucket of its codelet's name. One walk over its successors gives its NOD, NRT and R,
 *          which go into the bucket's averages: a value x after n others makes avg = (x + n * avg) / (n + 1). At the
 *          first push, and then at every `refresh`-th, the scores of all buckets are computed for each class, and the
 *          order of the class is sorted by them
 *   pick   a task that the class must run because its models lack samples; otherwise as laheteroprio (buckets.h)
 *   done   counts for the execution shares and the idle shares
 *
 * Choices. Costs are the predictions of the models, averaged over the tasks of the bucket. A new bucket refreshes the
 * orders at once, because it would have no place in them. As long as no task of a bucket has been executed, all classes
 * that can run its tasks have equal execution shares. The idle share of a class is 1 - busy / time, counting only the
 * time in which there are tasks. In the paper, `refresh` is an environment variable.
 *
 * The defaults of `heuristic`, `gate`, `locality` and `ahead` are choices, found by experiment: docs/policy-study.md,
 * "Figures behind the defaults". `preset=paper` takes the paper's values: the heuristic that is best in its table 7,
 * and the gate of Heteroprio. The paper gives no values for `locality`, `ahead` and `refresh`.
 *
 * StarPU's version differs: its idle shares do not change during a run, it takes 1 - execution share for the idle share
 * of the other class, and it combines R in us with costs without a unit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts/bucket_averages.h"
#include "parts/buckets.h"
#include "parts/sample_placement.h"
#include "parts/heuristics.h"
#include "policies.h"

struct auto_worker {
	unsigned running; /* number of tasks that the worker runs */
	/* us: auto_busy.past includes the worker's busy time until this date; NAN: the worker runs no task */
	double since;
};

/* The time in which the workers of a class have run tasks, in this run. */
struct auto_busy {
	double past;  /* us: the time counted so far; of a worker that runs tasks now, until its auto_worker.since */
	double since; /* us: the sum of auto_worker.since of the workers that run tasks now */
	unsigned n;   /* number of workers that run tasks now */
};

struct auto_state {
	heddle_sched *sched;
	const struct heddle_platform *platform;
	struct hd_buckets buckets;
	struct hd_calibration calibration;
	/* owns; per class: tasks that the class must run because its models lack samples */
	struct hd_lanes *trials;
	size_t *n_trials;            /* owns; per class: number of tasks in `trials` */
	struct hd_averages averages; /* indexed by bucket, like buckets.all */
	struct auto_worker *workers; /* owns */
	struct auto_busy *busy;      /* owns; per class */
	double *times;               /* owns, scratch; per class: predicted times of one successor, us */
	/* us: active: the total time with live tasks before active_since; active_since: the date since which there are
	 * live tasks */
	double active, active_since;
	size_t live; /* number of live tasks: pushed and not ended */
	enum hd_heuristic heuristic;
	enum hd_missing missing;
	enum hd_constants constants;
	uint64_t refresh, pushes;
	size_t n_ordered;                /* number of buckets that the orders contain */
	size_t *last_order;              /* owns, scratch: max_types entries */
	struct hd_heuristic_types types; /* scratch; owns its arrays, of max_types entries */
	double *scores;                  /* owns, scratch: max_types entries */
	size_t max_types;
	uint64_t refreshes, trials_given;
	const char *memory; /* borrows; the value of the option `memory` */
};

/* --- What is known about the buckets ------------------------------------------------------------------------------ */

static double *row(const double *rows, size_t bucket, size_t n_classes)
{
	return (double *)(uintptr_t)rows + bucket * n_classes;
}

static void free_types(struct auto_state *a)
{
	free((void *)(uintptr_t)a->types.tasks);
	a->types.tasks = NULL;
	free(a->last_order);
	a->last_order = NULL;
	a->max_types = 0;
}

/* Makes room for n types, in one block for all arrays. Returns 0 when out of memory. */
static int more_types(struct auto_state *a, size_t n)
{
	if (n <= a->max_types)
		return 1;
	size_t n_classes = a->platform->n_classes, most = 2 * n + 14;
	free_types(a);
	double *block = calloc(most * (4 + 3 * n_classes) + n_classes, sizeof *block);
	size_t *order = calloc(most, sizeof *order);
	if (!block || !order) {
		free(block);
		free(order);
		return 0;
	}
	a->max_types = most;
	a->last_order = order;
	a->types = (struct hd_heuristic_types){.n_classes = n_classes,
	                                       .missing = a->missing,
	                                       .constants = a->constants,
	                                       .tasks = block,
	                                       .nod = block + most,
	                                       .released = block + 2 * most,
	                                       .cost = block + 4 * most,
	                                       .nrt = block + (4 + n_classes) * most,
	                                       .share = block + (4 + 2 * n_classes) * most,
	                                       .idle = block + (4 + 3 * n_classes) * most};
	a->scores = block + 3 * most;
	return 1;
}

static double count_known(const double *times, size_t n_classes)
{
	double known = 0;
	for (size_t c = 0; c < n_classes; c++)
		known += !isnan(times[c]);
	return known;
}

/* The class's share of the executions of a bucket's tasks. Before the first execution, all classes that can run the
 * tasks have equal shares: the classes whose entry in `times` is not NAN. */
static double share_on(const struct auto_state *a, size_t bucket, size_t class_id, const double *times)
{
	const struct hd_average *v = &a->averages.all[bucket];
	if (v->executed > 0)
		return hd_average_of(&a->averages, bucket, class_id)->executed / v->executed;
	return isnan(times[class_id]) ? 0 : 1 / count_known(times, a->platform->n_classes);
}

/* us in which the workers of a class have run tasks. */
static double busy_until(const struct auto_state *a, size_t class_id, double now)
{
	const struct auto_busy *b = &a->busy[class_id];
	return b->past + (b->n * now - b->since);
}

static double idle_share(const struct auto_state *a, size_t class_id, double now)
{
	double active = a->active + (a->live ? now - a->active_since : 0), busy = busy_until(a, class_id, now);
	const struct hd_class_use *old = &a->averages.use[class_id];
	double total = active * a->buckets.workers[class_id] + old->total;
	if (total <= 0)
		return 1;
	double idle = 1 - (busy + old->busy) / total;
	return idle < 0 ? 0 : idle > 1 ? 1 : idle;
}

static void fill_types(struct auto_state *a)
{
	const struct hd_buckets *b = &a->buckets;
	size_t n_classes = a->platform->n_classes;
	double now = heddle_sched_now(a->sched);
	a->types.n_types = b->n;
	for (size_t i = 0; i < b->n; i++) {
		const struct hd_average *v = &a->averages.all[i];
		*row(a->types.tasks, i, 1) = (double)b->all[i]->tasks + v->tasks;
		*row(a->types.nod, i, 1) = v->nod;
		*row(a->types.released, i, 1) = v->released;
		for (size_t c = 0; c < n_classes; c++) {
			row(a->types.cost, i, n_classes)[c] = b->workers[c] ? b->all[i]->time[c] : (double)NAN;
			row(a->types.nrt, i, n_classes)[c] = hd_average_of(&a->averages, i, c)->nrt;
		}
		for (size_t c = 0; c < n_classes; c++)
			row(a->types.share, i, n_classes)[c] = share_on(a, i, c, row(a->types.cost, i, n_classes));
	}
	for (size_t c = 0; c < n_classes; c++)
		row(a->types.idle, 0, n_classes)[c] = idle_share(a, c, now);
}

static void refresh(struct auto_state *a)
{
	struct hd_buckets *b = &a->buckets;
	int changed = 0;
	if (!more_types(a, b->n))
		return; /* out of memory: the old orders stay, with the new bucket last */
	fill_types(a);
	for (size_t c = 0; c < a->platform->n_classes; c++) {
		memcpy(a->last_order, b->orders[c], b->n * sizeof *a->last_order);
		hd_heuristic_order(a->heuristic, &a->types, c, b->orders[c], a->scores);
		changed |= hd_buckets_note_order(b, c, a->last_order, a->n_ordered);
	}
	if (changed)
		hd_buckets_reordered(b);
	a->n_ordered = b->n;
	a->refreshes++;
}

/* --- The walk: NOD, NRT and R of one task ------------------------------------------------------------------------- */

struct walk {
	struct auto_state *a;
	size_t bucket; /* the task's bucket */
	double nod, released;
};

static void see_successor(heddle_task *successor, unsigned n_preds, void *arg)
{
	struct walk *walk = arg;
	struct auto_state *a = walk->a;
	size_t bucket = hd_buckets_of_codelet(&a->buckets, heddle_task_codelet(successor));
	if (hd_averages_reserve(&a->averages, a->buckets.n))
		return;
	double part = 1 / (double)(n_preds ? n_preds : 1), least = INFINITY;
	for (unsigned c = 0; c < a->platform->n_classes; c++)
		a->times[c] = heddle_task_time(successor, c);
	for (unsigned c = 0; c < a->platform->n_classes; c++) {
		double us = a->times[c];
		if (isnan(us))
			continue;
		least = us < least ? us : least;
		hd_average_of(&a->averages, walk->bucket, c)->walk += share_on(a, bucket, c, a->times) * us * part;
	}
	walk->nod += part;
	walk->released += isfinite(least) ? least : 0;
}

static void learn_successors(struct auto_state *a, size_t bucket, heddle_task *t)
{
	struct walk walk = {.a = a, .bucket = bucket};
	heddle_task_successors(t, 1, see_successor, &walk);
	struct hd_average *v = &a->averages.all[bucket];
	double n = v->walks++;
	v->nod = walk.nod / (n + 1) + n / (n + 1) * v->nod;
	v->released = walk.released / (n + 1) + n / (n + 1) * v->released;
	for (size_t c = 0; c < a->platform->n_classes; c++) {
		struct hd_class_average *x = hd_average_of(&a->averages, bucket, c);
		x->nrt = x->walk / (n + 1) + n / (n + 1) * x->nrt;
		x->walk = 0;
	}
}

/* --- The policy --------------------------------------------------------------------------------------------------- */

static void push(struct auto_state *a, heddle_task *t, int releaser)
{
	size_t bucket = hd_buckets_of_codelet(&a->buckets, heddle_task_codelet(t));
	int counted = hd_averages_reserve(&a->averages, a->buckets.n) == 0;
	if (!counted)
		bucket = 0; /* out of memory: takes bucket 0, whose averages were allocated at the start */
	if (!a->live++)
		a->active_since = heddle_sched_now(a->sched);
	learn_successors(a, bucket, t);
	int class_id = hd_calibration_class(&a->calibration, t);
	if (class_id >= 0) {
		hd_calibration_placed(&a->calibration, t, (unsigned)class_id);
		hd_buckets_learn(&a->buckets, bucket, t);
		hd_lanes_push(&a->trials[class_id], t, HD_FIFO);
		a->n_trials[class_id]++;
	} else {
		hd_buckets_push(&a->buckets, bucket, t, releaser);
	}
	/* learn_successors may have made new buckets */
	counted = counted && hd_averages_reserve(&a->averages, a->buckets.n) == 0;
	if (counted && (a->buckets.n > a->n_ordered || a->pushes % a->refresh == 0))
		refresh(a);
	a->pushes++;
}

static void auto_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	for (size_t i = 0; i < n; i++)
		push(state, batch[i], releaser);
	hd_buckets_call(&((struct auto_state *)state)->buckets);
}

static heddle_task *auto_pick(void *state, unsigned worker)
{
	struct auto_state *a = state;
	unsigned class_id = a->platform->workers[worker].class_id;
	heddle_task *t = a->n_trials[class_id] ? hd_lanes_pick(&a->trials[class_id], worker, HD_FIFO) : NULL;
	if (!t) {
		t = hd_buckets_pick(&a->buckets, worker);
		/* hd_buckets_pick may have closed the group, but workers of the class must be asked for the trials */
		if (a->n_trials[class_id])
			heddle_sched_open(a->sched, a->buckets.group_of[worker], 1);
		return t;
	}
	a->n_trials[class_id]--;
	a->trials_given++;
	return t;
}

/* Notes that the worker begins to run tasks at `now`, us. */
static void note_begin(struct auto_state *a, unsigned worker, double now)
{
	struct auto_busy *b = &a->busy[a->platform->workers[worker].class_id];
	a->workers[worker].since = now;
	b->since += now;
	b->n++;
}

static void note_end(struct auto_state *a, unsigned worker, double now)
{
	struct auto_busy *b = &a->busy[a->platform->workers[worker].class_id];
	double since = a->workers[worker].since;
	a->workers[worker].since = NAN;
	b->past += now - since;
	/* exactly 0 if no worker runs tasks, because rounding errors accumulate in the sum */
	b->since = --b->n ? b->since - since : 0;
}

static void auto_started(void *state, heddle_task *task, unsigned worker)
{
	struct auto_state *a = state;
	(void)task;
	if (!a->workers[worker].running++)
		note_begin(a, worker, heddle_sched_now(a->sched));
}

static void auto_done(void *state, heddle_task *task, unsigned worker)
{
	struct auto_state *a = state;
	unsigned class_id = a->platform->workers[worker].class_id;
	double now = heddle_sched_now(a->sched);
	size_t bucket = hd_buckets_of_codelet(&a->buckets, heddle_task_codelet(task));
	if (hd_averages_reserve(&a->averages, a->buckets.n) == 0) {
		a->averages.all[bucket].executed++;
		hd_average_of(&a->averages, bucket, class_id)->executed++;
	}
	struct auto_worker *w = &a->workers[worker];
	if (w->running) {
		note_end(a, worker, now);
		if (--w->running)
			note_begin(a, worker, now);
	}
	if (a->live && !--a->live)
		a->active += now - a->active_since;
	hd_calibration_done(&a->calibration, task, class_id);
}

/* Adds the busy times of the classes to their averages, and begins to count anew. */
static void note_use(struct auto_state *a)
{
	double now = heddle_sched_now(a->sched);
	for (unsigned w = 0; w < a->platform->n_workers; w++) {
		if (!isnan(a->workers[w].since)) {
			note_end(a, w, now);
			note_begin(a, w, now);
		}
	}
	for (size_t c = 0; c < a->platform->n_classes; c++) {
		a->averages.use[c].busy += a->busy[c].past;
		a->averages.use[c].total += (a->active + (a->live ? now - a->active_since : 0)) * a->buckets.workers[c];
		a->busy[c].past = 0;
	}
	a->active = 0;
	a->active_since = now;
}

static void auto_changed(void *state)
{
	struct auto_state *a = state;
	note_use(a); /* before the number of workers changes */
	hd_buckets_changed(&a->buckets);
	refresh(a);
	hd_buckets_call(&a->buckets);
}

/* Gives back a task that the worker holds; otherwise a trial of its class, if the class has no driven worker any
 * more. */
static heddle_task *auto_take_back(void *state, unsigned worker)
{
	struct auto_state *a = state;
	unsigned class_id = a->platform->workers[worker].class_id;
	heddle_task *t = hd_buckets_take_back(&a->buckets, worker);
	for (size_t i = 0; !t && !a->buckets.workers[class_id] && i < a->trials[class_id].sets.n; i++)
		if ((t = hd_deque_pop_front(&a->trials[class_id].lanes[i].fifo)) != NULL) {
			a->n_trials[class_id]--;
			hd_calibration_done(&a->calibration, t, class_id);
		}
	if (t && !--a->live)
		a->active += heddle_sched_now(a->sched) - a->active_since;
	return t;
}

static void auto_report(void *state, heddle_sched *sched)
{
	struct auto_state *a = state;
	char name[96];
	double now = heddle_sched_now(sched);
	heddle_sched_count(sched, "orders computed", (double)a->refreshes, "times");
	heddle_sched_count(sched, "tried to calibrate models", (double)a->trials_given, "tasks");
	for (size_t c = 0; c < a->platform->n_classes; c++) {
		snprintf(name, sizeof name, "%s: idle", a->platform->classes[c].name);
		heddle_sched_report(sched, name, 100 * idle_share(a, c, now), "%");
	}
	hd_buckets_report(&a->buckets, sched);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

/* Adds the measurements of this run to the averages, and saves them. */
static void remember(struct auto_state *a)
{
	note_use(a);
	hd_averages_save(&a->averages, a->memory, &a->buckets);
}

static void auto_destroy(void *state)
{
	struct auto_state *a = state;
	if (a->memory && *a->memory && a->pushes)
		remember(a);
	for (size_t c = 0; a->trials && c < a->platform->n_classes; c++)
		hd_lanes_fini(&a->trials[c]);
	hd_averages_fini(&a->averages);
	hd_buckets_fini(&a->buckets);
	hd_calibration_fini(&a->calibration);
	free_types(a);
	free(a->trials);
	free(a->n_trials);
	free(a->workers);
	free(a->busy);
	free(a->times);
	free(a);
}

static int open_parts(struct auto_state *a)
{
	size_t n_classes = a->platform->n_classes;
	a->trials = calloc(n_classes, sizeof *a->trials);
	a->n_trials = calloc(n_classes, sizeof *a->n_trials);
	a->workers = calloc(a->platform->n_workers, sizeof *a->workers);
	a->busy = calloc(n_classes, sizeof *a->busy);
	a->times = calloc(n_classes, sizeof *a->times);
	if (!a->trials || !a->n_trials || !a->workers || !a->busy || !a->times)
		return hd_no_memory("the policy's averages");
	for (size_t w = 0; w < a->platform->n_workers; w++)
		a->workers[w].since = NAN;
	int status = 0;
	for (size_t c = 0; c < n_classes && !status; c++)
		status = hd_lanes_init(&a->trials[c], a->platform);
	if (!status)
		status = hd_averages_init(&a->averages, n_classes);
	return status ? status : hd_averages_load(&a->averages, a->memory, &a->buckets);
}

static int auto_create(heddle_sched *sched, void **state)
{
	struct auto_state *a = calloc(1, sizeof *a);
	if (!a)
		return hd_no_memory("the policy's averages");
	a->sched = sched;
	a->platform = heddle_sched_platform(sched);
	a->heuristic = (enum hd_heuristic)heddle_sched_option(sched, "heuristic");
	a->missing = (enum hd_missing)heddle_sched_option(sched, "missing");
	a->constants = (enum hd_constants)heddle_sched_option(sched, "constants");
	a->refresh = (uint64_t)heddle_sched_option(sched, "refresh");
	hd_calibration_init(&a->calibration, sched);
	int status = hd_buckets_init(&a->buckets, sched);
	if (!status) {
		a->memory = heddle_sched_option_text(sched, "memory");
		status = open_parts(a);
	}
	if (status) {
		auto_destroy(a);
		return status;
	}
	*state = a;
	return HEDDLE_OK;
}

static const struct heddle_option auto_options[] = {
    {"preset", "heddle", "heddle|paper",
     "other defaults; paper: heuristic=URTxD_L5 and gate=bucket, what its authors measured as the best and what their "
     "scheduler has",
     0, 0},
    {"heuristic", "URT/s_2", HD_HEURISTIC_NAMES,
     "what the orders are computed by (tables 5 to 7 of the paper, whose best is URTxD_L5; the "
     "default is the best for Cholesky, and in `heddle lab`)",
     0, 0},
    {"refresh", "100", "pushes", "the orders are computed again after so many", 1, 1e9},
    {"missing", "same", "huge|same",
     "what a class without an implementation is said to cost: very much, or as much as the other "
     "(section 4.2.3)",
     0, 0},
    {"constants", "paper", "paper|starpu", "weights of URT_LC: 1 and 10, or 0.5 and 1", 0, 0},
    {"memory", "", "FILE",
     "where averages are kept from run to run; empty: nowhere; default: autoheteroprio/HOST.yaml in Heddle's "
     "data directory",
     0, 0},
    HD_BUCKET_OPTIONS("LS_SDH2", "2", "order"),
    {0},
};

const struct heddle_policy hd_policy_autoheteroprio = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "autoheteroprio",
    .summary = "laheteroprio with orders found from averages over each codelet: no priorities needed",
    .source = "Flint and Bramas 2020, sections 4.3, 5 and 6.1",
    .options = auto_options,
    .create = auto_create,
    .destroy = auto_destroy,
    .ready = auto_ready,
    .pick = auto_pick,
    .started = auto_started,
    .done = auto_done,
    .report = auto_report,
    .take_back = auto_take_back,
    .changed = auto_changed,
};
