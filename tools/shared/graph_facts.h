/* Task graphs as arguments of commands (files, or random:NAME=VALUE,... for random graphs), and their statistics. */
#ifndef HD_SHARED_GRAPH_FACTS_H
#define HD_SHARED_GRAPH_FACTS_H

#include <heddle.h>

/* Whether `what` names a graph, by its extension or by "random:", rather than an application. */
int graph_is_named(const char *what);
/* Reads or generates the graph: TOOL_OK, or a message and TOOL_USAGE or TOOL_FAILURE. The caller owns *out. */
int graph_open(const char *what, struct heddle_graph **out);
/* Checks that the path's extension is a format in which graphs can be written; `option` is used in messages. */
int graph_check_output(const char *path, const char *option);

/* Statistics of a graph. The level of a task is the number of tasks before it on the longest path to it. */
struct graph_facts {
	size_t edges;        /* implied and explicit */
	size_t depth, width; /* depth: tasks on the longest path; width: most tasks of the same level */
	double bytes;        /* of all data */
	/* bytes of each datum that a task reads and an earlier task has written, summed over the reads */
	double handed;
};
/* Returns 0 or a negative heddle_status. */
int graph_measure(const struct heddle_graph *graph, struct graph_facts *out);
/* Ratio of communication to computation: the time to move facts->handed at the mean bandwidth of the platform's links,
 * divided by the sum, over the tasks, of the mean time on the workers that can run the task. NAN when no worker can run
 * some task; 0 without links. */
double graph_ccr(const struct heddle_graph *graph, const struct graph_facts *facts,
                 const struct heddle_platform *platform);

#endif
