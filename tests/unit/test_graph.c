/* Task graphs: dependencies against a definition of them, what is refused, times, recording, submission. */
#include <heddle/dense.h>
#include "graphs.h"

static void assert_refused(struct heddle_graph *g, const char *word)
{
	assert_int_equal(heddle_graph_check(g), HEDDLE_E_INVALID);
	assert_says(word);
}

static void wrong_graphs_are_refused_with_the_place(void **state)
{
	(void)state;
	struct heddle_graph *g = random_graph(3, 40, 6);
	assert_ok(heddle_graph_check(g));
	assert_refused(NULL, "NULL");
#define WITH(field, value, word)                        \
	do {                                            \
		__typeof__(g->field) before = g->field; \
		g->field = (value);                     \
		assert_refused(g, word);                \
		g->field = before;                      \
		assert_ok(heddle_graph_check(g));       \
	} while (0)
	char bad_utf8[] = "caf\xe9", same[] = "one", empty[] = "";
	size_t busy = 0;
	while (g->tasks[busy].n_accesses < 2)
		busy++;
	size_t access = g->tasks[busy].first_access;
	WITH(name, NULL, "name");
	WITH(types[1].name, bad_utf8, "type 1");
	WITH(types[1].name, same, "one");
	WITH(classes[0], empty, "class 0");
	WITH(types[0].color, 0x1000000, "colour");
	WITH(data[2].bytes, UINT64_MAX, "datum 2");
	WITH(tasks[5].type, 9, "task 5");
	WITH(tasks[5].flops, -1, "flops");
	WITH(tasks[5].flops, NAN, "flops");
	WITH(tasks[39].n_accesses, g->n_accesses, "task 39");
	WITH(tasks[busy].first_access, SIZE_MAX, "accesses");
	WITH(accesses[access].data, 6, "datum 6");
	WITH(accesses[access].mode, 5, "mode 5");
	WITH(accesses[access].data, g->accesses[access + 1].data, "twice");
	WITH(times[7 * g->n_classes], -1e-9, "task 7");
	WITH(times[7 * g->n_classes], INFINITY, "task 7");
	WITH(edges[0].from, g->edges[0].to, "forward");
	WITH(edges[0].to, 40, "task 40");
	WITH(edges[1], g->edges[0], "order");
	WITH(edges, NULL, "NULL");
	heddle_graph_free(g);
	heddle_graph_free(NULL);
}

/* --- Dependencies ------------------------------------------------------------------------------------------------- */

static int conflict(uint32_t a, uint32_t b)
{
	a = a == HEDDLE_SCRATCH ? HEDDLE_R : a;
	b = b == HEDDLE_SCRATCH ? HEDDLE_R : b;
	return a != b || a == HEDDLE_W || a == HEDDLE_RW;
}

static int depends(const struct heddle_graph *g, size_t i, size_t j)
{
	const struct heddle_graph_task *a = &g->tasks[i], *b = &g->tasks[j];
	for (size_t e = 0; e < g->n_edges; e++)
		if (g->edges[e].from == i && g->edges[e].to == j)
			return 1;
	for (size_t x = 0; x < a->n_accesses; x++)
		for (size_t y = 0; y < b->n_accesses; y++)
			if (g->accesses[a->first_access + x].data == g->accesses[b->first_access + y].data &&
			    conflict(g->accesses[a->first_access + x].mode, g->accesses[b->first_access + y].mode))
				return 1;
	return 0;
}

