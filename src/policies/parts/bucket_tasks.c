/* Puts tasks into buckets and takes them out: the lists of the nodes, the gate, and the tasks that workers hold ahead
 * (buckets.h). */
#include "buckets.h"
#include <math.h>
#include <stdio.h>

/* --- Where to look ------------------------------------------------------------------------------------------------ */

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
	b->news++; /* the gate depends on the orders, so workers that it has refused must be asked again */
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

/* Fills `serves` for the sets that are new since the last call. */
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

/* --- Push --------------------------------------------------------------------------------------------------------- */

/* The averages are avg_{n+1} = x / (n+1) + n avg_n / (n+1), section 6.1. */
void hd_buckets_learn(struct hd_buckets *b, size_t bucket, const heddle_task *t)
{
	struct hd_bucket *k = b->all[bucket];
	k->tasks++;
	b->news++; /* the gate depends on these times, so workers that it has refused must be asked again */
	for (unsigned c = 0; c < b->platform->n_classes; c++) {
		double us = heddle_task_time(t, c);
		if (isnan(us))
			continue;
		double n = (double)k->samples[c]++;
		k->time[c] = n > 0 ? us / (n + 1) + n / (n + 1) * k->time[c] : us;
	}
}

/* The list with the best score among the nodes whose workers can run the task. Of lists with equal scores, the list of
 * the releaser's node is taken; otherwise the list with the fewest tasks, then the first list. */
static unsigned best_list(const struct hd_buckets *b, const heddle_task *t, const uint8_t *classes, int releaser)
{
	int releaser_node = releaser < 0 ? -1 : (int)b->platform->workers[releaser].node;
	double best_score = -INFINITY;
	unsigned best = 0;
	hd_locality_scores(b->locality, t, releaser_node, b->n_lists, b->present, b->scores);
	for (unsigned node = 0; node < b->n_lists; node++) {
		if (b->class_of_node[node] < 0 || !classes[b->class_of_node[node]])
			continue;
		double score = b->scores[node];
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
	hd_buckets_learn(b, bucket, t);
	hd_deque_push_back(list_of(b, k, list, set), t);
	k->n++;
	k->n_on[list]++;
	b->n_on[list]++;
	count(b, set, 1);
}

/* --- Pick --------------------------------------------------------------------------------------------------------- */

/* us that the fastest class would take to empty the bucket; with HD_GATE_ORDER, together with the buckets that precede
 * it in the order of the class. */
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

/* Whether the gate keeps a class from a bucket because the class is too slow: tasks / workers of the fastest class <
 * time / time of the fastest class. Only classes that can run the tasks of the set and have driven workers count. */
static int gated(struct hd_buckets *b, const struct hd_bucket *k, size_t set, unsigned class_id)
{
	if (b->gate == HD_GATE_NO || isnan(k->time[class_id]) || (set == 0 && b->sets.n == b->sets.capacity))
		return 0;
	const uint8_t *classes = serves(b, set);
	size_t fastest = class_id;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		if (classes[c] && b->workers[c] && k->time[c] < k->time[fastest])
			fastest = c;
	if (fastest == class_id || time_to_empty(b, k, fastest) >= k->time[class_id])
		return 0;
	b->refused++;
	return 1;
}

/* The first task of a list that the worker can run. If the table of sets is full, set 0 also has tasks that the worker
 * cannot run. */
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

/* Moves the first task of a list to the list of its exact set, the set of the workers that can run it; returns 0 if the
 * task is in this list already. */
static int refile(struct hd_buckets *b, struct hd_bucket *k, size_t list, size_t set)
{
	heddle_task *t = list_of(b, k, list, set)->first;
	unsigned exact = hd_sets_exact(&b->sets, t);
	learn_sets(b);
	if (exact == set)
		return 0;
	hd_deque_remove(list_of(b, k, list, set), t);
	hd_deque_push_back(list_of(b, k, list, exact), t);
	b->refiled++;
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

/* Takes a task that the worker can run from one list of one bucket: of the first such tasks of all sets, the task that
 * was submitted first. */
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

/* Takes a task for the worker: from the lists of its own node, then from the lists of the other nodes, the nearest node
 * first. In each of them, goes through the buckets in the order of the worker's class. */
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

static heddle_task *unhold(struct hd_buckets *b, unsigned owner, heddle_task *t)
{
	hd_deque_remove(&b->held[owner].queue, t);
	if (!--b->held[owner].n)
		hd_nearest_unmark(&b->holders, owner);
	b->held_now[b->platform->workers[owner].class_id]--;
	return t;
}

/* Lets the worker hold up to `ahead` tasks. As in StarPU, a worker holds only one task if fewer tasks remain than the
 * class has workers, so that no task is kept from an idle worker. */
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
		else
			hd_nearest_mark(&b->holders, worker);
		b->held_now[w->class_id]++;
	}
}

