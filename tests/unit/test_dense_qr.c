/* QR factorisation, products with Q, and least squares of apps/dense: the order in which tiles are eliminated, results
 * beside LAPACK's and by their definitions, errors. */
#include "dense_views.h"
#include <dense/routines/qr.h>
#include "../machine.h"
#include "ok.h"

/* --- Trees -------------------------------------------------------------------------------------------------------- */

/* Each tile below the diagonal is killed once, by one above it that is alive. A full tile (TS) has not killed others,
 * and is not killed as a triangle. */
static void check_column(const struct hd_qr_tree *tree, size_t k)
{
	int *dead = calloc(tree->mt, sizeof *dead), *killer = calloc(tree->mt, sizeof *killer);
	const struct hd_qr_elimination *e = hd_qr_column(tree, k);
	for (size_t i = 0; i < tree->mt - k - 1; i++, e++) {
		assert_true(e->killed > k && e->killed < tree->mt);
		assert_true(e->killer >= k && e->killer < e->killed);
		assert_false(dead[e->killed] || dead[e->killer]);
		assert_false(e->square && killer[e->killed]);
		dead[e->killed] = 1;
		killer[e->killer] = 1;
	}
	free(dead);
	free(killer);
}

static void trees_kill_each_tile_below_the_diagonal_once(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++)
		for (size_t mt = 0; mt < 20; mt++)
			for (size_t kt = 0; kt <= mt; kt++) {
				struct hd_qr_tree *tree = hd_qr_tree_new(kind, mt, kt);
				assert_non_null(tree);
				for (size_t k = 0; k < kt; k++)
					check_column(tree, k);
				free(tree);
			}
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

static struct heddle_config settings(int n_emulated, uint64_t memory)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(n_emulated ? 1 : 2);
	config.n_emulated = n_emulated;
	config.emulated_memory = memory;
	config.sched = n_emulated ? "random" : "eager"; /* random: every worker gets its share */
	config.sched_options = NULL;
	config.platform = NULL;
	config.model_dir = "none";
	return config;
}

struct fixture {
	heddle_runtime *rt;
	heddle_dense *dense;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct heddle_config config = settings(0, 0);
	OK(heddle_start(&config, &f->rt));
	OK(heddle_dense_open(f->rt, &f->dense));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	heddle_dense_close(f->dense);
	OK(heddle_stop(f->rt));
	free(f);
	return 0;
}

enum { TILE = 16, N_EXTENTS = 6 };
static const int extents[N_EXTENTS] = {1, 2, TILE - 1, TILE, TILE + 1, 3 * TILE + 7};
static const int inner[] = {1, 5, TILE};
/* Random; with the larger extent added on the diagonal; with rows and columns of very different sizes; with columns
 * that are zero or the same as the one before. */
enum kind { RANDOM, DOMINANT, GRADED, DEFICIENT, N_KINDS };

#define HD_TEMPLATE <unit/dense_qr_tests.h>
#include <dense/kernels/precisions.h>

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void nan_in_the_input_is_named(void **state)
{
	struct fixture *f = *state;
	for (int layout = 0; layout < 2; layout++) {
		struct hd_d_view a = hd_d_random_view(40, 30, 1), b = hd_d_random_view(40, 2, 2);
		struct heddle_dense_array of_a = hd_d_array(a), of_b = hd_d_array(b);
		struct heddle_dense_options options = {.tile = TILE, .layout = layout};
		heddle_dense_qr *qr = NULL;
		*hd_d_at(b, 17, 1) = INFINITY;
		assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, &options),
		                 HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "matrix B has an infinite value in row 18, column 2"));
		*hd_d_at(a, 20, 7) = NAN;
		assert_int_equal(heddle_dense_geqrf(f->dense, &of_a, &qr, &options), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "matrix A has NaN in row 21, column 8"));
		assert_null(qr);
		free(a.a);
		hd_d_free_view(b);
	}
}

static void wrong_arguments_are_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	struct hd_z_view a = hd_z_random_view(40, 30, 1), b = hd_z_random_view(30, 2, 2);
	struct heddle_dense_array of_a = hd_z_array(a), of_b = hd_z_array(b);
	struct heddle_dense_options options = {.tile = TILE, .tree = 2};
	heddle_dense_qr *qr = NULL;
	assert_int_equal(heddle_dense_geqrf(f->dense, &of_a, &qr, &options), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "tree 2"));
	options.tree = HEDDLE_DENSE_GREEDY;
	OK(heddle_dense_geqrf(f->dense, &of_a, &qr, &options));
	assert_int_equal(heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_a, qr, &of_b, NULL),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "Q is 40 x 40, C is 30 x 2 and multiplied from the left"));
	assert_int_equal(heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_TRANS, &of_a, qr, &of_b, NULL),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "not by the transpose"));
	assert_int_equal(heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_b, qr, &of_b, NULL),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "the heddle_dense_qr is for 40 x 30"));
	assert_int_equal(
	    heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_a, NULL, &of_b, NULL),
	    HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "B must have 40 rows, it has 30"));
	assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, NULL, &of_b, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, NULL, NULL), HEDDLE_E_INVALID);
	OK(heddle_dense_qr_destroy(qr));
	hd_z_free_view(a);
	hd_z_free_view(b);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TESTS_OF(letter)                                                            \
	WITH_RUNTIME(hd_##letter##_geqrf_of_any_shape_and_tree_is_a_factorisation), \
	    WITH_RUNTIME(hd_##letter##_gels_gives_the_results_of_lapack),           \
	    WITH_RUNTIME(hd_##letter##_gels_of_a_matrix_with_a_zero_column_names_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(trees_kill_each_tile_below_the_diagonal_once),
	    TESTS_OF(d),
	    TESTS_OF(s),
	    TESTS_OF(z),
	    TESTS_OF(c),
	    WITH_RUNTIME(nan_in_the_input_is_named),
	    WITH_RUNTIME(wrong_arguments_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
