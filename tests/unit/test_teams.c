/* Parallel kernels on workers of several cores: who runs them, their barriers, failures, and what else a kernel may do
 * there. Most of these clusters have more members than the machine has cores. */
#define _GNU_SOURCE
#include <time.h>
#include "cluster.h"

static const unsigned SIZES[] = {2, 3, 5, 8};
enum { N_SIZES = sizeof SIZES / sizeof SIZES[0] };

/* --- Ranks and barriers ------------------------------------------------------------------------------------------- */

enum { MOST = 8, TURNS = 30 };

/* Each member writes its own place, and reads those of all behind a barrier. */
static int meet(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	unsigned rank = heddle_context_rank(c), n = heddle_context_cores(c);
	if (n != heddle_get(c, 0, unsigned) || rank >= n)
		return heddle_fail(c, 1, "rank %u of %u", rank, n);
	for (long turn = 0; turn < TURNS; turn++) {
		x[rank]++;
		if (heddle_context_barrier(c))
			return 2;
		for (unsigned i = 0; i < n; i++)
			if (x[i] != x[rank])
				return heddle_fail(c, 3, "rank %u sees %ld of rank %u", rank, x[i], i);
		if (heddle_context_barrier(c))
			return 4;
	}
	return 0;
}

static void every_rank_runs_and_meets_the_others(void **state)
{
	(void)state;
	for (unsigned s = 0; s < N_SIZES; s++) {
		heddle_runtime *rt = start_cluster(SIZES[s]);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "meet", .cpu = meet, .parallel = HEDDLE_SPMD);
		long x[MOST] = {0};
		heddle_data *d;
		assert_ok(heddle_vector(rt, x, MOST, sizeof *x, &d));
		for (int i = 0; i < 10; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_value(SIZES[s])));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		for (unsigned i = 0; i < MOST; i++)
			assert_int_equal(x[i], i < SIZES[s] ? 10 * TURNS : 0);
		assert_ok(heddle_stop(rt));
	}
}

/* Notes how many threads were in the kernel: x[0], what the context says: x[1], x[2], and how often: x[3]. */
static int note(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	__atomic_add_fetch(&x[0], 1, __ATOMIC_RELAXED);
	if (heddle_context_barrier(c) || heddle_context_rank(c) > 0)
		return 0;
	x[1] = heddle_context_cores(c);
	x[2] = heddle_context_rank(c);
	x[3]++;
	return 0;
}

static void sequential_and_fork_join_kernels_are_called_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(3);
	heddle_codelet *codelets[] = {
	    heddle_codelet_new(rt, .name = "one", .cpu = note),
	    heddle_codelet_new(rt, .name = "fork", .cpu = note, .parallel = HEDDLE_FORK_JOIN),
	    heddle_codelet_new(rt, .name = "all", .cpu = note, .parallel = HEDDLE_SPMD),
	};
	static const long threads[] = {1, 1, 3}, cores[] = {1, 3, 3};
	for (int i = 0; i < 12; i++) {
		long x[4] = {0};
		int k = i * 7 % 3; /* in changing order */
		heddle_data *d;
		assert_ok(heddle_vector(rt, x, 4, sizeof *x, &d));
		assert_ok(heddle_submit(rt, heddle_call(codelets[k]), heddle_rw(d)));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x[0], threads[k]);
		assert_int_equal(x[1], cores[k]);
		assert_int_equal(x[2], 0);
		assert_int_equal(x[3], 1);
	}
	assert_ok(heddle_stop(rt));
}

/* Members that wait must not keep others from the cores: rank 0 comes to the barrier when all others sleep there. */
static int come_late(heddle_context *c)
{
	int *threads = heddle_ptr(c, 0);
	unsigned rank = heddle_context_rank(c), n = heddle_context_cores(c);
	threads[rank] = this_thread();
	heddle_context_barrier(c);
	for (unsigned i = 1; i < n && !rank; i++)
		while (thread_state(threads[i]) != 'S')
			sched_yield();
	return heddle_context_barrier(c);
}

