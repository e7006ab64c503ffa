/* Kernels of the tests of CUDA. On a device they are what nvcc makes of this file; in the stand-in (tests/standin), what
 * the host's compiler does. */
#ifndef CUDA_DYNAMIC_SHARED
#define CUDA_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#endif

extern "C" {

__global__ void test_add(long long *x, long long a)
{
	*x += a;
}

/* A = A + a * B for m x n elements of two matrices. */
__global__ void test_matrices(int m, int n, long long a, long long *A, long long lda, const long long *B,
                              long long ldb)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)blockIdx.y;
	if (i < m && j < n)
		A[i + j * lda] += a * B[i + j * ldb];
}

/* *sum = 1 + ... + n, in as much shared memory as that takes. */
__global__ void test_sum(int n, long long *sum)
{
	CUDA_DYNAMIC_SHARED(long long, terms);
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
		terms[i] = i + 1;
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	*sum = 0;
	for (int i = 0; i < n; i++)
		*sum += terms[i];
}
}
