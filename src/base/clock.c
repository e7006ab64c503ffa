/* The clock: the processor's time stamp counter if its rate is constant; otherwise the system's clock, which takes
 * longer to read. */
#include <time.h>
#include "base.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static double system_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

#if defined(__x86_64__)
/* calibrate() sets these before main; they never change afterwards. us_per_tick 0: the counter is not used. */
static double us_per_tick, first_us;
static uint64_t first_tick;

static int constant_rate(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* A reading of both clocks at the same moment. */
struct moment {
	double us;
	uint64_t tick;
};

/* Reads both clocks. A thread may lose its processor between the readings, for longer than the 2 ms of calibrate(). So
 * of several tries, the one with the fewest ticks around the reading of the system's clock counts. */
static struct moment read_both(void)
{
	enum { TRIES = 16 };
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __builtin_ia32_rdtsc();
		double us = system_us();
		uint64_t ticks = __builtin_ia32_rdtsc() - before;
		if (ticks >= least)
			continue;
		least = ticks;
		best = (struct moment){us, before + ticks / 2};
	}
	return best;
}

/* Compares the counter with clock_gettime for 2 ms, which gives the rate to about 1e-5. */
__attribute__((constructor)) static void calibrate(void)
{
	if (!constant_rate())
		return;
	struct moment start = read_both();
	while (system_us() - start.us < 2000)
		continue;
	struct moment end = read_both();
	first_us = start.us;
	first_tick = start.tick;
	us_per_tick = (end.us - start.us) / (double)(end.tick - start.tick);
}

double hd_clock_us(void)
{
	if (HD_UNLIKELY(us_per_tick == 0))
		return system_us();
	return first_us + (double)(int64_t)(__builtin_ia32_rdtsc() - first_tick) * us_per_tick;
}
#else
double hd_clock_us(void)
{
	return system_us();
}
#endif
