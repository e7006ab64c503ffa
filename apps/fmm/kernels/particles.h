/* Particles and expansions of one leaf: the charges' multipole, the potential of the local expansion. Coordinates are
 * relative to the centre of the leaf, in units of its side (pairs.h). */
#ifndef HD_FMM_PARTICLES_H
#define HD_FMM_PARTICLES_H

#include <fmm/kernels/harmonics.h>

/* One element of the matrices of hd_fmm_derivative. */
struct hd_fmm_element {
	unsigned row, column;
	double value;
};

#define HD_TEMPLATE <fmm/kernels/particles.h>
#include <fmm/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Adds the multipole of n particles, a multiple of LANES, to `m`, which has hd_fmm_terms(degree) elements. */
void P(particles_to_multipole)(int degree, size_t n, const real *const at[3], const real *charge, real *m);

/* Adds the potential of a local expansion at n particles, a multiple of LANES, and, unless sum[1] is NULL, its
 * derivatives, whose local expansions `slopes` has: hd_fmm_terms(degree) elements each. */
void P(local_to_particles)(int degree, const real *l, const real *const slopes[3], size_t n, const real *const at[3],
                           real *const sum[4]);

/* The local expansion of the derivative by a coordinate, whose n elements (hd_fmm_derivative) are given. */
void P(slope)(size_t terms, const real *l, const struct hd_fmm_element *elements, size_t n, real *slope);

#endif
