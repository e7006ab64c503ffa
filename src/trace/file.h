/* What the reader and the writer of trace files agree on. */
#ifndef HD_TRACE_FILE_H
#define HD_TRACE_FILE_H

#define HD_TRACE_MAGIC_WORD "heddle-trace"
/* The first lines of the versions. Version 2 adds names of tasks and data, version 3 ends of tasks after their kernels,
 * version 4 sub-graphs, version 5 steps of layouts, version 6 workers that are driven or not. A trace
 * without them is written as an earlier version, which older readers understand. */
#define HD_TRACE_MAGIC HD_TRACE_MAGIC_WORD " 1"
#define HD_TRACE_MAGIC_NAMES HD_TRACE_MAGIC_WORD " 2"
#define HD_TRACE_MAGIC_ENDS HD_TRACE_MAGIC_WORD " 3"
#define HD_TRACE_MAGIC_SUBGRAPHS HD_TRACE_MAGIC_WORD " 4"
#define HD_TRACE_MAGIC_LAYOUTS HD_TRACE_MAGIC_WORD " 5"
#define HD_TRACE_MAGIC_DRIVES HD_TRACE_MAGIC_WORD " 6"

#endif
