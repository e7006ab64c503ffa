/* Codelets: what is refused, and the choice among several implementations for one kind of worker. */
#include <math.h>
#include "program.h"

static atomic_uint slow_runs, fast_runs;

static int slow(heddle_context *c)
{
	volatile long *x = heddle_ptr(c, 0);
	for (int i = 0; i < 200000; i++)
		++*x;
	*x -= 200000 - 1;
	atomic_fetch_add(&slow_runs, 1);
	return 0;
}

static int fast(heddle_context *c)
{
	++*(long *)heddle_ptr(c, 0);
	atomic_fetch_add(&fast_runs, 1);
	return 0;
}

static void several_implementations_the_fastest_is_used_once_known(void **state)
{
	(void)state;
	enum { TASKS = 400, CALIBRATE = 4 };
	struct heddle_config config = small_config();
	config.calibrate = CALIBRATE;
	heddle_runtime *rt = start_with(&config);
	const struct heddle_implementation both[] = {{.kind = "cpu", .name = "slow", .kernel = slow},
	                                             {.kind = "cpu", .name = "fast", .kernel = fast}};
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "choice", .implementations = both, .n_implementations = 2);
	assert_non_null(codelet);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < TASKS; i++) /* a chain: one decision at a time */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, TASKS);
	assert_int_equal(slow_runs + fast_runs, TASKS);
	assert_in_range(slow_runs, CALIBRATE, 2 * CALIBRATE);
	assert_ok(heddle_stop(rt));
}

static void codelet_without_name_kernel_or_valid_mode_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	const int modes[] = {5};
	assert_null(heddle_codelet_new(rt, .cpu = increment));
	assert_says("name");
	assert_null(heddle_codelet_new(rt, .name = "empty"));
	assert_says("empty");
	assert_null(heddle_codelet_new(rt, .name = "odd", .cpu = increment, .modes = modes, .n_modes = 1));
	assert_says("5");
	const struct heddle_implementation misspelt = {.kind = "cpuu", .kernel = increment};
	heddle_codelet *c = NULL;
	const struct heddle_codelet_desc desc = {.name = "slip", .implementations = &misspelt, .n_implementations = 1};
	assert_int_equal(heddle_codelet_create(rt, &desc, &c), HEDDLE_E_UNKNOWN);
	assert_says("slip");
	assert_says("\"cpuu\"; did you mean \"cpu\"? There are cpu, emulated, opencl, cuda");
	assert_null(c);
	assert_null(heddle_codelet_new(rt, .name = "line", .cpu = increment, .model = HEDDLE_MODEL_LINEAR));
	assert_says("regressors");
	assert_ok(heddle_stop(rt));
}

static void codelet_for_absent_processors_is_refused_when_submitted(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "gpu_only", .cuda = increment);
	assert_non_null(codelet);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet)), HEDDLE_E_NO_WORKER);
	assert_says("gpu_only");
	assert_says("kernels for cuda");
	assert_says("of kind cpu");
	const struct heddle_implementation several[] = {
	    {"opencl", NULL, increment}, {"emulated", NULL, increment}, {"emulated", "other", increment}};
	codelet = heddle_codelet_new(rt, .name = "three", .cuda = increment, .implementations = several,
	                             .n_implementations = 3);
	assert_non_null(codelet);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet)), HEDDLE_E_NO_WORKER);
	assert_says("kernels for cuda, opencl, emulated;");
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_on(1)), HEDDLE_E_NO_WORKER);
	assert_ok(heddle_stop(rt));
}

static void kind_of_a_platforms_own_class_is_known(void **state)
{
	(void)state;
	static const char yaml[] = "version: 1\nname: own\nnodes:\n  - {name: ram}\n"
	                           "classes:\n  - {name: board, kind: fpga}\n"
	                           "workers:\n  - {name: board, class: board, node: ram}\n";
	struct heddle_platform *platform;
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	heddle_codelet *c = NULL;
	const struct heddle_implementation own = {.kind = "fpga", .kernel = increment},
	                                   misspelt = {.kind = "fgpa", .kernel = increment};
	struct heddle_codelet_desc desc = {.name = "on_board", .implementations = &own, .n_implementations = 1};
	assert_ok(heddle_platform_parse("test", yaml, strlen(yaml), &platform));
	assert_ok(heddle_start_on(&config, platform, 1, &rt));
	heddle_platform_free(platform);
	assert_ok(heddle_codelet_create(rt, &desc, &c));
	desc.implementations = &misspelt;
	assert_int_equal(heddle_codelet_create(rt, &desc, &c), HEDDLE_E_UNKNOWN);
	assert_says("did you mean \"fpga\"? There are cpu, emulated, opencl, cuda, fpga");
	assert_ok(heddle_stop(rt));
}

