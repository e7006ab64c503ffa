/* Kernels on CUDA devices: what they may call, and what they compute together with those on CPU cores. */
#include "../cuda/devices.h"

static int no_setup(void **state)
{
	(void)state;
	if (standin())
		standin()->reset();
	return 0;
}

static heddle_codelet *codelet(heddle_runtime *rt, heddle_kernel kernel)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = "kernel", .cuda = kernel);
	assert_non_null(c);
	return c;
}

static void devices_are_workers(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cuda(2);
	const struct heddle_platform *p = heddle_runtime_platform(rt);
	unsigned w = device_worker(rt, 0);
	assert_string_equal(p->workers[w].name, "cuda0");
	assert_true(p->nodes[p->workers[w].node].capacity > 0);
	if (standin())
		assert_int_equal(p->n_workers, 3);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

static void data_go_between_cores_and_devices(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cuda(2);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_value, .cuda = cuda_add);
	heddle_data *x;
	long value = 0, one = 1;
	assert_ok(heddle_variable(rt, &value, sizeof value, &x));
	for (unsigned i = 0; i < 30; i++) {
		unsigned on = i % 3 ? device_worker(rt, i % 3 - 1) : 0;
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(x), heddle_value(one), heddle_on(on)));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(x));
	assert_int_equal(value, 30);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

/* Tiles with gaps between their columns, many more than fit, on all workers and streams. */
static void matrices_larger_than_the_memory(void **state)
{
	(void)state;
	enum { N = 8, TILE = 48, LD = N * TILE };
	struct heddle_config config = cuda_config(2);
	config.cuda_memory = 6 * TILE * TILE * sizeof(long);
	config.cuda_streams = 3;
	config.sched = "dmdas";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "m", .cpu = cpu_matrices, .cuda = cuda_matrices);
	long *A = calloc(LD * LD, sizeof *A), two = 2;
	heddle_data *whole;
	for (size_t e = 0; e < LD * LD; e++)
		A[e] = 1;
	assert_ok(heddle_matrix(rt, A, LD, LD, LD, sizeof *A, &whole));
	assert_ok(heddle_partition(whole, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .nx = N, .ny = N}, NULL));
	for (unsigned round = 0; round < 3; round++)
		for (size_t t = 0; t + 1 < N * N; t++)
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(whole, t)),
			                        heddle_r(heddle_child(whole, t + 1)), heddle_value(two)));
	assert_ok(heddle_unpartition(whole));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(whole));
	long expected[N * N];
	for (size_t t = 0; t < N * N; t++)
		expected[t] = 1;
	for (unsigned round = 0; round < 3; round++)
		for (size_t t = 0; t + 1 < N * N; t++)
			expected[t] += 2 * expected[t + 1];
	for (size_t e = 0; e < LD * LD; e++)
		assert_int_equal(A[e], expected[e % LD / TILE + e / LD / TILE * N]);
	free(A);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

/* Once for all devices, and its copies are as right as others. */
static void memory_of_the_program_is_pinned(void **state)
{
	(void)state;
	enum { N = 1000 };
	heddle_runtime *rt = start_cuda(2);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "m", .cuda = cuda_matrices);
	long *A = calloc(2 * N, sizeof *A), two = 2;
	heddle_data *x, *y;
	unsigned before = standin() ? standin()->leaks(NULL) : 0;
	for (int i = 0; i < N; i++)
		A[i] = i;
	assert_ok(heddle_memory_pin(rt, A, 2 * N * sizeof *A));
	if (standin())
		assert_int_equal(standin()->leaks(NULL), before + 1);
	assert_ok(heddle_matrix(rt, A, N, 1, N, sizeof *A, &x));
	assert_ok(heddle_matrix(rt, A + N, N, 1, N, sizeof *A, &y));
	for (unsigned i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(y), heddle_r(x), heddle_value(two),
		                        heddle_on(device_worker(rt, i))));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(x));
	assert_ok(heddle_unregister(y));
	heddle_memory_unpin(rt, A);
	for (int i = 0; i < N; i++)
		assert_int_equal(A[N + i], 4 * i);
	if (standin()) {
		let_fail("cuMemHostRegister", 1, 2);
		assert_int_equal(heddle_memory_pin(rt, A, sizeof *A), HEDDLE_E_MEMORY);
		assert_says("cuMemHostRegister");
	}
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
	free(A);
}

