/* Graph files: JSON bit for bit, the structure of DOT, Standard Task Graphs; and what is said about wrong ones. */
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>
#include "graphs.h"
#include "scratch.h"

static struct heddle_graph *load(const char *path)
{
	struct heddle_graph *g;
	assert_ok(heddle_graph_load(path, &g));
	return g;
}

static struct heddle_graph *sample(const char *name)
{
	char path[256];
	snprintf(path, sizeof path, HEDDLE_SOURCE_DIR "/tests/graphs/%s", name);
	return load(path);
}

static void write_file(const char *path, const char *text)
{
	assert_ok(hd_file_write(path, text, strlen(text)));
}

static void refuses(const char *path, const char *text, const char *where, const char *word)
{
	struct heddle_graph *g = NULL;
	write_file(path, text);
	if (heddle_graph_load(path, &g) != HEDDLE_E_FORMAT)
		fail_msg("not refused as it should be: %s", text);
	assert_null(g);
	assert_says(strrchr(path, '/') + 1);
	assert_says(where);
	assert_says(word);
}

static void assert_same_array(const void *a, const void *b, size_t n, size_t size)
{
	if (n)
		assert_memory_equal(a, b, n * size);
}

static void assert_same_graph(const struct heddle_graph *a, const struct heddle_graph *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->n_types, b->n_types);
	for (size_t i = 0; i < a->n_types; i++) {
		assert_string_equal(a->types[i].name, b->types[i].name);
		assert_int_equal(a->types[i].color, b->types[i].color);
	}
	assert_int_equal(a->n_classes, b->n_classes);
	for (size_t i = 0; i < a->n_classes; i++)
		assert_string_equal(a->classes[i], b->classes[i]);
	assert_int_equal(a->n_data, b->n_data);
	assert_same_array(a->data, b->data, a->n_data, sizeof *a->data);
	assert_int_equal(a->n_tasks, b->n_tasks);
	assert_same_array(a->tasks, b->tasks, a->n_tasks, sizeof *a->tasks);
	assert_int_equal(a->n_accesses, b->n_accesses);
	assert_same_array(a->accesses, b->accesses, a->n_accesses, sizeof *a->accesses);
	assert_int_equal(a->n_edges, b->n_edges);
	assert_same_array(a->edges, b->edges, a->n_edges, sizeof *a->edges);
	assert_int_equal(a->times != NULL, b->times != NULL);
	for (size_t i = 0; a->times && i < a->n_tasks * a->n_classes; i++)
		assert_true(isnan(a->times[i]) ? isnan(b->times[i]) : a->times[i] == b->times[i]);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void json_reads_back_to_the_same_value_and_is_written_the_same(void **state)
{
	(void)state;
	setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where there is one, numbers are still written with points */
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct heddle_graph *g = random_graph(seed, (uint32_t)(seed % 50), 1 + (uint32_t)(seed % 7)), *again;
		char *first, *second;
		size_t n_first, n_second;
		assert_ok(heddle_graph_save(g, file("a.json")));
		again = load(file("a.json"));
		assert_same_graph(g, again);
		assert_ok(heddle_graph_save(again, file("b.json")));
		first = contents(file("a.json"), &n_first);
		second = contents(file("b.json"), &n_second);
		assert_int_equal(n_first, n_second);
		assert_memory_equal(first, second, n_first);
		free(first);
		free(second);
		heddle_graph_free(g);
		heddle_graph_free(again);
	}
	setlocale(LC_NUMERIC, "C");
}

