/* What include/heddle/runtime.h and settings.h promise: the watchdog, what may be NULL, what is copied, what is
 * counted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <heddle/model.h>
#include <heddle/settings.h>
#include "program.h"

/* --- The watchdog ------------------------------------------------------------------------------------------------- */

struct hang {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	atomic_int gate;
	int n_reports, waited, submitted;
	char sentence[512];
};

static void note_hang(void *arg, const char *sentence)
{
	struct hang *h = arg;
	h->n_reports++;
	snprintf(h->sentence, sizeof h->sentence, "%s", sentence);
	h->waited = heddle_wait_all(h->rt); /* as from a kernel */
	h->submitted = heddle_submit(h->rt, heddle_call(h->codelet));
	h->gate = 1;
}

/* The kernel stays until the watchdog has barked; the program's function may call Heddle, but not wait. */
static void watchdog_calls_the_programs_function(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		struct hang h = {.gate = 0};
		atomic_int *gate = &h.gate;
		struct heddle_config config = small_config();
		config.n_cpu = 1;
		config.n_emulated = 1; /* worker 1 */
		config.caller_works = caller_works;
		config.watchdog = 1;
		config.on_hang = note_hang;
		config.on_hang_arg = &h;
		h.rt = start_with(&config);
		h.codelet = heddle_codelet_new(h.rt, .name = "after", .cpu = nothing);
		heddle_codelet *stay = heddle_codelet_new(h.rt, .name = "stay", .cpu = pass_gate);
		assert_ok(heddle_submit(h.rt, heddle_call(stay), heddle_value(gate), heddle_on(1)));
		assert_ok(heddle_wait_all(h.rt));
		assert_int_equal(h.n_reports, 1);
		if (!strstr(h.sentence, "no progress for 1 s") || !strstr(h.sentence, "runs stay"))
			fail_msg("the sentence is \"%s\"", h.sentence);
		assert_int_equal(h.waited, HEDDLE_E_STATE);
		assert_ok(h.submitted);
		assert_ok(heddle_stop(h.rt));
	}
}

/* --- What blocks is refused where nobody may wait ----------------------------------------------------------------- */

struct inside {
	heddle_runtime *rt;
	heddle_data *data;
	heddle_task *task;
	int refused;
};

static void block(struct inside *i)
{
	i->refused += heddle_wait_all(i->rt) == HEDDLE_E_STATE;
	i->refused += heddle_task_wait(i->task) == HEDDLE_E_STATE;
	i->refused += heddle_acquire(i->data, HEDDLE_R) == HEDDLE_E_STATE;
	i->refused += heddle_stop(i->rt) == HEDDLE_E_STATE;
}

static int block_in_kernel(heddle_context *c)
{
	block(pointer_value(c));
	return 0;
}

static void block_in_callback(void *arg, int status)
{
	(void)status;
	struct inside *i = arg;
	block(i);
	i->refused += heddle_unregister(i->data) == HEDDLE_E_STATE;
}

static void blocking_functions_are_refused_in_kernels_and_callbacks(void **state)
{
	(void)state;
	struct inside i = {.rt = start()}, *inside = &i;
	long x = 0;
	assert_ok(heddle_variable(i.rt, &x, sizeof x, &i.data));
	assert_ok(heddle_submit(i.rt, heddle_out(&i.task)));
	heddle_codelet *blocks = heddle_codelet_new(i.rt, .name = "blocks", .cpu = block_in_kernel);
	assert_ok(heddle_submit(i.rt, heddle_call(blocks), heddle_value(inside), heddle_then(block_in_callback, &i)));
	assert_ok(heddle_wait_all(i.rt));
	assert_int_equal(i.refused, 9);
	assert_ok(heddle_task_wait(i.task));
	heddle_task_release(i.task);
	assert_ok(heddle_unregister(i.data));
	assert_ok(heddle_stop(i.rt));
}

/* --- Settings ----------------------------------------------------------------------------------------------------- */

