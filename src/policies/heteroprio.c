/* heteroprio and laheteroprio. Heteroprio: C. Flint, B. Bramas, "Finding new heuristics for automated task prioritizing
 * in heterogeneous computing" (2020), sections 2.1.2 and 3.3; E. Agullo et al., "Task-based FMM for heterogeneous
 * architectures" (2016). LAHeteroprio: B. Bramas, PeerJ Computer Science 5:e190 (2019).
 *
 *   ready  the task goes to the end of its bucket; laheteroprio: to the list of that bucket on the node with the best
 *          score
 *   pick   from the first bucket in the order of the worker's class that holds a task for it and whose gate is open;
 *          laheteroprio: first in the lists of the worker's node, then in those of the nearest nodes
 *
 * buckets.h describes the rest. Choices. A bucket is a codelet, or a user's priority (`bucket`). The option `order`
 * gives the order of the buckets for each class. Buckets that `order` does not name come after the others: if buckets
 * are priorities, the most urgent first; if they are codelets, the codelets first by which the class gains most over
 * the slowest other class; the gains are computed again as times become known. In StarPU every class has the order of
 * the user's priorities, and workers take the newest task of a bucket; here, as in the paper, workers take the oldest.
 *
 * LS_SDH2 is the default of laheteroprio because Cholesky is fastest with LS_SDH2: docs/policy-study.md, "Figures
 * behind the defaults". */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "parts/buckets.h"
#include "parts/heuristics.h"
#include "policies.h"

enum { BY_CODELET, BY_PRIORITY };
enum { RENEW = 100 }; /* the gains are computed again after this number of pushes */

struct heteroprio {
	struct hd_buckets buckets; /* the first field, because hd_buckets_pick gets the address of the state */
	int by;
	const char *order; /* borrows; the value of the option `order` */
	uint64_t pushes;
	size_t n_ordered;   /* number of buckets that the orders contain */
	size_t max_ordered; /* length of `scores` and `before` */
	double *scores;     /* owns; per bucket */
	size_t *before;     /* owns, scratch: the order of a class before the change */
};

/* --- The user's order: "cpu: potrf > trsm; gpu: gemm" ------------------------------------------------------------- */

/* Returns the next piece of *text up to one of `ends`, without blanks around it, and moves *text behind the piece. */
static const char *piece(const char **text, const char *ends, size_t *length)
{
	const char *start = *text + strspn(*text, " \t");
	size_t n = strcspn(start, ends);
	*text = start + n;
	while (n && isspace((unsigned char)start[n - 1]))
		n--;
	*length = n;
	return start;
}

static int is(const char *word, const char *text, size_t length)
{
	return strlen(word) == length && memcmp(word, text, length) == 0;
}

static int names_class(const struct heddle_class *class, const char *text, size_t length)
{
	return is(class->name, text, length) || is(class->kind, text, length);
}

/* The rank of a bucket in the user's order for a class; -1: the order does not name the bucket. */
static int user_rank(const char *order, const struct heddle_class *class, const char *bucket)
{
	while (*order) {
		size_t length;
		const char *name = piece(&order, ":", &length);
		int mine = names_class(class, name, length);
		int rank = 0;
		do {
			order++; /* skip the : or > */
			name = piece(&order, ">;", &length);
			if (mine && is(bucket, name, length))
				return rank;
			rank++;
		} while (*order == '>');
		order += *order == ';';
	}
	return -1;
}

static int check_order(heddle_sched *sched, const char *order)
{
	const struct heddle_platform *p = heddle_sched_platform(sched);
	while (*order) {
		size_t length, c = 0;
		const char *name = piece(&order, ":;", &length);
		if (*order != ':')
			return heddle_sched_fail(sched, HEDDLE_E_INVALID,
			                         "order '%.*s' is not CLASS: BUCKET > BUCKET ...", (int)length, name);
		while (c < p->n_classes && !names_class(&p->classes[c], name, length))
			c++;
		if (c == p->n_classes)
			return heddle_sched_fail(sched, HEDDLE_E_INVALID,
			                         "order names the class '%.*s', which %s has not; its first is '%s'",
			                         (int)length, name, p->name ? p->name : "the machine",
			                         p->classes[0].name);
		order += strcspn(order, ";");
		order += *order == ';';
	}
	return HEDDLE_OK;
}

/* --- Orders ------------------------------------------------------------------------------------------------------- */

/* The speedup of a class over the slowest other class that has workers, for the tasks of a bucket. */
static double gain(const struct hd_buckets *b, const struct hd_bucket *k, size_t class_id)
{
	double slowest = NAN;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		if (c != class_id && b->workers[c])
			slowest = fmax(slowest, k->time[c]);
	double rel = slowest / k->time[class_id];
	return isnan(rel) ? 1 : rel;
}

static double score(const struct heteroprio *h, size_t bucket, size_t class_id)
{
	const struct hd_buckets *b = &h->buckets;
	const struct hd_bucket *k = b->all[bucket];
	int rank = user_rank(h->order, &b->platform->classes[class_id], k->name);
	if (rank >= 0)
		return INFINITY;
	if (bucket == 0)
		return -INFINITY;
	return h->by == BY_PRIORITY ? hd_real(k->name, NULL) : gain(b, k, class_id);
}

/* Sorts the buckets that the user has named into the user's order; their scores have already moved them to the
 * front. */
