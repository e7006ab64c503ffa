/* Queues, dates and predictions for policies that place a whole batch of tasks at once. */
#include "batch_mapping.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "speed.h"

static void add_to_group(struct hd_mapping *m, struct hd_mapping_worker *w, unsigned class_id, unsigned node)
{
	unsigned g = 0;
	while (g < m->n_groups && (m->groups[g].class_id != class_id || m->groups[g].node != node))
		g++;
	if (g == m->n_groups)
		m->groups[m->n_groups++] =
		    (struct hd_mapping_group){.class_id = class_id, .node = node, .is_cpu = w->is_cpu};
	w->group = g;
}

int hd_mapping_init(struct hd_mapping *m, heddle_sched *sched)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*m = (struct hd_mapping){.sched = sched, .n_workers = p->n_workers};
	hd_calibration_init(&m->calibration, sched);
	m->steal = (enum hd_mapping_steal)heddle_sched_option(sched, "steal");
	m->prefetch = heddle_sched_option(sched, "prefetch") > 0;
	m->workers = calloc(p->n_workers, sizeof *m->workers);
	m->groups = calloc(p->n_workers, sizeof *m->groups);
	m->driven = calloc(p->n_workers, sizeof *m->driven);
	m->ends = calloc(p->n_workers, sizeof *m->ends);
	m->allowed = calloc(p->n_workers, sizeof *m->allowed);
	if (!m->workers || !m->groups || !m->driven || !m->ends || !m->allowed)
		return hd_no_memory("the policy's queues");
	for (unsigned w = 0; w < p->n_workers; w++) {
		unsigned class_id = p->workers[w].class_id;
		m->workers[w].is_cpu = strcmp(p->classes[class_id].kind, "cpu") == 0;
		m->workers[w].speed = hd_class_speed(&p->classes[class_id]);
		add_to_group(m, &m->workers[w], class_id, p->workers[w].node);
	}
	return HEDDLE_OK;
}

void hd_mapping_fini(struct hd_mapping *m)
{
	hd_calibration_fini(&m->calibration);
	free(m->workers);
	free(m->groups);
	free(m->driven);
	free(m->ends);
	free(m->allowed);
}

void hd_mapping_dates(struct hd_mapping *m)
{
	m->n_driven = 0;
	for (size_t g = 0; g < m->n_groups; g++)
		m->groups[g].n_driven = 0;
	for (unsigned w = 0; w < m->n_workers; w++) {
		if (!heddle_sched_driven(m->sched, w))
			continue;
		m->driven[m->n_driven++] = w;
		m->groups[m->workers[w].group].n_driven++;
		m->ends[w] = heddle_sched_worker_free_at(m->sched, w) + m->workers[w].queued;
	}
}

/* The worker of a class (-1: of all) with the fewest tasks for its speed. */
static unsigned least_tasks(const struct hd_mapping *m, const heddle_task *t, int class_id)
{
	unsigned best = 0;
	double least = INFINITY;
	for (unsigned w = 0; w < m->n_workers; w++) {
		const struct hd_mapping_worker *worker = &m->workers[w];
		double load = (double)(worker->load + 1) / worker->speed;
		int in_class = class_id < 0 || m->groups[worker->group].class_id == (unsigned)class_id;
		if (load < least && in_class && heddle_task_can_run(t, w)) {
			least = load;
			best = w;
		}
	}
	return best;
}

static int is_known(const struct hd_mapping *m, const heddle_task *t)
{
	for (size_t g = 0; g < m->n_groups; g++)
		if (heddle_task_can_run_class(t, m->groups[g].class_id) &&
		    !isnan(heddle_task_time(t, m->groups[g].class_id)))
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
	double us = heddle_task_time(t, m->groups[m->workers[w].group].class_id);
	hd_mapping_place(m, t, w, isnan(us) ? 0 : us);
	return 1;
}

/* Fills `allowed`. Asks each worker only if the classes do not say it. */
static void count_allowed(const struct hd_mapping *m, const heddle_task *t)
{
	int each = 0;
	for (size_t g = 0; g < m->n_groups; g++) {
		int all = heddle_task_can_run_all(t, m->groups[g].class_id);
		m->allowed[g] = all > 0 ? m->groups[g].n_driven : 0;
		each |= all < 0;
	}
	if (HD_LIKELY(!each))
		return;
	memset(m->allowed, 0, m->n_groups * sizeof *m->allowed);
	for (size_t i = 0; i < m->n_driven; i++)
		m->allowed[m->workers[m->driven[i]].group] += heddle_task_can_run(t, m->driven[i]) != 0;
}

