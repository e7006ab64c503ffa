/* The sparse QR factorisation: results by their definitions and beside LAPACK's on random matrices, matrices of every
 * odd shape, new values, right-hand sides that follow without a wait, memory within a bound, errors with their places,
 * accelerators. */
#include "../sanitized.h"
#include "../machine.h"
#include "dense_views.h"
#include "ok.h"
#include "sparse_fixture.h"
#include "sparse_qr_patterns.h"
#include <pthread.h>
#include <dense/kernels/halves.h>
#include <sparse/tasks/tasks.h>

/* --- Runtimes ----------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	struct heddle_config config = config_of("eager", 2, 0);
	config.expand = "always"; /* tasks on tiles that have strips */
	return set_up_with(state, &config);
}

enum { ROUNDS = 120 };

#define HD_TEMPLATE <unit/sparse_qr_tests.h>
#include <dense/kernels/precisions.h>

/* --- Odd shapes --------------------------------------------------------------------------------------------------- */

static void factorise_pattern(struct fixture *f, struct pattern pattern)
{
	for (int round = 0; round < 4; round++) {
		struct hd_rng c = rng_of((uint64_t)round);
		const struct settings_of_qr s = random_settings(&c);
		struct hd_d_problem p;
		hd_d_make_matrix(&c, &pattern, &p);
		hd_d_open(f, &s, &p);
		hd_d_check_factors(&p);
		hd_d_check_solve(&c, &p);
		hd_d_close(&p);
	}
}

static void matrices_of_every_odd_shape_are_factorised(void **state)
{
	struct fixture *f = *state;
	const struct pattern none = {0, 0, 0, -1, -1, -1, -1, 1, 0};
	const int shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 1}, {1, 7}, {30, 30}, {50, 20}, {20, 50}};
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		struct pattern p = none;
		p.m = shapes[s][0];
		p.n = shapes[s][1];
		factorise_pattern(f, p); /* a diagonal: a forest of single columns */
		p.per_thousand = 1000;
		factorise_pattern(f, p);
		p.per_thousand = 80;
		p.dense_row = p.m / 2;
		p.dense_column = p.n / 2;
		p.empty_row = p.m / 3;
		factorise_pattern(f, p);
		p.empty_column = p.n / 3;
		factorise_pattern(f, p);
	}
}

/* --- The graph ---------------------------------------------------------------------------------------------------- */

static const struct pattern usual = {70, 50, 60, -1, -1, -1, -1, 1, 0};

static struct settings_of_qr usual_settings(void)
{
	return (struct settings_of_qr){{.ordering = HEDDLE_SPARSE_COLAMD, .subtree = 0.05}, {.tile = 16, .inner = 4}};
}

/* Values, factorisation, solution, other values, their factorisation and solution: one wait at the end. */
static void calls_that_only_submit_follow_each_other(void **state)
{
	struct fixture *f = *state;
	const struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(3);
	struct hd_d_problem p;
	hd_d_make_matrix(&c, &usual, &p);
	hd_d_open(f, &s, &p);
	struct hd_d_view b = hd_d_random_view(usual.m, 3, 5), x = hd_d_zeros(usual.n, 3, 0), y = hd_d_copy(x);
	struct heddle_dense_array of_b = hd_d_array(b), of_x = hd_d_array(x), of_y = hd_d_array(y);
	size_t n = (size_t)p.sparse.column_start[usual.n];
	double *first = p.sparse.values, *second = malloc(n * sizeof *second);
	for (size_t e = 0; e < n; e++)
		second[e] = 3 * first[e];
	OK(heddle_sparse_factorise_submit(p.qr, second));
	OK(heddle_sparse_solve_submit(p.qr, &of_b, &of_y));
	OK(heddle_sparse_factorise_submit(p.qr, first));
	OK(heddle_sparse_solve_submit(p.qr, &of_b, &of_x));
	OK(heddle_wait_all(f->rt));
	hd_d_check_solution(&p, b, x);
	for (int j = 0; j < y.n; j++)
		for (int i = 0; i < y.m; i++)
			*hd_d_at(y, i, j) *= 3;
	hd_d_check_same(x, y, 100 * hd_d_norm(x));
	/* destroyed while its tasks run */
	OK(heddle_sparse_factorise_submit(p.qr, first));
	OK(heddle_sparse_solve_submit(p.qr, &of_b, &of_x));
	hd_d_close(&p);
	OK(heddle_wait_all(f->rt));
	hd_d_free_view(b), hd_d_free_view(x), hd_d_free_view(y);
	free(second);
}

