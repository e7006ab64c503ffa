/* A stencil in two dimensions: heat spreads on a plate, each step computes a new plate from the old one. The plate is
 * cut into bands of rows, and each band is a datum of its own that also has the row above and the row below it: its
 * ghost rows, which small tasks copy from the neighbours. A step of one band so waits for three bands, and not for all
 * as it would with a halo plan (HEDDLE_SPLIT_HALO), whose pieces are gathered in every step. */
#include <heddle.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BANDS = 4, ROWS = 64, N = BANDS * ROWS, COLUMNS = 256, STEPS = 10 };
/* Rows lie one after the other, so a band is a matrix of COLUMNS x (1 + ROWS + 1); cold is the edge of the plate. */
static double plate[2][BANDS][ROWS + 2][COLUMNS], check[2][N + 2][COLUMNS];

static double spread(const double *x) /* the new temperature at x */
{
	return x[0] + 0.125 * (x[-1] + x[1] + x[-COLUMNS] + x[COLUMNS] - 4 * x[0]);
}

static int heat(heddle_context *c) /* RW new band, whose ghost rows stay; R old band */
{
	double *next = heddle_ptr(c, 0);
	const double *old = heddle_ptr(c, 1);
	for (size_t i = 1; i <= ROWS; i++)
		for (size_t j = 1; j < COLUMNS - 1; j++)
			next[i * COLUMNS + j] = spread(&old[i * COLUMNS + j]);
	return 0;
}

static int copy_row(heddle_context *c) /* RW band, R neighbour; the row of each */
{
	const size_t *row = heddle_value_ptr(c, 0);
	memcpy((double *)heddle_ptr(c, 0) + row[0] * COLUMNS, (const double *)heddle_ptr(c, 1) + row[1] * COLUMNS,
	       COLUMNS * sizeof(double));
	return 0;
}

static int run(heddle_runtime *rt)
{
	heddle_codelet *step = heddle_codelet_new(rt, .name = "heat", .cpu = heat);
	heddle_codelet *copy = heddle_codelet_new(rt, .name = "ghost row", .cpu = copy_row);
	const size_t above[2] = {0, ROWS}, below[2] = {ROWS + 1, 1};
	heddle_data *band[2][BANDS];
	int status = 0;
	for (int k = 0; k < 2 * BANDS && !status; k++)
		status = heddle_matrix(rt, plate[k / BANDS][k % BANDS], COLUMNS, ROWS + 2, COLUMNS, sizeof(double),
		                       &band[k / BANDS][k % BANDS]);
	for (int t = 0; t < STEPS && !status; t++) {
		heddle_data **old = band[t % 2], **next = band[(t + 1) % 2];
		for (int b = 0; b < BANDS && !status; b++) {
			if (b > 0)
				status = heddle_submit(rt, heddle_call(copy), heddle_rw(old[b]), heddle_r(old[b - 1]),
				                       heddle_value(above));
			if (b < BANDS - 1 && !status)
				status = heddle_submit(rt, heddle_call(copy), heddle_rw(old[b]), heddle_r(old[b + 1]),
				                       heddle_value(below));
		}
		for (int b = 0; b < BANDS && !status; b++)
			status = heddle_submit(rt, heddle_call(step), heddle_rw(next[b]), heddle_r(old[b]));
	}
	return status ? status : heddle_stop(rt); /* brings the newest values into the program's memory */
}

int main(void)
{
	heddle_runtime *rt;
	double wrong = 0;
	for (size_t i = N / 4; i < N / 2; i++)
		for (size_t j = COLUMNS / 4; j < COLUMNS / 2; j++)
			check[0][i + 1][j] = plate[0][i / ROWS][i % ROWS + 1][j] = 100;
	if (heddle_start(NULL, &rt) || run(rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	for (size_t t = 0; t < STEPS; t++) /* the same without tasks */
		for (size_t i = 1; i <= N; i++)
			for (size_t j = 1; j < COLUMNS - 1; j++)
				check[(t + 1) % 2][i][j] = spread(&check[t % 2][i][j]);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < COLUMNS; j++)
			wrong =
			    fmax(wrong, fabs(plate[STEPS % 2][i / ROWS][i % ROWS + 1][j] - check[STEPS % 2][i + 1][j]));
	printf("%.2f degrees at the corner of what was warm, off by %g\n", check[STEPS % 2][N / 4 + 1][COLUMNS / 4],
	       wrong);
	return wrong > 0;
}
