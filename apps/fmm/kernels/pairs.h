/* The near field: potentials and gradients that particles cause directly, in vectors of the processor at hand.
 *
 * A particle lies where its leaf does, at coordinates relative to the leaf's centre in units of the leaf's side, so
 * that single precision has all of its digits for neighbours. Targets are padded to full vectors; sources are not.
 *
 * Particles whose distance is below HD_FMM_SAME_PLACE sides of a leaf count as one point, and do not act on each other:
 * that is how a particle does not act on itself. */
#ifndef HD_FMM_PAIRS_H
#define HD_FMM_PAIRS_H

#include <fmm/kernels/same_place.h>
#include <stddef.h>

/* The kinds of processors there is code for, slowest first. */
enum hd_fmm_vectors { HD_FMM_PLAIN, HD_FMM_SSE2, HD_FMM_AVX2, HD_FMM_AVX512, HD_FMM_N_VECTORS };
/* The last of them that this processor can run. */
enum hd_fmm_vectors hd_fmm_best_vectors(void);

#define HD_TEMPLATE <fmm/kernels/pairs.h>
#include <fmm/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

/* Particles of a leaf beside the targets. */
struct P(sources) {
	size_t n;
	const real *at[3], *charge; /* borrows; coordinates x, y, z */
	real offset[3];             /* of this leaf from the leaf of the targets: -1, 0 or 1 */
};

struct P(targets) {
	size_t n; /* a multiple of LANES */
	const real *at[3];
	real *sum[4]; /* the potential, and its derivatives by x, y and z; sum[1] to sum[3] NULL: not wanted */
};

/* Adds what the sources of n_leaves leaves cause. */
typedef void (*P(pairs))(const struct P(targets) * targets, const struct P(sources) * sources, size_t n_leaves);
/* NULL: there is no such code in this build. */
P(pairs) P(pairs_for)(enum hd_fmm_vectors vectors);

/* Adds to the potential the charges of all sources that are not the target itself, its images among them, and nothing
 * to the derivatives: a kernel that counts, for tests of the tree and of schedules. */
void P(count)(const struct P(targets) * targets, const struct P(sources) * sources, size_t n_leaves);

#endif
