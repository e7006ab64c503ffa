/* horizon: a policy of Heddle that looks at all submitted tasks. Tasks are ranked by what waits for them, without any
 * priority of the user, and placed where they end first, with what is known of links and of the work to come.
 *
 *   submitted(t)   ranks and prices: parts/submitted.h
 *   place(t)       the worker with the least
 *                      max(end(w), arrive(t, node(w))) + time(t, w) + copy(t, node(w))
 *                      + `prices` * (time * price(class) - least over classes of time * price) / price(class)
 *                  into its queue, by rank. arrive: when the data could be there, behind all that the links are to move
 *                  already; copy: the time of the transfers, which count even if they are hidden, because they take the
 *                  links from others
 *   ready(batch)   places each task, the highest rank first
 *   commit         a task that comes among the first `fetch` ones of its queue is placed once more, since much has
 *                  changed; its data are requested where it then is
 *   pick(w)        of the queue's tasks with ranks within `near` percent of the first, the one that lacks the fewest
 *                  bytes; a worker with an empty queue takes from the last few tasks of each queue the one whose end
 *                  improves most
 *
 * Of the workers of a group (dates.h) that have nothing to do, one looks for a task to take, and the others only when
 * it has found one. On a machine whose workers are all of one class, short tasks are left to lws, which costs less. */
#include <math.h>
#include <stdlib.h>
#include "parts/contention.h"
#include "parts/dates.h"
#include "parts/queue.h"
#include "parts/ranked.h"
#include "parts/sample_placement.h"
#include "parts/submitted.h"
#include "parts/worker_list.h"
#include "policies.h"

enum { LAST = 4, NEAR_REACH = 16, FETCH_REACH = 64, VICTIMS = 64 };
/* us per worker: on a machine of one class, tasks that take less are left to lws, which costs less per task. */
static const double SHORT_US = 4;

/* The workers of a group that have found no task. One of them, the seeker, may look into the queues of others. */
struct idle_group {
	struct hd_worker_list workers;
	unsigned seeker;    /* HD_NOBODY: none */
	uint64_t failed_at; /* the value of `changes` when a worker of the group found no task to take */
};

struct horizon {
	heddle_sched *sched;
	struct hd_submitted submitted;
	struct hd_calibration calibration;
	struct hd_dates dates;
	size_t n_workers, n_groups, n_classes, n_nodes;
	struct hd_ranked *queues;       /* owns; per worker */
	struct hd_worker_list loaded;   /* the workers whose queues are not empty */
	struct hd_worker_list changed;  /* the workers whose queues `commit` has yet to look at */
	struct hd_worker_place *places; /* owns: of the list `loaded`, then of those of `idle`, then of `changed` */
	struct idle_group *idle;        /* owns; per group */
	double *contention;             /* owns; per node: the factor for transfers */
	double *arrivals, *transfers;   /* own; per node, for the task being placed */
	double *times;                  /* owns; per class, for the same task */
	struct hd_item **batch;         /* owns: the records of a batch of ready tasks */
	size_t room;                    /* of `batch` */
	unsigned *held, *pipelines;     /* own; per worker: the number of tasks that it has, and that it can hold */
	void *lws;                      /* owns: an instance of lws, if there is one class; otherwise NULL */
	double shortest;                /* us: tasks that take less have no record, and are left to lws */
	struct hd_deque loose;          /* tasks for whose records there was no memory */
	uint64_t changes;               /* how often a task has come into a queue */
	size_t n_queued;
	/* the options */
	double prices, near;
	size_t fetch;
	int links, hidden, again, steals;
	uint64_t placed, placed_again, moved_again, stolen, not_first;
};

/* --- Begin and end ------------------------------------------------------------------------------------------------ */

static void horizon_destroy(void *state)
{
	struct horizon *h = state;
	hd_submitted_fini(&h->submitted);
	hd_calibration_fini(&h->calibration);
	hd_dates_fini(&h->dates);
	if (h->lws)
		hd_policy_lws.destroy(h->lws);
	free(h->queues);
	free(h->places);
	free(h->held);
	free(h->idle);
	free(h->contention);
	free(h->arrivals);
	free(h->transfers);
	free(h->times);
	free(h->batch);
	free(h);
}