static void every_policy_gives_the_same(void **state)
{
	static const char *const policies[] = {"eager", "lws", "dmdas", "heteroprio", "multiprio", "random"};
	(void)state;
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		struct heddle_config config = config_of(policies[i], 2, 2);
		struct fixture f;
		struct settings_of_qr s = usual_settings();
		struct hd_rng c = rng_of(9);
		struct hd_d_problem p;
		s.options.relax = (double)(i % 2);
		config.emulated_memory = 100000; /* less than the fronts need */
		start(&f, &config);
		hd_d_make_matrix(&c, &usual, &p);
		hd_d_open(&f, &s, &p);
		hd_d_check_factors(&p);
		hd_d_check_solve(&c, &p);
		hd_d_close(&p);
		stop(&f);
	}
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 4, LAPS = 6, PLACES = 70 };

/* What a thread does with a factorisation of its own, and with an analysis that all of them share. */
struct lap_runner {
	struct fixture *f;
	const struct hd_d_problem *p;
	double x[PLACES];
	int status;
};

/* Factorises, solves, analyses again, makes and destroys; in some laps while tasks run. */
static int run_lap(struct lap_runner *r, int lap)
{
	const struct settings_of_qr s = usual_settings();
	double b[PLACES] = {1};
	const struct heddle_dense_array of_b = {HEDDLE_DENSE_DOUBLE, (size_t)r->p->full.m, 1, b, PLACES},
	                                of_x = {HEDDLE_DENSE_DOUBLE, (size_t)r->p->full.n, 1, r->x, PLACES};
	heddle_sparse_analysis *own = NULL;
	heddle_sparse_qr *qr = NULL;
	int status = lap % 2 ? heddle_sparse_analyse(&r->p->sparse, &s.analysis, &own) : 0;
	if (status >= 0)
		status = heddle_sparse_qr_create(r->f->sparse, own ? own : r->p->analysis, HEDDLE_DENSE_DOUBLE,
		                                 &s.options, &qr);
	if (status >= 0)
		status = heddle_sparse_factorise_submit(qr, r->p->sparse.values);
	if (status >= 0)
		status = lap % 3 ? heddle_sparse_solve(qr, &of_b, &of_x) : heddle_sparse_solve_submit(qr, &of_b, &of_x);
	int destroyed = heddle_sparse_qr_destroy(qr);
	heddle_sparse_analysis_free(own);
	return status < 0 ? status : destroyed;
}

static void *run_laps(void *arg)
{
	struct lap_runner *r = arg;
	for (int lap = 0; lap < LAPS && r->status >= 0; lap++)
		r->status = run_lap(r, lap);
	return NULL;
}

