/* Common functions of the subcommands of `heddle`: exit statuses, messages, options, progress. */
#ifndef HD_SHARED_TOOL_H
#define HD_SHARED_TOOL_H

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <heddle.h>
#include "table.h"

/* Exit statuses. */
enum { TOOL_OK = 0, TOOL_FAILURE = 1, TOOL_USAGE = 2 };

/* The subcommands, one line each, in the order of `heddle help`. `heddle NAME` is tool_NAME, in a file of
 * tools/commands. */
#define TOOL_COMMANDS(COMMAND)                                                                                  \
	COMMAND(machine, "what this machine is made of: cores, memories, links")                                \
	COMMAND(policies, "scheduling policies, and the tunables of one")                                       \
	COMMAND(config, "every setting: its value, where the value comes from, its meaning")                    \
	COMMAND(platforms, "machines that can be simulated; `heddle platform calibrate` describes this one")    \
	COMMAND(run, "run an application on this machine")                                                      \
	COMMAND(sim, "run an application or a graph in virtual time on any machine, under one policy or all")   \
	COMMAND(graph, "statistics of a task graph from a file or a generator; conversion")                     \
	COMMAND(bound, "lower bounds of the makespan of an application or a graph on a machine")                \
	COMMAND(compare, "policies on several graphs and machines, next to the bounds: tables and a heat map")  \
	COMMAND(suite, "policies on a list of cells, next to the best of a set of policies in each cell")       \
	COMMAND(sparse, "sparse QR of a matrix: fill, operations, fronts, memory, the elimination tree")        \
	COMMAND(tune, "find the best tile, policy and tree for a routine, by virtual runs")                     \
	COMMAND(models, "performance models: list, show, plot, purge")                                          \
	COMMAND(trace, "summarise a trace file, draw it or convert it")                                         \
	COMMAND(lab, "compare heuristics that give Heteroprio its priorities, on random graphs of typed tasks") \
	COMMAND(repro, "repeat published experiments: the paper's figures next to Heddle's")                    \
	COMMAND(demo, "a tour of the library in a minute: run, simulate, draw")

/* argv[0] is "heddle NAME". */
#define TOOL_DECLARE(name, summary) int tool_##name(int argc, char **argv);
TOOL_COMMANDS(TOOL_DECLARE)
#undef TOOL_DECLARE
int tool_calibrate(int argc, char **argv); /* heddle platform calibrate */
int tool_rates(int argc, char **argv);     /* heddle platforms show */

/* --- Messages (util.c) -------------------------------------------------------------------------------------------- */

/* These print "heddle: ..." and a newline on standard error. tool_usage_error returns TOOL_USAGE, the other function
 * TOOL_FAILURE. */
