/* The allocators of the nodes: blocks are used again, and an accelerator that has less room than its capacity says. */
#include "internals.h"
#include "accelerator.h"

/* The allocations of the accelerator. Used under the core lock, or while no task runs. */
static struct {
	const struct hd_engine *engine;
	struct hd_engine counting;
	int made;                         /* how many blocks were ever allocated */
	int made_at_home;                 /* how many blocks of main memory were ever allocated */
	_Atomic int refused;              /* how often there was no room */
	int locked;                       /* how many of them by a thread that held the core lock */
	_Atomic int left;                 /* how many more there is room for; blocks may be freed without the lock */
	_Atomic size_t bytes, most_bytes; /* of all blocks there, now and at any time */
	/* if it is not NULL: called once, by the thread that allocates on the accelerator next */
	void (*meanwhile)(heddle_runtime *rt);
	heddle_data *d; /* for it */
	atomic_int gate;
} counter;

/* Whether this thread seems to hold the core lock: it does not get free, for much longer than another one that has it
 * may have to wait for a core. */
static int holds_lock(heddle_runtime *rt)
{
	if (!hd_lock_for(&rt->lock, 10e6))
		return 1;
	hd_core_entered(rt);
	hd_core_leave(rt);
	return 0;
}

static int counting_alloc(heddle_runtime *rt, unsigned node, size_t size, void **out)
{
	int room = !node || counter.left > 0;
	void (*meanwhile)(heddle_runtime *) = node ? counter.meanwhile : NULL;
	if (meanwhile) {
		counter.meanwhile = NULL;
		meanwhile(rt);
	}
	counter.refused += !room;
	if (!room)
		return HEDDLE_E_MEMORY;
	counter.locked += holds_lock(rt);
	if (node) {
		counter.left--;
		counter.made++;
		counter.bytes += size;
		counter.most_bytes = counter.bytes > counter.most_bytes ? counter.bytes : counter.most_bytes;
	} else {
		counter.made_at_home++;
	}
	return counter.engine->alloc(rt, node, size, out);
}

static void counting_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	counter.left += node != 0;
	counter.bytes -= node ? size : 0;
	counter.engine->free(rt, node, ptr, size);
}

/* One accelerator whose capacity has room for `units` data of N, and which really has room for `real`. */
static heddle_runtime *start_counting(unsigned units, int real)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.emulated_memory = units * N * sizeof(double);
	heddle_runtime *rt = start_with(&config);
	counter.engine = rt->engine;
	counter.counting = *rt->engine;
	counter.counting.alloc = counting_alloc;
	counter.counting.free = counting_free;
	counter.made = 0;
	counter.made_at_home = 0;
	counter.locked = 0;
	counter.refused = 0;
	counter.left = real;
	counter.bytes = 0;
	counter.most_bytes = 0;
	rt->engine = &counter.counting;
	return rt;
}

static int add_one(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

enum { DATA = 6, ROUNDS = 5 };

static void run_rounds(heddle_runtime *rt)
{
	static double values[DATA][N];
	memset(values, 0, sizeof values);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .emulated = add_one);
	heddle_data *d[DATA];
	for (int i = 0; i < DATA; i++)
		assert_ok(heddle_vector(rt, values[i], N, sizeof(double), &d[i]));
	for (int k = 0; k < ROUNDS; k++)
		for (int i = 0; i < DATA; i++)
			assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d[i])));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	for (int i = 0; i < DATA; i++)
		assert_ok(heddle_unregister(d[i]));
	for (int i = 0; i < DATA; i++)
		assert_true(values[i][0] == ROUNDS && values[i][N - 1] == ROUNDS);
}

static void blocks_are_used_again(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(3, 100);
	run_rounds(rt);
	assert_true(evictions(rt) >= DATA);
	assert_int_equal(counter.made, 3);
	assert_int_equal(counter.locked, 0);
	assert_ok(heddle_stop(rt));
	assert_int_equal(counter.left, 100 - 3 + 3);
}

static int set_one(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 1;
	return 0;
}

/* Also the small blocks of main memory of a program that never has much of it at once. */
static void small_blocks_are_used_again_where_few_live_at_the_same_time(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(3, 100);
	heddle_codelet *set = heddle_codelet_new(rt, .name = "set", .cpu = set_one);
	for (int i = 0; i < 20; i++) {
		heddle_data *d;
		assert_ok(heddle_variable(rt, NULL, sizeof(double), &d));
		assert_ok(heddle_submit(rt, heddle_call(set), heddle_w(d), heddle_on(0)));
		assert_ok(heddle_unregister(d));
	}
	assert_int_equal(counter.made_at_home, 1);
	assert_int_equal(counter.locked, 0);
	assert_ok(heddle_stop(rt));
}

