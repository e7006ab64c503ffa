/* One precision of test_dense_products.c. */

static const heddle_dense_scalar P(scalars)[][2] = {
    /* alpha, beta */
    {{-0.7, 0.4}, {0.3, -1.1}},
    {{1, 0}, {0, 0}},
    {{0, 0}, {0.5, 0.25}},
    {{0, 0}, {0, 0}},
    /* of real matrices the imaginary part is ignored */
    {{0.5, COMPLEX ? 0 : INFINITY}, {0, COMPLEX ? 0 : 0.25}},
    {{0, COMPLEX ? 0 : 1}, {-1, COMPLEX ? 0 : NAN}},
};
enum { P(N_SCALARS) = sizeof P(scalars) / sizeof *P(scalars) };

/* Makes all NaN. */
static void P(ruin)(struct P(view) a)
{
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.m; i++)
			*P(at)(a, i, j) = (real)NAN;
}

/* --- gemm --------------------------------------------------------------------------------------------------------- */

struct P(product) {
	int trans_a, trans_b; /* indices in transpositions */
	int m, n, k;
	int scalars;
};

static void P(check_gemm)(const struct P(product) * p, int layout)
{
	heddle_dense_scalar alpha = P(scalars)[p->scalars][0], beta = P(scalars)[p->scalars][1];
	struct P(view) a = p->trans_a ? P(random_view)(p->k, p->m, 1) : P(random_view)(p->m, p->k, 1);
	struct P(view) b = p->trans_b ? P(random_view)(p->n, p->k, 2) : P(random_view)(p->k, p->n, 2);
	struct P(view) c = P(random_view)(p->m, p->n, 3), wanted = P(copy)(c);
	double scale = P(norm)(a) * P(norm)(b) + P(norm)(c);
	BLAS(gemm)
	(CblasColMajor, cblas_transpositions[p->trans_a], cblas_transpositions[p->trans_b], p->m, p->n, p->k,
	 SCALAR(P(element_of)(alpha)), a.a, a.ld, b.a, b.ld, SCALAR(P(element_of)(beta)), wanted.a, wanted.ld);
	/* what is not read may be anything */
	if (alpha.re == 0)
		P(ruin)(a), P(ruin)(b);
	if (beta.re == 0)
		P(ruin)(c);
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b), of_c = P(array)(c);
	struct heddle_dense_options options = in_layout(layout);
	OK(heddle_dense_gemm(dense, transpositions[p->trans_a], transpositions[p->trans_b], alpha, &of_a, &of_b, beta,
	                     &of_c, &options));
	P(check_same)(c, wanted, scale);
	P(free_view)(a), P(free_view)(b), P(free_view)(c), P(free_view)(wanted);
}

static void P(gemm_is_that_of_blas)(void **state)
{
	(void)state;
	for (int t = 0; t < 9; t++)
		for (int e = 0; e < N_EXTENTS * N_EXTENTS; e++) {
			struct P(product) p = {t / 3,
			                       t % 3,
			                       extents[e / N_EXTENTS],
			                       extents[e % N_EXTENTS],
			                       extents[(e / N_EXTENTS + e + t) % N_EXTENTS],
			                       (e + t) % P(N_SCALARS)};
			P(check_gemm)(&p, (e / 2 + t) % 2);
		}
}

static void P(gemm_of_no_terms_scales)(void **state)
{
	(void)state;
	for (int v = 0; v < 2 * P(N_SCALARS); v++)
		P(check_gemm)(&(struct P(product)){0, 1, TILE + 3, 2 * TILE, 0, v / 2}, v % 2);
}

/* --- syrk, herk --------------------------------------------------------------------------------------------------- */

struct P(rank) {
	CBLAS_UPLO uplo;
	int trans, hermitian;
	int n, k;
	int scalars;
};

static void P(plain_rank)(const struct P(rank) * r, struct P(view) a, struct P(view) c)
{
	heddle_dense_scalar alpha = P(scalars)[r->scalars][0], beta = P(scalars)[r->scalars][1];
	if (r->hermitian)
		HERMITIAN(rk)
	(CblasColMajor, r->uplo, r->trans ? CblasConjTrans : CblasNoTrans, r->n, r->k, (real)alpha.re, a.a, a.ld,
	 (real)beta.re, c.a, c.ld);
	else BLAS(syrk)(CblasColMajor, r->uplo, r->trans ? CblasTrans : CblasNoTrans, r->n, r->k,
	                SCALAR(P(element_of)(alpha)), a.a, a.ld, SCALAR(P(element_of)(beta)), c.a, c.ld);
}

