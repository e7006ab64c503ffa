/* Filters: a matrix is used as tiles, each a datum of its own, and then as one matrix again. */
#include <heddle.h>
#include <stdio.h>

enum { ROWS = 10, COLUMNS = 7, LD = 12, TILE = 4 };

static int fill(heddle_context *c) /* W tile; its number */
{
	double *a = heddle_ptr(c, 0);
	for (size_t j = 0; j < heddle_extent(c, 0, 1); j++)
		for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
			a[i + j * heddle_ld(c, 0)] = (double)heddle_get(c, 0, size_t);
	return 0;
}

static int total(heddle_context *c) /* R matrix, W sum */
{
	const double *a = heddle_ptr(c, 0);
	double sum = 0;
	for (size_t j = 0; j < heddle_extent(c, 0, 1); j++)
		for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
			sum += a[i + j * heddle_ld(c, 0)];
	*(double *)heddle_ptr(c, 1) = sum;
	return 0;
}

static int fill_tiles(heddle_runtime *rt, heddle_data *matrix)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "fill", .cpu = fill);
	struct heddle_filter tiles = {.kind = HEDDLE_SPLIT_TILES, .tile_x = TILE, .tile_y = TILE};
	size_t n;
	int status = codelet ? heddle_partition(matrix, &tiles, &n) : -1;
	for (size_t i = 0; !status && i < n; i++) /* the tiles are independent */
		status = heddle_submit(rt, heddle_call(codelet), heddle_w(heddle_child(matrix, i)), heddle_value(i));
	return status ? status
	              : heddle_unpartition(matrix); /* does not wait; tasks submitted later see the whole matrix */
}

int main(void)
{
	static double a[LD * COLUMNS];
	double sum = 0, expected = 0;
	heddle_runtime *rt;
	heddle_data *matrix, *result;
	if (heddle_start(NULL, &rt) || heddle_matrix(rt, a, ROWS, COLUMNS, LD, sizeof *a, &matrix) ||
	    heddle_variable(rt, &sum, sizeof sum, &result) || fill_tiles(rt, matrix) ||
	    heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "total", .cpu = total)), heddle_r(matrix),
	                  heddle_w(result)) ||
	    heddle_unregister(result) || heddle_unregister(matrix) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	int wrong = 0;
	for (size_t i = 0; i < ROWS; i++) {
		for (size_t j = 0; j < COLUMNS; j++) {
			size_t tile = i / TILE + j / TILE * ((ROWS + TILE - 1) / TILE);
			wrong |= a[i + j * LD] != (double)tile;
			expected += (double)tile;
			printf(" %g", a[i + j * LD]);
		}
		printf("\n");
	}
	printf("sum %g\n", sum);
	return wrong || sum != expected;
}