static void edges_follow_from_conflicting_accesses(void **state)
{
	(void)state;
	enum { N = 60 };
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct heddle_graph *g = random_graph(seed, N, 4);
		struct heddle_graph_edge *edges, pairs[N * N];
		size_t n, n_pairs = 0;
		assert_ok(heddle_graph_edges(g, &edges, &n));
		for (uint32_t j = 0; j < N; j++)
			for (uint32_t i = 0; i < j; i++)
				if (depends(g, i, j))
					pairs[n_pairs++] = (struct heddle_graph_edge){i, j};
		uint8_t *ours = closure(edges, n, N), *wanted = closure(pairs, n_pairs, N);
		assert_memory_equal(ours, wanted, N * N);
		for (size_t e = 0; e < n; e++) {
			assert_true(depends(g, edges[e].from, edges[e].to));
			assert_true(e == 0 || edges[e - 1].to < edges[e].to ||
			            (edges[e - 1].to == edges[e].to && edges[e - 1].from < edges[e].from));
		}
		free(ours);
		free(wanted);
		free(edges);
		heddle_graph_free(g);
	}
}

/* --- Times -------------------------------------------------------------------------------------------------------- */

static const char pair[] = "version: 1\nname: pair\nnodes:\n  - {name: ram}\n  - {name: memory}\n"
                           "classes:\n  - {name: core, kind: cpu}\n  - {name: card, kind: cuda}\n"
                           "workers:\n  - {name: c, class: core, node: ram}\n  - {name: g, class: card, node: memory}\n"
                           "links:\n  - {from: ram, to: memory, bandwidth_mbs: 1000}\n"
                           "  - {from: memory, to: ram, bandwidth_mbs: 1000}\n"
                           "kernels:\n  - {codelet: known, class: core, table: [{bytes: 8, us: 10}]}\n"
                           "  - {codelet: worked, class: card, gflops: 1}\n";

static heddle_runtime *start_pair(void)
{
	struct heddle_platform *p;
	struct heddle_config config;
	heddle_runtime *rt;
	assert_ok(heddle_config_init(&config));
	config.sched = "dmda";
	assert_ok(heddle_platform_parse("pair", pair, strlen(pair), &p));
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	heddle_platform_free(p);
	return rt;
}

static struct heddle_graph *read_graph(const char *json)
{
	struct heddle_graph *g;
	assert_ok(hd_graph_parse_json("test", json, strlen(json), &g));
	return g;
}

static void platform_times_go_before_the_graphs_own(void **state)
{
	(void)state;
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("pair", pair, strlen(pair), &p));
	struct heddle_graph *g = read_graph("{\"heddle_graph\": 1, \"data\": [8], \"tasks\": [{\"type\": \"known\", "
	                                    "\"data\": [\"R\", 0], \"times\": {\"cpu\": 3}},"
	                                    "{\"type\": \"own\", \"times\": {\"cpu\": 3, \"core\": 4, \"cuda\": 5}}, "
	                                    "{\"type\": \"worked\", \"flops\": 7000},"
	                                    "{\"type\": \"worked\", \"times\": {\"cuda\": 6}}]}");
	const double wanted[][2] = {{10, NAN}, {4, 5}, {NAN, 7}, {NAN, 6}};
	for (size_t t = 0; t < 4; t++)
		for (unsigned c = 0; c < 2; c++) {
			double us = heddle_graph_time(g, t, p, c);
			assert_true(us == wanted[t][c] || (isnan(us) && isnan(wanted[t][c])));
		}
	heddle_graph_free(g);
	heddle_platform_free(p);
}

/* --- Submitted ---------------------------------------------------------------------------------------------------- */

static void submitted_graph_takes_its_times_and_keeps_its_edges(void **state)
{
	(void)state;
	heddle_runtime *rt = start_pair();
	/* 0 and 1 on the card, one after the other for the explicit edge; 2 on the core beside them; 3 waits for
	 * all. */
	struct heddle_graph *g = read_graph(
	    "{\"heddle_graph\": 1, \"tasks\": [{\"type\": \"a\", \"times\": {\"cuda\": 10}},"
	    "{\"type\": \"a\", \"times\": {\"cuda\": 20}}, {\"type\": \"b\", \"times\": {\"cpu\": 25}},"
	    "{\"type\": \"b\", \"times\": {\"cpu\": 7, \"cuda\": 100}}], \"edges\": [[0, 1], [0, 3], [1, 3], [2, 3]]}");
	assert_ok(heddle_graph_submit(g, rt));
	assert_true(fabs(heddle_now(rt) - 37) < 1e-9);
	assert_ok(heddle_graph_submit(g, rt)); /* and again */
	assert_true(fabs(heddle_now(rt) - 74) < 1e-9);
	heddle_graph_free(g);
	assert_ok(heddle_stop(rt));
}

