/* The program in OpenCL C, for both precisions. */
#include <fmm/opencl/offer.h>
#include <fmm_kernels.cl.h>

#define HD_NUMBER(x) #x
#define HD_TEXT(x) HD_NUMBER(x)

_Static_assert(HD_FMM_PADDING == 16 && HD_FMM_BLOCK == 16 && HD_FMM_MATRICES == 57, "the options have these numbers");
#define OPTIONS                                                                                         \
	"-DPADDING=16 -DBLOCK=16 -DMATRICES=57 -DLEAST=(real)(" HD_TEXT(HD_FMM_SAME_PLACE) "*" HD_TEXT( \
	    HD_FMM_SAME_PLACE) ")"

const struct heddle_opencl_source hd_fmm_opencl_programs[HD_FMM_PRECISIONS] = {
    {"fmm/kernels.cl", hd_fmm_opencl_kernels, "-DDOUBLE " OPTIONS},
    {"fmm/kernels.cl", hd_fmm_opencl_kernels, OPTIONS},
};
