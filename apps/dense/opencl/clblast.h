/* Products by CLBlast (Nugteren, 2018), which has kernels tuned for many devices. On CPUs ours are taken: there it
 * compiles each routine for six seconds, and tasks should rather run on the cores themselves. */
#ifndef HD_DENSE_OPENCL_CLBLAST_H
#define HD_DENSE_OPENCL_CLBLAST_H

#include <dense/opencl/enqueue.h>

/* Whether CLBlast has a routine for this product, and is better. */
int hd_clblast_can(const struct hd_ocl_call *x);
/* Puts the product on the stream, as hd_ocl_product; hd_clblast_can has said that it can be. */
int hd_clblast_product(struct hd_ocl *w, const struct hd_ocl_call *x);
/* Frees the programs that CLBlast keeps for the process; those that are needed are compiled again. */
void hd_clblast_clear(void);

#endif