int tool_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tool_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* argp_error, which ends the program; control characters are left out, because a terminal would obey them. */
void tool_option_error(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints "heddle: WHAT: " and the text of heddle_last_error; returns TOOL_FAILURE. */
int tool_library_error(const char *what);
/* tool_library_error for a start that has failed: returns TOOL_USAGE if settings, options or variables are the cause.
 * `what` may be NULL. */
int tool_start_error(const char *what);
/* Prints "heddle: ..." and a newline on standard error, unless the same message was printed before. */
void tool_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints each line of heddle_model_warnings as a message. */
void tool_warn_models(heddle_runtime *rt);

/* Memory for the command. tool_alloc fills it with zeros; tool_needed returns `p`, which the library has allocated.
 * When out of memory, these print a message and end the program with TOOL_FAILURE. */
void *tool_alloc(size_t size) __attribute__((malloc));
void *tool_realloc(void *old, size_t size);
void *tool_needed(void *p);
char *tool_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *tool_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* The width in columns of the terminal `out`; 0: `out` is no terminal. */
size_t tool_line_width(FILE *out);

/* --- Progress (progress.c) ---------------------------------------------------------------------------------------- */

/* Shows a line of progress on standard error: on a terminal it replaces the previous line, and tool_progress_end wipes
 * it; elsewhere one line a minute is printed. Any thread may call it. */
void tool_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tool_progress_end(void);
/* Whether a line is due at `now`, in s: always on a terminal; elsewhere a minute after the previous line, or after the
 * first call, at which *last is 0. */
int tool_progress_is_due(int terminal, double now, double *last);
/* Describes how much of a total (NAN: unknown) was done in `seconds`: "12 of 300 runs, 3.2/s, 90 s left". The caller
 * frees it. */
char *tool_progress_text(double done, double total, const char *unit, double seconds);

/* Shows how many of the next `total` tasks (NAN: unknown) of `rt` are done, until tool_watch_stop. NULL: nothing is
 * shown, because a thread cannot be started. */
struct tool_watch;
struct tool_watch *tool_watch_start(heddle_runtime *rt, const char *label, double total);
void tool_watch_stop(struct tool_watch *watch);

/* A number of bytes as "1.5 GiB". The caller frees it. */
char *tool_size_text(double bytes);

/* Seconds of real time since a fixed moment; only differences mean something. */
double tool_wall_clock(void);

/* Checks, before long work begins, that a file can be written: TOOL_OK, or a message (which names a missing directory)
 * and TOOL_FAILURE. */
int tool_check_writable(const char *path);
/* Checks that the file `name` can be written in a directory that the user has given for several files. Makes this
 * directory, but not the one that contains it. */
int tool_check_directory(const char *directory, const char *name);
/* The extension of a path with its dot, "" without one. */
const char *tool_extension(const char *path);

/* --- Threads (jobs.c) --------------------------------------------------------------------------------------------- */

/* Calls job(arg, i) for each i below n, on n_threads threads, of which the caller is one, and shows the progress as a
 * number of simulations. A job returns TOOL_OK or another status, which does not stop the other jobs; the first status
 * that is not TOOL_OK is the result. */
int tool_jobs(int (*job)(void *arg, size_t i), void *arg, size_t n, size_t n_threads);
/* The number of cores of this machine, which is at least 1. */
size_t tool_cores(void);

/* --- Suggestions (suggest.c) -------------------------------------------------------------------------------------- */

/* Prints 'there is no KIND "plicies"; did you mean "policies"?' or the list of all candidates; returns TOOL_USAGE. */
int tool_unknown(const char *kind, const char *word, const char *const *candidates, size_t n);
/* Checks the name of a policy or a platform: TOOL_OK when it exists, otherwise the same as tool_unknown. The file of a
 * platform counts as a platform, and "auto" as a policy if with_auto. */
int tool_check_policy(const char *name, int with_auto);
int tool_load_platform(const char *name, struct heddle_platform **out);
/* Loads a platform and groups its cores as `clusters` says; NULL or "": as the platform says. */
int tool_open_platform(const char *name, const char *clusters, struct heddle_platform **out);
/* Prints "which machine? ...", with the names of all platforms; returns TOOL_USAGE. */
int tool_no_platform(void);

/* plot.c: draws the times of one codelet against the size of its data, one curve per class. TOOL_OK, or a message and
 * TOOL_FAILURE. */
int tool_plot_models(const struct heddle_model_entry *entries, size_t n, const char *path);

/* describe.c: prints a platform as tables on standard output, and below them the table `more`, unless it is NULL. */
void tool_describe(const struct heddle_platform *platform, struct table *more, enum table_format format);

/* --- The machine (machine_options.c) ------------------------------------------------------------------------------ */

/* A child parser for the options that choose the workers on this machine. Its input is a struct tool_machine, which
 * needs no preparation. */
enum { TOOL_MACHINE_OPTIONS = 10 };
struct tool_machine {
	double values[TOOL_MACHINE_OPTIONS]; /* NAN: not given */
};
extern const struct argp tool_machine_argp;
/* Sets what the options say; call this after tool_config_init. */
void tool_machine_apply(const struct tool_machine *machine, struct heddle_config *config);

/* Child parsers for --clusters. The first is for commands that take cluster sets. The second is for commands that run
 * tasks: they also accept "adaptive" (the cluster set changes meanwhile) and "auto" (it is chosen before). The third is
 * for bounds, which with these words hold for every cluster set. The input is a const char *, which needs no
 * preparation: NULL is "not given". */
extern const struct argp tool_clusters_argp, tool_auto_clusters_argp, tool_any_clusters_argp;

/* --- Options (options.c) ------------------------------------------------------------------------------------------ */

/* argp_parse, which also suggests the right name for a misspelt long option: TOOL_OK or TOOL_USAGE. --help and wrong
 * values end the program. */
int tool_parse(const struct argp *argp, int argc, char **argv, void *input);
/* tool_parse for a command whose words contain options, those of `word`: if such an option is given beside the word,
 * the message says so. */
int tool_parse_words(const struct argp *argp, const struct argp *word, int argc, char **argv, void *input);

/* Values of options. A wrong value ends the program with TOOL_USAGE and a message with the valid range. */
long tool_int(const struct argp_state *state, const char *option, const char *text, long min, long max);
/* Whole numbers separated by commas: fills `out`, which has room for `room` numbers, and returns their number. */
size_t tool_ints(const struct argp_state *state, const char *option, const char *list, const long range[2], long *out,
                 size_t room);
double tool_real(const struct argp_state *state, const char *option, const char *text, double min, double max);
/* A number of bytes, written as 1048576, 64M, 2G or 1.5GiB (powers of 1024). */
uint64_t tool_size(const struct argp_state *state, const char *option, const char *text);

/* A child parser for --json and --csv. Its input is an enum table_format. */
extern const struct argp tool_format_argp;

/* A child parser for --set NAME=VALUE, which changes a setting of the library. Its input is a struct tool_settings. */
struct tool_settings {
	const char *items[32]; /* each "name=value"; borrows argv */
	size_t n;
};
extern const struct argp tool_set_argp;
/* Calls heddle_config_init, then applies the settings of --set: TOOL_OK, or a message and TOOL_USAGE or
 * TOOL_FAILURE. */
int tool_config_init(struct heddle_config *config, const struct tool_settings *settings);
/* Applies the settings of --set alone. */
int tool_config_set(struct heddle_config *config, const struct tool_settings *settings);

/* The options of a subcommand that only shows something and takes no argument: the format of its tables, and
 * settings. */
struct tool_view {
	enum table_format format;
	struct tool_settings settings;
};
error_t tool_view_parse(int key, char *arg, struct argp_state *state);
extern const struct argp_child tool_view_children[];

#endif
