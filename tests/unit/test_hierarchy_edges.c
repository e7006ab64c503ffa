/* Hierarchical tasks where they meet something else: workers that sleep, a full window, tasks that the program gives
 * back, data that it unregisters, callbacks. */
#include <sched.h>
#include <stdatomic.h>
#include "internals.h"
#include "hierarchy.h"

/* A kernel, or a sub-graph without tasks. */
static int count_one(heddle_context *c)
{
	atomic_int *n = pointer_value(c);
	atomic_fetch_add(n, 1);
	return 0;
}

/* --- Workers ------------------------------------------------------------------------------------------------------ */

/* One worker is busy, a task waits for what that does, and the other worker sleeps. */
static void a_worker_that_sleeps_expands_while_another_is_busy(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(2, 0);
	heddle_codelet *busy = heddle_codelet_new(rt, .name = "busy", .cpu = enter_gate);
	heddle_codelet *leaf = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = count_one);
	heddle_data *d, *e;
	long x = 0, y = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &e));
	for (long i = 1; i <= 10; i++) {
		struct gate g = {0, 0};
		atomic_int n = 0;
		assert_ok(heddle_submit(rt, heddle_call(busy), heddle_rw(d), heddle_value((struct gate *){&g})));
		int n_entered = reached(&g.entered, 1);
		give_others_time();
		assert_ok(heddle_submit(rt, heddle_call(leaf), heddle_rw(d)));
		assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(e), heddle_value((atomic_int *){&n})));
		int n_expanded = reached(&n, 1);
		atomic_store(&g.open, 1);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(n_entered, 1);
		assert_int_equal(n_expanded, 1);
	}
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(e));
	assert_int_equal(x, 10);
	assert_ok(heddle_stop(rt));
}

static heddle_codelet *device_codelet;

/* One task that only the accelerator can run. */
static int submit_for_device(heddle_context *c)
{
	int status =
	    heddle_submit(heddle_context_runtime(c), heddle_call(device_codelet), heddle_rw(heddle_context_data(c, 0)));
	count_one(c);
	return status;
}

enum { MANY_BLOCKS = 2000 };

/* Submits what the worker, which is busy, finds at once when it is opened; the number of sub-graphs that it submits. */
static int expand_many(heddle_runtime *rt, heddle_data **d, heddle_codelet *gate, struct gate *cpu, struct gate *device)
{
	heddle_codelet *block = heddle_codelet_new(rt, .name = "block", .subgraph = submit_for_device);
	atomic_int n = 0;
	assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(cpu), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(device), heddle_on(1)));
	int n_entered = reached(&cpu->entered, 1) + reached(&device->entered, 1);
	for (int i = 0; i < MANY_BLOCKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(block), heddle_rw(d[i]), heddle_value((atomic_int *){&n})));
	atomic_store(&cpu->open, 1);
	int n_expanded = reached(&n, MANY_BLOCKS);
	atomic_store(&device->open, 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_entered, 2);
	return n_expanded;
}

/* One CPU and an accelerator; *gate: what either can run to be busy. */
static heddle_runtime *start_two_kinds(heddle_codelet **gate)
{
	struct heddle_config config = small_config();
	const struct heddle_implementation both[] = {{"cpu", NULL, enter_gate}, {"emulated", NULL, enter_gate}};
	config.n_cpu = config.n_emulated = 1;
	config.expand = "always";
	config.window = 100 * MANY_BLOCKS;
	heddle_runtime *rt = start_with(&config);
	*gate = heddle_codelet_new(rt, .name = "gate", .implementations = both, .n_implementations = 2);
	return rt;
}