static void pinning_does_nothing_without_devices(void **state)
{
	(void)state;
	long value = 0;
	heddle_runtime *rt = start();
	assert_ok(heddle_memory_pin(rt, &value, sizeof value));
	heddle_memory_unpin(rt, &value);
	assert_int_equal(heddle_memory_pin(rt, NULL, 8), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
	rt = start_where("gpu1-cpu6");
	assert_ok(heddle_memory_pin(rt, &value, sizeof value));
	heddle_memory_unpin(rt, &value);
	assert_ok(heddle_stop(rt));
}

/* --- What kernels call -------------------------------------------------------------------------------------------- */

struct seen {
	void *scratch[16], *streams[16], *more;
	void **slots[16];
	int n, destroyed, launched;
	heddle_event *event;
	heddle_context *context;
};

/* One task with this kernel on a device; returns what waiting for it returns. */
static int run(heddle_runtime *rt, heddle_kernel kernel, struct seen *seen)
{
	heddle_codelet *c = codelet(rt, kernel);
	heddle_data *x;
	long value = 0;
	assert_ok(heddle_variable(rt, &value, sizeof value, &x));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(x), heddle_value(seen)));
	int status = heddle_wait_all(rt);
	heddle_unregister(x);
	return status;
}

static void assert_kernel_fails(heddle_kernel kernel, const char *word, const char *other)
{
	struct seen seen = {0};
	heddle_runtime *rt = start_cuda(1);
	assert_int_equal(run(rt, kernel, &seen), HEDDLE_E_KERNEL);
	assert_says(word);
	assert_says(other);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

static int take_what_is_not_there(heddle_context *c)
{
	struct CUfunc_st *f;
	return heddle_cuda_function(c, &test_image, "no_such_function", &f);
}

static int take_from_nothing(heddle_context *c)
{
	static const struct heddle_cuda_image nothing_there = {NULL, 0};
	struct CUfunc_st *f;
	return heddle_cuda_function(c, &nothing_there, "lost", &f);
}

static int take_from_noise(heddle_context *c)
{
	static const struct heddle_cuda_image noise = {"noise and noise", 15};
	struct CUfunc_st *f;
	return heddle_cuda_function(c, &noise, "f", &f);
}

static void unknown_functions_are_named(void **state)
{
	(void)state;
	assert_kernel_fails(take_what_is_not_there, "has no function no_such_function", "cuModuleGetFunction");
	assert_kernel_fails(take_from_nothing, "built without device code", "lost");
	assert_kernel_fails(take_from_noise, "cuModuleLoadDataEx", "CUDA_ERROR_INVALID_IMAGE");
}

static int launch_too_many_threads(heddle_context *c)
{
	struct CUfunc_st *f;
	void *x = heddle_ptr(c, 0);
	long long a = 1;
	int status = heddle_cuda_function(c, &test_image, "test_add", &f);
	return status ? status
	              : heddle_cuda_launch(c, f, &(struct heddle_cuda_grid){{1}, {4096}, 0}, (void *[]){&x, &a});
}

static int launch_with_all_shared_memory(heddle_context *c)
{
	struct CUfunc_st *f;
	void *x = heddle_ptr(c, 0);
	long long a = 1;
	int status = heddle_cuda_function(c, &test_image, "test_add", &f);
	return status ? status
	              : heddle_cuda_launch(c, f, &(struct heddle_cuda_grid){{1}, {1}, (size_t)1 << 40},
	                                   (void *[]){&x, &a});
}

static void launches_that_cuda_refuses(void **state)
{
	(void)state;
	assert_kernel_fails(launch_too_many_threads, "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE", "cuda0 (");
	assert_kernel_fails(launch_with_all_shared_memory, "no device has so much", "shared");
}

static int report_one(heddle_context *c)
{
	return heddle_cuda_failed(c, 1, "cublasWhatever") == HEDDLE_E_KERNEL && heddle_cuda_failed(c, 0, "x") == 0
	           ? HEDDLE_E_KERNEL
	           : 0;
}

static int report_memory(heddle_context *c)
{
	return heddle_cuda_failed(c, 2, "cudaMallocAsync") == HEDDLE_E_MEMORY ? 5 : 0;
}

static void calls_of_the_kernel_itself(void **state)
{
	(void)state;
	assert_kernel_fails(report_one, "cublasWhatever: CUDA_ERROR_INVALID_VALUE (1)", "cuda0 (");
	assert_kernel_fails(report_memory, "cudaMallocAsync: CUDA_ERROR_OUT_OF_MEMORY", "cuda_memory");
}

static int sum_in_shared_memory(heddle_context *c)
{
	struct CUfunc_st *f;
	void *x = heddle_ptr(c, 0);
	int n = 7000; /* times 8 bytes is more than 48 KiB */
	int status = heddle_cuda_function(c, &test_image, "test_sum", &f);
	return status
	           ? status
	           : heddle_cuda_launch(c, f, &(struct heddle_cuda_grid){{1}, {64}, 8 * (size_t)n}, (void *[]){&n, &x});
}

static void much_shared_memory(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cuda(1);
	heddle_data *x;
	long value = 0;
	assert_ok(heddle_variable(rt, &value, sizeof value, &x));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, sum_in_shared_memory)), heddle_w(x)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(x));
	assert_int_equal(value, 7000L * 7001 / 2);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

