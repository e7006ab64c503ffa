/* Matrices: triplets, files of the Matrix Market, families. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sparse/matrix/matrix.h>
#include "base/base.h"
#include "chance.h"
#include "ok.h"

/* --- Triplets ----------------------------------------------------------------------------------------------------- */

static double component(const struct heddle_sparse_matrix *m, size_t element, int c)
{
	size_t i = element * (size_t)hd_sparse_components(m->precision) + (size_t)c;
	return hd_sparse_is_single(m->precision) ? (double)((float *)m->values)[i] : ((double *)m->values)[i];
}

/* Sums of random triplets, beside those in a dense array. Values are small whole numbers, whose sums are exact. */
static void check_triplets(struct hd_rng *rng, enum heddle_dense_precision precision)
{
	size_t rows = 1 + below(rng, 9), columns = 1 + below(rng, 9), n = below(rng, 60);
	int64_t row[60], column[60];
	double dense[2][9][9] = {{{0}}}, real[120];
	float single[120];
	int present[9][9] = {{0}}, components = hd_sparse_components(precision);
	for (size_t e = 0; e < n; e++) {
		row[e] = below(rng, (uint32_t)rows);
		column[e] = below(rng, (uint32_t)columns);
		present[row[e]][column[e]] = 1;
		for (int c = 0; c < components; c++) {
			size_t i = e * (size_t)components + (size_t)c;
			real[i] = (double)below(rng, 9) - 4;
			single[i] = (float)real[i];
			dense[c][row[e]][column[e]] += real[i];
		}
	}
	struct heddle_sparse_matrix m;
	const void *values = hd_sparse_is_single(precision) ? (const void *)single : real;
	OK(heddle_sparse_from_triplets(precision, rows, columns, n, row, column, values, &m));
	OK(hd_sparse_check(&m, "test"));
	for (size_t j = 0; j < columns; j++)
		for (int64_t e = m.column_start[j]; e < m.column_start[j + 1]; e++) {
			assert_true(e == m.column_start[j] || m.row[e] > m.row[e - 1]);
			assert_int_equal(present[m.row[e]][j]--, 1);
			for (int c = 0; c < components; c++)
				assert_true(component(&m, (size_t)e, c) == dense[c][m.row[e]][j]);
		}
	for (size_t i = 0; i < 81; i++)
		assert_int_equal(present[i / 9][i % 9], 0);
	heddle_sparse_matrix_free(&m);
	assert_null(m.row);
}

static void test_triplets(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	for (int i = 0; i < 1000; i++)
		check_triplets(&rng, (enum heddle_dense_precision)(i % HEDDLE_DENSE_PRECISIONS));
}

static void test_wrong_triplets(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	int64_t row[] = {0, 1}, column[] = {0, 3}, negative[] = {0, -1};
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 2, 3, 2, row, column, NULL, &m),
	                 HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "triplet 1 is in row 1, column 3"));
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 2, 4, 2, negative, column, NULL, &m),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 2, 4, 2, NULL, column, NULL, &m),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 2, 4, 2, row, column, NULL, NULL),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_from_triplets((enum heddle_dense_precision)4, 2, 4, 2, row, column, NULL, &m),
	                 HEDDLE_E_INVALID);
	OK(heddle_sparse_from_triplets(HEDDLE_DENSE_DOUBLE, 0, 0, 0, NULL, NULL, NULL, &m));
	assert_int_equal(m.column_start[0], 0);
	heddle_sparse_matrix_free(&m);
	heddle_sparse_matrix_free(NULL);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/heddle-matrix-%ld.mtx", P_tmpdir, (long)getpid());
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return remove(path);
}

