/* The matrices by which expansions of cells are translated, and their application to many cells: coefficients are
 * gathered, multiplied by one matrix, and added where they belong.
 *
 * Expansions of a cell are in units of its side. So the matrices do not depend on the level; and a multipole goes to
 * the parent, and a local expansion to the children, by one matrix with its reflections. */
#ifndef HD_FMM_TRANSLATIONS_H
#define HD_FMM_TRANSLATIONS_H

#include <fmm/kernels/particles.h>

enum { HD_FMM_COLUMNS = 128 }; /* cells that are gathered at once */

/* The matrix of the offset of two cells far from each other, from 0 on, and in *reflection what makes the offset
 * nonnegative. Each coordinate is at most 3, one of them at least 2. */
unsigned hd_fmm_offset(const int offset[3], unsigned *reflection);

#define HD_TEMPLATE <fmm/kernels/translations.h>
#include <fmm/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

struct P(tables) {
	int degree;
	size_t terms, stride; /* from cell to cell: terms, rounded up to full cache lines */
	int counting;         /* all matrices are 1: for a degree of 0, by which particles are counted */
	real *memory;         /* owns all that follows */
	real *up;             /* from the child at (+, +, +) to its parent */
	/* one behind the other: terms * stride elements each, then stride elements each */
	real *far[HD_FMM_MATRICES];
	real *signs[HD_FMM_REFLECTIONS];
	struct hd_fmm_element *derivatives[3]; /* owns */
	size_t n_derivatives[3];
};
/* 0, or -1: out of memory. The tables are to be freed in both cases. */
int P(tables_make)(struct P(tables) * tables, int degree, int counting);
/* The matrix for the images of the root cell, which is 0 until then. */
int P(tables_add_images)(struct P(tables) * tables);
void P(tables_free)(struct P(tables) * tables);

/* From one cell to another. */
struct P(translation) {
	const real *from;
	real *to;
	unsigned reflection;
};
/* A matrix, or its transpose, and a factor. */
struct P(operator) {
	const real *matrix;
	int transposed;
	real factor;
};
/* Adds factor * S A S x to each target, where A is the matrix, or its transpose, x the source, and S the signs of the
 * reflection. `work` has 2 HD_FMM_COLUMNS strides. */
void P(translate)(const struct P(tables) * tables, struct P(operator) by, const struct P(translation) * translations,
                  size_t n, real *work);

#endif
