/* What include/heddle/policy.h promises to a policy, on the real core in virtual time: when it is called, with what,
 * and what it is told when it asks. */
#include <math.h>
#include <heddle/policy.h>
#include "program.h"

enum { GPU = 6, N_WORKERS = 7 }; /* gpu1-cpu6: workers 0 to 5 are CPU cores */

/* A first-in first-out policy that looks at everything. One runtime at a time; under the core lock. */
static struct {
	heddle_sched *sched;
	heddle_task *first, *last;
	heddle_task *begun[N_WORKERS];
	int releasers[64], n_ready, n_picked, n_started, n_done, wrong;
	double beta, missing;
	int mode, nothing, free_at_grew;
	unsigned calibrate;
	uint64_t drawn;
	void (*look)(heddle_task *t, unsigned worker); /* at each pick */
} seen;

static int curious_create(heddle_sched *sched, void **state)
{
	void (*look)(heddle_task *, unsigned) = seen.look;
	memset(&seen, 0, sizeof seen);
	seen.look = look;
	seen.sched = sched;
	seen.beta = heddle_sched_option(sched, "beta");
	seen.mode = (int)heddle_sched_option(sched, "mode");
	seen.nothing = isnan(heddle_sched_option(sched, "gamma")) && !heddle_sched_option_text(sched, "gamma") &&
	               strcmp(heddle_sched_option_text(sched, "mode"), "slow") == 0;
	seen.drawn = heddle_sched_random(sched);
	seen.calibrate = heddle_sched_calibrate(sched);
	*state = &seen;
	return heddle_sched_option(sched, "beta") == 9
	           ? heddle_sched_fail(sched, HEDDLE_E_UNSUPPORTED, "beta cannot be %d", 9)
	           : 0;
}

static void curious_destroy(void *state)
{
	seen.wrong += state != &seen;
}

static void curious_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct heddle_task_links *link = heddle_task_link(batch[i]);
		link->next = NULL;
		link->u.word = ~heddle_task_order(batch[i]); /* ours until it is picked */
		if (seen.last)
			heddle_task_link(seen.last)->next = batch[i];
		else
			seen.first = batch[i];
		seen.last = batch[i];
		seen.releasers[seen.n_ready++ % 64] = releaser;
	}
}

static heddle_task *curious_pick(void *state, unsigned worker)
{
	heddle_task *t = seen.first;
	(void)state;
	if (!t || !heddle_task_can_run(t, worker))
		return NULL;
	seen.wrong += heddle_task_link(t)->u.word != ~heddle_task_order(t);
	seen.first = heddle_task_link(t)->next;
	if (!seen.first)
		seen.last = NULL;
	seen.n_picked++;
	if (seen.look)
		seen.look(t, worker);
	return t;
}

static void curious_started(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	seen.wrong += seen.begun[worker] != NULL;
	seen.begun[worker] = task;
	seen.n_started++;
}

static void curious_done(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	seen.wrong += seen.begun[worker] != task;
	seen.begun[worker] = NULL;
	seen.n_done++;
}

static void curious_report(void *state, heddle_sched *sched)
{
	(void)state;
	heddle_sched_count(sched, "tasks", seen.n_picked, "tasks");
	heddle_sched_report(sched, "mean", 1.5, "us");
}

static const struct heddle_option options[] = {
    {"beta", "2", "factor", "a number", 0, 10}, {"mode", "fast", "fast|slow|late", "a word", 0, 0}, {0}};
static const struct heddle_policy curious = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "curious",
                                             .summary = "looks at everything",
                                             .source = "this test",
                                             .options = options,
                                             .create = curious_create,
                                             .destroy = curious_destroy,
                                             .ready = curious_ready,
                                             .pick = curious_pick,
                                             .started = curious_started,
                                             .done = curious_done,
                                             .report = curious_report};

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static double time_of(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id ? 10 : 100;
}

static double time_on_gpu(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id ? 10 : (double)NAN;
}

static heddle_runtime *start_curious(uint64_t seed, void (*look)(heddle_task *, unsigned))
{
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	config.sched = "curious";
	config.sched_options = "beta=3.5, mode=slow";
	config.seed = seed;
	seen.look = look;
	return start_with(&config);
}

