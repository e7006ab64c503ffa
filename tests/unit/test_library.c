/* Libraries that are loaded at run time (heddle_library_load): the first one that is found counts, and what is missing
 * is named. */
#include <heddle/driver.h>
#include <string.h>
#include "ok.h"

typedef double function_of_one(double);
static function_of_one *cosine, *none;

static void first_library_that_exists_is_loaded(void **state)
{
	(void)state;
	const char *files[] = {"libheddle-of-nobody.so.9", "libm.so.6", NULL};
	struct heddle_symbol symbols[] = {{"cos", &cosine, 0}, {"cosine_of_nobody", &none, 1}};
	OK(heddle_library_load("the mathematics", files, 2, symbols));
	assert_true(cosine(0) == 1);
	assert_null(none);
}

static void missing_function_is_named(void **state)
{
	(void)state;
	const char *nowhere[] = {"libheddle-of-nobody.so.9", NULL}, *there[] = {"libm.so.6", NULL}, *nothing[] = {NULL};
	struct heddle_symbol symbols[] = {{"cosine_of_nobody", &none, 0}};
	assert_int_equal(heddle_library_load("the driver of nobody", nowhere, 1, symbols), HEDDLE_E_UNSUPPORTED);
	assert_non_null(strstr(heddle_last_error(), "the driver of nobody is not there: libheddle-of-nobody.so.9"));
	assert_int_equal(heddle_library_load("the mathematics", there, 1, symbols), HEDDLE_E_UNSUPPORTED);
	assert_non_null(strstr(heddle_last_error(), "lacks the function cosine_of_nobody"));
	assert_int_equal(heddle_library_load("nothing", nothing, 1, symbols), HEDDLE_E_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(first_library_that_exists_is_loaded),
	    cmocka_unit_test(missing_function_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