static void data_begin_in_main_memory_and_transfers_cost(void **state)
{
	(void)state;
	heddle_runtime *rt = start_pair();
	struct heddle_graph *g = read_graph("{\"heddle_graph\": 1, \"data\": [5000, 0], \"tasks\": [{\"type\": \"a\","
	                                    "\"data\": [\"R\", 0, \"W\", 1], \"times\": {\"card\": 10}}]}");
	assert_ok(heddle_graph_submit(g, rt)); /* 5000 bytes at 1000 MB/s */
	assert_true(fabs(heddle_now(rt) - 15) < 1e-9);
	heddle_graph_free(g);
	assert_ok(heddle_stop(rt));
}

static void graph_that_cannot_run_is_refused_before_anything_is_submitted(void **state)
{
	(void)state;
	struct heddle_graph *g =
	    read_graph("{\"heddle_graph\": 1, \"tasks\": [{\"type\": \"fine\", \"times\": {\"cpu\": 10}},"
	               "{\"type\": \"lost\", \"times\": {\"opencl\": 10}}]}");
	heddle_runtime *rt = start_pair(), *real = start();
	assert_int_equal(heddle_graph_submit(g, rt), HEDDLE_E_NO_WORKER);
	assert_says("lost");
	assert_says("pair");
	assert_true(heddle_now(rt) == 0);
	assert_int_equal(heddle_graph_submit(g, real), HEDDLE_E_STATE);
	assert_says("virtual");
	assert_int_equal(heddle_graph_submit(NULL, rt), HEDDLE_E_INVALID);
	g->tasks[0].type = 7;
	assert_int_equal(heddle_graph_submit(g, rt), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(real));
	assert_ok(heddle_stop(rt));
	heddle_graph_free(g);
}

/* Trace tasks by submission number; the steps of reductions have been left out. */
static uint64_t *ids_of(const struct heddle_trace *trace, size_t n_types, size_t *n)
{
	uint64_t *ids = malloc((trace->n_tasks + 1) * sizeof *ids);
	*n = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		if (trace->tasks[i].codelet >= n_types)
			continue;
		size_t k = (*n)++;
		for (; k && ids[k - 1] > trace->tasks[i].id; k--)
			ids[k] = ids[k - 1];
		ids[k] = trace->tasks[i].id;
	}
	return ids;
}

/* Marks the graph's tasks that a traced one waits for, directly or through steps of reductions alone. */
static void mark_before(const struct heddle_trace *trace, uint64_t id, const uint64_t *ids, size_t n, uint8_t *marked)
{
	for (size_t e = 0; e < trace->n_edges; e++) {
		size_t from = 0;
		if (trace->edges[e].to != id)
			continue;
		while (from < n && ids[from] != trace->edges[e].from)
			from++;
		if (from < n)
			marked[from] = 1;
		else
			mark_before(trace, trace->edges[e].from, ids, n, marked);
	}
}

/* The edges of a trace in numbers of the graph, which knows no steps of reductions. */
static struct heddle_graph_edge *trace_edges(const struct heddle_trace *trace, const uint64_t *ids, size_t n,
                                             size_t *n_edges)
{
	struct heddle_graph_edge *edges = malloc(n * n * sizeof *edges);
	uint8_t *marked = malloc(n);
	*n_edges = 0;
	for (size_t to = 0; to < n; to++) {
		memset(marked, 0, n);
		mark_before(trace, ids[to], ids, n, marked);
		for (size_t from = 0; from < n; from++)
			if (marked[from])
				edges[(*n_edges)++] = (struct heddle_graph_edge){(uint32_t)from, (uint32_t)to};
	}
	free(marked);
	return edges;
}