static void threads_have_factorisations_of_their_own(void **state)
{
	struct fixture *f = *state;
	const struct settings_of_qr s = usual_settings();
	struct lap_runner runners[THREADS];
	struct hd_rng c = rng_of(12);
	struct hd_d_problem p;
	pthread_t threads[THREADS];
	hd_d_make_matrix(&c, &usual, &p);
	hd_d_open(f, &s, &p);
	for (int t = 0; t < THREADS; t++) {
		runners[t] = (struct lap_runner){f, &p, {0}, 0};
		assert_int_equal(pthread_create(&threads[t], NULL, run_laps, &runners[t]), 0);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	OK(heddle_wait_all(f->rt));
	for (int t = 0; t < THREADS; t++) {
		OK(runners[t].status);
		assert_memory_equal(runners[t].x, runners[0].x, sizeof runners[0].x);
	}
	assert_true(fabs(runners[0].x[0]) > 0);
	hd_d_close(&p);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

enum { BLOCKS = 12, BLOCK_ROWS = 90, BLOCK_COLUMNS = 30, BLOCK = BLOCK_ROWS * BLOCK_COLUMNS };

/* Dense blocks on the diagonal: a forest of fronts, each of which has far more reflectors than R. */
static void make_blocks(struct hd_d_problem *p)
{
	enum { N = BLOCKS * BLOCK };
	int64_t *row = malloc(N * sizeof *row), *column = malloc(N * sizeof *column);
	double *values = malloc(N * sizeof *values);
	struct hd_rng c = rng_of(1);
	for (int e = 0; e < N; e++) {
		row[e] = e / BLOCK * BLOCK_ROWS + e % BLOCK % BLOCK_ROWS;
		column[e] = e / BLOCK_ROWS;
		values[e] = hd_rng_uniform(&c);
	}
	*p = (struct hd_d_problem){.full = hd_d_new_view(0, 0)};
	OK(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, BLOCKS * BLOCK_ROWS, BLOCKS * BLOCK_COLUMNS, N, row, column,
	                               values, &p->sparse));
	free(row), free(column), free(values);
}

/* A task that keeps a worker busy until the gate is opened. */
static int wait_at_gate(heddle_context *c)
{
	pthread_mutex_t *gate = heddle_get(c, 0, pthread_mutex_t *);
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return 0;
}

/* Factorises while nothing is run until all is submitted. */
static void factorise_behind_gate(struct fixture *f, struct hd_d_problem *p)
{
	heddle_codelet *codelet = heddle_codelet_new(f->rt, .name = "gate", .cpu = wait_at_gate);
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, *at = &gate;
	pthread_mutex_lock(&gate);
	for (unsigned w = 0; w < heddle_runtime_platform(f->rt)->n_workers; w++)
		OK(heddle_submit(f->rt, heddle_call(codelet), heddle_on(w), heddle_value(at)));
	OK(heddle_sparse_factorise_submit(p->qr, p->sparse.values));
	pthread_mutex_unlock(&gate);
	OK(heddle_wait_all(f->rt));
}

/* The most bytes of data that a factorisation without Q has had at once, and the peak of one in postorder. No front is
 * in a subtree. */
static double peak_with(double relax, const char *sched, double *in_postorder)
{
	struct settings_of_qr s = {{.subtree = -1}, {.tile = 10, .inner = 5, .relax = relax, .drop_q = 1}};
	const struct heddle_config config = config_of(sched, 2, 0);
	struct heddle_memory_stats memory;
	struct hd_d_problem p;
	struct fixture f;
	start(&f, &config);
	make_blocks(&p);
	OK(heddle_sparse_analyse(&p.sparse, &s.analysis, &p.analysis));
	OK(heddle_sparse_qr_create(f.sparse, p.analysis, HEDDLE_DENSE_DOUBLE, &s.options, &p.qr));
	if (relax > 0)
		OK(heddle_sparse_factorise(p.qr, p.sparse.values));
	else
		factorise_behind_gate(&f, &p);
	OK(heddle_runtime_memory_stats(f.rt, 0, &memory));
	*in_postorder = (double)hd_sparse_peak(p.qr) * sizeof(double);
	hd_d_close(&p);
	stop(&f);
	return (double)memory.peak;
}

static void memory_stays_within_its_bound(void **state)
{
	static const char *const policies[] = {"eager", "lws", "prio", "dmdas"};
	(void)state;
	double work = (double)heddle_dense_qr_workspace(10, 5) * sizeof(double) * cores_up_to(2), least;
	assert_true(peak_with(0, "eager", &least) > 2 * least);
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		for (double relax = 1; relax < 2; relax += 0.25) {
			double peak = peak_with(relax, policies[i], &least);
			if (peak > least * relax + work)
				fail_msg("%s: %g bytes, %g allowed", policies[i], peak, least * relax + work);
		}
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static void check_bad_value(struct fixture *f, double value, const char *what, double share)
{
	struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(4);
	struct hd_d_problem p;
	char expected[80];
	s.analysis.subtree = share;
	for (int transposed = 0; transposed < 2; transposed++) {
		struct pattern pattern = usual;
		if (transposed) {
			pattern.m = usual.n;
			pattern.n = usual.m;
		}
		hd_d_make_matrix(&c, &pattern, &p);
		double *values = p.sparse.values, *bad = &values[p.sparse.column_start[20]], good = *bad;
		hd_d_open(f, &s, &p);
		*bad = value;
		assert_int_equal(heddle_sparse_factorise(p.qr, values), HEDDLE_E_KERNEL);
		snprintf(expected, sizeof expected, "matrix A has %s in row %d, column 21 (counted from 1)", what,
		         (int)p.sparse.row[p.sparse.column_start[20]] + 1);
		assert_non_null(strstr(heddle_last_error(), expected));
		*bad = good;
		OK(heddle_sparse_factorise(p.qr, values));
		hd_d_check_factors(&p);
		hd_d_close(&p);
	}
	OK(heddle_wait_all(f->rt));
}

static void values_that_are_no_numbers_are_named(void **state)
{
	for (double share = -1; share <= 1; share += 2) {
		check_bad_value(*state, NAN, "NaN", share);
		check_bad_value(*state, -INFINITY, "an infinite value", share);
	}
}

/* Column 7 is the sum of columns 3 and 5. */
static void columns_that_depend_on_others_are_named(void **state)
{
	struct fixture *f = *state;
	for (double share = -1; share <= 1; share += 2) {
		struct settings_of_qr s = usual_settings();
		struct pattern dense = usual;
		struct hd_rng c = rng_of(6);
		struct hd_d_problem p;
		const int64_t *columns;
		dense.per_thousand = 1000;
		s.analysis.subtree = share;
		s.analysis.ordering = HEDDLE_SPARSE_NATURAL;
		hd_d_make_matrix(&c, &dense, &p);
		double *values = p.sparse.values;
		for (int64_t e = 0; e < p.sparse.column_start[dense.n]; e++)
			values[e] = 0;
		for (int j = 0; j < dense.n; j++)
			for (int i = 0; i < dense.m; i++) {
				int64_t e = p.sparse.column_start[j];
				while (p.sparse.row[e] != i)
					e++;
				values[e] =
				    j == 7 ? *hd_d_at(p.full, i, 3) + *hd_d_at(p.full, i, 5) : *hd_d_at(p.full, i, j);
			}
		hd_d_open(f, &s, &p);
		assert_int_equal(heddle_sparse_deficient_columns(p.qr, &columns), 1);
		assert_int_equal(columns[0], 7);
		struct hd_d_view b = hd_d_zeros(dense.m, 1, 1), x = hd_d_zeros(dense.n, 1, 0);
		struct heddle_dense_array of_b = hd_d_array(b), of_x = hd_d_array(x);
		OK(heddle_sparse_solve_submit(p.qr, &of_b, &of_x)); /* which does not wait for the rank */
		assert_int_equal(heddle_wait_all(f->rt), HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "its column 8 (counted from 1) depends on others"));
		assert_non_null(strstr(heddle_last_error(), "heddle_sparse_solve finds a solution"));
		hd_d_free_view(b), hd_d_free_view(x);
		hd_d_close(&p);
	}
}

static void wrong_calls_are_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;
	struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(2);
	struct hd_d_problem p;
	heddle_sparse_qr *qr;
	hd_d_make_matrix(&c, &usual, &p);
	OK(heddle_sparse_analyse(&p.sparse, NULL, &p.analysis));
	OK(heddle_sparse_qr_create(f->sparse, p.analysis, HEDDLE_DENSE_DOUBLE, NULL, &p.qr));
	struct hd_d_view b = hd_d_random_view(usual.m, 1, 1), x = hd_d_zeros(usual.n, 1, 0);
	struct heddle_dense_array of_b = hd_d_array(b), of_x = hd_d_array(x);
	assert_int_equal(heddle_sparse_solve(p.qr, &of_b, &of_x), HEDDLE_E_STATE);
	assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), HEDDLE_E_STATE);
	assert_int_equal(heddle_sparse_factorise(p.qr, NULL), HEDDLE_E_KERNEL);
	assert_non_null(strstr(heddle_last_error(), "submitted without values"));
	assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), HEDDLE_E_STATE);
	OK(heddle_sparse_factorise(p.qr, p.sparse.values));
	assert_int_equal(heddle_sparse_solve(p.qr, &of_x, &of_x), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "array b has precision 0, 50 rows"));
	assert_int_equal(heddle_sparse_solve(p.qr, &of_b, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_apply_q(p.qr, (enum heddle_dense_trans)3, &of_b), HEDDLE_E_INVALID);
	s.options.relax = 0.5;
	assert_int_equal(heddle_sparse_qr_create(f->sparse, p.analysis, HEDDLE_DENSE_DOUBLE, &s.options, &qr),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "relax is 0.5"));
	s.options.relax = 0;
	s.options.tolerance = NAN;
	assert_int_equal(heddle_sparse_qr_create(f->sparse, p.analysis, HEDDLE_DENSE_DOUBLE, &s.options, &qr),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "tolerance is nan"));
	s.options.tolerance = 0;
	struct heddle_dense_array too_wide = of_b;
	too_wide.columns = SIZE_MAX / (size_t)usual.m + 2; /* rows times columns is not a size_t */
	assert_int_equal(heddle_sparse_apply_q(p.qr, HEDDLE_DENSE_NO_TRANS, &too_wide), HEDDLE_E_INVALID);
	s.options.drop_q = 1;
	OK(heddle_sparse_qr_create(f->sparse, p.analysis, HEDDLE_DENSE_DOUBLE, &s.options, &qr));
	OK(heddle_sparse_factorise(qr, p.sparse.values));
	assert_int_equal(heddle_sparse_deficient_columns(qr, NULL), 0);
	assert_int_equal(heddle_sparse_solve(qr, &of_b, &of_x), HEDDLE_E_STATE);
	assert_non_null(strstr(heddle_last_error(), "reflectors were dropped"));
	OK(heddle_sparse_qr_destroy(qr));
	hd_d_free_view(b), hd_d_free_view(x);
	hd_d_close(&p);
}

