/* Carrying out the programs of threads_program.h: the objects, and the data whose every value is known.
 * What threads do to data that they do not order is in threads_loose.h. */
#ifndef RANDOM_THREADS_RUN_H
#define RANDOM_THREADS_RUN_H

#include "threads_kernels.h"

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
	/* a datum that was void when it was split is healed when all its pieces have been written */
	d->is_void = 0;
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
