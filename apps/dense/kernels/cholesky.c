/* Cholesky's factorisation and triangular inverses in four precisions. */
#include <dense/kernels/blas3.h>
#include <dense/kernels/cholesky.h>
#include <dense/kernels/halves.h>
#include <dense/kernels/shares.h>
#include <dense/kernels/vectors.h>

#define HD_TEMPLATE <dense/kernels/cholesky_template.h>
#include <dense/kernels/precisions.h>
