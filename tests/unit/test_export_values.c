/* src/trace: what exports and trace files say. Every value is read by the name of its column or field, and compared
 * with the event. */
#include "exports.h"

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static void csv_says_of_each_task_what_happened(void **state)
{
	(void)state;
	static const char *const codelets[] = {"work", "other", "work"}, *const workers[] = {"core", "card", "core"},
	                         *const classes[] = {"cpu", "gpu", "cpu"};
	struct heddle_trace *trace = distinct();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv");
	const char *line = table;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		line = next_line(line);
		csv_text(table, line, "event", "task");
		csv_number(table, line, "id", (double)t->id);
		csv_where(table, line, codelets[i], workers[i], classes[i]);
		csv_number(table, line, "ready_us", t->ready);
		csv_number(table, line, "picked_us", t->picked);
		csv_span(table, line, t->start, t->end);
		csv_number(table, line, "priority", t->priority);
		csv_number(table, line, "status", t->status);
		csv_number(table, line, "bytes", t->bytes);
		csv_number(table, line, "flops", t->flops);
		csv_number(table, line, "footprint", (double)t->footprint);
		csv_text(table, line, "from", "");
		csv_text(table, line, "to", "");
		csv_text(table, line, "reason", "");
	}
	free(table);
	heddle_trace_free(trace);
}

static void csv_says_of_each_transfer_what_happened(void **state)
{
	(void)state;
	static const char *const from[] = {"ram", "ram", "memory"}, *const to[] = {"memory", "memory", "ram"},
	                         *const reasons[] = {"prefetch", "demand", "write-back"},
	                         *const of_tasks[] = {"codelet",  "worker", "class", "ready_us", "picked_us",
	                                              "priority", "status", "flops", "footprint"};
	struct heddle_trace *trace = distinct();
	char *table = exported(trace, HEDDLE_TRACE_CSV, "a.csv");
	const char *line = next_line(next_line(next_line(table)));
	for (size_t i = 0; i < trace->n_transfers; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		line = next_line(line);
		csv_text(table, line, "event", "transfer");
		csv_number(table, line, "id", (double)t->data);
		csv_span(table, line, t->start, t->end);
		csv_number(table, line, "bytes", (double)t->bytes);
		csv_text(table, line, "from", from[i]);
		csv_text(table, line, "to", to[i]);
		csv_text(table, line, "reason", reasons[i]);
		csv_empty(table, line, of_tasks, sizeof of_tasks / sizeof *of_tasks);
	}
	assert_string_equal(next_line(line), "");
	free(table);
	heddle_trace_free(trace);
}

/* --- Chrome ------------------------------------------------------------------------------------------------------- */

static void chrome_says_of_each_task_what_happened(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		const char *line = event(text, "X", "\"cat\":\"task\"", i);
		json_span(line, 1, t->worker, t->start, t->end);
		json_text(line, "name", trace->codelets[t->codelet].name);
		json_number(line, "id", (double)t->id);
		json_number(line, "priority", t->priority);
		json_number(line, "ready", t->ready);
		json_number(line, "picked", t->picked);
		json_number(line, "bytes", t->bytes);
		json_number(line, "flops", t->flops);
		const char *failed = strstr(line, "\"failed\"");
		assert_int_equal(failed && failed < strchr(line, '\n'), t->status != 0);
	}
	json_text(event(text, "X", "\"cat\":\"task\"", 2), "failed", "HEDDLE_E_KERNEL");
	free(text);
	heddle_trace_free(trace);
}

static void chrome_says_of_each_transfer_what_happened(void **state)
{
	(void)state;
	static const char *const reasons[] = {"prefetch", "demand", "write-back"};
	static const int links[] = {0, 0, 1}; /* from memory to the card, and back */
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < trace->n_transfers; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		const char *line = event(text, "X", "\"cat\":\"transfer\"", i);
		json_span(line, 2, links[i], t->start, t->end);
		json_text(line, "name", reasons[i]);
		json_number(line, "data", (double)t->data);
		json_number(line, "bytes", (double)t->bytes);
	}
	free(text);
	heddle_trace_free(trace);
}

/* The second transfer begins before the first has ended: each has a thread of the link to itself. */
static void chrome_draws_overlapping_transfers_side_by_side(void **state)
{
	(void)state;
	static const int threads[] = {0, 1, 2};
	struct heddle_trace *trace = distinct();
	trace->transfers[1].start = 106;
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < trace->n_transfers; i++)
		json_number(event(text, "X", "\"cat\":\"transfer\"", i), "tid", threads[i]);
	free(text);
	heddle_trace_free(trace);
}

