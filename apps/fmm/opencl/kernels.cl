/* The near field and translations in OpenCL C 1.2, for one precision: the option DOUBLE, or not. The files beside this
 * one put the kernels on streams; apps/fmm/tasks/near_list.c and far_list.c write the lists. What constants.h defines
 * are options, too. apps/fmm/cuda/kernels.cu compiles this file for CUDA devices, once for each precision. */

#ifdef __OPENCL_VERSION__
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
#define NAME(x) x
#define FOUR(x, y, z, w) (real4)(x, y, z, w)
#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
#endif

/* --- The near field ----------------------------------------------------------------------------------------------- */

/* The n slots of a group of sources, columns x, y, z and q, become one number of four parts for each slot. */
__kernel void NAME(gather)(__global const real *in, ulong first, uint n, __global real4 *out, uint at)
{
	size_t i = get_global_id(0);
	if (i >= n)
		return;
	in += first + i;
	out[at + i] = FOUR(in[0], in[n], in[2 * (size_t)n], in[3 * (size_t)n]);
}

/* Sources that act directly on a leaf. */
struct entry {
	uint first, n;
	int x, y, z; /* the offset of their leaf, in halves of a side */
};

/* One work-item for each slot of a group of targets, so that a work-group has the slots of several leaves. The list
 * says for each PADDING slots which entries are theirs. `counting`: only charges are summed, of all sources but the
 * target itself, and `self` is the place of the group among the sources. */
__kernel void NAME(pairs)(__global real *sums, ulong first_sum, __global const real *targets, ulong first_target,
                          __global const uint *list, ulong first_entry, __global const real4 *sources, uint n,
                          int gradient, int counting, ulong self)
{
	size_t i = get_global_id(0);
	if (i >= n)
		return;
	targets += first_target + i;
	list += first_entry;
	__global const struct entry *entries = (__global const struct entry *)(list + 2 * (n / PADDING));
	const uint end = list[2 * (i / PADDING) + 1];
	const real x = targets[0], y = targets[n], z = targets[2 * (size_t)n];
	const real least = (real)(SAME_PLACE * SAME_PLACE);
	real potential = 0, dx = 0, dy = 0, dz = 0;
	for (uint k = list[2 * (i / PADDING)]; k < end; k++) {
		const struct entry e = entries[k];
		const real at_x = x - (real)0.5 * e.x, at_y = y - (real)0.5 * e.y, at_z = z - (real)0.5 * e.z;
		for (uint j = e.first; j < e.first + e.n; j++) {
			const real4 s = sources[j];
			const real to_x = at_x - s.x, to_y = at_y - s.y, to_z = at_z - s.z;
			const real r2 = to_x * to_x + to_y * to_y + to_z * to_z;
			const int is_self = j == self + i && e.x == 0 && e.y == 0 && e.z == 0;
			const real inverse = counting ? (real)!is_self : r2 > least ? rsqrt(r2) : (real)0;
			const real caused = s.w * inverse, force = caused * inverse * inverse;
			potential += caused;
			dx -= force * to_x;
			dy -= force * to_y;
			dz -= force * to_z;
		}
	}
	sums += first_sum + i;
	sums[0] = potential;
	if (gradient) {
		sums[n] = dx;
		sums[2 * (size_t)n] = dy;
		sums[3 * (size_t)n] = dz;
	}
}

/* --- Translations ------------------------------------------------------------------------------------------------- */

__kernel void NAME(copy)(__global const real *in, ulong first, ulong n, __global real *out, ulong at)
{
	size_t i = get_global_id(0);
	if (i < n)
		out[at + i] = in[first + i];
}

/* Group (b, r) of work-items has BLOCK rows of the products of block b: S A S x for each of its columns x, where A is
 * the matrix of the block and S the signs of the column's reflection. `tables` has MATRICES matrices, then the signs. */
__kernel GROUP(BLOCK, BLOCK) void NAME(translate)(__global const real *tables, ulong first_table,
                                                  __global const uint *list, ulong first_number, __global real *work,
                                                  uint n_blocks, ulong products, uint terms, uint stride)
{
	__local real a[BLOCK][BLOCK + 1], x[BLOCK][BLOCK + 1];
	const uint i = get_local_id(0), j = get_local_id(1), block = get_group_id(0);
	const uint row = BLOCK * get_group_id(1) + i, place = BLOCK * block + j;
	const size_t matrix_size = (size_t)terms * stride;
	tables += first_table;
	list += first_number;
	__global const real *matrix = tables + list[block] * matrix_size;
	const uint column = list[n_blocks + 2 * place], reflection = list[n_blocks + 2 * place + 1];
	__global const real *signs = tables + MATRICES * matrix_size + (size_t)reflection * stride;
	real sum = 0;
	for (uint k = 0; k < terms; k += BLOCK) {
		a[i][j] = row < terms && k + j < terms ? matrix[row + (size_t)(k + j) * stride] : 0;
		x[i][j] = column != UINT_MAX && k + i < terms ? work[(size_t)column * stride + k + i] * signs[k + i] : 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint l = 0; l < BLOCK; l++)
			sum += a[i][l] * x[l][j];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (row < stride)
		work[products + (size_t)place * stride + row] = row < terms ? sum * signs[row] : 0;
}

/* One work-item for each row of each of n targets. */
__kernel void NAME(add_products)(__global real *locals, ulong first_local, __global const uint *list,
                                 ulong first_number, __global const real *work, ulong starts, ulong products, uint n,
                                 uint stride)
{
	const size_t row = get_global_id(0) % stride, target = get_global_id(0) / stride;
	__global const uint *start = list + first_number + starts, *places = start + n + 1;
	real sum = 0;
	if (target >= n)
		return;
	for (uint k = start[target]; k < start[target + 1]; k++)
		sum += work[products + places[k] * stride + row];
	locals[first_local + target * stride + row] = sum;
}
