/* src/trace: what exports say of expanded tasks and of changes of layouts. Every value is read by the name of its
 * column, member or field, and compared with the event. */
#include "exports.h"

static const char *const step_names[] = {"partition (read)", "partition", "unpartition (read)", "unpartition"};

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

/* Line number `n` of those of an event. */
static const char *csv_line(const char *table, const char *event, size_t n)
{
	for (const char *line = next_line(table); *line; line = next_line(line))
		if (strcmp(in_column(table, line, "event"), event) == 0 && n-- == 0)
			return line;
	fail_msg("there are not so many events %s", event);
	return NULL;
}

/* The value is that of a task given as 1 + its id; there is none for 0. */
static void csv_id(const char *table, const char *line, const char *name, uint64_t one_more)
{
	if (one_more)
		csv_number(table, line, name, (double)one_more - 1);
	else
		csv_text(table, line, name, "");
}

static void csv_says_of_each_expansion_what_happened(void **state)
{
	(void)state;
	static const char *const codelets[] = {"other", "work"}, *const workers[] = {"core", "card"},
	                         *const classes[] = {"cpu", "gpu"}, *const names[] = {"outer", ""},
	                         *const none[] = {"ready_us",       "picked_us", "priority", "status", "bytes",
	                                          "flops",          "footprint", "from",     "to",     "reason",
	                                          "implementation", "ended_us",  "plan",     "step",   "before"};
	struct heddle_trace *trace = layered();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv");
	for (size_t i = 0; i < trace->n_expansions; i++) {
		const struct heddle_trace_expansion *e = &trace->expansions[i];
		const char *line = csv_line(table, "expansion", i);
		csv_number(table, line, "id", (double)e->id);
		csv_where(table, line, codelets[i], workers[i], classes[i]);
		csv_span(table, line, e->start, e->end);
		csv_text(table, line, "name", names[i]);
		csv_id(table, line, "inside", e->inside);
		csv_number(table, line, "subgraph", e->subgraph);
		csv_number(table, line, "tasks", (double)e->n_tasks);
		csv_empty(table, line, none, sizeof none / sizeof *none);
	}
	free(table);
	heddle_trace_free(trace);
}

static void csv_says_of_each_layout_what_happened(void **state)
{
	(void)state;
	static const char *const names[] = {"", "tile", "tile", ""}, *const none[] = {
	                                                                 "codelet",   "worker",         "class",
	                                                                 "ready_us",  "picked_us",      "priority",
	                                                                 "status",    "bytes",          "flops",
	                                                                 "footprint", "from",           "to",
	                                                                 "reason",    "implementation", "ended_us",
	                                                                 "inside",    "subgraph",       "tasks"};
	struct heddle_trace *trace = layered();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv");
	for (size_t i = 0; i < trace->n_layouts; i++) {
		const struct heddle_trace_layout *l = &trace->layouts[i];
		const char *line = csv_line(table, "layout", i);
		csv_number(table, line, "id", l->data);
		csv_span(table, line, l->at, l->at);
		csv_text(table, line, "name", names[i]);
		csv_id(table, line, "plan", (uint64_t)(l->plan + 1));
		csv_text(table, line, "step", step_names[l->step]);
		csv_id(table, line, "before", l->before);
		csv_empty(table, line, none, sizeof none / sizeof *none);
	}
	free(table);
	heddle_trace_free(trace);
}

static void csv_says_in_which_sub_graph_a_task_is(void **state)
{
	(void)state;
	static const char *const none[] = {"subgraph", "tasks", "plan", "step", "before"};
	struct heddle_trace *trace = layered();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv");
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const char *line = csv_line(table, "task", i);
		csv_id(table, line, "inside", trace->tasks[i].inside);
		csv_empty(table, line, none, sizeof none / sizeof *none);
	}
	free(table);
	heddle_trace_free(trace);
}

/* --- Chrome ------------------------------------------------------------------------------------------------------- */

