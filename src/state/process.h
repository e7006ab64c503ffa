/* Forks: process.c. */
#ifndef HD_STATE_PROCESS_H
#define HD_STATE_PROCESS_H

#include <stdint.h>
#include <heddle/runtime.h>

/* process.c */
/* A number that differs between a process and its ancestors by fork. */
uint64_t hd_process(void);
/* What heddle_runtime.process is when the runtime has been stopped. */
#define HD_STOPPED UINT64_MAX
/* HEDDLE_E_STATE in a child (by fork) of the process that started the runtime, and when the runtime has been stopped,
 * as far as that is known: in checking mode. Every public function calls this before
 * it takes the lock: in the child, the lock may be held for ever. */
int hd_check_process(const heddle_runtime *rt);

#endif
