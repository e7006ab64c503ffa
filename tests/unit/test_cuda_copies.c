/* The driver of CUDA devices, called as the runtime calls it: copies of all shapes, memory, events, callbacks. */
#include "../cuda/devices.h"
#include "driver_copies.h"

static struct heddle_platform *platform;

static int open_all(void **state)
{
	(void)state;
	struct heddle_config config = cuda_config(COPIES_DEVICES);
	assert_ok(heddle_platform_configured(&config, &platform));
	copies.any_stride = 1;
	open_copies("cuda", platform);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	close_copies();
	heddle_platform_free(platform);
	if (standin())
		standin()->reset();
	return 0;
}

/* Each test has its own devices, and nothing of them may be left. */
static int close_and_look(void **state)
{
	close_all(state);
	assert_nothing_left();
	return 0;
}

/* What a copy of `from` to the device and back to `to` calls: nothing else. */
static void count_calls(const struct heddle_part *shape, const char *call, unsigned n)
{
	char *here = calloc(1, COPIES_BYTES), *there;
	struct heddle_part from = *shape, to = *shape;
	assert_ok(copies.driver->alloc(copies.devices[1], COPIES_BYTES, (void **)&there));
	from.base = here;
	to.base = there;
	unsigned before = standin() ? standin()->calls(call) : 0;
	assert_ok(copy_by_device(&(struct heddle_copy){0, 1, from, to}));
	if (standin())
		assert_int_equal(standin()->calls(call) - before, n);
	copies.driver->free(copies.devices[1], there);
	free(here);
}

static void one_call_per_box(void **state)
{
	(void)state;
	count_calls(&(struct heddle_part){.elem_size = 8}, "cuMemcpyHtoDAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 7}, {1, 9}}, "cuMemcpyHtoDAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 7}, {1, 10}}, "cuMemcpy2DAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 3, {9, 7, 5}, {1, 9, 70}}, "cuMemcpy2DAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 3, {9, 7, 5}, {1, 10, 80}}, "cuMemcpy3DAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 3, {9, 7, 5}, {1, 10, 81}}, "cuMemcpy2DAsync", 5);
	count_calls(&(struct heddle_part){NULL, 8, 4, {2, 2, 2, 3}, {1, 3, 9, 27}}, "cuMemcpy3DAsync", 3);
	count_calls(&(struct heddle_part){NULL, 8, 1, {9}, {2}}, "cuMemcpy2DAsync", 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 0}, {1, 9}}, "cuMemcpyHtoDAsync", 0);
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

