/* For programs that are written as programs for StarPU are: what does not hold ends them. */
#ifndef STARPU_TESTS_CHECK_H
#define STARPU_TESTS_CHECK_H

#include <starpu.h>

#define CHECK(x) STARPU_ASSERT_MSG(x, "line %d: %s does not hold", __LINE__, #x)

/* Starts with n CPU workers, which may be more than the machine has cores. */
static inline void start(int n)
{
	struct starpu_conf conf;
	CHECK(starpu_conf_init(&conf) == 0);
	conf.ncpus = n;
	conf.ncuda = conf.nopencl = 0;
	CHECK(starpu_init(&conf) == 0);
}

#endif
