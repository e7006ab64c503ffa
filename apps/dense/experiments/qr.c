/* Experiments with the QR factorisation and least squares, on random matrices.
 *
 * A is m x n; the Q of ormqr belongs to an m x k matrix. Residuals need A again, which is generated from its seed. */
#include <dense/internal.h>
#include <dense/routines/qr.h>
#include <math.h>

enum { SEED_B = 1 }; /* added to the seed for the second matrix */

/* The number of operations on real numbers. */
static double operations(const struct heddle_dense_problem *p, double products, double sums)
{
	return hd_dense_is_complex(p->precision) ? 6 * products + 2 * sums : products + sums;
}

static double factorisation_flops(const struct heddle_dense_problem *p, double m, double n)
{
	double cubes = m > n ? n * n * (m - n / 3) : m * m * (n - m / 3);
	if (m > n)
		return operations(p, cubes + n * (n / 2 + m + 23.0 / 6), cubes + n * (n / 2 + 5.0 / 6));
	return operations(p, cubes + m * (-m / 2 + 2 * n + 23.0 / 6), cubes + m * (-m / 2 + n + 5.0 / 6));
}

/* The operations of Q times n columns; Q is m x m and has k reflectors. */
static double product_flops(const struct heddle_dense_problem *p, double m, double n, double k)
{
	return operations(p, n * k * (2 * m - k + 2), n * k * (2 * m - k + 1));
}

static double larger(size_t a, size_t b)
{
	return (double)(a > b ? a : b);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* e->m[0] = A, m x n, and its factorisation. */
static int open_factorised(heddle_dense_experiment *e, size_t m, size_t n)
{
	int status = hd_dense_experiment_matrix(e, 0, m, n, HEDDLE_DENSE_GENERAL);
	if (status < 0)
		return status;
	return heddle_dense_qr_create(e->dense, &e->m[0]->shape, &e->problem.options, &e->qr);
}

/* Sets all elements to 0, and those on the diagonal to `diagonal`. */
static int set(heddle_dense_matrix *a, double diagonal)
{
	struct hd_dense_flow flow = hd_dense_flow_of(a);
	for (size_t j = 0; j < a->nt; j++)
		for (size_t i = 0; i < a->mt; i++) {
			struct hd_dense_set_values v = {0, i * a->shape.tile, j * a->shape.tile, diagonal};
			hd_dense_insert(&flow, HD_DENSE_SET, heddle_w(hd_dense_tile(a, i, j)), heddle_value(v));
		}
	return flow.status;
}

/* B := B - A, or B - triu(A), for all tiles of B. */
static int subtract(heddle_dense_matrix *b, heddle_dense_matrix *a, enum heddle_dense_uplo uplo)
{
	struct hd_dense_flow flow = hd_dense_flow_of(b);
	for (size_t j = 0; j < b->nt; j++)
		for (size_t i = 0; i < b->mt; i++) {
			struct hd_dense_add_values v = {.window = hd_dense_tile_window(b, i, j),
			                                .alpha = heddle_dense_real(-1),
			                                .beta = heddle_dense_real(1)};
			v.window.uplo = uplo;
			hd_dense_insert(&flow, HD_DENSE_ADD, heddle_rw(hd_dense_tile(b, i, j)),
			                heddle_r(hd_dense_tile(a, i, j)), heddle_value(v));
		}
	return flow.status;
}

/* C := alpha op(A) B + beta C, for matrices of the experiment. */
static int add_product(heddle_dense_experiment *e, enum heddle_dense_trans trans, double alpha, const size_t abc[3],
                       double beta)
{
	return heddle_dense_gemm_submit(trans, HEDDLE_DENSE_NO_TRANS, heddle_dense_real(alpha), e->m[abc[0]],
	                                e->m[abc[1]], heddle_dense_real(beta), e->m[abc[2]], NULL);
}

static double ratio(double x, double scale)
{
	return scale > 0 ? x / scale : x;
}

/* --- geqrf -------------------------------------------------------------------------------------------------------- */

static double geqrf_flops(const struct heddle_dense_problem *p)
{
	return factorisation_flops(p, (double)p->m, (double)p->n);
}

static int geqrf_open(heddle_dense_experiment *e)
{
	return open_factorised(e, e->problem.m, e->problem.n);
}

static int geqrf_fill(heddle_dense_experiment *e)
{
	return heddle_dense_random_submit(e->m[0], HEDDLE_DENSE_RANDOM, e->problem.seed);
}

static int geqrf_submit(heddle_dense_experiment *e)
{
	return heddle_dense_geqrf_submit(e->m[0], e->qr, &e->problem.options);
}

enum { ORIGINAL = 1, Q = 2, GRAM = 3 };

/* ||Q^H A - R|| / (max(m, n) ||A|| eps), which is ||A - Q R|| as far as Q is orthogonal. */
static int factors_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double norm = 0, difference = 0;
	int status = hd_dense_experiment_spare(e, ORIGINAL, p->m, p->n);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[ORIGINAL], HEDDLE_DENSE_RANDOM, p->seed);
	if (status >= 0)
		status = hd_dense_norm(e->m[ORIGINAL], &norm);
	if (status >= 0)
		status = heddle_dense_ormqr_submit(HEDDLE_DENSE_LEFT, HEDDLE_DENSE_CONJ_TRANS, e->m[0], e->qr,
		                                   e->m[ORIGINAL], NULL);
	if (status >= 0)
		status = subtract(e->m[ORIGINAL], e->m[0], HEDDLE_DENSE_UPPER);
	if (status >= 0)
		status = hd_dense_norm(e->m[ORIGINAL], &difference);
	*residual = ratio(difference, larger(p->m, p->n) * norm * hd_dense_roundoff(p->precision));
	return status;
}