static void policy_is_told_of_every_task_in_turn(void **state)
{
	(void)state;
	heddle_runtime *rt = start_curious(1, NULL);
	heddle_codelet *c = given(rt, "both", time_of);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d), heddle_on(3)));
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d), heddle_on(3)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(seen.n_ready, 4);
	assert_int_equal(seen.releasers[0], -1);
	for (int i = 1; i < 4; i++)
		assert_int_equal(seen.releasers[i], 3);
	assert_int_equal(seen.n_picked, 4);
	assert_int_equal(seen.n_started, 4);
	assert_int_equal(seen.n_done, 4);
	assert_ok(heddle_stop(rt));
	assert_int_equal(seen.wrong, 0);
}

static void options_are_the_values_in_force(void **state)
{
	(void)state;
	uint64_t drawn[3];
	for (int i = 0; i < 3; i++) {
		assert_ok(heddle_stop(start_curious(i < 2 ? 7 : 8, NULL)));
		assert_true(seen.beta == 3.5);
		assert_int_equal(seen.mode, 1); /* its place among the words */
		assert_true(seen.nothing);
		assert_int_equal(seen.calibrate, 0); /* times are given */
		drawn[i] = seen.drawn;
	}
	assert_true(drawn[0] == drawn[1] && drawn[0] != drawn[2]);
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	config.sched = "curious";
	config.sched_options = "beta=9";
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNSUPPORTED);
	assert_string_equal(heddle_last_error(), "policy curious: beta cannot be 9");
	config.calibrate = 4;
	config.sched_options = NULL;
	assert_ok(heddle_start(&config, &rt));
	assert_true(seen.beta == 2 && seen.mode == 0);
	assert_int_equal(seen.calibrate, 4);
	assert_ok(heddle_stop(rt));
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static heddle_codelet *anywhere, *gpu_only;
static heddle_data *far, *near;

static void look_at_task(heddle_task *t, unsigned worker)
{
	int third = heddle_task_order(t) == 2;
	if (heddle_task_order(t) > 2)
		return;
	seen.wrong += heddle_task_priority(t) != (int)heddle_task_order(t) - 1;
	seen.wrong += heddle_task_codelet(t) != (third ? gpu_only : anywhere);
	seen.wrong +=
	    heddle_task_can_run_class(t, 0) != (heddle_task_order(t) == 0) || !heddle_task_can_run_class(t, 1);
	int bound = heddle_task_order(t) == 1;
	seen.wrong += heddle_task_can_run_all(t, 0) != (third ? 0 : bound ? -1 : 1);
	seen.wrong += heddle_task_can_run_all(t, 1) != (bound ? -1 : 1);
	seen.wrong += heddle_task_can_run(t, 0) != (heddle_task_order(t) == 0) || !heddle_task_can_run(t, worker);
	seen.wrong += heddle_task_time(t, 1) != 10 || isnan(heddle_task_time(t, 0)) != third;
	seen.wrong += heddle_task_samples(t, 1) == 0;
	if (heddle_task_order(t) != 1)
		return;
	seen.wrong += heddle_task_n_data(t) != 2 || heddle_task_data(t, 0) != far || heddle_task_data(t, 1) != near;
	seen.wrong += heddle_task_mode(t, 0) != HEDDLE_R || heddle_task_mode(t, 1) != HEDDLE_W;
	seen.wrong += heddle_data_bytes(far) != 1000 || heddle_data_bytes(near) != 24;
	seen.wrong += !heddle_data_valid_on(far, 0) || heddle_data_valid_on(far, 1);
	seen.wrong += heddle_task_missing_bytes(t, 1) != 1000; /* what is written is not fetched */
	seen.wrong += heddle_task_missing_bytes(t, 0) != 0 || heddle_task_transfer_time(t, 0) != 0;
	seen.missing = heddle_task_transfer_time(t, 1);
}

static void task_answers_what_it_is_asked(void **state)
{
	(void)state;
	heddle_runtime *rt = start_curious(1, look_at_task);
	anywhere = given(rt, "both", time_of);
	gpu_only = given(rt, "gpu only", time_on_gpu);
	assert_ok(heddle_vector(rt, NULL, 125, 8, &far));
	assert_ok(heddle_vector(rt, NULL, 3, 8, &near));
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_priority(-1)));
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_r(far), heddle_w(near), heddle_on(GPU)));
	assert_ok(heddle_submit(rt, heddle_call(gpu_only), heddle_priority(1)));
	assert_ok(heddle_wait_all(rt));
	const struct heddle_link *link = heddle_platform_link(heddle_runtime_platform(rt), 0, 1);
	assert_true(fabs(seen.missing - (link->latency + 1000 / link->bandwidth)) < 1e-9);
	assert_int_equal(seen.n_picked, 3);
	assert_ok(heddle_stop(rt));
	assert_int_equal(seen.wrong, 0);
}