/* Strings are borrowed until heddle_start returns, the platform is copied. */
static void arguments_of_start_may_be_freed_afterwards(void **state)
{
	(void)state;
	char sched[] = "dmda", options[] = "beta=2", dir[] = "none", ignored[] = "no such machine";
	struct heddle_config config = small_config();
	struct heddle_platform *platform;
	heddle_runtime *rt;
	config.sched = sched;
	config.sched_options = options;
	config.model_dir = dir;
	config.platform = ignored;
	assert_ok(heddle_platform_load("gpu1-cpu6", &platform));
	assert_ok(heddle_start_on(&config, platform, 1, &rt));
	heddle_platform_free(platform);
	memset(sched, '?', sizeof sched - 1);
	memset(options, '?', sizeof options - 1);
	memset(dir, '?', sizeof dir - 1);
	assert_string_equal(heddle_runtime_policy(rt), "dmda");
	assert_string_equal(heddle_runtime_platform(rt)->name, "gpu1-cpu6");
	assert_ok(heddle_submit(rt));
	assert_ok(heddle_stop(rt));
}

static void machine_that_cannot_be_driven_here_is_refused(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct heddle_platform *platform;
	heddle_runtime *rt;
	assert_ok(heddle_platform_load("gpu1-cpu6", &platform));
	for (size_t i = 0; i < platform->n_classes; i++) {
		char *kind = platform->classes[i].kind;
		if (strcmp(kind, "cuda") == 0)
			memcpy(kind, "loom", sizeof "loom");
	}
	assert_int_equal(heddle_start_on(&config, platform, 0, &rt), HEDDLE_E_UNSUPPORTED);
	assert_says("loom");
	assert_says("this build drives cpu, ");
	assert_says("emulated");
	heddle_platform_free(platform);
	assert_int_equal(heddle_start_on(&config, NULL, 1, &rt), HEDDLE_E_INVALID);
	config.n_cpu = 1000000;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_INVALID);
	assert_says("1000000");
}

static char scratch[] = "/tmp/heddle-promises-XXXXXX";

/* File, then environment, then program. */
static void later_settings_win(void **state)
{
	(void)state;
	struct heddle_config config;
	char path[sizeof scratch + 16], found[256];
	snprintf(path, sizeof path, "%s/config", scratch);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs("window = 77 # of tasks\n seed= 5\n\ncalibrate =3\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	setenv("HEDDLE_CONFIG", path, 1);
	setenv("HEDDLE_SEED", "6", 1);
	assert_ok(heddle_config_init(&config));
	assert_int_equal(config.window, 77);
	assert_int_equal(config.seed, 6);
	assert_int_equal(config.calibrate, 3);
	assert_ok(heddle_setting_set(&config, "seed", "7"));
	assert_int_equal(config.seed, 7);
	heddle_config_file(found, sizeof found);
	assert_string_equal(found, path);
	unlink(path);
	unsetenv("HEDDLE_CONFIG");
	unsetenv("HEDDLE_SEED");
	heddle_config_file(found, sizeof found);
	assert_string_equal(found, "");
}

static void every_setting_is_listed_in_order_with_its_default(void **state)
{
	(void)state;
	size_t n;
	char value[64], short_value[3];
	const struct heddle_setting *all = heddle_settings(&n);
	struct heddle_config config, other;
	unsetenv("HEDDLE_CUDA"); /* set in the environment of all tests */
	unsetenv("HEDDLE_OPENCL");
	assert_ok(heddle_config_init(&config));
	other = config;
	assert_string_equal(all[0].name, "n_cpu");
	assert_string_equal(all[n - 1].name, "fastest_first");
	for (size_t i = 0; i < n; i++) {
		assert_true(strncmp(all[i].variable, "HEDDLE_", 7) == 0);
		assert_ok(heddle_setting_value(&config, all[i].name, value, sizeof value));
		assert_string_equal(value, all[i].default_text);
		assert_ok(heddle_setting_set(&other, all[i].name, value));
	}
	assert_memory_equal(&config.n_cpu, &other.n_cpu, sizeof config.n_cpu);
	assert_int_equal(heddle_setting_value(&config, "windw", value, sizeof value), HEDDLE_E_UNKNOWN);
	assert_int_equal(heddle_setting_set(&config, "windw", "1"), HEDDLE_E_UNKNOWN);
	assert_ok(heddle_setting_value(&config, "window", short_value, sizeof short_value));
	assert_string_equal(short_value, "16");
}

static void models_are_neither_read_nor_written_without_a_directory(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	char path[sizeof scratch + 16];
	snprintf(path, sizeof path, "%s/models", scratch);
	for (int kept = 0; kept < 2; kept++) {
		config.model_dir = kept ? path : "none";
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "measured", .cpu = nothing);
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_models_save(rt));
		assert_string_equal(heddle_model_warnings(rt), "");
		assert_ok(heddle_stop(rt));
		assert_int_equal(access(path, F_OK), kept ? 0 : -1);
	}
	size_t n_removed;
	assert_ok(heddle_models_purge(path, NULL, &n_removed));
	assert_int_equal(n_removed, 1);
	rmdir(path);
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static double hundred_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 100;
}

