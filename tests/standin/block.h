/* How kernels that are compiled for the host (cuda_on_host.h) meet what runs them (block.c, kernels.c). */
#ifndef STANDIN_BLOCK_H
#define STANDIN_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <vector_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread of a kernel knows of itself. */
struct standin_here {
	uint3 thread_index, block_index;
	dim3 block_size, grid_size;
	void *shared; /* dynamic shared memory */
	unsigned lane;
};

/* That of the fibre that runs on this thread; read anew after each call that may switch to another fibre. */
extern __thread struct standin_here *standin_here;

enum standin_vote { STANDIN_COUNT, STANDIN_AND, STANDIN_OR };

/* __syncthreads and its kin: waits for all threads of the block; `line` tells barriers apart. Returns how many of them
 * have given a value, whether all have, whether any has. */
int standin_barrier(unsigned line, enum standin_vote vote, int value);

/* Waits for the lanes of `mask`, and exchanges 8 bytes with them. Returns those of all 32 lanes, 0 where there is none;
 * valid until the next call. */
const uint64_t *standin_exchange(unsigned mask, uint64_t value);

/* A kernel that cuModuleGetFunction finds. */
struct standin_kernel {
	const char *name;
	unsigned n;             /* parameters */
	const size_t *sizes;    /* bytes of each */
	const char *is_pointer; /* whether each is one */
	void (*call)(void **values);
	struct standin_kernel *next;
};

void standin_register(struct standin_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
