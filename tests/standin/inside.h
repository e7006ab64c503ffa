/* What the parts of the stand-in (standin.h) show to each other. */
#ifndef STANDIN_INSIDE_H
#define STANDIN_INSIDE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>
#include "standin.h"

/* --- control.c: counting calls, failing them ---------------------------------------------------------------------- */

enum needs {
	CONTEXT = 1,  /* a context must be current */
	READS = 2,    /* works on a device that is lost but readable */
	RELEASES = 4, /* does its work whatever happens, since nothing can be done about a failure; see enter */
	EARLY = 8     /* may be called before cuInit */
};

/* Begins every call: returns what it must return at once, or CUDA_SUCCESS. With RELEASES, failures that a test has
 * asked for and those of a lost device go to *late instead, to be returned when the work is done. */
CUresult enter(const char *call, unsigned needs, CUresult *late);
struct device;
/* What calls on the device return because it is lost, or CUDA_SUCCESS. Waits (settle) if it is lost. */
CUresult lost(const struct device *d, unsigned needs);
/* What `lost` returns, without waiting: for the thread of a stream, for which `settle` would wait. */
CUresult state_of(const struct device *d, unsigned needs);
/* Waits until no stream of a device that is broken works any more. Whoever learns that a device is lost may free what
 * kernels and copies there were using. */
void settle(const struct device *d);
/* The device is broken from now on. */
void break_device(struct device *d, CUresult code);
/* A call on the device fails so: it is broken, and nothing more is done there, copies from it included, even if it was
 * readable. Whoever sees that call fail may free what these copies would write. */
void fail_device(struct device *d, CUresult code);
/* Whether a device never works again after this error. */
int is_sticky(CUresult code);
/* Keeps what a kernel did wrong for standin_complaint, and prints it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

extern _Atomic double operation_us;        /* standin_latency. pairs: nothing, any value will do */
extern _Thread_local int in_host_function; /* this thread is a stream that runs a function of the program */

/* --- device.c ----------------------------------------------------------------------------------------------------- */

#define MAX_DEVICES 16

struct CUctx_st {
	struct device *device;
};

struct device {
	int number;
	size_t bytes, used; /* registry */
	atomic_int broken;  /* a CUresult. pairs: break_device stores it after `readable` */
	atomic_int readable;
	atomic_int working; /* streams in a kernel or a copy. pairs: serve counts before it loads `broken` */
	unsigned retained;  /* registry: how often its primary context was retained */
	unsigned peers;     /* registry: bit d: it may use the memory of device d */
	struct CUctx_st context;
	CUstream null_stream; /* registry: stands for the stream NULL; made when first needed */
};

extern struct device devices[MAX_DEVICES];
extern int n_devices;
extern atomic_int initialised; /* pairs: nothing, a test calls cuInit before it starts threads that use CUDA */

/* The device of the current context, or NULL. */
struct device *current(void);
void set_up_from_environment(void);

/* --- objects.c: what exists --------------------------------------------------------------------------------------- */

/* Protects what is marked "registry". Looking up takes it for reading, which orders no two threads, so that
 * ThreadSanitizer still sees races between them. */
extern pthread_rwlock_t registry;

enum kind { STREAM, EVENT, MODULE, FUNCTION, POOL, N_KINDS };

int born(enum kind kind, void *handle); /* 0: no memory */
int dies(enum kind kind, void *handle); /* 0: there is none such */
int lives(enum kind kind, void *handle);

enum place { ON_DEVICE, ALLOCATED_HOST, REGISTERED_HOST };

struct range {
	uintptr_t from; /* as the host sees it */
	size_t size;
	enum place place;
	int device;        /* -1: of the host */
	CUmemoryPool pool; /* where it came from, or NULL; it may not exist any more */
	unsigned access;   /* with a pool: bit d: device d may use it */
};

int add_range(struct range range);                                     /* 0: no memory, or it overlaps another one */
int remove_range(uintptr_t from, enum place place, struct range *out); /* 0: none begins there */
void forget_registered(void);                                          /* all memory of the program's */
int find_range(uintptr_t address, struct range *out);                  /* 0: it is in none */
void set_access(CUmemoryPool pool, unsigned access);                   /* for all memory from the pool */

/* --- memory.c ----------------------------------------------------------------------------------------------------- */

struct CUmemPoolHandle_st {
	struct device *device;
	atomic_uint
	    access; /* bit d: device d may use its memory. pairs: nothing, a program sets it before others use it */
};

CUdeviceptr device_address(int device, const void *memory);
/* The device whose address this is by its bits, or -1. */
int device_of(uint64_t address);
/* Finds `size` bytes of device memory that `d` may use: the host's address, or NULL. */
void *usable_memory(const struct device *d, CUdeviceptr address, size_t size);
/* Whether the host may hand this address to a kernel of a device: page-locked memory. */
int is_locked_host(const void *address);

/* --- stream.c ----------------------------------------------------------------------------------------------------- */

/* Waits until nothing is left on the streams that have been destroyed. */
void await_ended_streams(void);

/* An operation on a stream; what it is about follows in a structure that begins with this. */
struct op {
	_Atomic(struct op *) next; /* pairs: push stores it with release, the stream's thread loads it with acquire */
	/* Does it, or only gives back what it holds if `failed` is not 0. An error it returns breaks the device. */
	CUresult (*run)(struct op *op, CUstream stream, CUresult failed);
	int survives; /* it is done on a device that is lost but readable */
	int is_ours;  /* it is no work of the device, but ours or that of a function of the program */
};

enum { HIGHEST_PRIORITY = -5 }; /* of a stream; the lowest is 0 */

struct CUstream_st {
	struct device *device;
	int priority;
	sem_t filled;              /* how many operations are there */
	_Atomic(struct op *) last; /* pairs: push exchanges it, so that each producer knows the one before its own */
	struct op *first;          /* the one that ran last; only its thread */
	atomic_ulong begun, ended; /* operations. pairs: cuStreamQuery loads `ended` with acquire */
	CUresult failed;           /* only its thread: what was dropped makes what follows fail */
	int ending;                /* only its thread */
};

/* The stream itself, or that which stands for NULL; CUDA_ERROR_INVALID_HANDLE if it is none of the device. */
CUresult find_stream(struct device *d, CUstream stream, CUstream *out);
/* A zeroed operation of `size` bytes, or NULL. */
void *new_op(size_t size, CUresult (*run)(struct op *op, CUstream stream, CUresult failed));
void push(CUstream stream, void *op);
/* Waits until everything on the stream has ended. */
CUresult drain(CUstream stream);
void end_null_stream(struct device *d);

/* --- kernels.c, block.c ------------------------------------------------------------------------------------------- */

struct standin_kernel;

/* A launch: which kernel, how many threads, and its parameters, copied. */
struct launch {
	const struct standin_kernel *kernel;
	unsigned grid[3], block[3];
	size_t shared_bytes;
	void **values;
};

/* Runs all its blocks, one after the other, on this thread. 0: a kernel did something wrong (complain). */
int run_launch(const struct launch *launch);
/* Saves what a function must keep on the stack, stores the stack's pointer to *from, and goes on where `to` was saved.
 * swapcontext would do, but calls the kernel of the system each time. */
void standin_switch(void **from, void *to);
/* Gives back what run_launch keeps for this thread. */
void end_launches(void);

#endif
