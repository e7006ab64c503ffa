/* Experiments with LU factorisations and the solvers that use them. */
#include <dense/flops.h>
#include <dense/internal.h>
#include <stdlib.h>

enum { A, B, R }; /* matrices of an experiment: R is B - A X */

static int without_pivots(const heddle_dense_experiment *e)
{
	return e->routine == &hd_dense_routine_getrf_nopiv || e->routine == &hd_dense_routine_gesv_nopiv;
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static double getrf_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_getrf_flops(hd_dense_is_complex(p->precision), (double)p->m, (double)p->n);
}

static double getrs_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_getrs_flops(hd_dense_is_complex(p->precision), (double)p->n, (double)p->n_right);
}

static double gesv_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_getrf_flops(hd_dense_is_complex(p->precision), (double)p->n, (double)p->n) + getrs_flops(p);
}

/* --- Data and tasks ----------------------------------------------------------------------------------------------- */

static int open_a(heddle_dense_experiment *e, size_t rows)
{
	int status = hd_dense_experiment_matrix(e, A, rows, e->problem.n, HEDDLE_DENSE_GENERAL);
	if (status >= 0 && !without_pivots(e))
		status = heddle_dense_pivots_create(e->m[A], NULL, &e->pivots);
	return status;
}

static int getrf_open(heddle_dense_experiment *e)
{
	return open_a(e, e->problem.m);
}

static int solver_open(heddle_dense_experiment *e)
{
	int status = open_a(e, e->problem.n);
	if (status >= 0)
		status = hd_dense_experiment_matrix(e, B, e->problem.n, e->problem.n_right, HEDDLE_DENSE_GENERAL);
	return status;
}

static enum heddle_dense_random kind_of_a(const heddle_dense_experiment *e)
{
	return without_pivots(e) ? HEDDLE_DENSE_DOMINANT : HEDDLE_DENSE_RANDOM;
}

static int fill_a(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[A], kind_of_a(e), e->problem.seed);
}

static int fill_both(heddle_dense_experiment *e)
{
	int status = fill_a(e);
	return status < 0 ? status : heddle_dense_random_submit(e->m[B], HEDDLE_DENSE_RANDOM, e->problem.seed + B);
}

/* Filling includes the factorisation, which getrs does not make. */
static int getrs_fill(heddle_dense_experiment *e)
{
	int status = fill_both(e);
	return status < 0 ? status : heddle_dense_getrf_submit(e->m[A], e->pivots, NULL);
}

static int getrf_submit(heddle_dense_experiment *e)
{
	return e->pivots ? heddle_dense_getrf_submit(e->m[A], e->pivots, &e->problem.options)
	                 : heddle_dense_getrf_nopiv_submit(e->m[A], &e->problem.options);
}

static int getrs_submit(heddle_dense_experiment *e)
{
	return heddle_dense_getrs_submit(HEDDLE_DENSE_NO_TRANS, e->m[A], e->pivots, e->m[B], &e->problem.options);
}

static int gesv_submit(heddle_dense_experiment *e)
{
	return e->pivots ? heddle_dense_gesv_submit(e->m[A], e->pivots, e->m[B], &e->problem.options)
	                 : heddle_dense_gesv_nopiv_submit(e->m[A], e->m[B], &e->problem.options);
}

/* --- Residuals ---------------------------------------------------------------------------------------------------- */

static int getrf_residual(heddle_dense_experiment *e, double *residual)
{
	return hd_dense_getrf_residual(e->m[A], e->pivots, kind_of_a(e), e->problem.seed, residual);
}

/* R := B - A X, with A and B generated again. */
static int solver_difference(heddle_dense_experiment *e)
{
	int status = 0;
	if (!e->m[R])
		status = hd_dense_experiment_matrix(e, R, e->problem.n, e->problem.n_right, HEDDLE_DENSE_GENERAL);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[R], HEDDLE_DENSE_RANDOM, e->problem.seed + B);
	if (status >= 0)
		status = fill_a(e);
	if (status < 0)
		return status;
	return heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(-1), e->m[A],
	                                e->m[B], heddle_dense_real(1), e->m[R], NULL);
}

static int solver_residual(heddle_dense_experiment *e, double *residual)
{
	double norm_a = 0, norm_x = 0, norm_r = 0;
	int status = solver_difference(e);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], &norm_a);
	if (status >= 0)
		status = hd_dense_norm(e->m[B], &norm_x);
	if (status >= 0)
		status = hd_dense_norm(e->m[R], &norm_r);
	double scale = (double)e->problem.n * norm_a * norm_x * hd_dense_roundoff(e->problem.precision);
	if (status >= 0)
		*residual = scale > 0 ? norm_r / scale : norm_r;
	return status;
}

#define SOLVER_RESIDUAL "||B - A X|| / (n ||A|| ||X|| eps)"

const struct hd_dense_routine hd_dense_routine_getrf = {
    {"getrf", "LU factorisation with partial pivoting, A = P L U", "||P^T A - L U|| / (n ||A|| eps)",
     "getrf_panel laswp trsm gemm"},
    getrf_flops,
    getrf_open,
    fill_a,
    getrf_submit,
    getrf_residual,
};
const struct hd_dense_routine hd_dense_routine_getrf_nopiv = {
    {"getrf_nopiv", "LU factorisation without pivoting, A = L U", "||A - L U|| / (n ||A|| eps)",
     "getrf_nopiv trsm gemm"},
    getrf_flops,
    getrf_open,
    fill_a,
    getrf_submit,
    getrf_residual,
};
const struct hd_dense_routine hd_dense_routine_getrs = {
    {"getrs", "solution of A X = B with the factors of getrf", SOLVER_RESIDUAL, "laswp trsm gemm"},
    getrs_flops,
    solver_open,
    getrs_fill,
    getrs_submit,
    solver_residual,
};
const struct hd_dense_routine hd_dense_routine_gesv = {
    {"gesv", "solution of A X = B by LU with partial pivoting", SOLVER_RESIDUAL, "getrf_panel laswp trsm gemm"},
    gesv_flops,
    solver_open,
    fill_both,
    gesv_submit,
    solver_residual,
};
const struct hd_dense_routine hd_dense_routine_gesv_nopiv = {
    {"gesv_nopiv", "solution of A X = B by LU without pivoting", SOLVER_RESIDUAL, "getrf_nopiv trsm gemm"},
    gesv_flops,
    solver_open,
    fill_both,
    gesv_submit,
    solver_residual,
};
