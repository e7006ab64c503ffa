/* One precision of rank.c. */

/* [C1; C2] := (1 - [1; V] T [1; V]^H) [C1; C2], or with T^H. `work` has V's columns times C1's. */
static void P(turn_rows)(CBLAS_TRANSPOSE trans, struct P(view) v, struct P(view) t, struct P(view) c1,
                         struct P(view) c2, element *work)
{
	struct P(view) w = P(view)(work, v.n, c1.n, hd_ld(v.n));
	P(copy_to)(c1, w);
	P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, v, c2, 1, w);
	P(trmm)((struct hd_triangle){CblasLeft, CblasUpper, trans, CblasNonUnit}, 1, t, w);
	for (int j = 0; j < w.n; j++)
		for (int i = 0; i < w.m; i++)
			*P(at)(c1, i, j) -= *P(at)(w, i, j);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, v, w, 1, c2);
}

/* Some pivots of a front: their rows of R and the rows of dead pivots, from the column of the first of the pivots on;
 * their reflectors. */
struct P(panel) {
	struct P(view) r, d, v, t;
	int rows; /* of d that are there */
	double tolerance;
};

/* Column j of T, the reflector of which is in V, for the columns before it. */
static void P(extend)(const struct P(panel) * p, int j, element tau)
{
	for (int i = 0; i < j; i++) {
		element sum = 0;
		for (int row = 0; row < p->rows; row++)
			sum += CONJ(*P(at)(p->v, row, i)) * *P(at)(p->v, row, j);
		*P(at)(p->t, i, j) = -tau * sum;
	}
	for (int i = 0; i < j; i++) {
		element sum = 0;
		for (int k = i; k < j; k++)
			sum += *P(at)(p->t, i, k) * *P(at)(p->t, k, j);
		*P(at)(p->t, i, j) = sum;
	}
	*P(at)(p->t, j, j) = tau;
}

/* Applies the reflector of pivot j to the columns of the panel behind it. */
static void P(reflect)(const struct P(panel) * p, int j, element tau)
{
	const element *v = P(at)(p->v, 0, j);
	for (int c = j + 1; c < p->v.n; c++) {
		element *x = P(at)(p->d, 0, c), sum = *P(at)(p->r, j, c);
		for (int i = 0; i < p->rows; i++)
			sum += CONJ(v[i]) * x[i];
		sum *= CONJ(tau);
		*P(at)(p->r, j, c) -= sum;
		for (int i = 0; i < p->rows; i++)
			x[i] -= v[i] * sum;
	}
}

/* Pivot j is dead: its row is taken out of R, and later pivots eliminate it. */
static void P(give_up)(struct P(panel) * p, int j)
{
	memset(P(at)(p->v, 0, j), 0, (size_t)p->rows * sizeof(element));
	for (int c = 0; c < p->r.n; c++) {
		*P(at)(p->d, p->rows, c) = c > j ? *P(at)(p->r, j, c) : 0;
		*P(at)(p->r, j, c) = 0;
	}
	p->rows++;
}

/* Decides pivot j; returns whether it is dead. A pivot that `has_row` leaves it then. */
static int P(decide_pivot)(struct P(panel) * p, int j, int has_row)
{
	element *diagonal = P(at)(p->r, j, j), *v = P(at)(p->v, 0, j), tau = 0;
	memcpy(v, P(at)(p->d, 0, j), (size_t)p->rows * sizeof(element));
	if (p->rows > 0)
		LAPACK(larfg_work)(p->rows + 1, diagonal, v, 1, &tau);
	if (!((double)ABS(*diagonal) > p->tolerance)) {
		memset(v, 0, (size_t)p->rows * sizeof(element));
		*diagonal = 0;
		if (has_row)
			P(give_up)(p, j);
		return 1;
	}
	P(extend)(p, j, tau);
	P(reflect)(p, j, tau);
	return 0;
}

/* The turn has as many rows as there are: no gaps. */
static void P(close_turn)(struct hd_sparse_turn *turn, const struct rows *dead)
{
	element *v = turn->v;
	for (size_t j = 0; j < turn->n_pivots; j++)
		memmove(v + j * dead->n, v + j * turn->n_rows, dead->n * sizeof *v);
	memcpy(turn->row + turn->n_pivots, dead->number, dead->n * sizeof *turn->row);
	turn->n_rows = dead->n;
}

