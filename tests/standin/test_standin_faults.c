/* The stand-in for CUDA's driver fails as tests ask of it, loses devices, and finds leaks. */
#include <sched.h>
#include "test_standin.h"

static void test_the_nth_call_fails(void **state)
{
	CUdeviceptr p[3];
	(void)state;
	unsigned before = standin_calls("cuMemAlloc");
	standin_fail("cuMemAlloc", 2, CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc(&p[0], 8));
	FAILS(cuMemAlloc(&p[1], 8), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc(&p[1], 8));
	assert_int_equal(standin_calls("cuMemAlloc_v2"), before + 3);
	/* what releases something still does */
	standin_fail("cuMemFree", 1, CUDA_ERROR_UNKNOWN);
	FAILS(cuMemFree(p[0]), CUDA_ERROR_UNKNOWN);
	FAILS(cuMemFree(p[0]), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(p[1]));
	/* calls of other libraries */
	standin_fail("cublasDgemm_v2", 1, 13);
	assert_int_equal(standin_step("cublasDgemm_v2"), 13);
	assert_int_equal(standin_step("cublasDgemm_v2"), 0);
}

static void note_status(CUstream on, CUresult status, void *arg)
{
	(void)on;
	*(CUresult *)arg = status;
}

static void test_a_lost_device_stays_lost(void **state)
{
	CUdeviceptr p;
	CUevent event;
	CUresult status = CUDA_SUCCESS;
	struct gate gate;
	struct list list = {0};
	struct item item = {&list, 1};
	int value = 1;
	(void)state;
	OK(cuMemAlloc(&p, 8));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	close_gate(&gate, stream);
	OK(cuMemcpyDtoHAsync(&value, p, 4, stream));
	OK(cuLaunchHostFunc(stream, append, &item));
	OK(cuStreamAddCallback(stream, note_status, &status, 0));
	OK(cuEventRecord(event, stream));
	standin_lose(0, 0);
	open_gate(&gate);
	FAILS(cuEventSynchronize(event), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(list.n, 0); /* host functions are not called then, callbacks are */
	FAILS(status, CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(value, 1);
	FAILS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemAlloc(&p, 8), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemcpyDtoHAsync(&value, p, 4, other), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuEventDestroy(event), CUDA_ERROR_LAUNCH_FAILED); /* but it is destroyed */
	FAILS(cuMemFree(p), CUDA_ERROR_LAUNCH_FAILED);
	OK(cuCtxPushCurrent(contexts[1])); /* the other device works */
	OK(cuMemAlloc(&p, 8));
	OK(cuMemFree(p));
	OK(cuCtxPopCurrent(NULL));
	FAILS(cuStreamDestroy(stream), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuStreamDestroy(other), CUDA_ERROR_LAUNCH_FAILED);
	standin_reset();
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamCreate(&other, 0));
}

struct work {
	_Atomic int has_begun, has_ended; /* how often */
};

static void work_long(void *arg)
{
	struct work *w = arg;
	w->has_begun++;
	for (int i = 0; i < 1000; i++)
		sched_yield();
	w->has_ended++;
}

/* Who is told that a device is lost may free what a kernel there was using. */
static void test_a_lost_device_works_no_more_when_that_is_known(void **state)
{
	struct work w = {0, 0};
	CUevent event;
	(void)state;
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (int how = 0; how < 3; how++) {
		w.has_begun = w.has_ended = 0;
		assert_int_equal(standin_enqueue(stream, work_long, &w), CUDA_SUCCESS);
		while (!w.has_begun)
			sched_yield();
		if (how == 0) {
			standin_lose(0, 0);
			FAILS(cuStreamQuery(other), CUDA_ERROR_LAUNCH_FAILED);
		} else if (how == 1) {
			standin_fail("cuEventQuery", 1, CUDA_ERROR_LAUNCH_FAILED);
			FAILS(cuEventQuery(event), CUDA_ERROR_LAUNCH_FAILED);
		} else {
			standin_fail("cuMemGetInfo", 1, CUDA_ERROR_LAUNCH_FAILED);
			FAILS(cuMemGetInfo(NULL, NULL), CUDA_ERROR_LAUNCH_FAILED);
		}
		assert_int_equal(w.has_ended, 1);
		FAILS(cuEventRecord(event, other), CUDA_ERROR_LAUNCH_FAILED);
		standin_reset();
		OK(cuStreamDestroy(stream));
		OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	}
	OK(cuEventDestroy(event));
}

/* What is left on a stream when its device is lost is dropped, however late the stream gets there. */
static void test_nothing_is_done_for_a_device_that_was_lost_before_a_reset(void **state)
{
	struct work w = {0, 0};
	(void)state;
	standin_latency(5000);
	assert_int_equal(standin_enqueue(stream, work_long, &w), CUDA_SUCCESS);
	standin_lose(0, 0);
	FAILS(cuStreamDestroy(stream), CUDA_ERROR_LAUNCH_FAILED);
	standin_reset();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamSynchronize(stream));
	standin_latency(5000);
	assert_int_equal(standin_enqueue(stream, work_long, &w),
	                 CUDA_SUCCESS); /* as long as the one before would take */
	OK(cuStreamSynchronize(stream));
	standin_latency(0);
	assert_int_equal(w.has_ended, 1);
}

