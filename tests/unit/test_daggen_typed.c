/* heddle/daggen/typed.h: the false execution keeps what its parameters promise, and its schedule is perfect. */
#include "program.h"
#include <heddle/daggen/typed.h>
#include <math.h>

enum { N_TYPES = 4, N_TASKS = 6000 };

/* A and B are for CPUs, C for GPUs, D for both. */
static struct heddle_daggen_type types[N_TYPES] = {
    {.cost = {1000, 1700}, .proportion = 3},
    {.cost = {2300, 9000}, .proportion = 1},
    {.cost = {5000, 700}, .proportion = 2, .reach = 5},
    {.cost = {900, 900}, .proportion = 2},
};
static double predecessors[N_TYPES * N_TYPES] = {
    0, 0, 1.25, 0, 0.5, 0, 0, 0.1, 1, 0, 0, 0, 0, 2, 0, 0.3,
};

static struct heddle_daggen_typed_params some_params(uint64_t seed)
{
	return (struct heddle_daggen_typed_params){.seed = seed,
	                                           .n_tasks = N_TASKS,
	                                           .types = types,
	                                           .n_types = N_TYPES,
	                                           .workers = {5, 3},
	                                           .predecessors = predecessors};
}

static struct heddle_daggen_typed_graph generate(const struct heddle_daggen_typed_params *params)
{
	struct heddle_daggen_typed_graph typed;
	assert_ok(heddle_daggen_typed(params, &typed));
	return typed;
}

static void perfect_schedules_are_valid(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct heddle_daggen_typed_params params = some_params(seed);
		params.n_tasks = 1 + 37 * seed;
		struct heddle_daggen_typed_graph typed = generate(&params);
		assert_ok(heddle_daggen_typed_check(&params, &typed));
		double work = 0;
		for (size_t i = 0; i < params.n_tasks; i++)
			work += fmin(typed.graph->times[2 * i], typed.graph->times[2 * i + 1]);
		assert_true(typed.makespan >= work / 8 && (params.n_tasks < 100 || typed.makespan <= work / 8 + 2300));
		heddle_daggen_typed_free(&typed);
	}
}

static void assert_refused(const struct heddle_daggen_typed_params *params, struct heddle_daggen_typed_graph *typed,
                           const char *why)
{
	assert_int_equal(heddle_daggen_typed_check(params, typed), HEDDLE_E_INVALID);
	assert_says(why);
	heddle_daggen_typed_free(typed);
	*typed = generate(params);
}

static void broken_schedules_are_refused(void **unused)
{
	(void)unused;
	const struct heddle_daggen_typed_params params = some_params(1);
	struct heddle_daggen_typed_graph typed = generate(&params);
	typed.schedule[50].start += 1;
	assert_refused(&params, &typed, "takes");
	typed.schedule[50].start += 1;
	typed.schedule[50].end += 1;
	assert_refused(&params, &typed, "idle or has two tasks");
	typed.schedule[50].worker = 8;
	assert_refused(&params, &typed, "does not exist");
	typed.graph->edges[typed.graph->n_edges - 1].from = N_TASKS - 2;
	assert_refused(&params, &typed, "depends on");
	typed.makespan += 1;
	assert_refused(&params, &typed, "makespan");
	typed.graph->times[0] += 1e6;
	typed.schedule[0].end += 1e6;
	assert_refused(&params, &typed, "slower");
	heddle_daggen_typed_free(&typed);
	const struct heddle_daggen_typed_params more = {
	    .n_tasks = N_TASKS, .types = types, .n_types = N_TYPES, .workers = {6, 3}, .predecessors = predecessors};
	typed = generate(&params);
	for (size_t i = 0; i < N_TASKS; i++) /* CPU 5 has nothing to do */
		typed.schedule[i].worker += typed.schedule[i].worker >= 5;
	assert_int_equal(heddle_daggen_typed_check(&more, &typed), HEDDLE_E_INVALID);
	assert_says("has nothing to do");
	heddle_daggen_typed_free(&typed);
}

/* Among the tasks of one class: 3 A, 1 B, 2 D on CPUs; 2 C, 2 D on GPUs. */
static void proportions_hold_within_each_class(void **unused)
{
	(void)unused;
	const struct heddle_daggen_typed_params params = some_params(2);
	struct heddle_daggen_typed_graph typed = generate(&params);
	double count[2][N_TYPES] = {{0}}, all[2] = {0};
	const double expected[2][N_TYPES] = {{3.0 / 6, 1.0 / 6, 0, 2.0 / 6}, {0, 0, 2.0 / 4, 2.0 / 4}};
	for (size_t i = 0; i < N_TASKS; i++) {
		int on_gpu = typed.schedule[i].worker >= 5;
		count[on_gpu][typed.graph->tasks[i].type]++;
		all[on_gpu]++;
	}
	for (int c = 0; c < 2; c++)
		for (size_t t = 0; t < N_TYPES; t++)
			if (fabs(count[c][t] / all[c] - expected[c][t]) > 0.03)
				fail_msg("class %d, type %zu: %g, not %g", c, t, count[c][t] / all[c], expected[c][t]);
	heddle_daggen_typed_free(&typed);
}

