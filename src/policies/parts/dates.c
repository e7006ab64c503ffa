/* Tournament trees over the dates of workers (dates.h). */
#include "dates.h"
#include <math.h>
#include <stdlib.h>
#include "groups.h"

static const struct hd_dates_node nobody = {INFINITY, INFINITY, INFINITY, INFINITY};

/* --- Groups ------------------------------------------------------------------------------------------------------- */

/* Gives each group its part of `members` and the size of its tree, and each worker its leaf. */
static void list_members(struct hd_dates *d)
{
	unsigned *next = d->members;
	for (struct hd_dates_group *g = d->groups; g < d->groups + d->n_groups; g++) {
		while (g->n_leaves < g->n)
			g->n_leaves *= 2;
		g->workers = next;
		next += g->n;
		g->n = 0;
	}
	for (unsigned w = 0; w < d->n_workers; w++) {
		struct hd_dates_group *g = &d->groups[d->workers[w].group];
		d->workers[w].leaf = g->n;
		g->workers[g->n++] = w;
	}
}

/* Makes an empty tree for each group. */
static struct hd_dates_node *plant_trees(const struct hd_dates *d)
{
	size_t n_nodes = 0;
	for (const struct hd_dates_group *g = d->groups; g < d->groups + d->n_groups; g++)
		n_nodes += 2 * g->n_leaves;
	struct hd_dates_node *trees = malloc(n_nodes * sizeof *trees);
	for (size_t i = 0; trees && i < n_nodes; i++)
		trees[i] = nobody;
	return trees;
}

int hd_dates_init(struct hd_dates *d, heddle_sched *sched)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*d = (struct hd_dates){.sched = sched, .n_workers = p->n_workers};
	d->workers = calloc(d->n_workers, sizeof *d->workers);
	d->groups = calloc(d->n_workers, sizeof *d->groups);
	d->members = calloc(d->n_workers, sizeof *d->members);
	d->stale = calloc(d->n_workers, sizeof *d->stale);
	if (!d->workers || !d->groups || !d->members || !d->stale)
		return hd_no_memory("the dates of workers");
	for (unsigned w = 0; w < d->n_workers; w++) {
		unsigned mate = hd_group_mate(p, w), g = mate < w ? d->workers[mate].group : (unsigned)d->n_groups++;
		d->workers[w] = (struct hd_dates_worker){.placed = NAN, .group = g};
		d->groups[g].class_id = p->workers[w].class_id;
		d->groups[g].node = p->workers[w].node;
		d->groups[g].n_leaves = 1;
		d->groups[g].n++;
	}
	list_members(d);
	d->trees = plant_trees(d);
	if (!d->trees)
		return hd_no_memory("the dates of workers");
	struct hd_dates_node *next = d->trees;
	for (struct hd_dates_group *g = d->groups; g < d->groups + d->n_groups; g++) {
		g->tree = next;
		next += 2 * g->n_leaves;
	}
	return HEDDLE_OK;
}

int hd_dates_watch_latest(struct hd_dates *d)
{
	d->latest = plant_trees(d);
	return d->latest ? HEDDLE_OK : hd_no_memory("the dates of workers");
}

void hd_dates_fini(struct hd_dates *d)
{
	free(d->workers);
	free(d->groups);
	free(d->members);
	free(d->stale);
	free(d->trees);
	free(d->latest);
}

/* --- Changes ------------------------------------------------------------------------------------------------------ */

static inline double least(double a, double b)
{
	return a < b ? a : b;
}

/* The leaf of a worker. */
static struct hd_dates_node leaf_of(const struct hd_dates *d, const struct hd_dates_worker *w)
{
	struct hd_dates_node leaf = nobody;
	if (!w->is_driven)
		return leaf;
	if (!isnan(w->placed)) {
		leaf.ahead = w->placed;
	} else if (w->until > d->now) {
		leaf.ahead = w->until + w->backlog + w->queued;
		leaf.until = w->until;
	} else {
		*(w->backlog != 0 && w->queued != 0 ? &leaf.mixed : &leaf.late) = w->backlog + w->queued;
	}
	return leaf;
}

/* The leaf in the tree of negative dates. */
static struct hd_dates_node opposite(const struct hd_dates_node *leaf)
{
	return (struct hd_dates_node){.ahead = isinf(leaf->ahead) ? (double)INFINITY : -leaf->ahead,
	                              .late = isinf(leaf->late) ? (double)INFINITY : -leaf->late,
	                              .mixed = isinf(leaf->mixed) ? (double)INFINITY : -leaf->mixed,
	                              .until = INFINITY};
}

