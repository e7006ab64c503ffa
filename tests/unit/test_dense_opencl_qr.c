/* Products with Q on an OpenCL device beside those of a core, task by task; factorisations, dense and sparse, in which
 * the device takes part. */
#include "dense_views.h"
#include <dense/codelets/qr.h>
#include <dense/internal.h>
#include <dense/kernels/qr.h>
#include "ok.h"
#include "opencl.h"

#if HEDDLE_HAVE_OPENCL
#include <dense/opencl/offer.h>

struct side {
	heddle_runtime *rt;
	heddle_dense *dense;
};
static struct side core, device;

static void open_side(struct side *side, int cores, unsigned devices)
{
	struct heddle_config config = small_config();
	config.sched = "random"; /* every worker gets its share, however busy the machine is */
	struct heddle_platform *p = machine_with_opencl(cores, devices, 0, 2);
	OK(heddle_start_on(&config, p, 0, &side->rt));
	heddle_platform_free(p);
	OK(heddle_dense_open(side->rt, &side->dense));
}

static void close_side(struct side *side)
{
	heddle_dense_close(side->dense);
	OK(heddle_stop(side->rt));
}

static int begin(void **state)
{
	(void)state;
	open_side(&core, 1, 0);
	open_side(&device, 0, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close_side(&core);
	close_side(&device);
	return 0;
}

#define HD_TEMPLATE <unit/dense_opencl_qr_tests.h>
#include <dense/kernels/precisions.h>

/* Panels have no kernel there, products have. */
static void a_device_multiplies_and_does_not_factorise(void **state)
{
	(void)state;
	for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++) {
		assert_null(hd_dense_opencl_kernel(HD_DENSE_GEQRT, precision, 1));
		assert_null(hd_dense_opencl_kernel(HD_DENSE_TSQRT, precision, 1));
		assert_non_null(hd_dense_opencl_kernel(HD_DENSE_TSMQR, precision, 1));
	}
}

#ifdef HEDDLE_HAVE_SPARSE
#include <heddle/sparse.h>

/* The solution of a least squares problem, whose fronts have many tiles. */
static double *solve_sparse(struct side *side, const struct heddle_sparse_matrix *a)
{
	const struct heddle_sparse_analysis_options analysis = {.subtree = -1};
	const struct heddle_sparse_options options = {.tile = 24, .inner = 8, .domain = 2};
	heddle_sparse_analysis *analysed;
	heddle_sparse *sparse;
	heddle_sparse_qr *qr;
	double *b = malloc(a->rows * sizeof *b), *x = calloc(a->columns, sizeof *x);
	for (size_t i = 0; i < a->rows; i++)
		b[i] = (double)(i % 7);
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, a->rows, 1, b, a->rows};
	const struct heddle_dense_array of_x = {HEDDLE_DENSE_DOUBLE, a->columns, 1, x, a->columns};
	OK(heddle_sparse_open(side->rt, &sparse));
	OK(heddle_sparse_analyse(a, &analysis, &analysed));
	OK(heddle_sparse_qr_create(sparse, analysed, HEDDLE_DENSE_DOUBLE, &options, &qr));
	OK(heddle_sparse_factorise(qr, a->values));
	OK(heddle_sparse_solve(qr, &of_b, &of_x));
	OK(heddle_sparse_qr_destroy(qr));
	heddle_sparse_analysis_free(analysed);
	heddle_sparse_close(sparse);
	free(b);
	return x;
}

static void sparse_factorisations_use_a_device(void **state)
{
	struct heddle_sparse_matrix a;
	struct heddle_stats stats;
	struct side both;
	(void)state;
	OK(heddle_sparse_generate("random:400,150,6,1", &a));
	open_side(&both, 1, 1);
	double *ours = solve_sparse(&both, &a), *wanted = solve_sparse(&core, &a);
	OK(heddle_runtime_stats(both.rt, &stats));
	assert_true(stats.transfers > 0);
	for (size_t j = 0; j < a.columns; j++)
		assert_true(fabs(ours[j] - wanted[j]) <= 1e-9 * (1 + fabs(wanted[j])));
	close_side(&both);
	free(ours), free(wanted);
	heddle_sparse_matrix_free(&a);
}
#endif

#define TESTS_OF(letter) cmocka_unit_test(hd_##letter##_products_with_q_are_those_of_a_core)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_device_multiplies_and_does_not_factorise),
	    TESTS_OF_ALL,
#ifdef HEDDLE_HAVE_SPARSE
	    cmocka_unit_test(sparse_factorisations_use_a_device),
#endif
	};
	need_device();
	return cmocka_run_group_tests(tests, begin, end);
}
#else
int main(void)
{
	need_device();
	return 0;
}
#endif
