/* The sparse QR factorisation in virtual time: makespans that repeat, the cut into subtrees, domains, and results that
 * are refused. */
#include "sparse_fixture.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sparse/tasks/tasks.h>

/* A runtime in virtual time, unless `platform` is NULL, and a factorisation on it. */
struct simulated {
	struct fixture f;
	struct heddle_sparse_matrix matrix;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
};

static void open_on(struct simulated *s, const char *platform, const char *sched, const char *matrix,
                    const struct heddle_sparse_analysis_options *analysis, const struct heddle_sparse_options *options)
{
	struct heddle_config config = config_of(sched, 2, 0);
	config.platform = platform;
	start(&s->f, &config);
	OK(heddle_sparse_generate(matrix, &s->matrix));
	OK(heddle_sparse_analyse(&s->matrix, analysis, &s->analysis));
	OK(heddle_sparse_qr_create(s->f.sparse, s->analysis, HEDDLE_DENSE_DOUBLE, options, &s->qr));
}

static void close_it(struct simulated *s)
{
	OK(heddle_sparse_qr_destroy(s->qr));
	heddle_sparse_analysis_free(s->analysis);
	heddle_sparse_matrix_free(&s->matrix);
	stop(&s->f);
}

/* Factorises, closes, and returns the makespan in us. */
static double factorise(struct simulated *s)
{
	struct heddle_stats stats;
	OK(heddle_sparse_factorise(s->qr, NULL));
	OK(heddle_runtime_stats(s->f.rt, &stats));
	close_it(s);
	return stats.makespan;
}

static double makespan_of(const char *sched, double relax)
{
	const struct heddle_sparse_options options = {.tile = 64, .relax = relax};
	struct simulated s;
	open_on(&s, "intel-v100", sched, "TF12", NULL, &options);
	return factorise(&s);
}

static void graphs_in_virtual_time_are_run_and_always_the_same(void **state)
{
	static const char *const policies[] = {"eager", "dmdas", "heteroprio", "multiprio", "lws"};
	(void)state;
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		double makespan = makespan_of(policies[i], (double)(i % 2));
		assert_true(makespan > 0);
		assert_true(makespan == makespan_of(policies[i], (double)(i % 2)));
	}
}

/* A bound that is larger than any memory bounds nothing. */
static void infinite_bounds_hold_nobody_up(void **state)
{
	(void)state;
	assert_true(makespan_of("eager", 1) > makespan_of("eager", 1000));
	assert_true(makespan_of("eager", INFINITY) == makespan_of("eager", 1000));
}

static size_t subtrees_on(const char *platform, double share, int workers)
{
	const struct heddle_sparse_analysis_options analysis = {.subtree = share, .workers = workers};
	const struct heddle_sparse_options options = {.tile = 512};
	struct simulated s;
	open_on(&s, platform, "eager", "TF14", &analysis, &options);
	size_t n = s.qr->analysis->n_subtrees;
	close_it(&s);
	return n;
}

/* Beside accelerators less is cut off, in smaller pieces; but what the options say is done everywhere. */
static void subtrees_suit_the_platform(void **state)
{
	(void)state;
	assert_true(subtrees_on("intel-v100", 0, 0) > subtrees_on(NULL, 0, 0));
	assert_int_equal(subtrees_on("intel-v100", 0.02, 0), subtrees_on("haswell-k40m", 0.02, 0));
	assert_int_equal(subtrees_on("intel-v100", 0, 4), subtrees_on("haswell-k40m", 0, 4));
}

/* The time of a front with 5000 rows and 100 columns. */
static double makespan_in_domains(size_t domain)
{
	const struct heddle_sparse_analysis_options analysis = {.subtree = -1};
	const struct heddle_sparse_options options = {.tile = 64, .domain = domain};
	struct simulated s;
	open_on(&s, "intel-v100", "dmdas", "random:5000,100,200,1", &analysis, &options);
	return factorise(&s);
}

static void tall_fronts_are_no_chain(void **state)
{
	(void)state;
	double flat = makespan_in_domains(1000);
	assert_true(makespan_in_domains(4) < flat / 2);
	assert_true(makespan_in_domains(0) < flat / 2);
}

/* Nothing is computed, though there are values. */
static void virtual_time_has_no_results(void **state)
{
	const struct heddle_sparse_analysis_options analysis = {.ordering = HEDDLE_SPARSE_COLAMD, .subtree = 0.05};
	const struct heddle_sparse_options options = {.tile = 16, .inner = 4};
	struct heddle_dense_array b = {HEDDLE_DENSE_DOUBLE, 99, 1, NULL, 99},
	                          x = {HEDDLE_DENSE_DOUBLE, 107, 1, NULL, 107};
	struct heddle_sparse_matrix r;
	struct simulated s;
	(void)state;
	b.data = calloc(99, sizeof(double));
	x.data = calloc(107, sizeof(double));
	open_on(&s, "intel-v100", "eager", "TF10", &analysis, &options);
	OK(heddle_sparse_factorise(s.qr, s.matrix.values));
	assert_int_equal(heddle_sparse_r(s.qr, &r), HEDDLE_E_STATE);
	assert_non_null(strstr(heddle_last_error(), "in virtual time nothing is computed"));
	assert_int_equal(heddle_sparse_solve(s.qr, &b, &x), HEDDLE_E_STATE);
	assert_int_equal(heddle_sparse_apply_q(s.qr, HEDDLE_DENSE_CONJ_TRANS, &x), HEDDLE_E_STATE);
	assert_int_equal(heddle_sparse_deficient_columns(s.qr, NULL), HEDDLE_E_STATE);
	OK(heddle_sparse_solve_submit(s.qr, &b, &x)); /* which takes its time */
	OK(heddle_wait_all(s.f.rt));
	free(b.data);
	free(x.data);
	close_it(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(graphs_in_virtual_time_are_run_and_always_the_same),
	    cmocka_unit_test(infinite_bounds_hold_nobody_up),
	    cmocka_unit_test(subtrees_suit_the_platform),
	    cmocka_unit_test(tall_fronts_are_no_chain),
	    cmocka_unit_test(virtual_time_has_no_results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
