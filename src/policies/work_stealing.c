/* ws and lws: a queue per worker, and stealing. StarPU has policies of the same names
 * (src/sched_policies/work_stealing_policy.c), which are baselines of the paper on clusters (section 4.1).
 *
 *   ready  the task goes to the worker that released it; a submitted one, or one that this worker cannot run, to the
 *          next worker in turn that can
 *   pick   the worker's own queue first; if it is empty, one task of a victim's queue
 *
 * The two policies differ only in the defaults of their options: the choice of the victim, and the end of a queue from
 * which tasks of equal priority are taken. In lws, thieves steal from the nearest worker; owners take the newest task,
 * whose data are still in the cache, and thieves the oldest task. In ws, thieves steal from the most loaded worker;
 * owners take the oldest task and thieves the newest task, as in StarPU. Without hwloc, both policies of StarPU take
 * victims in turn (`turn`). The core lets the worker that has ended a task pick before the others, so a chain of tasks
 * stays where its data are.
 *
 * A queue has one list per set of classes (worker_sets.h), so a thief sees at once whether a queue has tasks for its
 * class. Some tasks of such a list may be bound to other workers of the class; therefore a thief searches up to REACH
 * tasks from its end of the list. */
#include <stdlib.h>
#include <string.h>
#include "parts/most.h"
#include "parts/nearest.h"
#include "parts/queue.h"
#include "policies.h"
#include "parts/worker_sets.h"

enum { REACH = 16 };
enum victim { LOADED, NEAREST, TURN };
enum end { OLDEST, NEWEST };

/* The queue of a worker. If there is only one set of workers, the queue fits into one cache line, and a thief changes
 * no other line of its victim. */
struct queue {
	_Alignas(HD_CACHE_LINE) size_t n; /* number of tasks in its lists */
	unsigned turn;                    /* the first victim of the next search */
	/* 1: the worker is marked in stealing.nearest; set when n is not 0, cleared when a thief sees n = 0 */
	int marked;
	struct hd_levels lists[]; /* one list per set of workers */
};

struct stealing {
	/* The fields up to `loads` are const after create. */
	struct hd_sets sets; /* sets may be added after create */
	size_t n_workers;
	char *queues; /* owns; per worker: a struct queue, `stride` bytes apart */
	size_t stride;
	struct hd_nearest nearest; /* used if the victim is NEAREST: marks the workers whose queues may have tasks */
	/* owns; per class: for each worker, the number of tasks in its queue that the class can run; NULL if the victim
	 * is NEAREST */
	struct hd_most *queued;
	size_t *loads; /* owns; per set except set 0: number of the set's tasks in all queues */
	enum victim victim;
	enum end owner_end, thief_end;

	/* Fields that every task changes, on one cache line. */
	_Alignas(HD_CACHE_LINE) size_t n; /* number of tasks in all queues */
	uint64_t local, stolen, failed, in_turn;
	size_t longest;
	unsigned last_placed; /* the last worker to which a task went in turn */
};

static inline struct queue *queue_of(const struct stealing *s, unsigned worker)
{
	return (struct queue *)(void *)(s->queues + worker * s->stride);
}

static void stealing_destroy(void *state)
{
	struct stealing *s = state;
	hd_sets_fini(&s->sets);
	free(s->queues);
	hd_nearest_fini(&s->nearest);
	for (size_t c = 0; s->queued && c < s->sets.platform->n_classes; c++)
		hd_most_fini(&s->queued[c]);
	free(s->queued);
	free(s->loads);
	free(s);
}

