/* What tests of heddle_selfcheck share. */
#ifndef TEST_BREAKS_H
#define TEST_BREAKS_H

#include "internals.h"
#include "program.h"

/* Breaks one field for the time of one look, which must name it with `word`. Under the lock, like all who would. */
#define BREAKS(s, field, value, word)                                                               \
	do {                                                                                        \
		hd_lock(&(s)->rt->lock);                                                            \
		__typeof__(field) kept = (field);                                                   \
		(field) = (value);                                                                  \
		int breaks_status = hd_selfcheck((s)->rt);                                          \
		(field) = kept;                                                                     \
		hd_unlock(&(s)->rt->lock);                                                          \
		if (breaks_status != HEDDLE_E_STATE)                                                \
			fail_msg("%s = %s: %s", #field, #value, heddle_status_name(breaks_status)); \
		assert_says(word);                                                                  \
		assert_ok(heddle_selfcheck((s)->rt));                                               \
	} while (0)

/* Puts what was submitted into the graph, and runs the controls that are ready. */
static inline void settle(heddle_runtime *rt)
{
	hd_core_enter(rt);
	hd_drain_all(rt);
	hd_core_settle(rt);
	hd_core_leave(rt);
}

#endif