static void a_worker_expands_all_that_it_finds_submitted(void **state)
{
	(void)state;
	const struct heddle_implementation device_only = {"emulated", NULL, nothing};
	struct gate cpu = {0, 0}, device = {0, 0};
	heddle_data *d[MANY_BLOCKS];
	heddle_codelet *gate;
	long x[MANY_BLOCKS] = {0};
	heddle_runtime *rt = start_two_kinds(&gate);
	device_codelet =
	    heddle_codelet_new(rt, .name = "device", .implementations = &device_only, .n_implementations = 1);
	for (int i = 0; i < MANY_BLOCKS; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	assert_int_equal(expand_many(rt, d, gate, &cpu, &device), MANY_BLOCKS);
	for (int i = 0; i < MANY_BLOCKS; i++)
		assert_ok(heddle_unregister(d[i]));
	assert_ok(heddle_stop(rt));
}

static void wait_until_one_sleeps(heddle_runtime *rt)
{
	for (int sleeps = 0; !sleeps; sched_yield()) {
		hd_core_enter(rt);
		sleeps = rt->count.asleep == 1;
		hd_core_leave(rt);
	}
}

/* Submits tasks that have sub-graphs without tasks; how often the core was entered. */
static uint64_t submit_blocks(heddle_runtime *rt, heddle_codelet *block, atomic_int *n)
{
	struct heddle_stats before, after;
	assert_ok(heddle_runtime_stats(rt, &before));
	for (int i = 0; i < MANY_BLOCKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(block), heddle_value(n)));
	assert_ok(heddle_runtime_stats(rt, &after));
	return after.core_entries - before.core_entries;
}

/* A device with streams expands nothing while there is another worker: it may sleep on while tasks are submitted. When
 * it is the only one left, it expands those, and those that are submitted then. */
static void an_accelerator_wakes_to_expand_when_it_is_alone(void **state)
{
	(void)state;
	struct gate cpu = {0, 0}, *cpu_gate = &cpu;
	const unsigned both[] = {0, 1};
	atomic_int n = 0, *counter = &n;
	long x = 0;
	heddle_data *d;
	heddle_codelet *gate;
	heddle_runtime *rt = start_two_kinds(&gate);
	heddle_codelet *block = heddle_codelet_new(rt, .name = "block", .subgraph = count_one);
	assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(cpu_gate), heddle_on(0)));
	assert_int_equal(reached(&cpu.entered, 1), 1);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	wait_until_one_sleeps(rt);
	assert_in_range(submit_blocks(rt, block, counter), 1, MANY_BLOCKS / 4);
	assert_int_equal(n, 0);
	assert_ok(heddle_workers_drive(rt, both + 1, 1));
	assert_int_equal(reached(&n, MANY_BLOCKS), MANY_BLOCKS);
	wait_until_one_sleeps(rt);
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	/* The first one enters the core and must wait. It opens the gate, which does not concern the second one. */
	assert_ok(heddle_submit(rt, heddle_call(block), heddle_rw(d), heddle_value(counter)));
	assert_ok(heddle_submit(rt, heddle_call(block), heddle_value(counter)));
	assert_int_equal(reached(&n, MANY_BLOCKS + 1), MANY_BLOCKS + 1);
	heddle_release(d);
	assert_ok(heddle_workers_drive(rt, both, 2));
	cpu.open = 1;
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- A full window ------------------------------------------------------------------------------------------------ */

struct inner_wait {
	atomic_int open;
	int status;
	heddle_codelet *outer;
	heddle_data *data;
};

/* Waits for a hierarchical task that it submits when the window is full. */
static int wait_for_group(heddle_context *c)
{
	struct inner_wait *w = pointer_value(c);
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_group *g = NULL;
	reached(&w->open, 1);
	w->status = heddle_group_create(rt, &g);
	if (!w->status)
		w->status = heddle_submit(rt, heddle_call(w->outer), heddle_rw(w->data), heddle_in_group(g));
	if (!w->status)
		w->status = heddle_group_wait(g);
	heddle_group_free(g);
	return 0;
}

static heddle_codelet *leaf_codelet;

static int submit_increment(heddle_context *c)
{
	return heddle_submit(heddle_context_runtime(c), heddle_call(leaf_codelet),
	                     heddle_rw(heddle_context_data(c, 0)));
}

static void a_kernel_may_wait_for_a_hierarchical_task_while_the_window_is_full(void **state)
{
	(void)state;
	enum { WINDOW = 8 };
	heddle_runtime *rt = start_hierarchy(2, WINDOW);
	heddle_codelet *waits = heddle_codelet_new(rt, .name = "waits", .cpu = wait_for_group);
	struct inner_wait w = {.status = -1};
	heddle_data *d;
	long x = 0, y = 0;
	w.outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_increment);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &w.data));
	assert_ok(heddle_submit(rt, heddle_call(waits), heddle_rw(d), heddle_value((struct inner_wait *){&w})));
	for (int i = 1; i < WINDOW; i++)
		assert_ok(heddle_submit(rt, heddle_call(leaf_codelet), heddle_rw(d)));
	atomic_store(&w.open, 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(w.status, 0);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(w.data));
	assert_int_equal(x, WINDOW - 1);
	assert_int_equal(y, 1);
	assert_ok(heddle_stop(rt));
}

