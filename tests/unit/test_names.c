/* The names that a program gives to tasks and data: where they are to be read afterwards. */
#include "graphs.h"
#include "scratch.h"

static char *copy_of(const char *s)
{
	char *copy = strdup(s);
	assert_non_null(copy);
	return copy;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

static void assert_has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("there is no \"%s\" in\n%s", what, text);
}

static char *text_of(const char *name)
{
	size_t length = 0;
	return contents(file(name), &length);
}

/* --- A run with names --------------------------------------------------------------------------------------------- */

/* Two tasks on a machine with an accelerator, the second without a name: the first, which writes A, runs in main
 * memory, the second where A must be brought. */
static heddle_runtime *run_named(void)
{
	static const char machine[] =
	    "version: 1\nname: pair\nnodes:\n  - {name: ram}\n  - {name: memory}\n"
	    "classes:\n  - {name: cpu, kind: cpu}\n  - {name: gpu, kind: cuda}\n"
	    "workers:\n  - {name: core, class: cpu, node: ram}\n"
	    "  - {name: card, class: gpu, node: memory}\n"
	    "links:\n  - {from: ram, to: memory, bandwidth_mbs: 1000}\n"
	    "  - {from: memory, to: ram, bandwidth_mbs: 1000}\n"
	    "kernels:\n  - {codelet: update, class: cpu, table: [{bytes: 0, us: 1000}, {bytes: 9000, us: 1000}]}\n"
	    "  - {codelet: update, class: gpu, table: [{bytes: 0, us: 1000}, {bytes: 9000, us: 1000}]}\n";
	struct heddle_platform *platform;
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_data *a, *b;
	assert_ok(heddle_platform_parse("test", machine, strlen(machine), &platform));
	assert_ok(heddle_config_init(&config));
	config.sched = "eager";
	config.trace = 1;
	assert_ok(heddle_start_on(&config, platform, 1, &rt));
	heddle_platform_free(platform);
	heddle_codelet *update = heddle_codelet_new(rt, .name = "update", .cpu = nothing);
	assert_ok(heddle_vector(rt, NULL, 1000, 1, &a));
	assert_ok(heddle_vector(rt, NULL, 2000, 1, &b));
	assert_ok(heddle_data_set_name(a, "another"));
	assert_ok(heddle_data_set_name(a, "A, \"the\" first")); /* the last one counts */
	assert_ok(heddle_data_set_name(b, "nothing"));
	assert_ok(heddle_data_set_name(b, ""));
	assert_ok(heddle_submit(rt, heddle_call(update), heddle_w(a), heddle_on(0), heddle_named("panel (0, 1)")));
	assert_ok(heddle_submit(rt, heddle_call(update), heddle_r(a), heddle_w(b), heddle_on(1), heddle_named("")));
	assert_ok(heddle_wait_all(rt));
	return rt;
}

static void assert_named(const struct heddle_trace *trace)
{
	assert_int_equal(trace->n_tasks, 2);
	assert_int_equal(trace->task_names.n, 1);
	assert_string_equal(heddle_name_of(&trace->task_names, trace->tasks[0].id), "panel (0, 1)");
	assert_null(heddle_name_of(&trace->task_names, trace->tasks[1].id));
	assert_int_equal(trace->n_transfers, 1);
	assert_int_equal(trace->data_names.n, 1);
	assert_string_equal(heddle_name_of(&trace->data_names, trace->transfers[0].data), "A, \"the\" first");
}

static void trace_and_its_file_have_the_names(void **state)
{
	(void)state;
	heddle_runtime *rt = run_named();
	struct heddle_trace *trace, *back;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	assert_named(trace);
	assert_ok(heddle_trace_save(trace, file("a.trace")));
	assert_ok(heddle_trace_load(file("a.trace"), &back));
	assert_named(back);
	char *text = text_of("a.trace");
	assert_has(text, "heddle-trace 2\n");
	assert_has(text, "\ntask_name 0 panel (0, 1)\n");
	free(text);
	heddle_trace_free(back);
	heddle_trace_free(trace);
}

