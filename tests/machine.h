/* What tests ask about the machine they run on. */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* This machine, as if it had n CPU workers: many threads on few cores. heddle_start_on runs it. NULL: out of memory. */
static inline struct heddle_platform *crowded_machine(size_t n)
{
	struct heddle_platform *p;
	if (heddle_platform_discover(1, &p))
		return NULL;
	struct heddle_worker *workers = realloc(p->workers, n * sizeof *workers);
	if (workers)
		p->workers = workers;
	for (; workers && p->n_workers < n; p->n_workers++) {
		char name[24];
		snprintf(name, sizeof name, "crowd%zu", p->n_workers);
		workers[p->n_workers] = workers[0];
		workers[p->n_workers].name = strdup(name);
	}
	for (size_t w = 0; workers && w < n; w++)
		workers[w].core = -1; /* no core of its own */
	return p;
}

#endif
