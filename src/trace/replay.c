/* Dependencies computed from accesses: see replay.h. For each datum the last two groups of tasks with compatible
 * accesses are kept. The next task waits for the current group, or joins the current group and waits for the group
 * before it. */
#include "replay.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/grow.h"

/* Ids of tasks. Most groups have one member, a writer, which needs no memory of its own. */
struct group {
	size_t n, max; /* max 0: the only member is `one` */
	union {
		uint64_t one;
		uint64_t *many; /* owns */
	} u;
};

struct datum {
	struct group current, before;
	uint32_t mode; /* mode of the current group; 0: tasks can join the group only through `plan` */
	/* not 0: all tasks of the current group use handles below the datum, through this plan; `changes`: 1: some of
	 * the tasks write these handles */
	uint32_t plan;
	uint8_t changes;
	/* for a child: the datum that its plan splits, and the plan, counted from 1; `of_plan` 0: the datum is no
	 * child */
	uint32_t parent, of_plan;
};

/* How a task uses a datum: the datum itself or, through a plan, a handle below it. */
struct use {
	struct datum *datum;
	uint32_t mode; /* HEDDLE_R if the task only reads the handle below */
	uint32_t plan; /* 0: the datum itself */
};

/* The tasks for which a named control stands: the tasks for which it waited. */
struct stand_in {
	uint64_t id; /* id of the control; the first field, because hd_search reads it */
	struct group tasks;
};

struct hd_replay {
	struct datum *data; /* owns */
	size_t n_data;
	struct stand_in *stand_ins; /* owns; sorted by id */
	size_t n_stand_ins, max_stand_ins;
	struct group waits; /* the tasks for which the present task waits */
	void (*edge)(uint64_t from, uint64_t to, void *arg);
	void *arg;
	int failed;
};

static uint64_t *members(struct group *g)
{
	return g->max ? g->u.many : &g->u.one;
}

static void group_free(struct group *g)
{
	if (g->max)
		free(g->u.many);
}

static int group_room(struct group *g, size_t n)
{
	if (n <= (g->max ? g->max : 1))
		return 0;
	size_t max = g->max ? g->max : 2;
	while (max < n)
		max *= 2;
	uint64_t *many = realloc(g->max ? g->u.many : NULL, max * sizeof *many);
	if (!many)
		return hd_no_memory("dependencies");
	if (!g->max)
		many[0] = g->u.one;
	g->u.many = many;
	g->max = max;
	return 0;
}

