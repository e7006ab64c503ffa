/* Hierarchical tasks in traces and recorded graphs: who is inside whom, and dependencies in the order of the sequential
 * program. */
#include "hierarchy.h"
#include "scratch.h"

static heddle_codelet *work, *outer_codelet;

static double takes_ten(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10;
}

/* Submits a task, a sub-graph of one level less, and a task, all of which write the datum. */
static int submit_levels(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0);
	int level = heddle_get(c, 0, int), below = level - 1;
	heddle_submit(rt, heddle_call(work), heddle_rw(d));
	if (level)
		heddle_submit(rt, heddle_call(outer_codelet), heddle_rw(d), heddle_value(below), heddle_named("below"));
	heddle_submit(rt, heddle_call(work), heddle_rw(d));
	return 0;
}

/* Tasks 0 (work) and 1 (hierarchical, of two levels) on one datum, then 2 (work) on it, and 3 that waits for 1
 * explicitly. In sequential order: 0, a, b, c, d, 2 where a to d are inside 1, b and c one level deeper. */
static heddle_runtime *run_levels(double expand_cost, double submit_cost)
{
	static const char machine[] =
	    "version: 1\nname: test\nnodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\n"
	    "workers:\n- {name: core, class: cpu, node: ram, count: 3}\n";
	struct heddle_config config = small_config();
	config.n_cpu = -1;
	config.trace = 1;
	config.virtual_time.expand_cost = expand_cost;
	config.virtual_time.submit_cost = submit_cost;
	heddle_runtime *rt = start_on(&config, machine);
	heddle_data *d;
	heddle_task *t;
	assert_non_null(work = heddle_codelet_new(rt, .name = "work", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = takes_ten));
	assert_non_null(outer_codelet = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_levels));
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(work), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(outer_codelet), heddle_rw(d), heddle_value((int){1}), heddle_out(&t)));
	assert_ok(heddle_submit(rt, heddle_call(work), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(work), heddle_after(t)));
	heddle_task_release(t);
	assert_ok(heddle_wait_all(rt));
	return rt;
}

static const struct heddle_trace_task *task_at(const struct heddle_trace *trace, double start)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].start == start)
			return &trace->tasks[i];
	fail_msg("no task begins at %g us", start);
	return NULL;
}

/* Task 0 runs until 10; then the outer one submits three tasks, of which the first runs from 20 to 30; then the inner
 * one submits two. */
static void traces_know_when_sub_graphs_were_submitted(void **state)
{
	(void)state;
	static const double starts[] = {10, 30}, ends[] = {20, 38};
	struct heddle_trace *trace;
	heddle_runtime *rt = run_levels(4, 2);
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_expansions, 2);
	for (int i = 0; i < 2; i++) {
		assert_float_equal(trace->expansions[i].start, starts[i], 1e-9);
		assert_float_equal(trace->expansions[i].end, ends[i], 1e-9);
		assert_int_equal(trace->expansions[i].subgraph, 0);
	}
	assert_int_equal(trace->expansions[0].worker, task_at(trace, 20)->worker); /* which has just become free */
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static int has_edge(const struct heddle_trace *trace, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].from == from && trace->edges[i].to == to)
			return 1;
	return 0;
}

static void check_levels(const struct heddle_trace *trace)
{
	uint64_t ids[6];
	assert_int_equal(trace->n_tasks, 7);
	assert_int_equal(trace->n_expansions, 2);
	assert_int_equal(trace->expansions[0].id, 1);
	assert_int_equal(trace->expansions[0].inside, 0);
	assert_int_equal(trace->expansions[0].n_tasks, 3);
	assert_int_equal(trace->expansions[1].inside, 2);
	assert_int_equal(trace->expansions[1].n_tasks, 2);
	assert_string_equal(trace->codelets[trace->expansions[1].codelet].name, "outer");
	for (int i = 0; i < 5; i++)
		ids[i] = task_at(trace, 10 * i)->id;
	assert_int_equal(ids[0], 0);
	assert_int_equal(task_at(trace, 0)->inside, 0);
	assert_int_equal(task_at(trace, 10)->inside, 2);
	assert_int_equal(task_at(trace, 20)->inside, 1 + trace->expansions[1].id);
	assert_int_equal(task_at(trace, 40)->inside, 2);
	ids[5] = 2;
	for (int i = 0; i < 5; i++)
		assert_true(has_edge(trace, ids[i], ids[i + 1]));
	for (int i = 1; i < 5; i++) /* what waits for the hierarchical task waits for each task inside */
		assert_true(has_edge(trace, ids[i], 3));
	assert_int_equal(trace->n_edges, 5 + 4);
}

