/* Fits regressions over the measured sizes of one (codelet, class), including sizes that have left the model (past.c).
 * All minimise relative errors. A size has the weight hd_perf_weight(): its number of samples, at most HD_PERF_WEIGHT.
 *
 *   a * bytes^b      least squares on logarithms
 *   a * bytes^b + c  for a given b this is linear in a and c; b is found by a scan and golden section (variable
 *                    projection: G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10 (1973))
 *   sum of x_k r_k   over the regressors r_k; normal equations, columns scaled to length 1, Cholesky
 *
 * For the two laws in bytes, the sizes are first gathered into BINS intervals of equal ratio, so that a fit takes as
 * long for ten sizes as for a million. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "perf/internal.h"

#define BINS 64
#define SPREAD 2.0 /* for a fit the largest size must be this many times the smallest */
#define LEAST_EXPONENT 0.1
#define MOST_EXPONENT 5.0
#define EXPONENT_STEP 0.1
#define SINGULAR 1e-10 /* if a pivot, relative to 1, is below this, the coefficients cannot be told apart */
#define RARELY 4096    /* the most samples between two fits, or the number of entries if that is larger */

struct point {
	double log_bytes, us, weight;
};

/* --- Points ------------------------------------------------------------------------------------------------------- */

static int is_point(const struct hd_perf_entry *e, unsigned class_id)
{
	return e->cells[class_id].samples > 0 && e->bytes > 0;
}

/* Intervals of sizes, from `low` bytes on. Until finish_bins(), a point has weighted sums, not means. */
struct bins {
	double low, per_bin; /* per_bin: logarithm of the ratio between the ends of an interval */
	struct point *points;
};

static void put(const struct bins *bins, double bytes, double us, double weight)
{
	size_t bin = (size_t)(log(bytes / bins->low) / bins->per_bin);
	struct point *p = &bins->points[bin < BINS ? bin : BINS - 1];
	p->log_bytes += weight * log(bytes);
	p->us += weight * log(us);
	p->weight += weight;
}

/* Moves the bins in use to the front, and makes means of their weighted sums; returns the number of bins in use. */
static size_t finish_bins(struct point *points)
{
	size_t n = 0;
	for (size_t i = 0; i < BINS; i++)
		if (points[i].weight > 0) {
			struct point p = points[i];
			points[n++] = (struct point){p.log_bytes / p.weight, exp(p.us / p.weight), p.weight};
		}
	return n;
}

/* Gathers the measured sizes into `points`, one per bin in use; returns their number, 0 if the sizes are too close. */
static size_t gather(const struct hd_perf_model *model, unsigned class_id, struct point *points)
{
	struct hd_perf_point past[HD_PERF_GROUPS];
	size_t n_past = hd_perf_past_points(&model->fits[class_id], past);
	double low = INFINITY, high = 0;
	for (size_t i = 0; i < n_past; i++) {
		low = fmin(low, past[i].bytes);
		high = fmax(high, past[i].bytes);
	}
	HD_PERF_EACH_ENTRY(model, e)
	if (is_point(e, class_id)) {
		low = fmin(low, e->bytes);
		high = fmax(high, e->bytes);
	}
	if (high < SPREAD * low)
		return 0;
	const struct bins bins = {low, log(high / low) / BINS, points};
	memset(points, 0, BINS * sizeof *points);
	for (size_t i = 0; i < n_past; i++)
		put(&bins, past[i].bytes, past[i].us, past[i].weight);
	HD_PERF_EACH_ENTRY(model, e)
	if (is_point(e, class_id))
		put(&bins, e->bytes, e->cells[class_id].mean, hd_perf_weight(&e->cells[class_id]));
	return finish_bins(points);
}

static double centre_of(const struct point *points, size_t n)
{
	double sum = 0, weight = 0;
	for (size_t i = 0; i < n; i++) {
		sum += points[i].weight * points[i].log_bytes;
		weight += points[i].weight;
	}
	return sum / weight;
}

/* --- The laws ----------------------------------------------------------------------------------------------------- */

