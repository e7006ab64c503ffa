/* One precision of vectors.h.
 *
 * The vectors are as long as the longest registers of all processors; for shorter registers, compilers split an
 * operation into several. Complex numbers lie in vectors as in memory: real and imaginary parts alternate. */

enum { P(BYTES) = 64, P(LANES) = P(BYTES) / sizeof(real), P(ELEMENTS) = P(BYTES) / sizeof(element) };
enum { P(ROWS) = 4 }; /* number of vectors of a column that are processed together */

/* A vector that may begin at the address of any number. */
typedef real P(lanes) __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

#if LETTER == 'd'
typedef long long P(bits) __attribute__((vector_size(64)));
typedef long long P(word);
#define EXCHANGED(v) (v)
#elif LETTER == 's'
typedef int P(bits) __attribute__((vector_size(64)));
typedef int P(word);
#define EXCHANGED(v) (v)
#elif LETTER == 'z'
typedef long long P(bits) __attribute__((vector_size(64)));
typedef long long P(word);
/* real and imaginary parts exchanged */
#define EXCHANGED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
#else
typedef int P(bits) __attribute__((vector_size(64)));
typedef int P(word);
#define EXCHANGED(v) __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#endif

/* `x` in all lanes. */
#define SPREAD(x) ((x) + (P(lanes)){0})

HD_INLINE P(lanes) * P(lanes_of)(const element *x)
{
	return (P(lanes) *)(uintptr_t)x;
}

/* Sets -1 in the lanes of real parts and 1 in the lanes of imaginary parts. So i x is EXCHANGED(x) * signs. */
HD_INLINE void P(set_signs)(P(lanes) * signs)
{
	for (int i = 0; i < P(LANES); i++)
		(*signs)[i] = i % 2 ? 1 : -1;
}

/* x -= a u, with ia = i a */
HD_INLINE void P(take_product)(P(lanes) * x, const P(lanes) * a, const P(lanes) * ia, element u)
{
	*x -= *a * SPREAD(REAL(u));
	if (COMPLEX)
		*x -= *ia * SPREAD(IMAG(u));
}

/* --- reduce ------------------------------------------------------------------------------------------------------- */

/* `reduce` for `count` vectors from row i on. */
HD_INLINE void P(reduce_rows)(int count, struct P(view) a, const element *u, int i, P(lanes) * x)
{
	P(lanes) signs, sum[P(ROWS)];
	P(set_signs)(&signs);
	for (int r = 0; r < count; r++)
		sum[r] = x[r];
	for (int k = 0; k < a.n; k++) {
		const P(lanes) *column = P(lanes_of)(P(at)(a, i, k));
		for (int r = 0; r < count; r++) {
			P(lanes) v = column[r], iv = EXCHANGED(v) * signs;
			P(take_product)(&sum[r], &v, &iv, u[k]);
		}
	}
	for (int r = 0; r < count; r++)
		x[r] = sum[r];
}

HD_CLONES void P(reduce)(struct P(view) a, const element *u, element *x)
{
	if (a.n == 0)
		return;
	if (a.m < P(ELEMENTS)) {
		for (int k = 0; k < a.n; k++)
			for (int i = 0; i < a.m; i++)
				x[i] -= *P(at)(a, i, k) * u[k];
		return;
	}
	/* the last vector overlaps the vector before it, so it must be computed from the old values */
	int i = 0, last = a.m - P(ELEMENTS);
	P(lanes) end = *P(lanes_of)(x + last);
	for (; i + P(ROWS) * P(ELEMENTS) <= a.m; i += P(ROWS) * P(ELEMENTS))
		P(reduce_rows)(P(ROWS), a, u, i, P(lanes_of)(x + i));
	for (; i <= last; i += P(ELEMENTS))
		P(reduce_rows)(1, a, u, i, P(lanes_of)(x + i));
	if (i < a.m) {
		P(reduce_rows)(1, a, u, last, &end);
		*P(lanes_of)(x + last) = end;
	}
}

/* --- dots --------------------------------------------------------------------------------------------------------- */

HD_INLINE void P(add_products)(int count, struct P(view) a, int i, const P(lanes) * x, P(lanes) * re, P(lanes) * im)
{
	P(lanes) exchanged = EXCHANGED(*x);
	for (int k = 0; k < count; k++) {
		P(lanes) v = *P(lanes_of)(P(at)(a, i, k));
		re[k] += v * *x;
		if (COMPLEX)
			im[k] += v * exchanged;
	}
}

