/* Random programs of many threads, as values: what each thread does, step by step, made from a seed and printed on
 * demand. threads_run.h carries them out.
 *
 * What may be known about the result depends on the datum:
 *  - OWN: one thread alone uses it. Its contents, and the status of every call and task, are those of a sequential run.
 *  - LOCKED: all threads use it, one at a time, under a lock of the program, which so decides the order: the same
 *    holds.
 *  - SUM: all threads add to it whenever they like. What it is in the end is known, for sums have no order.
 *  - COUNTER: the same, but threads also split it, join it, acquire it and end it, without asking each other: calls may
 *    be refused. In the end it is the sum of what succeeded.
 *  - WILD: anything at any time, failures included. Nothing may crash, hang or be reported as a deadlock, and
 *    everything that was submitted ends.
 */
#ifndef RANDOM_THREADS_PROGRAM_H
#define RANDOM_THREADS_PROGRAM_H

#include "support.h"

enum {
	MAX_THREADS = 50,
	MAX_STEPS = 400, /* of all threads */
	MAX_DATA = 2 * MAX_THREADS + 8,
	MAX_ACCESS = 3,
	MAX_ELEMENTS = 24,
	MAX_CHAIN = 3 /* tasks that callbacks submit one after another */
};

enum share { OWN, LOCKED, SUM, COUNTER, WILD, N_SHARES };

struct plan_datum {
	enum share share;
	unsigned owner, n;  /* OWN: its thread; elements */
	int temporary;      /* it has no buffer of the program's */
	int without_pieces; /* nobody uses its children, so it may be split and joined without any order */
};

enum step_kind { SUBMIT, ACQUIRE, HOLD, LET_GO, SPLIT, JOIN, PREFETCH, WAIT_TASK, WAIT_ALL, RECYCLE, ASK, N_KINDS };

struct plan_access {
	unsigned datum, child; /* if it is in pieces when the step is carried out: which, modulo their number */
	int mode;
};

struct step {
	enum step_kind kind;
	struct plan_access access[MAX_ACCESS]; /* what the step is about: [0], and all of them for SUBMIT */
	unsigned n;
	uint64_t k;       /* goes into the result */
	int pieces, halo; /* SPLIT */
	unsigned node;    /* PREFETCH, modulo their number */
	int after;        /* SUBMIT, WAIT_TASK: a step of this thread that submitted; -1: none */
	int priority, on; /* on: the only worker, modulo their number; -1: any */
	unsigned codelet; /* modulo their number */
	unsigned chain;   /* tasks that its callback submits, each in the callback of the one before */
	int kept;         /* the program keeps a reference */
	int fails;
	int without_waiting; /* RECYCLE */
	int kernel_submits;
	enum { WITH_KERNEL, BY_EVENT, BY_TWO_EVENTS, BY_EVENT_OF_KERNEL, N_ENDS } ends; /* SUBMIT: how the task ends */
	int looks; /* heddle_selfcheck in the kernel and in the callback */
};

struct plan_thread {
	unsigned first, n; /* of the steps */
};

struct program {
	uint64_t seed;
	int failing, loose; /* some kernels fail; there are COUNTER and WILD data */
	unsigned n_threads, n_data, n_steps;
	struct plan_datum data[MAX_DATA];
	struct plan_thread threads[MAX_THREADS];
	struct step steps[MAX_STEPS];
};

/* What the generator leaves out, so that one can find out what a failure is about. */
struct left_out {
	int loose, splits, holds, failures, nested, events;
};

/* --- Data --------------------------------------------------------------------------------------------------------- */

static inline void add_data(struct program *p, struct hd_rng *rng, enum share share, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct plan_datum *d = &p->data[p->n_data++];
		d->share = share;
		/* mostly large, or there would always be room for them */
		d->n = chance(rng, 0.3) ? 1 + below(rng, MAX_ELEMENTS) : MAX_ELEMENTS - below(rng, MAX_ELEMENTS / 4);
		d->temporary = share != SUM && share != COUNTER && chance(rng, 0.2);
		d->without_pieces = chance(rng, 0.5);
	}
}