/* What a callback has been told. */
struct refusals {
	heddle_sparse_qr *qr;
	const void *values;
	const struct heddle_dense_array *b, *x;
	int factorise, solve, destroy, rank, r;
};

static void call_all(void *arg, int status)
{
	struct refusals *r = arg;
	(void)status;
	r->factorise = heddle_sparse_factorise(r->qr, r->values);
	r->solve = heddle_sparse_solve(r->qr, r->b, r->x);
	r->destroy = heddle_sparse_qr_destroy(r->qr);
	r->rank = (int)heddle_sparse_deficient_columns(r->qr, NULL);
	r->r = heddle_sparse_r(r->qr, &(struct heddle_sparse_matrix){.values = NULL});
}

/* A callback must not wait: it is refused before anything is submitted or freed. */
static void callbacks_that_would_wait_change_nothing(void **state)
{
	struct fixture *f = *state;
	struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(2);
	for (int bounded = 0; bounded < 2; bounded++) { /* then the rank is known */
		struct hd_d_problem p;
		struct heddle_stats before, after;
		s.options.relax = bounded;
		hd_d_make_matrix(&c, &usual, &p);
		hd_d_open(f, &s, &p);
		struct hd_d_view b = hd_d_random_view(usual.m, 1, 1), x = hd_d_zeros(usual.n, 1, 0);
		struct heddle_dense_array of_b = hd_d_array(b), of_x = hd_d_array(x);
		struct refusals r = {p.qr, p.sparse.values, &of_b, &of_x, 0, 0, 0, 0, 0};
		OK(heddle_wait_all(f->rt));
		if (bounded)
			assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), 0);
		OK(heddle_runtime_stats(f->rt, &before));
		OK(heddle_submit(f->rt, heddle_then(call_all, &r)));
		OK(heddle_wait_all(f->rt));
		OK(heddle_runtime_stats(f->rt, &after));
		assert_int_equal(r.factorise, HEDDLE_E_STATE);
		assert_int_equal(r.solve, HEDDLE_E_STATE);
		assert_int_equal(r.destroy, HEDDLE_E_STATE);
		assert_int_equal(r.rank, HEDDLE_E_STATE);
		assert_int_equal(r.r, HEDDLE_E_STATE);
		assert_true(after.tasks_submitted <= before.tasks_submitted + 1);
		hd_d_check_factors(&p);
		hd_d_free_view(b), hd_d_free_view(x);
		hd_d_close(&p);
	}
}