static int allocate(struct horizon *h, const struct heddle_platform *p)
{
	h->n_workers = p->n_workers;
	h->n_classes = p->n_classes;
	h->n_nodes = p->n_nodes;
	h->n_groups = h->dates.n_groups;
	h->queues = calloc(h->n_workers, sizeof *h->queues);
	h->idle = calloc(h->n_groups, sizeof *h->idle);
	h->contention = calloc(h->n_nodes, sizeof *h->contention);
	h->arrivals = calloc(h->n_nodes, sizeof *h->arrivals);
	h->transfers = calloc(h->n_nodes, sizeof *h->transfers);
	h->times = calloc(h->n_classes, sizeof *h->times);
	h->places = calloc(3 * h->n_workers, sizeof *h->places);
	h->held = calloc(2 * h->n_workers, sizeof *h->held);
	h->pipelines = h->held ? h->held + h->n_workers : NULL;
	if (!h->places || !h->held || !h->queues || !h->idle || !h->contention || !h->arrivals || !h->transfers ||
	    !h->times)
		return hd_no_memory("the policy's queues");
	for (unsigned n = 0; n < h->n_nodes; n++)
		h->contention[n] = hd_contention(p, n, HD_BUSES);
	for (unsigned w = 0; w < h->n_workers; w++)
		h->pipelines[w] = p->classes[p->workers[w].class_id].pipeline;
	h->loaded = (struct hd_worker_list){HD_NOBODY, h->places};
	h->changed = (struct hd_worker_list){HD_NOBODY, h->places + 2 * h->n_workers};
	for (size_t g = 0; g < h->n_groups; g++)
		h->idle[g] = (struct idle_group){.workers = {HD_NOBODY, h->places + h->n_workers}, .seeker = HD_NOBODY};
	return HEDDLE_OK;
}

/* On a machine of one class, short tasks are left to lws. Otherwise each worker is a group of its own for the core,
 * which is open while the worker's queue is not empty or the worker is a seeker. */
static int form_groups(struct horizon *h)
{
	if (h->n_classes == 1) {
		h->shortest = SHORT_US * (double)h->n_workers;
		return hd_lws_create(h->sched, &h->lws);
	}
	for (unsigned w = 0; w < h->n_workers; w++)
		heddle_sched_group(h->sched, w, w);
	for (unsigned w = 0; w < h->n_workers; w++) {
		heddle_sched_open(h->sched, w, 0);
		hd_worker_list_add(&h->idle[h->dates.workers[w].group].workers, w);
	}
	return HEDDLE_OK;
}

static void read_options(struct horizon *h)
{
	h->prices = heddle_sched_option(h->sched, "prices");
	h->near = 1 - heddle_sched_option(h->sched, "near") / 100;
	h->fetch = (size_t)heddle_sched_option(h->sched, "fetch");
	h->links = heddle_sched_option(h->sched, "links") > 0;
	h->hidden = heddle_sched_option(h->sched, "hidden") > 0;
	h->again = heddle_sched_option(h->sched, "again") > 0;
	h->steals = heddle_sched_option(h->sched, "steal") > 0;
	h->changes = 1;
}

static int horizon_create(heddle_sched *sched, void **state)
{
	struct horizon *h = calloc(1, sizeof *h);
	if (!h)
		return hd_no_memory("the policy's queues");
	h->sched = sched;
	read_options(h);
	hd_calibration_init(&h->calibration, sched);
	int status = hd_submitted_init(&h->submitted, sched, heddle_sched_option(sched, "mean"), h->prices > 0);
	if (status == HEDDLE_OK)
		status = hd_dates_init(&h->dates, sched, NULL, 1);
	if (status == HEDDLE_OK)
		status = allocate(h, heddle_sched_platform(sched));
	if (status == HEDDLE_OK)
		status = form_groups(h);
	if (status < 0) {
		horizon_destroy(h);
		return status;
	}
	*state = h;
	return HEDDLE_OK;
}

static void horizon_submitted(void *state, heddle_task *t)
{
	struct horizon *h = state;
	if (!h->lws || heddle_task_time(t, 0) >= h->shortest)
		hd_submitted_add(&h->submitted, t);
}

