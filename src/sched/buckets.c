/* Buckets, lists per node, the gate, and tasks held ahead: buckets.h. */
#include "buckets.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Life -------------------------------------------------------------------------------------------------------------------- */

static void free_bucket(struct hd_bucket *k)
{
	if (!k)
		return;
	free(k->name);
	free(k->n_on);
	free(k->lists);
	free(k->time);
	free(k->samples);
	free(k->taken);
	free(k);
}

void hd_buckets_fini(struct hd_buckets *b)
{
	for (size_t i = 0; i < b->n; i++)
		free_bucket(b->all[i]);
	for (size_t c = 0; b->orders && c < b->platform->n_classes; c++)
		free(b->orders[c]);
	free(b->all);
	free(b->orders);
	free(b->serves);
	free(b->workers);
	free(b->remaining);
	free(b->held);
	free(b->peers);
	free(b->n_peers);
	free(b->n_on);
	free(b->visit);
	free(b->near);
	free(b->away);
	free(b->keys);
	free(b->class_of_node);
	hd_sets_fini(&b->sets);
}

static int allocate(struct hd_buckets *b)
{
	size_t n_classes = b->platform->n_classes, n_workers = b->platform->n_workers, n_nodes = b->platform->n_nodes;
	b->serves = calloc(b->sets.capacity * n_classes, sizeof *b->serves);
	b->orders = calloc(n_classes, sizeof *b->orders);
	b->workers = calloc(n_classes, sizeof *b->workers);
	b->remaining = calloc(n_classes, sizeof *b->remaining);
	b->held = calloc(n_workers, sizeof *b->held);
	b->peers = calloc(n_workers * n_workers, sizeof *b->peers);
	b->n_peers = calloc(n_workers, sizeof *b->n_peers);
	b->n_on = calloc(b->n_lists, sizeof *b->n_on);
	b->visit = calloc(n_nodes * b->n_lists, sizeof *b->visit);
	b->near = calloc(n_nodes * b->n_lists, sizeof *b->near);
	b->away = calloc(b->n_lists, sizeof *b->away);
	b->class_of_node = calloc(n_nodes, sizeof *b->class_of_node);
	if (!b->serves || !b->orders || !b->workers || !b->remaining || !b->held || !b->peers || !b->n_peers || !b->n_on ||
	    !b->visit || !b->near || !b->away || !b->class_of_node)
		return hd_no_memory("the policy's buckets");
	return HEDDLE_OK;
}

/* The other workers of a worker's class, nearest first. */
static void find_peers(struct hd_buckets *b, unsigned worker)
{
	const struct heddle_worker *workers = b->platform->workers;
	unsigned *peers = b->peers + worker * b->platform->n_workers, n = 0;
	for (unsigned w = 0; w < b->platform->n_workers; w++) {
		if (w == worker || workers[w].class_id != workers[worker].class_id)
			continue;
		unsigned distance = heddle_sched_distance(b->sched, worker, w), i = n++;
		for (; i > 0 && heddle_sched_distance(b->sched, worker, peers[i - 1]) > distance; i--)
			peers[i] = peers[i - 1];
		peers[i] = w;
	}
	b->n_peers[worker] = n;
}

static void find_nodes(struct hd_buckets *b)
{
	const struct heddle_platform *p = b->platform;
	double slowest = 0;
	for (unsigned i = 0; i < p->n_nodes; i++) {
		b->class_of_node[i] = -1;
		for (unsigned j = 0; j < b->n_lists; j++) {
			b->near[i * b->n_lists + j] = b->n_lists > 1 ? hd_locality_transfer(p, j, i) : 0;
			slowest = fmax(slowest, b->near[i * b->n_lists + j]);
		}
	}
	for (size_t k = 0; slowest > 0 && k < p->n_nodes * b->n_lists; k++)
		b->near[k] /= slowest;
	for (size_t w = p->n_workers; w-- > 0;) {
		b->class_of_node[p->workers[w].node] = (int)p->workers[w].class_id;
		b->workers[p->workers[w].class_id]++;
	}
}

