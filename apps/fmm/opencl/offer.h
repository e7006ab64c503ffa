/* Kernels of tasks for OpenCL devices. They work in builds without OpenCL as well, where no runtime has a device. */
#ifndef HD_FMM_OPENCL_OFFER_H
#define HD_FMM_OPENCL_OFFER_H

#include <fmm/tasks/tasks.h>
#include <heddle/opencl.h>

/* pairs.c: the near field. Data: sums; workspace, which is not used; coordinates; particles of groups nearby; the list
 * of near_list.c. */
int hd_fmm_d_p2p_opencl(heddle_context *c);
int hd_fmm_s_p2p_opencl(heddle_context *c);

/* translations.c: local expansions from far cells. Data: local expansions; workspace, which is not used; multipoles of
 * groups of far cells; the list of far_list.c; the matrices and signs of the plan's tables. */
int hd_fmm_d_m2l_opencl(heddle_context *c);
int hd_fmm_s_m2l_opencl(heddle_context *c);

/* The program that has the kernels, by enum heddle_fmm_precision. */
extern const struct heddle_opencl_source hd_fmm_opencl_programs[HD_FMM_PRECISIONS];

#endif
