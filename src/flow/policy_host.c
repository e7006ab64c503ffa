/* The functions that the core offers to a policy (heddle_sched_*), and the runtime's instance of its policy. Policies
 * run under the core lock. */
#include "policy_host.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ask.h"
#include "dispatch.h"
#include "errands.h"
#include "loads.h"
#include "machine/hops.h"
#include "machine/machine.h"
#include "policies/policies.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/process.h"
#include "state/task_pool.h"

const struct heddle_platform *heddle_sched_platform(const heddle_sched *s)
{
	return s->rt->platform;
}

unsigned heddle_sched_alike(const heddle_sched *s, unsigned node)
{
	return s->rt->hops->alike[node];
}

int heddle_sched_driven(const heddle_sched *s, unsigned worker)
{
	return !hd_worker_is_out(&s->rt->workers[worker]);
}

double heddle_sched_now(heddle_sched *s)
{
	return s->rt->now;
}

const char *heddle_sched_option_text(const heddle_sched *s, const char *name)
{
	int i = hd_policy_option_index(s->policy, name);
	return i < 0 ? NULL : s->options[i];
}

double heddle_sched_option(const heddle_sched *s, const char *name)
{
	int i = hd_policy_option_index(s->policy, name);
	return i < 0 ? (double)NAN : hd_policy_option_number(&s->policy->options[i], s->options[i]);
}

uint64_t heddle_sched_random(heddle_sched *s)
{
	return hd_rng_next(&s->rng);
}

int heddle_sched_fail(heddle_sched *s, int status, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return hd_error(status, "policy %s: %s", s->policy->name, text);
}

void heddle_sched_count(heddle_sched *s, const char *name, double value, const char *unit)
{
	if (s->on_report)
		s->on_report(s->report_arg, name, value, unit);
}

void heddle_sched_report(heddle_sched *s, const char *name, double value, const char *unit)
{
	if (s->on_report && !s->counts_alone)
		s->on_report(s->report_arg, name, value, unit);
}

unsigned heddle_sched_distance(const heddle_sched *s, unsigned a, unsigned b)
{
	return hd_topology_distance(s->rt->topology, s->rt->platform, a, b);
}

double heddle_sched_worker_free_at(heddle_sched *s, unsigned worker)
{
	return hd_worker_free_at(&s->rt->workers[worker], s->rt->now);
}

unsigned heddle_sched_calibrate(const heddle_sched *s)
{
	return s->rt->engine->times_are_given ? 0 : (unsigned)s->rt->config.calibrate;
}

/* --- One instance per runtime ------------------------------------------------------------------------------------- */

static const char *default_policy(const heddle_runtime *rt)
{
	const struct heddle_platform *p = rt->platform;
	const struct heddle_class *met = NULL; /* the class of the processors met so far */
	for (size_t w = 0; w < p->n_workers; w++) {
		const struct heddle_class *class_ = &p->classes[p->workers[w].class_id];
		if (class_->service)
			continue;
		if (met && met != class_)
			return "dmdas";
		met = class_;
	}
	return "lws";
}

/* Creates the instance. Returns 0, or the result of the policy's `create`. */
static int create(struct heddle_sched *s)
{
	hd_ask_forget(s->rt);
	hd_loads_forget(s->rt);
	hd_error_clear(); /* so that an error found after `create` comes from the policy */
	int status = s->policy->create(s, &s->state);
	hd_ask_begin(s->rt);
	if (status && !heddle_last_error()[0])
		hd_error(status, "policy %s could not be made: its create returned %d and called no heddle_sched_fail",
		         s->policy->name, status);
	return status > 0 ? HEDDLE_E_INVALID : status;
}

/* --- The tasks in the graph --------------------------------------------------------------------------------------- */

void hd_sched_submitted(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	if (t->kind != HD_TASK_CODELET)
		return;
	t->word = 0;
	if (!rt->sched.absent)
		rt->sched.policy->submitted(rt->sched.state, t);
}

void hd_sched_ended(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	t->special &= (uint16_t)~HD_TASK_WATCHED;
	if (t->kind == HD_TASK_CODELET && !rt->sched.absent && rt->sched.policy->ended)
		rt->sched.policy->ended(rt->sched.state, t);
}

uint64_t *heddle_task_word(heddle_task *t)
{
	return t->codelet->rt->sched.policy->submitted ? &t->word : NULL;
}

/* The tasks in the graph of which the policy is told, as far as `all` has room for them. */
struct watched {
	heddle_task **all;
	size_t n, capacity;
};

