/* Errands: work that is put off until the core lock is released. */
#ifndef HD_FLOW_ERRANDS_H
#define HD_FLOW_ERRANDS_H

#include <heddle/runtime.h>

struct hd_wakeup;

/* Releases the core lock, then does the errands. */
void hd_core_leave(heddle_runtime *rt);
/* Sets the event of a waiting thread. A sleeping thread is woken when the core lock is released. */
void hd_core_wake(heddle_runtime *rt, struct hd_wakeup *event);
/* Reserves memory for waking n threads when the core lock is released. HEDDLE_E_MEMORY, without a message. */
int hd_core_reserve_wakes(heddle_runtime *rt, unsigned n);

#endif
