/* What every bench program needs: a clock, rows of output, the memory in use, a kernel of known duration. Variables are
 * defined here, so each program includes this once.
 *
 * A program measures one thing on one runtime. It prints rows "case,workers,unit,value" and nothing else on stdout,
 * ends with status 0, and takes at most 30 s. run.py runs the programs in turn and takes medians.
 */
#ifndef BENCH_H
#define BENCH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds on the monotonic clock. */
static inline double bench_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_row(const char *name, int workers, const char *unit, double value)
{
	printf("%s,%d,%s,%.6g\n", name, workers, unit, value);
}

/* Ends the program with the message `what` unless `good`. */
static inline void bench_need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Argument i, a number of at least 1; `fallback` when it is not given. */
static inline size_t bench_number(int argc, char **argv, int i, size_t fallback)
{
	if (i >= argc)
		return fallback;
	char *end;
	long long value = strtoll(argv[i], &end, 10);
	bench_need(*end == '\0' && value >= 1, "an argument is not a positive number");
	return (size_t)value;
}

/* The memory that the process uses now (its resident pages), in bytes. */
static inline double bench_resident(void)
{
	long pages = 0, all = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	bench_need(f && fscanf(f, "%ld %ld", &all, &pages) == 2, "/proc/self/statm cannot be read");
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* The most memory that the process has used so far, in bytes. Not from getrusage, which also counts what the process
 * was before exec. */
static inline double bench_resident_peak(void)
{
	char line[128];
	double kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "r");
	bench_need(f != NULL, "/proc/self/status cannot be read");
	while (fgets(line, sizeof line, f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kilobytes = strtod(line + 6, NULL);
	fclose(f);
	return kilobytes * 1024;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median of x. Sorts x. */
static inline double bench_median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, bench_compare);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* What a runtime with a sequential core counts: us that threads have spent in it (0: it does not measure them), and how
 * often one entered it. */
struct bench_core {
	double us, entries;
};

/* --- The kernel of all tasks -------------------------------------------------------------------------------------- */

/* The number of turns of an empty loop that each task makes; 0: an empty task. It is only written while no task runs.
 * It is volatile, so that a compiler cannot find out that it is always 0 and drop the kernel. */
static volatile uint64_t bench_work;

static inline void bench_spin(uint64_t turns)
{
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" : "+r"(i));
}

/* The kernel lasts this many ns on the clock, if it is not 0, instead of making turns. Written and volatile like
 * bench_work. */
static volatile uint64_t bench_work_ns;

static inline uint64_t bench_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void bench_kernel(void)
{
	uint64_t ns = bench_work_ns;
	if (ns == 0) {
		bench_spin(bench_work);
		return;
	}
	for (uint64_t start = bench_ns(); bench_ns() - start < ns;)
		;
}

/* Lets each kernel last `us` on the clock, 0: an empty kernel. Returns what a kernel really takes, in us: longer by
 * about half a reading of the clock. This is the least of several means, so that one disturbance does not count. */
static inline double bench_clock_kernel(double us)
{
	enum { TRIES = 10, TRY_US = 500 };
	double best = 0;
	bench_work = 0;
	bench_work_ns = (uint64_t)(us * 1e3);
	for (int i = 0; us > 0 && i < TRIES; i++) {
		int count = (int)(TRY_US / us) + 10;
		double start = bench_seconds();
		for (int k = 0; k < count; k++)
			bench_kernel();
		double mean = (bench_seconds() - start) * 1e6 / count;
		best = i == 0 || mean < best ? mean : best;
	}
	return best;
}

static void *bench_spin_along(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		bench_spin(10000);
	return NULL;
}

/* Turns of the loop that a thread makes per us while `threads` threads do so: the best of many tries. */
static inline double bench_turns_per_us(size_t threads)
{
	const uint64_t turns = 1000000;
	double best = 0;
	int stop = 0;
	pthread_t *others = calloc(threads, sizeof *others);
	bench_need(others != NULL, "no memory for threads");
	for (size_t i = 1; i < threads; i++)
		bench_need(pthread_create(&others[i], NULL, bench_spin_along, &stop) == 0, "no thread");
	for (double begin = bench_seconds(), now = begin, end; now - begin < 0.3; now = end) {
		bench_spin(turns);
		end = bench_seconds();
		double rate = (double)turns / ((end - now) * 1e6);
		best = rate > best ? rate : best;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (size_t i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	free(others);
	return best;
}

#endif