static void collect_watched(const heddle_task *t, void *arg)
{
	struct watched *w = arg;
	/* Relaxed, pairs with nothing: the core lock orders it with the stores in hd_set_state. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if (state == HD_OUTSIDE || state >= HD_RELEASED || t->kind != HD_TASK_CODELET ||
	    !(t->special & HD_TASK_WATCHED))
		return;
	if (w->n < w->capacity)
		w->all[w->n] = (heddle_task *)(uintptr_t)t;
	w->n++;
}

static int by_order(const void *a, const void *b)
{
	const heddle_task *x = *(heddle_task *const *)a, *y = *(heddle_task *const *)b;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Tells a new instance of the tasks that are in the graph already. */
static int tell_all(heddle_runtime *rt)
{
	struct watched w = {0};
	hd_pool_each(rt->pool, collect_watched, &w);
	if (!w.n)
		return 0;
	w = (struct watched){.all = malloc(w.n * sizeof *w.all), .capacity = w.n};
	if (!w.all)
		return hd_no_memory("the tasks of the policy");
	hd_pool_each(rt->pool, collect_watched, &w);
	qsort(w.all, w.n, sizeof *w.all, by_order);
	for (size_t i = 0; i < w.n; i++)
		hd_sched_submitted(rt, w.all[i]);
	free(w.all);
	return 0;
}

int hd_sched_open(heddle_runtime *rt)
{
	const char *name = rt->config.sched && rt->config.sched[0] ? rt->config.sched : "auto";
	if (strcmp(name, "auto") == 0)
		name = default_policy(rt);
	heddle_sched *s = &rt->sched;
	const struct heddle_policy *policy = heddle_policy_find(name);
	if (!policy)
		return HEDDLE_E_UNKNOWN;
	s->rt = rt;
	s->policy = policy;
	hd_rng_seed(&s->rng, rt->config.seed);
	int status = hd_policy_options_parse(policy, rt->config.sched_options, 1, &s->options);
	s->checked = !hd_policy_is_shipped(policy);
	s->special = rt->config.time_policy;
	if (!status)
		status = hd_ask_open(&s->ask, rt->n_workers);
	if (!status)
		status = hd_loads_open(rt);
	if (!status)
		status = create(s);
	if (status)
		s->policy = NULL;
	else if (policy->submitted)
		rt->special |= HD_TASK_WATCHED;
	return status;
}

void hd_sched_close(heddle_runtime *rt)
{
	heddle_sched *s = &rt->sched;
	if (s->policy && !s->absent)
		s->policy->destroy(s->state);
	hd_policy_options_free(s->options);
	hd_ask_close(&s->ask);
	hd_loads_close(&s->loads);
}

void hd_sched_forget(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct heddle_sched *s = &rt->sched;
	if (!s->absent)
		s->policy->destroy(s->state);
	s->state = NULL;
	s->absent = 1;
	s->born = HUGE_VAL;
}

int hd_sched_revive(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	struct heddle_sched *s = &rt->sched;
	/* the thread's error message, which the successful creation of a policy must not replace */
	struct hd_sentence before;
	hd_error_keep(&before);
	int status = create(s);
	if (status)
		return status;
	hd_error_give_back(&before);
	s->absent = 0;
	/* so that hd_sched_knows tells the tasks of the previous instance, picked earlier, from tasks of the new
	 * instance */
	rt->now = nextafter(rt->now, HUGE_VAL);
	s->born = rt->now;
	status = s->policy->submitted ? tell_all(rt) : 0;
	if (status)
		hd_sched_forget(rt);
	return status;
}

const char *heddle_runtime_policy(const heddle_runtime *rt)
{
	return rt ? rt->sched.policy->name : NULL;
}

static int report(heddle_runtime *rt, void (*f)(void *, const char *, double, const char *), void *arg,
                  int counts_alone)
{
	if (!rt || !f)
		return hd_error(HEDDLE_E_INVALID, "a report needs a runtime and somebody to tell");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	rt->sched.on_report = f;
	rt->sched.report_arg = arg;
	rt->sched.counts_alone = counts_alone;
	if (rt->sched.policy->report && !rt->sched.absent)
		rt->sched.policy->report(rt->sched.state, &rt->sched);
	rt->sched.on_report = NULL;
	hd_core_leave(rt);
	return 0;
}

int heddle_policy_report(heddle_runtime *rt, void (*f)(void *, const char *, double, const char *), void *arg)
{
	return report(rt, f, arg, 0);
}

int heddle_policy_counts(heddle_runtime *rt, void (*f)(void *, const char *, double, const char *), void *arg)
{
	return report(rt, f, arg, 1);
}
