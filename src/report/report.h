/* libheddle-report.so: charts and bounds, for which it needs cairo and a solver of linear programs. Programs that use
 * neither charts nor bounds run without this library: libheddle.so needs neither cairo nor the solver. The public
 * functions for charts and bounds load libheddle-report.so when one of them is first called, and call the functions of
 * its table. A program that is linked with libheddle.a and -Wl,-u,hd_report contains the table.
 *
 * load.c is in libheddle.so. libheddle-report.so has src/plot, src/bounds and src/report_library/table.c. */
#ifndef HD_REPORT_REPORT_H
#define HD_REPORT_REPORT_H

#include <heddle/chart.h>
#include <heddle/graph.h>
#include <heddle/trace.h>

/* F(name, parameters, arguments) for each function of the table. The public function is called heddle_ and the name.
 * The function in src/plot or src/bounds that does the work is called hd_ and the name. */
#define HD_REPORT_FUNCTIONS(F)                                                                                       \
	F(chart_lines, (const struct heddle_chart *chart, const char *path), (chart, path))                          \
	F(graph_bounds,                                                                                              \
	  (const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,                \
	   struct heddle_bounds *out),                                                                               \
	  (graph, platform, rounds, out))                                                                            \
	F(graph_near_bounds,                                                                                         \
	  (const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,                \
	   struct heddle_near_bounds *out),                                                                          \
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
	/* version of Heddle, which must be equal in both libraries, because they share structures */
	const char *version;
	/* the hd_error that these functions call. It must be the hd_error of this libheddle, whose sentences
	 * heddle_last_error returns; another address belongs to another copy of Heddle in this process. */
	int (*error)(int status, const char *format, ...);
#define HD_REPORT_FIELD(name, parameters, arguments) int(*name) parameters;
	HD_REPORT_FUNCTIONS(HD_REPORT_FIELD)
};

/* Puts the table into *out, and loads the library if need be. `who` is the name of the caller, with which the message
 * of an error begins. HEDDLE_E_UNSUPPORTED: there is no library. May be called by any thread. */
int hd_report_library(const char *who, const struct hd_report **out);

#endif
