/* Queues, dates and predictions for policies that place a whole batch of tasks at once. */
#include "batch_mapping.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "speed.h"

/* Makes each worker a group of its own (heddle_sched_group), which is open while the worker's queue is not empty. With
 * `steal` there are no groups, because a worker may find a task whenever another worker has tasks. */
static void form_groups(struct hd_mapping *m)
{
	for (unsigned w = 0; w < m->n_workers && !m->steal; w++)
		heddle_sched_group(m->sched, w, w);
	for (unsigned w = 0; w < m->n_workers && !m->steal; w++)
		heddle_sched_open(m->sched, w, 0);
}

int hd_mapping_init(struct hd_mapping *m, heddle_sched *sched, int each)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*m = (struct hd_mapping){.sched = sched, .n_workers = p->n_workers, .n_classes = p->n_classes};
	hd_calibration_init(&m->calibration, sched);
	int status = hd_dates_init(&m->dates, sched, NULL, each);
	if (status < 0)
		return status;
	m->n_groups = m->dates.n_groups;
	m->steal = (enum hd_mapping_steal)heddle_sched_option(sched, "steal");
	m->prefetch = heddle_sched_option(sched, "prefetch") > 0;
	m->workers = calloc(p->n_workers, sizeof *m->workers);
	m->is_cpu = calloc(m->n_groups, sizeof *m->is_cpu);
	m->allowed = calloc(m->n_groups, sizeof *m->allowed);
	m->moving = calloc(p->n_nodes, sizeof *m->moving);
	m->lengths = calloc(p->n_classes, sizeof *m->lengths);
	if (!m->workers || !m->is_cpu || !m->allowed || !m->moving || !m->lengths)
		return hd_no_memory("the policy's queues");
	for (unsigned w = 0; w < p->n_workers; w++)
		m->workers[w].speed = hd_class_speed(&p->classes[p->workers[w].class_id]);
	for (size_t g = 0; g < m->n_groups; g++)
		m->is_cpu[g] = strcmp(p->classes[m->dates.groups[g].class_id].kind, "cpu") == 0;
	form_groups(m);
	return HEDDLE_OK;
}

void hd_mapping_fini(struct hd_mapping *m)
{
	hd_calibration_fini(&m->calibration);
	hd_dates_fini(&m->dates);
	free(m->workers);
	free(m->is_cpu);
	free(m->allowed);
	free(m->moving);
	free(m->lengths);
}

static unsigned class_of(const struct hd_mapping *m, unsigned worker)
{
	return m->dates.groups[hd_mapping_group(m, worker)].class_id;
}

/* The worker with the fewest tasks in proportion to its speed, among the workers of a class; -1: of all classes. */
static unsigned least_tasks(const struct hd_mapping *m, const heddle_task *t, int class_id)
{
	unsigned best = 0;
	double least = INFINITY;
	for (unsigned w = 0; w < m->n_workers; w++) {
		const struct hd_mapping_worker *worker = &m->workers[w];
		double load = (double)(worker->load + 1) / worker->speed;
		int in_class = class_id < 0 || class_of(m, w) == (unsigned)class_id;
		if (load < least && in_class && heddle_task_can_run(t, w)) {
			least = load;
			best = w;
		}
	}
	return best;
}

static int is_known(const struct hd_mapping *m, const heddle_task *t)
{
	for (unsigned c = 0; c < m->n_classes; c++)
		if (heddle_task_can_run_class(t, c) && !isnan(heddle_task_time(t, c)))
			return 1;
	return 0;
}

int hd_mapping_divert(struct hd_mapping *m, heddle_task *t)
{
	int class_id = hd_calibration_class(&m->calibration, t);
	if (class_id < 0 && is_known(m, t))
		return 0;
	m->calibrating += class_id >= 0;
	m->greedy += class_id < 0;
	unsigned w = least_tasks(m, t, class_id);
	double us = heddle_task_time(t, class_of(m, w));
	hd_mapping_place(m, t, w, isnan(us) ? 0 : us);
	return 1;
}

/* Fills m->lengths for the task. Returns whether, in some class, some workers can run the task and others cannot. */
static int predict_classes(const struct hd_mapping *m, const heddle_task *t)
{
	int each = 0;
	for (unsigned c = 0; c < m->n_classes; c++) {
		int all = heddle_task_can_run_all(t, c);
		double us = all ? heddle_task_time(t, c) : (double)NAN;
		m->lengths[c] = isnan(us) ? INFINITY : us;
		each |= all < 0;
	}
	return each;
}

/* Sets the time to INFINITY for each group without a worker that can run the task; asks each worker for this. Returns
 * whether all driven workers of the remaining groups can run the task. */
static int rule_out(const struct hd_mapping *m, const heddle_task *t, double *times)
{
	int alike = 1;
	memset(m->allowed, 0, m->n_groups * sizeof *m->allowed);
	for (unsigned w = 0; w < m->n_workers; w++)
		m->allowed[hd_mapping_group(m, w)] += heddle_task_can_run(t, w) != 0;
	for (size_t g = 0; g < m->n_groups; g++) {
		times[g] = m->allowed[g] ? times[g] : INFINITY;
		alike &= isinf(times[g]) || m->allowed[g] == m->dates.groups[g].n_driven;
	}
	return alike;
}

void hd_mapping_predict_terms(struct hd_mapping *m, const heddle_task *t)
{
	struct hd_dates *d = &m->dates;
	predict_classes(m, t);
	hd_dates_find_moves(d, t);
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_far; f++)
		f->far.length = m->lengths[f->class_id] + d->far[f->at];
	for (size_t i = 0; i < d->n_apart; i++) {
		struct hd_dates_group *g = &d->groups[d->apart[i]];
		g->own.length = m->lengths[g->class_id] + d->near[g->node];
	}
}

