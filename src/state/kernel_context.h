/* What a kernel gets. */
#ifndef HD_KERNEL_CONTEXT_H
#define HD_KERNEL_CONTEXT_H

#include <heddle/task.h>

struct hd_access;
struct hd_watch;
struct hd_worker;
struct hd_team;

struct heddle_call_context {
	heddle_task *task;
	struct hd_worker *worker;
	void *stream;           /* the driver's, or NULL */
	heddle_kernel kernel;   /* what hd_call_kernel calls */
	int returned;           /* what the kernel has returned to it */
	char *message;          /* owned: what heddle_fail was told */
	struct hd_team *team;   /* SPMD: whose members run the kernel; NULL: one thread does */
	unsigned cores, rank;   /* that the kernel has, 0: one, of a sequential one; which of the members it is */
	struct hd_access *only; /* for the init kernel of a reduction: the only access that it sees; otherwise NULL */
	struct hd_watch *watch; /* owned: the checking mode watches the task; NULL: it is off */
};

#endif
