/* The runtime seen from a program: start and stop, submission from tasks and threads. */
#include <math.h>
#include <pthread.h>
#include <unistd.h>
#include "program.h"

/* --- Start and stop ----------------------------------------------------------------------------------------------- */

static void start_unknown_policy_lists_those_known(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = NULL;
	config.sched = "dmdass";
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNKNOWN);
	assert_null(rt);
	assert_says("dmdass");
	assert_says("lws");
	assert_says("eager");
}

static void start_unknown_platform_lists_those_known(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = NULL;
	config.platform = "no-such-machine";
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNKNOWN);
	assert_null(rt);
	assert_says("no-such-machine");
}

static void start_auto_policy_looks_at_the_machine(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.sched = "auto";
	heddle_runtime *rt = start_with(&config);
	assert_string_equal(heddle_runtime_policy(rt), "lws");
	assert_ok(heddle_stop(rt));
	config.n_emulated = 1;
	rt = start_with(&config);
	assert_string_equal(heddle_runtime_policy(rt), "dmdas");
	assert_ok(heddle_stop(rt));
}

static void start_without_a_place_for_it_is_invalid(void **state)
{
	(void)state;
	assert_int_equal(heddle_start(NULL, NULL), HEDDLE_E_INVALID);
}

static void stop_null_is_allowed(void **state)
{
	(void)state;
	assert_ok(heddle_stop(NULL));
}

static void stop_reports_an_error_that_no_wait_has_seen(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	int code = 5;
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code)));
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
	assert_says("failing");
}

static void two_runtimes_live_in_one_process(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *a = start_with(&config);
	config.sched = "prio";
	config.n_emulated = 1;
	heddle_runtime *b = start_with(&config);
	heddle_codelet *in_a = heddle_codelet_new(a, .name = "increment", .cpu = increment);
	heddle_codelet *in_b = heddle_codelet_new(b, .name = "increment", .cpu = increment);
	long x = 0, y = 0;
	heddle_data *dx, *dy;
	assert_ok(heddle_variable(a, &x, sizeof x, &dx));
	assert_ok(heddle_variable(b, &y, sizeof y, &dy));
	for (int i = 0; i < 100; i++) {
		assert_ok(heddle_submit(a, heddle_call(in_a), heddle_rw(dx)));
		assert_ok(heddle_submit(b, heddle_call(in_b), heddle_rw(dy)));
	}
	assert_ok(heddle_stop(a));
	assert_ok(heddle_wait_all(b));
	assert_ok(heddle_stop(b));
	assert_int_equal(x, 100);
	assert_int_equal(y, 100);
}

static void config_comes_from_the_environment(void **state)
{
	(void)state;
	struct heddle_config config;
	setenv("HEDDLE_NCPU", "1", 1);
	setenv("HEDDLE_SCHED", "ws", 1);
	setenv("HEDDLE_EMULATED_MEMORY", "64M", 1);
	assert_ok(heddle_config_init(&config));
	assert_int_equal(config.n_cpu, 1);
	assert_string_equal(config.sched, "ws");
	assert_int_equal(config.emulated_memory, 64u << 20);
	heddle_runtime *rt;
	assert_ok(heddle_start(NULL, &rt));
	assert_string_equal(heddle_runtime_policy(rt), "ws");
	assert_int_equal(heddle_runtime_platform(rt)->n_workers, 1);
	assert_ok(heddle_stop(rt));
	setenv("HEDDLE_NCPU", "many", 1);
	assert_int_equal(heddle_config_init(&config), HEDDLE_E_FORMAT);
	assert_says("HEDDLE_NCPU");
	unsetenv("HEDDLE_NCPU");
	unsetenv("HEDDLE_SCHED");
	unsetenv("HEDDLE_EMULATED_MEMORY");
}

