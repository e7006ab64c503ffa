/* What the reader and the writer of trace files agree on. */
#ifndef HD_TRACE_FILE_H
#define HD_TRACE_FILE_H

#define HD_TRACE_MAGIC_WORD "heddle-trace"
/* First lines. Version 2 has names of tasks and data; a trace without any is written as version 1, which older readers
 * understand. */
#define HD_TRACE_MAGIC HD_TRACE_MAGIC_WORD " 1"
#define HD_TRACE_MAGIC_NAMES HD_TRACE_MAGIC_WORD " 2"

#endif