static int call_in_kernel(heddle_context *c)
{
	struct refusals *r = heddle_get(c, 0, struct refusals *);
	r->rank = (int)heddle_sparse_deficient_columns(r->qr, NULL);
	r->r = heddle_sparse_r(r->qr, &(struct heddle_sparse_matrix){.values = NULL});
	r->solve = heddle_sparse_solve(r->qr, r->b, r->x);
	return 0;
}

/* R is read by heddle_acquire, which kernels may not call, and the rank is found in it. */
static void kernels_have_results_of_known_rank(void **state)
{
	struct fixture *f = *state;
	const struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(2);
	heddle_codelet *codelet = heddle_codelet_new(f->rt, .name = "asks", .cpu = call_in_kernel);
	for (int is_known = 0; is_known < 2; is_known++) {
		struct hd_d_problem p;
		hd_d_make_matrix(&c, &usual, &p);
		hd_d_open(f, &s, &p);
		struct hd_d_view b = hd_d_random_view(usual.m, 1, 1), x = hd_d_zeros(usual.n, 1, 0);
		struct heddle_dense_array of_b = hd_d_array(b), of_x = hd_d_array(x);
		struct refusals r = {p.qr, p.sparse.values, &of_b, &of_x, 0, 0, 0, 0, 0}, *at = &r;
		if (is_known)
			assert_int_equal(heddle_sparse_deficient_columns(p.qr, NULL), 0);
		OK(heddle_submit(f->rt, heddle_call(codelet), heddle_value(at)));
		OK(heddle_wait_all(f->rt));
		assert_int_equal(r.rank, is_known ? 0 : HEDDLE_E_STATE);
		assert_int_equal(r.solve, is_known ? 0 : HEDDLE_E_STATE);
		assert_int_equal(r.r, HEDDLE_E_STATE);
		if (is_known)
			hd_d_check_solution(&p, b, x);
		hd_d_check_factors(&p);
		hd_d_free_view(b), hd_d_free_view(x);
		hd_d_close(&p);
	}
}

