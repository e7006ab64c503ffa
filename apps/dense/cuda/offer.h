/* The interface of this folder for the codelets. In a build without CUDA, absent.c implements it. */
#ifndef HD_DENSE_CUDA_OFFER_H
#define HD_DENSE_CUDA_OFFER_H

#include <dense/internal.h>

/* The kernel of a codelet for devices of the kind "cuda". NULL: there is none, because a library is missing, or because
 * this codelet runs on CPUs only. The first call loads the libraries. May be called by any thread. */
heddle_kernel hd_dense_cuda_kernel(enum hd_dense_op op, int precision);
/* Which dense kernels cannot run on CUDA devices, and why, in a sentence; NULL: all existing kernels can. */
const char *hd_dense_cuda_missing(void);

#endif