static void misspelt_variable_is_refused_with_the_right_name(void **state)
{
	(void)state;
	static const struct {
		const char *variable, *right;
	} cases[] = {
	    {"HEDDLE_EMULATD", "HEDDLE_EMULATED?"},      {"HEDDLE_NCPUS", "HEDDLE_NCPU?"},
	    {"HEDDLE_EMULTD", "HEDDLE_EMULATED?"},       {"HEDDLE_SHCED", "HEDDLE_SCHED?"},
	    {"HEDDLE_DADA_ALHPA", "HEDDLE_DADA_ALPHA?"}, {"HEDDLE_PLATFORM_PTH", "HEDDLE_PLATFORM_PATH?"},
	};
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	setenv("HEDDLE_NCPU", "1", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv(cases[i].variable, "2", 1);
		config.n_cpu = 7;
		assert_int_equal(heddle_config_init(&config), HEDDLE_E_UNKNOWN);
		assert_says(cases[i].variable);
		assert_says(cases[i].right);
		assert_int_equal(config.n_cpu, 1); /* what is right holds for who goes on */
		assert_int_equal(heddle_start(NULL, &rt), HEDDLE_E_UNKNOWN);
		assert_null(rt);
		unsetenv(cases[i].variable);
	}
	unsetenv("HEDDLE_NCPU");
}

/* Variables of policies are known; a variable whose name is like that of no setting may belong to another program. */
static void other_variables_are_let_be(void **state)
{
	(void)state;
	static const char *const names[] = {"HEDDLE_DADA_ALPHA", "HEDDLE_CONFIG",  "HEDDLE_PLATFORM_PATH",
	                                    "HEDDLE_SOURCE_DIR", "HEDDLE_TESTING", "HEDDLE_BUILD",
	                                    "HEDDLEEMULATED",    "HEDDLE_"};
	struct heddle_config config;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		setenv(names[i], i == 1 ? "/dev/null" : "0.5", 1);
		assert_ok(heddle_config_init(&config));
		unsetenv(names[i]);
	}
}

static void unknown_setting_of_a_file_is_refused_with_the_right_name(void **state)
{
	(void)state;
	char path[] = "/tmp/heddle-config-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] = "window = 100\nemulatd_memory = 5\n";
	struct heddle_config config;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	setenv("HEDDLE_CONFIG", path, 1);
	assert_int_equal(heddle_config_init(&config), HEDDLE_E_FORMAT);
	assert_says(":2: there is no setting \"emulatd_memory\"; did you mean \"emulated_memory\"?");
	unsetenv("HEDDLE_CONFIG");
	unlink(path);
	struct heddle_config good = small_config();
	assert_int_equal(heddle_setting_set(&good, "windwo", "5"), HEDDLE_E_UNKNOWN);
	assert_says("did you mean \"window\"?");
	assert_int_equal(heddle_setting_set(&good, "emulated_sl", "5"), HEDDLE_E_UNKNOWN);
	assert_says("did you mean \"emulated_slowdown\"?");
	assert_int_equal(heddle_setting_set(&good, "qqqqqqqqqqqq", "5"), HEDDLE_E_UNKNOWN);
	assert_says("`heddle config` lists them");
}

static void config_filled_by_hand_is_checked_like_text(void **state)
{
	(void)state;
	const struct heddle_config good = small_config();
	struct heddle_config bad[] = {good, good, good, good, good, good, good, good, good, good};
	const char *const names[] = {"n_emulated", "noise", "window", "pipeline",   "watchdog",
	                             "calibrate",  "n_cpu", "bind",   "sched_cost", "emulated_slowdown"};
	bad[0].n_emulated = -3;
	bad[1].virtual_time.noise = -4;
	bad[2].window = -4;
	bad[3].pipeline = 1001;
	bad[4].watchdog = -2;
	bad[5].calibrate = -9;
	bad[6].n_cpu = -2;
	bad[7].bind = 2;
	bad[8].virtual_time.sched_cost = NAN;
	bad[9].emulated_slowdown = 0;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		heddle_runtime *rt;
		assert_int_equal(heddle_start(&bad[i], &rt), HEDDLE_E_INVALID);
		assert_says(names[i]);
	}
	struct heddle_config seeded = good;
	seeded.seed = UINT64_MAX;
	assert_ok(heddle_stop(start_with(&seeded)));
}

static void config_refusal_names_both_ends_of_the_range(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	assert_int_equal(heddle_setting_set(&config, "pipeline", "1000000"), HEDDLE_E_FORMAT);
	assert_says(" to 1000");
	size_t n;
	const struct heddle_setting *all = heddle_settings(&n);
	for (size_t i = 0; i < n; i++) {
		int status = heddle_setting_set(&config, all[i].name, "1e300");
		if (strstr(all[i].kind, "text"))
			continue;
		assert_int_equal(status, HEDDLE_E_FORMAT);
		assert_null(strstr(heddle_last_error(), "or more"));
	}
}

