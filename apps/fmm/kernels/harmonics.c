/* Solid harmonics one at a time, and matrices of translations: see harmonics.h. Y and Z below are the complex regular
 * and irregular solid harmonics; a harmonic of negative order is (-1)^m conj of the harmonic of
 * positive order. */
#include <fmm/kernels/harmonics.h>
#include <complex.h>
#include <math.h>
#include <string.h>

enum {
	TWICE = 2 * HD_FMM_MOST_DEGREE,
	PLACES = (TWICE + 1) * (TWICE + 2) / 2,
	/* degrees of the images' harmonics above the last that is needed: what is left out is (sqrt(3) / 6)^24 = 1e-13
	 * of the rest */
	MORE = 24,
	IMAGES_PLACES = (TWICE + MORE + 1) * (TWICE + MORE + 2) / 2
};

static size_t at(int n, int m)
{
	return (size_t)(n * (n + 1) / 2 + m);
}

/* The harmonic of any order; 0 where there is none. */
static double complex of_order(const double complex *y, int n, int m)
{
	if (n < 0 || m > n || -m > n)
		return 0;
	return m >= 0 ? y[at(n, m)] : (m % 2 ? -1 : 1) * conj(y[at(n, -m)]);
}

/* Dehnen (2014), (54): Y_m^m = (x + i y) / (2 m) Y_{m-1}^{m-1},
 * (n^2 - m^2) Y_n^m = (2 n - 1) z Y_{n-1}^m - r^2 Y_{n-2}^m. */
static void regular(int degree, const double x[3], double complex *y)
{
	double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
	y[0] = 1;
	for (int m = 0; m <= degree; m++) {
		if (m > 0)
			y[at(m, m)] = (x[0] + I * x[1]) / (2 * m) * y[at(m - 1, m - 1)];
		for (int n = m + 1; n <= degree; n++) {
			double complex before = n > m + 1 ? y[at(n - 2, m)] : 0;
			y[at(n, m)] = ((2 * n - 1) * x[2] * y[at(n - 1, m)] - r2 * before) / (n * n - m * m);
		}
	}
}

/* Dehnen (2014), (55): Z_m^m = (2 m - 1) (x + i y) / r^2 Z_{m-1}^{m-1},
 * r^2 Z_n^m = (2 n - 1) z Z_{n-1}^m - ((n - 1)^2 - m^2) Z_{n-2}^m. */
static void irregular(int degree, const double x[3], double complex *z)
{
	double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
	z[0] = 1 / sqrt(r2);
	for (int m = 0; m <= degree; m++) {
		if (m > 0)
			z[at(m, m)] = (2 * m - 1) * (x[0] + I * x[1]) / r2 * z[at(m - 1, m - 1)];
		for (int n = m + 1; n <= degree; n++) {
			double complex before = n > m + 1 ? z[at(n - 2, m)] : 0;
			z[at(n, m)] =
			    ((2 * n - 1) * x[2] * z[at(n - 1, m)] - ((n - 1) * (n - 1) - m * m) * before) / r2;
		}
	}
}

static void parts(int degree, const double complex *y, double *out)
{
	for (int n = 0; n <= degree; n++) {
		out[hd_fmm_place(n, 0)] = creal(y[at(n, 0)]);
		for (int m = 1; m <= n; m++) {
			out[hd_fmm_place(n, m)] = M_SQRT2 * creal(y[at(n, m)]);
			out[hd_fmm_place(n, m) + 1] = M_SQRT2 * cimag(y[at(n, m)]);
		}
	}
}

void hd_fmm_regular(int degree, const double x[3], double *r)
{
	double complex y[PLACES];
	regular(degree, x, y);
	parts(degree, y, r);
}

void hd_fmm_irregular(int degree, const double x[3], double *i)
{
	double complex z[PLACES];
	irregular(degree, x, z);
	parts(degree, z, i);
}

