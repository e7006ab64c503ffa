/* Error messages for calls of cuBLAS and cuSOLVER: the library's own words, and a remedy. cuSOLVER has no function for
 * its words, so they are here. Its states are given by their numbers, because older headers lack some of the names. */
#include <dense/cuda/cuda.h>

static const char SAY_NO_MEMORY[] = "; the device's memory is full: limit what Heddle takes there (the setting "
                                    "cuda_memory), or end other programs that use it",
                  SAY_NOT_READY[] = "; the library could not be made ready on this device: its memory may be full (the "
                                    "setting cuda_memory), or the driver too old for the library",
                  SAY_ARCHITECTURE[] = "; this version of the library has no code for this device: install one that "
                                       "has, or use the other devices only (CUDA_VISIBLE_DEVICES)",
                  SAY_EXECUTION[] = "; a kernel has a fault, or the device: compute-sanitizer tells where",
                  SAY_LICENSE[] = "; the library has no licence for this device";

int hd_dense_cuda_blas_failed(heddle_context *c, cublasStatus_t status, const char *call)
{
	const char *remedy = "";
	if (status == CUBLAS_STATUS_SUCCESS)
		return 0;
	switch ((int)status) {
	case CUBLAS_STATUS_NOT_INITIALIZED: remedy = SAY_NOT_READY; break;
	case CUBLAS_STATUS_ALLOC_FAILED: remedy = SAY_NO_MEMORY; break;
	case CUBLAS_STATUS_ARCH_MISMATCH: remedy = SAY_ARCHITECTURE; break;
	case CUBLAS_STATUS_EXECUTION_FAILED: remedy = SAY_EXECUTION; break;
	case CUBLAS_STATUS_LICENSE_ERROR: remedy = SAY_LICENSE; break;
	default: break;
	}
	const char *words = hd_dense_cuda.cublasGetStatusString(status);
	return heddle_fail(c, status == CUBLAS_STATUS_ALLOC_FAILED ? HEDDLE_E_MEMORY : HEDDLE_E_KERNEL, "%s: %s (%d)%s",
	                   call, words ? words : "an error that cuBLAS does not name", (int)status, remedy);
}

/* A state of cuSOLVER. */
struct state {
	int number;
	const char *name, *remedy;
};

static const struct state *find_state(cusolverStatus_t status)
{
	static const struct state states[] = {
	    {1, "NOT_INITIALIZED", SAY_NOT_READY},
	    {2, "ALLOC_FAILED", SAY_NO_MEMORY},
	    {3, "INVALID_VALUE", ""},
	    {4, "ARCH_MISMATCH", SAY_ARCHITECTURE},
	    {5, "MAPPING_ERROR", ""},
	    {6, "EXECUTION_FAILED", SAY_EXECUTION},
	    {7, "INTERNAL_ERROR", ""},
	    {8, "MATRIX_TYPE_NOT_SUPPORTED", ""},
	    {9, "NOT_SUPPORTED", ""},
	    {10, "ZERO_PIVOT", ""},
	    {11, "INVALID_LICENSE", SAY_LICENSE},
	    {12, "IRS_PARAMS_NOT_INITIALIZED", ""},
	    {13, "IRS_PARAMS_INVALID", ""},
	    {14, "IRS_PARAMS_INVALID_PREC", ""},
	    {15, "IRS_PARAMS_INVALID_REFINE", ""},
	    {16, "IRS_PARAMS_INVALID_MAXITER", ""},
	    {20, "IRS_INTERNAL_ERROR", ""},
	    {21, "IRS_NOT_SUPPORTED", ""},
	    {22, "IRS_OUT_OF_RANGE", ""},
	    {23, "IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES", ""},
	    {25, "IRS_INFOS_NOT_INITIALIZED", ""},
	    {26, "IRS_INFOS_NOT_DESTROYED", ""},
	    {30, "IRS_MATRIX_SINGULAR", ""},
	    {31, "INVALID_WORKSPACE", ""},
	};
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (states[i].number == (int)status)
			return &states[i];
	return NULL;
}

int hd_dense_cuda_solver_failed(heddle_context *c, cusolverStatus_t status, const char *call)
{
	if (status == CUSOLVER_STATUS_SUCCESS)
		return 0;
	const struct state *s = find_state(status);
	if (!s)
		return heddle_fail(c, HEDDLE_E_KERNEL, "%s: a status of cuSOLVER that it does not document (%d)", call,
		                   (int)status);
	return heddle_fail(c, status == CUSOLVER_STATUS_ALLOC_FAILED ? HEDDLE_E_MEMORY : HEDDLE_E_KERNEL,
	                   "%s: CUSOLVER_STATUS_%s (%d)%s", call, s->name, (int)status, s->remedy);
}
