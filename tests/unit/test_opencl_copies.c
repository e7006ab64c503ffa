/* The driver of OpenCL devices, called as the runtime calls it: copies of all shapes, memory, who is told of an end. */
#ifdef HEDDLE_HAVE_OPENCL
#include "driver_copies.h"
#include "opencl_calls.h"

static struct heddle_platform *platform;

static int open_all(void **state)
{
	(void)state;
	platform = machine_with_opencl(1, COPIES_DEVICES, 0, 1);
	copies.any_stride = 1;
	open_copies("opencl", platform);
	return 0;
}

/* Each test has its own devices, and nothing of them may be left. */
static int close_all(void **state)
{
	(void)state;
	close_copies();
	heddle_platform_free(platform);
	assert_nothing_alive();
	return 0;
}

/* What a copy of `shape` to the device calls: nothing else. */
static void count_calls(const struct heddle_part *shape, enum call call, int n)
{
	char *here = calloc(1, COPIES_BYTES), *there;
	struct heddle_part from = *shape, to = *shape;
	assert_ok(copies.driver->alloc(copies.devices[1], COPIES_BYTES, (void **)&there));
	from.base = here;
	to.base = there;
	forget_calls();
	assert_ok(copy_by_device(&(struct heddle_copy){0, 1, from, to}));
	assert_int_equal(calls[CALL_clEnqueueWriteBuffer] + calls[CALL_clEnqueueWriteBufferRect], n);
	assert_int_equal(calls[call], n);
	copies.driver->free(copies.devices[1], there);
	free(here);
}

static void one_call_per_box(void **state)
{
	(void)state;
	count_calls(&(struct heddle_part){.elem_size = 8}, CALL_clEnqueueWriteBuffer, 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 7}, {1, 9}}, CALL_clEnqueueWriteBuffer, 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 7}, {1, 10}}, CALL_clEnqueueWriteBufferRect, 1);
	count_calls(&(struct heddle_part){NULL, 8, 3, {9, 7, 5}, {1, 10, 80}}, CALL_clEnqueueWriteBufferRect, 1);
	count_calls(&(struct heddle_part){NULL, 8, 3, {9, 7, 5}, {1, 10, 81}}, CALL_clEnqueueWriteBufferRect, 5);
	count_calls(&(struct heddle_part){NULL, 8, 4, {2, 2, 2, 3}, {1, 3, 9, 27}}, CALL_clEnqueueWriteBufferRect, 3);
	count_calls(&(struct heddle_part){NULL, 8, 1, {9}, {2}}, CALL_clEnqueueWriteBufferRect, 1);
	count_calls(&(struct heddle_part){NULL, 8, 2, {9, 0}, {1, 9}}, CALL_clEnqueueWriteBuffer, 0);
}

