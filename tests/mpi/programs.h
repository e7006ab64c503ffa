/* Programs over ranks, which run on loop ranks (unit/test_mpi.c) and under mpirun (mpi/over_mpi.c). Each returns 0, or
 * a status after heddle_error with what is wrong. */
#ifndef TEST_MPI_PROGRAMS_H
#define TEST_MPI_PROGRAMS_H

#include <heddle/mpi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                       \
	do {                            \
		int status_ = (call);   \
		if (status_)            \
			return status_; \
	} while (0)

static inline int add_one(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += 1;
	return 0;
}

static inline int set_one(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 1;
	return 0;
}

static inline int add_other(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static inline struct heddle_part scalar_of(void *base, size_t size)
{
	return (struct heddle_part){.base = base, .elem_size = size};
}

/* A value goes round: each rank adds what its neighbour has. */
static inline int ring(heddle_mpi *m, void *arg)
{
	enum { ROUNDS = 20 };
	int n = heddle_mpi_size(m), rank = heddle_mpi_rank(m);
	heddle_codelet *add = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add", .cpu = add_other);
	long mine = rank == 0, expected[64] = {1};
	heddle_mpi_data *d[64];
	(void)arg;
	for (int i = 0; i < n; i++) {
		struct heddle_part part = scalar_of(i == rank ? &mine : NULL, sizeof mine);
		TRY(heddle_mpi_register(m, (uint64_t)i, i, &part, &d[i]));
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n; i++) {
			expected[(i + 1) % n] += expected[i];
			if (n > 1)
				TRY(heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(d[(i + 1) % n]),
				                      heddle_mpi_r(d[i])));
		}
	if (n == 1)
		return 0;
	for (int i = 0; i < n; i++)
		TRY(heddle_mpi_unregister(d[i]));
	TRY(heddle_mpi_wait_all(m));
	if (mine != expected[rank])
		return heddle_error(HEDDLE_E_STATE, "ring: rank %d has %ld instead of %ld", rank, mine, expected[rank]);
	return heddle_mpi_selfcheck(m);
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

enum { TILE = 16, TILES = 8 };

static inline int potrf_tile(heddle_context *c)
{
	double *a = heddle_ptr(c, 0);
	size_t ld = heddle_ld(c, 0);
	for (size_t k = 0; k < TILE; k++) {
		if (a[k + k * ld] <= 0)
			return heddle_fail(c, 1, "pivot %zu is %g", k, a[k + k * ld]);
		a[k + k * ld] = sqrt(a[k + k * ld]);
		for (size_t i = k + 1; i < TILE; i++)
			a[i + k * ld] /= a[k + k * ld];
		for (size_t j = k + 1; j < TILE; j++)
			for (size_t i = j; i < TILE; i++)
				a[i + j * ld] -= a[i + k * ld] * a[j + k * ld];
	}
	return 0;
}

static inline int trsm_tile(heddle_context *c)
{
	double *b = heddle_ptr(c, 0);
	const double *l = heddle_ptr(c, 1);
	size_t ldb = heddle_ld(c, 0), ldl = heddle_ld(c, 1);
	for (size_t k = 0; k < TILE; k++)
		for (size_t i = 0; i < TILE; i++) {
			for (size_t j = 0; j < k; j++)
				b[i + k * ldb] -= b[i + j * ldb] * l[k + j * ldl];
			b[i + k * ldb] /= l[k + k * ldl];
		}
	return 0;
}

static inline int gemm_tile(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	const double *a = heddle_ptr(c, 1), *b = heddle_ptr(c, 2);
	size_t ldx = heddle_ld(c, 0), lda = heddle_ld(c, 1), ldb = heddle_ld(c, 2);
	for (size_t j = 0; j < TILE; j++)
		for (size_t k = 0; k < TILE; k++)
			for (size_t i = 0; i < TILE; i++)
				x[i + j * ldx] -= a[i + k * lda] * b[j + k * ldb];
	return 0;
}

static inline double entry_of(size_t i, size_t j)
{
	return 1.0 / (double)(1 + (i > j ? i - j : j - i)) + (i == j ? 4.0 : 0);
}

/* Ranks form a grid of `rows` times the rest. */
static inline int owner_of(int size, size_t i, size_t j)
{
	int rows = size % 2 ? 1 : 2;
	return (int)(i % (size_t)rows) + rows * (int)(j % (size_t)(size / rows));
}

/* The sum of the squares of A - L L^T over the tiles of one rank, where each rank reads the tiles of L that it needs.
 * */
static inline int residual_tile(heddle_context *c)
{
	double *sum = heddle_ptr(c, 0);
	size_t i = heddle_get(c, 0, size_t), j = heddle_get(c, 1, size_t), n = heddle_context_n_data(c) / 2;
	for (size_t y = 0; y < TILE; y++)
		for (size_t x = 0; x < TILE; x++) {
			double r = entry_of(i * TILE + x, j * TILE + y);
			for (size_t k = 0; k < n; k++) {
				const double *a = heddle_ptr(c, 1 + 2 * k), *b = heddle_ptr(c, 2 + 2 * k);
				size_t lda = heddle_ld(c, 1 + 2 * k), ldb = heddle_ld(c, 2 + 2 * k);
				for (size_t p = 0; p < TILE; p++)
					if (k < j || (p <= y && (i > j || p <= x)))
						r -= a[x + p * lda] * b[y + p * ldb];
			}
			if (i > j || x >= y)
				*sum += r * r;
		}
	return 0;
}

static inline int zero_sum(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 0;
	return 0;
}

static inline int add_sums(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += *(double *)heddle_ptr(c, 1);
	return 0;
}

static inline int add_amount(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += heddle_get(c, 0, double);
	return 0;
}

struct cholesky {
	heddle_mpi *m;
	double *memory; /* this rank's tiles, with a leading dimension of TILE + 3 */
	heddle_mpi_data *tiles[TILES][TILES], *sum;
};

static inline int cholesky_register(struct cholesky *s, double *sum)
{
	enum { LD = TILE + 3 };
	int rank = heddle_mpi_rank(s->m), size = heddle_mpi_size(s->m);
	double *next = s->memory = calloc(TILES * TILES, LD * TILE * sizeof *next);
	for (size_t j = 0; j < TILES; j++)
		for (size_t i = j; i < TILES; i++) {
			int owner = owner_of(size, i, j);
			struct heddle_part part = {
			    .base = next, .elem_size = 8, .n_dims = 2, .n = {TILE, TILE}, .stride = {1, LD}};
			for (size_t y = 0; y < TILE && owner == rank; y++)
				for (size_t x = 0; x < TILE; x++)
					next[x + y * LD] = entry_of(i * TILE + x, j * TILE + y);
			next += LD * TILE;
			TRY(heddle_mpi_register(s->m, i + j * TILES, owner, &part, &s->tiles[i][j]));
		}
	struct heddle_part part = scalar_of(sum, sizeof *sum);
	return heddle_mpi_register(s->m, TILES * TILES, 0, &part, &s->sum);
}

static inline int cholesky_factorise(struct cholesky *s)
{
	heddle_runtime *rt = heddle_mpi_runtime(s->m);
	heddle_codelet *potrf = heddle_codelet_new(rt, .name = "potrf", .cpu = potrf_tile);
	heddle_codelet *trsm = heddle_codelet_new(rt, .name = "trsm", .cpu = trsm_tile);
	heddle_codelet *gemm = heddle_codelet_new(rt, .name = "gemm", .cpu = gemm_tile);
	for (size_t k = 0; k < TILES; k++) {
		TRY(heddle_mpi_submit(s->m, heddle_call(potrf), heddle_mpi_rw(s->tiles[k][k])));
		for (size_t i = k + 1; i < TILES; i++)
			TRY(heddle_mpi_submit(s->m, heddle_call(trsm), heddle_mpi_rw(s->tiles[i][k]),
			                      heddle_mpi_r(s->tiles[k][k])));
		for (size_t j = k + 1; j < TILES; j++)
			for (size_t i = j; i < TILES; i++)
				TRY(heddle_mpi_submit(s->m, heddle_call(gemm), heddle_mpi_rw(s->tiles[i][j]),
				                      heddle_mpi_r(s->tiles[i][k]), heddle_mpi_r(s->tiles[j][k])));
	}
	return 0;
}

static inline int cholesky_residual(struct cholesky *s)
{
	heddle_runtime *rt = heddle_mpi_runtime(s->m);
	heddle_codelet *residual = heddle_codelet_new(rt, .name = "residual", .cpu = residual_tile);
	heddle_codelet *zero = heddle_codelet_new(rt, .name = "zero", .cpu = zero_sum);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_sums);
	TRY(heddle_mpi_set_reduction(s->sum, zero, add));
	for (size_t j = 0; j < TILES; j++)
		for (size_t i = j; i < TILES; i++) {
			struct heddle_item items[2 * TILES + 5];
			size_t n = 0;
			items[n++] = heddle_call(residual);
			items[n++] = heddle_mpi_redux(s->sum);
			for (size_t k = 0; k <= j; k++) {
				items[n++] = heddle_mpi_r(s->tiles[i][k]);
				items[n++] = heddle_mpi_r(s->tiles[j][k]);
			}
			items[n++] = heddle_value(i);
			items[n++] = heddle_value(j);
			items[n++] = heddle_mpi_with(s->tiles[i][j]);
			TRY(heddle_mpi_submit_items(s->m, n, items));
		}
	return 0;
}

static inline int cholesky(heddle_mpi *m, void *arg)
{
	struct cholesky s = {.m = m};
	double sum = 0;
	(void)arg;
	int status = cholesky_register(&s, &sum);
	if (!status)
		status = cholesky_factorise(&s);
	if (!status)
		status = cholesky_residual(&s);
	int waited = heddle_mpi_acquire(s.sum, HEDDLE_R);
	if (!waited && heddle_mpi_rank(m) == 0 && !(sum < 1e-20 && sum >= 0))
		status = heddle_error(HEDDLE_E_STATE, "cholesky: the residual is %g", sum);
	heddle_mpi_release(s.sum);
	int ended = heddle_mpi_wait_all(m);
	if (!status)
		status = ended ? ended : heddle_mpi_selfcheck(m);
	for (size_t j = 0; j < TILES; j++)
		for (size_t i = j; i < TILES; i++)
			heddle_mpi_unregister(s.tiles[i][j]);
	heddle_mpi_unregister(s.sum);
	heddle_mpi_wait_all(m);
	free(s.memory);
	return status ? status : waited;
}

#endif
