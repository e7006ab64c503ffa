/* Tasks that end by events: what is known about how long after their kernel they end, measured, given, in traces. */
#include "detached.h"
#include "scratch.h"

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
	heddle_codelet *read = heddle_codelet_new_of(rt, desc), *ten = given(rt, "ten", ten_us);
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
	assert_ok(heddle_selfcheck(rt));
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

/* --- Traces ------------------------------------------------------------------------------------------------------- */

/* read (kernel 0 to 10, ends at 110), another (kernel 10 to 20), and one that needs the data of the first (110 to 120).
 */
static struct heddle_trace *trace_of_reads(void)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	heddle_runtime *rt = start_on(&config, one_worker);
	heddle_codelet *ten = given(rt, "ten", ten_us);
	heddle_codelet *read = heddle_codelet_new(rt, .name = "given", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = ten_us, .event_time = hundred_us);
	heddle_data *d;
	struct heddle_trace *trace;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	assert_ok(heddle_submit(rt, heddle_call(read), heddle_w(d)));
	assert_ok(heddle_submit(rt, heddle_call(ten)));
	assert_ok(heddle_submit(rt, heddle_call(ten), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

static void trace_has_the_kernel_and_the_end_of_the_task(void **state)
{
	(void)state;
	struct heddle_trace *trace = trace_of_reads();
	uint64_t *path;
	size_t n;
	assert_int_equal(trace->n_tasks, 3);
	assert_float_equal(trace->tasks[0].end, 10, 0);
	assert_float_equal(trace->tasks[0].ended, 110, 0);
	assert_float_equal(heddle_trace_task_end(&trace->tasks[0]), 110, 0);
	assert_float_equal(trace->tasks[1].start, 10, 0);
	assert_float_equal(trace->tasks[1].ended, 0, 0);
	assert_float_equal(heddle_trace_task_end(&trace->tasks[1]), 20, 0);
	assert_float_equal(trace->tasks[2].start, 110, 0);
	assert_float_equal(heddle_trace_makespan(trace), 120, 0);
	assert_ok(heddle_trace_critical_path(trace, &path, &n)); /* not through the task whose kernel ended later */
	assert_int_equal(n, 2);
	assert_int_equal(path[0], 2);
	assert_int_equal(path[1], 0);
	free(path);
	trace->n_tasks = 2;
	assert_float_equal(heddle_trace_makespan(trace), 110, 0); /* the last task to end is not the last to run */
	heddle_trace_free(trace);
}

static void trace_file_keeps_the_end(void **state)
{
	(void)state;
	struct heddle_trace *trace = trace_of_reads(), *back;
	size_t length;
	OK(heddle_trace_save(trace, file("a.trace")));
	char *text = contents(file("a.trace"), &length);
	assert_int_equal(strncmp(text, "heddle-trace 3\n", 15), 0);
	assert_non_null(strstr(text, "\nended 0 110\n"));
	OK(heddle_trace_load(file("a.trace"), &back));
	for (size_t i = 0; i < 3; i++)
		assert_float_equal(back->tasks[i].ended, trace->tasks[i].ended, 0);
	heddle_trace_free(back);
	static const char *const wrong[][2] = {
	    {"ended 7 110\n", "no task of this id"},
	    {"ended 0 9\n", "ends before its kernel"},
	    {"ended 2 130\nended 0 110\n", "not in the order"},
	};
	for (size_t i = 0; i < 3; i++) {
		const char *rest = strstr(text, "ended 0 110\n");
		char *other = hd_format("%.*s%s%s", (int)(rest - text), text, wrong[i][0], rest + 12);
		FILE *out = fopen(file("b.trace"), "w");
		assert_non_null(out);
		fputs(other, out);
		fclose(out);
		free(other);
		assert_int_equal(heddle_trace_load(file("b.trace"), &back), HEDDLE_E_FORMAT);
		assert_says(wrong[i][1]);
	}
	free(text);
	heddle_trace_free(trace);
}

static void exports_have_the_end(void **state)
{
	(void)state;
	struct heddle_trace *trace = trace_of_reads();
	size_t length;
	OK(heddle_trace_export(trace, HEDDLE_TRACE_CSV, file("a.csv")));
	OK(heddle_trace_export(trace, HEDDLE_TRACE_CHROME, file("a.json")));
	char *csv = contents(file("a.csv"), &length), *json = contents(file("a.json"), &length);
	assert_non_null(strstr(csv, ",110,,,,,,\n"));
	assert_non_null(strstr(json, "\"ended\":110"));
	free(csv);
	free(json);
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(time_of_events_has_a_model_of_its_own),
	    cmocka_unit_test(virtual_task_ends_after_its_kernel),
	    cmocka_unit_test(many_virtual_tasks_wait_at_once),
	    cmocka_unit_test(trace_has_the_kernel_and_the_end_of_the_task),
	    cmocka_unit_test(trace_file_keeps_the_end),
	    cmocka_unit_test(exports_have_the_end),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
