/* The tasks of right-hand sides, for one precision: see solve_codelets.c. B is rows of a front, from one of them on. */

/* A task that gathers rows: the number of the next datum that has some, and the first row of the front in B. */
struct P(gathering) {
	const heddle_context *c;
	size_t next, row;
	struct P(view) b;
};

static int P(raise_source)(void *arg, const struct hd_sparse_source *s)
{
	struct P(gathering) *g = arg;
	struct P(view) from = P(datum)(g->c, g->next++);
	from = P(part)(from, (int)s->row, 0, (int)s->piece.rows, from.n);
	P(sparse_raise)(s->piece.child->up_row + s->piece.row, from, g->row, g->b);
	return 0;
}

static int P(lower_source)(void *arg, const struct hd_sparse_source *s)
{
	struct P(gathering) *g = arg;
	size_t row = s->piece.child->n_pivots + s->piece.row - g->row;
	P(sparse_lower)
	(s->piece.child->up_row + s->piece.row, P(datum)(g->c, g->next++),
	 s->tile_row * ((const struct hd_sparse_solve_value *)heddle_value_ptr(g->c, 0))->qr->options.tile,
	 P(part)(g->b, (int)row, 0, (int)s->piece.rows, g->b.n));
	return 0;
}

/* The rows of front f in B, from `row` of it on, that are not contributed: rows of R, and rows left over. */
static void P(put_kept)(const struct heddle_sparse_qr *qr, size_t f, size_t row, struct P(view) b,
                        const struct hd_sparse_array *out)
{
	const int64_t *kept = qr->kept + qr->row_at[f] + row;
	for (int i = 0; i < b.m; i++)
		if (kept[i] >= 0)
			P(sparse_put)(P(part)(b, i, 0, 1, b.n), NULL, (size_t)kept[i], out);
}

/* Sets the rows of front f in B, from `row` of it on, that are not contributed: from the array `in`; or, if that has no
 * data, rows of R from Z, and the rows left over to 0. */
static void P(get_kept)(const struct heddle_sparse_qr *qr, size_t f, size_t row, struct P(view) b,
                        const struct hd_sparse_array *in, struct P(view) z)
{
	const int64_t *kept = qr->kept + qr->row_at[f] + row;
	int r_rows = (int)hd_sparse_r_rows(&qr->analysis->fronts[f]) - (int)row;
	for (int i = 0; i < b.m; i++) {
		if (kept[i] >= 0 && in->data)
			P(sparse_get)(in, NULL, (size_t)kept[i], P(part)(b, i, 0, 1, b.n));
		for (int j = 0; kept[i] >= 0 && !in->data && j < b.n; j++)
			*P(at)(b, i, j) = i < r_rows ? *P(at)(z, (int)row + i, j) : 0;
	}
}

/* Data: B; the children's rows in it. */
static int P(rows_up_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	struct P(gathering) g = {c, 1, first_row(v), P(datum)(c, 0)};
	hd_sparse_up_sources(v->qr, v->front, v->row, P(raise_source), &g);
	P(sparse_get_own)(front_of(v), &v->in, g.row, g.b);
	return 0;
}

/* Data: B; the parent's rows in it; Z, if there is no array `in`. */
static int P(rows_down_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	struct P(gathering) g = {c, 1, first_row(v), P(datum)(c, 0)};
	hd_sparse_down_sources(v->qr, v->front, g.row, (size_t)g.b.m, P(lower_source), &g);
	P(get_kept)(v->qr, v->front, g.row, g.b, &v->in, v->in.data ? g.b : P(datum)(c, g.next));
	return 0;
}

/* Data: B. Copies rows of B to the array `out`: the rows that come from F, or the rows that are not contributed. */
static int P(rows_out_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	if (v->kept)
		P(put_kept)(v->qr, v->front, first_row(v), P(datum)(c, 0), &v->out);
	else
		P(sparse_put_own)(front_of(v), P(datum)(c, 0), first_row(v), &v->out);
	return 0;
}

/* The rows of F without elements become 0. v->row is how many right-hand sides there are. */
static int P(rows_empty_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	for (size_t i = hd_sparse_search(a->row_start, a->rows, (size_t)a->row_start[a->rows]); i < a->rows; i++)
		for (size_t j = 0; j < v->row; j++)
			((element *)v->out.data)[(size_t)a->row_order[i] + j * v->out.ld] = 0;
	return 0;
}

/* --- Triangles ---------------------------------------------------------------------------------------------------- */

/* Pivots in a row of tiles. */
static int P(pivots_in)(const struct hd_sparse_solve_value *v)
{
	size_t tile = v->qr->options.tile, r_rows = hd_sparse_r_rows(front_of(v)), first = v->row * tile;
	return (int)(r_rows > first + tile ? tile : r_rows - first);
}

/* Data: C, the workspace, tiles of R from the diagonal on, and what must have been computed before. The unknowns of the
 * other columns are in `out`. */
