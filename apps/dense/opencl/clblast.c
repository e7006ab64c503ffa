/* Products by CLBlast. */
#include <dense/opencl/clblast.h>
#include <dense/opencl/library.h>

#if HEDDLE_HAVE_CLBLAST

/* For fewer rows, columns or terms, CLBlast's copies to padded matrices take longer than the product. */
enum { LEAST = 128 };

/* A product of A with itself, of which one triangle is computed. */
static int is_rank(const struct hd_ocl_call *x)
{
	return x->flags & (HD_OCL_LOWER | HD_OCL_UPPER);
}

int hd_clblast_can(const struct hd_ocl_call *x)
{
	if (x->c.m < LEAST || x->c.n < LEAST || x->k < LEAST || hd_dense_is(x->alpha, 0))
		return 0;
	return !is_rank(x) || (x->a.memory == x->b.memory && x->a.at == x->b.at);
}

static CLBlastTranspose trans_of(int flags, int trans, int conj)
{
	if (!(flags & trans))
		return CLBlastTransposeNo;
	return flags & conj ? CLBlastTransposeConjugate : CLBlastTransposeYes;
}

/* Arguments of products: a scalar is a number, or a structure of two. */
#define MATRIX(x) (x).memory, (size_t)(x).at, (size_t)(x).ld
#define ARGUMENTS_GEMM(alpha, beta)                                                                                 \
	CLBlastLayoutColMajor, trans_of(x->flags, HD_OCL_TRANS_A, HD_OCL_CONJ_A),                                   \
	    trans_of(x->flags, HD_OCL_TRANS_B, HD_OCL_CONJ_B), (size_t)x->c.m, (size_t)x->c.n, (size_t)x->k, alpha, \
	    MATRIX(x->a), MATRIX(x->b), beta, MATRIX(x->c), &queue, NULL
#define ARGUMENTS_RANK(alpha, beta)                                                                               \
	CLBlastLayoutColMajor, x->flags &HD_OCL_LOWER ? CLBlastTriangleLower : CLBlastTriangleUpper,              \
	    trans_of(x->flags, HD_OCL_TRANS_A, HD_OCL_CONJ_A), (size_t)x->c.n, (size_t)x->k, alpha, MATRIX(x->a), \
	    beta, MATRIX(x->c), &queue, NULL
#define PAIR(type, element, v) ((type){{(element)(v).re, (element)(v).im}})

static CLBlastStatusCode gemm(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	const struct hd_ocl_library *l = hd_ocl_load();
	cl_command_queue queue = heddle_stream(w->c);
	switch (w->precision) {
	case HEDDLE_DENSE_DOUBLE: return l->CLBlastDgemm(ARGUMENTS_GEMM(x->alpha.re, x->beta.re));
	case HEDDLE_DENSE_SINGLE: return l->CLBlastSgemm(ARGUMENTS_GEMM((float)x->alpha.re, (float)x->beta.re));
	case HEDDLE_DENSE_COMPLEX_DOUBLE:
		return l->CLBlastZgemm(
		    ARGUMENTS_GEMM(PAIR(cl_double2, double, x->alpha), PAIR(cl_double2, double, x->beta)));
	default:
		return l->CLBlastCgemm(
		    ARGUMENTS_GEMM(PAIR(cl_float2, float, x->alpha), PAIR(cl_float2, float, x->beta)));
	}
}

static CLBlastStatusCode rank(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	const struct hd_ocl_library *l = hd_ocl_load();
	cl_command_queue queue = heddle_stream(w->c);
	int hermitian = x->flags & HD_OCL_REAL_DIAGONAL;
	switch (w->precision) {
	case HEDDLE_DENSE_DOUBLE: return l->CLBlastDsyrk(ARGUMENTS_RANK(x->alpha.re, x->beta.re));
	case HEDDLE_DENSE_SINGLE: return l->CLBlastSsyrk(ARGUMENTS_RANK((float)x->alpha.re, (float)x->beta.re));
	case HEDDLE_DENSE_COMPLEX_DOUBLE:
		if (hermitian)
			return l->CLBlastZherk(ARGUMENTS_RANK(x->alpha.re, x->beta.re));
		return l->CLBlastZsyrk(
		    ARGUMENTS_RANK(PAIR(cl_double2, double, x->alpha), PAIR(cl_double2, double, x->beta)));
	default:
		if (hermitian)
			return l->CLBlastCherk(ARGUMENTS_RANK((float)x->alpha.re, (float)x->beta.re));
		return l->CLBlastCsyrk(
		    ARGUMENTS_RANK(PAIR(cl_float2, float, x->alpha), PAIR(cl_float2, float, x->beta)));
	}
}

int hd_clblast_product(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	return heddle_opencl_failed(w->c, is_rank(x) ? rank(w, x) : gemm(w, x),
	                            is_rank(x) ? "CLBlast's syrk" : "CLBlast's gemm");
}

void hd_clblast_clear(void)
{
	hd_ocl_load()->CLBlastClearCache();
}

#else

int hd_clblast_can(const struct hd_ocl_call *x)
{
	(void)x;
	return 0;
}

int hd_clblast_product(struct hd_ocl *w, const struct hd_ocl_call *x)
{
	(void)x;
	return heddle_fail(w->c, HEDDLE_E_UNSUPPORTED, "built without CLBlast");
}

void hd_clblast_clear(void) {}

#endif