/* Sets node i, a leaf, to `winner`, and updates the nodes above it. */
static inline void climb(struct hd_dates_node *tree, size_t i, struct hd_dates_node winner)
{
	tree[i] = winner;
	while (i > 1) {
		const struct hd_dates_node *other = &tree[i ^ 1];
		winner.ahead = least(winner.ahead, other->ahead);
		winner.late = least(winner.late, other->late);
		winner.mixed = least(winner.mixed, other->mixed);
		winner.until = least(winner.until, other->until);
		struct hd_dates_node *parent = &tree[i /= 2];
		if (parent->ahead == winner.ahead && parent->late == winner.late && parent->mixed == winner.mixed &&
		    parent->until == winner.until)
			return;
		*parent = winner;
	}
}

/* The earliest date of the workers below a node, the mixed ones left out. */
static inline double earliest_below(const struct hd_dates *d, const struct hd_dates_node *node)
{
	return least(node->ahead, d->now + node->late);
}

/* A factor that lowers a bound by more than any rounding error. */
static const double certain = 1 - 0x1p-50;

/* To be called when the tree of the group, or `now`, has changed: computes the group's `earliest`. */
static void note_earliest(const struct hd_dates *d, struct hd_dates_group *g)
{
	g->earliest = least(earliest_below(d, &g->tree[1]), d->now + g->tree[1].mixed) * certain;
}

/* The tree of the negated dates of a group, in which the latest date wins. */
static struct hd_dates_node *latest_of(const struct hd_dates *d, const struct hd_dates_group *g)
{
	return d->latest + (g->tree - d->trees);
}

/* Updates the trees after a change of the worker. */
static void replay(struct hd_dates *d, const struct hd_dates_worker *w)
{
	struct hd_dates_group *g = &d->groups[w->group];
	struct hd_dates_node leaf = leaf_of(d, w);
	climb(g->tree, g->n_leaves + w->leaf, w->is_hidden ? nobody : leaf);
	note_earliest(d, g);
	if (d->latest)
		climb(latest_of(d, g), g->n_leaves + w->leaf, opposite(&leaf));
}

/* Makes the workers of the group late whose kernels should have ended by now. */
static void overtake(struct hd_dates *d, const struct hd_dates_group *g)
{
	while (g->tree[1].until <= d->now) {
		size_t i = 1;
		while (i < g->n_leaves) {
			i *= 2;
			i += g->tree[i].until > d->now;
		}
		replay(d, &d->workers[g->workers[i - g->n_leaves]]);
	}
}

/* The worker's leaf is out of date; the next hd_dates_renew computes it. */
static void note_stale(struct hd_dates *d, unsigned worker)
{
	if (!d->workers[worker].is_stale)
		d->stale[d->n_stale++] = worker;
	d->workers[worker].is_stale = 1;
}

void hd_dates_renew(struct hd_dates *d)
{
	const unsigned *moved;
	size_t n = heddle_sched_moved(d->sched, &moved);
	d->now = heddle_sched_now(d->sched);
	for (size_t i = 0; i < n; i++) {
		struct hd_dates_worker *w = &d->workers[moved[i]];
		int is_driven = heddle_sched_driven(d->sched, moved[i]);
		d->groups[w->group].n_driven += (unsigned)is_driven - (unsigned)w->is_driven;
		w->is_driven = is_driven;
		heddle_sched_worker_load(d->sched, moved[i], &w->until, &w->backlog);
		note_stale(d, moved[i]);
	}
	while (d->n_stale) {
		struct hd_dates_worker *w = &d->workers[d->stale[--d->n_stale]];
		w->placed = NAN;
		w->is_stale = 0;
		replay(d, w);
	}
	for (struct hd_dates_group *g = d->groups; g < d->groups + d->n_groups; g++) {
		overtake(d, g);
		note_earliest(d, g);
	}
}

void hd_dates_place(struct hd_dates *d, unsigned worker, double us)
{
	struct hd_dates_worker *w = &d->workers[worker];
	note_stale(d, worker);
	w->placed = hd_dates_of(d, worker) + us;
	w->queued += us;
	replay(d, w);
}

void hd_dates_leave(struct hd_dates *d, unsigned worker, double queued)
{
	d->workers[worker].queued = queued;
	note_stale(d, worker);
}

