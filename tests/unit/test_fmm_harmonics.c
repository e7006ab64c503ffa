/* Solid harmonics: the expansion of 1 / |x - y|, translations of expansions, derivatives, reflections. */
#include "ok.h"
#include "../chance.h"
#include <math.h>
#include <string.h>
#include <fmm/kernels/harmonics.h>

enum { DEGREE = 14, TERMS = (DEGREE + 1) * (DEGREE + 1), POINTS = 5 };

static double uniform(struct hd_rng *rng, double low, double high)
{
	return low + (high - low) * below(rng, 1u << 30) / (1u << 30);
}

static void random_point(struct hd_rng *rng, double size, double x[3])
{
	for (int c = 0; c < 3; c++)
		x[c] = uniform(rng, -size, size);
}

static double distance(const double a[3], const double b[3])
{
	return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static double product(const double *a, const double *b)
{
	double sum = 0;
	for (size_t j = 0; j < TERMS; j++)
		sum += a[j] * b[j];
	return sum;
}

/* y := A x, or A^T x */
static void multiply(const double *a, int transposed, const double *x, double *y)
{
	for (size_t i = 0; i < TERMS; i++) {
		y[i] = 0;
		for (size_t j = 0; j < TERMS; j++)
			y[i] += (transposed ? a[j + i * TERMS] : a[i + j * TERMS]) * x[j];
	}
}

static void near(double a, double b, double error)
{
	if (!(fabs(a - b) <= error * fmax(fabs(a), fabs(b)) + 1e-300))
		fail_msg("%.17g is not %.17g", a, b);
}

static void expansion_is_one_over_the_distance(void **state)
{
	struct hd_rng rng;
	double r[TERMS], i[TERMS];
	(void)state;
	hd_rng_seed(&rng, 1);
	for (int round = 0; round < 100; round++) {
		double y[3], x[3] = {uniform(&rng, -1, 1), 3, uniform(&rng, -1, 1)};
		random_point(&rng, 0.2, y);
		hd_fmm_regular(DEGREE, y, r);
		hd_fmm_irregular(DEGREE, x, i);
		near(product(r, i), 1 / distance(x, y), 1e-13);
	}
}

/* Harmonics of the first degrees by their formulas. */
static void first_harmonics_are_those_of_the_formulas(void **state)
{
	const double x[3] = {0.3, -0.5, 0.7};
	double r[TERMS], r2 = distance(x, (double[]){0, 0, 0}) * distance(x, (double[]){0, 0, 0});
	(void)state;
	hd_fmm_regular(DEGREE, x, r);
	near(r[0], 1, 0);
	near(r[1], x[2], 1e-15);
	near(r[2], x[0] / sqrt(2), 1e-15);
	near(r[3], x[1] / sqrt(2), 1e-15);
	near(r[4], (3 * x[2] * x[2] - r2) / 4, 1e-14);
}

static void shifts_are_exact(void **state)
{
	static double t[TERMS * TERMS], ra[TERMS], rab[TERMS], moved[TERMS];
	struct hd_rng rng;
	(void)state;
	hd_rng_seed(&rng, 2);
	for (int round = 0; round < 5; round++) {
		double a[3], b[3], ab[3];
		random_point(&rng, 0.5, a);
		random_point(&rng, 0.5, b);
		for (int c = 0; c < 3; c++)
			ab[c] = a[c] + b[c];
		memset(t, 0, sizeof t);
		hd_fmm_shift(DEGREE, b, t, TERMS);
		hd_fmm_regular(DEGREE, a, ra);
		hd_fmm_regular(DEGREE, ab, rab);
		multiply(t, 0, ra, moved);
		for (size_t j = 0; j < TERMS; j++)
			near(moved[j] + 1e-3, rab[j] + 1e-3, 1e-12);
	}
}

/* Two shifts one after the other are one shift: of multipoles, and, transposed, of local expansions. */
static void shifts_follow_each_other(void **state)
{
	static double t1[TERMS * TERMS], t2[TERMS * TERMS], t[TERMS * TERMS], m[TERMS], once[TERMS], twice[TERMS];
	const double b1[3] = {0.25, -0.25, 0.25}, b2[3] = {-0.5, 0.5, 0.5}, b[3] = {-0.25, 0.25, 0.75};
	(void)state;
	hd_fmm_shift(DEGREE, b1, t1, TERMS);
	hd_fmm_shift(DEGREE, b2, t2, TERMS);
	hd_fmm_shift(DEGREE, b, t, TERMS);
	hd_fmm_regular(DEGREE, (double[]){0.3, 0.2, -0.4}, m);
	for (int transposed = 0; transposed < 2; transposed++) {
		double middle[TERMS];
		multiply(t1, transposed, m, middle);
		multiply(t2, transposed, middle, twice);
		multiply(t, transposed, m, once);
		for (size_t j = 0; j < TERMS; j++)
			near(once[j] + 1e-3, twice[j] + 1e-3, 1e-12);
	}
}

/* The largest error over directions of a multipole that becomes a local expansion two cells away, of charges anywhere
 * in a cell, potentials anywhere in the other. */
static double error_of_degree(int degree)
{
	static double k[TERMS * TERMS];
	struct hd_rng rng;
	double worst = 0;
	hd_rng_seed(&rng, 3);
	size_t terms = hd_fmm_terms(degree);
	hd_fmm_multipole_to_local(degree, (double[]){2, 0, 0}, k, terms);
	for (int round = 0; round < 2000; round++) {
		double a[3], b[3], m[TERMS], r[TERMS], sum = 0;
		random_point(&rng, 0.5, a);
		random_point(&rng, 0.5, b);
		hd_fmm_regular(degree, a, m);
		hd_fmm_regular(degree, b, r);
		for (size_t i = 0; i < terms; i++)
			for (size_t j = 0; j < terms; j++)
				sum += r[i] * k[i + j * terms] * m[j];
		b[0] += 2;
		worst = fmax(worst, fabs(sum * distance(a, b) - 1));
	}
	return worst;
}

/* The worst case of pairs of points. The errors of many charges, whose mean the user sees, are far less. */
static void multipole_to_local_keeps_the_table_of_errors(void **state)
{
	static const struct {
		int degree;
		double error;
	} table[] = {{4, 0.1}, {6, 0.05}, {8, 0.03}, {12, 0.01}, {14, 0.006}};
	double before = 1;
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		double error = error_of_degree(table[i].degree);
		if (!(error < table[i].error && error < before))
			fail_msg("degree %d: %g", table[i].degree, error);
		before = error;
	}
}

