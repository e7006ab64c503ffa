/* One precision of pairs.c. */

#ifdef HD_FMM_X86

#if SINGLE
#define FAST(x) x##_ps
#else
#define FAST(x) x##_pd
#endif

/* --- AVX-512: estimates of 14 bits -------------------------------------------------------------------------------- */

#define ISA(x) P(x##_avx512)
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define BYTES 64
#define ESTIMATE(r2, least) ((ISA(v))FAST(_mm512_maskz_rsqrt14)(FAST_MASK(r2, least), (ISA(raw))(r2)))
#if SINGLE
#define RAW __m512
#define FAST_MASK(r2, least) _mm512_cmp_ps_mask((RAW)(r2), _mm512_set1_ps(least), _CMP_GT_OQ)
#define TERMS 1
#else
#define RAW __m512d
#define FAST_MASK(r2, least) _mm512_cmp_pd_mask((RAW)(r2), _mm512_set1_pd(least), _CMP_GT_OQ)
#define TERMS 3
#endif
#include <fmm/kernels/pairs_vectors.h>
#undef FAST_MASK

/* --- AVX2 and SSE2: estimates of 12 bits, in single precision ------------------------------------------------------
 * */

#define ISA(x) P(x##_avx2)
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#if SINGLE
#define RAW __m256
#define ESTIMATE(r2, least) \
	((ISA(v))_mm256_and_ps(_mm256_rsqrt_ps(r2), _mm256_cmp_ps((r2), _mm256_set1_ps(least), _CMP_GT_OQ)))
#define TERMS 1
#else
#define RAW __m256d
#define ESTIMATE(r2, least)                                                        \
	((ISA(v))_mm256_and_pd(_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(r2))), \
	                       _mm256_cmp_pd((r2), _mm256_set1_pd(least), _CMP_GT_OQ)))
#define TERMS 4
#endif
#include <fmm/kernels/pairs_vectors.h>

#define ISA(x) P(x##_sse2)
#define TARGET
#define BYTES 16
#if SINGLE
#define RAW __m128
#define ESTIMATE(r2, least) ((ISA(v))_mm_and_ps(_mm_rsqrt_ps(r2), _mm_cmpgt_ps((r2), _mm_set1_ps(least))))
#define TERMS 1
#else
#define RAW __m128d
#define ESTIMATE(r2, least) \
	((ISA(v))_mm_and_pd(_mm_cvtps_pd(_mm_rsqrt_ps(_mm_cvtpd_ps(r2))), _mm_cmpgt_pd((r2), _mm_set1_pd(least))))
#define TERMS 4
#endif
#include <fmm/kernels/pairs_vectors.h>
#undef FAST

#endif

/* --- Any processor -------------------------------------------------------------------------------------------------
 * */

static void P(add_plain)(const struct P(targets) * t, size_t i, const struct P(sources) * s)
{
	const real least = (real)(HD_FMM_SAME_PLACE * HD_FMM_SAME_PLACE);
	for (size_t j = 0; j < s->n; j++) {
		real d[3], r2 = 0;
		for (int c = 0; c < 3; c++) {
			d[c] = t->at[c][i] - s->offset[c] - s->at[c][j];
			r2 += d[c] * d[c];
		}
		real inverse = r2 > least ? 1 / (SINGLE ? sqrtf((float)r2) : (real)sqrt((double)r2)) : 0;
		real potential = s->charge[j] * inverse;
		t->sum[0][i] += potential;
		for (int c = 0; c < 3 && t->sum[1]; c++)
			t->sum[1 + c][i] -= potential * inverse * inverse * d[c];
	}
}

static void P(pairs_plain)(const struct P(targets) * targets, const struct P(sources) * sources, size_t n_leaves)
{
	for (size_t i = 0; i < targets->n; i++)
		for (size_t k = 0; k < n_leaves; k++)
			P(add_plain)(targets, i, &sources[k]);
}

void P(count)(const struct P(targets) * targets, const struct P(sources) * sources, size_t n_leaves)
{
	for (size_t i = 0; i < targets->n; i++)
		for (size_t k = 0; k < n_leaves; k++)
			for (size_t j = 0; j < sources[k].n; j++) {
				const real *offset = sources[k].offset;
				int is_image = offset[0] != 0 || offset[1] != 0 || offset[2] != 0;
				if (targets->at[0] + i != sources[k].at[0] + j || is_image)
					targets->sum[0][i] += sources[k].charge[j];
			}
}

P(pairs) P(pairs_for)(enum hd_fmm_vectors vectors)
{
	switch (vectors) {
#ifdef HD_FMM_X86
	case HD_FMM_AVX512: return P(pairs_avx512);
	case HD_FMM_AVX2: return P(pairs_avx2);
	case HD_FMM_SSE2: return P(pairs_sse2);
#endif
	case HD_FMM_PLAIN: return P(pairs_plain);
	default: return NULL;
	}
}
