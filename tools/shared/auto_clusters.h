/* The word "auto" of --clusters: the cluster set with which some work ends soonest, found by virtual runs
 * before the real one. */
#ifndef HD_SHARED_AUTO_CLUSTERS_H
#define HD_SHARED_AUTO_CLUSTERS_H

#include "tool.h"
#include "workload.h"

/* Whether --clusters, or the setting of a command that knows the graph, asks for a choice. */
int clusters_are_chosen(const char *clusters);

/* What is tried, each a text for heddle_platform_cluster: cluster sets, and "adaptive", which changes between some of
 * them while tasks run. */
enum { MOST_CLUSTER_SETS = 16 };
struct cluster_sets {
	char *list[MOST_CLUSTER_SETS]; /* owns */
	size_t n;
};
/* Lists cluster sets of a machine whose cores are workers of their own: none; one cluster per group of each of its
 * levels; clusters of all cores side by side, of half as many, and of two; some of these beside single cores. The last
 * is adaptive. Those that group the cores as one before them does are left out. TOOL_OK, or a message and TOOL_FAILURE
 * or TOOL_USAGE. The caller calls cluster_sets_free after success. */
int cluster_sets_find(const struct heddle_platform *platform, struct cluster_sets *out);
void cluster_sets_free(struct cluster_sets *cluster_sets);

/* A copy of the platform whose cores are grouped so; NULL: an error of the library, which says why. */
struct heddle_platform *clusters_grouped(const struct heddle_platform *platform, const char *clusters);
/* The setting `clusters` of a runtime on that copy: "" (the copy says it all), or "adaptive". */
const char *clusters_setting(const char *cluster_set);

/* Declares the workers of all these cluster sets, so that bounds on the platform hold whichever is chosen; single cores
 * are driven. TOOL_OK, or a message and a status. */
int clusters_declare_all(struct heddle_platform *platform);

/* Simulates the work on each cluster set under each of the policies that config->sched names, fills a table with the
 * outcomes, groups the platform's cores as the best one does, and sets *chosen to it, which the caller frees and makes
 * the setting of its runtimes (clusters_setting). The caller calls table_free after success. TOOL_OK, or a message and
 * a status. */
int clusters_choose(const struct heddle_config *config, struct heddle_platform *platform, const struct work *work,
                    struct table *table, char **chosen);

#endif
