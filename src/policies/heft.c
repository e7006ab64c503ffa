/* heft: earliest finish time, the tasks that gain most from an accelerator first.
 *
 * Bleuse, Gautier, Lima, Mounie, Trystram, "Scheduling data flow program in XKaapi: a new affinity based algorithm for
 * heterogeneous architectures", Euro-Par 2014, section 3.1, Algorithm 1 (the activate operation):
 *
 *   1-3  for each ready task  S = p_cpu / p_gpu
 *   4    sort the ready tasks by decreasing S
 *   5-9  each in turn goes to the worker achieving the earliest finish time, whose date is then updated
 *
 * The time to transfer a task's data is added to its execution time (section 4.1).
 *
 * Choices. In the paper's framework a worker without tasks steals from one that it draws (section 2.1); here it does so
 * with the option `steal`: docs/policy-study.md, "Where a paper can be read in two ways", has the figures. If there are
 * several classes of CPUs or of GPUs, the fastest counts. A task that only CPUs can run has S = 0, one that only
 * accelerators can run S = infinity. Tasks of equal S are taken in the order of submission; of workers with equal
 * finish times, the first is taken. */
#include <math.h>
#include <stdlib.h>
#include "parts/batch_mapping.h"
#include "policies.h"

struct heft_task {
	heddle_task *task;
	double speedup; /* S of Algorithm 1 */
	uint64_t order;
};

struct heft {
	struct hd_mapping mapping; /* the first field, because hd_mapping_pick gets the address of the state */
	struct heft_task *list; /* owns; the ready tasks being placed: the batch, or the slice that there is room for */
	size_t n, room;
	uint64_t batches, largest, accelerated;
	double moves; /* us: sum of the predicted times of transfers */
};

enum { HEFT_ROOM = 64 }; /* the initial capacity of the list */

static void heft_destroy(void *state)
{
	struct heft *h = state;
	hd_mapping_fini(&h->mapping);
	free(h->list);
	free(h);
}

static int heft_create(heddle_sched *sched, void **state)
{
	struct heft *h = calloc(1, sizeof *h);
	if (!h)
		return hd_no_memory("the policy's queues");
	int status = hd_mapping_init(&h->mapping, sched, 0);
	h->room = HEFT_ROOM;
	h->list = calloc(h->room, sizeof *h->list);
	if (!status && !h->list)
		status = hd_no_memory("the policy's list");
	if (status < 0) {
		heft_destroy(h);
		return status;
	}
	*state = h;
	return HEDDLE_OK;
}

/* Line 4. */
static int heft_by_speedup(const void *a, const void *b)
{
	const struct heft_task *x = a, *y = b;
	if (x->speedup != y->speedup)
		return x->speedup > y->speedup ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Lines 5-9 of Algorithm 1: places a task on the worker that ends it first. */
static void heft_schedule(struct heft *h, heddle_task *t)
{
	struct hd_mapping *m = &h->mapping;
	hd_mapping_predict_terms(m, t);
	unsigned best = hd_dates_best(&m->dates, t), group = hd_mapping_group(m, best);
	double us = hd_dates_terms_of(&m->dates, best)->length;
	h->accelerated += !m->is_cpu[group];
	h->moves += us - heddle_task_time(t, m->dates.groups[group].class_id);
	hd_mapping_place(m, t, best, us);
}

/* Makes room for a batch of n tasks. Without memory, the batch is placed slice by slice. */
static void heft_make_room(struct heft *h, size_t n)
{
	struct heft_task *list = n > h->room ? calloc(n, sizeof *list) : NULL;
	if (!list)
		return;
	free(h->list);
	h->list = list;
	h->room = n;
}

static void heft_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct heft *h = state;
	(void)releaser;
	h->batches++;
	if (n > h->largest)
		h->largest = n;
	heft_make_room(h, n);
	hd_dates_renew(&h->mapping.dates);
	for (size_t i = 0; i < n;) {
		for (h->n = 0; i < n && h->n < h->room; i++)
			if (!hd_mapping_divert(&h->mapping, batch[i]))
				h->list[h->n++] = (struct heft_task){
				    batch[i], hd_mapping_speedup(&h->mapping, batch[i]), heddle_task_order(batch[i])};
		qsort(h->list, h->n, sizeof *h->list, heft_by_speedup);
		for (size_t j = 0; j < h->n; j++)
			heft_schedule(h, h->list[j].task);
	}
}

static void heft_report(void *state, heddle_sched *sched)
{
	const struct heft *h = state;
	hd_mapping_report(&h->mapping, sched);
	heddle_sched_count(sched, "batches", (double)h->batches, "batches");
	heddle_sched_report(sched, "largest batch", (double)h->largest, "tasks");
	heddle_sched_count(sched, "placed on accelerators", (double)h->accelerated, "tasks");
	heddle_sched_count(sched, "expected time of transfers", h->moves, "us");
}

static const struct heddle_option heft_options[] = {HD_MAPPING_STEAL, HD_MAPPING_PREFETCH, {0}};

const struct heddle_policy hd_policy_heft = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "heft",
    .summary = "earliest finish time, transfers counted; the tasks that gain most from an accelerator first",
    .source = "Bleuse et al., Euro-Par 2014, section 3.1, Algorithm 1",
    .options = heft_options,
    .pushes = 1,
    .create = heft_create,
    .destroy = heft_destroy,
    .ready = heft_ready,
    .pick = hd_mapping_pick,
    .done = hd_mapping_done,
    .report = heft_report,
    .take_back = hd_mapping_take_back,
};