/* The label of a process or a thread: its name, and its place among the others. */
static void expect_label(const char *text, const char *kind, int process, int thread, const char *name)
{
	char words[2 * MAX_FIELD];
	snprintf(words, sizeof words, "\"pid\":%d,\"tid\":%d,\"name\":\"%s_name\"", process, thread, kind);
	const char *line = event(text, "M", words, 0);
	json_text(strstr(line, "\"args\""), "name", name);
	snprintf(words, sizeof words, "\"pid\":%d,\"tid\":%d,\"name\":\"%s_sort_index\"", process, thread, kind);
	if (strcmp(kind, "thread") == 0)
		json_number(event(text, "M", words, 0), "sort_index", thread);
}

static void chrome_names_the_run_its_workers_and_its_links(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	char version[MAX_FIELD];
	snprintf(version, sizeof version, "heddle %s", heddle_version());
	json_text(text, "made by", version);
	json_text(text, "policy", "lws");
	json_text(text, "platform", "pair");
	json_text(text, "clock", "virtual");
	json_number(text, "makespan_us", 74); /* from 101 to 175 */
	expect_label(text, "process", 1, 0, "workers");
	expect_label(text, "thread", 1, 0, "core");
	expect_label(text, "thread", 1, 1, "card");
	expect_label(text, "process", 2, 0, "links");
	expect_label(text, "thread", 2, 0, "ram to memory");
	expect_label(text, "thread", 2, 1, "memory to ram");
	free(text);
	trace->virtual_time = 0;
	text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	json_text(text, "clock", "real");
	free(text);
	heddle_trace_free(trace);
}

/* The path is the whole chain: from the second task to the third, then from the first to the second. */
static void chrome_draws_the_path_from_each_end_to_the_next_start(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_CHROME, "a.json");
	for (size_t i = 0; i < 2; i++) {
		const struct heddle_trace_task *from = &trace->tasks[1 - i], *to = &trace->tasks[2 - i];
		const char *start = event(text, "s", "critical path", i),
		           *finish = event(text, "f", "critical path", i);
		json_number(start, "tid", from->worker);
		json_number(start, "ts", from->end);
		json_number(start, "id", (double)i + 1);
		json_number(finish, "tid", to->worker);
		json_number(finish, "ts", to->start);
		json_number(finish, "id", (double)i + 1);
	}
	free(text);
	heddle_trace_free(trace);
}

/* --- Paje --------------------------------------------------------------------------------------------------------- */

static void paje_links_go_from_one_node_to_the_other(void **state)
{
	(void)state;
	static const char *const from[] = {"n0", "n0", "n1"}, *const to[] = {"n1", "n1", "n0"},
	                         *const reasons[] = {"r1", "r0", "r2"}, *const bytes[] = {"4096", "8192", "512"};
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	for (size_t i = 0; i < trace->n_transfers; i++) {
		const char *start = paje_line(text, "StartLink", i), *end = paje_line(text, "EndLink", i);
		paje_time(text, start, trace->transfers[i].start - 103); /* the first start of anything */
		paje_time(text, end, trace->transfers[i].end - 103);
		paje_text(text, start, "StartContainer", from[i]);
		paje_text(text, end, "EndContainer", to[i]);
		const char *const both[] = {start, end};
		for (size_t k = 0; k < 2; k++) {
			paje_text(text, both[k], "Type", "T");
			paje_text(text, both[k], "Container", "run");
			paje_text(text, both[k], "Value", reasons[i]);
			paje_text(text, both[k], "Bytes", bytes[i]);
		}
		char key[MAX_FIELD];
		snprintf(key, sizeof key, "%s", paje_field(text, start, "Key"));
		paje_text(text, end, "Key", key);
	}
	free(text);
	heddle_trace_free(trace);
}

static void paje_states_are_those_of_the_workers(void **state)
{
	(void)state;
	static const struct paje_state expected[] = {
	    {0, "w0", "idle", "-", "-"}, {0, "w1", "idle", "-", "-"},  {0, "w0", "c0", "11", "-"},
	    {7, "w0", "idle", "-", "-"}, {17, "w1", "c1", "12", "-"},  {47.5, "w1", "idle", "-", "-"},
	    {57, "w0", "c0", "13", "-"}, {72, "w0", "idle", "-", "-"},
	};
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	expect_states(text, expected, sizeof expected / sizeof *expected);
	free(text);
	heddle_trace_free(trace);
}

/* A task of no duration begins before it ends, too, and its worker is idle after it. */
static void paje_task_of_no_duration_leaves_its_worker_idle(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	trace->tasks[1].end = trace->tasks[1].start;
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	for (size_t i = 0; i < 2; i++) {
		const char *line = paje_line(text, "SetState", 4 + i);
		paje_time(text, line, 17);
		paje_text(text, line, "Container", "w1");
		paje_text(text, line, "Value", i ? "idle" : "c1");
	}
	free(text);
	heddle_trace_free(trace);
}