static int has_member(const char *line, const char *name)
{
	char quoted[MAX_FIELD];
	snprintf(quoted, sizeof quoted, "\"%s\":", name);
	const char *at = strstr(line, quoted);
	return at && at < strchr(line, '\n');
}

/* The value is that of a task, or a plan, given as 1 + its number; there is none for 0. */
static void json_id(const char *line, const char *name, uint64_t one_more)
{
	assert_int_equal(has_member(line, name), one_more != 0);
	if (one_more)
		json_number(line, name, (double)one_more - 1);
}

/* The name in the arguments of an event; NULL: it has none. */
static void json_given_name(const char *line, const char *expected)
{
	const char *arguments = strstr(line, "\"args\":");
	assert_int_equal(has_member(arguments, "name"), expected != NULL);
	if (expected)
		json_text(arguments, "name", expected);
}

static void chrome_draws_expansions_in_the_rows_of_their_workers(void **state)
{
	(void)state;
	static const char *const titles[] = {"expand other", "expand work"}, *const names[] = {"outer", NULL};
	struct heddle_trace *trace = layered();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < trace->n_expansions; i++) {
		const struct heddle_trace_expansion *e = &trace->expansions[i];
		const char *line = event(text, "X", "\"cat\":\"expansion\"", i);
		json_span(line, 1, e->worker, e->start, e->end);
		json_text(line, "name", titles[i]);
		json_given_name(line, names[i]);
		json_number(line, "id", (double)e->id);
		json_number(line, "subgraph", e->subgraph);
		json_number(line, "tasks", (double)e->n_tasks);
		json_id(line, "inside", e->inside);
	}
	for (size_t i = 0; i < trace->n_tasks; i++)
		json_id(event(text, "X", "\"cat\":\"task\"", i), "inside", trace->tasks[i].inside);
	free(text);
	heddle_trace_free(trace);
}

/* The card has two lanes, and so its row begins at the second thread and the core's stays the first. */
static void chrome_draws_an_expansion_in_the_first_lane(void **state)
{
	(void)state;
	struct heddle_trace *trace = layered();
	trace->platform->classes[0].streams = 2;
	trace->tasks[1].worker = 0;
	trace->tasks[1].start = 104;
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	json_number(event(text, "X", "\"cat\":\"expansion\"", 0), "tid", 0);
	json_number(event(text, "X", "\"cat\":\"expansion\"", 1), "tid", 2);
	free(text);
	heddle_trace_free(trace);
}

static void chrome_marks_when_layouts_change(void **state)
{
	(void)state;
	static const char *const names[] = {NULL, "tile", "tile", NULL};
	struct heddle_trace *trace = layered();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < trace->n_layouts; i++) {
		const struct heddle_trace_layout *l = &trace->layouts[i];
		const char *line = event(text, "i", "\"cat\":\"layout\"", i);
		json_number(line, "pid", 3);
		json_number(line, "tid", 0);
		json_number(line, "ts", l->at);
		json_text(line, "name", step_names[l->step]);
		json_text(line, "s", "t");
		json_given_name(line, names[i]);
		json_number(line, "data", l->data);
		json_id(line, "plan", (uint64_t)(l->plan + 1));
		json_id(line, "before", l->before);
	}
	json_text(strstr(event(text, "M", "\"pid\":3,\"tid\":0,\"name\":\"process_name\"", 0), "\"args\""), "name",
	          "layouts");
	free(text);
	heddle_trace_free(trace);
}

/* --- Paje --------------------------------------------------------------------------------------------------------- */

