/* The near field: see pairs.h. */
#include <fmm/kernels/pairs.h>
#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HD_FMM_X86
#include <immintrin.h>
#endif

enum hd_fmm_vectors hd_fmm_best_vectors(void)
{
#ifdef HD_FMM_X86
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return HD_FMM_AVX512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return HD_FMM_AVX2;
	return HD_FMM_SSE2;
#else
	return HD_FMM_PLAIN;
#endif
}

#define HD_TEMPLATE <fmm/kernels/pairs_template.h>
#include <fmm/kernels/precisions.h>