static void test_a_lost_device_can_be_readable(void **state)
{
	CUdeviceptr p, q;
	CUevent event;
	int value = 7;
	(void)state;
	OK(cuMemAlloc(&p, 8));
	OK(cuMemcpyHtoD(p, &value, 4));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	standin_lose(0, 1);
	FAILS(cuMemAlloc(&q, 8), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemcpyHtoDAsync(p, &value, 4, stream), CUDA_ERROR_LAUNCH_FAILED);
	value = 0;
	OK(cuMemcpyDtoHAsync(&value, p, 4, stream));
	OK(cuEventRecord(event, stream));
	OK(cuEventSynchronize(event));
	assert_int_equal(value, 7);
	OK(cuEventDestroy(event));
	FAILS(cuMemFree(p), CUDA_ERROR_LAUNCH_FAILED);
}

/* The program sees the call fail, and may free what the copy would write. */
static void test_no_copy_follows_a_call_that_breaks_the_device(void **state)
{
	CUdeviceptr p;
	struct work w = {0, 0};
	int value = 7;
	(void)state;
	OK(cuMemAlloc(&p, 8));
	OK(cuMemcpyHtoD(p, &value, 4));
	value = 0;
	assert_int_equal(standin_enqueue(stream, work_long, &w), CUDA_SUCCESS);
	OK(cuMemcpyDtoHAsync(&value, p, 4, stream));
	while (!w.has_begun)
		sched_yield();
	standin_lose(0, 1);
	standin_fail("cuMemGetInfo", 1, CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemGetInfo(NULL, NULL), CUDA_ERROR_LAUNCH_FAILED);
	int seen = value; /* 0, unless this thread was so late that the copy was made before the call */
	FAILS(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuStreamDestroy(stream), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(value, seen);
	FAILS(cuMemFree(p), CUDA_ERROR_LAUNCH_FAILED);
	standin_reset();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void test_a_copy_can_break_the_device(void **state)
{
	CUdeviceptr p;
	int value = 7;
	(void)state;
	OK(cuMemAlloc(&p, 8));
	standin_fail("copy", 2, CUDA_ERROR_ECC_UNCORRECTABLE);
	OK(cuMemcpyHtoD(p, &value, 4));
	FAILS(cuMemcpyHtoD(p, &value, 4), CUDA_ERROR_ECC_UNCORRECTABLE);
	FAILS(cuMemcpyHtoD(p, &value, 4), CUDA_ERROR_ECC_UNCORRECTABLE);
	FAILS(cuMemFree(p), CUDA_ERROR_ECC_UNCORRECTABLE);
}

static void test_leaks_are_found(void **state)
{
	CUdeviceptr p;
	CUevent event;
	CUmodule module;
	CUcontext context;
	void *host;
	char mine[8], *text;
	size_t bytes;
	(void)state;
	unsigned before = standin_leaks(NULL);
	OK(cuMemAlloc(&p, 123));
	OK(cuEventCreate(&event, 0));
	OK(cuModuleLoadData(&module, "// none"));
	OK(cuMemHostAlloc(&host, 456, 0));
	OK(cuMemHostRegister(mine, 8, 0));
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	FILE *f = open_memstream(&text, &bytes);
	assert_int_equal(standin_leaks(f), before + 6);
	fclose(f);
	assert_non_null(strstr(text, "123 bytes of device memory"));
	assert_non_null(strstr(text, "456 bytes of host memory"));
	assert_non_null(strstr(text, "8 bytes registered"));
	assert_non_null(strstr(text, "1 event(s)"));
	assert_non_null(strstr(text, "1 module(s)"));
	assert_non_null(strstr(text, "2 stream(s)"));
	assert_non_null(strstr(text, "device 1, retained 2 time(s)"));
	free(text);
	OK(cuDevicePrimaryCtxRelease(1));
	OK(cuMemHostUnregister(mine));
	OK(cuMemFreeHost(host));
	OK(cuModuleUnload(module));
	OK(cuEventDestroy(event));
	OK(cuMemFree(p));
	assert_int_equal(standin_leaks(NULL), before);
}

/* A program may end without its context, and so leave memory registered that is free afterwards. */
static void test_registered_memory_is_forgotten_by_a_reset(void **state)
{
	char mine[8];
	(void)state;
	unsigned before = standin_leaks(NULL);
	OK(cuMemHostRegister(mine, 8, 0));
	standin_reset();
	assert_int_equal(standin_leaks(NULL), before);
	OK(cuMemHostRegister(mine, 8, 0));
	OK(cuMemHostUnregister(mine));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_the_nth_call_fails),
	    TEST(test_a_lost_device_stays_lost),
	    TEST(test_a_lost_device_works_no_more_when_that_is_known),
	    TEST(test_nothing_is_done_for_a_device_that_was_lost_before_a_reset),
	    TEST(test_a_lost_device_can_be_readable),
	    TEST(test_no_copy_follows_a_call_that_breaks_the_device),
	    TEST(test_a_copy_can_break_the_device),
	    TEST(test_leaks_are_found),
	    TEST(test_registered_memory_is_forgotten_by_a_reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