static void name_is_found_by_its_number_alone(void **state)
{
	(void)state;
	char three[] = "three", seven[] = "seven";
	struct heddle_name list[] = {{3, three}, {7, seven}};
	const struct heddle_names names = {list, 2}, none = {NULL, 0};
	assert_string_equal(heddle_name_of(&names, 3), "three");
	assert_string_equal(heddle_name_of(&names, 7), "seven");
	assert_null(heddle_name_of(&names, 2));
	assert_null(heddle_name_of(&names, 5));
	assert_null(heddle_name_of(&names, 8));
	assert_null(heddle_name_of(&none, 0));
}

static void next_trace_has_no_names_of_tasks_before(void **state)
{
	(void)state;
	heddle_runtime *rt = run_named();
	heddle_codelet *update = heddle_codelet_new(rt, .name = "update", .cpu = nothing);
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	heddle_trace_free(trace);
	assert_ok(heddle_submit(rt, heddle_call(update)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 1);
	assert_int_equal(trace->task_names.n, 0);
	assert_int_equal(trace->n_edges, 0);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* As a library without names wrote it, byte for byte. */
static void trace_without_names_is_a_file_of_version_1(void **state)
{
	(void)state;
	static const char old[] =
	    "heddle-trace 1\npolicy eager\nclock virtual\nplatform version: 1\nplatform name: one\n"
	    "platform nodes:\nplatform - {name: ram}\nplatform classes:\n"
	    "platform - {name: cpu, kind: cpu}\nplatform workers:\n"
	    "platform - {name: core, class: cpu, node: ram}\ncodelet 0072b2 work\n"
	    "task 1 0 0 0 0 0 2 0 0 8 0 5\nend 1 0 0\n";
	struct heddle_trace *trace;
	assert_ok(hd_file_write(file("a.trace"), old, strlen(old)));
	assert_ok(heddle_trace_load(file("a.trace"), &trace));
	assert_ok(heddle_trace_save(trace, file("b.trace")));
	char *text = text_of("b.trace");
	assert_int_equal(strncmp(text, "heddle-trace 1\n", 15), 0);
	assert_null(strstr(text, "_name"));
	free(text);
	heddle_trace_free(trace);
}

static void damaged_names_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *old, *new, *said;
	} cases[] = {
	    {"task_name 0 ", "task_name x ", "number"},
	    {"task_name 0 panel (0, 1)\n", "task_name 0\n", "name"},
	    {"task_name 0 panel (0, 1)\n", "task_name 0 a\ntask_name 0 b\n", "out of order"},
	    {"data_name ", "edge 1 2\ndata_name ", "\"edge\" after"},
	};
	heddle_runtime *rt = run_named();
	struct heddle_trace *trace, *none;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_trace_save(trace, file("a.trace")));
	char *good = text_of("a.trace");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strstr(good, cases[i].old);
		assert_non_null(at);
		char *text = hd_format("%.*s%s%s", (int)(at - good), good, cases[i].new, at + strlen(cases[i].old));
		assert_ok(hd_file_write(file("b.trace"), text, strlen(text)));
		assert_int_equal(heddle_trace_load(file("b.trace"), &none), HEDDLE_E_FORMAT);
		assert_says(cases[i].said);
		free(text);
	}
	free(good);
	free(trace->task_names.list[0].name);
	trace->task_names.list[0].name = NULL;
	assert_int_equal(heddle_trace_save(trace, file("b.trace")), HEDDLE_E_INVALID);
	assert_says("name 1 of 1 for tasks is NULL");
	heddle_trace_free(trace);
}

/* --- Exports and charts ------------------------------------------------------------------------------------------- */

