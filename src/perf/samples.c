/* Judges the samples of one cell, and keeps their moments. perf.h has the rules and their reasons.
 *
 * Start: F. R. Hampel, "The influence curve and its role in robust estimation", J. Amer. Statist. Assoc. 69 (1974):
 * median and median absolute deviation. Moments: B. P. Welford, Technometrics 4 (1962). */
#include <math.h>
#include "base/base.h"
#include "internal.h"

/* 6 deviations, each 1.4826 times the median distance from the median: sigma, if times are normally distributed. */
#define START_REACH (6 * 1.4826)
#define START_TOLERANCE 0.5
#define STEADY_SIGMA2 (5.0 * 5.0)

static void sort(double *x, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		double v = x[i];
		unsigned j = i;
		for (; j && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

static double lower_median(double *x, unsigned n)
{
	sort(x, n);
	return x[(n - 1) / 2];
}

static double true_median(double *x, unsigned n)
{
	sort(x, n);
	return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

/* Computes the moments from the window alone. Returns how many of its samples do not count: at most half. */
static unsigned weigh(struct hd_perf_cell *cell, double (*median_of)(double *, unsigned), double tolerance)
{
	unsigned n = cell->filled;
	double x[HD_PERF_WINDOW] = {0}, distance[HD_PERF_WINDOW] = {0};
	for (unsigned i = 0; i < n; i++)
		x[i] = cell->window[i];
	double median = median_of(x, n);
	for (unsigned i = 0; i < n; i++)
		distance[i] = fabs(x[i] - median);
	double reach = fmax(tolerance * median, START_REACH * median_of(distance, n));
	double sum = 0, m2 = 0;
	unsigned kept = 0;
	for (unsigned i = 0; i < n; i++) /* x ascends, so the samples that count follow one another */
		if (fabs(x[i] - median) <= reach) {
			sum += x[i];
			x[kept++] = x[i];
		}
	cell->mean = sum / kept;
	for (unsigned i = 0; i < kept; i++)
		m2 += (x[i] - cell->mean) * (x[i] - cell->mean);
	cell->samples = kept;
	cell->m2 = m2;
	cell->min = x[0];
	cell->max = x[kept - 1];
	return n - kept;
}

static void record_start(struct hd_perf_cell *cell, double us)
{
	unsigned left_out_before = cell->filled - cell->samples;
	cell->window[cell->filled++] = us;
	cell->rejected += weigh(cell, lower_median, START_TOLERANCE) - left_out_before;
	cell->next = 0;
	cell->outliers = 0;
}

static int is_outlier(const struct hd_perf_cell *cell, double us)
{
	double mean = cell->mean, distance = us - mean;
	if (HD_LIKELY(us <= 2 * mean && us >= 0.5 * mean))
		return 0;
	double n = cell->samples < HD_PERF_MEMORY ? cell->samples : HD_PERF_MEMORY;
	return distance * distance * n > STEADY_SIGMA2 * cell->m2;
}

static void take(struct hd_perf_cell *cell, double us)
{
	double distance = us - cell->mean;
	if (cell->samples < HD_PERF_MEMORY) {
		cell->samples++;
		cell->mean += distance / cell->samples;
		cell->m2 += distance * (us - cell->mean);
	} else {
		if (cell->samples < UINT32_MAX - 1)
			cell->samples++;
		cell->mean += distance * (1.0 / HD_PERF_MEMORY);
		cell->m2 = (cell->m2 + distance * distance) * (1 - 1.0 / HD_PERF_MEMORY);
	}
	if (us < cell->min)
		cell->min = us;
	if (us > cell->max)
		cell->max = us;
}

void hd_perf_cell_record(struct hd_perf_cell *cell, double us)
{
	if (HD_UNLIKELY(cell->filled < HD_PERF_WINDOW)) {
		record_start(cell, us);
		return;
	}
	int outlier = is_outlier(cell, us);
	cell->window[cell->next] = us;
	cell->next = (uint8_t)((cell->next + 1) % HD_PERF_WINDOW);
	cell->outliers = (uint8_t)(cell->outliers << 1 | outlier);
	if (HD_LIKELY(!outlier)) {
		take(cell, us);
		return;
	}
	if (cell->rejected < UINT32_MAX)
		cell->rejected++;
	if (__builtin_popcount(cell->outliers) >= HD_PERF_CHANGE) {
		int at_once = cell->outliers == (1 << HD_PERF_CHANGE) - 1;
		cell->rejected = weigh(cell, true_median, at_once ? START_TOLERANCE : INFINITY);
		cell->outliers = 0;
	}
}

void hd_perf_cell_restore(struct hd_perf_cell *cell)
{
	cell->filled = (uint8_t)(cell->samples < HD_PERF_WINDOW ? cell->samples : HD_PERF_WINDOW);
	for (unsigned i = 0; i < cell->filled; i++)
		cell->window[i] = cell->mean;
	cell->next = 0;
	cell->outliers = 0;
}

double hd_perf_cell_stddev(const struct hd_perf_cell *cell)
{
	uint32_t n = cell->samples < HD_PERF_MEMORY ? cell->samples : HD_PERF_MEMORY;
	return n ? sqrt(cell->m2 / n) : 0;
}