/* ||I - Q^H Q|| / (m eps) for the first min(m, n) columns of Q. */
static int orthogonality(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	size_t k = smaller(p->m, p->n);
	double difference = 0;
	int status = hd_dense_experiment_spare(e, Q, p->m, k);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, GRAM, k, k);
	if (status >= 0)
		status = set(e->m[Q], 1);
	if (status >= 0)
		status = set(e->m[GRAM], 1);
	if (status >= 0)
		status =
		    heddle_dense_ormqr_submit(HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, e->m[0], e->qr, e->m[Q], NULL);
	if (status >= 0)
		status = add_product(e, HEDDLE_DENSE_CONJ_TRANS, -1, (size_t[]){Q, Q, GRAM}, 1);
	if (status >= 0)
		status = hd_dense_norm(e->m[GRAM], &difference);
	*residual = ratio(difference, (double)p->m * hd_dense_roundoff(p->precision));
	return status;
}

static int geqrf_residual(heddle_dense_experiment *e, double *residual)
{
	double factors = 0, orthogonal = 0;
	int status = factors_residual(e, &factors);
	if (status >= 0)
		status = orthogonality(e, &orthogonal);
	*residual = factors > orthogonal || isnan(factors) ? factors : orthogonal;
	return status;
}

const struct hd_dense_routine hd_dense_routine_geqrf = {
    {"geqrf", "QR factorisation A = Q R",
     "the larger of ||A - Q R|| / (max(m, n) ||A|| eps) and ||I - Q^H Q|| / (m eps)",
     "geqrt gemqrt tsqrt tsmqr ttqrt ttmqr"},
    geqrf_flops,
    geqrf_open,
    geqrf_fill,
    geqrf_submit,
    geqrf_residual,
};

/* --- ormqr -------------------------------------------------------------------------------------------------------- */

static double ormqr_flops(const struct heddle_dense_problem *p)
{
	return product_flops(p, (double)p->m, (double)p->n, (double)smaller(p->m, p->k));
}

enum { C = 1, MINUS_R = 2, ABOVE = 3, DIFFERENCE = 4 };

static int ormqr_open(heddle_dense_experiment *e)
{
	int status = open_factorised(e, e->problem.m, e->problem.k);
	return status < 0 ? status : hd_dense_experiment_matrix(e, C, e->problem.m, e->problem.n, HEDDLE_DENSE_GENERAL);
}

static int ormqr_fill(heddle_dense_experiment *e)
{
	int status = geqrf_fill(e);
	if (status >= 0)
		status = geqrf_submit(e);
	return status < 0 ? status : heddle_dense_random_submit(e->m[C], HEDDLE_DENSE_RANDOM, e->problem.seed + SEED_B);
}

static int ormqr_submit(heddle_dense_experiment *e)
{
	return heddle_dense_ormqr_submit(HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, e->m[0], e->qr, e->m[C],
	                                 &e->problem.options);
}

/* DIFFERENCE := A^H (Q C) - R^H C, where only the first rows of C matter. Afterwards A has its value from before the
 * factorisation. */
static int ormqr_difference(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = set(e->m[MINUS_R], 0);
	if (status >= 0)
		status = subtract(e->m[MINUS_R], e->m[0], HEDDLE_DENSE_UPPER);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[ABOVE], HEDDLE_DENSE_RANDOM, p->seed + SEED_B);
	if (status >= 0)
		status = add_product(e, HEDDLE_DENSE_CONJ_TRANS, 1, (size_t[]){MINUS_R, ABOVE, DIFFERENCE}, 0);
	if (status >= 0)
		status = geqrf_fill(e);
	return status < 0 ? status : add_product(e, HEDDLE_DENSE_CONJ_TRANS, 1, (size_t[]){0, C, DIFFERENCE}, 1);
}

static int ormqr_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double norm_a = 0, norm_c = 0, difference = 0;
	size_t k = smaller(p->m, p->k);
	int status = hd_dense_experiment_spare(e, MINUS_R, k, p->k);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, ABOVE, k, p->n);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, DIFFERENCE, p->k, p->n);
	if (status >= 0)
		status = ormqr_difference(e);
	if (status >= 0)
		status = hd_dense_norm(e->m[DIFFERENCE], &difference);
	if (status >= 0)
		status = hd_dense_norm(e->m[0], &norm_a);
	if (status >= 0)
		status = hd_dense_norm(e->m[C], &norm_c);
	*residual = ratio(difference, larger(p->m, p->k) * norm_a * norm_c * hd_dense_roundoff(p->precision));
	return status;
}