static void json_members_come_in_any_order(void **state)
{
	(void)state;
	struct heddle_graph *g = sample("sample.json"), *h;
	write_file(
	    file("a.json"),
	    " {\"edges\" : [[0,2]] "
	    ",\"tasks\":[{\"times\":{\"cpu\":5e1},\"flops\":1e6,\"type\":\"potrf\",\"priority\":3,"
	    "\"data\":[\"RW\",0]},{\"type\":\"trsm\",\"data\":[\"R\",0,\"RW\",1],\"times\":{\"cpu\":40.5,\"cuda\":2}},"
	    "{\"type\":\"trsm\",\"times\":{\"cuda\":0.1}}],\"types\":[{\"color\":\"#D03B3B\",\"name\":\"potrf\"}],"
	    "\"data\":[8000,16000],\"name\":\"sample\",\"heddle_graph\":1}\n");
	h = load(file("a.json"));
	assert_same_graph(g, h);
	heddle_graph_free(h);
	write_file(file("a.json"), "{\"heddle_graph\": 1}");
	h = load(file("a.json"));
	assert_int_equal(h->n_tasks, 0);
	heddle_graph_free(h);
	heddle_graph_free(g);
}

static void wrong_json_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *word;
	} cases[] = {
	    {"", ":1:", "{"},
	    {"[1]", ":1:", "{"},
	    {"{}", ":1:", "heddle_graph"},
	    {"{\"heddle_graph\": 3}", ":1:", "version 1"},
	    {"{\"heddle_graph\": 1}\n x", ":2:", "follows"},
	    {"{\"heddle_graph\": 1,\n\"taks\": []}", ":2:", "taks"},
	    {"{\"heddle_graph\": 1,\n\"data\": [],\n\"data\": []}", ":3:", "second"},
	    {"{\"heddle_graph\": 1,\n\"data\": [1,\n2,\n-3]}", ":4:", "bytes"},
	    {"{\"heddle_graph\": 1,\n\"data\": [1.5]}", ":2:", "bytes"},
	    {"{\"heddle_graph\": 1,\n\"data\": [1 2]}", ":2:", ","},
	    {"{\"heddle_graph\": 1, \"data\": [1", ":1:", ","},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{}]}", ":2:", "type"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": 3}]}", ":2:", "type"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"\"}]}", ":2:", "type"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\\u0000b\"}]}", ":2:", "NUL"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\"},\n{\"type\": \"a\", \"data\": [\"X\", 0]}]}",
	     ":3:", "REDUX"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"data\": [\"R\"]}]}", ":2:", "mode"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"data\": [\"R\", -1]}]}", ":2:", "datum"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"data\": [\"R\", 0]}]}", ": ", "datum 0"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"flops\": -1}]}", ":2:", "flops"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"priority\": 1e9}]}", ":2:", "priority"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"times\": {\"cpu\": \"1\"}}]}", ":2:", "cpu"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\", \"prority\": 1}]}", ":2:", "prority"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\",\n\"type\": \"b\"}]}", ":3:", "duplicate"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\"}],\n\"edges\": [[0]]}", ":3:", "[from, to]"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\"}],\n\"edges\": [[0, 1]]}", ": ", "task 1"},
	    {"{\"heddle_graph\": 1,\n\"tasks\": [{\"type\": \"a\"}, {\"type\": \"a\"}],\n\"edges\": [[1, 0]]}", ": ",
	     "forward"},
	    {"{\"heddle_graph\": 1,\n\"types\": [{\"name\": \"a\", \"color\": \"red\"}]}", ":2:", "#RRGGBB"},
	    {"{\"heddle_graph\": 1,\n\"types\": [{\"nam\": \"a\"}]}", ":2:", "name"},
	    {"{\"heddle_graph\": 1,\n\"types\": [\"a\"]}", ":2:", "name"},
	    {"{\"heddle_graph\": 1,\n\"classes\": [1]}", ":2:", "class"},
	    {"{\"heddle_graph\": 1,\n\"name\": \"\xff\"}", ":2:", "decode"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuses(file("bad.json"), cases[i].text, cases[i].where, cases[i].word);
}

/* --- DOT ---------------------------------------------------------------------------------------------------------- */

static size_t type_index(const struct heddle_graph *g, const char *name)
{
	size_t i = 0;
	while (i < g->n_types && strcmp(g->types[i].name, name) != 0)
		i++;
	return i;
}