/* What a complex harmonic (n, m) is of one (k, l), l >= 0: re times its real part and im times its imaginary part. */
struct share {
	double complex re, im;
};

/* Writes the real and imaginary parts of a share to the rows of (n, m) and the columns of (k, l), element (row, column)
 * at row * row_step + column * column_step. The factors sqrt(2) of rows and columns cancel where both have them. */
static void put(struct share s, const int row[2], const int column[2], double *matrix, const size_t step[2])
{
	double factor = (row[1] > 0 ? M_SQRT2 : 1) / (column[1] > 0 ? M_SQRT2 : 1);
	double *first = matrix + hd_fmm_place(row[0], row[1]) * step[0] + hd_fmm_place(column[0], column[1]) * step[1];
	first[0] = factor * creal(s.re);
	if (column[1] > 0)
		first[step[1]] = factor * creal(s.im);
	if (row[1] > 0)
		first[step[0]] = factor * cimag(s.re);
	if (row[1] > 0 && column[1] > 0)
		first[step[0] + step[1]] = factor * cimag(s.im);
}

static double sign(int i)
{
	return i % 2 ? -1 : 1;
}

/* Dehnen (2014), (7): Y_n^m(a + b) = sum over k, l of Y_k^l(a) Y_{n-k}^{m-l}(b) */
static struct share shift_share(const double complex *y, const int row[2], const int column[2])
{
	int n = row[0] - column[0], l = column[1];
	double complex plus = of_order(y, n, row[1] - l), minus = sign(l) * of_order(y, n, row[1] + l);
	return l ? (struct share){plus + minus, I * (plus - minus)} : (struct share){plus, 0};
}

/* Dehnen (2014), (8): Z_n^m(x + a) = sum over k, l of (-1)^k conj(Y_k^l(a)) Z_{n+k}^{m+l}(x) */
static struct share local_share(const double complex *z, const int row[2], const int column[2])
{
	int n = row[0] + column[0], l = column[1];
	double complex plus = sign(column[0]) * of_order(z, n, row[1] + l);
	double complex minus = sign(column[0] + l) * of_order(z, n, row[1] - l);
	return l ? (struct share){plus + minus, I * (minus - plus)} : (struct share){plus, 0};
}

static void fill(int degree, const double complex *y,
                 struct share (*share)(const double complex *y, const int row[2], const int column[2]), double *matrix,
                 const size_t step[2])
{
	for (int n = 0; n <= degree; n++)
		for (int m = 0; m <= n; m++)
			for (int k = 0; k <= degree; k++)
				for (int l = 0; l <= k; l++) {
					const int row[] = {n, m}, column[] = {k, l};
					put(share(y, row, column), row, column, matrix, step);
				}
}

void hd_fmm_shift(int degree, const double b[3], double *t, size_t ld)
{
	double complex y[PLACES];
	const size_t step[] = {1, ld};
	regular(degree, b, y);
	fill(degree, y, shift_share, t, step);
}

void hd_fmm_multipole_to_local(int degree, const double x[3], double *k, size_t ld)
{
	double complex z[PLACES];
	const size_t step[] = {ld, 1};
	irregular(2 * degree, x, z);
	fill(degree, z, local_share, k, step);
}

/* --- The images of a cube ----------------------------------------------------------------------------------------- */

/* Adds the harmonics of all points with integer coordinates, the largest of whose magnitudes is from `low` to `high`.
 * Points and their reflections contribute alike to what does not cancel: the real parts of even degrees whose order is
 * a multiple of 4. Nothing is written to other places. */
