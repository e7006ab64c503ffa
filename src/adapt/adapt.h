/* The heuristics: what the core and the data leave to a guess, because no rule is right for every program. When a
 * hierarchical task is expanded (when_to_expand.c), which clusters of cores are driven (cluster_choice.c), whether the
 * expected order of uses decides what is evicted (eviction_trust.c), and whether prefetches may overtake each other
 * (prefetch_credit.c). They fill the table of state/adapt_hooks.h, by which alone they are known to others. What they
 * remember of a task, a datum or a memory is theirs, and exists only in runtimes whose settings need it. */
#ifndef HD_ADAPT_H
#define HD_ADAPT_H

#include <heddle/runtime.h>

/* Whether there is such a value of the setting `expand`; NULL is its default. */
int hd_adapt_is_expand(const char *value);
/* For the start, when nodes and workers are known: fills rt->adapt, as the settings expand, clusters and eviction want
 * it. HEDDLE_E_MEMORY, or what is wrong with the partitions that `clusters` names. */
int hd_adapt_open(heddle_runtime *rt);
void hd_adapt_close(heddle_runtime *rt);

/* For these two: what each heuristic adds to rt->adapt, and frees. */
int hd_expansions_open(heddle_runtime *rt);
int hd_clusters_open(heddle_runtime *rt);
void hd_clusters_close(heddle_runtime *rt);
int hd_trust_open(heddle_runtime *rt);
void hd_trust_close(heddle_runtime *rt);

#endif
