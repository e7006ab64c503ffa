/* A kind of devices, whose kernels have the same names and arguments: OpenCL (source.c) and CUDA
 * (apps/fmm/cuda/launch.c). */
#ifndef HD_FMM_OPENCL_DEVICE_H
#define HD_FMM_OPENCL_DEVICE_H

#include <fmm/opencl/offer.h>

/* A kernel of kernels.cl with its arguments. Where these are data, the kernel has two arguments (heddle_opencl_datum).
 */
struct hd_fmm_launch {
	const char *kernel;
	struct heddle_opencl_range range;
	size_t n;
	const struct heddle_opencl_argument *arguments;
};

struct hd_fmm_device {
	/* heddle_opencl_scratch, or an address that counts as one */
	struct _cl_mem *(*scratch)(heddle_context *c, size_t bytes);
	/* in the precision of the plan */
	int (*launch)(heddle_context *c, const struct hd_fmm_launch *launch);
};

static inline const struct heddle_fmm_plan *hd_fmm_plan_of(heddle_context *c)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	return v->plan;
}

/* pairs.c, translations.c */
int hd_fmm_p2p_on(heddle_context *c, const struct hd_fmm_device *device);
int hd_fmm_m2l_on(heddle_context *c, const struct hd_fmm_device *device);

static inline int hd_fmm_run_on(heddle_context *c, const struct hd_fmm_device *device)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	return v->op == HD_FMM_P2P ? hd_fmm_p2p_on(c, device) : hd_fmm_m2l_on(c, device);
}

#endif
