/* The heuristics: decisions that need a guess, because no rule is right for every program. They decide when a
 * hierarchical task is expanded (when_to_expand.c), which clusters of cores are driven (cluster_choice.c), and whether
 * evictions follow predicted next uses (eviction_trust.c). The heuristics fill the table of state/adapt_hooks.h; other
 * rooms know them by this table alone. Their records of tasks, data and memories exist only in runtimes whose settings
 * need them. */
#ifndef HD_ADAPT_ADAPT_H
#define HD_ADAPT_ADAPT_H

#include <heddle/runtime.h>

/* Whether `value` is a value of the setting `expand`; NULL means the default. */
int hd_adapt_is_expand(const char *value);
/* Called when a runtime starts and knows its nodes and workers: fills rt->adapt as the settings expand, clusters and
 * eviction say. HEDDLE_E_MEMORY, or an error about the cluster sets that `clusters` names. */
int hd_adapt_open(heddle_runtime *rt);
void hd_adapt_close(heddle_runtime *rt);

/* Called by hd_adapt_open and hd_adapt_close: each heuristic adds its part to rt->adapt, and frees it. */
int hd_expansions_open(heddle_runtime *rt);
int hd_clusters_open(heddle_runtime *rt);
void hd_clusters_close(heddle_runtime *rt);
int hd_trust_open(heddle_runtime *rt);
void hd_trust_close(heddle_runtime *rt);

#endif