/* --- What the program gives back ---------------------------------------------------------------------------------- */

static heddle_task *awaited;
static struct gate releaser;

/* Submits a task behind one that has ended, and which nobody holds any more when that task enters the graph. */
static int release_at_once(heddle_context *c)
{
	int status = heddle_submit(heddle_context_runtime(c), heddle_call(leaf_codelet),
	                           heddle_rw(heddle_context_data(c, 0)), heddle_after(awaited));
	heddle_task_release(awaited);
	atomic_store(&releaser.entered, 1);
	reached(&releaser.open, 1);
	return status;
}

static void a_sub_graph_may_wait_for_a_task_that_is_released_at_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(1, 0);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = release_at_once);
	heddle_data *d;
	long x = 0;
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	atomic_store(&releaser.entered, 0);
	atomic_store(&releaser.open, 0);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(leaf_codelet), heddle_rw(d), heddle_out(&awaited)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d)));
	int n_entered = reached(&releaser.entered, 1);
	for (int i = 0; i < 300; i++) /* one of them takes the memory of the task that was released */
		assert_ok(heddle_submit(rt, heddle_call(leaf_codelet), heddle_rw(d)));
	atomic_store(&releaser.open, 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_entered, 1);
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 302);
	assert_ok(heddle_stop(rt));
}

enum { LENGTH = 64, SHORT = 16 };
static heddle_codelet *pieces_codelet;

static int increment_all(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

static int is_long(const heddle_task *task, void *arg)
{
	(void)arg;
	return heddle_data_bytes(heddle_task_data(task, 0)) > SHORT * sizeof(long);
}

/* Cuts its datum in halves once the program has unregistered that. */
static int increment_halves(heddle_context *c)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	struct gate *g = pointer_value(c);
	heddle_plan *plan;
	reached(&g->open, 1);
	int status = heddle_plan_create(heddle_context_data(c, 0), &halves, &plan);
	for (size_t i = 0; i < 2 && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(pieces_codelet),
		                       heddle_rw(heddle_plan_child(plan, i)), heddle_value(g));
	return status ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}

static void a_sub_graph_may_cut_a_datum_that_was_unregistered_behind_its_task(void **state)
{
	(void)state;
	for (size_t n_workers = 1; n_workers <= 2; n_workers++) {
		heddle_runtime *rt = start_hierarchy(n_workers, 0);
		struct gate g = {0, 0};
		heddle_data *d;
		long x[LENGTH] = {0};
		pieces_codelet = heddle_codelet_new(rt, .name = "pieces", .cpu = increment_all,
		                                    .subgraph = increment_halves, .expand = is_long);
		assert_ok(heddle_vector(rt, x, LENGTH, sizeof *x, &d));
		assert_ok(
		    heddle_submit(rt, heddle_call(pieces_codelet), heddle_rw(d), heddle_value((struct gate *){&g})));
		assert_ok(heddle_unregister_async(d));
		atomic_store(&g.open, 1);
		assert_ok(heddle_wait_all(rt));
		for (int i = 0; i < LENGTH; i++)
			assert_int_equal(x[i], 1);
		assert_ok(heddle_stop(rt));
	}
}

static heddle_data *made;

/* Submits a task on a datum of its own, which another thread unregisters before this sub-graph ends. */
static int write_what_is_unregistered(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	struct gate *g = pointer_value(c);
	static long x;
	x = 5;
	int status = heddle_variable(rt, &x, sizeof x, &made);
	if (!status)
		status = heddle_submit(rt, heddle_call(leaf_codelet), heddle_rw(made));
	atomic_store(&g->entered, 1);
	reached(&g->open, 1);
	return status || x != 6;
}

/* The unregistration comes behind the task, whose submission has returned. The handle's memory is used again. */
static void a_datum_of_a_sub_graph_may_be_unregistered_by_another_thread(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2);
	struct gate g = {0, 0};
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = write_what_is_unregistered);
	heddle_data *d, *later;
	long x = 7, y = 8;
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d), heddle_value((struct gate *){&g})));
	assert_int_equal(reached(&g.entered, 1), 1);
	assert_ok(heddle_unregister(made));
	assert_ok(heddle_variable(rt, &y, sizeof y, &later));
	atomic_store(&g.open, 1);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(later));
	assert_ok(heddle_unregister(d));
	assert_int_equal(y, 8);
	assert_ok(heddle_stop(rt));
}