static void horizon_ended(void *state, heddle_task *t)
{
	hd_submitted_remove(&((struct horizon *)state)->submitted, t);
}

static const struct hd_dates_group *group_of(const struct horizon *h, unsigned worker)
{
	return &h->dates.groups[h->dates.workers[worker].group];
}

/* --- Queues ------------------------------------------------------------------------------------------------------- */

static struct idle_group *idle_of(const struct horizon *h, unsigned worker)
{
	return &h->idle[h->dates.workers[worker].group];
}

/* Whether the worker has tasks, or may look for some. */
static int may_pick(const struct horizon *h, unsigned worker)
{
	return h->lws || h->queues[worker].n || idle_of(h, worker)->seeker == worker || h->loose.first;
}

/* Opens or closes the worker's group for the core. */
static void note_open(struct horizon *h, unsigned worker)
{
	if (!h->lws)
		heddle_sched_open(h->sched, worker, may_pick(h, worker));
}

static void enqueue(struct horizon *h, struct hd_item *item, unsigned worker, double us)
{
	item->worker = worker;
	item->us = us;
	item->placed = h->dates.now;
	item->is_queued = 1;
	hd_ranked_insert(&h->queues[worker], &item->node);
	hd_dates_place(&h->dates, worker, us);
	hd_worker_list_add(&h->loaded, worker);
	h->n_queued++;
	h->changes++;
	note_open(h, worker);
}

static void dequeue(struct horizon *h, struct hd_item *item)
{
	struct hd_ranked *q = &h->queues[item->worker];
	hd_ranked_remove(q, &item->node);
	item->is_queued = 0;
	hd_dates_place(&h->dates, item->worker, -item->us);
	if (!q->n) {
		hd_dates_leave(&h->dates, item->worker, 0);
		hd_worker_list_remove(&h->loaded, item->worker);
		note_open(h, item->worker);
	}
	h->n_queued--;
}

/* Lets one worker of each group that has found no task look into the queues, which have changed. */
static void send_seekers(struct horizon *h)
{
	for (struct idle_group *g = h->idle; g < h->idle + h->n_groups && h->steals && !h->lws; g++) {
		unsigned w = g->workers.first;
		if (w == HD_NOBODY || g->failed_at == h->changes ||
		    (g->seeker != HD_NOBODY && !h->queues[g->seeker].n && heddle_sched_driven(h->sched, g->seeker)))
			continue;
		hd_worker_list_remove(&g->workers, w);
		g->seeker = w;
		note_open(h, w);
	}
}

/* The worker has got a task, or has ended one, or has found none: another one may look now, and this one later, if it
 * can hold more tasks. */
static void note_asked(struct horizon *h, unsigned worker, int found)
{
	struct idle_group *g = idle_of(h, worker);
	if (h->lws)
		return;
	if (g->seeker == worker)
		g->seeker = HD_NOBODY;
	if (h->held[worker] < h->pipelines[worker])
		hd_worker_list_add(&g->workers, worker);
	else
		hd_worker_list_remove(&g->workers, worker);
	note_open(h, worker);
	if (found)
		send_seekers(h);
}

static void move_in_queue(void *arg, struct hd_item *item, double rank)
{
	struct horizon *h = arg;
	hd_ranked_remove(&h->queues[item->worker], &item->node);
	item->node.rank = rank;
	hd_ranked_insert(&h->queues[item->worker], &item->node);
}

/* --- Placing ------------------------------------------------------------------------------------------------------ */

