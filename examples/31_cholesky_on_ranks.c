/* Several machines: a Cholesky factorisation on tiles that the ranks share out block-cyclically in two dimensions. The
 * loops are those of one machine; where tiles are, and what travels, the library sees from the data. The residual is
 * computed over the ranks, too: each rank adds up the squares of its tiles of A - L L^T into one sum.
 *
 *   cc 31_cholesky_on_ranks.c -o cholesky $(pkg-config --cflags --libs heddle-mpi) -lm
 *   mpirun -n 4 ./cholesky */
#include <heddle/mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILES = 10, B = 32 };

struct matrix {
	heddle_mpi_data *tile[TILES][TILES], *sum;
	double *memory[TILES][TILES]; /* of the owner */
};

static double entry(int i, int j)
{
	return 1.0 / (1 + abs(i - j)) + (i == j ? 4 : 0);
}

/* --- Kernels: column-major tiles of B x B ------------------------------------------------------------------------- */

static int potrf(heddle_context *c)
{
	double *a = heddle_ptr(c, 0);
	for (int k = 0; k < B; k++) {
		if (a[k + k * B] <= 0)
			return heddle_fail(c, 1, "the matrix is not positive definite");
		a[k + k * B] = sqrt(a[k + k * B]);
		for (int i = k + 1; i < B; i++)
			a[i + k * B] /= a[k + k * B];
		for (int j = k + 1; j < B; j++)
			for (int i = j; i < B; i++)
				a[i + j * B] -= a[i + k * B] * a[j + k * B];
	}
	return 0;
}

static int trsm(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	const double *l = heddle_ptr(c, 1);
	for (int k = 0; k < B; k++)
		for (int i = 0; i < B; i++) {
			for (int j = 0; j < k; j++)
				x[i + k * B] -= x[i + j * B] * l[k + j * B];
			x[i + k * B] /= l[k + k * B];
		}
	return 0;
}

static void subtract_product(double *x, const double *a, const double *b)
{
	for (int j = 0; j < B; j++)
		for (int k = 0; k < B; k++)
			for (int i = 0; i < B; i++)
				x[i + j * B] -= a[i + k * B] * b[j + k * B];
}

static int gemm(heddle_context *c)
{
	subtract_product(heddle_ptr(c, 0), heddle_ptr(c, 1), heddle_ptr(c, 2));
	return 0;
}

/* Sets what is above the diagonal of a diagonal tile to 0, which is no part of L. */
static int clear_upper(heddle_context *c)
{
	double *a = heddle_ptr(c, 0);
	for (int j = 0; j < B; j++)
		for (int i = 0; i < j; i++)
			a[i + j * B] = 0;
	return 0;
}

/* Data: the sum; then pairs of tiles of L. */
static int residual(heddle_context *c)
{
	double r[B * B];
	int i = heddle_get(c, 0, int), j = heddle_get(c, 1, int);
	for (int k = 0; k < B * B; k++)
		r[k] = entry(i * B + k % B, j * B + k / B);
	for (size_t k = 1; k < heddle_context_n_data(c); k += 2)
		subtract_product(r, heddle_ptr(c, k), heddle_ptr(c, k + 1));
	for (int k = 0; k < B * B; k++)
		*(double *)heddle_ptr(c, 0) += r[k] * r[k];
	return 0;
}

static int zero(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += *(double *)heddle_ptr(c, 1);
	return 0;
}

/* --- The stream: all ranks ---------------------------------------------------------------------------------------- */

