/* QR factorisations of tiles in four precisions. */
#include <dense/kernels/blas3.h>
#include <dense/kernels/halves.h>
#include <dense/kernels/qr.h>
#include <dense/kernels/shares.h>
#include <dense/kernels/vectors.h>

#define HD_TEMPLATE <dense/kernels/qr_template.h>
#include <dense/kernels/precisions.h>
