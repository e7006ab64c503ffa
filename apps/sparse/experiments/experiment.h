/* A factorisation for the command: the matrix by its name, the analysis, which runs one after the other share, and how
 * wrong the result is. */
#ifndef HD_SPARSE_EXPERIMENT_H
#define HD_SPARSE_EXPERIMENT_H

#include <heddle/sparse.h>

enum { HD_SPARSE_MATRIX_NAME = 256, HD_SPARSE_STRIPS_TEXT = 48 };

/* The options of the application. */
struct hd_sparse_problem {
	char matrix[HD_SPARSE_MATRIX_NAME];
	char strips[HD_SPARSE_STRIPS_TEXT]; /* options.strips as the user has written it */
	struct heddle_sparse_analysis_options analysis;
	struct heddle_sparse_options options;
	int precision; /* enum heddle_dense_precision */
	size_t balance, seed;
};

struct hd_sparse_experiment;

/* Operations on real numbers, and bytes of fronts, contributions and factors at their peak. NAN: the matrix cannot be
 * analysed. */
double hd_sparse_problem_flops(const struct hd_sparse_problem *p);
double hd_sparse_problem_bytes(const struct hd_sparse_problem *p);

/* Opens the library on `rt`, makes or reads the matrix and analyses it. *out is set even if that fails, and is to be
 * closed. */
int hd_sparse_experiment_open(heddle_runtime *rt, int simulated, const struct hd_sparse_problem *p,
                              struct hd_sparse_experiment **out);
int hd_sparse_experiment_submit(struct hd_sparse_experiment *e);
/* After the factorisation. Blocks. */
int hd_sparse_experiment_residual(struct hd_sparse_experiment *e, double *residual);
/* `e` may be NULL. Blocks. */
int hd_sparse_experiment_close(struct hd_sparse_experiment *e);

#endif