static int refuses_worker_0(unsigned worker, const heddle_task *task, void *arg)
{
	(void)task;
	(void)arg;
	return worker != 0;
}

static int note_worker(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = (long)heddle_context_worker(c);
	return 0;
}

static void can_run_keeps_a_task_from_a_worker(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "choosy", .cpu = note_worker, .can_run = refuses_worker_0);
	for (int i = 0; i < 20; i++) {
		long worker = -1;
		heddle_data *d;
		assert_ok(heddle_variable(rt, &worker, sizeof worker, &d));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d)));
		assert_ok(heddle_unregister(d));
		assert_int_equal(worker, 1);
	}
	assert_ok(heddle_stop(rt));
}

/* Times come with each task as values, one per class. */
static double given_time(const struct heddle_size *size, unsigned class_id)
{
	return ((const double *)size->values[0])[class_id];
}

static uint64_t given_footprint(const struct heddle_size *size)
{
	const double *times = size->values[0];
	return (isnan(times[0]) ? 999 : (uint64_t)times[0]) * 1000 + (isnan(times[1]) ? 999 : (uint64_t)times[1]);
}

static void given_times_rule_virtual_time_task_by_task(void **state)
{
	(void)state;
	struct heddle_platform *platform;
	heddle_runtime *rt;
	struct heddle_config config;
	heddle_config_init(&config);
	config.sched = "dmda";
	assert_ok(heddle_platform_load("gpu1-cpu6", &platform));
	assert_ok(heddle_start_on(&config, platform, 1, &rt));
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "unknown_to_the_platform", .cpu = note_worker, .model = HEDDLE_MODEL_GIVEN,
	                       .time = given_time, .footprint = given_footprint);
	assert_non_null(codelet);
	const double times[][2] = {{100, 5}, {7, NAN}, {50, 40}}, nowhere[2] = {NAN, NAN};
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 8, 8, &d));
	for (int i = 0; i < 3; i++)
		assert_ok(
		    heddle_submit(rt, heddle_call(codelet), heddle_w(d), heddle_bytes(times[i], sizeof times[i])));
	assert_ok(heddle_wait_all(rt));
	assert_true(fabs(heddle_now(rt) - (5 + 7 + 40)) < 1e-6);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d), heddle_bytes(nowhere, sizeof nowhere)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_NO_WORKER);
	assert_says("gives no time");
	assert_null(heddle_codelet_new(rt, .name = "mute", .cpu = note_worker, .model = HEDDLE_MODEL_GIVEN));
	assert_says("time function");
	heddle_unregister_async(d);
	heddle_stop(rt);
	heddle_platform_free(platform);
}

static double accelerator_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == 1 ? 10 : NAN;
}

static void in_virtual_time_a_task_that_no_worker_has_time_and_room_for_fails(void **state)
{
	static const char *const policies[] = {"eager", "dmda", "lws", "multiprio"};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct heddle_config config = small_config();
		config.platform = "haswell-k40m"; /* 20 cores, then accelerators of 10 GiB */
		config.sched = policies[i];
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "there", .cpu = nothing,
		                                             .model = HEDDLE_MODEL_GIVEN, .time = accelerator_time);
		heddle_data *half, *large;
		assert_ok(heddle_vector(rt, NULL, (size_t)6 << 30, 1, &half));
		assert_ok(heddle_vector(rt, NULL, (size_t)20 << 30, 1, &large));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(half), heddle_r(half)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(large)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_NO_FIT);
		assert_says("there");
		assert_says("21474836480 bytes");
		assert_says("10870587392");
		assert_says("smaller pieces");
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(half), heddle_on(0)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_NO_WORKER);
		assert_says("only worker");
		assert_ok(heddle_stop(rt));
	}
}

static void there_may_be_very_many_implementations(void **state)
{
	(void)state;
	enum { MANY = 1000 };
	heddle_runtime *rt = start();
	struct heddle_implementation all[MANY];
	for (int i = 0; i < MANY; i++)
		all[i] = (struct heddle_implementation){"cpu", NULL, nothing};
	all[MANY - 1].kernel = increment;
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "many", .implementations = all, .n_implementations = MANY);
	assert_non_null(codelet);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < MANY; i++) /* the least measured first, so each once */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(several_implementations_the_fastest_is_used_once_known),
	    cmocka_unit_test(codelet_without_name_kernel_or_valid_mode_is_refused),
	    cmocka_unit_test(codelet_for_absent_processors_is_refused_when_submitted),
	    cmocka_unit_test(kind_of_a_platforms_own_class_is_known),
	    cmocka_unit_test(can_run_keeps_a_task_from_a_worker),
	    cmocka_unit_test(given_times_rule_virtual_time_task_by_task),
	    cmocka_unit_test(in_virtual_time_a_task_that_no_worker_has_time_and_room_for_fails),
	    cmocka_unit_test(there_may_be_very_many_implementations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
