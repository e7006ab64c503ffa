/* The functions of heddle/opencl.h in a build without OpenCL: a program that uses them can be linked, and the
 * functions' error messages say why they fail. */
#ifndef HEDDLE_HAVE_OPENCL
#include <heddle/opencl.h>
#include "base/base.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* the functions only fail */

static int left_out(void)
{
	return hd_error(HEDDLE_E_UNSUPPORTED, "this build of Heddle has no OpenCL: build it where CL/cl.h is (Debian: "
	                                      "apt-get install opencl-c-headers)");
}

int heddle_opencl_kernel(heddle_context *c, const struct heddle_opencl_source *source, const char *name,
                         struct _cl_kernel **out)
{
	return left_out();
}

int heddle_opencl_run(heddle_context *c, struct _cl_kernel *kernel, const struct heddle_opencl_range *range, size_t n,
                      const struct heddle_opencl_argument *arguments)
{
	return left_out();
}

struct _cl_mem *heddle_opencl_buffer(heddle_context *c, size_t i, size_t *offset)
{
	left_out();
	return NULL;
}

struct _cl_mem *heddle_opencl_buffer_of(heddle_context *c, const void *address, size_t *offset)
{
	left_out();
	return NULL;
}

int heddle_opencl_failed(heddle_context *c, int result, const char *call)
{
	return left_out();
}

int heddle_opencl_then(heddle_context *c, void (*f)(void *arg, int result), void *arg)
{
	return left_out();
}

struct _cl_mem *heddle_opencl_scratch(heddle_context *c, size_t bytes)
{
	left_out();
	return NULL;
}

void **heddle_opencl_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer))
{
	left_out();
	return NULL;
}

int heddle_opencl_has_double(unsigned device)
{
	return 0;
}

struct _cl_device_id *heddle_opencl_device(heddle_context *c)
{
	left_out();
	return NULL;
}

struct _cl_context *heddle_opencl_context(heddle_context *c)
{
	left_out();
	return NULL;
}
#endif