static int stealing_alloc(struct stealing *s, const struct heddle_platform *p)
{
	int status = hd_sets_init(&s->sets, p, 0);
	if (status < 0)
		return status;
	s->n_workers = p->n_workers;
	s->stride = hd_round_up(sizeof(struct queue) + s->sets.capacity * sizeof(struct hd_levels), HD_CACHE_LINE);
	s->queues = aligned_alloc(HD_CACHE_LINE, s->n_workers * s->stride);
	s->loads = calloc(s->sets.capacity, sizeof *s->loads);
	if (!s->queues || !s->loads)
		return hd_no_memory("the policy's queues");
	memset(s->queues, 0, s->n_workers * s->stride);
	if (s->victim == NEAREST)
		return HEDDLE_OK;
	s->queued = calloc(p->n_classes, sizeof *s->queued);
	for (size_t c = 0; s->queued && c < p->n_classes && !status; c++)
		status = hd_most_init(&s->queued[c], p->n_workers);
	return s->queued ? status : hd_no_memory("the policy's queues");
}

static int make(heddle_sched *sched, const struct stealing *options, int flat, void **state)
{
	struct stealing *s = aligned_alloc(HD_CACHE_LINE, sizeof *s);
	if (!s)
		return hd_no_memory("the policy's queues");
	*s = *options;
	int status = stealing_alloc(s, heddle_sched_platform(sched));
	if (status == HEDDLE_OK && s->victim == NEAREST)
		status = hd_nearest_init(&s->nearest, sched, 1);
	if (status < 0) {
		stealing_destroy(s);
		return status;
	}
	for (unsigned w = 0; w < s->n_workers; w++)
		for (size_t i = 0; i < s->sets.capacity; i++)
			queue_of(s, w)->lists[i].flat = flat;
	*state = s;
	return HEDDLE_OK;
}

static int stealing_create(heddle_sched *sched, void **state)
{
	struct stealing options = {.victim = (enum victim)heddle_sched_option(sched, "victim"),
	                           .owner_end = (enum end)heddle_sched_option(sched, "owner"),
	                           .thief_end = (enum end)heddle_sched_option(sched, "thief")};
	return make(sched, &options, heddle_sched_option(sched, "priorities") <= 0, state);
}

int hd_lws_create(heddle_sched *sched, void **state)
{
	struct stealing options = {.victim = NEAREST, .owner_end = NEWEST, .thief_end = OLDEST};
	return make(sched, &options, 0, state);
}

/* Updates the counts after the list of a set in a worker's queue has got `change` more tasks. */
static inline void count(struct stealing *s, unsigned worker, unsigned set, int change)
{
	queue_of(s, worker)->n += (size_t)change;
	s->n += (size_t)change;
	if (HD_UNLIKELY(set))
		s->loads[set] += (size_t)change;
	for (size_t c = 0; s->queued && c < s->sets.platform->n_classes; c++)
		if (s->sets.classes[set] >> c % 64 & 1)
			hd_most_add(&s->queued[c], worker, change);
}

/* The next worker in turn that can run the task. */
static unsigned next_in_turn(struct stealing *s, const heddle_task *t)
{
	s->in_turn++;
	for (size_t i = 0; i < s->n_workers; i++) {
		s->last_placed = (unsigned)((s->last_placed + 1) % s->n_workers);
		if (heddle_task_can_run(t, s->last_placed))
			break;
	}
	return s->last_placed;
}

static void stealing_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct stealing *s = state;
	for (size_t i = 0; i < n; i++) {
		heddle_task *t = batch[i];
		unsigned w = releaser >= 0 && heddle_task_can_run(t, (unsigned)releaser) ? (unsigned)releaser
		                                                                         : next_in_turn(s, t);
		unsigned set = hd_sets_of(&s->sets, t);
		struct queue *q = queue_of(s, w);
		hd_levels_push(&q->lists[set], t);
		count(s, w, set, 1);
		if (q->n > s->longest)
			s->longest = q->n;
		if (!q->marked) {
			q->marked = 1;
			hd_nearest_mark(&s->nearest, w); /* has no effect unless the victim is NEAREST */
		}
	}
}

static heddle_task *take(struct stealing *s, unsigned from, unsigned set, heddle_task *t)
{
	hd_levels_remove_urgent(&queue_of(s, from)->lists[set], t);
	count(s, from, set, -1);
	return t;
}

