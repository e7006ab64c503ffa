/* Writes traces, graphs and explanations when the runtime stops: see reports.h. */
#include "start/reports.h"
#include <errno.h>
#include <heddle/graph.h>
#include <heddle/trace.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "flow/errands.h"
#include "record/events.h"
#include "report/report.h"
#include "state/core_lock.h"
#include "state/process.h"
#include "trace/journal.h"

static int is_set(const char *text)
{
	return text && *text;
}

int hd_reports_wanted(const struct heddle_config *c)
{
	return is_set(c->trace_file) || is_set(c->record) || c->explain || is_set(c->explain_file);
}

/* --- Names of files ----------------------------------------------------------------------------------------------- */

enum format { TRACE_FILE, CHROME, TABLE, PAJE, PICTURE, GRAPH, NONE };
static const struct {
	const char *extension;
	enum format format;
} formats[] = {
    {".trace", TRACE_FILE}, {".json", CHROME}, {".csv", TABLE}, {".paje", PAJE}, {".png", PICTURE},
    {".svg", PICTURE},      {".pdf", PICTURE}, {".dot", GRAPH}, {".gv", GRAPH},
};

/* The offset of the extension, its '.', in a name of `length` characters; `length`: there is no extension. */
static size_t extension_at(const char *name, size_t length)
{
	for (size_t i = length; i-- > 0 && name[i] != '/';)
		if (name[i] == '.')
			return i;
	return length;
}

static enum format format_of(const char *name, size_t length)
{
	size_t at = extension_at(name, length);
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strlen(formats[i].extension) == length - at &&
		    strncasecmp(name + at, formats[i].extension, length - at) == 0)
			return formats[i].format;
	return NONE;
}

/* Whether heddle_graph_save has a format for the extension of this name. */
static int is_graph(const char *name, size_t length)
{
	enum format format = format_of(name, length);
	return format == CHROME || format == GRAPH;
}

/* Whether libheddle-report.so makes the format. Without that library, the start of a runtime fails, because an error
 * when the file is written, at the stop, would come too late. */
static int needs_library(enum format format)
{
	return format == PICTURE || format == GRAPH;
}

int hd_reports_check(const struct heddle_config *c)
{
	const struct hd_report *table;
	for (const char *at = is_set(c->trace_file) ? c->trace_file : ""; *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");
		if (format_of(at, length) == NONE)
			return hd_error(HEDDLE_E_INVALID,
			                "trace (HEDDLE_TRACE) is \"%.*s\": it must be one of " HD_BOOL_WORDS
			                ", or a file that ends in .trace, .json, .csv, .paje, .png, .svg, .pdf or .dot",
			                (int)length, at);
		int status =
		    needs_library(format_of(at, length)) ? hd_report_library("trace (HEDDLE_TRACE)", &table) : 0;
		if (status)
			return status;
		at += length;
	}
	for (const char *at = is_set(c->record) ? c->record : ""; *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");
		if (!is_graph(at, length))
			return hd_error(
			    HEDDLE_E_INVALID,
			    "record (HEDDLE_RECORD) is \"%.*s\": it must be a file that ends in .json or .dot",
			    (int)length, at);
		at += length;
	}
	return 0;
}

/* The name of a file of this runtime: "%p" becomes the process id, and the name for the second runtime of the process
 * gets "-2" before its extension. The caller frees it. NULL: out of memory. */
static char *name_for(const heddle_runtime *rt, const char *name, size_t length)
{
	size_t dot = extension_at(name, length);
	char number[24] = "", process[24];
	snprintf(process, sizeof process, "%ld", (long)getpid());
	if (rt->report > 1)
		snprintf(number, sizeof number, "-%u", rt->report);
	char *result = hd_format("%.*s%s%.*s", (int)dot, name, number, (int)(length - dot), name + dot);
	for (char *p; result && (p = strstr(result, "%p"));) {
		char *longer = hd_format("%.*s%s%s", (int)(p - result), result, process, p + 2);
		free(result);
		result = longer;
	}
	if (!result)
		hd_no_memory("the name of a file");
	return result;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static int write_as(const struct heddle_trace *trace, enum format format, const char *path)
{
	const struct heddle_gantt_options options = {.transfers = trace->n_transfers > 0, .critical_path = 1};
	switch (format) {
	case TRACE_FILE: return heddle_trace_save(trace, path);
	case CHROME: return heddle_trace_export(trace, HEDDLE_TRACE_CHROME, path);
	case TABLE: return heddle_trace_export(trace, HEDDLE_TRACE_CSV, path);
	case PAJE: return heddle_trace_export(trace, HEDDLE_TRACE_PAJE, path);
	case GRAPH: return heddle_trace_dag(trace, path, NULL);
	default: return heddle_trace_gantt(trace, path, &options);
	}
}

void hd_reports_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	hd_print_args(stderr, format, args);
	va_end(args);
}

/* Prints a failure on standard error; returns `status`. The failure of a report is no error of the program, because the
 * program may not know that somebody has asked for the report. */
static int say_failure(int status, const char *what)
{
	if (status)
		hd_print(stderr, "heddle: %s: %s\n", what, heddle_last_error());
	return status;
}

/* Writes the traces that the configuration asks for. Returns 1 if all were written. */
static int write_traces(heddle_runtime *rt, const struct heddle_trace *trace)
{
	const char *list = rt->config.trace_file;
	int failed = 0;
	for (const char *at = is_set(list) ? list : ""; *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");
		char *path = name_for(rt, at, length);
		failed |= say_failure(path ? write_as(trace, format_of(at, length), path) : HEDDLE_E_MEMORY,
		                      "the trace was not written (HEDDLE_TRACE)");
		free(path);
		at += length;
	}
	return !failed;
}

