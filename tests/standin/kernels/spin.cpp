/* The kernel of bench/gpu_stencil.c. */
#include "cuda_on_host.h"
#include "../../../bench/gpu_spin.cu"

STANDIN_KERNEL(bench_spin)
