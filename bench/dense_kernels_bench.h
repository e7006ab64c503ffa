/* One precision of dense_kernels.c. */

/* Each kernel overwrites the first of its matrices, or the first two, with what `fresh` has before the next call. */
struct P(data) {
	int n, ib;
	struct P(view) a, b, tall;   /* random, with a dominant diagonal */
	struct P(view) x, y, tall_x; /* copies that are overwritten */
	struct P(view) v, t;         /* reflectors of geqrt for gemqrt, of tsqrt for tsmqr ... */
	element *work;
	int *pivots;
};

#define CASE(name) static void P(name)(struct P(data) * d)

CASE(gemm_ours)
{
	P(gemm)(HD_OPS(NoTrans, ConjTrans), -1, d->a, d->b, 1, d->x);
}
CASE(gemm_theirs)
{
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasConjTrans, d->n, d->n, d->n, SCALAR(-1), d->a.a, d->n, d->b.a, d->n,
	 SCALAR(1), d->x.a, d->n);
}
CASE(gemm_nn_ours)
{
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, d->a, d->b, 1, d->x);
}
CASE(gemm_nn_theirs)
{
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasNoTrans, d->n, d->n, d->n, SCALAR(-1), d->a.a, d->n, d->b.a, d->n, SCALAR(1),
	 d->x.a, d->n);
}
CASE(trsm_ours)
{
	P(trsm)(HD_TRIANGLE(Right, Lower, ConjTrans, NonUnit), 1, d->a, d->x);
}
CASE(trsm_theirs)
{
	BLAS(trsm)
	(CblasColMajor, CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, d->n, d->n, SCALAR(1), d->a.a, d->n,
	 d->x.a, d->n);
}
CASE(trsm_left_ours)
{
	P(trsm)(HD_TRIANGLE(Left, Lower, NoTrans, Unit), 1, d->a, d->x);
}
CASE(trsm_left_theirs)
{
	BLAS(trsm)
	(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, d->n, d->n, SCALAR(1), d->a.a, d->n, d->x.a,
	 d->n);
}
CASE(trmm_ours)
{
	P(trmm)(HD_TRIANGLE(Left, Lower, ConjTrans, NonUnit), 1, d->a, d->x);
}
CASE(trmm_theirs)
{
	BLAS(trmm)
	(CblasColMajor, CblasLeft, CblasLower, CblasConjTrans, CblasNonUnit, d->n, d->n, SCALAR(1), d->a.a, d->n,
	 d->x.a, d->n);
}
CASE(herk_ours)
{
	P(herk)(CblasLower, CblasNoTrans, -1, d->a, 1, d->x);
}
CASE(herk_theirs)
{
	HERMITIAN(rk)(CblasColMajor, CblasLower, CblasNoTrans, d->n, d->n, -1, d->a.a, d->n, 1, d->x.a, d->n);
}
CASE(potrf_ours)
{
	P(potrf)(CblasLower, d->x);
}
CASE(potrf_theirs)
{
	LAPACK(potrf_work)(LAPACK_COL_MAJOR, 'L', d->n, d->x.a, d->n);
}
CASE(trtri_ours)
{
	P(trtri)(CblasLower, CblasNonUnit, d->x);
}
CASE(trtri_theirs)
{
	LAPACK(trtri_work)(LAPACK_COL_MAJOR, 'L', 'N', d->n, d->x.a, d->n);
}
CASE(lauum_ours)
{
	P(lauum)(CblasLower, d->x);
}
CASE(lauum_theirs)
{
	LAPACK(lauum_work)(LAPACK_COL_MAJOR, 'L', d->n, d->x.a, d->n);
}
CASE(nopiv_ours)
{
	P(getrf_nopiv)(d->x);
}
CASE(nopiv_theirs)
{
	LAPACK(getrf_work)(LAPACK_COL_MAJOR, d->n, d->n, d->x.a, d->n, d->pivots);
}
CASE(getrf_ours)
{
	P(getrf)(d->tall_x, d->pivots);
}
CASE(getrf_theirs)
{
	LAPACK(getrf_work)(LAPACK_COL_MAJOR, d->tall_x.m, d->n, d->tall_x.a, d->tall_x.ld, d->pivots);
}
CASE(geqrt_ours)
{
	P(geqrt)(d->x, d->t, d->work);
}
CASE(geqrt_theirs)
{
	LAPACK(geqrt_work)(LAPACK_COL_MAJOR, d->n, d->n, d->ib, d->x.a, d->n, d->t.a, d->ib, d->work);
}
CASE(gemqrt_ours)
{
	P(gemqrt)(HD_APPLY(Left, ConjTrans), d->v, d->t, d->x, d->work);
}
CASE(gemqrt_theirs)
{
	LAPACK(gemqrt_work)
	(LAPACK_COL_MAJOR, 'L', COMPLEX ? 'C' : 'T', d->n, d->n, d->n, d->ib, d->v.a, d->n, d->t.a, d->ib, d->x.a, d->n,
	 d->work);
}
CASE(tsqrt_ours)
{
	P(tsqrt)(d->x, d->y, d->t, d->work);
}
CASE(tsmqr_ours)
{
	P(tsmqr)(HD_APPLY(Left, ConjTrans), d->v, d->t, d->x, d->y, d->work);
}
CASE(tsmqr_right_ours)
{
	P(tsmqr)(HD_APPLY(Right, NoTrans), d->v, d->t, d->x, d->y, d->work);
}
CASE(ttqrt_ours)
{
	P(ttqrt)(d->x, d->y, 0, d->t, d->work);
}
CASE(ttmqr_ours)
{
	P(ttmqr)(HD_APPLY(Left, ConjTrans), d->v, d->t, d->x, d->y, d->work);
}

