/* The kernels of libheddle-dense, apps/dense/cuda. */
#include "../cuda_on_host.h"
#include "../../../apps/dense/cuda/kernels.cu"

#define ONE(letter, name) STANDIN_KERNEL_AS("hd_" #letter "_" #name, letter##_##name::hd_##letter##_##name)
#define FOUR(name) ONE(d, name) ONE(s, name) ONE(z, name) ONE(c, name)

FOUR(combine)
FOUR(transpose)
FOUR(random_tile)
FOUR(squares)
FOUR(find_not_finite)
FOUR(find_zero)
FOUR(find_nan)
FOUR(stack)
FOUR(swap_rows)
FOUR(panel)
STANDIN_KERNEL(hd_add_up)
STANDIN_KERNEL(hd_place)
STANDIN_KERNEL(hd_pivots)