static heddle_runtime *start_virtual(const struct heddle_config *settings)
{
	struct heddle_config config = *settings;
	config.platform = "gpu1-cpu6";
	config.sched = "eager";
	return start_with(&config);
}

/* A chain of ten tasks of 100 us on one worker; its makespan. */
static double chain(const struct heddle_config *config)
{
	heddle_runtime *rt = start_virtual(config);
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "hundred", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = hundred_us);
	struct heddle_stats stats;
	heddle_data *d;
	assert_true(heddle_now(rt) == 0);
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(heddle_now(rt) == stats.makespan);
	assert_ok(heddle_stop(rt));
	return stats.makespan;
}

static void noise_and_decisions_change_virtual_times_and_the_seed_repeats_them(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	assert_true(chain(&config) == 1000);
	config.virtual_time.sched_cost = 7;
	assert_true(chain(&config) == 1070);
	config.virtual_time.sched_cost = 0;
	config.virtual_time.noise = 0.1;
	double first = chain(&config);
	assert_true(first != 1000 && first > 500 && first < 1500);
	assert_true(chain(&config) == first);
	config.seed++;
	assert_true(chain(&config) != first);
}

static void submit_mixed(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	for (int i = 0; i < 4; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(i % 2 ? 0 : 6)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(1)));
}

static void figures_add_up(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_virtual(&config);
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "hundred", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = hundred_us);
	struct heddle_stats s;
	heddle_data *d;
	assert_int_equal(heddle_runtime_stats(rt, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_runtime_stats(NULL, &s), HEDDLE_E_INVALID);
	assert_ok(heddle_variable(rt, NULL, 1000, &d));
	submit_mixed(rt, c, d);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &s));
	assert_int_equal(s.tasks_submitted, 5);
	assert_int_equal(s.tasks_executed, 5);
	assert_int_equal(s.tasks_failed + s.tasks_cancelled + s.live_tasks, 0);
	assert_int_equal(s.transfers, 4); /* there and back, twice; the datum begins in main memory */
	assert_int_equal(s.bytes_moved, 4000);
	assert_true(s.busy == 500);
	assert_true(s.busy + s.idle == s.makespan * (double)heddle_runtime_platform(rt)->n_workers);
	assert_true(s.makespan > 400 && s.transfer_wait > 0 && s.sched_time == 0);
	assert_true(s.sched_batches >= 2 && s.sched_picks >= s.sched_picks_empty + 5 && s.task_bytes > 0);
	assert_ok(heddle_stop(rt));
}

