/* For test_dense_opencl.c: the function of the library that stands behind the test's, and one precision of its
 * cases. */
#ifndef DENSE_OPENCL_TESTS_H
#define DENSE_OPENCL_TESTS_H

int __real_heddle_opencl_has_double(unsigned number);
int __wrap_heddle_opencl_has_double(unsigned number);

#define HD_TEMPLATE <unit/dense_opencl_tests.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

#define PRECISION ((enum heddle_dense_precision)(2 * COMPLEX + (sizeof(real) == sizeof(float))))

/* Runs one task of the codelet `op` on matrices of one tile: C, A unless it has no elements, and a value. What was said
 * goes to `said`. */
static int P(run)(heddle_dense *dense, enum hd_dense_op op, struct P(view) c, struct P(view) a,
                  struct heddle_item value, char said[200])
{
	heddle_dense_matrix *of_c, *of_a = NULL;
	struct heddle_dense_shape shape = {PRECISION, (size_t)c.m, (size_t)c.n, 128, 0};
	OK(heddle_dense_matrix_create(dense, &shape, c.a, (size_t)c.ld, &of_c));
	struct hd_dense_flow flow = hd_dense_flow_of(of_c);
	struct heddle_item to = heddle_rw(hd_dense_tile(of_c, 0, 0));
	if (a.a) {
		shape.rows = (size_t)a.m;
		shape.columns = (size_t)a.n;
		OK(heddle_dense_matrix_create(dense, &shape, a.a, (size_t)a.ld, &of_a));
		hd_dense_insert(&flow, op, to, heddle_r(hd_dense_tile(of_a, 0, 0)), value);
	} else {
		hd_dense_insert(&flow, op, to, value);
	}
	int status = hd_dense_wait(dense, flow.status);
	/* without the number of the task, and whether its kernel has returned that, or its event was fulfilled so */
	const char *message = strstr(heddle_last_error(), "): ");
	snprintf(said, 200, "%s", !status ? "" : message ? message : heddle_last_error());
	if (strstr(said, " (its "))
		*strstr(said, " (its ") = '\0';
	if (of_a)
		OK(heddle_dense_matrix_destroy(of_a));
	int gone = heddle_dense_matrix_destroy(of_c);
	assert_true(gone == 0 || status);
	return status;
}

/* The same task on the device and on a core: the same results, but for rounding errors of numbers as large as `scale`,
 * or the same failure. */
static void P(compare)(enum hd_dense_op op, struct P(view) c, struct P(view) a, struct heddle_item value, double scale)
{
	char said[200], expected[200];
	struct P(view) ours = P(copy)(c), wanted = P(copy)(c);
	int status = P(run)(device.dense, op, ours, a, value, said);
	assert_int_equal(status, P(run)(core.dense, op, wanted, a, value, expected));
	assert_string_equal(said, expected);
	if (status == 0 && isfinite(P(norm)(wanted)))
		P(check_same)(ours, wanted, scale);
	P(free_view)(ours), P(free_view)(wanted);
}

/* --- Movements ---------------------------------------------------------------------------------------------------- */

/* Parts of a tile: triangles with and without their diagonal, which may be beside that of the tile. */
static struct hd_dense_window P(window)(int v, struct P(view) c)
{
	static const size_t corners[][2] = {{0, 0}, {100, 110}, {117, 100}, {1000, 0}};
	return (struct hd_dense_window){
	    .uplo = (enum heddle_dense_uplo)(v % 3),
	    .diag = v / 3 % 2 ? HEDDLE_DENSE_UNIT : HEDDLE_DENSE_NON_UNIT,
	    .row = corners[v / 6 % 4][0],
	    .column = corners[v / 6 % 4][1],
	    .rows = (size_t)c.m,
	    .columns = (size_t)c.n,
	    .kind = v % 2 ? HEDDLE_DENSE_HERMITIAN : HEDDLE_DENSE_RANDOM,
	};
}