/* Sets the terms of a task for all groups, each of which is a family of its own: dates.h. */
static void predict(struct horizon *h, const heddle_task *t)
{
	int class_id = hd_calibration_class(&h->calibration, t);
	const double *prices = h->submitted.prices;
	double least = INFINITY;
	for (unsigned c = 0; c < h->n_classes; c++) {
		int is_out = class_id >= 0 && c != (unsigned)class_id;
		h->times[c] = is_out ? INFINITY : hd_submitted_time(&h->submitted, t, c);
		least = fmin(least, h->times[c] * prices[c]);
	}
	heddle_task_arrivals(t, h->arrivals, h->transfers);
	for (struct hd_dates_family *g = h->dates.families; g < h->dates.families + h->dates.n_families; g++) {
		double us = h->times[g->class_id], copy = h->contention[g->node] * h->transfers[g->node];
		double arrival = h->links ? h->arrivals[g->node] + copy - h->transfers[g->node] : h->dates.now + copy;
		double lost = h->prices * (us * prices[g->class_id] - least) / prices[g->class_id];
		g->far = (struct hd_dates_terms){arrival, us, isinf(us) ? 0 : h->hidden * copy + lost};
	}
}

/* Places a task on the worker where it costs least. */
static void place(struct horizon *h, struct hd_item *item)
{
	predict(h, item->task);
	unsigned w = hd_dates_best(&h->dates, item->task);
	const struct hd_dates_terms *terms = hd_dates_terms_of(&h->dates, w);
	double delay = terms->arrival - hd_dates_of(&h->dates, w);
	enqueue(h, item, w, (isinf(terms->length) ? 0 : terms->length) + (delay > 0 ? delay : 0));
	h->placed++;
}

/* The first task of the queue whose data are not requested, among the first ones: up to the `fetch`-th that lacks data.
 * NULL: there is none. */
static struct hd_item *first_unfetched(const struct horizon *h, unsigned worker)
{
	struct hd_ranked_node *node = h->queues[worker].first;
	unsigned memory = group_of(h, worker)->node;
	for (size_t i = 0, lacking = 0; node && lacking < h->fetch && i < FETCH_REACH; i++, node = node->after) {
		struct hd_item *item = (struct hd_item *)node;
		if (!item->is_fetched)
			return item;
		lacking += h->n_nodes == 1 || heddle_task_missing_bytes(item->task, memory) > 0;
	}
	return NULL;
}

/* Places the first tasks of a queue once more, and requests their data; and those of the queues into which tasks come
 * thereby. A list of these queues, not a recursion: a task may move on and on through the queues of many workers. */
static void commit(struct horizon *h, unsigned worker)
{
	hd_worker_list_add(&h->changed, worker);
	while ((worker = h->changed.first) != HD_NOBODY) {
		struct hd_item *item = first_unfetched(h, worker);
		if (!item) {
			hd_worker_list_remove(&h->changed, worker);
		} else if (h->again && !item->is_placed_again && item->placed < h->dates.now) {
			item->is_placed_again = 1;
			dequeue(h, item);
			place(h, item);
			h->placed_again++;
			h->moved_again += item->worker != worker;
			hd_worker_list_add(&h->changed, item->worker);
		} else {
			item->is_fetched = 1;
			heddle_task_prefetch(item->task, group_of(h, worker)->node);
		}
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct hd_item *x = *(struct hd_item *const *)a, *y = *(struct hd_item *const *)b;
	if (x->node.rank != y->node.rank)
		return x->node.rank > y->node.rank ? -1 : 1;
	return x->node.order < y->node.order ? -1 : x->node.order > y->node.order;
}

/* Queues a task without a record: it is short, or there was no memory. */
static void leave(struct horizon *h, heddle_task *t, int releaser)
{
	if (h->lws) {
		hd_policy_lws.ready(h->lws, &t, 1, releaser);
		return;
	}
	hd_deque_push_back(&h->loose, t);
	for (unsigned w = 0; w < h->n_workers; w++)
		note_open(h, w);
}

/* Puts the records of a batch into h->batch, the highest rank first. Returns their number. */
static size_t sort_batch(struct horizon *h, heddle_task *const *batch, size_t n, int releaser)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		struct hd_item *item = hd_item_of(batch[i]);
		if (!item) {
			leave(h, batch[i], releaser);
			continue;
		}
		item->is_given = item->is_fetched = item->is_placed_again = 0;
		h->batch[found++] = item;
	}
	if (found > 1)
		qsort(h->batch, found, sizeof *h->batch, by_rank);
	return found;
}