static double time_of(const struct heddle_graph *g, size_t task, const char *class_)
{
	for (size_t c = 0; c < g->n_classes; c++)
		if (strcmp(g->classes[c], class_) == 0)
			return g->times[task * g->n_classes + c];
	return NAN;
}

static void dot_of_a_person_is_understood(void **state)
{
	(void)state;
	struct heddle_graph *g = sample("sample.dot");
	struct heddle_graph_edge *edges;
	size_t n;
	/* a, then c, since c -> b; then b, then the odd one */
	static const char *const types[] = {"load", "inner", "potrf", "task"};
	static const double cpu[] = {3, 10, 12.5, 4};
	assert_string_equal(g->name, "sample");
	assert_int_equal(g->n_tasks, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(g->tasks[i].type, type_index(g, types[i]));
		assert_true(time_of(g, i, "cpu") == cpu[i]);
	}
	assert_true(time_of(g, 2, "cuda") == 1.5);
	assert_true(g->tasks[2].flops == 2e6);
	assert_int_equal(g->tasks[0].priority, 2);
	const struct heddle_graph_edge wanted[] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}};
	assert_ok(heddle_graph_edges(g, &edges, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(edges, wanted, sizeof wanted);
	assert_int_equal(g->n_edges, 1); /* the others hand something over */
	assert_int_equal(g->n_data, 3);
	assert_int_equal(g->data[0].bytes + g->data[1].bytes + g->data[2].bytes, 8000 + 8000 + 1000);
	assert_true(hd_graph_task_bytes(g, 0) == 8000);
	free(edges);
	heddle_graph_free(g);
}

static void dot_work_without_time_is_for_a_core_of_one_gflops(void **state)
{
	(void)state;
	static const char text[] =
	    "strict graph { 1 [size=\"3e6\", alpha=\"0.1\"]; 1 -- 2 [size=\"640\"] 2 [flops=4e+6, time_k40m=1] }";
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_dot("test", text, strlen(text), &g));
	assert_int_equal(g->n_tasks, 2);
	assert_true(time_of(g, 0, "cpu") == 3000);
	assert_true(isnan(time_of(g, 1, "cpu")));
	assert_true(time_of(g, 1, "k40m") == 1);
	assert_int_equal(g->n_data, 1);
	assert_int_equal(g->data[0].bytes, 640);
	heddle_graph_free(g);
}

static void dot_minus_zero_is_zero(void **state)
{
	(void)state;
	static const char text[] = "digraph { a [cpu=\"-0\", flops=\"-0.0\"] }";
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_dot("test", text, strlen(text), &g));
	assert_true(g->times[0] == 0 && !signbit(g->times[0]) && !signbit(g->tasks[0].flops));
	heddle_graph_free(g);
}

static void dot_defaults_end_with_their_subgraph(void **state)
{
	(void)state;
	static const char text[] = "digraph { node [cpu=1] { node [type=inner]; edge [bytes=9]; a } b; a -> b }";
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_dot("test", text, strlen(text), &g));
	assert_string_equal(g->types[g->tasks[0].type].name, "inner");
	assert_string_equal(g->types[g->tasks[1].type].name, "task");
	assert_int_equal(g->n_data, 0);
	heddle_graph_free(g);
}

static void dot_round_trip_keeps_the_structure(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct heddle_graph *g = random_graph(seed, 40, 5), *again;
		struct heddle_graph_edge *before, *after;
		size_t n_before, n_after;
		assert_ok(heddle_graph_save(g, file("a.dot")));
		again = load(file("a.dot"));
		assert_string_equal(g->name, again->name);
		assert_ok(heddle_graph_edges(g, &before, &n_before));
		assert_ok(heddle_graph_edges(again, &after, &n_after));
		assert_int_equal(n_before, n_after);
		assert_same_array(before, after, n_before, sizeof *before);
		assert_int_equal(g->n_tasks, again->n_tasks);
		for (size_t i = 0; i < g->n_tasks; i++) {
			const struct heddle_graph_task *t = &g->tasks[i], *u = &again->tasks[i];
			assert_string_equal(g->types[t->type].name, again->types[u->type].name);
			assert_int_equal(g->types[t->type].color, again->types[u->type].color);
			assert_int_equal(t->priority, u->priority);
			assert_true(t->flops == u->flops);
			for (size_t c = 0; c < g->n_classes; c++) {
				double us = g->times[i * g->n_classes + c], read = time_of(again, i, g->classes[c]);
				assert_true(isnan(us) ? isnan(read) : us == read);
			}
		}
		free(before);
		free(after);
		heddle_graph_free(g);
		heddle_graph_free(again);
	}
}

