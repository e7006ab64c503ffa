/* One precision of basic.c. */

/* The triangle of the pivots, in which a dead one has 1 on the diagonal, so that its unknown is its right-hand side:
 * 0. */
static struct P(view) P(regular)(const struct triangle *t)
{
	int n = (int)t->front->n_pivots;
	struct P(view) r = P(view)(t->r, n, n, n);
	for (int j = 0; j < n; j++)
		for (int i = 0; t->dead[j] && i < n; i++) {
			*P(at)(r, j, i) = i == j;
			*P(at)(r, i, j) = i == j;
		}
	return r;
}

static struct P(view) P(pivots_of)(const struct triangle *t)
{
	struct P(view) y = P(view)((element *)t->y->data + t->front->first_pivot, (int)t->front->n_pivots,
	                           (int)t->y->columns, (int)t->y->ld);
	for (int j = 0; j < y.n; j++)
		for (int i = 0; i < y.m; i++)
			if (t->dead[i])
				*P(at)(y, i, j) = 0;
	return y;
}

/* R behind the pivots. */
static struct P(view) P(behind)(const struct triangle *t)
{
	size_t pivots = t->front->n_pivots;
	return P(view)((element *)t->r + pivots * pivots, (int)pivots, (int)hd_sparse_rest(t->front), (int)pivots);
}

static struct P(view) P(others)(const struct triangle *t)
{
	int n = (int)hd_sparse_rest(t->front);
	return P(view)(t->others, n, (int)t->y->columns, hd_ld(n));
}

static element *P(other)(const struct triangle *t, int i, int j)
{
	return (element *)t->y->data + t->front->columns[t->front->n_pivots + (size_t)i] + (size_t)j * t->y->ld;
}

/* Y1 := R11^-1 (Y1 - R12 Y2), where Y1 is of the pivots, Y2 of the columns behind them. */
static void P(back)(const struct triangle *t)
{
	struct P(view) y = P(pivots_of)(t), others = P(others)(t);
	for (int j = 0; j < others.n; j++)
		for (int i = 0; i < others.m; i++)
			*P(at)(others, i, j) = *P(other)(t, i, j);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, P(behind)(t), others, 1, y);
	P(trsm)(HD_TRIANGLE(Left, Upper, NoTrans, NonUnit), 1, P(regular)(t), y);
}

/* Y1 := R11^-H Y1, Y2 := Y2 - R12^H Y1. */
static void P(forward)(const struct triangle *t)
{
	struct P(view) y = P(pivots_of)(t), others = P(others)(t);
	P(trsm)(HD_TRIANGLE(Left, Upper, ConjTrans, NonUnit), 1, P(regular)(t), y);
	P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, P(behind)(t), y, 0, others);
	for (int j = 0; j < others.n; j++)
		for (int i = 0; i < others.m; i++)
			*P(other)(t, i, j) -= *P(at)(others, i, j);
}
