/* The residual of a factorisation beside its definition, and the priorities of its tasks beside the longest paths. */
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include "../machine.h"
#include <heddle/dense.h>
#include "virtual_machine.h"

/* --- The residual ------------------------------------------------------------------------------------------------- */

enum { SEED = 17 };

/* Some lower triangular matrix, far from the factor, with what must not be looked at above the diagonal. */
static double factor_element(size_t i, size_t j)
{
	return i < j ? 1e3 : i == j ? 2 + (double)(i % 5) : 0.25 * (double)((3 * i + 7 * j) % 11) - 1;
}

/* ||A - L L^T|| / (n ||A|| u), Frobenius norms over all elements, by the definition. */
static double residual_by_definition(size_t n, double unit_roundoff)
{
	double norm_a = 0, norm_residual = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			double a = heddle_dense_random_element(HEDDLE_DENSE_SPD, SEED, n, i, j).re, x = a;
			for (size_t k = 0; k <= i && k <= j; k++)
				x -= factor_element(i, k) * factor_element(j, k);
			norm_a += a * a;
			norm_residual += x * x;
		}
	}
	return sqrt(norm_residual) / ((double)n * sqrt(norm_a) * unit_roundoff);
}

static double residual_of(heddle_dense *dense, enum heddle_dense_precision precision, size_t n, size_t tile)
{
	struct heddle_dense_shape shape = {
	    .precision = precision, .rows = n, .columns = n, .tile = tile, .uplo = HEDDLE_DENSE_LOWER};
	heddle_dense_matrix *matrix;
	double residual, *a = malloc(n * n * sizeof *a);
	float *single = malloc(n * n * sizeof *single);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			a[i + j * n] = factor_element(i, j);
			single[i + j * n] = (float)factor_element(i, j);
		}
	OK(heddle_dense_matrix_create(dense, &shape, precision == HEDDLE_DENSE_DOUBLE ? (void *)a : (void *)single, n,
	                              &matrix));
	OK(heddle_dense_potrf_residual(HEDDLE_DENSE_LOWER, matrix, SEED, &residual));
	OK(heddle_dense_matrix_destroy(matrix));
	free(a);
	free(single);
	return residual;
}

static void residual_is_that_of_its_definition(void **state)
{
	(void)state;
	static const struct {
		size_t n, tile;
	} sizes[] = {{1, 1}, {7, 7}, {12, 4}, {23, 5}, {20, 64}};
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_dense *dense;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.bind = 0;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		for (int single = 0; single < 2; single++) {
			double roundoff = (single ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
			double expected = residual_by_definition(sizes[s].n, roundoff);
			double residual = residual_of(dense, single ? HEDDLE_DENSE_SINGLE : HEDDLE_DENSE_DOUBLE,
			                              sizes[s].n, sizes[s].tile);
			if (!(fabs(residual - expected) <= (single ? 1e-5 : 1e-12) * expected))
				fail_msg("order %zu, tile %zu: %.12g instead of %.12g", sizes[s].n, sizes[s].tile,
				         residual, expected);
		}
	}
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

/* --- Priorities --------------------------------------------------------------------------------------------------- */

enum { TILES = 5, N_TASKS = TILES + TILES * (TILES - 1) + TILES * (TILES - 1) * (TILES - 2) / 6 };

/* A task updates tile (m, n) at step k. */
struct task {
	int k, m, n, priority;
	const char *codelet;
	int path; /* operations from its beginning to the end, in thirds of the cube of the tile's order */
};

static int weight_of(const struct task *t)
{
	return t->m == t->k ? 1 : t->m > t->n && t->n > t->k ? 6 : 3; /* potrf, gemm, trsm or syrk */
}

/* Whether b uses what a has written: the tile that it updates, or one of its factors. */
static int comes_directly_before(const struct task *a, const struct task *b)
{
	if (a->m == b->m && a->n == b->n)
		return b->k == a->k + 1 || (b->k == a->k && b->n == b->k && a->n > a->k);
	if (a->k != b->k || a->n != a->k)
		return 0; /* only potrf and trsm write what others read */
	if (a->m == a->k)
		return b->n == b->k && b->m > b->k; /* the trsm of the column */
	return b->n > b->k && (a->m == b->m || a->m == b->n);
}

static void find_paths(struct task *tasks, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		int behind = 0;
		for (size_t j = i + 1; j < n; j++)
			if (comes_directly_before(&tasks[i], &tasks[j]) && tasks[j].path > behind)
				behind = tasks[j].path;
		tasks[i].path = weight_of(&tasks[i]) + behind;
	}
}

