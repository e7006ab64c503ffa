/* The clock: the processor's time stamp counter if it runs at a constant rate, otherwise the system's clock, which
 * takes longer to read. */
#include "base.h"
#include <time.h>
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
/* Set before main, const afterwards. us_per_tick 0: the counter is not used. */
static double us_per_tick, first_us;
static uint64_t first_tick;

static int constant_rate(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

/* Compares the counter with clock_gettime for 2 ms, which gives the rate to about 1e-5. */
__attribute__((constructor)) static void calibrate(void)
{
	if (!constant_rate())
		return;
	double start = system_us(), end;
	uint64_t tick = __builtin_ia32_rdtsc();
	do
		end = system_us();
	while (end - start < 2000);
	first_us = start;
	first_tick = tick;
	us_per_tick = (end - start) / (double)(__builtin_ia32_rdtsc() - tick);
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