static void dot_edges_carry_what_is_handed_over(void **state)
{
	(void)state;
	struct heddle_graph *g = sample("sample.json"), *again;
	assert_ok(heddle_graph_save(g, file("a.dot")));
	again = load(file("a.dot"));
	assert_int_equal(again->n_data, 1); /* 0 -> 1 hands datum 0; 0 -> 2 nothing; datum 1 has no writer before */
	assert_int_equal(again->data[0].bytes, 8000);
	assert_int_equal(again->n_edges, 1);
	heddle_graph_free(g);
	heddle_graph_free(again);
	write_file(file("a.json"), "{\"heddle_graph\": 1, \"data\": [10, 200, 3000, 40000], \"tasks\": ["
	                           "{\"type\": \"a\", \"data\": [\"W\", 0, \"W\", 3]},"
	                           "{\"type\": \"a\", \"data\": [\"W\", 1, \"W\", 2]},"
	                           "{\"type\": \"a\", \"data\": [\"R\", 0, \"RW\", 1, \"R\", 2, \"COMMUTE\", 3]}]}");
	g = load(file("a.json"));
	assert_ok(heddle_graph_save(g, file("a.dot")));
	again = load(file("a.dot"));
	assert_true(hd_graph_task_bytes(again, 0) == 40010);
	assert_true(hd_graph_task_bytes(again, 1) == 3200);
	heddle_graph_free(g);
	heddle_graph_free(again);
}

static void wrong_dot_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *word;
	} cases[] = {
	    {"", ":1:", "digraph"},
	    {"tree {}", ":1:", "digraph"},
	    {"digraph {\na -> b\n", ":3:", "}"},
	    {"digraph {}\n}", ":2:", "follows"},
	    {"digraph {\na [cpu=fast] }", ":2:", "fast"},
	    {"digraph {\na [cpu=-1] }", ":2:", "from 0"},
	    {"digraph {\na [cpu] }", ":2:", "number"},
	    {"digraph {\na -> b [bytes=\"many\"] }", ":2:", "many"},
	    {"digraph {\na -> b [bytes=1e30] }", ":2:", "bytes"},
	    {"digraph {\na [priority=1.5] }", ":2:", "priority"},
	    {"digraph {\na [type=\"\"] }", ":2:", "type"},
	    {"digraph {\na ->\n{b c} }", ":3:", "subgraph"},
	    {"digraph {\n{b c} -> a }", ":2:", "subgraph"},
	    {"digraph {\n\"a }", ":", "string"},
	    {"digraph {\n/* a }", ":", "comment"},
	    {"digraph {\na [b=<x }", ":", "<...>"},
	    {"digraph {\na [\"x\" + 3] }", ":2:", "string"},
	    {"digraph {\na ! b }", ":2:", "character"},
	    {"digraph {\n-> b }", ":2:", "expected"},
	    {"digraph {\na [cpu=1\n; }", ":", "]"},
	    {"digraph {\nedge -> b }", ":2:", "quotes"},
	    {"digraph {\na -> b -> c -> a }", ": ", "circle"},
	    {"digraph {\nx -> a a -> a }", ": ", "node a"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuses(file("bad.dot"), cases[i].text, cases[i].where, cases[i].word);
}

/* --- STG ---------------------------------------------------------------------------------------------------------- */

static void stg_has_its_tasks_without_the_dummies(void **state)
{
	(void)state;
	static const double times[] = {20, 4, 7, 6, 3, 11, 9, 2, 15, 1};
	static const struct heddle_graph_edge wanted[] = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}, {2, 5},
	                                                  {3, 6}, {5, 6}, {4, 7}, {6, 8}, {7, 8}, {4, 9}, {6, 9}};
	struct heddle_graph *g = sample("sample.stg");
	assert_int_equal(g->n_tasks, 10);
	assert_int_equal(g->n_data, 0);
	for (size_t i = 0; i < 10; i++)
		assert_true(time_of(g, i, "cpu") == times[i]);
	assert_int_equal(g->n_edges, sizeof wanted / sizeof *wanted);
	assert_memory_equal(g->edges, wanted, sizeof wanted);
	heddle_graph_free(g);
}

