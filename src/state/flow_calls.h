/* The table of calls from the rooms below src/flow up to src/flow. src/flow fills it, so that the lower rooms need not
 * include its headers. The core lock is held during every call. */
#ifndef HD_STATE_FLOW_CALLS_H
#define HD_STATE_FLOW_CALLS_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "runtime.h"

struct hd_flow_calls {
	/* called by src/graph: the task waits for no access and no predecessor any more. */
	void (*ready)(heddle_runtime *rt, heddle_task *t);
	/* called by src/graph: inserts a control task, or a task of a reduction, into the graph. */
	void (*insert)(heddle_runtime *rt, heddle_task *t);
	/* called by src/graph: a control task has done its work and ends with `status`. */
	void (*end)(heddle_runtime *rt, heddle_task *t, int status);
	/* called by src/memory: the transfers for a picked task have ended; `status` not 0: its data did not come */
	void (*staged)(heddle_runtime *rt, heddle_task *t, int status);
	/* called by src/memory: stages a task again that waited for room. */
	void (*restage)(heddle_runtime *rt, heddle_task *t);
	/* called by src/memory: the worker's driver has reported its device as lost; `why` is the driver's message. */
	void (*lose)(struct hd_worker *w, const char *why);
	/* called by src/memory: the datum has lost its value, because its only valid replica was on the lost `node`. */
	void (*lose_value)(heddle_data *d, unsigned node, const char *why);
};
extern const struct hd_flow_calls hd_flow; /* defined in flow/flow_calls.c */

/* Inserts a control task, or a task of a reduction, into the graph. */
static inline void hd_insert_own(heddle_runtime *rt, heddle_task *t)
{
	rt->flow->insert(rt, t);
}
/* Announces a task as ready: it waits for nothing any more. */
static inline void hd_tell_ready(heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	rt->flow->ready(rt, t);
}

#endif
