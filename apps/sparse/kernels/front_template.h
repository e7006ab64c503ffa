/* One precision of front.h. */

/* The elements of row i of F that lie in the view, in its row `place`. */
static int64_t P(add_row)(const struct hd_sparse_own *own, size_t i, struct P(view) to, int place)
{
	const struct heddle_sparse_analysis *a = own->analysis;
	const int64_t *columns = own->front->columns + own->column, *start = a->row_start + i;
	const element *values = own->values;
	size_t n = (size_t)(start[1] - start[0]), j = 0;
	size_t e = hd_sparse_search(a->column + start[0], n, (size_t)columns[0]);
	for (; e < n; e++) {
		int64_t k = start[0] + (int64_t)e;
		j += hd_sparse_search(columns + j, (size_t)to.n - j, (size_t)a->column[k]);
		if (j == (size_t)to.n)
			return -1;
		element value = values[a->source[k]], *sum = P(at)(to, place, (int)j);
		*sum += a->transposed ? CONJ(value) : value;
		if (!isfinite(REAL(*sum)) || !isfinite(IMAG(*sum)))
			return k;
	}
	return -1;
}

int64_t P(sparse_add_own)(const struct hd_sparse_own *own, struct P(view) to)
{
	const struct hd_sparse_front *f = own->front;
	if (to.n == 0)
		return -1;
	for (size_t i = hd_sparse_search(f->own_place, f->n_own_rows, own->row); i < f->n_own_rows; i++) {
		size_t place = (size_t)f->own_place[i] - own->row;
		if (place >= (size_t)to.m)
			break;
		int64_t bad = P(add_row)(own, f->first_row + i, to, (int)place);
		if (bad >= 0)
			return bad;
	}
	return -1;
}

void P(sparse_add_piece)(const struct hd_sparse_piece *piece, struct P(view) from, struct P(view) to, size_t row,
                         size_t column)
{
	const int64_t *up_row = piece->child->up_row + piece->row, *up_column = piece->child->up_column + piece->column;
	for (size_t j = 0; j < piece->columns; j++) {
		element *y = P(at)(to, 0, (int)((size_t)up_column[j] - column));
		const element *x = P(at)(from, 0, (int)j);
		for (size_t i = 0; i < piece->rows && piece->row + i <= piece->column + j; i++)
			y[(size_t)up_row[i] - row] = x[i];
	}
}

/* --- Panels ------------------------------------------------------------------------------------------------------- */

static struct P(view) P(panel_r)(const struct hd_sparse_panel *p, const element *packed)
{
	return P(view)((element *)packed + p->r, (int)p->r_rows, (int)p->columns, (int)p->r_ld);
}

static struct P(view) P(panel_v)(const struct hd_sparse_panel *p, const element *packed)
{
	return P(view)((element *)packed + p->v, (int)(p->reach - p->first), (int)hd_sparse_reflectors(p),
	               (int)p->v_ld);
}

static struct P(view) P(panel_t)(const struct hd_sparse_panel *p, const element *packed)
{
	return P(view)((element *)packed + p->t, (int)p->columns, (int)hd_sparse_reflectors(p), (int)p->columns);
}

/* Reduces a panel of the front A and applies its reflectors to what is right of it. */
static void P(reduce)(const struct hd_sparse_panel *p, struct P(view) a, struct P(view) t, element *work)
{
	int first = (int)p->first, next = first + (int)p->columns, rows = (int)p->reach - first;
	struct P(view) v = P(part)(a, first, first, rows, (int)p->columns);
	P(geqrt)(v, t, work);
	v.n = t.n;
	P(gemqrt)(HD_APPLY(Left, ConjTrans), v, t, P(part)(a, first, next, rows, a.n - next), work);
}

static void P(pack)(const struct hd_sparse_panel *p, int keep_q, struct P(view) a, element *packed)
{
	int first = (int)p->first, columns = (int)p->columns, rows = (int)p->reach - first;
	int is_pivot = p->first < p->r_rows;
	struct P(view) r = P(panel_r)(p, packed);
	if (is_pivot)
		r.m = r.ld; /* with V below it */
	P(copy_to)(P(part)(a, 0, first, r.m, columns), r);
	if (!is_pivot && keep_q && rows > 0)
		P(copy_to)(P(part)(a, first, first, rows, columns), P(view)(packed + p->v, rows, columns, rows));
}

