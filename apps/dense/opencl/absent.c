/* Replaces this folder's other files in a build without OpenCL. */
#include <dense/opencl/offer.h>

heddle_kernel hd_dense_opencl_kernel(enum hd_dense_op op, int precision, int has_double)
{
	(void)op;
	(void)precision;
	(void)has_double;
	return NULL;
}

const char *hd_dense_opencl_missing(void)
{
	return NULL;
}
