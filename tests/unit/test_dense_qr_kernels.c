/* The sequential kernels of apps/dense for tiled QR factorisations, in four precisions. */
#include "dense_views.h"
#include <dense/kernels/qr.h>

enum { N_SHAPES = 14 };
/* Rows, columns, inner blocking. */
static const int shapes[N_SHAPES][3] = {{0, 5, 3},    {5, 0, 3},     {1, 1, 1},     {2, 2, 4},    {7, 7, 2},
                                        {7, 5, 5},    {5, 7, 2},     {63, 64, 8},   {64, 63, 16}, {65, 65, 32},
                                        {130, 40, 9}, {40, 130, 32}, {130, 90, 64}, {300, 20, 17}};
/* Extents of what Q is applied to. */
static const int widths[] = {0, 1, 9, 130};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

#define HD_TEMPLATE <unit/dense_qr_kernels_tests.h>
#include <dense/kernels/precisions.h>

#define TESTS_OF(letter)                                                                                             \
	cmocka_unit_test(hd_##letter##_q_r_is_the_matrix), cmocka_unit_test(hd_##letter##_q_r_is_a_rectangle_below), \
	    cmocka_unit_test(hd_##letter##_q_r_is_a_triangle_below),                                                 \
	    cmocka_unit_test(hd_##letter##_reflectors_of_zeros_and_of_extreme_numbers),                              \
	    cmocka_unit_test(hd_##letter##_staircases_need_no_work_below)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF_ALL};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
