/* Counting the calls, failing them, losing devices. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "inside.h"

/* A name that was called or is to fail. Entries are added and never removed, so looking one up takes no lock, which
 * would order the threads that call CUDA and hide their races from ThreadSanitizer. */
struct counter {
	_Atomic(const char *) name; /* without its ending _v2. pairs: find_counter sets and loads it */
	atomic_uint calls;
	atomic_uint fail_at; /* the count at which it fails. pairs: standin_fail stores it after `code` */
	atomic_int code;
};

#define N_COUNTERS 512

static struct counter counters[N_COUNTERS];
_Atomic double operation_us;
_Thread_local int in_host_function;
static pthread_mutex_t complaint_lock = PTHREAD_MUTEX_INITIALIZER;
static char complaint[300];

static size_t length_of_name(const char *name)
{
	size_t n = strlen(name);
	return n > 3 && name[n - 3] == '_' && name[n - 2] == 'v' ? n - 3 : n;
}

static struct counter *find_counter(const char *name)
{
	size_t n = length_of_name(name), at = n;
	for (size_t i = 0; i < n; i++)
		at = at * 31 + (unsigned char)name[i];
	for (char *own = NULL;; at++) {
		struct counter *c = &counters[at % N_COUNTERS];
		const char *there = atomic_load(&c->name);
		if (!there) {
			own = own ? own : strndup(name, n);
			if (own && atomic_compare_exchange_strong(&c->name, &there, own))
				return c;
		}
		if (there && strlen(there) == n && memcmp(there, name, n) == 0) {
			free(own);
			return c;
		}
	}
}

int standin_step(const char *call)
{
	struct counter *c = find_counter(call);
	unsigned count = atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed) + 1;
	return count == atomic_load(&c->fail_at) ? atomic_load(&c->code) : 0;
}

void standin_fail(const char *call, unsigned nth, int code)
{
	struct counter *c = find_counter(call);
	atomic_store(&c->code, code);
	atomic_store(&c->fail_at, nth ? atomic_load(&c->calls) + nth : 0);
}

unsigned standin_calls(const char *call)
{
	return atomic_load(&find_counter(call)->calls);
}

void standin_latency(double us)
{
	atomic_store(&operation_us, us);
}

void standin_reset(void)
{
	/* What is left on destroyed streams of a device that is broken is dropped: the device is whole again only then,
	 * or kernels would still run there, on memory that is gone. */
	await_ended_streams();
	for (int i = 0; i < N_COUNTERS; i++) {
		atomic_store(&counters[i].fail_at, 0);
		atomic_store(&counters[i].calls, 0);
	}
	for (int i = 0; i < MAX_DEVICES; i++) {
		atomic_store(&devices[i].broken, 0);
		atomic_store(&devices[i].readable, 0);
	}
	/* If a program could not take back what it had registered, another one may get the same addresses. */
	forget_registered();
	standin_latency(0);
	standin_pools(1);
	pthread_mutex_lock(&complaint_lock);
	complaint[0] = '\0';
	pthread_mutex_unlock(&complaint_lock);
}

const char *standin_complaint(void)
{
	return complaint;
}

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	pthread_mutex_lock(&complaint_lock);
	vsnprintf(complaint, sizeof complaint, format, args);
	fprintf(stderr, "stand-in for CUDA: %s\n", complaint);
	pthread_mutex_unlock(&complaint_lock);
	va_end(args);
}

/* --- Lost devices ------------------------------------------------------------------------------------------------- */

int is_sticky(CUresult code)
{
	switch (code) {
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_NVLINK_UNCORRECTABLE:
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED: return 1;
	default: return 0;
	}
}

void break_device(struct device *d, CUresult code)
{
	int whole = CUDA_SUCCESS;
	atomic_compare_exchange_strong(&d->broken, &whole, (int)code); /* the first error stays */
}

void standin_lose(int device, int readable)
{
	atomic_store(&devices[device].readable, readable);
	break_device(&devices[device], CUDA_ERROR_LAUNCH_FAILED);
}

CUresult state_of(const struct device *d, unsigned needs)
{
	CUresult code = (CUresult)atomic_load(&d->broken);
	return code && (needs & READS) && atomic_load(&d->readable) ? CUDA_SUCCESS : code;
}

void settle(const struct device *d)
{
	while (atomic_load(&d->working) > 0)
		sched_yield();
}

CUresult lost(const struct device *d, unsigned needs)
{
	CUresult code = state_of(d, needs);
	if (code)
		settle(d);
	return code;
}

void fail_device(struct device *d, CUresult code)
{
	atomic_store(&d->readable, 0);
	break_device(d, code);
	settle(d);
}

CUresult enter(const char *call, unsigned needs, CUresult *late)
{
	if (in_host_function && !(needs & EARLY))
		return CUDA_ERROR_NOT_PERMITTED;
	if (!atomic_load(&initialised) && !(needs & EARLY))
		return CUDA_ERROR_NOT_INITIALIZED;
	struct device *d = current();
	CUresult code = (CUresult)standin_step(call);
	if (code && d && is_sticky(code))
		fail_device(d, code);
	if (!code && (needs & CONTEXT))
		code = d ? lost(d, needs) : CUDA_ERROR_INVALID_CONTEXT;
	if ((needs & RELEASES) && code != CUDA_ERROR_INVALID_CONTEXT) {
		*late = code;
		return CUDA_SUCCESS;
	}
	return code;
}

const struct standin standin_table = {
    .fail = standin_fail,
    .calls = standin_calls,
    .lose = standin_lose,
    .latency = standin_latency,
    .leaks = standin_leaks,
    .devices = standin_devices,
    .pools = standin_pools,
    .reset = standin_reset,
    .complaint = standin_complaint,
    .step = standin_step,
    .enqueue = standin_enqueue,
    .memory = standin_memory,
};
