/* libheddle-report.so: charts and bounds, and what they are made with, cairo and a solver of linear programs. Programs
 * that do not ask for them run without it: libheddle.so needs neither. Its public functions for charts and bounds load
 * libheddle-report.so when one of them is first called, and call what its table has. A program that is linked with
 * libheddle.a has the table in itself, if it was linked with -Wl,-u,hd_report.
 *
 * load.c is in libheddle.so. libheddle-report.so has src/plot, src/bounds and src/report_library/table.c. */
#ifndef HD_REPORT_REPORT_H
#define HD_REPORT_REPORT_H

#include <heddle/chart.h>
#include <heddle/graph.h>
#include <heddle/trace.h>

/* F(name, parameters, arguments) for each function of the table. The public function is heddle_ and the name; what it
 * does is in src/plot or src/bounds, and is called hd_ and the name. */
#define HD_REPORT_FUNCTIONS(F)                                                                                       \
	F(chart_lines, (const struct heddle_chart *chart, const char *path), (chart, path))                          \
	F(graph_bounds,                                                                                              \
	  (const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,                \
	   struct heddle_bounds *out),                                                                               \
	  (graph, platform, rounds, out))                                                                            \
	F(trace_bounds,                                                                                              \
	  (const struct heddle_trace *trace, heddle_time_fn time, void *arg, unsigned rounds,                        \
	   struct heddle_bounds *out),                                                                               \
	  (trace, time, arg, rounds, out))                                                                           \
	F(trace_dag, (const struct heddle_trace *trace, const char *path, const struct heddle_dag_options *options), \
	  (trace, path, options))                                                                                    \
	F(trace_gantt,                                                                                               \
	  (const struct heddle_trace *trace, const char *path, const struct heddle_gantt_options *options),          \
	  (trace, path, options))

#define HD_REPORT_DECLARE(name, parameters, arguments) int hd_##name parameters;
HD_REPORT_FUNCTIONS(HD_REPORT_DECLARE)

struct hd_report {
	const char *version; /* of Heddle: the functions see structures of the other library, which must be the same */
	/* hd_error, as these functions call it: whose sentences heddle_last_error returns. Another one belongs to
	 * another copy of Heddle in this process. */
	int (*error)(int status, const char *format, ...);
#define HD_REPORT_FIELD(name, parameters, arguments) int(*name) parameters;
	HD_REPORT_FUNCTIONS(HD_REPORT_FIELD)
};

/* *out: the table, loaded if need be. The message of an error begins with `who`, which asks for it.
 * HEDDLE_E_UNSUPPORTED: there is none. Any thread. */
int hd_report_library(const char *who, const struct hd_report **out);

#endif
