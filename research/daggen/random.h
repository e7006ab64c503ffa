/* Random task graphs in layers, after the parameters of daggen (F. Suter, https://github.com/frs69wq/daggen), with
 * which many scheduling papers generate theirs. Part of libheddle-daggen.
 *
 * The graph consists of levels. A level has n^fat tasks on average, between regularity and 2 - regularity times as
 * many. A task of a later level has 1 + density x (uniform in [0, 1]) x (width of the level before) predecessors, at
 * most that width: the first in the level before, so that there are as many levels as the longest path has tasks; each
 * other one in one of the `jump` levels before. Only the widths of levels are rounded; the last level takes what is
 * left of the n tasks.
 *
 * A task works on d elements of 8 bytes, d uniform in [min_data, max_data], and each successor reads all of them:
 * every task writes one datum. Its work, as in the papers that use daggen (N'Takpe, Suter and Casanova, ISPDC 2007),
 * is one of
 *
 *   scan      a d          such as an image filter
 *   sort      a d log2 d
 *   multiply  d^(3/2)      two matrices of d elements
 *
 * operations, with a uniform in [min_factor, max_factor]. A cpu does `gflops` of them; on cuda a task is faster by a
 * factor of its own, log-uniform in [min_speedup, max_speedup]. Times are given for these two kinds of workers.
 *
 * Choices: daggen's d goes from 2048^2 to 11264^2, 1 GB per task; here it fits in the memory of a GPU by default. Its
 * a goes from 2^6 to 2^9, as here. Speed-ups span those measured between a GPU and a core for the kernels of a
 * Cholesky factorisation, 1.72 (potrf) to 28.80 (gemm) (Cojean et al., "Resource aggregation for task-based Cholesky
 * factorization", table 1), and down to 0.5 for what a GPU is bad at. daggen's ccr only chooses among the three kinds
 * of work, which is `work` here; `ccr` here is the ratio itself.
 */
#ifndef HD_DAGGEN_RANDOM_H
#define HD_DAGGEN_RANDOM_H

#include <heddle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All are doubles so that one table has them; n, jump, seed and work are whole numbers. */
struct heddle_daggen_random {
	double n;          /* tasks */
	double fat;        /* 0: a chain, 1: next to no dependencies */
	double density;    /* 0: one predecessor, 1: half of the level before on average */
	double regularity; /* 0: levels from 0 to twice the average width, 1: all alike */
	double jump;       /* levels that an edge may span; 1: neighbours only */
	/* Communication to computation: the sum over edges of bytes / bandwidth, divided by the sum of the times on a
	 * cpu. All data are scaled to give it; 0: they stay as they are. */
	double ccr;
	double seed;
	double work;                   /* 0: each task one of the three at random, 1: scan, 2: sort, 3: multiply */
	double min_data, max_data;     /* elements of 8 bytes */
	double min_factor, max_factor; /* operations per element */
	double gflops;                 /* of a cpu */
	double min_speedup, max_speedup;
	double bandwidth; /* MB/s, for ccr */
};

struct heddle_daggen_parameter {
	const char *name;
	size_t offset;          /* of the double in struct heddle_daggen_random */
	double value, min, max; /* by default; limits, included */
	int whole;              /* whole numbers only */
	const char *help;
};

/* The fields by name, in the order of the structure. */
const struct heddle_daggen_parameter *heddle_daggen_random_parameters(size_t *n);
void heddle_daggen_random_init(struct heddle_daggen_random *parameters);
/* Changes what "n=1000,fat=0.6" names. HEDDLE_E_UNKNOWN lists the names; HEDDLE_E_INVALID has the range. */
int heddle_daggen_random_set(struct heddle_daggen_random *parameters, const char *settings);

/* The same parameters give the same graph, everywhere. The caller owns *out. HEDDLE_E_INVALID: a parameter is out of
 * range. */
int heddle_daggen_random(const struct heddle_daggen_random *parameters, struct heddle_graph **out);

#ifdef __cplusplus
}
#endif
#endif
