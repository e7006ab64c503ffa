/* What a program says of codelets and tasks and cannot mean: it is refused at once with a message that says what is
 * wrong, and nothing of it stays behind. */
#include <limits.h>
#include "program.h"

/* All that was refused has left nothing: `n` tasks ran. */
static void stop_after(heddle_runtime *rt, uint64_t n)
{
	struct heddle_stats stats;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, n);
	assert_int_equal(stats.live_tasks, 0);
	assert_ok(heddle_stop(rt));
}

#define assert_refused(call, status, word)          \
	do {                                        \
		assert_int_equal((call), (status)); \
		assert_says(word);                  \
	} while (0)

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

static void task_whose_codelet_could_not_be_made_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	long x = 3;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_refused(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .cpu = increment)), heddle_rw(d)),
	               HEDDLE_E_INVALID, "a codelet needs a name");
	assert_says("codelet is NULL");
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 3);
	stop_after(rt, 0);
}

static void task_with_two_codelets_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_call(codelet)), HEDDLE_E_INVALID,
	               "one codelet, not 2");
	assert_refused(heddle_submit(rt, heddle_call(NULL), heddle_call(codelet)), HEDDLE_E_INVALID,
	               "one codelet, not 2");
	stop_after(rt, 0);
}

static void codelet_with_a_count_without_its_array_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	assert_null(heddle_codelet_new(rt, .name = "moody", .cpu = nothing, .n_modes = 2));
	assert_says("moody has a count of modes");
	assert_null(heddle_codelet_new(rt, .name = "gifted", .cpu = nothing, .n_implementations = 2));
	assert_says("gifted has a count of implementations");
	stop_after(rt, 0);
}

/* --- Items -------------------------------------------------------------------------------------------------------- */

static void items_that_point_nowhere_are_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "pointless", .cpu = nothing);
	const int good = 1;
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_value(good), heddle_bytes(NULL, 8)),
	               HEDDLE_E_INVALID, "value 1");
	for (size_t size = (size_t)-1; size > UINT32_MAX; size /= 16)
		assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_value(good), heddle_bytes(&good, size)),
		               HEDDLE_E_INVALID, "bytes of values");
	assert_says("pointless");
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_out(NULL)), HEDDLE_E_INVALID, "heddle_out");
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_after(NULL)), HEDDLE_E_INVALID, "heddle_after");
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_rw(NULL)), HEDDLE_E_INVALID, "NULL");
	assert_int_equal(heddle_submit_items(rt, 1, NULL), HEDDLE_E_INVALID);
	stop_after(rt, 0);
}

/* The sanitizers watch how the library walks over items that are nowhere. */
static void a_task_without_items_needs_no_address(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	assert_int_equal(heddle_submit_items(rt, 0, NULL), 0);
	stop_after(rt, 0);
}

static void name_of_null_is_the_name_of_the_codelet(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "ordinary", .cpu = fail_with);
	const int code = 7;
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_named(NULL)));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code), heddle_named("special"),
	                        heddle_named(NULL), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("ordinary");
	heddle_task_release(t);
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
}

static void task_of_another_runtime_is_no_predecessor(void **state)
{
	(void)state;
	heddle_runtime *here = start(), *there = start();
	heddle_codelet *codelet = heddle_codelet_new(here, .name = "here", .cpu = nothing);
	heddle_codelet *foreign = heddle_codelet_new(there, .name = "there", .cpu = nothing);
	heddle_task *t[2];
	assert_ok(heddle_submit(there, heddle_call(foreign), heddle_out(&t[0])));
	assert_ok(heddle_submit(there, heddle_after(t[0]), heddle_out(&t[1]))); /* without a codelet */
	for (int i = 0; i < 2; i++) {
		assert_refused(heddle_submit(here, heddle_call(codelet), heddle_after(t[i])), HEDDLE_E_INVALID,
		               "another runtime");
		assert_ok(heddle_task_wait(t[i]));
		/* ended */
		assert_int_equal(heddle_submit(here, heddle_call(codelet), heddle_after(t[i])), HEDDLE_E_INVALID);
		assert_ok(heddle_submit(there, heddle_call(foreign), heddle_after(t[i])));
	}
	assert_refused(heddle_submit(here, heddle_call(foreign)), HEDDLE_E_INVALID, "there belongs to another runtime");
	heddle_task_release(t[0]);
	heddle_task_release(t[1]);
	stop_after(here, 0);
	stop_after(there, 3);
}

static void place_for_a_task_that_was_refused_is_null(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	heddle_task *task = (heddle_task *)&codelet; /* any other address */
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_on(1000), heddle_out(&task)), HEDDLE_E_INVALID);
	assert_null(task);
	assert_ok(heddle_stop(rt));
}