static void P(movements_are_those_of_a_core)(void **state)
{
	struct P(view) a = P(random_view)(75, 50, 1), c = P(random_view)(75, 50, 2), none = {NULL, 0, 0, 0};
	struct P(view) turned = P(random_view)(50, 75, 3);
	double scale = P(norm)(a) + P(norm)(c);
	(void)state;
	for (int v = 0; v < 24; v++) {
		struct hd_dense_add_values sum = {P(window)(v, c), {0.5, -1.5}, {v % 4 ? -2 : 0, v % 4 ? 0.25 : 0}};
		struct hd_dense_set_values set = {(size_t)v % 5 * 20, 100, 90 + (size_t)v, v % 2 ? 3 : 0};
		P(compare)(HD_DENSE_SCALE, c, none, heddle_value(sum), scale);
		P(compare)(HD_DENSE_ADD, c, a, heddle_value(sum), scale);
		P(compare)(HD_DENSE_COPY, c, a, heddle_value(sum.window), 0);
		P(compare)(HD_DENSE_SET, c, none, heddle_value(set), 0);
	}
	P(compare)(HD_DENSE_TRANSPOSE, c, turned, heddle_value(scale), 0);
	P(free_view)(a), P(free_view)(c), P(free_view)(turned);
}

static void P(random_matrices_are_those_of_a_core)(void **state)
{
	static const size_t corners[][2] = {{0, 0}, {100, 110}, {117, 100}, {1000, 0}};
	struct P(view) c = P(random_view)(75, 50, 2), none = {NULL, 0, 0, 0};
	(void)state;
	for (int v = 0; v < 5 * 4; v++) {
		struct hd_dense_window window = {.seed = 7, .order = 2000, .rows = 75, .columns = 50};
		window.kind = (enum heddle_dense_random)(v / 4);
		window.columns -= (size_t)v % 2; /* the tile may be larger */
		window.row = corners[v % 4][0];
		window.column = corners[v % 4][1];
		P(compare)(HD_DENSE_RANDOM_TILE, c, none, heddle_value(window), 0);
	}
	P(free_view)(c);
}

/* Norms of a matrix, and of one triangle of it as of a symmetric matrix. */
static void P(norms_are_those_of_a_core)(void **state)
{
	double norms[2][3];
	(void)state;
	for (int side = 0; side < 2; side++) {
		struct heddle_dense_shape shape = {PRECISION, 300, 300, 77, HEDDLE_DENSE_GENERAL};
		heddle_dense_matrix *a;
		for (int uplo = 0; uplo < 3; uplo++) {
			shape.uplo = (enum heddle_dense_uplo)uplo;
			OK(heddle_dense_matrix_create(side ? core.dense : device.dense, &shape, NULL, 0, &a));
			OK(heddle_dense_random_submit(a, HEDDLE_DENSE_DOMINANT, 3));
			OK(uplo ? hd_dense_norm_symmetric(a, &norms[side][uplo])
			        : hd_dense_norm(a, &norms[side][uplo]));
			OK(heddle_dense_matrix_destroy(a));
		}
	}
	for (int uplo = 0; uplo < 3; uplo++)
		assert_true(fabs(norms[0][uplo] - norms[1][uplo]) < 1e-12 * norms[1][uplo]);
}

/* On the device alone: data, computation and residual. */
static void P(residual_notices_a_wrong_factor)(void **state)
{
	static const char *const routines[] = {"potrf", "getrf_nopiv"};
	(void)state;
	for (int v = 0; v < 4; v++) {
		struct heddle_dense_problem problem = {.routine = routines[v % 2], .n = 150, .precision = PRECISION};
		problem.options.tile = 64;
		problem.uplo = v / 2 ? HEDDLE_DENSE_UPPER : HEDDLE_DENSE_LOWER;
		heddle_dense_experiment *e;
		double residual;
		OK(heddle_dense_experiment_open(device.dense, &problem, &e));
		OK(heddle_dense_experiment_fill(e));
		OK(heddle_dense_experiment_submit(e));
		OK(heddle_dense_experiment_residual(e, &residual));
		assert_true(residual > 0 && residual < 30);
		heddle_data *tile = heddle_dense_tile(e->m[0], 1, 1);
		struct heddle_part part;
		OK(heddle_acquire(tile, HEDDLE_RW));
		OK(heddle_data_part(tile, 0, &part));
		*(element *)part.base *= (real)1.5;
		OK(heddle_release(tile));
		OK(heddle_dense_experiment_residual(e, &residual));
		assert_true(residual > 1000);
		OK(heddle_dense_experiment_close(e));
	}
}

