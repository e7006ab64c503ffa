/* Products of tall matrices with vectors in four precisions. */
#include <dense/kernels/vectors.h>

#define HD_TEMPLATE <dense/kernels/vectors_template.h>
#include <dense/kernels/precisions.h>