static void recorded_graph_is_the_submitted_one_and_has_the_traces_edges(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct heddle_graph *g = random_graph(seed, 70, 5), *again;
		struct heddle_trace *trace;
		struct heddle_graph_edge *ours;
		size_t n_ids, n_ours, n_theirs;
		heddle_runtime *rt = start_virtual("gpu1-cpu6", "lws", 1);
		assert_ok(heddle_graph_submit(g, rt));
		assert_ok(heddle_graph_record(rt, &again));
		assert_ok(heddle_trace_take(rt, &trace));
		uint64_t *ids = ids_of(trace, g->n_types, &n_ids);
		assert_int_equal(n_ids, g->n_tasks);
		assert_int_equal(again->n_tasks, g->n_tasks);
		for (size_t i = 0; i < g->n_tasks; i++) {
			assert_string_equal(again->types[again->tasks[i].type].name, g->types[g->tasks[i].type].name);
			assert_int_equal(again->tasks[i].priority, g->tasks[i].priority);
			assert_true(again->tasks[i].flops == g->tasks[i].flops);
			assert_int_equal(again->tasks[i].n_accesses, g->tasks[i].n_accesses);
			assert_true(hd_graph_task_bytes(again, i) == hd_graph_task_bytes(g, i));
			assert_true(again->times[i * again->n_classes] == g->times[i * g->n_classes]);
		}
		assert_ok(heddle_graph_edges(again, &ours, &n_ours));
		struct heddle_graph_edge *theirs = trace_edges(trace, ids, n_ids, &n_theirs);
		assert_int_equal(n_ours, n_theirs);
		assert_memory_equal(ours, theirs, n_ours * sizeof *ours);
		free(ids);
		free(ours);
		free(theirs);
		heddle_trace_free(trace);
		heddle_graph_free(again);
		heddle_graph_free(g);
		assert_ok(heddle_stop(rt));
	}
}

/* --- Recorded ----------------------------------------------------------------------------------------------------- */

static struct heddle_config traced(void)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	return config;
}

static int has_edge(const struct heddle_graph *g, uint32_t from, uint32_t to)
{
	struct heddle_graph_edge *edges;
	size_t n;
	int found = 0;
	assert_ok(heddle_graph_edges(g, &edges, &n));
	uint8_t *reach = closure(edges, n, g->n_tasks);
	found = reach[from * g->n_tasks + to];
	free(reach);
	free(edges);
	return found;
}

static void parts_of_data_become_data(void **state)
{
	(void)state;
	const struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "touch", .cpu = nothing);
	long x[8] = {0};
	heddle_data *d;
	struct heddle_graph *g;
	struct heddle_trace *trace;
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_vector(rt, x, 8, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(d, 0))));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(d, 1))));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &g));
	assert_int_equal(g->n_tasks, 4);
	assert_int_equal(g->n_data, 2);
	assert_int_equal(g->data[0].bytes, 32);
	assert_int_equal(g->data[1].bytes, 32);
	assert_int_equal(g->n_edges, 0);
	const struct heddle_graph_edge wanted[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
	struct heddle_graph_edge *edges;
	size_t n;
	assert_ok(heddle_graph_edges(g, &edges, &n));
	assert_int_equal(n, 4);
	assert_memory_equal(edges, wanted, sizeof wanted);
	free(edges);
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_edges, 4);
	heddle_trace_free(trace);
	heddle_graph_free(g);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void acquires_and_tasks_without_codelet_pass_dependencies_on(void **state)
{
	(void)state;
	const struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "touch", .cpu = nothing);
	long x = 0, y = 0;
	heddle_data *d, *other;
	heddle_task *barrier;
	struct heddle_graph *g;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &other));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d))); /* 0 */
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ok(heddle_release(d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d))); /* 1 waits for 0, through the program */
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d)));      /* 2 waits for 0, not for 1 */
	assert_ok(heddle_submit(rt, heddle_r(d), heddle_rw(other)));    /* a task without codelet ... */
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(other))); /* 3 waits for it, hence for 0 alone */
	assert_ok(heddle_submit(rt, heddle_rw(d), heddle_out(&barrier)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_after(barrier))); /* 4 waits for 1 and 2 */
	heddle_task_release(barrier);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &g));
	assert_int_equal(g->n_tasks, 5);
	assert_true(has_edge(g, 0, 1) && has_edge(g, 0, 2) && has_edge(g, 0, 3) && has_edge(g, 1, 4) &&
	            has_edge(g, 2, 4));
	assert_false(has_edge(g, 1, 2) || has_edge(g, 1, 3) || has_edge(g, 3, 4));
	heddle_graph_free(g);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(other));
	assert_ok(heddle_stop(rt));
}

