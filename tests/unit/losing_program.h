/* What tests of lost devices share: kernels whose results are exact, runtimes, and what a program has been told. */
#ifndef TEST_LOSING_PROGRAM_H
#define TEST_LOSING_PROGRAM_H

#include <stdio.h>
#include "losing_driver.h"

enum { N = 8 }; /* numbers per datum */

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

/* Datum 0 becomes a mixture of itself, unless `fresh`, and of the others. */
static inline void mix(uint64_t *x, const uint64_t *a, const uint64_t *b, int fresh)
{
	for (int i = 0; i < N; i++)
		x[i] = (fresh ? 1 : x[i]) * 0x9e3779b97f4a7c15u + (a ? 3 * a[i] : 0) + (b ? 7 * b[N - 1 - i] : 0) + 11;
}

static inline int change(heddle_context *c)
{
	size_t n = heddle_context_n_data(c);
	mix(heddle_ptr(c, 0), n > 1 ? heddle_ptr(c, 1) : NULL, n > 2 ? heddle_ptr(c, 2) : NULL, 0);
	return 0;
}

static inline int make(heddle_context *c)
{
	mix(heddle_ptr(c, 0), heddle_ptr(c, 1), NULL, 1);
	return 0;
}

static inline int zero(heddle_context *c)
{
	memset(heddle_ptr(c, 0), 0, N * sizeof(uint64_t));
	return 0;
}

static inline int add(heddle_context *c)
{
	uint64_t *sum = heddle_ptr(c, 0);
	const uint64_t *x = heddle_ptr(c, 1);
	for (int i = 0; i < N; i++)
		sum[i] += x[i];
	return 0;
}

static inline int add_by_scratch(heddle_context *c)
{
	memcpy(heddle_ptr(c, 2), heddle_ptr(c, 1), N * sizeof(uint64_t));
	return add(c);
}

/* --- A runtime ---------------------------------------------------------------------------------------------------- */

static inline heddle_runtime *start_losing(const char *policy, int n_cpu, int n_accelerators)
{
	struct heddle_config config = small_config();
	config.sched = policy;
	config.n_cpu = n_cpu;
	config.n_emulated = n_accelerators;
	config.emulated_streams = 2;
	config.emulated_memory = 24 * N * sizeof(uint64_t);
	config.emulated_bandwidth = HEDDLE_MEMORY_BANDWIDTH;
	config.emulated_latency = 0;
	return start_with(&config);
}

static inline heddle_codelet *codelet(heddle_runtime *rt, const char *name, heddle_kernel kernel)
{
	return heddle_codelet_new(rt, .name = name, .cpu = kernel, .emulated = kernel);
}

static inline heddle_codelet *for_devices(heddle_runtime *rt, heddle_kernel kernel)
{
	return heddle_codelet_new(rt, .name = "for_devices", .emulated = kernel);
}

static inline void said(int status, int expected, const char *word)
{
	if (status != expected)
		fail_msg("%s instead of %s: %s", heddle_status_name(status), heddle_status_name(expected),
		         heddle_last_error());
	assert_says(word);
}

static inline uint64_t lost_workers(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.workers_lost;
}

static atomic_int cpu_is_busy;

static inline int wait_for_loss(heddle_context *c)
{
	(void)c;
	cpu_is_busy = 1;
	while (!n_lost())
		sched_yield();
	return 0;
}

/* Keeps the CPU busy until a device is lost, so that the devices get all tasks that are submitted afterwards. */
static inline void leave_tasks_to_devices(heddle_runtime *rt)
{
	heddle_codelet *busy = heddle_codelet_new(rt, .name = "busy", .cpu = wait_for_loss);
	cpu_is_busy = 0;
	assert_ok(heddle_submit(rt, heddle_call(busy), heddle_on(0)));
	while (!cpu_is_busy)
		sched_yield();
}

/* What a program has been told: the first error, and its words. A device may also be lost when data are brought back.
 * */
struct result {
	int waited, brought;
	char words[1000];
};

static inline struct result wait_for_all(heddle_runtime *rt)
{
	struct result r = {.waited = heddle_wait_all(rt)};
	snprintf(r.words, sizeof r.words, "%s", r.waited ? heddle_last_error() : "");
	assert_ok(heddle_selfcheck(rt));
	return r;
}

static inline void bring_back(struct result *r, heddle_data *d)
{
	int status = heddle_unregister(d);
	r->brought = r->brought ? r->brought : status;
}

/* Returns the status of the first wait that has reported an error. If a value could not be brought back, one has. */
static inline int conclude(heddle_runtime *rt, struct result *r)
{
	int status = heddle_wait_all(rt);
	if (r->waited)
		heddle_error(status = r->waited, "%s", r->words);
	if (!status && r->brought)
		fail_msg("no wait has said why: %s", heddle_last_error());
	assert_ok(heddle_selfcheck(rt));
	return status;
}

/* The end of a random program: a loss may have been its only error. `x` is what it has computed, `right` what is right,
 * unless it has been told of a loss. Returns whether it has not. */
static inline int judge(heddle_runtime *rt, struct result *r, const char *which, const void *x, const void *right,
                        size_t size)
{
	int status = conclude(rt, r);
	if (status && (status != HEDDLE_E_DEVICE || !n_lost()))
		fail_msg("%s: %s: %s", which, heddle_status_name(status), heddle_last_error());
	if (!status && memcmp(x, right, size) != 0)
		fail_msg("%s: the result is wrong", which);
	assert_ok(heddle_stop(rt));
	return !status;
}

#endif
