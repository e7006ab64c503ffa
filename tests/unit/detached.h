/* What tests of tasks that end by events share: a kernel that hands its events to the test, and a runtime for it. */
#ifndef TEST_DETACHED_H
#define TEST_DETACHED_H

#include "internals.h"
#include "program.h"

/* The events of one task, or of many. */
struct outside {
	heddle_event *events[4];
	long *data[4];     /* datum 0 of the task of each event */
	atomic_int n;      /* how many events have been made */
	int per_task;      /* how many a kernel asks for; 0: one */
	int returns;       /* what the kernel returns */
	atomic_int *leave; /* NULL, or what the kernel waits for after it has made its events */
	heddle_task *next; /* not NULL: another kernel's task */
};

static inline int detach(heddle_context *c)
{
	struct outside *o = pointer_value(c);
	for (int i = 0; i < (o->per_task ? o->per_task : 1); i++) {
		heddle_event *e = heddle_detach(c);
		if (!e)
			return heddle_fail(c, 1, "%s", heddle_last_error());
		o->data[o->n] = heddle_context_n_data(c) ? heddle_ptr(c, 0) : NULL;
		o->events[o->n] = e;
		o->n++;
	}
	while (o->leave && !*o->leave)
		sched_yield();
	return o->returns ? heddle_fail(c, o->returns, "the kernel is unhappy") : 0;
}

struct scene {
	heddle_runtime *rt;
	heddle_codelet *detach, *increment, *nothing;
	heddle_data *d;
	long x;
	struct outside out;
	struct outside *at; /* &out: a value of tasks */
};

static inline void begin_with(struct scene *s, const struct heddle_config *config)
{
	*s = (struct scene){.rt = start_with(config), .at = &s->out};
	s->detach = heddle_codelet_new(s->rt, .name = "detach", .cpu = detach);
	s->increment = heddle_codelet_new(s->rt, .name = "increment", .cpu = increment);
	s->nothing = heddle_codelet_new(s->rt, .name = "nothing", .cpu = nothing);
	assert_ok(heddle_variable(s->rt, &s->x, sizeof s->x, &s->d));
}

/* One worker: what it does while an event is out it could not do beside the task. */
static inline void begin(struct scene *s)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	begin_with(s, &config);
}

/* `begin`, and submits a task that writes the datum and waits for its event; its kernel has returned. */
static inline heddle_task *begin_waiting(struct scene *s)
{
	heddle_task *t, *other;
	begin(s);
	assert_ok(heddle_submit(s->rt, heddle_call(s->detach), heddle_rw(s->d), heddle_value(s->at), heddle_out(&t)));
	assert_ok(heddle_submit(s->rt, heddle_call(s->nothing), heddle_out(&other)));
	assert_ok(heddle_task_wait(other)); /* by the same worker, behind the first */
	heddle_task_release(other);
	return t;
}

static inline void end(struct scene *s, heddle_task *t)
{
	heddle_task_release(t);
	assert_ok(heddle_selfcheck(s->rt));
	assert_ok(heddle_stop(s->rt));
}

#endif