/* Leaves the accelerator with `n` blocks of the size that were used and are not any more. */
static void leave_blocks(heddle_runtime *rt, heddle_codelet *fill, size_t n, size_t elements)
{
	heddle_data *d[DATA];
	for (size_t i = 0; i < n; i++) {
		assert_ok(heddle_vector(rt, NULL, elements, sizeof(double), &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d[i])));
	}
	assert_ok(heddle_wait_all(rt));
	for (size_t i = 0; i < n; i++)
		assert_ok(heddle_unregister(d[i]));
	assert_ok(heddle_selfcheck(rt));
}

/* Blocks that are kept never take the room that a block of another size needs. */
static void blocks_of_other_sizes_make_way(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 100);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	for (int i = 0; i < 3; i++) {
		leave_blocks(rt, fill, 4, N);
		assert_true(counter.bytes == 4 * N * sizeof(double));
		leave_blocks(rt, fill, 1, 2 * N);
		leave_blocks(rt, fill, 2, N / 2);
	}
	assert_true(counter.most_bytes <= 4 * N * sizeof(double));
	assert_int_equal(counter.refused, 0);
	assert_ok(heddle_stop(rt));
	assert_true(counter.bytes == 0);
}

/* Nor the room that several blocks need which are asked for together, though there would be enough for each of them. */
static void blocks_make_way_for_all_that_are_asked_for(void **state)
{
	(void)state;
	enum { LESS = N - 2 * HD_CACHE_LINE / sizeof(double) };
	heddle_runtime *rt = start_counting(4, 100);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *d[2];
	leave_blocks(rt, fill, 3, N);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_vector(rt, NULL, LESS, sizeof(double), &d[i]));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d[0]), heddle_w(d[1])));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_unregister(d[i]));
	assert_true(counter.most_bytes <= 4 * N * sizeof(double));
	assert_ok(heddle_stop(rt));
}

/* A block may be larger, by what aligns it, than its datum, which is what counts while it is in use. */
static void blocks_that_are_larger_than_their_data_are_kept_where_there_is_room(void **state)
{
	(void)state;
	enum { SIXTH = 4 * N / DATA };
	heddle_runtime *rt = start_counting(4, 100);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	leave_blocks(rt, fill, DATA, SIXTH);
	assert_int_equal(counter.made, DATA);
	assert_in_range(counter.bytes, (DATA - 1) * SIXTH * sizeof(double), 4 * N * sizeof(double));
	assert_ok(heddle_stop(rt));
}

/* What other blocks that have been asked for need is no room for one that is given back. */
static void block_given_back_leaves_room_for_those_that_are_asked_for(void **state)
{
	(void)state;
	enum { LARGE = 3 * N / 2 * sizeof(double) / HD_CACHE_LINE * HD_CACHE_LINE };
	heddle_runtime *rt = start_counting(2, 100);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &d));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	hd_core_enter(rt);
	hd_block_want(rt, 1, LARGE);
	hd_data_destroy(d);
	hd_core_leave(rt);
	hd_core_enter(rt);
	uint64_t kept = rt->memories[1].kept;
	hd_core_leave(rt);
	assert_int_equal(kept, LARGE); /* with the other one there would be too much, and none would be kept */
	assert_int_equal(counter.bytes, LARGE);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* The next submission stays in the ring, as if somebody looked there. */
static void submit_to_ring(heddle_runtime *rt, heddle_codelet *fill, heddle_data *d)
{
	hd_core_enter(rt);
	rt->gate.room = rt->gate.patience = rt->ring.tail + 1;
	hd_core_leave(rt);
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d)));
}

/* A prefetch has asked for the room that is left, then a task needs it, too: it asks when the block has come. */
static void task_does_not_ask_for_the_room_that_was_asked_for(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(2, 100);
	static double values[N];
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *there, *fetched, *own;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &there));
	assert_ok(heddle_vector(rt, values, N, sizeof(double), &fetched));
	assert_ok(heddle_vector(rt, NULL, N - 100, sizeof(double), &own));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(there)));
	assert_ok(heddle_wait_all(rt));
	give_others_time(); /* the workers fall asleep, or they would look into the ring */
	submit_to_ring(rt, fill, own);
	hd_core_enter(rt);
	hd_prefetch(fetched, 1);
	hd_drain_all(rt);
	hd_core_settle(rt);
	hd_core_leave(rt);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_true(counter.most_bytes <= 2 * N * sizeof(double));
	assert_ok(heddle_stop(rt));
}

