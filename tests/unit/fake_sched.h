/* A fake core for policies: it implements what heddle/policy.h offers to them, on tasks whose times, data and workers
 * the test writes down, and checks what a policy may not do (give a task twice, or to a worker that cannot run it).
 *
 * It defines functions of the core, so a program that includes this is linked with a part of the library that has no
 * core: tests/CMakeLists.txt sees to it. */
#ifndef FAKE_SCHED_H
#define FAKE_SCHED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <heddle/policy.h>
#include "../wrapped.h"
#include "base/base.h"
#include "policies/policies.h"

static long fake_memory = -1; /* allocations that succeed from now on; -1: all */

void *__wrap_calloc(size_t n, size_t size)
{
	if (fake_memory == 0)
		return NULL;
	fake_memory -= fake_memory > 0;
	return __real_calloc(n, size);
}

enum { FAKE_WORKERS = 64, FAKE_CLASSES = 3, FAKE_DATA = 3, FAKE_SUCCESSORS = 8, FAKE_REPORTS = 2048 };

struct heddle_codelet {
	const char *name;
	double time[FAKE_CLASSES]; /* us; NAN: not known yet */
	unsigned samples[FAKE_CLASSES];
};

struct heddle_data {
	uint64_t bytes;
	uint32_t valid; /* nodes, as bits */
};

struct heddle_task {
	struct heddle_task_links link;
	int priority;
	uint64_t order, word;
	heddle_codelet *codelet;
	uint64_t workers; /* those that can run it, as bits */
	heddle_data *data[FAKE_DATA];
	enum heddle_mode mode[FAKE_DATA];
	size_t n_data;
	heddle_task *successors[FAKE_SUCCESSORS];
	size_t n_successors;
	unsigned n_preds;
	int fetched_to; /* the last node it was prefetched to; -1: none */
	int worker;     /* who was given it; -1: nobody yet */
	int ready, done;
};

struct heddle_sched {
	const struct heddle_policy *policy;
	void *state;
	char **values;
	struct heddle_platform platform;
	struct heddle_class classes[FAKE_CLASSES];
	struct heddle_worker workers[FAKE_WORKERS];
	struct heddle_node nodes[FAKE_WORKERS];
	double now, free_at[FAKE_WORKERS], backlog[FAKE_WORKERS]; /* us: free_at is when the running kernel ends */
	struct {
		double free_at, backlog;
		int driven;
	} told[FAKE_WORKERS]; /* what heddle_sched_moved found when it was called last */
	int has_told;
	unsigned moved[FAKE_WORKERS];
	unsigned group[FAKE_WORKERS];                  /* of each worker: heddle_sched_group */
	uint64_t closed;                               /* groups, as bits */
	unsigned distance[FAKE_WORKERS][FAKE_WORKERS]; /* all 0: levels of a binary tree over the numbers */
	unsigned calibrate;
	uint64_t out;                 /* workers that are not driven, as bits */
	double us_per_byte;           /* of every link */
	unsigned alike[FAKE_WORKERS]; /* per node: heddle_sched_alike */
	struct hd_rng rng;
	char report_names[FAKE_REPORTS][96];
	double report_values[FAKE_REPORTS];
	size_t n_reports;
};

static uint64_t fake_questions, fake_priorities; /* calls of heddle_task_can_run and heddle_task_priority */

/* --- What policies call ------------------------------------------------------------------------------------------- */

const struct heddle_platform *heddle_sched_platform(const heddle_sched *s)
{
	return &s->platform;
}

double heddle_sched_now(heddle_sched *s)
{
	return s->now;
}

double heddle_sched_option(const heddle_sched *s, const char *name)
{
	int i = hd_policy_option_index(s->policy, name);
	assert_true(i >= 0);
	return hd_policy_option_number(&s->policy->options[i], s->values[i]);
}

const char *heddle_sched_option_text(const heddle_sched *s, const char *name)
{
	int i = hd_policy_option_index(s->policy, name);
	assert_true(i >= 0);
	return s->values[i];
}

int heddle_sched_fail(heddle_sched *s, int status, const char *format, ...)
{
	return hd_error(status, "policy %s: %s", s->policy->name, format);
}

const char *heddle_codelet_name(const heddle_codelet *codelet)
{
	return codelet->name;
}

