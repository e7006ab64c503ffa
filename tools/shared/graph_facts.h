/* Task graphs on the command line: files, and random ones written random:NAME=VALUE,... */
#ifndef HD_SHARED_GRAPH_FACTS_H
#define HD_SHARED_GRAPH_FACTS_H

#include <heddle.h>

/* Whether `what` names a graph rather than an application: by its extension, or its "random:". */
int graph_is_named(const char *what);
/* Reads or makes it: TOOL_OK, or a message and TOOL_USAGE or TOOL_FAILURE. The caller owns *out. */
int graph_open(const char *what, struct heddle_graph **out);
/* Whether a graph can be written there; `option` is used in messages. */
int graph_check_output(const char *path, const char *option);

/* What can be said of a graph alone. */
struct graph_facts {
	size_t edges; /* implied and explicit */
	size_t depth,
	    width; /* tasks on the longest path; most tasks of one level, which is one more than that of all before */
	double bytes;  /* of all data */
	double handed; /* sum over edges of what the first task writes and the second reads */
};
/* 0 or a negative heddle_status. */
int graph_measure(const struct heddle_graph *graph, struct graph_facts *out);
/* Communication to computation: the time to hand everything over at the mean bandwidth of the platform's links,
 * divided by the sum over tasks of the mean time on the workers that can run it. NAN when some task can run nowhere; 0
 * without links. */
double graph_ccr(const struct heddle_graph *graph, const struct graph_facts *facts,
                 const struct heddle_platform *platform);

#endif
