/* Points to compute with, and direct sums: see points.h. */
#include "base/base.h"
#include <errno.h>
#include <fmm/experiments/points.h>
#include <heddle/status.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Distributions ------------------------------------------------------------------------------------------------ */

static void uniform_in_cube(struct hd_rng *rng, double side, double x[3])
{
	for (int c = 0; c < 3; c++)
		x[c] = side * (hd_rng_uniform(rng) - 0.5);
}

static void on_sphere(struct hd_rng *rng, double radius, double x[3])
{
	double z = 2 * hd_rng_uniform(rng) - 1, angle = 2 * M_PI * hd_rng_uniform(rng), r = sqrt(1 - z * z);
	x[0] = radius * r * cos(angle);
	x[1] = radius * r * sin(angle);
	x[2] = radius * z;
}

/* Aarseth, Henon, Wielen: A comparison of numerical methods for the study of star cluster dynamics, 1974: the mass
 * within r is r^3 (1 + r^2)^(-3/2). */
static void in_plummer(struct hd_rng *rng, double x[3])
{
	double r;
	do
		r = 1 / sqrt(pow(1 - hd_rng_uniform(rng), -2.0 / 3) - 1);
	while (!(r <= 10));
	on_sphere(rng, r, x);
}

static void make_point(enum hd_fmm_distribution distribution, struct hd_rng *rng, double x[3])
{
	double t;
	switch (distribution) {
	case HD_FMM_SPHERE: on_sphere(rng, 0.5, x); return;
	case HD_FMM_PLUMMER: in_plummer(rng, x); return;
	case HD_FMM_LINE:
		t = hd_rng_uniform(rng);
		x[0] = t;
		x[1] = 0.7 * t;
		x[2] = 0.3 * t;
		return;
	case HD_FMM_CLUSTERS:
		uniform_in_cube(rng, 1e-3, x);
		for (int c = 0; c < 3; c++)
			x[c] += hd_rng_uniform(rng) < 0.5 ? 0 : 1;
		return;
	default: uniform_in_cube(rng, 1, x);
	}
}

void hd_fmm_make_points(enum hd_fmm_distribution distribution, size_t n, uint64_t seed, double *xyz)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, seed);
	for (size_t i = 0; i < n; i++)
		if (distribution == HD_FMM_COINCIDENT && i % 2)
			memcpy(xyz + 3 * i, xyz + 3 * (i - 1), 3 * sizeof *xyz);
		else
			make_point(distribution, &rng, xyz + 3 * i);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

/* The numbers of a line, four at most; -1: there is something else, such as a number that is not finite, or more. */
static int numbers_of(char *line, double x[4])
{
	int n = 0;
	for (char *word = strtok(line, " \t\r\n,"); word; word = strtok(NULL, " \t\r\n,")) {
		char *end;
		if (n == 0 && *word == '#')
			return 0;
		if (n == 4)
			return -1;
		x[n] = hd_real(word, &end);
		if (*end || end == word || !isfinite(x[n]))
			return -1;
		n++;
	}
	return n;
}

struct reader {
	const char *path;
	size_t n, room, line;
	double *xyz, *charges;
};

/* A line of so many bytes; a byte that is 0 would hide what is behind it. */
static int add_point(struct reader *r, char *line, size_t length)
{
	double x[4] = {0, 0, 0, 1};
	int n = strlen(line) == length ? numbers_of(line, x) : -1;
	r->line++;
	if (n == 0)
		return 0;
	if (n < 3)
		return heddle_error(HEDDLE_E_FORMAT, "%s, line %zu: a point is x y z, or x y z q: finite numbers",
		                    r->path, r->line);
	if (r->n == r->room) {
		size_t room = 2 * r->room + 1024;
		double *xyz = realloc(r->xyz, 3 * room * sizeof *xyz);
		r->xyz = xyz ? xyz : r->xyz;
		double *charges = xyz ? realloc(r->charges, room * sizeof *charges) : NULL;
		if (!charges)
			return heddle_error(HEDDLE_E_MEMORY, "no memory for the points of %s", r->path);
		r->charges = charges;
		r->room = room;
	}
	memcpy(r->xyz + 3 * r->n, x, 3 * sizeof *x);
	r->charges[r->n++] = x[3];
	return 0;
}

