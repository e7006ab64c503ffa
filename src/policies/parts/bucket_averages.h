/* The averages by which autoheteroprio learns about each bucket, and which it keeps from run to run: section 6.1 of its
 * paper.
 *
 * The averages are stored in a YAML file with a format version. The file is replaced atomically. A damaged file is
 * renamed to FILE.damaged, and the run starts without averages.
 */
#ifndef HD_POLICIES_PARTS_BUCKET_AVERAGES_H
#define HD_POLICIES_PARTS_BUCKET_AVERAGES_H

#include "buckets.h"

/* The averages of a bucket on a class. */
struct hd_class_average {
	double nrt;      /* us: NRT, averaged over the walks */
	double walk;     /* us: NRT of the current walk */
	double executed; /* number of tasks executed on the class */
};

/* The averages of a bucket. */
struct hd_average {
	double tasks;         /* number of tasks put into the bucket in former runs */
	double walks;         /* number of walks over the successors of a task */
	double nod, released; /* averages over the walks: nod: NOD; released: R, in us */
	double executed;      /* number of tasks executed on all classes */
};

/* us, summed over the workers of a class and former runs: the time for which the workers were busy, and the time for
 * which there were tasks. */
struct hd_class_use {
	double busy, total;
};

struct hd_averages {
	size_t n_classes, n;
	struct hd_average *all;            /* owns; per bucket */
	struct hd_class_average *by_class; /* owns; [bucket * n_classes + class] */
	struct hd_class_use *use;          /* owns; per class */
};

static inline struct hd_class_average *hd_average_of(const struct hd_averages *a, size_t bucket, size_t class_id)
{
	return &a->by_class[bucket * a->n_classes + class_id];
}

/* Makes averages with room for one bucket. HEDDLE_E_MEMORY; call hd_averages_fini even then. */
int hd_averages_init(struct hd_averages *a, size_t n_classes);
void hd_averages_fini(struct hd_averages *a);
int hd_averages_grow(struct hd_averages *a, size_t n);
/* Makes room for n buckets. HEDDLE_E_MEMORY. */
static inline int hd_averages_reserve(struct hd_averages *a, size_t n)
{
	return HD_LIKELY(n <= a->n) ? 0 : hd_averages_grow(a, n);
}

/* Makes the buckets that a file names, and fills their averages and times from it. `path` "": no file; "default":
 * autoheteroprio/HOST.yaml in hd_data_dir(). A missing or damaged file is no error. HEDDLE_E_FORMAT: the file has
 * another format version; HEDDLE_E_MEMORY. */
int hd_averages_load(struct hd_averages *a, const char *path, struct hd_buckets *buckets);
int hd_averages_save(const struct hd_averages *a, const char *path, const struct hd_buckets *buckets);

#endif
