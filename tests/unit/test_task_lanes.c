/* src/trace/task_lanes.c: the lanes of a worker that ran several tasks at once, and what is computed of them. */
#include "trace/trace.h"
#include "traces.h"

enum { CORE, CARD };

/* Two tasks at once on the card at first, then a longer one beside three shorter ones. */
static struct heddle_trace *overlapping(unsigned streams)
{
	struct heddle_trace *trace = make_trace(two_classes, 7, 0);
	set_task(trace, 0, CORE, 0, 10);
	set_task(trace, 1, CARD, 0, 40);
	set_task(trace, 2, CARD, 0, 100);
	set_task(trace, 3, CORE, 10, 20);
	set_task(trace, 4, CARD, 50, 60);
	set_task(trace, 5, CARD, 60, 61);
	set_task(trace, 6, CARD, 100, 110);
	trace->platform->classes[1].streams = streams;
	return trace;
}

static void tasks_at_once_have_different_lanes(void **state)
{
	(void)state;
	static const size_t of[] = {0, 1, 2, 0, 1, 1, 2}, first[] = {0, 1, 3};
	/* Both lanes of the card were taken until 40, and one of them until 60, 61 and 100. */
	static const size_t before[] = {HD_NO_TASK, HD_NO_TASK, HD_NO_TASK, 0, 1, 4, 5};
	struct heddle_trace *trace = overlapping(2);
	struct hd_task_lanes lanes;
	OK(hd_task_lanes_init(&lanes, trace));
	assert_memory_equal(lanes.of, of, sizeof of);
	assert_memory_equal(lanes.first, first, sizeof first);
	assert_memory_equal(lanes.before, before, sizeof before);
	hd_task_lanes_free(&lanes);
	trace->platform->classes[1].streams = 3; /* of which one was never needed: no task waited for its worker */
	OK(hd_task_lanes_init(&lanes, trace));
	assert_memory_equal(lanes.of, of, sizeof of);
	assert_memory_equal(lanes.first, first, sizeof first);
	assert_int_equal(lanes.before[6], HD_NO_TASK);
	hd_task_lanes_free(&lanes);
	heddle_trace_free(trace);
}

/* A worker with one stream has one lane, even if the clocks of threads say that its tasks overlap. */
static void worker_has_no_more_lanes_than_streams(void **state)
{
	(void)state;
	struct heddle_trace *trace = overlapping(1);
	struct hd_task_lanes lanes;
	OK(hd_task_lanes_init(&lanes, trace));
	assert_int_equal(lanes.first[2], 2);
	for (size_t i = 0; i < trace->n_tasks; i++)
		assert_int_equal(lanes.of[i], trace->tasks[i].worker);
	hd_task_lanes_free(&lanes);
	heddle_trace_free(trace);
}

static void time_that_tasks_share_counts_once(void **state)
{
	(void)state;
	struct heddle_trace *trace = overlapping(2);
	double *busy = hd_trace_busy(trace);
	assert_non_null(busy);
	assert_true(busy[CORE] == 20 && busy[CARD] == 110);
	free(busy);
	heddle_trace_free(trace);
}

static void critical_path_goes_by_the_lane_that_was_free_first(void **state)
{
	(void)state;
	static const uint64_t expected[] = {7, 6, 5, 2};
	struct heddle_trace *trace = overlapping(2);
	uint64_t *ids;
	size_t n;
	OK(heddle_trace_critical_path(trace, &ids, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(ids, expected, sizeof expected);
	free(ids);
	heddle_trace_free(trace);
}

static void expect(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void exports_have_a_row_per_lane(void **state)
{
	(void)state;
	struct heddle_trace *trace = overlapping(2);
	size_t length = 0;
	OK(heddle_trace_export(trace, HEDDLE_TRACE_CHROME, file("a.json")));
	char *text = contents(file("a.json"), &length);
	expect(text, "\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"card\"}");
	expect(text, "\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"card\"}");
	expect(text, "\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":100,");
	expect(text, "\"ph\":\"f\",\"pid\":1,\"tid\":2,\"bp\":\"e\",\"ts\":100,");
	expect(text, "\"ph\":\"s\",\"pid\":1,\"tid\":1,\"ts\":61,");
	free(text);
	OK(heddle_trace_export(trace, HEDDLE_TRACE_PAJE, file("a.paje")));
	text = contents(file("a.paje"), &length);
	expect(text, " w2 W n1 \"card\"");
	expect(text, "0 S w2 c0 3 -");
	expect(text, "0.1 S w2 c0 7 -");
	expect(text, "0.04 S w1 idle");
	free(text);
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_at_once_have_different_lanes),
	    cmocka_unit_test(worker_has_no_more_lanes_than_streams),
	    cmocka_unit_test(time_that_tasks_share_counts_once),
	    cmocka_unit_test(critical_path_goes_by_the_lane_that_was_free_first),
	    cmocka_unit_test(exports_have_a_row_per_lane),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
