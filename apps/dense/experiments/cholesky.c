/* Experiments with the Cholesky factorisation. */
#include <dense/internal.h>

static double potrf_flops(const struct heddle_dense_problem *p)
{
	double n = (double)p->n;
	return hd_dense_is_complex(p->precision) ? 4 * n * n * n / 3 + 3 * n * n - n / 3
	                                         : n * n * n / 3 + n * n / 2 + n / 6;
}

static int potrf_open(heddle_dense_experiment *e)
{
	return hd_dense_experiment_matrix(e, 0, e->problem.n, e->problem.n, e->problem.uplo);
}

static int potrf_fill(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[0], HEDDLE_DENSE_SPD, e->problem.seed);
}

static int potrf_submit(heddle_dense_experiment *e)
{
	return heddle_dense_potrf_submit(e->problem.uplo, e->m[0], &e->problem.options);
}

static int potrf_residual(heddle_dense_experiment *e, double *residual)
{
	return heddle_dense_potrf_residual(e->problem.uplo, e->m[0], e->problem.seed, residual);
}

const struct hd_dense_routine hd_dense_routine_potrf = {
    {"potrf", "Cholesky factorisation A = L L^H", "||A - L L^H|| / (n ||A|| eps)", "potrf trsm syrk herk gemm"},
    potrf_flops,
    potrf_open,
    potrf_fill,
    potrf_submit,
    potrf_residual,
};
