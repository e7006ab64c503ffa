/* Makes code for two precisions from one source: a file that defines HD_TEMPLATE as <name of a header> and includes
 * this one includes that header for double and for single. Within the header, these are defined:
 *
 *   real      double or float
 *   P(x)      our name of x, which begins with hd_fmm_d_ or hd_fmm_s_
 *   LANES     numbers in the longest vector of all processors: 8 or 16; particles of a leaf are padded to it
 *   BLAS(x)   CBLAS's function x: cblas_dx or cblas_sx
 *   SINGLE    1 for float
 *
 * This file has no guard, because each inclusion is for another header. */
#include <cblas.h>

#define real double
#define P(x) hd_fmm_d_##x
#define LANES 8
#define BLAS(x) cblas_d##x
#define SINGLE 0
#include HD_TEMPLATE
#undef real
#undef P
#undef LANES
#undef BLAS
#undef SINGLE

#define real float
#define P(x) hd_fmm_s_##x
#define LANES 16
#define BLAS(x) cblas_s##x
#define SINGLE 1
#include HD_TEMPLATE
#undef real
#undef P
#undef LANES
#undef BLAS
#undef SINGLE

#undef HD_TEMPLATE