static void stg_of_the_prototype_set_and_with_costs_are_told_apart(void **state)
{
	(void)state;
	static const char prototype[] = "3 2\n1 14 0\n2 20 1 1\n3 5 1 1\n4 0 2 2 3\n";
	static const char costs[] = "2\n0 0 0\n1 14 1 0 0\n2 20 1 1\n7\n3 0 1 2 0\n# end\n";
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_stg("test", prototype, strlen(prototype), &g));
	assert_int_equal(g->n_tasks, 3);
	assert_int_equal(g->n_edges, 2);
	heddle_graph_free(g);
	assert_ok(hd_graph_parse_stg("test", costs, strlen(costs), &g));
	assert_int_equal(g->n_tasks, 2);
	assert_int_equal(g->n_edges, 0);
	assert_int_equal(g->n_data, 1);
	assert_int_equal(g->data[0].bytes, 70000); /* 7 us at 10000 MB/s */
	heddle_graph_free(g);
}

/* Two tasks are said to come and there are three: the last one is the dummy, and the first is a task of no time. */
static void stg_first_task_of_no_time_is_no_dummy_when_the_last_is(void **state)
{
	(void)state;
	static const char text[] = "2\n1 0 0\n2 5 1 1\n3 0 1 2\n";
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_stg("test", text, strlen(text), &g));
	assert_int_equal(g->n_tasks, 2);
	assert_int_equal(g->n_edges, 1);
	assert_true(time_of(g, 0, "cpu") == 0 && time_of(g, 1, "cpu") == 5);
	heddle_graph_free(g);
}

