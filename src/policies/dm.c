/* dm, dmda, dmdar, dmdas: when a task becomes ready, it goes to the worker that is predicted to end it first. StarPU
 * has policies of the same names (src/sched_policies/deque_modeling_policy_data_aware.c); they are baselines in all the
 * papers.
 *
 *   ready  the worker that minimises  max(end(w), now + beta * comm) + delta + beta * comm,  where
 *            end(w)  when the worker will have done what it runs, what it has picked and what waits in its queue
 *            comm    predicted time to bring the task's data to the worker's node; 0 for dm
 *            delta   predicted time of the task on the worker's class
 *          the first such worker among equals; its node starts fetching the data at once
 *   pick   dm, dmda: the oldest task of the worker's queue
 *          dmdar: the one with the fewest bytes missing, the oldest among equals
 *          dmdas: the most urgent; among equals the one with the fewest bytes missing, then the oldest
 *
 * Choices. A transfer overlaps with the tasks that the worker still has to run: only the part of the transfer that
 * lasts longer delays the task. This delay and delta count as backlog of the worker until it picks the task. The last
 * term gives a transfer a cost even if it is hidden behind other tasks: without this term, a worker with a long queue
 * to whose node the data must be moved would be as good as a worker that has the data. The option `hidden` = no leaves
 * the term out.
 *
 * comm is predicted as if all accelerators exchanged data with main memory at the same time (`contention`). StarPU
 * multiplies the time of a lone transfer by 2 * accelerators (`all`). Heddle's default, `buses`, gives the same time as
 * StarPU if all accelerators share one bus, and a shorter time otherwise. docs/policy-study.md, "Figures behind the
 * defaults", shows the gain of these choices.
 *
 * The search for the task with the fewest bytes missing stops at a task without missing bytes, and after `window`
 * tasks, so that its time does not grow with the queue. A task whose models lack samples goes to the class that
 * sample_placement.h chooses, there to the worker with the fewest tasks. If the task has no prediction on any class, it
 * goes to the worker with the fewest tasks in proportion to its speed, as in StarPU. */
#include <math.h>
#include <stdlib.h>
#include "parts/contention.h"
#include "parts/dates.h"
#include "parts/queue.h"
#include "parts/sample_placement.h"
#include "policies.h"
#include "parts/speed.h"

struct worker {
	struct hd_levels queue;
	double speed; /* in CPU cores; used for tasks without a prediction */
	size_t load;  /* number of tasks placed and not ended */
};

/* The time that a queued task adds to the date of its worker, in us, stored in the word of the task's links. Single
 * precision, so that both parts fit into the word, and sums of such numbers in a double are exact. */
union cost {
	uint64_t word;
	struct {
		float length, delay;
	} us;
};

struct model_state {
	heddle_sched *sched;
	struct hd_calibration calibration;
	size_t n_workers, n_classes;
	struct worker *workers; /* owns */
	struct hd_dates dates;  /* the dates of the workers: end(w) */
	double *weights;        /* owns; per node: beta times the factor for contention; 0 for dm */
	/* owns; per class: delta of the task being placed, us; INFINITY if the class cannot run the task or its time is
	 * unknown */
	double *times;
	int data_aware; /* 1: the cost includes the times of transfers */
	int hidden;     /* 1: hidden transfers cost, too */
	size_t window;  /* number of tasks that pick compares by missing bytes; 1: pick takes the first task */
	int prefetch;
	uint64_t placed, calibrating, greedy, overtaken;
	double delay; /* us: sum of the delays of all tasks placed */
};

enum { DATA_AWARE = 1, READY_FIRST = 2, SORTED = 4 }; /* the differences between the four policies */

static void model_destroy(void *state)
{
	struct model_state *m = state;
	hd_calibration_fini(&m->calibration);
	hd_dates_fini(&m->dates);
	free(m->workers);
	free(m->weights);
	free(m->times);
	free(m);
}

/* Computes the weights. */
static void weigh_transfers(const struct model_state *m, heddle_sched *sched)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	for (unsigned node = 0; node < p->n_nodes; node++)
		m->weights[node] = heddle_sched_option(sched, "beta") *
		                   hd_contention(p, node, (int)heddle_sched_option(sched, "contention"));
}