static int priority_of(void *stream)
{
	union {
		void *symbol;
		int (*f)(void *stream, int *priority);
	} get = {dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuStreamGetPriority")};
	int priority = 0;
	assert_int_equal(get.f(stream, &priority), 0);
	return priority;
}

/* A lower number is a higher priority. */
static void copies_have_a_higher_priority_than_kernels(void **state)
{
	(void)state;
	void *kernels;
	assert_ok(copies.driver->open_stream(copies.devices[1], HEDDLE_STREAM_KERNELS, &kernels));
	assert_int_equal(priority_of(kernels), 0);
	assert_true(priority_of(copies.in[1]) < 0);
	assert_true(priority_of(copies.out[1]) < 0);
	copies.driver->close_stream(copies.devices[1], kernels);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void more_than_the_device_has_is_refused(void **state)
{
	(void)state;
	void *p = NULL;
	assert_int_equal(copies.driver->alloc(copies.devices[1], (size_t)1 << 50, &p), HEDDLE_E_MEMORY);
	assert_says("cuda0 (");
	assert_says("CUDA_ERROR_OUT_OF_MEMORY");
	assert_null(p);
}

static void without_pools_memory_comes_from_cuMemAlloc(void **state)
{
	if (!standin())
		skip();
	close_all(state);
	let_fail("cuMemPoolCreate", 1, 801);
	open_all(state);
	unsigned before = standin()->calls("cuMemAlloc");
	void *p;
	assert_ok(copies.driver->alloc(copies.devices[1], 1000, &p));
	assert_int_equal(standin()->calls("cuMemAlloc") - before, 1);
	copies.driver->free(copies.devices[1], p);
	assert_int_equal(standin()->calls("cuMemFree"), 1);
	every_shape_arrives_as_the_cpu_copies_it(state);
}

static void main_memory_for_copies(void **state)
{
	(void)state;
	char *mine = malloc(COPIES_BYTES), *theirs = NULL, *block = NULL;
	memset(mine, 7, COPIES_BYTES);
	assert_ok(copies.driver->pin(copies.devices[1], mine, COPIES_BYTES));
	assert_ok(copies.driver->alloc_host(copies.devices[1], COPIES_BYTES, (void **)&theirs));
	assert_ok(copies.driver->alloc(copies.devices[1], COPIES_BYTES, (void **)&block));
	assert_ok(copy_by_device(&(struct heddle_copy){0, 1, bytes_at(mine), bytes_at(block)}));
	assert_ok(copy_by_device(&(struct heddle_copy){1, 0, bytes_at(block), bytes_at(theirs)}));
	assert_memory_equal(mine, theirs, COPIES_BYTES);
	copies.driver->unpin(copies.devices[1], mine);
	copies.driver->free_host(copies.devices[copies.n], theirs); /* any device may free it */
	copies.driver->free(copies.devices[1], block);
	free(mine);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void count_told(void *arg)
{
	++*(atomic_int *)arg;
}

static void notification_comes_exactly_once(void **state)
{
	(void)state;
	char here[64] = "", *there;
	const struct heddle_driver *d = copies.driver;
	atomic_int told = 0;
	if (standin())
		standin()->latency(200);
	assert_ok(d->alloc(copies.devices[1], sizeof here, (void **)&there));
	for (int i = 0; i < 20; i++) {
		const struct heddle_copy c = {
		    0, 1, {.base = here, .elem_size = sizeof here}, {.base = there, .elem_size = sizeof here}};
		void *event;
		assert_int_equal(d->copy(copies.devices[1], copies.in[1], &c, &event), HEDDLE_PENDING);
		assert_ok(d->notify(copies.devices[1], copies.in[1], event, count_told, &told));
		wait_for(&told, i + 1);
		assert_ok(d->query(copies.devices[1], event)); /* it has ended, or nobody would have been told */
	}
	assert_int_equal(told, 20);
	d->free(copies.devices[1], there);
}

/* An event may be used again before the callback behind its last use has run. */
static void nobody_is_told_after_the_stream_is_closed(void **state)
{
	(void)state;
	char here[64] = "", *there;
	const struct heddle_driver *d = copies.driver;
	static atomic_int told;
	void *stream;
	assert_ok(d->alloc(copies.devices[1], sizeof here, (void **)&there));
	assert_ok(d->open_stream(copies.devices[1], HEDDLE_STREAM_IN, &stream));
	for (int i = 0; i < 20; i++) {
		const struct heddle_copy c = {
		    0, 1, {.base = here, .elem_size = sizeof here}, {.base = there, .elem_size = sizeof here}};
		void *event;
		assert_int_equal(d->copy(copies.devices[1], stream, &c, &event), HEDDLE_PENDING);
		assert_ok(d->notify(copies.devices[1], stream, event, count_told, &told));
		assert_ok(d->wait(copies.devices[1], event));
	}
	d->close_stream(copies.devices[1], stream);
	int then = told;
	assert_int_equal(then, 20);
	d->free(copies.devices[1], there);
	give_others_time();
	assert_int_equal(told, then);
}

/* --- Failures of what test_cuda_failures.c does not call ---------------------------------------------------------- */

/* What begins now fails in this call, and says so. */
static void assert_says_call(int status, const char *call)
{
	assert_int_equal(status, HEDDLE_E_INVALID);
	assert_says(call);
	assert_says("CUDA_ERROR_INVALID_VALUE");
}

static void failed_calls_are_named(void **state)
{
	(void)state;
	const struct heddle_driver *d = copies.driver;
	char here[1024], *there;
	const struct heddle_part shape = {here, 8, 3, {2, 2, 2}, {1, 3, 9}};
	struct heddle_part to = shape;
	void *p, *event;
	if (!standin())
		skip();
	assert_ok(d->alloc(copies.devices[1], sizeof here, (void **)&there));
	to.base = there;
	let_fail("cuMemcpy3DAsync", 1, 1);
	assert_says_call(copy_by_device(&(struct heddle_copy){0, 1, shape, to}), "cuMemcpy3DAsync");
	assert_true(d->can_copy_directly(copies.devices[1], 2, 1));
	assert_true(standin()->calls("cuCtxEnablePeerAccess") == 1 && standin()->calls("cuMemPoolSetAccess") == 1);
	let_fail("cuMemcpy3DPeerAsync", 1, 1);
	assert_says_call(copy_by_device(&(struct heddle_copy){2, 1, to, to}), "cuMemcpy3DPeerAsync");
	let_fail("cuEventRecord", 1, 1);
	assert_says_call(copy_by_device(&(struct heddle_copy){0, 1, shape, to}), "cuEventRecord");
	let_fail("cuMemHostAlloc", 1, 1);
	assert_says_call(d->alloc_host(copies.devices[1], 8, &p), "cuMemHostAlloc");
	let_fail("cuMemHostRegister", 1, 1);
	assert_says_call(d->pin(copies.devices[1], here, 8), "cuMemHostRegister");
	assert_int_equal(d->copy(copies.devices[1], copies.in[1], &(struct heddle_copy){0, 1, shape, to}, &event),
	                 HEDDLE_PENDING);
	let_fail("cuEventSynchronize", 1, 1);
	assert_says_call(d->wait(copies.devices[1], event), "cuEventSynchronize");
	assert_ok(copy_by_device(&(struct heddle_copy){0, 1, shape, to})); /* nothing is left of all that */
	d->free(copies.devices[1], there);
}

/* A copy to main memory is under way when a call fails, or two calls do. The driver says that it has failed only when
 * nothing writes there any more. Were it slower than the latency to ask, the test would prove less, and pass. */
static void assert_ends(const char *call, int waits, const char *other)
{
	int is_before = strcmp(call, "cuEventRecord") == 0; /* in `copy` itself */
	static char here[1024], more[1024];
	const struct heddle_driver *d = copies.driver;
	void *there, *event = NULL;
	assert_ok(d->alloc(copies.devices[1], sizeof here, &there)); /* filled with 0xff */
	const struct heddle_part out = {there, 1, 1, {sizeof here}, {1}};
	const struct heddle_copy c = {1, 0, out, {here, 1, 1, {sizeof here}, {1}}},
	                         behind = {1, 0, out, {more, 1, 1, {sizeof more}, {1}}};
	standin()->latency(20000);
	if (is_before)
		let_fail(call, 1, 2);
	if (other && strcmp(other, "cuCtxPushCurrent") == 0) /* `copy` and `wait` call it once themselves */
		let_fail(other, waits ? 3 : 2, 2);
	else if (other)
		let_fail(other, 1, 2);
	int status = d->copy(copies.devices[1], copies.out[1], &c, &event);
	if (!is_before) {
		assert_int_equal(status, HEDDLE_PENDING);
		let_fail(call, 1, 2);
		status = (waits ? d->wait : d->query)(copies.devices[1], event);
	}
	assert_int_equal(status, HEDDLE_E_MEMORY);
	assert_says(call);
	memset(here, 0, sizeof here);
	standin()->latency(0);
	assert_ok(copy_by_device(&behind));
	for (size_t i = 0; i < sizeof here; i++)
		assert_int_equal(here[i], 0);
	d->free(copies.devices[1], there);
}

static void failed_operation_has_ended(void **state)
{
	(void)state;
	static const char *const others[] = {NULL, "cuStreamSynchronize", "cuCtxPushCurrent"};
	if (!standin())
		skip();
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_ends("cuEventRecord", 0, others[i]);
		assert_ends("cuEventQuery", 0, others[i]);
		assert_ends("cuEventSynchronize", 1, others[i]);
	}
	assert_ends("cuCtxPushCurrent", 1, NULL);
	assert_ends("cuCtxPushCurrent", 1, "cuStreamSynchronize");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_shape_arrives_as_the_cpu_copies_it, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(one_call_per_box, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(copies_have_a_higher_priority_than_kernels, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(more_than_the_device_has_is_refused, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(without_pools_memory_comes_from_cuMemAlloc, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(main_memory_for_copies, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(notification_comes_exactly_once, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(nobody_is_told_after_the_stream_is_closed, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(failed_calls_are_named, open_all, close_and_look),
	    cmocka_unit_test_setup_teardown(failed_operation_has_ended, open_all, close_and_look),
	};
	need_devices();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
