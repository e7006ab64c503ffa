/* What threads do to COUNTER and WILD data: they ask nobody, so Heddle may refuse. A handle is used while its lock is
 * held for reading, and ended, like the children, while it is held for writing: that much any program must see to. */
#ifndef RANDOM_THREADS_LOOSE_H
#define RANDOM_THREADS_LOOSE_H

#include "threads_run.h"

static struct datum *datum_of_step(struct run *r, const struct step *s)
{
	return &r->data[s->access[0].datum];
}

/* How often calls about such data were accepted and refused: if all were accepted, threads were never in each other's
 * way. */
static struct {
	_Atomic uint64_t accepted, refused;
} tally[N_KINDS];

/* Another thread was first: it is partitioned now, or not, or acquired. */
static int is_refusal(int status)
{
	return status == HEDDLE_E_STATE || status == HEDDLE_E_INVALID;
}

/* Whether a step on such data may have this status. Somebody's failure may have made a wild datum void; counters never
 * fail. */
static int judge(struct run *r, const struct step *s, const struct datum *d, int status)
{
	if (is_refusal(status)) {
		tally[s->kind].refused++;
		return 0;
	}
	tally[s->kind].accepted++;
	if (status == HEDDLE_E_CANCELLED && d->plan->share == WILD && r->program->failing)
		return 0;
	return must(r, status, kind_text(s->kind));
}

/* Who holds a datum must not wait for those who wait for it: 0 when the lock is not free then. */
static int begin_use(const struct actor *a, struct datum *d)
{
	if (!a->holds)
		return pthread_rwlock_rdlock(&d->alive) == 0;
	return pthread_rwlock_tryrdlock(&d->alive) == 0;
}

