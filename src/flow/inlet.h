/* What the parts of submission share: submit.c (threads that submit), inlet.c (the ring and the gate) and window.c. All
 * functions are called with the core lock held, unless a comment says otherwise. */
#ifndef HD_CORE_INLET_H
#define HD_CORE_INLET_H

#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/runtime.h"

/* inlet.c */
/* Drains the ring up to the ticket before `end`. May leave the lock meanwhile. */
void hd_drain_until(heddle_runtime *rt, uint64_t end);
/* Closes the gate and puts all submitted tasks into the graph. Afterwards nothing is unseen, and the gate stays closed
 * for as long as the lock is held. May leave the lock meanwhile. */
void hd_drain_and_close(heddle_runtime *rt);
/* Opens the gate after a submission has entered the core, which gave workers tasks or did not. */
void hd_gate_open(heddle_runtime *rt, int gave);
/* Whether the submission of `t` with that ticket must enter the core. Called without the lock, when `limit` alone does
 * not allow it. */
int hd_gate_is_shut(heddle_runtime *rt, const heddle_task *t, uint64_t ticket);

/* window.c */
/* If the window is full, waits until a quarter of it is free again. ACQUIRE tasks in force (rt->count.held) do not
 * count, and the wait ends when all other tasks wait for them, since only the program can release them. A deadlock is
 * not reported here, but by the next wait of the program. A kernel or a callback waits only while something else moves.
 * Returns 0 if there was nothing to wait for; otherwise it may have left the lock meanwhile. */
int hd_throttle(heddle_runtime *rt);
/* For how many more tickets the gate may be opened: as many as the window has room for, at most HD_RING_RUN. */
uint32_t hd_window_room(heddle_runtime *rt);

/* inlet.c */
/* Puts what lies in the ring into the graph, up to the first ticket whose task has not been stored yet. Returns whether
 * there was anything. Never leaves the lock. */
int hd_drain(heddle_runtime *rt);
/* Puts everything into the graph that has a ticket now, and so all tasks whose submission has returned. May leave the
 * lock meanwhile. */
void hd_drain_all(heddle_runtime *rt);
/* Puts a task of a sub-graph into the graph. One whose data have been closed meanwhile enters without its data, and
 * fails. */
void hd_enter_graph(heddle_runtime *rt, heddle_task *t);
/* Whether some ticket has been taken whose task is not in the graph yet. */
int hd_submitted_unseen(heddle_runtime *rt);
/* Closes the gate: until a submission opens it again, all enter the core. Who then finds that nothing is unseen knows
 * that everything submitted before was seen. */
void hd_revoke(heddle_runtime *rt);
/* The worker has fallen asleep, or is about to (1), or is awake again (0). */
void hd_gate_asleep(struct hd_worker *w, int asleep);
/* Whether the worker may fall asleep without closing the gate: others sleep that can run the same tasks, and there is a
 * lookout besides. */
int hd_gate_others_look(const struct hd_worker *w);
/* Whether more than `n_asleep` workers would have to sleep for each of the others to have a hardware thread: then it
 * gains nothing to wake one soon, or to keep one awake that has no task. */
static inline int hd_is_crowded(const heddle_runtime *rt, unsigned n_asleep)
{
	return rt->n_workers - rt->count.off - n_asleep > rt->n_threads;
}
/* Called when a worker has begun tasks while inlet.step is not 0, or who looks into the ring or expands has changed. */
void hd_gate_worker_begins(heddle_runtime *rt);

#endif
