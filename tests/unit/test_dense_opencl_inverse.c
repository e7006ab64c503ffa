/* The cases of test_dense_inverse.c on an OpenCL device alone, with tiles that its kernels divide. */
#define DENSE_CORES 0
#define DENSE_TILE 40
#include "dense_calls.h"

#define HD_TEMPLATE <unit/dense_inverse_tests.h>
#include <dense/kernels/precisions.h>

#define TESTS_OF(letter)                                                                                           \
	cmocka_unit_test(hd_##letter##_posv_and_potrs_solve), cmocka_unit_test(hd_##letter##_trtri_is_an_inverse), \
	    cmocka_unit_test(hd_##letter##_lauum_is_that_of_lapack),                                               \
	    cmocka_unit_test(hd_##letter##_potri_and_poinv_are_inverses),                                          \
	    cmocka_unit_test(hd_##letter##_all_on_accelerators_with_little_memory),                                \
	    cmocka_unit_test(hd_##letter##_failures_name_the_row)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF_ALL};
	need_device();
	return cmocka_run_group_tests(tests, begin_on_cores, end);
}
