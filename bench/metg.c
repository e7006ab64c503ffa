/* METG, the minimum effective task granularity (Slaughter et al.: Task Bench, SC 2020, section IV). The 1-D stencil is
 * run with shorter and shorter kernels until the threads are only half busy. Efficiency is the time of all kernels, as
 * measured without a runtime on the same number of threads, divided by threads x wall time. METG is threads x wall time
 * per task at an efficiency of 50 %. The kernel lasts half as long, and is printed too. metg WORKERS WIDTH [clock]
 *
 * A kernel makes turns of a loop, whose rate is measured first; with "clock" it lasts a time on the clock instead, and
 * phases in which the machine is slow do not count as the runtime's. */
#include <math.h>
#include BENCH_RUNTIME
#include "shapes.h"

struct request {
	size_t workers, width;
	int clock;
};

enum { PROBES = 5, MIN_STEPS = 100 };
static const double shortest = 0.05, longest = 500; /* kernels tried, us */
static const double probe_us = 20000;               /* length of a measurement with long kernels, us per thread */
static const size_t max_tasks = 30000;              /* length of a measurement with short kernels */

static double efficiency(const struct request *r, double us, double turns_per_us)
{
	double values[PROBES];
	double wanted = probe_us * (double)r->workers / us / (double)r->width;
	double most = (double)max_tasks / (double)r->width;
	size_t steps = wanted < MIN_STEPS ? MIN_STEPS : wanted < most ? (size_t)wanted : (size_t)most;
	if (r->clock)
		us = bench_clock_kernel(us);
	else
		bench_work = (uint64_t)(us * turns_per_us);
	for (size_t i = 0; i < PROBES; i++) {
		double start = bench_seconds();
		shape_stencil(steps, r->width);
		bench_wait();
		double wall_us = (bench_seconds() - start) * 1e6;
		values[i] = us * (double)(steps * r->width) / (wall_us * (double)r->workers);
	}
	return bench_median(values, PROBES);
}

static void measure(void *arg)
{
	const struct request *r = arg;
	double turns_per_us = r->clock ? 0 : bench_turns_per_us(r->workers), low = shortest, high = longest;
	bench_data(2 * r->width);
	efficiency(r, 10, turns_per_us); /* wakes the threads */
	bench_need(efficiency(r, high, turns_per_us) >= 0.5, "never half efficient: is the machine busy?");
	while (high / low > 1.03) {
		double middle = sqrt(low * high);
		if (efficiency(r, middle, turns_per_us) >= 0.5)
			high = middle;
		else
			low = middle;
	}
	char name[64];
	snprintf(name, sizeof name, "stencil_width_%zu", r->width);
	bench_row(name, (int)r->workers, "us", high / efficiency(r, high, turns_per_us));
	snprintf(name, sizeof name, "stencil_width_%zu_kernel", r->width);
	bench_row(name, (int)r->workers, "us", high);
}

int main(int argc, char **argv)
{
	struct request request = {.workers = bench_number(argc, argv, 1, 2),
	                          .width = bench_number(argc, argv, 2, 2),
	                          .clock = argc > 3 && strcmp(argv[3], "clock") == 0};
	bench_run(request.workers, measure, &request);
	return 0;
}
