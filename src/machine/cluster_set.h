/* Cluster sets: which cores form a cluster, as text and as a list. Private to src/machine, but for
 * hd_cluster_set_workers (machine.h). */
#ifndef HD_MACHINE_CLUSTER_SET_H
#define HD_MACHINE_CLUSTER_SET_H

#include <heddle/platform.h>
#include <stddef.h>

/* A core of the CPU workers that are driven. */
struct hd_cpu_core {
	unsigned core;     /* logical index */
	unsigned class_id; /* a class of one core each */
	unsigned node;
	size_t cluster; /* the index of its first core in the list, for hd_cluster_set_parse */
};

/* The cores of a platform, in ascending order, and how a cluster set groups them: cores with the same `cluster` form
 * one, and lie side by side. */
struct hd_cores {
	struct hd_cpu_core *list; /* owns */
	size_t n;
};

/* Finds the cores, each a cluster of its own. HEDDLE_E_INVALID: there is none, or a worker has none or shares one. The
 * caller frees *out with hd_cpu_cores_free after success. */
int hd_cpu_cores_find(const struct heddle_platform *platform, struct hd_cores *out);
void hd_cpu_cores_free(struct hd_cores *cores);

/* Groups the cores as one cluster set says, the `length` characters at `text`: heddle_platform_cluster has the syntax.
 * */
int hd_cluster_set_parse(const struct heddle_platform *platform, const char *text, size_t length,
                         struct hd_cores *cores);

/* The length of the cluster set with which a list of them begins: up to a comma or the end. */
size_t hd_cluster_set_length(const char *text);

/* How many cores the cluster has that begins at cores->list[i]. */
unsigned hd_cluster_cores(const struct hd_cores *cores, size_t i);

/* The class of the cores of which a worker of this class is made: itself, or "cpu" of "cpu*4". */
unsigned hd_core_class(const struct heddle_platform *platform, unsigned class_id);

#endif
