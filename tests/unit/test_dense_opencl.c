/* The kernels of codelets on an OpenCL device beside those of a core, task by task; products by CLBlast; experiments
 * with their residuals, where the device takes part. With an argument, CLBlast has all of its products to compute,
 * which PoCL compiles for a minute; else one, which takes ten seconds, and nothing with sanitizers. */
#include "dense_views.h"
#include <dense/codelets/lu.h>
#include <dense/codelets/qr.h>
#include <dense/internal.h>
#include "ok.h"
#include "opencl.h"

#if HEDDLE_HAVE_OPENCL
#include <dense/opencl/clblast.h>
#include <dense/opencl/library.h>
#include <dense/opencl/offer.h>

struct side {
	heddle_runtime *rt;
	heddle_dense *dense;
};
static struct side core, device;

static void open_side(struct side *side, int cores, unsigned devices, uint64_t memory)
{
	struct heddle_config config = small_config();
	config.sched = "random"; /* every worker gets its share, however busy the machine is */
	struct heddle_platform *p = machine_with_opencl(cores, devices, memory, 2);
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
	open_side(&core, 1, 0, 0);
	open_side(&device, 0, 1, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close_side(&core);
	close_side(&device);
	return 0;
}

#include "dense_opencl_tests.h"

/* --- Routines ----------------------------------------------------------------------------------------------------- */

/* Beside a core, which has the codelets that the device has not, and with room for a few tiles. */
static void experiments_have_small_residuals(void **state)
{
	static const char *const routines[] = {"gemm",  "symm",  "syrk",        "trsm",  "trmm",
	                                       "potrf", "getrf", "getrf_nopiv", "gesv",  "gesv_nopiv",
	                                       "posv",  "poinv", "geqrf",       "ormqr", "gels"};
	enum { TILE = 48 };
	struct side both;
	(void)state;
	open_side(&both, 1, 1, 6 * TILE * TILE * sizeof(double) * 2);
	for (size_t r = 0; r < sizeof routines / sizeof *routines; r++) {
		struct heddle_dense_problem problem = {.routine = routines[r], .n = 200, .check = 1};
		problem.precision = (enum heddle_dense_precision)(TWO_PRECISIONS ? r % 2 * 3 : r % 4);
		problem.options.tile = TILE;
		struct heddle_dense_report report;
		OK(heddle_dense_run(both.dense, &problem, &report));
		if (!(report.residual > 0 && report.residual < 30))
			fail_msg("%s: residual %g", routines[r], report.residual);
	}
	struct heddle_stats stats;
	OK(heddle_runtime_stats(both.rt, &stats));
	assert_true(stats.evictions > 0);
	close_side(&both);
}

static void what_has_no_kernel_is_refused_without_a_core(void **state)
{
	double a[4] = {1, 2, 3, 5};
	struct heddle_dense_array array = {.rows = 2, .columns = 2, .data = a, .ld = 2};
	int pivots[2];
	(void)state;
	assert_null(hd_dense_opencl_kernel(HD_DENSE_GETRF_PANEL, HEDDLE_DENSE_DOUBLE, 1));
	assert_int_equal(heddle_dense_getrf(device.dense, &array, pivots, NULL), HEDDLE_E_NO_WORKER);
	assert_says("dgetrf_panel");
}

/* That of the library, but for what the test says. */
static int has_double = 1;
int __wrap_heddle_opencl_has_double(unsigned number)
{
	return has_double && __real_heddle_opencl_has_double(number);
}

static void without_double_precision_there_are_no_kernels_for_it(void **state)
{
	double a[4] = {4, 1, 1, 4};
	float b[4] = {4, 1, 1, 4};
	struct heddle_dense_array of_a = {.rows = 2, .columns = 2, .data = a, .ld = 2};
	struct heddle_dense_array of_b = {HEDDLE_DENSE_SINGLE, 2, 2, b, 2};
	struct side poor, beside_a_core;
	(void)state;
	has_double = 0;
	open_side(&poor, 0, 1, 0);
	open_side(&beside_a_core, 1, 1, 0);
	has_double = 1;
	assert_int_equal(heddle_dense_potrf(poor.dense, HEDDLE_DENSE_LOWER, &of_a, NULL), HEDDLE_E_NO_WORKER);
	assert_true(a[0] == 4);
	OK(heddle_dense_potrf(poor.dense, HEDDLE_DENSE_LOWER, &of_b, NULL));
	assert_true(b[0] == 2);
	OK(heddle_dense_potrf(beside_a_core.dense, HEDDLE_DENSE_LOWER, &of_a, NULL));
	assert_true(a[0] == 2);
	close_side(&poor);
	close_side(&beside_a_core);
}

#define TESTS_OF(letter)                                                             \
	cmocka_unit_test(hd_##letter##_movements_are_those_of_a_core),               \
	    cmocka_unit_test(hd_##letter##_random_matrices_are_those_of_a_core),     \
	    cmocka_unit_test(hd_##letter##_norms_are_those_of_a_core),               \
	    cmocka_unit_test(hd_##letter##_residual_notices_a_wrong_factor),         \
	    cmocka_unit_test(hd_##letter##_what_is_not_finite_is_said_as_on_a_core), \
	    cmocka_unit_test(hd_##letter##_getrf_nopiv_is_that_of_a_core),           \
	    cmocka_unit_test(hd_##letter##_bad_pivots_are_said_as_on_a_core)

int main(int argc, char **argv)
{
	static int all = 1;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(experiments_have_small_residuals),
	    cmocka_unit_test(what_has_no_kernel_is_refused_without_a_core),
	    cmocka_unit_test(without_double_precision_there_are_no_kernels_for_it),
	    TESTS_OF_ALL,
	};
	const struct CMUnitTest products[] = {
#ifndef HD_TWO_PRECISIONS
	    cmocka_unit_test_prestate(hd_s_products_by_clblast, argc > 1 ? &all : NULL),
	    cmocka_unit_test_prestate(hd_z_products_by_clblast, &all),
#endif
	    cmocka_unit_test_prestate(hd_d_products_by_clblast, &all),
	    cmocka_unit_test_prestate(hd_c_products_by_clblast, &all),
	};
	(void)argv;
	need_device();
	int failed = cmocka_run_group_tests(tests, begin, end);
	size_t n_products = argc > 1 ? sizeof products / sizeof *products : TWO_PRECISIONS ? 0 : 1;
	if (hd_ocl_load()->has_clblast && n_products > 0)
		failed += _cmocka_run_group_tests("products", products, n_products, begin, end);
	return failed;
}
#else
int main(void)
{
	need_device();
	return 0;
}
#endif
