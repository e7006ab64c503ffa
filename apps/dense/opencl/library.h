/* The functions of OpenCL and CLBlast that are called; the libraries are loaded at run time. */
#ifndef HD_DENSE_OPENCL_LIBRARY_H
#define HD_DENSE_OPENCL_LIBRARY_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#if HEDDLE_HAVE_CLBLAST
#include <clblast_c.h>
#endif

#define HD_OCL_CALLS(CALL) CALL(clEnqueueReadBuffer) CALL(clGetDeviceInfo)

#if HEDDLE_HAVE_CLBLAST
#define HD_CLBLAST_GEMM(CALL) CALL(CLBlastDgemm) CALL(CLBlastSgemm) CALL(CLBlastZgemm) CALL(CLBlastCgemm)
#define HD_CLBLAST_SYRK(CALL) CALL(CLBlastDsyrk) CALL(CLBlastSsyrk) CALL(CLBlastZsyrk) CALL(CLBlastCsyrk)
#define HD_CLBLAST_HERK(CALL) CALL(CLBlastZherk) CALL(CLBlastCherk) CALL(CLBlastClearCache)
#define HD_CLBLAST_CALLS(CALL) HD_CLBLAST_GEMM(CALL) HD_CLBLAST_SYRK(CALL) HD_CLBLAST_HERK(CALL)
#else
#define HD_CLBLAST_CALLS(CALL)
#endif

/* Set by hd_ocl_load, and constant afterwards. */
struct hd_ocl_library {
	int has_opencl, has_clblast;
#define HD_POINTER(f) __typeof__(&f) f;
	HD_OCL_CALLS(HD_POINTER)
	HD_CLBLAST_CALLS(HD_POINTER)
#undef HD_POINTER
};

/* Loads the available libraries, once. May be called by any thread. */
const struct hd_ocl_library *hd_ocl_load(void);

#endif
