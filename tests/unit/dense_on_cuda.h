/* The tests of the dense routines are built twice. With DENSE_ON_CUDA they run on one CUDA device and no CPU, which is
 * the stand-in of tests/standin, and with fewer shapes, because its kernels are run by fibres. */
#ifndef DENSE_ON_CUDA_H
#define DENSE_ON_CUDA_H

#include <heddle/runtime.h>

/* `memory`: of the device, in bytes; 0: all that it has. */
static inline void use_cuda(struct heddle_config *config, uint64_t memory)
{
#ifdef DENSE_ON_CUDA
	config->n_cpu = 0;
	config->n_emulated = 0;
	config->n_cuda = 1;
	config->cuda_memory = memory;
	config->sched = "eager";
#else
	(void)config;
	(void)memory;
#endif
}

#endif