/* Whether `a` must be taken before `b`, the first tasks of two lists of one worker: by priority, then by submission. */
static int before(const struct hd_levels *list, const heddle_task *a, const heddle_task *b, enum end end)
{
	int pa = hd_levels_priority(list, a), pb = hd_levels_priority(list, b);
	if (pa != pb)
		return pa > pb;
	int older = heddle_task_order(a) < heddle_task_order(b);
	return end == OLDEST ? older : !older;
}

static heddle_task *head(struct hd_levels *list, enum end end)
{
	return end == OLDEST ? hd_levels_first(list) : hd_levels_last(list);
}

/* Takes a task from the worker's own queue, which is not empty. The worker can run all tasks of this queue. */
static heddle_task *pick_own(struct stealing *s, unsigned worker)
{
	struct queue *q = queue_of(s, worker);
	heddle_task *best = s->sets.n == 1 ? head(q->lists, s->owner_end) : NULL;
	unsigned from = 0;
	for (unsigned set = 0; s->sets.n > 1 && set < s->sets.n; set++) {
		heddle_task *t = head(&q->lists[set], s->owner_end);
		if (t && (!best || before(&q->lists[set], t, best, s->owner_end))) {
			best = t;
			from = set;
		}
	}
	s->local++;
	return take(s, worker, from, best);
}

/* Searches REACH tasks of a list, from the thieves' end, for a task that the worker can run. NULL: there is none. */
static heddle_task *search(struct hd_levels *list, unsigned worker, enum end end)
{
	heddle_task *t = head(list, end);
	for (int i = 0; t && i < REACH; i++) {
		if (heddle_task_can_run(t, worker))
			return t;
		t = end == OLDEST ? hd_levels_newer(list, t) : hd_levels_older(list, t);
	}
	return NULL;
}

static heddle_task *steal_from(struct stealing *s, unsigned worker, unsigned victim)
{
	struct queue *v = queue_of(s, victim);
	heddle_task *best = NULL;
	unsigned from = 0;
	for (unsigned set = 0; v->n && set < s->sets.n; set++) {
		if (!v->lists[set].n || !hd_sets_has(&s->sets, set, worker))
			continue;
		heddle_task *t = search(&v->lists[set], worker, s->thief_end);
		if (t && (!best || before(&v->lists[set], t, best, s->thief_end))) {
			best = t;
			from = set;
		}
	}
	return best ? take(s, victim, from, best) : NULL;
}

/* Tries the victims from the nearest on. Equally near victims are tried in cyclic order after the thief, so that
 * neighbours do not all steal from the same worker first. */
static heddle_task *steal_nearest(struct stealing *s, unsigned worker)
{
	struct hd_nearest_walk walk;
	heddle_task *t = NULL;
	hd_nearest_walk(&walk, &s->nearest, worker);
	for (unsigned v; !t && (v = hd_nearest_next(&walk)) != HD_NOBODY;) {
		t = steal_from(s, worker, v);
		if (!queue_of(s, v)->n) {
			queue_of(s, v)->marked = 0;
			hd_nearest_unmark(&s->nearest, v);
		}
	}
	return t;
}

/* If `victim` is LOADED, tries the most loaded worker first; of equally loaded workers, the first one after the thief.
 * Then tries all workers with tasks for the thief's class, in turn. */
static heddle_task *steal_in_turn(struct stealing *s, unsigned worker)
{
	const struct hd_most *queued = &s->queued[s->sets.platform->workers[worker].class_id];
	unsigned start = s->victim == TURN ? queue_of(s, worker)->turn : worker + 1, most = hd_most_max(queued);
	heddle_task *t = NULL;
	if (!most)
		return NULL;
	if (s->victim == LOADED) {
		unsigned v = hd_most_next(queued, start, most);
		/* steal_from may return NULL: all tasks of the list may be bound to other workers of the class */
		t = steal_from(s, worker, v == HD_NOBODY ? hd_most_next(queued, 0, most) : v);
	}
	for (int wrapped = 0; !t && wrapped < 2; wrapped++) {
		unsigned v = hd_most_next(queued, wrapped ? 0 : start, 1);
		for (; !t && v != HD_NOBODY && !(wrapped && v >= start); v = hd_most_next(queued, v + 1, 1)) {
			t = steal_from(s, worker, v);
			if (t && s->victim == TURN)
				queue_of(s, worker)->turn = (unsigned)((v + 1) % s->n_workers);
		}
	}
	return t;
}

