/* Products by CLBlast (Nugteren, 2018), which has kernels tuned for many devices. On OpenCL devices that are CPUs, the
 * kernels of kernels.cl are used instead, because CLBlast compiles each routine for six seconds there. */
#ifndef HD_DENSE_OPENCL_CLBLAST_H
#define HD_DENSE_OPENCL_CLBLAST_H

#include <dense/opencl/enqueue.h>

/* Whether CLBlast has a routine for this product, and is faster. */
int hd_clblast_can(const struct hd_ocl_call *x);
/* Puts the product on the stream, like hd_ocl_product; hd_clblast_can has returned 1. */
int hd_clblast_product(struct hd_ocl *w, const struct hd_ocl_call *x);
/* Frees the programs that CLBlast keeps for the process; those that are needed are compiled again. */
void hd_clblast_clear(void);

#endif