static void fit_power(const struct point *points, size_t n, struct hd_perf_fit *fit)
{
	double centre = centre_of(points, n), mean = 0, weight = 0, xx = 0, xy = 0;
	for (size_t i = 0; i < n; i++) {
		double x = points[i].log_bytes - centre, y = log(points[i].us);
		weight += points[i].weight;
		mean += points[i].weight * y;
		xx += points[i].weight * x * x;
		xy += points[i].weight * x * y;
	}
	fit->b = xy / xx;
	fit->a = exp(mean / weight - fit->b * centre);
	fit->c = 0;
}

/* For a given exponent fit->b, finds the best fit->a and fit->c, both at least 0. For precision, fit->a is here the
 * factor of (bytes / e^centre)^b. Returns the weighted sum of the squared relative errors. */
static double project(const struct point *points, size_t n, double centre, struct hd_perf_fit *fit)
{
	double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0, error = 0, u[BINS];
	for (size_t i = 0; i < n; i++) {
		double w = points[i].weight, v = 1 / points[i].us;
		u[i] = exp(fit->b * (points[i].log_bytes - centre)) * v;
		uu += w * u[i] * u[i];
		uv += w * u[i] * v;
		vv += w * v * v;
		u1 += w * u[i];
		v1 += w * v;
	}
	double determinant = uu * vv - uv * uv;
	int distinct = determinant > 1e-12 * uu * vv;
	fit->a = distinct ? (u1 * vv - v1 * uv) / determinant : u1 / uu;
	fit->c = distinct ? (v1 * uu - u1 * uv) / determinant : 0;
	if (fit->c < 0) {
		fit->a = u1 / uu;
		fit->c = 0;
	} else if (fit->a < 0) {
		fit->a = 0;
		fit->c = v1 / vv;
	}
	for (size_t i = 0; i < n; i++) {
		double e = fit->a * u[i] + fit->c / points[i].us - 1;
		error += points[i].weight * e * e;
	}
	return error;
}

static void fit_affine(const struct point *points, size_t n, struct hd_perf_fit *fit)
{
	const double golden = 0.6180339887498949;
	double centre = centre_of(points, n), best = 1, least = INFINITY;
	int steps = (int)((MOST_EXPONENT - LEAST_EXPONENT) / EXPONENT_STEP + 0.5);
	for (int i = 0; i <= steps; i++) {
		fit->b = LEAST_EXPONENT + i * EXPONENT_STEP;
		double error = project(points, n, centre, fit);
		if (error < least) {
			least = error;
			best = fit->b;
		}
	}
	double low = fmax(best - EXPONENT_STEP, LEAST_EXPONENT), high = best + EXPONENT_STEP;
	for (int i = 0; i < 30; i++) { /* 0.618^30 is about 1e-7, the precision of the exponent */
		double left = high - golden * (high - low), right = low + golden * (high - low);
		fit->b = left;
		double error = project(points, n, centre, fit);
		fit->b = right;
		if (error < project(points, n, centre, fit))
			high = right;
		else
			low = left;
	}
	fit->b = 0.5 * (low + high);
	project(points, n, centre, fit);
	fit->a *= exp(-fit->b * centre);
}

/* --- Multilinear -------------------------------------------------------------------------------------------------- */

/* Solves n linear equations. g: n + 1 numbers for each row of a symmetric matrix: the row up to the diagonal, and as
 * the last number the right-hand side; overwritten. Returns 0 with the solution in x; -1: the matrix is singular. */
static int solve(double *g, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *row = g + i * (n + 1);
		for (size_t j = 0; j <= i; j++) {
			const double *above = g + j * (n + 1);
			double s = row[j];
			for (size_t k = 0; k < j; k++)
				s -= row[k] * above[k];
			if (j < i)
				row[j] = s / above[j];
			else if (s < SINGULAR)
				return -1;
			else
				row[i] = sqrt(s);
		}
		x[i] = row[n];
		for (size_t k = 0; k < i; k++)
			x[i] -= row[k] * x[k];
		x[i] /= row[i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= g[k * (n + 1) + i] * x[k];
		x[i] /= g[i * (n + 1) + i];
	}
	return 0;
}

void hd_perf_add_equation(double *g, const double *regressors, size_t n, double us, double weight)
{
	double v = 1 / us;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++)
			g[i * (n + 1) + j] += weight * v * v * regressors[i] * regressors[j];
		g[i * (n + 1) + n] += weight * v * regressors[i];
	}
}

/* Fills g with the normal equations of (sum over k of x_k r_k) / us = 1, where the x_k are the coefficients and the r_k
 * the regressors of a size, and returns the number of sizes used. */
