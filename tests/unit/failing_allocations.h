/* Allocations that fail when a test says so. The test program is linked with --wrap for malloc, calloc and realloc. */
#ifndef TEST_FAILING_ALLOCATIONS_H
#define TEST_FAILING_ALLOCATIONS_H

#include "ok.h"
#include "../wrapped.h"

/* Number of allocations of the thread before the next one that fails; negative: none fails. */
static _Thread_local long until_failure = -1;

static inline int fails(void)
{
	return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Calls `call` with the first, the second ... allocation failing, until no allocation fails. Each call must succeed or
 * return HEDDLE_E_MEMORY, the last one must succeed, and at least `least` calls must have failed. */
static void fail_each(int (*call)(void), int least)
{
	int n_failed = 0, is_over = 0;
	for (int n = 0; !is_over; n++) {
		until_failure = n;
		int status = call();
		is_over = until_failure >= 0;
		until_failure = -1;
		if (status != 0 && (status != HEDDLE_E_MEMORY || is_over))
			fail_msg("allocation %d: %s", n, heddle_last_error());
		n_failed += status != 0;
	}
	assert_true(n_failed >= least);
}

#endif
