/* The setting fastest_first: who is asked first to take a task that has become ready. */
#include <math.h>
#include "program.h"

static const char machine[] = "version: 1\nname: two-classes\nnodes:\n- {name: ram}\n- {name: far}\n"
                              "classes:\n- {name: cpu, kind: cpu}\n- {name: pair, kind: cpu, cores: 2}\n"
                              "- {name: acc, kind: emulated}\n"
                              "workers:\n- {name: cpu, count: 2, class: cpu, node: ram}\n"
                              "- {name: pair, class: pair, node: ram}\n"
                              "- {name: acc, count: 2, class: acc, node: far}\n"
                              "links:\n- {from: ram, to: far, bandwidth_mbs: 10000}\n"
                              "- {from: far, to: ram, bandwidth_mbs: 10000}\n";

/* Classes in the order of the machine. */
static double on_a_core(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == 0 ? 10 : (double)NAN;
}

static double on_cores(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	const double us[] = {1000, 500, NAN};
	return us[class_id];
}

static double anywhere(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	const double us[] = {1000, 500, 1};
	return us[class_id];
}

/* The time of a task on a core and then, of a task that it makes ready. */
static double makespan(int fastest_first, double (*second)(const struct heddle_size *size, unsigned class_id))
{
	struct heddle_config config = small_config();
	config.fastest_first = fastest_first;
	heddle_runtime *rt = start_on(&config, machine);
	heddle_codelet *before =
	    heddle_codelet_new(rt, .name = "before", .cpu = increment, .model = HEDDLE_MODEL_GIVEN, .time = on_a_core);
	heddle_codelet *after = heddle_codelet_new(rt, .name = "after", .cpu = increment, .emulated = increment,
	                                           .model = HEDDLE_MODEL_GIVEN, .time = second);
	heddle_data *d;
	long x = 0;
	struct heddle_stats stats;
	assert_true(before && after);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(before), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(after), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt)); /* all workers are hungry: it compares the speeds of neighbours in the list */
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_stop(rt));
	return stats.makespan;
}

static void worker_that_ends_a_task_is_asked_first(void **unused)
{
	(void)unused;
	assert_true(makespan(0, anywhere) == 1010);
	assert_true(makespan(0, on_cores) == 1010);
}

static void fastest_class_is_asked_first(void **unused)
{
	(void)unused;
	assert_true(makespan(1, anywhere) < 100);
	assert_true(makespan(1, on_cores) == 510);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(worker_that_ends_a_task_is_asked_first),
	    cmocka_unit_test(fastest_class_is_asked_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