static int model_alloc(struct model_state *m, heddle_sched *sched, int what)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	m->n_workers = p->n_workers;
	m->n_classes = p->n_classes;
	m->workers = calloc(m->n_workers, sizeof *m->workers);
	m->weights = calloc(p->n_nodes, sizeof *m->weights);
	m->times = calloc(m->n_classes, sizeof *m->times);
	if (!m->workers || !m->weights || !m->times)
		return hd_no_memory("the policy's queues");
	if (what & DATA_AWARE)
		weigh_transfers(m, sched);
	int status = hd_dates_init(&m->dates, sched, m->weights, 0);
	if (status < 0)
		return status;
	for (unsigned w = 0; w < m->n_workers; w++) {
		const struct heddle_class *class_ = &p->classes[p->workers[w].class_id];
		m->workers[w] = (struct worker){.queue.flat = !(what & SORTED), .speed = hd_class_speed(class_)};
		/* each worker is a group of its own, which is open while the worker's queue is not empty */
		heddle_sched_group(sched, w, w);
	}
	for (unsigned w = 0; w < m->n_workers; w++)
		heddle_sched_open(sched, w, 0);
	return HEDDLE_OK;
}

static int model_create(heddle_sched *sched, void **state, int what)
{
	struct model_state *m = calloc(1, sizeof *m);
	if (!m)
		return hd_no_memory("the policy's queues");
	int status = model_alloc(m, sched, what);
	if (status < 0) {
		model_destroy(m);
		return status;
	}
	m->sched = sched;
	hd_calibration_init(&m->calibration, sched);
	m->prefetch = heddle_sched_option(sched, "prefetch") > 0;
	if (what & DATA_AWARE) {
		m->data_aware = heddle_sched_option(sched, "beta") > 0;
		m->hidden = heddle_sched_option(sched, "hidden") > 0;
	}
	m->window = what & READY_FIRST ? (size_t)heddle_sched_option(sched, "window") : 1;
	*state = m;
	return HEDDLE_OK;
}

/* The terms of the task being placed, whose data take `moving` us to the node. arrival: when they can be on the node;
 * length: delta; moved: the last term, the cost of moving the data even if the transfer is hidden. */
static struct hd_dates_terms terms_on(const struct model_state *m, unsigned class_id, unsigned node, double moving)
{
	double comm = m->weights[node] * moving;
	return (struct hd_dates_terms){m->dates.now + comm, m->times[class_id], m->hidden ? comm : 0};
}

/* Fills `times` and the terms of `dates` for a task. Returns 0 if the task has no prediction on any class. */
static int predict(struct model_state *m, const heddle_task *t)
{
	int known = 0;
	for (unsigned c = 0; c < m->n_classes; c++) {
		double us = heddle_task_can_run_class(t, c) ? heddle_task_time(t, c) : NAN;
		m->times[c] = isnan(us) ? INFINITY : us;
		known |= !isnan(us);
	}
	if (!known)
		return 0;
	struct hd_dates *d = &m->dates;
	if (m->data_aware)
		hd_dates_find_moves(d, t);
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_far; f++)
		f->far = terms_on(m, f->class_id, f->node, d->far[f->at]);
	for (size_t i = 0; i < d->n_apart; i++) {
		struct hd_dates_group *g = &d->groups[d->apart[i]];
		g->own = terms_on(m, g->class_id, g->node, d->near[g->node]);
	}
	return 1;
}

static const struct hd_dates_group *group_of(const struct model_state *m, unsigned worker)
{
	return &m->dates.groups[m->dates.workers[worker].group];
}

/* The worker with the fewest tasks in proportion to its speed, among the workers of a class; -1: of all classes. */
static unsigned least_loaded(const struct model_state *m, const heddle_task *t, int class_id)
{
	unsigned best = 0;
	double least = INFINITY;
	for (unsigned w = 0; w < m->n_workers; w++) {
		double load = (double)(m->workers[w].load + 1) / m->workers[w].speed;
		int in_class = class_id < 0 || group_of(m, w)->class_id == (unsigned)class_id;
		if (load < least && in_class && heddle_task_can_run(t, w)) {
			least = load;
			best = w;
		}
	}
	return best;
}

