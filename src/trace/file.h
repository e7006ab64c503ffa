/* The format of trace files, for the reader and the writer. */
#ifndef HD_TRACE_FILE_H
#define HD_TRACE_FILE_H

#include <heddle/trace.h>

struct hd_text;

#define HD_TRACE_MAGIC_WORD "heddle-trace"
/* The first line of a trace file of each version. Version 2 adds names of tasks and data, version 3 ends of tasks after
 * their kernels, version 4 sub-graphs, version 5 steps of layouts, version 6 workers that are driven or not. A trace is
 * written as the earliest version that has all its records, so that older readers understand it. Version 7 is a journal
 * (journal.h): its records come in parts, and records after the last whole part are ignored. */
#define HD_TRACE_MAGIC HD_TRACE_MAGIC_WORD " 1"
#define HD_TRACE_MAGIC_NAMES HD_TRACE_MAGIC_WORD " 2"
#define HD_TRACE_MAGIC_ENDS HD_TRACE_MAGIC_WORD " 3"
#define HD_TRACE_MAGIC_SUBGRAPHS HD_TRACE_MAGIC_WORD " 4"
#define HD_TRACE_MAGIC_LAYOUTS HD_TRACE_MAGIC_WORD " 5"
#define HD_TRACE_MAGIC_DRIVES HD_TRACE_MAGIC_WORD " 6"
#define HD_TRACE_MAGIC_PARTS HD_TRACE_MAGIC_WORD " 7"

/* hd_trace_put_head writes the lines before the codelets. hd_trace_put_records writes the codelets from `first_codelet`
 * on, and all other records. hd_trace_put_end writes the last line, with the numbers of records before it. */
int hd_trace_put_head(struct hd_text *text, const char *magic, const struct heddle_trace *trace);
void hd_trace_put_records(struct hd_text *text, const struct heddle_trace *trace, size_t first_codelet);
void hd_trace_put_end(struct hd_text *text, size_t n_tasks, size_t n_transfers, size_t n_edges);

#endif
