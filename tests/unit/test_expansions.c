/* When sub-graphs are begun: where there is room for them. */
#include "core/runtime.h"
#include "hierarchy.h"

/* The most there have been at once, as kernels and sub-graphs have seen it; under the core lock. */
static struct {
	uint64_t hierarchical, others; /* unfinished tasks */
} most;

static int note_most(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	hd_core_enter(rt);
	uint64_t hierarchical = rt->count.hierarchical, others = hd_live(rt) - hierarchical;
	if (hierarchical > most.hierarchical)
		most.hierarchical = hierarchical;
	if (others > most.others)
		most.others = others;
	hd_core_leave(rt);
	return 0;
}

static heddle_codelet *leaf_codelet, *inner_codelet;

static int submit_leaves(heddle_context *c)
{
	int status = 0;
	for (int i = 0; i < heddle_get(c, 0, int) && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(leaf_codelet));
	return status;
}

/* --- The window --------------------------------------------------------------------------------------------------- */

/* Hierarchical tasks, which all wait to be expanded before a worker looks for a task to run. */
static int submit_inner(heddle_context *c)
{
	int n = heddle_get(c, 0, int), each = heddle_get(c, 1, int), status = 0;
	for (int i = 0; i < n && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(inner_codelet), heddle_value(each));
	return status;
}

/* How many unfinished leaves there were at most, of `n` sub-graphs with `each` leaves. */
static uint64_t most_leaves(size_t n_workers, int window, int n, int each)
{
	heddle_runtime *rt = start_hierarchy(n_workers, window);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_inner);
	struct heddle_stats stats;
	inner_codelet = heddle_codelet_new(rt, .name = "inner", .subgraph = submit_leaves);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = note_most);
	most.others = 0;
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_value(n), heddle_value(each)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, n * each);
	assert_ok(heddle_stop(rt));
	return most.others;
}

/* One begins while there is room for one task, and enters whole: as many at once as there are workers. */
static void sub_graphs_are_begun_while_the_window_has_room(void **state)
{
	(void)state;
	enum { WINDOW = 8, SUB_GRAPHS = 200, EACH = 4, MOST_WORKERS = 4 };
	assert_int_equal(most_leaves(1, WINDOW, SUB_GRAPHS, EACH), WINDOW - 1 + EACH);
	for (size_t n = 2; n <= MOST_WORKERS; n++)
		assert_in_range(most_leaves(n, WINDOW, SUB_GRAPHS, EACH), EACH, WINDOW - 1 + n * EACH);
}

static void sub_graphs_keep_to_16384_tasks_where_the_program_has_no_limit(void **state)
{
	(void)state;
	enum { LIMIT = 16384, SUB_GRAPHS = 20, EACH = 1000 };
	assert_int_equal(most_leaves(1, 0, SUB_GRAPHS, EACH), LIMIT - 1 + EACH);
	assert_in_range(most_leaves(2, 0, SUB_GRAPHS, EACH), EACH, LIMIT - 1 + 2 * EACH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sub_graphs_are_begun_while_the_window_has_room),
	    cmocka_unit_test(sub_graphs_keep_to_16384_tasks_where_the_program_has_no_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
