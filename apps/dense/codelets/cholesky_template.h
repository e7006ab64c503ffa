/* Diagonal tiles of triangular and of positive definite matrices, for one precision: see cholesky.c. */

static struct P(view) P(diagonal)(const heddle_context *c)
{
	return P(view)(heddle_ptr(c, 0), (int)heddle_extent(c, 0, 0), (int)heddle_extent(c, 0, 1),
	               (int)heddle_ld(c, 0));
}

static int P(potrf_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	int minor = P(potrf)(hd_dense_cblas_uplo(v->uplo), P(diagonal)(c));
	if (minor == 0)
		return 0;
	size_t order = v->row + (size_t)minor;
	hd_dense_set_info(v->info, order);
	return heddle_fail(c, minor, "matrix is not positive definite: the leading minor of order %zu is not positive",
	                   order);
}

static int P(trtri_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	int zero = P(trtri)(hd_dense_cblas_uplo(v->uplo), hd_dense_cblas_diag(v->diag), P(diagonal)(c));
	if (zero == 0)
		return 0;
	size_t row = v->row + (size_t)zero;
	hd_dense_set_info(v->info, row);
	return heddle_fail(c, zero,
	                   "matrix is singular: the element in row %zu of the diagonal (counted from 1) is zero", row);
}

static int P(lauum_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	P(lauum)(hd_dense_cblas_uplo(v->uplo), P(diagonal)(c));
	return 0;
}

static double P(potrf_flops)(const struct heddle_size *size)
{
	return hd_dense_potrf_flops(COMPLEX, hd_dense_extent(size, 0, 0));
}

static double P(trtri_flops)(const struct heddle_size *size)
{
	return hd_dense_trtri_flops(COMPLEX, hd_dense_extent(size, 0, 0));
}
