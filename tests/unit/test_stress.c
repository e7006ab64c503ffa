/* What goes wrong only when several things happen at once: threads that wait and hold data, handles that end while
 * their copies are on the move, transfers that fail, memory that is nearly full. Each test is one interleaving,
 * arranged and not left to chance. */
#include <pthread.h>
#include "accelerator.h"
#include "program.h"

/* --- Threads that wait, threads that hold data -------------------------------------------------------------------- */

/* One thread holds a datum, another waits for the first of two tasks behind it. */
struct scene {
	heddle_data *data;
	heddle_task *first;
	atomic_int held, release, gate, first_ended;
};

static void *hold(void *arg)
{
	struct scene *s = arg;
	int status = heddle_acquire(s->data, HEDDLE_RW);
	s->held = 1;
	wait_for(&s->release, 1);
	return heddle_release(s->data) || status ? s : NULL;
}

static void *wait_for_first(void *arg)
{
	struct scene *s = arg;
	int status = heddle_task_wait(s->first);
	s->first_ended = 1;
	return status ? s : NULL;
}

static void *open_gate_later(void *arg)
{
	struct scene *s = arg;
	wait_for(&s->first_ended, 1);
	for (int i = 0; i < 1000; i++) /* a wait that ends too early gets its chance */
		sched_yield();
	s->gate = 1;
	return NULL;
}

static int release_then_open(heddle_context *c)
{
	struct scene *s = pointer_value(c);
	wait_for(&s->gate, 1);
	return 0;
}

static void wait_for_all_counts_what_another_thread_has_released(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *quick = heddle_codelet_new(rt, .name = "quick", .cpu = nothing);
	heddle_codelet *slow = heddle_codelet_new(rt, .name = "slow", .cpu = release_then_open);
	long x = 0;
	struct scene s = {0}, *scene = &s;
	pthread_t threads[3];
	void *failed[3];
	heddle_task *last;
	assert_ok(heddle_variable(rt, &x, sizeof x, &s.data));
	assert_int_equal(pthread_create(&threads[0], NULL, hold, &s), 0);
	wait_for(&s.held, 1);
	assert_ok(heddle_submit(rt, heddle_call(quick), heddle_rw(s.data), heddle_out(&s.first)));
	assert_ok(heddle_submit(rt, heddle_call(slow), heddle_rw(s.data), heddle_value(scene), heddle_out(&last)));
	assert_int_equal(pthread_create(&threads[1], NULL, wait_for_first, &s), 0);
	assert_int_equal(pthread_create(&threads[2], NULL, open_gate_later, &s), 0);
	s.release = 1;
	assert_ok(heddle_wait_all(rt));
	int done = heddle_task_done(last);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], &failed[i]), 0);
	assert_null(failed[0]);
	assert_null(failed[1]);
	assert_true(done);
	heddle_task_release(s.first);
	heddle_task_release(last);
	assert_ok(heddle_stop(rt));
}

static void readers_may_acquire_together(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	assert_ok(heddle_release(d));
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1);
	assert_ok(heddle_stop(rt));
}

static void stop_releases_what_tasks_wait_for(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, 1);
}

/* --- Threads that submit ------------------------------------------------------------------------------------------ */

struct turns {
	heddle_runtime *rt;
	heddle_codelet *nothing, *times_ten_plus;
	heddle_data *data;
	atomic_int turn;
};

static void *submit_second(void *arg)
{
	struct turns *s = arg;
	const long digit = 2;
	int status = heddle_submit(s->rt, heddle_call(s->nothing));
	s->turn = 1;
	wait_for(&s->turn, 2);
	status |= heddle_submit(s->rt, heddle_call(s->times_ten_plus), heddle_rw(s->data), heddle_value(digit));
	s->turn = 3;
	return status ? s : NULL;
}

/* What one thread has submitted comes before what another submits afterwards, though both have tasks in their
 * inboxes. */
static void tasks_of_two_threads_run_in_the_order_of_submission(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	struct turns s = {.rt = rt, .nothing = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing)};
	s.times_ten_plus = heddle_codelet_new(rt, .name = "digit", .cpu = times_ten_plus);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	long x = 0;
	const long digit = 1;
	atomic_int gate = 0, *gate_address = &gate;
	pthread_t thread;
	void *failed;
	assert_ok(heddle_variable(rt, &x, sizeof x, &s.data));
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address)));
	assert_int_equal(pthread_create(&thread, NULL, submit_second, &s), 0);
	wait_for(&s.turn, 1);
	assert_ok(heddle_submit(rt, heddle_call(s.nothing)));
	assert_ok(heddle_submit(rt, heddle_call(s.times_ten_plus), heddle_rw(s.data), heddle_value(digit)));
	s.turn = 2;
	wait_for(&s.turn, 3);
	gate = 1;
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_ok(heddle_unregister(s.data));
	assert_int_equal(x, 12);
	assert_ok(heddle_stop(rt));
}