/* The core: task 11 for 7 us, from 8.5 expanding 14, from 57 task 13. The card: task 12, from 52 expanding 15. */
static void paje_worker_that_submits_a_sub_graph_is_not_idle(void **state)
{
	(void)state;
	static const struct paje_state expected[] = {
	    {0, "w0", "idle", "-", "-"},    {0, "w1", "idle", "-", "-"},      {0, "w0", "c0", "11", "-"},
	    {7, "w0", "idle", "-", "-"},    {8.5, "w0", "x1", "14", "outer"}, {15.25, "w0", "idle", "-", "-"},
	    {17, "w1", "c1", "12", "-"},    {47.5, "w1", "idle", "-", "-"},   {52, "w1", "x0", "15", "-"},
	    {54.5, "w1", "idle", "-", "-"}, {57, "w0", "c0", "13", "-"},      {72, "w0", "idle", "-", "-"},
	};
	struct heddle_trace *trace = layered();
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	expect_states(text, expected, sizeof expected / sizeof *expected);
	expect_alias(text, "DefineEntityValue", "x0", "expand work");
	expect_alias(text, "DefineEntityValue", "x1", "expand other");
	free(text);
	heddle_trace_free(trace);
}

/* The states of the core, after it was idle at first. */
static void expect_core(const struct heddle_trace *trace, const struct paje_state *expected, size_t n)
{
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	for (size_t i = 0, k = 2; i < n; i++, k++) {
		const char *line = paje_line(text, "SetState", k);
		while (strcmp(paje_field(text, line, "Container"), "w0") != 0)
			line = paje_line(text, "SetState", ++k);
		expect_state(text, line, &expected[i]);
	}
	free(text);
}

/* A worker may be retired while it submits a sub-graph: it is not idle then when it has submitted it. */
static void paje_worker_that_has_been_retired_stays_so(void **state)
{
	(void)state;
	static const struct heddle_trace_drive drives[] = {{114, 0, 0}, {130, 0, 1}};
	static const struct paje_state expected[] = {{0, "w0", "c0", "11", "-"},
	                                             {7, "w0", "idle", "-", "-"},
	                                             {8.5, "w0", "x1", "14", "outer"},
	                                             {11, "w0", "retired", "-", "-"},
	                                             {27, "w0", "idle", "-", "-"}};
	struct heddle_trace *trace = layered();
	trace->drives = calloc(2, sizeof *trace->drives);
	memcpy(trace->drives, drives, sizeof drives);
	trace->n_drives = 2;
	expect_core(trace, expected, sizeof expected / sizeof *expected);
	heddle_trace_free(trace);
}

/* The core: task 11 for 37 us, which waits while 14 is expanded, and again while task 13 runs. */
static void paje_worker_goes_on_with_a_kernel_that_was_suspended(void **state)
{
	(void)state;
	static const struct paje_state expected[] = {{0, "w0", "c0", "11", "-"},     {8.5, "w0", "x1", "14", "outer"},
	                                             {15.25, "w0", "c0", "11", "-"}, {19, "w0", "c0", "13", "-"},
	                                             {27, "w0", "c0", "11", "-"},    {37, "w0", "idle", "-", "-"}};
	struct heddle_trace *trace = layered();
	trace->tasks[0].end = 140;
	trace->tasks[2].start = 122;
	trace->tasks[2].end = 130;
	expect_core(trace, expected, sizeof expected / sizeof *expected);
	heddle_trace_free(trace);
}

/* Kernels that lie on top of each other: task 13 waits in 11 while 14 is expanded, and ends when 11 does. */
static void paje_worker_with_several_suspended_kernels_goes_on_with_the_last(void **state)
{
	(void)state;
	static const struct paje_state expected[] = {{0, "w0", "c0", "11", "-"},
	                                             {19, "w0", "c0", "13", "-"},
	                                             {22, "w0", "x1", "14", "outer"},
	                                             {25, "w0", "c0", "13", "-"},
	                                             {37, "w0", "idle", "-", "-"}};
	struct heddle_trace *trace = layered();
	trace->tasks[0].end = trace->tasks[2].end = 140;
	trace->tasks[2].start = 122;
	trace->expansions[0].start = 125;
	trace->expansions[0].end = 128;
	expect_core(trace, expected, sizeof expected / sizeof *expected);
	heddle_trace_free(trace);
}

