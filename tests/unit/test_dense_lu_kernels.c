/* The sequential kernels of apps/dense for the LU factorisation, in four precisions. */
#include "dense_views.h"
#include <dense/kernels/lu.h>

static const int sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 130};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

#define HD_TEMPLATE <unit/dense_lu_kernels_tests.h>
#include <dense/kernels/precisions.h>

#define TESTS_OF(letter)                                                                   \
	cmocka_unit_test(hd_##letter##_factors_multiply_to_the_permuted_matrix),           \
	    cmocka_unit_test(hd_##letter##_factors_without_pivots_multiply_to_the_matrix), \
	    cmocka_unit_test(hd_##letter##_tiles_below_each_other_are_one_matrix),         \
	    cmocka_unit_test(hd_##letter##_laswp_backwards_undoes_laswp),                  \
	    cmocka_unit_test(hd_##letter##_the_first_zero_pivot_is_named),                 \
	    cmocka_unit_test(hd_##letter##_not_a_number_is_found_wherever_it_is),          \
	    cmocka_unit_test(hd_##letter##_tiny_pivots_do_not_overflow),                   \
	    cmocka_unit_test(hd_##letter##_the_first_of_equal_elements_is_the_pivot)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF_ALL};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