struct spawner {
	heddle_codelet *count;
	atomic_int ran, spawn_at;
};

static int count_run(heddle_context *c)
{
	((struct spawner *)pointer_value(c))->ran++;
	return 0;
}

static int count_and_spawn(heddle_context *c)
{
	struct spawner *s = pointer_value(c);
	int status = 0;
	if (s->ran++ == s->spawn_at)
		for (int i = 0; i < 40; i++)
			status |= heddle_submit(heddle_context_runtime(c), heddle_call(s->count), heddle_value(s));
	return status;
}

/* The thread that waits for room runs kernels meanwhile, which submit through the same inbox. */
static void kernel_run_by_a_throttled_thread_may_submit(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.window = 200;
	for (int at = 0; at < 60; at++) {
		heddle_runtime *rt = start_with(&config);
		struct spawner s = {.count = heddle_codelet_new(rt, .name = "count", .cpu = count_run), .spawn_at = at},
		               *spawner = &s;
		heddle_codelet *spawn = heddle_codelet_new(rt, .name = "spawn", .cpu = count_and_spawn);
		for (int i = 0; i < 400; i++)
			assert_ok(heddle_submit(rt, heddle_call(spawn), heddle_value(spawner)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(s.ran, 440);
		assert_ok(heddle_stop(rt));
	}
}

static int copy_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 1) = *(long *)heddle_ptr(c, 0);
	return 0;
}

static void commuting_task_after_one_that_failed_is_cancelled(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fail_always);
	heddle_codelet *copy = heddle_codelet_new(rt, .name = "copy", .cpu = copy_long);
	long x = 0, y = 0;
	atomic_int gate = 0, *gate_address = &gate;
	heddle_data *a, *b;
	heddle_task *after;
	assert_ok(heddle_variable(rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(rt, &y, sizeof y, &b));
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_rw(a), heddle_value(gate_address)));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_commute(a)));
	assert_ok(heddle_submit(rt, heddle_call(copy), heddle_commute(a), heddle_w(b), heddle_out(&after)));
	gate = 1;
	assert_int_equal(heddle_task_wait(after), HEDDLE_E_CANCELLED);
	heddle_task_release(after);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_unregister(b), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_unregister(a), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* --- Copies on the move ------------------------------------------------------------------------------------------- */

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

static void reduction_may_be_cancelled_while_a_contribution_is_evicted(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(1);
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .cpu = write_ones);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = nothing);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fail_always);
	double *x = calloc(N, sizeof *x);
	heddle_data *sum, *other;
	assert_non_null(x);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &sum));
	assert_ok(heddle_vector(rt, NULL, N, sizeof *x, &other));
	assert_ok(heddle_data_set_reduction(sum, init, combine));
	heddle_task *good, *failed; /* waited for one by one: a wait for all would end the reduction */
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_redux(sum), heddle_out(&good)));
	assert_ok(heddle_task_wait(good));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_redux(sum), heddle_out(&failed)));
	assert_int_equal(heddle_task_wait(failed), HEDDLE_E_KERNEL);
	heddle_task_release(good);
	heddle_task_release(failed);
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other)));
	while (!evictions(rt)) /* begun: it lasts 8 ms */
		sched_yield();
	assert_ok(heddle_unregister_async(sum));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
	free(x);
}

/* --- Objects that cannot be packed -------------------------------------------------------------------------------- */

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

static const struct heddle_type cell_type = {"cell", cell_size, cell_pack, cell_unpack, free};

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

/* --- Shapes and sizes --------------------------------------------------------------------------------------------- */

static int fill_matrix(heddle_context *c)
{
	struct heddle_part p;
	if (heddle_context_part(c, 0, 0, &p))
		return 1;
	for (size_t k = 0; k < p.n[0] * p.n[1]; k++)
		((long *)p.base)[k % p.n[0] * p.stride[0] + k / p.n[0] * p.stride[1]] = heddle_get(c, 0, long);
	return 0;
}