/* --- What belongs to a stream ------------------------------------------------------------------------------------- */

static void count_destroyed(void *pointer)
{
	struct seen *seen = pointer;
	seen->destroyed++;
}

static int look_around(heddle_context *c)
{
	static int key, other_key;
	struct seen *seen = heddle_get(c, 0, struct seen *);
	int i = seen->n++;
	seen->streams[i] = heddle_stream(c);
	seen->scratch[i] = heddle_cuda_scratch(c, 1000);
	seen->slots[i] = heddle_cuda_slot(c, &key, count_destroyed);
	*seen->slots[i] = seen;
	if (heddle_cuda_slot(c, &other_key, count_destroyed) == seen->slots[i])
		return 1;
	return heddle_cuda_scratch(c, 1) == seen->scratch[i] ? 0 : 1;
}

static void streams_keep_their_own_slots(void **state)
{
	(void)state;
	struct heddle_config config = cuda_config(1);
	struct seen seen = {0};
	config.cuda_streams = 2;
	heddle_runtime *rt = start_with(&config);
	for (int i = 0; i < 8; i++)
		assert_ok(run(rt, look_around, &seen));
	assert_int_equal(seen.n, 8);
	for (int i = 0; i < 8; i++) {
		assert_non_null(seen.scratch[i]);
		assert_int_equal((uintptr_t)seen.scratch[i] % 256, 0);
		for (int j = 0; j < i; j++) {
			assert_true((seen.streams[i] == seen.streams[j]) == (seen.slots[i] == seen.slots[j]));
			assert_true((seen.streams[i] == seen.streams[j]) == (seen.scratch[i] == seen.scratch[j]));
		}
	}
	assert_int_equal(seen.destroyed, 0);
	assert_ok(heddle_stop(rt));
	assert_true(seen.destroyed == 1 || seen.destroyed == 2); /* one per stream that was used */
	assert_nothing_left();
}