/* Chooses the worker, and sets *cost to the time that the task adds to the date of this worker. */
static unsigned choose_worker(struct model_state *m, const heddle_task *t, union cost *cost)
{
	int class_id = hd_calibration_class(&m->calibration, t);
	int known = predict(m, t);
	unsigned w;
	if (class_id >= 0) {
		m->calibrating++;
		w = least_loaded(m, t, class_id);
	} else if (!known) {
		m->greedy++;
		w = least_loaded(m, t, -1);
	} else {
		w = hd_dates_best(&m->dates, t);
	}
	const struct hd_dates_terms *terms = hd_dates_terms_of(&m->dates, w);
	if (known && isfinite(terms->length)) {
		double delay = terms->arrival - hd_dates_of(&m->dates, w);
		cost->us.length = (float)terms->length;
		cost->us.delay = delay > 0 ? (float)delay : 0;
	}
	return w;
}

static void place(struct model_state *m, heddle_task *t)
{
	union cost cost = {0};
	unsigned w = choose_worker(m, t, &cost);
	struct worker *worker = &m->workers[w];
	heddle_task_link(t)->u.word = cost.word;
	hd_levels_push(&worker->queue, t);
	hd_dates_place(&m->dates, w, (double)cost.us.length + (double)cost.us.delay);
	heddle_sched_open(m->sched, w, 1);
	worker->load++;
	m->delay += (double)cost.us.delay;
	m->placed++;
	hd_calibration_placed(&m->calibration, t, group_of(m, w)->class_id);
	if (m->prefetch)
		heddle_task_prefetch(t, group_of(m, w)->node);
}

static void model_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct model_state *m = state;
	(void)releaser;
	hd_dates_renew(&m->dates);
	for (size_t i = 0; i < n; i++)
		place(m, batch[i]);
}

/* The task with the fewest bytes missing among the first `window` tasks of the highest priority in the queue; the first
 * among equals. */
static heddle_task *most_ready(struct model_state *m, struct hd_levels *queue, unsigned node)
{
	heddle_task *first = hd_levels_first(queue), *best = first;
	heddle_task *t = m->window > 1 && first ? hd_levels_newer(queue, first) : NULL;
	uint64_t fewest = t ? heddle_task_missing_bytes(first, node) : 0;
	for (size_t i = 1; t && fewest && i < m->window; i++) {
		uint64_t missing = heddle_task_missing_bytes(t, node);
		if (missing < fewest) {
			fewest = missing;
			best = t;
		}
		t = hd_levels_newer(queue, t);
	}
	m->overtaken += best != first;
	return best;
}

/* Subtracts a task that has left the worker's queue from the worker's date. */
static void left_queue(struct model_state *m, unsigned worker, heddle_task *t)
{
	union cost cost = {.word = heddle_task_link(t)->u.word};
	double us = (double)cost.us.length + (double)cost.us.delay;
	hd_dates_leave(&m->dates, worker, m->dates.workers[worker].queued - us);
	if (!m->workers[worker].queue.n)
		heddle_sched_open(m->sched, worker, 0);
}

static heddle_task *model_pick(void *state, unsigned worker)
{
	struct model_state *m = state;
	struct worker *w = &m->workers[worker];
	if (HD_LIKELY(!w->queue.n)) /* the usual case: an idle worker asks whenever other workers have tasks */
		return NULL;
	heddle_task *t = most_ready(m, &w->queue, group_of(m, worker)->node);
	hd_levels_remove_urgent(&w->queue, t);
	left_queue(m, worker, t);
	return t;
}

static heddle_task *model_take_back(void *state, unsigned worker)
{
	struct model_state *m = state;
	struct worker *w = &m->workers[worker];
	/* A driven worker gives back its last task: if the policy places the task on this worker again, it is the last
	 * of its priority again, and the order is kept. */
	int driven = heddle_sched_driven(m->sched, worker);
	heddle_task *t = driven ? hd_levels_least(&w->queue) : hd_levels_first(&w->queue);
	if (!t)
		return NULL;
	hd_levels_remove(&w->queue, t);
	left_queue(m, worker, t);
	w->load--;
	hd_calibration_done(&m->calibration, t, group_of(m, worker)->class_id);
	return t;
}