static void end_use(struct datum *d)
{
	pthread_rwlock_unlock(&d->alive);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Names the datum, or one of its pieces, and notes what the task will have added to it. */
static void name_loose(struct record *record, const struct plan_access *a, struct datum *d, struct heddle_item *item,
                       struct work *work)
{
	unsigned n = d->plan->without_pieces ? 0 : d->n_children, k = work->n++, first = 0, length = d->plan->n;
	int mode = a->mode;
	heddle_data *handle = d->handle;
	if (n) {
		handle = heddle_child(d->handle, a->child % n);
		cut_piece(d, n, a->child % n, 0, &first, &length);
		mode = mode != HEDDLE_REDUX ? mode : HEDDLE_COMMUTE;
	}
	*item = heddle_access((enum heddle_mode)mode, handle);
	work->modes[k] = mode;
	if (d->plan->share != COUNTER || mode == HEDDLE_R)
		return;
	record->adds[k].datum = d;
	record->adds[k].first = first;
	record->adds[k].n = length;
}

static int submit_loose(const struct actor *a, const struct step *s)
{
	struct run *r = a->run;
	struct record *record = &r->records[s - r->program->steps];
	struct work work = {.step = s, .record = record, .fails = s->fails};
	struct heddle_item items[MAX_ACCESS + 8];
	struct datum *used[MAX_ACCESS];
	for (unsigned i = 0; i < s->n; i++) { /* in the order of their numbers: no two threads wait for each other */
		struct datum *d = &r->data[s->access[i].datum];
		if (!begin_use(a, d))
			continue;
		used[work.n] = d;
		name_loose(record, &s->access[i], d, &items[work.n], &work);
	}
	size_t n = add_options(r, s, record, items, work.n);
	items[n++] = heddle_bytes(&work, sizeof work);
	record->expected = datum_of_step(r, s)->plan->share == WILD ? -1 : 0;
	record->submitted = 1; /* its callback may come before heddle_submit_items returns */
	int status = heddle_submit_items(r->rt, n, items);
	if (status)
		record->submitted = 0;
	for (unsigned i = 0; i < work.n; i++)
		end_use(used[i]);
	return judge(r, s, datum_of_step(r, s), status);
}

/* --- The program's own accesses ----------------------------------------------------------------------------------- */

static void use_loose(struct run *r, struct datum *d, const struct step *s)
{
	struct mem seen = seen_by_program(r, d->handle);
	int mode = s->access[0].mode;
	if (!seen.base || mode == HEDDLE_R)
		return;
	write_elements(&seen, d->plan->share == COUNTER ? HEDDLE_COMMUTE : HEDDLE_W, s->k);
	if (d->plan->share == COUNTER)
		add_expected(r, d, 0, d->plan->n, s->k);
}

/* Acquires it, and releases it unless it is to be held. */
static int acquire_loose(struct actor *a, struct datum *d, const struct step *s)
{
	struct run *r = a->run;
	begin_use(a, d);
	heddle_data *handle = d->handle;
	int status = heddle_acquire(handle, (enum heddle_mode)s->access[0].mode);
	if (!status) {
		use_loose(r, d, s);
		if (s->kind == HOLD) {
			a->holds = s;
			a->held = handle;
		} else {
			must(r, heddle_release(handle), "heddle_release");
		}
	}
	end_use(d);
	return judge(r, s, d, status);
}

static int prefetch_loose(const struct actor *a, struct datum *d, const struct step *s)
{
	if (!begin_use(a, d))
		return 0;
	unsigned n = d->plan->without_pieces ? 0 : d->n_children;
	heddle_data *handle = n ? heddle_child(d->handle, s->access[0].child % n) : d->handle;
	int status = heddle_prefetch(handle, s->node % a->run->n_nodes);
	end_use(d);
	return judge(a->run, s, d, status);
}

/* --- Pieces ------------------------------------------------------------------------------------------------------- */

static int split_loose(const struct actor *a, struct datum *d, const struct step *s)
{
	begin_use(a, d);
	unsigned pieces = (unsigned)s->pieces < d->plan->n ? (unsigned)s->pieces : d->plan->n;
	const struct heddle_filter f = {
	    .kind = s->halo ? HEDDLE_SPLIT_HALO : HEDDLE_SPLIT_VECTOR, .nx = pieces, .halo = s->halo ? 1 : 0};
	int status = heddle_partition(d->handle, &f, NULL);
	if (!status)
		d->n_children = pieces; /* nobody joins it before the lock is given back, if the pieces are used */
	end_use(d);
	return judge(a->run, s, d, status);
}

/* Nobody uses the children while their end is submitted. */
static int join_loose(struct run *r, struct datum *d, const struct step *s)
{
	if (d->plan->without_pieces)
		pthread_rwlock_rdlock(&d->alive);
	else
		pthread_rwlock_wrlock(&d->alive);
	int status = heddle_unpartition(d->handle);
	if (!status)
		d->n_children = 0;
	end_use(d);
	return judge(r, s, d, status);
}

/* --- The end of a handle ------------------------------------------------------------------------------------------ */

/* Nobody uses the handle. It stays when it is acquired, or in pieces that are not joined. */
static int end_handle(struct run *r, struct datum *d, int join)
{
	int status = join ? heddle_unpartition(d->handle) : 0;
	if (!is_refusal(status) && must(r, status, "heddle_unpartition"))
		return status;
	if (join)
		d->n_children = 0;
	status = heddle_unregister(d->handle);
	if (!is_refusal(status))
		d->handle = NULL;
	return status;
}

static int recycle_loose(struct run *r, struct datum *d, const struct step *s)
{
	pthread_rwlock_wrlock(&d->alive);
	int status = end_handle(r, d, s->k & 1);
	if (!d->handle)
		register_datum(r, d);
	end_use(d);
	return judge(r, s, d, status);
}

/* After the last task. */
static int finish_loose(struct run *r, struct datum *d)
{
	static const struct step last = {.kind = RECYCLE};
	if (judge(r, &last, d, end_handle(r, d, 1)))
		return -1;
	if (d->handle)
		return problem(r, "d%u is still held or in pieces in the end: %s", (unsigned)(d - r->data),
		               heddle_last_error());
	struct mem own = {d->buffer, d->plan->n, 1, d->plan->n}, known = whole(d);
	if (r->real && d->plan->share == COUNTER && !same(&own, &known))
		return problem(r, "d%u is not the sum of what succeeded", (unsigned)(d - r->data));
	return 0;
}

/* Says how often threads were in each other's way; -1 when some kind of step never was, or always. */
static int check_tally(uint64_t n_programs)
{
	enum { ENOUGH_PROGRAMS = 1000 };
	int wrong = 0;
	for (int k = 0; k < N_KINDS; k++) {
		unsigned long long accepted = tally[k].accepted, refused = tally[k].refused;
		if (!accepted && !refused)
			continue;
		printf("  %s: %llu accepted, %llu refused\n", kind_text(k), accepted, refused);
		wrong |= !accepted || !refused;
	}
	if (!wrong || n_programs < ENOUGH_PROGRAMS)
		return 0;
	fprintf(stderr, "threads were not in each other's way often enough\n");
	return -1;
}

#endif