static void config_empty_policy_is_the_default_and_the_error_of_a_wrong_one_names_auto(void **state)
{
	(void)state;
	struct heddle_config config;
	setenv("HEDDLE_SCHED", "", 1);
	assert_ok(heddle_config_init(&config));
	assert_string_equal(config.sched, "auto");
	unsetenv("HEDDLE_SCHED");
	config = small_config();
	config.sched = "no such policy";
	heddle_runtime *rt;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNKNOWN);
	assert_says("auto:");
}

/* --- Submission --------------------------------------------------------------------------------------------------- */

static void codelet_without_name_or_kernel_is_invalid(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = NULL;
	assert_int_equal(heddle_codelet_create(rt, &(struct heddle_codelet_desc){.cpu = nothing}, &codelet),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_codelet_create(rt, &(struct heddle_codelet_desc){.name = "empty"}, &codelet),
	                 HEDDLE_E_INVALID);
	assert_null(codelet);
	assert_null(heddle_codelet_new(rt, .name = "empty"));
	assert_says("empty");
	assert_ok(heddle_stop(rt));
}

static void submit_what_no_worker_can_run_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "on_opencl", .opencl = nothing);
	assert_non_null(codelet);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet)), HEDDLE_E_NO_WORKER);
	assert_says("on_opencl");
	assert_ok(heddle_stop(rt));
}

static void submit_wrong_arguments_are_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start(), *other = start();
	const int modes[] = {HEDDLE_RW};
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "strict", .cpu = increment, .modes = modes, .n_modes = 1);
	long x = 0;
	heddle_data *d, *foreign;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(other, &x, sizeof x, &foreign));
	assert_int_equal(heddle_submit(rt, heddle_call(codelet)), HEDDLE_E_INVALID);
	assert_says("strict");
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_r(d)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_r(d)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_rw(NULL)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_rw(foreign)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(999)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(other, heddle_call(codelet), heddle_rw(foreign)), HEDDLE_E_INVALID);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_stop(other));
	assert_int_equal(x, 1); /* nothing of what was refused has run */
}

static int check_values(heddle_context *c)
{
	int right = heddle_get(c, 0, int) == 7 && heddle_get(c, 1, double) == 2.5 &&
	            strcmp(heddle_value_ptr(c, 2), "some text") == 0 && !heddle_value_ptr(c, 3) &&
	            heddle_context_n_data(c) == 1 && (uintptr_t)heddle_value_ptr(c, 1) % _Alignof(double) == 0;
	*(long *)heddle_ptr(c, 0) = right;
	return 0;
}

static void values_are_copied_in_order(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "values", .cpu = check_values);
	long right = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &right, sizeof right, &d));
	int a = 7;
	double b = 2.5;
	char text[] = "some text";
	assert_ok(heddle_submit(rt, heddle_value(a), heddle_w(d), heddle_value(b), heddle_call(codelet),
	                        heddle_bytes(text, sizeof text)));
	a = 0;
	b = 0;
	text[0] = '\0';
	assert_ok(heddle_stop(rt));
	assert_int_equal(right, 1);
}

static void items_put_together_piece_by_piece_are_the_same_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "digits", .cpu = times_ten_plus);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (long i = 1; i <= 3; i++) {
		struct heddle_item items[4];
		size_t n = 0;
		items[n++] = heddle_value(i);
		items[n++] = heddle_call(codelet);
		if (i > 1)
			items[n++] = heddle_priority(3);
		items[n++] = heddle_rw(d);
		assert_ok(heddle_submit_items(rt, n, items));
	}
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 123);
	assert_ok(heddle_stop(rt));
}

static void explicit_dependency_is_kept(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *gate_codelet = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	atomic_int gate = 0, *gate_address = &gate;
	long x = 0;
	heddle_data *d;
	heddle_task *first, *second;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(gate_codelet), heddle_value(gate_address), heddle_out(&first)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_after(first), heddle_out(&second)));
	assert_false(heddle_task_done(first));
	assert_false(heddle_task_done(second));
	gate = 1;
	assert_ok(heddle_task_wait(second));
	assert_true(heddle_task_done(first));
	heddle_task_release(first);
	heddle_task_release(second);
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, 1);
}