/* --- Counters ----------------------------------------------------------------------------------------------------- */

struct counted {
	heddle_runtime *rt;
	uint64_t executed;
	int status;
};

static void note_executed(void *arg, int status)
{
	struct counted *counted = arg;
	struct heddle_stats stats;
	counted->status = heddle_runtime_stats(counted->rt, &stats);
	if (!counted->status)
		counted->status = status;
	counted->executed = stats.tasks_executed;
}

static void a_task_that_was_expanded_is_not_counted_as_executed_in_its_callback(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(1, 0);
	heddle_codelet *empty = heddle_codelet_new(rt, .name = "empty", .subgraph = nothing);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_increment);
	struct counted none = {rt, 77, -1}, one = {rt, 77, -1};
	heddle_data *d;
	long x = 0;
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(empty), heddle_rw(d), heddle_then(note_executed, &none)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d), heddle_then(note_executed, &one)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(none.status, 0);
	assert_int_equal(none.executed, 0);
	assert_int_equal(one.status, 0);
	assert_int_equal(one.executed, 1);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* The sub-graph names its task's vector and another datum, whose parts do not belong together in these ways. */
static int submit_overlaps(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_codelet *leaf = pointer_value(c);
	heddle_data *x = heddle_context_data(c, 0), *y = heddle_context_data(c, 1);
	heddle_data *piece = heddle_plan_child(heddle_data_user(x), 0);
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(piece), heddle_rw(y)))
		return 1; /* each below one of its task's data */
	if (heddle_submit(rt, heddle_call(leaf), heddle_r(x), heddle_r(piece)))
		return 2;
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x), heddle_rw(piece)) != HEDDLE_E_INVALID)
		return 3;
	return strstr(heddle_last_error(), "share elements") ? 0 : 4;
}

/* That a submission of a sub-graph was refused makes its task fail, too. */
static void a_sub_graph_may_not_name_data_that_share_elements(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(1, 0);
	heddle_codelet *leaf = heddle_codelet_new(rt, .name = "leaf", .cpu = nothing);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_overlaps);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	double x[4] = {0}, y = 0;
	heddle_data *dx, *dy;
	heddle_plan *plan;
	assert_ok(heddle_vector(rt, x, 4, sizeof *x, &dx));
	assert_ok(heddle_variable(rt, &y, sizeof y, &dy));
	assert_ok(heddle_plan_create(dx, &halves, &plan));
	assert_ok(heddle_data_set_user(dx, plan));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(dx), heddle_rw(dy), heddle_value(leaf)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INVALID);
	assert_says("share elements");
	assert_ok(heddle_stop(rt));
}

/* Pieces of data 0 and 1 of a task that writes both: the usual ones, in the order of the data or another one, and the
 * same one twice. Each task adds 1 to what it names first. Of data 2 all pieces overlap. */
static int submit_pieces(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_codelet *leaf = pointer_value(c);
	heddle_data *x[3], *shared = heddle_plan_child(heddle_data_user(heddle_context_data(c, 2)), 0);
	for (size_t i = 0; i < 2; i++)
		x[i] = heddle_plan_child(heddle_data_user(heddle_context_data(c, i)), 1);
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x[0]), heddle_rw(x[1]), heddle_r(shared)))
		return 1;
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x[1]), heddle_rw(x[0])))
		return 2;
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x[0]), heddle_rw(x[0])))
		return 3;
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x[0]), heddle_rw(x[1]), heddle_rw(x[0])))
		return 4;
	if (heddle_submit(rt, heddle_call(leaf), heddle_r(x[0]), heddle_commute(x[0])) != HEDDLE_E_INVALID)
		return 5;
	if (heddle_submit(rt, heddle_call(leaf), heddle_rw(x[0]), heddle_rw(x[1]), heddle_rw(shared)) !=
	    HEDDLE_E_INVALID)
		return 6;
	return strstr(heddle_last_error(), "can only be read") ? 0 : 7;
}

