/* Diagonal tiles of triangular and of positive definite matrices, for one precision: see cholesky.c. */

static struct P(view) P(diagonal)(const heddle_context *c)
{
	return P(view)(heddle_ptr(c, 0), (int)heddle_extent(c, 0, 0), (int)heddle_extent(c, 0, 1),
	               (int)heddle_ld(c, 0));
}

static int P(potrf_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	int minor = P(potrf_party)(&p, hd_dense_cblas_uplo(v->uplo), P(diagonal)(c));
	return p.rank == 0 ? hd_dense_return(c, hd_dense_judge_potrf(v, minor)) : 0;
}

static int P(trtri_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	int zero = P(trtri_party)(&p, hd_dense_cblas_uplo(v->uplo), hd_dense_cblas_diag(v->diag), P(diagonal)(c));
	return p.rank == 0 ? hd_dense_return(c, hd_dense_judge_trtri(v, zero)) : 0;
}

static int P(lauum_task)(heddle_context *c)
{
	const struct hd_dense_diagonal_values *v = heddle_value_ptr(c, 0);
	struct hd_party p = hd_dense_party(c);
	P(lauum_party)(&p, hd_dense_cblas_uplo(v->uplo), P(diagonal)(c));
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
