/* Tasks that end by events: what is known about how long after their kernel they end, measured, given, in traces. */
#include "detached.h"

/* --- Models ------------------------------------------------------------------------------------------------------- */

static void time_of_events_has_a_model_of_its_own(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_ok(heddle_wait_all(s.rt));
	struct heddle_platform *p;
	assert_ok(heddle_platform_measured(s.rt, "measured", &p));
	int found = 0;
	for (size_t i = 0; i < p->n_kernels; i++)
		found += strcmp(p->kernels[i].codelet, "detach.event") == 0;
	assert_int_equal(found, 1);
	heddle_platform_free(p);
	end(&s, t);
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static const char one_worker[] = "version: 1\nname: one\nnodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\n"
                                 "workers:\n- {name: core, class: cpu, node: ram}\n"
                                 "kernels:\n- {codelet: read, class: cpu, table: [{bytes: 8, us: 2}]}\n"
                                 "- {codelet: read.event, class: cpu, table: [{bytes: 8, us: 50}]}\n";

static double hundred_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 100;
}

/* Two tasks, each of which keeps the worker for its kernel only, and one that needs the data of both. */
static double makespan_of_reads(const struct heddle_codelet_desc *desc)
{
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_on(&config, one_worker);
	heddle_codelet *read = heddle_codelet_make(rt, desc), *ten = given(rt, "ten", ten_us);
	heddle_data *d[2];
	struct heddle_stats stats;
	assert_non_null(read);
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_variable(rt, NULL, 8, &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(read), heddle_w(d[i])));
	}
	assert_ok(heddle_submit(rt, heddle_call(ten), heddle_r(d[0]), heddle_r(d[1])));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_check(rt));
	assert_ok(heddle_stop(rt));
	return stats.makespan;
}

static void virtual_task_ends_after_its_kernel(void **state)
{
	(void)state;
	struct heddle_codelet_desc desc = {.name = "read", .cpu = nothing};
	assert_float_equal(makespan_of_reads(&desc), 2 + 2 + 50 + 10, 1e-9);
	desc.event_time = hundred_us;
	assert_float_equal(makespan_of_reads(&desc), 2 + 2 + 100 + 10, 1e-9);
	desc = (struct heddle_codelet_desc){
	    .name = "given", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = ten_us, .event_time = hundred_us};
	assert_float_equal(makespan_of_reads(&desc), 10 + 10 + 100 + 10, 1e-9);
	desc.event_time = NULL;
	assert_float_equal(makespan_of_reads(&desc), 10 + 10 + 10, 1e-9);
}

/* More events than workers: the engine's list of them grows. */
static void many_virtual_tasks_wait_at_once(void **state)
{
	(void)state;
	enum { N_TASKS = 1000 };
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_on(&config, one_worker);
	struct heddle_stats stats;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "given", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                       .time = ten_us, .event_time = hundred_us);
	heddle_codelet *later = heddle_codelet_new(rt, .name = "later", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                           .time = ten_us, .event_time = ten_us);
	for (int i = 0; i < N_TASKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(i % 2 ? c : later)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_float_equal(stats.makespan, 10 * N_TASKS + 100, 1e-6);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(time_of_events_has_a_model_of_its_own),
	    cmocka_unit_test(virtual_task_ends_after_its_kernel),
	    cmocka_unit_test(many_virtual_tasks_wait_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