static int register_tiles(heddle_mpi *m, struct matrix *a, double *sum)
{
	int size = heddle_mpi_size(m), rows = size % 2 ? 1 : 2, status = 0;
	for (int j = 0; j < TILES; j++)
		for (int i = j; i < TILES && !status; i++) {
			int owner = i % rows + rows * (j % (size / rows));
			struct heddle_part part = {.elem_size = 8, .n_dims = 2, .n = {B, B}, .stride = {1, B}};
			if (owner == heddle_mpi_rank(m))
				part.base = a->memory[i][j] = malloc(B * B * sizeof(double));
			for (int k = 0; a->memory[i][j] && k < B * B; k++)
				a->memory[i][j][k] = entry(i * B + k % B, j * B + k / B);
			status = heddle_mpi_register(m, (uint64_t)(i + j * TILES), owner, &part, &a->tile[i][j]);
		}
	struct heddle_part part = {.base = sum, .elem_size = sizeof *sum};
	return status ? status : heddle_mpi_register(m, TILES * TILES, 0, &part, &a->sum);
}

#define CODELET(m, kernel) heddle_codelet_new(heddle_mpi_runtime(m), .name = #kernel, .cpu = kernel)

static int factorise(heddle_mpi *m, struct matrix *a)
{
	heddle_codelet *p = CODELET(m, potrf), *t = CODELET(m, trsm), *g = CODELET(m, gemm);
	int status = p && t && g ? 0 : HEDDLE_E_MEMORY;
	for (int k = 0; k < TILES && !status; k++) {
		status = heddle_mpi_submit(m, heddle_call(p), heddle_mpi_rw(a->tile[k][k]));
		for (int i = k + 1; i < TILES && !status; i++)
			status = heddle_mpi_submit(m, heddle_call(t), heddle_mpi_rw(a->tile[i][k]),
			                           heddle_mpi_r(a->tile[k][k]));
		for (int j = k + 1; j < TILES; j++)
			for (int i = j; i < TILES && !status; i++)
				status = heddle_mpi_submit(m, heddle_call(g), heddle_mpi_rw(a->tile[i][j]),
				                           heddle_mpi_r(a->tile[i][k]), heddle_mpi_r(a->tile[j][k]));
	}
	return status;
}

static int add_residual(heddle_mpi *m, struct matrix *a)
{
	heddle_codelet *r = CODELET(m, residual), *u = CODELET(m, clear_upper);
	int status = heddle_mpi_set_reduction(a->sum, CODELET(m, zero), CODELET(m, add));
	for (int k = 0; k < TILES && !status; k++)
		status = heddle_mpi_submit(m, heddle_call(u), heddle_mpi_rw(a->tile[k][k]));
	for (int j = 0; j < TILES; j++)
		for (int i = j; i < TILES && !status; i++) {
			struct heddle_item items[2 * TILES + 5];
			size_t n = 0;
			items[n++] = heddle_call(r);
			items[n++] = heddle_mpi_redux(a->sum);
			items[n++] = heddle_value(i);
			items[n++] = heddle_value(j);
			items[n++] = heddle_mpi_with(a->tile[i][j]); /* its owner has most of what is needed */
			for (int k = 0; k <= j; k++) {
				items[n++] = heddle_mpi_r(a->tile[i][k]);
				items[n++] = heddle_mpi_r(a->tile[j][k]);
			}
			status = heddle_mpi_submit_items(m, n, items);
		}
	return status;
}

int main(int argc, char **argv)
{
	static struct matrix a;
	int level;
	double sum = 0;
	heddle_mpi *m;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	int status = heddle_mpi_start(NULL, MPI_COMM_WORLD, &m);
	if (!status)
		status = register_tiles(m, &a, &sum);
	if (!status)
		status = factorise(m, &a);
	if (!status)
		status = add_residual(m, &a);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	int rank = heddle_mpi_rank(m);
	status = heddle_mpi_stop(m);
	if (status)
		fprintf(stderr, "%s\n", heddle_last_error());
	if (rank == 0)
		printf("|A - L L^T| = %g\n", sqrt(sum));
	for (int i = 0; i < TILES * TILES; i++)
		free(a.memory[i / TILES][i % TILES]);
	MPI_Finalize();
	return status || !(sqrt(sum) < 1e-10);
}
