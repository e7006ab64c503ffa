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

/* A matrix with this pattern: places of elements, column by column, of which some occur twice. */
static void P(make_matrix)(struct hd_rng *c, const struct pattern *pattern, struct P(problem) * p)
{
	size_t most = 2 * (size_t)pattern->m * (size_t)pattern->n + 1;
	element *values = malloc(most * sizeof *values);
	struct heddle_sparse_matrix *a = &p->sparse;
	int64_t n = 0;
	*a = (struct heddle_sparse_matrix){
	    (enum heddle_dense_precision)P(precision), (size_t)pattern->m, (size_t)pattern->n, NULL, NULL, values};
	a->column_start = calloc((size_t)pattern->n + 1, sizeof *a->column_start);
	a->row = malloc(most * sizeof *a->row);
	p->full = P(zeros)(pattern->m, pattern->n, 0);
	for (int j = 0; j < pattern->n; j++) {
		for (int i = 0; i < pattern->m; i++)
			for (int k = elements_at(c, pattern, i, j); k > 0; k--) {
				uint64_t state = hd_rng_next(c);
				a->row[n] = i;
				values[n] = P(random)(&state) + (real)(i == j ? 2 : 0);
				*P(at)(p->full, i, j) += values[n++];
			}
		a->column_start[j + 1] = n;
	}
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
	int status = heddle_sparse_solve(p->qr, &of_b, &of_x);
	if (deficient > 0) {
		assert_int_equal(status, HEDDLE_E_KERNEL);
		assert_non_null(strstr(heddle_last_error(), "matrix A has not full rank"));
	} else {
		OK(status);
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
