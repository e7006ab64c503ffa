/* The team of a CPU worker runs parallel kernels on the cores of the worker's class (struct heddle_class).
 *
 * - SPMD: all members run the kernel, each with a context of its own. Member 0, the *master*, is the thread that runs
 *   the worker's tasks. The other members are threads of the team, bound to the other cores; they sleep while there is
 *   no parallel kernel.
 * - Fork-join: only the master runs the kernel, on any of the cores, and the library that the kernel calls has its own
 *   threads, which inherit the master's binding. The master sets the libraries' number of threads: inner.c.
 *
 * A worker with one core has a team of only the master, which limits libraries to one thread. */
#ifndef HD_ENGINE_THREADS_TEAM_H
#define HD_ENGINE_THREADS_TEAM_H

#include <heddle/task.h>

struct hd_eager;
struct hd_worker;

/* A library's number of threads in the calling thread, as set by inner.c. Zeroed: nothing is set. */
struct hd_number {
	int set, before; /* set: the number that was set, 0: none; before: the previous number */
};
enum { HD_N_INNER = 4 };
struct hd_inner {
	unsigned threads; /* the number allowed to libraries in this thread; 0: as many as without Heddle */
	struct hd_number numbers[HD_N_INNER];
};
/* Lets libraries use `threads` threads when the calling thread calls them; 0: restores the libraries' own numbers.
 * `alone`: no other worker runs kernels on CPU cores, so that numbers of the whole process may be set. */
void hd_inner_set(struct hd_inner *inner, unsigned threads, int alone);
/* Implements hd_engine.find_eager. */
int hd_inner_exceeds(unsigned cores, struct hd_eager *eager);
/* Puts the OpenMP threads of the calling thread to sleep. After a parallel region these threads poll for a while, which
 * would keep other threads from the cores. */
void hd_inner_hush(void);

/* Creates the team of a worker and starts its threads. HEDDLE_E_MEMORY. Called by the thread that opens the worker's
 * device. */
int hd_team_open(struct hd_worker *w);
/* Ends the threads and frees the team. w->team may be NULL. */
void hd_team_close(struct hd_worker *w);
/* Runs c->kernel, a kernel of `codelet`, on the team of the context's worker, in the way that the codelet declares.
 * Returns the status of the kernel. If members fail, returns the status of the failed member with the lowest rank, and
 * sets c->rank and c->message from this member. Called by the thread that runs the worker's tasks, without the core
 * lock. */
int hd_team_call(heddle_context *c, const heddle_codelet *codelet);
/* The barrier of an SPMD kernel, whose context has a team. Returns whether a member has failed. */
int hd_team_meet(const heddle_context *c);
/* Whether OpenMP threads may poll on the cores of the worker, because fork-join kernels have run there. Any thread may
 * call it, but the result may be outdated unless the worker's thread calls. */
int hd_team_polls(const struct hd_worker *w);
/* Puts the OpenMP threads on the worker's cores to sleep. Takes about 10 us. Called by the thread that runs the
 * worker's tasks, without the core lock. */
void hd_team_hush(struct hd_worker *w);
/* The present setup of the calling thread, which runs the worker's tasks. hd_team_restore restores this setup after
 * other kernels have run in the thread. */
unsigned hd_team_setting(const struct hd_worker *w);
void hd_team_restore(struct hd_worker *w, unsigned setting);

#endif