/* Decides k pivots from `first` on, with the reflectors of `turn`. */
static void P(decide_panel)(struct search *s, size_t first, struct hd_sparse_turn *turn)
{
	size_t pivots = s->front->n_pivots, room = s->dead.room, k = turn->n_pivots;
	int rest = (int)(s->front->n_columns - first), size = (int)k;
	struct P(panel) p = {
	    .r = P(view)((element *)s->r + first + first * pivots, size, rest, (int)pivots),
	    .d = P(view)((element *)s->dead.d + first * room, (int)turn->n_rows, rest, (int)room),
	    .v = P(view)(turn->v, (int)turn->n_rows, size, hd_ld((int)turn->n_rows)),
	    .t = P(view)(turn->t, size, size, size),
	    .rows = (int)s->dead.n,
	    .tolerance = s->qr->tolerance,
	};
	element *work = hd_sparse_allocate(k * (size_t)rest, sizeof *work);
	if (!work) {
		s->status = hd_sparse_no_memory("the rank of a factorisation");
		return;
	}
	for (int j = 0; j < size; j++) {
		size_t pivot = s->front->first_pivot + first + (size_t)j;
		turn->row[j] = (int64_t)pivot;
		s->rank->dead[pivot] = (char)P(decide_pivot)(&p, j, first + (size_t)j < hd_sparse_r_rows(s->front));
		if ((size_t)p.rows > s->dead.n)
			s->dead.number[s->dead.n++] = (int64_t)pivot;
	}
	p.v.m = p.rows;
	P(turn_rows)
	(CblasConjTrans, p.v, p.t, P(part)(p.r, 0, size, size, rest - size), P(part)(p.d, 0, size, p.rows, rest - size),
	 work);
	P(close_turn)(turn, &s->dead);
	free(work);
}

/* Whether nothing changes these pivots. */
static int P(are_alive)(const struct search *s, size_t first, size_t k)
{
	const element *r = s->r;
	for (size_t j = first; j < first + k; j++)
		if (!((double)ABS(r[j + j * s->front->n_pivots]) > s->qr->tolerance))
			return 0;
	return s->dead.n == 0;
}

static void P(decide)(struct search *s)
{
	size_t pivots = s->front->n_pivots, k;
	for (size_t first = 0; first < pivots && s->status >= 0; first += k) {
		struct hd_sparse_turn turn;
		k = pivots - first < s->qr->packing.inner ? pivots - first : s->qr->packing.inner;
		if (P(are_alive)(s, first, k))
			continue;
		reserve(s, k);
		if (s->status >= 0)
			s->status = make_turn(k, s->dead.n + k, sizeof(element), &turn);
		if (s->status < 0)
			return;
		P(decide_panel)(s, first, &turn);
		if (s->status >= 0 && s->dead.n > 0)
			s->status = keep_turn(s->rank, &turn);
		if (s->status < 0 || s->dead.n == 0)
			free_turn(&turn);
	}
}

/* The rows of C with these numbers, to a view, or back. */
static void P(take_rows)(const struct heddle_dense_array *c, const int64_t *row, struct P(view) to)
{
	for (int j = 0; j < to.n; j++)
		for (int i = 0; i < to.m; i++)
			*P(at)(to, i, j) = ((const element *)c->data)[(size_t)row[i] + (size_t)j * c->ld];
}

static void P(put_rows)(struct P(view) from, const int64_t *row, const struct heddle_dense_array *c)
{
	for (int j = 0; j < from.n; j++)
		for (int i = 0; i < from.m; i++)
			((element *)c->data)[(size_t)row[i] + (size_t)j * c->ld] = *P(at)(from, i, j);
}

/* C := Z C for one block of reflectors, or Z^H C. A dead pivot is in both lists of rows; its reflector is none. */
static int P(turn)(const struct hd_sparse_turn *turn, CBLAS_TRANSPOSE trans, const struct heddle_dense_array *c)
{
	int k = (int)turn->n_pivots, d = (int)turn->n_rows, n = (int)c->columns;
	element *work = hd_sparse_allocate(c->columns, (2 * turn->n_pivots + turn->n_rows) * sizeof *work);
	if (!work)
		return hd_sparse_no_memory("the rows of dead pivots");
	struct P(view) c1 = P(view)(work, k, n, hd_ld(k)), c2 = P(view)(work + (size_t)k * c->columns, d, n, hd_ld(d));
	P(take_rows)(c, turn->row, c1);
	P(take_rows)(c, turn->row + k, c2);
	P(turn_rows)
	(trans, P(view)(turn->v, d, k, hd_ld(d)), P(view)(turn->t, k, k, k), c1, c2,
	 work + (size_t)(k + d) * c->columns);
	P(put_rows)(c1, turn->row, c);
	P(put_rows)(c2, turn->row + k, c);
	free(work);
	return 0;
}
