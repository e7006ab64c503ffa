/* Particles and expansions of one leaf: see particles.h. */
#include <dense/kernels/processor.h>
#include <fmm/kernels/particles.h>
#include <stdint.h>
#include <string.h>

#define HD_TEMPLATE <fmm/kernels/particles_template.h>
#include <fmm/kernels/precisions.h>
