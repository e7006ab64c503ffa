/* Experiments with triangular matrices: trsm, trmm, trtri, lauum. A is one triangle of a random matrix with a large
 * real diagonal, so that its inverse is not much larger than 1 / n. As in products.c, large matrices are compared on a
 * few random columns V. */
#include <dense/flops.h>
#include <dense/internal.h>

enum { A, B, V, Z }; /* places of the matrices; trtri and lauum have no B */

static int is_complex(const struct heddle_dense_problem *p)
{
	return hd_dense_is_complex(p->precision);
}

static double quotient(double norm, double scale)
{
	return scale > 0 ? norm / scale : norm;
}

/* A := the random triangle. */
static int fill_a(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[A], HEDDLE_DENSE_SPD, e->problem.seed);
}

/* Z := op(A) Z. */
static int multiply(heddle_dense_experiment *e, enum heddle_dense_trans trans)
{
	return heddle_dense_trmm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, trans, HEDDLE_DENSE_NON_UNIT,
	                                heddle_dense_real(1), e->m[A], e->m[Z], NULL);
}

/* --- trsm, trmm --------------------------------------------------------------------------------------------------- */

static double triangle_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_triangle_flops(is_complex(p), (double)p->m, (double)p->n);
}

static int open_two(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = hd_dense_experiment_matrix(e, A, p->m, p->m, p->uplo);
	return status < 0 ? status : hd_dense_experiment_matrix(e, B, p->m, p->n, HEDDLE_DENSE_GENERAL);
}

static int fill_b(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[B], HEDDLE_DENSE_RANDOM, e->problem.seed + B);
}

static int fill_two(heddle_dense_experiment *e)
{
	int status = fill_a(e);
	return status < 0 ? status : fill_b(e);
}

static int trsm_submit(heddle_dense_experiment *e)
{
	return heddle_dense_trsm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, HEDDLE_DENSE_NO_TRANS,
	                                HEDDLE_DENSE_NON_UNIT, heddle_dense_real(1), e->m[A], e->m[B],
	                                &e->problem.options);
}

static int trmm_submit(heddle_dense_experiment *e)
{
	return heddle_dense_trmm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, HEDDLE_DENSE_NO_TRANS,
	                                HEDDLE_DENSE_NON_UNIT, heddle_dense_real(1), e->m[A], e->m[B],
	                                &e->problem.options);
}

/* Z := B V, for the result B; afterwards B is generated again as B0. */
static int take_result(heddle_dense_experiment *e, double *norm)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = hd_dense_experiment_spare(e, V, p->n, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, Z, p->m, HD_DENSE_FEW_COLUMNS);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[V], HEDDLE_DENSE_RANDOM, p->seed + V);
	if (status >= 0)
		status = hd_dense_experiment_product(e, 1, B, V, 0, Z);
	if (status >= 0)
		status = hd_dense_norm(e->m[B], norm);
	return status < 0 ? status : fill_b(e);
}

/* Z := B0 V - Z; computes the norms of Z and V. */
static int compare(heddle_dense_experiment *e, double *norm, double *norm_v)
{
	int status = hd_dense_experiment_product(e, 1, B, V, -1, Z);
	if (status >= 0)
		status = hd_dense_norm(e->m[Z], norm);
	return status < 0 ? status : hd_dense_norm(e->m[V], norm_v);
}

static int trsm_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double x = 0, a = 0, z = 0, v = 0;
	int status = take_result(e, &x);
	if (status >= 0)
		status = multiply(e, HEDDLE_DENSE_NO_TRANS);
	if (status >= 0)
		status = compare(e, &z, &v);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], &a);
	*residual = quotient(z, (double)p->m * a * x * v * hd_dense_roundoff(p->precision));
	return status;
}

static int trmm_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double result = 0, b = 0, z = 0, v = 0;
	int status = take_result(e, &result);
	if (status >= 0)
		status = heddle_dense_trsm_submit(HEDDLE_DENSE_LEFT, p->uplo, HEDDLE_DENSE_NO_TRANS,
		                                  HEDDLE_DENSE_NON_UNIT, heddle_dense_real(1), e->m[A], e->m[Z], NULL);
	if (status >= 0)
		status = compare(e, &z, &v);
	if (status >= 0)
		status = hd_dense_norm(e->m[B], &b);
	*residual = quotient(z, (double)p->m * b * v * hd_dense_roundoff(p->precision));
	return status;
}

/* --- trtri, lauum ------------------------------------------------------------------------------------------------- */

static double trtri_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_trtri_flops(is_complex(p), (double)p->n);
}

static double lauum_flops(const struct heddle_dense_problem *p)
{
	return hd_dense_potrf_flops(is_complex(p), (double)p->n);
}

static int open_one(heddle_dense_experiment *e)
{
	return hd_dense_experiment_matrix(e, A, e->problem.n, e->problem.n, e->problem.uplo);
}