static void write_graphs(heddle_runtime *rt)
{
	static const char failed[] = "the graph was not written (HEDDLE_RECORD)";
	struct heddle_graph *graph = NULL;
	int status = heddle_graph_record(rt, &graph);
	say_failure(status, failed);
	for (const char *at = status ? "" : rt->config.record; *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");
		char *path = name_for(rt, at, length);
		say_failure(path ? heddle_graph_save(graph, path) : HEDDLE_E_MEMORY, failed);
		free(path);
		at += length;
	}
	heddle_graph_free(graph);
}

static int write_explanation(heddle_runtime *rt, const struct heddle_trace *trace)
{
	const char *name = rt->config.explain_file;
	if (!is_set(name))
		return hd_explain(rt, trace, stderr);
	char *path = name_for(rt, name, strlen(name));
	if (!path)
		return HEDDLE_E_MEMORY;
	FILE *out = fopen(path, "w");
	int status = out ? hd_explain(rt, trace, out) : 0;
	int broken = out ? ferror(out) : 1;
	if (out && fclose(out))
		broken = 1;
	if (!status && broken)
		status = hd_error(HEDDLE_E_IO, "%s cannot be written: %s", path, strerror(errno));
	free(path);
	return status;
}

void hd_reports_write(heddle_runtime *rt)
{
	const struct heddle_config *c = &rt->config;
	struct hd_sentence before;
	struct heddle_trace *trace = NULL;
	if (!hd_reports_wanted(c))
		return;
	hd_error_keep(&before);
	if (is_set(c->record))
		write_graphs(rt);
	hd_journal_stop(rt->journal);
	int status = heddle_trace_take(rt, &trace);
	say_failure(status, "nothing was recorded (HEDDLE_TRACE, HEDDLE_EXPLAIN)");
	hd_journal_close(rt->journal, !status && write_traces(rt, trace));
	rt->journal = NULL;
	if (!status && (c->explain || is_set(c->explain_file)))
		say_failure(write_explanation(rt, trace), "nothing is explained (HEDDLE_EXPLAIN)");
	heddle_trace_free(trace);
	hd_error_give_back(&before);
}

/* --- Programs that end without heddle_stop ------------------------------------------------------------------------ */

/* Guards `expected`, the list of the runtimes whose reports are not written yet. Held only briefly, and no other lock
 * is acquired while it is held. Except when the process ends: end_process() keeps it, so that no runtime is stopped
 * while its reports are written. */
static struct hd_lock expected_lock;
static heddle_runtime *expected; /* guarded by expected_lock; the newest first */

/* Opens the journal beside the first trace file: its name is the name of the trace file with ".part" appended. */
static void open_journal(heddle_runtime *rt)
{
	const char *list = rt->config.trace_file;
	if (!is_set(list) || !rt->engine->runs_kernels)
		return;
	list += strspn(list, ",");
	char *trace = name_for(rt, list, strcspn(list, ","));
	char *path = trace ? hd_format("%s.part", trace) : NULL;
	rt->journal = path ? hd_journal_open(rt, path) : NULL;
	free(trace);
	free(path);
}

void hd_reports_expect(heddle_runtime *rt)
{
	if (!hd_reports_wanted(&rt->config) && !rt->config.check)
		return;
	open_journal(rt);
	hd_lock(&expected_lock);
	rt->next_expected = expected;
	expected = rt;
	hd_unlock(&expected_lock);
}

void hd_reports_forget(heddle_runtime *rt)
{
	hd_lock(&expected_lock);
	for (heddle_runtime **at = &expected; *at; at = &(*at)->next_expected)
		if (*at == rt) {
			*at = rt->next_expected;
			break;
		}
	hd_unlock(&expected_lock);
}

/* Writes the reports of a runtime, whose threads may still run. The reports acquire the core lock where they need it;
 * the printed line has the numbers of the moment when the trace was taken. If the program has ended inside the core (in
 * a policy or a signal handler), nobody will release the core lock, and there is no report. */
static void write_at_exit(heddle_runtime *rt)
{
	static const double patience_us = 1e6;
	if (!hd_lock_for(&rt->lock, patience_us)) {
		hd_reports_say(
		    "heddle: the program has ended without heddle_stop, and inside the library: there is no report\n");
		return;
	}
	hd_core_entered(rt);
	uint64_t executed = rt->count.executed, left = hd_live(rt);
	hd_core_leave(rt);
	int wanted = hd_reports_wanted(&rt->config);
	if (wanted) {
		hd_reports_write(rt);
		executed = rt->recorder->executed;
		left = rt->recorder->left;
	}
	hd_reports_say(
	    "heddle: the program has ended without heddle_stop, after %llu tasks, with %llu unfinished: %s\n",
	    (unsigned long long)executed, (unsigned long long)left,
	    wanted ? "the reports tell of what was until then"
	           : "what HEDDLE_CHECK finds at the end was not looked for");
}

/* Runs after the program's own exit functions and destructors, because each of these may stop a runtime. */
__attribute__((destructor)) static void end_process(void)
{
	/* how long to wait for a lock: a child of fork may have a copy of a lock that no thread will release */
	static const double patience_us = 1e6;
	if (!expected || !hd_lock_for(&expected_lock, patience_us))
		return;
	for (heddle_runtime *rt = expected; rt; rt = rt->next_expected)
		if (rt->process == hd_process())
			write_at_exit(rt);
}