static void exports_have_the_names(void **state)
{
	(void)state;
	static const struct {
		enum heddle_trace_format format;
		const char *file, *task, *unnamed, *datum;
	} cases[] = {
	    {HEDDLE_TRACE_CSV, "a.csv", "\ntask,0,update,core,cpu,0,0,0,1000,0,0,1000,", ",,,,,,\n",
	     ",ram,memory,demand,\"A, \"\"the\"\" first\",,,,,,,,\n"},
	    {HEDDLE_TRACE_CHROME, "a.json", "\"args\":{\"id\":0,\"name\":\"panel (0, 1)\"",
	     "\"args\":{\"id\":1,\"priority\"", "\"args\":{\"data\":0,\"name\":\"A, \\\"the\\\" first\""},
	    {HEDDLE_TRACE_PAJE, "a.paje", " S w0 c0 0 \"panel (0, 1)\"\n", " S w1 c0 1 -\n",
	     " 1000 \"A, 'the' first\"\n"},
	};
	heddle_runtime *rt = run_named();
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	for (size_t i = 0; i < 3; i++) {
		assert_ok(heddle_trace_export(trace, cases[i].format, file(cases[i].file)));
		char *text = text_of(cases[i].file);
		assert_has(text, cases[i].task);
		assert_has(text, cases[i].unnamed);
		assert_has(text, cases[i].datum);
		assert_int_equal(count(text, "panel (0, 1)"), 1);
		free(text);
	}
	heddle_trace_free(trace);
}

static int other_nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Of two implementations for one kind each runs once before the models choose. */
static void trace_says_which_implementation_ran(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	config.calibrate = 1;
	heddle_runtime *rt = start_with(&config);
	const struct heddle_implementation both[] = {{.kind = "cpu", .name = "plain", .kernel = nothing},
	                                             {.kind = "cpu", .kernel = other_nothing}};
	heddle_codelet *c = heddle_codelet_new(rt, .name = "add", .implementations = both, .n_implementations = 2);
	heddle_codelet *single = heddle_codelet_new(rt, .name = "single", .cpu = nothing);
	struct heddle_trace *trace, *back;
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_submit(rt, heddle_call(single)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_trace_save(trace, file("a.trace")));
	assert_ok(heddle_trace_load(file("a.trace"), &back));
	assert_int_equal(back->implementations.n, 2);
	assert_string_equal(heddle_name_of(&back->implementations, 0), "add.plain");
	assert_string_equal(heddle_name_of(&back->implementations, 1), "add.1");
	assert_ok(heddle_trace_export(back, HEDDLE_TRACE_CSV, file("a.csv")));
	char *text = text_of("a.csv");
	assert_has(text, "reason,name,implementation,ended_us,");
	assert_int_equal(count(text, ",,add.plain,,"), 1);
	assert_int_equal(count(text, ",,add.1,,"), 1);
	free(text);
	assert_ok(heddle_trace_export(back, HEDDLE_TRACE_CHROME, file("a.json")));
	text = text_of("a.json");
	assert_has(text, "{\"id\":0,\"implementation\":\"add.plain\",");
	free(text);
	heddle_trace_free(back);
	heddle_trace_free(trace);
}

/* Letters in a chart of that width: cairo writes each as a use of its outline. */
static size_t count_letters(const struct heddle_trace *trace, double width)
{
	assert_ok(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = width}));
	char *svg = text_of("a.svg");
	size_t n = count(svg, "<use ");
	free(svg);
	return n;
}

static void chart_shows_the_name_of_a_task_where_there_is_room(void **state)
{
	(void)state;
	heddle_runtime *rt = run_named();
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	size_t wide = count_letters(trace, 1000), narrow = count_letters(trace, 300);
	free(trace->task_names.list[0].name);
	trace->task_names.list[0].name = copy_of("update"); /* as if it had none */
	assert_in_range(wide, count_letters(trace, 1000) + 1, SIZE_MAX);
	trace->task_names.list[0].name[0] = 'v';
	free(trace->task_names.list[0].name);
	trace->task_names.list[0].name =
	    copy_of("a name that is much too long for a chart as narrow as this one is, by far");
	size_t without = count_letters(trace, 300);
	trace->task_names.n = 0;
	assert_int_equal(without, count_letters(trace, 300)); /* the codelet's */
	assert_in_range(narrow, without, SIZE_MAX);
	trace->task_names.n = 1;
	heddle_trace_free(trace);
}

