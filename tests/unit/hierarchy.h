/* Runtimes for tests of hierarchical tasks. */
#ifndef TEST_HIERARCHY_H
#define TEST_HIERARCHY_H

#include "program.h"

static inline heddle_runtime *start_hierarchy(size_t n_workers, int window)
{
	struct heddle_config config = small_config();
	struct heddle_platform *machine = crowded_machine(n_workers);
	heddle_runtime *rt;
	config.window = window;
	assert_ok(heddle_start_on(&config, machine, 0, &rt));
	heddle_platform_free(machine);
	return rt;
}

/* Appends a digit, the task's value, to the datum. */
static inline int append_digit(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	*x = 10 * *x + heddle_get(c, 0, int);
	return 0;
}

#endif
