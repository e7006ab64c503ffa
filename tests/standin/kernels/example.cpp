/* Kernels of test_standin.c. */
#include "cuda_on_host.h"

extern "C" {

__global__ void standin_test_add(int n, const double *x, double *y)
{
	int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	int i = block * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += x[i];
}

/* Sums of blocks, as trees in shared memory: one barrier per level. */
__global__ void standin_test_sum(int n, const double *x, double *sums)
{
	__shared__ double tree[256];
	unsigned me = threadIdx.x, i = blockIdx.x * blockDim.x + me;
	tree[me] = i < (unsigned)n ? x[i] : 0;
	__syncthreads();
	for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
		if (me < half)
			tree[me] += tree[me + half];
		__syncthreads();
	}
	if (me == 0)
		sums[blockIdx.x] = tree[0];
}

/* The sum of all elements: by shuffles in each warp, then in dynamic shared memory, then by one atomic operation per
 * block. */
__global__ void standin_test_warp_sum(int n, const double *x, double *sum)
{
	CUDA_DYNAMIC_SHARED(double, of_warps);
	unsigned me = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
	unsigned i = blockIdx.x * threads + me;
	double mine = i < (unsigned)n ? x[i] : 0;
	for (int by = warpSize / 2; by > 0; by /= 2)
		mine += __shfl_down_sync(~0u, mine, by);
	if (me % warpSize == 0)
		of_warps[me / warpSize] = mine;
	__syncthreads();
	if (me > 0)
		return;
	for (unsigned w = 1; w < threads / warpSize; w++)
		mine += of_warps[w];
	atomicAdd(sum, mine);
}

/* What each lane gets from others: up, down, xor, one lane, within halves, and a vote. */
__global__ void standin_test_lanes(int *out)
{
	int lane = threadIdx.x, *mine = out + 8 * lane;
	mine[0] = __shfl_up_sync(~0u, lane, 3);
	mine[1] = __shfl_down_sync(~0u, lane, 3);
	mine[2] = __shfl_xor_sync(~0u, lane, 5);
	mine[3] = __shfl_sync(~0u, lane, 7);
	mine[4] = __shfl_sync(~0u, lane, 2, 16);
	mine[5] = (int)__ballot_sync(~0u, lane % 3 == 0);
	/* both halves exchange on their own, in different branches */
	if (lane < 16)
		mine[6] = __shfl_sync(0xffffu, lane * 10, 4);
	else
		mine[6] = __shfl_xor_sync(0xffff0000u, lane * 100, 1);
	mine[7] = __syncthreads_count(lane % 2);
}

/* As much shared memory as a kernel may declare: reverses n numbers. */
__global__ void standin_test_reverse(int n, double *x)
{
	__shared__ double all[6144];
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		all[i] = x[i];
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		x[i] = all[n - 1 - i];
}

struct standin_test_matrix {
	double *a;
	int n, ld;
};

/* LU without pivoting of a tile, column by column: two barriers each. */
__global__ void standin_test_lu(struct standin_test_matrix m)
{
	double *a = m.a;
	for (int k = 0; k < m.n; k++) {
		for (int i = k + 1 + (int)threadIdx.x; i < m.n; i += blockDim.x)
			a[i + k * m.ld] /= a[k + k * m.ld];
		__syncthreads();
		int rows = m.n - k - 1;
		for (int e = threadIdx.x; e < rows * rows; e += blockDim.x) {
			int i = k + 1 + e % rows, j = k + 1 + e / rows;
			a[i + j * m.ld] -= a[i + k * m.ld] * a[k + j * m.ld];
		}
		__syncthreads();
	}
}

/* --- Wrong ones --------------------------------------------------------------------------------------------------- */

__global__ void standin_test_early_return(int n)
{
	if ((int)threadIdx.x >= n)
		return;
	__syncthreads();
}

__global__ void standin_test_two_barriers(int n)
{
	if ((int)threadIdx.x >= n)
		__syncthreads();
	else
		__syncthreads();
}

__global__ void standin_test_half_a_warp(int n)
{
	if ((int)threadIdx.x < n)
		__syncwarp();
}

__global__ void standin_test_foreign_mask(unsigned mask)
{
	__syncwarp(mask);
}
}

template <typename T> __global__ void fill(T *x, T value)
{
	x[threadIdx.x] = value;
}

STANDIN_KERNEL(standin_test_add)
STANDIN_KERNEL(standin_test_sum)
STANDIN_KERNEL(standin_test_warp_sum)
STANDIN_KERNEL(standin_test_lanes)
STANDIN_KERNEL(standin_test_lu)
STANDIN_KERNEL(standin_test_reverse)
STANDIN_KERNEL(standin_test_early_return)
STANDIN_KERNEL(standin_test_two_barriers)
STANDIN_KERNEL(standin_test_half_a_warp)
STANDIN_KERNEL(standin_test_foreign_mask)
STANDIN_KERNEL_AS("standin_test_fill", fill<float>)
