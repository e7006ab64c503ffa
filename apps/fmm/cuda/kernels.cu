/* The kernels of apps/fmm/opencl/kernels.cl for CUDA devices: its words of OpenCL C in CUDA C++, and the file itself,
 * once for each precision. Kernels are called hd_fmm_d_NAME and hd_fmm_s_NAME. */
#include "../opencl/constants.h"
#include <limits.h>
#include <stddef.h>

#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define GROUP(x, y) __launch_bounds__((x) * (y))
#define FOUR(x, y, z, w) {x, y, z, w}
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) __syncthreads()
#define get_local_id(axis) ((axis) ? threadIdx.y : threadIdx.x)
#define get_group_id(axis) ((axis) ? blockIdx.y : blockIdx.x)
#define get_global_id(axis) \
	(get_group_id(axis) * (size_t)((axis) ? blockDim.y : blockDim.x) + get_local_id(axis))

typedef unsigned hd_fmm_uint;
typedef unsigned long long hd_fmm_ulong;
#define uint hd_fmm_uint
#define ulong hd_fmm_ulong

namespace hd_fmm_double
{
typedef double real;
struct alignas(16) real4 {
	real x, y, z, w;
};
#define NAME(x) hd_fmm_d_##x
#include "../opencl/kernels.cl"
#undef NAME
}

namespace hd_fmm_single
{
typedef float real;
struct alignas(16) real4 {
	real x, y, z, w;
};
#define NAME(x) hd_fmm_s_##x
#include "../opencl/kernels.cl"
#undef NAME
}