static heddle_task *steal(struct stealing *s, unsigned worker)
{
	return s->victim == NEAREST ? steal_nearest(s, worker) : steal_in_turn(s, worker);
}

static int anything_for(const struct stealing *s, unsigned worker)
{
	size_t rest = s->n; /* becomes the number of tasks in set 0, at which any worker may look */
	for (unsigned set = 1; set < s->sets.n; set++) {
		if (s->loads[set] && hd_sets_has(&s->sets, set, worker))
			return 1;
		rest -= s->loads[set];
	}
	return rest != 0;
}

static heddle_task *stealing_pick(void *state, unsigned worker)
{
	struct stealing *s = state;
	if (!s->n)
		return NULL;
	if (queue_of(s, worker)->n)
		return pick_own(s, worker);
	heddle_task *t = anything_for(s, worker) ? steal(s, worker) : NULL;
	s->stolen += t != NULL;
	s->failed += t == NULL;
	return t;
}

/* Gives back the tasks of a retired worker, because thieves might not find them all: thieves search only the first few
 * tasks of a list, which they may be unable to run. */
static heddle_task *stealing_take_back(void *state, unsigned worker)
{
	struct stealing *s = state;
	struct queue *q = queue_of(s, worker);
	for (unsigned set = 0; q->n; set++)
		if (q->lists[set].n)
			return take(s, worker, set, head(&q->lists[set], s->owner_end));
	return NULL;
}

/* Does nothing: thieves take the tasks of retired workers. But the callback must exist, so that the policy is kept. */
static void stealing_changed(void *state)
{
	(void)state;
}

static void stealing_report(void *state, heddle_sched *sched)
{
	const struct stealing *s = state;
	heddle_sched_count(sched, "taken from the own queue", (double)s->local, "tasks");
	heddle_sched_count(sched, "stolen", (double)s->stolen, "tasks");
	heddle_sched_count(sched, "found nothing though tasks were queued", (double)s->failed, "picks");
	heddle_sched_count(sched, "placed in turn", (double)s->in_turn, "tasks");
	heddle_sched_report(sched, "longest queue", (double)s->longest, "tasks");
}

/* clang-format off */
#define STEALING_OPTIONS(victim, owner, thief) \
	{"victim", victim, "loaded|nearest|turn", "whom an idle worker steals from", 0, 0}, \
	{"owner", owner, "oldest|newest", "which of its own tasks a worker takes among equally urgent ones", 0, 0}, \
	{"thief", thief, "oldest|newest", "which a thief takes", 0, 0}, \
	{"priorities", "yes", "no|yes", "more urgent tasks first, for owner and thief", 0, 0}, \
	{0}
/* clang-format on */

static const struct heddle_option ws_options[] = {STEALING_OPTIONS("loaded", "oldest", "newest")};
static const struct heddle_option lws_options[] = {STEALING_OPTIONS("nearest", "newest", "oldest")};

#define STEALING_CALLBACKS                                                                                      \
	.create = stealing_create, .destroy = stealing_destroy, .ready = stealing_ready, .pick = stealing_pick, \
	.report = stealing_report, .take_back = stealing_take_back, .changed = stealing_changed

const struct heddle_policy hd_policy_ws = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "ws",
    .summary = "a queue per worker; idle ones steal from the most loaded",
    .source = "StarPU's ws",
    .options = ws_options,
    STEALING_CALLBACKS,
};

const struct heddle_policy hd_policy_lws = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "lws",
    .summary = "a queue per worker; idle ones steal from the nearest",
    .source = "StarPU's lws",
    .options = lws_options,
    STEALING_CALLBACKS,
};
