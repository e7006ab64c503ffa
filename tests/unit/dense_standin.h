/* For tests of dense linear algebra that need the stand-ins for NVIDIA's libraries (tests/standin). */
#ifndef DENSE_STANDIN_H
#define DENSE_STANDIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <dense/cuda/offer.h>
#include "dense_runtime.h"
#include "standin.h"

/* Its controls: set by need_standin. */
static const struct standin *standin;

/* Ends the program where something is missing: it says that it is left out, or fails if this build should have all. */
static inline void need_standin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	standin = library ? dlsym(library, "standin_table") : NULL;
	const char *missing = hd_dense_cuda_missing();
	if (!missing && standin)
		return;
	printf("left out: %s\n", missing ? missing : "libcuda.so.1 is not the stand-in");
	exit(standin && DENSE_ON_CUDA_IS_COMPLETE ? 1 : 77);
}

/* Settings for n cores and one device. */
static inline struct heddle_config one_device(int n_cpu)
{
	struct heddle_config config = settings(n_cpu, 0, 0);
	config.n_cpu = n_cpu;
	config.n_cuda = 1;
	return config;
}

#endif
