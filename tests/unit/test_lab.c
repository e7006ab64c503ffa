/* research/lab: the simulator against the paper's example and the real policy, the search, the heuristics, the
 * experiment. */
#include "program.h"
#include <lab/lab.h>
#include <math.h>
#include "base/base.h"

enum { MAX_TASKS = 4000 };

/* --- Graphs ------------------------------------------------------------------------------------------------------- */

/* Tasks by their types; costs in us per type and class; edges sorted by `to`. */
static struct hd_lab_dag *by_hand(const char *tasks, const double (*costs)[2], const struct heddle_graph_edge *edges,
                                  size_t n_edges, unsigned n_cpu, unsigned n_gpu)
{
	static struct heddle_graph_task task[MAX_TASKS];
	static struct heddle_graph_edge edge[MAX_TASKS];
	static double times[2 * MAX_TASKS];
	static char name[] = "by hand", cpu[] = "cpu", cuda[] = "cuda";
	static char *classes[] = {cpu, cuda};
	struct heddle_graph_type types[26] = {{.name = name}};
	struct heddle_graph g = {.name = name,
	                         .types = types,
	                         .tasks = task,
	                         .edges = edge,
	                         .n_edges = n_edges,
	                         .classes = classes,
	                         .n_classes = 2,
	                         .times = times};
	for (; tasks[g.n_tasks]; g.n_tasks++) {
		uint32_t type = (uint32_t)(tasks[g.n_tasks] - 'A');
		task[g.n_tasks].type = type;
		g.n_types = type + 1 > g.n_types ? type + 1 : g.n_types;
		times[2 * g.n_tasks] = costs[type][0];
		times[2 * g.n_tasks + 1] = costs[type][1];
	}
	for (size_t i = 0; i < n_edges; i++)
		edge[i] = edges[i];
	struct hd_lab_dag *dag;
	const unsigned workers[] = {n_cpu, n_gpu};
	assert_ok(hd_lab_dag_new(&g, workers, &dag));
	return dag;
}

static struct hd_lab_sim *new_sim(void)
{
	struct hd_lab_sim *sim;
	assert_ok(hd_lab_sim_new(MAX_TASKS, &sim));
	return sim;
}

/* "BCA", "ACB" */
static struct hd_lab_orders orders_of(const char *cpu, const char *gpu)
{
	struct hd_lab_orders o = {{{0}}};
	for (size_t i = 0; cpu[i]; i++) {
		o.order[HD_LAB_CPU][i] = (uint8_t)(cpu[i] - 'A');
		o.order[HD_LAB_GPU][i] = (uint8_t)(gpu[i] - 'A');
	}
	return o;
}

/* A set drawn from the distributions, and its graph. */
static struct hd_lab_dag *drawn(uint64_t seed, size_t n_tasks, struct heddle_daggen_typed_graph *typed)
{
	struct hd_rng rng;
	struct hd_lab_set set;
	struct hd_lab_dag *dag;
	hd_rng_seed(&rng, seed);
	hd_lab_set_draw(&rng, 1, &set);
	const struct heddle_daggen_typed_params params = {.seed = seed,
	                                                  .n_tasks = n_tasks,
	                                                  .types = set.types,
	                                                  .n_types = set.n_types,
	                                                  .workers = {3, 2},
	                                                  .predecessors = set.predecessors};
	struct heddle_daggen_typed_graph own;
	assert_ok(heddle_daggen_typed(&params, typed ? typed : &own));
	assert_ok(hd_lab_dag_new(typed ? typed->graph : own.graph, params.workers, &dag));
	if (!typed)
		heddle_daggen_typed_free(&own);
	return dag;
}

static struct hd_lab_orders random_orders(struct hd_rng *rng, uint32_t n)
{
	struct hd_lab_orders o = {{{0}}};
	for (int c = 0; c < 2; c++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = (uint32_t)(hd_rng_next(rng) % (i + 1));
			o.order[c][i] = o.order[c][at];
			o.order[c][at] = (uint8_t)i;
		}
	return o;
}