static void model_done(void *state, heddle_task *task, unsigned worker)
{
	struct model_state *m = state;
	m->workers[worker].load--;
	hd_calibration_done(&m->calibration, task, group_of(m, worker)->class_id);
}

static void model_report(void *state, heddle_sched *sched)
{
	const struct model_state *m = state;
	heddle_sched_count(sched, "tasks placed", (double)m->placed, "tasks");
	heddle_sched_count(sched, "placed to calibrate models", (double)m->calibrating, "tasks");
	heddle_sched_count(sched, "placed without a model", (double)m->greedy, "tasks");
	heddle_sched_report(sched, "expected wait for data", m->placed ? m->delay / (double)m->placed : 0,
	                    "us per task");
	if (m->window > 1)
		heddle_sched_count(sched, "picked before older ones that lack more data", (double)m->overtaken,
		                   "tasks");
}

static int dm_create(heddle_sched *sched, void **state)
{
	return model_create(sched, state, 0);
}

static int dmda_create(heddle_sched *sched, void **state)
{
	return model_create(sched, state, DATA_AWARE);
}

static int dmdar_create(heddle_sched *sched, void **state)
{
	return model_create(sched, state, DATA_AWARE | READY_FIRST);
}

static int dmdas_create(heddle_sched *sched, void **state)
{
	return model_create(sched, state, DATA_AWARE | READY_FIRST | SORTED);
}

#define PREFETCH_OPTION                                                                               \
	{                                                                                             \
		"prefetch", "yes", "no|yes", "fetch the data of a task as soon as it is placed", 0, 0 \
	}
#define DATA_OPTIONS                                                                                           \
	{"beta", "1", "", "weight of the time that transfers take", 0, 1e6},                                   \
	    {"hidden", "yes", "no|yes", "transfers cost even where they are hidden behind other tasks", 0, 0}, \
	{                                                                                                      \
		"contention", "buses", "none|buses|all",                                                       \
		    "transfers are predicted as if alone, as if all accelerators used the buses at "           \
		    "once, or as StarPU does: 2 x accelerators times longer",                                  \
		    0, 0                                                                                       \
	}
#define WINDOW_OPTION                                                                                                 \
	{                                                                                                             \
		"window", "64", "tasks", "tasks among which the one with the fewest bytes missing goes first", 1, 1e9 \
	}

static const struct heddle_option dm_options[] = {PREFETCH_OPTION, {0}};
static const struct heddle_option dmda_options[] = {DATA_OPTIONS, PREFETCH_OPTION, {0}};
static const struct heddle_option dmdar_options[] = {DATA_OPTIONS, WINDOW_OPTION, PREFETCH_OPTION, {0}};

#define MODEL_CALLBACKS                                                                                      \
	.pushes = 1, .destroy = model_destroy, .ready = model_ready, .pick = model_pick, .done = model_done, \
	.report = model_report, .take_back = model_take_back

const struct heddle_policy hd_policy_dm = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "dm",
    .summary = "the worker that will end the task first, transfers ignored",
    .source = "StarPU's dm",
    .options = dm_options,
    .create = dm_create,
    MODEL_CALLBACKS,
};

const struct heddle_policy hd_policy_dmda = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "dmda",
    .summary = "the worker that will end the task first, transfers included",
    .source = "StarPU's dmda",
    .options = dmda_options,
    .create = dmda_create,
    MODEL_CALLBACKS,
};

const struct heddle_policy hd_policy_dmdar = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "dmdar",
    .summary = "dmda, and a worker first runs the task that lacks the fewest bytes",
    .source = "StarPU's dmdar",
    .options = dmdar_options,
    .create = dmdar_create,
    MODEL_CALLBACKS,
};

const struct heddle_policy hd_policy_dmdas = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "dmdas",
    .summary = "dmda, and a worker first runs the most urgent task, then the one that lacks the fewest bytes",
    .source = "StarPU's dmdas",
    .options = dmdar_options,
    .create = dmdas_create,
    MODEL_CALLBACKS,
};
