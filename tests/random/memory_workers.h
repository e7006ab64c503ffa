/* The programs of random_memory whose cores change hands while tasks run: heddle_workers_drive, clusters=adaptive. */
#ifndef MEMORY_WORKERS_H
#define MEMORY_WORKERS_H

#include <heddle/clusters.h>
#include "memory_programs.h"

static struct heddle_platform *two_kinds; /* const after memory_programs_open */

static int nothing_at_all(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Bit w: worker w is driven. */
static uint64_t driven(heddle_runtime *rt)
{
	uint64_t set = 0;
	for (unsigned w = 0; w < heddle_runtime_platform(rt)->n_workers; w++)
		set |= (uint64_t)heddle_worker_is_driven(rt, w) << w;
	return set;
}

/* The status of a call that drives other workers, of which `before` were driven: a call that fails changes nothing. */
static int driven_as_said(heddle_runtime *rt, uint64_t before, int status)
{
	int changed = driven(rt) != before;
	if ((status != 0) == !changed)
		return status;
	memory_wrong =
	    changed ? "a cluster set that could not be changed has changed" : "a cluster set has not changed";
	return WRONG;
}

static int submit_many(heddle_runtime *rt, heddle_codelet *c, heddle_data *x)
{
	int status = 0;
	for (int i = 0; i < 12; i++)
		TRY(i % 3 ? heddle_submit(rt, heddle_call(c), heddle_priority(i))
		          : heddle_submit(rt, heddle_call(c), heddle_rw(x)));
	return status;
}

/* Tasks are ready and run when other workers are driven, again and again. */
static int drive_others(heddle_runtime *rt, int gone)
{
	static const char *const cluster_sets[] = {"2", "none", "2"};
	const struct heddle_codelet_desc desc = {
	    .name = "given", .cpu = nothing_at_all, .model = HEDDLE_MODEL_GIVEN, .time = ten_us};
	heddle_codelet *c = NULL;
	heddle_data *x = NULL;
	double a = 0;
	unsigned first = 0;
	int status = heddle_codelet_create(rt, &desc, &c);
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	TRY(submit_many(rt, c, x));
	for (size_t i = 0; i < sizeof cluster_sets / sizeof *cluster_sets && !status; i++) {
		uint64_t before = driven(rt);
		status = driven_as_said(rt, before, heddle_clusters_set(rt, cluster_sets[i]));
		TRY(submit_many(rt, c, x));
		if (i)
			TRY(heddle_wait_all(rt));
	}
	if (!status) {
		uint64_t before = driven(rt);
		status = driven_as_said(rt, before, heddle_workers_drive(rt, &first, 1));
	}
	return finish(rt, status, gone);
}

static int other_workers_in_virtual_time(int gone)
{
	static const char *const policies[] = {"eager", "lws", "dmdas"};
	int status = 0;
	for (size_t i = 0; i < sizeof policies / sizeof *policies && !status; i++) {
		heddle_runtime *rt = NULL;
		struct heddle_config config;
		status = small_config(&config);
		config.sched = policies[i];
		config.clusters = "none,2";
		TRY(heddle_start_on(&config, two_kinds, 1, &rt));
		if (!status)
			status = drive_others(rt, gone);
	}
	return status;
}

static int other_workers_on_threads(int gone)
{
	heddle_runtime *rt = NULL;
	struct heddle_config config;
	int status = small_config(&config);
	config.n_cpu = 2;
	config.clusters = "none,2";
	TRY(heddle_start(&config, &rt));
	return status ? status : drive_others(rt, gone);
}

/* Few tasks for many cores, then many. */
static int cluster_sets_that_change_themselves(int gone)
{
	const struct heddle_codelet_desc desc = {
	    .name = "given", .cpu = nothing_at_all, .model = HEDDLE_MODEL_GIVEN, .time = ten_us};
	heddle_runtime *rt = NULL;
	heddle_codelet *c = NULL;
	heddle_data *x = NULL;
	double a = 0;
	struct heddle_config config;
	int status = small_config(&config);
	config.sched = "dmdas";
	config.clusters = "adaptive:none,2,6";
	TRY(heddle_start_on(&config, two_kinds, 1, &rt));
	TRY(heddle_codelet_create(rt, &desc, &c));
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 5; k++)
			TRY(heddle_submit(rt, heddle_call(c), heddle_rw(x)));
		TRY(submit_many(rt, c, x));
		TRY(heddle_wait_all(rt));
	}
	return finish(rt, status, gone);
}

#endif
