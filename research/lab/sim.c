/* The simulator of section 4.1 of the paper: simulated workers, one bucket per type, an order of the buckets per class.
 *
 * The paper leaves open who takes a task first. Here it is the worker that has just become available, then the idle
 * workers, the one that became idle last first. The virtual engine does the same, and gives the same makespans. Of
 * workers that finish at the same time, the one that started first is first. At the beginning worker 0 is first; CPUs
 * have the lower numbers.
 *
 * The ends of tasks are kept in an array sorted by time, in which `next` is the first end to come. New ends belong near
 * the end of the array, so inserting them is cheap.
 *
 * A run is abandoned as soon as its makespan must exceed the limit. workers * makespan = least work + all idle time +
 * all time lost on slower classes; so the time wasted up to now gives a lower bound of the makespan. The longest path
 * after a task gives another one. */
#include "lab.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

enum { SEQUENCE_BITS = 24, MAX_WORKERS = 256 };

struct hd_lab_sim {
	size_t most_tasks;
	uint64_t simulated;
	uint32_t *pending; /* owns; per task: number of predecessors that have not finished */
	uint32_t *bucket;  /* owns; the buckets, one after the other */
	uint64_t *ends;    /* owns; each is us << SEQUENCE_BITS | s, where task started[s] ends */
	uint32_t *started; /* owns; tasks in the order of their starts */
	uint8_t *worker;   /* owns; the worker of each task of `started` */
	/* the state of one run */
	uint32_t head[HD_LAB_TYPES], tail[HD_LAB_TYPES];
	uint32_t bit[HD_LAB_CLASSES][HD_LAB_TYPES];    /* per class and type: its bit in `full` */
	uint32_t full[HD_LAB_CLASSES];                 /* per class: a bit per rank in its order, set if not empty */
	uint32_t passed[HD_LAB_CLASSES][HD_LAB_TYPES]; /* per class and rank: union of `full` when it was taken from */
	uint32_t next, n_started;                      /* ends[next .. n_started - 1] are to come */
	uint64_t now, wasted;                          /* us */
	uint64_t limit;                                /* us */
	uint64_t free_since[MAX_WORKERS];
	uint8_t idle[MAX_WORKERS];
	uint32_t n_idle;
	uint32_t executed[HD_LAB_TYPES][HD_LAB_CLASSES];
};

int hd_lab_sim_new(size_t most_tasks, struct hd_lab_sim **out)
{
	struct hd_lab_sim *s = calloc(1, sizeof *s);
	if (!s)
		return hd_no_memory("the simulator");
	s->most_tasks = most_tasks;
	s->pending = malloc(most_tasks * sizeof *s->pending);
	s->bucket = malloc(most_tasks * sizeof *s->bucket);
	s->ends = malloc(most_tasks * sizeof *s->ends);
	s->started = malloc(most_tasks * sizeof *s->started);
	s->worker = malloc(most_tasks);
	if (!s->pending || !s->bucket || !s->ends || !s->started || !s->worker) {
		hd_lab_sim_free(s);
		return hd_no_memory("the simulator");
	}
	*out = s;
	return 0;
}

void hd_lab_sim_free(struct hd_lab_sim *s)
{
	if (!s)
		return;
	free(s->pending);
	free(s->bucket);
	free(s->ends);
	free(s->started);
	free(s->worker);
	free(s);
}

uint64_t hd_lab_sim_tasks(const struct hd_lab_sim *s)
{
	return s->simulated;
}

uint64_t hd_lab_sim_decisions(const struct hd_lab_sim *s, const struct hd_lab_orders *orders, int class_id)
{
	const uint8_t *order = orders->order[class_id];
	uint64_t decisions = 0;
	for (unsigned rank = 0; rank < HD_LAB_TYPES; rank++)
		for (uint32_t left = s->passed[class_id][rank] >> rank >> 1, other = rank + 1; left;
		     left >>= 1, other++)
			if (left & 1)
				decisions |= (uint64_t)1 << (8 * order[rank] + order[other]);
	return decisions;
}

static inline void push(struct hd_lab_sim *s, const struct hd_lab_dag *dag, uint32_t task)
{
	unsigned type = dag->type[task];
	s->bucket[s->tail[type]++] = task;
	s->full[HD_LAB_CPU] |= s->bit[HD_LAB_CPU][type];
	s->full[HD_LAB_GPU] |= s->bit[HD_LAB_GPU][type];
}

