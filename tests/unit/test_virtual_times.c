/* Virtual time: what a run takes, and which worker is expected to be free first, on examples worked by hand. */
#include <math.h>
#include <heddle/trace.h>
#include "program.h"

/* Three workers, each of a class of its own. Two tasks at a time are given to the first. */
static const char three[] = "version: 1\nname: three\nnodes:\n- {name: ram}\n"
                            "classes:\n- {name: deep, kind: cpu, pipeline: 2}\n- {name: slow, kind: cpu}\n"
                            "- {name: other, kind: cpu}\n"
                            "workers:\n- {name: deep, class: deep, node: ram}\n"
                            "- {name: slow, class: slow, node: ram}\n- {name: other, class: other, node: ram}\n";
enum { DEEP, SLOW, OTHER };

static heddle_runtime *start_three(const char *policy, double sched_cost)
{
	struct heddle_config config = small_config();
	config.sched = policy;
	config.virtual_time.sched_cost = sched_cost;
	config.calibrate = 0;
	config.trace = 1;
	return start_on(&config, three);
}

static double ten_or_22(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == DEEP ? 10 : class_id == SLOW ? 22 : NAN;
}

static double five_on_the_other(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == OTHER ? 5 : NAN;
}

/* Five tasks of 10 us, one after another, each decided in 3 us. */
static void every_decision_takes_the_time_that_the_program_says(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three("eager", 3);
	heddle_codelet *codelet = given(rt, "ten", ten_or_22);
	struct heddle_stats stats;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	for (int i = 0; i < 5; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), i ? heddle_rw(d) : heddle_w(d), heddle_on(DEEP)));
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_now(rt) == 5 * (10 + 3));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.makespan == 5 * (10 + 3));
	assert_ok(heddle_stop(rt));
}

static double forty(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 40;
}

static double of_its_value(const struct heddle_size *size, unsigned class_id)
{
	(void)class_id;
	return *(const double *)size->values[0];
}

static void submit_misjudged(heddle_runtime *rt, heddle_codelet *codelet, double us)
{
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(us)));
}

/* Both tasks are expected to take 10 us on the first worker and 22 on the second one, so the first worker gets both. A
 * time that is no number is that of the model. */
static void task_may_take_another_time_than_its_model_says(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three("dm", 0);
	heddle_codelet *both = heddle_codelet_new(rt, .name = "both", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = ten_or_22),
	               *each = heddle_codelet_new(rt, .name = "each", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = ten_or_22);
	assert_ok(heddle_codelet_set_true_time(both, forty));
	assert_ok(heddle_codelet_set_true_time(each, of_its_value));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(both)));
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_now(rt) == 40 + 40);
	submit_misjudged(rt, each, 7);
	submit_misjudged(rt, each, NAN);
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_now(rt) == 40 + 40 + 7 + 10);
	for (int i = 0; i < 2; i++) {
		submit_misjudged(rt, each, i ? -1 : INFINITY);
		assert_ok(heddle_wait_all(rt));
		assert_true(heddle_now(rt) == 40 + 40 + 7 + 10 * (2 + i));
	}
	assert_int_equal(heddle_codelet_set_true_time(both, NULL), HEDDLE_E_STATE);
	assert_non_null(strstr(heddle_last_error(), "codelet both"));
	assert_int_equal(heddle_codelet_set_true_time(NULL, forty), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

/* Two tasks are given to the first worker at once and end there at 10 and 20. A third becomes ready at 5, when a task
 * elsewhere ends: it would end at 30 there, and at 27 on the slow worker. Did only the running task count, it would be
 * expected to end at 20. */
static void tasks_that_a_worker_has_been_given_count_until_they_end(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three("dm", 0);
	heddle_codelet *work = given(rt, "work", ten_or_22), *before = given(rt, "before", five_on_the_other);
	struct heddle_trace *trace;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	assert_ok(heddle_submit(rt, heddle_call(before), heddle_w(d)));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(work)));
	assert_ok(heddle_submit(rt, heddle_call(work), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	static const struct {
		uint64_t id;
		uint32_t worker;
		double ready, picked, start, end;
	} expected[] = {
	    {0, OTHER, 0, 0, 0, 5}, {1, DEEP, 0, 0, 0, 10}, {3, SLOW, 5, 5, 5, 27}, {2, DEEP, 0, 0, 10, 20}};
	assert_int_equal(trace->n_tasks, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		assert_int_equal(t->id, expected[i].id);
		assert_int_equal(t->worker, expected[i].worker);
		assert_true(t->ready == expected[i].ready && t->picked == expected[i].picked);
		assert_true(t->start == expected[i].start && t->end == expected[i].end);
	}
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* The first worker is given both tasks at once. It runs one after the other and never waits for data, of which there
 * are none. */
static void worker_that_has_its_next_task_does_not_wait_for_data(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three("eager", 0);
	heddle_codelet *work = given(rt, "work", ten_or_22);
	struct heddle_stats stats;
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(work), heddle_on(DEEP)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.makespan == 20);
	assert_true(stats.transfer_wait == 0);
	assert_ok(heddle_stop(rt));
}

/* The noise's factor has mean 1 and, here, deviation 1, so one in six would be below 0: time would run backwards. A
 * task takes at least a tenth of its time, and some do take that. */
static void noise_leaves_every_task_a_tenth_of_its_time(void **state)
{
	(void)state;
	enum { TASKS = 200 };
	struct heddle_config config = small_config();
	config.virtual_time.noise = 1;
	config.trace = 1;
	heddle_runtime *rt = start_on(&config, three);
	heddle_codelet *work = given(rt, "work", ten_or_22);
	struct heddle_trace *trace;
	for (int i = 0; i < TASKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(work), heddle_on(DEEP)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, TASKS);
	int least = 0;
	for (size_t i = 0; i < TASKS; i++) {
		double us = trace->tasks[i].end - trace->tasks[i].start;
		assert_true(us > 0.999);
		least += us < 1.001;
	}
	assert_true(least > 0);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* The setting says how many tasks accelerators are given at a time: cores have as many as the platform says. */
static void pipeline_of_the_program_is_for_accelerators(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.pipeline = 3;
	config.trace = 1;
	heddle_runtime *rt = start_on(&config, three);
	heddle_codelet *work = given(rt, "work", ten_or_22);
	struct heddle_trace *trace;
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(work), heddle_on(DEEP)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	static const double picked[] = {0, 0, 10};
	assert_int_equal(trace->n_tasks, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(trace->tasks[i].picked == picked[i]);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_decision_takes_the_time_that_the_program_says),
	    cmocka_unit_test(task_may_take_another_time_than_its_model_says),
	    cmocka_unit_test(tasks_that_a_worker_has_been_given_count_until_they_end),
	    cmocka_unit_test(worker_that_has_its_next_task_does_not_wait_for_data),
	    cmocka_unit_test(noise_leaves_every_task_a_tenth_of_its_time),
	    cmocka_unit_test(pipeline_of_the_program_is_for_accelerators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
