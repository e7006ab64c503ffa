/* Hierarchical tasks: expand.c. The core lock is held in all functions, unless a comment says otherwise. */
#ifndef HD_CORE_EXPAND_H
#define HD_CORE_EXPAND_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "state/call_context.h"

struct hd_access;
struct hd_span;
struct hd_submitter;

/* A sub-graph that is being submitted; on the stack of the thread that runs its function. */
struct hd_expansion {
	heddle_task *task;
	/* The first of its submissions that has failed: its status, and the sentence, which is owned; NULL: out of
	 * memory. */
	int status;
	char *message;
	/* Some of what is submitted is ordered against tasks that are not of the sub-graph: the ring must be drained
	 * before it enters the graph. */
	int drains;
};

/* task_life.c tells: a hierarchical task is about to be linked. It becomes ordinary if it is decided already that its
 * kernel runs. */
void hd_expand_enter(heddle_runtime *rt, heddle_task *t);
/* All that a hierarchical task waits for has ended, or has been expanded. */
void hd_expand_ready(heddle_runtime *rt, heddle_task *t);
/* A task of a sub-graph has ended. Returns the hierarchical task, if that has ended with it; otherwise NULL. */
heddle_task *hd_expand_child_ended(heddle_runtime *rt, const heddle_task *child);
/* Whether the task may run its kernel on some worker. If not, and it has no sub-graph either, it must not be
 * submitted. */
int hd_expand_can_run_whole(heddle_runtime *rt, heddle_task *t);
/* The task, whose markers are all granted, runs its kernel. */
void hd_expand_not(heddle_runtime *rt, heddle_task *t);
/* The task waits for a worker that calls the function of its sub-graph, which is decided. */
void hd_expand_do(heddle_runtime *rt, heddle_task *t);

/* Heaps of tasks, in the order in which they are to be expanded. */
void hd_expand_push(heddle_task **heap, heddle_task *t);
heddle_task *hd_expand_pop(heddle_task **heap);

/* What rt->adapt.choose returns if it is decided later. */
enum { HD_EXPAND_LATER = -1 };

/* dispatch.c tells: workers may have nothing to do. Gives them tasks that wait to be expanded, if the window has room:
 * first to `first`, which is about to look for a task; NULL: to those in the hungry list only. */
void hd_expand_give(heddle_runtime *rt, struct hd_worker *first);
/* Whether the worker is one of those that expand tasks: the thread of a device with streams has better things to do,
 * unless there is no other. */
int hd_expand_is_for(const struct hd_worker *w);
/* Puts a task back among those that wait to be expanded: its worker will not do it. */
void hd_expand_again(heddle_runtime *rt, heddle_task *t);
/* The sub-graph's function has returned, on a worker, and ran for that time. */
void hd_expand_over(heddle_task *t, int status, const struct hd_span *ran);

/* Calls the function of the task's sub-graph, without the lock. Returns the status of the submission. */
int hd_expand_run(struct hd_worker *w, heddle_task *t);
/* Checks the data of a task of the sub-graph against those of the hierarchical task, unless it is known that these
 * cover them: HD_TASK_COVERED. Without the lock, in the thread of the function. */
int hd_expansion_check(struct hd_expansion *e, heddle_task *t);
/* Submits such a task, which is complete. */
void hd_expansion_add(struct hd_expansion *e, heddle_task *t);
/* Makes a control, whose accesses are set, one of the sub-graph: it is about to enter the graph, behind what the
 * sub-graph has submitted so far. */
void hd_expansion_adopt(const struct hd_expansion *e, heddle_task *control);
/* Notes that a submission of the sub-graph has failed, for the reason that heddle_last_error says. Without the lock. */
void hd_expansion_failed(struct hd_expansion *e, int status);
/* Puts what the sub-graph has submitted so far into the graph. May leave the lock meanwhile. */
void hd_expansion_flush(struct hd_expansion *e);
/* The sub-graph of this runtime that the calling thread submits now; NULL: none. Needs no lock. */
static inline struct hd_expansion *hd_expansion_here(const heddle_runtime *rt)
{
	const struct hd_inside *inside = hd_inside();
	return inside && inside->rt == rt ? inside->expansion : NULL;
}
/* The access of the task whose sub-graph the calling thread submits now to the datum, or to one that it is a piece of;
 * NULL: there is none. If there is one, the sub-graph may name the datum although it has been closed: it comes before
 * whatever has closed it. Needs no lock. */
const struct hd_access *hd_expansion_cover(const heddle_runtime *rt, const heddle_data *d);

/* submit.c: the calling thread is about to call the function of a sub-graph; afterwards it subtracts 1 from n_subgraphs
 * of what is returned. NULL when out of memory. Without the lock. */
struct hd_submitter *hd_submitter_inside(heddle_runtime *rt);
/* dispatch.c: gives a hierarchical task to a worker, which is to submit its sub-graph. */
void hd_core_stage_expansion(struct hd_worker *w, heddle_task *t);
/* dispatch.c: runs the controls that are ready. */
void hd_core_run_controls(heddle_runtime *rt);
/* inlet.c: the classes of the workers that expand tasks, as gate.expanders has them. */
uint64_t hd_expanders(heddle_runtime *rt);
/* inlet.c: notes which workers expand tasks, after the set of workers has changed or their streams have been opened. */
void hd_gate_expanders(heddle_runtime *rt);
/* window.c: whether a sub-graph may be submitted now. */
int hd_window_admits_expansion(heddle_runtime *rt);

#endif