/* `dots` for `count` columns, with at least as many rows as a vector has elements. */
HD_INLINE void P(dots_of)(int count, struct P(view) a, const element *x, element *w)
{
	P(lanes) re[4] = {{0}}, im[4] = {{0}}, signs;
	int i = 0, last = a.m - P(ELEMENTS);
	for (; i <= last; i += P(ELEMENTS))
		P(add_products)(count, a, i, P(lanes_of)(x + i), re, im);
	if (i < a.m) {
		/* the rest of x, at the end of a vector of zeros */
		element rest[P(ELEMENTS)] = {0};
		for (int k = i; k < a.m; k++)
			rest[k - last] = x[k];
		P(add_products)(count, a, last, P(lanes_of)(rest), re, im);
	}
	P(set_signs)(&signs);
	for (int k = 0; k < count; k++) {
		real sums[2] = {0, 0};
		for (int l = 0; l < P(LANES); l++) {
			sums[0] += re[k][l];
			sums[1] -= COMPLEX ? im[k][l] * signs[l] : 0;
		}
		memcpy(&w[k], sums, sizeof w[k]);
	}
}

HD_CLONES void P(dots)(struct P(view) a, const element *x, element *w)
{
	int k = 0;
	if (a.m < P(ELEMENTS)) {
		for (; k < a.n; k++) {
			w[k] = 0;
			for (int i = 0; i < a.m; i++)
				w[k] += CONJ(*P(at)(a, i, k)) * x[i];
		}
		return;
	}
	for (; k + 4 <= a.n; k += 4)
		P(dots_of)(4, P(part)(a, 0, k, a.m, 4), x, w + k);
	if (a.n - k >= 2) {
		P(dots_of)(2, P(part)(a, 0, k, a.m, 2), x, w + k);
		k += 2;
	}
	if (k < a.n)
		P(dots_of)(1, P(part)(a, 0, k, a.m, 1), x, w + k);
}

/* --- One vector --------------------------------------------------------------------------------------------------- */

HD_CLONES void P(scale)(int m, element *x, element f)
{
	int i = 0;
	P(lanes) signs;
	P(set_signs)(&signs);
	for (; i + P(ELEMENTS) <= m; i += P(ELEMENTS)) {
		P(lanes) v = *P(lanes_of)(x + i), scaled = v * SPREAD(REAL(f));
		if (COMPLEX)
			scaled += EXCHANGED(v) * signs * SPREAD(IMAG(f));
		*P(lanes_of)(x + i) = scaled;
	}
	for (; i < m; i++)
		x[i] *= f;
}

