/* One precision of lu.h. */

enum {
	P(LU_LEAF) = 8, /* columns that are reduced one by one */
};

static void P(swap)(element *x, element *y)
{
	element kept = *x;
	*x = *y;
	*y = kept;
}

void P(laswp)(struct P(view) a, const int *pivots, int count, int forward)
{
	if (a.m == 0)
		return;
	for (int j = 0; j < a.n; j++) {
		element *column = P(at)(a, 0, j);
		for (int i = 0; i < count; i++) {
			int row = forward ? i : count - 1 - i;
			P(swap)(column + row, column + pivots[row] - 1);
		}
	}
}

/* x := x / pivot. A product with the inverse is faster, where the inverse is no infinity. */
static void P(divide)(int m, element *x, element pivot)
{
	if (ABS1(pivot) >= (sizeof(real) == sizeof(double) ? (real)DBL_MIN : (real)FLT_MIN)) {
		P(scale)(m, x, 1 / pivot);
		return;
	}
	for (int i = 0; i < m; i++)
		x[i] = x[i] / pivot;
}

/* Column by column: what the columns before have to do to the next one is done when its turn comes, so that each is
 * written only once. m >= n. */
static int P(lu_columns)(struct P(view) a, int *pivots)
{
	int bad = 0;
	for (int j = 0; j < a.n; j++) {
		element *x = P(at)(a, 0, j);
		if (pivots)
			P(laswp)(P(part)(a, 0, j, a.m, 1), pivots, j, 1);
		for (int k = 0; k < j; k++)
			P(reduce)(P(part)(a, k + 1, k, j - k - 1, 1), x + k, x + k + 1);
		P(reduce)(P(part)(a, j, 0, a.m - j, j), x, x + j);
		if (pivots) {
			int row = j + P(find_pivot)(a.m - j, x + j);
			pivots[j] = row + 1;
			for (int k = 0; row != j && k <= j; k++)
				P(swap)(P(at)(a, j, k), P(at)(a, row, k));
		}
		if (!(ABS1(x[j]) > 0) && bad == 0)
			bad = j + 1;
		if (x[j] != 0)
			P(divide)(a.m - j - 1, x + j + 1, x[j]);
	}
	return bad;
}

/* `pivots` is NULL for none. */
static int P(lu)(struct P(view) a, int *pivots)
{
	if (a.m >= a.n && a.n <= P(LU_LEAF))
		return P(lu_columns)(a, pivots);
	/* of a wide matrix, first all of the square */
	int first = a.m < a.n ? a.m : hd_half(a.n), rows = a.m - first, columns = a.n - first;
	struct P(view) left = P(part)(a, 0, 0, a.m, first), right = P(part)(a, 0, first, a.m, columns);
	struct P(view) low_left = P(part)(left, first, 0, rows, first);
	struct P(view) top = P(part)(right, 0, 0, first, columns), low = P(part)(right, first, 0, rows, columns);
	int bad = P(lu)(left, pivots);
	if (pivots)
		P(laswp)(right, pivots, first, 1);
	P(trsm)(HD_TRIANGLE(Left, Lower, NoTrans, Unit), 1, P(part)(a, 0, 0, first, first), top);
	P(gemm)(HD_OPS(NoTrans, NoTrans), -1, low_left, top, 1, low);
	int done = rows < columns ? rows : columns;
	if (done == 0)
		return bad;
	int worse = P(lu)(low, pivots ? pivots + first : NULL);
	if (pivots)
		P(laswp)(low_left, pivots + first, done, 1);
	for (int i = 0; pivots && i < done; i++)
		pivots[first + i] += first;
	return bad != 0 || worse == 0 ? bad : first + worse;
}

int P(getrf_nopiv)(struct P(view) a)
{
	return a.m == 0 || a.n == 0 ? 0 : P(lu)(a, NULL);
}

int P(getrf)(struct P(view) a, int *pivots)
{
	return a.m == 0 || a.n == 0 ? 0 : P(lu)(a, pivots);
}