/* --- The simulator ------------------------------------------------------------------------------------------------ */

/* Section 3.3: the costs of table 1, in s, the priorities of table 2; the graph is that of test_autoheteroprio. */
static void example_of_the_paper_takes_7_5_and_5_seconds(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{1, 2}, {2, 1}, {1, 1}};
	static const struct heddle_graph_edge edges[] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 4},
	                                                 {1, 5}, {4, 6}, {4, 7}, {0, 8}, {4, 9}};
	const struct {
		const char *cpu, *gpu;
		uint64_t seconds;
	} cases[] = {{"BCA", "ACB", 7}, {"ACB", "BCA", 5}, {"CAB", "BCA", 5}};
	struct hd_lab_dag *dag = by_hand("ABACCBCABC", costs, edges, 10, 2, 1);
	struct hd_lab_sim *sim = new_sim();
	for (int i = 0; i < 3; i++) {
		const struct hd_lab_orders orders = orders_of(cases[i].cpu, cases[i].gpu);
		assert_int_equal(hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, NULL), cases[i].seconds);
	}
	hd_lab_sim_free(sim);
	hd_lab_dag_free(dag);
}

/* The slow class takes what there is: nothing keeps it. Buckets are first in first out. */
static void idle_workers_take_whatever_is_ready(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{10, 1000}, {10, 7}};
	struct hd_lab_dag *dag = by_hand("AABA", costs, NULL, 0, 1, 1);
	struct hd_lab_sim *sim = new_sim();
	struct hd_lab_orders orders = orders_of("AB", "BA");
	struct hd_lab_outcome outcome;
	/* CPU: A 0-10, A 10-20; GPU: B 0-7, A 7-1007 */
	assert_int_equal(hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, &outcome), 1007);
	assert_int_equal(outcome.executed[0][HD_LAB_CPU], 2);
	assert_int_equal(outcome.executed[0][HD_LAB_GPU], 1);
	assert_int_equal(outcome.executed[1][HD_LAB_GPU], 1);
	orders = orders_of("BA", "AB");
	assert_int_equal(hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, &outcome), 1000); /* CPU: B A A */
	assert_int_equal(outcome.executed[0][HD_LAB_CPU], 2);
	assert_int_equal(outcome.executed[1][HD_LAB_CPU], 1);
	hd_lab_sim_free(sim);
	hd_lab_dag_free(dag);
}

static void a_limit_abandons_what_exceeds_it_and_nothing_else(void **unused)
{
	(void)unused;
	struct hd_lab_sim *sim = new_sim();
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	for (uint64_t seed = 0; seed < 30; seed++) {
		struct hd_lab_dag *dag = drawn(seed, 300, NULL);
		struct hd_lab_orders orders = random_orders(&rng, dag->n_types);
		uint64_t makespan = hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, NULL);
		assert_true(makespan != HD_LAB_ABANDONED && 5 * makespan >= dag->least_work);
		assert_int_equal(hd_lab_sim_run(sim, dag, &orders, makespan, NULL), makespan);
		assert_true(hd_lab_sim_run(sim, dag, &orders, makespan - 1, NULL) == HD_LAB_ABANDONED);
		uint64_t before = hd_lab_sim_tasks(sim);
		assert_true(hd_lab_sim_run(sim, dag, &orders, makespan / 2, NULL) == HD_LAB_ABANDONED);
		assert_true(hd_lab_sim_tasks(sim) - before < 300); /* and does so early */
		hd_lab_dag_free(dag);
	}
	hd_lab_sim_free(sim);
}

/* --- Against the policy heteroprio in virtual time ---------------------------------------------------------------- */

static void name_order(char *text, const char *class_name, const uint8_t *order, size_t n)
{
	text += sprintf(text, "%s: ", class_name);
	for (size_t i = 0; i < n; i++)
		text += sprintf(text, "%s%c", i ? " > " : "", 'A' + order[i]);
}

