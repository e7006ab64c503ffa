/* One precision of qr.h. */

enum {
	P(QR_LEAF) = 8, /* columns that are reduced one by one */
};

/* --- Blocks of reflectors ----------------------------------------------------------------------------------------- */

/* 1 - V T V^H with V = [V1; V2]. */
struct P(block) {
	struct P(view) v1; /* `a` is NULL for the identity */
	struct P(view) v2;
	struct P(view) t; /* k x k */
};

/* Copies the unit lower triangle of `a`, k x k, to `to`, with explicit zeros and ones. */
static struct P(view) P(unit_triangle)(struct P(view) a, element *to)
{
	struct P(view) v = P(view)(to, a.n, a.n, a.n);
	for (int j = 0; j < a.n; j++)
		for (int i = 0; i < a.n; i++)
			*P(at)(v, i, j) = i > j ? *P(at)(a, i, j) : i == j ? 1 : 0;
	return v;
}

static void P(subtract)(struct P(view) from, struct P(view) what)
{
	for (int j = 0; j < from.n; j++)
		for (int i = 0; i < from.m; i++)
			*P(at)(from, i, j) -= *P(at)(what, i, j);
}

/* W := V1^H C1 + V2^H C2, W := op(T) W, C1 -= V1 W, C2 -= V2 W. C1 and C2 have at most HD_QR_CHUNK columns. */
static void P(apply_left)(CBLAS_TRANSPOSE trans, const struct P(block) * b, struct P(view) c1, struct P(view) c2,
                          element *work)
{
	int k = b->t.n, n = c1.n;
	struct P(view) w = P(view)(work, k, n, k), tw = P(view)(work + (ptrdiff_t)k * n, k, n, k);
	if (b->v1.a)
		P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, b->v1, c1, 0, w);
	else
		P(copy_to)(c1, w);
	P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, b->v2, c2, 1, w);
	if (COMPLEX) {
		P(trmm)((struct hd_triangle){CblasLeft, CblasUpper, trans, CblasNonUnit}, 1, b->t, w);
		tw = w;
	} else
		P(gemm)((struct hd_ops){trans, CblasNoTrans}, 1, b->t, w, 0, tw);
	if (b->v1.a)
		P(gemm)(HD_OPS(NoTrans, NoTrans), -1, b->v1, tw, 1, c1);
	else
		P(subtract)(c1, tw);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, b->v2, tw, 1, c2);
}

/* W := C1 V1 + C2 V2, W := W op(T), C1 -= W V1^H, C2 -= W V2^H. C1 and C2 have at most HD_QR_CHUNK rows. */
static void P(apply_right)(CBLAS_TRANSPOSE trans, const struct P(block) * b, struct P(view) c1, struct P(view) c2,
                           element *work)
{
	int k = b->t.n, m = c1.m;
	struct P(view) w = P(view)(work, m, k, m), wt = P(view)(work + (ptrdiff_t)k * m, m, k, m);
	if (b->v1.a)
		P(gemm)(HD_OPS(NoTrans, NoTrans), 1, c1, b->v1, 0, w);
	else
		P(copy_to)(c1, w);
	P(gemm)(HD_OPS(NoTrans, NoTrans), 1, c2, b->v2, 1, w);
	if (COMPLEX) {
		P(trmm)((struct hd_triangle){CblasRight, CblasUpper, trans, CblasNonUnit}, 1, b->t, w);
		wt = w;
	} else
		P(gemm)((struct hd_ops){CblasNoTrans, trans}, 1, w, b->t, 0, wt);
	if (b->v1.a)
		P(gemm)(HD_OPS(NoTrans, ConjTrans), -1, wt, b->v1, 1, c1);
	else
		P(subtract)(c1, wt);
	P(gemm)(HD_OPS(NoTrans, ConjTrans), -1, wt, b->v2, 1, c2);
}

