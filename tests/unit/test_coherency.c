/* Copies of data: what is moved for a task, by which way, what is predicted and recorded of it, what is not moved. */
#include "internals.h"
#include "machine/hops.h"
#include "probe.h"
#include "virtual_machine.h"

/* --- Predictions -------------------------------------------------------------------------------------------------- */

static struct {
	double before, meanwhile;        /* a prefetch was asked for */
	double two_hops, one_hop, there; /* to a GPU, to main memory, to where the value is */
	uint64_t missing;
} asked;

static void ask_before_and_after_a_prefetch(heddle_task *t)
{
	if (heddle_task_n_data(t) != 2)
		return;
	asked.before = heddle_task_transfer_time(t, 1);
	heddle_task_prefetch(t, 1);
	asked.meanwhile = heddle_task_transfer_time(t, 1);
	asked.missing = heddle_task_missing_bytes(t, 1);
}

/* What is on its way already is not to be brought once more. What is written only is not brought at all. */
static void copy_under_way_costs_nothing_more(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .sched = "probe"};
	heddle_data *d[2];
	probe_set((struct probe){.on_ready = ask_before_and_after_a_prefetch});
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_w(d[1]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(asked.before == HOP);
	assert_true(asked.meanwhile == 0);
	assert_int_equal(asked.missing, UNIT); /* it is not there yet all the same */
	assert_int_equal(trace->n_transfers, 1);
	assert_int_equal(trace->transfers[0].reason, HD_PREFETCH);
	assert_true(task_of(trace, 0)->start == HOP);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

static void ask_for_the_third(heddle_task *t)
{
	if (heddle_task_order(t) == 2)
		ask_before_and_after_a_prefetch(t);
}

/* The node has a copy of the datum, but the datum has been written elsewhere since. */
static void copy_that_is_obsolete_is_to_be_brought_again(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .sched = "probe"};
	heddle_data *d[2];
	probe_set((struct probe){.on_ready = ask_for_the_third});
	machine_start(&m);
	machine_data(&m, 2, d);
	WORK(&m, 10, heddle_r(d[0]), heddle_on(1));
	WORK(&m, 10, heddle_rw(d[0]), heddle_on(0));
	WORK(&m, 10, heddle_r(d[0]), heddle_w(d[1]), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(asked.before == HOP);
	assert_true(asked.meanwhile == 0);
	assert_int_equal(machine_stats(&m).prefetches, 1);
	assert_true(task_of(trace, 2)->start == task_of(trace, 1)->end + HOP);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

static void ask_from_elsewhere(heddle_task *t)
{
	asked.two_hops = heddle_task_transfer_time(t, 2);
	asked.one_hop = heddle_task_transfer_time(t, 0);
	asked.there = heddle_task_transfer_time(t, 1);
}

/* The value is on GPU 1 alone: two hops to GPU 2. */
static void prediction_counts_both_hops(void **state)
{
	(void)state;
	struct machine m = {.gpus = 2, .sched = "probe"};
	heddle_data *d;
	probe_set((struct probe){.on_ready = ask_from_elsewhere});
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_w(d), heddle_on(0));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(asked.two_hops == 2 * HOP);
	assert_true(asked.one_hop == HOP);
	assert_true(asked.there == 0);
	assert_true(task_of(trace, 1)->start == 10 + 2 * HOP);
	assert_int_equal(trace->n_transfers, 2);
	assert_true(trace->transfers[0].from == 1 && trace->transfers[0].to == 0);
	assert_true(trace->transfers[1].from == 0 && trace->transfers[1].to == 2);
	assert_true(heddle_data_valid_on(d, 0) && heddle_data_valid_on(d, 1) && heddle_data_valid_on(d, 2));
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- Requests for single data ------------------------------------------------------------------------------------- */

enum { N_REQUESTED = 4 };
static heddle_sched *the_sched;
static struct {
	double before[2], meanwhile[2], free_before, free_meanwhile; /* [node] */
	int taken_back[3];
} requested;

static void keep_sched(heddle_sched *sched)
{
	the_sched = sched;
}

/* Data 0 to 3 are requested; 3 is the most urgent, 1 is taken back. */
static void request_one_by_one(heddle_task *t)
{
	if (heddle_task_n_data(t) != N_REQUESTED)
		return;
	heddle_task_arrivals(t, requested.before, NULL);
	requested.free_before = heddle_sched_link_free_at(the_sched, 1);
	for (size_t i = 0; i < N_REQUESTED; i++)
		heddle_data_prefetch(heddle_task_data(t, i), 1, i == 3 ? 7 : i == 2);
	heddle_task_arrivals(t, requested.meanwhile, NULL);
	requested.free_meanwhile = heddle_sched_link_free_at(the_sched, 1);
	requested.taken_back[0] = heddle_data_prefetch_cancel(heddle_task_data(t, 1), 1);
	requested.taken_back[1] = heddle_data_prefetch_cancel(heddle_task_data(t, 1), 1);
	requested.taken_back[2] = heddle_data_prefetch_cancel(heddle_task_data(t, 0), 0);
}

static void single_data_are_requested_in_order_and_taken_back(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .sched = "probe"};
	heddle_data *d[N_REQUESTED];
	probe_set((struct probe){.on_create = keep_sched, .on_ready = request_one_by_one});
	machine_start(&m);
	machine_data(&m, N_REQUESTED, d);
	WORK(&m, 500, heddle_r(d[0]), heddle_r(d[1]), heddle_r(d[2]), heddle_r(d[3]), heddle_on(0));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(requested.free_before == 0 && requested.before[0] == 0);
	assert_true(requested.before[1] == N_REQUESTED * HOP);
	assert_true(requested.meanwhile[1] == N_REQUESTED * HOP);
	assert_true(requested.free_meanwhile == N_REQUESTED * HOP);
	assert_true(requested.taken_back[0] == 1 && !requested.taken_back[1] && !requested.taken_back[2]);
	assert_int_equal(trace->n_transfers, N_REQUESTED - 1);
	int place[N_REQUESTED];
	for (int i = 0; i < N_REQUESTED; i++)
		place[i] = heddle_data_valid_on(d[i], 1);
	assert_true(place[0] && !place[1] && place[2] && place[3]);
	double ended[N_REQUESTED] = {0};
	for (size_t i = 0; i < trace->n_transfers; i++)
		ended[trace->transfers[i].data] = trace->transfers[i].end;
	assert_true(ended[3] < ended[2]); /* 0 may have begun before the others were requested */
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- Predictions among many nodes --------------------------------------------------------------------------------- */

static const heddle_runtime *many;
static int some_were_far; /* 1: at some task, few of the nodes were apart */

static double hop_us(unsigned from, unsigned to)
{
	const struct heddle_link *link = heddle_platform_link(many->platform, from, to);
	return link ? link->latency + UNIT * (1 / heddle_link_rate(many->platform, link)) : (double)INFINITY;
}

/* The times to the nodes that are apart, and to all others. */
static void compare_apart(heddle_task *t, const double *all)
{
	double *far = calloc(many->n_nodes, sizeof *far), *us = calloc(many->n_nodes, sizeof *us);
	unsigned *nodes = calloc(many->n_nodes, sizeof *nodes);
	assert_true(far && us && nodes);
	for (unsigned node = 0; node < many->n_nodes; node++)
		us[node] = -1;
	size_t n = heddle_task_transfer_times_apart(t, far, us, nodes);
	assert_true(n <= many->n_nodes);
	for (size_t i = 0; i < n; i++) {
		assert_true(us[nodes[i]] == all[nodes[i]] && all[nodes[i]] <= far[many->hops->alike[nodes[i]]]);
		us[nodes[i]] = NAN; /* each node is listed once */
	}
	for (unsigned node = 0; node < many->n_nodes; node++)
		assert_true(us[node] != -1 ? isnan(us[node]) : far[many->hops->alike[node]] == all[node]);
	some_were_far |= n < many->n_nodes / 2;
	free(far);
	free(us);
	free(nodes);
}

/* Looks at the ways of the task's data from each node to some nodes, other ones each time. */
static void compare_with_each_source(heddle_task *t)
{
	for (unsigned to = (unsigned)(heddle_task_order(t) % 16); to < many->n_nodes; to += 16) {
		double sum = 0;
		for (size_t i = 0; i < heddle_task_n_data(t); i++) {
			double least = INFINITY;
			for (unsigned from = 0; from < many->n_nodes; from++) {
				double direct = from == to ? 0 : hop_us(from, to);
				double us = isinf(direct) ? hop_us(from, 0) + hop_us(0, to) : direct;
				if (heddle_data_valid_on(heddle_task_data(t, i), from) && us < least)
					least = us;
			}
			sum += least;
		}
		assert_true(heddle_task_transfer_time(t, to) == sum);
	}
	double *all = calloc(many->n_nodes, sizeof *all);
	assert_non_null(all);
	heddle_task_transfer_times(t, all);
	for (unsigned to = 0; to < many->n_nodes; to++)
		assert_true(all[to] == heddle_task_transfer_time(t, to));
	compare_apart(t, all);
	free(all);
}

/* A third of the nodes have a link to the next one or to the one after the next, faster than by main memory, or
 * slower. */
static void compare_among(unsigned gpus, int linked)
{
	enum { TASKS = 400, MAX = 150 };
	static const int bandwidths[] = {300, 1200, 5000};
	char links[MAX * 64] = "", *end = links;
	for (unsigned g = 1; linked && g + 2 <= gpus; g += 3)
		end += sprintf(end, "- {from: memory%u, to: memory%u, bandwidth_mbs: %d}\n", g, g + 1 + g / 3 % 2,
		               bandwidths[g / 3 % 3]);
	struct machine m = {.cpus = 1, .gpus = gpus, .sched = "probe", .links = links};
	struct hd_rng rng;
	heddle_data *d[3];
	hd_rng_seed(&rng, 1);
	probe_set((struct probe){.on_ready = compare_with_each_source});
	machine_start(&m);
	machine_data(&m, 3, d);
	many = m.rt;
	for (unsigned i = 0; i < TASKS; i++) {
		unsigned worker = (unsigned)(hd_rng_next(&rng) % (gpus + 1));
		heddle_data *first = d[hd_rng_next(&rng) % 3], *last = first == d[2] ? d[0] : d[2];
		if (hd_rng_next(&rng) % 16)
			WORK(&m, 10, heddle_r(first), heddle_r(last), heddle_on(worker));
		else
			WORK(&m, 10, heddle_r(first), heddle_rw(last), heddle_on(worker));
		OK(heddle_wait_all(m.rt));
		OK(heddle_selfcheck(m.rt));
	}
	OK(heddle_stop(m.rt));
}

/* Also more nodes than a word has bits, so that some share a bit. */
static void fastest_source_is_found_among_many_nodes(void **state)
{
	(void)state;
	compare_among(150, 1);
	compare_among(40, 1);
	assert_false(some_were_far);
	compare_among(150, 0);
	compare_among(64, 0);
	compare_among(9, 0);
	assert_true(some_were_far);
}

/* --- The way of a copy -------------------------------------------------------------------------------------------- */

/* Main memory and GPU 1 both have it: main memory is nearer to GPU 2. */
static void copy_comes_from_the_nearest(void **state)
{
	(void)state;
	struct machine m = {.gpus = 2};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_r(d), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 2);
	assert_true(trace->transfers[1].from == 0 && trace->transfers[1].to == 2);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* Two GPUs need a datum that only a third one has: it comes to main memory once, and goes on from there to each. */
static void hop_to_main_memory_is_shared(void **state)
{
	(void)state;
	struct machine m = {.gpus = 3};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_w(d), heddle_on(0));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	WORK(&m, 10, heddle_r(d), heddle_on(2));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 3);
	assert_true(task_of(trace, 1)->start == 10 + 2 * HOP);
	assert_true(task_of(trace, 2)->start == 10 + 2 * HOP);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- What is not moved -------------------------------------------------------------------------------------------- */

static void value_that_is_written_over_is_not_fetched(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_w(d), heddle_on(1));
	WORK(&m, 10, heddle_w(d), heddle_on(0));
	WORK(&m, 10, heddle_scratch(d), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).transfers, 0);
	assert_true(heddle_data_valid_on(d, 0) && !heddle_data_valid_on(d, 1));
	OK(heddle_stop(m.rt));
}

