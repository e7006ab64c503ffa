/* One precision of test_dense_qr.c. */

static struct heddle_dense_array P(array)(struct P(view) a)
{
	enum heddle_dense_precision precision = LETTER == 'd'   ? HEDDLE_DENSE_DOUBLE
	                                        : LETTER == 's' ? HEDDLE_DENSE_SINGLE
	                                        : LETTER == 'z' ? HEDDLE_DENSE_COMPLEX_DOUBLE
	                                                        : HEDDLE_DENSE_COMPLEX_SINGLE;
	return (struct heddle_dense_array){precision, (size_t)a.m, (size_t)a.n, a.a, (size_t)a.ld};
}

static struct P(view) P(identity)(int n)
{
	struct P(view) one = P(new_view)(n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(one, i, j) = i == j ? 1 : 0;
	return one;
}

static struct P(view) P(example)(enum kind kind, int m, int n)
{
	struct P(view) a = P(random_view)(m, n, (uint64_t)(100 * m + n));
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			element *x = P(at)(a, i, j);
			if (kind == DOMINANT && i == j)
				*x += (real)(m > n ? m : n);
			if (kind == GRADED)
				*x *= (real)pow(10, -(i % 7) - (j % 5));
			if (kind == DEFICIENT)
				*x = j % 3 == 2 ? *P(at)(a, i, j - 1) : j % 7 == 1 ? 0 : *x;
		}
	return a;
}

/* A = Q R and Q^H Q = I, for A as it was and as it is. Returns Q. */
static struct P(view)
    P(check_factors)(heddle_dense *dense, struct P(view) before, struct P(view) a, heddle_dense_qr *qr)
{
	int m = a.m, larger = a.m > a.n ? a.m : a.n;
	struct P(view) q = P(identity)(m), r = P(new_view)(m, a.n), product = P(new_view)(m, a.n);
	struct P(view) adjoint, gram = P(new_view)(m, m), one = P(identity)(m);
	struct heddle_dense_array of_a = P(array)(a), of_q = P(array)(q);
	OK(heddle_dense_ormqr(dense, HEDDLE_DENSE_LEFT, HEDDLE_DENSE_NO_TRANS, &of_a, qr, &of_q, NULL));
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < m; i++)
			*P(at)(r, i, j) = i <= j ? *P(at)(a, i, j) : 0;
	P(plain_product)(1, q, r, 0, product);
	P(check_same)(product, before, larger * P(norm)(before) / 2);
	adjoint = P(transposed)(q, CblasConjTrans);
	P(plain_product)(1, adjoint, q, 0, gram);
	P(check_same)(gram, one, m / 2.0);
	P(free_view)(r), P(free_view)(product), P(free_view)(adjoint), P(free_view)(gram), P(free_view)(one);
	return q;
}

/* R is LAPACK's, but for the signs of its rows. */
static void P(check_r)(struct P(view) before, struct P(view) a)
{
	int least = a.m < a.n ? a.m : a.n;
	struct P(view) theirs = P(copy)(before), r = P(new_view)(least, a.n), expected = P(new_view)(least, a.n);
	element *tau = calloc((size_t)least + 1, sizeof *tau);
	assert_int_equal(LAPACK(geqrf)(LAPACK_COL_MAJOR, a.m, a.n, theirs.a, theirs.ld, tau), 0);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < least; i++) {
			element ours = *P(at)(a, i, i), its = *P(at)(theirs, i, i);
			*P(at)(r, i, j) = i <= j ? *P(at)(a, i, j) : 0;
			*P(at)(expected, i, j) =
			    i <= j ? *P(at)(theirs, i, j) * (REAL(ours) * REAL(its) < 0 ? -1 : 1) : 0;
		}
	P(check_same)(r, expected, P(norm)(expected));
	P(free_view)(theirs), P(free_view)(r), P(free_view)(expected);
	free(tau);
}

/* op(Q) C or C op(Q) beside the product with Q in full. */
static void P(check_products)(heddle_dense *dense, struct P(view) a, heddle_dense_qr *qr, struct P(view) q, int width)
{
	for (int v = 0; v < 4; v++) {
		int left = v % 2;
		CBLAS_TRANSPOSE trans = v / 2 ? CblasConjTrans : CblasNoTrans;
		struct P(view) c = P(random_view)(left ? q.m : width, left ? width : q.m, 5), result = P(copy)(c);
		struct P(view) op = P(transposed)(q, trans), expected = P(new_view)(c.m, c.n);
		struct heddle_dense_array of_a = P(array)(a), of_c = P(array)(result);
		OK(heddle_dense_ormqr(dense, left ? HEDDLE_DENSE_LEFT : HEDDLE_DENSE_RIGHT,
		                      v / 2 ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS, &of_a, qr, &of_c,
		                      &(struct heddle_dense_options){.layout = left}));
		P(plain_product)(1, left ? op : c, left ? c : op, 0, expected);
		P(check_same)(result, expected, q.m * P(norm)(c) / 2);
		P(free_view)(c), P(free_view)(result), P(free_view)(op), P(free_view)(expected);
	}
}

static void P(check_geqrf)(heddle_dense *dense, enum kind kind, int m, int n,
                           const struct heddle_dense_options *options)
{
	struct P(view) before = P(example)(kind, m, n), a = P(copy)(before);
	struct heddle_dense_array of_a = P(array)(a);
	heddle_dense_qr *qr;
	OK(heddle_dense_geqrf(dense, &of_a, &qr, options));
	struct P(view) q = P(check_factors)(dense, before, a, qr);
	if (kind == DOMINANT)
		P(check_r)(before, a);
	if (kind == RANDOM)
		P(check_products)(dense, a, qr, q, 1 + (m + n) % 19);
	OK(heddle_dense_qr_destroy(qr));
	P(free_view)(before), P(free_view)(a), P(free_view)(q);
}

