/* QR factorisation, products with Q, and least squares of apps/dense: the order in which tiles are eliminated, results
 * beside LAPACK's and by their definitions, errors, accelerators, graphs in virtual time. */
#include "../sanitized.h"
#include "dense_runtime.h"
#include "dense_views.h"
#include <dense/routines/qr.h>
#include "virtual_machine.h"

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
	for (int kind = 0; kind < 5; kind++) /* domains of 1, 2 and 3 tiles */
		for (size_t mt = 0; mt < 20; mt++)
			for (size_t kt = 0; kt <= mt; kt++) {
				struct hd_qr_tree *tree = hd_qr_tree_new(kind < 2 ? kind : HEDDLE_DENSE_DOMAINS,
				                                         kind < 2 ? 1 : (size_t)kind - 1, mt, kt);
				assert_non_null(tree);
				for (size_t k = 0; k < kt; k++)
					check_column(tree, k);
				free(tree);
			}
}

static const char kernel_times[] = "kernels:\n"
                                   "- {codelet: dgeqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgemqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtsqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtsmqr, class: cpu, gflops: 1}\n"
                                   "- {codelet: dttqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dttmqr, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtrsm, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgemm, class: cpu, gflops: 1}\n";

/* Of the tasks of a routine on an m x n matrix: their longest path, in thirds of the cube of the order of a tile, and
 * all their operations. */
struct graph {
	int longest;
	double flops;
};

static struct graph graph_of(const char *routine, const struct heddle_dense_options *options, size_t m, size_t n)
{
	struct machine machine = {.cpus = 1, .kernels = kernel_times};
	struct heddle_dense_problem problem = {
	    .routine = routine, .m = m, .n = n, .k = n, .n_right = options->tile, .options = *options};
	struct heddle_dense_report report;
	heddle_dense *dense;
	struct graph graph = {0};
	machine_start(&machine);
	OK(heddle_dense_open(machine.rt, &dense));
	OK(heddle_dense_graph(dense, &problem, &report));
	struct heddle_trace *trace = machine_trace(&machine);
	for (size_t i = 0; i < trace->n_tasks; i++) {
		graph.longest = trace->tasks[i].priority > graph.longest ? trace->tasks[i].priority : graph.longest;
		graph.flops += trace->tasks[i].flops;
	}
	heddle_trace_free(trace);
	heddle_dense_close(dense);
	OK(heddle_stop(machine.rt));
	return graph;
}

static int longest_path(enum heddle_dense_tree tree, size_t domain, size_t mt, size_t nt)
{
	struct heddle_dense_options options = {.tile = 8, .tree = tree, .domain = domain};
	return graph_of("geqrf", &options, 8 * mt, 8 * nt).longest;
}

/* Bouwmeester et al., 2011: for p x q tiles, Greedy's paths for p = 40 in their comparison with PLASMA's trees; the
 * flat tree with TS kernels has 6 p - 2 for q = 1, 12 p + 18 q - 32 for p > q > 1, 30 p - 34 for p = q; the binary
 * tree, domains of one tile, (10 + 6 log2 p) q - 4 log2 p - 6 for powers of two. */
static void longest_paths_are_those_of_the_paper(void **state)
{
	(void)state;
	static const int greedy_40[] = {16, 54, 74, 104, 126, 148};
	for (size_t q = 1; q <= 6; q++)
		assert_int_equal(longest_path(HEDDLE_DENSE_GREEDY, 0, 40, q), greedy_40[q - 1]);
	assert_int_equal(longest_path(HEDDLE_DENSE_FLAT, 0, 12, 1), 6 * 12 - 2);
	assert_int_equal(longest_path(HEDDLE_DENSE_FLAT, 0, 12, 2), 12 * 12 + 18 * 2 - 32);
	assert_int_equal(longest_path(HEDDLE_DENSE_FLAT, 0, 12, 7), 12 * 12 + 18 * 7 - 32);
	assert_int_equal(longest_path(HEDDLE_DENSE_FLAT, 0, 9, 9), 30 * 9 - 34);
	assert_int_equal(longest_path(HEDDLE_DENSE_DOMAINS, 12, 12, 7), 12 * 12 + 18 * 7 - 32);
	assert_int_equal(longest_path(HEDDLE_DENSE_DOMAINS, 1, 32, 4), (10 + 6 * 5) * 4 - 4 * 5 - 6);
}

