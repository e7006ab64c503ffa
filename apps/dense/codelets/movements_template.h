/* Tasks that fill, copy and compare tiles, for one precision: see movements.c. */

static struct P(view) P(tile_of)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

/* Fails the task if a value of the window's part is NaN or infinite. The tile may have more rows than the window. */
static int P(look)(heddle_context *c, struct P(view) a, const struct hd_dense_window *w)
{
	for (int j = 0; w->name && j < a.n; j++) {
		int first, end;
		hd_dense_rows_of(w, (int)w->rows, j, &first, &end);
		const element *column = P(at)(a, 0, j);
		real sum = 0; /* becomes NaN if a value is NaN or infinite */
		for (int i = first; i < end; i++)
			sum += (REAL(column[i]) - REAL(column[i])) + (IMAG(column[i]) - IMAG(column[i]));
		if (sum == 0)
			continue;
		for (int i = first; i < end; i++) {
			int nan = isnan(REAL(column[i])) || isnan(IMAG(column[i]));
			if (nan || isinf(REAL(column[i])) || isinf(IMAG(column[i])))
				return hd_dense_return(c, hd_dense_judge_element(w, (size_t)i, (size_t)j, nan));
		}
	}
	return 0;
}

static int P(finite_task)(heddle_context *c)
{
	return P(look)(c, P(tile_of)(c, 0), heddle_value_ptr(c, 0));
}

static int P(copy_task)(heddle_context *c)
{
	struct P(view) to = P(tile_of)(c, 0), from = P(tile_of)(c, 1);
	int failed = P(look)(c, from, heddle_value_ptr(c, 0));
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	for (int j = 0; !failed && j < to.n; j++) {
		int first, end;
		hd_dense_rows_of(w, to.m, j, &first, &end);
		memcpy(P(at)(to, first, j), P(at)(from, first, j), (size_t)(end - first) * sizeof *to.a);
	}
	return failed;
}

static element P(value_of)(heddle_dense_scalar x)
{
#if COMPLEX
	return (element)((real)x.re + (real)x.im * (element)I);
#else
	return (element)x.re;
#endif
}

/* B := beta B, in the window's part of the matrix. If beta is 0, B is not read. The diagonal of a Hermitian matrix gets
 * real elements. */
static int P(scale_task)(heddle_context *c)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(tile_of)(c, 0);
	element beta = P(value_of)(v->beta);
	for (int j = 0; j < b.n; j++) {
		int first, end;
		hd_dense_rows_of(&v->window, b.m, j, &first, &end);
		for (int i = first; i < end; i++)
			*P(at)(b, i, j) = beta == 0 ? 0 : beta * *P(at)(b, i, j);
		int diagonal = (int)(v->window.column - v->window.row) + j;
		if (v->window.kind == HEDDLE_DENSE_HERMITIAN && diagonal >= first && diagonal < end)
			*P(at)(b, diagonal, j) = REAL(*P(at)(b, diagonal, j));
	}
	return 0;
}

/* B := alpha A + beta B, in the window's part. */
static int P(add_task)(heddle_context *c)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(tile_of)(c, 0), a = P(tile_of)(c, 1);
	element alpha = P(value_of)(v->alpha), beta = P(value_of)(v->beta);
	for (int j = 0; j < b.n; j++) {
		int first, end;
		hd_dense_rows_of(&v->window, b.m, j, &first, &end);
		for (int i = first; i < end; i++)
			*P(at)(b, i, j) = alpha * *P(at)(a, i, j) + beta * *P(at)(b, i, j);
	}
	return 0;
}

static element P(random_element)(uint64_t low, uint64_t high, int conjugate)
{
#if COMPLEX
	heddle_dense_scalar x = hd_dense_random_pair(low, high);
	return (element)((real)x.re + (conjugate ? -(real)x.im : (real)x.im) * (element)I);
#else
	(void)conjugate;
	return (element)hd_dense_random_part(low, high);
#endif
}