int hd_mapping_predict(const struct hd_mapping *m, const heddle_task *t, int with_comm, double *times)
{
	int each = predict_classes(m, t);
	if (with_comm)
		heddle_task_transfer_times(t, m->moving);
	for (size_t g = 0; g < m->n_groups; g++) {
		const struct hd_dates_group *group = &m->dates.groups[g];
		times[g] = group->n_driven ? m->lengths[group->class_id] : INFINITY;
		times[g] += with_comm ? m->moving[group->node] : 0;
	}
	return HD_LIKELY(!each) || rule_out(m, t, times);
}

double hd_mapping_speedup(const struct hd_mapping *m, const heddle_task *t)
{
	const struct heddle_platform *p = heddle_sched_platform(m->sched);
	double cpu = INFINITY, gpu = INFINITY;
	for (unsigned c = 0; c < m->n_classes; c++) {
		double us = heddle_task_can_run_class(t, c) ? heddle_task_time(t, c) : (double)NAN;
		double *best = strcmp(p->classes[c].kind, "cpu") == 0 ? &cpu : &gpu;
		*best = us < *best ? us : *best;
	}
	return isinf(gpu) ? 0 : isinf(cpu) ? INFINITY : cpu / gpu;
}

double hd_mapping_best(const struct hd_mapping *m, const double *times, int is_cpu)
{
	double best = INFINITY;
	for (size_t g = 0; g < m->n_groups; g++)
		if (m->is_cpu[g] == is_cpu && times[g] < best)
			best = times[g];
	return best;
}

void hd_mapping_place(struct hd_mapping *m, heddle_task *t, unsigned worker, double us)
{
	struct hd_mapping_worker *w = &m->workers[worker];
	heddle_task_link(t)->u.key = us;
	hd_deque_push_back(&w->queue, t);
	hd_dates_place(&m->dates, worker, us);
	if (!m->steal)
		heddle_sched_open(m->sched, worker, 1);
	w->load++;
	m->n_queued++;
	m->placed++;
	hd_calibration_placed(&m->calibration, t, class_of(m, worker));
	if (m->prefetch)
		heddle_task_prefetch(t, m->dates.groups[hd_mapping_group(m, worker)].node);
}

static void leave_queue(struct hd_mapping *m, unsigned worker, heddle_task *t)
{
	struct hd_deque *queue = &m->workers[worker].queue;
	hd_deque_remove(queue, t);
	m->n_queued--;
	/* exactly 0 for an empty queue, because rounding errors accumulate in `queued` */
	double left = queue->first ? m->dates.workers[worker].queued - heddle_task_link(t)->u.key : 0;
	hd_dates_leave(&m->dates, worker, left);
	if (!queue->first && !m->steal)
		heddle_sched_open(m->sched, worker, 0);
}

/* The last task of a queue that a worker can run; looks at the last REACH tasks only. */
static heddle_task *last_for(const struct hd_deque *queue, unsigned worker)
{
	enum { REACH = 64 };
	heddle_task *t = queue->first ? queue->last : NULL;
	int i = 1;
	while (t && !heddle_task_can_run(t, worker))
		t = t == queue->first || i++ == REACH ? NULL : heddle_task_link(t)->prev;
	return t;
}

static heddle_task *steal(struct hd_mapping *m, unsigned thief)
{
	unsigned first = (unsigned)(heddle_sched_random(m->sched) % m->n_workers);
	unsigned class_id = class_of(m, thief), victim = thief;
	heddle_task *t = NULL;
	for (unsigned i = 0; i < m->n_workers && !t; i++) {
		victim = (unsigned)((first + i) % m->n_workers); /* the thief's own queue is empty */
		if (m->steal == HD_STEAL_FROM_ALL || class_of(m, victim) == class_id)
			t = last_for(&m->workers[victim].queue, thief);
	}
	if (!t)
		return NULL;
	leave_queue(m, victim, t);
	m->workers[victim].load--;
	m->workers[thief].load++;
	hd_calibration_done(&m->calibration, t, class_of(m, victim));
	hd_calibration_placed(&m->calibration, t, class_id);
	m->stolen++;
	return t;
}

heddle_task *hd_mapping_pick(void *mapping, unsigned worker)
{
	struct hd_mapping *m = mapping;
	heddle_task *t = m->workers[worker].queue.first;
	if (t)
		leave_queue(m, worker, t);
	else if (m->steal && m->n_queued)
		t = steal(m, worker);
	return t;
}

heddle_task *hd_mapping_take_back(void *mapping, unsigned worker)
{
	struct hd_mapping *m = mapping;
	const struct hd_mapping_worker *w = &m->workers[worker];
	if (!w->queue.first)
		return NULL;
	/* A driven worker gives back its last task: if the policy places the task on this worker again, it is the last
	 * again, and the order is kept. */
	heddle_task *t = heddle_sched_driven(m->sched, worker) ? w->queue.last : w->queue.first;
	leave_queue(m, worker, t);
	hd_mapping_done(m, t, worker);
	return t;
}

void hd_mapping_done(void *mapping, heddle_task *t, unsigned worker)
{
	struct hd_mapping *m = mapping;
	m->workers[worker].load--;
	hd_calibration_done(&m->calibration, t, class_of(m, worker));
}

void hd_mapping_report(const struct hd_mapping *m, heddle_sched *sched)
{
	heddle_sched_count(sched, "tasks placed", (double)m->placed, "tasks");
	heddle_sched_count(sched, "placed to calibrate models", (double)m->calibrating, "tasks");
	heddle_sched_count(sched, "stolen", (double)m->stolen, "tasks");
	heddle_sched_count(sched, "placed without a model", (double)m->greedy, "tasks");
}