/* --- Graphs ------------------------------------------------------------------------------------------------------- */

static void assert_graph_named(const struct heddle_graph *g)
{
	assert_int_equal(g->n_tasks, 2);
	assert_int_equal(g->task_names.n, 1);
	assert_string_equal(heddle_name_of(&g->task_names, 0), "panel (0, 1)");
	assert_int_equal(g->data_names.n, 1);
	assert_string_equal(heddle_name_of(&g->data_names, 0), "A, \"the\" first");
}

static void recorded_graph_has_the_names_and_passes_them_on(void **state)
{
	(void)state;
	heddle_runtime *rt = run_named(), *other = start_virtual("gpu1-cpu6", "eager", 1);
	struct heddle_graph *g, *again;
	struct heddle_trace *trace;
	assert_ok(heddle_graph_record(rt, &g));
	assert_ok(heddle_stop(rt));
	assert_graph_named(g);
	assert_ok(heddle_graph_save(g, file("a.json")));
	heddle_graph_free(g);
	char *text = text_of("a.json");
	assert_has(text, "\"heddle_graph\": 2,");
	assert_has(text, "{\"bytes\": 1000, \"name\": \"A, \\\"the\\\" first\"}, 2000]");
	free(text);
	assert_ok(heddle_graph_load(file("a.json"), &g));
	assert_graph_named(g);
	g->classes = realloc(g->classes, 2 * sizeof *g->classes); /* the machine of the run had its own times */
	g->classes[0] = copy_of("cpu");
	g->n_classes = 1;
	g->times = malloc(2 * sizeof *g->times);
	g->times[0] = g->times[1] = 10;
	assert_ok(heddle_graph_submit(g, other));
	assert_ok(heddle_graph_record(other, &again));
	assert_graph_named(again);
	assert_ok(heddle_trace_take(other, &trace));
	assert_int_equal(trace->task_names.n, 1);
	heddle_trace_free(trace);
	heddle_graph_free(again);
	heddle_graph_free(g);
	assert_ok(heddle_stop(other));
}

static void dot_shows_names_and_takes_a_label_beside_a_type_for_one(void **state)
{
	(void)state;
	heddle_runtime *rt = run_named();
	struct heddle_graph *g;
	assert_ok(heddle_graph_record(rt, &g));
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_graph_save(g, file("a.dot")));
	heddle_graph_free(g);
	char *text = text_of("a.dot");
	assert_has(text, "t0 [type=\"update\", label=\"panel (0, 1)\"");
	assert_has(text, "t1 [type=\"update\", label=\"update\"");
	assert_has(text, "t0 -> t1 [bytes=\"1000\", label=\"A, \\\"the\\\" first\"];");
	free(text);
	assert_ok(heddle_graph_load(file("a.dot"), &g));
	assert_int_equal(g->task_names.n, 1);
	assert_string_equal(heddle_name_of(&g->task_names, 0), "panel (0, 1)");
	heddle_graph_free(g);
}

/* Nodes are numbered anew where edges say so, and their names go with them. */
static void names_of_nodes_follow_them_when_edges_reorder_tasks(void **state)
{
	(void)state;
	static const char text[] = "digraph { a [type=t, label=\"second\"]; b [type=t, label=\"first\"]; b -> a;"
	                           "c [label=\"t(1)\"]; d [type=t, label=t] }"; /* here it says the type */
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_dot("test", text, strlen(text), &g));
	assert_int_equal(g->task_names.n, 2);
	assert_string_equal(heddle_name_of(&g->task_names, 0), "first");
	assert_string_equal(heddle_name_of(&g->task_names, 1), "second");
	heddle_graph_free(g);
}