static void traces_record_the_nesting_of_tasks(void **state)
{
	(void)state;
	struct heddle_trace *trace, *loaded;
	heddle_runtime *rt = run_levels(0, 0);
	assert_ok(heddle_trace_take(rt, &trace));
	check_levels(trace);
	const char *path = file("levels.trace");
	assert_ok(heddle_trace_save(trace, path));
	assert_ok(heddle_trace_load(path, &loaded));
	check_levels(loaded);
	heddle_trace_free(loaded);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void recorded_graphs_have_the_order_of_the_program(void **state)
{
	(void)state;
	struct heddle_graph *graph;
	struct heddle_graph_edge *edges;
	size_t n;
	heddle_runtime *rt = run_levels(0, 0);
	assert_ok(heddle_graph_record(rt, &graph));
	assert_int_equal(graph->n_tasks, 7);
	assert_ok(heddle_graph_edges(graph, &edges, &n));
	assert_int_equal(n, 5 + 4);
	for (size_t i = 0; i < 5; i++) { /* the tasks are in sequential order: each waits for the one before */
		assert_int_equal(edges[i].from, i);
		assert_int_equal(edges[i].to, i + 1);
	}
	free(edges);
	heddle_graph_free(graph);
	assert_ok(heddle_stop(rt));
}

static heddle_runtime *taken_from;
static struct heddle_trace *earlier;

static void take_trace(void *arg, int status)
{
	(void)arg;
	(void)status;
	assert_ok(heddle_trace_take(taken_from, &earlier));
}

static int submit_two(heddle_context *c)
{
	heddle_data *d = heddle_context_data(c, 0);
	heddle_submit(taken_from, heddle_call(work), heddle_rw(d), heddle_then(take_trace, NULL));
	heddle_submit(taken_from, heddle_call(work), heddle_rw(d));
	return 0;
}

/* A trace may begin when a sub-graph has been submitted and goes on. */
static void task_of_an_earlier_sub_graph_is_known_to_be_inside(void **state)
{
	(void)state;
	heddle_data *d;
	struct heddle_trace *later, *loaded;
	const char *path = file("later.trace");
	taken_from = run_levels(0, 0);
	assert_ok(heddle_trace_take(taken_from, &earlier));
	heddle_trace_free(earlier);
	heddle_codelet *two = heddle_codelet_new(taken_from, .name = "two", .subgraph = submit_two);
	assert_ok(heddle_variable(taken_from, NULL, sizeof(long), &d));
	assert_ok(heddle_submit(taken_from, heddle_call(two), heddle_rw(d)));
	assert_ok(heddle_wait_all(taken_from));
	assert_ok(heddle_trace_take(taken_from, &later));
	assert_int_equal(earlier->n_expansions, 1);
	assert_int_equal(later->n_expansions, 0);
	assert_int_equal(later->n_tasks, 1);
	assert_int_equal(later->tasks[0].inside, 1 + earlier->expansions[0].id);
	assert_ok(heddle_trace_save(later, path));
	assert_ok(heddle_trace_load(path, &loaded));
	assert_int_equal(loaded->tasks[0].inside, later->tasks[0].inside);
	heddle_trace_free(earlier);
	heddle_trace_free(later);
	heddle_trace_free(loaded);
	assert_ok(heddle_stop(taken_from));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(traces_record_the_nesting_of_tasks),
	    cmocka_unit_test(traces_know_when_sub_graphs_were_submitted),
	    cmocka_unit_test(recorded_graphs_have_the_order_of_the_program),
	    cmocka_unit_test(task_of_an_earlier_sub_graph_is_known_to_be_inside),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