static void ready_some(struct horizon *h, heddle_task *const *batch, size_t n, int releaser)
{
	n = sort_batch(h, batch, n, releaser);
	for (size_t i = 0; i < n; i++) {
		place(h, h->batch[i]);
		hd_calibration_placed(&h->calibration, h->batch[i]->task, group_of(h, h->batch[i]->worker)->class_id);
		commit(h, h->batch[i]->worker);
	}
}

static void horizon_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct horizon *h = state;
	if (h->lws && n == 1 && !hd_item_of(batch[0])) { /* the usual case where tasks are short */
		hd_policy_lws.ready(h->lws, batch, 1, releaser);
		return;
	}
	hd_dates_renew(&h->dates);
	hd_submitted_renew(&h->submitted, move_in_queue, h);
	if (n > h->room) {
		struct hd_item **more = realloc(h->batch, 2 * n * sizeof *more);
		h->room = more ? 2 * n : h->room;
		h->batch = more ? more : h->batch;
	}
	for (size_t i = 0; i < n && h->room; i += h->room)
		ready_some(h, batch + i, n - i < h->room ? n - i : h->room, releaser);
	for (size_t i = 0; i < n && !h->room; i++)
		leave(h, batch[i], releaser);
	send_seekers(h);
}

/* --- Picking ------------------------------------------------------------------------------------------------------ */

/* Of the first tasks of a queue, of nearly equal ranks, the one that lacks the fewest bytes. */
static struct hd_item *nearest(struct horizon *h, const struct hd_ranked *q, unsigned node)
{
	struct hd_ranked_node *first = q->first, *best = first, *other = first->after;
	double enough = first->rank * h->near;
	if (!other || other->rank < enough)
		return (struct hd_item *)first;
	uint64_t fewest = heddle_task_missing_bytes(((struct hd_item *)first)->task, node);
	for (size_t i = 1; fewest && other && other->rank >= enough && i < NEAR_REACH; i++, other = other->after) {
		uint64_t missing = heddle_task_missing_bytes(((struct hd_item *)other)->task, node);
		if (missing < fewest) {
			fewest = missing;
			best = other;
		}
	}
	h->not_first += best != first;
	return (struct hd_item *)best;
}

/* The task of the queue of `victim` whose end improves most if `worker` takes it, among the last few, if it improves by
 * more than *most us; then sets *most to that. */
static struct hd_item *best_of_queue(struct horizon *h, unsigned worker, unsigned victim, double *most)
{
	const struct hd_dates_group *g = group_of(h, worker);
	double end = hd_dates_of(&h->dates, victim), begin = hd_dates_of(&h->dates, worker);
	struct hd_item *best = NULL;
	struct hd_ranked_node *node = h->queues[victim].last;
	for (int i = 0; node && i < LAST; i++, node = node->before) {
		struct hd_item *item = (struct hd_item *)node;
		double us = hd_submitted_time(&h->submitted, item->task, g->class_id);
		if (end - begin - us > *most && heddle_task_can_run(item->task, worker)) {
			heddle_task_arrivals(item->task, h->arrivals, h->transfers);
			double copy = h->contention[g->node] * h->transfers[g->node];
			double start = fmax(begin, h->arrivals[g->node] + copy - h->transfers[g->node]);
			if (end - start - us > *most) {
				*most = end - start - us;
				best = item;
			}
		}
		end -= item->us;
	}
	return best;
}

/* The task that the worker, whose queue is empty, takes from another queue; NULL: none would end earlier. */
static struct hd_item *steal(struct horizon *h, unsigned worker)
{
	struct idle_group *idle = idle_of(h, worker);
	struct hd_item *best = NULL, *found;
	double most = 0;
	if (!h->n_queued || idle->failed_at == h->changes)
		return NULL;
	hd_dates_renew(&h->dates);
	unsigned v = h->loaded.first;
	for (int i = 0; i < VICTIMS && v != HD_NOBODY; i++, v = h->places[v].next)
		if ((found = best_of_queue(h, worker, v, &most)))
			best = found;
	if (!best && hd_dates_of(&h->dates, worker) <= h->dates.now)
		idle->failed_at = h->changes;
	h->stolen += best != NULL;
	return best;
}