/* Work in the first workspace is still on the stream while the kernel gets a larger one. */
static int grow(heddle_context *c)
{
	struct CUfunc_st *f;
	long long one = 1;
	size_t sizes[] = {100, 1 << 20, 1 << 22};
	for (int i = 0; i < 3; i++) {
		void *p = heddle_cuda_scratch(c, sizes[i]);
		if (!p || heddle_cuda_function(c, &test_image, "test_add", &f) ||
		    heddle_cuda_launch(c, f, &(struct heddle_cuda_grid){{1}, {1}, 0}, (void *[]){&p, &one}))
			return HEDDLE_E_KERNEL;
	}
	return 0;
}

static int ask_for_too_much(heddle_context *c)
{
	if (heddle_cuda_scratch(c, (size_t)1 << 50) || !heddle_cuda_scratch(c, 100))
		return 0;
	return HEDDLE_E_KERNEL;
}

static void workspace_grows_and_may_be_refused(void **state)
{
	(void)state;
	struct seen seen = {0};
	heddle_runtime *rt = start_cuda(1);
	assert_ok(run(rt, grow, &seen));
	assert_ok(heddle_stop(rt));
	assert_kernel_fails(ask_for_too_much, "bytes of workspace", "CUDA_ERROR_OUT_OF_MEMORY");
}

/* --- Callbacks, and calls from elsewhere -------------------------------------------------------------------------- */

static void fulfil(void *arg, int result)
{
	(void)result;
	heddle_fulfill(arg, 0); /* a device's failure is found by the runtime */
}

static int add_and_tell(heddle_context *c)
{
	heddle_event *event = heddle_detach(c);
	int status = cuda_add(c);
	if (!event)
		return -1;
	if (status || (status = heddle_cuda_then(c, fulfil, event)))
		heddle_fulfill(event, 1);
	return status;
}

static void events_are_fulfilled_when_the_work_is_done(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cuda(1);
	heddle_codelet *c = codelet(rt, add_and_tell);
	heddle_data *x;
	long value = 1, two = 2;
	assert_ok(heddle_variable(rt, &value, sizeof value, &x));
	for (int i = 0; i < 5; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(x), heddle_value(two)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(x));
	assert_int_equal(value, 11);
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

/* Whoever fulfills an event may have to allocate memory of the device, for a task that goes on. CUDA does not permit
 * that in its callbacks. */
static int detach_on_a_core(heddle_context *c)
{
	*heddle_get(c, 0, heddle_event **) = heddle_detach(c);
	return 0;
}

static int fulfil_when_done(heddle_context *c)
{
	heddle_event *event = *heddle_get(c, 0, heddle_event **);
	int status = heddle_cuda_then(c, fulfil, event);
	if (status)
		heddle_fulfill(event, 1);
	return status;
}

static void fulfilled_event_lets_a_task_have_memory_of_the_device(void **state)
{
	(void)state;
	enum { SIDE = 16, BYTES = SIDE * SIDE * sizeof(long) };
	struct heddle_config config = cuda_config(1);
	config.cuda_streams = 2;
	config.cuda_memory = 2 * BYTES; /* so that blocks of other sizes must be freed, too */
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *detach = heddle_codelet_new(rt, .name = "detach", .cpu = detach_on_a_core);
	heddle_codelet *next = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	heddle_codelet *c = codelet(rt, cuda_add), *tell = codelet(rt, fulfil_when_done);
	for (long i = 0; i < 20; i++) {
		long two = 2, x[SIDE * SIDE] = {i};
		heddle_data *d;
		heddle_event *event = NULL, **at = &event;
		heddle_task *other;
		assert_ok(heddle_matrix(rt, x, SIDE, SIDE - (size_t)i % 3, SIDE, sizeof *x, &d));
		assert_ok(heddle_submit(rt, heddle_call(detach), heddle_rw(d), heddle_value(at)));
		assert_ok(heddle_submit(rt, heddle_call(next), heddle_out(&other)));
		assert_ok(heddle_task_wait(other)); /* by the same worker, behind the first */
		heddle_task_release(other);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(two)));
		assert_ok(heddle_submit(rt, heddle_call(tell), heddle_value(at)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x[0], i + 2);
	}
	assert_ok(heddle_stop(rt));
	assert_nothing_left();
}

