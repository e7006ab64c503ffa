/* heddle_trace_dag: the task graph of a trace with sub-graphs, for Graphviz and as a picture; and the records of trace
 * files on which it depends. */
#include "traces.h"

/* 1, the hierarchical task 2, and 9. In 2: the task 3, and the hierarchical task 4 with the task 5 alone. 5 waited for
 * datum 7 to be cut. */
static struct heddle_trace *nested(void)
{
	struct heddle_trace *trace = make_trace(two_cores, 4, 4);
	static const struct heddle_trace_edge edges[] = {{1, 3}, {1, 5}, {3, 9}, {5, 9}};
	static const struct heddle_trace_expansion expansions[] = {
	    {.id = 2, .n_tasks = 2, .codelet = 1, .start = 1, .end = 2},
	    {.id = 4, .inside = 3, .n_tasks = 1, .codelet = 1, .worker = 1, .start = 2, .end = 2.5}};
	static const struct heddle_trace_layout layouts[] = {
	    {2.75, 7, 0, HEDDLE_LAYOUT_READ, 6}, {3, 7, 0, HEDDLE_LAYOUT_WRITE, 6}, {9, 7, -1, HEDDLE_LAYOUT_JOIN, 0}};
	static const uint64_t ids[] = {1, 3, 5, 9}, inside[] = {0, 3, 5, 0};
	memcpy(trace->edges, edges, sizeof edges);
	for (size_t i = 0; i < 4; i++) {
		set_task(trace, i, 0, (double)i, (double)i + 1);
		trace->tasks[i].id = ids[i];
		trace->tasks[i].inside = inside[i];
	}
	trace->expansions = calloc(2, sizeof *expansions);
	memcpy(trace->expansions, expansions, sizeof expansions);
	trace->n_expansions = 2;
	trace->layouts = calloc(3, sizeof *layouts);
	memcpy(trace->layouts, layouts, sizeof layouts);
	trace->n_layouts = 3;
	return trace;
}

static void expect_dot(const struct heddle_trace *trace, const struct heddle_dag_options *options, const char *wanted)
{
	size_t length;
	OK(heddle_trace_dag(trace, file("a.dot"), options));
	char *text = contents(file("a.dot"), &length);
	assert_string_equal(text, wanted);
	free(text);
}

static void boxes_lie_in_boxes(void **state)
{
	(void)state;
	struct heddle_trace *trace = nested();
	trace->codelets[1].color = 0x0000ff;
	expect_dot(trace, NULL,
	           "digraph run {\n"
	           "\tnode [style=filled, fillcolor=white];\n"
	           "\tn0 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\tsubgraph cluster_1 { label=\"other\"; color=\"#0000ff\";\n"
	           "\t\tn2 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\t\tsubgraph cluster_3 { label=\"other\"; color=\"#0000ff\";\n"
	           "\t\t\tn4 [label=\"P datum 7 (read)\", shape=diamond, type=layout];\n"
	           "\t\t\tn5 [label=\"P datum 7\", shape=diamond, type=layout];\n"
	           "\t\t\tn6 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\t\t}\n"
	           "\t}\n"
	           "\tn7 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\tn0 -> n2;\n"
	           "\tn0 -> n6;\n"
	           "\tn4 -> n6 [style=dashed];\n"
	           "\tn5 -> n6 [style=dashed];\n"
	           "\tn2 -> n7;\n"
	           "\tn6 -> n7;\n"
	           "}\n");
	heddle_trace_free(trace);
}

static void sub_graph_below_the_last_level_is_one_task(void **state)
{
	(void)state;
	struct heddle_trace *trace = nested();
	trace->codelets[1].color = 0x0000ff;
	expect_dot(trace, &(struct heddle_dag_options){.levels = 1, .layouts = 1, .title = "a \"title\""},
	           "digraph run {\n"
	           "\tnode [style=filled, fillcolor=white];\n"
	           "\tlabel=\"a \\\"title\\\"\";\n"
	           "\tn0 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\tn1 [label=\"other: 2 tasks\", type=\"other\", fillcolor=\"#0000ff\", shape=box3d];\n"
	           "\tn7 [label=\"work\", type=\"work\", fillcolor=\"#00ff00\"];\n"
	           "\tn0 -> n1;\n"
	           "\tn1 -> n7;\n"
	           "}\n");
	heddle_trace_free(trace);
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

/* How many nodes there are, of these how many stand for sub-graphs and for changes of layouts, and how many boxes. */
static void each_level_has_its_nodes(void **state)
{
	(void)state;
	static const struct {
		unsigned levels;
		size_t nodes, closed, layouts, boxes;
	} wanted[] = {{0, 6, 0, 2, 2}, {1, 3, 1, 0, 0}, {2, 4, 1, 0, 1}, {3, 6, 0, 2, 2}, {1000, 6, 0, 2, 2}};
	struct heddle_trace *trace = nested();
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		for (int layouts = 0; layouts < 2; layouts++) {
			const struct heddle_dag_options options = {.levels = wanted[i].levels, .layouts = layouts};
			size_t length, hidden = layouts ? 0 : wanted[i].layouts;
			OK(heddle_trace_dag(trace, file("a.dot"), &options));
			char *text = contents(file("a.dot"), &length);
			assert_int_equal(count_of(text, " [label="), wanted[i].nodes - hidden);
			assert_int_equal(count_of(text, "shape=box3d"), wanted[i].closed);
			assert_int_equal(count_of(text, "shape=diamond"), wanted[i].layouts - hidden);
			assert_int_equal(count_of(text, "subgraph"), wanted[i].boxes);
			free(text);
		}
	}
	heddle_trace_free(trace);
}

