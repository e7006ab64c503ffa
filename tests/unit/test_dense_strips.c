/* QR on tiles that are cut into strips of columns: residuals, and R and V beside those of whole tiles; how many tasks
 * there are, and that they do as much as the whole ones. Built twice: dense_on_cuda.h. */
#include <math.h>
#include <string.h>
#include <dense/internal.h>
#include "../sanitized.h"
#include "dense_runtime.h"
#include "virtual_machine.h"

/* Problem v of those that a routine is tried with: all precisions, trees, and shapes that are no multiples of tiles. */
static struct heddle_dense_problem problem_of(const char *routine, unsigned v)
{
	static const char *const cuts[] = {"16", "12/4", "20/8", "8"}, *const bands[] = {"", "0", "1"};
	static const size_t extents[][3] = {{70, 51, 60}, {51, 70, 45}, {64, 64, 64}, {33, 90, 77}, {90, 33, 12}};
	const size_t *mnk = extents[v % 5];
	struct heddle_dense_problem p = {
	    .routine = routine,
	    .precision = v % 4,
	    .m = mnk[0],
	    .n = mnk[1],
	    .k = mnk[2],
	    .n_right = 1 + 30 * (v % 2),
	    .seed = v,
	    .check = 1,
	    .options = {.tile = 32, .inner = 4, .tree = v % 3, .domain = 2, .layout = v / 2 % 2, .priority = v / 3 % 3},
	};
	strcpy(p.cut, cuts[v / 3 % 4]);
	strcpy(p.refine, bands[v / 5 % 3]);
	return p;
}