/* As a kernel that only knows that cuBLAS has failed. */
static int blame_a_library(heddle_context *c)
{
	(standin()->lose)(0, 0);
	return heddle_fail(c, HEDDLE_E_KERNEL, "cublasDgemm: execution failed");
}

static void a_lost_device_is_no_failure_of_its_kernel(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cuda(1);
	heddle_codelet *c = codelet(rt, blame_a_library);
	if (standin()) {
		assert_ok(heddle_submit(rt, heddle_call(c)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEVICE);
		assert_says("cuda0 is lost");
	}
	heddle_stop(rt);
}

static int keep_context(heddle_context *c)
{
	struct seen *seen = heddle_get(c, 0, struct seen *);
	seen->context = c;
	return 0;
}

static int call_on_a_core(heddle_context *c)
{
	struct CUfunc_st *f;
	return heddle_cuda_function(c, &test_image, "test_add", &f) == HEDDLE_E_STATE ? 0 : 1;
}

static void functions_are_for_kernels_that_run(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct CUfunc_st *f;
	heddle_runtime *rt = start_cuda(1);
	assert_ok(run(rt, keep_context, &seen));
	assert_int_equal(heddle_cuda_function(seen.context, &test_image, "test_add", &f), HEDDLE_E_STATE);
	assert_says("heddle_cuda_function is for CUDA kernels");
	assert_int_equal(heddle_cuda_launch(seen.context, NULL, &(struct heddle_cuda_grid){{1}, {1}, 0}, NULL),
	                 HEDDLE_E_STATE);
	assert_int_equal(heddle_cuda_failed(seen.context, 1, "x"), HEDDLE_E_STATE);
	assert_int_equal(heddle_cuda_then(seen.context, fulfil, NULL), HEDDLE_E_STATE);
	assert_null(heddle_cuda_scratch(seen.context, 1));
	assert_null(heddle_cuda_slot(seen.context, &seen, NULL));
	heddle_codelet *c = heddle_codelet_new(rt, .name = "core", .cpu = call_on_a_core);
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* Two runtimes share the devices' contexts: what one closes, the other keeps. */
static void two_runtimes_at_once(void **state)
{
	(void)state;
	struct seen seen = {0};
	heddle_runtime *a = start_cuda(2), *b = start_cuda(2);
	assert_ok(run(a, grow, &seen));
	assert_ok(heddle_stop(a));
	assert_ok(run(b, grow, &seen));
	assert_ok(heddle_stop(b));
	assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(devices_are_workers, no_setup),
	    cmocka_unit_test_setup(data_go_between_cores_and_devices, no_setup),
	    cmocka_unit_test_setup(matrices_larger_than_the_memory, no_setup),
	    cmocka_unit_test_setup(memory_of_the_program_is_pinned, no_setup),
	    cmocka_unit_test_setup(pinning_does_nothing_without_devices, no_setup),
	    cmocka_unit_test_setup(unknown_functions_are_named, no_setup),
	    cmocka_unit_test_setup(launches_that_cuda_refuses, no_setup),
	    cmocka_unit_test_setup(calls_of_the_kernel_itself, no_setup),
	    cmocka_unit_test_setup(much_shared_memory, no_setup),
	    cmocka_unit_test_setup(streams_keep_their_own_slots, no_setup),
	    cmocka_unit_test_setup(workspace_grows_and_may_be_refused, no_setup),
	    cmocka_unit_test_setup(events_are_fulfilled_when_the_work_is_done, no_setup),
	    cmocka_unit_test_setup(fulfilled_event_lets_a_task_have_memory_of_the_device, no_setup),
	    cmocka_unit_test_setup(a_lost_device_is_no_failure_of_its_kernel, no_setup),
	    cmocka_unit_test_setup(functions_are_for_kernels_that_run, no_setup),
	    cmocka_unit_test_setup(two_runtimes_at_once, no_setup),
	};
	need_devices();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
