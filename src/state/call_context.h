/* The call context of a thread: which functions of the program (kernels, callbacks, sub-graphs) the library is calling
 * in this thread. */
#ifndef HD_STATE_CALL_CONTEXT_H
#define HD_STATE_CALL_CONTEXT_H

#include <heddle/group.h>
#include <heddle/runtime.h>

struct hd_expansion;
struct hd_watch;
struct hd_worker;

/* The kinds of calls into the program. Code of the program must not wait inside such a call, because other tasks or
 * threads wait for this thread; hd_inside_may_wait tells the exception. Each record (struct hd_inside) lies on the
 * stack of its thread. */
enum hd_inside_what {
	HD_INSIDE_WORKER,   /* the thread runs a task of `worker` */
	HD_INSIDE_CALLBACK, /* the thread runs the callback of a task */
	HD_INSIDE_SUBGRAPH, /* the thread runs the function that submits a sub-graph: expand.c */
	HD_INSIDE_MEMBER,   /* the thread is a member of the team that runs an SPMD kernel */
	HD_INSIDE_OTHER     /* a copy, a kernel in a thread of a driver, or a function called by the watchdog */
};
struct hd_inside {
	struct hd_inside *outer;
	const heddle_runtime *rt;
	enum hd_inside_what what;
	struct hd_worker *worker; /* NULL unless HD_INSIDE_WORKER */
	/* depth of the tasks that are submitted here; not used while a CPU worker's thread runs a kernel */
	unsigned short depth;
	heddle_group *group;            /* the group that heddle_group_set has set inside this call; NULL: none */
	struct hd_expansion *expansion; /* borrowed; NULL unless HD_INSIDE_SUBGRAPH */
	/* borrowed: in checking mode, the watch of the task that runs in this thread; NULL: none */
	struct hd_watch *watch;
};
void hd_inside_enter(struct hd_inside *here);
/* Removes the innermost record of the thread, which must be `here`. */
void hd_inside_leave(const struct hd_inside *here);
/* The innermost record of the calling thread; NULL: the thread is in no call into the program. */
struct hd_inside *hd_inside(void);
/* The address of the thread-local pointer to the innermost record, for signal handlers. */
struct hd_inside *const *hd_inside_place(void);
/* Whether the calling thread is in a kernel, and in no callback, on a worker of `rt` that can run other tasks while the
 * kernel waits. The `wait` function of the engine then runs these tasks. */
int hd_inside_may_wait(const heddle_runtime *rt);

#endif