static void real_run_leaves_measured_times_and_failed_tasks(void **state)
{
	(void)state;
	const struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config), *silent = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "may_fail", .cpu = fail_with);
	long x = 0;
	heddle_data *d;
	struct heddle_graph *g;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 3; i++) {
		int code = i == 1;
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(code)));
	}
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_graph_record(rt, &g));
	assert_int_equal(g->n_tasks, 3); /* one failed, one was cancelled */
	assert_int_equal(g->n_classes, 1);
	assert_true(g->times[0] > 0 && g->times[0] == g->times[2]);
	assert_int_equal(heddle_graph_record(silent, &g), HEDDLE_E_STATE);
	assert_says("HEDDLE_TRACE");
	heddle_graph_free(g);
	heddle_unregister(d);
	heddle_stop(rt);
	assert_ok(heddle_stop(silent));
}

/* A chain of two tasks on `d`, of which one name is "first" */
static void submit_two(heddle_runtime *rt, const heddle_codelet *c, heddle_data *d)
{
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_named("first")));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
}

static void graph_is_recorded_after_its_trace_as_well_as_before(void **state)
{
	(void)state;
	const struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "touch", .cpu = nothing);
	long x = 0, y = 0;
	heddle_data *d, *other;
	struct heddle_graph *g;
	struct heddle_trace *trace;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &other));
	submit_two(rt, c, d);
	assert_ok(heddle_trace_take(rt, &trace));
	heddle_trace_free(trace);
	assert_ok(heddle_acquire(other, HEDDLE_RW)); /* what ends the use of data begins no other recording */
	assert_ok(heddle_release(other));
	assert_ok(heddle_unregister(other));
	assert_ok(heddle_graph_record(rt, &g));
	assert_int_equal(g->n_tasks, 2);
	assert_true(has_edge(g, 0, 1));
	assert_string_equal(heddle_name_of(&g->task_names, 0), "first");
	heddle_graph_free(g);
	assert_ok(heddle_trace_take(rt, &trace)); /* nothing has run since, and nothing waited */
	assert_true(trace->n_tasks == 0 && trace->n_edges == 0 && trace->task_names.n == 0);
	heddle_trace_free(trace);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &g)); /* the next recording has begun */
	assert_int_equal(g->n_tasks, 1);
	assert_int_equal(g->task_names.n, 0);
	heddle_graph_free(g);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* The task that waits explicitly begins the next recording, with what it waits for told before it. */
static void recording_may_begin_with_an_explicit_dependency(void **state)
{
	(void)state;
	const struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "touch", .cpu = nothing);
	heddle_task *before, *again;
	struct heddle_graph *g;
	struct heddle_trace *trace;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_out(&before)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	heddle_trace_free(trace);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_after(before), heddle_out(&again)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_after(again)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &g));
	assert_int_equal(g->n_tasks, 2);
	assert_true(g->n_edges == 1 && g->edges[0].from == 0 && g->edges[0].to == 1);
	heddle_graph_free(g);
	heddle_task_release(before);
	heddle_task_release(again);
	assert_ok(heddle_stop(rt));
}