static void P(apply_block)(struct hd_apply how, const struct P(block) * b, struct P(view) c1, struct P(view) c2,
                           element *work)
{
	int left = how.side == CblasLeft, all = left ? c1.n : c1.m;
	for (int i = 0, n; i < all; i += n) {
		n = hd_smaller(all - i, HD_QR_CHUNK);
		if (left)
			P(apply_left)(how.trans, b, P(part)(c1, 0, i, c1.m, n), P(part)(c2, 0, i, c2.m, n), work);
		else
			P(apply_right)(how.trans, b, P(part)(c1, i, 0, n, c1.n), P(part)(c2, i, 0, n, c2.n), work);
	}
}

/* --- Panels ------------------------------------------------------------------------------------------------------- */

/* The columns that become one block of reflectors. If the panel stands alone, `low` is the whole panel and `top` its
 * upper square. If a triangle is on top of the panel, `top` is the triangle. */
struct P(panel) {
	struct P(view) top, low;
	int alone;
};

/* The reflector that makes zeros of the m elements x below *alpha: 1 - tau v v^H with v = [1; x]. Returns tau. */
static element P(reflect)(element *alpha, int m, element *x)
{
	const real least = sizeof(real) == sizeof(double) ? (real)0x1p-900 : (real)0x1p-90, most = 1 / least;
	real sum = P(sum_of_squares)(m, x), size = ABS1(*alpha);
	if (sum == 0 && IMAG(*alpha) == 0 && P(is_zero)(m, x))
		return 0;
	if (!(sum > least && sum < most && size * size < most)) {
		element tau;
		LAPACK(larfg_work)(m + 1, alpha, x, 1, &tau);
		return tau;
	}
	real norm = MATH(sqrt)(REAL(*alpha) * REAL(*alpha) + IMAG(*alpha) * IMAG(*alpha) + sum);
	real beta = REAL(*alpha) < 0 ? norm : -norm;
	element tau = (beta - *alpha) / beta;
	P(scale)(m, x, 1 / (*alpha - beta));
	*alpha = beta;
	return tau;
}

/* x := (1 - V T V^H)^H x for column j of the panel and the j reflectors before it. */
static void P(reflect_column)(const struct P(panel) * p, struct P(view) t, int j)
{
	element w[P(QR_LEAF)], u[P(QR_LEAF)];
	int from = p->alone ? j : 0;
	struct P(view) top = p->top, low = P(part)(p->low, from, 0, p->low.m - from, j);
	element *x = P(at)(p->low, from, j);
	P(dots)(low, x, w);
	for (int k = 0; k < j; k++) {
		w[k] += *P(at)(top, k, j);
		for (int i = k + 1; p->alone && i < j; i++)
			w[k] += CONJ(*P(at)(top, i, k)) * *P(at)(top, i, j);
	}
	for (int k = 0; k < j; k++) {
		u[k] = 0;
		for (int i = 0; i <= k; i++)
			u[k] += CONJ(*P(at)(t, i, k)) * w[i];
	}
	for (int i = 0; i < j; i++) {
		*P(at)(top, i, j) -= u[i];
		for (int k = 0; p->alone && k < i; k++)
			*P(at)(top, i, j) -= *P(at)(top, i, k) * u[k];
	}
	P(reduce)(low, u, x);
}

/* Computes column j of T, from tau and the products of the earlier reflectors with reflector j. */
static void P(extend)(const struct P(panel) * p, struct P(view) t, int j, element tau)
{
	element z[P(QR_LEAF)];
	int from = p->alone ? j + 1 : 0;
	P(dots)(P(part)(p->low, from, 0, p->low.m - from, j), P(at)(p->low, from, j), z);
	for (int k = 0; p->alone && k < j; k++)
		z[k] += CONJ(*P(at)(p->top, j, k));
	for (int i = 0; i < t.m; i++) {
		element sum = 0;
		for (int k = i; k < j; k++)
			sum += *P(at)(t, i, k) * z[k];
		*P(at)(t, i, j) = i < j ? -tau * sum : i == j ? tau : 0;
	}
}

static void P(panel_columns)(const struct P(panel) * p, struct P(view) t)
{
	for (int j = 0; j < p->low.n; j++) {
		int from = p->alone ? j + 1 : 0;
		P(reflect_column)(p, t, j);
		element tau = P(reflect)(P(at)(p->top, j, j), p->low.m - from, P(at)(p->low, from, j));
		P(extend)(p, t, j, tau);
	}
}

