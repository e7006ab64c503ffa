/* What the reader and the writer of trace files agree on. */
#ifndef HD_TRACE_FILE_H
#define HD_TRACE_FILE_H

#define HD_TRACE_MAGIC_WORD "heddle-trace"
/* first line; the number changes when old readers would misread the rest */
#define HD_TRACE_MAGIC HD_TRACE_MAGIC_WORD " 1"

#endif