static void worker_that_is_not_there_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_on(2)), HEDDLE_E_INVALID, "there is no worker 2");
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_on(UINT_MAX)), HEDDLE_E_INVALID);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_on(1)));
	stop_after(rt, 1);
}

/* --- can_run ------------------------------------------------------------------------------------------------------ */

static int only_that(unsigned worker, const heddle_task *task, void *arg)
{
	(void)task;
	return (int)worker == *(const int *)arg;
}

static heddle_codelet *only_on(heddle_runtime *rt, const char *name, int *worker)
{
	return heddle_codelet_new(rt, .name = name, .cpu = nothing, .can_run = only_that, .can_run_arg = worker,
	                          .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
}

/* With threads, and on the machine of a file in virtual time. */
static void task_that_no_worker_may_run_is_refused(void **state)
{
	heddle_runtime *rt = *state ? start_where(*state) : start_cpus(small_config(), 2);
	int none = -1, second = 1;
	heddle_codelet *nowhere = only_on(rt, "nowhere", &none), *somewhere = only_on(rt, "somewhere", &second);
	assert_refused(heddle_submit(rt, heddle_call(nowhere)), HEDDLE_E_NO_WORKER, "nowhere");
	assert_says("can_run");
	assert_refused(heddle_submit(rt, heddle_call(somewhere), heddle_on(0)), HEDDLE_E_NO_WORKER, "heddle_on");
	assert_ok(heddle_submit(rt, heddle_call(somewhere), heddle_on(1)));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(somewhere)));
	stop_after(rt, 21);
}

static void task_too_large_for_the_worker_that_may_run_it_is_refused(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.emulated_memory = 1000;
	heddle_runtime *rt = start_with(&config);
	int accelerator = config.n_cpu;
	heddle_codelet *codelet = only_on(rt, "bulky", &accelerator);
	static char bytes[2000];
	heddle_data *large, *small;
	assert_ok(heddle_vector(rt, bytes, 2000, 1, &large));
	assert_ok(heddle_vector(rt, bytes, 500, 1, &small));
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_r(large)), HEDDLE_E_NO_WORKER, "bulky");
	assert_refused(heddle_submit(rt, heddle_call(codelet), heddle_r(large), heddle_on((unsigned)accelerator)),
	               HEDDLE_E_NO_FIT, "2000");
	assert_says("smaller pieces");
	assert_says("emulated_memory");
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(small)));
	stop_after(rt, 1);
}

static void machine_without_workers_says_what_to_set(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	config.n_cpu = 0;
	assert_refused(heddle_start(&config, &rt), HEDDLE_E_INVALID, "n_cpu");
	assert_says("n_emulated");
	assert_says("HEDDLE_NCPU");
	config.n_emulated = 1;
	rt = start_with(&config);
	assert_ok(heddle_stop(rt));
}

static void filter_of_unknown_kind_says_which_there_are(void **state)
{
	(void)state;
	static const char *const kinds[] = {"VECTOR", "HALO", "COLUMNS", "ROWS", "TILES", "CUSTOM"};
	heddle_runtime *rt = start();
	double x[8] = {0};
	heddle_data *d;
	size_t n;
	assert_ok(heddle_vector(rt, x, 8, sizeof *x, &d));
	const struct heddle_filter filter = {.kind = (enum heddle_filter_kind)99, .nx = 2};
	assert_refused(heddle_partition(d, &filter, &n), HEDDLE_E_INVALID, "99");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		assert_says(kinds[i]);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_whose_codelet_could_not_be_made_is_refused),
	    cmocka_unit_test(task_with_two_codelets_is_refused),
	    cmocka_unit_test(codelet_with_a_count_without_its_array_is_refused),
	    cmocka_unit_test(items_that_point_nowhere_are_refused),
	    cmocka_unit_test(a_task_without_items_needs_no_address),
	    cmocka_unit_test(name_of_null_is_the_name_of_the_codelet),
	    cmocka_unit_test(task_of_another_runtime_is_no_predecessor),
	    cmocka_unit_test(place_for_a_task_that_was_refused_is_null),
	    cmocka_unit_test(worker_that_is_not_there_is_refused),
	    cmocka_unit_test_prestate(task_that_no_worker_may_run_is_refused, NULL),
	    cmocka_unit_test_prestate(task_that_no_worker_may_run_is_refused, simulated),
	    cmocka_unit_test(task_too_large_for_the_worker_that_may_run_it_is_refused),
	    cmocka_unit_test(machine_without_workers_says_what_to_set),
	    cmocka_unit_test(filter_of_unknown_kind_says_which_there_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