int hd_fmm_read_points(const char *path, size_t *n, double **xyz, double **charges)
{
	struct reader r = {.path = path};
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");
	if (!file)
		return heddle_error(HEDDLE_E_IO, "cannot open %s: %s", path, strerror(errno));
	int status = 0;
	ssize_t length;
	while (status == 0 && (length = getline(&line, &size, file)) >= 0)
		status = add_point(&r, line, (size_t)length);
	if (status == 0 && !feof(file)) /* also where a line needs more memory than there is */
		status = heddle_error(HEDDLE_E_IO, "cannot read %s: %s", path, strerror(errno));
	if (status == 0 && r.n == 0)
		status =
		    heddle_error(HEDDLE_E_FORMAT, "%s has no points: a line with a point is x y z, or x y z q", path);
	free(line);
	fclose(file);
	if (status) {
		free(r.xyz);
		free(r.charges);
		return status;
	}
	*n = r.n;
	*xyz = r.xyz;
	*charges = r.charges;
	return 0;
}

/* --- Direct sums -------------------------------------------------------------------------------------------------- */

/* Potential and gradient, then the sums of |q| / r and |q| / r^2. */
static void sum_directly(size_t n, const double *xyz, const double *charges, const double x[3], double sum[6])
{
	memset(sum, 0, 6 * sizeof *sum);
	for (size_t j = 0; j < n; j++) {
		double d[3] = {x[0] - xyz[3 * j], x[1] - xyz[3 * j + 1], x[2] - xyz[3 * j + 2]};
		double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
		if (r2 == 0)
			continue;
		double inverse = 1 / sqrt(r2);
		sum[0] += charges[j] * inverse;
		for (int c = 0; c < 3; c++)
			sum[1 + c] -= charges[j] * inverse / r2 * d[c];
		sum[4] += fabs(charges[j]) * inverse;
		sum[5] += fabs(charges[j]) / r2;
	}
}

static double square(double x)
{
	return x * x;
}

static double ratio(double error, double norm)
{
	return norm > 0 ? sqrt(error / norm) : error > 0 ? INFINITY : 0;
}

/* What sums at a few of n targets are. */
struct reference {
	size_t n;
	const double *xyz, *charges;
	const struct hd_fmm_ewald *periodic; /* NULL: they are direct sums */
};

static struct hd_fmm_errors compare(const struct reference *r, const double *potential, const double *gradient,
                                    size_t samples)
{
	double error[2] = {0}, norm[2] = {0};
	samples = samples < r->n ? samples : r->n;
	for (size_t k = 0; k < samples; k++) {
		size_t i = r->n / samples * k;
		double sum[6];
		if (r->periodic)
			hd_fmm_ewald_sum(r->periodic, r->xyz + 3 * i, sum);
		else
			sum_directly(r->n, r->xyz, r->charges, r->xyz + 3 * i, sum);
		error[0] += square(potential[i] - sum[0]);
		norm[0] += square(sum[4]);
		for (size_t c = 0; c < 3 && gradient; c++)
			error[1] += square(gradient[3 * i + c] - sum[1 + c]);
		norm[1] += square(sum[5]);
	}
	return (struct hd_fmm_errors){ratio(error[0], norm[0]), gradient ? ratio(error[1], norm[1]) : 0};
}

struct hd_fmm_errors hd_fmm_errors_of(size_t n, const double *xyz, const double *charges, const double *potential,
                                      const double *gradient, size_t samples)
{
	return compare(&(struct reference){n, xyz, charges, NULL}, potential, gradient, samples);
}

struct hd_fmm_errors hd_fmm_periodic_errors_of(const struct hd_fmm_ewald *e, const double *potential,
                                               const double *gradient, size_t samples)
{
	return compare(&(struct reference){e->n, e->xyz, e->charges, e}, potential, gradient, samples);
}