static int is_valid_there(heddle_runtime *rt, const heddle_data *d)
{
	hd_core_enter(rt);
	int valid = heddle_data_valid_on(d, 1);
	hd_core_leave(rt);
	return valid;
}

/* Nothing holds the core lock while the accelerator allocates for prefetches, and main memory for what is written back,
 * which has never been there. All prefetches come that have room. */
static void transfers_allocate_without_the_lock(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 100);
	static double values[DATA][N];
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *d[DATA], *own[DATA];
	for (int i = 0; i < DATA; i++) {
		assert_ok(heddle_vector(rt, values[i], N, sizeof(double), &d[i]));
		assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &own[i]));
	}
	for (int i = 0; i < DATA; i++)
		assert_ok(heddle_prefetch(d[i], 1));
	assert_ok(heddle_wait_all(rt));
	while (!is_valid_there(rt, d[3]))
		sched_yield();
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(counter.made, 4);
	assert_int_equal(counter.locked, 0);
	for (int i = 0; i < DATA; i++)
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(own[i])));
	assert_ok(heddle_wait_all(rt));
	assert_true(evictions(rt) >= DATA - 4);
	assert_int_equal(counter.locked, 0);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* A datum that ends takes along the prefetches that wait for blocks. */
static void prefetch_that_waits_ends_with_its_datum(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 100);
	static double values[2][N];
	heddle_data *d[2];
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_vector(rt, values[i], N, sizeof(double), &d[i]));
	hd_core_enter(rt);
	hd_prefetch(d[0], 1);
	hd_prefetch(d[1], 1);
	hd_prefetch(d[1], 1);
	assert_ptr_equal(rt->memories[1].hints->data, d[0]);
	assert_ptr_equal(rt->memories[1].hints->next, rt->memories[1].last_hint);
	rt->memories[1].last_hint = rt->memories[1].hints;
	assert_int_equal(hd_selfcheck(rt), HEDDLE_E_STATE);
	rt->memories[1].last_hint = rt->memories[1].hints->next;
	assert_ok(hd_selfcheck(rt));
	hd_prefetch_forget(&d[1]->replicas[1]);
	assert_ptr_equal(rt->memories[1].hints, rt->memories[1].last_hint);
	hd_data_destroy(d[0]);
	assert_null(rt->memories[1].hints);
	hd_core_leave(rt);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

static void end_datum(heddle_runtime *rt)
{
	hd_core_enter(rt);
	hd_data_destroy(counter.d);
	hd_core_leave(rt);
	counter.left = 1;
}

/* The block of a prefetch was refused, and its datum has ended meanwhile. That is of no concern to a task for which
 * there is room later. */
static void refused_block_of_an_ended_prefetch_fails_no_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 0);
	static double values[N];
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *own;
	assert_ok(heddle_vector(rt, values, N, sizeof(double), &counter.d));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &own));
	counter.meanwhile = end_datum;
	assert_ok(heddle_prefetch(counter.d, 1));
	assert_null(counter.meanwhile);
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(own)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* The datum has ended meanwhile, and there was room for it, but not for what aligns its block. */
static void block_that_came_for_nobody_is_kept_only_where_there_is_room(void **state)
{
	(void)state;
	enum { THERE = 3 };
	heddle_runtime *rt = start_counting(4, 100);
	static double values[N];
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *d[THERE];
	for (size_t i = 0; i < THERE; i++) {
		assert_ok(heddle_vector(rt, NULL, N + 1, sizeof(double), &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d[i])));
	}
	assert_ok(heddle_vector(rt, values, N - THERE, sizeof(double), &counter.d));
	assert_ok(heddle_wait_all(rt));
	counter.meanwhile = end_datum;
	assert_ok(heddle_prefetch(counter.d, 1));
	assert_null(counter.meanwhile);
	assert_int_equal(counter.made, THERE + 1);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* A task that needs a block while another thread allocates one waits until that has come. */
static void fill_datum(heddle_runtime *rt)
{
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	int waits = 0;
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(counter.d)));
	while (!waits && !counter.bytes) {
		sched_yield();
		hd_core_enter(rt);
		waits = rt->memories[1].waiting.first != NULL;
		hd_core_leave(rt);
	}
	hd_core_enter(rt);
	assert_int_equal(rt->memories[1].asked, N * sizeof(double));
	hd_core_leave(rt);
}

