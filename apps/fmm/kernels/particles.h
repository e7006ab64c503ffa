/* Particles and expansions of one leaf: the charges' multipole, the potential of the local expansion. Coordinates are
 * relative to the centre of the leaf, in units of the side of the smallest leaves (pairs.h); expansions are in units of
 * the side of the leaf itself. */
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

struct P(points) {
	size_t n;   /* a multiple of LANES */
	real scale; /* of the coordinates: 1 / the side of the leaf */
	const real *at[3];
};

/* Adds the multipole of particles to `m`, which has hd_fmm_terms(degree) elements. */
void P(particles_to_multipole)(int degree, const struct P(points) * points, const real *charge, real *m);

/* Adds the potential of a local expansion at particles, and, unless sum[1] is NULL, its derivatives, whose local
 * expansions `slopes` has: hd_fmm_terms(degree) elements each. */
void P(local_to_particles)(int degree, const struct P(points) * points, const real *l, const real *const slopes[3],
                           real *const sum[4]);

/* The local expansion of the derivative by a coordinate, whose n elements (hd_fmm_derivative) are given. */
void P(slope)(size_t terms, const real *l, const struct hd_fmm_element *elements, size_t n, real *slope);

#endif
