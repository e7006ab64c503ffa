/* The set of addresses that are handles, for checking mode: known_handles.c. Callers need not hold a lock. */
#ifndef HD_STATE_KNOWN_HANDLES_H
#define HD_STATE_KNOWN_HANDLES_H

#include <stdatomic.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include "base/base.h"

/* hd_handles_open: a runtime starts, in checking mode or not, and gets memory for its handles; HEDDLE_E_MEMORY.
 * hd_handles_close: all its handles have been freed, and their memory is freed. */
int hd_handles_open(heddle_runtime *rt);
void hd_handles_close(heddle_runtime *rt);
/* For checking mode. With a runtime: the address `d` is a handle of `rt` from now on; HEDDLE_E_MEMORY. With NULL: the
 * address is no handle from now on, until it is noted again; this never fails. */
int hd_handle_note(const heddle_data *d, const heddle_runtime *rt);
/* Whether the address is a handle of a runtime in checking mode. Does not read memory at the address. */
int hd_is_handle(const heddle_data *d);
/* 1: every handle of the process is in the set, because all runtimes of the process are in checking mode. */
extern _Atomic int hd_handles_known;
/* Whether the address is certainly no handle. Does not read memory at the address. */
static inline int hd_is_wild(const heddle_data *d)
{
	/* relaxed, pairs with nothing: see the definition */
	return HD_UNLIKELY(atomic_load_explicit(&hd_handles_known, memory_order_relaxed)) && !hd_is_handle(d);
}
/* Returns HEDDLE_E_INVALID with a message that the address is no handle; `what`: the name of the public function. */
int hd_no_handle(const heddle_data *d, const char *what);

#endif