static void mean_predecessors_match_the_matrix(void **unused)
{
	(void)unused;
	const struct heddle_daggen_typed_params params = some_params(3);
	struct heddle_daggen_typed_graph typed = generate(&params);
	const struct heddle_graph *g = typed.graph;
	double sum[N_TYPES * N_TYPES] = {0}, tasks[N_TYPES] = {0};
	for (size_t i = 0; i < N_TASKS; i++)
		tasks[g->tasks[i].type]++;
	for (size_t i = 0; i < g->n_edges; i++) {
		sum[g->tasks[g->edges[i].to].type * N_TYPES + g->tasks[g->edges[i].from].type]++;
		assert_true(g->edges[i].from < g->edges[i].to);
		assert_true(i == 0 || g->edges[i].to > g->edges[i - 1].to ||
		            (g->edges[i].to == g->edges[i - 1].to && g->edges[i].from > g->edges[i - 1].from));
	}
	for (size_t i = 0; i < N_TYPES * N_TYPES; i++) {
		double mean = sum[i] / tasks[i / N_TYPES];
		if (fabs(mean - predecessors[i]) > 0.03)
			fail_msg("entry %zu: %g, not %g", i, mean, predecessors[i]);
	}
	heddle_daggen_typed_free(&typed);
}

/* Of C only the last 5 finished ones are taken. */
static void reach_limits_how_far_back_predecessors_are(void **unused)
{
	(void)unused;
	const struct heddle_daggen_typed_params params = some_params(4);
	struct heddle_daggen_typed_graph typed = generate(&params);
	const struct heddle_graph *g = typed.graph;
	size_t checked = 0, furthest = 0;
	for (size_t i = 0; i < g->n_edges && checked < 300; i++) {
		const struct heddle_graph_edge e = g->edges[i];
		if (g->tasks[e.from].type != 2)
			continue;
		size_t later = 0;
		for (size_t j = 0; j < e.to; j++)
			later += g->tasks[j].type == 2 && typed.schedule[j].end > typed.schedule[e.from].end &&
			         typed.schedule[j].end < typed.schedule[e.to].start;
		assert_true(later < 5);
		furthest = later > furthest ? later : furthest;
		checked++;
	}
	assert_true(checked == 300 && furthest >= 3);
	heddle_daggen_typed_free(&typed);
}

static int same(const struct heddle_daggen_typed_graph *a, const struct heddle_daggen_typed_graph *b)
{
	return a->graph->n_edges == b->graph->n_edges && a->makespan == b->makespan &&
	       memcmp(a->graph->edges, b->graph->edges, a->graph->n_edges * sizeof *a->graph->edges) == 0 &&
	       memcmp(a->schedule, b->schedule, N_TASKS * sizeof *a->schedule) == 0;
}

static void same_seed_gives_the_same_graph(void **unused)
{
	(void)unused;
	const struct heddle_daggen_typed_params one = some_params(5), two = some_params(6);
	struct heddle_daggen_typed_graph a = generate(&one), b = generate(&one), c = generate(&two);
	assert_true(same(&a, &b));
	assert_false(same(&a, &c));
	heddle_daggen_typed_free(&a);
	heddle_daggen_typed_free(&b);
	heddle_daggen_typed_free(&c);
}

static void wrong_parameters_are_named(void **unused)
{
	(void)unused;
	struct heddle_daggen_type wrong[N_TYPES];
	struct heddle_daggen_typed_params params = some_params(7);
	struct heddle_daggen_typed_graph typed;
	params.types = wrong;
	const struct {
		double cost, proportion;
		const char *says;
	} cases[] = {{0, 1, "costs 0"},
	             {NAN, 1, "costs"},
	             {1, -1, "the proportion of type 0"},
	             {1, INFINITY, "the proportion of type 0"},
	             {1, 0, "nothing to do"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (size_t t = 0; t < N_TYPES; t++)
			wrong[t] =
			    (struct heddle_daggen_type){.cost = {1, cases[i].cost}, .proportion = cases[i].proportion};
		assert_int_equal(heddle_daggen_typed(&params, &typed), HEDDLE_E_INVALID);
		assert_says(cases[i].says);
	}
	params = some_params(7);
	params.workers[0] = params.workers[1] = 0;
	assert_int_equal(heddle_daggen_typed(&params, &typed), HEDDLE_E_INVALID);
	assert_says("worker");
	params = some_params(7);
	params.n_tasks = 0;
	assert_int_equal(heddle_daggen_typed(&params, &typed), HEDDLE_E_INVALID);
	assert_says("0 tasks");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(perfect_schedules_are_valid),
	    cmocka_unit_test(broken_schedules_are_refused),
	    cmocka_unit_test(proportions_hold_within_each_class),
	    cmocka_unit_test(mean_predecessors_match_the_matrix),
	    cmocka_unit_test(reach_limits_how_far_back_predecessors_are),
	    cmocka_unit_test(same_seed_gives_the_same_graph),
	    cmocka_unit_test(wrong_parameters_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