static void write_text(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static void read_text(const char *text, struct heddle_sparse_matrix *m)
{
	write_text(text, strlen(text));
	OK(heddle_sparse_read(path, m));
}

/* What is written is read again, to the last digit, whatever the locale is. */
static void test_files_keep_all_digits(void **state)
{
	(void)state;
	static const enum heddle_dense_precision read_as[] = {HEDDLE_DENSE_DOUBLE, HEDDLE_DENSE_DOUBLE,
	                                                      HEDDLE_DENSE_COMPLEX_DOUBLE, HEDDLE_DENSE_COMPLEX_DOUBLE};
	struct heddle_sparse_matrix pattern, m = {.precision = HEDDLE_DENSE_DOUBLE}, again;
	struct hd_rng rng;
	hd_rng_seed(&rng, 5);
	setlocale(LC_ALL, "de_DE.UTF-8");
	OK(heddle_sparse_generate("random:50,30,4,7", &pattern));
	size_t n = (size_t)pattern.column_start[30];
	m = pattern;
	m.values = malloc(n * 16);
	for (int p = 0; p < HEDDLE_DENSE_PRECISIONS; p++) {
		m.precision = (enum heddle_dense_precision)p;
		size_t components = (size_t)hd_sparse_components(m.precision);
		for (size_t i = 0; i < n * components; i++) {
			double value = ldexp(hd_rng_normal(&rng), (int)below(&rng, 60) - 30);
			if (hd_sparse_is_single(m.precision))
				((float *)m.values)[i] = (float)value;
			else
				((double *)m.values)[i] = value;
		}
		OK(heddle_sparse_write(path, &m));
		OK(heddle_sparse_read(path, &again));
		assert_int_equal(again.precision, read_as[p]);
		assert_int_equal(again.rows, 50);
		assert_int_equal(again.columns, 30);
		assert_memory_equal(again.column_start, m.column_start, 31 * sizeof *m.column_start);
		assert_memory_equal(again.row, m.row, n * sizeof *m.row);
		for (size_t i = 0; i < n; i++)
			for (int c = 0; c < (int)components; c++)
				assert_true(component(&again, i, c) == component(&m, i, c) ||
				            (hd_sparse_is_single(m.precision) &&
				             (float)component(&again, i, c) == (float)component(&m, i, c)));
		heddle_sparse_matrix_free(&again);
	}
	free(m.values);
	m.values = NULL;
	OK(heddle_sparse_write(path, &m));
	OK(heddle_sparse_read(path, &again));
	for (size_t i = 0; i < n; i++)
		assert_true(((double *)again.values)[i] == 1);
	heddle_sparse_matrix_free(&again);
	heddle_sparse_matrix_free(&pattern);
	setlocale(LC_ALL, "C");
}

static void expect_elements(const struct heddle_sparse_matrix *m, size_t n, const double (*wanted)[4])
{
	size_t at = 0;
	assert_int_equal(m->column_start[m->columns], n);
	for (size_t j = 0; j < m->columns; j++)
		for (int64_t e = m->column_start[j]; e < m->column_start[j + 1]; e++, at++) {
			assert_true((double)m->row[e] == wanted[at][0] && (double)j == wanted[at][1]);
			for (int c = 0; c < hd_sparse_components(m->precision); c++)
				assert_true(component(m, (size_t)e, c) == wanted[at][2 + c]);
		}
}

static void test_forms_of_files(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	read_text("%%MatrixMarket matrix coordinate real general\r\n% a comment\r\n\r\n 2 3 3 \r\n1 3 -1.5e0\r\n"
	          "2 1 .25 % why\r\n1 3 1\r\n\r\n% end\r\n",
	          &m);
	expect_elements(&m, 2, (const double[][4]){{1, 0, 0.25}, {0, 2, -0.5}});
	heddle_sparse_matrix_free(&m);
	read_text("%%matrixmarket MATRIX Coordinate Integer Symmetric\n3 3 3\n1 1 4\n3 1 -7\n3 2 2", &m);
	expect_elements(&m, 5, (const double[][4]){{0, 0, 4}, {2, 0, -7}, {2, 1, 2}, {0, 2, -7}, {1, 2, 2}});
	heddle_sparse_matrix_free(&m);
	read_text("%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 2 3 0\n2 1 1 2\n", &m);
	expect_elements(&m, 3, (const double[][4]){{1, 0, 1, 2}, {0, 1, 1, -2}, {1, 1, 3, 0}});
	heddle_sparse_matrix_free(&m);
	read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", &m);
	expect_elements(&m, 2, (const double[][4]){{1, 0, 3}, {0, 1, -3}});
	heddle_sparse_matrix_free(&m);
	read_text("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n", &m);
	expect_elements(&m, 1, (const double[][4]){{1, 0, 1}});
	heddle_sparse_matrix_free(&m);
	read_text("%%MatrixMarket matrix coordinate real general\n0 0 0\n", &m);
	assert_int_equal(m.columns, 0);
	heddle_sparse_matrix_free(&m);
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"

static void test_malformed_files(void **state)
{
	(void)state;
	static const struct {
		const char *text, *line, *why;
	} cases[] = {
	    {"", "line 1", "empty"},
	    {"2 2 1\n1 1 1\n", "line 1", "begins with %%MatrixMarket"},
	    {"%%MatrixMarket vector coordinate real general\n", "line 1", "\"vector\""},
	    {"%%MatrixMarket matrix array real general\n", "line 1", "\"array\""},
	    {"%%MatrixMarket matrix coordinate\n", "line 1", "the field"},
	    {"%%MatrixMarket matrix coordinate quaternion general\n", "line 1", "\"quaternion\""},
	    {"%%MatrixMarket matrix coordinate real triangular\n", "line 1", "\"triangular\""},
	    {"%%MatrixMarket matrix coordinate real hermitian\n", "line 1", "complex"},
	    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "line 1", "skew"},
	    {BANNER, "line 2", "are missing"},
	    {BANNER "2 2\n", "line 2", "whole number"},
	    {BANNER "2 2 1 1\n", "line 2", "more than belongs"},
	    {BANNER "2 -2 1\n", "line 2", "whole number"},
	    {BANNER "2 2.5 1\n", "line 2", "whole number"},
	    {BANNER "2 99999999999999999999 1\n", "line 2", "too large"},
	    {BANNER "2 2 1\n", "line 3", "ends after 0 of 1"},
	    {BANNER "%\n2 2 2\n1 1 1\n%\n", "line 6", "ends after 1 of 2"},
	    {BANNER "2 2 1\n1 1 1\n2 2 2\n", "line 4", "more elements"},
	    {BANNER "2 2 1\n0 1 1\n", "line 3", "element (0, 1)"},
	    {BANNER "2 2 2\n1 1 1\n3 1 1\n", "line 4", "element (3, 1)"},
	    {BANNER "2 2 1\n1 3 1\n", "line 3", "element (1, 3)"},
	    {BANNER "2 2 1\n1 1\n", "line 3", "value"},
	    {BANNER "2 2 1\n1 1 x\n", "line 3", "value"},
	    {BANNER "2 2 1\n1 1 1,5\n", "line 3", "value"},
	    {BANNER "2 2 1\n1 1 1 0\n", "line 3", "more than belongs"},
	    {BANNER "2 2 1\n1 x 1\n", "line 3", "whole number"},
	    {SYMMETRIC "2 3 1\n1 1 1\n", "line 2", "square"},
	    {SYMMETRIC "2 2 1\n1 2 1\n", "line 3", "below the diagonal"},
	    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "line 3", "no diagonal"},
	    {"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1\n", "line 3", "value"},
	};
	struct heddle_sparse_matrix m;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_text(cases[i].text, strlen(cases[i].text));
		assert_int_equal(heddle_sparse_read(path, &m), HEDDLE_E_FORMAT);
		if (!strstr(heddle_last_error(), cases[i].line) || !strstr(heddle_last_error(), cases[i].why))
			fail_msg("case %zu: %s", i, heddle_last_error());
	}
	write_text(BANNER "2 2 1\n1 1 1\0\n", sizeof(BANNER "2 2 1\n1 1 1\0\n") - 1);
	assert_int_equal(heddle_sparse_read(path, &m), HEDDLE_E_FORMAT);
}

