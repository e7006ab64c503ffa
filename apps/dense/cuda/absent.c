/* Replaces this folder's other files in a build without CUDA, or without the headers of its libraries. */
#include <dense/cuda/offer.h>

heddle_kernel hd_dense_cuda_kernel(enum hd_dense_op op, int precision)
{
	(void)op;
	(void)precision;
	return NULL;
}

const char *hd_dense_cuda_missing(void)
{
#ifdef HEDDLE_HAVE_CUDA
	return "no dense kernels run on CUDA devices: Heddle was built without the headers of cuBLAS and cuSOLVER "
	       "(install their development files, and build it again)";
#else
	return "no dense kernels run on CUDA devices: Heddle was built without CUDA's headers (put nvcc on the PATH, "
	       "or "
	       "install cuda.h, and build it again)";
#endif
}
