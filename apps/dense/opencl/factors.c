/* potrf, trtri, lauum and getrf_nopiv on OpenCL devices: their data and values are those of
 * codelets/cholesky_template.h and codelets/lu_template.h. */
#include <dense/opencl/codelets.h>
#include <dense/opencl/enqueue.h>

static const heddle_dense_scalar one = {1, 0};

static struct hd_dense_verdict judge_potrf(const void *value, const int found[2])
{
	return hd_dense_judge_potrf(value, found[0]);
}

static int potrf(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 1);
	hd_ocl_cholesky(&w, v->uplo == HEDDLE_DENSE_UPPER ? HD_OCL_UPPER : HD_OCL_LOWER, hd_ocl_tile(&w, 0));
	return hd_ocl_end_judged(&w, judge_potrf);
}
HD_OCL_KERNELS(potrf)

static struct hd_dense_verdict judge_trtri(const void *value, const int found[2])
{
	return hd_dense_judge_trtri(value, found[0]);
}

/* Solves A X = I; the triangle of X replaces that of A. */
static int trtri(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, n * n, 1);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 0), inverse = hd_ocl_scratch(&w, (int)n, (int)n);
	int upper = v->uplo == HEDDLE_DENSE_UPPER, unit = v->diag == HEDDLE_DENSE_UNIT;
	hd_ocl_zeros(&w, unit ? hd_ocl_part(a, 0, 0, 0, 0) : a);
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = HD_OCL_A_IDENTITY, .alpha = one, .c = inverse});
	struct hd_ocl_call solve = {.alpha = one, .a = a, .c = inverse};
	solve.flags = (upper ? HD_OCL_A_UPPER : HD_OCL_A_LOWER) | (unit ? HD_OCL_A_UNIT : 0);
	hd_ocl_solve(&w, &solve);
	struct hd_ocl_call copy = {.alpha = one, .a = inverse, .c = a};
	copy.flags = (upper ? HD_OCL_UPPER : HD_OCL_LOWER) | (unit ? HD_OCL_UNIT : 0);
	hd_ocl_combine(&w, &copy);
	return hd_ocl_end_judged(&w, judge_trtri);
}
HD_OCL_KERNELS(trtri)

/* Computes a triangle of the product of L^H (or U) and a copy of L (or U^H) that has zeros in the other triangle. */
static int lauum(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, n * n, 0);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 0), full = hd_ocl_scratch(&w, (int)n, (int)n);
	int upper = v->uplo == HEDDLE_DENSE_UPPER;
	struct hd_ocl_call copy = {.alpha = one, .a = a, .c = full};
	copy.flags = (upper ? HD_OCL_A_UPPER : HD_OCL_A_LOWER) | HD_OCL_A_HERMITIAN;
	hd_ocl_combine(&w, &copy);
	struct hd_ocl_call product = {.alpha = one, .a = full, .b = full, .c = a, .k = (int)n};
	product.flags =
	    upper ? HD_OCL_UPPER | HD_OCL_TRANS_B | HD_OCL_CONJ_B : HD_OCL_LOWER | HD_OCL_TRANS_A | HD_OCL_CONJ_A;
	product.flags |= HD_OCL_REAL_DIAGONAL;
	hd_ocl_product(&w, &product);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(lauum)

static struct hd_dense_verdict judge_lu(const void *value, const int found[2])
{
	return hd_dense_judge_lu(value, found[0], found[1]);
}

static int getrf_nopiv(heddle_context *c, enum heddle_dense_precision precision)
{
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 1);
	hd_ocl_lu(&w, hd_ocl_tile(&w, 0));
	return hd_ocl_end_judged(&w, judge_lu);
}
HD_OCL_KERNELS(getrf_nopiv)

const struct hd_ocl_codelet hd_ocl_factors[] = {
    {HD_DENSE_POTRF, HD_OCL_FOUR(potrf), 0},
    {HD_DENSE_TRTRI, HD_OCL_FOUR(trtri), 0},
    {HD_DENSE_LAUUM, HD_OCL_FOUR(lauum), 0},
    {HD_DENSE_GETRF_NOPIV, HD_OCL_FOUR(getrf_nopiv), 0},
    {.kernels = {NULL}},
};
