/* Every policy on cluster sets of haswell-k40m, in virtual time: a Cholesky factorisation is scheduled as
 * the machine allows. Classes of kind "cpu" then have different numbers of cores, and a class may have no worker. */
#include "program.h"
#include <heddle/dense.h>
#include "taskgraph/graph.h"
#include <math.h>
#include <stdio.h>

enum { TILES = 7, TILE = 960, N_TASKS = TILES * (TILES + 1) * (TILES + 2) / 6 };

static struct heddle_trace *run(const char *policy, const char *clusters)
{
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	heddle_dense *dense;
	struct heddle_dense_report report;
	struct heddle_trace *trace = NULL;
	const struct heddle_dense_problem problem = {.n = TILES * TILE, .options = {.tile = TILE}};
	config.sched = policy;
	config.platform = "haswell-k40m";
	config.clusters = clusters;
	config.trace = 1;
	assert_ok(heddle_start(&config, &rt));
	assert_ok(heddle_dense_open(rt, &dense));
	assert_ok(heddle_dense_graph(dense, &problem, &report));
	heddle_dense_close(dense);
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

/* Whether the workers of two tasks have a core in common. */
static int share_a_core(const struct heddle_platform *p, unsigned a, unsigned b)
{
	const struct heddle_worker *x = &p->workers[a], *y = &p->workers[b];
	if (a == b)
		return 1;
	int first = (int)p->classes[x->class_id].cores, second = (int)p->classes[y->class_id].cores;
	return x->core < y->core + second && y->core < x->core + first;
}

static void check_times(const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		const struct heddle_worker *w = &trace->platform->workers[t->worker];
		double bytes = 8.0 * TILE * TILE, us = NAN;
		const char *codelet = trace->codelets[t->codelet].name;
		bytes *= strcmp(codelet, "dpotrf") == 0 ? 1 : strcmp(codelet, "dgemm") == 0 ? 3 : 2;
		us = heddle_platform_time(trace->platform, codelet, w->class_id, bytes, 1);
		if (!(fabs(t->end - t->start - us) < 1e-6 * us))
			fail_msg("%s on %s takes %g us, not %g", codelet, w->name, t->end - t->start, us);
		for (size_t k = 0; k < i; k++)
			if (trace->tasks[k].end > t->start + 1e-6 &&
			    share_a_core(trace->platform, trace->tasks[k].worker, t->worker))
				fail_msg("%s and %s run at the same time", w->name,
				         trace->platform->workers[trace->tasks[k].worker].name);
	}
}

static void check_order(const struct heddle_trace *trace)
{
	double end[N_TASKS] = {0}, start[N_TASKS] = {0};
	for (size_t i = 0; i < N_TASKS; i++) {
		assert_true(trace->tasks[i].id < N_TASKS);
		assert_true(end[trace->tasks[i].id] == 0);
		end[trace->tasks[i].id] = trace->tasks[i].end;
		start[trace->tasks[i].id] = trace->tasks[i].start;
	}
	assert_true(trace->n_edges >= N_TASKS - 1);
	for (size_t i = 0; i < trace->n_edges; i++)
		assert_true(start[trace->edges[i].to] >= end[trace->edges[i].from]);
}

/* How many tasks ran on workers of several cores, and on workers of kind cpu with one. */
static void count(const struct heddle_trace *trace, size_t *on_clusters, size_t *on_cores)
{
	*on_clusters = *on_cores = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_platform *p = trace->platform;
		const struct heddle_class *c = &p->classes[p->workers[trace->tasks[i].worker].class_id];
		*on_clusters += c->cores > 1;
		*on_cores += c->cores == 1 && strcmp(c->kind, "cpu") == 0;
	}
}

static void every_policy_schedules_on_clusters(void **state)
{
	static const char *const cluster_sets[] = {"2x10", "1x10+10x1", "1x6+3x4+2x1", "numa"};
	const struct heddle_policy **all = heddle_policies();
	(void)state;
	for (size_t i = 0; all[i]; i++)
		for (size_t k = 0; k < sizeof cluster_sets / sizeof *cluster_sets; k++) {
			struct heddle_trace *trace = run(all[i]->name, cluster_sets[k]);
			size_t on_clusters, on_cores;
			assert_int_equal(trace->n_tasks, N_TASKS);
			check_times(trace);
			check_order(trace);
			count(trace, &on_clusters, &on_cores);
			if (on_clusters == 0)
				fail_msg("%s gives clusters %s nothing to do", all[i]->name, cluster_sets[k]);
			if (!strstr(cluster_sets[k], "x1"))
				assert_int_equal(on_cores, 0);
			heddle_trace_free(trace);
		}
	free(all);
}

enum { N_DECLARED = 4, EACH = 30 };

