/* Tournament trees over the dates of workers (dates.h). */
#include "dates.h"
#include <math.h>
#include <stdlib.h>
#include "groups.h"

static const struct hd_dates_node nobody = {INFINITY, INFINITY, INFINITY, INFINITY};

/* --- Groups and families ------------------------------------------------------------------------------------------ */

/* Puts each worker into its group. */
static void form_groups(struct hd_dates *d, const struct heddle_platform *p)
{
	for (unsigned w = 0; w < d->n_workers; w++) {
		unsigned mate = hd_group_mate(p, w), g = mate < w ? d->workers[mate].group : (unsigned)d->n_groups++;
		struct hd_dates_group *group = &d->groups[g];
		d->workers[w] = (struct hd_dates_worker){.placed = NAN, .group = g, .leaf = group->n++};
		group->class_id = p->workers[w].class_id;
		group->node = p->workers[w].node;
		group->last = w;
	}
	for (size_t g = d->n_groups; g-- > 0;) {
		unsigned *first = &d->on_node[d->groups[g].node];
		d->groups[g].next = *first;
		*first = (unsigned)g + 1;
	}
}

/* Whether the group may be the next one of the family. The groups come in the order of their first workers. */
static int belongs_to(const struct hd_dates *d, unsigned first_worker, const struct hd_dates_group *g,
                      const struct hd_dates_family *f, const double *weights)
{
	return f->class_id == g->class_id && d->groups[f->last_group].last < first_worker &&
	       heddle_sched_alike(d->sched, f->node) == heddle_sched_alike(d->sched, g->node) &&
	       (!weights || weights[f->node] == weights[g->node]);
}

/* The family to which a group belongs, or a new one. */
static unsigned find_family(struct hd_dates *d, unsigned first_worker, const struct hd_dates_group *g,
                            const double *weights)
{
	size_t i = d->n_families;
	while (i && !belongs_to(d, first_worker, g, &d->families[i - 1], weights))
		i--;
	if (i)
		return (unsigned)i - 1;
	d->families[d->n_families] = (struct hd_dates_family){.class_id = g->class_id,
	                                                      .node = g->node,
	                                                      .at = heddle_sched_alike(d->sched, g->node),
	                                                      .n_leaves = 1,
	                                                      .n_group_leaves = 1};
	return (unsigned)d->n_families++;
}

/* Puts each group into its family; `root` is its number in the family until place_trees. */
static void form_families(struct hd_dates *d, const double *weights)
{
	for (unsigned w = 0; w < d->n_workers; w++) {
		unsigned group = d->workers[w].group;
		struct hd_dates_group *g = &d->groups[group];
		if (d->workers[w].leaf)
			continue; /* not the first worker of the group */
		g->family = find_family(d, w, g, weights);
		struct hd_dates_family *f = &d->families[g->family];
		g->root = f->n_groups++;
		f->last_group = group;
		while (f->n_group_leaves < g->n)
			f->n_group_leaves *= 2;
	}
}

/* Makes each group a family of its own. */
static void separate_groups(struct hd_dates *d)
{
	d->are_alone = 1;
	d->n_families = d->n_groups;
	for (unsigned i = 0; i < d->n_groups; i++) {
		struct hd_dates_group *g = &d->groups[i];
		struct hd_dates_family *f = &d->families[i];
		*f = (struct hd_dates_family){.class_id = g->class_id,
		                              .node = g->node,
		                              .at = g->node,
		                              .n_groups = 1,
		                              .last_group = i,
		                              .n_leaves = 1,
		                              .n_group_leaves = 1};
		while (f->n_group_leaves < g->n)
			f->n_group_leaves *= 2;
		g->family = i;
		g->root = 0;
	}
}

/* Computes the sizes of the trees. Returns the number of all their leaves. */
static size_t measure_trees(struct hd_dates *d)
{
	size_t n = 0;
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_families; f++) {
		size_t n_groups = 1;
		while (n_groups < f->n_groups)
			n_groups *= 2;
		f->n_leaves = n_groups * f->n_group_leaves;
		n += f->n_leaves;
	}
	return n;
}

/* Makes an empty tree for each family. */
static struct hd_dates_node *plant_trees(size_t n_leaves)
{
	struct hd_dates_node *trees = malloc(2 * n_leaves * sizeof *trees);
	for (size_t i = 0; trees && i < 2 * n_leaves; i++)
		trees[i] = nobody;
	return trees;
}

/* Gives each family its tree, each group its subtree and each worker its leaf. */
static void place_trees(struct hd_dates *d)
{
	struct hd_dates_node *tree = d->trees;
	unsigned *workers = d->members;
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_families; f++) {
		f->tree = tree;
		f->workers = workers;
		tree += 2 * f->n_leaves;
		workers += f->n_leaves;
	}
	for (unsigned w = 0; w < d->n_workers; w++) {
		const struct hd_dates_group *g = &d->groups[d->workers[w].group];
		const struct hd_dates_family *f = &d->families[g->family];
		d->workers[w].leaf += (unsigned)(g->root * f->n_group_leaves);
		f->workers[d->workers[w].leaf] = w;
	}
	for (struct hd_dates_group *g = d->groups; g < d->groups + d->n_groups; g++)
		g->root += d->families[g->family].n_leaves / d->families[g->family].n_group_leaves;
}

