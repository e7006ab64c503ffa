/* The kernels of tests/random/random_graphs.c. */
#include "cuda_on_host.h"
#include "../../random/cuda_kernels.cu"

STANDIN_KERNEL(graphs_work)
STANDIN_KERNEL(graphs_zero)
STANDIN_KERNEL(graphs_add)
