/* Carrying out the programs of threads_program.h: the objects, the kernels, and the data whose every value is known.
 * What threads do to data that they do not order is in threads_loose.h. */
#ifndef RANDOM_THREADS_RUN_H
#define RANDOM_THREADS_RUN_H

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
	int is_void, lost;           /* a task failed that should have written it; it was void when it was split */
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
		must(r, heddle_check(r->rt), "heddle_check in a kernel");
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

static int leave_rest(heddle_context *c, const struct work *w, const struct mem *mem)
{
	struct rest *rest = array(1, sizeof *rest);
	*rest = (struct rest){
	    .job.run = do_rest,
	    .work = w,
	    .first = w->step->ends == BY_TWO_EVENTS ? heddle_detach(c) : NULL,
	    .last = heddle_detach(c),
	    .kernel_failed = w->fails && (w->step->k & 1),
	};
	memcpy(rest->mem, mem, sizeof rest->mem);
	if (!rest->last || (w->step->ends == BY_TWO_EVENTS && !rest->first)) {
		free(rest);
		return must(w->record->run, -1, "heddle_detach");
	}
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

static int work_kernel(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct run *r = w->record->run;
	struct mem mem[MAX_ACCESS] = {{0}};
	int bad = heddle_context_n_data(c) != w->n || (w->after && !w->after->ended);
	for (unsigned i = 0; i < w->n && !bad; i++)
		bad = mem_of(c, i, &mem[i]);
	if (bad)
		return problem(r, "kernel %u saw wrong arguments, or ran too early", number_of(w));
	w->record->runs++;
	if (w->step->kernel_submits) /* not later: a thread of the pool might wait for the window for ever */
		submit_nested(w->record, nested_ended);
	if (w->step->ends != WITH_KERNEL && may_detach(w))
		return leave_rest(c, w, mem);
	if (w->step->ends != WITH_KERNEL && heddle_detach(c))
		return problem(r, "kernel %u got an event although it uses private copies", number_of(w));
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
		must(run, heddle_check(run->rt), "heddle_check in a callback");
	r->left = step->chain;
	if (r->left)
		submit_nested(r, chain_ended);
	r->calls++;
}

/* --- Handles ------------------------------------------------------------------------------------------------------ */

static struct mem whole(struct datum *d)
{
	return (struct mem){d->expected, d->plan->n, 1, d->plan->n};
}

/* Piece i of n nearly equal ones, widened by `halo` on both sides. */
static void cut_piece(const struct datum *d, unsigned n, unsigned i, unsigned halo, unsigned *first, unsigned *length)
{
	unsigned base = d->plan->n / n, longer = d->plan->n % n;
	unsigned begin = i * base + (i < longer ? i : longer), end = begin + base + (i < longer);
	begin -= begin < halo ? begin : halo;
	end = end + halo < d->plan->n ? end + halo : d->plan->n;
	*first = begin;
	*length = end - begin;
}

static struct mem piece(struct datum *d, unsigned i)
{
	unsigned first, n;
	cut_piece(d, d->n_children, i, d->overlap ? 1 : 0, &first, &n);
	return (struct mem){d->expected + first, n, 1, n};
}

/* What the program sees of a datum that it holds. In virtual time there is nothing to see. */
static struct mem seen_by_program(struct run *r, heddle_data *handle)
{
	struct heddle_part part = {.base = NULL};
	if (r->real && !must(r, heddle_data_part(handle, 0, &part), "heddle_data_part"))
		return (struct mem){part.base, part.n_dims ? part.n[0] : 1, 1, part.n_dims ? part.n[0] : 1};
	return (struct mem){NULL, 0, 0, 0};
}

/* Registers the datum; one without a buffer gets its value from a first acquisition. */
static int register_datum(struct run *r, struct datum *d)
{
	int status =
	    must(r, heddle_vector(r->rt, d->buffer, d->plan->n, sizeof(uint64_t), &d->handle), "heddle_vector");
	if (!status)
		status = must(r, heddle_data_set_reduction(d->handle, r->reduction[0], r->reduction[1]),
		              "heddle_data_set_reduction");
	if (status || d->buffer)
		return status;
	if (must(r, heddle_acquire(d->handle, HEDDLE_W), "the first heddle_acquire"))
		return -1;
	struct mem seen = seen_by_program(r, d->handle);
	for (size_t e = 0; e < seen.m; e++)
		seen.base[e] = d->expected[e];
	return must(r, heddle_release(d->handle), "the first heddle_release");
}

/* --- Submission --------------------------------------------------------------------------------------------------- */

/* The datum or its piece, as it is named in a task; where its reference value lies. */
static heddle_data *resolve(struct datum *d, const struct plan_access *a, int *mode, struct mem *mem, int **is_void)
{
	unsigned n = d->n_children;
	*mode = a->mode;
	*is_void = &d->is_void;
	*mem = whole(d);
	if (!n)
		return d->handle;
	*mem = piece(d, a->child % n);
	*is_void = &d->child_void[a->child % n];
	if (d->overlap)
		*mode = HEDDLE_R;
	else if (a->mode == HEDDLE_REDUX)
		*mode = HEDDLE_RW; /* pieces have no reduction */
	return heddle_child(d->handle, a->child % n);
}

static size_t add_options(struct run *r, const struct step *s, struct record *record, struct heddle_item *items,
                          size_t n)
{
	items[n++] = heddle_call(r->codelets[s->codelet % r->n_codelets]);
	items[n++] = heddle_then(task_ended, record);
	if (s->priority)
		items[n++] = heddle_priority(s->priority);
	if (s->on >= 0)
		items[n++] = heddle_on((unsigned)s->on % r->n_workers);
	if (s->after >= 0 && r->records[s->after].held)
		items[n++] = heddle_after(r->records[s->after].held);
	if (s->kept)
		items[n++] = heddle_out(&record->held);
	return n;
}

/* One task on data whose values are known, and what a sequential run does with it. */
struct known_task {
	struct work work;
	struct heddle_item items[MAX_ACCESS + 8];
	struct mem mem[MAX_ACCESS];
	int *is_void[MAX_ACCESS];
	uint64_t scratch[MAX_ACCESS][MAX_ELEMENTS]; /* what is written and forgotten, or will be added */
	struct datum *adds[MAX_ACCESS];
};

/* Whether the task will succeed, fail or be cancelled. */
static int foresee(struct run *r, const struct step *s)
{
	int status = s->fails && r->real ? HEDDLE_E_KERNEL : 0;
	if (s->after >= 0 && r->records[s->after].held && r->records[s->after].expected)
		status = HEDDLE_E_CANCELLED;
	for (unsigned i = 0; i < s->n; i++) {
		struct mem mem;
		int mode, *is_void;
		resolve(&r->data[s->access[i].datum], &s->access[i], &mode, &mem, &is_void);
		if (*is_void && mode != HEDDLE_W && mode != HEDDLE_SCRATCH)
			status = HEDDLE_E_CANCELLED;
	}
	return status;
}

static void name_accesses(struct run *r, const struct step *s, struct known_task *t, int status)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct datum *d = &r->data[s->access[i].datum];
		unsigned k = t->work.n;
		if (d->plan->share == SUM && status)
			continue; /* others add to it: it must not become void */
		heddle_data *handle = resolve(d, &s->access[i], &t->work.modes[k], &t->mem[k], &t->is_void[k]);
		t->items[k] = heddle_access((enum heddle_mode)t->work.modes[k], handle);
		t->adds[k] = d->plan->share == SUM ? d : NULL;
		if (t->adds[k] || t->work.modes[k] == HEDDLE_SCRATCH)
			t->mem[k] = (struct mem){t->scratch[k], t->mem[k].m, 1, t->mem[k].m};
		t->work.n++;
	}
}

