/* The word "auto" of --clusters: the cluster set with which some work ends soonest, found by virtual runs
 * before the real one. */
#ifndef HD_SHARED_AUTO_CLUSTERS_H
#define HD_SHARED_AUTO_CLUSTERS_H

#include "tool.h"
#include "workload.h"

/* Whether --clusters, or the setting of a command that knows the graph, asks for a choice. */
int clusters_are_chosen(const char *clusters);

/* The candidates, texts for heddle_platform_cluster: cluster sets, and "adaptive", which changes between some of them
 * while tasks run. */
enum { MOST_CLUSTER_SETS = 16 };
struct cluster_sets {
	char *list[MOST_CLUSTER_SETS]; /* owns */
	size_t n;
};
/* Lists cluster sets of a machine whose cores are single workers: no clusters; one cluster per group of each of its
 * levels; clusters of all consecutive cores, of half as many, and of two; some of these beside single cores; and
 * finally adaptive. A set that groups the cores like an earlier set is left out. TOOL_OK, or a message and TOOL_FAILURE
 * or TOOL_USAGE. The caller calls cluster_sets_free after success. */
int cluster_sets_find(const struct heddle_platform *platform, struct cluster_sets *out);
void cluster_sets_free(struct cluster_sets *cluster_sets);

/* A copy of the platform with its cores grouped by `clusters`; NULL: the library has failed, and has set the last
 * error. */
struct heddle_platform *clusters_grouped(const struct heddle_platform *platform, const char *clusters);
/* The setting `clusters` of a runtime on that copy: "" (the copy has the clusters), or "adaptive". */
const char *clusters_setting(const char *cluster_set);

/* Declares the workers of all candidates, so that bounds on the platform hold for any choice; single cores are driven.
 * TOOL_OK, or a message and a status. */
int clusters_declare_all(struct heddle_platform *platform);

/* Simulates the work on each cluster set under each of the policies that config->sched names, fills a table with the
 * outcomes, groups the platform's cores by the best cluster set, and sets *chosen to its text. The caller frees
 * *chosen, and uses it for the setting of its runtimes (clusters_setting). The caller calls table_free after success.
 * TOOL_OK, or a message and a status. */
int clusters_choose(const struct heddle_config *config, struct heddle_platform *platform, const struct work *work,
                    struct table *table, char **chosen);

#endif
