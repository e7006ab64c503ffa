/* What the parts of submission share: submit.c (threads that submit), inlet.c (the ring and the gate) and window.c. All
 * functions are called with the core lock held, unless a comment says otherwise. */
#ifndef HD_CORE_INLET_H
#define HD_CORE_INLET_H

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

#endif
