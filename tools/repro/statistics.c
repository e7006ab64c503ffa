/* The statistics for verdicts: see repro.h. */
#include "repro.h"
#include <stdlib.h>

/* --- Ranks -------------------------------------------------------------------------------------------------------- */

size_t repro_rank(const double *values, size_t n, size_t i)
{
	size_t rank = 1;
	for (size_t j = 0; j < n; j++)
		rank += values[j] < values[i];
	return rank;
}

/* The rank of values[i]; equal values share the mean of their ranks. */
static double mid_rank(const double *values, size_t n, size_t i)
{
	size_t equal = 0;
	for (size_t j = 0; j < n; j++)
		equal += values[j] == values[i];
	return (double)repro_rank(values, n, i) + ((double)equal - 1) / 2;
}

double repro_spearman(const double *a, const double *b, size_t n)
{
	double mean = ((double)n + 1) / 2, ab = 0, aa = 0, bb = 0;
	for (size_t i = 0; i < n; i++) {
		double x = mid_rank(a, n, i) - mean, y = mid_rank(b, n, i) - mean;
		ab += x * y;
		aa += x * x;
		bb += y * y;
	}
	return ab / sqrt(aa * bb);
}

double repro_page_z(const struct repro_blocks *blocks)
{
	double n = (double)blocks->n, k = (double)blocks->n_blocks, l = 0;
	for (size_t b = 0; b < blocks->n_blocks; b++)
		for (size_t i = 0; i < blocks->n; i++)
			l += (double)(i + 1) * mid_rank(&blocks->values[b * blocks->n], blocks->n, i);
	double expected = k * n * (n + 1) * (n + 1) / 4;
	double variance = k * n * n * (n + 1) * (n + 1) * (n - 1) / 144;
	return (l - expected) / sqrt(variance);
}

/* --- Means and regression ----------------------------------------------------------------------------------------- */

/* The 97.5 % point of Student's t distribution, by Cornish and Fisher's expansion around the point of the normal
 * distribution. The error is at most 0.1 % from 5 degrees of freedom on. */
static double student(double freedom)
{
	const double z = 1.959963985;
	double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * pow(freedom, 2)) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * pow(freedom, 3));
}

struct repro_mean repro_mean_of(const double *values, size_t n)
{
	struct repro_mean m = {.mean = 0, .half = NAN};
	double squares = 0, count = (double)n;
	for (size_t i = 0; i < n; i++)
		m.mean += values[i] / count;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - m.mean) * (values[i] - m.mean);
	if (n > 1)
		m.half = student(count - 1) * sqrt(squares / (count - 1) / count);
	return m;
}

struct repro_slope repro_slope_of(const struct repro_blocks *blocks)
{
	size_t n = blocks->n;
	double middle = ((double)n - 1) / 2, xx = 0, xy = 0, yy = 0;
	for (size_t b = 0; b < blocks->n_blocks; b++) {
		const double *values = &blocks->values[b * n];
		double mean = 0;
		for (size_t i = 0; i < n; i++)
			mean += values[i] / (double)n;
		for (size_t i = 0; i < n; i++) {
			double x = (double)i - middle, y = values[i] - mean;
			xx += x * x;
			xy += x * y;
			yy += y * y;
		}
	}
	double slope = xy / xx, freedom = (double)(blocks->n_blocks * (n - 1)) - 1;
	double deviation = sqrt(fmax(yy - slope * xy, 0) / freedom / xx), half = student(freedom) * deviation;
	return (struct repro_slope){slope, slope - half, slope + half};
}
