/* Loops on vectors in four precisions. */
#include <dense/kernels/processor.h>
#include <dense/kernels/vectors.h>
#include <stdint.h>
#include <string.h>

#define HD_TEMPLATE <dense/kernels/vectors_template.h>
#include <dense/kernels/precisions.h>