/* In the order of submission. */
static size_t list_tasks(struct task *tasks)
{
	size_t i = 0;
	for (int k = 0; k < TILES; k++) {
		tasks[i++] = (struct task){k, k, k, 0, "dpotrf", 0};
		for (int m = k + 1; m < TILES; m++)
			tasks[i++] = (struct task){k, m, k, 0, "dtrsm", 0};
		for (int n = k + 1; n < TILES; n++)
			for (int m = n; m < TILES; m++)
				tasks[i++] = (struct task){k, m, n, 0, m == n ? "dsyrk" : "dgemm", 0};
	}
	return i;
}

static const char kernel_times[] = "kernels:\n- {codelet: dpotrf, class: cpu, gflops: 1}\n"
                                   "- {codelet: dtrsm, class: cpu, gflops: 1}\n"
                                   "- {codelet: dsyrk, class: cpu, gflops: 1}\n"
                                   "- {codelet: dgemm, class: cpu, gflops: 1}\n";

static void factor_in_virtual_time(enum heddle_dense_priority rule, struct task *tasks)
{
	struct machine m = {.cpus = 2, .kernels = kernel_times};
	struct heddle_dense_problem problem = {.n = 10 * TILES, .options = {.tile = 10, .priority = rule}};
	struct heddle_dense_report report;
	heddle_dense *dense;
	machine_start(&m);
	OK(heddle_dense_open(m.rt, &dense));
	OK(heddle_dense_graph(dense, &problem, &report));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_tasks, N_TASKS);
	for (size_t i = 0; i < N_TASKS; i++) {
		const struct heddle_trace_task *t = task_of(trace, i);
		assert_string_equal(trace->codelets[t->codelet].name, tasks[i].codelet);
		tasks[i].priority = t->priority;
	}
	heddle_trace_free(trace);
	heddle_dense_close(dense);
	OK(heddle_stop(m.rt));
}

static void path_priorities_are_the_longest_paths(void **state)
{
	(void)state;
	struct task tasks[N_TASKS];
	assert_int_equal(list_tasks(tasks), N_TASKS);
	find_paths(tasks, N_TASKS);
	assert_int_equal(tasks[0].path,
	                 9 * TILES - 10); /* potrf, trsm and gemm column by column, then syrk and potrf */
	factor_in_virtual_time(HEDDLE_DENSE_PRIORITY_PATH, tasks);
	for (const struct task *t = tasks; t < tasks + N_TASKS; t++)
		if (t->priority != t->path)
			fail_msg("%s (%d, %d, %d) with path %d has priority %d", t->codelet, t->k, t->m, t->n, t->path,
			         t->priority);
}

static void starpu_priorities_are_those_of_its_example(void **state)
{
	(void)state;
	struct task tasks[N_TASKS];
	list_tasks(tasks);
	factor_in_virtual_time(HEDDLE_DENSE_PRIORITY_STARPU, tasks);
	for (const struct task *t = tasks; t < tasks + N_TASKS; t++) {
		int expected = 2 * (TILES - t->k);
		if (strcmp(t->codelet, "dpotrf") != 0)
			expected -= t->m;
		if (strcmp(t->codelet, "dsyrk") == 0 || strcmp(t->codelet, "dgemm") == 0)
			expected -= t->n;
		assert_int_equal(t->priority, expected);
	}
}

static void no_priorities_are_all_the_same(void **state)
{
	(void)state;
	struct task tasks[N_TASKS];
	list_tasks(tasks);
	factor_in_virtual_time(HEDDLE_DENSE_PRIORITY_NONE, tasks);
	for (const struct task *t = tasks; t < tasks + N_TASKS; t++)
		assert_int_equal(t->priority, 0);
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

/* The last tiles are narrower than the others: every operation is asked for the extents that it really has. */
static void operations_of_the_tasks_add_up_to_those_of_the_factorisation(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .kernels = kernel_times};
	struct heddle_dense_problem problem = {.n = 47, .options = {.tile = 10}};
	struct heddle_dense_report report;
	heddle_dense *dense;
	double sum = 0, whole = heddle_dense_flops(&problem);
	machine_start(&m);
	OK(heddle_dense_open(m.rt, &dense));
	OK(heddle_dense_graph(dense, &problem, &report));
	struct heddle_trace *trace = machine_trace(&m);
	for (size_t i = 0; i < trace->n_tasks; i++)
		sum += trace->tasks[i].flops;
	if (!(fabs(sum - whole) <= 1e-12 * whole))
		fail_msg("the tasks have %g operations and the factorisation %g", sum, whole);
	heddle_trace_free(trace);
	heddle_dense_close(dense);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(residual_is_that_of_its_definition),
	    cmocka_unit_test(path_priorities_are_the_longest_paths),
	    cmocka_unit_test(starpu_priorities_are_those_of_its_example),
	    cmocka_unit_test(no_priorities_are_all_the_same),
	    cmocka_unit_test(operations_of_the_tasks_add_up_to_those_of_the_factorisation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
