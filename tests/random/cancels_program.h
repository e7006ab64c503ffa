/* What the programs of random_cancels.c are made of: data with plans, groups, and tasks that check what they see. */
#ifndef RANDOM_CANCELS_PROGRAM_H
#define RANDOM_CANCELS_PROGRAM_H

#include <stdarg.h>
#include "elements.h"
#include "platforms.h"
#include "threads_pool.h"

enum {
	MAX_ELEMENTS = 12,
	MAX_PIECES = 4,
	N_PLANS = 2,
	MAX_PLACES = 5,
	MAX_DATA = 60,
	MAX_TASKS = 2000,
	MAX_ACCESS = 3,
	MAX_GROUPS = 4,
	MAX_THREADS = 3
};

/* One registered vector, and what its elements must be. Whoever may write an element may write its `expected`: tasks
 * that reduce do so atomically. */
struct datum {
	heddle_data *handle;
	heddle_data *pieces[N_PLANS][MAX_PIECES];
	unsigned n, n_pieces[N_PLANS];
	uint64_t buffer[MAX_ELEMENTS], expected[MAX_ELEMENTS];
};

/* A datum that the program uses until it is given up: then another one takes its place. */
struct place {
	pthread_rwlock_t alive; /* who uses the handle reads, who gives it up writes */
	struct datum *datum;
};

struct group {
	pthread_rwlock_t alive; /* who uses the group reads, who frees it writes */
	heddle_group *handle;
};

struct run;

/* What becomes of one task. */
struct work;
struct record {
	struct run *run;
	_Atomic int submitted, runs, calls, status;
	int hierarchical, acts; /* whether its callback gives something up */
	struct work *outside;   /* of an external task: what it does; or NULL */
};

struct run {
	heddle_runtime *rt;
	heddle_codelet *plain, *host, *hierarchical, *reduction[2];
	int real;      /* kernels run */
	int commuting; /* most tasks of the program commute, on few data */
	unsigned n_places, n_groups, n_workers;
	struct place places[MAX_PLACES];
	struct group groups[MAX_GROUPS];
	struct datum data[MAX_DATA]; /* all that have been registered */
	_Atomic unsigned n_data, n_tasks;
	struct record tasks[MAX_TASKS];
	uint64_t seed;
	pthread_mutex_t problems;
	_Atomic int wrong;
	char problem[600];
};

/* The elements that a task names. */
struct use {
	struct datum *datum;
	unsigned first, n, piece;
	int mode, plan; /* -1: the whole */
	heddle_data *handle;
};

/* What a kernel is told. */
struct work {
	struct record *record;
	uint64_t k;
	unsigned n;
	int fails, by_event, acts;
	struct use use[MAX_ACCESS];
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

/* How a wait may end while tasks fail and are cancelled: but never as a deadlock. HEDDLE_E_STATE: a sub-graph named a
 * datum that had been given up. */
static void may_fail(struct run *r, int status, const char *what)
{
	if (status != HEDDLE_E_KERNEL && status != HEDDLE_E_CANCELLED && status != HEDDLE_E_STATE)
		must(r, status, what);
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

static void make_pieces(struct run *r, struct datum *d, int plan, unsigned n)
{
	heddle_plan *made;
	const struct heddle_filter f = {.kind = HEDDLE_SPLIT_VECTOR, .nx = n};
	if (must(r, heddle_plan_create(d->handle, &f, &made), "heddle_plan_create"))
		return;
	d->n_pieces[plan] = n;
	for (unsigned i = 0; i < n; i++)
		d->pieces[plan][i] = heddle_plan_child(made, i);
}

/* NULL: enough have been made. */
static struct datum *make_datum(struct run *r, struct hd_rng *rng)
{
	unsigned i = r->n_data++;
	if (i >= MAX_DATA) {
		r->n_data--;
		return NULL;
	}
	struct datum *d = &r->data[i];
	*d = (struct datum){.n = MAX_PIECES + below(rng, MAX_ELEMENTS - MAX_PIECES + 1)};
	for (unsigned e = 0; e < d->n; e++)
		d->buffer[e] = d->expected[e] = hd_rng_next(rng);
	must(r, heddle_vector(r->rt, d->buffer, d->n, sizeof d->buffer[0], &d->handle), "heddle_vector");
	must(r, heddle_data_set_reduction(d->handle, r->reduction[0], r->reduction[1]), "heddle_data_set_reduction");
	for (int plan = 0; plan < N_PLANS && !r->wrong; plan++)
		if (chance(rng, 0.6))
			make_pieces(r, d, plan, 1 + below(rng, MAX_PIECES));
	return d;
}

/* Gives a datum up and puts another one in its place, unless it is in use or no more can be made. Waits for nobody: it
 * may be called in a kernel. */
static void give_up(struct run *r, struct hd_rng *rng)
{
	struct place *place = &r->places[below(rng, r->n_places)];
	if (pthread_rwlock_trywrlock(&place->alive))
		return;
	struct datum *other = make_datum(r, rng);
	if (other) {
		must(r, heddle_data_give_up(place->datum->handle), "heddle_data_give_up");
		place->datum->handle = NULL;
		place->datum = other;
	}
	pthread_rwlock_unlock(&place->alive);
}

static void cancel_group(struct run *r, struct hd_rng *rng)
{
	struct group *g = &r->groups[below(rng, r->n_groups)];
	if (pthread_rwlock_tryrdlock(&g->alive))
		return;
	int n = heddle_group_cancel(g->handle);
	must(r, n < 0 ? n : 0, "heddle_group_cancel");
	pthread_rwlock_unlock(&g->alive);
}

/* What any thread may do at any moment, in kernels and callbacks, too. */
static void give_something_up(struct run *r, struct hd_rng *rng)
{
	unsigned what = below(rng, 10);
	if (what == 0)
		give_up(r, rng);
	else if (what == 1)
		must(r, heddle_cancel_all(r->rt) < 0 ? -1 : 0, "heddle_cancel_all");
	else
		cancel_group(r, rng);
}

/* A generator for a place where no thread's own is. */
static struct hd_rng rng_for(const struct record *record, uint64_t salt)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(hd_hash(record->run->seed, (uint64_t)(record - record->run->tasks)), salt));
	return rng;
}

