/* The state of a program of threads_program.h while it is carried out, and the kernels and callbacks of its tasks. */
#ifndef RANDOM_THREADS_KERNELS_H
#define RANDOM_THREADS_KERNELS_H

#include <sched.h>
#include <stdarg.h>
#include "elements.h"
#include "threads_pool.h"
#include "threads_program.h"

struct run;

/* A datum and what a sequential run would have left in it by now. OWN: only its thread touches this; LOCKED: under
 * run.lock; SUM and COUNTER: `expected` under run.sums. */
struct datum {
	const struct plan_datum *plan;
	heddle_data *handle;
	uint64_t *buffer; /* NULL: a temporary */
	uint64_t expected[MAX_ELEMENTS];
	_Atomic unsigned n_children; /* it is in so many pieces */
	int overlap;                 /* they overlap */
	int is_void;                 /* a task failed that should have written it */
	int child_void[MAX_ELEMENTS];
	/* COUNTER and WILD: who uses the handle, or its children, reads; who ends either writes */
	pthread_rwlock_t alive;
};

/* What becomes of one task. */
struct record {
	struct run *run;
	_Atomic int submitted, runs, calls, status, ended;
	int expected; /* status; -1: any that is possible */
	heddle_task *held;
	unsigned left; /* of the chain of its callbacks */
	/* COUNTER: what it adds, if it succeeds */
	_Atomic uint64_t sum;
	struct {
		struct datum *datum;
		unsigned first, n;
	} adds[MAX_ACCESS];
};

struct run {
	const struct program *program;
	heddle_runtime *rt;
	heddle_codelet *codelets[3], *add_one, *reduction[2];
	unsigned n_codelets, n_workers, n_nodes;
	int real, traced; /* kernels run and bytes move; events are recorded */
	struct datum data[MAX_DATA];
	struct record records[MAX_STEPS]; /* by step */
	struct datum *nested_sum;         /* that nested tasks add to */
	_Atomic unsigned n_nested, n_nested_ended;
	pthread_mutex_t lock, sums, problems;
	_Atomic int wrong;
	char problem[600]; /* the first thing that went wrong */
};

/* A thread of the program. */
struct actor {
	struct run *run;
	unsigned index;
	const struct step *holds; /* the step that acquired what it holds; NULL: nothing */
	heddle_data *held;
	uint64_t held_value[MAX_ELEMENTS];
	double last_now;
};