/* Kernels of all kinds, as they are declared for threads of OpenMP and of teams. */
static const struct heddle_codelet_desc declared[N_DECLARED] = {
    {.name = "dsyrk", .cpu = nothing, .cuda = nothing, .parallel = HEDDLE_FORK_JOIN},
    {.name = "dgemm", .cpu = nothing, .cuda = nothing, .parallel = HEDDLE_FORK_JOIN, .min_cores = 2},
    {.name = "dtrsm", .cpu = nothing, .parallel = HEDDLE_SPMD, .max_cores = 1},
    {.name = "dpotrf", .cpu = nothing},
};

/* Tasks of all of them on cores, a cluster and GPUs, each on a tile. */
static struct heddle_trace *run_declared(const char *policy)
{
	struct heddle_config config = small_config();
	heddle_codelet *codelets[N_DECLARED];
	struct heddle_trace *trace = NULL;
	heddle_runtime *rt;
	config.sched = policy;
	config.platform = "haswell-k40m";
	config.clusters = "1x10+10x1";
	config.trace = 1;
	assert_ok(heddle_start(&config, &rt));
	for (size_t i = 0; i < N_DECLARED; i++)
		assert_ok(heddle_codelet_create(rt, &declared[i], &codelets[i]));
	for (size_t i = 0; i < N_DECLARED * EACH; i++) {
		heddle_data *tile;
		assert_ok(heddle_matrix(rt, NULL, TILE, TILE, TILE, sizeof(double), &tile));
		assert_ok(heddle_submit(rt, heddle_call(codelets[i % N_DECLARED]), heddle_rw(tile)));
		assert_ok(heddle_unregister_async(tile));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

static void parallel_kernels_keep_to_their_workers_in_virtual_time(void **state)
{
	const struct heddle_policy **all = heddle_policies();
	(void)state;
	for (size_t i = 0; all[i]; i++) {
		struct heddle_trace *trace = run_declared(all[i]->name);
		const struct heddle_platform *p = trace->platform;
		assert_int_equal(trace->n_tasks, N_DECLARED * EACH);
		for (size_t k = 0; k < trace->n_tasks; k++) {
			const struct heddle_trace_task *t = &trace->tasks[k];
			const struct heddle_class *c = &p->classes[p->workers[t->worker].class_id];
			const struct heddle_codelet_desc *desc = declared;
			while (strcmp(trace->codelets[t->codelet].name, desc->name) != 0)
				desc++;
			if (strcmp(c->kind, "cpu") == 0 &&
			    (c->cores < desc->min_cores || (desc->max_cores && c->cores > desc->max_cores)))
				fail_msg("%s runs %s on %u cores", all[i]->name, desc->name, c->cores);
		}
		heddle_trace_free(trace);
	}
	free(all);
}

/* Bounds hold for clusters, too, and a codelet that has no time on cores keeps to clusters. */
static void codelets_keep_to_the_classes_that_have_times(void **state)
{
	(void)state;
	struct heddle_platform *p;
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	heddle_dense *dense;
	struct heddle_dense_report report;
	struct heddle_trace *trace = NULL;
	struct heddle_bounds bounds;
	const struct heddle_dense_problem problem = {.n = TILES * TILE, .options = {.tile = TILE}};
	assert_ok(heddle_platform_load("haswell-k40m", &p));
	assert_ok(heddle_platform_cluster(p, "1x10+10x1"));
	for (size_t i = 0; i < p->n_kernels; i++) { /* potrf on clusters alone */
		const char *class_name = p->classes[p->kernels[i].class_id].name;
		if (strcmp(p->kernels[i].codelet, "dpotrf") == 0 && strcmp(class_name, "cpu*10") != 0)
			p->kernels[i].codelet[0] = 'x';
	}
	config.sched = "dmdas";
	config.trace = 1;
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	assert_ok(heddle_dense_open(rt, &dense));
	assert_ok(heddle_dense_graph(dense, &problem, &report));
	heddle_dense_close(dense);
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_trace_bounds(trace, NULL, NULL, 100, &bounds));
	assert_true(bounds.mixed > 0 && bounds.mixed <= report.seconds * 1e6 * (1 + 1e-9));
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (strcmp(trace->codelets[trace->tasks[i].codelet].name, "dpotrf") == 0)
			assert_string_equal(trace->platform->workers[trace->tasks[i].worker].name, "cpu0-9");
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
	heddle_platform_free(p);
}

/* Four cores, one cluster of them, or both cluster sets: 12 tasks of 100 us on a core, 40 on the cluster. */
static void bounds_know_that_cluster_sets_share_cores(void **state)
{
	(void)state;
	static const char yaml[] =
	    "version: 1\nname: four\nnodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\n"
	    "workers:\n- {name: c, count: 4, class: cpu, node: ram, core: 0}\n"
	    "kernels:\n- codelet: f\n  class: cpu\n  table:\n  - {bytes: 8, us: 100}\n"
	    "speedups:\n- codelet: f\n  class: cpu\n  cores: 4\n  factors:\n  - {bytes: 8, factor: 2.5}\n";
	static const struct {
		const char *clusters;
		double area;
	} cases[] = {{"none", 300}, {"4", 480}, {"none,4", 300}, {"4,none", 300}, {"4,2x2,none", 300}};
	struct heddle_graph_task tasks[12] = {{0}};
	struct heddle_graph_access accesses[12];
	struct heddle_graph_type type = {.name = (char[]){"f"}};
	struct heddle_graph_datum data[12];
	for (size_t i = 0; i < 12; i++) {
		tasks[i] = (struct heddle_graph_task){.first_access = i, .n_accesses = 1};
		accesses[i] = (struct heddle_graph_access){.data = (uint32_t)i, .mode = HEDDLE_RW};
		data[i].bytes = 8;
	}
	const struct heddle_graph graph = {.name = (char[]){"twelve"},
	                                   .types = &type,
	                                   .n_types = 1,
	                                   .data = data,
	                                   .n_data = 12,
	                                   .tasks = tasks,
	                                   .n_tasks = 12,
	                                   .accesses = accesses,
	                                   .n_accesses = 12};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct heddle_platform *p;
		struct heddle_bounds bounds;
		assert_ok(heddle_platform_parse("four", yaml, sizeof yaml - 1, &p));
		assert_ok(heddle_platform_cluster(p, cases[i].clusters));
		assert_ok(heddle_graph_bounds(&graph, p, 10, &bounds));
		if (!(fabs(bounds.area - cases[i].area) < 1e-6) || !(bounds.mixed >= bounds.area))
			fail_msg("%s: the area bound is %g, not %g", cases[i].clusters, bounds.area, cases[i].area);
		heddle_platform_free(p);
	}
}

