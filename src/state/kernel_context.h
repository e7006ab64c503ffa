/* The context that a kernel receives. */
#ifndef HD_STATE_KERNEL_CONTEXT_H
#define HD_STATE_KERNEL_CONTEXT_H

#include <heddle/task.h>

struct hd_access;
struct hd_watch;
struct hd_worker;
struct hd_team;

struct heddle_call_context {
	heddle_task *task;
	struct hd_worker *worker;
	void *stream;         /* the driver's stream, or NULL */
	heddle_kernel kernel; /* the kernel that hd_call_kernel calls */
	int returned;         /* the status that `kernel` has returned */
	char *message;        /* owned: the message given to heddle_fail */
	struct hd_team *team; /* SPMD: the team whose members run the kernel; NULL: one thread runs it */
	/* number of cores of the kernel (0: it is sequential); rank of this member in the team */
	unsigned cores, rank;
	/* for the init kernel of a reduction: the only access that the kernel sees; otherwise NULL */
	struct hd_access *only;
	struct hd_watch *watch; /* owned: checking mode's record of the task; NULL: checking mode is off */
};

#endif
