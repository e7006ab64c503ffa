/* A bound of the memory of fronts (Agullo, Buttari, Guermouche, Lopez, 2016, section 5): before tasks of a front are
 * submitted, the submitting thread waits until the front fits beside all that is in use, or may be.
 *
 * What a front needs for a while becomes free when a task ends that all its users come before: for contributions, the
 * assembly of the parent; for copies and workspaces, the front itself. The thread waits for these tasks in the order of
 * submission. They depend on tasks only that have been submitted, none of which waits for memory: so each ends, and
 * nothing can wait for ever. When all have ended, what is in use is what a factorisation that takes one front after the
 * other in postorder has in use at this place, which with the next front is at most its peak. So a bound that is not
 * less than the peak always leaves room for the next front. */
#include <sparse/tasks/tasks.h>
#include <stdlib.h>
#include "base/grow.h"

struct hd_sparse_release {
	heddle_task *task; /* owns a reference */
	size_t elements;
};

size_t hd_sparse_peak(const struct heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	size_t used = 0, peak = 0, elements[HD_SPARSE_N_ENDS];
	for (size_t f = 0; f < a->n_fronts; f++) {
		hd_sparse_elements(qr, f, elements);
		used += elements[0] + elements[1] + elements[2];
		peak = used > peak ? used : peak;
		used -= elements[HD_SPARSE_WITH_FRONT];
		if (a->fronts[f].subtree != HD_SPARSE_NONE)
			continue;
		for (size_t c = a->fronts[f].first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling) {
			hd_sparse_elements(qr, c, elements);
			used -= elements[HD_SPARSE_WITH_CONTRIBUTION];
		}
	}
	return peak;
}

/* Waits for the first task of the queue. Whether it has failed makes no difference. */
static void wait_for_first(struct hd_sparse_memory *m)
{
	const struct hd_sparse_release *r = &m->queue[m->first++];
	while (heddle_task_wait(r->task) == HEDDLE_E_INTERRUPTED)
		;
	heddle_task_release(r->task);
	m->used -= r->elements;
}

void hd_sparse_take_room(struct hd_sparse_flow *flow, size_t elements)
{
	struct hd_sparse_memory *m = flow->memory;
	if (!m)
		return;
	while (m->used + elements > m->bound && m->first < m->n)
		wait_for_first(m);
	m->used += elements;
}

static void add_datum(struct hd_sparse_flow *flow, heddle_data **data)
{
	if (*data)
		hd_sparse_add(flow, heddle_rw(*data));
}

static void drop_datum(struct hd_sparse_flow *flow, heddle_data **data)
{
	(void)flow;
	hd_sparse_drop(data);
}

/* A task without a kernel that ends after the last one of all data of front f with this end. */
static void note(struct hd_sparse_flow *flow, size_t f, enum hd_sparse_end end)
{
	struct hd_sparse_memory *m = flow->memory;
	size_t elements[HD_SPARSE_N_ENDS];
	heddle_task *task = NULL;
	flow->n = 0;
	hd_sparse_each_datum(flow, f, end, add_datum);
	if (flow->n == 0)
		return;
	if (HD_GROW(m->queue, m->n, m->room, 64) < 0 && flow->status >= 0)
		flow->status = hd_sparse_no_memory("the memory that becomes free");
	hd_sparse_add(flow, heddle_out(&task));
	hd_sparse_submit(flow);
	if (flow->status < 0)
		return;
	hd_sparse_elements(flow->qr, f, elements);
	m->queue[m->n++] = (struct hd_sparse_release){task, elements[end]};
}

void hd_sparse_release(struct hd_sparse_flow *flow, size_t f, enum hd_sparse_end end)
{
	if (flow->memory && flow->status >= 0)
		note(flow, f, end);
	hd_sparse_each_datum(flow, f, end, drop_datum);
}

void hd_sparse_memory_free(struct hd_sparse_memory *memory)
{
	for (; memory->first < memory->n; memory->first++)
		heddle_task_release(memory->queue[memory->first].task);
	free(memory->queue);
}