struct spawner {
	heddle_codelet *codelet;
	atomic_int count;
};

/* A tree of tasks: each submits two below it. */
static int spawn(heddle_context *c)
{
	struct spawner *s = pointer_value(c);
	int depth = heddle_get(c, 1, int) - 1;
	s->count++;
	if (depth == 0)
		return 0;
	heddle_runtime *rt = heddle_context_runtime(c);
	int status = heddle_submit(rt, heddle_call(s->codelet), heddle_value(s), heddle_value(depth));
	return status ? status : heddle_submit(rt, heddle_call(s->codelet), heddle_value(s), heddle_value(depth));
}

static void tasks_submit_tasks_even_when_the_window_is_full(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.window = 1;
	heddle_runtime *rt = start_with(&config);
	struct spawner spawner = {.codelet = heddle_codelet_new(rt, .name = "spawn", .cpu = spawn)}, *s = &spawner;
	int depth = 8;
	assert_ok(heddle_submit(rt, heddle_call(s->codelet), heddle_value(s), heddle_value(depth)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(spawner.count, 255);
	assert_ok(heddle_stop(rt));
}

/* Notes the largest number of unfinished tasks seen from inside a kernel. */
static int watch_window(heddle_context *c)
{
	atomic_ulong *largest = pointer_value(c);
	struct heddle_stats stats;
	int status = heddle_runtime_stats(heddle_context_runtime(c), &stats);
	unsigned long seen = *largest;
	while (stats.live_tasks > seen && !atomic_compare_exchange_weak(largest, &seen, stats.live_tasks))
		;
	return status;
}

static void window_bounds_the_unfinished_tasks(void **state)
{
	const int *caller_works = *state;
	struct heddle_config config = small_config();
	config.window = 8;
	config.caller_works = *caller_works;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "watch", .cpu = watch_window);
	atomic_ulong largest = 0, *address = &largest;
	for (int i = 0; i < 500; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(address)));
	assert_ok(heddle_wait_all(rt));
	assert_in_range(largest, 1, 8);
	assert_ok(heddle_stop(rt));
}

/* Entries are counted in any case: a task that takes longer than a burst is given back by itself. */
static void core_is_timed_when_asked(void **state)
{
	(void)state;
	for (int timed = 0; timed <= 1; timed++) {
		struct heddle_config config = small_config();
		struct heddle_stats before, stats;
		config.time_core = timed;
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
		assert_ok(heddle_runtime_stats(rt, &before));
		for (int i = 0; i < 10; i++) {
			assert_ok(heddle_submit(rt, heddle_call(codelet)));
			assert_ok(heddle_wait_all(rt));
		}
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_in_range(stats.core_entries, before.core_entries + 10, UINT64_MAX);
		assert_true(timed ? stats.core_time > 0 : stats.core_time == 0);
		assert_ok(heddle_stop(rt));
	}
}

