/* The dense routines on a cluster, whose members share each tile: residuals, and infos of matrices that have no
 * factors. */
#include <dense/internal.h>
#include "cluster.h"

static void open_cluster(unsigned cores, heddle_runtime **rt, heddle_dense **dense)
{
	struct heddle_config config = small_config();
	*rt = start_clusters(&config, (const unsigned[]){cores, 0});
	assert_ok(heddle_dense_open(*rt, dense));
}

/* Tiles so large that members also share those on the diagonal, with and without a remainder. */
static struct heddle_dense_problem problem_of(const struct heddle_dense_routine *routine, unsigned v)
{
	return (struct heddle_dense_problem){
	    .routine = routine->name,
	    .precision = v % 4,
	    .n = v % 2 ? 201 : 160,
	    .m = v % 3 == 1 ? 230 : 0,
	    .k = v % 3 == 2 ? 17 : 0,
	    .n_right = v % 5 * 9,
	    .uplo = v / 2 % 2 ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER,
	    .seed = v,
	    .check = 1,
	    .options = {.tile = 104 - v % 3, .layout = v / 4 % 2},
	};
}

static void residuals_are_small_on_clusters(void **state)
{
	(void)state;
	for (unsigned cores = 2; cores < 6; cores++) {
		heddle_runtime *rt;
		heddle_dense *dense;
		const struct heddle_dense_routine *routine;
		open_cluster(cores, &rt, &dense);
		for (size_t i = 0; (routine = heddle_dense_routine_at(i)); i++) {
			for (unsigned v = cores % 2; v < 8; v += 2) {
				struct heddle_dense_problem problem = problem_of(routine, v);
				struct heddle_dense_report report;
				assert_ok(heddle_dense_run(dense, &problem, &report));
				if (!(report.residual >= 0 && report.residual < 30))
					fail_msg("%s on %u cores, problem %u: residual %g", routine->name, cores, v,
					         report.residual);
			}
		}
		heddle_dense_close(dense);
		assert_ok(heddle_stop(rt));
	}
}

/* A diagonal matrix of order N with one element that is not positive, or zero. */
enum { N = 200, TILE = 128 };

static int run_on(heddle_dense *dense, int potrf, size_t bad, double value, size_t *info)
{
	static double a[N * N];
	int pivots[N];
	memset(a, 0, sizeof a);
	for (int i = 0; i < N; i++)
		a[i + i * N] = 2;
	a[bad + bad * N] = value;
	struct heddle_dense_array of_a = {.data = a, .rows = N, .columns = N, .ld = N};
	struct heddle_dense_options options = {.tile = TILE, .info = info};
	return potrf ? heddle_dense_potrf(dense, HEDDLE_DENSE_LOWER, &of_a, &options)
	             : heddle_dense_getrf(dense, &of_a, pivots, &options);
}

static void infos_are_those_of_one_core(void **state)
{
	(void)state;
	static const size_t places[] = {0, 50, 63, 64, 100, 127, 128, 199};
	for (unsigned cores = 1; cores < 4; cores++) {
		heddle_runtime *rt;
		heddle_dense *dense;
		open_cluster(cores, &rt, &dense);
		for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
			size_t info = 0;
			assert_int_equal(run_on(dense, 1, places[i], -1, &info), HEDDLE_E_KERNEL);
			assert_int_equal(info, places[i] + 1);
			assert_says("not positive definite");
			info = 0;
			run_on(dense, 0, places[i], 0, &info);
			assert_int_equal(info, places[i] + 1);
		}
		size_t info = 0;
		assert_ok(run_on(dense, 1, 0, 3, &info));
		assert_ok(run_on(dense, 0, 0, 3, &info));
		assert_int_equal(info, 0);
		heddle_dense_close(dense);
		assert_ok(heddle_stop(rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residuals_are_small_on_clusters),
	    cmocka_unit_test(infos_are_those_of_one_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
