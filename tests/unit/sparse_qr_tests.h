/* One precision of test_sparse_qr.c. */

enum {
	P(precision) = LETTER == 'd'   ? HEDDLE_DENSE_DOUBLE
	               : LETTER == 's' ? HEDDLE_DENSE_SINGLE
	               : LETTER == 'z' ? HEDDLE_DENSE_COMPLEX_DOUBLE
	                               : HEDDLE_DENSE_COMPLEX_SINGLE
};

/* A sparse matrix, the same one in full, and its factorisation. */
struct P(problem) {
	struct heddle_sparse_matrix sparse;
	struct P(view) full;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
};

static struct heddle_dense_array P(array)(struct P(view) a)
{
	return (struct heddle_dense_array){(enum heddle_dense_precision)P(precision), (size_t)a.m, (size_t)a.n, a.a,
	                                   (size_t)a.ld};
}

static struct P(view) P(zeros)(int m, int n, element diagonal)
{
	struct P(view) a = P(new_view)(m, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++)
			*P(at)(a, i, j) = i == j ? diagonal : 0;
	return a;
}

/* Element i of column j, or of row j. */
static element *P(in_line)(struct P(view) a, int j, int i)
{
	return a.m < a.n ? P(at)(a, j, i) : P(at)(a, i, j);
}

/* Columns, or the rows of a matrix with fewer of them, become zero, or sums of one or two before them. */
static void P(make_dependent)(struct hd_rng *c, const struct pattern *pattern, struct P(view) a, struct P(view) places)
{
	for (int j = 1; j < hd_smaller(a.m, a.n); j++) {
		if ((int)below(c, 1000) >= pattern->dependent)
			continue;
		int first = (int)below(c, (uint32_t)j), second = (int)below(c, (uint32_t)j), kind = (int)below(c, 4);
		real factor = kind > 1 ? 2 : 0;
		for (int i = 0; i < (a.m < a.n ? a.n : a.m); i++) {
			element value = *P(in_line)(a, first, i) + factor * *P(in_line)(a, second, i);
			element place = *P(in_line)(places, first, i) + factor * *P(in_line)(places, second, i);
			*P(in_line)(a, j, i) = kind > 0 ? value : 0;
			if (kind > 0)
				*P(in_line)(places, j, i) = place != 0;
		}
	}
}

/* A matrix with this pattern: places of elements, column by column, of which some occur twice. */
static void P(make_matrix)(struct hd_rng *c, const struct pattern *pattern, struct P(problem) * p)
{
	int m = pattern->m, n = pattern->n;
	size_t most = 2 * (size_t)m * (size_t)n + 1;
	element *values = malloc(most * sizeof *values);
	struct P(view) places = P(zeros)(m, n, 0);
	struct heddle_sparse_matrix *a = &p->sparse;
	int64_t e = 0;
	*a = (struct heddle_sparse_matrix){
	    (enum heddle_dense_precision)P(precision), (size_t)m, (size_t)n, NULL, NULL, values};
	a->column_start = calloc((size_t)n + 1, sizeof *a->column_start);
	a->row = malloc(most * sizeof *a->row);
	p->full = P(zeros)(m, n, 0);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			uint64_t state = hd_rng_next(c);
			int count = elements_at(c, pattern, i, j);
			*P(at)(places, i, j) = (real)count;
			if (count > 0)
				*P(at)(p->full, i, j) = P(random)(&state) + (real)(i == j ? 2 : 0);
		}
	P(make_dependent)(c, pattern, p->full, places);
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < m; i++)
			for (int k = 0, count = (int)REAL(*P(at)(places, i, j)); k < count; k++) {
				a->row[e] = i;
				values[e++] = *P(at)(p->full, i, j) / (real)count;
			}
		a->column_start[j + 1] = e;
	}
	P(free_view)(places);
}

static void P(open)(struct fixture *f, const struct settings_of_qr *s, struct P(problem) * p)
{
	OK(heddle_sparse_analyse(&p->sparse, &s->analysis, &p->analysis));
	OK(heddle_sparse_qr_create(f->sparse, p->analysis, (enum heddle_dense_precision)P(precision), &s->options,
	                           &p->qr));
	OK(heddle_sparse_factorise(p->qr, p->sparse.values));
}

static void P(close)(struct P(problem) * p)
{
	OK(heddle_sparse_qr_destroy(p->qr));
	heddle_sparse_analysis_free(p->analysis);
	heddle_sparse_matrix_free(&p->sparse);
	P(free_view)(p->full);
}

/* The factorised matrix with its columns in the order of elimination. */
static struct P(view) P(permuted)(const struct P(problem) * p)
{
	int transposed = heddle_sparse_analysis_statistics(p->analysis).transposed;
	const int64_t *order = heddle_sparse_column_order(p->analysis);
	struct P(view) f = P(transposed)(p->full, transposed ? CblasConjTrans : CblasNoTrans), a = P(copy)(f);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.m; i++)
			*P(at)(a, i, j) = *P(at)(f, i, (int)order[j]);
	P(free_view)(f);
	return a;
}