/* The right-hand sides are multiplied by Q while A is factorised: geqrt, gemqrt, tsmqr 11 times, trsm. */
static void phases_of_least_squares_overlap(void **state)
{
	(void)state;
	struct heddle_dense_options options = {.tile = 8};
	assert_int_equal(graph_of("gels", &options, 8 * 12, 8).longest, 4 + 6 + 11 * 12 + 3);
}

/* Whatever the tree (Bouwmeester et al., 2011), but for terms of lower order and what inner blocking adds. */
static void operations_of_the_tasks_are_those_of_the_routine(void **state)
{
	(void)state;
	static const size_t shapes[][2] = {{5500, 3700}, {3700, 5500}, {9000, 900}};
	for (int v = 0; v < 27; v++) {
		const size_t *shape = shapes[v / 9];
		struct heddle_dense_problem problem = {.routine = v % 3 == 0   ? "geqrf"
		                                                  : v % 3 == 1 ? "ormqr"
		                                                               : "gels",
		                                       .m = shape[0],
		                                       .n = shape[1],
		                                       .n_right = 1000,
		                                       .options = {.tile = 1000, .tree = v / 3 % 3, .domain = 2}};
		double whole = heddle_dense_flops(&problem);
		double sum = graph_of(problem.routine, &problem.options, shape[0], shape[1]).flops;
		if (!(fabs(sum / whole - 1) < 0.005))
			fail_msg("%s %zu x %zu: %g of the operations", problem.routine, shape[0], shape[1],
			         sum / whole);
	}
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

enum { TILE = 16 };
#ifdef DENSE_ON_CUDA
static const int extents[] = {TILE + 1, 2 * TILE + 7};
#else
static const int extents[] = {1, 2, TILE - 1, TILE, TILE + 1, 3 * TILE + 7};
#endif
enum { N_EXTENTS = sizeof extents / sizeof *extents };
static const int inner[] = {1, 5, TILE};
#ifdef DENSE_ON_CUDA /* a sanitizer makes the stand-in slow: each tree has one inner blocking there */
enum { N_INNER = SANITIZED ? 1 : 3 };
#else
enum { N_INNER = 3 };
#endif
/* Random; with the larger extent added on the diagonal; with rows and columns of very different sizes; with columns
 * that are zero or the same as the one before. */
enum kind { RANDOM, DOMINANT, GRADED, DEFICIENT, N_KINDS };

#define HD_TEMPLATE <unit/dense_qr_tests.h>
#include <dense/kernels/precisions.h>

static const char *const routines[] = {"geqrf", "ormqr", "gels"};
enum { N_ROUTINES = sizeof routines / sizeof *routines };

/* The i-th of many different problems. */
static struct heddle_dense_problem problem_number(size_t i)
{
	static const size_t shapes[][2] = {{50, 50}, {77, 20}, {20, 77}, {3, 3}, {100, 16}};
	const size_t *shape = shapes[i / 12 % 5];
	return (struct heddle_dense_problem){
	    .routine = routines[i % 3],
	    .precision = i % 4,
	    .m = shape[0],
	    .n = shape[1],
	    .k = shape[i % 2],
	    .n_right = 5 + i % 30,
	    .seed = i,
	    .check = 1,
	    .options =
	        {.tile = TILE, .inner = 4, .tree = i / 5 % 3, .domain = i % 4, .layout = i / 7 % 2, .priority = i % 3},
	};
}

static void check_run(heddle_dense *dense, const struct heddle_dense_problem *p)
{
	struct heddle_dense_report report;
	OK(heddle_dense_run(dense, p, &report));
	if (!(report.residual >= 0 && report.residual < 10))
		fail_msg("%s %zu x %zu in precision %d: residual %g", p->routine, p->m, p->n, (int)p->precision,
		         report.residual);
}

static void experiments_have_small_residuals(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < 120; i++) {
		struct heddle_dense_problem p = problem_number(i);
		check_run(f->dense, &p);
	}
}

