/* Many simulations on several threads, for `heddle compare`: every graph on every platform, under every policy, with
 * every seed. */
#ifndef HD_SHARED_CAMPAIGN_H
#define HD_SHARED_CAMPAIGN_H

#include "auto_clusters.h"
#include "comparison.h"

/* The cluster set that was chosen for a policy on a problem. */
struct chosen {
	char *clusters;                   /* owns; NULL: every run failed */
	struct heddle_platform *platform; /* owns; the platform with its cores grouped by `clusters` */
};

/* One graph on one platform. */
struct problem {
	const struct work *work;                /* borrows */
	const struct heddle_config *config;     /* borrows; NULL: that of campaign_run */
	const struct heddle_platform *platform; /* borrows the platform of the plan, or `declared` */
	struct chosen *chosen;                  /* owns; one per policy, by campaign_choose; NULL: nothing is chosen */
	struct heddle_platform *declared;       /* owns; the platform with all cluster sets that were tried; or NULL */
	struct comparison *seeds;               /* owns; one per seed; all have the bounds of the first seed */
	/* the recording of the work on the platform; not used if cluster sets are chosen */
	struct recording recording;
};

/* Figures of all runs of one policy on a problem. */
struct cell {
	size_t n;                  /* runs that did not fail */
	double seconds, deviation; /* mean makespan, and its standard deviation over the seeds */
	double ratio;              /* mean makespan / bound; NAN: no bound */
	double bytes_moved, idle;  /* means */
	/* us of real time per task in the policy's callbacks; NAN: not measured. This is the least of all runs, because
	 * other load of the machine only adds to the time. */
	double sched_time;
};

struct campaign {
	struct problem *problems; /* owns; the first graph on all platforms, then the second, and so on */
	size_t n_problems, n_seeds, n_policies;
	const char **policies; /* borrows those of the first problem */
	/* 1: the time in the policies is measured. Only with one thread, because simultaneous simulations disturb each
	 * other. */
	int timed;
	int unbounded; /* 1: bounds are not computed */
};

/* What to simulate. The campaign borrows `works`, `platforms` and `configs` until campaign_free. */
struct campaign_plan {
	struct work *works;
	struct heddle_platform **platforms;
	size_t n_works, n_platforms, n_seeds;
	/* NULL: every work on every platform. Otherwise there are as many platforms as works, and work i runs on
	 * platform i with configuration i */
	const struct heddle_config *configs;
	const char *policies; /* a list for comparison_init */
	int unbounded;        /* 1: leave the bounds out, which take longer than the simulations */
};
/* TOOL_OK, or a message and TOOL_USAGE: a policy does not exist, or a platform has no times for an application. */
int campaign_init(struct campaign *c, const struct campaign_plan *plan);
/* Chooses the cluster set for each policy on each problem by virtual runs (clusters_choose); campaign_run then uses it.
 * Bounds hold for all cluster sets that were tried. TOOL_OK, or messages and a status: for some policies no cluster set
 * could be chosen, and campaign_run leaves these out. */
int campaign_choose(struct campaign *c, const struct heddle_config *config, size_t n_threads);
/* Runs everything on n_threads threads and shows progress. The seeds are config->seed, config->seed + 1, ... Prints
 * messages and returns TOOL_FAILURE when a run failed, or when a makespan without noise is below the bound. */
int campaign_run(struct campaign *c, const struct heddle_config *config, size_t n_threads);
void campaign_free(struct campaign *c);

struct cell campaign_cell(const struct campaign *c, size_t problem, size_t policy);

#endif
