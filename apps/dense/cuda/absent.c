/* In place of this folder's other files, in a build without CUDA. */
#include <dense/cuda/offer.h>

heddle_kernel hd_dense_cuda_kernel(enum hd_dense_op op, int precision)
{
	(void)op;
	(void)precision;
	return NULL;
}

const char *hd_dense_cuda_missing(void)
{
	return "no dense kernels run on CUDA devices: Heddle was built without CUDA's headers (put nvcc on the PATH "
	       "and build it again)";
}
