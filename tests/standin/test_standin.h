/* What the tests of the stand-in share: two devices of 1 MiB, both contexts retained, the first one current, and two
 * streams on it, before each test; nothing left behind it. */
#ifndef TEST_STANDIN_H
#define TEST_STANDIN_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <cuda.h>
#include "standin.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, code) assert_int_equal(call, code)
#define MEMORY ((size_t)1 << 20)

static CUcontext contexts[2];
static CUstream stream, other;

static int set_up(void **state)
{
	(void)state;
	standin_reset();
	standin_devices(2, MEMORY);
	OK(cuInit(0));
	for (int d = 0; d < 2; d++)
		OK(cuDevicePrimaryCtxRetain(&contexts[d], d));
	OK(cuCtxPushCurrent(contexts[0]));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, -1));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	standin_reset();
	OK(cuStreamSynchronize(stream));
	OK(cuStreamSynchronize(other));
	OK(cuStreamDestroy(stream));
	OK(cuStreamDestroy(other));
	OK(cuCtxPopCurrent(NULL));
	for (int d = 0; d < 2; d++)
		OK(cuDevicePrimaryCtxRelease(d));
	assert_int_equal(standin_leaks(stderr), 0);
	return 0;
}

/* A gate on a stream: what is behind it does not run before it is opened. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	int is_open;
};

static inline void wait_at_gate(void *arg)
{
	struct gate *g = arg;
	pthread_mutex_lock(&g->lock);
	while (!g->is_open)
		pthread_cond_wait(&g->opened, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static inline void close_gate(struct gate *g, CUstream on)
{
	*g = (struct gate){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
	OK(cuLaunchHostFunc(on, wait_at_gate, g));
}

static inline void open_gate(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->is_open = 1;
	pthread_cond_signal(&g->opened);
	pthread_mutex_unlock(&g->lock);
}

/* Notes in which order functions on streams were called. */
struct list {
	int n, values[8];
};

struct item {
	struct list *list;
	int value;
};

static inline void append(void *arg)
{
	struct item *item = arg;
	item->list->values[item->list->n++] = item->value;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
