/* What tests of deliberate mistakes share: small runtimes in checking mode, and the list of mistakes that each has. */
#ifndef TEST_MISTAKES_H
#define TEST_MISTAKES_H

#include <stdio.h>
#include "program.h"

enum { N = 10 };

/* A small runtime in checking mode. */
static inline heddle_runtime *watched(int n_emulated)
{
	struct heddle_config config = small_config();
	config.n_cpu = n_emulated ? 0 : 1;
	config.n_emulated = n_emulated;
	config.check = 1;
	return start_with(&config);
}

static inline heddle_data *vector(heddle_runtime *rt, const char *name, double *x)
{
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
	assert_ok(heddle_data_set_name(d, name));
	return d;
}

static inline heddle_codelet *codelet(heddle_runtime *rt, const char *name, heddle_kernel kernel)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = name, .cpu = kernel);
	assert_non_null(c);
	return c;
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

struct mistake {
	const char *what;
	int (*program)(heddle_runtime *rt); /* returns what the call that finds it returns */
	int n_emulated;                     /* 0: on a CPU worker */
	int status;
	const char *sentence; /* part of it */
};

static inline void is_named(void **state)
{
	const struct mistake *m = *state;
	heddle_runtime *rt = watched(m->n_emulated);
	int status = m->program(rt);
	char *said = strdup(heddle_last_error());
	assert_ok(heddle_selfcheck(rt));
	heddle_stop(rt); /* it may report the mistake once more */
	if (status != m->status || !strstr(said, m->sentence))
		fail_msg("%s, \"%s\", and not %s, \"%s\"", heddle_status_name(status), said,
		         heddle_status_name(m->status), m->sentence);
	free(said);
}

static inline int run_mistakes(const char *name, const struct mistake *mistakes, size_t n)
{
	struct CMUnitTest *tests = calloc(n, sizeof *tests);
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){mistakes[i].what, is_named, NULL, NULL, (void *)(uintptr_t)&mistakes[i]};
	int failed = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
	free(tests);
	return failed;
}

#endif
