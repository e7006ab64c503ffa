/* One precision of particles.c. A vector has a number of each of LANES particles; where registers are shorter,
 * compilers make several operations of one. */

typedef real P(v) __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

HD_INLINE const P(v) * P(vector_at)(const real *x)
{
	return (const P(v) *)(uintptr_t)x;
}

/* hd_fmm_regular of LANES points. With a factor of sqrt(2) in Y_1^1 the recurrences, which are linear, give all that
 * have it. */
HD_INLINE void P(regular)(int degree, const P(v) at[3], P(v) * r)
{
	P(v) x = at[0], y = at[1], z = at[2], r2 = x * x + y * y + z * z, re = 1 + 0 * x, im = 0 * x;
	for (int m = 0; m <= degree; m++) {
		if (m > 0) {
			real f = (real)((m == 1 ? 1.4142135623730950488 : 1) / (2 * m));
			P(v) next = (re * x - im * y) * f;
			im = (re * y + im * x) * f;
			re = next;
		}
		P(v) re1 = re, im1 = im, re2 = 0 * x, im2 = 0 * x; /* of degrees n - 1 and n - 2 */
		P(v) *to = r + hd_fmm_place(m, m);
		to[0] = re;
		if (m > 0)
			to[1] = im;
		for (int n = m + 1; n <= degree; n++) {
			real f = 1 / (real)(n * n - m * m);
			P(v) a = z * (f * (real)(2 * n - 1)), b = r2 * f;
			P(v) re0 = a * re1 - b * re2, im0 = a * im1 - b * im2;
			to = r + hd_fmm_place(n, m);
			to[0] = re0;
			if (m > 0)
				to[1] = im0;
			re2 = re1;
			re1 = re0;
			im2 = im1;
			im1 = im0;
		}
	}
}

HD_INLINE void P(regular_at)(int degree, const struct P(points) * points, size_t i, P(v) * r)
{
	P(v) x[3];
	for (int c = 0; c < 3; c++)
		x[c] = points->scale * *P(vector_at)(points->at[c] + i);
	P(regular)(degree, x, r);
}

HD_CLONES void P(particles_to_multipole)(int degree, const struct P(points) * points, const real *charge, real *m)
{
	size_t terms = hd_fmm_terms(degree);
	P(v) r[HD_FMM_MOST_TERMS], sum[HD_FMM_MOST_TERMS];
	memset(sum, 0, terms * sizeof *sum);
	for (size_t i = 0; i < points->n; i += LANES) {
		P(v) q = *P(vector_at)(charge + i);
		P(regular_at)(degree, points, i, r);
		for (size_t j = 0; j < terms; j++)
			sum[j] += q * r[j];
	}
	for (size_t j = 0; j < terms; j++)
		for (int lane = 0; lane < LANES; lane++)
			m[j] += sum[j][lane];
}

HD_INLINE void P(add_to)(real *sum, const P(v) * what, real factor)
{
	P(v) *to = (P(v) *)(uintptr_t)sum;
	*to += factor * *what;
}

/* 1 / r in units of the leaf's side becomes 1 / r in units of coordinates by the scale. */
HD_CLONES void P(local_to_particles)(int degree, const struct P(points) * points, const real *l,
                                     const real *const slopes[3], real *const sum[4])
{
	size_t terms = hd_fmm_terms(degree), below = degree > 0 ? hd_fmm_terms(degree - 1) : 0;
	P(v) r[HD_FMM_MOST_TERMS];
	for (size_t i = 0; i < points->n; i += LANES) {
		P(regular_at)(degree, points, i, r);
		P(v) of[4] = {0 * r[0], 0 * r[0], 0 * r[0], 0 * r[0]};
		for (size_t j = 0; j < terms; j++)
			of[0] += l[j] * r[j];
		P(add_to)(sum[0] + i, &of[0], points->scale);
		if (!sum[1])
			continue;
		for (size_t j = 0; j < below; j++) {
			of[1] += slopes[0][j] * r[j];
			of[2] += slopes[1][j] * r[j];
			of[3] += slopes[2][j] * r[j];
		}
		for (int c = 1; c < 4; c++)
			P(add_to)(sum[c] + i, &of[c], points->scale * points->scale);
	}
}

void P(slope)(size_t terms, const real *l, const struct hd_fmm_element *elements, size_t n, real *slope)
{
	memset(slope, 0, terms * sizeof *slope);
	for (size_t i = 0; i < n; i++)
		slope[elements[i].column] += (real)elements[i].value * l[elements[i].row];
}