/* R, with as many rows as the factorised matrix has. */
static struct P(view) P(full_r)(const struct P(problem) * p, int rows)
{
	struct heddle_sparse_matrix r;
	OK(heddle_sparse_r(p->qr, &r));
	struct P(view) full = P(zeros)(rows, (int)r.columns, 0);
	for (size_t j = 0; j < r.columns; j++)
		for (int64_t e = r.column_start[j]; e < r.column_start[j + 1]; e++) {
			assert_true(r.row[e] >= 0 && (size_t)r.row[e] <= j);
			*P(at)(full, (int)r.row[e], (int)j) = ((const element *)r.values)[e];
		}
	heddle_sparse_matrix_free(&r);
	return full;
}

/* A P = Q R, Q^H Q = 1, and the product with Q^H undoes that with Q. */
static void P(check_factors)(const struct P(problem) * p)
{
	struct P(view) a = P(permuted)(p), r = P(full_r)(p, a.m), q = P(zeros)(a.m, a.m, 1), one = P(copy)(q);
	struct P(view) product = P(new_view)(a.m, a.n), gram = P(new_view)(a.m, a.m);
	struct heddle_dense_array of_q = P(array)(q);
	OK(heddle_sparse_apply_q(p->qr, HEDDLE_DENSE_NO_TRANS, &of_q));
	P(plain_product)(1, q, r, 0, product);
	P(check_same)(product, a, 2 + P(norm)(a));
	struct P(view) adjoint = P(transposed)(q, CblasConjTrans);
	P(plain_product)(1, adjoint, q, 0, gram);
	P(check_same)(gram, one, 2 + a.m / 4.0);
	OK(heddle_sparse_apply_q(p->qr, HEDDLE_DENSE_CONJ_TRANS, &of_q));
	P(check_same)(q, one, 2 + a.m / 4.0);
	P(free_view)(a), P(free_view)(r), P(free_view)(q), P(free_view)(one);
	P(free_view)(product), P(free_view)(gram), P(free_view)(adjoint);
}

/* |R| is LAPACK's of the permuted matrix, row by row, if that has full rank. */
static void P(check_r)(const struct P(problem) * p)
{
	struct P(view) theirs = P(permuted)(p), r = P(full_r)(p, theirs.m);
	element *tau = calloc((size_t)theirs.n + 1, sizeof *tau);
	double scale = P(norm)(theirs), least = scale;
	assert_int_equal(LAPACK(geqrf)(LAPACK_COL_MAJOR, theirs.m, theirs.n, theirs.a, hd_ld(theirs.ld), tau), 0);
	for (int j = 0; j < r.n; j++) {
		least = fmin(least, (double)ABS(*P(at)(theirs, j, j)));
		for (int i = 0; i < r.m; i++) {
			element *x = P(at)(theirs, i, j);
			*P(at)(r, i, j) = ABS(*P(at)(r, i, j));
			*x = i <= j ? ABS(*x) : 0;
		}
	}
	P(check_same)(r, theirs, (2 + scale) * (1 + scale / (least + 1e-30)));
	P(free_view)(theirs), P(free_view)(r);
	free(tau);
}

/* B - A X. */
static struct P(view) P(residual)(const struct P(problem) * p, struct P(view) b, struct P(view) x)
{
	struct P(view) r = P(copy)(b);
	P(plain_product)(-1, p->full, x, 1, r);
	return r;
}

/* What is left of column j when the first n columns of Q, which are orthonormal, are taken out of it. */
static double P(left_of)(struct P(view) column, struct P(view) q, int n)
{
	for (int again = 0; again < 2; again++)
		for (int k = 0; k < n; k++) {
			element dot = 0;
			for (int i = 0; i < q.m; i++)
				dot += CONJ(*P(at)(q, i, k)) * *P(at)(column, i, 0);
			for (int i = 0; i < q.m; i++)
				*P(at)(column, i, 0) -= dot * *P(at)(q, i, k);
		}
	return P(norm)(column);
}

/* The pivots are dead of which no more than the tolerance is left after all pivots before them that are alive; their
 * rows of R are empty. |r_jj| of the others is what is left. */
static void P(check_rank)(const struct P(problem) * p)
{
	struct P(view) a = P(permuted)(p), q = P(zeros)(a.m, a.n, 0), r = P(full_r)(p, a.m);
	const int64_t *columns, *order = heddle_sparse_column_order(p->analysis);
	int64_t n_dead = heddle_sparse_deficient_columns(p->qr, &columns), n = 0;
	int alive = 0;
	for (int j = 0; j < a.n; j++) {
		struct P(view) column = P(part)(q, 0, alive, q.m, 1);
		P(copy_to)(P(part)(a, 0, j, a.m, 1), column);
		double left = P(left_of)(column, q, alive), diagonal = (double)ABS(*P(at)(r, j, j));
		if (left <= p->qr->tolerance) {
			assert_true(n < n_dead);
			assert_int_equal(columns[n++], order[j]);
			for (int k = 0; k < r.n; k++)
				assert_true(*P(at)(r, j, k) == 0);
			continue;
		}
		assert_true(fabs(diagonal - left) <= 50 * (double)EPSILON * (a.m + a.n) * (1 + P(norm)(a)));
		for (int i = 0; i < q.m; i++)
			*P(at)(column, i, 0) /= (real)left;
		alive++;
	}
	assert_int_equal(n, n_dead);
	P(free_view)(a), P(free_view)(q), P(free_view)(r);
}

