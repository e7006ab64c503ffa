/* Every routine of libheddle-dense in all its forms: calls that wait in place and in the tiled layout, and submissions
 * on windows and on temporaries give the same; nothing happens to matrices without elements; NaN and Inf are said with
 * their place, and matrices that a routine only reads may lie in memory that cannot be written. In four precisions. */
#define _GNU_SOURCE
#include "dense_all_routines.h"
#include "../machine.h"
#include "ok.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TILE = 16, LARGEST = 3 * TILE + 7, WIDTH = TILE + 5, BEYOND = 3 };
enum { IN_PLACE, TILED, WINDOWS, TEMPORARIES, N_FORMS }; /* the first two wait, the others only submit */

static heddle_runtime *rt;

static void open_runtime(int n_emulated)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(n_emulated ? 1 : 2);
	config.n_emulated = n_emulated;
	config.sched = n_emulated ? "random" : "eager";
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	OK(heddle_dense_open(rt, &dense));
}

static void close_runtime(void)
{
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

/* The arrays of a call, and what it has submitted with. */
static struct heddle_dense_array arrays[3];
static const struct heddle_dense_array **const given[] = {&A, &B, &C};
static heddle_dense_matrix **const matrices[] = {&a, &b, &c};
static int ipiv[LARGEST];

static int is_double(const struct heddle_dense_array *x)
{
	return x->precision == HEDDLE_DENSE_DOUBLE || x->precision == HEDDLE_DENSE_COMPLEX_DOUBLE;
}

static size_t parts_of(const struct heddle_dense_array *x) /* real and imaginary */
{
	return x->precision >= HEDDLE_DENSE_COMPLEX_DOUBLE ? 2 : 1;
}

static void set(const struct heddle_dense_array *x, size_t i, size_t j, size_t part, double value)
{
	size_t place = (i + j * x->ld) * parts_of(x) + part;
	if (is_double(x))
		((double *)x->data)[place] = value;
	else
		((float *)x->data)[place] = (float)value;
}

static double get(const struct heddle_dense_array *x, size_t i, size_t j, size_t part)
{
	size_t place = (i + j * x->ld) * parts_of(x) + part;
	return is_double(x) ? ((double *)x->data)[place] : (double)((float *)x->data)[place];
}

/* Random, with a diagonal that makes each square matrix regular, and its lower triangle that of a definite one. A
 * matrix without elements has no data either. */
static struct heddle_dense_array new_array(enum heddle_dense_precision precision, size_t rows, size_t columns)
{
	struct heddle_dense_array x = {
	    .precision = precision, .rows = rows, .columns = columns, .ld = rows ? rows + BEYOND : 0};
	if (rows == 0 || columns == 0)
		return x;
	x.data = malloc(x.ld * columns * 2 * sizeof(double));
	for (size_t j = 0; j < columns; j++)
		for (size_t i = 0; i < x.ld; i++)
			for (size_t part = 0; part < parts_of(&x); part++) {
				double element = (double)((7 * i + 13 * j * j + 5 * i * j + part) % 31) / 31 - 0.5;
				set(&x, i, j, part, i != j ? element : part ? 0 : (double)LARGEST);
			}
	return x;
}

/* A is n x n, the others n x w; but syrk and herk have A n x w and C n x n. */
static void make_arrays(size_t r, enum heddle_dense_precision precision, size_t n, size_t w)
{
	int rank = strstr("syrk herk", routines[r].name) != NULL;
	memset(arrays, 0, sizeof arrays);
	for (const char *letter = routines[r].matrices; *letter; letter++) {
		int square = rank ? *letter == 'C' : *letter == 'A';
		arrays[*letter - 'A'] = new_array(precision, n, square ? n : w);
		*given[*letter - 'A'] = &arrays[*letter - 'A'];
	}
}

static void free_arrays(void)
{
	for (size_t i = 0; i < 3; i++)
		free(arrays[i].data);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static void open_matrices(size_t r, int temporary)
{
	for (const char *letter = routines[r].matrices; *letter; letter++) {
		struct heddle_dense_array *x = &arrays[*letter - 'A'];
		struct heddle_dense_shape shape = {
		    .precision = x->precision, .rows = x->rows, .columns = x->columns, .tile = TILE};
		heddle_dense_matrix *windows, **made = matrices[*letter - 'A'];
		OK(heddle_dense_matrix_create(dense, &shape, x->data, x->ld, &windows));
		*made = windows;
		if (!temporary)
			continue;
		OK(heddle_dense_matrix_create(dense, &shape, NULL, 0, made));
		OK(heddle_dense_copy_submit(*made, windows));
		OK(heddle_dense_matrix_destroy(windows));
	}
}

static void close_matrices(size_t r, int temporary)
{
	for (const char *letter = routines[r].matrices; *letter; letter++) {
		struct heddle_dense_array *x = &arrays[*letter - 'A'];
		heddle_dense_matrix *windows, *made = *matrices[*letter - 'A'];
		struct heddle_dense_shape shape = heddle_dense_matrix_shape(made);
		if (temporary) {
			OK(heddle_dense_matrix_create(dense, &shape, x->data, x->ld, &windows));
			OK(heddle_dense_copy_submit(windows, made));
			OK(heddle_dense_matrix_destroy(windows));
		}
		OK(heddle_dense_matrix_destroy(made));
	}
}

/* Makes what some routines need besides their matrices. */
static void prepare(size_t r, int form)
{
	const struct heddle_dense_shape of_a = {
	    .precision = A->precision, .rows = A->rows, .columns = A->columns, .tile = TILE};
	qr = NULL;
	pivots = NULL;
	if (strcmp(routines[r].name, "ormqr") == 0)
		OK(heddle_dense_geqrf(dense, A, &qr, options));
	if (form >= WINDOWS && strcmp(routines[r].name, "geqrf") == 0)
		OK(heddle_dense_qr_create(dense, &of_a, options, &qr));
}

static int run(size_t r, int form)
{
	int submits = form >= WINDOWS, has_pivots = strstr("getrf gesv", routines[r].name) != NULL;
	if (!submits)
		return routines[r].call();
	open_matrices(r, form == TEMPORARIES);
	if (has_pivots)
		OK(heddle_dense_pivots_create(a, ipiv, &pivots));
	int status = routines[r].submit();
	OK(heddle_wait_all(rt));
	OK(heddle_dense_pivots_destroy(pivots));
	close_matrices(r, form == TEMPORARIES);
	return status;
}

/* Runs the routine on new arrays, which remain. */
static void call_form(size_t r, enum heddle_dense_precision precision, size_t n, size_t w, int form)
{
	size_t info = 99;
	struct heddle_dense_options with_tile = {
	    .tile = TILE, .layout = form == TILED ? HEDDLE_DENSE_TILED : HEDDLE_DENSE_IN_PLACE, .info = &info};
	options = &with_tile;
	make_arrays(r, precision, n, w);
	prepare(r, form);
	int status = run(r, form);
	if (status < 0)
		fail_msg("%s, precision %d, %zu x %zu, form %d: %s", routines[r].name, (int)precision, n, w, form,
		         heddle_last_error());
	assert_int_equal(info, 0);
	OK(heddle_dense_qr_destroy(qr));
}

/* Fails if an array differs from that of the first form; what is beyond its rows must be the very same. */
static void check_same(size_t r, const struct heddle_dense_array *expected, int form)
{
	for (size_t m = 0; m < 3; m++) {
		const struct heddle_dense_array *x = &arrays[m];
		double allowed = is_double(x) ? 1e-11 : 1e-3;
		for (size_t j = 0; j < x->columns; j++)
			for (size_t i = 0; i < x->ld && x->data; i++)
				for (size_t part = 0; part < parts_of(x); part++) {
					double ours = get(x, i, j, part), theirs = get(&expected[m], i, j, part);
					if (!(fabs(ours - theirs) <= (i < x->rows ? allowed : 0)))
						fail_msg(
						    "%s, precision %d, %zu rows, form %d: matrix %c has %g instead of "
						    "%g in row %zu, column %zu",
						    routines[r].name, (int)x->precision, x->rows, form, "ABC"[m], ours,
						    theirs, i + 1, j + 1);
				}
	}
}

static void compare_forms(size_t n, size_t w)
{
	for (size_t r = 0; r < N_ROUTINES; r++)
		for (unsigned precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++) {
			struct heddle_dense_array first[3];
			call_form(r, precision, n, w, IN_PLACE);
			memcpy(first, arrays, sizeof first);
			for (int form = TILED; form < N_FORMS; form++) {
				call_form(r, precision, n, w, form);
				check_same(r, first, form);
				free_arrays();
			}
			memcpy(arrays, first, sizeof first);
			free_arrays();
		}
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

static void all_forms_give_equal_results(void **state)
{
	static const size_t extents[] = {1, 2, TILE - 1, TILE, TILE + 1, LARGEST};
	(void)state;
	for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
		compare_forms(extents[e], WIDTH);
}

static void matrices_without_elements_are_no_error(void **state)
{
	(void)state;
	compare_forms(0, 5);
	compare_forms(5, 0);
	compare_forms(0, 0);
}

/* One element of one matrix after the other is not finite, also if only its imaginary part is not. */
static void check_not_finite(size_t r, enum heddle_dense_precision precision, char letter, int layout)
{
	char expected[128];
	size_t info = 99;
	struct heddle_dense_options with_tile = {
	    .tile = TILE, .layout = (enum heddle_dense_layout)layout, .info = &info};
	const struct heddle_dense_array *x = &arrays[letter - 'A'];
	options = &with_tile;
	make_arrays(r, precision, LARGEST, WIDTH);
	prepare(r, layout);
	set(x, 39, 17, parts_of(x) - 1, layout ? NAN : -INFINITY);
	snprintf(expected, sizeof expected, "matrix %c has %s in row 40, column 18 (counted from 1)", letter,
	         layout ? "NaN" : "an infinite value");
	int status = routines[r].call();
	if (status != HEDDLE_E_KERNEL || !strstr(heddle_last_error(), expected) || info != 0)
		fail_msg("%s, precision %d, layout %d: %s, info %zu, \"%s\" instead of \"%s\"", routines[r].name,
		         (int)precision, layout, heddle_status_name(status), info, heddle_last_error(), expected);
	OK(heddle_dense_qr_destroy(qr));
	free_arrays();
}

static void every_routine_reports_values_that_are_not_finite(void **state)
{
	(void)state;
	for (size_t r = 0; r < N_ROUTINES; r++)
		for (const char *letter = routines[r].matrices; *letter; letter++)
			for (int v = 0; v < 2 * HEDDLE_DENSE_PRECISIONS; v++)
				check_not_finite(r, (enum heddle_dense_precision)(v / 2), *letter, v % 2);
}

/* What is submitted is looked at if one asks for it, in the part that one names; what uses the tile is cancelled. */
static void submissions_can_be_looked_at(void **state)
{
	static const struct {
		enum heddle_dense_uplo asked, shape;
		int found;
	} cases[] = {{HEDDLE_DENSE_GENERAL, HEDDLE_DENSE_GENERAL, 1},
	             {HEDDLE_DENSE_LOWER, HEDDLE_DENSE_GENERAL, 0},
	             {HEDDLE_DENSE_UPPER, HEDDLE_DENSE_GENERAL, 1},
	             {HEDDLE_DENSE_GENERAL, HEDDLE_DENSE_LOWER, 0},
	             {HEDDLE_DENSE_GENERAL, HEDDLE_DENSE_UPPER, 1}};
	static double data[LARGEST * LARGEST];
	(void)state;
	for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
		enum heddle_dense_uplo part = cases[k / 2].shape ? cases[k / 2].shape : cases[k / 2].asked;
		size_t row = k % 2 ? 17 : 3; /* in a tile on the diagonal, and in another one */
		struct heddle_dense_shape shape = {
		    .rows = LARGEST, .columns = LARGEST, .tile = TILE, .uplo = cases[k / 2].shape};
		for (size_t i = 0; i < LARGEST * LARGEST; i++)
			data[i] = i % (LARGEST + 1) ? 0 : 1;
		data[row + 20 * LARGEST] = NAN;
		OK(heddle_dense_matrix_create(dense, &shape, data, LARGEST, &a));
		OK(heddle_dense_finite_submit(a, cases[k / 2].asked, "M"));
		OK(heddle_dense_potrf_submit(part ? part : LOWER, a, NULL));
		int status = heddle_wait_all(rt);
		if (cases[k / 2].found &&
		    !strstr(heddle_last_error(), row == 17 ? "matrix M has NaN in row 18, column 21"
		                                           : "matrix M has NaN in row 4, column 21"))
			fail_msg("case %zu: %s", k, heddle_last_error());
		assert_int_equal(status, cases[k / 2].found ? HEDDLE_E_KERNEL : 0);
		assert_int_equal(heddle_dense_matrix_destroy(a), cases[k / 2].found ? HEDDLE_E_CANCELLED : 0);
	}
	struct heddle_dense_shape wide = {.rows = 2, .columns = 4, .tile = 2};
	OK(heddle_dense_matrix_create(dense, &wide, NULL, 0, &a));
	assert_int_equal(heddle_dense_finite_submit(a, LOWER, "M"), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "heddle_dense_finite_submit needs a square matrix"));
	OK(heddle_dense_matrix_destroy(a));
	assert_int_equal(heddle_dense_finite_submit(NULL, 0, "M"), HEDDLE_E_INVALID);
}

/* The array moves to memory that cannot be written. */
static void protect(struct heddle_dense_array *x, size_t *bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), used = x->ld * x->columns * 2 * sizeof(double);
	*bytes = (used + page - 1) / page * page;
	void *memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memcpy(memory, x->data, used);
	free(x->data);
	x->data = memory;
	assert_int_equal(mprotect(memory, *bytes, PROT_READ), 0);
}

