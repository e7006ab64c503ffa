/* Experiments with positive definite matrices: potrf, potrs, posv, potri, poinv. For potrs and potri, filling includes
 * the factorisation, so that it is not measured. */
#include <dense/flops.h>
#include <dense/internal.h>

enum { A, B, R, V }; /* places of the matrices; inverses have no B */

static double potrf_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_potrf_flops(hd_dense_is_complex(p->precision), (double)p->n);
}

static double potrs_flops(const struct heddle_dense_problem *p)
{
	return 2 * hd_dense_triangle_flops(hd_dense_is_complex(p->precision), (double)p->n, (double)p->n_right);
}

static double posv_flops(const struct heddle_dense_problem *p)
{
	return potrf_flops(p) + potrs_flops(p);
}

static double potri_flops(const struct heddle_dense_problem *p)
{
	int is_complex = hd_dense_is_complex(p->precision);
	return hd_dense_trtri_flops(is_complex, (double)p->n) + hd_dense_potrf_flops(is_complex, (double)p->n);
}

static double poinv_flops(const struct heddle_dense_problem *p)
{
	return potrf_flops(p) + potri_flops(p);
}

static int open_one(heddle_dense_experiment *e)
{
	return hd_dense_experiment_matrix(e, A, e->problem.n, e->problem.n, e->problem.uplo);
}

static int open_two(heddle_dense_experiment *e)
{
	int status = open_one(e);
	return status < 0 ? status
	                  : hd_dense_experiment_matrix(e, B, e->problem.n, e->problem.n_right, HEDDLE_DENSE_GENERAL);
}

static int fill_one(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[A], HEDDLE_DENSE_SPD, e->problem.seed);
}

static int fill_two(heddle_dense_experiment *e)
{
	int status = fill_one(e);
	return status < 0 ? status : heddle_dense_random_submit(e->m[B], HEDDLE_DENSE_RANDOM, e->problem.seed + B);
}

static int potrf_submit(heddle_dense_experiment *e)
{
	return heddle_dense_potrf_submit(e->problem.uplo, e->m[A], &e->problem.options);
}

static int fill_factor(heddle_dense_experiment *e)
{
	int status = fill_one(e);
	return status < 0 ? status : potrf_submit(e);
}

static int fill_factor_and_b(heddle_dense_experiment *e)
{
	int status = fill_two(e);
	return status < 0 ? status : potrf_submit(e);
}

static int potrf_residual(heddle_dense_experiment *e, double *residual)
{
	return heddle_dense_potrf_residual(e->problem.uplo, e->m[A], e->problem.seed, residual);
}

/* --- Solvers ------------------------------------------------------------------------------------------------------ */

static int potrs_submit(heddle_dense_experiment *e)
{
	return heddle_dense_potrs_submit(e->problem.uplo, e->m[A], e->m[B], &e->problem.options);
}

static int posv_submit(heddle_dense_experiment *e)
{
	return heddle_dense_posv_submit(e->problem.uplo, e->m[A], e->m[B], &e->problem.options);
}

/* to := alpha A from + beta to. */
static int multiply(heddle_dense_experiment *e, double alpha, size_t from, double beta, size_t to)
{
	return heddle_dense_hemm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, heddle_dense_real(alpha), e->m[A],
	                                e->m[from], heddle_dense_real(beta), e->m[to], NULL);
}

/* R := B0 - A0 X. */
static int solution_difference(heddle_dense_experiment *e)
{
	int status = hd_dense_experiment_spare(e, R, e->problem.n, e->problem.n_right);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[R], HEDDLE_DENSE_RANDOM, e->problem.seed + B);
	if (status >= 0)
		status = fill_one(e);
	return status < 0 ? status : multiply(e, -1, B, 1, R);
}

