/* What tests ask about the machine they run on. */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <heddle/platform.h>

/* CPU workers for a test that wants `n`: fewer where there are not so many cores, for heddle_start refuses more. */
static inline int cores_up_to(int n)
{
	static int cores; /* asked once: tests start runtimes by the thousand */
	struct heddle_platform *here;
	if (!cores && heddle_platform_discover(-1, &here) == 0) {
		cores = (int)here->n_workers;
		heddle_platform_free(here);
	}
	return n < cores ? n : cores;
}

#endif
