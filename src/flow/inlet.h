/* Private interface between the parts of submission: submit.c (submitting threads), inlet.c (the ring and the gate) and
 * window.c. Functions are called with the core lock unless a comment says otherwise. */
#ifndef HD_FLOW_INLET_H
#define HD_FLOW_INLET_H

#include <stdint.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/runtime.h"

/* Drains the ring up to the ticket before `end`. May release the core lock meanwhile. */
void hd_drain_until(heddle_runtime *rt, uint64_t end);
/* Closes the gate and puts all submitted tasks into the graph. Afterwards the ring is empty, and the gate stays closed
 * while the core lock is held. May release the lock meanwhile. */
void hd_drain_and_close(heddle_runtime *rt);
/* Opens the gate after a submission has entered the core. `gave`: the submission has given workers tasks. */
void hd_gate_open(heddle_runtime *rt, int gave);
/* Whether the submission of `t` with this ticket must enter the core. Called without the core lock, when `limit` alone
 * does not allow the ticket. */
int hd_gate_is_shut(heddle_runtime *rt, const heddle_task *t, uint64_t ticket);

/* Waits, if the window is full, until a quarter of it is free again. ACQUIRE tasks whose data the program holds
 * (rt->count.held) do not count. The wait ends when all other tasks wait for such ACQUIRE tasks, because only the
 * program can release the data. A deadlock is not reported here, but by the next wait of the program. A kernel or
 * callback waits only while something else moves. Returns 0 if the window had room; otherwise the core lock may have
 * been released meanwhile. In window.c. */
int hd_throttle(heddle_runtime *rt);
/* The number of tickets for which the gate may be opened: the free room in the window, at most HD_RING_RUN. In
 * window.c. */
uint32_t hd_window_room(heddle_runtime *rt);

/* Puts the tasks in the ring into the graph, up to the first ticket whose task has not been stored yet. Returns whether
 * there was any. Never releases the core lock. */
int hd_drain(heddle_runtime *rt);
/* Puts all tasks into the graph whose tickets have been taken: in particular all tasks whose submission has returned.
 * May release the core lock meanwhile. */
void hd_drain_all(heddle_runtime *rt);
/* Puts a task of a sub-graph into the graph. If a datum of the task has been closed, the task enters without its data,
 * and fails. */
void hd_enter_graph(heddle_runtime *rt, heddle_task *t);
/* Whether a ticket has been taken whose task is not in the graph yet. */
int hd_submitted_unseen(heddle_runtime *rt);
/* Closes the gate: until a submission opens it again, all submissions enter the core. A thread that calls this and then
 * finds hd_submitted_unseen false has seen all submitted tasks. */
void hd_revoke(heddle_runtime *rt);
/* Records that the worker sleeps or is about to sleep (1), or is awake again (0). */
void hd_gate_asleep(struct hd_worker *w, int asleep);
/* Whether the worker may fall asleep without closing the gate: another worker that can run the same tasks sleeps
 * already, and there is another lookout. */
int hd_gate_others_look(const struct hd_worker *w);
/* Whether the workers exceed the hardware threads even if `n_asleep` of them sleep. Then nothing is gained by waking a
 * worker soon, or by keeping a worker without tasks awake. */
static inline int hd_is_crowded(const heddle_runtime *rt, unsigned n_asleep)
{
	return rt->n_workers - rt->count.off - n_asleep > rt->n_threads;
}
/* Called when a worker has begun tasks while inlet.step is not 0, or when the set of lookouts or of expanding workers
 * has changed. */
void hd_gate_worker_begins(heddle_runtime *rt);

#endif