/* Gives a worker the first task in its order. Some bucket must not be empty. */
static inline void start(struct hd_lab_sim *s, const struct hd_lab_dag *dag, const struct hd_lab_orders *orders,
                         uint8_t worker)
{
	unsigned class_id = worker >= dag->workers[HD_LAB_CPU];
	unsigned rank = (unsigned)__builtin_ctz(s->full[class_id]), type = orders->order[class_id][rank];
	s->passed[class_id][rank] |= s->full[class_id];
	uint32_t number = s->n_started++, i = number;
	s->started[number] = s->bucket[s->head[type]++];
	s->worker[number] = worker;
	if (s->head[type] == s->tail[type]) {
		s->full[HD_LAB_CPU] &= ~s->bit[HD_LAB_CPU][type];
		s->full[HD_LAB_GPU] &= ~s->bit[HD_LAB_GPU][type];
	}
	uint64_t until = s->now + dag->cost[type][class_id], key = until << SEQUENCE_BITS | number;
	for (; i > s->next && s->ends[i - 1] > key; i--)
		s->ends[i] = s->ends[i - 1];
	s->ends[i] = key;
	s->wasted += s->now - s->free_since[worker] + (dag->cost[type][class_id] - dag->least[type]);
	if (until + dag->tail[s->started[number]] > s->limit)
		s->wasted = UINT64_MAX;
	s->free_since[worker] = until;
	s->executed[type][class_id]++;
}

/* Ends the next task: its successors may become ready, its worker becomes available. */
static inline void finish(struct hd_lab_sim *s, const struct hd_lab_dag *dag)
{
	uint64_t key = s->ends[s->next++];
	uint32_t number = key & ((1u << SEQUENCE_BITS) - 1), task = s->started[number];
	s->now = key >> SEQUENCE_BITS;
	s->idle[s->n_idle++] = s->worker[number];
	for (uint32_t i = dag->first[task]; i < dag->first[task + 1]; i++)
		if (--s->pending[dag->succ[i]] == 0)
			push(s, dag, dag->succ[i]);
}

static void begin(struct hd_lab_sim *s, const struct hd_lab_dag *dag, const struct hd_lab_orders *orders)
{
	uint32_t n_workers = dag->workers[0] + dag->workers[1], place = 0;
	memcpy(s->pending, dag->n_preds, dag->n_tasks * sizeof *s->pending);
	memset(s->executed, 0, sizeof s->executed);
	memset(s->passed, 0, sizeof s->passed);
	memset(s->free_since, 0, n_workers * sizeof *s->free_since);
	s->full[0] = s->full[1] = 0;
	s->next = s->n_started = 0;
	s->now = s->wasted = 0;
	for (uint32_t t = 0; t < dag->n_types; t++) {
		s->head[t] = s->tail[t] = place;
		place += dag->tasks[t];
		for (int c = 0; c < HD_LAB_CLASSES; c++)
			s->bit[c][orders->order[c][t]] = 1u << t;
	}
	s->n_idle = n_workers;
	for (uint32_t w = 0; w < n_workers; w++)
		s->idle[w] = (uint8_t)(n_workers - 1 - w);
	for (uint32_t i = 0; i < dag->n_roots; i++)
		push(s, dag, dag->roots[i]);
}

uint64_t hd_lab_sim_run(struct hd_lab_sim *s, const struct hd_lab_dag *dag, const struct hd_lab_orders *orders,
                        uint64_t limit, struct hd_lab_outcome *outcome)
{
	uint64_t n_workers = dag->workers[0] + dag->workers[1], all = UINT64_MAX;
	uint64_t slack = limit < all / n_workers ? limit * n_workers : all;
	slack = slack > dag->least_work ? slack - dag->least_work : 0;
	begin(s, dag, orders);
	s->limit = limit;
	do {
		while (s->n_idle && s->full[0] && s->wasted <= slack)
			start(s, dag, orders, s->idle[--s->n_idle]);
		if (s->wasted > slack)
			break;
		finish(s, dag);
	} while (s->next < s->n_started || s->full[0]);
	s->simulated += s->n_started;
	if (s->next < dag->n_tasks || s->now > limit)
		return HD_LAB_ABANDONED;
	if (outcome) {
		outcome->makespan = s->now;
		memcpy(outcome->executed, s->executed, sizeof outcome->executed);
	}
	return s->now;
}
