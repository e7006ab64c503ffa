/* LU factorisations in four precisions. */
#include <dense/kernels/blas3.h>
#include <dense/kernels/halves.h>
#include <dense/kernels/lu.h>
#include <dense/kernels/vectors.h>

#define HD_TEMPLATE <dense/kernels/lu_template.h>
#include <dense/kernels/precisions.h>