static void run_reference(struct run *r, struct known_task *t, const struct step *s, int status)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < t->work.n; i++)
		if (t->work.modes[i] != HEDDLE_SCRATCH && t->work.modes[i] != HEDDLE_R && !t->adds[i])
			*t->is_void[i] = status != 0;
	if (status)
		return;
	compute(s->k, t->work.n, t->work.modes, t->mem, &sum);
	for (unsigned i = 0; i < t->work.n; i++)
		if (t->adds[i])
			add_expected(r, t->adds[i], 0, t->adds[i]->plan->n, sum);
}

static int submit_known(struct run *r, const struct step *s)
{
	struct known_task t = {.work = {.step = s, .record = &r->records[s - r->program->steps]}};
	struct record *record = t.work.record;
	record->expected = foresee(r, s);
	t.work.fails = s->fails;
	if (s->after >= 0 && r->records[s->after].held)
		t.work.after = &r->records[s->after];
	name_accesses(r, s, &t, record->expected);
	run_reference(r, &t, s, record->expected);
	size_t n = add_options(r, s, record, t.items, t.work.n);
	t.items[n++] = heddle_bytes(&t.work, sizeof t.work);
	record->submitted = 1;
	return must(r, heddle_submit_items(r->rt, n, t.items), "heddle_submit_items");
}