HD_CLONES real P(sum_of_squares)(int m, const element *x)
{
	P(lanes) sums[P(ROWS)] = {{0}};
	real sum = 0;
	int i = 0;
	for (; i + P(ROWS) * P(ELEMENTS) <= m; i += P(ROWS) * P(ELEMENTS))
		for (int r = 0; r < P(ROWS); r++) {
			P(lanes) v = *P(lanes_of)(x + i + r * P(ELEMENTS));
			sums[r] += v * v;
		}
	for (; i < m; i++)
		sum += REAL(x[i]) * REAL(x[i]) + IMAG(x[i]) * IMAG(x[i]);
	for (int l = 0; l < P(LANES); l++)
		sum += (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
	return sum;
}

int P(is_zero)(int m, const element *x)
{
	for (int i = 0; i < m; i++)
		if (x[i] != 0)
			return 0;
	return 1;
}

/* The bits of absolute values as integers: they have the same order as the values, and the bits of NaN are larger than
 * all others. */
HD_INLINE void P(sizes)(const element *x, P(bits) * sizes)
{
	const P(word) no_sign = (P(word))(((unsigned long long)1 << (8 * sizeof(P(word)) - 1)) - 1);
	*sizes = (P(bits)) * P(lanes_of)(x) & no_sign;
	if (COMPLEX) {
		P(lanes) v = (P(lanes)) * sizes;
		*sizes = (P(bits))(v + EXCHANGED(v)) & no_sign;
	}
}

HD_CLONES int P(find_pivot)(int m, const element *x)
{
	enum { PARTS = sizeof(element) / sizeof(real) };
	P(bits) best = {0}, places = {0}, sizes;
	int place = 0, i = 0;
	P(word) most = -1;
	best -= 1;
	for (; i + P(ELEMENTS) <= m; i += P(ELEMENTS)) {
		P(sizes)(x + i, &sizes);
		P(bits) larger = sizes > best;
		best = (sizes & larger) | (best & ~larger);
		places = (larger & i) | (places & ~larger);
	}
	for (int l = 0; l < P(LANES); l += PARTS) {
		int here = (int)places[l] + l / PARTS;
		if (best[l] > most || (best[l] == most && here < place)) {
			most = best[l];
			place = here;
		}
	}
	if (i < m) {
		element rest[P(ELEMENTS)] = {0};
		for (int k = i; k < m; k++)
			rest[k - i] = x[k];
		P(sizes)(rest, &sizes);
		for (int k = i; k < m; k++)
			if (sizes[(k - i) * PARTS] > most) {
				most = sizes[(k - i) * PARTS];
				place = k;
			}
	}
	return place;
}

/* --- solve -------------------------------------------------------------------------------------------------------- */

/* `solve` for `count` vectors of each column. */
HD_INLINE void P(solve_rows)(int count, int n, element *x, ptrdiff_t ld, const element *t)
{
	P(lanes) done[HD_SOLVE_MOST][P(ROWS)], turned[COMPLEX ? HD_SOLVE_MOST : 1][P(ROWS)], signs;
	P(set_signs)(&signs);
	for (int j = 0; j < n; j++, t += n) {
		P(lanes) sum[P(ROWS)];
		P(lanes) *column = P(lanes_of)(x + j * ld);
		for (int r = 0; r < count; r++)
			sum[r] = column[r];
		for (int k = 0; k < j; k++)
			for (int r = 0; r < count; r++)
				P(take_product)(&sum[r], &done[k][r], &turned[COMPLEX ? k : 0][r], t[k]);
		for (int r = 0; r < count; r++) {
			P(lanes) v = sum[r] * SPREAD(REAL(t[j]));
			if (COMPLEX)
				v += EXCHANGED(sum[r]) * signs * SPREAD(IMAG(t[j]));
			done[j][r] = column[r] = v;
			if (COMPLEX)
				turned[j][r] = EXCHANGED(v) * signs;
		}
	}
}

HD_CLONES void P(solve)(int m, int n, element *x, ptrdiff_t ld, const element *t)
{
	int i = 0;
	for (; i + P(ROWS) * P(ELEMENTS) <= m; i += P(ROWS) * P(ELEMENTS))
		P(solve_rows)(P(ROWS), n, x + i, ld, t);
	for (; i + P(ELEMENTS) <= m; i += P(ELEMENTS))
		P(solve_rows)(1, n, x + i, ld, t);
	if (i < m) {
		element rest[HD_SOLVE_MOST * P(ELEMENTS)] = {0};
		for (int j = 0; j < n; j++)
			memcpy(rest + j * P(ELEMENTS), x + i + j * ld, (size_t)(m - i) * sizeof *x);
		P(solve_rows)(1, n, rest, P(ELEMENTS), t);
		for (int j = 0; j < n; j++)
			memcpy(x + i + j * ld, rest + j * P(ELEMENTS), (size_t)(m - i) * sizeof *x);
	}
}

/* --- cholesky ----------------------------------------------------------------------------------------------------- */

/* x -= conj(u) l for whole columns: computing the part above the diagonal costs less than leaving it out. */
HD_INLINE void P(take_column)(const element *l, element u, element *x)
{
	P(lanes) signs;
	P(set_signs)(&signs);
	for (int i = 0; i < HD_CHOLESKY_MOST; i += P(ELEMENTS)) {
		P(lanes) v = *P(lanes_of)(l + i), iv = EXCHANGED(v) * signs;
		P(take_product)(P(lanes_of)(x + i), &v, &iv, u);
	}
}

HD_CLONES int P(cholesky)(int n, element *a)
{
	for (int j = 0; j < n; j++) {
		element *x = a + j * HD_CHOLESKY_MOST;
		real pivot = REAL(x[j]);
		if (!(pivot > 0))
			return j + 1;
		pivot = MATH(sqrt)(pivot);
		for (int i = 0; i < HD_CHOLESKY_MOST; i++)
			x[i] *= 1 / pivot;
		x[j] = pivot;
		for (int k = j + 1; k < n; k++)
			P(take_column)(x, CONJ(x[k]), a + k * HD_CHOLESKY_MOST);
	}
	return 0;
}

#undef EXCHANGED
#undef SPREAD