/* Times are not exact: task 11 ends after 13 has begun. It has not been suspended, and does not go on. */
static void paje_worker_does_not_go_on_with_a_task_that_has_ended(void **state)
{
	(void)state;
	static const struct paje_state expected[] = {{0, "w0", "c0", "11", "-"},
	                                             {8.5, "w0", "x1", "14", "outer"},
	                                             {15.25, "w0", "c0", "11", "-"},
	                                             {19, "w0", "c0", "13", "-"},
	                                             {27, "w0", "idle", "-", "-"}};
	struct heddle_trace *trace = layered();
	trace->tasks[0].end = 123;
	trace->tasks[2].start = 122;
	trace->tasks[2].end = 130;
	expect_core(trace, expected, sizeof expected / sizeof *expected);
	heddle_trace_free(trace);
}

static void paje_has_an_event_per_change_of_a_layout(void **state)
{
	(void)state;
	static const char *const data[] = {"21", "22", "22", "24"}, *const plans[] = {"1", "0", "0", "-"},
	                         *const before[] = {"11", "12", "13", "-"}, *const names[] = {"-", "tile", "tile", "-"},
	                         *const values[] = {"l0", "l1", "l2", "l3"};
	struct heddle_trace *trace = layered();
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	for (size_t i = 0; i < trace->n_layouts; i++) {
		const char *line = paje_line(text, "NewEvent", i);
		paje_time(text, line, trace->layouts[i].at - 103); /* the first start of anything */
		paje_text(text, line, "Type", "L");
		paje_text(text, line, "Container", "run");
		paje_text(text, line, "Value", values[trace->layouts[i].step]);
		paje_text(text, line, "Data", data[i]);
		paje_text(text, line, "Plan", plans[i]);
		paje_text(text, line, "Before", before[i]);
		paje_text(text, line, "Name", names[i]);
		expect_alias(text, "DefineEntityValue", values[i], step_names[i]);
	}
	expect_alias(text, "DefineEventType", "L", "change of a layout");
	paje_time(text, paje_line(text, "DestroyContainer", 0), 180 - 103);
	free(text);
	heddle_trace_free(trace);
}

/* --- What has no hierarchy ---------------------------------------------------------------------------------------- */

static void exports_without_hierarchical_tasks_have_no_expansions(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv"),
	     *json = exported(trace, HEDDLE_TRACE_CHROME, "a.json"),
	     *paje = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	assert_null(strstr(table, "\nexpansion"));
	assert_null(strstr(table, "\nlayout"));
	assert_null(strstr(json, "inside"));
	assert_null(strstr(json, "layout"));
	assert_null(strstr(json, "expan"));
	assert_null(strstr(paje, "layout"));
	assert_null(strstr(paje, "expan"));
	free(table);
	free(json);
	free(paje);
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(csv_says_of_each_expansion_what_happened),
	    cmocka_unit_test(csv_says_of_each_layout_what_happened),
	    cmocka_unit_test(csv_says_in_which_sub_graph_a_task_is),
	    cmocka_unit_test(chrome_draws_expansions_in_the_rows_of_their_workers),
	    cmocka_unit_test(chrome_draws_an_expansion_in_the_first_lane),
	    cmocka_unit_test(chrome_marks_when_layouts_change),
	    cmocka_unit_test(paje_worker_that_submits_a_sub_graph_is_not_idle),
	    cmocka_unit_test(paje_worker_that_has_been_retired_stays_so),
	    cmocka_unit_test(paje_worker_goes_on_with_a_kernel_that_was_suspended),
	    cmocka_unit_test(paje_worker_with_several_suspended_kernels_goes_on_with_the_last),
	    cmocka_unit_test(paje_worker_does_not_go_on_with_a_task_that_has_ended),
	    cmocka_unit_test(paje_has_an_event_per_change_of_a_layout),
	    cmocka_unit_test(exports_without_hierarchical_tasks_have_no_expansions),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
