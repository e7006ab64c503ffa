/* One precision of lu.h. */

enum {
	P(LU_LEAF) = 8,      /* columns that are reduced one by one */
	P(LU_ALONE) = 32,    /* columns that member 0 of a party factorises alone */
	P(SWAPS) = 64,       /* number of interchanges whose rows are looked up together */
	P(SWAP_COLUMNS) = 64 /* number of columns in which these interchanges are made before the next columns */
};

struct P(stack) P(stack)(struct P(view) * tiles, int count)
{
	int rows = tiles[0].m;
	for (int t = 1; t < count; t++) {
		if (tiles[t].a != tiles[t - 1].a + tiles[t - 1].m || tiles[t].ld != tiles[0].ld)
			return (struct P(stack)){tiles, count};
		rows += tiles[t].m;
	}
	tiles[0].m = rows;
	return (struct P(stack)){tiles, 1};
}

/* The tile that contains row *row of the stack; *row becomes the row within the tile. */
static const struct P(view) * P(find_row)(struct P(stack) a, int *row)
{
	int t = a.count == 1 ? 0 : *row / a.tiles[0].m;
	*row -= t * a.tiles[0].m;
	return &a.tiles[t];
}

/* Makes at most SWAPS interchanges, in n columns. */
static void P(swap_rows)(struct P(stack) a, int column, int n, const struct hd_swaps *swaps, int forward)
{
	element *x[P(SWAPS)], *y[P(SWAPS)];
	ptrdiff_t ldx[P(SWAPS)], ldy[P(SWAPS)];
	for (int i = 0; i < swaps->count; i++) {
		int s = forward ? i : swaps->count - 1 - i;
		int row = swaps->first + s, pivot = swaps->pivots[s] - swaps->origin;
		const struct P(view) *tile_x = P(find_row)(a, &row), *tile_y = P(find_row)(a, &pivot);
		x[i] = P(at)(*tile_x, row, column);
		y[i] = P(at)(*tile_y, pivot, column);
		ldx[i] = tile_x->ld;
		ldy[i] = tile_y->ld;
	}
	for (int j = 0; j < n; j++) {
		for (int i = 0; i < swaps->count; i++) {
			element kept = x[i][j * ldx[i]];
			x[i][j * ldx[i]] = y[i][j * ldy[i]];
			y[i][j * ldy[i]] = kept;
		}
	}
}

void P(interchange)(struct P(stack) a, int column, int n, const struct hd_swaps *swaps, int forward)
{
	for (int j = 0; j < n; j += P(SWAP_COLUMNS)) {
		int columns = n - j < P(SWAP_COLUMNS) ? n - j : P(SWAP_COLUMNS);
		for (int done = 0; done < swaps->count; done += P(SWAPS)) {
			int left = swaps->count - done, count = left < P(SWAPS) ? left : P(SWAPS);
			int from = forward ? done : left - count;
			struct hd_swaps some = {swaps->pivots + from, count, swaps->first + from, swaps->origin};
			P(swap_rows)(a, column + j, columns, &some, forward);
		}
	}
}

/* The rows of tile t from row `first` of the stack on; `first` is a row of the first tile. */
static struct P(view) P(rows_below)(struct P(stack) a, int t, int first, int column, int n)
{
	const struct P(view) *tile = &a.tiles[t];
	return t > 0 ? P(part)(*tile, 0, column, tile->m, n) : P(part)(*tile, first, column, tile->m - first, n);
}

/* The row of the pivot of column j, from row j on: the largest element, or the first that is not a number. */
static int P(row_of_pivot)(struct P(stack) a, int j)
{
	int place = j, above = j; /* rows of the stack above the tile that is searched */
	real best = -1;
	for (int t = 0; t < a.count; t++) {
		struct P(view) x = P(rows_below)(a, t, j, j, 1);
		int i = x.m > 0 ? P(find_pivot)(x.m, x.a) : 0;
		real size = x.m > 0 ? ABS1(x.a[i]) : -1;
		if (size > best || isnan(size)) {
			best = size;
			place = above + i;
		}
		if (isnan(size))
			break;
		above += x.m;
	}
	return place;
}

/* x := x / pivot. Multiplies by the inverse, which is faster, unless the inverse is infinite. */
static void P(divide)(int m, element *x, element pivot)
{
	if (ABS1(pivot) >= (sizeof(real) == sizeof(double) ? (real)DBL_MIN : (real)FLT_MIN)) {
		P(scale)(m, x, 1 / pivot);
		return;
	}
	for (int i = 0; i < m; i++)
		x[i] = x[i] / pivot;
}