static void act_for(const struct record *record, uint64_t salt)
{
	struct hd_rng rng = rng_for(record, salt);
	give_something_up(record->run, &rng);
	if (chance(&rng, 0.3))
		must(record->run, heddle_selfcheck(record->run->rt), "heddle_selfcheck in a task");
}

/* --- Kernels and callbacks ---------------------------------------------------------------------------------------- */

static int sees_other_values(const struct use *u, const struct mem *mem)
{
	for (unsigned e = 0; e < u->n; e++)
		if (*element(mem, e) != u->datum->expected[u->first + e])
			return 1;
	return 0;
}

static void write_values(const struct use *u, const struct mem *mem, uint64_t k)
{
	for (unsigned e = 0; e < u->n; e++) {
		uint64_t *x = element(mem, e), *expected = &u->datum->expected[u->first + e];
		if (u->mode == HEDDLE_REDUX) {
			*x += k;
			__atomic_fetch_add(expected, k,
			                   __ATOMIC_RELAXED); /* pairs with nothing: the tasks are ordered */
		} else if (u->mode == HEDDLE_SCRATCH) {
			*x = k;
		} else {
			*x = u->mode == HEDDLE_W ? k + e : *x * 3 + k;
			*expected = *x;
		}
	}
}

/* One that fails leaves something that nobody may see. */
static void use_data(const struct work *w, const struct mem *mem)
{
	for (unsigned i = 0; i < w->n; i++) {
		const struct use *u = &w->use[i];
		int reads = u->mode == HEDDLE_R || u->mode == HEDDLE_RW || u->mode == HEDDLE_COMMUTE;
		if (mem[i].m * mem[i].n != u->n || (reads && sees_other_values(u, &mem[i])))
			problem(w->record->run, "task %td sees wrong values in its datum %u",
			        w->record - w->record->run->tasks, i);
		else if (w->fails && u->mode != HEDDLE_R)
			write_elements(&mem[i], HEDDLE_W, w->k);
		else if (u->mode != HEDDLE_R)
			write_values(u, &mem[i], w->k);
	}
}

/* What a kernel has left to do. */
struct rest {
	struct job job;
	const struct work *work;
	struct mem mem[MAX_ACCESS];
	heddle_event *event;
};

static void do_rest(struct job *job)
{
	struct rest *rest = (struct rest *)(void *)job;
	const struct work *w = rest->work;
	struct run *r = w->record->run;
	use_data(w, rest->mem);
	if (w->acts)
		act_for(w->record, 2);
	must(r, w->fails ? heddle_event_fail(rest->event, 7, "told to fail") : heddle_fulfill(rest->event, 0),
	     "the end of an event");
	free(rest);
}

static heddle_data *handle_of(const struct use *u)
{
	return u->plan < 0 ? u->datum->handle : u->datum->pieces[u->plan][u->piece];
}

/* Whether the work may be an external task, which has no private copies. */
static int may_be_outside(const struct work *w)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->use[i].mode == HEDDLE_SCRATCH || w->use[i].mode == HEDDLE_REDUX)
			return 0;
	return w->by_event && (w->k & 2);
}

