/* Experiments with products of matrices: C := C - A B, and C := C - A A^T.
 *
 * Products are checked by products in another order, on a few random columns X: the norm of C X - (C0 X - A (B X)),
 * where C0, the matrix before, is generated again. (Freivalds: Probabilistic machines can use less running time, 1977.)
 * The residual is scaled as in the tests of PLASMA and SLATE. */
#include <dense/flops.h>
#include <dense/internal.h>
#include <math.h>

enum { A, B, C, X, Z, Y }; /* places of the matrices; syrk has no B */

int hd_dense_experiment_spare(heddle_dense_experiment *e, size_t i, size_t rows, size_t columns)
{
	return e->m[i] ? 0 : hd_dense_experiment_matrix(e, i, rows, columns, HEDDLE_DENSE_GENERAL);
}

int hd_dense_experiment_product(heddle_dense_experiment *e, double alpha, size_t a, size_t x, double beta, size_t y)
{
	return heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(alpha), e->m[a],
	                                e->m[x], heddle_dense_real(beta), e->m[y], NULL);
}

int hd_dense_experiment_subtract(heddle_dense_experiment *e, size_t x, size_t y)
{
	struct hd_dense_flow flow = hd_dense_flow_of(e->m[y]);
	for (size_t j = 0; j < e->m[y]->nt; j++) {
		for (size_t i = 0; i < e->m[y]->mt; i++) {
			struct hd_dense_add_values v = {.window = hd_dense_tile_window(e->m[y], i, j),
			                                .alpha = heddle_dense_real(-1),
			                                .beta = heddle_dense_real(1)};
			hd_dense_insert(&flow, HD_DENSE_ADD, heddle_rw(hd_dense_tile(e->m[y], i, j)),
			                heddle_r(hd_dense_tile(e->m[x], i, j)), heddle_value(v));
		}
	}
	return flow.status;
}

static double scaled(const heddle_dense_experiment *e, double norm, double size, double norm_x)
{
	double scale = size * norm_x * hd_dense_roundoff(e->problem.precision);
	return scale > 0 ? norm / scale : norm;
}

/* --- gemm, symm --------------------------------------------------------------------------------------------------- */

static double gemm_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_gemm_flops(hd_dense_is_complex(p->precision), (double)p->m, (double)p->n, (double)p->k);
}

static double symm_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_symm_flops(hd_dense_is_complex(p->precision), (double)p->m, (double)p->n, (double)p->m);
}

/* A is m x k. */
static int open_product(heddle_dense_experiment *e, size_t k)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = hd_dense_experiment_matrix(e, A, p->m, k, HEDDLE_DENSE_GENERAL);
	if (status >= 0)
		status = hd_dense_experiment_matrix(e, B, k, p->n, HEDDLE_DENSE_GENERAL);
	return status < 0 ? status : hd_dense_experiment_matrix(e, C, p->m, p->n, HEDDLE_DENSE_GENERAL);
}

static int gemm_open(heddle_dense_experiment *e)
{
	return open_product(e, e->problem.k);
}

static int symm_open(heddle_dense_experiment *e)
{
	return open_product(e, e->problem.m);
}

static int fill_product(heddle_dense_experiment *e, enum heddle_dense_random kind_a)
{
	int status = heddle_dense_random_submit(e->m[A], kind_a, e->problem.seed);
	for (size_t i = B; status >= 0 && i <= C; i++)
		status = heddle_dense_random_submit(e->m[i], HEDDLE_DENSE_RANDOM, e->problem.seed + i);
	return status;
}

static int gemm_fill(heddle_dense_experiment *e)
{
	return fill_product(e, HEDDLE_DENSE_RANDOM);
}

/* All of A is filled, although symm reads one triangle only. */
static int symm_fill(heddle_dense_experiment *e)
{
	return fill_product(e, HEDDLE_DENSE_SYMMETRIC);
}

static int gemm_submit(heddle_dense_experiment *e)
{
	return heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), e->m[A],
	                                e->m[B], heddle_dense_real(1), e->m[C], &e->problem.options);
}

static int symm_submit(heddle_dense_experiment *e)
{
	return heddle_dense_symm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, heddle_dense_real(-1), e->m[A], e->m[B],
	                                heddle_dense_real(1), e->m[C], &e->problem.options);
}

/* Y := C X - C0 X + A (B X). Afterwards C is C0. */
static int product_difference(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = heddle_dense_random_submit(e->m[X], HEDDLE_DENSE_RANDOM, p->seed + X);
	if (status >= 0)
		status = hd_dense_experiment_product(e, 1, C, X, 0, Y);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[C], HEDDLE_DENSE_RANDOM, p->seed + C);
	if (status >= 0)
		status = hd_dense_experiment_product(e, -1, C, X, 1, Y);
	if (status >= 0)
		status = hd_dense_experiment_product(e, 1, B, X, 0, Z);
	return status < 0 ? status : hd_dense_experiment_product(e, 1, A, Z, 1, Y);
}