uint64_t heddle_sched_random(heddle_sched *s)
{
	return hd_rng_next(&s->rng);
}

void heddle_sched_report(heddle_sched *s, const char *name, double value, const char *unit)
{
	assert_non_null(unit);
	assert_true(s->n_reports < FAKE_REPORTS);
	snprintf(s->report_names[s->n_reports], sizeof s->report_names[0], "%s", name);
	s->report_values[s->n_reports++] = value;
}

void heddle_sched_count(heddle_sched *s, const char *name, double value, const char *unit)
{
	heddle_sched_report(s, name, value, unit);
}

unsigned heddle_sched_distance(const heddle_sched *s, unsigned a, unsigned b)
{
	return s->distance[a][b] ? s->distance[a][b] : a == b ? 0 : 32 - (unsigned)__builtin_clz(a ^ b);
}

double heddle_sched_worker_free_at(heddle_sched *s, unsigned worker)
{
	return (s->free_at[worker] > s->now ? s->free_at[worker] : s->now) + s->backlog[worker];
}

void heddle_sched_worker_load(heddle_sched *s, unsigned worker, double *until, double *backlog)
{
	*until = s->free_at[worker];
	*backlog = s->backlog[worker];
}

/* Names only workers that have changed, so a policy that misses one is found out. */
size_t heddle_sched_moved(heddle_sched *s, const unsigned **workers)
{
	size_t n = 0;
	for (unsigned w = 0; w < s->platform.n_workers; w++) {
		int driven = !(s->out >> w & 1);
		if (!s->has_told || s->told[w].free_at != s->free_at[w] || s->told[w].backlog != s->backlog[w] ||
		    s->told[w].driven != driven)
			s->moved[n++] = w;
		s->told[w].free_at = s->free_at[w];
		s->told[w].backlog = s->backlog[w];
		s->told[w].driven = driven;
	}
	s->has_told = 1;
	*workers = s->moved;
	return n;
}

void heddle_sched_group(heddle_sched *s, unsigned worker, unsigned group)
{
	assert_true(group < s->platform.n_workers);
	s->group[worker] = group;
}

void heddle_sched_open(heddle_sched *s, unsigned group, int open)
{
	assert_true(group < s->platform.n_workers);
	s->closed = open ? s->closed & ~((uint64_t)1 << group) : s->closed | (uint64_t)1 << group;
}

unsigned heddle_sched_calibrate(const heddle_sched *s)
{
	return s->calibrate;
}

struct heddle_task_links *heddle_task_link(heddle_task *t)
{
	return &t->link;
}

int heddle_task_priority(const heddle_task *t)
{
	fake_priorities++;
	return t->priority;
}

uint64_t heddle_task_order(const heddle_task *t)
{
	return t->order;
}

heddle_codelet *heddle_task_codelet(const heddle_task *t)
{
	return t->codelet;
}

static const heddle_sched *fake_running; /* for questions that name no instance */

int heddle_task_can_run(const heddle_task *t, unsigned worker)
{
	fake_questions++;
	return (t->workers & ~fake_running->out) >> worker & 1;
}

int heddle_task_can_run_all(const heddle_task *t, unsigned class_id)
{
	(void)t, (void)class_id;
	return -1;
}

int heddle_task_can_run_class(const heddle_task *t, unsigned class_id)
{
	for (unsigned w = 0; w < fake_running->platform.n_workers; w++)
		if (((t->workers & ~fake_running->out) >> w & 1) && fake_running->workers[w].class_id == class_id)
			return 1;
	return 0;
}

int heddle_sched_driven(const heddle_sched *s, unsigned worker)
{
	return !(s->out >> worker & 1);
}

int heddle_task_could_run(const heddle_task *t, unsigned worker)
{
	fake_questions++;
	return (t->workers >> worker) & 1;
}

int heddle_task_could_run_class(const heddle_task *t, unsigned class_id)
{
	for (unsigned w = 0; w < fake_running->platform.n_workers; w++)
		if (((t->workers >> w) & 1) && fake_running->workers[w].class_id == class_id)
			return 1;
	return 0;
}

double heddle_task_time(const heddle_task *t, unsigned class_id)
{
	return heddle_task_can_run_class(t, class_id) ? t->codelet->time[class_id] : (double)NAN;
}

