/* Shares of products and triangular solvers in four precisions. */
#include <dense/kernels/shares.h>

#define HD_TEMPLATE <dense/kernels/shares_template.h>
#include <dense/kernels/precisions.h>