static int product_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	size_t k = e->m[A]->shape.columns;
	double norms[HD_DENSE_MAX_MATRICES] = {0};
	int status = hd_dense_experiment_spare(e, X, p->n, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, Z, k, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, Y, p->m, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = product_difference(e);
	for (size_t i = 0; status >= 0 && i < HD_DENSE_MAX_MATRICES; i++)
		status = hd_dense_norm(e->m[i], &norms[i]);
	*residual = scaled(e, norms[Y], sqrt((double)k + 2) * norms[A] * norms[B] + 2 * norms[C], norms[X]);
	return status;
}

/* --- syrk --------------------------------------------------------------------------------------------------------- */

static double syrk_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_syrk_flops(hd_dense_is_complex(p->precision), (double)p->n, (double)p->k);
}

static int syrk_open(heddle_dense_experiment *e)
{
	int status = hd_dense_experiment_matrix(e, A, e->problem.n, e->problem.k, HEDDLE_DENSE_GENERAL);
	return status < 0 ? status : hd_dense_experiment_matrix(e, C, e->problem.n, e->problem.n, e->problem.uplo);
}

static int syrk_fill(heddle_dense_experiment *e)
{
	int status = heddle_dense_random_submit(e->m[A], HEDDLE_DENSE_RANDOM, e->problem.seed);
	return status < 0 ? status : heddle_dense_random_submit(e->m[C], HEDDLE_DENSE_SYMMETRIC, e->problem.seed + C);
}

static int syrk_submit(heddle_dense_experiment *e)
{
	return heddle_dense_syrk_submit(e->problem.uplo, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), e->m[A],
	                                heddle_dense_real(1), e->m[C], &e->problem.options);
}

/* Y := alpha C X + beta Y, with the symmetric C. */
static int multiply_symmetric(heddle_dense_experiment *e, double alpha, double beta)
{
	return heddle_dense_symm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, heddle_dense_real(alpha), e->m[C], e->m[X],
	                                heddle_dense_real(beta), e->m[Y], NULL);
}

/* Y := C X - C0 X + A (A^T X). Afterwards C is C0. */
static int syrk_difference(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = heddle_dense_random_submit(e->m[X], HEDDLE_DENSE_RANDOM, p->seed + X);
	if (status >= 0)
		status = multiply_symmetric(e, 1, 0);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[C], HEDDLE_DENSE_SYMMETRIC, p->seed + C);
	if (status >= 0)
		status = multiply_symmetric(e, -1, 1);
	if (status >= 0)
		status = heddle_dense_gemm_submit(HEDDLE_DENSE_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(1),
		                                  e->m[A], e->m[X], heddle_dense_real(0), e->m[Z], NULL);
	return status < 0 ? status : hd_dense_experiment_product(e, 1, A, Z, 1, Y);
}

static int syrk_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double a = 0, c = 0, x = 0, y = 0;
	int status = hd_dense_experiment_spare(e, X, p->n, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, Z, p->k, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, Y, p->n, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = syrk_difference(e);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], &a);
	if (status >= 0)
		status = hd_dense_norm_symmetric(e->m[C], &c);
	if (status >= 0)
		status = hd_dense_norm(e->m[X], &x);
	if (status >= 0)
		status = hd_dense_norm(e->m[Y], &y);
	*residual = scaled(e, y, sqrt((double)p->k + 2) * a * a + 2 * c, x);
	return status;
}

const struct hd_dense_routine hd_dense_routine_gemm = {
    {"gemm", "matrix product C := C - A B",
     "||(C - C0 + A B) X|| / ((sqrt(k + 2) ||A|| ||B|| + 2 ||C0||) ||X|| eps), X random", "gemm"},
    gemm_flops,
    gemm_open,
    gemm_fill,
    gemm_submit,
    product_residual,
};

const struct hd_dense_routine hd_dense_routine_symm = {
    {"symm", "product with a symmetric matrix C := C - A B",
     "||(C - C0 + A B) X|| / ((sqrt(m + 2) ||A|| ||B|| + 2 ||C0||) ||X|| eps), X random", "symm gemm"},
    symm_flops,
    symm_open,
    symm_fill,
    symm_submit,
    product_residual,
};

const struct hd_dense_routine hd_dense_routine_syrk = {
    {"syrk", "symmetric update C := C - A A^T",
     "||(C - C0 + A A^T) X|| / ((sqrt(k + 2) ||A||^2 + 2 ||C0||) ||X|| eps), X random", "syrk gemm"},
    syrk_flops,
    syrk_open,
    syrk_fill,
    syrk_submit,
    syrk_residual,
};