static void tasks_on_tiles_become_tasks_on_strips(void **state)
{
	struct fixture *f = *state;
	struct settings_of_qr s = usual_settings();
	for (int strips = 0; strips < 2; strips++) {
		struct hd_rng c = rng_of(8);
		struct heddle_stats before, after;
		struct hd_d_problem p;
		s.analysis.subtree = -1;
		s.options.strips[0] = strips ? 8 : 0;
		s.options.strips[1] = strips ? 4 : 0;
		OK(heddle_runtime_stats(f->rt, &before));
		hd_d_make_matrix(&c, &usual, &p);
		hd_d_open(f, &s, &p);
		hd_d_check_factors(&p);
		hd_d_check_solve(&c, &p);
		OK(heddle_runtime_stats(f->rt, &after));
		assert_int_equal(after.tasks_expanded > before.tasks_expanded, strips);
		hd_d_close(&p);
	}
}

static size_t elements_of(heddle_data *data)
{
	struct heddle_part part;
	OK(heddle_data_part(data, 0, &part));
	return part.n[0] * part.n[1];
}

/* Tiles and panels that are larger than all fronts do not make workspaces larger. */
static void huge_tiles_take_no_more_memory_than_fronts(void **state)
{
	struct fixture *f = *state;
	struct settings_of_qr s = usual_settings();
	struct hd_rng c = rng_of(3);
	for (double share = -1; share <= 1; share += 2) {
		struct hd_d_problem p;
		s.analysis.subtree = share;
		s.options.tile = s.options.inner = INT32_MAX / 64;
		hd_d_make_matrix(&c, &usual, &p);
		hd_d_open(f, &s, &p);
		assert_true(elements_of(p.qr->small_work) < 1 << 20);
		assert_true(elements_of(p.qr->tile_work) < 1 << 20);
		hd_d_check_factors(&p);
		hd_d_close(&p);
	}
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TESTS_OF(letter) WITH_RUNTIME(hd_##letter##_random_matrices_are_factorised)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TESTS_OF_ALL,
	    WITH_RUNTIME(matrices_of_every_odd_shape_are_factorised),
	    WITH_RUNTIME(calls_that_only_submit_follow_each_other),
	    WITH_RUNTIME(threads_have_factorisations_of_their_own),
	    cmocka_unit_test(every_policy_gives_the_same),
	    cmocka_unit_test(memory_stays_within_its_bound),
	    WITH_RUNTIME(values_that_are_no_numbers_are_named),
	    WITH_RUNTIME(columns_that_depend_on_others_are_named),
	    WITH_RUNTIME(wrong_calls_are_refused_with_a_reason),
	    WITH_RUNTIME(callbacks_that_would_wait_change_nothing),
	    WITH_RUNTIME(kernels_have_results_of_known_rank),
	    WITH_RUNTIME(tasks_on_tiles_become_tasks_on_strips),
	    WITH_RUNTIME(huge_tiles_take_no_more_memory_than_fronts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