static void paje_containers_and_values_have_their_names(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	char *text = exported(trace, HEDDLE_TRACE_PAJE, "a.paje");
	static const char *const containers[][4] = {{"run", "R", "0", "lws on pair"},
	                                            {"n0", "N", "run", "ram"},
	                                            {"n1", "N", "run", "memory"},
	                                            {"w0", "W", "n0", "core"},
	                                            {"w1", "W", "n1", "card"}};
	for (size_t i = 0; i < 5; i++) {
		const char *line = paje_line(text, "CreateContainer", i);
		paje_text(text, line, "Alias", containers[i][0]);
		paje_text(text, line, "Type", containers[i][1]);
		paje_text(text, line, "Container", containers[i][2]);
		paje_text(text, line, "Name", containers[i][3]);
		paje_time(text, line, 0);
		paje_time(text, paje_line(text, "DestroyContainer", i), 72);
	}
	expect_alias(text, "DefineEntityValue", "c0", "work");
	expect_alias(text, "DefineEntityValue", "c1", "other");
	expect_alias(text, "DefineEntityValue", "idle", "idle");
	expect_alias(text, "DefineEntityValue", "r0", "demand");
	expect_alias(text, "DefineEntityValue", "r1", "prefetch");
	expect_alias(text, "DefineEntityValue", "r2", "write-back");
	expect_alias(text, "DefineContainerType", "N", "memory node");
	expect_alias(text, "DefineContainerType", "W", "worker");
	paje_text(text, paje_line(text, "DefineEntityValue", 1), "Color", "0.000 1.000 0.000");
	paje_text(text, paje_line(text, "DefineEntityValue", 2), "Color", "0.200 0.400 0.600");
	free(text);
	heddle_trace_free(trace);
}

/* --- The path ----------------------------------------------------------------------------------------------------- */

/* On one worker, the second task goes on while the third runs, and so cannot be what that waited for. */
static void path_leaves_out_a_task_that_ended_after_the_next_began(void **state)
{
	(void)state;
	struct heddle_trace *trace = make_trace(two_cores, 3, 0);
	uint64_t *ids = NULL;
	size_t n = 0;
	set_task(trace, 0, 0, 100, 110);
	set_task(trace, 1, 0, 105, 120);
	set_task(trace, 2, 0, 112, 130);
	OK(heddle_trace_critical_path(trace, &ids, &n));
	assert_int_equal(n, 2);
	assert_int_equal(ids[0], 3);
	assert_int_equal(ids[1], 1);
	free(ids);
	heddle_trace_free(trace);
}

/* --- Trace files -------------------------------------------------------------------------------------------------- */

/* The order of the fields is that of docs/trace.md; what loads them is tested against what saves them. */
static void trace_file_has_the_fields_in_the_order_of_the_page(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	size_t length = 0;
	OK(heddle_trace_save(trace, file("a.trace")));
	char *text = contents(file("a.trace"), &length);
	static const char *const head = "heddle-trace 1\npolicy lws\nclock virtual\nplatform ";
	static const char *const records = "\ncodelet 00ff00 work\n"
	                                   "codelet 336699 other\n"
	                                   "task 11 0 0 101 102 103 110 5 0 1000 2000 31\n"
	                                   "task 12 1 1 111 113 120 150.5 -6 0 1001 2001 32\n"
	                                   "task 13 0 0 151 152.25 160 175 7 %d 1002 2002 33\n"
	                                   "transfer 0 1 104 109 4096 21 1\n"
	                                   "transfer 0 1 112 119.5 8192 22 0\n"
	                                   "transfer 1 0 153 158 512 23 2\n"
	                                   "edge 11 12\n"
	                                   "edge 12 13\n"
	                                   "end 3 3 2\n";
	char *expected = hd_format(records, HEDDLE_E_KERNEL);
	assert_memory_equal(text, head, strlen(head));
	assert_string_equal(strstr(text, "\ncodelet "), expected);
	free(expected);
	free(text);
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(csv_says_of_each_task_what_happened),
	    cmocka_unit_test(csv_says_of_each_transfer_what_happened),
	    cmocka_unit_test(chrome_says_of_each_task_what_happened),
	    cmocka_unit_test(chrome_says_of_each_transfer_what_happened),
	    cmocka_unit_test(chrome_draws_overlapping_transfers_side_by_side),
	    cmocka_unit_test(chrome_names_the_run_its_workers_and_its_links),
	    cmocka_unit_test(chrome_draws_the_path_from_each_end_to_the_next_start),
	    cmocka_unit_test(paje_links_go_from_one_node_to_the_other),
	    cmocka_unit_test(paje_states_are_those_of_the_workers),
	    cmocka_unit_test(paje_task_of_no_duration_leaves_its_worker_idle),
	    cmocka_unit_test(paje_containers_and_values_have_their_names),
	    cmocka_unit_test(path_leaves_out_a_task_that_ended_after_the_next_began),
	    cmocka_unit_test(trace_file_has_the_fields_in_the_order_of_the_page),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