static void task_asks_for_blocks_when_those_have_come_that_are_allocated(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 100);
	static double values[N];
	heddle_data *fetched;
	assert_ok(heddle_vector(rt, values, N, sizeof(double), &fetched));
	assert_ok(heddle_vector(rt, NULL, N / 2, sizeof(double), &counter.d));
	counter.meanwhile = fill_datum;
	assert_ok(heddle_prefetch(fetched, 1));
	assert_null(counter.meanwhile);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(counter.made, 2);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* A task has one of the children until the gate is opened. */
static void use_a_child(heddle_runtime *rt)
{
	atomic_int *gate = &counter.gate;
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	assert_ok(heddle_partition(counter.d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(heddle_child(counter.d, 0)), heddle_value(gate),
	                        heddle_on(0)));
	assert_ok(heddle_unpartition(counter.d));
}

/* A datum is split and is to be joined again while a block is allocated for its prefetch: nothing reads it while tasks
 * have the children. */
static void prefetch_that_waits_ends_when_its_datum_is_split(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 100);
	static double values[N];
	counter.gate = 0;
	assert_ok(heddle_vector(rt, values, N, sizeof(double), &counter.d));
	counter.meanwhile = use_a_child;
	assert_ok(heddle_prefetch(counter.d, 1));
	hd_core_enter(rt);
	const struct hd_replica *r = &counter.d->replicas[1];
	int begun = r->valid || r->incoming || r->hinted;
	hd_core_leave(rt);
	counter.gate = 1;
	assert_false(begun);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* The capacity says that there is room for four, and there is for two: others leave, and no task fails. */
static void memory_that_is_in_pieces_evicts_instead_of_failing(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 2);
	run_rounds(rt);
	assert_true(evictions(rt) >= DATA);
	assert_ok(heddle_stop(rt));
	assert_int_equal(counter.left, 2);
}

/* A task that would need two blocks, when there can be only one, fails, and nothing stays behind. */
static void task_fails_when_nothing_is_left_to_evict(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(4, 1);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .emulated = nothing);
	heddle_data *d[2];
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &d[i]));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_w(d[0])));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_w(d[1]), heddle_w(d[0])));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MEMORY);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_w(d[1])));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(counter.left, 1);
}

/* The kernel of a task whose data stay where they are until its event is fulfilled. */
static int keep_data(heddle_context *c)
{
	*(_Atomic(heddle_event *) *)pointer_value(c) = heddle_detach(c);
	return 0;
}

/* A task needs two blocks, and all that there are belong to another task: it asks once for each, and waits. */
static void refused_blocks_are_not_asked_for_again_and_again(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(8, 2);
	heddle_codelet *keep = heddle_codelet_new(rt, .name = "keep", .emulated = keep_data);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	_Atomic(heddle_event *) event = NULL, *at = &event;
	heddle_data *theirs[2], *d[2];
	for (size_t i = 0; i < 2; i++) {
		assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &theirs[i]));
		assert_ok(heddle_vector(rt, NULL, N / (i + 1), sizeof(double), &d[i]));
	}
	assert_ok(heddle_submit(rt, heddle_call(keep), heddle_w(theirs[0]), heddle_w(theirs[1]), heddle_value(at)));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d[0]), heddle_w(d[1])));
	while (counter.refused < 2 || !event)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	assert_true(counter.refused <= 4);
	assert_ok(heddle_fulfill(event, 0));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(counter.left, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_are_used_again),
	    cmocka_unit_test(small_blocks_are_used_again_where_few_live_at_the_same_time),
	    cmocka_unit_test(blocks_of_other_sizes_make_way),
	    cmocka_unit_test(blocks_make_way_for_all_that_are_asked_for),
	    cmocka_unit_test(blocks_that_are_larger_than_their_data_are_kept_where_there_is_room),
	    cmocka_unit_test(block_given_back_leaves_room_for_those_that_are_asked_for),
	    cmocka_unit_test(task_does_not_ask_for_the_room_that_was_asked_for),
	    cmocka_unit_test(transfers_allocate_without_the_lock),
	    cmocka_unit_test(prefetch_that_waits_ends_with_its_datum),
	    cmocka_unit_test(prefetch_that_waits_ends_when_its_datum_is_split),
	    cmocka_unit_test(refused_block_of_an_ended_prefetch_fails_no_task),
	    cmocka_unit_test(block_that_came_for_nobody_is_kept_only_where_there_is_room),
	    cmocka_unit_test(task_asks_for_blocks_when_those_have_come_that_are_allocated),
	    cmocka_unit_test(memory_that_is_in_pieces_evicts_instead_of_failing),
	    cmocka_unit_test(task_fails_when_nothing_is_left_to_evict),
	    cmocka_unit_test(refused_blocks_are_not_asked_for_again_and_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