static void temporary_without_strides_is_split_into_disjoint_children(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .cpu = fill_matrix);
	const struct heddle_part part = {.elem_size = sizeof(long), .n_dims = 2, .n = {3, 4}};
	const struct heddle_filter columns = {.kind = HEDDLE_SPLIT_COLUMNS, .ny = 2},
	                           halves = {.kind = HEDDLE_SPLIT_ROWS, .nx = 3};
	heddle_data *d;
	long k = 7;
	assert_ok(heddle_tensor(rt, &part, &d));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d), heddle_value(k)));
	assert_ok(heddle_partition(d, &columns, NULL));
	assert_ok(heddle_partition(heddle_child(d, 1), &halves, NULL));
	k = 100;
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_rw(heddle_child(d, 0)), heddle_value(k)));
	for (k = 0; k < 3; k++)
		assert_ok(heddle_submit(rt, heddle_call(fill), heddle_rw(heddle_child(heddle_child(d, 1), (size_t)k)),
		                        heddle_value(k)));
	assert_ok(heddle_unpartition(heddle_child(d, 1)));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	static const long expected[] = {100, 100, 100, 100, 100, 100, 0, 1, 2, 0, 1, 2};
	assert_memory_equal(heddle_data_ptr(d), expected, sizeof expected);
	assert_ok(heddle_release(d));
	assert_ok(heddle_stop(rt));
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
	for (unsigned i = 0; i < 2; i++) /* only the accelerator is free */
		assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address), heddle_on(i)));
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

/* --- Reductions --------------------------------------------------------------------------------------------------- */

static void reduction_that_some_worker_could_not_begin_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .emulated = nothing);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = add_value);
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 1, sizeof(long), &d));
	assert_int_equal(heddle_data_set_reduction(d, init, combine), HEDDLE_E_INVALID);
	assert_says("init");
	assert_ok(heddle_stop(rt));
}

static void reduction_whose_two_copies_fit_no_memory_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	const struct heddle_implementation there = {"emulated", NULL, nothing};
	heddle_codelet *here = heddle_codelet_new(rt, .name = "here", .cpu = nothing);
	heddle_codelet *only_there =
	    heddle_codelet_new(rt, .name = "only_there", .implementations = &there, .n_implementations = 1);
	heddle_data *small, *large;
	assert_ok(heddle_vector(rt, NULL, N / 2, sizeof(double), &small));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &large));
	assert_ok(heddle_data_set_reduction(small, here, only_there));
	assert_int_equal(heddle_data_set_reduction(large, here, only_there), HEDDLE_E_NO_FIT);
	assert_says("only_there");
	assert_ok(heddle_data_set_reduction(large, here, here)); /* main memory has no limit */
	assert_ok(heddle_submit(rt, heddle_call(here), heddle_redux(large)));
	assert_ok(heddle_unregister(large));
	assert_ok(heddle_stop(rt));
}

/* In virtual time no kernel runs, and the contributions are combined all the same. */
static void reduction_in_virtual_time_is_completed_by_combining_tasks(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = HEDDLE_SOURCE_DIR "/platforms/gpu1-cpu6.yaml";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "spotrf", .cpu = nothing);
	heddle_data *d;
	struct heddle_stats stats;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(float), &d));
	assert_ok(heddle_data_set_reduction(d, codelet, codelet));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_redux(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.tasks_executed > 20);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wait_for_all_counts_what_another_thread_has_released),
	    cmocka_unit_test(readers_may_acquire_together),
	    cmocka_unit_test(stop_releases_what_tasks_wait_for),
	    cmocka_unit_test(tasks_of_two_threads_run_in_the_order_of_submission),
	    cmocka_unit_test(kernel_run_by_a_throttled_thread_may_submit),
	    cmocka_unit_test(commuting_task_after_one_that_failed_is_cancelled),
	    cmocka_unit_test(scratch_copy_is_dropped_and_not_written_back),
	    cmocka_unit_test(reduction_may_be_cancelled_while_a_contribution_is_evicted),
	    cmocka_unit_test(object_that_cannot_be_evicted_is_void),
	    cmocka_unit_test(temporary_without_strides_is_split_into_disjoint_children),
	    cmocka_unit_test(task_that_does_not_fit_is_kept_off_though_its_like_with_one_datum_fitted),
	    cmocka_unit_test(reduction_that_some_worker_could_not_begin_is_refused),
	    cmocka_unit_test(reduction_whose_two_copies_fit_no_memory_is_refused),
	    cmocka_unit_test(reduction_in_virtual_time_is_completed_by_combining_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