/* 3 CPUs and 2 GPUs on one memory. */
static heddle_runtime *start_like(const struct hd_lab_dag *dag, const struct hd_lab_orders *orders)
{
	static char node_name[] = "ram", cpu[] = "cpu", cuda[] = "cuda", names[5][8] = {"c0", "c1", "c2", "g0", "g1"},
	            codelets[HD_LAB_TYPES][2], options[256];
	static struct heddle_kernel_time kernels[2 * HD_LAB_TYPES];
	struct heddle_node node = {.name = node_name};
	struct heddle_class classes[] = {
	    {.name = cpu, .kind = cpu, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
	    {.name = cuda, .kind = cuda, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1}};
	struct heddle_worker workers[5];
	for (unsigned w = 0; w < 5; w++)
		workers[w] = (struct heddle_worker){.name = names[w], .class_id = w >= 3, .core = -1};
	for (unsigned k = 0; k < 2 * dag->n_types; k++) {
		codelets[k / 2][0] = (char)('A' + k / 2);
		kernels[k] = (struct heddle_kernel_time){
		    .codelet = codelets[k / 2], .class_id = k % 2, .gflops = 1e15, .latency = dag->cost[k / 2][k % 2]};
	}
	struct heddle_platform platform = {.name = node_name,
	                                   .nodes = &node,
	                                   .n_nodes = 1,
	                                   .classes = classes,
	                                   .n_classes = 2,
	                                   .workers = workers,
	                                   .n_workers = 5,
	                                   .kernels = kernels,
	                                   .n_kernels = 2 * dag->n_types};
	char cpu_order[64], gpu_order[64];
	name_order(cpu_order, "cpu", orders->order[HD_LAB_CPU], dag->n_types);
	name_order(gpu_order, "cuda", orders->order[HD_LAB_GPU], dag->n_types);
	sprintf(options, "order=%s; %s,ahead=1,gate=no", cpu_order, gpu_order);
	struct heddle_config config = small_config();
	config.sched = "heteroprio";
	config.sched_options = options;
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, &platform, 1, &rt));
	return rt;
}

static double run_like(heddle_runtime *rt, const struct heddle_graph *g)
{
	heddle_codelet *codelets[HD_LAB_TYPES];
	heddle_task *all[500];
	size_t edge = 0;
	for (uint32_t t = 0; t < g->n_types; t++) {
		const char name[] = {(char)('A' + t), '\0'};
		codelets[t] = heddle_codelet_new(rt, .name = name, .cpu = nothing, .cuda = nothing, .flops = one_flop);
		assert_non_null(codelets[t]);
	}
	double start = heddle_now(rt);
	for (uint32_t i = 0; i < g->n_tasks; i++) {
		struct heddle_item items[2 + 32] = {heddle_call(codelets[g->tasks[i].type]), heddle_out(&all[i])};
		size_t n = 2;
		for (; edge < g->n_edges && g->edges[edge].to == i; edge++)
			items[n++] = heddle_after(all[g->edges[edge].from]);
		assert_ok(heddle_submit_items(rt, n, items));
	}
	assert_ok(heddle_wait_all(rt));
	for (uint32_t i = 0; i < g->n_tasks; i++)
		heddle_task_release(all[i]);
	return heddle_now(rt) - start;
}

/* Every other root waits for task 0: a runtime gives its first tasks to workers while the program still submits
 * others. */
static void make_one_root(struct heddle_graph *g)
{
	struct heddle_graph_edge *edges = malloc((g->n_edges + g->n_tasks) * sizeof *edges);
	size_t n = 0, old = 0;
	assert_non_null(edges);
	for (uint32_t i = 1; i < g->n_tasks; i++) {
		if (old == g->n_edges || g->edges[old].to != i)
			edges[n++] = (struct heddle_graph_edge){0, i};
		for (; old < g->n_edges && g->edges[old].to == i; old++)
			edges[n++] = g->edges[old];
	}
	free(g->edges);
	g->edges = edges;
	g->n_edges = n;
}