/* The oldest task without a record that the worker can run. */
static heddle_task *pick_loose(struct horizon *h, unsigned worker)
{
	heddle_task *t = h->loose.first;
	while (t && !heddle_task_can_run(t, worker))
		t = heddle_task_link(t)->next;
	if (t)
		hd_deque_remove(&h->loose, t);
	return t;
}

static heddle_task *horizon_pick(void *state, unsigned worker)
{
	struct horizon *h = state;
	const struct hd_ranked *q = &h->queues[worker];
	heddle_task *other = NULL;
	if (HD_LIKELY(!may_pick(h, worker)))
		return NULL;
	if (HD_UNLIKELY(h->loose.first != NULL))
		other = pick_loose(h, worker);
	else if (h->lws && !q->n)
		other = hd_policy_lws.pick(h->lws, worker);
	if (other)
		return other;
	struct hd_item *item = q->n ? nearest(h, q, group_of(h, worker)->node) : h->steals ? steal(h, worker) : NULL;
	if (!item) {
		note_asked(h, worker, 0);
		return NULL;
	}
	unsigned from = item->worker;
	dequeue(h, item);
	item->is_given = 1;
	h->held[worker]++;
	note_asked(h, worker, 1);
	if (h->queues[from].n)
		commit(h, from);
	return item->task;
}

static heddle_task *horizon_take_back(void *state, unsigned worker)
{
	struct horizon *h = state;
	int driven = heddle_sched_driven(h->sched, worker);
	struct hd_item *item = (struct hd_item *)(driven ? h->queues[worker].last : h->queues[worker].first);
	if (!item && h->lws)
		return hd_policy_lws.take_back(h->lws, worker);
	if (!item) /* perhaps nobody else can run them */
		return driven ? NULL : hd_deque_pop_front(&h->loose);
	dequeue(h, item);
	hd_calibration_done(&h->calibration, item->task, group_of(h, worker)->class_id);
	return item->task;
}

static void horizon_done(void *state, heddle_task *t, unsigned worker)
{
	struct horizon *h = state;
	hd_calibration_done(&h->calibration, t, group_of(h, worker)->class_id);
	if (hd_item_of(t)) {
		h->held[worker]--;
		note_asked(h, worker, 1);
	}
}

static void horizon_report(void *state, heddle_sched *sched)
{
	const struct horizon *h = state;
	heddle_sched_count(sched, "tasks placed", (double)h->placed, "tasks");
	heddle_sched_count(sched, "placed once more", (double)h->placed_again, "tasks");
	heddle_sched_count(sched, "of these elsewhere", (double)h->moved_again, "tasks");
	heddle_sched_count(sched, "taken by workers that would end them earlier", (double)h->stolen, "tasks");
	heddle_sched_count(sched, "picked before ones that lack more data", (double)h->not_first, "tasks");
}

static const struct heddle_option horizon_options[] = {
    {"mean", ".2", "", "weight of the mean time over workers in ranks", 0, 10},
    {"links", "yes", "no|yes", "copies wait for what the links are to move already", 0, 0},
    {"hidden", "yes", "no|yes", "transfers cost even where they are hidden behind other tasks", 0, 0},
    {"near", "5", "percent", "of tasks whose ranks differ by no more, the one that lacks the fewest bytes is picked", 0,
     100},
    {"steal", "yes", "no|yes", "a worker without tasks takes one that it would end earlier", 0, 0},
    {"fetch", "2", "tasks", "so many of the first tasks of a queue that lack data get them requested", 0, 1e9},
    {"again", "yes", "no|yes", "a task is placed once more before its data are requested", 0, 0},
    {"prices", ".3", "", "weight of what the time of a class is worth", 0, 10},
    {.name = NULL},
};

const struct heddle_policy hd_policy_horizon = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "horizon",
    .summary = "ranks of all submitted tasks, earliest end, links with queues; no priorities needed",
    .source = "Heddle; upward ranks: Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4",
    .options = horizon_options,
    .pushes = 1,
    .create = horizon_create,
    .destroy = horizon_destroy,
    .ready = horizon_ready,
    .pick = horizon_pick,
    .done = horizon_done,
    .report = horizon_report,
    .take_back = horizon_take_back,
    .submitted = horizon_submitted,
    .ended = horizon_ended,
};
