/* The critical path of a task graph without its edges, against the same path along them; and a recorder that keeps
 * graphs alone. */
#include "graphs.h"
#include "record/record.h"

/* The longest path along the edges, us: they are sorted by `to`, so `ends` of the predecessors are known. */
static double along_edges(const struct heddle_graph *g, const struct heddle_platform *platform)
{
	struct heddle_graph_edge *edges;
	size_t n, e = 0;
	double *ends = calloc(g->n_tasks + 1, sizeof *ends), longest = 0;
	assert_ok(heddle_graph_edges(g, &edges, &n));
	for (size_t i = 0; i < g->n_tasks; i++) {
		double least = INFINITY;
		for (; e < n && edges[e].to == i; e++)
			ends[i] = fmax(ends[i], ends[edges[e].from]);
		for (unsigned c = 0; c < platform->n_classes; c++)
			least = fmin(least, heddle_graph_time(g, i, platform, c));
		ends[i] += least;
		longest = fmax(longest, ends[i]);
	}
	free(edges);
	free(ends);
	return longest;
}

static void the_critical_path_needs_no_edges(void **state)
{
	struct heddle_platform *platform;
	(void)state;
	assert_ok(heddle_platform_load("gpu1-cpu6", &platform));
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct heddle_graph *g = random_graph(seed, 1 + (uint32_t)seed % 40, 1 + (uint32_t)seed % 7);
		struct heddle_bounds with, without;
		double expected = along_edges(g, platform);
		assert_ok(heddle_graph_bounds(g, platform, 0, &without));
		assert_ok(heddle_graph_bounds(g, platform, 1, &with));
		assert_true(fabs(without.critical_path - expected) <= 1e-9 * expected);
		assert_true(fabs(with.critical_path - expected) <= 1e-9 * expected);
		assert_true(without.area == with.area);
		assert_true(without.mixed == fmax(without.area, without.critical_path));
		heddle_graph_free(g);
	}
	heddle_platform_free(platform);
}

static struct heddle_graph *recorded(const struct heddle_graph *g, int graph_only)
{
	heddle_runtime *rt = start_virtual("gpu1-cpu6", "dmda", 1);
	struct heddle_graph *again;
	struct heddle_trace *trace;
	if (graph_only)
		hd_recorder_graph_only(rt);
	assert_ok(heddle_graph_submit(g, rt));
	assert_ok(heddle_graph_record(rt, &again));
	assert_int_equal(heddle_trace_take(rt, &trace), graph_only ? HEDDLE_E_STATE : 0);
	if (!graph_only) {
		assert_true(trace->n_tasks >= g->n_tasks); /* and the steps of reductions */
		heddle_trace_free(trace);
	}
	assert_ok(heddle_stop(rt));
	return again;
}

static void a_recorder_of_graphs_alone_keeps_the_same_graph(void **state)
{
	(void)state;
	struct heddle_graph *g = random_graph(5, 60, 9), *whole = recorded(g, 0), *alone = recorded(g, 1);
	struct hd_text a = {0}, b = {0};
	hd_graph_write_json(whole, &a);
	hd_graph_write_json(alone, &b);
	assert_true(!a.failed && a.length > 1000 && a.length == b.length && memcmp(a.data, b.data, a.length) == 0);
	hd_text_free(&a);
	hd_text_free(&b);
	heddle_graph_free(g);
	heddle_graph_free(whole);
	heddle_graph_free(alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_critical_path_needs_no_edges),
	    cmocka_unit_test(a_recorder_of_graphs_alone_keeps_the_same_graph),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
