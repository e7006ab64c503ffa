/* When sub-graphs are begun: where there is room for them, the most urgent and then the deepest first, several at once;
 * and that policies hear nothing of it. */
#include "internals.h"
#include "hierarchy.h"
#include "probe.h"

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

/* --- The order ---------------------------------------------------------------------------------------------------- */

enum { DEPTH = 12 };

/* Two tasks of the next level; at the last one a leaf. */
static int halve(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	int next = heddle_get(c, 0, int) + 1;
	note_most(c);
	if (next == DEPTH)
		return heddle_submit(rt, heddle_call(leaf_codelet));
	int status = heddle_submit(rt, heddle_call(inner_codelet), heddle_value(next));
	return status ? status : heddle_submit(rt, heddle_call(inner_codelet), heddle_value(next));
}

/* Of 4095 hierarchical tasks there are at once those above the leaves that the window holds, and one beside each. */
static void a_recursion_is_expanded_like_a_stack(void **state)
{
	(void)state;
	enum { WINDOW = 2 };
	heddle_runtime *rt = start_hierarchy(1, WINDOW);
	inner_codelet = heddle_codelet_new(rt, .name = "halve", .subgraph = halve);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = note_most);
	most.hierarchical = 0;
	assert_ok(heddle_submit(rt, heddle_call(inner_codelet), heddle_value((int){0})));
	assert_ok(heddle_wait_all(rt));
	assert_in_range(most.hierarchical, DEPTH, 3 * DEPTH);
	assert_ok(heddle_stop(rt));
}

static long expanded; /* the digits of those that were, in that order */
static heddle_codelet *digit_codelet;

static int submit_digit(heddle_runtime *rt, int digit, int priority)
{
	return heddle_submit(rt, heddle_call(digit_codelet), heddle_value(digit), heddle_priority(priority));
}

static int expand_digit(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	int digit = heddle_get(c, 0, int);
	expanded = 10 * expanded + digit;
	return digit == 2 && (submit_digit(rt, 5, 0) || submit_digit(rt, 6, 1));
}

/* 2 is the most urgent of those that wait for a worker, 6 of those that then do; 5 is deeper than 1 and 3. */
static void what_is_urgent_is_expanded_first_then_what_is_deep_then_what_is_old(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(1, 0);
	heddle_codelet *busy = heddle_codelet_new(rt, .name = "busy", .cpu = enter_gate);
	struct gate g = {0, 0}, *gate = &g;
	digit_codelet = heddle_codelet_new(rt, .name = "digit", .subgraph = expand_digit);
	expanded = 0;
	assert_ok(heddle_submit(rt, heddle_call(busy), heddle_value(gate)));
	int n_entered = reached(&g.entered, 1);
	assert_ok(submit_digit(rt, 1, 0));
	assert_ok(submit_digit(rt, 2, 5));
	assert_ok(submit_digit(rt, 3, 0));
	assert_ok(submit_digit(rt, 4, -1));
	hd_core_enter(rt);
	hd_drain_all(rt);
	hd_core_leave(rt);
	atomic_store(&g.open, 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_entered, 1);
	assert_int_equal(expanded, 265134);
	assert_ok(heddle_stop(rt));
}

/* --- Several at once ---------------------------------------------------------------------------------------------- */

static int meet(heddle_context *c)
{
	atomic_int *n = pointer_value(c);
	atomic_fetch_add(n, 1);
	return reached(n, 2) == 2 ? 0 : heddle_fail(c, 1, "no other sub-graph has begun meanwhile");
}

static void two_workers_submit_sub_graphs_at_the_same_time(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	heddle_codelet *meets = heddle_codelet_new(rt, .name = "meets", .subgraph = meet);
	atomic_int n = 0, *counter = &n;
	assert_ok(heddle_submit(rt, heddle_call(meets), heddle_value(counter)));
	assert_ok(heddle_submit(rt, heddle_call(meets), heddle_value(counter)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* --- The policy --------------------------------------------------------------------------------------------------- */

/* What it is told of tasks that are expanded, and of others; under the core lock. */
static struct heard {
	int ready, started, done;
} of_expanded, of_others;

enum { WHOLE, EXPANDED, FAILING }; /* priorities of tasks that have sub-graphs */

static struct heard *heard_of(const heddle_task *t)
{
	int is_leaf = heddle_task_codelet(t) == leaf_codelet;
	return is_leaf || heddle_task_priority(t) == WHOLE ? &of_others : &of_expanded;
}

static void hear_ready(heddle_task *t)
{
	heard_of(t)->ready++;
}

static void hear_started(void *state, heddle_task *t, unsigned worker)
{
	(void)state;
	(void)worker;
	heard_of(t)->started++;
}

static void hear_done(heddle_task *t, unsigned worker)
{
	(void)worker;
	heard_of(t)->done++;
}

/* The probe, which is told of starts as well. */
static const struct heddle_policy listener = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "listener",
                                              .summary = "first in, first out",
                                              .source = "tests",
                                              .create = probe_create,
                                              .destroy = probe_destroy,
                                              .ready = probe_ready,
                                              .pick = probe_pick,
                                              .started = hear_started,
                                              .done = probe_done};

static int by_priority(const heddle_task *t, void *arg)
{
	(void)arg;
	return heddle_task_priority(t) != WHOLE;
}

static int submit_or_fail(heddle_context *c)
{
	int fails = heddle_get(c, 1, int);
	return submit_leaves(c) || fails;
}

static void a_policy_hears_nothing_of_tasks_that_are_expanded(void **state)
{
	(void)state;
	enum { EACH = 3, TIMES = 20, HEARD = TIMES * (1 + 2 * EACH) };
	struct heddle_config config = small_config();
	config.sched = "listener";
	probe.on_ready = hear_ready;
	probe.on_done = hear_done;
	assert_ok(heddle_policy_register(&listener));
	heddle_runtime *rt = start_cpus(config, 2);
	heddle_codelet *outer =
	    heddle_codelet_new(rt, .name = "outer", .cpu = nothing, .subgraph = submit_or_fail, .expand = by_priority);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = nothing);
	for (int i = 0; i < TIMES; i++)
		for (int priority = WHOLE; priority <= FAILING; priority++) {
			int fails = priority == FAILING;
			assert_ok(heddle_submit(rt, heddle_call(outer), heddle_value((int){EACH}), heddle_value(fails),
			                        heddle_priority(priority)));
		}
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
	assert_int_equal(of_expanded.ready, 0);
	assert_int_equal(of_expanded.started, 0);
	assert_int_equal(of_expanded.done, 0);
	assert_int_equal(of_others.ready, HEARD);
	assert_int_equal(of_others.started, HEARD);
	assert_int_equal(of_others.done, HEARD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sub_graphs_are_begun_while_the_window_has_room),
	    cmocka_unit_test(sub_graphs_keep_to_16384_tasks_where_the_program_has_no_limit),
	    cmocka_unit_test(a_recursion_is_expanded_like_a_stack),
	    cmocka_unit_test(what_is_urgent_is_expanded_first_then_what_is_deep_then_what_is_old),
	    cmocka_unit_test(two_workers_submit_sub_graphs_at_the_same_time),
	    cmocka_unit_test(a_policy_hears_nothing_of_tasks_that_are_expanded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