/* The block of reflectors of a panel that has been reduced. Uses k x k elements at `copy` if the panel is alone. */
static struct P(block) P(block_of)(const struct P(panel) * p, struct P(view) t, element *copy)
{
	int k = p->low.n;
	struct P(block) b = {.v2 = p->low, .t = t};
	if (p->alone) {
		b.v1 = P(unit_triangle)(P(part)(p->low, 0, 0, k, k), copy);
		b.v2 = P(part)(p->low, k, 0, p->low.m - k, k);
	}
	return b;
}

/* The panel of n columns of `p` from column `first` on, and of the rows from `row` on. */
static struct P(panel) P(columns)(const struct P(panel) * p, int row, int first, int n)
{
	struct P(panel) some = {.alone = p->alone};
	int below = p->alone ? row : 0;
	some.low = P(part)(p->low, below, first, p->low.m - below, n);
	some.top = P(part)(p->top, row, first, p->top.m - row, n);
	return some;
}

/* Factorises the panel; R is left in its top. Recursive, by halves: T's block beside the diagonal is -T1 V1^H V2 T2. */
static void P(reduce_panel)(const struct P(panel) * p, struct P(view) t, element *work)
{
	int k = p->low.n;
	if (k <= P(QR_LEAF)) {
		P(panel_columns)(p, t);
		return;
	}
	int half = hd_half(k), rest = k - half;
	struct P(view) t1 = P(part)(t, 0, 0, half, half), t2 = P(part)(t, half, half, rest, rest);
	struct P(view) beside = P(part)(t, 0, half, half, rest), below = P(part)(t, half, 0, rest, half);
	struct P(panel) left = P(columns)(p, 0, 0, half), right = P(columns)(p, half, half, rest);
	struct P(panel) change = P(columns)(p, 0, half, rest);
	P(reduce_panel)(&left, t1, work);
	element *free_work = work + (ptrdiff_t)k * k;
	struct P(block) b = P(block_of)(&left, t1, work);
	struct P(view) c2 = P(part)(change.low, p->alone ? half : 0, 0, b.v2.m, rest);
	P(apply_block)(HD_APPLY(Left, ConjTrans), &b, P(part)(change.top, 0, 0, half, rest), c2, free_work);
	P(reduce_panel)(&right, t2, work);
	struct P(block) next = P(block_of)(&right, t2, work);
	struct P(view) common = P(view)(free_work, half, rest, half);
	int row = p->alone ? rest : 0; /* the row of b.v2 at which next.v2 begins */
	P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, P(part)(b.v2, row, 0, b.v2.m - row, half), next.v2, 0, common);
	if (p->alone)
		P(gemm)(HD_OPS(ConjTrans, NoTrans), 1, P(part)(b.v2, 0, 0, rest, half), next.v1, 1, common);
	P(gemm)(HD_OPS(NoTrans, NoTrans), 1, common, t2, 0, beside);
	P(copy_to)(beside, common);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, t1, common, 0, beside);
	for (int j = 0; j < half; j++)
		for (int i = 0; i < rest; i++)
			*P(at)(below, i, j) = 0;
}

/* The number of rows of a block of reflectors, or of the columns to reduce, without the rows of zeros at the end. These
 * rows need no work: in a sparse factorisation, columns end in different rows, like a staircase. */
static int P(filled_rows)(struct P(view) v)
{
	int rows = 0;
	for (int j = 0; j < v.n; j++) {
		int last = v.m;
		while (last > rows && *P(at)(v, last - 1, j) == 0)
			last--;
		rows = last; /* not less than before */
	}
	return rows;
}

/* The panel of the k columns of `a` from column i on, from row i on, without the rows of zeros at the end. */
static struct P(panel) P(lone_panel)(struct P(view) a, int i, int k)
{
	int rows = k + P(filled_rows)(P(part)(a, i + k, i, a.m - i - k, k));
	struct P(view) low = P(part)(a, i, i, rows, k);
	return (struct P(panel)){.top = P(part)(low, 0, 0, k, k), .low = low, .alone = 1};
}

