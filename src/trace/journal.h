/* The journal of a run: the recorded events, in a file beside the trace, for the case that the process ends early (by a
 * crash, a signal, _exit). A separate thread appends new events once a second; no signal handler is used. docs/trace.md
 * describes the file, which is a trace in parts; load.c reads it. */
#ifndef HD_TRACE_JOURNAL_H
#define HD_TRACE_JOURNAL_H

#include <heddle/runtime.h>

struct hd_journal;

/* Begins a journal of a runtime that records, in the file `path`. The file is created a second later, so a shorter run
 * leaves no file. NULL: there is no memory or no thread for a journal. Called without the core lock. */
struct hd_journal *hd_journal_open(heddle_runtime *rt, const char *path);
/* Stops the journal, which then appends no more events. To be called before the final trace is taken, because the
 * journal would begin its file anew after that. NULL is allowed. Called without the core lock. */
void hd_journal_stop(struct hd_journal *j);
/* Frees a stopped journal. `remove`: removes the file, too. NULL is allowed. */
void hd_journal_close(struct hd_journal *j, int remove);

#endif