static void P(what_is_not_finite_is_said_as_on_a_core)(void **state)
{
	struct P(view) a = P(random_view)(75, 50, 1), c = P(random_view)(75, 50, 2), none = {NULL, 0, 0, 0};
	(void)state;
	*P(at)(a, 60, 20) = (real)NAN;
	*P(at)(a, 70, 20) = (real)INFINITY;
	*P(at)(a, 10, 40) = -(real)INFINITY;
	for (int v = 0; v < 24; v++) {
		struct hd_dense_window window = P(window)(v, a);
		window.name = "A";
		P(compare)(HD_DENSE_FINITE, c, none, heddle_value(window), 0); /* all are */
		P(compare)(HD_DENSE_FINITE, a, none, heddle_value(window), 0);
		P(compare)(HD_DENSE_COPY, c, a, heddle_value(window), 0);
	}
	P(free_view)(a), P(free_view)(c);
}

/* --- LU without interchanges -------------------------------------------------------------------------------------- */

static struct P(view) P(dominant)(int m, int n)
{
	struct P(view) a = P(random_view)(m, n, (uint64_t)(m + 100 * n));
	for (int i = 0; i < m && i < n; i++)
		*P(at)(a, i, i) += (real)(m + n);
	return a;
}

static void P(getrf_nopiv_is_that_of_a_core)(void **state)
{
	static const int shapes[][2] = {{1, 1}, {1, 70}, {70, 1}, {32, 32}, {33, 33}, {100, 100}, {100, 45}, {45, 100}};
	struct P(view) none = {NULL, 0, 0, 0};
	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		struct P(view) a = P(dominant)(shapes[s][0], shapes[s][1]);
		struct hd_dense_lu_values v = {0, 1, NULL};
		P(compare)(HD_DENSE_GETRF_NOPIV, a, none, heddle_value(v), 10 * P(norm)(a));
		P(free_view)(a);
	}
}

/* The first pivot that is zero or NaN is named; without `must_be_regular`, zeros do not end the factorisation. */
static void P(bad_pivots_are_said_as_on_a_core)(void **state)
{
	struct P(view) none = {NULL, 0, 0, 0};
	(void)state;
	for (int bad = 0; bad < 70; bad += 23)
		for (int how = 0; how < 3; how++) {
			size_t infos[2] = {0, 0};
			struct P(view) a = P(new_view)(70, 70);
			for (int j = 0; j < 70; j++)
				for (int i = 0; i < 70; i++)
					*P(at)(a, i, j) = i == j ? 4 : j != bad && i - j == 40 ? 1 : 0;
			*P(at)(a, bad, bad) = how == 2 ? (real)NAN : 0;
			*P(at)(a, 69, 69) = 0;
			for (int side = 0; side < 2; side++) {
				struct hd_dense_lu_values v = {1000, how == 1, &infos[side]};
				char said[200];
				struct P(view) factors = P(copy)(a);
				P(run)
				(side ? core.dense : device.dense, HD_DENSE_GETRF_NOPIV, factors, none, heddle_value(v),
				 said);
				P(free_view)(factors);
			}
			struct hd_dense_lu_values v = {1000, how == 1, NULL};
			P(compare)(HD_DENSE_GETRF_NOPIV, a, none, heddle_value(v), P(norm)(a));
			assert_int_equal(infos[0], 1000 + bad + 1);
			assert_int_equal(infos[1], 1000 + bad + 1);
			P(free_view)(a);
		}
}

/* --- CLBlast ------------------------------------------------------------------------------------------------------ */