static struct heddle_graph *read_graph(const char *json)
{
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_json("test", json, strlen(json), &g));
	return g;
}

/* The cores of a device's class say nothing about a column of its kind: what it is worth is in the time already. */
static void times_of_a_device_are_not_divided_by_its_cores(void **state)
{
	(void)state;
	static const char pair[] =
	    "version: 1\nname: pair\nnodes:\n  - {name: ram}\n  - {name: memory}\n"
	    "classes:\n  - {name: core, kind: cpu}\n  - {name: card, kind: cuda, cores: 2}\n"
	    "workers:\n  - {name: c, class: core, node: ram, core: 0}\n  - {name: g, class: card, node: memory}\n"
	    "links:\n  - {from: ram, to: memory, bandwidth_mbs: 1}\n  - {from: memory, to: ram, bandwidth_mbs: 1}\n";
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("pair", pair, sizeof pair - 1, &p));
	struct heddle_graph *g =
	    read_graph("{\"heddle_graph\": 1, \"tasks\": [{\"type\": \"own\", \"times\": {\"cuda\": 100}}]}");
	assert_true(heddle_graph_time(g, 0, p, p->workers[1].class_id) == 100);
	heddle_graph_free(g);
	heddle_platform_free(p);
}

/* A column that is called after a kind says how long one core takes. */
static void times_of_a_kind_are_those_of_one_core(void **state)
{
	(void)state;
	static const char four[] =
	    "version: 1\nname: four\nnodes:\n  - {name: ram}\nclasses:\n  - {name: core, kind: cpu}\n"
	    "workers:\n  - {name: c, count: 4, class: core, node: ram, core: 0}\n"
	    "speedups:\n- class: core\n  latency_us: 2\n  bandwidth_mbs: 4\n";
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("four", four, sizeof four - 1, &p));
	assert_ok(heddle_platform_cluster(p, "4,none"));
	struct heddle_graph *g = read_graph("{\"heddle_graph\": 1, \"data\": [8], \"tasks\": [{\"type\": \"own\", "
	                                    "\"data\": [\"R\", 0], \"times\": {\"cpu\": 100}}]}");
	unsigned one = p->workers[p->n_workers - 1].class_id, all = p->workers[0].class_id;
	assert_string_equal(p->classes[all].name, "core*4");
	assert_true(heddle_graph_time(g, 0, p, one) == 100);
	assert_true(fabs(heddle_graph_time(g, 0, p, all) - (100 / 4. + 0.75 * (2 + 8 / 4.))) < 1e-9);
	heddle_graph_free(g);
	g = read_graph("{\"heddle_graph\": 1, \"tasks\": [{\"type\": \"own\", \"times\": {\"core*4\": 7}}]}");
	assert_true(heddle_graph_time(g, 0, p, all) == 7);
	heddle_graph_free(g);
	heddle_platform_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_policy_schedules_on_clusters),
	    cmocka_unit_test(parallel_kernels_keep_to_their_workers_in_virtual_time),
	    cmocka_unit_test(codelets_keep_to_the_classes_that_have_times),
	    cmocka_unit_test(times_of_a_device_are_not_divided_by_its_cores),
	    cmocka_unit_test(times_of_a_kind_are_those_of_one_core),
	    cmocka_unit_test(bounds_know_that_cluster_sets_share_cores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