static void run_all(struct heddle_config *config, unsigned problems)
{
	static const char *const routines[] = {"geqrf", "ormqr", "gels"};
	heddle_runtime *rt;
	heddle_dense *dense;
	OK(heddle_start(config, &rt));
	OK(heddle_dense_open(rt, &dense));
	for (unsigned i = 0; i < 3 * problems; i++) {
		struct heddle_dense_problem problem = problem_of(routines[i % 3], i / 3);
		struct heddle_dense_report report;
		OK(heddle_dense_run(dense, &problem, &report));
		if (!(report.residual >= 0 && report.residual < 30))
			fail_msg("%s, problem %u: residual %g", problem.routine, i / 3, report.residual);
		OK(heddle_selfcheck(rt));
	}
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

#ifdef DENSE_ON_CUDA
enum { PROBLEMS = 8 };
#else
enum { PROBLEMS = SANITIZED ? 12 : 30 };
#endif

static void residuals_are_small(void **state)
{
	struct heddle_config config = settings(2, 0, 0);
	(void)state;
	config.expand = "always";
	use_cuda(&config, 0);
	run_all(&config, PROBLEMS);
}

static void residuals_are_small_on_accelerators(void **state)
{
	struct heddle_config config = settings(1, 2, 0);
	(void)state;
	config.expand = "always";
	run_all(&config, SANITIZED ? 6 : 15);
}

static void residuals_are_small_where_some_tasks_run_whole(void **state)
{
	struct heddle_config config = settings(1, 1, 100000);
	(void)state;
	config.expand = "adaptive";
	run_all(&config, SANITIZED ? 6 : 15);
}

/* --- Strips compute what whole tiles do --------------------------------------------------------------------------- */

enum { M = 75, N = 61, TILE = 32 };

/* Factorises a random matrix, whose tiles are cut into strips of 12 columns and these into strips of 4. */
static void factorise(const char *expand, enum heddle_dense_tree tree, double *a)
{
	static const size_t smaller[] = {12, 4};
	const struct heddle_dense_shape shape = {.rows = M, .columns = N, .tile = TILE};
	const struct heddle_dense_options options = {.inner = 4, .tree = tree, .domain = 2};
	struct heddle_config config = settings(2, 0, 0);
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_matrix *matrix;
	heddle_dense_qr *qr;
	config.expand = expand;
	use_cuda(&config, 0);
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
	OK(heddle_dense_matrix_create(dense, &shape, a, M, &matrix));
	OK(heddle_dense_refine(matrix, smaller, 2, SIZE_MAX));
	OK(heddle_dense_random_submit(matrix, HEDDLE_DENSE_RANDOM, 1));
	OK(heddle_dense_qr_create(dense, &shape, &options, &qr));
	OK(heddle_dense_geqrf_submit(matrix, qr, &options));
	OK(heddle_dense_qr_destroy(qr));
	OK(heddle_dense_matrix_destroy(matrix));
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

static void r_and_v_are_those_of_whole_tiles(void **state)
{
	static double whole[M * N], strips[M * N];
	(void)state;
	for (int tree = 0; tree <= HEDDLE_DENSE_DOMAINS; tree++) {
		double difference = 0;
		factorise("never", tree, whole);
		factorise("always", tree, strips);
		for (size_t i = 0; i < (size_t)M * N; i++)
			difference = fmax(difference, fabs(whole[i] - strips[i]));
		if (!(difference < 1e-12))
			fail_msg("tree %d: elements differ by %g", tree, difference);
	}
}

/* What strips leave can be applied whole: C is not cut. */
static void what_strips_leave_can_be_applied_whole(void **state)
{
	static const size_t smaller[] = {12};
	const struct heddle_dense_shape shape = {.rows = M, .columns = N, .tile = TILE};
	const struct heddle_dense_options options = {.inner = 4};
	struct fixture *f;
	heddle_dense_matrix *a, *c;
	heddle_dense_qr *qr;
	static double r[M * N], again[M * N];
	OK(set_up(state));
	f = *state;
	OK(heddle_dense_matrix_create(f->dense, &shape, r, M, &a));
	OK(heddle_dense_matrix_create(f->dense, &shape, again, M, &c));
	OK(heddle_dense_refine(a, smaller, 1, SIZE_MAX));
	OK(heddle_dense_random_submit(a, HEDDLE_DENSE_RANDOM, 1));
	OK(heddle_dense_random_submit(c, HEDDLE_DENSE_RANDOM, 1));
	OK(heddle_dense_qr_create(f->dense, &shape, &options, &qr));
	OK(heddle_dense_geqrf_submit(a, qr, &options));
	OK(heddle_dense_ormqr_submit(HEDDLE_DENSE_LEFT, HEDDLE_DENSE_CONJ_TRANS, a, qr, c, &options));
	OK(heddle_dense_qr_destroy(qr));
	OK(heddle_dense_matrix_destroy(a));
	OK(heddle_dense_matrix_destroy(c));
	for (size_t j = 0; j < N; j++)
		for (size_t i = 0; i < M; i++)
			assert_true(fabs(again[i + j * M] - (i <= j ? r[i + j * M] : 0)) < 1e-12);
	tear_down(state);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static const char kernel_times[] = "kernels:\n"
                                   "- {codelet: dgeqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgemqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtsqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtsmqr, class: cpu, gflops: 1}\n"
                                   "- {codelet: dttqrt, class: cpu, gflops: 1}\n"
                                   "- {codelet: dttmqr, class: cpu, gflops: 1}\n";

/* The tasks that ran a kernel in virtual time, and all their operations. */
struct graph {
	size_t n;
	double flops;
};

static struct graph graph_of(const char *cut, enum heddle_dense_tree tree, size_t m, size_t n)
{
	struct machine machine = {.cpus = 1, .kernels = kernel_times};
	struct heddle_dense_problem problem = {
	    .routine = "geqrf", .m = m, .n = n, .options = {.tile = TILE, .inner = 8, .tree = tree, .domain = 2}};
	struct graph graph = {0};
	heddle_dense *dense;
	strcpy(problem.cut, cut);
	machine_start(&machine);
	OK(heddle_dense_open(machine.rt, &dense));
	OK(heddle_dense_graph(dense, &problem, &(struct heddle_dense_report){0}));
	struct heddle_trace *trace = machine_trace(&machine);
	for (size_t i = 0; i < trace->n_tasks; i++) {
		graph.n++;
		graph.flops += trace->tasks[i].flops;
	}
	heddle_trace_free(trace);
	heddle_dense_close(dense);
	OK(heddle_stop(machine.rt));
	return graph;
}

static void tasks_become_tasks_on_strips(void **state)
{
	(void)state;
	assert_int_equal(graph_of("", HEDDLE_DENSE_FLAT, 64, 64).n, 5);
	/* two strips: geqrt and tsqrt become 3 tasks, gemqrt and tsmqr 4 */
	assert_int_equal(graph_of("16", HEDDLE_DENSE_FLAT, 64, 64).n, 3 + 4 + 3 + 4 + 3);
	/* a second column of tiles that is too narrow for strips is changed strip after strip of the first */
	assert_int_equal(graph_of("16", HEDDLE_DENSE_FLAT, 64, 40).n, 3 + 2 + 3 + 2 + 1);
	/* strips that are no multiple of the inner blocking would leave another T */
	assert_int_equal(graph_of("12", HEDDLE_DENSE_FLAT, 64, 32).n, 2);
	assert_int_equal(graph_of("12", HEDDLE_DENSE_FLAT, 64, 64).n, 1 + 3 + 1 + 3 + 1);
}

static void strips_have_as_many_operations_as_whole_tiles(void **state)
{
	static const size_t extents[][2] = {{96, 96}, {100, 80}, {80, 100}, {75, 61}};
	(void)state;
	for (int tree = 0; tree <= HEDDLE_DENSE_DOMAINS; tree++)
		for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
			double whole = graph_of("", tree, extents[i][0], extents[i][1]).flops;
			double strips = graph_of("16/8", tree, extents[i][0], extents[i][1]).flops;
			if (!(fabs(strips / whole - 1) < 1e-5))
				fail_msg("tree %d, %zu x %zu: %g operations instead of %g", tree, extents[i][0],
				         extents[i][1], strips, whole);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residuals_are_small),
	    cmocka_unit_test(residuals_are_small_on_accelerators),
	    cmocka_unit_test(residuals_are_small_where_some_tasks_run_whole),
	    cmocka_unit_test(r_and_v_are_those_of_whole_tiles),
	    cmocka_unit_test(what_strips_leave_can_be_applied_whole),
	    cmocka_unit_test(tasks_become_tasks_on_strips),
	    cmocka_unit_test(strips_have_as_many_operations_as_whole_tiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