static void simulator_and_policy_agree(void **unused)
{
	(void)unused;
	struct hd_lab_sim *sim = new_sim();
	struct hd_rng rng;
	hd_rng_seed(&rng, 2);
	for (uint64_t seed = 100; seed < 130; seed++) {
		struct heddle_daggen_typed_graph typed;
		struct hd_lab_dag *dag = drawn(seed, 400, &typed);
		hd_lab_dag_free(dag);
		make_one_root(typed.graph);
		assert_ok(hd_lab_dag_new(typed.graph, (const unsigned[]){3, 2}, &dag));
		struct hd_lab_orders orders = random_orders(&rng, dag->n_types);
		double ours = (double)hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, NULL);
		heddle_runtime *rt = start_like(dag, &orders);
		double theirs = run_like(rt, typed.graph);
		if (fabs(ours - theirs) > 1e-3)
			fail_msg("seed %d: %g us in the laboratory, %g under heteroprio", (int)seed, ours, theirs);
		assert_ok(heddle_stop(rt));
		heddle_daggen_typed_free(&typed);
		hd_lab_dag_free(dag);
	}
	hd_lab_sim_free(sim);
}

static void graphs_that_cannot_be_simulated_are_refused(void **unused)
{
	(void)unused;
	struct heddle_daggen_typed_graph typed;
	struct hd_lab_dag *dag = drawn(1, 50, &typed), *none;
	const unsigned workers[] = {1, 1}, nobody[] = {0, 0};
	struct heddle_graph *g = typed.graph;
	assert_int_equal(hd_lab_dag_new(g, nobody, &none), HEDDLE_E_INVALID);
	assert_says("workers");
	g->times[0] += 0.5;
	assert_int_equal(hd_lab_dag_new(g, workers, &none), HEDDLE_E_INVALID);
	assert_says("whole number");
	g->times[0] += 0.5;
	assert_int_equal(hd_lab_dag_new(g, workers, &none), HEDDLE_E_INVALID);
	assert_says("all must take the same");
	g->times[0] -= 1;
	g->classes[1][0] = 'x';
	assert_int_equal(hd_lab_dag_new(g, workers, &none), HEDDLE_E_INVALID);
	assert_says("no times for cuda");
	g->classes[1][0] = 'c';
	size_t n_types = g->n_types;
	g->n_types = HD_LAB_TYPES + 1;
	assert_int_equal(hd_lab_dag_new(g, workers, &none), HEDDLE_E_INVALID);
	assert_says("types");
	g->n_types = n_types;
	heddle_daggen_typed_free(&typed);
	hd_lab_dag_free(dag);
}

/* --- Statistics and fit ------------------------------------------------------------------------------------------- */

/* A close, B far, C between; task 0 has 5 successors, task 8 has 4 predecessors. */
static void statistics_of_a_graph_made_by_hand(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{10, 14}, {40, 20}, {10, 16}};
	static const struct heddle_graph_edge edges[] = {{0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6},
	                                                 {2, 8}, {3, 8}, {4, 8}, {5, 8}};
	struct hd_lab_dag *dag = by_hand("AABCCCCABA", costs, edges, 9, 1, 1);
	const struct hd_lab_statistics s = hd_lab_statistics(dag);
	assert_true(s.close == 0.4 && s.far == 0.2);
	assert_true(s.many_predecessors == 0.1 && s.mean_predecessors == 0.9 && s.max_predecessors == 4);
	assert_true(s.no_successor == 0.5 && s.many_successors == 0.1 && s.max_successors == 5);
	assert_true(fabs(s.mean_diff - (4 * 4 + 2 * 20 + 4 * 6) / 120.0) < 1e-12);
	hd_lab_dag_free(dag);
}