/* A temporary of which nobody will read anything any more. */
static void value_that_nobody_needs_is_not_copied_to_main_memory(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_w(d));
	OK(heddle_unregister(d));
	assert_int_equal(machine_stats(&m).transfers, 0);
	OK(heddle_stop(m.rt));
}

/* A copy of what a task writes would be obsolete, or torn. */
static void copy_of_what_a_task_writes_is_made_afterwards(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 100, heddle_rw(d), heddle_on(0));
	OK(heddle_prefetch(d, 1)); /* waits like a reader */
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 1);
	assert_true(trace->transfers[0].start == 100);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* GPU 1 is still copying the datum when the writer on the CPU could begin. */
static void writer_waits_for_the_copies_of_what_it_writes(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	OK(heddle_prefetch(d, 1));
	WORK(&m, 10, heddle_rw(d), heddle_on(0));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 1)->start == HOP);
	assert_true(heddle_data_valid_on(d, 0) && !heddle_data_valid_on(d, 1));
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* A task whose node has the datum, and that only reads it, begins while the datum is copied to other nodes. */
static void reader_does_not_wait_for_copies_to_other_memories(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	OK(heddle_prefetch(d, 1));
	WORK(&m, 10, heddle_r(d), heddle_on(0));
	WORK(&m, 10, heddle_r(d), heddle_on(2)); /* nor for one to another GPU: it has a link of its own */
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 1)->start == 0);
	assert_true(task_of(trace, 2)->start == HOP);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

