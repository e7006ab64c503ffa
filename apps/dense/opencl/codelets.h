/* Kernels of codelets for OpenCL devices: the tables of this folder. */
#ifndef HD_DENSE_OPENCL_CODELETS_H
#define HD_DENSE_OPENCL_CODELETS_H

#include <dense/internal.h>

/* Each table ends by a row without kernels. */
struct hd_ocl_codelet {
	enum hd_dense_op op;
	heddle_kernel kernels[HEDDLE_DENSE_PRECISIONS];
	int needs_double; /* in all precisions */
};
extern const struct hd_ocl_codelet hd_ocl_products[], hd_ocl_factors[], hd_ocl_qr[], hd_ocl_movements[];

/* Makes a kernel for each precision of int x(heddle_context *c, enum heddle_dense_precision precision). */
#define HD_OCL_KERNELS(x)                                 \
	static int x##_d(heddle_context *c)               \
	{                                                 \
		return x(c, HEDDLE_DENSE_DOUBLE);         \
	}                                                 \
	static int x##_s(heddle_context *c)               \
	{                                                 \
		return x(c, HEDDLE_DENSE_SINGLE);         \
	}                                                 \
	static int x##_z(heddle_context *c)               \
	{                                                 \
		return x(c, HEDDLE_DENSE_COMPLEX_DOUBLE); \
	}                                                 \
	static int x##_c(heddle_context *c)               \
	{                                                 \
		return x(c, HEDDLE_DENSE_COMPLEX_SINGLE); \
	}
#define HD_OCL_FOUR(x)                     \
	{                                  \
		x##_d, x##_s, x##_z, x##_c \
	}

#endif
