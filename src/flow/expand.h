/* Hierarchical tasks. Functions are called with the core lock unless a comment says otherwise. */
#ifndef HD_FLOW_EXPAND_H
#define HD_FLOW_EXPAND_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/call_context.h"

struct hd_access;
struct hd_span;
struct hd_submitter;

/* A sub-graph that is being submitted. The structure lies on the stack of the thread that runs the sub-graph's
 * function. */
struct hd_expansion {
	heddle_task *task;
	/* The first failed submission of the sub-graph: its status, and its message, which is owned; NULL: out of
	 * memory. */
	int status;
	char *message;
	/* 1: a submitted task depends on tasks outside the sub-graph. Then the ring must be drained before the task
	 * enters the graph. */
	int drains;
};

/* Called by task_life.c before a hierarchical task is linked into the chains. If it is already decided that the task
 * runs its kernel, the task becomes an ordinary task. */
void hd_expand_enter(heddle_runtime *rt, heddle_task *t);
/* All predecessors of a hierarchical task have ended or have been expanded. */
void hd_expand_ready(heddle_runtime *rt, heddle_task *t);
/* A task of a sub-graph has ended. Returns the hierarchical task if it ends thereby; otherwise NULL. */
heddle_task *hd_expand_child_ended(heddle_runtime *rt, const heddle_task *child);
/* Whether some worker can run the task's kernel. A task for which this is false, and which has no sub-graph, must not
 * be submitted. */
int hd_expand_can_run_whole(heddle_runtime *rt, heddle_task *t);
/* Decides that the task, whose markers are all granted, runs its kernel. */
void hd_expand_not(heddle_runtime *rt, heddle_task *t);
/* Decides that the task is expanded: it waits for a worker to call the function of its sub-graph, which is chosen
 * already. */
void hd_expand_do(heddle_runtime *rt, heddle_task *t);

/* Heaps of tasks, in the order in which they are to be expanded. */
void hd_expand_push(heddle_task **heap, heddle_task *t);
heddle_task *hd_expand_pop(heddle_task **heap);

/* Returned by rt->adapt.choose if the decision is put off. */
enum { HD_EXPAND_LATER = -1 };

/* Gives tasks that wait to be expanded to idle workers, if the window has room: first to `first`, which is about to
 * look for a task; NULL: only to workers in the hungry list. Called by dispatch.c. */
void hd_expand_give(heddle_runtime *rt, struct hd_worker *first);
/* Whether the worker expands tasks. The thread of a device with streams does so only if there is no other worker. */
int hd_expand_is_for(const struct hd_worker *w);
/* Puts a task back into the heap: its worker will not expand it. */
void hd_expand_again(heddle_runtime *rt, heddle_task *t);
/* The function of the sub-graph has returned on a worker; `ran` is the time in which it ran. */
void hd_expand_over(heddle_task *t, int status, const struct hd_span *ran);

/* Calls the function of the task's sub-graph, without the core lock. Returns the status of the submission. */
int hd_expand_run(struct hd_worker *w, heddle_task *t);
/* Checks the data of a task of the sub-graph against those of the hierarchical task, unless they are known to be
 * covered (HD_TASK_COVERED). Called by the thread of the function, without the core lock. */
int hd_expansion_check(struct hd_expansion *e, heddle_task *t);
/* Submits a complete task of the sub-graph. */
void hd_expansion_add(struct hd_expansion *e, heddle_task *t);
/* Makes a control, whose accesses are set, part of the sub-graph: it is about to enter the graph, after the tasks that
 * the sub-graph has submitted so far. */
void hd_expansion_adopt(const struct hd_expansion *e, heddle_task *control);
/* Records that a submission of the sub-graph has failed, with the thread's error message. Called without the core
 * lock. */
void hd_expansion_failed(struct hd_expansion *e, int status);
/* Puts the tasks that the sub-graph has submitted so far into the graph. May release the core lock meanwhile. */
void hd_expansion_flush(struct hd_expansion *e);
/* The sub-graph of this runtime that the calling thread submits now; NULL: none. Needs no lock. */
static inline struct hd_expansion *hd_expansion_here(const heddle_runtime *rt)
{
	const struct hd_inside *inside = hd_inside();
	return inside && inside->rt == rt ? inside->expansion : NULL;
}
/* The access to the datum, or to a datum of which it is a piece, by the hierarchical task whose sub-graph the calling
 * thread submits now; NULL: none. If there is such an access, the sub-graph may use the datum even after it was closed:
 * the sub-graph comes before whatever has closed the datum. Needs no lock. */
const struct hd_access *hd_expansion_cover(const heddle_runtime *rt, const heddle_data *d);

/* The submitter of the calling thread, which is about to call the function of a sub-graph; afterwards the thread
 * decrements its n_subgraphs. NULL: out of memory. Called without the core lock. In submit.c. */
struct hd_submitter *hd_submitter_inside(heddle_runtime *rt);
/* Gives a hierarchical task to a worker, which will submit its sub-graph. In dispatch.c. */
void hd_core_stage_expansion(struct hd_worker *w, heddle_task *t);
/* Runs the ready controls. In dispatch.c. */
void hd_core_run_controls(heddle_runtime *rt);
/* The classes of the workers that expand tasks, in the format of gate.expanders. In inlet.c. */
uint64_t hd_expanders(heddle_runtime *rt);
/* Updates which workers expand tasks, after the set of workers has changed or their streams were opened. In inlet.c. */
void hd_gate_expanders(heddle_runtime *rt);
/* Whether a sub-graph may be submitted now. In window.c. */
int hd_window_admits_expansion(heddle_runtime *rt);

#endif
