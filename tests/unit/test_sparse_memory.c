/* Each allocation of the matrices, of the analysis, and of the thread that submits a factorisation and a solution fails
 * once: the call says so and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sparse/tasks/tasks.h>
#include "ok.h"
#include "failing_allocations.h"

static char path[64];

static int generate(void)
{
	struct heddle_sparse_matrix m;
	int status = heddle_sparse_generate("TF8", &m);
	if (!status)
		heddle_sparse_matrix_free(&m);
	return status;
}

static int generate_matchings(void)
{
	struct heddle_sparse_matrix m;
	int status = heddle_sparse_generate("mk7-b2", &m);
	if (!status)
		heddle_sparse_matrix_free(&m);
	return status;
}

static int read_file(void)
{
	struct heddle_sparse_matrix m;
	int status = heddle_sparse_read(path, &m);
	if (!status)
		heddle_sparse_matrix_free(&m);
	return status;
}

/* With a duplicate and with a dense row, which need memory of their own. */
static int analyse(void)
{
	int64_t start[71], row[300];
	struct heddle_sparse_matrix m = {.rows = 90, .columns = 70, .column_start = start, .row = row};
	size_t n = 0;
	for (int64_t j = 0; j < 70; j++) {
		start[j] = (int64_t)n;
		row[n++] = 0;
		row[n++] = j + 1;
		row[n++] = j + 2;
		row[n++] = j + 2;
	}
	start[70] = (int64_t)n;
	heddle_sparse_analysis *a = NULL;
	int status = heddle_sparse_analyse(&m, NULL, &a);
	heddle_sparse_analysis_free(a);
	return status;
}

static heddle_sparse *sparse;
static double share, tolerance;

static int factorise_and_solve(heddle_sparse_qr *qr, const struct heddle_sparse_matrix *m)
{
	double b[90] = {1}, x[70];
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, 90, 1, b, 90},
	                                of_x = {HEDDLE_DENSE_DOUBLE, 70, 1, x, 70};
	int status = heddle_sparse_factorise(qr, m->values);
	if (!status)
		status = heddle_sparse_solve(qr, &of_b, &of_x);
	if (!status && heddle_sparse_deficient_columns(qr, NULL) < 0)
		status = HEDDLE_E_MEMORY;
	if (!status) {
		assert_true(tolerance == 0 || tolerance == qr->tolerance); /* a guess would give another rank */
		tolerance = qr->tolerance;
	}
	return status;
}

static const char *factorised;
static struct heddle_sparse_options options;

static int factorise(void)
{
	const struct heddle_sparse_analysis_options analysis = {.ordering = HEDDLE_SPARSE_COLAMD, .subtree = share};
	struct heddle_sparse_matrix m;
	heddle_sparse_analysis *a = NULL;
	heddle_sparse_qr *qr = NULL;
	int status = heddle_sparse_generate(factorised, &m);
	if (status)
		return status;
	status = heddle_sparse_analyse(&m, &analysis, &a);
	if (!status)
		status = heddle_sparse_qr_create(sparse, a, m.precision, &options, &qr);
	if (!status)
		status = factorise_and_solve(qr, &m);
	heddle_sparse_qr_destroy(qr);
	heddle_sparse_analysis_free(a);
	heddle_sparse_matrix_free(&m);
	return status;
}

static void test_generate(void **state)
{
	(void)state;
	fail_each(generate, 10);
	fail_each(generate_matchings, 8);
}

static void test_read(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	snprintf(path, sizeof path, "%s/heddle-memory-%ld.mtx", P_tmpdir, (long)getpid());
	OK(heddle_sparse_generate("random:90,90,20,1", &m));
	OK(heddle_sparse_write(path, &m));
	heddle_sparse_matrix_free(&m);
	fail_each(read_file, 8);
	remove(path);
}

static void test_factorise(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt;
	OK(heddle_config_init(&config));
	config.n_cpu = 1;
	config.n_cuda = config.n_opencl = 0;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	OK(heddle_sparse_open(rt, &sparse));
	share = 0.2; /* on tiles, with a subtree, within a bound of memory */
	options = (struct heddle_sparse_options){.tile = 16, .relax = 1};
	factorised = "random:90,70,3,1";
	fail_each(factorise, 20);
	factorised = "random:90,70,3,1,12,4"; /* with dead pivots */
	tolerance = 0;
	fail_each(factorise, 40);
	share = -1; /* domains and strips */
	options = (struct heddle_sparse_options){.tile = 8, .inner = 4, .domain = 2, .strips = {4, 2}};
	fail_each(factorise, 40);
	heddle_sparse_close(sparse);
	heddle_stop(rt);
}

static void test_analyse(void **state)
{
	(void)state;
	fail_each(analyse, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_generate),
	    cmocka_unit_test(test_read),
	    cmocka_unit_test(test_analyse),
	    cmocka_unit_test(test_factorise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