static size_t normal_equations(const struct hd_perf_model *model, unsigned class_id, double *g, size_t n)
{
	size_t used = hd_perf_past_equations(&model->fits[class_id], g, n);
	HD_PERF_EACH_ENTRY(model, e)
	{
		const struct hd_perf_cell *cell = &e->cells[class_id];
		if (!cell->samples || e->n_regressors != n)
			continue;
		hd_perf_add_equation(g, e->regressors, n, cell->mean, hd_perf_weight(cell));
		used++;
	}
	return used;
}

static int fit_linear(const struct hd_perf_model *model, unsigned class_id, struct hd_perf_fit *fit)
{
	size_t n = model->n_regressors;
	double *x = n ? realloc(fit->x, n * sizeof *x) : NULL;
	if (!x)
		return 0;
	fit->x = x;
	fit->n = n;
	double *g = calloc(n * (n + 2), sizeof *g);
	if (!g)
		return 0;
	double *scale = g + n * (n + 1);
	int valid = normal_equations(model, class_id, g, n) > n;
	for (size_t i = 0; i < n; i++) {
		scale[i] = sqrt(g[i * (n + 1) + i]);
		valid = valid && scale[i] > 0;
	}
	for (size_t i = 0; valid && i < n; i++) {
		for (size_t j = 0; j <= i; j++)
			g[i * (n + 1) + j] /= scale[i] * scale[j];
		g[i * (n + 1) + n] /= scale[i];
	}
	valid = valid && solve(g, x, n) == 0;
	for (size_t i = 0; valid && i < n; i++)
		x[i] /= scale[i];
	free(g);
	return valid;
}

/* --- Estimates ---------------------------------------------------------------------------------------------------- */

static double predict(const struct hd_perf_entry *entry, const struct hd_perf_fit *fit)
{
	double us = 0;
	if (entry->model->kind != HEDDLE_MODEL_LINEAR)
		us = entry->bytes > 0 ? fit->a * pow(entry->bytes, fit->b) + fit->c : 0;
	else if (entry->n_regressors == fit->n)
		for (size_t i = 0; i < fit->n; i++)
			us += fit->x[i] * entry->regressors[i];
	return us > 0 && isfinite(us) ? us : NAN;
}

void hd_perf_estimate(struct hd_perf_entry *entry, unsigned class_id)
{
	struct hd_perf_cell *cell = &entry->cells[class_id];
	const struct hd_perf_fit *fit = hd_perf_fit(entry->model, class_id);
	double us = cell->samples ? cell->mean : NAN;
	if (fit && fit->valid && cell->samples < HD_PERF_OWN) {
		double predicted = predict(entry, fit);
		us = isnan(predicted) ? us : predicted;
	}
	cell->estimate = us;
}

void hd_perf_refit(struct hd_perf_model *model, unsigned class_id)
{
	struct hd_perf_fit *fit = &model->fits[class_id];
	size_t parameters = model->kind == HEDDLE_MODEL_POWER ? 2 : 3;
	if (model->kind == HEDDLE_MODEL_LINEAR) {
		fit->valid = fit_linear(model, class_id, fit);
	} else {
		struct point points[BINS];
		size_t n = gather(model, class_id, points);
		fit->valid = n > parameters;
		if (fit->valid && model->kind == HEDDLE_MODEL_POWER)
			fit_power(points, n, fit);
		else if (fit->valid)
			fit_affine(points, n, fit);
	}
	uint64_t most = model->n_entries > RARELY ? model->n_entries : RARELY;
	fit->due = fit->samples / 8 + 1 < most ? fit->samples / 8 + 1 : most;
	fit->pending = 0;
	HD_PERF_EACH_ENTRY(model, e)
	hd_perf_estimate(e, class_id);
}

void hd_perf_fit_record(struct hd_perf_entry *entry, unsigned class_id)
{
	struct hd_perf_fit *fit = &entry->model->fits[class_id];
	fit->samples++;
	if (++fit->pending >= fit->due)
		hd_perf_refit(entry->model, class_id);
	else
		hd_perf_estimate(entry, class_id);
}

const struct hd_perf_fit *hd_perf_fit(const struct hd_perf_model *model, unsigned class_id)
{
	return model->fits ? &model->fits[class_id] : NULL;
}