static void fit_comes_nearer_to_its_row(void **unused)
{
	(void)unused;
	for (unsigned number = 0; number < 3; number++) {
		double distance[2], perfect;
		for (unsigned steps = 0; steps < 2; steps++) {
			const struct hd_lab_fit fit = {
			    .number = 7 * number, .seed = 1, .n_tasks = 500, .draws = 20, .steps = 200 * steps};
			struct hd_lab_set set;
			struct hd_lab_dag *dag;
			assert_ok(hd_lab_fit(&fit, &set, &dag, &perfect));
			const struct hd_lab_statistics s = hd_lab_statistics(dag);
			distance[steps] = hd_lab_distance(&s, &hd_lab_paper_sets[fit.number].statistics);
			assert_true(set.n_types == dag->n_types && perfect > 0);
			hd_lab_dag_free(dag);
		}
		assert_true(distance[1] < 0.7 * distance[0]);
	}
	const struct hd_lab_fit none = {.number = HD_LAB_SETS, .n_tasks = 10};
	assert_int_equal(hd_lab_fit(&none, NULL, NULL, NULL), HEDDLE_E_INVALID);
	assert_says("no parameter set 32");
}

/* --- Control priorities ------------------------------------------------------------------------------------------- */

enum { N_CONTROLS = 4 };

static void search(unsigned n_threads, struct hd_lab_dag *const *dags, struct hd_lab_control *controls)
{
	struct hd_lab_team team;
	struct hd_rng rng;
	hd_rng_seed(&rng, 3);
	assert_ok(hd_lab_team_init(&team, n_threads, MAX_TASKS));
	for (size_t i = 0; i < N_CONTROLS; i++)
		controls[i] =
		    (struct hd_lab_control){.seed = i, .dag = dags[i], .orders = random_orders(&rng, dags[i]->n_types)};
	assert_ok(hd_lab_control(&team, controls, N_CONTROLS, NULL, NULL));
	hd_lab_team_fini(&team);
}

/* All permutations of the first n of `order`, by exchanging; the least makespan. */
static uint64_t least_of_all(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, struct hd_lab_orders *o, uint32_t n)
{
	uint64_t least = n == 0 ? hd_lab_sim_run(sim, dag, o, HD_LAB_NO_LIMIT, NULL) : UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *order = o->order[HD_LAB_GPU], kept = order[i];
		order[i] = order[n - 1];
		order[n - 1] = kept;
		uint64_t makespan = least_of_all(sim, dag, o, n - 1);
		least = makespan < least ? makespan : least;
		order[n - 1] = order[i];
		order[i] = kept;
	}
	return least;
}

static void control_is_a_best_order_and_never_worse_than_the_first(void **unused)
{
	(void)unused;
	struct hd_lab_dag *dags[N_CONTROLS];
	struct hd_lab_control controls[N_CONTROLS];
	struct hd_lab_sim *sim = new_sim();
	for (size_t i = 0; i < N_CONTROLS; i++)
		dags[i] = drawn(200 + i, 100, NULL);
	search(2, dags, controls);
	for (size_t i = 0; i < N_CONTROLS; i++) {
		struct hd_lab_control *c = &controls[i];
		assert_true(c->after[0] <= c->first);
		for (int k = 1; k < 2 * HD_LAB_PAIRS; k++)
			assert_true(c->after[k] <= c->after[k - 1]);
		assert_true(c->makespan == c->after[2 * HD_LAB_PAIRS - 1]);
		assert_true(hd_lab_sim_run(sim, c->dag, &c->orders, HD_LAB_NO_LIMIT, NULL) == c->makespan);
		assert_true(least_of_all(sim, c->dag, &c->orders, c->dag->n_types) == c->makespan);
		hd_lab_dag_free(dags[i]);
	}
	hd_lab_sim_free(sim);
}

static void control_does_not_depend_on_threads(void **unused)
{
	(void)unused;
	struct hd_lab_dag *dags[N_CONTROLS];
	struct hd_lab_control one[N_CONTROLS], three[N_CONTROLS];
	for (size_t i = 0; i < N_CONTROLS; i++)
		dags[i] = drawn(300 + i, 60, NULL); /* small: many orders tie */
	search(1, dags, one);
	search(3, dags, three);
	for (size_t i = 0; i < N_CONTROLS; i++) {
		assert_memory_equal(&one[i].orders, &three[i].orders, sizeof one[i].orders);
		assert_memory_equal(one[i].after, three[i].after, sizeof one[i].after);
		hd_lab_dag_free(dags[i]);
	}
}

