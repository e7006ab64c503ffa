/* Random task graphs in layers, with the parameters of daggen (F. Suter, https://github.com/frs69wq/daggen), which many
 * scheduling papers use. Part of libheddle-daggen.
 *
 * The graph consists of levels. A level has n^fat tasks on average, between regularity and 2 - regularity times as
 * many; the last level takes what is left of the n tasks. A task of a later level has 1 + density x (uniform in [0, 1])
 * x (width of the level before) predecessors, at most that width. The first predecessor is in the level before, so that
 * there are as many levels as the longest path has tasks; each other one is in one of the `jump` levels before.
 *
 * Every task writes one datum of d elements of 8 bytes, d uniform in [min_data, max_data], and each successor reads all
 * of it. The work of a task, as in the papers that use daggen (N'Takpe, Suter and Casanova, ISPDC 2007), is one of
 *
 *   scan      a d          such as an image filter
 *   sort      a d log2 d
 *   multiply  d^(3/2)      two matrices of d elements
 *
 * operations, with a uniform in [min_factor, max_factor]. Times are given for the kinds of workers cpu and cuda. A cpu
 * does `gflops` x 10^9 operations per second; on cuda each task is faster by a factor of its own, log-uniform in
 * [min_speedup, max_speedup].
 *
 * Differences from daggen, and defaults. daggen's d goes from 2048^2 to 11264^2, which is 1 GB per task; here the data
 * fit in the memory of a GPU. daggen's a goes from 2^6 to 2^9, as here. daggen has no speed-ups; here they span those
 * of the kernels of a Cholesky factorisation between a GPU and a core, 1.72 (potrf) to 28.80 (gemm) (Cojean et al.,
 * "Resource aggregation for task-based Cholesky factorization", table 1), and go down to 0.5 for work that a GPU is bad
 * at. daggen's ccr only chooses among the three kinds of work, as `work` does here; `ccr` here is the ratio itself.
 */
#ifndef HEDDLE_DAGGEN_RANDOM_H
#define HEDDLE_DAGGEN_RANDOM_H

#include <heddle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All fields are doubles, so that one table can describe them. n, jump, seed and work must be whole numbers. */
struct heddle_daggen_layers {
	double n;          /* tasks */
	double fat;        /* 0: a chain, 1: almost no dependencies */
	double density;    /* 0: one predecessor per task, 1: half of the level before on average */
	double regularity; /* 0: widths of levels from 0 to twice the average, 1: all levels equally wide */
	double jump;       /* levels that an edge may span; 1: edges only join neighbouring levels */
	/* Ratio of communication to computation: the sum over edges of bytes / bandwidth, divided by the sum of the
	 * times on a cpu. All data are scaled to get this ratio; 0: they are not scaled. */
	double ccr;
	double seed;
	double work;               /* 0: each task one of the three kinds at random, 1: scan, 2: sort, 3: multiply */
	double min_data, max_data; /* elements of 8 bytes */
	double min_factor, max_factor; /* operations per element: a of the formulas above */
	double gflops;                 /* Gflop/s of a cpu */
	double min_speedup, max_speedup;
	double bandwidth; /* MB/s, for ccr */
};

struct heddle_daggen_parameter {
	const char *name;
	size_t offset;          /* of the field in struct heddle_daggen_layers */
	double value, min, max; /* default; limits, which are valid values too */
	int whole;              /* the value must be a whole number */
	const char *help;
};

/* The table of the fields, in the order of the structure. */
const struct heddle_daggen_parameter *heddle_daggen_random_parameters(size_t *n);
void heddle_daggen_random_init(struct heddle_daggen_layers *parameters);
/* Changes the parameters that a string such as "n=1000,fat=0.6" names. The message of HEDDLE_E_UNKNOWN lists the names,
 * that of HEDDLE_E_INVALID has the range. */
int heddle_daggen_random_set(struct heddle_daggen_layers *parameters, const char *settings);

/* The same parameters give the same graph, everywhere. The caller owns *out. HEDDLE_E_INVALID: a parameter is out of
 * range. */
int heddle_daggen_random(const struct heddle_daggen_layers *parameters, struct heddle_graph **out);

#ifdef __cplusplus
}
#endif
#endif
