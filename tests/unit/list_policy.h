/* The simplest policy, for tests that are about something else: a list, which any worker takes from. */
#ifndef TEST_LIST_POLICY_H
#define TEST_LIST_POLICY_H

#include "program.h"

static heddle_task *first_ready;
static atomic_int n_picked;

static inline int list_create(heddle_sched *sched, void **out)
{
	(void)sched;
	*out = NULL;
	return 0;
}

static inline void list_destroy(void *state)
{
	(void)state;
}

static inline void list_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = first_ready;
		first_ready = batch[i];
	}
}

static inline heddle_task *list_pick(void *state, unsigned worker)
{
	(void)state;
	heddle_task *t = first_ready;
	if (!t || !heddle_task_can_run(t, worker))
		return NULL;
	first_ready = heddle_task_link(t)->next;
	n_picked++;
	return t;
}

#endif
