/* Real solid harmonics, and the matrices that translate expansions.
 *
 * Regular harmonics R_j and irregular harmonics I_j of degree 0 ... p, (p + 1)^2 of each kind, with
 *
 *   1 / |x - y| = sum over j of R_j(y) I_j(x)                                    for |y| < |x|
 *
 * An expansion about a centre c, in units of the side of a cell:
 *   multipole   M_j = sum over the particles of q R_j(y - c);  potential at x: sum of M_j I_j(x - c)
 *   local       potential at x: sum of L_j R_j(x - c)
 *
 * They are the real and imaginary parts of the complex solid harmonics of W. Dehnen, "A fast multipole method for
 * stellar dynamics", Computational Astrophysics and Cosmology 1:1, 2014, section 2 and appendix A, whose recurrences
 * and theorems of addition these files have; here harmonics with m > 0 have a factor of sqrt(2), and Y_m^m no sign.
 *
 * Reflecting a coordinate changes the sign of some of the coefficients, and nothing else. So one matrix serves all
 * translations that are reflections of each other. */
#ifndef HD_FMM_HARMONICS_H
#define HD_FMM_HARMONICS_H

#include <stddef.h>

enum {
	HD_FMM_MOST_DEGREE = 20,
	/* Matrices have numbers up to about (2 degree)! / 2^degree: so many are floats, also times the charges of many
	 * particles. */
	HD_FMM_MOST_DEGREE_SINGLE = 14,
	HD_FMM_MOST_TERMS = (HD_FMM_MOST_DEGREE + 1) * (HD_FMM_MOST_DEGREE + 1),
	HD_FMM_REFLECTIONS = 8, /* bit 0: x changes its sign, bit 1: y, bit 2: z */
	HD_FMM_OFFSETS = 56, /* of cells far from each other, 0 ... 3 in each coordinate, and one of them at least 2 */
	HD_FMM_IMAGES = HD_FMM_OFFSETS, /* the number of the matrix for the images of the root cell */
	HD_FMM_MATRICES                 /* all that make local expansions of multipoles */
};

/* The place of the harmonic of degree n and order m >= 0: of its real part; its imaginary part (m > 0) is the next. */
static inline size_t hd_fmm_place(int n, int m)
{
	return (size_t)(n * n) + (m ? 2 * (size_t)m - 1 : 0);
}

static inline size_t hd_fmm_terms(int degree)
{
	return (size_t)(degree + 1) * (size_t)(degree + 1);
}

/* All harmonics up to this degree at a point; for irregular harmonics, the point is not 0. */
void hd_fmm_regular(int degree, const double x[3], double *r);
void hd_fmm_irregular(int degree, const double x[3], double *i);

/* Matrices have hd_fmm_terms rows and columns and are stored by columns, `ld` apart. */

/* T with R(a + b) = T R(a): a multipole moves from a centre b to the centre 0 by T, a local expansion from 0 to b by
 * the transpose of T. */
void hd_fmm_shift(int degree, const double b[3], double *t, size_t ld);
/* K with I(x + a) = K^T R(a): the multipole about 0 becomes the local expansion about x by K. Exact but for the degrees
 * that are left out. */
void hd_fmm_multipole_to_local(int degree, const double x[3], double *k, size_t ld);
/* The matrix K by which a periodic cube of side 1 feels its images: the multipole about the cube's centre becomes the
 * local expansion about that centre. The cube itself and the 26 images that touch the cube are left out. For x and y in
 * the cube, relative to the centre,
 *
 *   R(x)^T K R(y) = G(x - y) - sum of 1 / |x - y - v| - 2 pi / 3 (|x|^2 + |y|^2),     coordinates of v from -1 to 1
 *
 * where G is Ewald's potential: of unit charges at all lattice points and of a uniform background that makes the cube
 * neutral, periodic, with a mean of 0. The two squares are no harmonics. */
void hd_fmm_images_to_local(int degree, double *k, size_t ld);
/* D with dR(a) / da_c = D R(a), c the coordinate: the derivative of what the local expansion L gives is what D^T L
 * gives. D has a few elements in each row that are not 0. */
void hd_fmm_derivative(int degree, int coordinate, double *d, size_t ld);
/* 1 or -1 for each coefficient: what a reflection does. */
void hd_fmm_signs(int degree, int reflection, double *signs);

#endif
