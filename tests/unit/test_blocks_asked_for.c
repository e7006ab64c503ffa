/* Tasks and prefetches that ask for blocks and are tried again: each does so a few times, not for ever. */
#include "internals.h"
#include "accelerator.h"

enum { OFTEN = 20 };

/* The allocations of the engine. */
static struct {
	const struct hd_engine *engine;
	struct hd_engine counting;
	atomic_int made_at_home; /* how many blocks of main memory were allocated */
	atomic_int refused;      /* how many blocks were refused */
	_Atomic size_t bytes;    /* of all blocks of accelerators */
	size_t room, largest;    /* blocks for which there is no room, or larger ones, are refused, `most` times */
	int most;
	atomic_int gate;
} counter;

static int counting_alloc(heddle_runtime *rt, unsigned node, size_t size, void **out)
{
	int has_room = size <= counter.largest && (!node || counter.bytes + size <= counter.room);
	if (!has_room && counter.refused < counter.most) {
		counter.refused++;
		return HEDDLE_E_MEMORY;
	}
	counter.made_at_home += !node;
	counter.bytes += node ? size : 0;
	return counter.engine->alloc(rt, node, size, out);
}

static void counting_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	counter.bytes -= node ? size : 0;
	counter.engine->free(rt, node, ptr, size);
}

/* Accelerators whose capacity is that of `units` data of N. */
static heddle_runtime *start_counting(int n_emulated, unsigned units)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = n_emulated;
	config.emulated_memory = units * N * sizeof(double);
	heddle_runtime *rt = start_with(&config);
	counter.engine = rt->engine;
	counter.counting = *rt->engine;
	counter.counting.alloc = counting_alloc;
	counter.counting.free = counting_free;
	counter.made_at_home = counter.refused = counter.gate = 0;
	counter.bytes = 0;
	counter.room = counter.largest = SIZE_MAX;
	counter.most = OFTEN;
	rt->engine = &counter.counting;
	return rt;
}

/* A task has got a block for a datum, and waits for a block of another size. Meanwhile the prefetch of the datum, from
 * the other accelerator, lacks a block in main memory. The prefetch does not free the task's replica; else the task
 * and the prefetch would be tried in turn, under the lock, and each time ask for their blocks. */
static void prefetch_leaves_a_waiting_task_the_replica_that_it_has(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(2, 3);
	static double one;
	atomic_int *gate = &counter.gate;
	heddle_codelet *pass = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *written, *d, *other;
	assert_ok(heddle_variable(rt, &one, sizeof one, &written));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &d));
	assert_ok(heddle_vector(rt, NULL, N + 8, sizeof(double), &other));
	assert_ok(heddle_submit(rt, heddle_call(pass), heddle_rw(written), heddle_value(gate), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_r(written), heddle_w(d), heddle_on(1)));
	assert_ok(heddle_prefetch(d, 2));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_r(d), heddle_w(other), heddle_on(2)));
	counter.gate = 1; /* then the prefetch and the last task become ready together */
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(counter.made_at_home, 1);
	assert_ok(heddle_stop(rt));
}

/* The large block of a task is refused, and its small one comes. The large one is not asked for again and again because
 * the small one could be freed, which would be asked for again, too. */
static void task_that_lacks_one_of_two_blocks_evicts(void **state)
{
	(void)state;
	heddle_runtime *rt = start_counting(1, 4);
	counter.room = 11 * N / 4 * sizeof(double);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = nothing);
	heddle_data *old, *large, *small;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &old));
	assert_ok(heddle_vector(rt, NULL, 2 * N, sizeof(double), &large));
	assert_ok(heddle_vector(rt, NULL, N / 2, sizeof(double), &small));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(old)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(large), heddle_w(small)));
	assert_ok(heddle_wait_all(rt));
	assert_in_range(counter.refused, 1, OFTEN / 2);
	assert_int_equal(evictions(rt), 1);
	assert_ok(heddle_stop(rt));
}

/* Tasks that wait for blocks of main memory, some small, some too large for the machine. The small ones are not freed
 * and asked for again and again because they might make room for a large one: the tasks with large ones fail. */
static void tasks_whose_blocks_are_too_large_fail(void **state)
{
	enum { TASKS = 8, LARGE = 8 * N };
	(void)state;
	heddle_runtime *rt = start_counting(1, 4);
	static double one;
	atomic_int *gate = &counter.gate;
	counter.largest = LARGE / 2 * sizeof(double);
	counter.most = 100 * OFTEN;
	heddle_codelet *pass = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .cpu = nothing);
	heddle_data *written, *work, *small[TASKS];
	assert_ok(heddle_variable(rt, &one, sizeof one, &written));
	assert_ok(heddle_vector(rt, NULL, LARGE, sizeof(double), &work));
	for (int i = 0; i < TASKS; i++)
		assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &small[i]));
	assert_ok(heddle_submit(rt, heddle_call(pass), heddle_rw(written), heddle_value(gate)));
	for (int i = 0; i < TASKS; i++) {
		heddle_data *large;
		assert_ok(heddle_vector(rt, NULL, LARGE, sizeof(double), &large));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_r(written), heddle_w(small[i])));
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(small[(i + 1) % TASKS]), heddle_w(large),
		                        heddle_scratch(work)));
		assert_ok(heddle_unregister_async(large));
	}
	counter.gate = 1;
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MEMORY);
	assert_in_range(counter.refused, 1, 10 * TASKS);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prefetch_leaves_a_waiting_task_the_replica_that_it_has),
	    cmocka_unit_test(task_that_lacks_one_of_two_blocks_evicts),
	    cmocka_unit_test(tasks_whose_blocks_are_too_large_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