static inline void plan_data(struct program *p, struct hd_rng *rng)
{
	for (unsigned t = 0; t < p->n_threads; t++) {
		unsigned first = p->n_data;
		add_data(p, rng, OWN, 1 + below(rng, 2));
		for (unsigned i = first; i < p->n_data; i++)
			p->data[i].owner = t;
	}
	add_data(p, rng, SUM, 1 + below(rng, 2));
	add_data(p, rng, LOCKED, below(rng, 3));
	if (p->loose) {
		add_data(p, rng, COUNTER, 1 + below(rng, 2));
		add_data(p, rng, WILD, 1 + below(rng, 2));
	}
}

/* A datum of one of the kinds in the set `shares` (bits), which thread t may use; -1: there is none. */
static inline int pick_datum(const struct program *p, struct hd_rng *rng, unsigned t, unsigned shares)
{
	unsigned n = 0;
	int found = -1;
	for (unsigned i = 0; i < p->n_data; i++) {
		const struct plan_datum *d = &p->data[i];
		if ((shares >> d->share & 1) && (d->share != OWN || d->owner == t) && below(rng, ++n) == 0)
			found = (int)i;
	}
	return found;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static inline int pick_mode(const struct program *p, struct hd_rng *rng, enum share share)
{
	static const int all[] = {HEDDLE_R,  HEDDLE_R,       HEDDLE_W,       HEDDLE_RW,
	                          HEDDLE_RW, HEDDLE_SCRATCH, HEDDLE_COMMUTE, HEDDLE_REDUX};
	static const int adding[] = {HEDDLE_COMMUTE, HEDDLE_REDUX};
	if (share == SUM)
		return adding[below(rng, 2)];
	if (share == COUNTER)
		return chance(rng, 0.2) ? HEDDLE_R : adding[below(rng, 2)];
	/* What a failure makes void depends on the order, which these leave open. */
	return all[below(rng, p->failing && share != WILD ? 6 : 8)];
}

static inline void plan_accesses(const struct program *p, struct hd_rng *rng, unsigned t, struct step *s,
                                 unsigned shares)
{
	unsigned wanted = 1 + below(rng, MAX_ACCESS);
	for (unsigned i = 0; i < wanted; i++) {
		int datum = pick_datum(p, rng, t, shares);
		for (unsigned j = 0; j < s->n; j++)
			if (datum == (int)s->access[j].datum)
				datum = -1;
		if (datum < 0)
			continue;
		s->access[s->n++] =
		    (struct plan_access){(unsigned)datum, below(rng, 1000), pick_mode(p, rng, p->data[datum].share)};
	}
}

static inline int by_datum(const void *a, const void *b)
{
	const struct plan_access *left = a, *right = b;
	return (int)left->datum - (int)right->datum;
}

/* An earlier step of the thread that submitted a task and kept it. */
static inline int pick_task(const struct program *p, struct hd_rng *rng, const struct plan_thread *thread)
{
	unsigned n = 0;
	int found = -1;
	for (unsigned i = thread->first; i < p->n_steps; i++)
		if (p->steps[i].kind == SUBMIT && p->steps[i].kept && below(rng, ++n) == 0)
			found = (int)i;
	return found;
}

/* What a task may use together: only of some data is it known whether the task will end well. */
static inline unsigned pick_shares(const struct program *p, struct hd_rng *rng)
{
	static const unsigned loose[] = {1u << COUNTER, 1u << WILD};
	if (p->loose && chance(rng, 0.6))
		return loose[below(rng, 2)];
	return 1u << OWN | 1u << SUM | 1u << LOCKED;
}

static inline void plan_task(const struct program *p, struct hd_rng *rng, unsigned t, struct step *s, int holding,
                             const struct left_out *out)
{
	unsigned shares = pick_shares(p, rng);
	int exact = (shares >> OWN & 1) != 0;
	if (holding)
		shares &= ~(1u << LOCKED); /* who has the lock may wait for what this thread holds */
	s->kind = SUBMIT;
	plan_accesses(p, rng, t, s, shares);
	if (!exact)
		qsort(s->access, s->n, sizeof s->access[0], by_datum); /* the order in which they are locked */
	s->after = exact && chance(rng, 0.15) ? pick_task(p, rng, &p->threads[t]) : -1;
	s->priority = chance(rng, 0.5) ? (int)below(rng, 11) - 5 : 0;
	s->codelet = chance(rng, 0.7) ? 0 : below(rng, 3);
	s->on = s->codelet == 0 && chance(rng, 0.1) ? (int)below(rng, 8) : -1;
	s->kept = exact && chance(rng, 0.4);
	s->fails = p->failing && shares != 1u << COUNTER && chance(rng, 0.1);
	s->looks = chance(rng, 0.3);
	if (!out->events && chance(rng, 0.3))
		s->ends = BY_EVENT + below(rng, N_ENDS - BY_EVENT);
	if (out->nested)
		return;
	s->chain = chance(rng, 0.2) ? 1 + below(rng, MAX_CHAIN) : 0;
	s->kernel_submits = chance(rng, 0.1);
}

/* A step about one datum. Of kinds of data that make no sense with it there is none, so it may be about nothing. */
static inline void plan_other(const struct program *p, struct hd_rng *rng, unsigned t, struct step *s)
{
	static const unsigned about[N_KINDS] = {
	    [ACQUIRE] = 1u << OWN | 1u << LOCKED | 1u << SUM | 1u << COUNTER | 1u << WILD,
	    [HOLD] = 1u << OWN | 1u << COUNTER | 1u << WILD,
	    [SPLIT] = 1u << OWN | 1u << LOCKED | 1u << COUNTER | 1u << WILD,
	    [JOIN] = 1u << OWN | 1u << LOCKED | 1u << COUNTER | 1u << WILD,
	    [PREFETCH] = 1u << OWN | 1u << SUM | 1u << COUNTER | 1u << WILD,
	    [ASK] = 1u << OWN,
	    [RECYCLE] = 1u << OWN | 1u << LOCKED | 1u << COUNTER | 1u << WILD,
	};
	static const int modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W};
	int datum = pick_datum(p, rng, t, about[s->kind]);
	if (datum < 0)
		return;
	int adds = p->data[datum].share == SUM || p->data[datum].share == COUNTER;
	s->access[s->n++] = (struct plan_access){(unsigned)datum, below(rng, 1000), modes[below(rng, adds ? 2 : 3)]};
	s->pieces = 1 + (int)below(rng, 6);
	s->halo = p->data[datum].share != COUNTER && chance(rng, 0.2);
	s->node = below(rng, 8);
	s->without_waiting = chance(rng, 0.3);
}