static void a_sub_graph_may_name_pieces_in_any_order(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(1, 0);
	heddle_codelet *leaf = heddle_codelet_new(rt, .name = "leaf", .cpu = increment);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_pieces);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	const struct heddle_filter overlapping = {.kind = HEDDLE_SPLIT_HALO, .nx = 2, .halo = 1};
	long x[3][4] = {{0}};
	heddle_data *d[3];
	heddle_plan *plan;
	for (int i = 0; i < 3; i++) {
		assert_ok(heddle_vector(rt, x[i], 4, sizeof *x[i], &d[i]));
		assert_ok(heddle_plan_create(d[i], i == 2 ? &overlapping : &halves, &plan));
		assert_ok(heddle_data_set_user(d[i], plan));
	}
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d[0]), heddle_rw(d[1]), heddle_rw(d[2]),
	                        heddle_value(leaf)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INVALID);
	assert_says("only R, W and RW mix");
	assert_int_equal(x[0][2], 3);
	assert_int_equal(x[1][2], 1);
	assert_ok(heddle_stop(rt));
}

/* --- Prefetches --------------------------------------------------------------------------------------------------- */

enum { ACCELERATOR = 1 };

/* Data 0 is computed here; of data 1, which is scratch, there is no value. */
static int prefetch_and_compute(heddle_context *c)
{
	heddle_data *x = heddle_context_data(c, 0), *room = heddle_context_data(c, 1);
	if (heddle_prefetch(x, ACCELERATOR) || heddle_prefetch(room, ACCELERATOR))
		return 1;
	int status =
	    heddle_submit(heddle_context_runtime(c), heddle_call(leaf_codelet), heddle_w(x), heddle_value((long){7}));
	return status ? status : heddle_prefetch(x, ACCELERATOR);
}

static int set_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = heddle_get(c, 0, long);
	return 0;
}

static uint64_t count_prefetches(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.prefetches;
}

/* A sub-graph prefetches what its task has: what was there before, which here was never computed, since a task has
 * failed; and what the sub-graph computes. Neither makes its task fail. */
static void prefetch_in_sub_graph(int is_unregistered)
{
	heddle_codelet *gate;
	heddle_runtime *rt = start_two_kinds(&gate);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = prefetch_and_compute);
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_always);
	heddle_data *d, *room;
	heddle_task *failed, *t;
	long x = 0;
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = set_long);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, NULL, sizeof x, &room));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_rw(d), heddle_out(&failed)));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_w(d), heddle_scratch(room), heddle_out(&t)));
	if (is_unregistered)
		assert_ok(heddle_unregister_async(d));
	assert_int_equal(heddle_task_wait(failed), HEDDLE_E_KERNEL);
	assert_ok(heddle_task_wait(t));
	while (!is_unregistered && !count_prefetches(rt)) /* it begins when a block has been allocated */
		sched_yield();
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	if (!is_unregistered)
		assert_ok(heddle_unregister(d));
	assert_int_equal(x, 7);
	heddle_task_release(failed);
	heddle_task_release(t);
	assert_ok(heddle_stop(rt));
}

static void a_sub_graph_may_prefetch_data_of_its_task(void **state)
{
	(void)state;
	prefetch_in_sub_graph(0);
	prefetch_in_sub_graph(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_worker_that_sleeps_expands_while_another_is_busy),
	    cmocka_unit_test(a_worker_expands_all_that_it_finds_submitted),
	    cmocka_unit_test(an_accelerator_wakes_to_expand_when_it_is_alone),
	    cmocka_unit_test(a_kernel_may_wait_for_a_hierarchical_task_while_the_window_is_full),
	    cmocka_unit_test(a_sub_graph_may_wait_for_a_task_that_is_released_at_once),
	    cmocka_unit_test(a_sub_graph_may_cut_a_datum_that_was_unregistered_behind_its_task),
	    cmocka_unit_test(a_datum_of_a_sub_graph_may_be_unregistered_by_another_thread),
	    cmocka_unit_test(a_task_that_was_expanded_is_not_counted_as_executed_in_its_callback),
	    cmocka_unit_test(a_sub_graph_may_not_name_data_that_share_elements),
	    cmocka_unit_test(a_sub_graph_may_name_pieces_in_any_order),
	    cmocka_unit_test(a_sub_graph_may_prefetch_data_of_its_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