static void P(tpqrt_lapack)(struct P(data) * d, int l)
{
	LAPACK(tpqrt_work)
	(LAPACK_COL_MAJOR, d->n, d->n, l, d->ib, d->x.a, d->n, d->y.a, d->n, d->t.a, d->ib, d->work);
}

static void P(tpmqrt_lapack)(struct P(data) * d, char side, int l)
{
	LAPACK(tpmqrt_work)
	(LAPACK_COL_MAJOR, side,
	 side == 'R' ? 'N'
	 : COMPLEX   ? 'C'
	             : 'T',
	 d->n, d->n, d->n, l, d->ib, d->v.a, d->n, d->t.a, d->ib, d->x.a, d->n, d->y.a, d->n, d->work);
}
CASE(tsqrt_theirs)
{
	P(tpqrt_lapack)(d, 0);
}
CASE(tsmqr_theirs)
{
	P(tpmqrt_lapack)(d, 'L', 0);
}
CASE(tsmqr_right_theirs)
{
	P(tpmqrt_lapack)(d, 'R', 0);
}
CASE(ttqrt_theirs)
{
	P(tpqrt_lapack)(d, d->n);
}
CASE(ttmqr_theirs)
{
	P(tpmqrt_lapack)(d, 'L', d->n);
}
#undef CASE

static struct P(view) P(fresh)(int m, int n)
{
	struct P(view) v =
	    P(view)(aligned_alloc(64, ((size_t)m * (size_t)n * sizeof(element) + 63) / 64 * 64), m, n, m);
	bench_need(v.a != NULL, "no memory for a matrix");
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			*P(at)(v, i, j) = (real)(random_number() / m) + (real)(i == j);
	return v;
}

static double P(seconds)(void (*kernel)(struct P(data) *), struct P(data) * d)
{
	size_t bytes = (size_t)d->n * (size_t)d->n * sizeof(element);
	memcpy(d->x.a, d->a.a, bytes);
	memcpy(d->y.a, d->b.a, bytes);
	memcpy(d->tall_x.a, d->tall.a, TALL * bytes);
	double start = seconds_computed();
	kernel(d);
	return seconds_computed() - start;
}

/* One kernel: `factor` times n^3 operations. `before` makes V and T for it, or is NULL. */
struct P(contest) {
	const char *name;
	double factor;
	void (*ours)(struct P(data) *), (*theirs)(struct P(data) *), (*before)(struct P(data) *);
};