const struct hd_dense_routine hd_dense_routine_ormqr = {
    {"ormqr", "product Q C, with Q from the QR factorisation of an m x k matrix",
     "||A^H (Q C) - R^H C|| / (max(m, k) ||A|| ||C|| eps)", "gemqrt tsmqr ttmqr"},
    ormqr_flops,
    ormqr_open,
    ormqr_fill,
    ormqr_submit,
    ormqr_residual,
};

/* --- gels --------------------------------------------------------------------------------------------------------- */

static double gels_flops(const struct heddle_dense_problem *p)
{
	double m = larger(p->m, p->n), n = (double)smaller(p->m, p->n), r = (double)p->n_right;
	double solve = operations(p, r * n * (n + 1) / 2, r * n * (n - 1) / 2);
	return factorisation_flops(p, m, n) + product_flops(p, m, r, n) + solve;
}

enum { B = 1, A_AGAIN = 2, RESIDUE = 3, GRADIENT = 4, X = 5 };

static int gels_open(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = hd_dense_experiment_matrix(e, 0, p->m, p->n, HEDDLE_DENSE_GENERAL);
	return status < 0
	           ? status
	           : hd_dense_experiment_matrix(e, B, (size_t)larger(p->m, p->n), p->n_right, HEDDLE_DENSE_GENERAL);
}

static int gels_fill(heddle_dense_experiment *e)
{
	int status = geqrf_fill(e);
	return status < 0 ? status : heddle_dense_random_submit(e->m[B], HEDDLE_DENSE_RANDOM, e->problem.seed + SEED_B);
}

static int gels_submit(heddle_dense_experiment *e)
{
	return heddle_dense_gels_submit(HEDDLE_DENSE_NO_TRANS, e->m[0], e->m[B], &e->problem.options);
}

/* RESIDUE := B - A X, GRADIENT := A^H RESIDUE, with A and B generated again. X is a copy of the first rows of B. */
static int gels_difference(heddle_dense_experiment *e)
{
	const struct heddle_dense_problem *p = &e->problem;
	int status = set(e->m[X], 0);
	if (status >= 0)
		status = subtract(e->m[X], e->m[B], HEDDLE_DENSE_GENERAL); /* -X */
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[A_AGAIN], HEDDLE_DENSE_RANDOM, p->seed);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[RESIDUE], HEDDLE_DENSE_RANDOM, p->seed + SEED_B);
	if (status >= 0)
		status = add_product(e, HEDDLE_DENSE_NO_TRANS, 1, (size_t[]){A_AGAIN, X, RESIDUE}, 1);
	return status < 0 ? status
	                  : add_product(e, HEDDLE_DENSE_CONJ_TRANS, 1, (size_t[]){A_AGAIN, RESIDUE, GRADIENT}, 0);
}

static int gels_residual(heddle_dense_experiment *e, double *residual)
{
	const struct heddle_dense_problem *p = &e->problem;
	double norms[HD_DENSE_MAX_MATRICES] = {0}, norm_b = 0;
	int status = hd_dense_experiment_spare(e, A_AGAIN, p->m, p->n);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, RESIDUE, p->m, p->n_right);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, GRADIENT, p->n, p->n_right);
	if (status >= 0)
		status = hd_dense_experiment_spare(e, X, p->n, p->n_right);
	if (status >= 0)
		status = heddle_dense_random_submit(e->m[RESIDUE], HEDDLE_DENSE_RANDOM, p->seed + SEED_B);
	if (status >= 0)
		status = hd_dense_norm(e->m[RESIDUE], &norm_b);
	if (status >= 0)
		status = gels_difference(e);
	for (size_t i = A_AGAIN; status >= 0 && i <= X; i++)
		status = hd_dense_norm(e->m[i], &norms[i]);
	double scale = larger(p->m, p->n) * norms[A_AGAIN] * hd_dense_roundoff(p->precision);
	if (p->m < p->n)
		*residual = ratio(norms[RESIDUE], scale * norms[X]);
	else
		*residual = ratio(norms[GRADIENT], scale * norms[A_AGAIN] * norms[X] + scale * norm_b);
	return status;
}

const struct hd_dense_routine hd_dense_routine_gels = {
    {"gels", "least squares, solutions of least norm",
     "m >= n: ||A^H (B - A X)|| / (m ||A|| (||A|| ||X|| + ||B||) eps); m < n: ||B - A X|| / (n ||A|| ||X|| eps)",
     "geqrt gemqrt tsqrt tsmqr ttqrt ttmqr trsm gemm"},
    gels_flops,
    gels_open,
    gels_fill,
    gels_submit,
    gels_residual,
};
