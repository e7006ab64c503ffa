/* Creates and frees buckets, and finds them by name (buckets.h). */
#include "buckets.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "groups.h"

/* --- Life --------------------------------------------------------------------------------------------------------- */

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
	free(b->logs);
	free(b->serves);
	free(b->workers);
	free(b->remaining);
	free(b->held);
	free(b->held_now);
	free(b->idle_at);
	hd_nearest_fini(&b->holders);
	free(b->group_of);
	free(b->n_on);
	free(b->visit);
	free(b->near);
	free(b->away);
	free(b->scores);
	free(b->present);
	free(b->by_key.slots);
	free(b->class_of_node);
	hd_sets_fini(&b->sets);
}

static int allocate(struct hd_buckets *b)
{
	size_t n_classes = b->platform->n_classes, n_workers = b->platform->n_workers, n_nodes = b->platform->n_nodes;
	b->serves = calloc(b->sets.capacity * n_classes, sizeof *b->serves);
	b->orders = calloc(n_classes, sizeof *b->orders);
	b->logs = calloc(n_classes, sizeof *b->logs);
	b->workers = calloc(n_classes, sizeof *b->workers);
	b->remaining = calloc(n_classes, sizeof *b->remaining);
	b->held_now = calloc(n_classes, sizeof *b->held_now);
	b->idle_at = calloc(2 * n_workers, sizeof *b->idle_at);
	b->held = calloc(n_workers, sizeof *b->held);
	b->group_of = calloc(n_workers, sizeof *b->group_of);
	b->n_on = calloc(b->n_lists, sizeof *b->n_on);
	b->visit = calloc(n_nodes * b->n_lists, sizeof *b->visit);
	b->near = calloc(n_nodes * b->n_lists, sizeof *b->near);
	b->away = calloc(b->n_lists, sizeof *b->away);
	b->scores = calloc(b->n_lists, sizeof *b->scores);
	b->present = calloc(b->n_lists, sizeof *b->present);
	b->class_of_node = calloc(n_nodes, sizeof *b->class_of_node);
	if (!b->serves || !b->orders || !b->logs || !b->workers || !b->remaining || !b->held || !b->held_now ||
	    !b->idle_at || !b->group_of || !b->n_on || !b->visit || !b->near || !b->away || !b->scores || !b->present ||
	    !b->class_of_node)
		return hd_no_memory("the policy's buckets");
	return HEDDLE_OK;
}

static void form_groups(struct hd_buckets *b)
{
	for (unsigned w = 0; w < b->platform->n_workers; w++) {
		unsigned mate = hd_group_mate(b->platform, w);
		b->group_of[w] = mate < w ? b->group_of[mate] : b->n_groups++;
		heddle_sched_group(b->sched, w, b->group_of[w]);
	}
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
	for (size_t w = p->n_workers; w-- > 0;)
		b->class_of_node[p->workers[w].node] = (int)p->workers[w].class_id;
}

static void count_workers(struct hd_buckets *b)
{
	const struct heddle_platform *p = b->platform;
	memset(b->workers, 0, p->n_classes * sizeof *b->workers);
	for (unsigned w = 0; w < p->n_workers; w++)
		b->workers[p->workers[w].class_id] += heddle_sched_driven(b->sched, w) != 0;
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

/* Makes room for one more bucket; returns 0 when out of memory. */
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

/* Makes a new empty bucket; returns 0 when out of memory. */
static size_t add_bucket(struct hd_buckets *b, const char *name)
{
	struct hd_bucket *k = make_room(b) ? new_bucket(b, name) : NULL;
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
	const struct hd_table_slot *slot = b->by_key.size ? hd_table_find(&b->by_key, key) : NULL;
	if (HD_LIKELY(slot && slot->value))
		return slot->value - 1;
	size_t bucket = hd_buckets_named(b, name);
	if (!hd_table_reserve(&b->by_key, 1))
		hd_table_fill(&b->by_key, hd_table_find(&b->by_key, key), key, bucket);
	return bucket;
}

size_t hd_buckets_of_codelet(struct hd_buckets *b, const heddle_codelet *codelet)
{
	return hd_buckets_find(b, (uint64_t)(uintptr_t)codelet, heddle_codelet_name(codelet));
}

/* Whether two orders differ. The place of bucket 0, "others", does not count, because that bucket is usually empty. */
static int is_other_order(const size_t *before, size_t n_before, const size_t *order, size_t n)
{
	size_t i = 0, j = 0;
	for (;; i++, j++) {
		i += i < n_before && !before[i];
		j += j < n && !order[j];
		if (i >= n_before || j >= n)
			return i < n_before || j < n;
		if (before[i] != order[j])
			return 1;
	}
}

int hd_buckets_note_order(struct hd_buckets *b, size_t class_id, const size_t *before, size_t n)
{
	const size_t *order = b->orders[class_id];
	if (n == b->n && memcmp(before, order, n * sizeof *order) == 0)
		return 0;
	struct hd_order_log *log = &b->logs[class_id];
	if (!is_other_order(before, n, order, b->n))
		return 1;
	size_t i = log->changes++ % HD_ORDERS_KEPT;
	log->last[i].at = heddle_sched_now(b->sched);
	log->last[i].n = 0;
	for (size_t r = 0; r < b->n && log->last[i].n < HD_ORDER_FRONT; r++)
		if (order[r])
			log->last[i].front[log->last[i].n++] = order[r];
	return 1;
}

/* Any task of the bucket, which must not be empty. */
static const heddle_task *any_task(const struct hd_buckets *b, const struct hd_bucket *k)
{
	size_t i = 0;
	while (!k->lists[i].first && i + 1 < b->n_lists * b->sets.capacity)
		i++;
	return k->lists[i].first;
}

void hd_buckets_changed(struct hd_buckets *b)
{
	count_workers(b);
	b->news++;
	for (size_t i = 0; i < b->n; i++) {
		struct hd_bucket *k = b->all[i];
		const heddle_task *t = k->n ? any_task(b, k) : NULL;
		for (unsigned c = 0; t && c < b->platform->n_classes; c++) {
			if (k->samples[c])
				continue;
			k->time[c] = heddle_task_time(t, c);
			k->samples[c] = (uint64_t)!isnan(k->time[c]);
		}
	}
}

int hd_buckets_init(struct hd_buckets *b, heddle_sched *sched)
{
	*b = (struct hd_buckets){.sched = sched, .platform = heddle_sched_platform(sched), .news = 1};
	b->locality = (enum hd_locality)heddle_sched_option(sched, "locality");
	b->ahead = (size_t)heddle_sched_option(sched, "ahead");
	b->gate = (enum hd_bucket_gate)heddle_sched_option(sched, "gate");
	b->n_lists = b->locality == HD_LOCALITY_NONE ? 1 : b->platform->n_nodes;
	int status = hd_sets_init(&b->sets, b->platform, b->platform->n_workers + 32);
	if (!status)
		status = hd_nearest_init(&b->holders, sched, 0);
	if (!status)
		status = allocate(b);
	if (status)
		return status;
	form_groups(b);
	find_nodes(b);
	count_workers(b);
	struct hd_bucket *others = make_room(b) ? new_bucket(b, "others") : NULL;
	if (!others)
		return hd_no_memory("the policy's buckets");
	b->all[b->n++] = others;
	for (size_t c = 0; c < b->platform->n_classes; c++)
		b->orders[c][0] = 0;
	hd_buckets_reordered(b);
	return HEDDLE_OK;
}
