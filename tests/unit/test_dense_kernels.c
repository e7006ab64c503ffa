/* The sequential kernels of apps/dense: products, triangular solvers, Cholesky's family, in four precisions, all
 * triangles, sides and transpositions, and sizes about those at which they divide. */
#include "dense_views.h"
#include <dense/kernels/blas3.h>
#include <dense/kernels/cholesky.h>

static const int sizes[] = {0, 1, 2, 7, 16, 17, 33, 63, 64, 65, 130};
enum { N_SIZES = sizeof sizes / sizeof *sizes };
/* Extents of the other matrix of trsm and trmm. */
static const int widths[] = {0, 1, 9, 70};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

#define HD_TEMPLATE <unit/dense_kernels_tests.h>
#include <dense/kernels/precisions.h>

#define TESTS_OF(letter)                                                                          \
	cmocka_unit_test(hd_##letter##_products_are_those_of_loops),                              \
	    cmocka_unit_test(hd_##letter##_herk_is_a_product),                                    \
	    cmocka_unit_test(hd_##letter##_a_solution_times_the_triangle_is_the_right_hand_side), \
	    cmocka_unit_test(hd_##letter##_trmm_is_a_product),                                    \
	    cmocka_unit_test(hd_##letter##_factors_multiply_to_the_matrix),                       \
	    cmocka_unit_test(hd_##letter##_potrf_names_the_first_bad_minor),                      \
	    cmocka_unit_test(hd_##letter##_a_triangle_times_its_inverse_is_one),                  \
	    cmocka_unit_test(hd_##letter##_trtri_names_the_first_zero),                           \
	    cmocka_unit_test(hd_##letter##_lauum_is_a_product)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF_ALL};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