static int trtri_submit(heddle_dense_experiment *e)
{
	return heddle_dense_trtri_submit(e->problem.uplo, HEDDLE_DENSE_NON_UNIT, e->m[A], &e->problem.options);
}

static int lauum_submit(heddle_dense_experiment *e)
{
	return heddle_dense_lauum_submit(e->problem.uplo, e->m[A], &e->problem.options);
}

/* Makes V, and the other matrices of the check. */
static int open_check(heddle_dense_experiment *e)
{
	size_t n = e->problem.n;
	int status = 0;
	for (size_t i = B; status >= 0 && i <= Z; i++)
		status = hd_dense_experiment_spare(e, i, n, HD_DENSE_FEW_COLUMNS);
	return status < 0 ? status : heddle_dense_random_submit(e->m[V], HEDDLE_DENSE_RANDOM, e->problem.seed + V);
}

/* Z := A0 (A V) - V. */
static int trtri_difference(heddle_dense_experiment *e, double *norm_inverse)
{
	int status = open_check(e);
	if (status >= 0)
		status = heddle_dense_copy_submit(e->m[Z], e->m[V]);
	if (status >= 0)
		status = multiply(e, HEDDLE_DENSE_NO_TRANS);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], norm_inverse);
	if (status >= 0)
		status = fill_a(e);
	if (status >= 0)
		status = multiply(e, HEDDLE_DENSE_NO_TRANS);
	return status < 0 ? status : hd_dense_experiment_subtract(e, V, Z);
}

static int trtri_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double inverse = 0, a = 0, z = 0, v = 0;
	int status = trtri_difference(e, &inverse);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], &a);
	if (status >= 0)
		status = hd_dense_norm(e->m[Z], &z);
	if (status >= 0)
		status = hd_dense_norm(e->m[V], &v);
	*residual = quotient(z, (double)p->n * a * inverse * v * hd_dense_roundoff(p->precision));
	return status;
}

/* Z := L^H (L V) - A V, where A is the result; for U, Z := U (U^H V) - A V. B has A V. */
static int lauum_difference(heddle_dense_experiment *e)
{
	int lower = e->problem.uplo == HEDDLE_DENSE_LOWER;
	int status = open_check(e);
	if (status >= 0)
		status = heddle_dense_hemm_submit(HEDDLE_DENSE_LEFT, e->problem.uplo, heddle_dense_real(1), e->m[A],
		                                  e->m[V], heddle_dense_real(0), e->m[B], NULL);
	if (status >= 0)
		status = fill_a(e);
	if (status >= 0)
		status = heddle_dense_copy_submit(e->m[Z], e->m[V]);
	if (status >= 0)
		status = multiply(e, lower ? HEDDLE_DENSE_NO_TRANS : HEDDLE_DENSE_CONJ_TRANS);
	if (status >= 0)
		status = multiply(e, lower ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS);
	return status < 0 ? status : hd_dense_experiment_subtract(e, B, Z);
}

static int lauum_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double a = 0, z = 0, v = 0;
	int status = lauum_difference(e);
	if (status >= 0)
		status = hd_dense_norm(e->m[A], &a);
	if (status >= 0)
		status = hd_dense_norm(e->m[Z], &z);
	if (status >= 0)
		status = hd_dense_norm(e->m[V], &v);
	*residual = quotient(z, (double)p->n * a * a * v * hd_dense_roundoff(p->precision));
	return status;
}

const struct hd_dense_routine hd_dense_routine_trsm = {
    {"trsm", "triangular solve A X = B", "||(B - A X) V|| / (m ||A|| ||X|| ||V|| eps), V random", "trsm gemm"},
    triangle_flops,
    open_two,
    fill_two,
    trsm_submit,
    trsm_residual,
};

const struct hd_dense_routine hd_dense_routine_trmm = {
    {"trmm", "product with a triangular matrix B := A B",
     "||(B0 - A^-1 B) V|| / (m ||B0|| ||V|| eps), V random, A well-conditioned", "trmm gemm"},
    triangle_flops,
    open_two,
    fill_two,
    trmm_submit,
    trmm_residual,
};

const struct hd_dense_routine hd_dense_routine_trtri = {
    {"trtri", "inverse of a triangular matrix", "||(A inv(A) - I) V|| / (n ||A|| ||inv(A)|| ||V|| eps), V random",
     "trtri trsm gemm"},
    trtri_flops,
    open_one,
    fill_a,
    trtri_submit,
    trtri_residual,
};

const struct hd_dense_routine hd_dense_routine_lauum = {
    {"lauum", "product A = L^H L of a triangular matrix with itself",
     "||(A - L^H L) V|| / (n ||L||^2 ||V|| eps), V random", "lauum trmm syrk herk gemm"},
    lauum_flops,
    open_one,
    fill_a,
    lauum_submit,
    lauum_residual,
};