static void add_cubes(int degree, int low, int high, void (*harmonics)(int degree, const double x[3], double complex *),
                      double complex *sum)
{
	double complex of_point[IMAGES_PLACES];
	for (int i = 0, side = high + 1; i < side * side * side; i++) {
		const int point[] = {i / side / side, i / side % side, i % side};
		int most = 0, alike = 1;
		for (int c = 0; c < 3; c++) {
			most = point[c] > most ? point[c] : most;
			alike *= point[c] ? 2 : 1;
		}
		if (most < low)
			continue;
		harmonics(degree, (const double[]){point[0], point[1], point[2]}, of_point);
		for (int n = 0; n <= degree; n += 2)
			for (int m = 0; m <= n; m += 4)
				sum[at(n, m)] += alike * creal(of_point[at(n, m)]);
	}
}

/* The irregular harmonics S_n^m of all images of a unit cube that do not touch it, added up, from degree 4 on. The
 * images at the places 3 w + u, u from -1 to 1, w not near 0, lie in cubes three times as wide, so that by Dehnen (8)
 *
 *   S_n^m = (those up to 4 cubes away) + sum over k, l of 3^-(n+k+1) conj(U_k^l) S_{n+k}^{m+l},   U_k^l: sum of Y(u)
 *
 * (Berman, Greengard: A renormalization method for the evaluation of lattice sums, 1994), which gives one degree after
 * the other from the highest down; k = 0 has S_n^m itself, and U_0^0 = 27.
 * S_0^0 is such that all images and a uniform background of the opposite charge cause a potential whose mean is 0: the
 * constant is what a charge's images cause at its place. Degree 2 has no harmonic with the cube's symmetry. */
static void images(int degree, double complex *s)
{
	static const double AT_ITSELF = -2.83729747948061947667;
	double complex u[IMAGES_PLACES] = {0}, near[1] = {0};
	memset(s, 0, IMAGES_PLACES * sizeof *s);
	add_cubes(degree, 2, 4, irregular, s);
	add_cubes(degree, 0, 1, regular, u);
	add_cubes(0, 1, 1, irregular, near);
	for (int n = degree / 2 * 2; n >= 4; n -= 2)
		for (int m = 0; m <= n; m += 4) {
			double complex sum = 0;
			for (int k = 2; n + k <= degree; k += 2)
				for (int l = -(k / 4 * 4); l <= k; l += 4)
					sum += pow(3, -k) * of_order(u, k, l) * of_order(s, n + k, m + l);
			s[at(n, m)] = (s[at(n, m)] + pow(3, -n - 1) * sum) / (1 - pow(3, 2 - n));
		}
	s[0] = AT_ITSELF - near[0];
	s[at(2, 0)] = 0;
}

/* The background causes 2 pi / 3 |x - y|^2, of which -4 pi / 3 x . y is harmonic in x and in y. */
void hd_fmm_images_to_local(int degree, double *k, size_t ld)
{
	double complex s[IMAGES_PLACES];
	const size_t step[] = {ld, 1};
	images(2 * degree + MORE, s);
	fill(degree, s, local_share, k, step);
	for (size_t i = 1; i < 4 && degree > 0; i++)
		k[i + i * ld] = -(i == hd_fmm_place(1, 0) ? 4 : 8) * M_PI / 3;
}

/* The derivative by b of hd_fmm_shift at b = 0, where shifts are Y_1 of b in the first degree. */
void hd_fmm_derivative(int degree, int coordinate, double *d, size_t ld)
{
	double complex y[PLACES] = {0};
	const size_t step[] = {1, ld};
	double b[3] = {0};
	b[coordinate] = 1;
	regular(1, b, y);
	y[0] = 0;
	fill(degree, y, shift_share, d, step);
}

void hd_fmm_signs(int degree, int reflection, double *signs)
{
	int x = reflection & 1, y = reflection >> 1 & 1, z = reflection >> 2 & 1;
	for (int n = 0; n <= degree; n++)
		for (int m = 0; m <= n; m++) {
			double s = sign(x * m + z * (n + m));
			signs[hd_fmm_place(n, m)] = s;
			if (m > 0)
				signs[hd_fmm_place(n, m) + 1] = sign(x + y) * s;
		}
}