/* LAPACK Working Note 41: the terms of highest order; complex numbers take four times as many. */
static void check_flops(const char *routine, const size_t sizes[4], double expected)
{
	struct heddle_dense_problem p = {.routine = routine, .m = sizes[0], .n = sizes[1], .k = sizes[2]};
	p.n_right = sizes[3];
	for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++) {
		p.precision = precision;
		double share = heddle_dense_flops(&p) / expected / (hd_dense_is_complex(p.precision) ? 4 : 1);
		if (!(fabs(share - 1) < 0.002))
			fail_msg("%s %zu x %zu: %g of the operations", routine, p.m, p.n, share);
	}
}

static void operations_are_those_of_lapack(void **state)
{
	(void)state;
	double large = 9000, small = 3000, cubes = 2 * small * small * (large - small / 3);
	check_flops("geqrf", (size_t[]){9000, 3000, 1, 1}, cubes);
	check_flops("geqrf", (size_t[]){3000, 9000, 1, 1}, cubes);
	check_flops("geqrf", (size_t[]){3000, 3000, 1, 1}, 4 * small * small * small / 3);
	check_flops("ormqr", (size_t[]){9000, 2000, 3000, 1}, 2 * 2000 * small * (2 * large - small));
	for (int wide = 0; wide < 2; wide++)
		check_flops("gels", (size_t[]){wide ? 3000 : 9000, wide ? 9000 : 3000, 1, 2000},
		            cubes + 2 * 2000 * small * (2 * large - small) + 2000 * small * small);
}

/* A tile of the result of an experiment is changed a little. */
static void residuals_of_slightly_wrong_results_are_large(void **state)
{
	struct fixture *f = *state;
	for (size_t r = 0; r < N_ROUTINES; r++)
		for (size_t place = 0; place < 3; place++) {
			struct heddle_dense_problem p = {.routine = routines[r],
			                                 .n = 40,
			                                 .m = 50,
			                                 .n_right = 20,
			                                 .options = {.tile = TILE, .layout = 1}};
			heddle_dense_experiment *e;
			struct heddle_part part;
			double residual;
			OK(heddle_dense_experiment_open(f->dense, &p, &e));
			OK(heddle_dense_experiment_fill(e));
			OK(heddle_dense_experiment_submit(e));
			heddle_data *tile = heddle_dense_tile(e->m[r > 0], place, place > 0);
			OK(heddle_acquire(tile, HEDDLE_RW));
			OK(heddle_data_part(tile, 0, &part));
			((double *)part.base)[2] += 1e-6;
			OK(heddle_release(tile));
			OK(heddle_dense_experiment_residual(e, &residual));
			if (!(residual > 1000))
				fail_msg("%s: residual %g", p.routine, residual);
			OK(heddle_dense_experiment_close(e));
		}
}

static void accelerators_too_small_for_the_matrix_give_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct heddle_dense_problem p = problem_number(i);
		p.m = 150;
		p.n = p.k = 130;
		p.options.tree = i < 3 ? HEDDLE_DENSE_FLAT : HEDDLE_DENSE_GREEDY;
		struct heddle_config config = settings(1, 2, p.m * p.n / 4 * hd_dense_elem_size(p.precision));
		struct fixture f;
		struct heddle_stats stats;
		OK(heddle_start(&config, &f.rt));
		OK(heddle_dense_open(f.rt, &f.dense));
		check_run(f.dense, &p);
		OK(heddle_runtime_stats(f.rt, &stats));
		assert_true(stats.transfers > 0 && stats.evictions > 0);
		heddle_dense_close(f.dense);
		OK(heddle_stop(f.rt));
	}
}