static void wrong_names_in_graphs_are_refused(void **state)
{
	(void)state;
	struct heddle_graph *g;
	static const struct {
		const char *text, *said;
	} cases[] = {
	    {"{\"heddle_graph\": 2, \"data\": [{\"bytes\": 8}]}", "a datum with a name"},
	    {"{\"heddle_graph\": 2, \"data\": [{\"bytes\": 8, \"name\": 7}]}", "the name of a datum"},
	    {"{\"heddle_graph\": 2, \"tasks\": [{\"type\": \"t\", \"name\": \"\"}]}", "the name of a task"},
	    {"{\"heddle_graph\": 3}", "version 1 and 2"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(hd_graph_parse_json("test", cases[i].text, strlen(cases[i].text), &g),
		                 HEDDLE_E_FORMAT);
		assert_says(cases[i].said);
	}
	heddle_runtime *rt = run_named();
	assert_ok(heddle_graph_record(rt, &g));
	assert_ok(heddle_stop(rt));
	g->task_names.list[0].id = 2;
	assert_int_equal(heddle_graph_check(g), HEDDLE_E_INVALID);
	assert_says("name 0 of tasks is for one that is not there");
	g->task_names.list[0].id = 0;
	g->data_names.list[0].name[0] = '\xff';
	assert_int_equal(heddle_graph_check(g), HEDDLE_E_INVALID);
	assert_says("UTF-8");
	heddle_graph_free(g);
}

/* What is no text can be a name, and then the graph can still be written. */
static void name_that_is_not_utf8_is_recorded_with_marks(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	heddle_runtime *rt = start_with(&config);
	struct heddle_graph *g;
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "c", .cpu = nothing)),
	                        heddle_named("\xc3\xa9 \xff!")));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &g));
	assert_string_equal(heddle_name_of(&g->task_names, 0), "\xc3\xa9 ?!");
	heddle_graph_free(g);
	assert_ok(heddle_stop(rt));
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

static void failed_task_is_called_by_its_name_and_its_codelet(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "may_fail", .cpu = fail_with);
	heddle_data *d;
	heddle_task *reader;
	long x = 0;
	int code = 3, fine = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d), heddle_value(code), heddle_named("step 7")));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d), heddle_value(fine), heddle_named("reader"),
	                        heddle_out(&reader)));
	assert_int_equal(heddle_task_wait(reader), HEDDLE_E_CANCELLED);
	assert_says("reader (may_fail, task 1): it was not run, for step 7 (may_fail, task 0) failed");
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("step 7 (may_fail, task 0): ");
	heddle_task_release(reader);
	heddle_unregister(d);
	heddle_stop(rt);
}

static void deadlock_is_reported_with_names(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "update", .cpu = nothing);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_data_set_name(d, "A[0]"));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_named("step 7"), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_DEADLOCK);
	assert_says("step 7 (update, task 1) waits for A[0], acquired by the program");
	heddle_task_release(t);
	assert_ok(heddle_release(d));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- What heddle_dump writes -------------------------------------------------------------------------------------- */

static atomic_int entered, gate;

static int stay(heddle_context *c)
{
	(void)c;
	entered = 1;
	wait_for(&gate, 1);
	return 0;
}

static char *dump_of(heddle_runtime *rt)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	heddle_dump(rt, out);
	fclose(out);
	return text;
}

