/* Solvers for positive definite matrices: potrs, posv. A is m[0], B is m[1]. */
#include <dense/internal.h>

/* Solves L L^H X = B, or U^H U X = B. */
static void potrs_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	int lower = x->uplo == HEDDLE_DENSE_LOWER;
	struct hd_dense_args solve = {
	    .m = {x->m[0], x->m[1]}, .side = HEDDLE_DENSE_LEFT, .uplo = x->uplo, .alpha = heddle_dense_real(1)};
	solve.trans_a = lower ? HEDDLE_DENSE_NO_TRANS : HEDDLE_DENSE_CONJ_TRANS;
	hd_dense_trsm_tasks(flow, &solve);
	solve.trans_a = lower ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS;
	hd_dense_trsm_tasks(flow, &solve);
}

static void posv_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	hd_dense_no_expert(flow);
	hd_dense_potrf_tasks(flow, x);
	potrs_tasks(flow, x);
}

static int check(const char *name, const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape, *b = &x->m[1]->shape;
	int status = hd_dense_check_triangle(name, x->m[0], x->uplo);
	if (status >= 0)
		status = hd_dense_check_full(name, x->m[1]);
	if (status < 0 || a->rows == b->rows)
		return status;
	return heddle_error(HEDDLE_E_INVALID, "%s: A is of order %zu and B has %zu rows", name, a->rows, b->rows);
}

static int check_potrs(const struct hd_dense_args *x)
{
	return check("potrs", x);
}

static int check_posv(const struct hd_dense_args *x)
{
	return check("posv", x);
}

static const struct hd_dense_operation potrs = {"potrs", "AB", check_potrs, potrs_tasks};
static const struct hd_dense_operation posv = {"posv", "AB", check_posv, posv_tasks};

int heddle_dense_potrs_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, heddle_dense_matrix *b,
                              const struct heddle_dense_options *options)
{
	return hd_dense_submit(&potrs, &(struct hd_dense_args){.m = {a, b}, .uplo = uplo}, options);
}

int heddle_dense_potrs(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_array *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.uplo = uplo};
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .uplo = uplo, .mode = HEDDLE_R},
	    {.name = "B", .array = b, .mode = HEDDLE_RW},
	};
	return hd_dense_call(dense, &potrs, &x, operands, options);
}

int heddle_dense_posv_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             const struct heddle_dense_options *options)
{
	return hd_dense_submit(&posv, &(struct hd_dense_args){.m = {a, b}, .uplo = uplo}, options);
}

int heddle_dense_posv(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                      const struct heddle_dense_array *b, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.uplo = uplo};
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .uplo = uplo, .mode = HEDDLE_RW},
	    {.name = "B", .array = b, .mode = HEDDLE_RW},
	};
	return hd_dense_call(dense, &posv, &x, operands, options);
}
