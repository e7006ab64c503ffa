/* Arguments of libheddle-dense that are missing: refused with a message that names the function and the argument. */
#include "dense_all_routines.h"
#include "ok.h"
#include <stdio.h>
#include <string.h>

static heddle_runtime *rt;

static double elements[3][64];
static const struct heddle_dense_array arrays[] = {{.rows = 8, .columns = 8, .data = elements[0], .ld = 8},
                                                   {.rows = 8, .columns = 8, .data = elements[1], .ld = 8},
                                                   {.rows = 8, .columns = 8, .data = elements[2], .ld = 8}};
static const struct heddle_dense_shape shape = {.rows = 8, .columns = 8, .tile = 4};

static int open_dense(void **state)
{
	(void)state;
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = 1;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
	OK(heddle_dense_matrix_create(dense, &shape, elements[0], 8, &a));
	OK(heddle_dense_matrix_create(dense, &shape, elements[1], 8, &b));
	OK(heddle_dense_matrix_create(dense, &shape, elements[2], 8, &c));
	OK(heddle_dense_qr_create(dense, &shape, NULL, &qr));
	OK(heddle_dense_pivots_create(a, NULL, &pivots));
	A = &arrays[0];
	B = &arrays[1];
	C = &arrays[2];
	return 0;
}

static int close_dense(void **state)
{
	(void)state;
	OK(heddle_dense_pivots_destroy(pivots));
	OK(heddle_dense_qr_destroy(qr));
	OK(heddle_dense_matrix_destroy(a));
	OK(heddle_dense_matrix_destroy(b));
	OK(heddle_dense_matrix_destroy(c));
	heddle_dense_close(dense);
	return heddle_stop(rt);
}

static void refused(int status, const char *sentence)
{
	if (status != HEDDLE_E_INVALID || !strstr(heddle_last_error(), sentence))
		fail_msg("%s: \"%s\", instead of \"%s\"", heddle_status_name(status), heddle_last_error(), sentence);
}

static void matrix_that_is_null_is_named(void **state)
{
	(void)state;
	char sentence[64];
	for (size_t r = 0; r < sizeof routines / sizeof *routines; r++)
		for (const char *letter = routines[r].matrices; *letter; letter++) {
			heddle_dense_matrix **m = *letter == 'A' ? &a : *letter == 'B' ? &b : &c, *matrix = *m;
			const struct heddle_dense_array **x = *letter == 'A'   ? &A
			                                      : *letter == 'B' ? &B
			                                                       : &C,
			                                *array = *x;
			snprintf(sentence, sizeof sentence, "%s: matrix %c is NULL", routines[r].name, *letter);
			*m = NULL;
			refused(routines[r].submit(), sentence);
			*m = matrix;
			*x = NULL;
			refused(routines[r].call(), sentence);
			*x = array;
		}
}

static void array_that_cannot_be_is_named(void **state)
{
	(void)state;
	char sentence[64];
	for (size_t r = 0; r < sizeof routines / sizeof *routines; r++)
		for (const char *letter = routines[r].matrices; *letter; letter++) {
			const struct heddle_dense_array **x = *letter == 'A'   ? &A
			                                      : *letter == 'B' ? &B
			                                                       : &C,
			                                *array = *x;
			struct heddle_dense_array narrow = *array;
			snprintf(sentence, sizeof sentence, "%s: matrix %c: leading dimension 7", routines[r].name,
			         *letter);
			narrow.ld = 7;
			*x = &narrow;
			refused(routines[r].call(), sentence);
			*x = array;
		}
}

static void dense_context_that_is_null_is_refused(void **state)
{
	(void)state;
	char sentence[64];
	heddle_dense *before = dense;
	for (size_t r = 0; r < sizeof routines / sizeof *routines; r++) {
		snprintf(sentence, sizeof sentence, "%s needs a dense context", routines[r].name);
		dense = NULL;
		int status = routines[r].call();
		dense = before;
		refused(status, sentence);
	}
}

