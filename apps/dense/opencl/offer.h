/* The interface of this folder for the codelets. In a build without OpenCL, absent.c implements it. */
#ifndef HD_DENSE_OPENCL_OFFER_H
#define HD_DENSE_OPENCL_OFFER_H

#include <dense/internal.h>

/* The kernel of a codelet for devices of the kind "opencl". NULL: there is none, because OpenCL's library is missing,
 * or because this codelet runs on CPUs only, or because the codelet needs double precision and `has_double` is 0. The
 * first call loads the library. May be called by any thread. */
heddle_kernel hd_dense_opencl_kernel(enum hd_dense_op op, int precision, int has_double);
/* What is missing for dense kernels on OpenCL devices, in a sentence; NULL: nothing. */
const char *hd_dense_opencl_missing(void);

#endif