static void pictures_of_graphs_are_drawn_unless_they_are_too_large(void **state)
{
	(void)state;
	enum { MANY = 2001 };
	size_t length;
	struct heddle_trace *trace = nested();
	OK(heddle_trace_dag(trace, file("a.svg"), NULL));
	char *text = contents(file("a.svg"), &length);
	assert_non_null(strstr(text, "<svg"));
	free(text);
	OK(heddle_trace_dag(trace, file("a.png"), &(struct heddle_dag_options){.levels = 2}));
	assert_int_equal(heddle_trace_dag(trace, file("a.txt"), NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_dag(trace, NULL, NULL), HEDDLE_E_INVALID);
	heddle_trace_free(trace);
	trace = make_trace(two_cores, MANY, 0);
	for (size_t i = 0; i < MANY; i++)
		set_task(trace, i, 0, (double)i, (double)i + 1);
	assert_int_equal(heddle_trace_dag(trace, file("a.svg"), NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "2001 tasks"));
	OK(heddle_trace_dag(trace, file("a.gv"), NULL));
	heddle_trace_free(trace);
}

/* A trace that names boxes that are not there, or a box inside itself, is drawn all the same. */
static void boxes_that_are_not_there_are_left_out(void **state)
{
	(void)state;
	struct heddle_trace *trace = nested();
	trace->expansions[1].inside = 5;
	trace->tasks[1].inside = 1000;
	trace->layouts[0].before = 501;
	OK(heddle_trace_dag(trace, file("a.dot"), NULL));
	OK(heddle_trace_dag(trace, file("a.pdf"), NULL));
	heddle_trace_free(trace);
}

/* Each task depends on the one before, and the first on the last: no trace of a run, but it can be in a file. */
static void circles_are_drawn_in_a_while(void **state)
{
	(void)state;
	enum { N = 2000 };
	struct heddle_trace *trace = make_trace(two_cores, N, N);
	for (size_t i = 0; i < N; i++) {
		set_task(trace, i, 0, (double)i, (double)i + 1);
		trace->edges[i] = (struct heddle_trace_edge){i ? i : N, i + 1};
	}
	OK(heddle_trace_dag(trace, file("a.svg"), NULL));
	heddle_trace_free(trace);
}

static void more_than_a_thousand_levels_are_refused(void **state)
{
	(void)state;
	enum { DEEP = 1001 };
	struct heddle_trace *trace = make_trace(two_cores, 1, 0);
	set_task(trace, 0, 0, 0, 1);
	trace->tasks[0].id = DEEP;
	trace->tasks[0].inside = DEEP;
	trace->expansions = calloc(DEEP, sizeof *trace->expansions);
	for (size_t i = 0; i < DEEP; i++)
		trace->expansions[trace->n_expansions++] =
		    (struct heddle_trace_expansion){.id = i, .inside = i, .n_tasks = 1};
	static const char *const paths[] = {"a.dot", "a.svg"};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(heddle_trace_dag(trace, file(paths[i]), NULL), HEDDLE_E_INVALID);
		assert_non_null(strstr(heddle_last_error(), "more than 1000 levels deep"));
		OK(heddle_trace_dag(trace, file(paths[i]), &(struct heddle_dag_options){.levels = 1000}));
	}
	heddle_trace_free(trace);
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static void sub_graphs_and_layouts_are_saved(void **state)
{
	(void)state;
	struct heddle_trace *trace = nested(), *back;
	OK(heddle_trace_save(trace, file("a.trace")));
	OK(heddle_trace_load(file("a.trace"), &back));
	assert_int_equal(back->n_expansions, 2);
	assert_int_equal(back->expansions[1].inside, 3);
	assert_int_equal(back->tasks[2].inside, 5);
	assert_int_equal(back->n_layouts, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct heddle_trace_layout *x = &trace->layouts[i], *y = &back->layouts[i];
		assert_true(x->at == y->at && x->data == y->data && x->plan == y->plan && x->step == y->step &&
		            x->before == y->before);
	}
	heddle_trace_free(back);
	trace->layouts[1].at = 1;
	assert_int_equal(heddle_trace_save(trace, file("a.trace")), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "layout 2 of 3 is out of order"));
	heddle_trace_free(trace);
}

static void damaged_records_of_layouts_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"layout 1 7 0 4 0\n", "layout 1 7 -2 0 0\n", "layout x 7 0 0 0\n",
	                                  "layout 1 7 0 0\n", "layout 1 7 0 0 0 0\n"};
	struct heddle_trace *trace = nested(), *none;
	trace->n_layouts = 0;
	OK(heddle_trace_save(trace, file("a.trace")));
	heddle_trace_free(trace);
	size_t length;
	char *text = contents(file("a.trace"), &length), *end = strstr(text, "end ");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *changed = hd_format("%.*s%s%s", (int)(end - text), text, bad[i], end);
		OK(hd_file_write(file("b.trace"), changed, strlen(changed)));
		assert_int_equal(heddle_trace_load(file("b.trace"), &none), HEDDLE_E_FORMAT);
		free(changed);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(boxes_lie_in_boxes),
	    cmocka_unit_test(sub_graph_below_the_last_level_is_one_task),
	    cmocka_unit_test(each_level_has_its_nodes),
	    cmocka_unit_test(pictures_of_graphs_are_drawn_unless_they_are_too_large),
	    cmocka_unit_test(boxes_that_are_not_there_are_left_out),
	    cmocka_unit_test(circles_are_drawn_in_a_while),
	    cmocka_unit_test(more_than_a_thousand_levels_are_refused),
	    cmocka_unit_test(sub_graphs_and_layouts_are_saved),
	    cmocka_unit_test(damaged_records_of_layouts_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