/* As a program may have them that maps a file, or whose threads share a matrix. Accelerators work on copies. */
static void matrices_that_are_only_read_may_be_constant(void **state)
{
	static const struct {
		const char *routine, *reads;
	} cases[] = {{"gemm", "AB"}, {"syrk", "A"}, {"herk", "A"},  {"symm", "AB"}, {"hemm", "AB"},
	             {"trsm", "A"},  {"trmm", "A"}, {"potrs", "A"}, {"getrs", "A"}, {"ormqr", "A"}};
	(void)state;
	close_runtime();
	open_runtime(1);
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
		for (int layout = 0; layout < 2; layout++) {
			struct heddle_dense_options with_tile = {.tile = TILE,
			                                         .layout = (enum heddle_dense_layout)layout};
			size_t r = 0, bytes[3];
			while (strcmp(routines[r].name, cases[k].routine) != 0)
				r++;
			options = &with_tile;
			make_arrays(r, HEDDLE_DENSE_DOUBLE, LARGEST, WIDTH);
			prepare(r, layout);
			for (const char *letter = cases[k].reads; *letter; letter++)
				protect(&arrays[*letter - 'A'], &bytes[*letter - 'A']);
			OK(routines[r].call());
			OK(heddle_dense_qr_destroy(qr));
			for (const char *letter = cases[k].reads; *letter; letter++) {
				munmap(arrays[*letter - 'A'].data, bytes[*letter - 'A']);
				arrays[*letter - 'A'].data = NULL;
			}
			free_arrays();
		}
	close_runtime();
	open_runtime(0);
}

static int set_up(void **state)
{
	(void)state;
	open_runtime(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_runtime();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_forms_give_equal_results),
	    cmocka_unit_test(matrices_without_elements_are_no_error),
	    cmocka_unit_test(every_routine_reports_values_that_are_not_finite),
	    cmocka_unit_test(submissions_can_be_looked_at),
	    cmocka_unit_test(matrices_that_are_only_read_may_be_constant),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