static void P(check_rank)(const struct P(rank) * r, int layout)
{
	heddle_dense_scalar alpha = P(scalars)[r->scalars][0], beta = P(scalars)[r->scalars][1];
	struct P(view) a = r->trans ? P(random_view)(r->k, r->n, 1) : P(random_view)(r->n, r->k, 1);
	struct P(view) c = P(random_view)(r->n, r->n, 2);
	double scale = P(norm)(a) * P(norm)(a) + P(norm)(c);
	P(spoil)(c, r->uplo, CblasNonUnit);
	struct P(view) wanted = P(copy)(c);
	P(plain_rank)(r, a, wanted);
	if (alpha.re == 0)
		P(ruin)(a);
	if (beta.re == 0)
		P(ruin)(c);
	struct heddle_dense_array of_a = P(array)(a), of_c = P(array)(c);
	struct heddle_dense_options options = in_layout(layout);
	if (r->hermitian)
		OK(heddle_dense_herk(dense, uplo_of(r->uplo),
		                     r->trans ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS, alpha.re, &of_a,
		                     beta.re, &of_c, &options));
	else
		OK(heddle_dense_syrk(dense, uplo_of(r->uplo), r->trans ? HEDDLE_DENSE_TRANS : HEDDLE_DENSE_NO_TRANS,
		                     alpha, &of_a, beta, &of_c, &options));
	P(check_same_triangle)(c, wanted, r->uplo, scale);
	P(free_view)(a), P(free_view)(c), P(free_view)(wanted);
}

static void P(syrk_and_herk_are_those_of_blas)(void **state)
{
	(void)state;
	for (int f = 0; f < 8; f++)
		for (int e = 0; e < N_EXTENTS * N_EXTENTS; e++) {
			struct P(rank) r = {f & 1 ? CblasLower : CblasUpper,
			                    f & 2,
			                    f & 4,
			                    extents[e / N_EXTENTS],
			                    extents[e % N_EXTENTS],
			                    (e + f) % P(N_SCALARS)};
			P(check_rank)(&r, (e / 2 + f) % 2);
		}
	for (int v = 0; v < 8; v++) /* no terms */
		P(check_rank)(&(struct P(rank)){CblasLower, 0, v & 1, TILE + 3, 0, v & 2}, v / 4);
}

/* --- symm, hemm --------------------------------------------------------------------------------------------------- */

struct P(symmetric) {
	CBLAS_SIDE side;
	CBLAS_UPLO uplo;
	int hermitian;
	int m, n;
	int scalars;
};

static void P(plain_symmetric)(const struct P(symmetric) * s, struct P(view) a, struct P(view) b, struct P(view) c)
{
	element alpha = P(element_of)(P(scalars)[s->scalars][0]), beta = P(element_of)(P(scalars)[s->scalars][1]);
	if (s->hermitian)
		HERMITIAN(mm)
	(CblasColMajor, s->side, s->uplo, s->m, s->n, SCALAR(alpha), a.a, a.ld, b.a, b.ld, SCALAR(beta), c.a, c.ld);
	else BLAS(symm)(CblasColMajor, s->side, s->uplo, s->m, s->n, SCALAR(alpha), a.a, a.ld, b.a, b.ld, SCALAR(beta),
	                c.a, c.ld);
}

static void P(check_symmetric)(const struct P(symmetric) * s, int layout)
{
	heddle_dense_scalar alpha = P(scalars)[s->scalars][0], beta = P(scalars)[s->scalars][1];
	int order = s->side == CblasLeft ? s->m : s->n;
	struct P(view) a = P(random_view)(order, order, 1), b = P(random_view)(s->m, s->n, 2);
	struct P(view) c = P(random_view)(s->m, s->n, 3), wanted = P(copy)(c);
	double scale = P(norm)(a) * P(norm)(b) + P(norm)(c);
	P(spoil)(a, s->uplo, CblasNonUnit);
	P(plain_symmetric)(s, a, b, wanted);
	if (alpha.re == 0)
		P(ruin)(a), P(ruin)(b);
	if (beta.re == 0)
		P(ruin)(c);
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b), of_c = P(array)(c);
	struct heddle_dense_options options = in_layout(layout);
	if (s->hermitian)
		OK(heddle_dense_hemm(dense, side_of(s->side), uplo_of(s->uplo), alpha, &of_a, &of_b, beta, &of_c,
		                     &options));
	else
		OK(heddle_dense_symm(dense, side_of(s->side), uplo_of(s->uplo), alpha, &of_a, &of_b, beta, &of_c,
		                     &options));
	P(check_same)(c, wanted, scale);
	P(free_view)(a), P(free_view)(b), P(free_view)(c), P(free_view)(wanted);
}

