/* A policy of tests: first in, first out, any worker that can; it tells the test what happens, which may then ask what
 * policies ask. One at a time in a program. */
#ifndef TEST_PROBE_H
#define TEST_PROBE_H

#include <stdlib.h>
#include "ok.h"

static struct probe {
	/* Set by the test before it starts the runtime; NULL: nothing. Called with the core lock held. */
	void (*on_create)(heddle_sched *sched);
	void (*on_ready)(heddle_task *t);
	void (*on_done)(heddle_task *t, unsigned worker);
	/* The policy's own: its tasks, the oldest first. */
	heddle_task *first, *last;
} probe;

static int probe_create(heddle_sched *sched, void **state)
{
	probe.first = probe.last = NULL;
	*state = &probe;
	if (probe.on_create)
		probe.on_create(sched);
	return 0;
}

static void probe_destroy(void *state)
{
	(void)state;
}

static void probe_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct probe *p = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		if (p->on_ready)
			p->on_ready(batch[i]);
		heddle_task_link(batch[i])->next = NULL;
		if (p->first)
			heddle_task_link(p->last)->next = batch[i];
		else
			p->first = batch[i];
		p->last = batch[i];
	}
}

static heddle_task *probe_pick(void *state, unsigned worker)
{
	struct probe *p = state;
	heddle_task *before = NULL, *t = p->first;
	for (; t && !heddle_task_can_run(t, worker); t = heddle_task_link(t)->next)
		before = t;
	if (!t)
		return NULL;
	if (before)
		heddle_task_link(before)->next = heddle_task_link(t)->next;
	else
		p->first = heddle_task_link(t)->next;
	if (t == p->last)
		p->last = before;
	return t;
}

static void probe_done(void *state, heddle_task *t, unsigned worker)
{
	struct probe *p = state;
	if (p->on_done)
		p->on_done(t, worker);
}

static const struct heddle_option probe_options[] = {{"prefetch", "no", "no|yes", "what parts of policies ask", 0, 0},
                                                     {"steal", "no", "no|class|all", "the same", 0, 0},
                                                     {0}};

static const struct heddle_policy probe_policy = {.abi = HEDDLE_POLICY_ABI,
                                                  .name = "probe",
                                                  .summary = "first in, first out",
                                                  .source = "tests",
                                                  .options = probe_options,
                                                  .create = probe_create,
                                                  .destroy = probe_destroy,
                                                  .ready = probe_ready,
                                                  .pick = probe_pick,
                                                  .done = probe_done};

/* Before heddle_start with sched = "probe". */
static inline void probe_set(struct probe hooks)
{
	probe = hooks;
	OK(heddle_policy_register(&probe_policy));
}

#endif