static void derivatives_are_differences(void **state)
{
	static double d[TERMS * TERMS], r[TERMS], up[TERMS], down[TERMS], slope[TERMS];
	const double h = 1e-5;
	(void)state;
	for (int c = 0; c < 3; c++) {
		double x[3] = {0.31, -0.22, 0.43};
		memset(d, 0, sizeof d);
		hd_fmm_derivative(DEGREE, c, d, TERMS);
		hd_fmm_regular(DEGREE, x, r);
		multiply(d, 0, r, slope);
		x[c] += h;
		hd_fmm_regular(DEGREE, x, up);
		x[c] -= 2 * h;
		hd_fmm_regular(DEGREE, x, down);
		for (size_t j = 0; j < TERMS; j++)
			if (!(fabs(slope[j] - (up[j] - down[j]) / (2 * h)) < 1e-9))
				fail_msg("coordinate %d, term %zu", c, j);
	}
}

static void reflections_change_signs(void **state)
{
	const double x[3] = {0.3, 0.4, -0.2};
	double r[TERMS], other[TERMS], signs[TERMS];
	(void)state;
	hd_fmm_regular(DEGREE, x, r);
	for (int reflection = 0; reflection < HD_FMM_REFLECTIONS; reflection++) {
		double y[3];
		for (int c = 0; c < 3; c++)
			y[c] = reflection >> c & 1 ? -x[c] : x[c];
		hd_fmm_regular(DEGREE, y, other);
		hd_fmm_signs(DEGREE, reflection, signs);
		for (size_t j = 0; j < TERMS; j++)
			near(signs[j] * r[j], other[j], 1e-13);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(expansion_is_one_over_the_distance),
	    cmocka_unit_test(first_harmonics_are_those_of_the_formulas),
	    cmocka_unit_test(shifts_are_exact),
	    cmocka_unit_test(shifts_follow_each_other),
	    cmocka_unit_test(multipole_to_local_keeps_the_table_of_errors),
	    cmocka_unit_test(derivatives_are_differences),
	    cmocka_unit_test(reflections_change_signs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