unsigned heddle_task_samples(const heddle_task *t, unsigned class_id)
{
	return t->codelet->samples[class_id];
}

uint64_t heddle_task_missing_bytes(const heddle_task *t, unsigned node)
{
	uint64_t missing = 0;
	for (size_t i = 0; i < t->n_data; i++)
		missing += (t->data[i]->valid >> node) & 1 ? 0 : t->data[i]->bytes;
	return missing;
}

double heddle_task_transfer_time(const heddle_task *t, unsigned node)
{
	return fake_running->us_per_byte * (double)heddle_task_missing_bytes(t, node);
}

void heddle_task_transfer_times(const heddle_task *t, double *us)
{
	for (unsigned node = 0; node < fake_running->platform.n_nodes; node++)
		us[node] = heddle_task_transfer_time(t, node);
}

unsigned heddle_sched_alike(const heddle_sched *s, unsigned node)
{
	return s->alike[node];
}

size_t heddle_task_transfer_times_apart(const heddle_task *t, double *far, double *us, unsigned *nodes)
{
	uint64_t all = 0;
	size_t n = 0;
	for (size_t i = 0; i < t->n_data; i++)
		all += t->data[i]->bytes;
	for (unsigned node = 0; node < fake_running->platform.n_nodes; node++) {
		far[node] = node ? fake_running->us_per_byte * (double)all : (double)INFINITY;
		us[node] = NAN;
		if (node && heddle_task_missing_bytes(t, node) == all)
			continue;
		us[node] = heddle_task_transfer_time(t, node);
		nodes[n++] = node;
	}
	return n;
}

void heddle_task_arrivals(const heddle_task *t, double *us, double *transfer)
{
	heddle_task_transfer_times(t, transfer);
	for (unsigned node = 0; node < fake_running->platform.n_nodes; node++)
		us[node] = fake_running->now + transfer[node];
}

uint64_t *heddle_task_word(heddle_task *t)
{
	return &t->word;
}

int heddle_task_is_plain(const heddle_task *t)
{
	return !t->n_successors;
}

void heddle_task_prefetch(heddle_task *t, unsigned node)
{
	t->fetched_to = (int)node;
}

size_t heddle_task_n_data(const heddle_task *t)
{
	return t->n_data;
}

heddle_data *heddle_task_data(const heddle_task *t, size_t i)
{
	return t->data[i];
}

enum heddle_mode heddle_task_mode(const heddle_task *t, size_t i)
{
	return t->mode[i];
}

uint64_t heddle_data_bytes(const heddle_data *d)
{
	return d->bytes;
}

int heddle_data_valid_on(const heddle_data *d, unsigned node)
{
	return (d->valid >> node) & 1;
}

void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *, unsigned, void *), void *arg)
{
	(void)once;
	for (size_t i = 0; i < t->n_successors; i++)
		f(t->successors[i], t->successors[i]->n_preds, arg);
}

/* --- What tests call ---------------------------------------------------------------------------------------------- */

/* `n_cpu` workers of class 0 on node 0, then `n_gpu` of class 1, each on a node of its own. */
static inline void fake_open(heddle_sched *s, const char *policy, const char *options, unsigned n_cpu, unsigned n_gpu)
{
	*s = (heddle_sched){.policy = heddle_policy_find(policy), .us_per_byte = 1};
	assert_non_null(s->policy);
	static char cpu[] = "cpu", cuda[] = "cuda";
	s->classes[0] = (struct heddle_class){.name = cpu, .kind = cpu, .cores = 1, .pipeline = 1, .streams = 1};
	s->classes[1] = (struct heddle_class){.name = cuda, .kind = cuda, .cores = 1, .pipeline = 2, .streams = 1};
	for (unsigned w = 0; w < n_cpu + n_gpu; w++)
		s->workers[w] = (struct heddle_worker){.class_id = w >= n_cpu, .node = w >= n_cpu ? 1 + w - n_cpu : 0};
	s->platform = (struct heddle_platform){.classes = s->classes,
	                                       .n_classes = n_gpu ? 2 : 1,
	                                       .workers = s->workers,
	                                       .n_workers = n_cpu + n_gpu,
	                                       .nodes = s->nodes,
	                                       .n_nodes = 1 + n_gpu};
	for (unsigned node = 0; node < FAKE_WORKERS; node++)
		s->alike[node] = node;
	hd_rng_seed(&s->rng, 1);
	fake_running = s;
	if (hd_policy_options_parse(s->policy, options, 0, &s->values))
		fail_msg("%s", heddle_last_error());
}

