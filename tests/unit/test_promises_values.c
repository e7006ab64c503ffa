/* What the headers of values promise beyond their own tests: model.h, graph.h, platform.h, trace.h. What may be NULL,
 * what a new owner gets, what is counted from when. */
#include <math.h>
#include <stdio.h>
#include <heddle/graph.h>
#include <heddle/model.h>
#include <heddle/trace.h>
#include "program.h"

static void freeing_nothing_is_allowed(void **state)
{
	(void)state;
	heddle_models_free(NULL, 0);
	heddle_platform_free(NULL);
	heddle_platform_names_free(NULL);
	heddle_graph_free(NULL);
	heddle_trace_free(NULL);
	heddle_dump(NULL, NULL);
	assert_string_equal(heddle_model_warnings(NULL), "");
	assert_int_equal(heddle_models_save(NULL), HEDDLE_E_INVALID);
}

static void platform_that_is_not_there_is_refused(void **state)
{
	(void)state;
	struct heddle_platform *p, *copy = NULL;
	assert_ok(heddle_platform_load("gpu1-cpu6", &p));
	assert_int_equal(heddle_platform_copy(NULL, &copy), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_copy(p, NULL), HEDDLE_E_INVALID);
	assert_null(copy);
	assert_true(isnan(heddle_link_rate(p, heddle_platform_link(p, 0, 0)))); /* there is none */
	assert_true(isnan(heddle_link_rate(NULL, &p->links[0])));
	heddle_platform_free(p);
}

/* --- A platform made of what was measured ------------------------------------------------------------------------- */

static void measured_platform_has_the_workers_and_the_means(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	struct heddle_platform *p;
	heddle_data *d;
	long x = 0;
	assert_int_equal(heddle_platform_measured(rt, NULL, &p), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_measured(NULL, "x", &p), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_measured(rt, "x", NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 50; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_platform_measured(rt, "here", &p));
	assert_string_equal(p->name, "here");
	assert_int_equal(p->n_workers, heddle_runtime_platform(rt)->n_workers);
	assert_ok(heddle_stop(rt));
	assert_ok(heddle_platform_check(p)); /* it is the caller's, and outlives the runtime */
	double us = heddle_platform_time(p, "increment", 0, sizeof x, 0);
	assert_true(us > 0);
	assert_true(isnan(heddle_platform_time(p, "decrement", 0, sizeof x, 0)));
	assert_null(heddle_platform_link(p, 0, 0));
	heddle_platform_free(p);
}

/* --- Recorded graphs ---------------------------------------------------------------------------------------------- */

static heddle_runtime *start_tracing(void)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	return start_with(&config);
}

static size_t n_recorded(heddle_runtime *rt)
{
	struct heddle_graph *g;
	assert_ok(heddle_graph_record(rt, &g));
	size_t n = g->n_tasks;
	heddle_graph_free(g);
	return n;
}

/* Since the start, or since the first task after a trace was taken; those that failed are in it. */
static void graph_is_recorded_until_the_task_after_a_trace(void **state)
{
	(void)state;
	heddle_runtime *rt = start_tracing();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	int codes[] = {0, 1};
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(codes[i])));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(n_recorded(rt), 2);
	assert_int_equal(n_recorded(rt), 2); /* looking changes nothing */
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 2);
	assert_int_equal(trace->tasks[0].status + trace->tasks[1].status, HEDDLE_E_KERNEL);
	heddle_trace_free(trace);
	assert_int_equal(n_recorded(rt), 2);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(codes[0])));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_recorded(rt), 1);
	assert_int_equal(heddle_graph_record(rt, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_take(rt, NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

/* --- Nothing happened --------------------------------------------------------------------------------------------- */

static void empty_trace_and_graph_are_values_like_others(void **state)
{
	(void)state;
	heddle_runtime *rt = start_tracing();
	struct heddle_trace *trace;
	struct heddle_graph *graph;
	struct heddle_graph_edge *edges = NULL;
	struct heddle_bounds bounds;
	uint64_t *ids = NULL;
	size_t n = 7;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_graph_record(rt, &graph));
	assert_ok(heddle_stop(rt));
	assert_true(heddle_trace_makespan(trace) == 0);
	assert_ok(heddle_trace_critical_path(trace, &ids, &n));
	assert_int_equal(n, 0);
	free(ids);
	assert_ok(heddle_trace_bounds(trace, NULL, NULL, 10, &bounds));
	assert_true(bounds.area == 0 && bounds.critical_path == 0 && bounds.mixed == 0);
	assert_ok(heddle_graph_check(graph));
	n = 7;
	assert_ok(heddle_graph_edges(graph, &edges, &n));
	assert_int_equal(n, 0);
	free(edges);
	assert_int_equal(heddle_graph_save(graph, "graph.txt"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_graph_load("graph.txt", &graph), HEDDLE_E_INVALID);
	assert_int_equal(heddle_graph_load("/nowhere/graph.json", &graph), HEDDLE_E_IO);
	heddle_trace_free(trace);
	heddle_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(freeing_nothing_is_allowed),
	    cmocka_unit_test(platform_that_is_not_there_is_refused),
	    cmocka_unit_test(measured_platform_has_the_workers_and_the_means),
	    cmocka_unit_test(graph_is_recorded_until_the_task_after_a_trace),
	    cmocka_unit_test(empty_trace_and_graph_are_values_like_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