/* The reduction of what an earlier recording has contributed is part of the next one. */
static void recording_may_begin_with_a_reduction(void **state)
{
	(void)state;
	struct heddle_config config = traced();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "touch", .cpu = nothing);
	long x = 0;
	heddle_data *d;
	struct heddle_trace *trace;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_data_set_reduction(d, c, c));
	heddle_task *contribution; /* a wait for all would end the reduction */
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_redux(d), heddle_out(&contribution)));
	assert_ok(heddle_task_wait(contribution));
	heddle_task_release(contribution);
	assert_ok(heddle_trace_take(rt, &trace));
	heddle_trace_free(trace);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 2); /* the addition and the reader, which waits for it */
	assert_int_equal(trace->n_edges, 1);
	assert_true(trace->edges[0].from == trace->tasks[0].id && trace->edges[0].to == trace->tasks[1].id);
	heddle_trace_free(trace);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- A factorisation, recorded and replayed ----------------------------------------------------------------------- */

static struct heddle_trace *trace_cholesky(const char *policy, struct heddle_graph **g)
{
	const struct heddle_dense_problem problem = {
	    .n = 9600, .options = {.tile = 960}, .precision = HEDDLE_DENSE_SINGLE};
	heddle_runtime *rt = start_virtual("haswell-k40m", policy, 1);
	struct heddle_trace *trace;
	heddle_dense *dense;
	assert_ok(heddle_dense_open(rt, &dense));
	assert_ok(heddle_dense_graph(dense, &problem, NULL));
	heddle_dense_close(dense);
	assert_ok(heddle_graph_record(rt, g));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

static void replayed_factorisation_takes_the_same_time_under_every_policy(void **state)
{
	(void)state;
	const struct heddle_policy **policies = heddle_policies();
	for (size_t i = 0; policies[i]; i++) {
		struct heddle_graph *g;
		struct heddle_trace *original = trace_cholesky(policies[i]->name, &g), *replay;
		heddle_runtime *rt = start_virtual("haswell-k40m", policies[i]->name, 1);
		assert_int_equal(g->n_tasks, 220);
		assert_ok(heddle_graph_submit(g, rt));
		assert_ok(heddle_trace_take(rt, &replay));
		if (heddle_trace_makespan(replay) != heddle_trace_makespan(original))
			fail_msg("%s: %.17g us, replayed %.17g us", policies[i]->name, heddle_trace_makespan(original),
			         heddle_trace_makespan(replay));
		heddle_trace_free(original);
		heddle_trace_free(replay);
		heddle_graph_free(g);
		assert_ok(heddle_stop(rt));
	}
	free(policies);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wrong_graphs_are_refused_with_the_place),
	    cmocka_unit_test(edges_follow_from_conflicting_accesses),
	    cmocka_unit_test(platform_times_go_before_the_graphs_own),
	    cmocka_unit_test(submitted_graph_takes_its_times_and_keeps_its_edges),
	    cmocka_unit_test(data_begin_in_main_memory_and_transfers_cost),
	    cmocka_unit_test(graph_that_cannot_run_is_refused_before_anything_is_submitted),
	    cmocka_unit_test(recorded_graph_is_the_submitted_one_and_has_the_traces_edges),
	    cmocka_unit_test(parts_of_data_become_data),
	    cmocka_unit_test(acquires_and_tasks_without_codelet_pass_dependencies_on),
	    cmocka_unit_test(graph_is_recorded_after_its_trace_as_well_as_before),
	    cmocka_unit_test(recording_may_begin_with_an_explicit_dependency),
	    cmocka_unit_test(recording_may_begin_with_a_reduction),
	    cmocka_unit_test(real_run_leaves_measured_times_and_failed_tasks),
	    cmocka_unit_test(replayed_factorisation_takes_the_same_time_under_every_policy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