/* --- Tiles -------------------------------------------------------------------------------------------------------- */

/* The block of T for the k columns from i on. */
static struct P(view) P(block_of_t)(struct P(view) t, int i, int k)
{
	return P(part)(t, 0, i, k, k);
}

/* Multiplies the member's share of the columns of [top; low] by Q^H; b is Q's block of reflectors. Returns whether a
 * member of the party has given up. */
static int P(update)(const struct hd_party *p, const struct P(block) * b, struct P(view) top, struct P(view) low,
                     element *work)
{
	P(apply_block)(HD_APPLY(Left, ConjTrans), b, P(share)(p, top, 1), P(share)(p, low, 1), work);
	return top.n && hd_meet(p);
}

int P(geqrt_party)(const struct hd_party *p, struct P(view) a, struct P(view) t, element *work)
{
	int all = hd_smaller(a.m, a.n);
	for (int i = 0, k; i < all; i += k) {
		k = hd_smaller(all - i, t.m);
		struct P(view) ti = P(block_of_t)(t, i, k);
		struct P(panel) panel;
		if (p->rank == 0) {
			panel = P(lone_panel)(a, i, k);
			P(reduce_panel)(&panel, ti, work);
		}
		if (hd_meet(p))
			return -1;
		panel = P(lone_panel)(a, i, k);
		struct P(block) b = P(block_of)(&panel, ti, work);
		int next = i + k, rest = a.n - next;
		if (P(update)(p, &b, P(part)(a, i, next, k, rest), P(part)(a, next, next, b.v2.m, rest),
		              work + (ptrdiff_t)k * k))
			return -1;
	}
	return 0;
}

void P(geqrt)(struct P(view) a, struct P(view) t, element *work)
{
	P(geqrt_party)(&hd_alone, a, t, work);
}

/* Whether blocks are applied from the first to the last. */
static int P(is_forward)(struct hd_apply how)
{
	return (how.side == CblasLeft) == (how.trans != CblasNoTrans);
}

/* The first column of the i-th block in the order in which `how` applies blocks; k columns are in blocks of ib. */
static int P(nth_block)(struct hd_apply how, int i, int k, int ib)
{
	int last = (k - 1) / ib;
	return (P(is_forward)(how) ? i : last - i) * ib;
}

/* The rows (Left) or columns (Right) of C from the `first` on, `count` of them. */
static struct P(view) P(slice)(struct hd_apply how, struct P(view) c, int first, int count)
{
	return how.side == CblasLeft ? P(part)(c, first, 0, count, c.n) : P(part)(c, 0, first, c.m, count);
}

void P(gemqrt)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c, element *work)
{
	int all = v.n, ib = t.m;
	for (int n = 0; n * ib < all; n++) {
		int i = P(nth_block)(how, n, all, ib), k = hd_smaller(all - i, ib), below = i + k;
		struct P(panel) p = P(lone_panel)(v, i, k);
		struct P(block) b = P(block_of)(&p, P(block_of_t)(t, i, k), work);
		P(apply_block)
		(how, &b, P(slice)(how, c, i, k), P(slice)(how, c, below, b.v2.m), work + (ptrdiff_t)k * k);
	}
}

/* Copies columns i to i + k - 1 of `a`, a triangle below `full` rows, to `to`, with zeros below the diagonal. */
static struct P(view) P(copy_of_triangle)(struct P(view) a, int full, int i, int k, element *to)
{
	int rows = hd_smaller(a.m, full + i + k);
	struct P(view) v = P(view)(to, rows, k, rows);
	for (int j = 0; j < k; j++)
		for (int row = 0; row < rows; row++)
			*P(at)(v, row, j) = row <= full + i + j ? *P(at)(a, row, i + j) : 0;
	return v;
}

/* reduce_panel for a panel whose last rows are a triangle below `full` rows. Returns a view of the block of reflectors,
 * which is at `work`, with zeros below its diagonal. */
