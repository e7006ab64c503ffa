/* What a trace says of a run: every field of every event, on runs worked by hand. */
#include <heddle/graph.h>
#include <heddle/trace.h>
#include "internals.h"
#include "program.h"

/* A worker with a memory of its own, of 1 MiB, and one in main memory. A link brings 1000 bytes in a microsecond. */
static const char card_and_core[] = "version: 1\nname: two\nnodes:\n- {name: ram}\n- {name: memory, capacity_mib: 1}\n"
                                    "classes:\n- {name: card, kind: cpu}\n- {name: core, kind: cpu}\n"
                                    "workers:\n- {name: card, class: card, node: memory}\n"
                                    "- {name: core, class: core, node: ram}\n"
                                    "links:\n- {from: ram, to: memory, bandwidth_mbs: 1000, latency_us: 2}\n"
                                    "- {from: memory, to: ram, bandwidth_mbs: 1000, latency_us: 3}\n";
enum { CARD, CORE, RAM = 0, MEMORY = 1 };
enum { DEMAND, PREFETCH, WRITE_BACK };

static double ten_or_seven_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == CARD ? 10 : 7;
}

static double flops_of(const struct heddle_size *size)
{
	return 3 * size->bytes;
}

static heddle_runtime *start_traced(void)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	return start_on(&config, card_and_core);
}

static heddle_codelet *counted(heddle_runtime *rt, const char *name, unsigned color)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = name, .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                       .time = ten_or_seven_us, .flops = flops_of, .color = color);
	assert_non_null(c);
	return c;
}

/* Ends the runtime. */
static struct heddle_trace *trace_of(heddle_runtime *rt)
{
	struct heddle_trace *trace;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

static void expect_times(const struct heddle_trace_task *t, double ready, double picked, double start, double end)
{
	if (t->ready != ready || t->picked != picked || t->start != start || t->end != end)
		fail_msg("task %llu: %g %g %g %g, not %g %g %g %g", (unsigned long long)t->id, t->ready, t->picked,
		         t->start, t->end, ready, picked, start, end);
}

static void expect_transfer(const struct heddle_trace_transfer *t, const struct heddle_trace_transfer *expected)
{
	assert_int_equal(t->from, expected->from);
	assert_int_equal(t->to, expected->to);
	assert_int_equal(t->data, expected->data);
	assert_int_equal(t->bytes, expected->bytes);
	assert_int_equal(t->reason, expected->reason);
	if (t->start != expected->start || t->end != expected->end)
		fail_msg("a transfer takes from %g to %g, not from %g to %g", t->start, t->end, expected->start,
		         expected->end);
}

/* The first task waits for its datum, the second for the first, the third for a worker. */
static void tasks_are_recorded_as_they_ran(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced();
	heddle_codelet *first = counted(rt, "first", 0x123456), *second = counted(rt, "second", 0);
	heddle_data *other, *d;
	static char x[8000];
	assert_ok(heddle_variable(rt, NULL, 16, &other)); /* so that numbers of data are not all 0 */
	assert_ok(heddle_vector(rt, x, sizeof x, 1, &d));
	assert_ok(heddle_submit(rt, heddle_call(first), heddle_rw(d), heddle_on(CARD), heddle_priority(3)));
	assert_ok(heddle_submit(rt, heddle_call(second), heddle_r(d), heddle_on(CARD), heddle_priority(-4)));
	assert_ok(heddle_submit(rt, heddle_call(second), heddle_r(d), heddle_on(CARD)));
	struct heddle_trace *trace = trace_of(rt);
	assert_string_equal(trace->policy, "eager");
	assert_string_equal(trace->platform->name, "two");
	assert_true(trace->virtual_time);
	assert_int_equal(trace->n_tasks, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		const struct heddle_trace_codelet *c = &trace->codelets[t->codelet];
		assert_int_equal(t->id, i);
		assert_string_equal(c->name, i == 0 ? "first" : "second");
		assert_int_equal(c->color, i == 0 ? 0x123456 : 0);
		assert_int_equal(t->worker, CARD);
		assert_int_equal(t->priority, i == 0 ? 3 : i == 1 ? -4 : 0);
		assert_int_equal(t->status, 0);
		assert_true(t->bytes == 8000 && t->flops == 24000);
	}
	expect_times(&trace->tasks[0], 0, 0, 10, 20);
	expect_times(&trace->tasks[1], 20, 20, 20, 30);
	expect_times(&trace->tasks[2], 20, 30, 30, 40);
	assert_int_equal(trace->tasks[1].footprint, trace->tasks[2].footprint);
	assert_true(trace->tasks[0].footprint != trace->tasks[1].footprint);
	assert_int_equal(trace->n_edges, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(trace->edges[i].from == 0 && trace->edges[i].to == i + 1);
	assert_int_equal(trace->n_transfers, 1);
	expect_transfer(&trace->transfers[0], &(struct heddle_trace_transfer){RAM, MEMORY, 0, 10, 8000, 1, DEMAND});
	heddle_trace_free(trace);
}

/* Of the run below: its last task to end reads what arrives at 1218. */
static void expect_statistics(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_submitted, 3);
	assert_int_equal(stats.tasks_executed, 3);
	assert_int_equal(stats.tasks_failed + stats.tasks_cancelled + stats.live_tasks, 0);
	assert_int_equal(stats.transfers, 3);
	assert_int_equal(stats.bytes_moved, 1000 + 600000 + 600000);
	assert_int_equal(stats.evictions, 1);
	assert_int_equal(stats.prefetches, 1);
	assert_true(stats.makespan == 1228);
	assert_true(stats.busy == 10 + 10 + 7);
	assert_true(stats.idle == 2 * 1228 - 27);
	assert_int_equal(stats.sched_picks - stats.sched_picks_empty, 3);
}

/* A prefetch; two data of 600 kB that do not fit the memory together, of which the first was changed there; and the
 * first one once more, in main memory, where it is already. */
static void transfers_are_recorded_with_their_reasons(void **state)
{
	(void)state;
	enum { LARGE = 600000 };
	heddle_runtime *rt = start_traced();
	heddle_codelet *codelet = counted(rt, "work", 0);
	static char x[1000], y[LARGE], z[LARGE];
	heddle_data *small, *first, *second;
	assert_ok(heddle_vector(rt, x, sizeof x, 1, &small));
	assert_ok(heddle_vector(rt, y, sizeof y, 1, &first));
	assert_ok(heddle_vector(rt, z, sizeof z, 1, &second));
	assert_ok(heddle_prefetch(small, MEMORY));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(small), heddle_w(first), heddle_on(CARD)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(small), heddle_r(second), heddle_on(CARD)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(first), heddle_on(CORE)));
	assert_ok(heddle_wait_all(rt));
	expect_statistics(rt);
	struct heddle_trace *trace = trace_of(rt);
	static const struct heddle_trace_transfer expected[] = {
	    {RAM, MEMORY, 0, 3, 1000, 0, PREFETCH},
	    {MEMORY, RAM, 13, 616, LARGE, 1, WRITE_BACK},
	    {RAM, MEMORY, 616, 1218, LARGE, 2, DEMAND},
	};
	assert_int_equal(trace->n_transfers, 3);
	for (size_t i = 0; i < 3; i++)
		expect_transfer(&trace->transfers[i], &expected[i]);
	heddle_trace_free(trace);
}

