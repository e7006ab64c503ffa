/* Forks: process.c. */
#ifndef HD_STATE_PROCESS_H
#define HD_STATE_PROCESS_H

#include <stdint.h>
#include <heddle/runtime.h>

/* The generation of the process: differs between a process and its ancestors by fork. */
uint64_t hd_process(void);
/* The value of heddle_runtime.process after the runtime was stopped. */
#define HD_STOPPED UINT64_MAX
/* Returns HEDDLE_E_STATE with a message in a child (by fork) of the process that started the runtime, and, in checking
 * mode, when the runtime has been stopped; otherwise 0. Every public function calls hd_check_process before it acquires
 * the core lock, because in the child the lock may be held for ever. */
int hd_check_process(const heddle_runtime *rt);

#endif
