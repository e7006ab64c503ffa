/* The reports that heddle_stop writes if the settings ask for them: traces, graphs, explanations. */
#ifndef HD_START_REPORTS_H
#define HD_START_REPORTS_H

#include <stdio.h>
#include <heddle/runtime.h>

struct heddle_trace;

/* Whether the configuration asks for a report. If so, events must be recorded. */
int hd_reports_wanted(const struct heddle_config *config);
/* Checks the names of the files that the configuration asks for. HEDDLE_E_INVALID: a name has an unknown extension.
 * HEDDLE_E_UNSUPPORTED: libheddle-report.so, which draws the file, is missing. */
int hd_reports_check(const struct heddle_config *config);
/* Writes the reports that the configuration asks for; all tasks have ended. Names on standard error the reports that
 * could not be written. Called without the core lock. */
void hd_reports_write(heddle_runtime *rt);

/* hd_reports_expect notes that the runtime will write reports, or findings of the checking mode, when it stops. If the
 * process ends before that, by exit or a return from main, it writes the reports with the tasks that have ended so far,
 * and a line on standard error that says so. hd_reports_forget removes the note, if there is one. Both are called
 * without the core lock. */
void hd_reports_expect(heddle_runtime *rt);
void hd_reports_forget(heddle_runtime *rt);
/* Prints a sentence on standard error; docs/architecture.md lists where the library does so. */
void hd_reports_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* explain.c: writes what workers, codelets, links and memories did, by this trace, and the statistics of the policy. */
int hd_explain(heddle_runtime *rt, const struct heddle_trace *trace, FILE *out);

#endif
