/* The near field for one kind of processor and one precision: see pairs_template.h, which defines
 *
 *   ISA(x), TARGET   our name of x, and the attribute of functions for this kind
 *   BYTES            of a vector
 *   RAW              the type of a vector that intrinsic functions take
 *   ESTIMATE(r2, least)   an estimate of 1 / sqrt(r2), or 0 where r2 is not larger than least
 *   TERMS            of the series below that make it exact */

typedef real ISA(v) __attribute__((vector_size(BYTES)));
typedef real ISA(unaligned) __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
typedef RAW ISA(raw);

#define INLINE TARGET static inline __attribute__((always_inline))
enum { ISA(LENGTH) = BYTES / sizeof(real) };

/* 1 / sqrt(r2) = y (1 - e)^(-1/2) with e = 1 - y^2 r2, whose series is 1 + e/2 + 3/8 e^2 + 5/16 e^3 + 35/128 e^4 ... */
INLINE void ISA(inverse_root)(const ISA(v) * r2, ISA(v) * out)
{
	const real least = (real)(HD_FMM_SAME_PLACE * HD_FMM_SAME_PLACE);
	ISA(v) y = ESTIMATE((ISA(raw)) * r2, least);
	ISA(v) e = 1 - y * (y * *r2), series = (TERMS > 3 ? (real)(35.0 / 128) : 0) + (ISA(v)){0};
	if (TERMS > 3)
		series = (real)(5.0 / 16) + e * series;
	else if (TERMS > 2)
		series = (real)(5.0 / 16) + series;
	if (TERMS > 2)
		series = (real)(3.0 / 8) + e * series;
	else if (TERMS > 1)
		series = (real)(3.0 / 8) + series;
	series = TERMS > 1 ? (real)0.5 + e * series : (real)0.5 + series;
	*out = y + y * e * series;
}

/* What the sources of a leaf cause at one vector of targets. */
INLINE void ISA(add)(const ISA(v) at[3], const struct P(sources) * s, ISA(v) sum[4], int gradient)
{
	ISA(v) x = at[0] - s->offset[0], y = at[1] - s->offset[1], z = at[2] - s->offset[2];
	for (size_t j = 0; j < s->n; j++) {
		ISA(v) dx = x - s->at[0][j], dy = y - s->at[1][j], dz = z - s->at[2][j];
		ISA(v) r2 = dx * dx + dy * dy + dz * dz, inverse;
		ISA(inverse_root)(&r2, &inverse);
		ISA(v) potential = s->charge[j] * inverse;
		sum[0] += potential;
		if (gradient) {
			ISA(v) force = potential * (inverse * inverse);
			sum[1] -= force * dx;
			sum[2] -= force * dy;
			sum[3] -= force * dz;
		}
	}
}

INLINE void ISA(vector)(const struct P(targets) * t, size_t i, const struct P(sources) * sources, size_t n_leaves,
                        int gradient)
{
	ISA(v) at[3], sum[4];
	for (int c = 0; c < 3; c++)
		at[c] = *(const ISA(unaligned) *)(t->at[c] + i);
	for (int c = 0; c < (gradient ? 4 : 1); c++)
		sum[c] = *(ISA(unaligned) *)(t->sum[c] + i);
	for (size_t k = 0; k < n_leaves; k++)
		ISA(add)(at, &sources[k], sum, gradient);
	for (int c = 0; c < (gradient ? 4 : 1); c++)
		*(ISA(unaligned) *)(t->sum[c] + i) = sum[c];
}

TARGET static void ISA(pairs)(const struct P(targets) * t, const struct P(sources) * sources, size_t n_leaves)
{
	for (size_t i = 0; i < t->n; i += ISA(LENGTH))
		if (t->sum[1])
			ISA(vector)(t, i, sources, n_leaves, 1);
		else
			ISA(vector)(t, i, sources, n_leaves, 0);
}

#undef INLINE
#undef ISA
#undef TARGET
#undef BYTES
#undef RAW
#undef ESTIMATE
#undef TERMS
