/* Which codelets have kernels for OpenCL devices. */
#include <dense/opencl/codelets.h>
#include <dense/opencl/library.h>
#include <dense/opencl/offer.h>

heddle_kernel hd_dense_opencl_kernel(enum hd_dense_op op, int precision, int has_double)
{
	static const struct hd_ocl_codelet *const tables[] = {hd_ocl_products, hd_ocl_factors, hd_ocl_qr,
	                                                      hd_ocl_movements};
	int is_double = precision == HEDDLE_DENSE_DOUBLE || precision == HEDDLE_DENSE_COMPLEX_DOUBLE;
	if (!hd_ocl_load()->has_opencl)
		return NULL;
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct hd_ocl_codelet *row = tables[t]; row->kernels[0]; row++)
			if (row->op == op)
				return has_double || !(is_double || row->needs_double) ? row->kernels[precision] : NULL;
	return NULL;
}
