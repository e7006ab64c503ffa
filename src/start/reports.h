/* What heddle_stop writes when the settings ask for it: traces, graphs, explanations. */
#ifndef HD_START_REPORTS_H
#define HD_START_REPORTS_H

#include <stdio.h>
#include "state/runtime.h"

struct heddle_trace;

/* Whether the configuration asks for any of them, so that events must be recorded. */
int hd_reports_wanted(const struct heddle_config *config);
/* HEDDLE_E_INVALID: a file has an extension that none of the formats has. HEDDLE_E_UNSUPPORTED: libheddle-report.so,
 * which draws it, is missing. */
int hd_reports_check(const struct heddle_config *config);
/* Writes what the configuration of the runtime asks for, after its tasks have ended. Says on standard error what could
 * not be written. Called without the lock. */
void hd_reports_write(heddle_runtime *rt);

/* hd_reports_expect notes that the runtime is to write reports, or to say what the checking mode finds, when it stops.
 * Should the process end by exit or a return from main before that, the reports are written as far as the tasks have
 * got, and a line on standard error says so. hd_reports_forget takes the note back, if there is one. Called without
 * the lock. */
void hd_reports_expect(heddle_runtime *rt);
void hd_reports_forget(heddle_runtime *rt);
/* Says a sentence on standard error, which architecture.md lists. */
void hd_reports_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* explain.c: writes what the workers, codelets, links and memories of the trace, which was taken of the runtime, did,
 * and what the policy reports. */
int hd_explain(heddle_runtime *rt, const struct heddle_trace *trace, FILE *out);

#endif