/* And when there is nothing for them to do. */
static int alone(heddle_context *c)
{
	const int *threads = heddle_ptr(c, 0);
	for (unsigned i = 1; i < heddle_get(c, 0, unsigned); i++)
		while (thread_state(threads[i]) != 'S')
			sched_yield();
	return 0;
}

static void members_that_wait_sleep(void **state)
{
	(void)state;
	for (unsigned s = 0; s < N_SIZES; s++) {
		heddle_runtime *rt = start_cluster(SIZES[s]);
		heddle_codelet *late =
		    heddle_codelet_new(rt, .name = "late", .cpu = come_late, .parallel = HEDDLE_SPMD);
		heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = alone);
		heddle_codelet *fork =
		    heddle_codelet_new(rt, .name = "fork", .cpu = alone, .parallel = HEDDLE_FORK_JOIN);
		int threads[MOST];
		heddle_data *d;
		assert_ok(heddle_vector(rt, threads, MOST, sizeof *threads, &d));
		for (int i = 0; i < 3; i++) {
			assert_ok(heddle_submit(rt, heddle_call(late), heddle_rw(d)));
			assert_ok(
			    heddle_submit(rt, heddle_call(i % 2 ? one : fork), heddle_r(d), heddle_value(SIZES[s])));
		}
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_stop(rt));
	}
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* The ranks of the mask (value 0) fail, at the second of three barriers. */
static int fail_there(heddle_context *c)
{
	unsigned rank = heddle_context_rank(c), mask = heddle_get(c, 0, unsigned);
	if (heddle_context_barrier(c))
		return 90;
	if (mask >> rank & 1)
		return heddle_fail(c, 10 + (int)rank, "rank %u has had enough", rank);
	if (heddle_context_barrier(c) != (mask != 0))
		return 91;
	return heddle_context_barrier(c) != (mask != 0) ? 92 : 0;
}

static void the_first_rank_that_fails_says_why(void **state)
{
	(void)state;
	enum { K = 3 };
	heddle_runtime *rt = start_cluster(K);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "fails", .cpu = fail_there, .parallel = HEDDLE_SPMD);
	for (unsigned mask = 1; mask < 1 << K; mask++) {
		char words[2][64];
		int first = __builtin_ctz(mask);
		snprintf(words[0], sizeof words[0], "rank %d has had enough", first);
		snprintf(words[1], sizeof words[1], "returned %d on w0, as rank %d of %d", 10 + first, first, K);
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(mask)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
		assert_says(words[0]);
		assert_says(words[1]);
		assert_int_equal(heddle_last_code(), 10 + first);
		unsigned none = 0;
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(none)));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

static int fail_silently(heddle_context *c)
{
	return heddle_context_rank(c) == 2 ? 7 : 0;
}

static void a_rank_may_fail_without_a_sentence(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(3);
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "silent", .cpu = fail_silently, .parallel = HEDDLE_SPMD);
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("returned 7 on w0, as rank 2 of 3");
	assert_ok(heddle_stop(rt));
}

/* --- Which workers ------------------------------------------------------------------------------------------------ */

/* Counts the tasks per number of cores of the platform's workers. */
static int count_cores(heddle_context *c)
{
	if (heddle_context_rank(c))
		return 0;
	const struct heddle_platform *p = heddle_runtime_platform(heddle_context_runtime(c));
	unsigned cores = p->classes[p->workers[heddle_context_worker(c)].class_id].cores;
	atomic_int *counts = heddle_get(c, 0, atomic_int *);
	counts[cores]++;
	return 0;
}

