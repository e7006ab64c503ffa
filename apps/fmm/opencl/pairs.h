/* Kernels of tasks for OpenCL devices. */
#ifndef HD_FMM_OPENCL_PAIRS_H
#define HD_FMM_OPENCL_PAIRS_H

#include <fmm/tasks/tasks.h>

/* The near field. Data: sums; workspace, which is not used; coordinates; particles of groups nearby; the list of
 * near_list.c. */
int hd_fmm_d_p2p_opencl(heddle_context *c);
int hd_fmm_s_p2p_opencl(heddle_context *c);

#endif