static void group_add(struct hd_replay *r, struct group *g, const uint64_t *ids, size_t n)
{
	if (r->failed || group_room(g, g->n + n)) {
		r->failed = 1;
		return;
	}
	if (n)
		memcpy(members(g) + g->n, ids, n * sizeof *ids);
	g->n += n;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts the ids and drops duplicates. */
static void group_tidy(struct group *g)
{
	uint64_t *ids = members(g);
	size_t n = 0;
	if (g->n > 1)
		qsort(ids, g->n, sizeof *ids, by_id);
	for (size_t i = 0; i < g->n; i++)
		if (n == 0 || ids[i] != ids[n - 1])
			ids[n++] = ids[i];
	g->n = n;
}

/* A SCRATCH access does not use the value of the datum, but has the place of a reader in the chain. */
static uint32_t chain_mode(uint32_t mode)
{
	return mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
}

static int joins(const struct use *u)
{
	const struct datum *d = u->datum;
	if (u->plan && u->plan == d->plan)
		return 1;
	if (d->plan ? d->changes : u->mode != d->mode)
		return 0;
	return u->mode == HEDDLE_R || (!u->plan && !d->plan && (u->mode == HEDDLE_COMMUTE || u->mode == HEDDLE_REDUX));
}

static struct use first_use(struct hd_replay *r, const struct heddle_graph_access *a)
{
	return (struct use){&r->data[a->data], chain_mode(a->mode), 0};
}

/* Goes on to the parent of the datum. Returns 0 if there is none. */
static int next_use(struct hd_replay *r, struct use *u)
{
	u->plan = u->datum->of_plan;
	u->datum = &r->data[u->datum->parent];
	u->mode = u->mode == HEDDLE_R ? HEDDLE_R : HEDDLE_RW;
	return u->plan != 0;
}

/* --- What a task waits for ---------------------------------------------------------------------------------------- */

static struct group *stand_in(struct hd_replay *r, uint64_t id)
{
	size_t i = hd_search(r->stand_ins, r->n_stand_ins, sizeof *r->stand_ins, id);
	return i < r->n_stand_ins && r->stand_ins[i].id == id ? &r->stand_ins[i].tasks : NULL;
}

static void gather(struct hd_replay *r, const struct hd_replay_task *t)
{
	r->waits.n = 0;
	for (size_t i = 0; i < t->n_accesses; i++) {
		struct use u = first_use(r, &t->accesses[i]);
		do {
			struct group *g = joins(&u) ? &u.datum->before : &u.datum->current;
			group_add(r, &r->waits, members(g), g->n);
		} while (next_use(r, &u));
	}
	for (size_t i = 0; i < t->n_after; i++) {
		struct group *g = stand_in(r, t->after[i]);
		group_add(r, &r->waits, g ? members(g) : &t->after[i], g ? g->n : 1);
	}
	group_tidy(&r->waits);
}

/* --- What waits for a task ---------------------------------------------------------------------------------------- */

/* Puts the tasks `ids` into the chain of a datum: the task itself, or the tasks for which a control stands. */
static void enter(struct hd_replay *r, const struct use *u, const uint64_t *ids, size_t n)
{
	struct datum *d = u->datum;
	int joined = joins(u);
	if (!joined) {
		struct group old = d->before;
		d->before = d->current;
		d->current = old;
		d->current.n = 0;
		d->changes = 0;
	}
	d->plan = !joined || d->plan == u->plan ? u->plan : 0;
	d->changes |= u->plan && u->mode != HEDDLE_R;
	d->mode = u->mode;
	group_add(r, &d->current, ids, n);
}

static void enter_all(struct hd_replay *r, const struct hd_replay_task *t, const uint64_t *ids, size_t n)
{
	for (size_t i = 0; i < t->n_accesses; i++) {
		struct use u = first_use(r, &t->accesses[i]);
		do
			enter(r, &u, ids, n);
		while (next_use(r, &u));
	}
}

static void keep_stand_in(struct hd_replay *r, uint64_t id)
{
	if (HD_GROW(r->stand_ins, r->n_stand_ins, r->max_stand_ins, 16)) {
		r->failed = 1;
		hd_no_memory("dependencies");
		return;
	}
	struct stand_in *s = &r->stand_ins[r->n_stand_ins++];
	*s = (struct stand_in){.id = id};
	group_add(r, &s->tasks, members(&r->waits), r->waits.n);
}

static void enter_control(struct hd_replay *r, const struct hd_replay_task *t)
{
	uint32_t mode = t->n_accesses == 1 && t->n_after == 0 ? chain_mode(t->accesses->mode) : HEDDLE_COMMUTE;
	if (mode != HEDDLE_COMMUTE && mode != HEDDLE_REDUX && !r->data[t->accesses->data].of_plan) {
		/* The control waited for this datum alone, so it need not enter the chain. If the control is one of a
		 * group of readers, later tasks wait for the other readers; if not, they wait for the current group,
		 * for which the control waited. */
		struct use u = first_use(r, t->accesses);
		if (!joins(&u))
			u.datum->mode = u.datum->plan = 0;
	} else {
		enter_all(r, t, members(&r->waits), r->waits.n);
	}
	if (t->control == HD_REPLAY_NAMED)
		keep_stand_in(r, t->id);
}

int hd_replay_task(struct hd_replay *r, const struct hd_replay_task *t)
{
	gather(r, t);
	if (t->control) {
		enter_control(r, t);
	} else {
		for (size_t i = 0; i < r->waits.n && !r->failed; i++)
			r->edge(members(&r->waits)[i], t->id, r->arg);
		enter_all(r, t, &t->id, 1);
	}
	return r->failed ? HEDDLE_E_MEMORY : 0;
}

struct hd_replay *hd_replay_open(size_t n_data, void (*edge)(uint64_t from, uint64_t to, void *arg), void *arg)
{
	struct hd_replay *r = calloc(1, sizeof *r);
	if (!r || !(r->data = calloc(n_data + 1, sizeof *r->data))) {
		free(r);
		hd_no_memory("dependencies");
		return NULL;
	}
	r->n_data = n_data;
	r->edge = edge;
	r->arg = arg;
	return r;
}

void hd_replay_child(struct hd_replay *r, uint32_t child, uint32_t parent, uint32_t plan)
{
	if (child >= r->n_data || parent >= r->n_data)
		return;
	r->data[child].parent = parent;
	r->data[child].of_plan = plan + 1;
}

void hd_replay_close(struct hd_replay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_data; i++) {
		group_free(&r->data[i].current);
		group_free(&r->data[i].before);
	}
	for (size_t i = 0; i < r->n_stand_ins; i++)
		group_free(&r->stand_ins[i].tasks);
	group_free(&r->waits);
	free(r->data);
	free(r->stand_ins);
	free(r);
}