/* Applies the steps of columns [c, j) to column j: the interchanges, and x := x - L u. */
static void P(reduce_column)(struct P(stack) a, int c, int j, const int *pivots)
{
	if (pivots)
		P(interchange)(a, j, 1, &(struct hd_swaps){pivots + c, j - c, c, 1}, 1);
	element *u = P(at)(a.tiles[0], c, j);
	for (int k = c; k < j; k++)
		for (int i = k + 1; i < j; i++)
			u[i - c] -= *P(at)(a.tiles[0], i, k) * u[k - c];
	for (int t = 0; j > c && t < a.count; t++) {
		struct P(view) l = P(rows_below)(a, t, j, c, j - c);
		P(reduce)(l, u, P(rows_below)(a, t, j, j, 1).a);
	}
}

/* Factorises column by column. The steps of earlier columns are applied to a column when its turn comes (left-looking),
 * so that each column is written few times. */
static int P(factor_columns)(struct P(stack) a, int c, int w, int *pivots)
{
	int bad = 0;
	for (int j = c; j < c + w; j++) {
		P(reduce_column)(a, c, j, pivots);
		if (pivots) {
			pivots[j] = P(row_of_pivot)(a, j) + 1;
			P(interchange)(a, c, j - c + 1, &(struct hd_swaps){pivots + j, 1, j, 1}, 1);
		}
		element pivot = *P(at)(a.tiles[0], j, j);
		if (!(ABS1(pivot) > 0) && bad == 0)
			bad = j + 1;
		for (int t = 0; ABS1(pivot) > 0 && t < a.count; t++) {
			struct P(view) x = P(rows_below)(a, t, j + 1, j, 1);
			P(divide)(x.m, x.a, pivot);
		}
	}
	return bad;
}

/* Applies the steps of columns [c, c + w), which are factorised, to the later columns `after`. */
static void P(update_columns)(struct P(stack) a, int c, int w, struct hd_range after, const int *pivots)
{
	struct P(view) u = P(part)(a.tiles[0], c, after.first, w, after.n);
	if (pivots)
		P(interchange)(a, after.first, after.n, &(struct hd_swaps){pivots + c, w, c, 1}, 1);
	P(trsm)(HD_TRIANGLE(Left, Lower, NoTrans, Unit), 1, P(part)(a.tiles[0], c, c, w, w), u);
	for (int t = 0; t < a.count; t++) {
		struct P(view) l = P(rows_below)(a, t, c + w, c, w);
		struct P(view) x = P(rows_below)(a, t, c + w, after.first, after.n);
		P(gemm)(HD_OPS(NoTrans, NoTrans), -1, l, u, 1, x);
	}
}

/* The member's share of n columns from `first` on. */
static struct hd_range P(columns_of)(const struct hd_party *p, int first, int n)
{
	struct hd_range r = hd_share(p, n);
	r.first += first;
	return r;
}

/* Factorises columns [c, c + w) from row c on. All members have met before and meet at the end. */
static int P(factor)(const struct hd_party *p, struct P(stack) a, int c, int w, int *pivots)
{
	if (p->ranks > 1 && w <= P(LU_ALONE)) {
		int bad = p->rank == 0 ? P(factor)(&hd_alone, a, c, w, pivots) : 0;
		hd_meet(p);
		return bad;
	}
	if (w <= P(LU_LEAF))
		return P(factor_columns)(a, c, w, pivots);
	int half = hd_half(w), rest = w - half;
	int bad = P(factor)(p, a, c, half, pivots);
	P(update_columns)(a, c, half, P(columns_of)(p, c + half, rest), pivots);
	hd_meet(p);
	int worse = P(factor)(p, a, c + half, rest, pivots);
	if (pivots) {
		struct hd_range r = P(columns_of)(p, c, half);
		P(interchange)(a, r.first, r.n, &(struct hd_swaps){pivots + c + half, rest, c + half, 1}, 1);
		hd_meet(p);
	}
	return bad ? bad : worse;
}

int P(getrf_party)(const struct hd_party *p, struct P(stack) a, int *pivots)
{
	int m = a.count > 1 ? a.tiles[0].n : a.tiles[0].m, n = a.tiles[0].n, steps = m < n ? m : n;
	if (steps == 0)
		return 0;
	int bad = P(factor)(p, a, 0, steps, pivots);
	if (n > steps) {
		P(update_columns)(a, 0, steps, P(columns_of)(p, steps, n - steps), pivots);
		hd_meet(p);
	}
	return bad;
}

int P(getrf_panel)(struct P(stack) a, int *pivots)
{
	return P(getrf_party)(&hd_alone, a, pivots);
}

int P(getrf)(struct P(view) a, int *pivots)
{
	return P(getrf_panel)((struct P(stack)){&a, 1}, pivots);
}

int P(getrf_nopiv)(struct P(view) a)
{
	return P(getrf_panel)((struct P(stack)){&a, 1}, NULL);
}

void P(laswp)(struct P(view) a, const int *pivots, int count, int forward)
{
	P(interchange)((struct P(stack)){&a, 1}, 0, a.n, &(struct hd_swaps){pivots, count, 0, 1}, forward);
}