static void wrong_stg_is_refused_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *where, *word;
	} cases[] = {
	    {"", ":1:", "empty"},
	    {"# nothing\n", ":1:", "empty"},
	    {"two\n", ":1:", "number"},
	    {"1 2 3\n", ":1:", "first line"},
	    {"2\n0 0 0\n1 5 -1\n", ":3:", "number"},
	    {"2\n0 0 0\n1 5\n", ":3:", "ends"},
	    {"2\n0 0 0\n1 5 3 0\n2 1 0\n3 0 0\n", ":4:", "another number"},
	    {"2\n0 0 0\n2 5 1 0\n", ":3:", "another number"},
	    {"1\n0 0 0\n1 5 9 0\n", ":3:", "predecessors"},
	    {"1\n7 0 0\n", ":2:", "from 0 or 1"},
	    {"9\n0 0 0\n1 5 1 0\n2 0 1 1\n", ":1:", "9 tasks"},
	    {"1\n0 0 0\n1 5 1 8\n2 0 1 1\n", ":3:", "task 8"},
	    {"1\n0 0 0\n1 5 1 1\n2 0 1 1\n", ":3:", "wait"},
	    {"2\n0 0 0\n1 5 1 2\n2 5 1 1\n3 0 1 1\n", ": ", "circle"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuses(file("bad.stg"), cases[i].text, cases[i].where, cases[i].word);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static void extension_chooses_the_format(void **state)
{
	(void)state;
	struct heddle_graph *g = sample("sample.json"), *none = NULL;
	write_file(file("a.txt"), "{}");
	assert_int_equal(heddle_graph_load(file("a.txt"), &none), HEDDLE_E_INVALID);
	assert_says(".stg");
	assert_int_equal(heddle_graph_save(g, file("a.txt")), HEDDLE_E_INVALID);
	assert_says(".dot");
	assert_int_equal(heddle_graph_save(g, "x.stg"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_graph_load(file("missing.json"), &none), HEDDLE_E_IO);
	assert_int_equal(heddle_graph_save(g, "/proc/none/a.json"), HEDDLE_E_IO);
	g->tasks[0].type = 99;
	assert_int_equal(heddle_graph_save(g, file("a.json")), HEDDLE_E_INVALID);
	heddle_graph_free(g);
}

static void time_beyond_the_limit_is_refused_with_its_task(void **state)
{
	(void)state;
	static const struct {
		const char *name, *text, *where;
	} files[] = {
	    {"a.json",
	     "{\"heddle_graph\": 1, \"data\": [], \"tasks\": [{\"type\": \"quick\", "
	     "\"times\": "
	     "{\"cpu\": 1}}, {\"type\": \"slow\", \"times\": {\"cpu\": 1e308}}]}",
	     "task 1 (slow)"},
	    {"a.dot", "digraph {\nquick [cpu=1];\nslow [cpu=1e308];\n}", "a.dot:3: node slow"},
	    {"b.dot", "digraph {\nquick [flops=1];\nslow [type=slow, flops=1e308];\n}", "task 1 (slow)"},
	};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		refuses(file(files[i].name), files[i].text, files[i].where, "below 1e+15");
}

/* Every beginning of a good file, and the file with each byte changed, is read or refused: nothing else. */
static void damaged_files_are_read_or_refused(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int (*parse)(const char *name, const char *text, size_t length, struct heddle_graph **out);
	} formats[] = {{"sample.json", hd_graph_parse_json},
	               {"sample.dot", hd_graph_parse_dot},
	               {"sample.stg", hd_graph_parse_stg}};
	for (size_t i = 0; i < 3; i++) {
		char path[256], *text;
		size_t length, refused = 0;
		snprintf(path, sizeof path, HEDDLE_SOURCE_DIR "/tests/graphs/%s", formats[i].name);
		assert_ok(hd_file_read(path, &text, &length));
		for (size_t cut = 0; cut < 2 * length; cut++) {
			struct heddle_graph *g = NULL;
			char *copy = malloc(length + 1);
			memcpy(copy, text, length + 1);
			size_t n = cut < length ? cut : length;
			copy[n] = '\0';
			if (cut >= length)
				copy[cut - length] ^= 4;
			int status = formats[i].parse("damaged", copy, n, &g);
			assert_true(status == 0 || (status == HEDDLE_E_FORMAT && !g));
			refused += status != 0;
			heddle_graph_free(g);
			free(copy);
		}
		assert_true(refused > length / 2);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(json_reads_back_to_the_same_value_and_is_written_the_same),
	    cmocka_unit_test(json_members_come_in_any_order),
	    cmocka_unit_test(wrong_json_is_refused_with_its_line),
	    cmocka_unit_test(dot_of_a_person_is_understood),
	    cmocka_unit_test(dot_work_without_time_is_for_a_core_of_one_gflops),
	    cmocka_unit_test(dot_minus_zero_is_zero),
	    cmocka_unit_test(dot_defaults_end_with_their_subgraph),
	    cmocka_unit_test(dot_round_trip_keeps_the_structure),
	    cmocka_unit_test(dot_edges_carry_what_is_handed_over),
	    cmocka_unit_test(wrong_dot_is_refused_with_its_line),
	    cmocka_unit_test(stg_has_its_tasks_without_the_dummies),
	    cmocka_unit_test(stg_of_the_prototype_set_and_with_costs_are_told_apart),
	    cmocka_unit_test(stg_first_task_of_no_time_is_no_dummy_when_the_last_is),
	    cmocka_unit_test(wrong_stg_is_refused_with_its_line),
	    cmocka_unit_test(extension_chooses_the_format),
	    cmocka_unit_test(time_beyond_the_limit_is_refused_with_its_task),
	    cmocka_unit_test(damaged_files_are_read_or_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
