/* The functions of OpenCL that the driver calls. All are in OpenCL 1.2, which every driver has. The library
 * libOpenCL.so.1 is loaded when the first device is asked for, so a program also starts without it. */
#ifndef HD_DRIVER_OPENCL_CALLS_H
#define HD_DRIVER_OPENCL_CALLS_H

#ifdef HEDDLE_HAVE_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define HD_CL_CALLS(CALL)                 \
	CALL(clBuildProgram)              \
	CALL(clCreateBuffer)              \
	CALL(clCreateCommandQueue)        \
	CALL(clCreateContext)             \
	CALL(clCreateKernel)              \
	CALL(clCreateProgramWithBinary)   \
	CALL(clCreateProgramWithSource)   \
	CALL(clEnqueueCopyBuffer)         \
	CALL(clEnqueueCopyBufferRect)     \
	CALL(clEnqueueMapBuffer)          \
	CALL(clEnqueueMarkerWithWaitList) \
	CALL(clEnqueueMigrateMemObjects)  \
	CALL(clEnqueueNDRangeKernel)      \
	CALL(clEnqueueReadBuffer)         \
	CALL(clEnqueueReadBufferRect)     \
	CALL(clEnqueueUnmapMemObject)     \
	CALL(clEnqueueWriteBuffer)        \
	CALL(clEnqueueWriteBufferRect)    \
	CALL(clFinish)                    \
	CALL(clFlush)                     \
	CALL(clGetDeviceIDs)              \
	CALL(clGetDeviceInfo)             \
	CALL(clGetEventInfo)              \
	CALL(clGetPlatformIDs)            \
	CALL(clGetPlatformInfo)           \
	CALL(clGetProgramBuildInfo)       \
	CALL(clGetProgramInfo)            \
	CALL(clReleaseCommandQueue)       \
	CALL(clReleaseContext)            \
	CALL(clReleaseEvent)              \
	CALL(clReleaseKernel)             \
	CALL(clReleaseMemObject)          \
	CALL(clReleaseProgram)            \
	CALL(clSetEventCallback)          \
	CALL(clSetKernelArg)              \
	CALL(clWaitForEvents)

struct hd_cl_calls {
#define HD_CL_POINTER(name) __typeof__(name) *name;
	HD_CL_CALLS(HD_CL_POINTER)
#undef HD_CL_POINTER
};
/* Set by hd_cl_load, before any function is called. Tests put functions of their own here. */
extern struct hd_cl_calls hd_cl;

/* Loads the library, unless that is done. HEDDLE_E_UNSUPPORTED: the message says what is missing. Any thread may call
 * it. */
int hd_cl_load(void);
#endif

#endif
