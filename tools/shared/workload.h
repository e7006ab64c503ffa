/* What `heddle run`, `sim`, `demo` and `platform calibrate` compute -- an application, or a graph as a value -- in
 * virtual time, and what is to be said about it. Real runs: cholesky.h. */
#ifndef HD_SHARED_WORKLOAD_H
#define HD_SHARED_WORKLOAD_H

#include <dense/dense.h>

struct work {
	const char *name;                    /* of the application, or of the graph's file */
	struct heddle_dense_problem problem; /* cholesky */
	struct heddle_graph *graph;          /* NULL: cholesky. The holder of the work owns it */
	const char *record; /* where to write the graph that was submitted; NULL: nowhere. Needs keep_trace */
	int repeat;         /* real runs: factorisations in a row; at least 1 */
	int quiet;          /* shows no progress of its own */
	int keep_trace;     /* leave the trace of the last factorisation in the outcome */
};

/* workload_parse.c: matrices of order 4096 whose tile is not chosen yet, 0; without a name. */
void work_init(struct work *work);
/* Reads what is written in one word, and settles the tile (256): "cholesky",
 * "cholesky:n=19200,tile=960,precision=s,priorities=none", a file of a graph, or "random:NAME=VALUE,..."; `text` is
 * borrowed for its name. TOOL_OK, or a message and TOOL_USAGE or TOOL_FAILURE. The graph, if there is one, is the
 * caller's. */
int work_open(struct work *work, const char *text);
/* A tile that nobody chose becomes `usual`, or the whole matrix where that is smaller. 0: one was chosen that is larger
 * than it. */
int work_settle_tile(struct work *work, size_t usual);
/* One of the parameters of cholesky: n, tile, precision, priorities. NULL, or what it must be, to follow "it must
 * be". */
const char *work_set(struct heddle_dense_problem *problem, const char *name, const char *value);

/* Something that the policy reports; owns its strings. */
struct figure {
	char *name, *unit;
	double value;
	int is_count; /* of the last factorisation alone; otherwise since the runtime's start */
};
struct figures {
	struct figure *list; /* owns */
	size_t n;
};

struct outcome {
	double seconds, min_seconds, max_seconds; /* makespan: the median of the repetitions, and the extremes */
	double gflops;                            /* NAN: unknown */
	double residual;
	double last_seconds; /* of the last factorisation */
	double wall;  /* s that the program took for the last factorisation: differs from seconds in virtual time */
	double tasks; /* of the last factorisation, like all that follows */
	double transfers, bytes_moved, evictions;
	double busy;                        /* us, summed over workers */
	double idle;                        /* share of workers x time, 0 to 1 */
	double sched_time;                  /* us in the policy's callbacks; 0 unless config.time_policy */
	double batches, picks, empty_picks; /* calls of the policy: ready, pick, and pick in vain */
	struct heddle_trace *trace;         /* owns; NULL unless kept */
	struct heddle_bounds bounds;        /* us; all NAN when nobody knows the times of all tasks */
	struct figures figures;             /* what the policy reports about itself */
	struct figures counted;             /* its counts before the last factorisation */
	char policy[64];
	int stopped; /* TOOL_OK, or TOOL_FAILURE: the runtime did not stop well, as a message said; the rest holds */
};

/* The functions below print a message when they fail, and return TOOL_OK, TOOL_FAILURE or TOOL_USAGE; *out is to be
 * freed with outcome_free after success.
 *
 * In virtual time. Bounds are left NAN unless a trace is kept, and the iterative one even then. */
int work_sim(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
             struct outcome *out);
/* The work's own graph, or what the application submits, from a simulated run; to be closed. */
int work_open_graph(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                    struct heddle_graph **out);
void work_close_graph(const struct work *work, struct heddle_graph *graph);
/* The bounds of that graph, the iterative one if it is not too large; writes it where it is asked for. */
int work_bounds(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                struct heddle_bounds *out);
/* Whether the platform knows the four kernels of cholesky in this precision; for a graph: it is seen when it is
 * submitted. */
int work_check_platform(const struct heddle_platform *platform, const struct work *work);
/* The classes with workers that no task of the work has a time for, so that their workers stay idle: "k40m, mic". The
 * caller's; NULL: there is none. */
char *work_untimed(const struct heddle_platform *platform, const struct work *work);
/* Says so on standard error. */
void work_warn_untimed(const struct heddle_platform *platform, const struct work *work, const char *untimed);
/* Operations, 0: unknown; tasks. */
double work_flops(const struct work *work);
double work_tasks(const struct work *work);

/* What runs fill outcomes with. These return 0 or a negative heddle_status. */
void outcome_init(struct outcome *out, const char *policy);
void outcome_free(struct outcome *out);
/* What the counters have gained from `before` to `after`; then how long that took, us, and with it the idle time. */
void outcome_take_stats(struct outcome *out, const struct heddle_stats *before, const struct heddle_stats *after);
void outcome_take_time(struct outcome *out, double us, size_t n_workers);
/* What the policy has counted so far is not of the run that begins now. */
int outcome_begin(struct outcome *out, heddle_runtime *rt);
/* What the policy reports; the graph, written where the work says; the trace if it is to be kept. */
int outcome_take_rest(struct outcome *out, heddle_runtime *rt, const struct work *work);

#endif
