/* The Cholesky factorisation of one tile, for one precision: see cholesky.c. */

static int P(potrf_task)(heddle_context *c)
{
	const struct hd_dense_potrf_values *v = heddle_value_ptr(c, 0);
	element *a = heddle_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0), ld = heddle_ld(c, 0);
	/* the _work variant saves a search for NaN, which is done below, and a transposition */
	int minor = LAPACK(potrf_work)(LAPACK_COL_MAJOR, v->uplo == HEDDLE_DENSE_UPPER ? 'U' : 'L', (int)n, a, (int)ld);
	for (size_t i = 0; minor == 0 && i < n; i++)
		if (isnan(REAL(a[i + i * ld])))
			minor = (int)i + 1;
	if (minor == 0)
		return 0;
	size_t order = v->row + (size_t)minor;
	hd_dense_set_info(v->info, order);
	return heddle_fail(c, minor, "matrix is not positive definite: the leading minor of order %zu is not positive",
	                   order);
}

static double P(potrf_flops)(const struct heddle_size *size)
{
	double n = hd_dense_extent(size, 0, 0);
	return (COMPLEX ? 4 * n * n * n / 3 + 3 * n * n - n / 3 : n * n * n / 3 + n * n / 2 + n / 6);
}
