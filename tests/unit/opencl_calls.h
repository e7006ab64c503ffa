/* Stands between the driver and OpenCL: counts the calls and the objects that are alive, and lets one call fail. */
#ifndef TEST_OPENCL_CALLS_H
#define TEST_OPENCL_CALLS_H

#include "driver/opencl/calls.h"
#include "opencl.h"

#define COUNTER(name) CALL_##name,
enum call { HD_CL_CALLS(COUNTER) N_CALLS };
#undef COUNTER
#define NAME(name) #name,
static const char *const call_names[] = {HD_CL_CALLS(NAME)};
#undef NAME

enum object { CONTEXT, QUEUE, MEMORY, PROGRAM, KERNEL, EVENT, MAPPING, N_OBJECTS };
static const char *const object_names[] = {"contexts", "queues", "memory objects", "programs",
                                           "kernels",  "events", "mappings"};

static struct hd_cl_calls real;
static atomic_int calls[N_CALLS], alive[N_OBJECTS];
/* This call of this function fails with this code, counted from 1; 0: none. */
static int planned, planned_call, planned_code;
static atomic_int has_failed;
/* What fails from then on, too: nothing; kernels, as on a device of which the memory can still be read; everything. */
static enum { ONCE, KERNELS_FROM_THEN, ALL_FROM_THEN } planned_loss;

static int is_lost(enum call call)
{
	int runs = call == CALL_clEnqueueNDRangeKernel || call == CALL_clEnqueueMarkerWithWaitList;
	return has_failed && (planned_loss == ALL_FROM_THEN || (planned_loss == KERNELS_FROM_THEN && runs));
}

static cl_int fails(enum call call)
{
	if (++calls[call] == planned_call && (int)call == planned)
		has_failed = 1;
	else if (!is_lost(call))
		return 0;
	return planned_code;
}

/* What is unmapped is unmapped even if the call fails. */
static cl_int CL_API_CALL my_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem a, void *p, cl_uint n,
                                                     const cl_event *list, cl_event *event)
{
	alive[MAPPING]--;
	cl_int code = real.clEnqueueUnmapMemObject(q, a, p, n, list, event);
	cl_int failed = fails(CALL_clEnqueueUnmapMemObject);
	return failed ? failed : code;
}