enum { FEW = 12 /* groups: comparing each costs less than finding out which are apart */ };

int hd_dates_init(struct hd_dates *d, heddle_sched *sched, const double *weights, int each)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	*d = (struct hd_dates){.sched = sched, .n_workers = p->n_workers, .question = 1};
	d->workers = calloc(d->n_workers, sizeof *d->workers);
	d->groups = calloc(d->n_workers, sizeof *d->groups);
	d->families = calloc(d->n_workers, sizeof *d->families);
	d->on_node = calloc(p->n_nodes, sizeof *d->on_node);
	d->apart = calloc(d->n_workers, sizeof *d->apart);
	d->nodes = calloc(p->n_nodes, sizeof *d->nodes);
	d->near = calloc(p->n_nodes, sizeof *d->near);
	d->far = calloc(p->n_nodes, sizeof *d->far);
	d->stale = calloc(d->n_workers, sizeof *d->stale);
	if (!d->workers || !d->groups || !d->families || !d->on_node || !d->apart || !d->nodes || !d->near || !d->far ||
	    !d->stale)
		return hd_no_memory("the dates of workers");
	form_groups(d, p);
	form_families(d, weights);
	if (each || d->n_groups < FEW || 2 * d->n_families > d->n_groups)
		separate_groups(d);
	d->n_far = d->n_families;
	d->n_leaves = measure_trees(d);
	d->members = calloc(d->n_leaves, sizeof *d->members);
	d->trees = plant_trees(d->n_leaves);
	if (!d->members || !d->trees)
		return hd_no_memory("the dates of workers");
	place_trees(d);
	return HEDDLE_OK;
}

int hd_dates_watch_latest(struct hd_dates *d)
{
	d->latest = plant_trees(d->n_leaves);
	return d->latest ? HEDDLE_OK : hd_no_memory("the dates of workers");
}