/* Separate from fake_open, so that tests can change distances, calibration ... in between. */
static inline void fake_start(heddle_sched *s)
{
	assert_int_equal(s->policy->create(s, &s->state), HEDDLE_OK);
}

static inline void fake_close(heddle_sched *s)
{
	s->policy->destroy(s->state);
	hd_policy_options_free(s->values);
}

static inline heddle_task fake_task(heddle_codelet *codelet, uint64_t order, int priority)
{
	return (heddle_task){.codelet = codelet,
	                     .order = order,
	                     .priority = priority,
	                     .workers = UINT64_MAX,
	                     .fetched_to = -1,
	                     .worker = -1};
}

static inline void fake_ready(heddle_sched *s, heddle_task *t, int releaser)
{
	assert_false(t->ready);
	t->ready = 1;
	if (s->policy->submitted && !t->word)
		s->policy->submitted(s->state, t);
	s->policy->ready(s->state, &t, 1, releaser);
}

/* The task that the worker is given, checked; NULL: none. Its link is overwritten: it is not the policy's any more. */
static inline heddle_task *fake_pick(heddle_sched *s, unsigned worker)
{
	int closed = s->closed >> s->group[worker] & 1; /* the core would not ask this worker */
	heddle_task *t = s->policy->pick(s->state, worker);
	if (!t)
		return NULL;
	assert_false(closed);
	assert_true(t->ready);
	assert_int_equal(t->worker, -1);
	assert_true((t->workers >> worker) & 1);
	t->worker = (int)worker;
	memset(&t->link, 0xee, sizeof t->link);
	return t;
}

static inline void fake_done(heddle_sched *s, heddle_task *t)
{
	assert_true(t->worker >= 0 && !t->done);
	t->done = 1;
	if (s->policy->done)
		s->policy->done(s->state, t, (unsigned)t->worker);
	if (s->policy->ended)
		s->policy->ended(s->state, t);
}

/* A statistic that the policy reports. */
static inline double fake_report(heddle_sched *s, const char *name)
{
	s->n_reports = 0;
	s->policy->report(s->state, s);
	for (size_t i = 0; i < s->n_reports; i++)
		if (strcmp(s->report_names[i], name) == 0)
			return s->report_values[i];
	fail_msg("policy %s does not report '%s'", s->policy->name, name);
	return NAN;
}

/* --- Tasks by number ---------------------------------------------------------------------------------------------- */

static heddle_codelet plain = {.name = "plain", .time = {10, 2, 10}, .samples = {99, 99, 99}};
static heddle_task tasks[4096];

/* Tasks 0 .. n-1 of codelet plain, priority 0, any worker. */
static inline void make_tasks(size_t n)
{
	for (size_t i = 0; i < n; i++)
		tasks[i] = fake_task(&plain, i, 0);
}

/* Tasks 0 .. n-1, task i of codelets[i], whose times count as known; priority 0, any worker. */
static inline void set_codelets(heddle_codelet *codelets, size_t n)
{
	make_tasks(n);
	for (size_t i = 0; i < n; i++) {
		for (int c = 0; c < FAKE_CLASSES; c++)
			codelets[i].samples[c] = 99;
		tasks[i].codelet = &codelets[i];
	}
}

static inline void ready_all(heddle_sched *s, size_t n, int releaser)
{
	for (size_t i = 0; i < n; i++)
		fake_ready(s, &tasks[i], releaser);
}

/* The next picks of a worker are these tasks, by number; -1: none. */
static inline void assert_picks(heddle_sched *s, unsigned worker, size_t n, const int *expected)
{
	for (size_t i = 0; i < n; i++) {
		heddle_task *t = fake_pick(s, worker);
		int got = t ? (int)(t - tasks) : -1;
		if (got != expected[i])
			fail_msg("%s, pick %zu of worker %u: task %d instead of %d", s->policy->name, i, worker, got,
			         expected[i]);
	}
}
#define ASSERT_PICKS(s, worker, ...) \
	assert_picks(s, worker, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

#endif