/* Takes the last task that another worker of the class holds, if this worker can run the task. Not the first task,
 * because the other worker may begin it at any moment. */
static heddle_task *steal(struct hd_buckets *b, unsigned worker)
{
	unsigned class_id = b->platform->workers[worker].class_id;
	struct hd_nearest_walk walk;
	if (!b->held_now[class_id])
		return NULL;
	hd_nearest_walk(&walk, &b->holders, worker);
	for (unsigned peer; (peer = hd_nearest_next(&walk)) != HD_NOBODY;) {
		heddle_task *t = b->held[peer].queue.last;
		if (b->platform->workers[peer].class_id != class_id || !heddle_task_can_run(t, worker))
			continue;
		b->stolen++;
		return unhold(b, peer, t);
	}
	return NULL;
}

heddle_task *hd_buckets_take_back(void *buckets, unsigned worker)
{
	struct hd_buckets *b = buckets;
	heddle_task *t = b->held[worker].queue.first;
	return t ? unhold(b, worker, t) : NULL;
}

/* Notes that the worker has found no task. Then the other workers of its group would find none either, unless there are
 * tasks that only some workers of the group can run or steal. */
static void note_idle(struct hd_buckets *b, unsigned worker, uint64_t *group)
{
	b->idle_at[worker] = b->news;
	if (b->refiled || b->held_now[b->platform->workers[worker].class_id])
		return;
	*group = b->news;
	heddle_sched_open(b->sched, b->group_of[worker], 0);
}

void hd_buckets_call(struct hd_buckets *b)
{
	if (b->told == b->news)
		return;
	b->told = b->news;
	for (unsigned g = 0; g < b->n_groups; g++)
		heddle_sched_open(b->sched, g, 1);
}

heddle_task *hd_buckets_pick(void *buckets, unsigned worker)
{
	struct hd_buckets *b = buckets;
	uint64_t *group = &b->idle_at[b->platform->n_workers + b->group_of[worker]];
	struct hd_held *held = &b->held[worker];
	if (*group == b->news || b->idle_at[worker] == b->news)
		return NULL;
	fill_held(b, worker);
	heddle_task *t = held->n ? unhold(b, worker, held->queue.first) : steal(b, worker);
	/* Opens the groups again: refile may have moved a task to a list in which workers of other groups find it. */
	hd_buckets_call(b);
	/* The group may be closed: each task that another worker will hold is in a list now, and this worker cannot run
	 * the task, so it could not steal it later. */
	if (!t)
		note_idle(b, worker, group);
	return t;
}

/* --- Report ------------------------------------------------------------------------------------------------------- */

/* Reports when the class got each of its last orders. The name of the statistic has the first buckets of the order:
 * "cpu order 2: A > B". */
static void report_orders(const struct hd_buckets *b, heddle_sched *sched, size_t class_id)
{
	const struct hd_order_log *log = &b->logs[class_id];
	const char *class = b->platform->classes[class_id].name;
	char name[160];
	snprintf(name, sizeof name, "%s: order changed", class);
	heddle_sched_count(sched, name, (double)log->changes, "times");
	for (uint64_t i = log->changes > HD_ORDERS_KEPT ? log->changes - HD_ORDERS_KEPT : 0; i < log->changes; i++) {
		const size_t *front = log->last[i % HD_ORDERS_KEPT].front;
		size_t n = log->last[i % HD_ORDERS_KEPT].n;
		int length = snprintf(name, sizeof name, "%s order %llu:", class, (unsigned long long)i + 1);
		for (size_t r = 0; r < n && length >= 0 && (size_t)length < sizeof name; r++)
			length += snprintf(name + length, sizeof name - (size_t)length, "%s %s", r ? " >" : "",
			                   b->all[front[r]]->name);
		heddle_sched_report(sched, name, log->last[i % HD_ORDERS_KEPT].at, "us");
	}
}

void hd_buckets_report(void *buckets, heddle_sched *sched)
{
	struct hd_buckets *b = buckets;
	char name[160];
	heddle_sched_count(sched, "refused: the class is too slow", (double)b->refused, "times");
	if (b->ahead > 1)
		heddle_sched_count(sched, "stolen from what another worker held", (double)b->stolen, "tasks");
	if (b->n_lists > 1)
		heddle_sched_report(sched, "taken from the own node's lists",
		                    b->given ? 100 * (double)b->local / (double)b->given : 0, "%");
	for (size_t c = 0; c < b->platform->n_classes; c++) {
		report_orders(b, sched, c);
		/* one statistic per bucket, in the current order; the order is not in the names, because it changes */
		for (size_t r = 0; r < b->n; r++) {
			const struct hd_bucket *k = b->all[b->orders[c][r]];
			if (!k->tasks)
				continue;
			snprintf(name, sizeof name, "%s takes: %s", b->platform->classes[c].name, k->name);
			heddle_sched_count(sched, name, (double)k->taken[c], "tasks");
		}
	}
}
