/* What is put off until the core lock is given back: errands.c. */
#ifndef HD_ERRANDS_H
#define HD_ERRANDS_H

#include <heddle/runtime.h>

struct hd_wakeup;

/* Gives the core lock back, then does what was put off meanwhile. */
void hd_core_leave(heddle_runtime *rt);
/* Sets the event of a thread that waits. If that thread sleeps, it is woken when the lock is given back. */
void hd_core_wake(heddle_runtime *rt, struct hd_wakeup *event);
/* Makes room for so many threads that are woken when the lock is given back. HEDDLE_E_MEMORY, without a message. */
int hd_core_reserve_wakes(heddle_runtime *rt, unsigned n);

#endif