int hd_mapping_predict(const struct hd_mapping *m, const heddle_task *t, int with_comm, double *times)
{
	int alike = 1;
	count_allowed(m, t);
	for (size_t g = 0; g < m->n_groups; g++) {
		const struct hd_mapping_group *group = &m->groups[g];
		double us = m->allowed[g] ? heddle_task_time(t, group->class_id) : (double)NAN;
		times[g] = isnan(us) ? INFINITY : us;
		if (isnan(us))
			continue;
		alike &= m->allowed[g] == group->n_driven;
		if (with_comm)
			times[g] += heddle_task_transfer_time(t, group->node);
	}
	return alike;
}

double hd_mapping_best(const struct hd_mapping *m, const double *times, int is_cpu)
{
	double best = INFINITY;
	for (size_t g = 0; g < m->n_groups; g++)
		if (m->groups[g].is_cpu == is_cpu && times[g] < best)
			best = times[g];
	return best;
}

void hd_mapping_place(struct hd_mapping *m, heddle_task *t, unsigned worker, double us)
{
	struct hd_mapping_worker *w = &m->workers[worker];
	const struct hd_mapping_group *g = &m->groups[w->group];
	heddle_task_link(t)->u.key = us;
	hd_deque_push_back(&w->queue, t);
	w->queued += us;
	w->load++;
	m->n_queued++;
	m->ends[worker] += us;
	m->placed++;
	hd_calibration_placed(&m->calibration, t, g->class_id);
	if (m->prefetch)
		heddle_task_prefetch(t, g->node);
}

static void leave_queue(struct hd_mapping *m, struct hd_mapping_worker *w, heddle_task *t)
{
	hd_deque_remove(&w->queue, t);
	/* 0: against rounding errors of the sum */
	w->queued = w->queue.first ? w->queued - heddle_task_link(t)->u.key : 0;
	m->n_queued--;
}

/* The last task of a queue that a worker can run, of the last few. */
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
	unsigned class_id = m->groups[m->workers[thief].group].class_id;
	struct hd_mapping_worker *victim = NULL;
	heddle_task *t = NULL;
	for (size_t i = 0; i < m->n_workers && !t; i++) {
		victim = &m->workers[(first + i) % m->n_workers]; /* the thief itself has none */
		if (m->steal == HD_STEAL_FROM_ALL || m->groups[victim->group].class_id == class_id)
			t = last_for(&victim->queue, thief);
	}
	if (!t)
		return NULL;
	leave_queue(m, victim, t);
	victim->load--;
	m->workers[thief].load++;
	hd_calibration_done(&m->calibration, t, m->groups[victim->group].class_id);
	hd_calibration_placed(&m->calibration, t, class_id);
	m->stolen++;
	return t;
}

heddle_task *hd_mapping_pick(struct hd_mapping *m, unsigned worker)
{
	struct hd_mapping_worker *w = &m->workers[worker];
	heddle_task *t = w->queue.first;
	if (t)
		leave_queue(m, w, t);
	else if (m->steal && m->n_queued)
		t = steal(m, worker);
	return t;
}

heddle_task *hd_mapping_take_back(struct hd_mapping *m, unsigned worker)
{
	struct hd_mapping_worker *w = &m->workers[worker];
	if (!w->queue.first)
		return NULL;
	/* One of a driven worker may come back to it, and then it is the last. */
	heddle_task *t = heddle_sched_driven(m->sched, worker) ? w->queue.last : w->queue.first;
	leave_queue(m, w, t);
	hd_mapping_done(m, t, worker);
	return t;
}

void hd_mapping_done(struct hd_mapping *m, const heddle_task *t, unsigned worker)
{
	m->workers[worker].load--;
	hd_calibration_done(&m->calibration, t, m->groups[m->workers[worker].group].class_id);
}

void hd_mapping_report(const struct hd_mapping *m, heddle_sched *sched)
{
	heddle_sched_count(sched, "tasks placed", (double)m->placed, "tasks");
	heddle_sched_count(sched, "placed to calibrate models", (double)m->calibrating, "tasks");
	heddle_sched_count(sched, "stolen", (double)m->stolen, "tasks");
	heddle_sched_count(sched, "placed without a model", (double)m->greedy, "tasks");
}
