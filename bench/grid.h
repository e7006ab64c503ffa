/* The matrices that the programs without Heddle factorise: symmetric, random, diagonally dominant. A matrix is a grid
 * of tiles, which are windows of one column-major array, or lie each in memory of its own. Also a check of the factor
 * that costs only n^2 operations. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <math.h>
#include "bench.h"
#include "real.h"

enum { LINE = 64 }; /* bytes of a cache line */

struct grid {
	size_t n, tile, count; /* count x count tiles, the last ones may be smaller */
	size_t ld;             /* leading dimension of every tile */
	int apart;             /* every tile lies in memory of its own */
	real *memory;          /* owns */
};

/* The distance between columns, in elements: whole cache lines, so that columns begin on one, but an odd number of
 * them, because at a distance of a power of two columns would share cache sets. */
static inline size_t grid_padded(size_t rows)
{
	size_t line = LINE / sizeof(real);
	return ((rows + line - 1) / line | 1) * line;
}

static inline void grid_make(struct grid *g, size_t n, size_t tile, int apart)
{
	g->n = n;
	g->tile = tile;
	g->count = (n + tile - 1) / tile;
	g->apart = apart;
	g->ld = apart ? tile : grid_padded(n);
	size_t elements = apart ? g->count * g->count * tile * tile : g->ld * n;
	g->memory = aligned_alloc(LINE, (elements * sizeof(real) + LINE - 1) / LINE * LINE);
	bench_need(g->memory != NULL, "no memory for the matrix");
}

static inline size_t grid_extent(const struct grid *g, size_t i)
{
	return i + 1 < g->count ? g->tile : g->n - i * g->tile;
}

static inline real *grid_tile(const struct grid *g, size_t i, size_t j)
{
	if (g->apart)
		return g->memory + (i + j * g->count) * g->tile * g->tile;
	return g->memory + i * g->tile + j * g->tile * g->ld;
}

static inline double grid_random(uint64_t state)
{
	uint64_t x = state * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (double)((x ^ x >> 31) >> 11) * 0x1.0p-53 - 0.5;
}

/* Element (i, j) of the matrix, i >= j. */
static inline double grid_element(size_t n, size_t i, size_t j)
{
	return grid_random(i * n + j + 1) + (i == j ? (double)n : 0);
}

static inline void grid_fill_tile(struct grid *g, size_t i, size_t j)
{
	real *a = grid_tile(g, i, j);
	size_t rows = grid_extent(g, i), columns = grid_extent(g, j);
	for (size_t c = 0; c < columns; c++) {
		size_t column = j * g->tile + c;
		for (size_t r = i == j ? c : 0; r < rows; r++)
			a[r + c * g->ld] = (real)grid_element(g->n, i * g->tile + r, column);
	}
}

static inline void grid_fill(struct grid *g)
{
	for (size_t j = 0; j < g->count; j++)
		for (size_t i = j; i < g->count; i++)
			grid_fill_tile(g, i, j);
}

/* y += L x or y += L^T x, where L is the lower triangle of the grid. */
static inline void grid_multiply(const struct grid *g, int transposed, const double *x, double *y)
{
	for (size_t column = 0; column < g->n; column++) {
		size_t j = column / g->tile;
		for (size_t i = j; i < g->count; i++) {
			const real *a = grid_tile(g, i, j) + column % g->tile * g->ld;
			for (size_t r = i == j ? column % g->tile : 0; r < grid_extent(g, i); r++) {
				size_t row = i * g->tile + r;
				if (transposed)
					y[column] += (double)a[r] * x[row];
				else
					y[row] += (double)a[r] * x[column];
			}
		}
	}
}

/* y -= A x, where A is the matrix that grid_fill makes. */
static inline void grid_subtract_original(size_t n, const double *x, double *y)
{
	for (size_t j = 0; j < n; j++) {
		y[j] -= grid_element(n, j, j) * x[j];
		for (size_t i = j + 1; i < n; i++) {
			double a = grid_element(n, i, j);
			y[i] -= a * x[j];
			y[j] -= a * x[i];
		}
	}
}

/* Ends the program unless |L L^T x - A x| is about as small as rounding errors, for a random x. */
static inline void grid_check(const struct grid *g)
{
	size_t n = g->n;
	double *x = calloc(3 * n, sizeof *x), worst = 0;
	bench_need(x != NULL, "no memory for the check");
	double *y = x + n, *z = y + n;
	for (size_t i = 0; i < n; i++)
		x[i] = grid_random(~i);
	grid_multiply(g, 1, x, y);
	grid_multiply(g, 0, y, z);
	grid_subtract_original(n, x, z);
	for (size_t i = 0; i < n; i++)
		worst = fmax(worst, fabs(z[i]));
	free(x);
	bench_need(worst < 100 * REAL_EPSILON * (double)n, "the factor is wrong");
}

#endif