/* The unknowns of dead pivots are 0, and with them zero for the others: X is a least squares solution, or solves the
 * equations that are alive, and has the least norm. */
static void P(check_basic)(const struct P(problem) * p, struct P(view) b, struct P(view) x)
{
	const int64_t *columns;
	int64_t n_dead = heddle_sparse_deficient_columns(p->qr, &columns);
	struct P(view) r = P(residual)(p, b, x);
	int transposed = heddle_sparse_analysis_statistics(p->analysis).transposed;
	double scale = (1 + P(norm)(p->full)) * (1 + P(norm)(p->full) * P(norm)(x) + P(norm)(b));
	for (int64_t d = 0; d < n_dead; d++)
		for (int j = 0; j < x.n; j++) {
			if (transposed)
				*P(at)(r, (int)columns[d], j) = 0;
			else
				assert_true(*P(at)(x, (int)columns[d], j) == 0);
		}
	if (!transposed) {
		struct P(view) adjoint = P(transposed)(p->full, CblasConjTrans), g = P(zeros)(x.m, x.n, 0);
		P(plain_product)(1, adjoint, r, 0, g);
		P(free_view)(adjoint), P(free_view)(r);
		r = g;
	}
	struct P(view) zero = P(zeros)(r.m, r.n, 0);
	P(check_same)(r, zero, scale);
	P(free_view)(r), P(free_view)(zero);
}

/* A^H (B - A X) = 0, or A X = B with nothing of X outside the range of A^H. */
static void P(check_solution)(const struct P(problem) * p, struct P(view) b, struct P(view) x)
{
	struct P(view) r = P(residual)(p, b, x);
	double scale = P(norm)(p->full) * P(norm)(x) + P(norm)(b);
	if (p->full.m >= p->full.n) {
		struct P(view) adjoint = P(transposed)(p->full, CblasConjTrans), g = P(zeros)(x.m, x.n, 0),
		               zero = P(copy)(g);
		P(plain_product)(1, adjoint, r, 0, g);
		P(check_same)(g, zero, (1 + P(norm)(p->full)) * (1 + scale));
		P(free_view)(adjoint), P(free_view)(g), P(free_view)(zero);
	} else {
		struct P(view) q = P(copy)(x), zero = P(zeros)(r.m, r.n, 0);
		struct heddle_dense_array of_q = P(array)(q);
		P(check_same)(r, zero, 1 + scale);
		OK(heddle_sparse_apply_q(p->qr, HEDDLE_DENSE_CONJ_TRANS, &of_q));
		for (int j = 0; j < q.n; j++)
			for (int i = p->full.m; i < q.m; i++)
				assert_true((double)ABS(*P(at)(q, i, j)) <= 300 * (double)EPSILON * (1 + P(norm)(x)));
		P(free_view)(q), P(free_view)(zero);
	}
	P(free_view)(r);
}

static void P(check_solve)(struct hd_rng *c, const struct P(problem) * p)
{
	int k = below(c, 20) ? 1 + (int)below(c, 4) : 70; /* more than a task takes at once */
	struct P(view) b = P(random_view)(p->full.m, k, hd_rng_next(c)), x = P(zeros)(p->full.n, k, 0);
	struct heddle_dense_array of_b = P(array)(b), of_x = P(array)(x);
	const int64_t *columns;
	int64_t deficient = heddle_sparse_deficient_columns(p->qr, &columns);
	assert_true(deficient >= 0);
	OK(heddle_sparse_solve(p->qr, &of_b, &of_x));
	if (deficient > 0) {
		if (below(c, 5) == 0)
			P(check_rank)(p);
		P(check_basic)(p, b, x);
	} else {
		P(check_r)(p);
		P(check_solution)(p, b, x);
	}
	P(free_view)(b), P(free_view)(x);
}

static void P(random_matrices_are_factorised)(void **state)
{
	struct fixture *f = *state;
	for (int round = 0; round < ROUNDS; round++) {
		struct hd_rng c = rng_of((uint64_t)(round * 4 + LETTER));
		const struct pattern pattern = random_pattern(&c);
		const struct settings_of_qr s = random_settings(&c);
		struct P(problem) p;
		P(make_matrix)(&c, &pattern, &p);
		P(open)(f, &s, &p);
		P(check_factors)(&p);
		P(check_solve)(&c, &p);
		P(close)(&p);
	}
}