/* A machine that has times for the kernels of the library in its file. */
static double seconds_on_gpus(const struct heddle_dense_problem *p)
{
	struct heddle_config config = settings(2, 0, 0);
	struct heddle_dense_report report;
	struct fixture f;
	config.platform = HEDDLE_SOURCE_DIR "/platforms/intel-v100.yaml";
	config.sched = "dmda";
	OK(heddle_start(&config, &f.rt));
	OK(heddle_dense_open(f.rt, &f.dense));
	OK(heddle_dense_graph(f.dense, p, &report));
	heddle_dense_close(f.dense);
	OK(heddle_stop(f.rt));
	return report.seconds;
}

static void graphs_in_virtual_time_are_run_and_always_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < 24; i++) {
		struct heddle_dense_problem p = problem_number(5 * i);
		double seconds = seconds_on_gpus(&p);
		assert_true(seconds > 0);
		assert_true(seconds == seconds_on_gpus(&p));
	}
}

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

/* Rows of B that only X has are not read, but do not hide what is in the rows above them, nor in the same tile; a call
 * that is refused leaves them alone. */
static void rows_that_only_the_solution_has_are_not_looked_at(void **state)
{
	struct fixture *f = *state;
	for (int layout = 0; layout < 2; layout++) {
		struct hd_d_view a = hd_d_random_view(20, 40, 1), b = hd_d_random_view(40, 2, 2);
		struct heddle_dense_array of_a = hd_d_array(a), of_b = hd_d_array(b);
		struct heddle_dense_options options = {.tile = TILE, .layout = layout};
		for (int i = 20; i < 40; i++)
			*hd_d_at(b, i, 0) = *hd_d_at(b, i, 1) = NAN;
		of_a.ld = 1;
		assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, &options),
		                 HEDDLE_E_INVALID);
		for (int i = 20; i < 40; i++)
			assert_true(isnan(*hd_d_at(b, i, 0)) && isnan(*hd_d_at(b, i, 1)));
		of_a = hd_d_array(a);
		OK(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, &options));
		*hd_d_at(b, 19, 1) = NAN;
		assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, &options),
		                 HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "matrix B has NaN in row 20, column 2"));
		hd_d_free_view(a);
		hd_d_free_view(b);
	}
}

static void wrong_arguments_are_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	struct hd_c_view a = hd_c_random_view(40, 30, 1), b = hd_c_random_view(30, 2, 2),
	                 small = hd_c_random_view(30, 2, 3);
	struct heddle_dense_array of_a = hd_c_array(a), of_b = hd_c_array(b), of_small = hd_c_array(small);
	struct heddle_dense_options options = {.tile = TILE, .tree = 3};
	heddle_dense_qr *qr = NULL;
	assert_int_equal(heddle_dense_geqrf(f->dense, &of_a, &qr, &options), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "tree 3"));
	options.tree = HEDDLE_DENSE_GREEDY;
	OK(heddle_dense_geqrf(f->dense, &of_a, &qr, &options));
	assert_int_equal(heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_a, qr, &of_b, NULL),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "Q is 40 x 40, C is 30 x 2 and multiplied from the left"));
	assert_int_equal(heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_TRANS, &of_a, qr, &of_b, NULL),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "not by the transpose"));
	assert_int_equal(
	    heddle_dense_ormqr(f->dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_small, qr, &of_b, NULL),
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
	hd_c_free_view(a);
	hd_c_free_view(b);
	hd_c_free_view(small);
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
	    cmocka_unit_test(longest_paths_are_those_of_the_paper),
	    cmocka_unit_test(operations_of_the_tasks_are_those_of_the_routine),
	    cmocka_unit_test(phases_of_least_squares_overlap),
	    TESTS_OF_ALL,
	    WITH_RUNTIME(experiments_have_small_residuals),
	    cmocka_unit_test(operations_are_those_of_lapack),
	    WITH_RUNTIME(residuals_of_slightly_wrong_results_are_large),
	    cmocka_unit_test(accelerators_too_small_for_the_matrix_give_the_same),
	    cmocka_unit_test(graphs_in_virtual_time_are_run_and_always_the_same),
	    WITH_RUNTIME(nan_in_the_input_is_named),
	    WITH_RUNTIME(rows_that_only_the_solution_has_are_not_looked_at),
	    WITH_RUNTIME(wrong_arguments_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
