/* The kernels of the random graphs for CUDA devices, from both sides. */
#ifndef RANDOM_CUDA_KERNELS_H
#define RANDOM_CUDA_KERNELS_H

#include "arithmetic.h"

enum { CUDA_DATA = 4 };

/* What the kernel of a task gets. */
struct cuda_work {
	uint64_t k;
	unsigned n;
	int modes[CUDA_DATA];
	struct mem mem[CUDA_DATA];
};

#ifndef __cplusplus
#include "../cuda/image.h"
#include "elements.h"

static inline int launch_cuda(heddle_context *c, const char *name, void **arguments)
{
	const struct heddle_cuda_grid one_thread = {{1}, {1}, 0};
	struct CUfunc_st *f;
	int status = heddle_cuda_function(c, &test_image, name, &f);
	return status ? status : heddle_cuda_launch(c, f, &one_thread, arguments);
}

/* What `compute` does, put on the stream. */
static inline int compute_cuda(heddle_context *c, uint64_t k, unsigned n, const int *modes)
{
	struct cuda_work w = {.k = k, .n = n};
	for (unsigned i = 0; i < n; i++) {
		w.modes[i] = modes[i];
		if (mem_of(c, i, &w.mem[i]))
			return 1;
	}
	return launch_cuda(c, "graphs_work", (void *[]){&w});
}

static inline int zero_cuda(heddle_context *c)
{
	struct mem a;
	return mem_of(c, 0, &a) ? 1 : launch_cuda(c, "graphs_zero", (void *[]){&a});
}

static inline int add_cuda(heddle_context *c)
{
	struct mem to, from;
	if (mem_of(c, 0, &to) || mem_of(c, 1, &from))
		return 1;
	return launch_cuda(c, "graphs_add", (void *[]){&to, &from});
}
#endif

#endif