static void codelets_keep_to_workers_of_their_sizes(void **state)
{
	(void)state;
	static const struct {
		unsigned least, most, runs;
	} cases[] = {
	    {0, 0, 1 << 1 | 1 << 2 | 1 << 4}, {2, 0, 1 << 2 | 1 << 4}, {0, 1, 1 << 1}, {2, 3, 1 << 2}, {3, 4, 1 << 4},
	    {1, 2, 1 << 1 | 1 << 2}};
	struct heddle_config config = small_config();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		heddle_runtime *rt = start_clusters(&config, (const unsigned[]){1, 4, 2, 1, 0});
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "count", .cpu = count_cores,
		                                             .parallel = i % 2 ? HEDDLE_SPMD : HEDDLE_SEQUENTIAL,
		                                             .min_cores = cases[i].least, .max_cores = cases[i].most);
		atomic_int counts[5] = {0}, *to = counts;
		for (int k = 0; k < 100; k++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(to)));
		assert_ok(heddle_wait_all(rt));
		int all = 0;
		for (unsigned n = 0; n < 5; n++) {
			all += counts[n];
			assert_true(cases[i].runs >> n & 1 || !counts[n]);
		}
		assert_int_equal(all, 100);
		assert_ok(heddle_stop(rt));
	}
}

static void a_codelet_that_no_worker_suits_says_so(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){1, 2, 0});
	heddle_codelet *large = heddle_codelet_new(rt, .name = "large", .cpu = nothing, .min_cores = 3);
	heddle_codelet *small = heddle_codelet_new(rt, .name = "small", .cpu = nothing, .max_cores = 1);
	assert_int_equal(heddle_submit(rt, heddle_call(large)), HEDDLE_E_NO_WORKER);
	assert_says("codelet large: it needs a CPU worker of 3 or more cores (min_cores, max_cores), and there are "
	            "CPU workers of 1, 2; group cores");
	assert_int_equal(heddle_submit(rt, heddle_call(small), heddle_on(1)), HEDDLE_E_NO_WORKER);
	assert_says("worker 1, of 2 cores, cannot run codelet small");
	assert_ok(heddle_submit(rt, heddle_call(small), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	assert_null(heddle_codelet_new(rt, .name = "none", .cpu = nothing, .min_cores = 3, .max_cores = 2));
	assert_says("codelet none: min_cores is 3, more than max_cores, 2");
	assert_null(heddle_codelet_new(rt, .name = "none", .cpu = nothing, .parallel = (enum heddle_parallel)7));
	assert_says("codelet none: parallel is 7");
	assert_ok(heddle_stop(rt));
}

static double by_class(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id + 1;
}

static void virtual_time_goes_by_the_same_rule(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct heddle_platform *p = platform_of((const unsigned[]){1, 2, 0});
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	heddle_platform_free(p);
	struct heddle_codelet_desc desc = {.name = "c", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = by_class};
	static const double times[] = {1, 2}; /* on one core, on two */
	for (int i = 0; i < 2; i++) {
		desc.min_cores = i ? 2 : 0;
		desc.max_cores = i ? 0 : 1;
		heddle_codelet *codelet = heddle_codelet_new_of(rt, &desc);
		double before = heddle_now(rt);
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
		assert_ok(heddle_wait_all(rt));
		assert_true(heddle_now(rt) - before == times[i]);
	}
	desc.min_cores = 3;
	assert_int_equal(heddle_submit(rt, heddle_call(heddle_codelet_new_of(rt, &desc))), HEDDLE_E_NO_WORKER);
	assert_says("it needs a CPU worker of 3 or more cores");
	assert_ok(heddle_stop(rt));
}

static void reductions_begin_on_any_worker(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(2);
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .cpu = nothing, .max_cores = 1);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = nothing);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_int_equal(heddle_data_set_reduction(d, init, combine), HEDDLE_E_INVALID);
	assert_says("codelet init has no kernel for class cpu*2");
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- What kernels do ---------------------------------------------------------------------------------------------- */

static int set_to_zero(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	if (!heddle_context_rank(c))
		*x = 0;
	return heddle_context_barrier(c);
}

static int add_rank(heddle_context *c)
{
	__atomic_add_fetch((long *)heddle_ptr(c, 0), 1 + heddle_context_rank(c), __ATOMIC_RELAXED);
	return 0;
}

