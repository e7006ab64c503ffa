/* One precision of qr.c. The codelets' descriptions are those of dense/codelets/qr_template.h. */
#include <dense/cuda/precision.h>

static const element P(copying)[2] = {1, 0}, P(subtracting)[2] = {-1, 1};

/* --- Blocks of reflectors ----------------------------------------------------------------------------------------- */

/* Workspaces of a task, for blocks of at most `ib` reflectors. */
struct P(room) {
	element *v;      /* for a copy of V: as many rows as V has, ib columns */
	element *w, *tw; /* each ib times the number of columns or rows that Q is applied to, at least ib */
};

static int P(make_room)(heddle_context *c, int ib, int rows, int width, struct P(room) * room)
{
	size_t k = (size_t)ib, of_v = k * (size_t)rows, of_w = k * (size_t)(width > ib ? width : ib);
	room->v = heddle_cuda_scratch(c, (of_v + 2 * of_w) * sizeof(element));
	if (!room->v)
		return -1;
	room->w = room->v + of_v;
	room->tw = room->w + of_w;
	return 0;
}

/* Copies k columns of the V that geqrt has left in `low` to room->v, with explicit zeros and ones. */
static int P(copy_unit)(heddle_context *c, struct P(view) low, const struct P(room) * room, struct P(view) * v)
{
	struct hd_dense_cuda_part p = {.m = low.m, .n = low.n, .which = HD_CUDA_LOWER, .unit = 1};
	*v = P(view)(room->v, low.m, low.n, low.m);
	return P(cuda_combine)(c, &p, HD_CUDA_CLEAR | HD_CUDA_DIAGONAL, P(copying), low, *v);
}

/* Copies the k columns of `a` from column i on to room->v, with zeros below the diagonal. `a` is a triangle below full
 * rows, whose number is a value of the task. */
static int P(copy_triangle)(heddle_context *c, struct P(view) a, int i, int k, const struct P(room) * room,
                            struct P(view) * v)
{
	int diagonal = first_of(c) + i, rows = hd_smaller(a.m, diagonal + k);
	struct hd_dense_cuda_part p = {.diagonal = diagonal, .m = rows, .n = k, .which = HD_CUDA_UPPER};
	*v = P(view)(room->v, rows, k, rows);
	return P(cuda_combine)(c, &p, HD_CUDA_CLEAR, P(copying), P(part)(a, 0, i, rows, k), *v);
}

/* 1 - V T V^H for V = V2, or V = [1; V2] if c1.a is not NULL: C2 -= V2 op(T) (C1 + V2^H C2), C1 -= op(T) (...), and the
 * same from the right. `c` has C1 and C2. */
static int P(apply)(heddle_context *context, struct hd_apply how, const struct P(view) vt[2], const struct P(view) c[2],
                    const struct P(room) * room)
{
	int left = how.side == CblasLeft, k = vt[1].n, m = left ? k : c[1].m, n = left ? c[1].n : k;
	struct P(view) w = P(view)(room->w, m, n, m), tw = P(view)(room->tw, m, n, m), v = vt[0], t = vt[1];
	struct hd_dense_cuda_part all = {.m = m, .n = n};
	int pair = c[0].a != NULL, status = 0;
	if (m == 0 || n == 0)
		return 0;
	if (pair)
		status = P(cuda_combine)(context, &all, 0, P(copying), c[0], w);
	if (status == 0)
		status = P(cuda_gemm)(context, left ? HD_OPS(ConjTrans, NoTrans) : HD_OPS(NoTrans, NoTrans), 1,
		                      (const struct P(view)[]){left ? v : c[1], left ? c[1] : v}, (real)pair, w);
	if (status == 0)
		status = P(cuda_gemm)(
		    context, left ? (struct hd_ops){how.trans, CblasNoTrans} : (struct hd_ops){CblasNoTrans, how.trans},
		    1, (const struct P(view)[]){left ? t : w, left ? w : t}, 0, tw);
	if (status == 0 && pair)
		status = P(cuda_combine)(context, &all, 0, P(subtracting), tw, c[0]);
	if (status == 0)
		status = P(cuda_gemm)(context, left ? HD_OPS(NoTrans, NoTrans) : HD_OPS(NoTrans, ConjTrans), -1,
		                      (const struct P(view)[]){left ? v : tw, left ? tw : v}, 1, c[1]);
	return status;
}

