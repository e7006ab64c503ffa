/* The journal of a run: what was recorded, in a file beside the trace, for the case that the process ends at once (by
 * a crash, a signal, _exit). A thread of its own appends what is new once a second; nothing is done by handlers of
 * signals. docs/trace.md describes the file, which is a trace in parts; load.c reads it. */
#ifndef HD_TRACE_JOURNAL_H
#define HD_TRACE_JOURNAL_H

#include <heddle/runtime.h>

struct hd_journal;

/* Begins a journal of a runtime that records, in the file `path`, which is made a second later: a shorter run leaves
 * none. NULL: there is no memory or no thread for one. Called without the lock. */
struct hd_journal *hd_journal_open(heddle_runtime *rt, const char *path);
/* Nothing is appended any more: to be called before the trace is taken, since the journal begins its file anew behind
 * one that was taken. NULL is allowed. Called without the lock. */
void hd_journal_stop(struct hd_journal *j);
/* Ends one that has been stopped. remove: the file is removed. NULL is allowed. */
void hd_journal_close(struct hd_journal *j, int remove);

#endif
