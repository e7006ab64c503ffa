/* Sparse least squares: a levelling network. The heights of the points of a grid are found from measured differences of
 * height between neighbours, and from a few bench marks whose height is known. There are more measurements than points,
 * and each has an error, so that the heights are those that fit best.
 *
 *   cc 27_sparse_least_squares.c $(pkg-config --cflags --libs heddle-sparse) -lm */
#include <heddle/sparse.h>
#include <math.h>
#include <stdio.h>

enum { SIDE = 60, POINTS = SIDE * SIDE, MARKS = 4, ROWS = 2 * SIDE * (SIDE - 1) + MARKS, ELEMENTS = 2 * ROWS - MARKS };

/* The matrix as triplets: measurement `row` has the elements with that row. */
static int64_t row[ELEMENTS], column[ELEMENTS];
static double value[ELEMENTS], measured[ROWS];
static size_t n_elements, n_rows;

static double height(int64_t point) /* the truth, which the program looks for */
{
	return 10 * sin(0.1 * (double)(point / SIDE)) + 5 * cos(0.13 * (double)(point % SIDE));
}

static void add(int64_t point, double coefficient)
{
	row[n_elements] = (int64_t)n_rows;
	column[n_elements] = point;
	value[n_elements++] = coefficient;
}

/* A measurement is wrong by up to 1 mm. */
static void measure(double truth)
{
	measured[n_rows] = truth + 1e-3 * sin(12.9898 * (double)n_rows);
	n_rows++;
}

static void measure_difference(int64_t from, int64_t to)
{
	add(from, -1);
	add(to, 1);
	measure(height(to) - height(from));
}

static void measure_all(void)
{
	static const int64_t marks[MARKS] = {0, SIDE - 1, POINTS - SIDE, POINTS - 1};
	for (int64_t i = 0; i < SIDE; i++)
		for (int64_t j = 0; j + 1 < SIDE; j++) {
			measure_difference(i * SIDE + j, i * SIDE + j + 1);
			measure_difference(j * SIDE + i, (j + 1) * SIDE + i);
		}
	for (int k = 0; k < MARKS; k++) {
		add(marks[k], 1);
		measure(height(marks[k]));
	}
}

/* The largest error of a height; and || A^T r || / (|| A || || r ||) of the residual r = b - A x, which is zero at the
 * minimum, but for rounding. */
static double judge(const struct heddle_sparse_matrix *a, const double *x, double *slope)
{
	static double r[ROWS];
	double worst = 0, norm_a = 0, norm_r = 0, norm_s = 0;
	for (size_t i = 0; i < ROWS; i++)
		r[i] = measured[i];
	for (size_t j = 0; j < a->columns; j++)
		for (int64_t e = a->column_start[j]; e < a->column_start[j + 1]; e++)
			r[a->row[e]] -= ((const double *)a->values)[e] * x[j];
	for (size_t j = 0; j < a->columns; j++) {
		double sum = 0;
		for (int64_t e = a->column_start[j]; e < a->column_start[j + 1]; e++) {
			double v = ((const double *)a->values)[e];
			sum += v * r[a->row[e]];
			norm_a += v * v;
		}
		norm_s += sum * sum;
		worst = fmax(worst, fabs(x[j] - height((int64_t)j)));
	}
	for (size_t i = 0; i < ROWS; i++)
		norm_r += r[i] * r[i];
	*slope = sqrt(norm_s / (norm_a * norm_r));
	return worst;
}

int main(void)
{
	static double x[POINTS];
	struct heddle_dense_array right = {HEDDLE_DENSE_DOUBLE, ROWS, 1, measured, ROWS};
	struct heddle_dense_array solution = {HEDDLE_DENSE_DOUBLE, POINTS, 1, x, POINTS};
	struct heddle_sparse_matrix a = {.rows = 0};
	heddle_runtime *rt;
	heddle_sparse *sparse;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
	measure_all();
	if (heddle_start(NULL, &rt) || heddle_sparse_open(rt, &sparse) ||
	    heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, ROWS, POINTS, ELEMENTS, row, column, value, &a) ||
	    heddle_sparse_analyse(&a, NULL, &analysis) ||
	    heddle_sparse_qr_create(sparse, analysis, HEDDLE_DENSE_DOUBLE, NULL, &qr) ||
	    /* With other values, for example other weights of the measurements, this is called again. */
	    heddle_sparse_factorise(qr, a.values) || heddle_sparse_solve(qr, &right, &solution)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	struct heddle_sparse_statistics s = heddle_sparse_analysis_statistics(analysis);
	double slope, worst = judge(&a, x, &slope);
	printf("%zu measurements of %zu points: R has %zu elements, in %zu fronts\n", s.rows, s.columns, s.r_elements,
	       s.fronts);
	printf("largest error of a height: %.1f mm; || A^T r || / (|| A || || r ||): %.1e\n", 1e3 * worst, slope);
	heddle_sparse_qr_destroy(qr);
	heddle_sparse_analysis_free(analysis);
	heddle_sparse_matrix_free(&a);
	heddle_sparse_close(sparse);
	heddle_stop(rt);
	return !(worst < 5e-3 && slope < 1e-12);
}
