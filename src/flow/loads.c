/* Records the workers whose load has changed (loads.h). Everything runs under the core lock. */
#include "loads.h"
#include <math.h>
#include <stdlib.h>
#include "dispatch.h"
#include "worker_set.h"

void heddle_sched_worker_load(heddle_sched *s, unsigned worker, double *until, double *backlog)
{
	struct hd_worker *w = &s->rt->workers[worker];
	HD_HELD(&s->rt->lock);
	*until = w->slots->task ? w->slots->start + w->slots->predicted : (double)-INFINITY;
	*backlog = w->backlog;
	/* the load of such a worker changes with time, so it is predicted anew at each query */
	if (HD_UNLIKELY(w->n_slots > 1 || w->n_rivals)) {
		*until = hd_worker_free_at(w, s->rt->now);
		*backlog = 0;
	}
}

void hd_loads_note(struct hd_worker *w)
{
	struct hd_loads *l = &w->rt->sched.loads;
	HD_HELD(&w->rt->lock);
	w->moved = 1;
	l->moved[l->n_moved++] = w->id;
}

size_t heddle_sched_moved(heddle_sched *s, const unsigned **workers)
{
	struct hd_loads *l = &s->loads;
	HD_HELD(&s->rt->lock);
	unsigned *told = l->moved;
	size_t n = l->n_moved;
	for (size_t i = 0; i < n; i++)
		s->rt->workers[told[i]].moved = 0;
	for (unsigned i = 0; !l->watched && i < s->rt->n_workers; i++)
		told[n++] = i;
	l->watched = 1;
	l->moved = l->told;
	l->told = told;
	l->n_moved = 0;
	for (size_t i = 0; i < l->n_unsteady; i++)
		hd_worker_moved(&s->rt->workers[l->unsteady[i]]);
	*workers = told;
	return n;
}

void hd_loads_forget(heddle_runtime *rt)
{
	rt->sched.loads.n_moved = 0;
	rt->sched.loads.watched = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		rt->workers[i].moved = 0;
}

int hd_loads_open(heddle_runtime *rt)
{
	struct hd_loads *l = &rt->sched.loads;
	l->moved = calloc(rt->n_workers, sizeof *l->moved);
	l->told = calloc(rt->n_workers, sizeof *l->told);
	l->unsteady = calloc(rt->n_workers, sizeof *l->unsteady);
	if (!l->moved || !l->told || !l->unsteady)
		return hd_no_memory("the loads of workers");
	for (unsigned i = 0; i < rt->n_workers; i++)
		if (rt->workers[i].n_slots > 1 || rt->workers[i].n_rivals)
			l->unsteady[l->n_unsteady++] = i;
	return 0;
}

void hd_loads_close(struct hd_loads *l)
{
	free(l->moved);
	free(l->told);
	free(l->unsteady);
}