static struct hd_bucket *new_bucket(const struct hd_buckets *b, const char *name)
{
	struct hd_bucket *k = calloc(1, sizeof *k);
	if (!k)
		return NULL;
	size_t n_classes = b->platform->n_classes;
	k->name = strdup(name);
	k->n_on = calloc(b->n_lists, sizeof *k->n_on);
	k->lists = calloc(b->n_lists * b->sets.capacity, sizeof *k->lists);
	k->time = calloc(n_classes, sizeof *k->time);
	k->samples = calloc(n_classes, sizeof *k->samples);
	k->taken = calloc(n_classes, sizeof *k->taken);
	if (!k->name || !k->n_on || !k->lists || !k->time || !k->samples || !k->taken) {
		free_bucket(k);
		return NULL;
	}
	for (size_t c = 0; c < n_classes; c++)
		k->time[c] = NAN;
	return k;
}

/* Room for one more bucket; 0: none. */
static int make_room(struct hd_buckets *b)
{
	if (b->n < b->capacity)
		return 1;
	size_t capacity = b->capacity ? 2 * b->capacity : 16;
	struct hd_bucket **all = realloc(b->all, capacity * sizeof *all);
	if (!all)
		return 0;
	b->all = all;
	for (size_t c = 0; c < b->platform->n_classes; c++) {
		size_t *order = realloc(b->orders[c], capacity * sizeof *order);
		if (!order)
			return 0;
		b->orders[c] = order;
	}
	b->capacity = capacity;
	return 1;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct hd_bucket_key *slot_of(const struct hd_buckets *b, uint64_t key)
{
	size_t i = hd_mix(key) & (b->max_keys - 1);
	while (b->keys[i].key && b->keys[i].key != key)
		i = (i + 1) & (b->max_keys - 1);
	return &b->keys[i];
}

static int more_keys(struct hd_buckets *b)
{
	struct hd_buckets larger = {.max_keys = b->max_keys ? 2 * b->max_keys : 64};
	larger.keys = calloc(larger.max_keys, sizeof *larger.keys);
	if (!larger.keys)
		return 0;
	for (size_t i = 0; i < b->max_keys; i++)
		if (b->keys[i].key)
			*slot_of(&larger, b->keys[i].key) = b->keys[i];
	free(b->keys);
	b->keys = larger.keys;
	b->max_keys = larger.max_keys;
	return 1;
}

/* A new empty bucket; 0 when there can be none. */
static size_t add_bucket(struct hd_buckets *b, const char *name)
{
	struct hd_bucket *k = b->n < HD_MAX_BUCKETS && make_room(b) ? new_bucket(b, name) : NULL;
	if (!k)
		return 0;
	b->all[b->n] = k;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		b->orders[c][b->n] = b->n;
	return b->n++;
}

size_t hd_buckets_named(struct hd_buckets *b, const char *name)
{
	for (size_t i = 1; i < b->n; i++)
		if (strcmp(b->all[i]->name, name) == 0)
			return i;
	return add_bucket(b, name);
}

size_t hd_buckets_find(struct hd_buckets *b, uint64_t key, const char *name)
{
	struct hd_bucket_key *slot = b->max_keys ? slot_of(b, key) : NULL;
	if (HD_LIKELY(slot && slot->key))
		return slot->bucket;
	size_t bucket = hd_buckets_named(b, name);
	if (2 * (b->n_keys + 1) > b->max_keys && !more_keys(b))
		return bucket;
	*slot_of(b, key) = (struct hd_bucket_key){key, bucket};
	b->n_keys++;
	return bucket;
}

size_t hd_buckets_of_codelet(struct hd_buckets *b, const heddle_codelet *codelet)
{
	return hd_buckets_find(b, (uint64_t)(uintptr_t)codelet, heddle_codelet_name(codelet));
}

int hd_buckets_init(struct hd_buckets *b, heddle_sched *sched)
{
	*b = (struct hd_buckets){.sched = sched, .platform = heddle_sched_platform(sched), .news = 1};
	b->locality = (enum hd_locality)heddle_sched_option(sched, "locality");
	b->ahead = (size_t)heddle_sched_option(sched, "ahead");
	b->gate = (enum hd_gate)heddle_sched_option(sched, "gate");
	b->n_lists = b->locality == HD_LOCALITY_NONE ? 1 : b->platform->n_nodes;
	int status = hd_sets_init(&b->sets, b->platform, b->platform->n_workers + 32);
	if (!status)
		status = allocate(b);
	if (status)
		return status;
	for (unsigned w = 0; w < b->platform->n_workers; w++)
		find_peers(b, w);
	find_nodes(b);
	struct hd_bucket *others = make_room(b) ? new_bucket(b, "others") : NULL;
	if (!others)
		return hd_no_memory("the policy's buckets");
	b->all[b->n++] = others;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		b->orders[c][0] = 0;
	hd_buckets_reordered(b);
	return HEDDLE_OK;
}

/* --- Where to look -------------------------------------------------------------------------------------------------------------- */

static double distance(const struct hd_buckets *b, unsigned node, unsigned list)
{
	int own = b->class_of_node[node], other = b->class_of_node[list];
	double near = b->near[node * b->n_lists + list];
	if (node == list || b->n_lists == 1)
		return -1;
	if (own < 0 || other < 0)
		return near;
	return hd_locality_distance(b->orders[own], b->orders[other], b->n, near);
}

void hd_buckets_reordered(struct hd_buckets *b)
{
	for (unsigned node = 0; node < b->platform->n_nodes; node++) {
		unsigned *visit = b->visit + node * b->n_lists;
		for (unsigned list = 0; list < b->n_lists; list++) {
			unsigned i = list;
			b->away[list] = distance(b, node, list);
			for (; i > 0 && b->away[visit[i - 1]] > b->away[list]; i--)
				visit[i] = visit[i - 1];
			visit[i] = list;
		}
	}
}

/* Which classes the sets met since the last time serve. */
static void learn_sets(struct hd_buckets *b)
{
	for (; b->n_served < b->sets.n; b->n_served++)
		for (unsigned w = 0; w < b->platform->n_workers; w++)
			if (hd_sets_has(&b->sets, b->n_served, w))
				b->serves[b->n_served * b->platform->n_classes + b->platform->workers[w].class_id] = 1;
}

static const uint8_t *serves(const struct hd_buckets *b, size_t set)
{
	return b->serves + set * b->platform->n_classes;
}

static struct hd_deque *list_of(const struct hd_buckets *b, struct hd_bucket *k, size_t list, size_t set)
{
	return &k->lists[list * b->sets.capacity + set];
}

/* --- Push ------------------------------------------------------------------------------------------------------------------------ */

/* avg_{n+1} = x / (n+1) + n avg_n / (n+1), section 6.1. */
static void learn_times(struct hd_buckets *b, struct hd_bucket *k, const heddle_task *t)
{
	for (unsigned c = 0; c < b->platform->n_classes; c++) {
		double us = heddle_task_time(t, c);
		if (isnan(us))
			continue;
		double n = (double)k->samples[c]++;
		k->time[c] = n > 0 ? us / (n + 1) + n / (n + 1) * k->time[c] : us;
	}
}

/* The list with the best score among the nodes whose workers can run the task; among equals the releaser's, then the one with
 * the fewest tasks, then the first. */
static unsigned best_list(const struct hd_buckets *b, const heddle_task *t, const uint8_t *classes, int releaser)
{
	int releaser_node = releaser < 0 ? -1 : (int)b->platform->workers[releaser].node;
	double best_score = -INFINITY;
	unsigned best = 0;
	for (unsigned node = 0; node < b->n_lists; node++) {
		if (b->class_of_node[node] < 0 || !classes[b->class_of_node[node]])
			continue;
		double score = hd_locality_score(b->locality, t, node, releaser_node);
		int equal_but_better = score >= best_score && (int)best != releaser_node &&
		                       ((int)node == releaser_node || b->n_on[node] < b->n_on[best]);
		if (score > best_score || equal_but_better) {
			best_score = score;
			best = node;
		}
	}
	return best;
}

static void count(struct hd_buckets *b, size_t set, size_t change)
{
	const uint8_t *classes = serves(b, set);
	for (size_t c = 0; c < b->platform->n_classes; c++)
		b->remaining[c] += classes[c] ? change : 0;
}

void hd_buckets_push(struct hd_buckets *b, size_t bucket, heddle_task *t, int releaser)
{
	struct hd_bucket *k = b->all[bucket];
	unsigned set = hd_sets_of(&b->sets, t);
	if (HD_UNLIKELY(b->n_served < b->sets.n))
		learn_sets(b);
	unsigned list = b->n_lists > 1 ? best_list(b, t, serves(b, set), releaser) : 0;
	learn_times(b, k, t);
	hd_deque_push_back(list_of(b, k, list, set), t);
	k->tasks++;
	k->n++;
	k->n_on[list]++;
	b->n_on[list]++;
	count(b, set, 1);
	b->news++;
}

/* --- Pick ------------------------------------------------------------------------------------------------------------------------ */

/* Time in us after which the fastest class would have emptied the bucket: busy with this bucket alone, or with all that it wants
 * as much. */
static double time_to_empty(const struct hd_buckets *b, const struct hd_bucket *k, size_t fastest)
{
	double us = (double)k->n * k->time[fastest];
	for (size_t r = 0; b->gate == HD_GATE_ORDER && r < b->n; r++) {
		const struct hd_bucket *before = b->all[b->orders[fastest][r]];
		if (before == k)
			break;
		if (before->n && !isnan(before->time[fastest]))
			us += (double)before->n * before->time[fastest];
	}
	return us / (double)b->workers[fastest];
}

/* Whether a class is too slow for a bucket now: tasks / workers of the fastest class < time / time of the fastest. Only classes
 * that can run these tasks count: the fastest of all may never come. */
static int gated(struct hd_buckets *b, const struct hd_bucket *k, size_t set, unsigned class_id)
{
	if (b->gate == HD_GATE_NO || isnan(k->time[class_id]) || (set == 0 && b->sets.n == b->sets.capacity))
		return 0;
	const uint8_t *classes = serves(b, set);
	size_t fastest = class_id;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		if (classes[c] && k->time[c] < k->time[fastest])
			fastest = c;
	if (fastest == class_id || time_to_empty(b, k, fastest) >= k->time[class_id])
		return 0;
	b->refused++;
	return 1;
}

/* The first task of a list that the worker can run. With `b->sets` full, tasks of set 0 may be for others only. */
static heddle_task *first_for(const struct hd_buckets *b, const struct hd_deque *list, size_t set, unsigned worker)
{
	heddle_task *t = list->first;
	int reach = set == 0 && b->sets.n == b->sets.capacity ? HD_SETS_REACH : 1;
	for (int i = 0; t && i < reach; i++) {
		if (heddle_task_can_run(t, worker))
			return t;
		t = heddle_task_link(t)->next;
	}
	return NULL;
}

/* Moves the first task to the list of exactly the workers that can run it; 0: it is there already. */
static int refile(struct hd_buckets *b, struct hd_bucket *k, size_t list, size_t set)
{
	heddle_task *t = list_of(b, k, list, set)->first;
	unsigned exact = hd_sets_exact(&b->sets, t);
	learn_sets(b);
	if (exact == set)
		return 0;
	hd_deque_remove(list_of(b, k, list, set), t);
	hd_deque_push_back(list_of(b, k, list, exact), t);
	b->news++;
	count(b, set, (size_t)-1);
	count(b, exact, 1);
	return 1;
}

static heddle_task *take(struct hd_buckets *b, struct hd_bucket *k, size_t list, size_t set, heddle_task *t)
{
	hd_deque_remove(list_of(b, k, list, set), t);
	k->n--;
	k->n_on[list]--;
	b->n_on[list]--;
	count(b, set, (size_t)-1);
	return t;
}

/* From one list of one bucket: the oldest task, by submission where several sets hold some. */
static heddle_task *take_from(struct hd_buckets *b, struct hd_bucket *k, size_t list, unsigned worker)
{
	unsigned class_id = b->platform->workers[worker].class_id;
	size_t best_set = 0;
	heddle_task *best = NULL;
	for (size_t set = 0; set < b->sets.n; set++) {
		struct hd_deque *q = list_of(b, k, list, set);
		if (!q->first || !hd_sets_has(&b->sets, set, worker) || gated(b, k, set, class_id))
			continue;
		heddle_task *t = first_for(b, q, set, worker);
		while (!t && q->first && refile(b, k, list, set))
			t = first_for(b, q, set, worker);
		if (t && (!best || heddle_task_order(t) < heddle_task_order(best))) {
			best = t;
			best_set = set;
		}
	}
	return best ? take(b, k, list, best_set, best) : NULL;
}

/* From the worker's own node's list of each bucket in its order, then from the other nodes' lists, nearest first. */
static heddle_task *take_any(struct hd_buckets *b, unsigned worker)
{
	const struct heddle_worker *w = &b->platform->workers[worker];
	const unsigned *visit = b->visit + w->node * b->n_lists;
	const size_t *order = b->orders[w->class_id];
	for (size_t v = 0; v < b->n_lists; v++) {
		size_t list = visit[v];
		for (size_t r = 0; b->n_on[list] && r < b->n; r++) {
			struct hd_bucket *k = b->all[order[r]];
			heddle_task *t = k->n_on[list] ? take_from(b, k, list, worker) : NULL;
			if (!t)
				continue;
			k->taken[w->class_id]++;
			b->local += v == 0;
			b->given++;
			return t;
		}
	}
	return NULL;
}

static heddle_task *unhold(struct hd_buckets *b, struct hd_held *held, heddle_task *t)
{
	hd_deque_remove(&held->queue, t);
	held->n--;
	b->held_now--;
	return t;
}

/* StarPU's rule: with fewer tasks than workers nobody hoards. */
static void fill_held(struct hd_buckets *b, unsigned worker)
{
	const struct heddle_worker *w = &b->platform->workers[worker];
	struct hd_held *held = &b->held[worker];
	size_t most = b->remaining[w->class_id] < b->workers[w->class_id] ? 1 : b->ahead;
	while (held->n < most) {
		heddle_task *t = take_any(b, worker);
		if (!t)
			return;
		hd_deque_push_back(&held->queue, t);
		if (held->n++)
			heddle_task_prefetch(t, w->node);
		b->held_now++;
	}
}

/* The last task that a worker of the same class holds and that this one can run: its first may start any moment. */
static heddle_task *steal(struct hd_buckets *b, unsigned worker)
{
	const unsigned *peers = b->peers + worker * b->platform->n_workers;
	for (unsigned i = 0; b->held_now && i < b->n_peers[worker]; i++) {
		struct hd_held *held = &b->held[peers[i]];
		heddle_task *t = held->n ? held->queue.last : NULL;
		if (!t || !heddle_task_can_run(t, worker))
			continue;
		b->stolen++;
		return unhold(b, held, t);
	}
	return NULL;
}

heddle_task *hd_buckets_pick(struct hd_buckets *b, unsigned worker)
{
	struct hd_held *held = &b->held[worker];
	if (held->refused_at == b->news)
		return NULL;
	fill_held(b, worker);
	heddle_task *t = held->n ? unhold(b, held, held->queue.first) : steal(b, worker);
	if (!t)
		held->refused_at = b->news;
	else if (held->n)
		b->news++; /* what it holds can be stolen */
	return t;
}

/* --- Report ---------------------------------------------------------------------------------------------------------------------- */

void hd_buckets_report(struct hd_buckets *b, heddle_sched *sched)
{
	char name[160];
	heddle_sched_report(sched, "refused: the class is too slow", (double)b->refused, "times");
	if (b->ahead > 1)
		heddle_sched_report(sched, "stolen from what another worker held", (double)b->stolen, "tasks");
	if (b->n_lists > 1)
		heddle_sched_report(sched, "taken from the own node's lists", b->given ? 100 * (double)b->local / (double)b->given : 0, "%");
	for (size_t c = 0; c < b->platform->n_classes; c++)
		for (size_t r = 0, rank = 0; r < b->n; r++) {
			const struct hd_bucket *k = b->all[b->orders[c][r]];
			if (!k->tasks)
				continue;
			snprintf(name, sizeof name, "%s takes, %zu: %s", b->platform->classes[c].name, ++rank, k->name);
			heddle_sched_report(sched, name, (double)k->taken[c], "tasks");
		}
}
