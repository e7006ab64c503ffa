/* Many simulations at once: every graph on every platform, under every policy, with every seed. For `heddle
 * compare`. */
#ifndef HD_SHARED_CAMPAIGN_H
#define HD_SHARED_CAMPAIGN_H

#include "comparison.h"

/* One graph on one platform. */
struct problem {
	const struct work *work;                /* borrows */
	const struct heddle_platform *platform; /* borrows */
	struct comparison *seeds;               /* owns; one per seed; they share the bounds of the first */
};

/* What all runs of one policy on a problem say. */
struct cell {
	size_t n;                  /* runs that did not fail */
	double seconds, deviation; /* mean makespan, and its standard deviation over the seeds */
	double ratio;              /* of the mean to the bound; NAN: no bound */
	double bytes_moved, idle;  /* means */
	/* us per task in the policy; the least: what the system does meanwhile only adds to it. NAN: not measured */
	double sched_time;
};

struct campaign {
	struct problem *problems; /* owns; all platforms of the first graph, then of the second */
	size_t n_problems, n_seeds, n_policies;
	const char **policies; /* borrows those of the first problem */
	int timed; /* measure the time in the policies: for one thread, since simulations side by side disturb it */
};

/* `works` and `platforms` are borrowed until campaign_free. TOOL_OK, or a message and TOOL_USAGE: no such policy, or a
 * platform does not know an application. */
struct campaign_plan {
	struct work *works;
	struct heddle_platform **platforms;
	size_t n_works, n_platforms, n_seeds;
	const char *policies; /* as comparison_init takes them */
};
int campaign_init(struct campaign *c, const struct campaign_plan *plan);
/* Runs everything on n_threads threads, with progress; the seeds are config->seed and those that follow. TOOL_FAILURE
 * when any run failed, or ended below the bound without noise: the messages are printed. */
int campaign_run(struct campaign *c, const struct heddle_config *config, size_t n_threads);
void campaign_free(struct campaign *c);

struct cell campaign_cell(const struct campaign *c, size_t problem, size_t policy);

#endif