static int add_other(heddle_context *c)
{
	if (!heddle_context_rank(c))
		*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static void kernels_of_reductions_may_be_parallel(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 3, 0});
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .cpu = set_to_zero, .parallel = HEDDLE_SPMD);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = add_other, .parallel = HEDDLE_SPMD);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_rank, .parallel = HEDDLE_SPMD);
	long x = 5;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_data_set_reduction(d, init, combine));
	for (int i = 0; i < 40; i++)
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_redux(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 5 + 40 * (1 + 2 + 3));
	assert_ok(heddle_stop(rt));
}

/* Each rank asks for an event and fulfills it in the middle of the kernel, or hands it to the next task: value 0. */
static int detach(heddle_context *c)
{
	heddle_event **events = heddle_get(c, 0, heddle_event **);
	heddle_event *e = heddle_detach(c);
	if (!e)
		return heddle_fail(c, 1, "%s", heddle_last_error());
	if (heddle_context_rank(c) % 2)
		return heddle_fulfill(e, 0);
	events[heddle_context_rank(c)] = e;
	return 0;
}

static void each_rank_may_ask_for_an_event(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(5);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "detach", .cpu = detach, .parallel = HEDDLE_SPMD);
	heddle_codelet *other = heddle_codelet_new(rt, .name = "other", .cpu = nothing);
	heddle_event *events[5] = {0}, **to = events;
	heddle_task *task;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(to), heddle_out(&task)));
	heddle_task *behind; /* the worker runs one task after the other */
	assert_ok(heddle_submit(rt, heddle_call(other), heddle_out(&behind)));
	assert_ok(heddle_task_wait(behind));
	heddle_task_release(behind);
	for (int i = 0; i < 5; i += 2) {
		assert_false(heddle_task_done(task));
		assert_ok(heddle_fulfill(events[i], 0));
	}
	assert_ok(heddle_task_wait(task));
	heddle_task_release(task);
	assert_ok(heddle_stop(rt));
}

/* Each rank submits a task and tries to wait for its group. */
static int submit_and_wait(heddle_context *c)
{
	heddle_group *group = heddle_get(c, 0, heddle_group *);
	heddle_codelet *codelet = heddle_get(c, 1, heddle_codelet *);
	if (heddle_submit(heddle_context_runtime(c), heddle_call(codelet), heddle_in_group(group)))
		return heddle_fail(c, 1, "%s", heddle_last_error());
	if (heddle_group_wait(group) != HEDDLE_E_STATE || !strstr(heddle_last_error(), "SPMD"))
		return heddle_fail(c, 2, "rank %u may wait: %s", heddle_context_rank(c), heddle_last_error());
	return 0;
}

static void members_may_submit_and_must_not_wait(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(3);
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "submits", .cpu = submit_and_wait, .parallel = HEDDLE_SPMD);
	heddle_codelet *other = heddle_codelet_new(rt, .name = "other", .cpu = nothing);
	heddle_group *group;
	assert_ok(heddle_group_create(rt, &group));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(group), heddle_value(other)));
	assert_ok(heddle_wait_all(rt));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, 20 * 4);
	heddle_group_free(group);
	assert_ok(heddle_stop(rt));
}

/* All ranks but one write where they must not, or ask for what is not there. */
static int ask_for_more(heddle_context *c)
{
	return heddle_context_rank(c) && !heddle_ptr(c, 3) ? 1 : 0;
}

static void the_checking_mode_sees_all_members(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.check = 1;
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 0});
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = ask_for_more, .parallel = HEDDLE_SPMD);
	heddle_codelet *good = heddle_codelet_new(rt, .name = "good", .cpu = meet, .parallel = HEDDLE_SPMD);
	long x[MOST] = {0};
	unsigned k = 3;
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, MOST, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_rw(d), heddle_value(k)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_rw(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MISUSE);
	assert_says("its kernel asks for datum 3; it has 1");
	heddle_unregister(d);
	assert_ok(heddle_stop(rt));
}

/* --- Other threads than the worker's ------------------------------------------------------------------------------ */