static double free_at_pick[4];

static void look_at_worker(heddle_task *t, unsigned worker)
{
	uint64_t i = heddle_task_order(t);
	seen.wrong += heddle_sched_now(seen.sched) > heddle_sched_worker_free_at(seen.sched, worker);
	if (i < 4)
		free_at_pick[i] = heddle_sched_worker_free_at(seen.sched, worker);
}

/* The GPU's class holds several tasks at a time: each that it has been given makes it free later. */
static void worker_is_free_when_all_that_it_was_given_has_ended(void **state)
{
	(void)state;
	heddle_runtime *rt = start_curious(1, look_at_worker);
	unsigned pipeline = heddle_runtime_platform(rt)->classes[1].pipeline;
	anywhere = given(rt, "both", time_of);
	for (int i = 0; i < 4; i++)
		assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_on(GPU)));
	assert_ok(heddle_wait_all(rt));
	assert_true(pipeline >= 2);
	assert_true(free_at_pick[0] == 0 && free_at_pick[1] == 10);
	assert_true(free_at_pick[3] >= free_at_pick[2]);
	for (unsigned a = 0; a < N_WORKERS; a++)
		for (unsigned b = 0; b < N_WORKERS; b++) {
			assert_int_equal(heddle_sched_distance(seen.sched, a, b),
			                 heddle_sched_distance(seen.sched, b, a));
			assert_true(a != b || heddle_sched_distance(seen.sched, a, b) == 0);
			assert_true(a == b || a == GPU || b == GPU ||
			            heddle_sched_distance(seen.sched, a, b) <
			                heddle_sched_distance(seen.sched, a, GPU));
		}
	assert_int_equal(heddle_sched_platform(seen.sched) == heddle_runtime_platform(rt), 1);
	assert_ok(heddle_stop(rt));
	assert_int_equal(seen.wrong, 0);
}

static void prefetch_at_once(heddle_task *t, unsigned worker)
{
	(void)worker;
	if (heddle_task_order(t) == 0)
		heddle_task_prefetch(t, 1);
}

/* A task of a CPU has its data brought to the GPU, where nothing needs them. */
static void prefetch_brings_data_where_it_is_told(void **state)
{
	(void)state;
	heddle_runtime *rt = start_curious(1, prefetch_at_once);
	struct heddle_stats stats;
	anywhere = given(rt, "both", time_of);
	assert_ok(heddle_vector(rt, NULL, 125, 8, &far));
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_r(far), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.prefetches, 1);
	assert_int_equal(stats.bytes_moved, 1000);
	assert_true(heddle_data_valid_on(far, 0) && heddle_data_valid_on(far, 1));
	assert_ok(heddle_stop(rt));
}

/* --- Figures ------------------------------------------------------------------------------------------------------ */

static void add_figure(void *arg, const char *name, double value, const char *unit)
{
	double *sum = arg;
	assert_string_equal(unit, strcmp(name, "tasks") ? "us" : "tasks");
	*sum += value;
}

static void report_has_all_figures_and_counts_those_that_add_up(void **state)
{
	(void)state;
	heddle_runtime *rt = start_curious(1, NULL);
	double all = 0, counts = 0;
	anywhere = given(rt, "both", time_of);
	assert_ok(heddle_submit(rt, heddle_call(anywhere)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_policy_report(rt, add_figure, &all));
	assert_ok(heddle_policy_counts(rt, add_figure, &counts));
	assert_true(all == 2.5 && counts == 1);
	assert_int_equal(heddle_policy_report(rt, NULL, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_counts(NULL, add_figure, &all), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

static int make_known(void **state)
{
	(void)state;
	return heddle_policy_register(&curious);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(policy_is_told_of_every_task_in_turn),
	    cmocka_unit_test(options_are_the_values_in_force),
	    cmocka_unit_test(task_answers_what_it_is_asked),
	    cmocka_unit_test(worker_is_free_when_all_that_it_was_given_has_ended),
	    cmocka_unit_test(prefetch_brings_data_where_it_is_told),
	    cmocka_unit_test(report_has_all_figures_and_counts_those_that_add_up),
	};
	return cmocka_run_group_tests(tests, make_known, NULL);
}