static void P(compete)(const struct P(contest) * c, struct P(data) * d)
{
	void (*kernels[3])(struct P(data) *) = {c->ours, c->theirs, P(gemm_theirs)};
	static const char *whose[] = {"heddle", "lapack", "gemm"};
	double best[3] = {1e9, 1e9, 1e9}, rates[3], n = d->n;
	if (c->before) {
		P(seconds)(c->before, d);
		memcpy(d->v.a, c->before == P(geqrt_ours) ? d->x.a : d->y.a,
		       (size_t)d->n * (size_t)d->n * sizeof(element));
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int k = 0; k < 3; k++) {
			double time = P(seconds)(kernels[k], d);
			best[k] = time < best[k] ? time : best[k];
		}
	char name[64];
	for (int k = 0; k < 3; k++) {
		rates[k] = (k < 2 ? c->factor : 2) * n * n * n * (COMPLEX ? 4 : 1) / best[k] * 1e-9;
		snprintf(name, sizeof name, "%c%s_%d_%s", LETTER, c->name, d->n, whose[k]);
		bench_row(name, 1, "GFlop/s", rates[k]);
	}
	for (int k = 1; k < 3; k++) {
		snprintf(name, sizeof name, "%c%s_%d_over_%s", LETTER, c->name, d->n, whose[k]);
		bench_row(name, 1, "ratio", rates[0] / rates[k]);
	}
}

static void P(measure)(int n, int ib)
{
	static const struct P(contest) contests[] = {
	    {"gemm", 2, P(gemm_ours), P(gemm_theirs), NULL},
	    {"gemm_nn", 2, P(gemm_nn_ours), P(gemm_nn_theirs), NULL},
	    {"trsm", 1, P(trsm_ours), P(trsm_theirs), NULL},
	    {"trsm_left", 1, P(trsm_left_ours), P(trsm_left_theirs), NULL},
	    {"trmm", 1, P(trmm_ours), P(trmm_theirs), NULL},
	    {"herk", 1, P(herk_ours), P(herk_theirs), NULL},
	    {"potrf", 1. / 3, P(potrf_ours), P(potrf_theirs), NULL},
	    {"trtri", 1. / 3, P(trtri_ours), P(trtri_theirs), NULL},
	    {"lauum", 1. / 3, P(lauum_ours), P(lauum_theirs), NULL},
	    {"getrf_nopiv", 2. / 3, P(nopiv_ours), P(nopiv_theirs), NULL},
	    {"getrf_tall", TALL - 1. / 3, P(getrf_ours), P(getrf_theirs), NULL},
	    {"geqrt", 4. / 3, P(geqrt_ours), P(geqrt_theirs), NULL},
	    {"gemqrt", 2, P(gemqrt_ours), P(gemqrt_theirs), P(geqrt_ours)},
	    {"tsqrt", 2, P(tsqrt_ours), P(tsqrt_theirs), NULL},
	    {"tsmqr", 4, P(tsmqr_ours), P(tsmqr_theirs), P(tsqrt_ours)},
	    {"tsmqr_right", 4, P(tsmqr_right_ours), P(tsmqr_right_theirs), P(tsqrt_ours)},
	    {"ttqrt", 2. / 3, P(ttqrt_ours), P(ttqrt_theirs), NULL},
	    {"ttmqr", 2, P(ttmqr_ours), P(ttmqr_theirs), P(ttqrt_ours)},
	};
	struct P(data) d = {.n = n, .ib = ib, .a = P(fresh)(n, n), .b = P(fresh)(n, n), .tall = P(fresh)(TALL * n, n)};
	d.x = P(fresh)(n, n), d.y = P(fresh)(n, n), d.tall_x = P(fresh)(TALL * n, n);
	d.v = P(fresh)(n, n), d.t = P(fresh)(ib, n);
	d.work = malloc(hd_qr_work(n, ib) * sizeof *d.work);
	d.pivots = malloc((size_t)n * sizeof *d.pivots);
	bench_need(d.work && d.pivots, "no memory for the workspace");
	for (size_t i = 0; i < sizeof contests / sizeof *contests; i++)
		P(compete)(&contests[i], &d);
	free(d.a.a), free(d.b.a), free(d.tall.a), free(d.x.a), free(d.y.a), free(d.tall_x.a), free(d.v.a), free(d.t.a);
	free(d.work), free(d.pivots);
}
