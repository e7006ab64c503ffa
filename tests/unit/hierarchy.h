/* Runtimes for tests of hierarchical tasks. */
#ifndef TEST_HIERARCHY_H
#define TEST_HIERARCHY_H

#include "base/base.h"
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

/* Waits until *n is `wanted`, for 30 s at most; the value that was seen last. */
static inline int reached(atomic_int *n, int wanted)
{
	double begin = hd_clock_us();
	while (atomic_load(n) < wanted && hd_clock_us() - begin < 30e6)
		sched_yield();
	return atomic_load(n);
}

struct gate {
	atomic_int entered, open;
};

/* Says that it is there, and stays until the gate is opened. */
static inline int enter_gate(heddle_context *c)
{
	struct gate *g = pointer_value(c);
	atomic_fetch_add(&g->entered, 1);
	reached(&g->open, 1);
	return 0;
}

/* Appends a digit, the task's value, to the datum. */
static inline int append_digit(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	*x = 10 * *x + heddle_get(c, 0, int);
	return 0;
}

#endif
