/* One graph simulated under several policies: for `heddle sim` and `heddle demo`. */
#ifndef HD_SHARED_COMPARISON_H
#define HD_SHARED_COMPARISON_H

#include "tool.h"
#include "workload.h"

struct comparison {
	const char *
	    *policies;      /* owns; as the user wrote them, with options: "multiprio:eviction=no"; what tables show */
	const char **names; /* owns; of the policies, without options */
	const char *
	    *options; /* owns the array, whose texts lie in `policies`; a NULL text: the options of the settings */
	struct outcome *outcomes; /* owns; one per policy */
	int *status;              /* owns; TOOL_FAILURE: no outcome, a message has been printed */
	size_t n;
	int sorted;                  /* the table lists policies by their makespans, the shortest first */
	int unbounded;               /* bounds are not computed */
	struct heddle_bounds bounds; /* of the graph on the platform, us */
	char *untimed;               /* owns; the result of work_untimed; NULL: none */
};

/* Chooses the policies: `list` is "all", or names separated by commas, each perhaps with options behind a colon:
 * "multiprio:eviction=no,window=4,dmdas". TOOL_OK, or a message and TOOL_USAGE. The texts stay valid until
 * comparison_free. */
int comparison_init(struct comparison *c, const char *list);
void comparison_free(struct comparison *c);
/* Sets the configuration's policy and options to those of policy i. */
void comparison_choose(const struct comparison *c, size_t i, struct heddle_config *config);

/* The bound with which makespans are compared: the largest bound, in us. NAN when some workers cannot run anything,
 * because a makespan near the bound would say little then. */
double comparison_bound(const struct comparison *c);

/* Finds the bounds. */
int comparison_bounds(struct comparison *c, const struct heddle_config *config, const struct heddle_platform *platform,
                      const struct work *what);
/* Simulates the policies one after the other, with progress on standard error. TOOL_FAILURE when any of them failed.
 * Traces are kept if what->keep_trace. */
int comparison_run(struct comparison *c, const struct heddle_config *config, const struct heddle_platform *platform,
                   const struct work *what);

/* The index of the shortest makespan; c->n when all failed. */
size_t comparison_best(const struct comparison *c);
/* Runs the best policy again, to get its trace. The compared runs have no trace, because they are faster without. */
int comparison_best_again(const struct comparison *c, const struct heddle_config *config,
                          const struct heddle_platform *platform, const struct work *what, struct outcome *out);
/* TOOL_OK, or TOOL_FAILURE with a message for each makespan below the bound, which means that one of the two is wrong.
 * Not to be called when execution times are noisy, because they may be shorter than the times in the bound. */
int comparison_check(const struct comparison *c);

/* Fill the table of results, and a table of one row: what was simulated, on which machine, and the bounds. */
void comparison_table(const struct comparison *c, struct table *table);
void comparison_problem(const struct comparison *c, const struct heddle_platform *platform, const struct work *what,
                        struct table *table);

#endif
