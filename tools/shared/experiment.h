/* Common parts of `heddle run` and `heddle sim`: their options, and the output of traces. */
#ifndef HD_SHARED_EXPERIMENT_H
#define HD_SHARED_EXPERIMENT_H

#include "tool.h"
#include "workload.h"

struct experiment {
	struct work what;
	const char *application;                      /* NULL until given */
	const char *sched, *sched_options, *clusters; /* NULL: as configured */
	const char *seed;                             /* as text; NULL: as configured */
	const char *trace, *gantt, *dag;              /* files to write; NULL: none */
	int explain;
	int leave_unsettled; /* the command completes the options of the application itself: work_settle */
	enum table_format format;
	struct tool_settings settings;
};

/* The parser of their options. Its input is a struct experiment that experiment_init has prepared. */
extern const struct argp experiment_argp;
void experiment_init(struct experiment *e);
void experiment_free(struct experiment *e);
/* To be called after parsing: checks options that depend on each other, reads the graph if there is one, and fills
 * `config`. TOOL_OK, or a message and TOOL_USAGE or TOOL_FAILURE. */
int experiment_config(struct experiment *e, struct heddle_config *config);
int experiment_check_files(const struct experiment *e);
/* Writes the files that the options ask for: TOOL_OK, or a message and TOOL_FAILURE. */
int experiment_write(const struct experiment *e, const struct heddle_trace *trace, const struct heddle_bounds *bounds);

/* summary.c: tables of workers, codelets and links, from a trace, of memories, and of figures that policies report. The
 * first SUMMARY_OF_TRACE tables are filled from a trace, the others from an outcome. */
enum { SUMMARY_TABLES = 5, SUMMARY_OF_TRACE = 3 };
void summary_init(struct table tables[SUMMARY_TABLES]);
void summary_add(struct table tables[SUMMARY_TABLES], const struct heddle_trace *trace);
/* Adds rows for an outcome: from its trace, if it has one; for each memory; and for the figures of its policy. */
void summary_add_outcome(struct table tables[SUMMARY_TABLES], const struct outcome *outcome);
/* Whether `path` has the extension of a picture: .png, .svg or .pdf. */
int summary_is_picture(const char *path);
/* Whether `path` has the extension of a drawing of a task graph: that of a picture, .dot or .gv. */
int summary_is_graph(const char *path);
/* Draws the Gantt chart; `best` is the lower bound in us, NAN or 0 for none. */
int summary_draw(const struct heddle_trace *trace, const char *path, double best);

#endif
