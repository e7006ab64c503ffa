/* What the rooms below src/flow tell src/flow. A runtime has this table, which flow fills, so that they need not know
 * who hears. All functions are called under the core lock. */
#ifndef HD_FLOW_CALLS_H
#define HD_FLOW_CALLS_H

#include <heddle/data.h>
#include <heddle/task.h>
#include <heddle/runtime.h>

struct hd_worker;

struct hd_flow_calls {
	/* src/graph: nothing holds the task back any more. */
	void (*ready)(heddle_runtime *rt, heddle_task *t);
	/* src/graph: puts a control or a task of a reduction into the graph. */
	void (*insert)(heddle_runtime *rt, heddle_task *t);
	/* src/graph: a control has done its work, and ends with this status. */
	void (*end)(heddle_runtime *rt, heddle_task *t, int status);
	/* src/memory: all transfers that a picked task has waited for have ended; `status` is not 0 if its data cannot
	 * be had. */
	void (*staged)(heddle_runtime *rt, heddle_task *t, int status);
	/* src/memory: a task that waited for room may find some now. */
	void (*restage)(heddle_runtime *rt, heddle_task *t);
	/* src/memory: a call of the worker's driver has said that its device is lost, for the reason `why`. */
	void (*lose)(struct hd_worker *w, const char *why);
	/* src/memory: a datum has lost its value, because its only copy was on a node that is lost. */
	void (*lose_value)(heddle_data *d, unsigned node, const char *why);
};
extern const struct hd_flow_calls hd_flow; /* flow/flow_calls.c */

#endif
