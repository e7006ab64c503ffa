/* One precision of vectors.h. */

void P(reduce)(struct P(view) a, const element *u, element *x)
{
	for (int k = 0; k < a.n; k++) {
		const element *column = P(at)(a, 0, k);
		for (int i = 0; i < a.m; i++)
			x[i] -= column[i] * u[k];
	}
}

void P(dots)(struct P(view) a, const element *x, element *w)
{
	for (int k = 0; k < a.n; k++) {
		const element *column = P(at)(a, 0, k);
		element sum = 0;
		for (int i = 0; i < a.m; i++)
			sum += CONJ(column[i]) * x[i];
		w[k] = sum;
	}
}

real P(sum_of_squares)(int m, const element *x)
{
	real sum = 0;
	for (int i = 0; i < m; i++)
		sum += REAL(x[i]) * REAL(x[i]) + IMAG(x[i]) * IMAG(x[i]);
	return sum;
}

int P(is_zero)(int m, const element *x)
{
	for (int i = 0; i < m; i++)
		if (x[i] != 0)
			return 0;
	return 1;
}