static void task_that_failed_has_its_status(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.trace = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	struct heddle_trace *trace;
	for (int code = 0; code < 2; code++)
		assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	assert_false(trace->virtual_time);
	assert_int_equal(trace->n_tasks, 2);
	assert_int_equal(trace->tasks[0].status, 0);
	assert_int_equal(trace->tasks[1].status, HEDDLE_E_KERNEL);
	heddle_trace_free(trace);
}

/* To the graph it is one access, which reads and writes; to the trace, one edge and the size of one datum. */
static void datum_that_a_task_gets_twice_is_recorded_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced();
	heddle_codelet *codelet = counted(rt, "work", 0);
	struct heddle_graph *graph;
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_graph_record(rt, &graph));
	assert_ok(heddle_graph_check(graph));
	assert_int_equal(graph->n_accesses, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(graph->tasks[i].n_accesses, 1);
		assert_int_equal(graph->accesses[i].mode, HEDDLE_RW);
	}
	struct heddle_trace *trace = trace_of(rt);
	assert_int_equal(trace->n_edges, 1);
	assert_true(trace->tasks[1].bytes == sizeof x);
	heddle_trace_free(trace);
	heddle_graph_free(graph);
}

/* --- The memory for events ---------------------------------------------------------------------------------------- */

struct chunks {
	const struct hd_log_chunk *last, *spare;
	size_t used, room;
};

static struct chunks look_at_chunks(heddle_runtime *rt)
{
	hd_core_enter(rt);
	const struct hd_log *log = &rt->recorder->tasks[0];
	struct chunks seen = {log->last, log->spare, log->last->used, log->last->room};
	hd_core_leave(rt);
	return seen;
}

static void run_tasks(heddle_runtime *rt, heddle_codelet *codelet, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_wait_all(rt));
}

/* Each chunk of events is made before the one in front of it is full, by a thread that has left the core. */
static void events_get_their_memory_outside_the_core(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	run_tasks(rt, codelet, 1);
	for (int round = 0; round < 3; round++) {
		struct chunks before = look_at_chunks(rt), after = before;
		assert_null(before.spare);
		run_tasks(rt, codelet, before.room - before.room / 4 - before.used);
		while (!after.spare) { /* the worker is perhaps on its way */
			sched_yield();
			after = look_at_chunks(rt);
		}
		assert_ptr_equal(after.last, before.last);
		run_tasks(rt, codelet, after.room - after.used + 1);
		assert_ptr_equal(look_at_chunks(rt).last, after.spare);
	}
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_are_recorded_as_they_ran),
	    cmocka_unit_test(transfers_are_recorded_with_their_reasons),
	    cmocka_unit_test(task_that_failed_has_its_status),
	    cmocka_unit_test(datum_that_a_task_gets_twice_is_recorded_once),
	    cmocka_unit_test(events_get_their_memory_outside_the_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