static void user_first(const struct heteroprio *h, size_t *order, size_t class_id)
{
	const struct hd_buckets *b = &h->buckets;
	const struct heddle_class *class = &b->platform->classes[class_id];
	for (size_t i = 1; i < b->n; i++) {
		size_t bucket = order[i], j = i;
		int rank = user_rank(h->order, class, b->all[bucket]->name);
		if (rank < 0)
			return; /* the first bucket that the user has not named: all named buckets precede it */
		for (; j > 0 && user_rank(h->order, class, b->all[order[j - 1]]->name) > rank; j--)
			order[j] = order[j - 1];
		order[j] = bucket;
	}
}

/* Makes room for the scores of n buckets. Returns 0 when out of memory. */
static int room_for_scores(struct heteroprio *h, size_t n)
{
	if (n <= h->max_ordered)
		return 1;
	double *scores = realloc(h->scores, 2 * n * sizeof *scores);
	h->scores = scores ? scores : h->scores;
	size_t *before = realloc(h->before, 2 * n * sizeof *before);
	h->before = before ? before : h->before;
	if (!scores || !before)
		return 0;
	h->max_ordered = 2 * n;
	return 1;
}

static void renew_orders(struct heteroprio *h)
{
	struct hd_buckets *b = &h->buckets;
	int changed = 0;
	if (!room_for_scores(h, b->n))
		return; /* out of memory: the old orders stay, with the new bucket last */
	for (size_t c = 0; c < b->platform->n_classes; c++) {
		memcpy(h->before, b->orders[c], b->n * sizeof *h->before);
		for (size_t i = 0; i < b->n; i++)
			h->scores[i] = score(h, i, c);
		hd_order_by_scores(b->n, b->orders[c], h->scores);
		user_first(h, b->orders[c], c);
		changed |= hd_buckets_note_order(b, c, h->before, h->n_ordered);
	}
	h->n_ordered = b->n;
	if (changed)
		hd_buckets_reordered(b);
}

/* --- The policy --------------------------------------------------------------------------------------------------- */

static void heteroprio_destroy(void *state)
{
	struct heteroprio *h = state;
	hd_buckets_fini(&h->buckets);
	free(h->scores);
	free(h->before);
	free(h);
}

static int heteroprio_create(heddle_sched *sched, void **state)
{
	struct heteroprio *h = calloc(1, sizeof *h);
	if (!h)
		return hd_no_memory("the policy's buckets");
	h->by = (int)heddle_sched_option(sched, "bucket");
	h->order = heddle_sched_option_text(sched, "order");
	int status = hd_buckets_init(&h->buckets, sched);
	if (!status)
		status = check_order(sched, h->order);
	if (status) {
		heteroprio_destroy(h);
		return status;
	}
	*state = h;
	return HEDDLE_OK;
}

static size_t bucket_of(struct heteroprio *h, const heddle_task *t)
{
	if (h->by == BY_CODELET)
		return hd_buckets_of_codelet(&h->buckets, heddle_task_codelet(t));
	char name[16];
	int priority = heddle_task_priority(t);
	snprintf(name, sizeof name, "%d", priority);
	return hd_buckets_find(&h->buckets, ((uint64_t)1 << 32) + (uint32_t)priority, name);
}

static void heteroprio_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct heteroprio *h = state;
	for (size_t i = 0; i < n; i++) {
		size_t bucket = bucket_of(h, batch[i]);
		hd_buckets_push(&h->buckets, bucket, batch[i], releaser);
		if (h->buckets.n > h->n_ordered || ++h->pushes % RENEW == 0)
			renew_orders(h);
	}
	hd_buckets_call(&h->buckets);
}

static void heteroprio_changed(void *state)
{
	struct heteroprio *h = state;
	hd_buckets_changed(&h->buckets);
	renew_orders(h);
	hd_buckets_call(&h->buckets);
}

#define OWN_OPTIONS                                                                                                  \
	{"bucket", "codelet", "codelet|priority", "what makes a bucket: the codelet's name, or the user's priority", \
	 0,        0},                                                                                               \
	{                                                                                                            \
		"order", "", "CLASS: BUCKET > BUCKET; ...",                                                          \
		    "the buckets that a class wants first, by names; those not named follow, the "                   \
		    "class's greatest gain first, or the highest priority",                                          \
		    0, 0                                                                                             \
	}

static const struct heddle_option heteroprio_options[] = {OWN_OPTIONS, HD_BUCKET_OPTIONS("none", "2", "bucket"), {0}};
static const struct heddle_option laheteroprio_options[] = {
    OWN_OPTIONS, HD_BUCKET_OPTIONS("LS_SDH2", "2", "bucket"), {0}};

#define HETEROPRIO_CALLBACKS                                                                     \
	.create = heteroprio_create, .destroy = heteroprio_destroy, .ready = heteroprio_ready,   \
	.pick = hd_buckets_pick, .report = hd_buckets_report, .take_back = hd_buckets_take_back, \
	.changed = heteroprio_changed

const struct heddle_policy hd_policy_heteroprio = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "heteroprio",
    .summary = "buckets of equal tasks, which each class of workers visits in an order of its own",
    .source = "Flint and Bramas 2020, sections 2.1.2 and 3.3; Agullo et al. 2016",
    .options = heteroprio_options,
    HETEROPRIO_CALLBACKS,
};

const struct heddle_policy hd_policy_laheteroprio = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "laheteroprio",
    .summary = "heteroprio with one list per bucket and memory node: a worker looks where its data are first",
    .source = "Bramas 2019 (PeerJ CS 5:e190); Flint and Bramas 2020, section 2.1.2",
    .options = laheteroprio_options,
    HETEROPRIO_CALLBACKS,
};