static void P(symm_and_hemm_are_those_of_blas)(void **state)
{
	(void)state;
	for (int f = 0; f < 8; f++)
		for (int e = 0; e < N_EXTENTS * N_EXTENTS; e++) {
			struct P(symmetric) s = {
			    f & 1 ? CblasLeft : CblasRight, f & 2 ? CblasLower : CblasUpper, f & 4,
			    extents[e / N_EXTENTS],         extents[e % N_EXTENTS],          (e + f) % P(N_SCALARS)};
			P(check_symmetric)(&s, (e / 2 + f) % 2);
		}
}

/* --- trsm, trmm --------------------------------------------------------------------------------------------------- */

struct P(triangular) {
	CBLAS_SIDE side;
	CBLAS_UPLO uplo;
	int trans; /* index in transpositions */
	CBLAS_DIAG diag;
	int m, n, solve;
	heddle_dense_scalar alpha;
};

static void P(plain_triangular)(const struct P(triangular) * t, struct P(view) a, struct P(view) b)
{
	element alpha = P(element_of)(t->alpha);
	if (t->solve)
		BLAS(trsm)
	(CblasColMajor, t->side, t->uplo, cblas_transpositions[t->trans], t->diag, t->m, t->n, SCALAR(alpha), a.a, a.ld,
	 b.a, b.ld);
	else BLAS(trmm)(CblasColMajor, t->side, t->uplo, cblas_transpositions[t->trans], t->diag, t->m, t->n,
	                SCALAR(alpha), a.a, a.ld, b.a, b.ld);
}

static void P(check_triangular)(const struct P(triangular) * t, int layout)
{
	int order = t->side == CblasLeft ? t->m : t->n;
	struct P(view) a = P(small_triangle)(t->uplo, t->diag, order, 1), b = P(random_view)(t->m, t->n, 2);
	struct P(view) wanted = P(copy)(b), full = P(triangle)(a, t->uplo, t->diag);
	double scale = P(norm)(full) * P(norm)(b);
	P(plain_triangular)(t, a, wanted);
	if (t->alpha.re == 0)
		P(ruin)(a), P(ruin)(b);
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
	struct heddle_dense_options options = in_layout(layout);
	if (t->solve)
		OK(heddle_dense_trsm(dense, side_of(t->side), uplo_of(t->uplo), transpositions[t->trans],
		                     diag_of(t->diag), t->alpha, &of_a, &of_b, &options));
	else
		OK(heddle_dense_trmm(dense, side_of(t->side), uplo_of(t->uplo), transpositions[t->trans],
		                     diag_of(t->diag), t->alpha, &of_a, &of_b, &options));
	P(check_same)(b, wanted, scale);
	P(free_view)(a), P(free_view)(b), P(free_view)(wanted), P(free_view)(full);
}

static void P(trsm_and_trmm_are_those_of_blas)(void **state)
{
	(void)state;
	for (int f = 0; f < 48; f++)
		for (int e = 0; e < 2 * N_EXTENTS; e++) {
			struct P(triangular) t = {
			    f & 1 ? CblasLeft : CblasRight,
			    f & 2 ? CblasLower : CblasUpper,
			    f / 16,
			    f & 4 ? CblasUnit : CblasNonUnit,
			    extents[e % N_EXTENTS],
			    extents[e / N_EXTENTS ? N_EXTENTS - 1 : (e + f) % N_EXTENTS],
			    f & 8,
			    e == f % N_EXTENTS ? (heddle_dense_scalar){0, COMPLEX ? 0 : -2}
			                       : (heddle_dense_scalar){1.5, -0.5},
			};
			P(check_triangular)(&t, (e + f) % 2);
		}
}

/* --- Accelerators ------------------------------------------------------------------------------------------------- */

static void P(all_on_accelerators_with_little_memory)(void **state)
{
	enum { N = LARGE(5) * TILE + 3 };
	struct heddle_stats stats;
	(void)state;
	calls_end();
	calls_begin(2);
	for (int layout = 0; layout < 2; layout++) {
		for (int v = 0; v < 2; v++) {
			P(check_gemm)(&(struct P(product)){v, 1, N, N - TILE, N + TILE, v}, layout);
			P(check_rank)(&(struct P(rank)){CblasLower, v, layout, N, N, v}, layout);
			P(check_rank)(&(struct P(rank)){CblasUpper, v, layout, N, TILE, 2}, layout);
			P(check_symmetric)
			(&(struct P(symmetric)){CblasLeft, v ? CblasLower : CblasUpper, v, N, N, v}, layout);
			P(check_triangular)
			(&(struct P(triangular)){CblasRight, CblasUpper, 2, CblasUnit, N, N, v, {2, 0}}, layout);
		}
	}
	OK(heddle_runtime_stats(rt, &stats));
	assert_true(stats.transfers > 0 && stats.evictions > 0);
	calls_end();
	calls_begin(0);
}