/* One task of each of three types, and a worker that must do them all: every order is as good. */
static void ties_are_broken_at_random(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{1, 1}, {2, 2}, {3, 3}};
	struct hd_lab_dag *dag = by_hand("ABC", costs, NULL, 0, 1, 0);
	struct hd_lab_team team;
	int first[3] = {0};
	assert_ok(hd_lab_team_init(&team, 1, 10));
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct hd_lab_control control = {.seed = seed, .dag = dag, .orders = orders_of("ABC", "ABC")};
		assert_ok(hd_lab_control(&team, &control, 1, NULL, NULL));
		first[control.orders.order[HD_LAB_CPU][0]]++;
	}
	for (int t = 0; t < 3; t++)
		assert_true(first[t] > 60 && first[t] < 140);
	hd_lab_team_fini(&team);
	hd_lab_dag_free(dag);
}

/* --- Heuristics --------------------------------------------------------------------------------------------------- */

static void heuristics_give_permutations_and_their_makespans(void **unused)
{
	(void)unused;
	struct hd_lab_sim *sim = new_sim();
	struct hd_lab_dag *dag = drawn(400, 500, NULL);
	for (int h = 0; h < HD_HEURISTICS; h++) {
		struct hd_lab_heuristic out;
		hd_lab_heuristic(sim, dag, (enum hd_heuristic)h, 5, &out);
		for (int c = 0; c < 2; c++) {
			unsigned seen = 0;
			for (uint32_t i = 0; i < dag->n_types; i++)
				seen |= 1u << out.orders.order[c][i];
			assert_int_equal(seen, (1u << dag->n_types) - 1);
		}
		assert_true(out.makespan == hd_lab_sim_run(sim, dag, &out.orders, HD_LAB_NO_LIMIT, NULL));
		assert_true(out.last_change >= 1 && out.last_change <= 5);
	}
	hd_lab_dag_free(dag);
	hd_lab_sim_free(sim);
}

/* NOD: A releases 2 tasks of one predecessor, so 2; each C half a task, and all C together 3; B nothing. All cost the
 * same. */
static void nod_is_averaged_over_the_tasks_of_a_type(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{5, 5}, {5, 5}, {5, 5}};
	static const struct heddle_graph_edge edges[] = {{0, 7},  {0, 8},  {1, 9},  {2, 9},
	                                                 {3, 10}, {4, 10}, {5, 11}, {6, 11}};
	struct hd_lab_dag *dag = by_hand("ACCCCCCBBBBB", costs, edges, 8, 1, 1);
	struct hd_lab_sim *sim = new_sim();
	struct hd_lab_heuristic out;
	hd_lab_heuristic(sim, dag, HD_NOD_S, 1, &out);
	const uint8_t expected[] = {0, 2, 1};
	assert_memory_equal(out.orders.order[HD_LAB_CPU], expected, 3);
	assert_memory_equal(out.orders.order[HD_LAB_GPU], expected, 3);
	hd_lab_dag_free(dag);
	hd_lab_sim_free(sim);
}

/* All A and B cost the same and release one task each; that of B takes a hundred times as long. */
static void released_work_is_that_of_the_successors(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{10, 10}, {10, 10}, {1, 1}, {100, 100}};
	static const struct heddle_graph_edge edges[] = {{0, 2}, {1, 3}};
	struct hd_lab_dag *dag = by_hand("ABCD", costs, edges, 2, 1, 1);
	struct hd_lab_sim *sim = new_sim();
	struct hd_lab_heuristic out;
	hd_lab_heuristic(sim, dag, HD_NODXR, 1, &out);
	const uint8_t expected[] = {1, 0, 2, 3};
	assert_memory_equal(out.orders.order[HD_LAB_CPU], expected, 4);
	assert_memory_equal(out.orders.order[HD_LAB_GPU], expected, 4);
	hd_lab_dag_free(dag);
	hd_lab_sim_free(sim);
}