static int solution_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double a = 0, x = 0, r = 0;
	int status = solution_difference(e);
	if (status >= 0)
		status = hd_dense_norm_symmetric(e->m[A], &a);
	if (status >= 0)
		status = hd_dense_norm(e->m[B], &x);
	if (status >= 0)
		status = hd_dense_norm(e->m[R], &r);
	double scale = (double)p->n * a * x * hd_dense_roundoff(p->precision);
	*residual = scale > 0 ? r / scale : r;
	return status;
}

/* --- Inverses ----------------------------------------------------------------------------------------------------- */

static int potri_submit(heddle_dense_experiment *e)
{
	return heddle_dense_potri_submit(e->problem.uplo, e->m[A], &e->problem.options);
}

static int poinv_submit(heddle_dense_experiment *e)
{
	return heddle_dense_poinv_submit(e->problem.uplo, e->m[A], &e->problem.options);
}

/* R := A0 (A V) - V for the inverse A, on a few random columns V as in products.c; B has A V. */
static int inverse_difference(heddle_dense_experiment *e, double *norm_inverse)
{
	size_t n = e->problem.n;
	int status = 0;
	for (size_t i = B; status >= 0 && i <= V; i++)
		status = hd_dense_experiment_spare(e, i, n, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[V], HEDDLE_DENSE_RANDOM, e->problem.seed + V);
	if (status >= 0)
		status = multiply(e, 1, V, 0, B);
	if (status >= 0)
		status = hd_dense_norm_symmetric(e->m[A], norm_inverse);
	if (status >= 0)
		status = fill_one(e);
	if (status >= 0)
		status = multiply(e, 1, B, 0, R);
	return status < 0 ? status : hd_dense_experiment_subtract(e, V, R);
}

static int inverse_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double inverse = 0, a = 0, r = 0, v = 0;
	int status = inverse_difference(e, &inverse);
	if (status >= 0)
		status = hd_dense_norm_symmetric(e->m[A], &a);
	if (status >= 0)
		status = hd_dense_norm(e->m[R], &r);
	if (status >= 0)
		status = hd_dense_norm(e->m[V], &v);
	double scale = (double)p->n * a * inverse * v * hd_dense_roundoff(p->precision);
	*residual = scale > 0 ? r / scale : r;
	return status;
}

const struct hd_dense_routine hd_dense_routine_potrf = {
    {"potrf", "Cholesky factorisation A = L L^H", "||A - L L^H|| / (n ||A|| eps)", "potrf trsm syrk herk gemm"},
    potrf_flops,
    open_one,
    fill_one,
    potrf_submit,
    potrf_residual,
};

const struct hd_dense_routine hd_dense_routine_potrs = {
    {"potrs", "solution of A X = B with the Cholesky factor of A", "||B - A X|| / (n ||A|| ||X|| eps)", "trsm gemm"},
    potrs_flops,
    open_two,
    fill_factor_and_b,
    potrs_submit,
    solution_residual,
};

const struct hd_dense_routine hd_dense_routine_posv = {
    {"posv", "solution of A X = B, A positive definite", "||B - A X|| / (n ||A|| ||X|| eps)",
     "potrf trsm syrk herk gemm"},
    posv_flops,
    open_two,
    fill_two,
    posv_submit,
    solution_residual,
};

const struct hd_dense_routine hd_dense_routine_potri = {
    {"potri", "inverse of a positive definite matrix from its Cholesky factor",
     "||(A inv(A) - I) V|| / (n ||A|| ||inv(A)|| ||V|| eps), V random", "trtri lauum trsm trmm syrk herk gemm"},
    potri_flops,
    open_one,
    fill_factor,
    potri_submit,
    inverse_residual,
};

const struct hd_dense_routine hd_dense_routine_poinv = {
    {"poinv", "inverse of a positive definite matrix: potrf, trtri and lauum in one graph",
     "||(A inv(A) - I) V|| / (n ||A|| ||inv(A)|| ||V|| eps), V random", "potrf trtri lauum trsm trmm syrk herk gemm"},
    poinv_flops,
    open_one,
    fill_one,
    poinv_submit,
    inverse_residual,
};