static struct P(view) P(reduce_triangle)(const struct P(panel) * p, int full, struct P(view) t, element *work)
{
	struct P(panel) copy = *p;
	int k = p->low.n;
	copy.low = P(copy_of_triangle)(p->low, full, 0, k, work);
	P(reduce_panel)(&copy, t, work + (ptrdiff_t)copy.low.m * k);
	for (int j = 0; j < k; j++)
		for (int row = 0; row < copy.low.m && row <= full + j; row++)
			*P(at)(p->low, row, j) = *P(at)(copy.low, row, j);
	return copy.low;
}

static int P(tpqrt)(const struct hd_party *p, int full, const struct P(view) * r, const struct P(view) * a,
                    struct P(view) t, element *work)
{
	int triangle = full < a->m;
	for (int i = 0, k; i < a->n; i += k) {
		k = hd_smaller(a->n - i, t.m);
		int rows = hd_smaller(a->m, full + i + k), next = i + k, rest = a->n - next;
		struct P(view) ti = P(block_of_t)(t, i, k);
		struct P(panel) panel = {.top = P(part)(*r, i, i, k, k), .low = P(part)(*a, 0, i, rows, k)};
		if (p->rank == 0 && triangle)
			panel.low = P(reduce_triangle)(&panel, full + i, ti, work);
		else if (p->rank == 0) {
			panel.low.m = P(filled_rows)(panel.low);
			P(reduce_panel)(&panel, ti, work);
		}
		if (hd_meet(p))
			return -1;
		if (p->rank && triangle)
			panel.low = P(copy_of_triangle)(*a, full, i, k, work);
		else if (p->rank)
			panel.low.m = P(filled_rows)(panel.low);
		rows = panel.low.m;
		struct P(block) b = P(block_of)(&panel, ti, NULL);
		if (P(update)(p, &b, P(part)(*r, i, next, k, rest), P(part)(*a, 0, next, rows, rest),
		              work + (triangle ? (ptrdiff_t)rows * k : 0)))
			return -1;
	}
	return 0;
}

int P(tsqrt_party)(const struct hd_party *p, struct P(view) r, struct P(view) a, struct P(view) t, element *work)
{
	return P(tpqrt)(p, a.m, &r, &a, t, work);
}

int P(ttqrt_party)(const struct hd_party *p, struct P(view) r, struct P(view) a, int full, struct P(view) t,
                   element *work)
{
	return P(tpqrt)(p, full, &r, &a, t, work);
}

void P(tsqrt)(struct P(view) r, struct P(view) a, struct P(view) t, element *work)
{
	P(tpqrt)(&hd_alone, a.m, &r, &a, t, work);
}

void P(ttqrt)(struct P(view) r, struct P(view) a, int full, struct P(view) t, element *work)
{
	P(tpqrt)(&hd_alone, full, &r, &a, t, work);
}

void P(tsmqr)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c1, struct P(view) c2,
              element *work)
{
	int all = v.n, ib = t.m;
	for (int n = 0; n * ib < all; n++) {
		int i = P(nth_block)(how, n, all, ib), k = hd_smaller(all - i, ib);
		int rows = P(filled_rows)(P(part)(v, 0, i, v.m, k));
		struct P(block) b = {.v2 = P(part)(v, 0, i, rows, k), .t = P(block_of_t)(t, i, k)};
		P(apply_block)(how, &b, P(slice)(how, c1, i, k), P(slice)(how, c2, 0, rows), work);
	}
}

void P(ttmqr)(struct hd_apply how, struct P(view) v, struct P(view) t, struct P(view) c1, struct P(view) c2,
              element *work)
{
	int all = v.n, ib = t.m;
	for (int n = 0; n * ib < all; n++) {
		int i = P(nth_block)(how, n, all, ib), k = hd_smaller(all - i, ib);
		struct P(block) b = {.v2 = P(copy_of_triangle)(v, how.full, i, k, work), .t = P(block_of_t)(t, i, k)};
		element *free_work = work + (ptrdiff_t)b.v2.m * k;
		P(apply_block)(how, &b, P(slice)(how, c1, i, k), P(slice)(how, c2, 0, b.v2.m), free_work);
	}
}