static inline struct step *new_step(struct program *p, struct hd_rng *rng, enum step_kind kind)
{
	struct step *s = &p->steps[p->n_steps];
	*s = (struct step){.kind = kind, .k = hd_rng_next(rng), .after = -1, .on = -1};
	return s;
}

/* A few tasks, submitted while the thread holds a datum. */
static inline void plan_tasks(struct program *p, struct hd_rng *rng, unsigned t, unsigned end,
                              const struct left_out *out)
{
	for (unsigned n = below(rng, 4); n > 0 && p->n_steps + 1 < end; n--) {
		plan_task(p, rng, t, new_step(p, rng, SUBMIT), 1, out);
		p->n_steps++;
	}
}

/* The thread acquires a datum and goes on before it lets go, but does nothing that could wait for what it holds: so no
 * wait in the program may be reported as a deadlock. It may wait for all if nobody else uses the datum. */
static inline void plan_hold(struct program *p, struct hd_rng *rng, unsigned t, unsigned end,
                             const struct left_out *out)
{
	struct step *hold = new_step(p, rng, HOLD);
	plan_other(p, rng, t, hold);
	if (!hold->n || p->n_steps + 2 > end)
		return;
	p->n_steps++;
	if (p->data[hold->access[0].datum].share == OWN && chance(rng, 0.3)) {
		new_step(p, rng, WAIT_ALL);
		p->n_steps++;
	} else {
		plan_tasks(p, rng, t, end, out);
	}
	struct step *let_go = new_step(p, rng, LET_GO);
	let_go->access[let_go->n++] = hold->access[0];
	p->n_steps++;
}

static inline void plan_step(struct program *p, struct hd_rng *rng, unsigned t, unsigned end,
                             const struct left_out *out)
{
	static const enum step_kind others[] = {ACQUIRE, ACQUIRE,  HOLD,      HOLD,      SPLIT,    SPLIT,   SPLIT, JOIN,
	                                        JOIN,    PREFETCH, WAIT_TASK, WAIT_TASK, WAIT_ALL, RECYCLE, ASK,   ASK};
	enum step_kind kind = chance(rng, 0.6) ? SUBMIT : others[below(rng, sizeof others / sizeof *others)];
	struct step *s = new_step(p, rng, kind);
	if ((kind == SPLIT && out->splits) || (kind == HOLD && out->holds))
		kind = SUBMIT;
	switch (kind) {
	case SUBMIT: plan_task(p, rng, t, s, 0, out); break;
	case HOLD: plan_hold(p, rng, t, end, out); return;
	case WAIT_ALL: break;
	case WAIT_TASK:
		s->after = pick_task(p, rng, &p->threads[t]);
		if (s->after < 0)
			return;
		break;
	default:
		plan_other(p, rng, t, s);
		if (!s->n)
			return;
	}
	p->n_steps++;
}

