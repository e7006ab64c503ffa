/* Files of particles: what they may look like, and which line is wrong. */
#define _GNU_SOURCE
#include "ok.h"
#include <fmm/experiments/points.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t n;
static double *xyz, *charges;

static int read_text(const char *text, size_t size)
{
	char path[64];
	int file = memfd_create("points", 0);
	assert_true(file >= 0 && write(file, text, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	int status = hd_fmm_read_points(path, &n, &xyz, &charges);
	close(file);
	return status;
}

/* The only point is (1, 2.5, -3) with this charge. */
static void one_point(const char *text, double charge)
{
	OK(read_text(text, strlen(text)));
	assert_int_equal(n, 1);
	assert_true(xyz[0] == 1 && xyz[1] == 2.5 && xyz[2] == -3 && charges[0] == charge);
	free(xyz);
	free(charges);
}

static void refused(const char *text, size_t size, const char *word)
{
	assert_int_equal(read_text(text, size), HEDDLE_E_FORMAT);
	if (!strstr(heddle_last_error(), word))
		fail_msg("\"%s\" lacks \"%s\"", heddle_last_error(), word);
}
#define REFUSED(text, word) refused(text, sizeof text - 1, word)

static void lines_of_all_kinds(void **state)
{
	(void)state;
	one_point("1 2.5 -3\n", 1);
	one_point("1 2.5 -3", 1); /* no newline at the end */
	one_point("1, 2.5, -3, 7\n", 7);
	one_point("1\t2.5e0 -30e-1 -7\r\n", -7);
	one_point("# x y z\r\n\r\n\n   \n  1 2.5 -3  \n#", 1);
	/* German programs write a comma in numbers, files do not; without the locale the test is weaker */
	setlocale(LC_ALL, "de_DE.UTF-8");
	one_point("1 2.5 -3 0.5\n", 0.5);
	setlocale(LC_ALL, "C");
}

static void wrong_lines_are_named(void **state)
{
	(void)state;
	REFUSED("1 2 3\n4 5\n", "line 2");
	REFUSED("1 2 3 4 5\n", "line 1");
	REFUSED("# none\n1 2 x\n", "line 2");
	REFUSED("1 2 3\n1 2 3 4e\n", "line 2");
	REFUSED("1 2 3\n1 nan 3\n", "line 2");
	REFUSED("1 2 3\n\n1 2 3 inf\n", "line 3");
	REFUSED("1 2 1e999\n", "line 1");
	/* what is behind a NUL is not left out */
	REFUSED("1 2 3 4\0garbage\n5 6 7\n", "line 1");
	REFUSED("# comment\0\n1 2 3\n", "line 1");
	REFUSED("\0\n", "line 1");
}

static void files_without_points_are_refused(void **state)
{
	(void)state;
	REFUSED("", "no points");
	REFUSED("# x y z\n\n", "no points");
	assert_int_equal(hd_fmm_read_points("/nonexistent", &n, &xyz, &charges), HEDDLE_E_IO);
	assert_int_equal(hd_fmm_read_points("/", &n, &xyz, &charges), HEDDLE_E_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_all_kinds),
	    cmocka_unit_test(wrong_lines_are_named),
	    cmocka_unit_test(files_without_points_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