static int n_runs;

static int count_runs(heddle_context *c)
{
	(void)c;
	n_runs++;
	return 0;
}

/* With one memory, where nothing ever moves, and with two. */
static void value_that_nobody_has_written_cannot_be_read(void **state)
{
	(void)state;
	for (int n_emulated = 0; n_emulated <= 1; n_emulated++) {
		struct heddle_config config;
		heddle_runtime *rt;
		heddle_data *d;
		heddle_task *t;
		OK(heddle_config_init(&config));
		config.n_cpu = 1;
		config.n_emulated = n_emulated;
		config.bind = 0;
		config.model_dir = "none";
		OK(heddle_start(&config, &rt));
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "count", .cpu = count_runs);
		n_runs = 0;
		OK(heddle_variable(rt, NULL, UNIT, &d));
		OK(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_out(&t)));
		assert_int_equal(heddle_task_wait(t), HEDDLE_E_STATE);
		assert_non_null(strstr(heddle_last_error(), "nothing has ever written it"));
		assert_int_equal(n_runs, 0);
		heddle_task_release(t);
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_STATE);
		OK(heddle_submit(rt, heddle_call(codelet), heddle_w(d)));
		OK(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
		OK(heddle_wait_all(rt));
		assert_int_equal(n_runs, 2);
		OK(heddle_stop(rt));
	}
}

