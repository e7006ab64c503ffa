/* The work that `heddle run`, `sim`, `demo` and `platform calibrate` do (an application, or a task graph), its outcome,
 * and its simulation in virtual time. Runs on this machine are in application_run.h. */
#ifndef HD_SHARED_WORKLOAD_H
#define HD_SHARED_WORKLOAD_H

#include <argp.h>
#include <heddle/dense.h>
#include <heddle/trace.h>
#include "recording.h"
#include "table.h"

/* An option of an application, as it was given before the application was known; borrows both. */
struct work_option {
	const char *name, *text;
};

struct work {
	const char *name;                            /* of the application, or of the graph's file */
	const struct heddle_application *app;        /* NULL: the dense routine that `problem` names */
	union {                                      /* the options of the application */
		struct heddle_dense_problem problem; /* of a dense routine */
		unsigned char options[HEDDLE_PARAMETERS_MAX];
	};
	struct work_option given[32]; /* options for work_open, which applies them */
	size_t n_given;
	struct heddle_graph *graph; /* NULL: the work is an application. owned by the caller that opened the work */
	char assumed[256];  /* what work_assume_times has assumed of the graph's times, up to "..."; "": nothing */
	int check;          /* compute the residual of a run on this machine */
	const char *record; /* file to write the submitted graph to; NULL: none. Needs keep_trace */
	int repeat;         /* factorisations in a row on this machine; at least 1 */
	int data_in_ram;    /* a run on this machine begins with all data in main memory, and only there */
	int quiet;          /* do not show progress */
	int near_bounds;    /* `mixed` of the bounds is the best of heddle_graph_near_bounds, which takes longer */
	int keep_trace;     /* leave the trace of the last factorisation in the outcome */
	int explain;        /* also find the use of each memory; needs keep_trace */
	/* borrows; shared by all simulations of this work on one platform and the computation of bounds; each is a use;
	 * NULL: none */
	struct recording *recording;
};

/* workload_parse.c: initialises work that is not known yet. Also fills work_argp with the options of all
 * applications. */
void work_init(struct work *work);
/* Reads work that is written in one word, and completes its options. The word is an application, "potrf", with options
 * if need be: "gemm:n=19200,k=960,tile=960,precision=s,priorities=none"; or the path of a graph, or
 * "random:NAME=VALUE,..."; the work borrows `text` as its name. TOOL_OK, or a message and TOOL_USAGE or TOOL_FAILURE.
 * The caller owns the graph, if there is one. */
int work_open(struct work *work, const char *text);
/* work_open without completing the options that follow from others: a tile that was not given stays 0. */
int work_open_unsettled(struct work *work, const char *text);
/* Completes the options after work_open_unsettled: TOOL_OK, or a message and TOOL_USAGE. */
int work_settle(struct work *work);
/* Gives the application the seed of the configuration, unless it has one of its own. */
void work_seed(struct work *work, uint64_t seed);
/* A child parser for the options of applications: --n, --m, --tile, --precision ... Its input is a struct work. */
extern struct argp work_argp;
/* tool_parse for commands that take these options only within a word, as in potrf:n=512: if one is given as a separate
 * option, the message says so. */
int work_parse_words(const struct argp *argp, int argc, char **argv, void *input);
/* The application of the work, which is not a graph. */
const struct heddle_application *work_application(const struct work *work);
/* Whether the work is a dense routine, so that `problem` holds its options. */
int work_is_dense(const struct work *work);
/* Whether the work is one of Heddle's applications, which are known only to submit tasks, register and unregister data,
 * and wait. */
int work_is_ours(const struct work *work);
/* The letter of the precision of a dense routine, as names of codelets begin: 'd', 's', 'z' or 'c'. */
char work_letter(const struct work *work);
/* The largest of the extents m, n and k that are given. */
size_t work_largest_extent(const struct heddle_dense_problem *problem);
/* The text after the options in a help: a line on each application. The caller frees it. */
char *work_applications_text(void);

/* The options that tables show: their columns, of which there are at most `room`, and their cells. A graph has none. */
size_t work_columns(const struct work *work, struct table_column *columns, size_t room);
void work_add_cells(const struct work *work, struct table *table);

/* A figure that the policy reports; owns its strings. */
struct figure {
	char *name, *unit;
	double value;
	int is_count; /* 1: a count, of the last factorisation alone; 0: since the start of the runtime */
};
struct figures {
	struct figure *list; /* owns */
	size_t n;
};

/* The use of a memory during the last factorisation. */
struct memory_use {
	struct heddle_trace_memory traced;
	double evictions;
};

struct outcome {
	/* makespan: the median of the repetitions, the least and the largest */
	double seconds, min_seconds, max_seconds;
	double deviation; /* standard deviation of the repetitions, s; NAN: fewer than two */
	double gflops;    /* NAN: unknown */
	double residual;
	double last_seconds; /* makespan of the last factorisation */
	double wall; /* s of real time for the last factorisation; in virtual time, not the same as last_seconds */
	/* The following fields are for the last factorisation, too. */
	double tasks;
	double transfers, bytes_moved, evictions;
	double busy;                        /* us, summed over processors (heddle_stats) */
	double processors;                  /* mean number of driven processors */
	double idle;                        /* share of processors x time, 0 to 1 */
	double sched_time;                  /* us in the policy's callbacks; 0 unless config.time_policy */
	double batches, picks, empty_picks; /* numbers of calls of the policy: ready; pick; pick without a task */
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

/* Simulates the work in virtual time. The bounds stay NAN: work_bounds finds them. */
int work_sim(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
             struct outcome *out);
/* The graph of the work: a given graph, or the tasks that the application submits in a simulated run. The caller calls
 * work_close_graph after use. */
int work_open_graph(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                    struct heddle_graph **out);
void work_close_graph(const struct work *work, struct heddle_graph *graph);
/* The bounds of the graph of the work; the iterative bound only if the graph is not too large. Also writes the graph to
 * work->record. Without a recording, an additional run finds the graph. */
int work_bounds(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                struct heddle_bounds *out);
/* Checks that the platform has times for the codelets of the application, if it names them. A graph is checked when it
 * is submitted, not here. */
int work_check_platform(const struct heddle_platform *platform, const struct work *work);
/* The classes of workers that no task of the work has a time for, so that their workers stay idle, as "k40m, mic". The
 * caller frees it. NULL: there is no such class. */
char *work_untimed(const struct heddle_platform *platform, const struct work *work);
/* Warns of these classes on standard error. */
void work_warn_untimed(const struct heddle_platform *platform, const struct work *work, const char *untimed);
/* Whether the work's graph has times for some class, from which other times can be assumed. */
int work_has_times(const struct work *work);
/* The number of floating-point operations of the work (0 or NAN: unknown). */
double work_flops(const struct work *work);

/* Functions that fill an outcome. Those with a result return 0 or a negative heddle_status. */
void outcome_init(struct outcome *out, const char *policy);
void outcome_free(struct outcome *out);
/* outcome_take_stats takes the difference of the runtime's counters; the next function takes the makespan in us, from
 * which the idle share follows. */
void outcome_take_stats(struct outcome *out, const struct heddle_stats *before, const struct heddle_stats *after);
void outcome_take_time(struct outcome *out, double us);
/* Notes the policy's counts so far, so that they are subtracted from those of the run that begins now. */
int outcome_begin(struct outcome *out, heddle_runtime *rt);
/* Takes the policy's figures and, if work->keep_trace, the trace. Writes the graph to work->record. */
int outcome_take_rest(struct outcome *out, heddle_runtime *rt, const struct work *work);

#endif