/* The product by CLBlast, which the runtime would not take on a CPU. */
static int P(clblast_kernel)(heddle_context *c)
{
	struct hd_ocl w = hd_ocl_begin(c, PRECISION, 0, 0);
	struct hd_ocl_call x = heddle_get(c, 0, struct hd_ocl_call);
	x.c = hd_ocl_tile(&w, 0);
	x.a = hd_ocl_tile(&w, 1);
	x.b = x.flags & (HD_OCL_LOWER | HD_OCL_UPPER) ? x.a : hd_ocl_tile(&w, 2);
	assert_true(w.status || hd_clblast_can(&x));
	return w.status ? w.status : hd_clblast_product(&w, &x);
}

static void P(check_clblast)(int flags)
{
	enum { N = 130 };
	heddle_codelet *product = heddle_codelet_new(device.rt, .name = "clblast", .opencl = P(clblast_kernel));
	struct P(view) a = P(random_view)(N, N, 1), b = P(random_view)(N, N, 2), c = P(random_view)(N, N, 3);
	struct P(view) wanted = P(copy)(c);
	int rank = flags & (HD_OCL_LOWER | HD_OCL_UPPER), hermitian = flags & HD_OCL_REAL_DIAGONAL;
	struct hd_ocl_call x = {.flags = flags, .alpha = {0.5, hermitian ? 0 : 0.25}, .beta = {-1, 0}, .k = N};
	element alpha = (real)x.alpha.re + (COMPLEX ? (real)x.alpha.im * (element)I : 0);
	struct P(view) op_a = P(transposed)(a, !(flags & HD_OCL_TRANS_A) ? CblasNoTrans
	                                       : flags & HD_OCL_CONJ_A   ? CblasConjTrans
	                                                                 : CblasTrans);
	struct P(view) op_b = P(transposed)(rank ? a : b, !(flags & HD_OCL_TRANS_B) ? CblasNoTrans
	                                                  : flags & HD_OCL_CONJ_B   ? CblasConjTrans
	                                                                            : CblasTrans);
	P(plain_product)(alpha, op_a, op_b, -1, wanted);
	for (int j = 0; rank && j < N; j++)
		for (int i = 0; i < N; i++) {
			if (flags & HD_OCL_LOWER ? i < j : i > j)
				*P(at)(wanted, i, j) = *P(at)(c, i, j);
			if (i == j && hermitian)
				*P(at)(wanted, i, j) = REAL(*P(at)(wanted, i, j));
		}
	heddle_data *of_a, *of_b, *of_c;
	OK(heddle_matrix(device.rt, a.a, N, N, (size_t)a.ld, sizeof(element), &of_a));
	OK(heddle_matrix(device.rt, b.a, N, N, (size_t)b.ld, sizeof(element), &of_b));
	OK(heddle_matrix(device.rt, c.a, N, N, (size_t)c.ld, sizeof(element), &of_c));
	OK(heddle_submit(device.rt, heddle_call(product), heddle_rw(of_c), heddle_r(of_a), heddle_r(of_b),
	                 heddle_value(x)));
	OK(heddle_wait_all(device.rt));
	OK(heddle_unregister(of_a));
	OK(heddle_unregister(of_b));
	OK(heddle_unregister(of_c));
	P(check_same)(c, wanted, P(norm)(a) * P(norm)(b));
	P(free_view)(a), P(free_view)(b), P(free_view)(c), P(free_view)(wanted), P(free_view)(op_a), P(free_view)(op_b);
}

static void P(products_by_clblast)(void **state)
{
	static const int flags[] = {
	    0,
	    HD_OCL_TRANS_A | HD_OCL_CONJ_A | HD_OCL_TRANS_B,
	    HD_OCL_TRANS_A | HD_OCL_TRANS_B | HD_OCL_CONJ_B,
	    HD_OCL_LOWER | HD_OCL_TRANS_B,
	    HD_OCL_UPPER | HD_OCL_TRANS_A,
	    HD_OCL_UPPER | HD_OCL_TRANS_B | HD_OCL_CONJ_B | HD_OCL_REAL_DIAGONAL,
	    HD_OCL_LOWER | HD_OCL_TRANS_A | HD_OCL_CONJ_A | HD_OCL_REAL_DIAGONAL,
	};
	int *all = *state;
	for (size_t f = 0; f < (all ? sizeof flags / sizeof *flags : 2); f++)
		P(check_clblast)(flags[f]);
}

#undef PRECISION

#endif
