/* Kernels of the fast multipole method in both precisions: pairs in the vectors of each kind of processor beside plain
 * ones, multipoles and local expansions beside their formulas, all 316 translations beside their own matrices. */
#include "base/base.h"
#include "ok.h"
#include <fmm/kernels/pairs.h>
#include <fmm/kernels/translations.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HD_TEMPLATE <unit/fmm_kernels_tests.h>
#include <fmm/kernels/precisions.h>

static void pairs_are_the_same_in_vectors_of_all_kinds(void **state)
{
	(void)state;
	hd_fmm_d_check_pairs();
	hd_fmm_s_check_pairs();
}

static void translations_are_those_of_their_offsets(void **state)
{
	(void)state;
	hd_fmm_d_check_translations();
	hd_fmm_s_check_translations();
}

static void local_expansions_are_evaluated(void **state)
{
	(void)state;
	hd_fmm_d_check_local();
	hd_fmm_s_check_local();
}

/* Each of the offsets that are not negative has a matrix of its own. */
static void offsets_have_matrices_of_their_own(void **state)
{
	int seen[HD_FMM_OFFSETS] = {0};
	(void)state;
	for (int i = 0; i < 64; i++) {
		const int offset[] = {i / 16, i / 4 % 4, i % 4};
		unsigned reflection;
		if (offset[0] < 2 && offset[1] < 2 && offset[2] < 2)
			continue;
		unsigned matrix = hd_fmm_offset(offset, &reflection);
		assert_true(matrix < HD_FMM_OFFSETS && reflection == 0 && !seen[matrix]++);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pairs_are_the_same_in_vectors_of_all_kinds),
	    cmocka_unit_test(translations_are_those_of_their_offsets),
	    cmocka_unit_test(local_expansions_are_evaluated),
	    cmocka_unit_test(offsets_have_matrices_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
