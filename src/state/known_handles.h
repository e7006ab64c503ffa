/* Which addresses are handles, as far as runtimes in checking mode say: known_handles.c. No function needs the lock. */
#ifndef HD_KNOWN_HANDLES_H
#define HD_KNOWN_HANDLES_H

#include <heddle/runtime.h>
#include <stdatomic.h>
#include <heddle/data.h>
#include "base/base.h"

/* A runtime starts, in checking mode or not; its handles are freed. */
void hd_handles_open(heddle_runtime *rt);
void hd_handles_close(heddle_runtime *rt);
/* In checking mode: the address is a handle of the runtime from now on. HEDDLE_E_MEMORY.
 * If the runtime is NULL, the address is no handle any more, until it is noted again; this cannot fail. */
int hd_handle_note(const heddle_data *d, const heddle_runtime *rt);
/* Whether the address is a handle of a runtime in checking mode; nothing is read there. */
int hd_is_handle(const heddle_data *d);
/* Whether all handles of the process are known. */
extern _Atomic int hd_handles_known;
/* Whether the address is no handle for sure; nothing is read there. */
static inline int hd_is_wild(const heddle_data *d)
{
	/* relaxed, pairs with nothing: see the definition */
	return HD_UNLIKELY(atomic_load_explicit(&hd_handles_known, memory_order_relaxed)) && !hd_is_handle(d);
}
/* HEDDLE_E_INVALID, with a message that begins with `what`: there is no handle. */
int hd_no_handle(const heddle_data *d, const char *what);

#endif