/* Every task is in one batch, and picked once. */
static void policy_is_timed_when_asked(void **state)
{
	(void)state;
	for (int timed = 0; timed <= 1; timed++) {
		struct heddle_config config = small_config();
		struct heddle_stats stats;
		config.time_policy = timed;
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
		for (int i = 0; i < 500; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_true(timed ? stats.sched_time > 0 : stats.sched_time == 0);
		assert_in_range(stats.sched_batches, 1, 500);
		assert_int_equal(stats.sched_picks - stats.sched_picks_empty, 500);
		assert_ok(heddle_stop(rt));
	}
}

/* The statistics and the trace mean the same by it, whichever worker ended last and whoever entered the lock first;
 * also when the first task could not run before the program released its datum. */
static void makespan_is_that_of_the_trace(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	double x = 0;
	for (int held = 0; held <= 1; held++) {
		heddle_data *d;
		struct heddle_stats stats;
		struct heddle_trace *trace;
		heddle_runtime *rt = start_with(&config);
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_true(stats.makespan == 0 && stats.last_end == 0);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(held ? heddle_acquire(d, HEDDLE_RW) : 0);
		for (int i = 0; i < 1000; i++)
			assert_ok(held ? heddle_submit(rt, heddle_call(codelet), heddle_rw(d))
			               : heddle_submit(rt, heddle_call(codelet)));
		double released = heddle_now(rt);
		if (held)
			heddle_release(d);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_ok(heddle_trace_take(rt, &trace));
		assert_int_equal(trace->n_tasks, 1000);
		assert_true(stats.makespan == heddle_trace_makespan(trace));
		assert_true(stats.last_end <= heddle_now(rt));
		assert_true(!held || stats.makespan <= stats.last_end - released);
		heddle_trace_free(trace);
		assert_ok(heddle_stop(rt));
	}
}

enum { THREADS = 4, PER_THREAD = 500 };

struct submitter {
	heddle_runtime *rt;
	heddle_codelet *own_codelet, *shared_codelet;
	heddle_data *shared;
	long own;
	int status;
};

static void *submit_many(void *arg)
{
	struct submitter *s = arg;
	heddle_data *own;
	s->status = heddle_variable(s->rt, &s->own, sizeof s->own, &own);
	for (long i = 0; i < PER_THREAD && !s->status; i++) {
		s->status = heddle_submit(s->rt, heddle_call(s->own_codelet), heddle_rw(own));
		if (!s->status)
			s->status = heddle_submit(s->rt, heddle_call(s->shared_codelet), heddle_commute(s->shared));
	}
	if (!s->status)
		s->status = heddle_unregister(own);
	return NULL;
}

static void threads_submit_at_the_same_time(void **state)
{
	const int *caller_works = *state;
	struct heddle_config config = small_config();
	config.window = 64;
	config.caller_works = *caller_works;
	heddle_runtime *rt = start_with(&config);
	struct submitter s[THREADS];
	pthread_t threads[THREADS];
	long total = 0;
	heddle_data *shared;
	assert_ok(heddle_variable(rt, &total, sizeof total, &shared));
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	for (int i = 0; i < THREADS; i++) {
		s[i] = (struct submitter){rt, codelet, codelet, shared, 0, 0};
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &s[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_ok(heddle_unregister(shared));
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(s[i].status, 0);
		assert_int_equal(s[i].own, PER_THREAD);
	}
	assert_int_equal(total, THREADS * PER_THREAD);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	static int no = 0, yes = 1;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(start_unknown_policy_lists_those_known),
	    cmocka_unit_test(start_unknown_platform_lists_those_known),
	    cmocka_unit_test(start_auto_policy_looks_at_the_machine),
	    cmocka_unit_test(start_without_a_place_for_it_is_invalid),
	    cmocka_unit_test(stop_null_is_allowed),
	    cmocka_unit_test(stop_reports_an_error_that_no_wait_has_seen),
	    cmocka_unit_test(two_runtimes_live_in_one_process),
	    cmocka_unit_test(config_comes_from_the_environment),
	    cmocka_unit_test(misspelt_variable_is_refused_with_the_right_name),
	    cmocka_unit_test(other_variables_are_let_be),
	    cmocka_unit_test(unknown_setting_of_a_file_is_refused_with_the_right_name),
	    cmocka_unit_test(config_filled_by_hand_is_checked_like_text),
	    cmocka_unit_test(config_refusal_names_both_ends_of_the_range),
	    cmocka_unit_test(config_empty_policy_is_the_default_and_the_error_of_a_wrong_one_names_auto),
	    cmocka_unit_test(codelet_without_name_or_kernel_is_invalid),
	    cmocka_unit_test(submit_what_no_worker_can_run_is_refused),
	    cmocka_unit_test(submit_wrong_arguments_are_refused),
	    cmocka_unit_test(values_are_copied_in_order),
	    cmocka_unit_test(items_put_together_piece_by_piece_are_the_same_task),
	    cmocka_unit_test(explicit_dependency_is_kept),
	    cmocka_unit_test(tasks_submit_tasks_even_when_the_window_is_full),
	    cmocka_unit_test_prestate(window_bounds_the_unfinished_tasks, &no),
	    cmocka_unit_test_prestate(window_bounds_the_unfinished_tasks, &yes),
	    cmocka_unit_test(core_is_timed_when_asked),
	    cmocka_unit_test(policy_is_timed_when_asked),
	    cmocka_unit_test(makespan_is_that_of_the_trace),
	    cmocka_unit_test_prestate(threads_submit_at_the_same_time, &no),
	    cmocka_unit_test_prestate(threads_submit_at_the_same_time, &yes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
