/* The stand-in for CUDA's driver does what NVIDIA documents, and refuses what is wrong. */
#include <math.h>
#include "test_standin.h"

/* --- Streams and events ------------------------------------------------------------------------------------------- */

static void test_a_stream_does_things_in_order(void **state)
{
	struct list list = {0};
	struct item items[] = {{&list, 1}, {&list, 2}, {&list, 3}};
	struct gate gate;
	(void)state;
	close_gate(&gate, stream);
	OK(cuLaunchHostFunc(stream, append, &items[0]));
	OK(cuLaunchHostFunc(stream, append, &items[1]));
	assert_int_equal(standin_enqueue(stream, append, &items[2]), CUDA_SUCCESS);
	FAILS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(other));
	open_gate(&gate);
	OK(cuStreamSynchronize(stream));
	assert_int_equal(list.n, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(list.values[i], i + 1);
}

static void test_an_event_ends_when_the_stream_gets_there(void **state)
{
	CUevent event;
	struct gate gate;
	(void)state;
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cuEventQuery(event)); /* never recorded */
	close_gate(&gate, stream);
	OK(cuEventRecord(event, stream));
	FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	open_gate(&gate);
	OK(cuEventSynchronize(event));
	OK(cuEventQuery(event));
	OK(cuEventDestroy(event));
	FAILS(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
	FAILS(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
}

static void test_a_stream_waits_for_an_event_of_another(void **state)
{
	CUevent event;
	struct gate gate;
	struct list list = {0};
	struct item items[] = {{&list, 1}, {&list, 2}};
	(void)state;
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	close_gate(&gate, stream);
	OK(cuLaunchHostFunc(stream, append, &items[0]));
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(cuLaunchHostFunc(other, append, &items[1]));
	OK(cuEventDestroy(event)); /* while it is still needed */
	open_gate(&gate);
	OK(cuStreamSynchronize(other));
	assert_int_equal(list.n, 2);
	assert_int_equal(list.values[1], 2);
}

static void test_operations_take_as_long_as_the_test_wants(void **state)
{
	CUevent from, to;
	float ms;
	(void)state;
	OK(cuEventCreate(&from, CU_EVENT_DEFAULT));
	OK(cuEventCreate(&to, CU_EVENT_DEFAULT));
	standin_latency(2000);
	FAILS(cuEventElapsedTime(&ms, from, to), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(from, stream));
	OK(cuEventRecord(to, stream));
	OK(cuEventSynchronize(to));
	OK(cuEventElapsedTime(&ms, from, to));
	assert_true(ms >= 2);
	OK(cuEventDestroy(from));
	OK(cuEventDestroy(to));
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static void test_memory_of_a_device_has_a_limit(void **state)
{
	CUdeviceptr p, q;
	size_t left, total;
	struct gate gate;
	(void)state;
	OK(cuMemAlloc(&p, MEMORY - 4096));
	FAILS(cuMemAlloc(&q, 8192), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemGetInfo(&left, &total));
	assert_int_equal(left, 4096);
	assert_int_equal(total, MEMORY);
	/* freed when the stream gets there */
	close_gate(&gate, stream);
	OK(cuMemFreeAsync(p, stream));
	FAILS(cuMemAlloc(&q, 8192), CUDA_ERROR_OUT_OF_MEMORY);
	open_gate(&gate);
	OK(cuMemAllocAsync(&q, MEMORY, stream)); /* waits for that */
	OK(cuMemFree(q));
	FAILS(cuMemFree(q), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemFree((CUdeviceptr)(uintptr_t)&left), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(0));
}

static void test_memory_of_a_device_is_not_that_of_the_host(void **state)
{
	CUdeviceptr p;
	(void)state;
	OK(cuMemAlloc(&p, 64));
	void *there = standin_memory((void *)(uintptr_t)(p + 8));
	assert_true(there != NULL && (uintptr_t)there != (uintptr_t)(p + 8));
	assert_true(isnan(*(double *)there));
	assert_null(standin_memory((void *)(uintptr_t)(p + 64)));
	assert_null(standin_memory(&p));
	OK(cuMemFree(p));
	assert_null(standin_memory((void *)(uintptr_t)p));
}

static void test_page_locked_memory(void **state)
{
	void *p;
	char mine[64];
	(void)state;
	OK(cuMemHostAlloc(&p, 100, CU_MEMHOSTALLOC_PORTABLE));
	memset(p, 1, 100);
	FAILS(cuMemHostUnregister(p), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	OK(cuMemFreeHost(p));
	FAILS(cuMemFreeHost(p), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostRegister(mine, sizeof mine, CU_MEMHOSTREGISTER_PORTABLE));
	FAILS(cuMemHostRegister(mine + 8, 8, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	FAILS(cuMemFreeHost(mine), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostUnregister(mine));
	FAILS(cuMemHostUnregister(mine), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

static void test_pools(void **state)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
	                          .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemoryPool pool;
	CUdeviceptr p;
	CUstream there;
	uint64_t threshold = UINT64_MAX;
	char line[64] = "";
	(void)state;
	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	FAILS(cuMemAllocFromPoolAsync(&p, 64, pool, stream), CUDA_ERROR_INVALID_VALUE); /* that of the other device */
	OK(cuCtxPushCurrent(contexts[1]));
	OK(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
	OK(cuMemAllocFromPoolAsync(&p, 64, pool, there));
	OK(cuCtxPopCurrent(NULL));
	FAILS(cuMemcpyHtoDAsync(p, line, 64, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolSetAccess(pool, &access, 1));
	OK(cuMemcpyHtoDAsync(p, line, 64, stream));
	OK(cuStreamSynchronize(stream));
	FAILS(cuMemFreeAsync(p, there), CUDA_ERROR_INVALID_HANDLE); /* a stream of another device */
	OK(cuMemFree(p));
	OK(cuStreamDestroy(there));
	OK(cuMemPoolDestroy(pool));
	FAILS(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
}

/* --- Copies ------------------------------------------------------------------------------------------------------- */

/* A box of 3 x 4 x 2 inside of one of 8 x 5 x 3 bytes, there and back by each kind of copy. */
static void test_copies_of_parts(void **state)
{
	char host[120], back[120] = {0};
	CUdeviceptr p;
	(void)state;
	for (int i = 0; i < 120; i++)
		host[i] = (char)i;
	OK(cuMemAlloc(&p, 120));
	OK(cuMemcpyHtoDAsync(p, host, 120, stream));
	CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = p,
	                      .srcPitch = 8,
	                      .srcXInBytes = 2,
	                      .srcY = 1,
	                      .dstMemoryType = CU_MEMORYTYPE_HOST,
	                      .dstHost = back,
	                      .dstPitch = 3,
	                      .WidthInBytes = 3,
	                      .Height = 4};
	OK(cuMemcpy2DAsync(&flat, stream));
	OK(cuStreamSynchronize(stream));
	for (int y = 0; y < 4; y++) {
		for (int x = 0; x < 3; x++)
			assert_int_equal(back[y * 3 + x], (y + 1) * 8 + x + 2);
	}
	CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	                     .srcDevice = p,
	                     .srcPitch = 8,
	                     .srcHeight = 5,
	                     .srcXInBytes = 2,
	                     .srcY = 1,
	                     .srcZ = 1,
	                     .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	                     .dstDevice = (CUdeviceptr)(uintptr_t)back,
	                     .dstPitch = 4,
	                     .dstHeight = 4,
	                     .WidthInBytes = 3,
	                     .Height = 4,
	                     .Depth = 2};
	OK(cuMemcpy3DAsync(&box, stream));
	OK(cuStreamSynchronize(stream));
	for (int i = 0; i < 24; i++)
		assert_int_equal(back[i / 12 * 16 + i / 3 % 4 * 4 + i % 3],
		                 (i / 12 + 1) * 40 + (i / 3 % 4 + 1) * 8 + i % 3 + 2);
	box.srcZ = 2; /* beyond the end */
	FAILS(cuMemcpy3DAsync(&box, stream), CUDA_ERROR_INVALID_VALUE);
	flat.srcPitch = 4; /* less than a row */
	FAILS(cuMemcpy2DAsync(&flat, stream), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoHAsync(back, p + 1, 120, stream), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoHAsync(back, (CUdeviceptr)(uintptr_t)host, 4, stream), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoHAsync((void *)(uintptr_t)p, p, 4, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD8Async(p + 1, 7, 2, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH(back, p, 4));
	assert_memory_equal(back, ((char[]){0, 7, 7, 3}), 4);
	OK(cuMemFree(p));
}

static void test_devices_use_each_others_memory_when_allowed(void **state)
{
	CUdeviceptr p, q;
	int value = 42, back = 0, can;
	(void)state;
	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 1);
	OK(cuMemAlloc(&p, 4));
	OK(cuCtxPushCurrent(contexts[1]));
	OK(cuMemAlloc(&q, 4));
	OK(cuMemcpyHtoD(q, &value, 4));
	OK(cuCtxPopCurrent(NULL));
	FAILS(cuMemcpyDtoDAsync(p, q, 4, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyPeerAsync(p, contexts[0], q, contexts[1], 4, stream)); /* needs no permission */
	OK(cuMemcpyDtoHAsync(&back, p, 4, stream));
	OK(cuStreamSynchronize(stream));
	assert_int_equal(back, 42);
	FAILS(cuMemcpyPeerAsync(p, contexts[1], q, contexts[1], 4, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxEnablePeerAccess(contexts[1], 0));
	FAILS(cuCtxEnablePeerAccess(contexts[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK(cuMemcpyDtoDAsync(p, q, 4, stream));
	FAILS(cuMemcpyPeerAsync(p, contexts[0], q, contexts[0], 4, stream), CUDA_ERROR_INVALID_VALUE);
	CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .srcDevice = q,
	                          .srcContext = contexts[1],
	                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .dstDevice = p,
	                          .dstContext = contexts[0],
	                          .srcPitch = 2,
	                          .srcHeight = 2,
	                          .dstPitch = 2,
	                          .dstHeight = 2,
	                          .WidthInBytes = 2,
	                          .Height = 2,
	                          .Depth = 1};
	OK(cuMemcpy3DPeerAsync(&box, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemFree(p));
	OK(cuMemFree(q));
}

/* --- Wrong use ---------------------------------------------------------------------------------------------------- */

static void test_calls_without_a_context_fail(void **state)
{
	CUdeviceptr p;
	CUcontext context;
	(void)state;
	OK(cuCtxPopCurrent(&context));
	assert_ptr_equal(context, contexts[0]);
	FAILS(cuMemAlloc(&p, 8), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_CONTEXT);
	FAILS(cuCtxPopCurrent(NULL), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxSetCurrent(contexts[1]));
	FAILS(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE); /* of the other device */
	OK(cuCtxSetCurrent(contexts[0]));
	OK(cuStreamSynchronize(stream));
	FAILS(cuStreamDestroy((CUstream)&p), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxGetCurrent(&context));
	assert_ptr_equal(context, contexts[0]);
}

static void call_cuda(void *arg)
{
	CUdeviceptr p;
	*(CUresult *)arg = cuMemAlloc(&p, 8);
}

static void call_cuda_after(CUstream on, CUresult status, void *arg)
{
	CUresult *results = arg;
	results[0] = on == stream ? status : CUDA_ERROR_UNKNOWN;
	results[1] = cuStreamQuery(on);
}

static void test_functions_on_a_stream_must_not_call_cuda(void **state)
{
	CUresult results[3] = {CUDA_ERROR_UNKNOWN, CUDA_SUCCESS, CUDA_SUCCESS};
	(void)state;
	OK(cuStreamAddCallback(stream, call_cuda_after, results, 0));
	OK(cuLaunchHostFunc(stream, call_cuda, &results[2]));
	OK(cuStreamSynchronize(stream));
	OK(results[0]);
	FAILS(results[1], CUDA_ERROR_NOT_PERMITTED);
	FAILS(results[2], CUDA_ERROR_NOT_PERMITTED);
}

static void test_errors_have_names(void **state)
{
	const char *text;
	(void)state;
	OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
	assert_string_equal(text, "CUDA_ERROR_OUT_OF_MEMORY");
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
	assert_string_equal(text, "out of memory");
	FAILS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
	assert_null(text);
}

static void test_devices_are_described(void **state)
{
	char text[64];
	int n, major;
	size_t bytes;
	CUdevice device;
	(void)state;
	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
	OK(cuDeviceGet(&device, 1));
	OK(cuDeviceGetName(text, sizeof text, device));
	assert_string_equal(text, "Stand-in for a GPU");
	OK(cuDeviceGetPCIBusId(text, sizeof text, device));
	assert_string_equal(text, "0000:F1:00.0");
	OK(cuDeviceTotalMem(&bytes, device));
	assert_int_equal(bytes, MEMORY);
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	assert_int_equal(major, 9);
	FAILS(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
}

/* The first of all tests. */
static void test_nothing_works_before_it_is_begun(void **state)
{
	int n;
	(void)state;
	FAILS(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	FAILS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	standin_devices(0, 0);
	FAILS(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_works_before_it_is_begun),
	    TEST(test_a_stream_does_things_in_order),
	    TEST(test_an_event_ends_when_the_stream_gets_there),
	    TEST(test_a_stream_waits_for_an_event_of_another),
	    TEST(test_operations_take_as_long_as_the_test_wants),
	    TEST(test_memory_of_a_device_has_a_limit),
	    TEST(test_memory_of_a_device_is_not_that_of_the_host),
	    TEST(test_page_locked_memory),
	    TEST(test_pools),
	    TEST(test_copies_of_parts),
	    TEST(test_devices_use_each_others_memory_when_allowed),
	    TEST(test_calls_without_a_context_fail),
	    TEST(test_functions_on_a_stream_must_not_call_cuda),
	    TEST(test_errors_have_names),
	    TEST(test_devices_are_described),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
