/* Traces made by hand: what the tests of src/trace share. */
#ifndef TEST_TRACES_H
#define TEST_TRACES_H

#include <float.h>
#include "scratch.h"

/* --- Traces ------------------------------------------------------------------------------------------------------- */

static const char two_classes[] = "version: 1\nname: pair\n"
                                  "nodes:\n  - {name: ram}\n  - {name: memory}\n"
                                  "classes:\n  - {name: cpu, kind: cpu}\n  - {name: gpu, kind: cuda}\n"
                                  "workers:\n  - {name: core, class: cpu, node: ram}\n"
                                  "  - {name: card, class: gpu, node: memory}\n"
                                  "links:\n  - {from: ram, to: memory, bandwidth_mbs: 1000}\n"
                                  "  - {from: memory, to: ram, bandwidth_mbs: 1000}\n";

static const char two_cores[] =
    "version: 1\nname: cores\nnodes:\n  - {name: ram}\nclasses:\n  - {name: cpu, kind: cpu}\n"
    "workers:\n  - {name: core, class: cpu, node: ram, count: 2}\n"
    "kernels:\n  - {codelet: work, class: cpu, table: [{bytes: 8, us: 10}, {bytes: 16, us: 20}]}\n";

static struct heddle_trace *make_trace(const char *yaml, size_t n_tasks, size_t n_edges)
{
	struct heddle_trace *trace = calloc(1, sizeof *trace);
	OK(heddle_platform_parse("test", yaml, strlen(yaml), &trace->platform));
	trace->policy = strdup("lws");
	trace->codelets = calloc(2, sizeof *trace->codelets);
	trace->codelets[0] = (struct heddle_trace_codelet){strdup("work"), 0x00ff00};
	trace->codelets[1] = (struct heddle_trace_codelet){strdup("other"), 0};
	trace->n_codelets = 2;
	trace->tasks = calloc(n_tasks + 1, sizeof *trace->tasks);
	trace->n_tasks = n_tasks;
	trace->edges = calloc(n_edges + 1, sizeof *trace->edges);
	trace->n_edges = n_edges;
	return trace;
}

static void set_task(struct heddle_trace *trace, size_t i, uint32_t worker, double start, double end)
{
	trace->tasks[i] = (struct heddle_trace_task){
	    .id = i + 1, .worker = worker, .ready = start, .picked = start, .start = start, .end = end, .bytes = 8};
}

/* Starts at 100 us. 1 before 2 and 3, these before 4; 1, 2 and 4 run one after the other on the first core. */
static inline struct heddle_trace *diamond(void)
{
	struct heddle_trace *trace = make_trace(two_cores, 4, 4);
	static const struct heddle_trace_edge edges[] = {{1, 2}, {1, 3}, {2, 4}, {3, 4}};
	memcpy(trace->edges, edges, sizeof edges);
	set_task(trace, 0, 0, 100, 110);
	set_task(trace, 1, 0, 110, 130);
	set_task(trace, 2, 1, 112, 120);
	set_task(trace, 3, 0, 130, 140);
	trace->tasks[1].bytes = 16;
	return trace;
}

/* On both kinds of worker, with transfers, odd names and numbers. */
static inline struct heddle_trace *rich(void)
{
	struct heddle_trace *trace = make_trace(two_classes, 4, 3);
	free(trace->codelets[1].name);
	trace->codelets[1].name = strdup("odd \\ name, \"quoted\"\nand a second line \xc3\xa9 \xff");
	trace->virtual_time = 1;
	set_task(trace, 0, 0, 0.1, 0.1 + 0.2);
	set_task(trace, 1, 1, 1.0 / 3, 1e6 / 7);
	set_task(trace, 2, 1, 1e6 / 7, 1e6 / 7);
	set_task(trace, 3, 1, 1e6 / 7, 2e5);
	trace->tasks[1].codelet = 1;
	trace->tasks[1].id = UINT64_MAX;
	trace->tasks[1].priority = INT32_MIN;
	trace->tasks[1].status = HEDDLE_E_KERNEL;
	trace->tasks[1].flops = DBL_MAX;
	trace->tasks[1].bytes = DBL_MIN;
	trace->tasks[1].footprint = UINT64_MAX;
	trace->tasks[1].ready = -12.5;
	static const struct heddle_trace_edge edges[] = {{1, 3}, {1, 4}, {1, UINT64_MAX}};
	memcpy(trace->edges, edges, sizeof edges);
	trace->transfers = calloc(3, sizeof *trace->transfers);
	trace->n_transfers = 3;
	trace->transfers[0] = (struct heddle_trace_transfer){0, 1, -5, 0.25, 1u << 20, 7, 0};
	trace->transfers[1] = (struct heddle_trace_transfer){0, 1, 0, 0.5, 8, 8, 1};
	trace->transfers[2] = (struct heddle_trace_transfer){1, 0, 2e5, 2e5 + 1e-3, 1, 7, 2};
	return trace;
}

