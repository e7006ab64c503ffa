/* Kernels that are parallelised by OpenMP, on clusters, under every policy. Not in builds with sanitizers: what GNU's
 * OpenMP does looks like races to ThreadSanitizer. */
#define _GNU_SOURCE
#include <omp.h>
#include "cluster.h"

enum { N_DATA = 6, N_ELEMENTS = 1000, N_TASKS = 60, N_CORES = 6 };
static const unsigned MACHINE[] = {3, 2, 1, 0};

static atomic_int busy, most_busy; /* threads in kernels: now, and at most */

static void enter(void)
{
	int now = ++busy, most = most_busy;
	while (now > most && !atomic_compare_exchange_weak(&most_busy, &most, now))
		continue;
}

/* x = 3 x + y, by as many threads as the worker has cores. */
static int forks(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	const long *y = heddle_ptr(c, 1);
	int threads = 0;
#pragma omp parallel
	{
		enter();
#pragma omp single
		threads = omp_get_num_threads();
#pragma omp for
		for (int i = 0; i < N_ELEMENTS; i++)
			x[i] = 3 * x[i] + y[i];
		busy--;
	}
	return threads == (int)heddle_context_cores(c) ? 0 : heddle_fail(c, 1, "%d threads", threads);
}

/* The computation of `forks` by the members of the team, none of which may make threads. */
static int meets(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	const long *y = heddle_ptr(c, 1);
	unsigned rank = heddle_context_rank(c), ranks = heddle_context_cores(c);
	int threads = 0;
#pragma omp parallel
	{
		enter();
#pragma omp single
		threads = omp_get_num_threads();
#pragma omp for
		for (unsigned i = N_ELEMENTS * rank / ranks; i < N_ELEMENTS * (rank + 1) / ranks; i++)
			x[i] = 3 * x[i] + y[i];
		busy--;
	}
	return threads == 1 ? 0 : heddle_fail(c, 2, "%d threads in a member", threads);
}

static int alone(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	const long *y = heddle_ptr(c, 1);
	enter();
	for (int i = 0; i < N_ELEMENTS; i++)
		x[i] = 3 * x[i] + y[i];
	busy--;
	return 0;
}

static void run_under(const char *policy)
{
	struct heddle_config config = small_config();
	config.sched = policy;
	heddle_runtime *rt = start_clusters(&config, MACHINE);
	heddle_codelet *codelets[] = {
	    heddle_codelet_new(rt, .name = "forks", .cpu = forks, .parallel = HEDDLE_FORK_JOIN),
	    heddle_codelet_new(rt, .name = "meets", .cpu = meets, .parallel = HEDDLE_SPMD),
	    heddle_codelet_new(rt, .name = "alone", .cpu = alone),
	};
	static long x[N_DATA][N_ELEMENTS], expected[N_DATA];
	heddle_data *d[N_DATA];
	for (int i = 0; i < N_DATA; i++) {
		expected[i] = i;
		for (int k = 0; k < N_ELEMENTS; k++)
			x[i][k] = i;
		assert_ok(heddle_vector(rt, x[i], N_ELEMENTS, sizeof x[i][0], &d[i]));
	}
	for (int t = 0; t < N_TASKS; t++) {
		int to = t * 5 % N_DATA, from = (to + 1 + t % (N_DATA - 1)) % N_DATA;
		assert_ok(heddle_submit(rt, heddle_call(codelets[t * 7 / 3 % 3]), heddle_rw(d[to]), heddle_r(d[from])));
		expected[to] = (long)(3 * (unsigned long)expected[to] + (unsigned long)expected[from]);
	}
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < N_DATA; i++) {
		assert_ok(heddle_unregister(d[i]));
		for (int k = 0; k < N_ELEMENTS; k++)
			assert_int_equal(x[i][k], expected[i]);
	}
	assert_ok(heddle_stop(rt));
}

static void kernels_use_the_cores_of_their_clusters(void **state)
{
	(void)state;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++)
		run_under(all[i]->name);
	free(all);
	assert_int_equal(busy, 0);
	assert_in_range(most_busy, 1, N_CORES);
}

/* All threads of a parallel region are busy until no other thread of the process is. */
static int crowd(heddle_context *c)
{
	unsigned cores = heddle_context_cores(c), n = 0;
#pragma omp parallel
	if (omp_get_num_threads() == (int)cores) { /* the environment may not allow more */
		int is_first = omp_get_thread_num() == 0;
#pragma omp atomic
		n++;
		for (unsigned now = 0; now != cores; sched_yield())
#pragma omp atomic read
			now = n;
		while (is_first && runnable_threads() > cores)
			sched_yield();
#pragma omp barrier
	}
	return n == cores ? 0 : heddle_fail(c, 1, "%u threads", n);
}

static void no_more_threads_are_runnable_than_there_are_cores(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(4);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "crowd", .cpu = crowd, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *all = heddle_codelet_new(rt, .name = "all", .cpu = nothing, .parallel = HEDDLE_SPMD);
	for (int i = 0; i < 10; i++) {
		assert_ok(heddle_submit(rt, heddle_call(i % 3 == 1 ? all : fork)));
		if (i % 4 == 3)
			assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernels_use_the_cores_of_their_clusters),
	    cmocka_unit_test(no_more_threads_are_runnable_than_there_are_cores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