static void other_functions_refuse_null(void **state)
{
	(void)state;
	double residual;
	const struct heddle_dense_problem problem = {.n = 8};
	heddle_dense_matrix *made;
	heddle_dense_qr *made_qr;
	heddle_dense_pivots *made_pivots;
	heddle_dense_experiment *experiment;
	refused(heddle_dense_open(NULL, &dense), "heddle_dense_open needs");
	refused(heddle_dense_open(rt, NULL), "heddle_dense_open needs");
	refused(heddle_dense_matrix_create(NULL, &shape, NULL, 1, &made), "heddle_dense_matrix_create needs");
	refused(heddle_dense_matrix_create(dense, NULL, NULL, 1, &made), "heddle_dense_matrix_create needs");
	refused(heddle_dense_matrix_create(dense, &shape, NULL, 1, NULL), "heddle_dense_matrix_create needs");
	refused(heddle_dense_copy_submit(NULL, a), "heddle_dense_copy_submit needs");
	refused(heddle_dense_copy_submit(a, NULL), "heddle_dense_copy_submit needs");
	refused(heddle_dense_random_submit(NULL, HEDDLE_DENSE_RANDOM, 1), "heddle_dense_random_submit needs");
	refused(heddle_dense_potrf_residual(LOWER, NULL, 1, &residual), "heddle_dense_potrf_residual needs");
	refused(heddle_dense_potrf_residual(LOWER, a, 1, NULL), "heddle_dense_potrf_residual needs");
	refused(heddle_dense_qr_create(NULL, &shape, NULL, &made_qr), "heddle_dense_qr_create needs");
	refused(heddle_dense_qr_create(dense, NULL, NULL, &made_qr), "heddle_dense_qr_create needs");
	refused(heddle_dense_qr_create(dense, &shape, NULL, NULL), "heddle_dense_qr_create needs");
	refused(heddle_dense_geqrf_submit(a, NULL, NULL), "geqrf needs a heddle_dense_qr");
	refused(heddle_dense_ormqr_submit(0, 0, a, NULL, c, NULL), "ormqr needs a heddle_dense_qr");
	refused(heddle_dense_ormqr(dense, 0, 0, A, NULL, C, NULL), "ormqr needs a heddle_dense_qr");
	refused(heddle_dense_pivots_create(NULL, NULL, &made_pivots), "heddle_dense_pivots_create needs");
	refused(heddle_dense_pivots_create(a, NULL, NULL), "heddle_dense_pivots_create needs");
	refused(heddle_dense_getrf_submit(a, NULL, NULL), "getrf needs a place for its pivots");
	refused(heddle_dense_experiment_open(NULL, &problem, &experiment), "needs a dense context");
	refused(heddle_dense_experiment_open(dense, NULL, &experiment), "needs a dense context, a problem");
	refused(heddle_dense_experiment_open(dense, &problem, NULL), "a place for its result");
	refused(heddle_dense_experiment_fill(NULL), "heddle_dense_experiment_fill needs an experiment");
	refused(heddle_dense_experiment_submit(NULL), "heddle_dense_experiment_submit needs an experiment");
	refused(heddle_dense_experiment_residual(NULL, &residual), "heddle_dense_experiment_residual needs");
	refused(heddle_dense_run(dense, NULL, NULL), "needs a dense context, a problem");
	refused(heddle_dense_graph(NULL, &problem, NULL), "needs a dense context");
	assert_null(heddle_dense_tile(NULL, 0, 0));
	assert_int_equal(heddle_dense_matrix_shape(NULL).rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(matrix_that_is_null_is_named),
	    cmocka_unit_test(array_that_cannot_be_is_named),
	    cmocka_unit_test(dense_context_that_is_null_is_refused),
	    cmocka_unit_test(other_functions_refuse_null),
	};
	return cmocka_run_group_tests(tests, open_dense, close_dense);
}
