/* What the random tests share: reproducible numbers, their command line, a limit for hangs. */
#ifndef RANDOM_SUPPORT_H
#define RANDOM_SUPPORT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle.h>
#include "../chance.h"
#include "../machine.h"
#include "../sanitized.h"

/* A seed takes a few milliseconds, but the first one on an OpenCL device waits for its compiler: so long means that it
 * hangs, also where sanitizers and other programs slow it down. */
#ifdef HD_CHECKED
enum { HANG_S = 60 };
#else
enum { HANG_S = 20 };
#endif

struct options {
	uint64_t seed, count;
	const char *sched; /* NULL: every policy in turn */
	unsigned workers;  /* CPU workers, however few cores there are; 0: as each runtime draws */
	int opencl, cuda;  /* devices beside those that each runtime draws */
	int clusters;      /* some CPU workers have several cores; for random_graphs */
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
		if (strcmp(argv[i], "--clusters") == 0) {
			options->clusters = 1;
			continue;
		}
		const char *value = i + 1 < argc ? argv[++i] : NULL;
		if (value && strcmp(argv[i - 1], "--seed") == 0) {
			options->seed = strtoull(value, NULL, 0);
		} else if (value && strcmp(argv[i - 1], "--count") == 0) {
			options->count = strtoull(value, NULL, 0);
		} else if (value && strcmp(argv[i - 1], "--sched") == 0) {
			options->sched = value;
		} else if (value && strcmp(argv[i - 1], "--workers") == 0) {
			options->workers = (unsigned)strtoul(value, NULL, 0);
		} else if (value && strcmp(argv[i - 1], "--opencl") == 0) {
			options->opencl = atoi(value);
		} else if (value && strcmp(argv[i - 1], "--cuda") == 0) {
			options->cuda = atoi(value);
		} else {
			fprintf(stderr,
			        "usage: %s [--seed S] [--count N] [--sched POLICY] [--workers N] [--opencl K] "
			        "[--cuda K] [--clusters] [--verbose]\n",
			        argv[0]);
			return -1;
		}
	}
	return 0;
}

/* Calls run_group for the groups of `per_runtime` seeds that share a runtime, with the first and the last seed of each
 * group. Returns what is not 0, and then stops. */
static inline int run_groups(const struct options *options, uint64_t per_runtime,
                             int (*run_group)(const struct options *, uint64_t first, uint64_t last))
{
	uint64_t end = options->seed + options->count;
	for (uint64_t first = options->seed, last; first < end; first = last + 1) {
		last = (first / per_runtime + 1) * per_runtime - 1;
		last = last < end ? last : end - 1;
		int status = run_group(options, first, last);
		if (status)
			return status;
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

/* How many workers the runtime number `index` has if that is many more than there are cores, which is rare; otherwise
 * 0. */
static inline unsigned crowd_of(const struct options *options, uint64_t index)
{
	if (options->workers || options->opencl || options->cuda)
		return options->workers;
	return index % 128 == 21 ? 64 : index % 256 == 42 ? 128 : 0;
}

/* Whether there are so many devices; says what is missing. */
static inline int has_devices(const struct options *options)
{
	struct heddle_config config;
	heddle_runtime *rt;
	if (heddle_config_init(&config))
		return 0;
	config.n_cpu = 1;
	config.n_opencl = options->opencl;
	config.n_cuda = options->cuda;
	config.model_dir = "none";
	if (heddle_start(&config, &rt)) {
		fprintf(stderr, "left out: %s\n", heddle_last_error());
		return 0;
	}
	heddle_stop(rt);
	return 1;
}

/* Starts `config`, with `crowd` CPU workers if that is not 0. */
static inline int start_crowded(const struct heddle_config *config, unsigned crowd, heddle_runtime **rt)
{
	if (!crowd)
		return heddle_start(config, rt);
	struct heddle_platform *p = crowded_machine(crowd);
	int status = p ? 0 : HEDDLE_E_MEMORY;
	for (int i = 0; i < config->n_emulated && !status; i++)
		status = heddle_platform_add_emulated(p, config->emulated_memory, config->emulated_bandwidth,
		                                      config->emulated_latency, config->emulated_slowdown);
	for (size_t i = 0; p && i < p->n_classes; i++)
		if (strcmp(p->classes[i].kind, "emulated") == 0)
			p->classes[i].streams = (unsigned)config->emulated_streams;
	if (!status)
		status = heddle_start_on(config, p, 0, rt);
	heddle_platform_free(p);
	return status;
}

/* What is said when a seed takes too long, or ends the program. */
static _Atomic uint64_t current_seed;
static heddle_runtime *_Atomic current_runtime; /* dumped then; may be NULL */

static inline void say_seed(void)
{
	char text[80];
	int n = snprintf(text, sizeof text, "\nreplay with --seed %llu --count 1\n", (unsigned long long)current_seed);
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(3);
}

/* A sanitizer that ends the program calls this; without one, a signal does. */
#if SANITIZED
#include <sanitizer/common_interface_defs.h>
static inline void watch_for_crashes(void)
{
	__sanitizer_set_death_callback(say_seed);
}
#else
static void say_crash(int signal)
{
	say_seed();
	raise(signal); /* this time it ends the program */
}

static inline void watch_for_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &(struct sigaction){.sa_handler = say_crash, .sa_flags = (int)SA_RESETHAND},
		          NULL);
}
#endif

/* SIGALRM is blocked everywhere else: here, outside a handler, everything may be called. */
static void *wait_for_alarm(void *arg)
{
	sigset_t alarms;
	int signal;
	(void)arg;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigwait(&alarms, &signal);
	fprintf(stderr, "\nno end\n");
	say_seed();
	heddle_dump(current_runtime, stderr);
	_exit(2);
}

/* Called before the first thread is made. */
static inline void watch(void)
{
	pthread_t watcher;
	sigset_t alarms;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	if (pthread_create(&watcher, NULL, wait_for_alarm, NULL) == 0)
		pthread_detach(watcher);
	watch_for_crashes();
}

/* A run that hangs ends with its seed and what hangs. */
static inline void begin_seed(uint64_t seed)
{
	current_seed = seed;
	alarm(3 * HANG_S);
}

#endif
