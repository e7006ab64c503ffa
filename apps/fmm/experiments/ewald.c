/* Sums over all periodic images by Ewald's method (P. P. Ewald: Die Berechnung optischer und elektrostatischer
 * Gitterpotentiale, 1921): each charge is screened by a Gaussian cloud, so that nearest images suffice; the clouds, of
 * the opposite sign, are summed as waves. Without the wave of length infinity: what the cube lacks to be neutral is a
 * uniform background, and the mean of the potential is 0. */
#include <fmm/experiments/points.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In units of the cube's side: images are summed up to 1 / 2, where erfc(SCREEN / 2) is 7e-11; waves of up to MOST
 * periods along an axis, where exp(-(pi MOST / SCREEN)^2) is as small. */
static const double SCREEN = 9.2;
enum { MOST = 14, WIDTH = 2 * MOST + 1, WAVES = (MOST + 1) * WIDTH * WIDTH };

/* The real and the imaginary parts of exp(2 pi i k x) for k from -MOST to MOST. */
struct wave {
	double re[WIDTH], im[WIDTH];
};

static void waves_at(const struct hd_fmm_ewald *e, const double x[3], struct wave w[3])
{
	for (int c = 0; c < 3; c++)
		for (int k = -MOST; k <= MOST; k++) {
			double angle = 2 * M_PI * k * remainder(x[c], e->side) / e->side;
			w[c].re[k + MOST] = cos(angle);
			w[c].im[k + MOST] = sin(angle);
		}
}

static void add_waves(struct hd_fmm_ewald *e, const double x[3], double charge)
{
	struct wave w[3];
	double *to = e->waves;
	waves_at(e, x, w);
	for (int i = MOST; i < WIDTH; i++)
		for (int j = 0; j < WIDTH; j++) {
			double re = charge * (w[0].re[i] * w[1].re[j] - w[0].im[i] * w[1].im[j]);
			double im = charge * (w[0].re[i] * w[1].im[j] + w[0].im[i] * w[1].re[j]);
			for (int k = 0; k < WIDTH; k++, to++) {
				to[0] += re * w[2].re[k] - im * w[2].im[k];
				to[WAVES] += re * w[2].im[k] + im * w[2].re[k];
			}
		}
}

/* The weight of a wave in the sum; waves with x < 0 are conjugates of others. */
static double weight_of(int x, int y, int z)
{
	double square = x * x + y * y + z * z;
	if (square == 0 || square > MOST * MOST)
		return 0;
	return (x > 0 ? 2 : 1) * exp(-square * M_PI * M_PI / (SCREEN * SCREEN)) / (M_PI * square);
}

int hd_fmm_ewald_open(struct hd_fmm_ewald *e, double side, size_t n, const double *xyz, const double *charges)
{
	*e = (struct hd_fmm_ewald){side, n, xyz, charges, 0, calloc(2 * WAVES, sizeof(double))};
	if (!e->waves)
		return -1;
	for (size_t i = 0; i < n; i++) {
		add_waves(e, xyz + 3 * i, charges[i]);
		e->total += charges[i];
	}
	for (int i = 0; i < WAVES; i++) {
		double weight = weight_of(i / WIDTH / WIDTH, i / WIDTH % WIDTH - MOST, i % WIDTH - MOST);
		e->waves[i] *= weight;
		e->waves[WAVES + i] *= weight;
	}
	return 0;
}

void hd_fmm_ewald_close(struct hd_fmm_ewald *e)
{
	free(e->waves);
}

/* In units of the side. */
static void sum_waves(const struct hd_fmm_ewald *e, const double x[3], double sum[6])
{
	struct wave w[3];
	const double *from = e->waves;
	waves_at(e, x, w);
	for (int i = MOST; i < WIDTH; i++)
		for (int j = 0; j < WIDTH; j++) {
			double re = w[0].re[i] * w[1].re[j] - w[0].im[i] * w[1].im[j];
			double im = w[0].re[i] * w[1].im[j] + w[0].im[i] * w[1].re[j];
			for (int k = 0; k < WIDTH; k++, from++) {
				double at_re = re * w[2].re[k] - im * w[2].im[k];
				double at_im = re * w[2].im[k] + im * w[2].re[k];
				double slope = 2 * M_PI * (at_re * from[WAVES] - at_im * from[0]);
				sum[0] += at_re * from[0] + at_im * from[WAVES];
				sum[1] += slope * (i - MOST);
				sum[2] += slope * (j - MOST);
				sum[3] += slope * (k - MOST);
			}
		}
}

static void add_screened(const struct hd_fmm_ewald *e, size_t j, const double x[3], double sum[6])
{
	double d[3], r2 = 0, q = e->charges[j];
	for (int c = 0; c < 3; c++) {
		d[c] = remainder(x[c] - e->xyz[3 * j + (size_t)c], e->side) / e->side;
		r2 += d[c] * d[c];
	}
	double r = sqrt(r2), cloud = 2 * SCREEN / sqrt(M_PI) * exp(-SCREEN * SCREEN * r2);
	if (r == 0) { /* its images alone act */
		sum[0] -= q * cloud;
		return;
	}
	sum[4] += fabs(q) / r;
	sum[5] += fabs(q) / r2;
	if (r > 0.5)
		return;
	double screened = q * erfc(SCREEN * r) / r;
	sum[0] += screened;
	for (int c = 0; c < 3; c++)
		sum[1 + c] -= (screened + q * cloud) / r2 * d[c];
}

void hd_fmm_ewald_sum(const struct hd_fmm_ewald *e, const double x[3], double sum[6])
{
	memset(sum, 0, 6 * sizeof *sum);
	sum_waves(e, x, sum);
	for (size_t j = 0; j < e->n; j++)
		add_screened(e, j, x, sum);
	sum[0] -= M_PI / (SCREEN * SCREEN) * e->total;
	for (int i = 0; i < 6; i++)
		sum[i] /= i == 0 || i == 4 ? e->side : e->side * e->side;
}
