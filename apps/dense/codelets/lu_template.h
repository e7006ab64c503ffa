/* Tasks of LU factorisations, for one precision: see lu.c. */

static struct P(view) P(tile_view)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

/* The first n data of a task, as a stack. The caller frees stack.tiles. NULL in stack.tiles: out of memory. */
static struct P(stack) P(stack_of)(const heddle_context *c, size_t n, int *rows)
{
	struct P(view) *tiles = malloc(n * sizeof *tiles);
	if (!tiles)
		return (struct P(stack)){NULL, 0};
	*rows = 0;
	for (size_t t = 0; t < n; t++) {
		tiles[t] = P(tile_view)(c, t);
		*rows += tiles[t].m;
	}
	return P(stack)(tiles, (int)n);
}

/* The return value of a task: `bad` is the bad pivot that the kernel has found, counted from 1 in the task, or 0;
 * `pivot` is its value. */
static int P(judge)(heddle_context *c, int bad, element pivot)
{
	return hd_dense_return(c, hd_dense_judge_lu(heddle_value_ptr(c, 0), bad, isnan(ABS1(pivot))));
}

static int P(getrf_nopiv_task)(heddle_context *c)
{
	struct P(view) a = P(tile_view)(c, 0);
	struct hd_party p = hd_dense_party(c);
	int bad = P(getrf_party)(&p, (struct P(stack)){&a, 1}, NULL);
	return p.rank == 0 ? P(judge)(c, bad, bad ? *P(at)(a, bad - 1, bad - 1) : 1) : 0;
}

static int P(getrf_panel_task)(heddle_context *c)
{
	const struct hd_dense_lu_values *v = heddle_value_ptr(c, 0);
	size_t last = heddle_context_n_data(c) - 1;
	int rows, *pivots = heddle_ptr(c, last);
	struct P(stack) a = P(stack_of)(c, last, &rows);
	if (!a.tiles)
		return heddle_fail(c, -1, "out of memory for a panel of %zu tiles", last);
	struct hd_party p = hd_dense_party(c);
	int bad = P(getrf_party)(&p, a, pivots);
	for (size_t i = 0; p.rank == 0 && i < heddle_extent(c, last, 0); i++)
		pivots[i] += (int)v->row;
	int status = p.rank == 0 ? P(judge)(c, bad, bad ? *P(at)(a.tiles[0], bad - 1, bad - 1) : 1) : 0;
	free((void *)a.tiles);
	return status;
}

static int P(laswp_task)(heddle_context *c)
{
	const struct hd_dense_laswp_values *v = heddle_value_ptr(c, 0);
	size_t n_pivots = heddle_context_n_data(c) - v->n_tiles;
	int rows, status = 0;
	struct P(stack) a = P(stack_of)(c, v->n_tiles, &rows);
	if (!a.tiles)
		return heddle_fail(c, -1, "out of memory for a column of %zu tiles", v->n_tiles);
	struct hd_party party = hd_dense_party(c);
	struct hd_range share = hd_share(&party, a.tiles[0].n);
	struct hd_swaps swaps = {.origin = (int)v->row + 1};
	for (size_t p = 0; v->backward && p < n_pivots; p++)
		swaps.first += (int)heddle_extent(c, v->n_tiles + p, 0);
	for (size_t p = 0; status == 0 && p < n_pivots; p++) {
		size_t i = v->n_tiles + (v->backward ? n_pivots - 1 - p : p);
		swaps.pivots = heddle_ptr(c, i);
		swaps.count = (int)heddle_extent(c, i, 0);
		if (v->backward)
			swaps.first -= swaps.count;
		if (pivots_are_valid(c, i, v->row, rows))
			P(interchange)(a, share.first, share.n, &swaps, !v->backward);
		else
			status = hd_dense_return(c, hd_dense_judge_pivots(v, (size_t)rows));
		if (!v->backward)
			swaps.first += swaps.count;
	}
	free((void *)a.tiles);
	return status;
}

/* Data 0 and 1 become L and U of datum 2, a tile on the diagonal, with explicit ones and zeros. */
static int P(lu_parts_task)(heddle_context *c)
{
	struct P(view) l = P(tile_view)(c, 0), u = P(tile_view)(c, 1), a = P(tile_view)(c, 2);
	for (int j = 0; j < l.n; j++)
		for (int i = 0; i < l.m; i++)
			*P(at)(l, i, j) = i > j ? *P(at)(a, i, j) : (element)(i == j);
	for (int j = 0; j < u.n; j++)
		for (int i = 0; i < u.m; i++)
			*P(at)(u, i, j) = i <= j ? *P(at)(a, i, j) : (element)0;
	return 0;
}

static double P(getrf_nopiv_flops)(const struct heddle_size *size)
{
	return hd_dense_getrf_flops(COMPLEX, hd_dense_extent(size, 0, 0), hd_dense_extent(size, 0, 1));
}

static double P(getrf_panel_flops)(const struct heddle_size *size)
{
	return hd_dense_getrf_flops(COMPLEX, rows_of(size, size->n_data - 1), hd_dense_extent(size, 0, 1));
}