static void failures_are_counted_and_the_first_is_reported_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	struct heddle_stats s;
	heddle_data *d;
	long x = 0;
	int codes[] = {4, 9}, none = 0;
	heddle_task *first;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_w(d), heddle_value(codes[0]), heddle_named("one"),
	                        heddle_out(&first)));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_r(d), heddle_value(none)));
	assert_int_equal(heddle_task_wait(first), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_task_wait(first), HEDDLE_E_KERNEL); /* as often as one asks */
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(codes[1]), heddle_named("two")));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("one (");
	assert_says("task 0)");
	assert_says("returned 4");
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &s));
	assert_int_equal(s.tasks_failed, 2);
	assert_int_equal(s.tasks_cancelled, 1);
	assert_int_equal(s.live_tasks, 0);
	heddle_task_release(first);
	assert_ok(heddle_stop(rt));
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

static void *sentence_of_a_new_thread(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)(heddle_last_error()[0] == '\0');
}

/* Kept through calls that succeed, whatever they meet on their way; each thread has its own. */
static void last_sentence_is_that_of_the_last_call_that_failed(void **state)
{
	(void)state;
	pthread_t thread;
	void *empty;
	assert_int_equal(heddle_error(HEDDLE_E_IO, "tape %d is torn", 3), HEDDLE_E_IO);
	assert_string_equal(heddle_last_error(), "tape 3 is torn");
	assert_int_equal(pthread_create(&thread, NULL, sentence_of_a_new_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, &empty), 0);
	assert_non_null(empty);
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		struct heddle_config config = small_config();
		char path[sizeof scratch + 16];
		snprintf(path, sizeof path, "%s/fresh", scratch); /* without the figures of the links */
		config.model_dir = path;
		config.n_emulated = 1;
		config.caller_works = caller_works;
		heddle_runtime *rt = start_with(&config);
		assert_string_equal(heddle_last_error(), "tape 3 is torn");
		heddle_codelet *c = heddle_codelet_new(rt, .name = "c", .cpu = nothing);
		assert_ok(heddle_submit(rt, heddle_call(c)));
		assert_ok(heddle_wait_all(rt));
		assert_string_equal(heddle_last_error(), "tape 3 is torn");
		assert_ok(heddle_stop(rt));
		assert_string_equal(heddle_last_error(), "tape 3 is torn");
		char command[sizeof path + 16];
		snprintf(command, sizeof command, "rm -rf '%s'", path);
		assert_int_equal(system(command), 0);
	}
}

static void every_status_has_a_name(void **state)
{
	(void)state;
	for (int status = HEDDLE_PENDING; status >= HEDDLE_E_DEADLOCK; status--)
		assert_true(strncmp(heddle_status_name(status), "HEDDLE_", 7) == 0);
	assert_non_null(heddle_status_name(-1000));
	assert_non_null(heddle_status_name(1000));
	int major, minor, patch, length = 0;
	assert_int_equal(sscanf(heddle_version(), "%d.%d.%d%n", &major, &minor, &patch, &length), 3);
	assert_int_equal(heddle_version()[length], '\0');
}

static int make_scratch(void **state)
{
	(void)state;
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
	(void)state;
	return rmdir(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(watchdog_calls_the_programs_function),
	    cmocka_unit_test(blocking_functions_are_refused_in_kernels_and_callbacks),
	    cmocka_unit_test(arguments_of_start_may_be_freed_afterwards),
	    cmocka_unit_test(machine_that_cannot_be_driven_here_is_refused),
	    cmocka_unit_test(later_settings_win),
	    cmocka_unit_test(every_setting_is_listed_in_order_with_its_default),
	    cmocka_unit_test(models_are_neither_read_nor_written_without_a_directory),
	    cmocka_unit_test(noise_and_decisions_change_virtual_times_and_the_seed_repeats_them),
	    cmocka_unit_test(figures_add_up),
	    cmocka_unit_test(failures_are_counted_and_the_first_is_reported_once),
	    cmocka_unit_test(last_sentence_is_that_of_the_last_call_that_failed),
	    cmocka_unit_test(every_status_has_a_name),
	};
	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
