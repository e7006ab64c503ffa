/* What the files of `heddle tune` share: options, and results of virtual runs. */
#ifndef HD_COMMANDS_TUNE_H
#define HD_COMMANDS_TUNE_H

#include "shared/auto_clusters.h"
#include "shared/campaign.h"
#include "shared/tune_variants.h"

enum { TUNE_ROUTINES = 64, TUNE_KEPT = 3, TUNE_SHOWN = 10 };

struct tune_options {
	struct tool_view view;
	struct work work; /* what to tune; tile 0: to be found */
	const char *what, *platform, *scheds, *clusters;
	const char *routines[TUNE_ROUTINES]; /* all that were named, `what` first */
	size_t n_routines;
	int here;
	char *chosen; /* owns; the cluster set that --clusters auto has found */
	int exhaustive;
	long n_threads;
};

/* A platform, and the configuration of runs on it. */
struct tune_place {
	struct heddle_platform *platform;
	const struct heddle_config *config;
};

struct tune_result {
	struct work work;
	const char *policy;
	double seconds, flops;
};
struct tune_results {
	struct tune_result *list; /* owns; sorted by time */
	size_t n, room;
};

/* One policy of each kind: by completion times, by gains, by stealing. */
extern const char tune_probes[];

/* Adds the variants of the best results, at most `n`. */
void tune_add_best(struct variants *v, const struct tune_results *r, size_t n);
/* Runs the variants under the policies, and adds the results, which are sorted. TOOL_OK, or a message and a status:
 * there is no result. */
int tune_try(struct tune_results *r, struct variants *v, const char *policies, const struct tune_options *o,
             const struct tune_place *place);
/* The policies of the best results, separated by commas, at most `n`. The caller frees the text. */
char *tune_best_policies(const struct tune_results *r, size_t n);

/* tune_numbers.c: applications without tiles. */

/* Whether it is known which of its options to try. */
int tune_has_numbers(const struct work *work);
/* The search: TOOL_OK, or a message and a status. */
int tune_search_numbers(struct tune_results *r, const struct tune_options *o, const struct tune_place *place);
/* The table of the best results. */
void tune_fill_numbers(struct table *table, const struct tune_results *r);

#endif
