/* The near field in OpenCL C 1.2, for one precision: the option DOUBLE, or not. apps/fmm/opencl/pairs.c puts these
 * kernels on streams, and apps/fmm/tasks/near_list.c writes the list. PADDING and LEAST are options, too. */

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

/* Sources that act directly on a leaf. */
struct entry {
	uint first, n;
	int x, y, z; /* the offset of their leaf, in halves of a side */
};

/* One work-item for each slot of a group of targets, so that a work-group has the slots of several leaves. The list
 * says for each PADDING slots which entries are theirs. `counting`: only charges are summed, of all sources but the
 * target itself, and `self` is the place of the group among the sources. */
__kernel void pairs(__global real *sums, ulong first_sum, __global const real *targets, ulong first_target,
                    __global const uint *list, ulong first_entry, __global const real4 *sources, uint n, int gradient,
                    int counting, ulong self)
{
	size_t i = get_global_id(0);
	if (i >= n)
		return;
	targets += first_target + i;
	list += first_entry;
	__global const struct entry *entries = (__global const struct entry *)(list + 2 * (n / PADDING));
	const uint end = list[2 * (i / PADDING) + 1];
	const real x = targets[0], y = targets[n], z = targets[2 * (size_t)n];
	real potential = 0, dx = 0, dy = 0, dz = 0;
	for (uint k = list[2 * (i / PADDING)]; k < end; k++) {
		const struct entry e = entries[k];
		const real at_x = x - (real)0.5 * e.x, at_y = y - (real)0.5 * e.y, at_z = z - (real)0.5 * e.z;
		for (uint j = e.first; j < e.first + e.n; j++) {
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