static int problem(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int problem(struct run *r, const char *format, ...)
{
	pthread_mutex_lock(&r->problems);
	if (!r->wrong) {
		va_list args;
		va_start(args, format);
		vsnprintf(r->problem, sizeof r->problem, format, args);
		va_end(args);
		r->wrong = 1;
	}
	pthread_mutex_unlock(&r->problems);
	return -1;
}

static int must(struct run *r, int status, const char *what)
{
	return status ? problem(r, "%s: %s, %s", what, heddle_status_name(status), heddle_last_error()) : 0;
}

static int must_be(struct run *r, int status, int expected, const char *what, const struct datum *d)
{
	if (status == expected)
		return 0;
	return problem(r, "%s of d%u returned %s instead of %s: %s", what, (unsigned)(d - r->data),
	               heddle_status_name(status), heddle_status_name(expected), status ? heddle_last_error() : "");
}

static int is_exact(const struct datum *d)
{
	return d->plan->share == OWN || d->plan->share == LOCKED;
}

static void add_expected(struct run *r, struct datum *d, unsigned first, unsigned n, uint64_t s)
{
	pthread_mutex_lock(&r->sums);
	for (unsigned e = 0; e < n; e++)
		d->expected[first + e] += s + e;
	pthread_mutex_unlock(&r->sums);
}

/* --- Nested submissions ------------------------------------------------------------------------------------------- */

/* From a kernel or a callback: a task that adds something to a sum. */
static void submit_nested(struct record *r, heddle_callback then)
{
	struct run *run = r->run;
	struct datum *d = run->nested_sum;
	run->n_nested++;
	add_expected(run, d, 0, d->plan->n, 1);
	must(run, heddle_submit(run->rt, heddle_call(run->add_one), heddle_commute(d->handle), heddle_then(then, r)),
	     "a nested submission");
}

static void nested_ended(void *arg, int status)
{
	struct record *r = arg;
	r->run->n_nested_ended++;
	must(r->run, status, "a nested task");
}

/* Each task of the chain is submitted by the callback of the one before. */
static void chain_ended(void *arg, int status)
{
	struct record *r = arg;
	if (r->left-- > 1)
		submit_nested(r, chain_ended);
	nested_ended(arg, status);
}

/* --- Kernels and callbacks ---------------------------------------------------------------------------------------- */

/* What a kernel is told. */
struct work {
	struct record *record, *after;
	const struct step *step;
	unsigned n;
	int modes[MAX_ACCESS], fails;
};

static int add_one_kernel(heddle_context *c)
{
	struct mem a;
	if (mem_of(c, 0, &a))
		return 1;
	write_elements(&a, HEDDLE_COMMUTE, 1);
	return 0;
}

static unsigned number_of(const struct work *w)
{
	return (unsigned)(w->step - w->record->run->program->steps);
}

static void do_work(const struct work *w, const struct mem *mem)
{
	struct run *r = w->record->run;
	uint64_t s = 0;
	if (compute(w->step->k, w->n, w->modes, mem, &s))
		problem(r, "the work of step %u saw a shared scratch buffer", number_of(w));
	w->record->sum = s;
	if (w->step->looks)
		must(r, heddle_selfcheck(r->rt), "heddle_selfcheck in a kernel");
	w->record->ended = !w->fails;
}

/* What a kernel has left to do, or to end. The values and the data are the task's until it ends. */
struct rest {
	struct job job;
	const struct work *work;
	struct mem mem[MAX_ACCESS];
	heddle_event *first, *last; /* `first` may be NULL */
	int kernel_failed;
};

static void do_rest(struct job *job)
{
	struct rest *rest = (struct rest *)(void *)job;
	const struct work *w = rest->work;
	struct run *r = w->record->run;
	if (rest->first)
		must(r, heddle_fulfill(rest->first, 0), "heddle_fulfill");
	if (!rest->kernel_failed)
		do_work(w, rest->mem);
	if (w->fails && !rest->kernel_failed)
		must(r, heddle_event_fail(rest->last, 7, "step %u was told to fail", number_of(w)),
		     "heddle_event_fail");
	else
		must(r, heddle_fulfill(rest->last, 0), "heddle_fulfill");
	free(rest);
}

/* NULL, after a problem: there are no events. */
static struct rest *begin_rest(heddle_context *c, const struct work *w)
{
	struct rest *rest = array(1, sizeof *rest);
	*rest = (struct rest){
	    .job.run = do_rest,
	    .work = w,
	    .first = w->step->ends == BY_TWO_EVENTS ? heddle_detach(c) : NULL,
	    .last = heddle_detach(c),
	    .kernel_failed = w->fails && (w->step->k & 1),
	};
	if (rest->last && (w->step->ends != BY_TWO_EVENTS || rest->first))
		return rest;
	free(rest);
	must(w->record->run, -1, "heddle_detach");
	return NULL;
}

static int leave_rest(heddle_context *c, const struct work *w, const struct mem *mem)
{
	struct rest *rest = begin_rest(c, w);
	if (!rest)
		return -1;
	memcpy(rest->mem, mem, sizeof rest->mem);
	int status =
	    rest->kernel_failed ? heddle_fail(c, 7, "the kernel of step %u was told to fail", number_of(w)) : 0;
	if (w->step->ends == BY_EVENT_OF_KERNEL)
		do_rest(&rest->job);
	else
		leave_to_pool(&rest->job);
	return status;
}

static int may_detach(const struct work *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->modes[i] == HEDDLE_SCRATCH || w->modes[i] == HEDDLE_REDUX)
			return 0;
	return 1;
}

/* What a kernel does before its work. */
static int begin_work(heddle_context *c, const struct work *w)
{
	struct run *r = w->record->run;
	if (heddle_context_n_data(c) != w->n || (w->after && !w->after->ended))
		return problem(r, "kernel %u saw wrong arguments, or ran too early", number_of(w));
	w->record->runs++;
	if (w->step->kernel_submits) /* not later: a thread of the pool might wait for the window for ever */
		submit_nested(w->record, nested_ended);
	if (w->step->ends != WITH_KERNEL && !may_detach(w) && heddle_detach(c))
		return problem(r, "kernel %u got an event although it uses private copies", number_of(w));
	return 0;
}

static int work_kernel(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS] = {{0}};
	for (unsigned i = 0; i < w->n; i++)
		if (mem_of(c, i, &mem[i]))
			return problem(w->record->run, "kernel %u saw wrong arguments", number_of(w));
	if (begin_work(c, w))
		return -1;
	if (w->step->ends != WITH_KERNEL && may_detach(w))
		return leave_rest(c, w, mem);
	do_work(w, mem);
	return w->fails ? heddle_fail(c, 7, "kernel %u was told to fail", number_of(w)) : 0;
}

static void task_ended(void *arg, int status)
{
	struct record *r = arg;
	struct run *run = r->run;
	const struct step *step = &run->program->steps[r - run->records];
	r->status = status;
	for (unsigned i = 0; i < MAX_ACCESS && status == 0; i++)
		if (r->adds[i].datum)
			add_expected(run, r->adds[i].datum, r->adds[i].first, r->adds[i].n, r->sum);
	if (step->looks)
		must(run, heddle_selfcheck(run->rt), "heddle_selfcheck in a callback");
	r->left = step->chain;
	if (r->left)
		submit_nested(r, chain_ended);
	r->calls++;
}

#endif
