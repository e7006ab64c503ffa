/* One precision of cholesky.c. The codelets' descriptions are those of dense/codelets/cholesky_template.h. */
#include <dense/cuda/precision.h>

static int P(potrf_cuda)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	cublasFillMode_t uplo = hd_dense_cuda_uplo(hd_dense_cblas_uplo(v->uplo));
	struct P(view) a = P(cuda_tile)(c, 0);
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_solver_stream(c, &failure);
	size_t bytes, host_bytes;
	if (!s || a.n == 0)
		return failure;
	int status = hd_dense_cuda_solver_failed(c,
	                                         hd_dense_cuda.cusolverDnXpotrf_bufferSize(s->solver, s->params, uplo,
	                                                                                   a.n, CUTYPE, a.a, a.ld,
	                                                                                   CUTYPE, &bytes, &host_bytes),
	                                         "cusolverDnXpotrf_bufferSize");
	if (status)
		return status;
	void *host = hd_dense_cuda_host(c, s, host_bytes, &status);
	char *found = status ? NULL : hd_dense_cuda_workspace(c, bytes);
	if (!found)
		return -1;
	status = hd_dense_cuda_solver_failed(
	    c,
	    hd_dense_cuda.cusolverDnXpotrf(s->solver, s->params, uplo, a.n, CUTYPE, a.a, a.ld, CUTYPE,
	                                   found + HD_CUDA_FOUND_BYTES, bytes, host, host_bytes,
	                                   (int *)(void *)(found + HD_CUDA_INFO_AT)),
	    "cusolverDnXpotrf");
	if (status == 0)
		status = P(cuda_find_zero)(c, a, HD_CUDA_NAN | HD_CUDA_INFO, found);
	return status ? status : hd_dense_cuda_conclude(c, found, judge_potrf, 0);
}

/* A contiguous n x n matrix in the workspace. */
static struct P(view) P(square)(char *workspace, int n)
{
	return P(view)((element *)(void *)(workspace + HD_CUDA_FOUND_BYTES), n, n, n);
}

/* Inverts A as the solution of A X = 1. */
static int P(trtri_cuda)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct P(view) a = P(cuda_tile)(c, 0);
	int n = a.n, unit = v->diag == HEDDLE_DENSE_UNIT, status = 0;
	char *found = hd_dense_cuda_workspace(c, (size_t)n * (size_t)n * sizeof(element));
	if (!found)
		return -1;
	struct P(view) x = P(square)(found, n);
	struct hd_dense_cuda_part none = {.m = n, .n = n, .which = HD_CUDA_NONE};
	struct hd_dense_cuda_part triangle = {.m = n, .n = n, .which = (int)v->uplo, .unit = unit};
	struct hd_triangle how = {CblasLeft, hd_dense_cblas_uplo(v->uplo), CblasNoTrans, hd_dense_cblas_diag(v->diag)};
	if (!unit)
		status = P(cuda_find_zero)(c, a, 0, found);
	if (status == 0)
		status = P(cuda_combine)(c, &none, HD_CUDA_CLEAR | HD_CUDA_DIAGONAL, (const element[]){1, 0}, x, x);
	if (status == 0)
		status = P(cuda_trsm)(c, how, 1, a, x);
	if (status == 0)
		status = P(cuda_combine)(c, &triangle, 0, (const element[]){1, 0}, x, a);
	return status || unit ? status : hd_dense_cuda_conclude(c, found, judge_trtri, 0);
}

/* Multiplies a full copy of the triangle by the triangle. */
static int P(lauum_cuda)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct P(view) a = P(cuda_tile)(c, 0);
	int n = a.n, lower = v->uplo == HEDDLE_DENSE_LOWER;
	char *workspace = hd_dense_cuda_workspace(c, (size_t)n * (size_t)n * sizeof(element));
	if (!workspace)
		return -1;
	struct P(view) full = P(square)(workspace, n);
	struct hd_dense_cuda_part triangle = {.m = n, .n = n, .which = (int)v->uplo};
	int status = P(cuda_combine)(c, &triangle, HD_CUDA_CLEAR | HD_CUDA_REAL, (const element[]){1, 0}, a, full);
	return status ? status
	              : P(cuda_herk)(c, hd_dense_cblas_uplo(v->uplo), lower ? CblasConjTrans : CblasNoTrans,
	                             (const real[]){1, 0}, full, a);
}

#include <dense/cuda/precision_end.h>