static int P(back_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_front *front = front_of(v);
	size_t tile = v->qr->options.tile;
	int pivots = P(pivots_in)(v);
	struct P(view) x = P(datum)(c, 0), triangle = P(datum)(c, 2);
	x.m = pivots;
	triangle = P(part)(triangle, 0, 0, pivots, pivots);
	for (size_t k = v->row, d = 2; k * tile < front->n_columns; k++, d++) {
		int skip = k == v->row ? pivots : 0;
		struct P(view) r = P(datum)(c, d);
		r = P(part)(r, 0, skip, pivots, r.n - skip);
		struct P(view) known = P(view)(heddle_ptr(c, 1), r.n, x.n, hd_ld(r.n));
		P(sparse_get)(&v->out, front->columns, k * tile + (size_t)skip, known);
		P(gemm)(HD_OPS(NoTrans, NoTrans), -1, r, known, 1, x);
	}
	int bad = P(sparse_deficient)(triangle, v->tolerance);
	if (bad >= 0)
		return fail_on_column(c, v, (int64_t)(front->first_pivot + first_row(v)) + bad);
	P(trsm)(HD_TRIANGLE(Left, Upper, NoTrans, NonUnit), 1, triangle, x);
	P(sparse_put)(x, NULL, front->first_pivot + first_row(v), &v->out);
	return 0;
}

/* Data: Z; Z of the children. */
static int P(columns_up_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	size_t d = 1;
	P(sparse_begin_columns)(front_of(v), &v->in, P(datum)(c, 0));
	for (size_t child = front_of(v)->first_child; child != HD_SPARSE_NONE; child = a->fronts[child].next_sibling) {
		struct P(view) z = P(datum)(c, d++);
		if (a->fronts[child].subtree != HD_SPARSE_NONE) {
			const struct hd_sparse_job job = hd_sparse_job(v->qr, a->fronts[child].subtree);
			z = P(sparse_columns_of)(&job, child, z);
		}
		P(sparse_add_rest)(&a->fronts[child], z, P(datum)(c, 0));
	}
	return 0;
}

/* Data: Z, tiles of R from the diagonal on. */
static int P(forward_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_front *front = front_of(v);
	size_t tile = v->qr->options.tile;
	int pivots = P(pivots_in)(v);
	struct P(view) z = P(datum)(c, 0), triangle = P(datum)(c, 1);
	struct P(view) y = P(part)(z, (int)first_row(v), 0, pivots, z.n);
	triangle = P(part)(triangle, 0, 0, pivots, pivots);
	int bad = P(sparse_deficient)(triangle, v->tolerance);
	if (bad >= 0)
		return fail_on_column(c, v, (int64_t)(front->first_pivot + first_row(v)) + bad);
	P(trsm)(HD_TRIANGLE(Left, Upper, ConjTrans, NonUnit), 1, triangle, y);
	for (size_t k = v->row, d = 1; k * tile < front->n_columns; k++, d++) {
		int skip = k == v->row ? pivots : 0;
		struct P(view) r = P(datum)(c, d);
		r = P(part)(r, 0, skip, pivots, r.n - skip);
		P(gemm)(HD_OPS(ConjTrans, NoTrans), -1, r, y, 1, P(part)(z, (int)(k * tile) + skip, 0, r.n, z.n));
	}
	return 0;
}

/* --- Subtrees ----------------------------------------------------------------------------------------------------- */

/* Data: B of the subtree, the packed factors, the workspace. */
static int P(subtree_up_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_job job = hd_sparse_job(v->qr, v->front);
	struct P(view) b = P(datum)(c, 0);
	P(sparse_subtree_up)(&job, heddle_ptr(c, 1), &v->in, b, heddle_ptr(c, 2));
	for (size_t f = job.tree->first_front; v->out.data && f <= job.tree->root; f++)
		P(put_kept)(v->qr, f, 0, P(sparse_rows_of)(&job, f, b), &v->out);
	return 0;
}

/* Data: B of the subtree, the packed factors, the workspace, the parent's rows in the rows of the root; Z of the
 * subtree, if there is no array `in`. */
static int P(subtree_down_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_job job = hd_sparse_job(v->qr, v->front);
	struct P(view) b = P(datum)(c, 0);
	struct P(gathering) g = {c, 3, 0, P(sparse_rows_of)(&job, job.tree->root, b)};
	hd_sparse_down_sources(v->qr, job.tree->root, 0, (size_t)g.b.m, P(lower_source), &g);
	struct P(view) z = v->in.data ? b : P(datum)(c, g.next);
	for (size_t f = job.tree->first_front; f <= job.tree->root; f++)
		P(get_kept)
	(v->qr, f, 0, P(sparse_rows_of)(&job, f, b), &v->in, v->in.data ? z : P(sparse_columns_of)(&job, f, z));
	P(sparse_subtree_down)(&job, heddle_ptr(c, 1), b, &v->out, heddle_ptr(c, 2));
	return 0;
}

/* Data: B of the subtree, the packed factors, the workspace, and what must have been computed before. */
static int P(subtree_back_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_job job = hd_sparse_job(v->qr, v->front);
	int64_t bad =
	    P(sparse_subtree_back)(&job, heddle_ptr(c, 1), P(datum)(c, 0), &v->out, v->tolerance, heddle_ptr(c, 2));
	return bad < 0 ? 0 : fail_on_column(c, v, bad);
}

/* Data: Z of the subtree, the packed factors. */
static int P(subtree_forward_task)(heddle_context *c)
{
	const struct hd_sparse_solve_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_job job = hd_sparse_job(v->qr, v->front);
	int64_t bad = P(sparse_subtree_forward)(&job, heddle_ptr(c, 1), &v->in, P(datum)(c, 0), v->tolerance);
	return bad < 0 ? 0 : fail_on_column(c, v, bad);
}
