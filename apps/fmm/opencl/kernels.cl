/* The near field in OpenCL C 1.2, for one precision: the option DOUBLE, or not. apps/fmm/opencl/pairs.c puts these
 * kernels on streams, and apps/fmm/tasks/near_list.c writes the list. PADDING, NEAR and LEAST are options, too. */

#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif

/* The n slots of a group of sources, columns x, y, z and q, become one number of four parts for each slot. */
__kernel void gather(__global const real *in, ulong first, uint n, __global real4 *out, uint at)
{
	size_t i = get_global_id(0);
	if (i >= n)
		return;
	in += first + i;
	out[at + i] = (real4)(in[0], in[n], in[2 * (size_t)n], in[3 * (size_t)n]);
}

/* One work-item for each slot of a group of targets, so that a work-group has the slots of several leaves. The leaf of
 * a slot says by NEAR pairs of numbers which sources are near: the first, and how many. `self` is the place of the
 * group among the sources, where all charges but the target's own are counted; ULONG_MAX: nothing is counted. */
__kernel void pairs(__global real *sums, ulong first_sum, __global const real *targets, ulong first_target,
                    __global const uint *list, ulong first_entry, __global const real4 *sources, uint n, int gradient,
                    int counting, ulong self)
{
	size_t i = get_global_id(0);
	if (i >= n)
		return;
	targets += first_target + i;
	list += first_entry;
	__global const uint *near = list + n / PADDING + 2 * NEAR * (size_t)list[i / PADDING];
	const real x = targets[0], y = targets[n], z = targets[2 * (size_t)n];
	real potential = 0, dx = 0, dy = 0, dz = 0;
	for (int k = 0; k < NEAR; k++) {
		const real at_x = x - (k / 9 - 1), at_y = y - (k / 3 % 3 - 1), at_z = z - (k % 3 - 1);
		for (uint j = near[2 * k], end = j + near[2 * k + 1]; j < end; j++) {
			const real4 s = sources[j];
			const real to_x = at_x - s.x, to_y = at_y - s.y, to_z = at_z - s.z;
			const real r2 = to_x * to_x + to_y * to_y + to_z * to_z;
			const real inverse = counting ? (real)(j != self + i) : r2 > LEAST ? rsqrt(r2) : (real)0;
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
