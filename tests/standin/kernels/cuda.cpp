/* The kernels of the tests of CUDA. */
#include "cuda_on_host.h"
#include "../../cuda/kernels.cu"

STANDIN_KERNEL(test_add)
STANDIN_KERNEL(test_matrices)
STANDIN_KERNEL(test_sum)