static inline void plan_program(struct program *p, uint64_t seed, const struct left_out *out)
{
	static const unsigned few[] = {1, 2, 2, 3, 4, 8};
	struct hd_rng rng;
	hd_rng_seed(&rng, seed);
	memset(p, 0, sizeof *p);
	p->seed = seed;
	p->n_threads = chance(&rng, 0.1) ? 1 + below(&rng, MAX_THREADS) : few[below(&rng, 6)];
	p->failing = !out->failures && chance(&rng, 0.25);
	p->loose = !out->loose && chance(&rng, 0.5);
	plan_data(p, &rng);
	unsigned budget = (40 + below(&rng, 120)) / p->n_threads + 2;
	for (unsigned t = 0; t < p->n_threads; t++) {
		struct plan_thread *thread = &p->threads[t];
		thread->first = p->n_steps;
		for (unsigned tries = 0; tries < 3 * budget && p->n_steps < thread->first + budget; tries++)
			plan_step(p, &rng, t, thread->first + budget, out);
		thread->n = p->n_steps - thread->first;
	}
}

/* --- Printing ----------------------------------------------------------------------------------------------------- */

static inline const char *mode_text(int mode)
{
	switch (mode) {
	case HEDDLE_R: return "r";
	case HEDDLE_W: return "w";
	case HEDDLE_RW: return "rw";
	case HEDDLE_SCRATCH: return "scratch";
	case HEDDLE_REDUX: return "redux";
	default: return "commute";
	}
}

static inline const char *kind_text(enum step_kind kind)
{
	static const char *const kinds[N_KINDS] = {
	    "submit",   "acquire and release", "acquire", "release", "split", "join", "prefetch",
	    "wait for", "wait for all",        "recycle", "ask"};
	return kinds[kind];
}

static inline void print_step(const struct program *p, unsigned index)
{
	const struct step *s = &p->steps[index];
	printf("    %u: %s", index, kind_text(s->kind));
	for (unsigned i = 0; i < s->n; i++)
		printf(" %s(d%u[%u])", mode_text(s->access[i].mode), s->access[i].datum, s->access[i].child);
	if (s->kind == SPLIT)
		printf(" into %d%s", s->pieces, s->halo ? " that overlap" : "");
	if (s->without_waiting && s->kind == RECYCLE)
		printf(" without waiting");
	if (s->kind == PREFETCH)
		printf(" to node %u", s->node);
	if (s->after >= 0)
		printf("%s %d", s->kind == SUBMIT ? " after" : "", s->after);
	if (s->kind == SUBMIT)
		printf(" codelet %u priority %d", s->codelet, s->priority);
	if (s->on >= 0)
		printf(" on %d", s->on);
	static const char *const ends[N_ENDS] = {"", " ends by an event", " ends by two events",
	                                         " ends by an event of its kernel"};
	printf("%s%s%s%s", ends[s->ends], s->kept ? " kept" : "", s->fails ? " fails" : "",
	       s->kernel_submits ? " kernel submits" : "");
	if (s->chain)
		printf(" callback submits %u", s->chain);
	printf("\n");
}

static inline void print_program(const struct program *p)
{
	static const char *const shares[N_SHARES] = {"own", "locked", "sum", "counter", "wild"};
	printf("seed %llu: %u threads%s%s\n", (unsigned long long)p->seed, p->n_threads, p->failing ? ", failing" : "",
	       p->loose ? ", loose" : "");
	for (unsigned i = 0; i < p->n_data; i++)
		printf("  d%u: %s%s, %u elements\n", i, shares[p->data[i].share],
		       p->data[i].temporary ? ", temporary" : "", p->data[i].n);
	for (unsigned t = 0; t < p->n_threads; t++) {
		printf("  thread %u:\n", t);
		for (unsigned i = 0; i < p->threads[t].n; i++)
			print_step(p, p->threads[t].first + i);
	}
}

#endif
