/* What the random tests share: reproducible numbers, their command line, a limit for hangs. */
#ifndef RANDOM_SUPPORT_H
#define RANDOM_SUPPORT_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle.h>
#include "../chance.h"
#include "../machine.h"

enum { HANG_S = 20 }; /* a seed takes a few milliseconds: so long means that it hangs */

struct options {
	uint64_t seed, count;
	const char *sched; /* NULL: every policy in turn */
	int verbose;
};

static inline int chance(struct hd_rng *rng, double p)
{
	return hd_rng_uniform(rng) < p;
}

static inline int parse_options(int argc, char **argv, struct options *options)
{
	*options = (struct options){.seed = 1, .count = 1000};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--verbose") == 0) {
			options->verbose = 1;
			continue;
		}
		const char *value = i + 1 < argc ? argv[++i] : NULL;
		if (value && strcmp(argv[i - 1], "--seed") == 0) {
			options->seed = strtoull(value, NULL, 0);
		} else if (value && strcmp(argv[i - 1], "--count") == 0) {
			options->count = strtoull(value, NULL, 0);
		} else if (value && strcmp(argv[i - 1], "--sched") == 0) {
			options->sched = value;
		} else {
			fprintf(stderr, "usage: %s [--seed S] [--count N] [--sched POLICY] [--verbose]\n", argv[0]);
			return -1;
		}
	}
	return 0;
}

/* Which policy the runtime number `index` gets. */
static inline const char *policy_name(const struct options *options, uint64_t index)
{
	if (options->sched)
		return options->sched;
	const struct heddle_policy **all = heddle_policies();
	size_t n = 0;
	while (all && all[n])
		n++;
	const char *name = n ? all[index % n]->name : "eager";
	free(all);
	return name;
}

static volatile uint64_t current_seed; /* only for the handler below */

static void say_hang(int signal)
{
	(void)signal;
	char text[80];
	int n = snprintf(text, sizeof text, "\nno end: replay with --seed %llu --count 1\n",
	                 (unsigned long long)current_seed);
	ssize_t written = write(STDERR_FILENO, text, (size_t)n);
	_exit(written < 0 ? 3 : 2);
}

/* A run that hangs ends with its seed. */
static inline void begin_seed(uint64_t seed)
{
	current_seed = seed;
	signal(SIGALRM, say_hang);
	alarm(3 * HANG_S);
}

#endif
