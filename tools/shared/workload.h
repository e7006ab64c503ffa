/* The work that `heddle run`, `sim`, `demo` and `platform calibrate` do (an application, or a task graph), its outcome,
 * and its simulation in virtual time. Runs on this machine are in dense_run.h. */
#ifndef HD_SHARED_WORKLOAD_H
#define HD_SHARED_WORKLOAD_H

#include <argp.h>
#include <heddle/dense.h>
#include <heddle/trace.h>

struct work {
	const char *name;                    /* of the application, or of the graph's file */
	struct heddle_dense_problem problem; /* a dense routine and its parameters */
	const char *given;                   /* an option that was given and that a graph does not have; NULL: none */
	struct heddle_graph *graph;          /* NULL: the work is a routine. Whoever opened the work owns the graph */
	const char *record;                  /* file to write the submitted graph to; NULL: none. Needs keep_trace */
	int repeat;                          /* factorisations in a row on this machine; at least 1 */
	int quiet;                           /* do not show progress */
	int keep_trace;                      /* leave the trace of the last factorisation in the outcome */
	int explain;                         /* and what happened in each memory; needs keep_trace */
};

/* workload_parse.c: potrf of a matrix of order 4096, without a name, and with tile 0: not chosen yet. */
void work_init(struct work *work);
/* Reads work that is written in one word, and settles the tile (256). The word is a routine of libheddle-dense,
 * "potrf", with parameters if need be: "gemm:n=19200,k=960,tile=960,precision=s,priorities=none"; or the path of a
 * graph, or "random:NAME=VALUE,..."; the work borrows `text` as its name. TOOL_OK, or a message and TOOL_USAGE or
 * TOOL_FAILURE. The caller owns the graph, if there is one. */
int work_open(struct work *work, const char *text);
/* The same, but a tile that was not chosen stays 0. */
int work_open_untiled(struct work *work, const char *text);
/* If no tile was chosen, it becomes `usual`, or the order of the matrix where that is smaller. Returns 0 if the tile
 * that was chosen is larger than all extents of the matrix. */
int work_settle_tile(struct work *work, size_t usual);
/* A child parser for the parameters of a routine: --n, --m, --tile, --precision ... Its input is a struct work. */
extern const struct argp work_argp;
/* "double", "single", "complex double" or "complex single". */
const char *work_precision(const struct work *work);
/* The letter of the precision, as names of codelets begin: 'd', 's', 'z' or 'c'. */
char work_letter(const struct work *work);
/* The largest of the extents m, n and k that are given. */
size_t work_largest_extent(const struct heddle_dense_problem *problem);
/* The text after the options in a help: a line on each routine. The caller frees it. */
char *work_routines_text(void);

/* Something that the policy reports; owns its strings. */
struct figure {
	char *name, *unit;
	double value;
	int is_count; /* 1: a count, of the last factorisation alone; 0: since the start of the runtime */
};
struct figures {
	struct figure *list; /* owns */
	size_t n;
};

/* What happened in a memory during the last factorisation. */
struct memory_use {
	struct heddle_trace_memory traced;
	double evictions;
};

struct outcome {
	/* makespan: the median of the repetitions, the least and the largest */
	double seconds, min_seconds, max_seconds;
	double gflops; /* NAN: unknown */
	double residual;
	double last_seconds; /* makespan of the last factorisation */
	double wall; /* s of real time for the last factorisation; in virtual time, not the same as last_seconds */
	/* The fields that follow are of the last factorisation too. */
	double tasks;
	double transfers, bytes_moved, evictions;
	double busy;                        /* us, summed over workers */
	double idle;                        /* share of workers x time, 0 to 1 */
	double sched_time;                  /* us in the policy's callbacks; 0 unless config.time_policy */
	double batches, picks, empty_picks; /* calls of the policy: ready, pick, and those of pick that gave no task */
	struct heddle_trace *trace;         /* owns; NULL unless kept */
	struct memory_use *memories;        /* owns; per node of the trace's platform; NULL unless explained */
	uint64_t
	    *evicted; /* owns; per node: how many data had been evicted before the last factorisation; NULL: none */
	struct heddle_bounds bounds; /* us; all NAN unless the times of all tasks are known */
	struct figures figures;      /* what the policy reports */
	struct figures counted;      /* the counts that the policy reported before the last factorisation */
	char policy[64];
	/* TOOL_OK, or TOOL_FAILURE: stopping the runtime failed, and a message was printed. The other fields are
	 * valid. */
	int stopped;
};

/* The functions below return TOOL_OK, or print a message and return TOOL_FAILURE or TOOL_USAGE. After success the
 * caller frees *out with outcome_free. */

/* Simulates the work in virtual time. The bounds are NAN unless a trace is kept; the iterative one is always NAN. */
int work_sim(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
             struct outcome *out);
/* The graph of the work: its own, or what the application submits in a simulated run. Call work_close_graph after
 * use. */
int work_open_graph(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                    struct heddle_graph **out);
void work_close_graph(const struct work *work, struct heddle_graph *graph);
/* The bounds of the graph of the work; the iterative one only if the graph is not too large. Also writes the graph to
 * work->record. */
int work_bounds(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                struct heddle_bounds *out);
/* Checks that the platform has times for the kernels of the routine in this precision. A graph is not checked here,
 * but when it is submitted. */
int work_check_platform(const struct heddle_platform *platform, const struct work *work);
/* The classes of workers that no task of the work has a time for, so that their workers stay idle, as "k40m, mic". The
 * caller frees it. NULL: there is no such class. */
char *work_untimed(const struct heddle_platform *platform, const struct work *work);
/* Warns of these classes on standard error. */
void work_warn_untimed(const struct heddle_platform *platform, const struct work *work, const char *untimed);
/* The number of floating-point operations of the work (0: unknown). */
double work_flops(const struct work *work);

/* Functions that fill an outcome. Those with a result return 0 or a negative heddle_status. */
void outcome_init(struct outcome *out, const char *policy);
void outcome_free(struct outcome *out);
/* Take the difference of the runtime's counters; then the makespan in us, from which the idle share follows. */
void outcome_take_stats(struct outcome *out, const struct heddle_stats *before, const struct heddle_stats *after);
void outcome_take_time(struct outcome *out, double us, size_t n_workers);
/* Notes what the policy has counted so far, so that it is left out of the counts of the run that begins now. */
int outcome_begin(struct outcome *out, heddle_runtime *rt);
/* Takes what the policy reports and, if it is to be kept, the trace. Writes the graph to work->record. */
int outcome_take_rest(struct outcome *out, heddle_runtime *rt, const struct work *work);

#endif
