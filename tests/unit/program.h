/* What tests written as a program's part share: checks with the library's message, small runtimes, small kernels. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <heddle.h>
#include "../machine.h"

static inline void assert_ok(int status)
{
	if (status)
		fail_msg("%s: %s", heddle_status_name(status), heddle_last_error());
}

static inline void assert_says(const char *word)
{
	if (!strstr(heddle_last_error(), word))
		fail_msg("the message \"%s\" does not contain \"%s\"", heddle_last_error(), word);
}

static inline struct heddle_config small_config(void)
{
	struct heddle_config config;
	assert_ok(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.bind = 0;
	config.sched = "eager";
	config.model_dir = "none";
	return config;
}

static inline heddle_runtime *start_with(const struct heddle_config *config)
{
	heddle_runtime *rt;
	assert_ok(heddle_start(config, &rt));
	return rt;
}

static inline heddle_runtime *start(void)
{
	const struct heddle_config config = small_config();
	return start_with(&config);
}

/* Starts a runtime with `n` CPU workers and no other ones, even on a machine with fewer cores. */
static inline heddle_runtime *start_cpus(struct heddle_config config, int n)
{
	heddle_runtime *rt;
	config.n_cpu = n;
	if (cores_up_to(n) == n)
		return start_with(&config);
	struct heddle_platform *machine = crowded_machine((size_t)n);
	assert_non_null(machine);
	assert_ok(heddle_start_on(&config, machine, 0, &rt));
	heddle_platform_free(machine);
	return rt;
}

/* Starts a runtime in virtual time on the platform that the text `yaml` describes. */
static inline heddle_runtime *start_on(const struct heddle_config *config, const char *yaml)
{
	struct heddle_platform *platform;
	heddle_runtime *rt;
	assert_ok(heddle_platform_parse("test", yaml, strlen(yaml), &platform));
	assert_ok(heddle_start_on(config, platform, 1, &rt));
	heddle_platform_free(platform);
	return rt;
}

/* Starts a runtime with small_config in virtual time on a platform; NULL: on threads. */
static inline heddle_runtime *start_where(const char *platform)
{
	struct heddle_config config = small_config();
	config.platform = platform;
	return start_with(&config);
}

/* Sleeps, so that the threads that a test waits for have the cores. For loops that ask again after each nap. */
static inline void nap(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Time enough for another thread to get where it waits; were it not, the test would prove less, and pass. */
static inline void give_others_time(void)
{
	nap(1000);
}

static inline void wait_for(atomic_int *flag, int value)
{
	while (*flag < value)
		nap(20);
}

/* What a test tells another of its threads, or a callback. */
struct other {
	long value; /* with threads somebody must have written what is read */
	heddle_runtime *rt;
	heddle_codelet *codelet;
	heddle_data *data;
	heddle_task *task;
	atomic_int stage;
	int status;
};

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

static inline int increment(heddle_context *c)
{
	++*(long *)heddle_ptr(c, 0);
	return 0;
}

static inline int times_ten_plus(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	*x = 10 * *x + heddle_get(c, 0, long);
	return 0;
}

static inline int fail_with(heddle_context *c)
{
	int code = heddle_get(c, 0, int);
	return code ? heddle_fail(c, code, "row %d is bad", 42) : 0;
}

static inline int add_value(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += heddle_get(c, 0, long);
	return 0;
}

static inline int write_ones(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i] = 1;
	return 0;
}

static inline int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

static inline int fail_always(heddle_context *c)
{
	(void)c;
	return 3;
}

/* A codelet that does nothing, in the time that a function says. */
static inline heddle_codelet *given(heddle_runtime *rt, const char *name,
                                    double (*time)(const struct heddle_size *, unsigned))
{
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = name, .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = time);
	assert_non_null(c);
	return c;
}

/* A pointer given as the first value. */
static inline void *pointer_value(const heddle_context *c)
{
	return *(void *const *)heddle_value_ptr(c, 0);
}

static inline int count_up(heddle_context *c)
{
	++*(atomic_int *)pointer_value(c);
	return 0;
}

/* Stays until the program opens the gate. */
static inline int pass_gate(heddle_context *c)
{
	atomic_int *gate = pointer_value(c);
	while (!*gate)
		nap(20);
	return 0;
}

/* What codelets say of their tasks. */
static inline double ten_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10;
}

static inline double one_flop(const struct heddle_size *size)
{
	(void)size;
	return 1;
}

/* Packing for objects of which nothing needs to arrive. */
static inline size_t one_byte(const void *object)
{
	(void)object;
	return 1;
}

static inline int pack_nothing(const void *object, void *buffer, size_t size)
{
	(void)object;
	memset(buffer, 0, size);
	return 0;
}

#endif