static void dump_says_what_each_task_does_and_waits_for(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	const char *worker = heddle_runtime_platform(rt)->workers[0].name;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "update", .cpu = stay);
	heddle_data *a, *b, *x;
	heddle_task *t;
	double numbers[40] = {0};
	long y = 0;
	assert_ok(heddle_matrix(rt, numbers, 10, 4, 10, sizeof *numbers, &a));
	assert_ok(heddle_data_set_name(a, "A[0,1]"));
	assert_ok(heddle_variable(rt, &y, sizeof y, &b));
	assert_ok(heddle_vector(rt, NULL, 7, 4, &x));
	assert_ok(heddle_acquire(b, HEDDLE_R));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(a), heddle_named("step 7"), heddle_on(0)));
	wait_for(&entered, 1);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(a), heddle_w(x), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(b), heddle_named("last"), heddle_on(0), heddle_out(&t)));
	heddle_task_release(t); /* now the graph knows of all of them */
	char *text = dump_of(rt);
	char *expected = hd_format("    0   %-16s   1 in flight  runs step 7 (update, task 1)\n", worker);
	assert_has(text, expected);
	free(expected);
	expected = hd_format("    step 7 (update, task 1)                  runs on %s\n"
	                     "            W        A[0,1] (10 x 4 of 8 bytes), has it\n",
	                     worker);
	assert_has(text, expected);
	free(expected);
	assert_has(text, "    update (task 2)                          waits for 1 datum or task\n"
	                 "            RW       A[0,1] (10 x 4 of 8 bytes), waits: step 7 (update, task 1) has it\n"
	                 "            W        datum 2 (7 of 4 bytes), has it\n");
	assert_has(text, "    last (update, task 3)                    waits for 1 datum or task\n"
	                 "            RW       datum 1 (8 bytes), waits: the program has acquired it\n");
	assert_has(text,
	           "    acquire (task 0)                         the program has its datum, until it releases it\n");
	assert_has(text, "tasks: 4 unfinished: 1 running, 0 next on their workers, 0 ready; 0 have ended\n");
	assert_has(text, "data that the program has acquired: 1\n");
	assert_null(strstr(text, "mode"));
	free(text);
	gate = 1;
	assert_ok(heddle_release(b));
	assert_ok(heddle_wait_all(rt));
	text = dump_of(rt);
	assert_has(text, "tasks: 0 unfinished");
	assert_null(strstr(text, "update"));
	free(text);
	assert_ok(heddle_unregister(a));
	assert_ok(heddle_unregister(b));
	assert_ok(heddle_unregister(x));
	assert_ok(heddle_stop(rt));
}

static void dump_tells_of_commuters_whose_turn_it_is_not(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "add", .cpu = stay);
	heddle_data *d;
	heddle_task *t;
	long y = 0;
	entered = gate = 0;
	assert_ok(heddle_variable(rt, &y, sizeof y, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_commute(d)));
	wait_for(&entered, 1);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_commute(d), heddle_out(&t)));
	heddle_task_release(t); /* now the graph knows of all of them */
	char *text = dump_of(rt);
	assert_has(text, "    add (task 1)                             waits for its turn\n"
	                 "            COMMUTE  datum 0 (8 bytes), waits for its turn among those that commute\n");
	assert_has(text, "            COMMUTE  datum 0 (8 bytes), has it\n");
	free(text);
	gate = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trace_and_its_file_have_the_names),
	    cmocka_unit_test(name_is_found_by_its_number_alone),
	    cmocka_unit_test(next_trace_has_no_names_of_tasks_before),
	    cmocka_unit_test(trace_without_names_is_a_file_of_version_1),
	    cmocka_unit_test(damaged_names_are_refused),
	    cmocka_unit_test(exports_have_the_names),
	    cmocka_unit_test(trace_says_which_implementation_ran),
	    cmocka_unit_test(chart_shows_the_name_of_a_task_where_there_is_room),
	    cmocka_unit_test(recorded_graph_has_the_names_and_passes_them_on),
	    cmocka_unit_test(dot_shows_names_and_takes_a_label_beside_a_type_for_one),
	    cmocka_unit_test(names_of_nodes_follow_them_when_edges_reorder_tasks),
	    cmocka_unit_test(wrong_names_in_graphs_are_refused),
	    cmocka_unit_test(name_that_is_not_utf8_is_recorded_with_marks),
	    cmocka_unit_test(failed_task_is_called_by_its_name_and_its_codelet),
	    cmocka_unit_test(deadlock_is_reported_with_names),
	    cmocka_unit_test(dump_says_what_each_task_does_and_waits_for),
	    cmocka_unit_test(dump_tells_of_commuters_whose_turn_it_is_not),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
