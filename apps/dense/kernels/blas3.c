/* Products and triangular solvers in four precisions. */
#include <dense/kernels/blas3.h>
#include <dense/kernels/halves.h>

#define HD_TEMPLATE <dense/kernels/blas3_template.h>
#include <dense/kernels/precisions.h>