/* --- What is recorded --------------------------------------------------------------------------------------------- */

/* Copies for tasks, for what may come, and to make room. */
static void trace_has_every_transfer_that_is_counted(void **state)
{
	(void)state;
	enum { N = 6 };
	struct machine m = {.gpus = 1, .units = 3};
	heddle_data *d[N];
	machine_start(&m);
	machine_data(&m, N, d);
	OK(heddle_prefetch(d[0], 1));
	for (int i = 0; i < N; i++)
		WORK(&m, 10, heddle_rw(d[i]));
	struct heddle_trace *trace = machine_trace(&m);
	struct heddle_stats stats = machine_stats(&m);
	size_t by_reason[3] = {0};
	uint64_t bytes = 0;
	for (size_t i = 0; i < trace->n_transfers; i++) {
		const struct heddle_trace_transfer *tr = &trace->transfers[i];
		by_reason[tr->reason]++;
		bytes += tr->bytes;
		assert_true(tr->end - tr->start == HOP);
		assert_true(tr->reason == HD_WRITE_BACK ? tr->from == 1 && tr->to == 0 : tr->from == 0 && tr->to == 1);
	}
	assert_int_equal(by_reason[HD_PREFETCH], 1);
	assert_int_equal(by_reason[HD_DEMAND], N - 1);
	assert_int_equal(by_reason[HD_WRITE_BACK], N - 3);
	assert_int_equal(trace->n_transfers, stats.transfers);
	assert_int_equal(bytes, stats.bytes_moved);
	assert_int_equal(stats.prefetches, 1);
	assert_int_equal(stats.evictions, N - 3);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copy_under_way_costs_nothing_more),
	    cmocka_unit_test(copy_that_is_obsolete_is_to_be_brought_again),
	    cmocka_unit_test(prediction_counts_both_hops),
	    cmocka_unit_test(single_data_are_requested_in_order_and_taken_back),
	    cmocka_unit_test(fastest_source_is_found_among_many_nodes),
	    cmocka_unit_test(copy_comes_from_the_nearest),
	    cmocka_unit_test(hop_to_main_memory_is_shared),
	    cmocka_unit_test(value_that_is_written_over_is_not_fetched),
	    cmocka_unit_test(value_that_nobody_needs_is_not_copied_to_main_memory),
	    cmocka_unit_test(copy_of_what_a_task_writes_is_made_afterwards),
	    cmocka_unit_test(writer_waits_for_the_copies_of_what_it_writes),
	    cmocka_unit_test(reader_does_not_wait_for_copies_to_other_memories),
	    cmocka_unit_test(value_that_nobody_has_written_cannot_be_read),
	    cmocka_unit_test(trace_has_every_transfer_that_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