void hd_dates_hide(struct hd_dates *d, unsigned worker, int is_hidden)
{
	struct hd_dates_worker *w = &d->workers[worker];
	struct hd_dates_group *g = &d->groups[w->group];
	w->is_hidden = is_hidden;
	climb(g->tree, g->n_leaves + w->leaf, is_hidden ? nobody : leaf_of(d, w));
	note_earliest(d, g);
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

double hd_dates_of(const struct hd_dates *d, unsigned worker)
{
	const struct hd_dates_worker *w = &d->workers[worker];
	if (!isnan(w->placed))
		return w->placed;
	return (w->until > d->now ? w->until : d->now) + w->backlog + w->queued;
}

struct best {
	double cost;
	size_t leaf;
};

/* Compares the mixed workers below node i with the best worker so far. Skips the nodes whose lower bound of the costs
 * exceeds the best cost. */
static void compare_mixed(const struct hd_dates *d, const struct hd_dates_group *g, size_t i,
                          const struct hd_dates_terms *terms, struct best *best)
{
	double bound = hd_dates_cost((d->now + g->tree[i].mixed) * certain, terms) * certain;
	if (isinf(g->tree[i].mixed) || bound > best->cost)
		return;
	if (i < g->n_leaves) {
		compare_mixed(d, g, 2 * i, terms, best);
		compare_mixed(d, g, 2 * i + 1, terms, best);
		return;
	}
	size_t leaf = i - g->n_leaves;
	double cost = hd_dates_cost(hd_dates_of(d, g->workers[leaf]), terms);
	if (cost < best->cost || (cost == best->cost && leaf < best->leaf))
		*best = (struct best){cost, leaf};
}

/* The cost does not decrease with the date, so the earliest date below a node gives the least cost there. But the first
 * worker with the least cost may have a later date; therefore the descent compares costs, not dates. */
unsigned hd_dates_earliest(const struct hd_dates *d, const struct hd_dates_group *g, const struct hd_dates_terms *terms,
                           double *cost)
{
	struct best best = {.cost = hd_dates_cost(earliest_below(d, &g->tree[1]), terms)};
	size_t i = 1;
	while (i < g->n_leaves) {
		i *= 2;
		i += hd_dates_cost(earliest_below(d, &g->tree[i]), terms) > best.cost;
	}
	/* 0 if all workers are mixed: then compare_mixed replaces it, because every cost is less than INFINITY */
	best.leaf = i - g->n_leaves;
	if (!isinf(g->tree[1].mixed))
		compare_mixed(d, g, 1, terms, &best);
	*cost = best.cost;
	return g->workers[best.leaf];
}

/* The maximum of `latest` and the dates of the mixed workers below node i. Skips the nodes whose upper bound of the
 * dates is not later. */
static double latest_mixed(const struct hd_dates *d, const struct hd_dates_group *g, size_t i, double latest)
{
	const struct hd_dates_node *node = &latest_of(d, g)[i];
	if (isinf(node->mixed) || (d->now - node->mixed) * (1 + 0x1p-50) <= latest)
		return latest;
	if (i < g->n_leaves)
		return latest_mixed(d, g, 2 * i + 1, latest_mixed(d, g, 2 * i, latest));
	return fmax(latest, hd_dates_of(d, g->workers[i - g->n_leaves]));
}

double hd_dates_latest(const struct hd_dates *d, const struct hd_dates_group *g)
{
	const struct hd_dates_node *root = &latest_of(d, g)[1];
	return latest_mixed(d, g, 1, fmax(-root->ahead, d->now - root->late));
}

static unsigned best_of_groups(const struct hd_dates *d, const struct hd_dates_terms *terms)
{
	unsigned best = 0;
	double least = INFINITY;
	for (size_t i = 0; i < d->n_groups; i++) {
		/* INFINITY: no worker is driven, or none can run the task */
		double cost = hd_dates_cost(d->groups[i].earliest, &terms[i]) * certain;
		if (cost > least || isinf(cost))
			continue;
		unsigned w = hd_dates_earliest(d, &d->groups[i], &terms[i], &cost);
		if (cost < least || (cost == least && w < best)) {
			least = cost;
			best = w;
		}
	}
	return best;
}

unsigned hd_dates_best(const struct hd_dates *d, const heddle_task *t, const struct hd_dates_terms *terms)
{
	unsigned best = best_of_groups(d, terms);
	if (HD_LIKELY(heddle_task_can_run(t, best)))
		return best;
	/* Some workers of the group cannot run the task, so each worker is compared. */
	double least = INFINITY;
	best = 0;
	for (unsigned w = 0; w < d->n_workers; w++) {
		double cost = hd_dates_cost(hd_dates_of(d, w), &terms[d->workers[w].group]);
		if (cost < least && heddle_task_can_run(t, w)) {
			least = cost;
			best = w;
		}
	}
	return best;
}
