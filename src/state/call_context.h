/* Where the calling thread is: in code of the program that the library has called. */
#ifndef HD_CALL_CONTEXT_H
#define HD_CALL_CONTEXT_H

#include <heddle/group.h>
#include <heddle/runtime.h>

struct hd_expansion;
struct hd_watch;
struct hd_worker;

/* Where a thread may run code of the program that must not wait, because others wait for this thread. Such a
 * record lies on the stack of its thread. */
enum hd_inside_what {
	HD_INSIDE_WORKER,   /* it runs the tasks of `worker` */
	HD_INSIDE_CALLBACK, /* it runs callbacks of tasks */
	HD_INSIDE_SUBGRAPH, /* it runs the function of a sub-graph: expand.c */
	HD_INSIDE_MEMBER,   /* it runs an SPMD kernel, together with other threads */
	HD_INSIDE_OTHER     /* copies, kernels in threads of a driver, and what the watchdog calls */
};
struct hd_inside {
	struct hd_inside *outer;
	const heddle_runtime *rt;
	enum hd_inside_what what;
	struct hd_worker *worker; /* NULL unless HD_INSIDE_WORKER */
	unsigned short depth;     /* of tasks that are submitted here, unless a thread of a CPU worker runs a kernel */
	heddle_group *group;      /* the one that heddle_group_set has set since; NULL: none */
	struct hd_expansion *expansion; /* borrowed; NULL unless HD_INSIDE_SUBGRAPH */
	struct hd_watch *watch;         /* borrowed: in checking mode, the task that runs in this thread; NULL: none */
};
void hd_inside_enter(struct hd_inside *here);
/* `here` is what the thread entered last. */
void hd_inside_leave(const struct hd_inside *here);
/* The innermost of them; NULL: the program has called. */
struct hd_inside *hd_inside(void);
/* Where that is noted, in memory of the thread: for handlers of signals. */
struct hd_inside *const *hd_inside_place(void);
/* Whether the thread runs a kernel, and no callback, on a worker of the runtime that can run other tasks while the
 * kernel waits. Its engine then knows what to do in its `wait`. */
int hd_inside_may_wait(const heddle_runtime *rt);

#endif
