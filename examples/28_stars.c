/* Gravity between stars by the fast multipole method. The stars of a cluster attract each other; each step computes the
 * forces of all pairs, and moves the stars by them (leapfrog). Energy must be kept, and the centre of mass must stay.
 *
 *   cc 28_stars.c $(pkg-config --cflags --libs heddle-fmm) -lm */
#include <heddle/fmm.h>
#include <math.h>
#include <stdio.h>
#include <heddle.h>

enum { STARS = 4000, STEPS = 10 };
static const double step = 2e-4;

static double place[3 * STARS], speed[3 * STARS], mass[STARS], potential[STARS], pull[3 * STARS];

/* A number from 0 to 1 (a Weyl sequence): so that all runs are alike. */
static double next(void)
{
	static double x = 0.5;
	x += 0.6180339887498949;
	x -= floor(x);
	double y = sin(1e4 * x) * 1e4;
	return y - floor(y);
}

/* A ball of stars that rotates about the axis z. */
static void make_stars(void)
{
	for (int i = 0; i < STARS; i++) {
		double *x = place + 3 * i, r2;
		do {
			r2 = 0;
			for (int c = 0; c < 3; c++) {
				x[c] = 2 * next() - 1;
				r2 += x[c] * x[c];
			}
		} while (r2 > 1);
		mass[i] = 1.0 / STARS;
		speed[3 * i] = -0.5 * x[1];
		speed[3 * i + 1] = 0.5 * x[0];
	}
}

/* Positions change from step to step, and with them the plan. The potential of gravity is -potential, so that stars are
 * accelerated by the gradient. */
static int attract(heddle_fmm *fmm)
{
	const struct heddle_fmm_points stars = {STARS, place};
	const struct heddle_fmm_options options = {.digits = 6};
	return heddle_fmm_compute(fmm, &stars, mass, potential, pull, &options);
}

static double energy(void)
{
	double sum = 0;
	for (int i = 0; i < STARS; i++) {
		const double *v = speed + 3 * i;
		sum += mass[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - potential[i]) / 2;
	}
	return sum;
}

static void accelerate(double time)
{
	for (int i = 0; i < 3 * STARS; i++)
		speed[i] += time * pull[i];
}

int main(void)
{
	heddle_runtime *rt;
	heddle_fmm *fmm;
	make_stars();
	int failed = heddle_start(NULL, &rt) || heddle_fmm_open(rt, &fmm) || attract(fmm);
	double before = energy(), drift[3] = {0};
	for (int k = 0; k < STEPS && !failed; k++) {
		accelerate(step / 2);
		for (int i = 0; i < 3 * STARS; i++)
			place[i] += step * speed[i];
		failed = attract(fmm);
		accelerate(step / 2);
	}
	if (failed) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	for (int i = 0; i < 3 * STARS; i++)
		drift[i % 3] += mass[i / 3] * pull[i];
	double change = fabs(energy() / before - 1), force = fabs(drift[0]) + fabs(drift[1]) + fabs(drift[2]);
	printf("%d stars, %d steps: energy %.6f, changed by %.1e; the forces sum to %.1e\n", STARS, STEPS, energy(),
	       change, force);
	heddle_fmm_close(fmm);
	heddle_stop(rt);
	return !(change < 1e-4 && force < 1e-5);
}