/* A releases 100 us of C, which the GPU does, B 150 us of D, which the CPU does. At first both classes count as idle
 * and B goes first; when a round has shown that the CPU is always busy, only what is released for the GPU counts, and A
 * does. */
static void idle_shares_are_learnt_from_simulations(void **unused)
{
	(void)unused;
	static const double costs[][2] = {{50, 900}, {50, 900}, {9000, 100}, {150, 9000}};
	static const struct heddle_graph_edge edges[] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
	struct hd_lab_dag *dag = by_hand("AABBCCDD", costs, edges, 4, 1, 1);
	struct hd_lab_sim *sim = new_sim();
	struct hd_lab_heuristic first, later;
	hd_lab_heuristic(sim, dag, HD_URT, 1, &first);
	hd_lab_heuristic(sim, dag, HD_URT, 6, &later);
	assert_true(first.last_change == 1 && later.last_change > 1);
	hd_lab_dag_free(dag);
	hd_lab_sim_free(sim);
}

/* --- The experiment ----------------------------------------------------------------------------------------------- */

static struct hd_lab_results experiment(unsigned n_threads)
{
	static const unsigned sets[] = {3, 20};
	const struct hd_lab_options options = {.sets = sets,
	                                       .n_sets = 2,
	                                       .seed = 9,
	                                       .n_seeds = 2,
	                                       .n_tasks = 120,
	                                       .draws = 5,
	                                       .steps = 20,
	                                       .rounds = 4,
	                                       .n_threads = n_threads};
	struct hd_lab_results r;
	assert_ok(hd_lab_run(&options, &r));
	return r;
}

static void experiment_does_not_depend_on_threads(void **unused)
{
	(void)unused;
	struct hd_lab_results one = experiment(1), three = experiment(3);
	for (size_t s = 0; s < 2; s++) {
		double best = hd_lab_mean_slowdown(&one, s, HD_HEURISTICS);
		for (int h = 0; h < HD_HEURISTICS; h++) {
			double slowdown = hd_lab_mean_slowdown(&one, s, h);
			assert_true(slowdown == hd_lab_mean_slowdown(&three, s, h));
			assert_true(slowdown >= best);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		const struct hd_lab_case *c = &one.cases[i];
		assert_true(c->set == (i % 2 ? 20 : 3) && c->seed == 9 + i / 2);
		assert_true(c->dag->workers[HD_LAB_CPU] == (i % 2 ? 8 : 2));
		assert_true(c->control.makespan <= c->control.first);
	}
	assert_true(one.simulated_tasks > 0);
	hd_lab_results_free(&one);
	hd_lab_results_free(&three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(example_of_the_paper_takes_7_5_and_5_seconds),
	    cmocka_unit_test(idle_workers_take_whatever_is_ready),
	    cmocka_unit_test(a_limit_abandons_what_exceeds_it_and_nothing_else),
	    cmocka_unit_test(simulator_and_policy_agree),
	    cmocka_unit_test(graphs_that_cannot_be_simulated_are_refused),
	    cmocka_unit_test(statistics_of_a_graph_made_by_hand),
	    cmocka_unit_test(fit_comes_nearer_to_its_row),
	    cmocka_unit_test(control_is_a_best_order_and_never_worse_than_the_first),
	    cmocka_unit_test(control_does_not_depend_on_threads),
	    cmocka_unit_test(ties_are_broken_at_random),
	    cmocka_unit_test(heuristics_give_permutations_and_their_makespans),
	    cmocka_unit_test(nod_is_averaged_over_the_tasks_of_a_type),
	    cmocka_unit_test(released_work_is_that_of_the_successors),
	    cmocka_unit_test(idle_shares_are_learnt_from_simulations),
	    cmocka_unit_test(experiment_does_not_depend_on_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