void P(sparse_factorise)(const struct hd_sparse_front *front, const struct hd_sparse_packing *packing, struct P(view) a,
                         element *packed, element *work)
{
	size_t of_t = packing->inner * packing->inner;
	for (struct hd_sparse_panel p = hd_sparse_panel(front, packing, 0, 0); p.columns > 0;
	     p = hd_sparse_next_panel(front, packing, &p)) {
		struct P(view) t = P(panel_t)(&p, packed);
		if (!packing->keep_q)
			t.a = work;
		if (t.n > 0)
			P(reduce)(&p, a, t, packing->keep_q ? work : work + of_t);
		P(pack)(&p, packing->keep_q, a, packed);
	}
}

static void P(apply_panel)(const struct hd_sparse_panel *p, CBLAS_TRANSPOSE trans, const element *packed,
                           struct P(view) b, element *work)
{
	struct P(view) v = P(panel_v)(p, packed);
	if (v.n > 0)
		P(gemqrt)
	((struct hd_apply){CblasLeft, trans, 0}, v, P(panel_t)(p, packed), P(part)(b, (int)p->first, 0, v.m, b.n),
	 work);
}

/* Panels lie one behind the other, and the place of one follows from all panels before it. So Q, which begins with the
 * last one, goes through them once to count. */
void P(sparse_apply)(const struct P(factors) * q, CBLAS_TRANSPOSE trans, struct P(view) b, element *work)
{
	size_t count = 0;
	struct hd_sparse_panel p = hd_sparse_panel(q->front, q->packing, 0, 0);
	for (; p.columns > 0; p = hd_sparse_next_panel(q->front, q->packing, &p), count++)
		if (trans != CblasNoTrans)
			P(apply_panel)(&p, trans, q->packed, b, work);
	for (; trans == CblasNoTrans && count > 0; count--) {
		p = hd_sparse_nth_panel(q->front, q->packing, count - 1);
		P(apply_panel)(&p, trans, q->packed, b, work);
	}
}

/* --- Rows of right-hand sides ------------------------------------------------------------------------------------- */

static element *P(array_row)(const struct hd_sparse_array *a, const int64_t *numbers, size_t first, size_t i)
{
	size_t number = numbers ? (size_t)numbers[first + i] : first + i;
	return (element *)a->data + (a->place ? (size_t)a->place[number] : number);
}

void P(sparse_get)(const struct hd_sparse_array *from, const int64_t *numbers, size_t first, struct P(view) to)
{
	for (int i = 0; i < to.m; i++) {
		const element *x = P(array_row)(from, numbers, first, (size_t)i);
		for (int j = 0; j < to.n; j++)
			*P(at)(to, i, j) = x[(size_t)j * from->ld];
	}
}

void P(sparse_put)(struct P(view) from, const int64_t *numbers, size_t first, const struct hd_sparse_array *to)
{
	for (int i = 0; i < from.m; i++) {
		element *x = P(array_row)(to, numbers, first, (size_t)i);
		for (int j = 0; j < from.n; j++)
			x[(size_t)j * to->ld] = *P(at)(from, i, j);
	}
}

void P(sparse_get_own)(const struct hd_sparse_front *front, const struct hd_sparse_array *from, size_t row,
                       struct P(view) to)
{
	for (size_t i = hd_sparse_search(front->own_place, front->n_own_rows, row); i < front->n_own_rows; i++) {
		size_t place = (size_t)front->own_place[i] - row;
		if (place >= (size_t)to.m)
			return;
		P(sparse_get)(from, NULL, front->first_row + i, P(part)(to, (int)place, 0, 1, to.n));
	}
}

void P(sparse_put_own)(const struct hd_sparse_front *front, struct P(view) from, size_t row,
                       const struct hd_sparse_array *to)
{
	for (size_t i = hd_sparse_search(front->own_place, front->n_own_rows, row); i < front->n_own_rows; i++) {
		size_t place = (size_t)front->own_place[i] - row;
		if (place >= (size_t)from.m)
			return;
		P(sparse_put)(P(part)(from, (int)place, 0, 1, from.n), NULL, front->first_row + i, to);
	}
}