/* The form that waits, or the one that only submits. */
static void P(call_gels)(heddle_dense *dense, enum heddle_dense_trans trans, struct P(view) a, struct P(view) b,
                         const struct heddle_dense_options *options)
{
	struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
	if (options->layout == HEDDLE_DENSE_TILED) {
		OK(heddle_dense_gels(dense, trans, &of_a, &of_b, options));
		return;
	}
	struct heddle_dense_shape shape = {of_a.precision, of_a.rows, of_a.columns, options->tile, 0};
	struct heddle_dense_shape shape_b = {of_b.precision, of_b.rows, of_b.columns, options->tile, 0};
	heddle_dense_matrix *matrix_a, *matrix_b;
	OK(heddle_dense_matrix_create(dense, &shape, a.a, of_a.ld, &matrix_a));
	OK(heddle_dense_matrix_create(dense, &shape_b, b.a, of_b.ld, &matrix_b));
	OK(heddle_dense_gels_submit(trans, matrix_a, matrix_b, options));
	OK(heddle_dense_matrix_destroy(matrix_a));
	OK(heddle_dense_matrix_destroy(matrix_b));
}

/* X is LAPACK's. What is not read of B is NaN. */
static void P(check_gels)(heddle_dense *dense, int m, int n, int trans, const struct heddle_dense_options *options)
{
	int larger = m > n ? m : n, rows = trans ? n : m, unknowns = trans ? m : n, width = 1 + (m + 2 * n) % 20;
	char letter = trans ? COMPLEX ? 'C' : 'T' : 'N';
	struct P(view) a = P(example)(DOMINANT, m, n), b = P(random_view)(larger, width, 3);
	struct P(view) their_a = P(copy)(a), expected = P(copy)(b), before = P(copy)(a);
	for (int j = 0; j < width; j++)
		for (int i = rows; i < larger; i++)
			*P(at)(b, i, j) = (real)NAN;
	P(call_gels)
	(dense, !trans ? HEDDLE_DENSE_NO_TRANS : COMPLEX ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_TRANS, a, b, options);
	assert_int_equal(
	    LAPACK(gels)(LAPACK_COL_MAJOR, letter, m, n, width, their_a.a, their_a.ld, expected.a, expected.ld), 0);
	P(check_same)(P(part)(b, 0, 0, unknowns, width), P(part)(expected, 0, 0, unknowns, width), P(norm)(expected));
	if (m < n)
		P(check_same)(a, before, 0);
	P(free_view)(a), P(free_view)(b), P(free_view)(their_a), P(free_view)(expected), P(free_view)(before);
}

/* Every shape, tree and inner blocking; layouts and priorities in turn. */
static void P(geqrf_of_any_shape_and_tree_is_a_factorisation)(void **state)
{
	struct fixture *f = *state;
	unsigned turn = 0;
	for (size_t s = 0; s < N_EXTENTS * N_EXTENTS; s++)
		for (int tree = 0; tree < 3; tree++)
			for (int i = 0; i < N_INNER; i++, turn++) {
				struct heddle_dense_options options = {.tile = TILE,
				                                       .inner = (size_t)inner[turn % 3],
				                                       .tree = tree,
				                                       .domain = turn % 4,
				                                       .layout = turn / 2 % 2,
				                                       .priority = turn % 3};
				P(check_geqrf)
				(f->dense, turn % N_KINDS, extents[s / N_EXTENTS], extents[s % N_EXTENTS], &options);
			}
	for (int kind = 0; kind < N_KINDS; kind++)
		for (int v = 0; v < 4; v++)
			P(check_geqrf)
	(f->dense, kind, v % 2 ? 55 : 39, v % 2 ? 40 : 55,
	 &(struct heddle_dense_options){.tile = TILE, .inner = 5, .tree = v / 2, .layout = kind % 2});
}

static void P(gels_gives_the_results_of_lapack)(void **state)
{
	struct fixture *f = *state;
	unsigned turn = 0;
	for (size_t s = 0; s < N_EXTENTS * N_EXTENTS; s++)
		for (int trans = 0; trans < 2; trans++, turn++) {
			struct heddle_dense_options options = {.tile = TILE,
			                                       .inner = (size_t)inner[turn % 3],
			                                       .tree = turn / 2 % 3,
			                                       .domain = turn % 4,
			                                       .layout = turn / 4 % 2,
			                                       .priority = turn % 3};
			P(check_gels)
			(f->dense, extents[s / N_EXTENTS], extents[s % N_EXTENTS], trans, &options);
		}
}

static void P(gels_of_a_matrix_with_a_zero_column_names_it)(void **state)
{
	struct fixture *f = *state;
	for (int wide = 0; wide < 2; wide++) {
		int m = wide ? 40 : 50, n = wide ? 50 : 40, place = 20;
		struct P(view) a = P(example)(DOMINANT, m, n), b = P(random_view)(50, 3, 1);
		struct heddle_dense_array of_a = P(array)(a), of_b = P(array)(b);
		size_t info = 77;
		for (int i = 0; i < 50; i++)
			*(wide ? P(at)(a, place, i) : P(at)(a, i, place)) = 0;
		struct heddle_dense_options options = {.tile = TILE, .tree = wide, .info = &info};
		assert_int_equal(heddle_dense_gels(f->dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_b, &options),
		                 HEDDLE_E_KERNEL);
		assert_int_equal(info, place + 1);
		assert_non_null(
		    strstr(heddle_last_error(), "matrix A has not full rank: element 21 on the diagonal of R is zero"));
		P(free_view)(a), P(free_view)(b);
	}
}
