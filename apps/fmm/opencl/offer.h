/* Kernels of tasks for devices. They work in builds without OpenCL or CUDA as well, where no runtime has a device. */
#ifndef HD_FMM_OPENCL_OFFER_H
#define HD_FMM_OPENCL_OFFER_H

#include <fmm/tasks/tasks.h>
#include <heddle/cuda.h>
#include <heddle/opencl.h>

/* The kernels of two operators.
 *
 * HD_FMM_P2P. Data: sums; workspace, which is not used; coordinates; particles of groups nearby; the list of
 * near_list.c.
 * HD_FMM_M2L, local expansions from far cells. Data: local expansions; workspace, which is not used; multipoles of
 * groups of far cells; the list of far_list.c; the matrices and signs of the plan's tables. */
int hd_fmm_run_opencl(heddle_context *c);
int hd_fmm_run_cuda(heddle_context *c);

/* Whether this build has kernels for CUDA devices, which nvcc compiles. */
int hd_fmm_has_cuda(void);

#endif
