/* gemm, syrk, herk, symm, hemm, trsm and trmm on OpenCL devices: their data and values are those of
 * codelets/products_template.h. */
#include <dense/opencl/codelets.h>
#include <dense/opencl/enqueue.h>

static const heddle_dense_scalar one = {1, 0};

static int op_a(enum heddle_dense_trans trans)
{
	return trans == HEDDLE_DENSE_NO_TRANS ? 0 : HD_OCL_TRANS_A | (trans == HEDDLE_DENSE_TRANS ? 0 : HD_OCL_CONJ_A);
}

static int op_b(enum heddle_dense_trans trans)
{
	return op_a(trans) * (HD_OCL_TRANS_B / HD_OCL_TRANS_A);
}

static int triangle_of_a(enum heddle_dense_uplo uplo)
{
	return uplo == HEDDLE_DENSE_UPPER ? HD_OCL_A_UPPER : HD_OCL_A_LOWER;
}

/* A task may have several tiles of C, and as many tiles of A. */
static int gemm(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_gemm_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	size_t n = heddle_context_n_data(c) / 2;
	struct hd_ocl_call x = {.flags = op_a(v->trans_a) | op_b(v->trans_b), .alpha = v->alpha, .beta = v->beta};
	x.b = hd_ocl_tile(&w, 2 * n);
	for (size_t t = 0; t < n; t++) {
		x.a = hd_ocl_tile(&w, n + t);
		x.k = v->trans_a ? x.a.m : x.a.n;
		x.c = hd_ocl_part(hd_ocl_tile(&w, t), 0, 0, v->trans_a ? x.a.n : x.a.m, v->trans_b ? x.b.m : x.b.n);
		hd_ocl_product(&w, &x);
	}
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(gemm)

static int rank(heddle_context *c, enum heddle_dense_precision precision, int hermitian)
{
	const struct hd_dense_syrk_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 1);
	int n = v->trans ? a.n : a.m;
	struct hd_ocl_call x = {.alpha = v->alpha, .beta = v->beta, .a = a, .b = a, .k = v->trans ? a.m : a.n};
	x.c = hd_ocl_part(hd_ocl_tile(&w, 0), 0, 0, n, n);
	x.flags = v->uplo == HEDDLE_DENSE_UPPER ? HD_OCL_UPPER : HD_OCL_LOWER;
	x.flags |= v->trans ? HD_OCL_TRANS_A : HD_OCL_TRANS_B;
	if (hermitian) {
		x.flags |= HD_OCL_REAL_DIAGONAL | (v->trans ? HD_OCL_CONJ_A : HD_OCL_CONJ_B);
		x.alpha.im = x.beta.im = 0;
	}
	hd_ocl_product(&w, &x);
	return hd_ocl_end(&w);
}

static int syrk(heddle_context *c, enum heddle_dense_precision precision)
{
	return rank(c, precision, 0);
}
HD_OCL_KERNELS(syrk)

static int herk(heddle_context *c, enum heddle_dense_precision precision)
{
	return rank(c, precision, 1);
}
HD_OCL_KERNELS(herk)

/* First copies A to a full matrix. */
static int symmetric(heddle_context *c, enum heddle_dense_precision precision, int hermitian)
{
	const struct hd_dense_symm_values *v = heddle_value_ptr(c, 0);
	int left = v->side == HEDDLE_DENSE_LEFT;
	size_t order = heddle_extent(c, 0, left ? 0 : 1);
	struct hd_ocl w = hd_ocl_begin(c, precision, order * order, 0);
	struct hd_ocl_matrix full = hd_ocl_scratch(&w, (int)order, (int)order), b = hd_ocl_tile(&w, 2);
	int flags = triangle_of_a(v->uplo) | HD_OCL_A_MIRRORED | (hermitian ? HD_OCL_A_HERMITIAN : 0);
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = flags, .alpha = one, .a = hd_ocl_tile(&w, 1), .c = full});
	hd_ocl_product(&w, &(struct hd_ocl_call){.alpha = v->alpha,
	                                         .beta = v->beta,
	                                         .a = left ? full : b,
	                                         .b = left ? b : full,
	                                         .c = hd_ocl_tile(&w, 0),
	                                         .k = (int)order});
	return hd_ocl_end(&w);
}

static int symm(heddle_context *c, enum heddle_dense_precision precision)
{
	return symmetric(c, precision, 0);
}
HD_OCL_KERNELS(symm)

static int hemm(heddle_context *c, enum heddle_dense_precision precision)
{
	return symmetric(c, precision, 1);
}
HD_OCL_KERNELS(hemm)

static int trsm(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 1), b = hd_ocl_tile(&w, 0);
	/* in least squares, the tile of B may have more rows than the system; in LU, the tile of A more columns or
	 * rows */
	int left = v->side == HEDDLE_DENSE_LEFT, order = !left ? b.n : a.n < b.m ? a.n : b.m;
	if (left)
		b.m = order;
	struct hd_ocl_call x = {.alpha = v->alpha, .a = hd_ocl_part(a, 0, 0, order, order), .c = b};
	x.flags = op_a(v->trans) | triangle_of_a(v->uplo) | (left ? 0 : HD_OCL_RIGHT) |
	          (v->diag == HEDDLE_DENSE_UNIT ? HD_OCL_A_UNIT : 0);
	hd_ocl_solve(&w, &x);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(trsm)

/* Multiplies a copy of B by a full copy of A. */
static int trmm(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_triangle_values *v = heddle_value_ptr(c, 0);
	size_t m = heddle_extent(c, 0, 0), n = heddle_extent(c, 0, 1);
	int left = v->side == HEDDLE_DENSE_LEFT;
	size_t order = left ? m : n;
	struct hd_ocl w = hd_ocl_begin(c, precision, order * order + m * n, 0);
	struct hd_ocl_matrix full = hd_ocl_scratch(&w, (int)order, (int)order);
	struct hd_ocl_matrix copy = hd_ocl_scratch(&w, (int)m, (int)n), b = hd_ocl_tile(&w, 0);
	int flags = triangle_of_a(v->uplo) | (v->diag == HEDDLE_DENSE_UNIT ? HD_OCL_A_UNIT : 0);
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = flags, .alpha = one, .a = hd_ocl_tile(&w, 1), .c = full});
	hd_ocl_combine(&w, &(struct hd_ocl_call){.alpha = one, .a = b, .c = copy});
	hd_ocl_product(&w, &(struct hd_ocl_call){.flags = left ? op_a(v->trans) : op_b(v->trans),
	                                         .alpha = v->alpha,
	                                         .a = left ? full : copy,
	                                         .b = left ? copy : full,
	                                         .c = b,
	                                         .k = (int)order});
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(trmm)

const struct hd_ocl_codelet hd_ocl_products[] = {
    {HD_DENSE_GEMM, HD_OCL_FOUR(gemm), 0}, {HD_DENSE_SYRK, HD_OCL_FOUR(syrk), 0},
    {HD_DENSE_HERK, HD_OCL_FOUR(herk), 0}, {HD_DENSE_SYMM, HD_OCL_FOUR(symm), 0},
    {HD_DENSE_HEMM, HD_OCL_FOUR(hemm), 0}, {HD_DENSE_TRSM, HD_OCL_FOUR(trsm), 0},
    {HD_DENSE_TRMM, HD_OCL_FOUR(trmm), 0}, {.kernels = {NULL}},
};
