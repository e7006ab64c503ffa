/* One precision of cublas.c. */

#if LETTER == 'd'
#define CUELEMENT double
#define NAME(x) cublasD##x##_v2
#elif LETTER == 's'
#define CUELEMENT float
#define NAME(x) cublasS##x##_v2
#elif LETTER == 'z'
#define CUELEMENT cuDoubleComplex
#define NAME(x) cublasZ##x##_v2
#else
#define CUELEMENT cuFloatComplex
#define NAME(x) cublasC##x##_v2
#endif
#define TEXT_OF(x) #x
#define STEP(name) standin_step(TEXT_OF(name))

struct P(job) {
	struct job job;
	enum kind kind;
	struct flags f;
	int m, n, k, lda, ldb, ldc;
	element alpha, beta;
	const element *a, *b;
	element *c;
};

/* The matrices of a job, in main memory. */
static void P(work)(void *arg)
{
	struct P(job) *j = arg;
	const element *a = j->k == 0 ? j->a : standin_memory(j->a), *b = j->b ? standin_memory(j->b) : NULL;
	element *c = standin_memory(j->c);
	if (j->kind == GEMM)
		BLAS(gemm)
	(CblasColMajor, j->f.trans, j->f.trans_b, j->m, j->n, j->k, SCALAR(j->alpha), a, j->lda, j->k == 0 ? j->b : b,
	 j->ldb, SCALAR(j->beta), c, j->ldc);
	else if (j->kind == SYRK) BLAS(syrk)(CblasColMajor, j->f.uplo, j->f.trans, j->n, j->k, SCALAR(j->alpha), a,
	                                     j->lda, SCALAR(j->beta), c, j->ldc);
	else if (j->kind == HERK) HERMITIAN(rk)(CblasColMajor, j->f.uplo, j->f.trans, j->n, j->k, REAL(j->alpha), a,
	                                        j->lda, REAL(j->beta), c, j->ldc);
	else if (j->kind == SYMM) BLAS(symm)(CblasColMajor, j->f.side, j->f.uplo, j->m, j->n, SCALAR(j->alpha), a,
	                                     j->lda, b, j->ldb, SCALAR(j->beta), c, j->ldc);
	else if (j->kind == HEMM) HERMITIAN(mm)(CblasColMajor, j->f.side, j->f.uplo, j->m, j->n, SCALAR(j->alpha), a,
	                                        j->lda, b, j->ldb, SCALAR(j->beta), c, j->ldc);
	else if (j->kind == TRSM) BLAS(trsm)(CblasColMajor, j->f.side, j->f.uplo, j->f.trans, j->f.diag, j->m, j->n,
	                                     SCALAR(j->alpha), a, j->lda, c, j->ldc);
	else BLAS(trmm)(CblasColMajor, j->f.side, j->f.uplo, j->f.trans, j->f.diag, j->m, j->n, SCALAR(j->alpha), a,
	                j->lda, c, j->ldc);
}

