/* The experiment behind `heddle run`, `sim`, `demo` and `platform calibrate`: one Cholesky factorisation, for real or in
 * virtual time, and what is to be said about it. */
#ifndef TOOL_CHOLESKY_H
#define TOOL_CHOLESKY_H

#include <dense/dense.h>

struct cholesky {
	struct heddle_dense_problem problem;
	int repeat;     /* real runs: factorisations in a row; at least 1 */
	int keep_trace; /* leave the trace of the last factorisation in the outcome */
};

/* Something that the policy counted; owns its strings. */
struct cholesky_figure {
	char *name, *unit;
	double value;
};

struct cholesky_outcome {
	double seconds, min_seconds, max_seconds; /* the median of the repetitions, and the extremes */
	double gflops, residual;
	double last_seconds;   /* of the last factorisation */
	double wall; /* s that the program took for the last factorisation: differs from seconds in virtual time */
	double tasks;          /* of the last factorisation, like all that follows */
	double transfers, bytes_moved, evictions;
	double idle;           /* share of workers x time, 0 to 1 */
	struct heddle_trace *trace; /* owns; NULL unless kept */
	struct heddle_bounds bounds; /* us; all NAN when nobody knows the times of all tasks */
	struct cholesky_figure *figures; /* owns; what the policy reports about itself */
	size_t n_figures;
	char policy[64];
};

/* The functions below print a message when they fail, and return TOOL_OK, TOOL_FAILURE or TOOL_USAGE; *out is to be freed with
 * cholesky_outcome_free after success.
 *
 * On this machine, as `config` says. With a trace kept, there are bounds: see measured.h. */
int cholesky_run(const struct heddle_config *config, const struct cholesky *what, struct cholesky_outcome *out);
/* Those of a running runtime, whose trace the function takes. */
int cholesky_run_on(heddle_runtime *rt, const struct cholesky *what, struct cholesky_outcome *out);
/* In virtual time. Bounds are left NAN unless a trace is kept. */
int cholesky_sim(const struct heddle_config *config, const struct heddle_platform *platform,
                 const struct cholesky *what, struct cholesky_outcome *out);
/* The bounds of the graph on a platform, from a simulated run under `eager`. */
int cholesky_bounds(const struct heddle_config *config, const struct heddle_platform *platform,
                    const struct cholesky *what, struct heddle_bounds *out);
void cholesky_outcome_free(struct cholesky_outcome *outcome);

/* Whether the platform knows the four kernels in this precision: TOOL_OK, or a message and TOOL_USAGE. */
int cholesky_check_platform(const struct heddle_platform *platform, const struct cholesky *what);
/* Whether the matrix fits in this machine's memory: TOOL_OK, or a message and TOOL_USAGE. */
int cholesky_check_memory(const struct cholesky *what);

#endif
