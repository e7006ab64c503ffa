/* The team of a CPU worker: how it runs parallel kernels on the cores of its class (struct heddle_class).
 *
 *  - SPMD: all members run the kernel, each with a context of its own. Member 0, the *master*, is the thread that runs
 *    the worker's tasks; the others are threads of the team, bound to the other cores, which sleep while there is
 *    nothing for them.
 *  - Fork-join: the master alone runs the kernel, on any of the cores, and the library that the kernel calls has
 *    threads of its own, which inherit where they may run. The master tells the libraries how many to use: inner.c.
 *
 * A worker of one core has a team, too, with the master alone: it keeps libraries from using more threads than one.
 */
#ifndef HD_ENGINE_THREADS_TEAM_H
#define HD_ENGINE_THREADS_TEAM_H

#include <heddle/task.h>

struct hd_eager;
struct hd_worker;

/* inner.c: the libraries with threads of their own that the process has loaded, as the calling thread has set them. A
 * structure of zeros: it has set nothing. */
struct hd_number {
	int set, before; /* the number of threads that has been set, 0: none; and what it was before that */
};
enum { HD_N_INNER = 4 };
struct hd_inner {
	unsigned threads; /* how many they may use in this thread; 0: as many as they would without Heddle */
	struct hd_number numbers[HD_N_INNER];
};
/* Lets the libraries use `threads` threads when the calling thread calls them; 0: as many as before. `alone`: no other
 * worker runs kernels on CPU cores, so that numbers of the whole process may be set. */
void hd_inner_set(struct hd_inner *inner, unsigned threads, int alone);
/* As hd_engine.find_eager says. */
int hd_inner_exceeds(unsigned cores, struct hd_eager *eager);
/* Sends to sleep the threads of OpenMP that the calling thread has used: they poll for a while, and would keep others
 * from the cores. */
void hd_inner_hush(void);

/* Makes the team of a worker, and starts its threads. HEDDLE_E_MEMORY. Called by the thread that opens the worker's
 * device. */
int hd_team_open(struct hd_worker *w);
/* Ends the threads. w->team may be NULL. */
void hd_team_close(struct hd_worker *w);
/* Calls c->kernel, of a codelet, as the codelet says, on the team of the context's worker. Returns what it has
 * returned; of several members that fail, what the first of them has, and then c->rank and c->message are its own.
 * Called by the thread that runs the worker's tasks, without the lock. */
int hd_team_call(heddle_context *c, const heddle_codelet *codelet);
/* The barrier of an SPMD kernel, whose context has a team. Returns whether a member has failed. */
int hd_team_meet(const heddle_context *c);
/* Whether threads of OpenMP may poll on the cores of the worker, because fork-join kernels have run there. From any
 * thread: what it returns may be old unless the worker's thread asks. */
int hd_team_polls(const struct hd_worker *w);
/* Sends them to sleep. Called by the thread that runs the worker's tasks, without the lock: it takes some 10 us. */
void hd_team_hush(struct hd_worker *w);
/* How the calling thread, which runs the worker's tasks, is set up: for hd_team_restore, after other kernels have run
 * in it. */
unsigned hd_team_setting(const struct hd_worker *w);
void hd_team_restore(struct hd_worker *w, unsigned setting);

#endif