/* --- The program's own accesses ----------------------------------------------------------------------------------- */

/* What the program does with a datum that it has just acquired. */
static int use_known(struct run *r, struct datum *d, const struct step *s, int mode)
{
	struct mem seen = seen_by_program(r, d->handle), known = whole(d);
	if (r->real && mode != HEDDLE_W && !same(&seen, &known))
		return problem(r, "step %u: d%u has another value than in a sequential run",
		               (unsigned)(s - r->program->steps), (unsigned)(d - r->data));
	if (mode != HEDDLE_R) {
		write_elements(&known, mode, s->k);
		if (r->real)
			write_elements(&seen, mode, s->k);
		d->is_void = 0;
	}
	return 0;
}

/* 1 when the thread holds it now. */
static int acquire_known(struct run *r, struct datum *d, const struct step *s)
{
	int mode = s->access[0].mode;
	int expected = d->n_children ? HEDDLE_E_STATE : d->is_void && mode != HEDDLE_W ? HEDDLE_E_CANCELLED : 0;
	if (must_be(r, heddle_acquire(d->handle, (enum heddle_mode)mode), expected, "heddle_acquire", d))
		return -1;
	if (expected)
		return 0;
	return use_known(r, d, s, mode) ? -1 : 1;
}

/* A sum has no value that could be compared before the end. */
static int acquire_sum(struct run *r, struct datum *d, const struct step *s)
{
	int mode = s->access[0].mode;
	if (must(r, heddle_acquire(d->handle, (enum heddle_mode)mode), "heddle_acquire of a sum"))
		return -1;
	struct mem seen = seen_by_program(r, d->handle);
	if (mode == HEDDLE_RW && r->real) {
		write_elements(&seen, HEDDLE_COMMUTE, s->k);
		add_expected(r, d, 0, d->plan->n, s->k);
	}
	return must(r, heddle_release(d->handle), "heddle_release of a sum");
}

static int hold_known(struct actor *a, struct datum *d, const struct step *s)
{
	int got = acquire_known(a->run, d, s);
	if (got <= 0)
		return got;
	a->holds = s;
	a->held = d->handle;
	memcpy(a->held_value, d->expected, sizeof a->held_value);
	return 0;
}

/* The program is busy with it, now and then for long. */
static void dawdle(uint64_t k)
{
	enum { SHORT = 3, LONG = 300 };
	for (int i = k & 3 ? SHORT : LONG; i > 0; i--)
		sched_yield();
}

static int let_go(struct actor *a, const struct datum *d)
{
	struct run *r = a->run;
	if (!a->holds)
		return 0;
	dawdle(a->holds->k >> 8);
	struct mem seen = seen_by_program(r, a->held), then = {a->held_value, d->plan->n, 1, d->plan->n};
	if (r->real && is_exact(d) && !same(&seen, &then))
		return problem(r, "d%u changed while thread %u held it", (unsigned)(d - r->data), a->index);
	a->holds = NULL;
	return must(r, heddle_release(a->held), "heddle_release");
}