static cublasStatus_t P(put)(cublasHandle_t handle, int code, int valid, const struct P(job) * j)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (code)
		return (cublasStatus_t)code;
	if (!valid || !matrix_is_there(j->c, j->m, j->n, j->ldc, sizeof(element)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (j->m == 0 || j->n == 0)
		return CUBLAS_STATUS_SUCCESS;
	return job_put((struct handle *)(void *)handle, P(work), j, sizeof *j) ? CUBLAS_STATUS_EXECUTION_FAILED
	                                                                       : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t NAME(gemm)(cublasHandle_t handle, cublasOperation_t trans_a, cublasOperation_t trans_b, int m, int n,
                          int k, const CUELEMENT *alpha, const CUELEMENT *a, int lda, const CUELEMENT *b, int ldb,
                          const CUELEMENT *beta, CUELEMENT *c, int ldc)
{
	struct P(job) j = {.kind = GEMM, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc};
	j.alpha = *(const element *)alpha, j.beta = *(const element *)beta;
	j.a = (const element *)a, j.b = (const element *)b, j.c = (element *)c;
	int valid = trans_of(trans_a, &j.f.trans) && trans_of(trans_b, &j.f.trans_b) && k >= 0;
	int plain_a = trans_a == CUBLAS_OP_N, plain_b = trans_b == CUBLAS_OP_N;
	valid = valid && matrix_is_there(a, plain_a ? m : k, plain_a ? k : m, lda, sizeof *a) &&
	        matrix_is_there(b, plain_b ? k : n, plain_b ? n : k, ldb, sizeof *b);
	return P(put)(handle, STEP(NAME(gemm)), valid, &j);
}

/* syrk and herk. */
static cublasStatus_t P(rank)(cublasHandle_t handle, int code, cublasOperation_t trans, struct P(job) * j)
{
	int plain = trans == CUBLAS_OP_N, valid = trans_of(trans, &j->f.trans) && j->k >= 0;
	if (COMPLEX && trans == (j->kind == HERK ? CUBLAS_OP_T : CUBLAS_OP_C))
		valid = 0;
	j->m = j->n;
	valid = valid && matrix_is_there(j->a, plain ? j->n : j->k, plain ? j->k : j->n, j->lda, sizeof(element));
	return P(put)(handle, code, valid, j);
}

cublasStatus_t NAME(syrk)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                          const CUELEMENT *alpha, const CUELEMENT *a, int lda, const CUELEMENT *beta, CUELEMENT *c,
                          int ldc)
{
	struct P(job) j = {.kind = SYRK, .n = n, .k = k, .lda = lda, .ldc = ldc};
	j.alpha = *(const element *)alpha, j.beta = *(const element *)beta;
	j.a = (const element *)a, j.c = (element *)c;
	int code = STEP(NAME(syrk));
	return uplo_of(uplo, &j.f.uplo) ? P(rank)(handle, code, trans, &j) : CUBLAS_STATUS_INVALID_VALUE;
}

/* symm and hemm. */
static cublasStatus_t P(symmetric)(cublasHandle_t handle, int code, int valid, struct P(job) * j)
{
	int order = j->f.side == CblasLeft ? j->m : j->n;
	valid = valid && matrix_is_there(j->a, order, order, j->lda, sizeof(element)) &&
	        matrix_is_there(j->b, j->m, j->n, j->ldb, sizeof(element));
	return P(put)(handle, code, valid, j);
}

cublasStatus_t NAME(symm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                          const CUELEMENT *alpha, const CUELEMENT *a, int lda, const CUELEMENT *b, int ldb,
                          const CUELEMENT *beta, CUELEMENT *c, int ldc)
{
	struct P(job) j = {.kind = SYMM, .m = m, .n = n, .k = 1, .lda = lda, .ldb = ldb, .ldc = ldc};
	j.alpha = *(const element *)alpha, j.beta = *(const element *)beta;
	j.a = (const element *)a, j.b = (const element *)b, j.c = (element *)c;
	int valid = side_of(side, &j.f.side) && uplo_of(uplo, &j.f.uplo);
	return P(symmetric)(handle, STEP(NAME(symm)), valid, &j);
}

#if COMPLEX
cublasStatus_t NAME(herk)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,
                          const real *alpha, const CUELEMENT *a, int lda, const real *beta, CUELEMENT *c, int ldc)
{
	struct P(job) j = {.kind = HERK, .n = n, .k = k, .lda = lda, .ldc = ldc, .alpha = *alpha, .beta = *beta};
	j.a = (const element *)a, j.c = (element *)c;
	int code = STEP(NAME(herk));
	return uplo_of(uplo, &j.f.uplo) ? P(rank)(handle, code, trans, &j) : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t NAME(hemm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,
                          const CUELEMENT *alpha, const CUELEMENT *a, int lda, const CUELEMENT *b, int ldb,
                          const CUELEMENT *beta, CUELEMENT *c, int ldc)
{
	struct P(job) j = {.kind = HEMM, .m = m, .n = n, .k = 1, .lda = lda, .ldb = ldb, .ldc = ldc};
	j.alpha = *(const element *)alpha, j.beta = *(const element *)beta;
	j.a = (const element *)a, j.b = (const element *)b, j.c = (element *)c;
	int valid = side_of(side, &j.f.side) && uplo_of(uplo, &j.f.uplo);
	return P(symmetric)(handle, STEP(NAME(hemm)), valid, &j);
}
#endif

/* trsm and trmm. */
static cublasStatus_t P(triangular)(cublasHandle_t handle, int code, int valid, struct P(job) * j)
{
	int order = j->f.side == CblasLeft ? j->m : j->n;
	return P(put)(handle, code, valid && matrix_is_there(j->a, order, order, j->lda, sizeof(element)), j);
}

cublasStatus_t NAME(trsm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int m, int n, const CUELEMENT *alpha, const CUELEMENT *a, int lda,
                          CUELEMENT *b, int ldb)
{
	struct P(job) j = {.kind = TRSM, .m = m, .n = n, .lda = lda, .ldc = ldb, .k = 1};
	j.alpha = *(const element *)alpha;
	j.a = (const element *)a, j.c = (element *)b;
	int valid = side_of(side, &j.f.side) && uplo_of(uplo, &j.f.uplo) && trans_of(trans, &j.f.trans) &&
	            diag_of(diag, &j.f.diag);
	return P(triangular)(handle, STEP(NAME(trsm)), valid, &j);
}

/* Only in place: C is B. */
cublasStatus_t NAME(trmm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                          cublasDiagType_t diag, int m, int n, const CUELEMENT *alpha, const CUELEMENT *a, int lda,
                          const CUELEMENT *b, int ldb, CUELEMENT *c, int ldc)
{
	struct P(job) j = {.kind = TRMM, .m = m, .n = n, .lda = lda, .ldc = ldc, .k = 1};
	j.alpha = *(const element *)alpha;
	j.a = (const element *)a, j.c = (element *)c;
	int valid = side_of(side, &j.f.side) && uplo_of(uplo, &j.f.uplo) && trans_of(trans, &j.f.trans) &&
	            diag_of(diag, &j.f.diag) && b == c && ldb == ldc;
	return P(triangular)(handle, STEP(NAME(trmm)), valid, &j);
}

#undef CUELEMENT
#undef NAME
#undef TEXT_OF
#undef STEP