void P(sparse_raise)(const int64_t *up, struct P(view) from, size_t row, struct P(view) to)
{
	for (int j = 0; j < from.n; j++)
		for (int i = 0; i < from.m; i++)
			*P(at)(to, (int)((size_t)up[i] - row), j) = *P(at)(from, i, j);
}

void P(sparse_lower)(const int64_t *up, struct P(view) from, size_t row, struct P(view) to)
{
	for (int j = 0; j < to.n; j++)
		for (int i = 0; i < to.m; i++)
			*P(at)(to, i, j) = *P(at)(from, (int)((size_t)up[i] - row), j);
}

/* --- Triangles of R ----------------------------------------------------------------------------------------------- */

int P(sparse_deficient)(struct P(view) r, double tolerance)
{
	for (int i = 0; i < r.m && i < r.n; i++) {
		real size = ABS(*P(at)(r, i, i));
		if (!((double)size > tolerance) || !isfinite(size) || (size != 0 && !isfinite(1 / size)))
			return i;
	}
	return -1;
}

/* The square of R in a panel of pivots; what is above it, or all of R in another panel. */
static struct P(view) P(panel_triangle)(const struct hd_sparse_panel *p, const element *packed)
{
	struct P(view) r = P(panel_r)(p, packed);
	return P(part)(r, (int)p->first, 0, r.n, r.n);
}

static struct P(view) P(panel_above)(const struct hd_sparse_panel *p, const element *packed)
{
	struct P(view) r = P(panel_r)(p, packed);
	return P(part)(r, 0, 0, hd_smaller((int)p->first, r.m), r.n);
}

static int P(back_panel)(const struct hd_sparse_panel *p, const element *packed, struct P(view) c, double tolerance)
{
	struct P(view) triangle = P(panel_triangle)(p, packed), above = P(panel_above)(p, packed);
	struct P(view) x = P(part)(c, (int)p->first, 0, triangle.n, c.n);
	int bad = P(sparse_deficient)(triangle, tolerance);
	if (bad >= 0)
		return (int)p->first + bad;
	P(trsm)(HD_TRIANGLE(Left, Upper, NoTrans, NonUnit), 1, triangle, x);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, above, x, 1, P(part)(c, 0, 0, above.m, c.n));
	return -1;
}

int P(sparse_back)(const struct P(factors) * r, struct P(view) c, const struct hd_sparse_array *x, double tolerance,
                   element *work)
{
	size_t pivots = 0;
	struct hd_sparse_panel p = hd_sparse_panel(r->front, r->packing, 0, 0);
	for (; p.columns > 0; p = hd_sparse_next_panel(r->front, r->packing, &p)) {
		struct P(view) known = P(view)(work, (int)p.columns, c.n, (int)p.columns);
		if (p.first < p.r_rows) {
			pivots++;
			continue;
		}
		P(sparse_get)(x, r->front->columns, p.first, known);
		P(gemm)(HD_OPS(NoTrans, NoTrans), -1, P(panel_r)(&p, r->packed), known, 1, c);
	}
	for (; pivots > 0; pivots--) {
		p = hd_sparse_nth_panel(r->front, r->packing, pivots - 1);
		int bad = P(back_panel)(&p, r->packed, c, tolerance);
		if (bad >= 0)
			return bad;
	}
	P(sparse_put)(c, NULL, r->front->first_pivot, x);
	return -1;
}

int P(sparse_forward)(const struct P(factors) * r, struct P(view) z, double tolerance)
{
	for (struct hd_sparse_panel p = hd_sparse_panel(r->front, r->packing, 0, 0); p.columns > 0;
	     p = hd_sparse_next_panel(r->front, r->packing, &p)) {
		struct P(view) above = P(panel_above)(&p, r->packed);
		struct P(view) y = P(part)(z, (int)p.first, 0, above.n, z.n);
		P(gemm)(HD_OPS(ConjTrans, NoTrans), -1, above, P(part)(z, 0, 0, above.m, z.n), 1, y);
		if (p.first >= p.r_rows)
			continue;
		struct P(view) triangle = P(panel_triangle)(&p, r->packed);
		int bad = P(sparse_deficient)(triangle, tolerance);
		if (bad >= 0)
			return (int)p.first + bad;
		P(trsm)(HD_TRIANGLE(Left, Upper, ConjTrans, NonUnit), 1, triangle, y);
	}
	return -1;
}
