/* The kernels of libheddle-fmm, apps/fmm/cuda. */
#include "../cuda_on_host.h"
#include "../../../apps/fmm/cuda/kernels.cu"

#define BOTH(name)                                                           \
	STANDIN_KERNEL_AS("hd_fmm_d_" #name, hd_fmm_double::hd_fmm_d_##name) \
	STANDIN_KERNEL_AS("hd_fmm_s_" #name, hd_fmm_single::hd_fmm_s_##name)

BOTH(gather)
BOTH(pairs)
BOTH(copy)
BOTH(translate)
BOTH(add_products)
