/* What autoheteroprio learns about each bucket, and keeps from run to run: section 6.1 of its paper.
 *
 * The file is YAML, with a format version, written atomically. One that is damaged is set aside as FILE.damaged and
 * forgotten.
 */
#ifndef HD_POLICIES_PARTS_BUCKET_AVERAGES_H
#define HD_POLICIES_PARTS_BUCKET_AVERAGES_H

#include "buckets.h"

/* Of a bucket on a class. */
struct hd_class_average {
	double nrt;      /* us: average over the walks */
	double walk;     /* us: that of the walk under way */
	double executed; /* tasks */
};

/* Of a bucket. */
struct hd_average {
	double tasks;         /* filed in former runs */
	double walks;         /* tasks whose successors were looked at */
	double nod, released; /* averages over them: NOD; R in us */
	double executed;      /* tasks, on all classes */
};

/* Of a class: us of all its workers together, in former runs. */
struct hd_use {
	double busy, total;
};

struct hd_averages {
	size_t n_classes, n;
	struct hd_average *all;            /* owns; per bucket */
	struct hd_class_average *by_class; /* owns; [bucket * n_classes + class] */
	struct hd_use *use;                /* owns; per class */
};

static inline struct hd_class_average *hd_average_of(const struct hd_averages *a, size_t bucket, size_t class_id)
{
	return &a->by_class[bucket * a->n_classes + class_id];
}

/* Room for the first bucket. HEDDLE_E_MEMORY; then hd_averages_fini all the same. */
int hd_averages_init(struct hd_averages *a, size_t n_classes);
void hd_averages_fini(struct hd_averages *a);
int hd_averages_grow(struct hd_averages *a, size_t n);
/* Room for n buckets. HEDDLE_E_MEMORY. */
static inline int hd_averages_reserve(struct hd_averages *a, size_t n)
{
	return HD_LIKELY(n <= a->n) ? 0 : hd_averages_grow(a, n);
}

/* Fills averages and the buckets' times from a file, making the buckets. `path` "": none; "default":
 * autoheteroprio/HOST.yaml in hd_data_dir(). A missing or damaged file is no error. HEDDLE_E_FORMAT: another version's;
 * HEDDLE_E_MEMORY. */
int hd_averages_load(struct hd_averages *a, const char *path, struct hd_buckets *buckets);
int hd_averages_save(const struct hd_averages *a, const char *path, const struct hd_buckets *buckets);

#endif
