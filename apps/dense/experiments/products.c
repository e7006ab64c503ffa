/* Experiments with matrix products: C := C - A B.
 *
 * Products are checked by products in another order, on a few random columns X: the norm of C X - (C0 X - A (B X)),
 * where C0, the matrix before, is generated again. (Freivalds: Probabilistic machines can use less running time,
 * 1977.) */
#include <dense/internal.h>

static double gemm_flops(const struct heddle_dense_problem *p)
{
	return (hd_dense_is_complex(p->precision) ? 8 : 2) * (double)p->m * (double)p->n * (double)p->k;
}

static int gemm_open(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = hd_dense_experiment_matrix(e, 0, p->m, p->k, HEDDLE_DENSE_GENERAL);
	if (status >= 0)
		status = hd_dense_experiment_matrix(e, 1, p->k, p->n, HEDDLE_DENSE_GENERAL);
	return status < 0 ? status : hd_dense_experiment_matrix(e, 2, p->m, p->n, HEDDLE_DENSE_GENERAL);
}

static int gemm_fill(heddle_dense_experiment *e)
{
	int status = 0;
	for (size_t i = 0; status >= 0 && i < 3; i++)
		status = heddle_dense_random_submit(e->m[i], HEDDLE_DENSE_RANDOM, e->problem.seed + i);
	return status;
}

static int gemm_submit(heddle_dense_experiment *e)
{
	return heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), e->m[0],
	                                e->m[1], heddle_dense_real(1), e->m[2], &e->problem.options);
}

enum { CHECKED_COLUMNS = 8, X = 3, Z = 4, Y = 5 };

/* Y := alpha A X + beta Y, for matrices of the experiment. */
static int add_product(heddle_dense_experiment *e, double alpha, size_t a, size_t x, double beta, size_t y)
{
	return heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(alpha), e->m[a],
	                                e->m[x], heddle_dense_real(beta), e->m[y], NULL);
}

/* Y := C X - C0 X + A (B X). Afterwards C is C0. */
static int gemm_difference(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = heddle_dense_random_submit(e->m[X], HEDDLE_DENSE_RANDOM, p->seed + X);
	if (status >= 0)
		status = add_product(e, 1, 2, X, 0, Y);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[2], HEDDLE_DENSE_RANDOM, p->seed + 2);
	if (status >= 0)
		status = add_product(e, -1, 2, X, 1, Y);
	if (status >= 0)
		status = add_product(e, 1, 1, X, 0, Z);
	return status < 0 ? status : add_product(e, 1, 0, Z, 1, Y);
}

static int gemm_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double norms[HD_DENSE_MAX_MATRICES] = {0};
	int status = 0;
	if (!e->m[X])
		status = hd_dense_experiment_matrix(e, X, p->n, CHECKED_COLUMNS, HEDDLE_DENSE_GENERAL);
	if (status >= 0 && !e->m[Z])
		status = hd_dense_experiment_matrix(e, Z, p->k, CHECKED_COLUMNS, HEDDLE_DENSE_GENERAL);
	if (status >= 0 && !e->m[Y])
		status = hd_dense_experiment_matrix(e, Y, p->m, CHECKED_COLUMNS, HEDDLE_DENSE_GENERAL);
	if (status >= 0)
		status = gemm_difference(e);
	for (size_t i = 0; status >= 0 && i < HD_DENSE_MAX_MATRICES; i++)
		status = hd_dense_norm(e->m[i], &norms[i]);
	double scale = (double)p->k * norms[0] * norms[1] * norms[X] * hd_dense_roundoff(p->precision);
	*residual = scale > 0 ? norms[Y] / scale : norms[Y];
	return status;
}

const struct hd_dense_routine hd_dense_routine_gemm = {
    {"gemm", "matrix product C := C - A B", "||(C - C0 + A B) X|| / (k ||A|| ||B|| ||X|| eps), X random", "gemm"},
    gemm_flops,
    gemm_open,
    gemm_fill,
    gemm_submit,
    gemm_residual,
};
