/* Cluster sets: which cores form a cluster, as text and as a list. Private to src/machine; other rooms use
 * hd_cluster_set_workers (machine.h). */
#ifndef HD_MACHINE_CLUSTER_SET_H
#define HD_MACHINE_CLUSTER_SET_H

#include <heddle/platform.h>
#include <stddef.h>

/* A core of a CPU worker that is not retired. */
struct hd_cpu_core {
	unsigned core;     /* logical index, as hwloc counts */
	unsigned class_id; /* a class whose workers have one core each */
	unsigned node;
	size_t cluster; /* index in the list of the first core of this core's cluster; hd_cluster_set_parse sets it */
};

/* The cores of a platform in ascending order, and how a cluster set groups them. The cores of a cluster have the same
 * `cluster`, and are consecutive in the list. */
struct hd_cores {
	struct hd_cpu_core *list; /* owns */
	size_t n;
};

/* Finds the cores of a platform, and makes each core a cluster of its own. HEDDLE_E_INVALID: there are no cores, a CPU
 * worker is on no core, or two CPU workers are on the same core. After success the caller frees *out with
 * hd_cpu_cores_free. */
int hd_cpu_cores_find(const struct heddle_platform *platform, struct hd_cores *out);
void hd_cpu_cores_free(struct hd_cores *cores);

/* Groups the cores as a cluster set of `length` characters says; heddle_platform_cluster has the syntax. */
int hd_cluster_set_parse(const struct heddle_platform *platform, const char *text, size_t length,
                         struct hd_cores *cores);

/* The length of the first cluster set in a list that has commas between its cluster sets. */
size_t hd_cluster_set_length(const char *text);

/* The number of cores of the cluster whose first core is cores->list[i]. */
unsigned hd_cluster_cores(const struct hd_cores *cores, size_t i);

/* The class of the single cores that make up a worker of this class: "cpu" for "cpu*4"; otherwise the class itself. */
unsigned hd_core_class(const struct heddle_platform *platform, unsigned class_id);

#endif