static void test_files_that_cannot_be_used(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	int64_t start[] = {0, 1}, row[] = {5};
	assert_int_equal(heddle_sparse_read("/nowhere/a.mtx", &m), HEDDLE_E_IO);
	assert_int_equal(heddle_sparse_read(P_tmpdir, &m), HEDDLE_E_IO);
	assert_int_equal(heddle_sparse_read(NULL, &m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_read(path, NULL), HEDDLE_E_INVALID);
	m = (struct heddle_sparse_matrix){.rows = 9, .columns = 1, .column_start = start, .row = row};
	assert_int_equal(heddle_sparse_write("/nowhere/a.mtx", &m), HEDDLE_E_IO);
	assert_int_equal(heddle_sparse_write("/dev/full", &m), HEDDLE_E_IO);
	m.rows = 5;
	assert_int_equal(heddle_sparse_write(path, &m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_write(NULL, &m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_write(path, NULL), HEDDLE_E_INVALID);
}

/* --- Families ----------------------------------------------------------------------------------------------------- */

/* Those of the collection (J.-G. Dumas: Sparse integer matrix collection) have these sizes and elements. */
static void test_families_are_the_collection_s(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t rows, columns, elements;
	} known[] = {
	    {"TF10", 99, 107, 622},
	    {"TF14", 2644, 3160, 29862},
	    {"TF15", 6334, 7742, 80057},
	    {"TF17", 38132, 48630, 586218},
	    {"mk9-b3", 945, 1260, 3780},
	    {"mk11-b4", 10395, 17325, 51975},
	    {"mk13-b5", 135135, 270270, 810810},
	    {"cat_ears_2_1", 85, 85, 254},
	    {"cat_ears_4_4", 19020, 44448, 132888},
	    {"flower_4_1", 121, 129, 386},
	    {"flower_7_4", 27693, 67593, 202218},
	    {"flower_8_4", 55081, 125361, 375266},
	    {"grid2d:3", 21, 9, 33},
	    {"grid3d:2", 20, 8, 32},
	    {"random:0,0,1,1", 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct heddle_sparse_matrix m;
		OK(heddle_sparse_generate(known[i].name, &m));
		OK(hd_sparse_check(&m, known[i].name));
		assert_int_equal(m.rows, known[i].rows);
		assert_int_equal(m.columns, known[i].columns);
		assert_int_equal(m.column_start[m.columns], known[i].elements);
		heddle_sparse_matrix_free(&m);
	}
}

/* y := A x */
static void multiply(const struct heddle_sparse_matrix *m, const double *x, double *y)
{
	memset(y, 0, m->rows * sizeof *y);
	for (size_t j = 0; j < m->columns; j++)
		for (int64_t e = m->column_start[j]; e < m->column_start[j + 1]; e++)
			y[m->row[e]] += ((double *)m->values)[e] * x[j];
}

/* A boundary has no boundary: the product of two matrices of the complex is 0. */
static void test_matchings_are_a_complex(void **state)
{
	(void)state;
	struct heddle_sparse_matrix outer, inner;
	OK(heddle_sparse_generate("mk9-b2", &outer)); /* rows 3 edges, columns 2 */
	OK(heddle_sparse_generate("mk9-b3", &inner)); /* rows 4 edges, columns 3 */
	double *x = calloc(outer.columns, sizeof *x), *y = malloc(outer.rows * sizeof *y),
	       *z = malloc(inner.rows * sizeof *z);
	assert_int_equal(inner.columns, outer.rows);
	for (size_t j = 0; j < outer.columns; j++) {
		x[j] = 1;
		multiply(&outer, x, y);
		multiply(&inner, y, z);
		x[j] = 0;
		for (size_t i = 0; i < inner.rows; i++)
			assert_true(z[i] == 0);
	}
	free(x);
	free(y);
	free(z);
	heddle_sparse_matrix_free(&outer);
	heddle_sparse_matrix_free(&inner);
}

/* Each tree has n - 1 edges, which its column counts; the trees on 4 vertices are a star and a path. */
static void test_forests_count_edges(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m;
	OK(heddle_sparse_generate("TF12", &m));
	for (size_t j = 0; j + 1 < m.columns; j++) {
		double sum = 0;
		for (int64_t e = m.column_start[j]; e < m.column_start[j + 1]; e++)
			sum += ((double *)m.values)[e];
		assert_true(sum == 11);
	}
	heddle_sparse_matrix_free(&m);
	OK(heddle_sparse_generate("TF4", &m));
	/* row 0: one vertex and a path of three, row 1: two edges */
	expect_elements(&m, 3, (const double[][4]){{0, 0, 3}, {0, 1, 2}, {1, 1, 1}});
	heddle_sparse_matrix_free(&m);
}

static void test_deficient_columns_are_sums(void **state)
{
	(void)state;
	struct heddle_sparse_matrix m, scaled;
	OK(heddle_sparse_generate("random:40,20,3,5,4", &m));
	OK(heddle_sparse_generate("random:40,20,3,5,4,9", &scaled));
	for (size_t j = 16; j < 20; j++) {
		int found = 0;
		for (size_t a = 0; a < 16; a++)
			for (size_t b = 0; b < a; b++) {
				double x[20] = {0}, y[40], sum = 0;
				x[j] = -1;
				x[a] = x[b] = 1;
				multiply(&m, x, y);
				for (int i = 0; i < 40; i++)
					sum += fabs(y[i]);
				found += sum < 1e-14;
			}
		assert_int_equal(found, 1);
	}
	double least = INFINITY, most = 0;
	for (int64_t e = 0; e < scaled.column_start[20]; e++) {
		double ratio = ((double *)scaled.values)[e] / ((double *)m.values)[e];
		least = ratio < least ? ratio : least;
		most = ratio > most ? ratio : most;
	}
	assert_true(most / least > 1e5 && most / least < 1e9);
	heddle_sparse_matrix_free(&m);
	heddle_sparse_matrix_free(&scaled);
}

static void test_unknown_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *why;
	} cases[] = {
	    {"TF", "the families"},
	    {"", "the families"},
	    {"TF19", "may be 3 to 18"},
	    {"TF10x", "the families"},
	    {"mk9", "the families"},
	    {"mk5-b3", "no matching of 4 edges"},
	    {"flower_7_5", "1, 4 or 7"},
	    {"flower_2_1", "may be"},
	    {"random:3,3", "the families"},
	    {"random:3,3,1,1,2", "cannot be sums"},
	    {"grid2d:0", "may be"},
	    {"random:3,3,1,1,", "the families"},
	    {"TF9999999999999999999999", "the families"},
	};
	struct heddle_sparse_matrix m;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(heddle_sparse_generate(cases[i].name, &m), HEDDLE_E_UNKNOWN);
		if (!strstr(heddle_last_error(), cases[i].why))
			fail_msg("%s: %s", cases[i].name, heddle_last_error());
	}
	assert_int_equal(heddle_sparse_generate(NULL, &m), HEDDLE_E_INVALID);
	assert_int_equal(heddle_sparse_generate("TF10", NULL), HEDDLE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_triplets),
	    cmocka_unit_test(test_wrong_triplets),
	    cmocka_unit_test(test_files_keep_all_digits),
	    cmocka_unit_test(test_forms_of_files),
	    cmocka_unit_test(test_malformed_files),
	    cmocka_unit_test(test_files_that_cannot_be_used),
	    cmocka_unit_test(test_families_are_the_collection_s),
	    cmocka_unit_test(test_matchings_are_a_complex),
	    cmocka_unit_test(test_forests_count_edges),
	    cmocka_unit_test(test_deficient_columns_are_sums),
	    cmocka_unit_test(test_unknown_names),
	};
	return cmocka_run_group_tests(tests, make_path, remove_file);
}