/* --- Panels ------------------------------------------------------------------------------------------------------- */

/* A panel that stands alone, or has a triangle on top of it, as in dense/kernels/qr_template.h. */
struct P(pan) {
	struct P(view) top, low; /* top.a is NULL: alone */
};

static int P(reduce_columns)(heddle_context *c, const struct P(pan) * p, struct P(view) t)
{
	int m = p->low.m, n = p->low.n, alone = p->top.a == NULL;
	unsigned lanes = 4, teams = m < 512 ? (unsigned)n : HD_CUDA_PANEL;
	while (lanes < 32 && (int)lanes < m)
		lanes *= 2;
	const struct heddle_cuda_grid grid = {.threads = {lanes, teams}};
	struct P(view) top = p->top, low = p->low;
	if (alone)
		top.ld = 1;
	return hd_dense_cuda_launch(c, KERNEL(panel), &grid,
	                            (void *[]){&top.a, &top.ld, &low.a, &low.ld, &m, &n, &alone, &t.a, &t.ld});
}

/* Computes the block of T beside the diagonal: -T1 V1^H V2 T2. */
static int P(join)(heddle_context *c, const struct P(pan) * p, struct P(view) t, int half, const struct P(room) * room)
{
	int rest = p->low.n - half, from = p->top.a ? 0 : half, rows = p->low.m - from, status = 0;
	struct P(view) v1 = P(part)(p->low, from, 0, rows, half), v2 = P(part)(p->low, from, half, rows, rest);
	struct P(view) common = P(view)(room->w, half, rest, half), product = P(view)(room->tw, half, rest, half);
	struct P(view) t1 = P(part)(t, 0, 0, half, half), t2 = P(part)(t, half, half, rest, rest);
	struct hd_dense_cuda_part below = {.m = rest, .n = half, .which = HD_CUDA_NONE};
	struct P(view) zero = P(part)(t, half, 0, rest, half);
	if (!p->top.a)
		status = P(copy_unit)(c, v2, room, &v2);
	if (status == 0)
		status = P(cuda_gemm)(c, HD_OPS(ConjTrans, NoTrans), 1, (const struct P(view)[]){v1, v2}, 0, common);
	if (status == 0)
		status = P(cuda_gemm)(c, HD_OPS(NoTrans, NoTrans), 1, (const struct P(view)[]){common, t2}, 0, product);
	if (status == 0)
		status = P(cuda_gemm)(c, HD_OPS(NoTrans, NoTrans), -1, (const struct P(view)[]){t1, product}, 0,
		                      P(part)(t, 0, half, half, rest));
	return status ? status : P(cuda_combine)(c, &below, HD_CUDA_CLEAR, P(copying), zero, zero);
}

/* Applies the reflectors of the panel, whose factor is T, to the columns after it: C1 beside its triangle (only if the
 * panel has a triangle), and C2 beside the rest. */
static int P(apply_panel)(heddle_context *c, const struct P(pan) * p, struct P(view) t, const struct P(view) c12[2],
                          const struct P(room) * room)
{
	struct P(view) v = p->low;
	int status = p->top.a || c12[1].n == 0 ? 0 : P(copy_unit)(c, p->low, room, &v);
	return status ? status : P(apply)(c, HD_APPLY(Left, ConjTrans), (const struct P(view)[]){v, t}, c12, room);
}

