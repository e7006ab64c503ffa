/* One graph simulated under several policies: for `heddle sim` and `heddle demo`. */
#ifndef HD_SHARED_COMPARISON_H
#define HD_SHARED_COMPARISON_H

#include "tool.h"
#include "workload.h"

struct comparison {
	const char **policies;    /* owns the array, borrows the names */
	struct outcome *outcomes; /* owns; one per policy */
	int *status;              /* owns; TOOL_FAILURE: no outcome, a message has been printed */
	size_t n;
	struct heddle_bounds bounds; /* of the graph on the platform, us */
	char *untimed;               /* owns; classes that no task has a time for, see work_untimed; NULL: none */
};

/* The policies that `list` names: "all", or names separated by commas. TOOL_OK, or a message and TOOL_USAGE. The names
 * stay valid until comparison_free. */
int comparison_init(struct comparison *c, const char *list);
void comparison_free(struct comparison *c);

/* What results are measured by: the largest bound, us. NAN where some workers cannot run anything: then being near to
 * the bound says little. */
double comparison_bound(const struct comparison *c);

/* Simulates them one after the other, with progress on standard error. TOOL_FAILURE when any of them failed. Traces are
 * kept if what->keep_trace. */
int comparison_run(struct comparison *c, const struct heddle_config *config, const struct heddle_platform *platform,
                   const struct work *what);

/* The index of the shortest makespan; c->n when all failed. */
size_t comparison_best(const struct comparison *c);
/* The run of the best policy again, with its trace: runs that are compared need none, and are simulated faster
 * without. */
int comparison_best_again(const struct comparison *c, const struct heddle_config *config,
                          const struct heddle_platform *platform, const struct work *what, struct outcome *out);
/* TOOL_OK, or TOOL_FAILURE with a message for each makespan below the bound: then one of the two is wrong. Means
 * nothing when execution times are noisy. */
int comparison_check(const struct comparison *c);

/* The table of results; `problem` (one row) says what was simulated, on which machine, and the bounds. */
void comparison_table(const struct comparison *c, struct table *table);
void comparison_problem(const struct comparison *c, const struct heddle_platform *platform, const struct work *what,
                        struct table *table);

#endif