static void the_program_may_be_the_master(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.caller_works = 1;
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 2, 0});
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "meet", .cpu = meet, .parallel = HEDDLE_SPMD, .min_cores = 3);
	long x[MOST] = {0};
	unsigned k = 3;
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, MOST, sizeof *x, &d));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_value(k)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x[2], 20 * TURNS);
	assert_ok(heddle_stop(rt));
}

static void emulated_accelerators_call_the_kernel_once(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "note", .cpu = note, .parallel = HEDDLE_SPMD, .min_cores = 2);
	long x[4] = {0};
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, 4, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x[0], 1);
	assert_int_equal(x[1], 1);
	assert_ok(heddle_stop(rt));
}

/* --- Models ------------------------------------------------------------------------------------------------------- */

/* Spins for longer on one core. */
static int take_time(heddle_context *c)
{
	double end = heddle_context_cores(c) > 1 ? 100 : 300;
	struct timespec first, now;
	clock_gettime(CLOCK_MONOTONIC, &first);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((double)(now.tv_sec - first.tv_sec) * 1e6 + (double)(now.tv_nsec - first.tv_nsec) * 1e-3 < end);
	return 0;
}

/* What is measured on a cluster is stored apart from what is measured on one core. */
static void a_cluster_has_its_own_entry_in_models(void **state)
{
	(void)state;
	enum { ON_CLUSTER = 7, ON_CORE = 4 };
	char dir[] = "/tmp/heddle-teams-XXXXXX";
	struct heddle_model_entry *entries;
	struct heddle_config config = small_config();
	size_t n, removed;
	heddle_data *d;
	char x[8];
	assert_non_null(mkdtemp(dir));
	config.model_dir = dir;
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){2, 1, 0});
	heddle_codelet *both = heddle_codelet_new(rt, .name = "both", .cpu = take_time, .parallel = HEDDLE_FORK_JOIN,
	                                          .model = HEDDLE_MODEL_HISTORY);
	assert_ok(heddle_vector(rt, x, sizeof x, 1, &d));
	for (unsigned i = 0; i < ON_CLUSTER + ON_CORE; i++)
		assert_ok(heddle_submit(rt, heddle_call(both), heddle_rw(d), heddle_on(i >= ON_CLUSTER)));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_models_load(dir, &entries, &n));
	assert_int_equal(n, 2); /* sorted by class */
	assert_string_equal(entries[0].class_name, "cpu");
	assert_string_equal(entries[1].class_name, "cpu*2");
	assert_int_equal(entries[0].samples + entries[0].rejected, ON_CORE);
	assert_int_equal(entries[1].samples + entries[1].rejected, ON_CLUSTER);
	assert_true(entries[0].min >= 300 && entries[1].min >= 100);
	heddle_models_free(entries, n);
	assert_ok(heddle_models_purge(dir, NULL, &removed));
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_rank_runs_and_meets_the_others),
	    cmocka_unit_test(sequential_and_fork_join_kernels_are_called_once),
	    cmocka_unit_test(members_that_wait_sleep),
	    cmocka_unit_test(the_first_rank_that_fails_says_why),
	    cmocka_unit_test(a_rank_may_fail_without_a_sentence),
	    cmocka_unit_test(codelets_keep_to_workers_of_their_sizes),
	    cmocka_unit_test(a_codelet_that_no_worker_suits_says_so),
	    cmocka_unit_test(virtual_time_goes_by_the_same_rule),
	    cmocka_unit_test(reductions_begin_on_any_worker),
	    cmocka_unit_test(kernels_of_reductions_may_be_parallel),
	    cmocka_unit_test(each_rank_may_ask_for_an_event),
	    cmocka_unit_test(members_may_submit_and_must_not_wait),
	    cmocka_unit_test(the_checking_mode_sees_all_members),
	    cmocka_unit_test(the_program_may_be_the_master),
	    cmocka_unit_test(emulated_accelerators_call_the_kernel_once),
	    cmocka_unit_test(a_cluster_has_its_own_entry_in_models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