/* Fills a window of a random matrix. */
static void P(fill)(struct P(view) a, const struct hd_dense_window *w)
{
	int symmetric = hd_dense_is_symmetric(w->kind), conjugate = hd_dense_is_hermitian(w->kind);
	for (size_t j = 0; j < w->columns; j++) {
		element *column = P(at)(a, 0, (int)j);
		size_t gj = w->column + j;
		uint64_t low = hd_dense_hash(w->seed, gj + 1);
		for (size_t i = 0; i < w->rows; i++) {
			size_t gi = w->row + i;
			if (gi >= gj || !symmetric)
				column[i] = P(random_element)(low, gi, 0);
			else
				column[i] = P(random_element)(hd_dense_hash(w->seed, gi + 1), gj, conjugate);
		}
		if (gj >= w->row && gj < w->row + w->rows) {
			heddle_dense_scalar x = heddle_dense_random_element(w->kind, w->seed, w->order, gj, gj);
#if COMPLEX
			column[gj - w->row] = (element)((real)x.re + (real)x.im * (element)I);
#else
			column[gj - w->row] = (element)x.re;
#endif
		}
	}
}

static int P(random_task)(heddle_context *c)
{
	P(fill)(P(tile_of)(c, 0), heddle_value_ptr(c, 0));
	return 0;
}

static double P(square)(element x)
{
	return (double)REAL(x) * (double)REAL(x) + (double)IMAG(x) * (double)IMAG(x);
}

/* sums[0] += ||A||^2 over the window's part; `twice`: the matrix is symmetric, so each element of the triangle off the
 * diagonal counts twice. */
static double P(sum_squares)(struct P(view) a, const struct hd_dense_window *w, int twice)
{
	double sum = 0;
	for (size_t j = 0; j < w->columns; j++) {
		int first, end;
		hd_dense_rows_of(w, (int)w->rows, (int)j, &first, &end);
		for (int i = first; i < end; i++) {
			double square = P(square)(*P(at)(a, i, (int)j));
			sum += twice && w->row + (size_t)i != w->column + j ? 2 * square : square;
		}
	}
	return sum;
}

static int P(norm_task)(heddle_context *c)
{
	double *sum = heddle_ptr(c, 0);
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	*sum += P(sum_squares)(P(tile_of)(c, 1), w, w->kind == HEDDLE_DENSE_SYMMETRIC);
	return 0;
}

/* T := A(i, j); sums[0] += ||T||^2. */
static int P(residual_begin_task)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	double *sums = heddle_ptr(c, 1);
	P(fill)(P(tile_of)(c, 0), w);
	sums[0] += P(sum_squares)(P(tile_of)(c, 0), w, 1);
	return 0;
}

/* T := T - L(i, j) tril(L(j, j))^H; sums[1] += ||T||^2. For U, T := T - triu(U(i, i))^H U(i, j). The tile on the
 * diagonal still has elements of A in its other triangle, so the product is computed by a triangular multiplication, in
 * the scratch tile `work`. */
static int P(residual_end_task)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	int diagonal = w->row == w->column, lower = w->uplo == HEDDLE_DENSE_LOWER;
	struct P(view) t = P(tile_of)(c, 0), work = P(tile_of)(c, 1), triangle = P(tile_of)(c, 3);
	struct P(view) factor = P(tile_of)(c, diagonal ? 3 : 4);
	double *sums = heddle_ptr(c, 2);
	for (int j = 0; j < (int)w->columns; j++)
		for (int i = 0; i < (int)w->rows; i++)
			*P(at)(work, i, j) = diagonal && (lower ? i < j : i > j) ? 0 : *P(at)(factor, i, j);
	BLAS(trmm)
	(CblasColMajor, lower ? CblasRight : CblasLeft, lower ? CblasLower : CblasUpper, CblasConjTrans, CblasNonUnit,
	 (int)w->rows, (int)w->columns, SCALAR((element)1), triangle.a, triangle.ld, work.a, work.ld);
	for (int j = 0; j < (int)w->columns; j++)
		for (int i = 0; i < (int)w->rows; i++)
			*P(at)(t, i, j) -= *P(at)(work, i, j);
	sums[1] += P(sum_squares)(t, w, 1);
	return 0;
}