void hd_dates_fini(struct hd_dates *d)
{
	free(d->workers);
	free(d->groups);
	free(d->families);
	free(d->on_node);
	free(d->apart);
	free(d->nodes);
	free(d->near);
	free(d->far);
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

/* A date that is not later than that of any worker below a node, the mixed ones included. */
static inline double bound_below(const struct hd_dates *d, const struct hd_dates_node *node)
{
	return least(earliest_below(d, node), d->now + node->mixed) * certain;
}

/* To be called when the tree of the family, or `now`, has changed: computes the family's `earliest`. */
static void note_earliest(const struct hd_dates *d, struct hd_dates_family *f)
{
	f->earliest = bound_below(d, &f->tree[1]);
}

/* The tree of the negated dates of a family, in which the latest date wins. */
static struct hd_dates_node *latest_of(const struct hd_dates *d, const struct hd_dates_family *f)
{
	return d->latest + (f->tree - d->trees);
}

static struct hd_dates_family *family_of(const struct hd_dates *d, const struct hd_dates_worker *w)
{
	return &d->families[d->groups[w->group].family];
}

/* Updates the trees after a change of the worker. */
static void replay(struct hd_dates *d, const struct hd_dates_worker *w)
{
	struct hd_dates_family *f = family_of(d, w);
	struct hd_dates_node leaf = leaf_of(d, w);
	climb(f->tree, f->n_leaves + w->leaf, w->is_hidden ? nobody : leaf);
	note_earliest(d, f);
	if (d->latest)
		climb(latest_of(d, f), f->n_leaves + w->leaf, opposite(&leaf));
}

/* Makes the workers of the family late whose kernels should have ended by now. */
static void overtake(struct hd_dates *d, const struct hd_dates_family *f)
{
	while (f->tree[1].until <= d->now) {
		size_t i = 1;
		while (i < f->n_leaves) {
			i *= 2;
			i += f->tree[i].until > d->now;
		}
		replay(d, &d->workers[f->workers[i - f->n_leaves]]);
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
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_families; f++) {
		overtake(d, f);
		note_earliest(d, f);
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
	struct hd_dates_family *f = family_of(d, w);
	w->is_hidden = is_hidden;
	climb(f->tree, f->n_leaves + w->leaf, is_hidden ? nobody : leaf_of(d, w));
	note_earliest(d, f);
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
static void compare_mixed(const struct hd_dates *d, const struct hd_dates_family *f, size_t i,
                          const struct hd_dates_terms *terms, struct best *best)
{
	double bound = hd_dates_cost((d->now + f->tree[i].mixed) * certain, terms) * certain;
	if (isinf(f->tree[i].mixed) || bound > best->cost)
		return;
	if (i < f->n_leaves) {
		compare_mixed(d, f, 2 * i, terms, best);
		compare_mixed(d, f, 2 * i + 1, terms, best);
		return;
	}
	size_t leaf = i - f->n_leaves;
	double cost = hd_dates_cost(hd_dates_of(d, f->workers[leaf]), terms);
	if (cost < best->cost || (cost == best->cost && leaf < best->leaf))
		*best = (struct best){cost, leaf};
}

/* The worker with the least cost below node i. The cost does not decrease with the date, so the earliest date below a
 * node gives the least cost there. But the first worker with the least cost may have a later date; therefore the
 * descent compares costs, not dates. */
static unsigned earliest_from(const struct hd_dates *d, const struct hd_dates_family *f, size_t root,
                              const struct hd_dates_terms *terms, double *cost)
{
	struct best best = {.cost = hd_dates_cost(earliest_below(d, &f->tree[root]), terms)};
	size_t i = root;
	while (i < f->n_leaves) {
		i *= 2;
		i += hd_dates_cost(earliest_below(d, &f->tree[i]), terms) > best.cost;
	}
	/* any leaf if all workers are mixed: then compare_mixed replaces it, because every cost is less than
	 * INFINITY */
	best.leaf = i - f->n_leaves;
	if (!isinf(f->tree[root].mixed))
		compare_mixed(d, f, root, terms, &best);
	*cost = best.cost;
	return f->workers[best.leaf];
}

unsigned hd_dates_earliest(const struct hd_dates *d, const struct hd_dates_group *g, const struct hd_dates_terms *terms,
                           double *cost)
{
	return earliest_from(d, &d->families[g->family], g->root, terms, cost);
}

double hd_dates_bound(const struct hd_dates *d, const struct hd_dates_group *g)
{
	const struct hd_dates_family *f = &d->families[g->family];
	return d->are_alone ? f->earliest : bound_below(d, &f->tree[g->root]);
}

/* The maximum of `latest` and the dates of the mixed workers below node i. Skips the nodes whose upper bound of the
 * dates is not later. */
static double latest_mixed(const struct hd_dates *d, const struct hd_dates_family *f, size_t i, double latest)
{
	const struct hd_dates_node *node = &latest_of(d, f)[i];
	if (isinf(node->mixed) || (d->now - node->mixed) * (1 + 0x1p-50) <= latest)
		return latest;
	if (i < f->n_leaves)
		return latest_mixed(d, f, 2 * i + 1, latest_mixed(d, f, 2 * i, latest));
	return fmax(latest, hd_dates_of(d, f->workers[i - f->n_leaves]));
}

double hd_dates_latest(const struct hd_dates *d, const struct hd_dates_group *g)
{
	const struct hd_dates_family *f = &d->families[g->family];
	const struct hd_dates_node *root = &latest_of(d, f)[g->root];
	return latest_mixed(d, f, g->root, fmax(-root->ahead, d->now - root->late));
}

void hd_dates_find_moves(struct hd_dates *d, const heddle_task *t)
{
	if (d->are_alone) {
		heddle_task_transfer_times(t, d->far);
		return;
	}
	d->n_apart = 0;
	d->question++;
	size_t n = heddle_task_transfer_times_apart(t, d->far, d->near, d->nodes);
	for (size_t i = 0; i < n; i++) {
		for (unsigned next = d->on_node[d->nodes[i]]; next; next = d->groups[next - 1].next) {
			d->groups[next - 1].apart_at = d->question;
			d->apart[d->n_apart++] = next - 1;
		}
	}
	d->n_far = d->n_apart < d->n_groups ? d->n_families : 0;
}

/* Compares the workers below a root with the best worker so far; `bound`: no date there is earlier. */
static void prefer(const struct hd_dates *d, const struct hd_dates_family *f, size_t root, double bound,
                   const struct hd_dates_terms *terms, struct best *best)
{
	/* INFINITY: no worker is driven, or none can run the task */
	double cost = hd_dates_cost(bound, terms) * certain;
	if (cost > best->cost || isinf(cost))
		return;
	unsigned w = earliest_from(d, f, root, terms, &cost);
	if (cost < best->cost || (cost == best->cost && w < best->leaf))
		*best = (struct best){cost, w};
}

static unsigned best_of_groups(const struct hd_dates *d)
{
	struct best best = {.cost = INFINITY};
	for (size_t i = 0; i < d->n_apart; i++) {
		const struct hd_dates_group *g = &d->groups[d->apart[i]];
		prefer(d, &d->families[g->family], g->root, hd_dates_bound(d, g), &g->own, &best);
	}
	for (size_t i = 0; i < d->n_far; i++)
		prefer(d, &d->families[i], 1, d->families[i].earliest, &d->families[i].far, &best);
	return (unsigned)best.leaf;
}

unsigned hd_dates_best(const struct hd_dates *d, const heddle_task *t)
{
	unsigned best = best_of_groups(d);
	if (HD_LIKELY(heddle_task_can_run(t, best)))
		return best;
	/* Some workers of the group cannot run the task, so each worker is compared. */
	double least = INFINITY;
	best = 0;
	for (unsigned w = 0; w < d->n_workers; w++) {
		double cost = hd_dates_cost(hd_dates_of(d, w), hd_dates_terms_of(d, w));
		if (cost < least && heddle_task_can_run(t, w)) {
			least = cost;
			best = w;
		}
	}
	return best;
}
