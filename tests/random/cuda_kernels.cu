/* The kernels of the random graphs for CUDA devices: the arithmetic of arithmetic.h by one thread, because what it adds
 * up depends on the order. */
#include "cuda_kernels.h"

extern "C" {

/* A wrong value, which the comparison with the sequential run finds, if somebody else has written to private data. */
__global__ void graphs_work(struct cuda_work w)
{
	uint64_t sum;
	if (compute(w.k, w.n, w.modes, w.mem, &sum))
		for (unsigned i = 0; i < w.n; i++)
			if (w.modes[i] != HEDDLE_R && w.mem[i].m * w.mem[i].n > 0)
				++*w.mem[i].base;
}

__global__ void graphs_zero(struct mem a)
{
	clear_elements(&a);
}

__global__ void graphs_add(struct mem to, struct mem from)
{
	add_elements(&to, &from);
}
}
