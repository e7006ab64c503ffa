/* random: when a task becomes ready, a worker is drawn with a probability proportional to its speed. StarPU has a
 * policy of the same name, which is a baseline of the paper on clusters (section 4.1).
 *
 * Choice: with `models` yes, the speed of a worker for a task is the inverse of the predicted time. With `models` no, a
 * worker has one speed for all tasks, which depends on its kind, as in StarPU; such speeds are also used for tasks
 * without a prediction. Each worker runs its most urgent tasks first, and equally urgent tasks in order of arrival, as
 * in StarPU's local queues. */
#include <math.h>
#include <stdlib.h>
#include "parts/queue.h"
#include "policies.h"
#include "parts/speed.h"
#include "base/base.h"

struct random_class {
	unsigned *workers; /* borrows from random_state.workers */
	size_t n;
	double speed;  /* in CPU cores; used for tasks without a prediction */
	double weight; /* sum of the speeds of the class's workers for the task being placed */
};

struct random_state {
	heddle_sched *sched;
	const struct heddle_platform *platform;
	struct hd_levels *queues;     /* owns; per worker */
	struct random_class *classes; /* owns */
	unsigned *workers;            /* owns; the ids of all workers, class by class */
	int use_models;
	uint64_t placed, without_model;
};

static void random_destroy(void *state)
{
	struct random_state *r = state;
	free(r->queues);
	free(r->classes);
	free(r->workers);
	free(r);
}

static int random_create(heddle_sched *sched, void **state)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	struct random_state *r = calloc(1, sizeof *r);
	if (!r)
		return hd_no_memory("the policy's queues");
	r->sched = sched;
	r->platform = p;
	r->use_models = heddle_sched_option(sched, "models") > 0;
	r->queues = calloc(p->n_workers, sizeof *r->queues);
	r->classes = calloc(p->n_classes, sizeof *r->classes);
	r->workers = calloc(p->n_workers, sizeof *r->workers);
	if (!r->queues || !r->classes || !r->workers) {
		random_destroy(r);
		return hd_no_memory("the policy's queues");
	}
	unsigned *next = r->workers;
	for (unsigned c = 0; c < p->n_classes; c++) {
		r->classes[c] = (struct random_class){.workers = next, .speed = hd_class_speed(&p->classes[c])};
		for (unsigned w = 0; w < p->n_workers; w++)
			if (p->workers[w].class_id == c)
				*next++ = w;
		r->classes[c].n = (size_t)(next - r->classes[c].workers);
	}
	for (unsigned w = 0; w < p->n_workers; w++)
		/* each worker is a group of its own, which is open while the worker's queue is not empty */
		heddle_sched_group(sched, w, w);
	for (unsigned w = 0; w < p->n_workers; w++)
		heddle_sched_open(sched, w, 0);
	*state = r;
	return HEDDLE_OK;
}

/* A random number in [0, 1). */
static double uniform(struct random_state *r)
{
	return (double)(heddle_sched_random(r->sched) >> 11) * 0x1.0p-53;
}

/* Sets the classes' weights for a task; returns their sum. */
static double weigh(struct random_state *r, const heddle_task *t)
{
	double total = 0, modelled = 0;
	for (unsigned c = 0; c < r->platform->n_classes; c++) {
		struct random_class *class = &r->classes[c];
		class->weight = 0;
		if (!class->n || !heddle_task_can_run_class(t, c))
			continue;
		class->weight = class->speed * (double)class->n;
		total += class->weight;
		modelled += r->use_models ? (double)class->n / heddle_task_time(t, c) : NAN;
	}
	/* If the time on some class is unknown or 0, its weight is NAN or INFINITY, and so is the sum. */
	if (!isfinite(modelled) || modelled <= 0) {
		r->without_model += (uint64_t)r->use_models;
		return total;
	}
	for (unsigned c = 0; c < r->platform->n_classes; c++)
		if (r->classes[c].weight > 0)
			r->classes[c].weight = (double)r->classes[c].n / heddle_task_time(t, c);
	return modelled;
}

/* Draws a worker, and checks for each worker whether it can run the task: for tasks that only some workers of a class
 * can run. */
static unsigned draw_slowly(struct random_state *r, const heddle_task *t)
{
	double total = 0;
	unsigned drawn = 0;
	for (unsigned w = 0; w < r->platform->n_workers; w++) {
		if (!heddle_task_can_run(t, w))
			continue;
		const struct random_class *class = &r->classes[r->platform->workers[w].class_id];
		double weight = class->weight / (double)class->n;
		total += weight;
		if (uniform(r) * total < weight) /* reservoir sampling */
			drawn = w;
	}
	return drawn;
}

static unsigned draw(struct random_state *r, const heddle_task *t)
{
	double x = uniform(r) * weigh(r, t);
	for (unsigned c = 0; c < r->platform->n_classes; c++) {
		const struct random_class *class = &r->classes[c];
		if (x >= class->weight) {
			x -= class->weight;
			continue;
		}
		size_t i = (size_t)(x / class->weight * (double)class->n);
		unsigned w = class->workers[i < class->n ? i : class->n - 1];
		if (heddle_task_can_run(t, w))
			return w;
		break;
	}
	return draw_slowly(r, t);
}

static void random_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct random_state *r = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		unsigned w = draw(r, batch[i]);
		hd_levels_push(&r->queues[w], batch[i]);
		heddle_sched_open(r->sched, w, 1);
	}
	r->placed += n;
}

static heddle_task *random_pick(void *state, unsigned worker)
{
	struct random_state *r = state;
	heddle_task *t = hd_levels_pop_first(&r->queues[worker]);
	if (!r->queues[worker].n)
		heddle_sched_open(r->sched, worker, 0);
	return t;
}

static heddle_task *random_take_back(void *state, unsigned worker)
{
	struct random_state *r = state;
	if (!heddle_sched_driven(r->sched, worker))
		return random_pick(state, worker);
	/* Gives back the last task: if the policy places the task on this worker again, it is the last of its priority
	 * again, and the order is kept. */
	heddle_task *t = hd_levels_least(&r->queues[worker]);
	if (t)
		hd_levels_remove(&r->queues[worker], t);
	if (!r->queues[worker].n)
		heddle_sched_open(r->sched, worker, 0);
	return t;
}

static void random_report(void *state, heddle_sched *sched)
{
	const struct random_state *r = state;
	heddle_sched_count(sched, "tasks placed", (double)r->placed, "tasks");
	heddle_sched_count(sched, "placed without a model", (double)r->without_model, "tasks");
}

static const struct heddle_option random_options[] = {
    {"models", "yes", "no|yes",
     "speeds come from the models of the task where known; no: an accelerator counts as 13.33 cores", 0, 0},
    {0},
};

const struct heddle_policy hd_policy_random = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "random",
    .summary = "a worker drawn with probability proportional to its speed",
    .source = "StarPU's random",
    .options = random_options,
    .pushes = 1,
    .create = random_create,
    .destroy = random_destroy,
    .ready = random_ready,
    .pick = random_pick,
    .report = random_report,
    .take_back = random_take_back,
};