#define RETURNS(name, parameters, ...)                         \
	static cl_int CL_API_CALL my_##name parameters         \
	{                                                      \
		cl_int code_ = fails(CALL_##name);             \
		return code_ ? code_ : real.name(__VA_ARGS__); \
	}
/* What is waited for has ended even if the call fails. */
#define WAITS(name, parameters, ...)                   \
	static cl_int CL_API_CALL my_##name parameters \
	{                                              \
		cl_int code_ = real.name(__VA_ARGS__); \
		cl_int failed_ = fails(CALL_##name);   \
		return failed_ ? failed_ : code_;      \
	}
/* What is released is released even if the call fails. */
#define RELEASES(name, type, object)                 \
	static cl_int CL_API_CALL my_##name(type o)  \
	{                                            \
		alive[object]--;                     \
		cl_int code_ = real.name(o);         \
		cl_int failed_ = fails(CALL_##name); \
		return failed_ ? failed_ : code_;    \
	}
#define MAKES(name, type, object, parameters, ...)                  \
	static type CL_API_CALL my_##name parameters                \
	{                                                           \
		*code = fails(CALL_##name);                         \
		type made_ = *code ? NULL : real.name(__VA_ARGS__); \
		alive[object] += made_ != NULL;                     \
		return made_;                                       \
	}
#define ENQUEUES(name, parameters, ...)                         \
	static cl_int CL_API_CALL my_##name parameters          \
	{                                                       \
		cl_int code_ = fails(CALL_##name);              \
		code_ = code_ ? code_ : real.name(__VA_ARGS__); \
		alive[EVENT] += !code_ && event;                \
		return code_;                                   \
	}
typedef void(CL_CALLBACK *context_callback)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_callback)(cl_program, void *);
typedef void(CL_CALLBACK *event_callback)(cl_event, cl_int, void *);
#define QUEUED cl_command_queue q
#define AFTER cl_uint n, const cl_event *list, cl_event *event

MAKES(clCreateContext, cl_context, CONTEXT,
      (const cl_context_properties *p, cl_uint n, const cl_device_id *d, context_callback f, void *arg, cl_int *code),
      p, n, d, f, arg, code)
MAKES(clCreateBuffer, cl_mem, MEMORY, (cl_context c, cl_mem_flags flags, size_t size, void *p, cl_int *code), c, flags,
      size, p, code)
MAKES(clCreateCommandQueue, cl_command_queue, QUEUE,
      (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *code), c, d, p, code)
MAKES(clCreateKernel, cl_kernel, KERNEL, (cl_program p, const char *name, cl_int *code), p, name, code)
MAKES(clCreateProgramWithBinary, cl_program, PROGRAM,
      (cl_context c, cl_uint n, const cl_device_id *d, const size_t *sizes, const unsigned char **p, cl_int *status,
       cl_int *code),
      c, n, d, sizes, p, status, code)
MAKES(clCreateProgramWithSource, cl_program, PROGRAM,
      (cl_context c, cl_uint n, const char **text, const size_t *sizes, cl_int *code), c, n, text, sizes, code)
RELEASES(clReleaseCommandQueue, cl_command_queue, QUEUE)
RELEASES(clReleaseContext, cl_context, CONTEXT)
RELEASES(clReleaseEvent, cl_event, EVENT)
RELEASES(clReleaseKernel, cl_kernel, KERNEL)
RELEASES(clReleaseMemObject, cl_mem, MEMORY)
RELEASES(clReleaseProgram, cl_program, PROGRAM)
ENQUEUES(clEnqueueCopyBuffer, (QUEUED, cl_mem a, cl_mem b, size_t x, size_t y, size_t size, AFTER), q, a, b, x, y, size,
         n, list, event)
ENQUEUES(clEnqueueCopyBufferRect,
         (QUEUED, cl_mem a, cl_mem b, const size_t *x, const size_t *y, const size_t *r, size_t ap, size_t as,
          size_t bp, size_t bs, AFTER),
         q, a, b, x, y, r, ap, as, bp, bs, n, list, event)
ENQUEUES(clEnqueueMarkerWithWaitList, (QUEUED, AFTER), q, n, list, event)
ENQUEUES(clEnqueueMigrateMemObjects, (QUEUED, cl_uint k, const cl_mem *m, cl_mem_migration_flags flags, AFTER), q, k, m,
         flags, n, list, event)
ENQUEUES(clEnqueueNDRangeKernel,
         (QUEUED, cl_kernel k, cl_uint dims, const size_t *first, const size_t *global, const size_t *local, AFTER), q,
         k, dims, first, global, local, n, list, event)
ENQUEUES(clEnqueueReadBuffer, (QUEUED, cl_mem a, cl_bool blocks, size_t x, size_t size, void *p, AFTER), q, a, blocks,
         x, size, p, n, list, event)
ENQUEUES(clEnqueueReadBufferRect,
         (QUEUED, cl_mem a, cl_bool blocks, const size_t *x, const size_t *y, const size_t *r, size_t ap, size_t as,
          size_t bp, size_t bs, void *p, AFTER),
         q, a, blocks, x, y, r, ap, as, bp, bs, p, n, list, event)
ENQUEUES(clEnqueueWriteBuffer, (QUEUED, cl_mem a, cl_bool blocks, size_t x, size_t size, const void *p, AFTER), q, a,
         blocks, x, size, p, n, list, event)
ENQUEUES(clEnqueueWriteBufferRect,
         (QUEUED, cl_mem a, cl_bool blocks, const size_t *x, const size_t *y, const size_t *r, size_t ap, size_t as,
          size_t bp, size_t bs, const void *p, AFTER),
         q, a, blocks, x, y, r, ap, as, bp, bs, p, n, list, event)
RETURNS(clBuildProgram,
        (cl_program p, cl_uint n, const cl_device_id *d, const char *options, program_callback f, void *arg), p, n, d,
        options, f, arg)
WAITS(clFinish, (QUEUED), q)
RETURNS(clFlush, (QUEUED), q)
RETURNS(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *out), p, t, n, d, out)
RETURNS(clGetDeviceInfo, (cl_device_id d, cl_device_info what, size_t size, void *p, size_t *out), d, what, size, p,
        out)
RETURNS(clGetEventInfo, (cl_event e, cl_event_info what, size_t size, void *p, size_t *out), e, what, size, p, out)
RETURNS(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *out), n, p, out)
RETURNS(clGetPlatformInfo, (cl_platform_id d, cl_platform_info what, size_t size, void *p, size_t *out), d, what, size,
        p, out)
RETURNS(clGetProgramBuildInfo,
        (cl_program a, cl_device_id d, cl_program_build_info what, size_t size, void *p, size_t *out), a, d, what, size,
        p, out)
RETURNS(clGetProgramInfo, (cl_program a, cl_program_info what, size_t size, void *p, size_t *out), a, what, size, p,
        out)
RETURNS(clSetEventCallback, (cl_event e, cl_int state, event_callback f, void *arg), e, state, f, arg)
RETURNS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t size, const void *p), k, i, size, p)
WAITS(clWaitForEvents, (cl_uint n, const cl_event *list), n, list)

MAKES(clEnqueueMapBuffer, void *, MAPPING,
      (QUEUED, cl_mem a, cl_bool blocks, cl_map_flags flags, size_t x, size_t size, AFTER, cl_int *code), q, a, blocks,
      flags, x, size, n, list, event, code);

/* Puts the functions above in front of OpenCL's. */
static inline void watch_calls(void)
{
	assert_ok(hd_cl_load());
	real = hd_cl;
#define REPLACE(name) hd_cl.name = my_##name;
	HD_CL_CALLS(REPLACE)
#undef REPLACE
}

/* No call fails, and counting begins anew. */
static inline void forget_calls(void)
{
	planned_call = 0;
	planned_loss = ONCE;
	has_failed = 0;
	for (unsigned i = 0; i < N_CALLS; i++)
		calls[i] = 0;
}

static inline void assert_nothing_alive(void)
{
	for (unsigned i = 0; i < N_OBJECTS; i++)
		if (alive[i])
			fail_msg("%d %s of OpenCL were not released", alive[i], object_names[i]);
}

#endif