/* Boxes of a copy that have begun may still use its memory when a later one fails. */
static void copy_that_fails_has_ended(void **state)
{
	(void)state;
	char *here = calloc(1, COPIES_BYTES), *there;
	struct heddle_part from = {here, 8, 3, {9, 7, 5}, {1, 10, 81}}, to = from;
	assert_ok(copies.driver->alloc(copies.devices[1], COPIES_BYTES, (void **)&there));
	to.base = there;
	forget_calls();
	planned = CALL_clEnqueueWriteBufferRect;
	planned_call = 3;
	planned_code = CL_OUT_OF_RESOURCES;
	assert_int_equal(copy_by_device(&(struct heddle_copy){0, 1, from, to}), HEDDLE_E_DEVICE);
	assert_says("clEnqueueWriteBufferRect failed with CL_OUT_OF_RESOURCES");
	assert_int_equal(calls[CALL_clEnqueueWriteBufferRect], 3);
	assert_int_equal(calls[CALL_clFinish], 1);
	copies.driver->free(copies.devices[1], there);
	free(here);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void runtime_shares_its_context_with_no_other(void **state)
{
	(void)state;
	struct heddle_platform *other = machine_with_opencl(1, 1, 0, 1);
	void *device, *p;
	assert_ok(copies.driver->open(other, 1, &device));
	assert_int_equal(alive[CONTEXT], 2);
	assert_ok(copies.driver->alloc(device, 8, &p));
	assert_int_equal(copy_by_device(&(struct heddle_copy){0, 1, bytes_at(&p), bytes_at(p)}), HEDDLE_E_INVALID);
	copies.driver->free(device, p);
	copies.driver->close(device);
	heddle_platform_free(other);
	assert_int_equal(alive[CONTEXT], 1);
}

static void blocks_have_addresses_of_their_own(void **state)
{
	(void)state;
	char *blocks[40];
	for (unsigned i = 0; i < 40; i++)
		assert_ok(copies.driver->alloc(copies.devices[1 + i % 2], 1 + 1000 * i, (void **)&blocks[i]));
	for (unsigned i = 0; i < 40; i++)
		for (unsigned j = 0; j < i; j++)
			assert_true(blocks[i] + 1 + 1000 * i <= blocks[j] || blocks[j] + 1 + 1000 * j <= blocks[i]);
	for (unsigned i = 0; i < 40; i++) {
		unsigned k = i * 7 % 40;
		copies.driver->free(copies.devices[1 + k % 2], blocks[k]);
	}
}

static void memory_that_is_not_the_devices_is_refused(void **state)
{
	(void)state;
	char here[8] = "";
	const struct heddle_copy c = {1, 0, {.base = here, .elem_size = 8}, {.base = here, .elem_size = 8}};
	assert_int_equal(copy_by_device(&c), HEDDLE_E_INVALID);
	assert_says("no memory of this device");
}

static void more_than_the_device_has_is_refused(void **state)
{
	(void)state;
	void *p = NULL;
	assert_int_equal(copies.driver->alloc(copies.devices[1], (size_t)1 << 60, &p), HEDDLE_E_MEMORY);
	assert_says("opencl0 (");
	assert_says("clCreateBuffer failed with CL_INVALID_BUFFER_SIZE");
	assert_null(p);
}

static void main_memory_for_copies_keeps_what_is_written_there(void **state)
{
	(void)state;
	char *mine = malloc(COPIES_BYTES), *theirs = NULL, *block = NULL;
	memset(mine, 7, COPIES_BYTES);
	assert_ok(copies.driver->pin(copies.devices[1], mine, COPIES_BYTES));
	for (size_t i = 0; i < COPIES_BYTES; i++)
		assert_int_equal(mine[i], 7);
	assert_ok(copies.driver->alloc_host(copies.devices[2], COPIES_BYTES, (void **)&theirs));
	assert_ok(copies.driver->alloc(copies.devices[1], COPIES_BYTES, (void **)&block));
	assert_ok(copy_by_device(&(struct heddle_copy){0, 1, bytes_at(mine), bytes_at(block)}));
	memset(mine, 8, COPIES_BYTES);
	assert_ok(copy_by_device(&(struct heddle_copy){1, 0, bytes_at(block), bytes_at(theirs)}));
	copies.driver->unpin(copies.devices[1], mine);
	for (size_t i = 0; i < COPIES_BYTES; i++)
		assert_true(mine[i] == 8 && theirs[i] == 7);
	copies.driver->free_host(copies.devices[1], theirs); /* another device of the same context */
	copies.driver->free(copies.devices[1], block);
	free(mine);
}

/* --- Who is told -------------------------------------------------------------------------------------------------- */

static atomic_int told;

static void count_told(void *arg)
{
	(void)arg;
	told++;
}

/* Launches what puts nothing on the stream. */
static int no_work(heddle_context *c)
{
	(void)c;
	return 0;
}

static void notification_comes_exactly_once(void **state)
{
	(void)state;
	const struct heddle_driver *d = copies.driver;
	void *stream, *event;
	told = 0;
	assert_ok(d->open_stream(copies.devices[1], HEDDLE_STREAM_KERNELS, &stream));
	for (int i = 0; i < 100; i++) {
		assert_int_equal(d->launch(copies.devices[1], stream, no_work, NULL, &event), HEDDLE_PENDING);
		assert_ok(d->notify(copies.devices[1], stream, event, count_told, NULL));
		wait_for(&told, i + 1);
		assert_ok(d->query(copies.devices[1], event)); /* it has ended, or nobody would have been told */
	}
	d->close_stream(copies.devices[1], stream);
	assert_int_equal(told, 100);
}

/* A callback that OpenCL was asked for and has not called. */
static struct {
	event_callback f;
	void *arg;
} held;

static cl_int CL_API_CALL hold_callback(cl_event e, cl_int state, event_callback f, void *arg)
{
	(void)e;
	(void)state;
	held.f = f;
	held.arg = arg;
	return CL_SUCCESS;
}

/* OpenCL may call back long after the end was seen. */
static void nobody_is_told_after_the_stream_is_closed(void **state)
{
	(void)state;
	const struct heddle_driver *d = copies.driver;
	void *stream, *event;
	told = 0;
	hd_cl.clSetEventCallback = hold_callback;
	assert_ok(d->open_stream(copies.devices[1], HEDDLE_STREAM_KERNELS, &stream));
	assert_int_equal(d->launch(copies.devices[1], stream, no_work, NULL, &event), HEDDLE_PENDING);
	assert_ok(d->notify(copies.devices[1], stream, event, count_told, NULL));
	hd_cl.clSetEventCallback = my_clSetEventCallback;
	assert_ok(d->wait(copies.devices[1], event));
	d->close_stream(copies.devices[1], stream);
	held.f(NULL, CL_COMPLETE, held.arg);
	assert_int_equal(told, 0);
}

/* The end of a copy is waited for: nobody else is told of it. */
static void copy_with_a_waiting_thread_sends_no_notification(void **state)
{
	(void)state;
	char here[64] = "", *there;
	const struct heddle_driver *d = copies.driver;
	void *event;
	assert_ok(d->alloc(copies.devices[1], sizeof here, (void **)&there));
	const struct heddle_copy c = {
	    0, 1, {.base = here, .elem_size = sizeof here}, {.base = there, .elem_size = sizeof here}};
	assert_int_equal(d->copy(copies.devices[1], copies.in[1], &c, &event), HEDDLE_PENDING);
	assert_int_equal(d->notify(copies.devices[1], copies.in[1], event, count_told, NULL), HEDDLE_E_UNSUPPORTED);
	assert_ok(d->wait(copies.devices[1], event));
	d->free(copies.devices[1], there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_shape_arrives_as_the_cpu_copies_it, open_all, close_all),
	    cmocka_unit_test_setup_teardown(one_call_per_box, open_all, close_all),
	    cmocka_unit_test_setup_teardown(copy_that_fails_has_ended, open_all, close_all),
	    cmocka_unit_test_setup_teardown(runtime_shares_its_context_with_no_other, open_all, close_all),
	    cmocka_unit_test_setup_teardown(blocks_have_addresses_of_their_own, open_all, close_all),
	    cmocka_unit_test_setup_teardown(memory_that_is_not_the_devices_is_refused, open_all, close_all),
	    cmocka_unit_test_setup_teardown(more_than_the_device_has_is_refused, open_all, close_all),
	    cmocka_unit_test_setup_teardown(main_memory_for_copies_keeps_what_is_written_there, open_all, close_all),
	    cmocka_unit_test_setup_teardown(notification_comes_exactly_once, open_all, close_all),
	    cmocka_unit_test_setup_teardown(nobody_is_told_after_the_stream_is_closed, open_all, close_all),
	    cmocka_unit_test_setup_teardown(copy_with_a_waiting_thread_sends_no_notification, open_all, close_all),
	};
	need_device();
	watch_calls();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include "opencl.h"
int main(void)
{
	need_device();
}
#endif