/* No two numbers are the same. Two tasks on the core and between them one on the card; a transfer for each reason. Only
 * the third task failed. */
static inline struct heddle_trace *distinct(void)
{
	struct heddle_trace *trace = make_trace(two_classes, 3, 2);
	trace->codelets[1].color = 0x336699;
	trace->virtual_time = 1;
	trace->tasks[0] = (struct heddle_trace_task){11, 0, 0, 101, 102, 103, 110, 5, 0, 1000, 2000, 31, 0, 0};
	trace->tasks[1] = (struct heddle_trace_task){12, 1, 1, 111, 113, 120, 150.5, -6, 0, 1001, 2001, 32, 0, 0};
	trace->tasks[2] =
	    (struct heddle_trace_task){13, 0, 0, 151, 152.25, 160, 175, 7, HEDDLE_E_KERNEL, 1002, 2002, 33, 0, 0};
	static const struct heddle_trace_edge edges[] = {{11, 12}, {12, 13}};
	memcpy(trace->edges, edges, sizeof edges);
	static const struct heddle_trace_transfer transfers[] = {
	    {0, 1, 104, 109, 4096, 21, 1}, {0, 1, 112, 119.5, 8192, 22, 0}, {1, 0, 153, 158, 512, 23, 2}};
	trace->transfers = calloc(3, sizeof *trace->transfers);
	memcpy(trace->transfers, transfers, sizeof transfers);
	trace->n_transfers = 3;
	return trace;
}

static inline void name_one(struct heddle_names *names, uint64_t id, const char *name)
{
	names->list = calloc(1, sizeof *names->list);
	names->list[0] = (struct heddle_name){id, strdup(name)};
	names->n = 1;
}

/* As `distinct`, where two tasks were expanded, and a change of each kind of a layout. The second task is in the
 * sub-graph of 14, and so is the other one that was expanded. Only the first of both has a name. */
static inline struct heddle_trace *layered(void)
{
	struct heddle_trace *trace = distinct();
	static const struct heddle_trace_expansion expansions[] = {{.id = 14,
	                                                            .inside = 0,
	                                                            .n_tasks = 6,
	                                                            .codelet = 1,
	                                                            .worker = 0,
	                                                            .subgraph = 2,
	                                                            .start = 111.5,
	                                                            .end = 118.25},
	                                                           {.id = 15,
	                                                            .inside = 15,
	                                                            .n_tasks = 4,
	                                                            .codelet = 0,
	                                                            .worker = 1,
	                                                            .subgraph = 0,
	                                                            .start = 155,
	                                                            .end = 157.5}};
	static const struct heddle_trace_layout layouts[] = {
	    {.at = 105, .data = 21, .plan = 1, .step = HEDDLE_LAYOUT_READ, .before = 12},
	    {.at = 112.25, .data = 22, .plan = 0, .step = HEDDLE_LAYOUT_WRITE, .before = 13},
	    {.at = 154, .data = 22, .plan = 0, .step = HEDDLE_LAYOUT_GATHER, .before = 14},
	    {.at = 180, .data = 24, .plan = -1, .step = HEDDLE_LAYOUT_JOIN, .before = 0}};
	trace->expansions = calloc(2, sizeof *trace->expansions);
	memcpy(trace->expansions, expansions, sizeof expansions);
	trace->n_expansions = 2;
	trace->layouts = calloc(4, sizeof *trace->layouts);
	memcpy(trace->layouts, layouts, sizeof layouts);
	trace->n_layouts = 4;
	trace->tasks[1].inside = 15;
	name_one(&trace->task_names, 14, "outer");
	name_one(&trace->data_names, 22, "tile");
	return trace;
}

#endif
