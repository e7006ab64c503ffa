/* Hungry workers: which workers can hold another task, and when each will have run the tasks that it holds. Everything
 * runs under the core lock. */
#include "ask.h"
#include "dispatch.h"
#include "inlet.h"
#include "worker_set.h"

void hd_worker_enter(struct hd_worker *w, enum hd_worker_state state)
{
	HD_HELD(&w->rt->lock);
	int before = hd_worker_is_asleep(w);
	w->rt->count.off += (unsigned)(state == HD_OFF) - (unsigned)(w->state == HD_OFF);
	w->state = (uint8_t)state;
	if (HD_UNLIKELY(hd_worker_is_asleep(w) != before))
		hd_gate_asleep(w, !before);
}

void hd_core_hungry(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (w->hungry || !hd_worker_is_attended(w) || HD_UNLIKELY(!w->pipeline))
		return;
	heddle_runtime *rt = w->rt;
	struct hd_worker *prev = NULL, *next = rt->dispatch.hungry;
	while (HD_UNLIKELY(w->speed > 0) && next && next->speed > w->speed) {
		prev = next;
		next = next->hungry_next;
	}
	w->hungry = 1;
	w->hungry_prev = prev;
	w->hungry_next = next;
	if (next)
		next->hungry_prev = w;
	*(prev ? &prev->hungry_next : &rt->dispatch.hungry) = w;
	if (rt->sched.ask.n_groups > 1)
		hd_ask_enter(w);
}

void hd_core_not_hungry(struct hd_worker *w)
{
	HD_HELD(&w->rt->lock);
	if (!w->hungry)
		return;
	w->hungry = 0;
	if (w->hungry_prev)
		w->hungry_prev->hungry_next = w->hungry_next;
	else
		w->rt->dispatch.hungry = w->hungry_next;
	if (w->hungry_next)
		w->hungry_next->hungry_prev = w->hungry_prev;
	if (w->rt->sched.ask.n_groups > 1)
		hd_ask_leave(w);
}

/* Computes hd_worker_free_at for a worker with several slots, on the assumption that the present number of kernels has
 * been running all the time. */
static double slots_free_at(const struct hd_worker *w, double now)
{
	const struct heddle_class *class_ = &w->rt->platform->classes[w->class_id];
	unsigned n_running = 0;
	double us = w->backlog;
	for (unsigned i = 0; i < w->n_slots; i++)
		n_running += w->slots[i].task != NULL;
	for (unsigned i = 0; i < w->n_slots; i++) {
		const struct hd_slot *s = &w->slots[i];
		if (!s->task)
			continue;
		double left = s->predicted - (now - s->start) * heddle_class_rate(class_, n_running);
		us += left > 0 ? left : 0;
	}
	return now + us / hd_class_full_rate(w->rt, w->class_id);
}

double hd_worker_free_at(struct hd_worker *w, double now)
{
	HD_HELD(&w->rt->lock);
	if (w->n_slots > 1)
		return slots_free_at(w, now);
	if (HD_UNLIKELY(w->n_rivals))
		now = hd_cores_free_at(w, now);
	double end = w->slots->task ? w->slots->start + w->slots->predicted : now;
	return (end > now ? end : now) + w->backlog;
}