/* Factorises the panel; R is left in its top. */
static int P(reduce_panel_cuda)(heddle_context *c, const struct P(pan) * p, struct P(view) t,
                                const struct P(room) * room)
{
	int k = p->low.n, m = p->low.m;
	if (k <= HD_CUDA_PANEL)
		return P(reduce_columns)(c, p, t);
	int half = hd_half(k), rest = k - half, from = p->top.a ? 0 : half;
	struct P(pan) left = {.low = P(part)(p->low, 0, 0, m, half)};
	struct P(pan) right = {.low = P(part)(p->low, from, half, m - from, rest)};
	struct P(view) c12[2] = {{NULL, 0, 0, 1}, P(part)(p->low, 0, half, m, rest)};
	if (p->top.a) {
		left.top = P(part)(p->top, 0, 0, half, half);
		right.top = P(part)(p->top, half, half, rest, rest);
		c12[0] = P(part)(p->top, 0, half, half, rest);
	}
	int status = P(reduce_panel_cuda)(c, &left, P(part)(t, 0, 0, half, half), room);
	if (status == 0)
		status = P(apply_panel)(c, &left, P(part)(t, 0, 0, half, half), c12, room);
	if (status == 0)
		status = P(reduce_panel_cuda)(c, &right, P(part)(t, half, half, rest, rest), room);
	return status ? status : P(join)(c, p, t, half, room);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* The factor T of k reflectors, in datum i. */
static struct P(view) P(factor_of)(const heddle_context *c, size_t i, int k)
{
	struct P(view) t = P(cuda_tile)(c, i);
	t.n = k;
	return t;
}

/* Datum i, which may be a strip of a tile, without the rows above the diagonal of the tile. */
static struct P(view) P(strip_of)(const heddle_context *c, size_t i)
{
	struct P(view) a = P(cuda_tile)(c, i);
	int first = hd_smaller(first_of(c), a.m);
	return P(part)(a, first, 0, a.m - first, a.n);
}

static int P(geqrt_cuda)(heddle_context *c)
{
	struct P(view) a = P(strip_of)(c, 0);
	int all = hd_smaller(a.m, a.n), status = 0;
	struct P(view) t = P(factor_of)(c, 1, all);
	struct P(room) room;
	if (all == 0)
		return 0;
	status = P(make_room)(c, t.m, a.m, a.n, &room);
	for (int i = 0, k; status == 0 && i < all; i += k) {
		k = hd_smaller(all - i, t.m);
		struct P(pan) p = {.low = P(part)(a, i, i, a.m - i, k)};
		struct P(view) ti = P(part)(t, 0, i, k, k), rest = P(part)(a, i, i + k, a.m - i, a.n - i - k);
		status = P(reduce_panel_cuda)(c, &p, ti, &room);
		if (status == 0)
			status = P(apply_panel)(c, &p, ti, (const struct P(view)[]){{NULL, 0, 0, 1}, rest}, &room);
	}
	if (status || heddle_context_n_data(c) < 4)
		return status;
	struct hd_dense_cuda_part below = {.m = a.m, .n = all, .which = HD_CUDA_LOWER, .unit = 1};
	return P(cuda_combine)(c, &below, 0, P(copying), a, P(strip_of)(c, 3));
}

/* The QR factorisation of [R; A]. `triangle`: 1: A is a triangle; 0: A is a full tile. */
static int P(tpqrt_cuda)(heddle_context *c, int triangle)
{
	struct P(view) r = P(strip_of)(c, 0), a = P(cuda_tile)(c, 1), t = P(factor_of)(c, 2, a.n);
	struct P(room) room;
	int first = first_of(c), status = P(make_room)(c, t.m, a.m, a.n, &room);
	for (int i = 0, k; status == 0 && i < a.n; i += k) {
		k = hd_smaller(a.n - i, t.m);
		int rows = triangle ? hd_smaller(a.m, first + i + k) : a.m, next = i + k, rest = a.n - next;
		struct P(view) low = P(part)(a, 0, i, rows, k), ti = P(part)(t, 0, i, k, k);
		struct P(pan) p = {.top = P(part)(r, i, i, k, k), .low = low};
		struct hd_dense_cuda_part upper = {.diagonal = first + i, .m = rows, .n = k, .which = HD_CUDA_UPPER};
		if (triangle)
			status = P(copy_triangle)(c, a, i, k, &room, &p.low);
		if (status == 0)
			status = P(reduce_panel_cuda)(c, &p, ti, &room);
		if (status == 0 && triangle)
			status = P(cuda_combine)(c, &upper, 0, P(copying), p.low, low);
		if (status == 0)
			status = P(apply_panel)(
			    c, &p, ti,
			    (const struct P(view)[]){P(part)(r, i, next, k, rest), P(part)(a, 0, next, rows, rest)},
			    &room);
	}
	return status;
}

static int P(tsqrt_cuda)(heddle_context *c)
{
	return P(tpqrt_cuda)(c, 0);
}

static int P(ttqrt_cuda)(heddle_context *c)
{
	return P(tpqrt_cuda)(c, 1);
}

/* The first column of the i-th block in the order in which `how` applies blocks; k columns are in blocks of ib. */
static int P(block_number)(struct hd_apply how, int i, int k, int ib)
{
	int forward = (how.side == CblasLeft) == (how.trans != CblasNoTrans);
	return (forward ? i : (k - 1) / ib - i) * ib;
}

/* The rows (Left) or columns (Right) of C from the `first` on, `count` of them. */
static struct P(view) P(slice_of)(struct hd_apply how, struct P(view) c, int first, int count)
{
	return how.side == CblasLeft ? P(part)(c, first, 0, count, c.n) : P(part)(c, 0, first, c.m, count);
}

static int P(gemqrt_cuda)(heddle_context *c)
{
	struct hd_apply how = apply_of(c);
	struct P(view) to = P(cuda_tile)(c, 0), v = P(strip_of)(c, 1);
	int first = first_of(c);
	v.n = hd_smaller(v.m, v.n);
	struct P(view) t = P(factor_of)(c, 2, v.n);
	struct P(room) room;
	int ib = t.m, status = P(make_room)(c, ib, v.m, how.side == CblasLeft ? to.n : to.m, &room);
	for (int n = 0; status == 0 && n * ib < v.n; n++) {
		int i = P(block_number)(how, n, v.n, ib), k = hd_smaller(v.n - i, ib);
		struct P(view) vt[2] = {P(part)(v, i, i, v.m - i, k), P(part)(t, 0, i, k, k)};
		status = P(copy_unit)(c, vt[0], &room, &vt[0]);
		if (status == 0)
			status = P(apply)(
			    c, how, vt,
			    (const struct P(view)[]){{NULL, 0, 0, 1}, P(slice_of)(how, to, first + i, v.m - i)}, &room);
	}
	return status;
}

/* Applies reflectors of a square or (`triangle`) a triangle to a pair of tiles. */
static int P(tpmqr_cuda)(heddle_context *c, int triangle)
{
	struct hd_apply how = apply_of(c);
	struct P(view) c1 = P(cuda_tile)(c, 0), c2 = P(cuda_tile)(c, 1), v = P(cuda_tile)(c, 2);
	struct P(view) t = P(factor_of)(c, 3, v.n);
	struct P(room) room;
	int first = first_of(c), ib = t.m,
	    status = P(make_room)(c, ib, v.m, how.side == CblasLeft ? c2.n : c2.m, &room);
	for (int n = 0; status == 0 && n * ib < v.n; n++) {
		int i = P(block_number)(how, n, v.n, ib), k = hd_smaller(v.n - i, ib);
		struct P(view) vt[2] = {P(part)(v, 0, i, v.m, k), P(part)(t, 0, i, k, k)};
		if (triangle)
			status = P(copy_triangle)(c, v, i, k, &room, &vt[0]);
		if (status == 0)
			status = P(apply)(c, how, vt,
			                  (const struct P(view)[]){P(slice_of)(how, c1, first + i, k),
			                                           P(slice_of)(how, c2, 0, vt[0].m)},
			                  &room);
	}
	return status;
}

static int P(tsmqr_cuda)(heddle_context *c)
{
	return P(tpmqr_cuda)(c, 0);
}

static int P(ttmqr_cuda)(heddle_context *c)
{
	return P(tpmqr_cuda)(c, 1);
}

#include <dense/cuda/precision_end.h>
