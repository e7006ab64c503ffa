/* The functions of heddle/cuda.h in a build without CUDA: a program that uses them can be linked, and the functions'
 * error messages say why they fail. */
#ifndef HEDDLE_HAVE_CUDA
#include <heddle/cuda.h>
#include "base/base.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* the functions only fail */

static int left_out(void)
{
	return hd_error(HEDDLE_E_UNSUPPORTED, "this build of Heddle has no CUDA: build it where a CUDA toolkit or "
	                                      "its header cuda.h is (nvcc on the PATH)");
}

int heddle_cuda_function(heddle_context *c, const struct heddle_cuda_image *image, const char *name,
                         struct CUfunc_st **out)
{
	*out = NULL;
	return left_out();
}

int heddle_cuda_launch(heddle_context *c, struct CUfunc_st *function, const struct heddle_cuda_grid *grid,
                       void **arguments)
{
	return left_out();
}

int heddle_cuda_failed(heddle_context *c, int result, const char *call)
{
	return left_out();
}

int heddle_cuda_then(heddle_context *c, void (*f)(void *arg, int result), void *arg)
{
	return left_out();
}

void *heddle_cuda_scratch(heddle_context *c, size_t bytes)
{
	left_out();
	return NULL;
}

void **heddle_cuda_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer))
{
	left_out();
	return NULL;
}
#endif
