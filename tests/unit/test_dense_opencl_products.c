/* The cases of test_dense_products.c on an OpenCL device alone, with tiles that its kernels divide. */
#define DENSE_CORES 0
#define DENSE_TILE 72
#include "dense_calls.h"

#define HD_TEMPLATE <unit/dense_products_tests.h>
#include <dense/kernels/precisions.h>

#define TESTS_OF(letter)                                                                                               \
	cmocka_unit_test(hd_##letter##_gemm_is_that_of_blas), cmocka_unit_test(hd_##letter##_gemm_of_no_terms_scales), \
	    cmocka_unit_test(hd_##letter##_syrk_and_herk_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_symm_and_hemm_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_trsm_and_trmm_are_those_of_blas),                                           \
	    cmocka_unit_test(hd_##letter##_all_on_accelerators_with_little_memory)

int main(void)
{
	const struct CMUnitTest tests[] = {TESTS_OF_ALL};
	need_device();
	return cmocka_run_group_tests(tests, begin_on_cores, end);
}
