/* Points to compute with: distributions that can be made, and files. */
#ifndef HD_FMM_POINTS_H
#define HD_FMM_POINTS_H

#include <stddef.h>
#include <stdint.h>

enum hd_fmm_distribution {
	HD_FMM_CUBE,       /* uniform in a cube */
	HD_FMM_SPHERE,     /* uniform on the surface of a sphere */
	HD_FMM_PLUMMER,    /* Plummer's model of a cluster of stars, up to 10 of its radii */
	HD_FMM_LINE,       /* uniform on a line that is parallel to no axis */
	HD_FMM_CLUSTERS,   /* eight balls, each of a thousandth of the size of the whole */
	HD_FMM_COINCIDENT, /* uniform in a cube, each place twice */
	HD_FMM_FILE
};

/* Makes n points, 3 n coordinates, for a seed always alike. Not HD_FMM_FILE. */
void hd_fmm_make_points(enum hd_fmm_distribution distribution, size_t n, uint64_t seed, double *xyz);

/* Reads a file with a point in each line: x y z, or x y z q, by blanks or commas; lines that begin with # are comments.
 * Without q, charges are 1. The caller frees both arrays. */
int hd_fmm_read_points(const char *path, size_t *n, double **xyz, double **charges);

/* What a direct sum says: the root of the mean square of the errors at a few targets. The unit is the root of
 * the mean square of sum |q| / r for the potential, and of sum |q| / r^2 for the gradient. */
struct hd_fmm_errors {
	double potential, gradient;
};
struct hd_fmm_errors hd_fmm_errors_of(size_t n, const double *xyz, const double *charges, const double *potential,
                                      const double *gradient, size_t samples);

/* ewald.c: sums over all periodic images in a cube of this side by Ewald's method, to about 10 digits. */
struct hd_fmm_ewald {
	double side;
	size_t n;
	const double *xyz, *charges; /* borrows */
	double total;                /* of the charges */
	double *waves;               /* owns; weighted sums of the charges: real, then imaginary parts */
};
/* 0, or -1: out of memory. Points may lie outside the cube. */
int hd_fmm_ewald_open(struct hd_fmm_ewald *e, double side, size_t n, const double *xyz, const double *charges);
void hd_fmm_ewald_close(struct hd_fmm_ewald *e);
/* At a point: potential and gradient, as heddle/fmm.h defines them, then the sums of |q| / r and |q| / r^2 over the
 * nearest images. */
void hd_fmm_ewald_sum(const struct hd_fmm_ewald *e, const double x[3], double sum[6]);
/* hd_fmm_errors_of of its points, where r is the distance of the nearest image. */
struct hd_fmm_errors hd_fmm_periodic_errors_of(const struct hd_fmm_ewald *e, const double *potential,
                                               const double *gradient, size_t samples);

#endif
