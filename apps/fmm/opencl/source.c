/* The program in OpenCL C, for both precisions, and what puts its kernels on streams. */
#include <fmm/opencl/device.h>
#include <fmm/opencl/constants.h>
#include <fmm_kernels.cl.h>

#define HD_NUMBER(x) #x
#define HD_TEXT(x) HD_NUMBER(x)

_Static_assert(HD_FMM_PADDING == PADDING && HD_FMM_BLOCK == BLOCK && HD_FMM_MATRICES == MATRICES,
               "kernels are told what is so");
#define OPTION(name) "-D" #name "=" HD_TEXT(name) " "
#define OPTIONS OPTION(PADDING) OPTION(BLOCK) OPTION(MATRICES) OPTION(SAME_PLACE)

static const struct heddle_opencl_source programs[HD_FMM_PRECISIONS] = {
    {"fmm/kernels.cl", hd_fmm_opencl_text, "-DDOUBLE " OPTIONS},
    {"fmm/kernels.cl", hd_fmm_opencl_text, OPTIONS},
};

static int launch(heddle_context *c, const struct hd_fmm_launch *l)
{
	struct _cl_kernel *kernel;
	int status = heddle_opencl_kernel(c, &programs[hd_fmm_plan_of(c)->options.precision], l->kernel, &kernel);
	return status ? status : heddle_opencl_run(c, kernel, &l->range, l->n, l->arguments);
}

int hd_fmm_run_opencl(heddle_context *c)
{
	static const struct hd_fmm_device device = {heddle_opencl_scratch, launch};
	return hd_fmm_run_on(c, &device);
}