/* Begins an external task, whose copy of the work is the argument, which is freed after the end of the task. */
static void begin_outside(heddle_event *event, void *arg)
{
	const struct work *w = arg;
	struct rest *rest = array(1, sizeof *rest);
	*rest = (struct rest){.job.run = do_rest, .work = w, .event = event};
	w->record->runs++;
	for (unsigned i = 0; i < w->n; i++) {
		struct heddle_part part;
		must(w->record->run, heddle_data_part(w->use[i].handle, 0, &part), "heddle_data_part");
		rest->mem[i] = mem_of_part(&part);
	}
	if (w->acts)
		act_for(w->record, 1);
	leave_to_pool(&rest->job);
}

static int work_kernel(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	w->record->runs++;
	for (unsigned i = 0; i < w->n; i++)
		if (mem_of(c, i, &mem[i]))
			return problem(w->record->run, "a kernel has wrong arguments");
	if (w->acts)
		act_for(w->record, 1);
	if (w->by_event) {
		struct rest *rest = array(1, sizeof *rest);
		*rest = (struct rest){.job.run = do_rest, .work = w, .event = heddle_detach(c)};
		memcpy(rest->mem, mem, sizeof mem);
		if (!rest->event)
			return problem(w->record->run, "heddle_detach: %s", heddle_last_error());
		leave_to_pool(&rest->job);
		return 0;
	}
	use_data(w, mem);
	return w->fails ? heddle_fail(c, 7, "told to fail") : 0;
}

static void task_ended(void *arg, int status)
{
	struct record *record = arg;
	record->status = status;
	if (record->acts)
		act_for(record, 3);
	record->calls++;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* NULL: enough have been submitted. */
static struct record *new_record(struct run *r)
{
	unsigned i = r->n_tasks++;
	if (i >= MAX_TASKS) {
		r->n_tasks--;
		return NULL;
	}
	r->tasks[i] = (struct record){.run = r};
	return &r->tasks[i];
}

static void choose_piece(struct use *u, int plan, unsigned piece)
{
	unsigned n = u->datum->n_pieces[plan], base = u->datum->n / n, longer = u->datum->n % n;
	u->plan = plan;
	u->piece = piece;
	u->first = piece * base + (piece < longer ? piece : longer);
	u->n = base + (piece < longer);
}

/* Submits the work, which has all but its record; the items of the program are added to those of its data. Returns the
 * status of heddle_submit. */
static int submit_work(struct run *r, struct work *w, heddle_codelet *codelet, size_t n_more,
                       const struct heddle_item *more)
{
	struct heddle_item items[MAX_ACCESS + 8];
	size_t n = 0;
	struct record *record = w->record = new_record(r);
	if (!record)
		return 0;
	record->acts = w->acts && (w->k & 1);
	record->hierarchical = codelet == r->hierarchical;
	for (unsigned i = 0; i < w->n; i++) {
		w->use[i].handle = handle_of(&w->use[i]);
		items[n++] = heddle_access((enum heddle_mode)w->use[i].mode, w->use[i].handle);
	}
	if (codelet != r->hierarchical && may_be_outside(w)) {
		record->outside = array(1, sizeof *w);
		memcpy(record->outside, w, sizeof *w);
		items[n++] = heddle_outside(begin_outside, record->outside);
	} else {
		items[n++] = heddle_call(codelet);
		items[n++] = heddle_bytes(w, sizeof *w);
	}
	items[n++] = heddle_then(task_ended, record);
	for (size_t i = 0; i < n_more; i++)
		items[n++] = more[i];
	record->submitted = 1;
	int status = heddle_submit_items(r->rt, n, items);
	if (status)
		record->submitted = 0;
	return status;
}

/* Tasks on the pieces of the datum. Refused: it has been given up. */
static int submit_pieces(heddle_context *c)
{
	const struct work *outer = heddle_value_ptr(c, 0);
	struct run *r = outer->record->run;
	const struct use *whole = &outer->use[0];
	struct hd_rng rng = rng_for(outer->record, 4);
	static const int inner[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W, HEDDLE_COMMUTE};
	for (unsigned i = 0; i < 2 * MAX_PIECES; i++) {
		struct work w = {
		    .k = hd_rng_next(&rng), .n = 1, .acts = chance(&rng, 0.2), .by_event = chance(&rng, 0.2)};
		int plan = (int)below(&rng, N_PLANS);
		w.use[0] = (struct use){.datum = whole->datum,
		                        .mode = whole->mode == HEDDLE_R ? HEDDLE_R : inner[below(&rng, 4)]};
		if (!whole->datum->n_pieces[plan])
			continue;
		choose_piece(&w.use[0], plan, below(&rng, whole->datum->n_pieces[plan]));
		int status = submit_work(r, &w, r->host, 0, NULL);
		if (status && status != HEDDLE_E_STATE)
			return must(r, status, "heddle_submit in a sub-graph");
	}
	if (outer->acts) /* its own data it may not give up */
		cancel_group(r, &rng);
	return outer->fails;
}

#endif
