/* Allocations that fail when a test says so. The test program is linked with --wrap for malloc, calloc and realloc. */
#ifndef TEST_FAILING_ALLOCATIONS_H
#define TEST_FAILING_ALLOCATIONS_H

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

#endif