/* --- Pieces ------------------------------------------------------------------------------------------------------- */

static int split_known(struct run *r, struct datum *d, const struct step *s)
{
	unsigned pieces = (unsigned)s->pieces < d->plan->n ? (unsigned)s->pieces : d->plan->n;
	const struct heddle_filter f = {
	    .kind = s->halo ? HEDDLE_SPLIT_HALO : HEDDLE_SPLIT_VECTOR, .nx = pieces, .halo = s->halo ? 1 : 0};
	size_t n = 0;
	int status = heddle_partition(d->handle, &f, &n);
	if (d->n_children)
		return must_be(r, status, HEDDLE_E_STATE, "heddle_partition again", d);
	if (must(r, status, "heddle_partition"))
		return -1;
	if (n != pieces)
		return problem(r, "heddle_partition made %zu children instead of %u", n, pieces);
	d->overlap = s->halo;
	d->lost = d->is_void;
	for (unsigned i = 0; i < pieces; i++)
		d->child_void[i] = d->is_void;
	d->n_children = pieces;
	return 0;
}

static int join_known(struct run *r, struct datum *d)
{
	int expected = d->n_children ? 0 : HEDDLE_E_STATE;
	if (must_be(r, heddle_unpartition(d->handle), expected, "heddle_unpartition", d))
		return -1;
	if (expected)
		return 0;
	d->is_void = d->lost;
	for (unsigned i = 0; i < d->n_children; i++)
		d->is_void |= d->child_void[i];
	d->n_children = 0;
	return 0;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static int wait_for_task(struct run *r, const struct step *s)
{
	struct record *record = &r->records[s->after];
	if (!record->held)
		return 0;
	int status = heddle_task_wait(record->held);
	if (status != record->expected || !heddle_task_done(record->held))
		return problem(r, "the wait for the task of step %d returned %s instead of %s: %s", s->after,
		               heddle_status_name(status), heddle_status_name(record->expected),
		               status ? heddle_last_error() : "");
	if (s->k & 1) {
		heddle_task_release(record->held);
		record->held = NULL;
	}
	return 0;
}

static int wait_for_all(struct run *r)
{
	int status = heddle_wait_all(r->rt);
	int may_fail = r->program->failing && (status == HEDDLE_E_KERNEL || status == HEDDLE_E_CANCELLED);
	return may_fail ? 0 : must(r, status, "heddle_wait_all");
}

/* --- The end of a handle ------------------------------------------------------------------------------------------ */

/* Unregisters it, looks at the result, and registers it again if `anew`. A temporary is looked at before. */
static int recycle_known(struct run *r, struct datum *d, const struct step *s, int anew)
{
	if (d->n_children && join_known(r, d))
		return -1;
	const struct step look = {.access = {{.mode = HEDDLE_R}}, .n = 1};
	if (!d->buffer) {
		int got = acquire_known(r, d, s ? s : &look);
		if (got < 0 || (got && must(r, heddle_release(d->handle), "heddle_release")))
			return -1;
	}
	if (s && s->without_waiting) {
		if (must(r, heddle_unregister_async(d->handle), "heddle_unregister_async") || wait_for_all(r))
			return -1;
	} else if (must_be(r, heddle_unregister(d->handle), d->is_void ? HEDDLE_E_CANCELLED : 0, "heddle_unregister",
	                   d)) {
		return -1;
	}
	d->handle = NULL;
	struct mem own = {d->buffer, d->plan->n, 1, d->plan->n}, known = whole(d);
	if (d->buffer && d->is_void)
		memcpy(d->expected, d->buffer, d->plan->n * sizeof(uint64_t)); /* anything may be there */
	if (d->buffer && r->real && !same(&own, &known))
		return problem(r, "d%u ends with another value than in a sequential run", (unsigned)(d - r->data));
	d->is_void = 0;
	return anew ? register_datum(r, d) : 0;
}

#endif
