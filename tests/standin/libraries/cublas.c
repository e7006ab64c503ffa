/* A stand-in for cuBLAS, on the stand-in for NVIDIA's driver: OpenBLAS's functions, on the stream of the handle. It has
 * what Heddle calls, and refuses arguments as cuBLAS does, and matrices that are not in a device's memory. */
#include <cblas.h>
#include <cublas_v2.h>
#include "jobs.h"

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	int code = standin_step("cublasCreate_v2");
	if (code)
		return (cublasStatus_t)code;
	struct handle *made = calloc(1, sizeof *made);
	*handle = (cublasHandle_t)(void *)made;
	return made ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle_free((struct handle *)(void *)handle);
	return (cublasStatus_t)standin_step("cublasDestroy_v2");
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
	int code = standin_step("cublasSetStream_v2");
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (code == 0)
		((struct handle *)(void *)handle)->stream = stream;
	return (cublasStatus_t)code;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
	if (standin_step("cublasGetStatusString"))
		return NULL;
	switch ((int)status) {
	case CUBLAS_STATUS_NOT_INITIALIZED: return "the cuBLAS library was not initialized";
	case CUBLAS_STATUS_INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
	default: return "the stand-in of cuBLAS was told to fail";
	}
}

enum kind { GEMM, SYRK, HERK, SYMM, HEMM, TRSM, TRMM };

/* How a function is called, in CBLAS's words. */
struct flags {
	CBLAS_SIDE side;
	CBLAS_UPLO uplo;
	CBLAS_TRANSPOSE trans, trans_b;
	CBLAS_DIAG diag;
};

static int trans_of(cublasOperation_t trans, CBLAS_TRANSPOSE *out)
{
	*out = trans == CUBLAS_OP_N ? CblasNoTrans : trans == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
	return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C;
}

static int uplo_of(cublasFillMode_t uplo, CBLAS_UPLO *out)
{
	*out = uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
	return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER;
}

static int side_of(cublasSideMode_t side, CBLAS_SIDE *out)
{
	*out = side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
	return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT;
}

static int diag_of(cublasDiagType_t diag, CBLAS_DIAG *out)
{
	*out = diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
	return diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT;
}

#define HD_TEMPLATE <standin/libraries/cublas_template.h>
#include <dense/kernels/precisions.h>
