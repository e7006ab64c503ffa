/* Memory of accelerators that is too small: evictions, and tasks that do not fit. */
#include "accelerator.h"
#include "program.h"

static void scratch_copy_is_dropped_and_not_written_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(1); /* MB/s: 8 ms for a copy */
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
	heddle_data *scratch, *other;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &scratch));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &other));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_scratch(scratch)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other))); /* needs the place of the private copy */
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister_async(scratch));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.transfers, 0);
	assert_int_equal(stats.evictions, 1);
	assert_ok(heddle_stop(rt));
}

static int wait_for_flag(heddle_context *c)
{
	const atomic_int *flag = pointer_value(c);
	while (!*flag)
		sched_yield();
	return 0;
}

/* A task without codelet needs its data on no node: the data are evicted as if no task needed them. */
static void data_that_a_task_without_codelet_waits_for_can_be_evicted(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	atomic_int flag = 0, *address = &flag;
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
	heddle_codelet *wait = heddle_codelet_new(rt, .name = "wait", .cpu = wait_for_flag);
	heddle_data *d, *other;
	heddle_task *gate, *filled;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &d));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &other));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(wait), heddle_on(0), heddle_value(address), heddle_out(&gate)));
	assert_ok(heddle_submit(rt, heddle_r(d), heddle_after(gate)));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other), heddle_out(&filled)));
	assert_ok(heddle_task_wait(filled));
	flag = 1;
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(evictions(rt), 1);
	heddle_task_release(gate);
	heddle_task_release(filled);
	assert_ok(heddle_stop(rt));
}

/* Two tasks become ready together and need more new blocks than are asked for at a time. */
static void tasks_that_need_many_new_blocks_get_them(void **state)
{
	(void)state;
	enum { MANY = 20, FEW = 3 };
	for (int round = 0; round < 10; round++) {
		struct heddle_config config = small_config();
		config.n_cpu = 1;
		config.n_emulated = 2;
		heddle_runtime *rt = start_with(&config);
		atomic_int flag = 0, *address = &flag;
		heddle_codelet *wait = heddle_codelet_new(rt, .name = "wait", .cpu = wait_for_flag);
		heddle_codelet *writes = heddle_codelet_new(rt, .name = "writes", .emulated = nothing);
		heddle_task *gate;
		assert_ok(heddle_submit(rt, heddle_call(wait), heddle_on(0), heddle_value(address), heddle_out(&gate)));
		for (int worker = 1; worker <= 2; worker++) {
			struct heddle_item items[MANY + 3];
			size_t n = 0;
			items[n++] = heddle_call(writes);
			items[n++] = heddle_on((unsigned)worker);
			items[n++] = heddle_after(gate);
			for (size_t i = 0; i < (worker == 1 ? MANY : FEW); i++) {
				heddle_data *d;
				assert_ok(heddle_vector(rt, NULL, N + 8 * i, sizeof(double), &d));
				items[n++] = heddle_w(d);
			}
			assert_ok(heddle_submit_items(rt, n, items));
		}
		flag = 1;
		assert_ok(heddle_wait_all(rt));
		heddle_task_release(gate);
		assert_ok(heddle_stop(rt));
	}
}

struct cell {
	double payload[N];
};

static size_t cell_size(const void *object)
{
	(void)object;
	return sizeof(struct cell);
}

static atomic_int packs_until_failure;

static int cell_pack(const void *object, void *buffer, size_t size)
{
	memcpy(buffer, object, size);
	return packs_until_failure-- <= 0;
}

static int cell_unpack(void **object, const void *buffer, size_t size)
{
	if (!*object && !(*object = malloc(sizeof(struct cell))))
		return 1;
	memcpy(*object, buffer, size);
	return 0;
}

static const struct heddle_type cell_type = {
    .name = "cell", .size = cell_size, .pack = cell_pack, .unpack = cell_unpack, .destroy = free};

static void object_that_cannot_be_evicted_is_void(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	heddle_codelet *change = heddle_codelet_new(rt, .name = "change", .emulated = nothing);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
	struct cell *cell = calloc(1, sizeof *cell);
	heddle_data *object, *other;
	assert_non_null(cell);
	packs_until_failure = 1;
	assert_ok(heddle_object(rt, cell, &cell_type, &object));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &other));
	assert_ok(heddle_submit(rt, heddle_call(change), heddle_rw(object)));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(heddle_unregister(object), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
	free(cell);
}

/* The model entry is shared by tasks whose data are of the same shapes, whether they are different data or not. */
static void task_that_does_not_fit_is_kept_off_though_its_like_with_one_datum_fitted(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.emulated_memory = N * sizeof(double) * 3 / 2;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *read = heddle_codelet_new(rt, .name = "read", .cpu = nothing);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	double *x = calloc(2 * N, sizeof *x);
	heddle_data *a, *b;
	assert_non_null(x);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &a));
	assert_ok(heddle_vector(rt, x + N, N, sizeof *x, &b));
	heddle_codelet *mark = heddle_codelet_new(rt, .name = "mark", .emulated = nothing);
	heddle_task *marked;
	atomic_int gate = 0, *gate_address = &gate;
	assert_ok(heddle_submit(rt, heddle_call(read), heddle_r(a), heddle_r(a)));
	for (int i = 0; i < config.n_cpu; i++) /* only the accelerator is free */
		assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address), heddle_on((unsigned)i)));
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(read), heddle_r(a), heddle_r(b)));
	assert_ok(heddle_submit(rt, heddle_call(mark), heddle_out(&marked)));
	assert_ok(heddle_task_wait(marked)); /* it has looked at all before */
	heddle_task_release(marked);
	gate = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
	free(x);
}

static int spoils_and_fails(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	x[0] = -1;
	return heddle_fail(c, 1, "on purpose");
}

/* The program's value is as it was, though the datum counts as never computed: no task reads what a failed one left. */
static void copies_stay_valid_until_the_writer_has_succeeded(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .emulated = spoils_and_fails);
	heddle_codelet *good = heddle_codelet_new(rt, .name = "good", .emulated = write_ones);
	double *x = calloc(N, sizeof *x);
	heddle_data *d;
	x[0] = 7;
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_rw(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_true(heddle_data_valid_on(d, 0) && !heddle_data_valid_on(d, 1));
	assert_true(x[0] == 7);
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_true(!heddle_data_valid_on(d, 0) && heddle_data_valid_on(d, 1));
	assert_ok(heddle_unregister(d));
	assert_true(x[0] == 1);
	assert_ok(heddle_stop(rt));
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scratch_copy_is_dropped_and_not_written_back),
	    cmocka_unit_test(data_that_a_task_without_codelet_waits_for_can_be_evicted),
	    cmocka_unit_test(tasks_that_need_many_new_blocks_get_them),
	    cmocka_unit_test(copies_stay_valid_until_the_writer_has_succeeded),
	    cmocka_unit_test(object_that_cannot_be_evicted_is_void),
	    cmocka_unit_test(task_that_does_not_fit_is_kept_off_though_its_like_with_one_datum_fitted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
