/* Tasks of QR factorisations, for one precision: see qr.c. */

/* Datum i of a task. */
static inline struct P(view) P(tile)(const heddle_context *c, size_t i)
{
	return P(view)(heddle_ptr(c, i), (int)heddle_extent(c, i, 0), (int)heddle_extent(c, i, 1),
	               (int)heddle_ld(c, i));
}

/* The factor T of k reflectors, in datum i, whose tile is as wide as a column of tiles. */
static inline struct P(view) P(factor)(const heddle_context *c, size_t i, int k)
{
	struct P(view) t = P(tile)(c, i);
	t.n = k;
	return t;
}

/* Datum i of a task, which may be a strip of a tile, without the rows above the diagonal of the tile. */
static inline struct P(view) P(strip)(const heddle_context *c, size_t i)
{
	struct P(view) a = P(tile)(c, i);
	int first = hd_dense_smaller(hd_dense_first_of(c), a.m);
	return P(part)(a, first, 0, a.m - first, a.n);
}

/* The triangle R in the tile, datum i, of the row that stays. */
static inline struct P(view) P(triangle)(const heddle_context *c, size_t i)
{
	struct P(view) r = P(strip)(c, i);
	r.m = r.n;
	return r;
}

/* The workspace: for member 0 it is datum i; for another member it is allocated, and hd_dense_drop_work frees it. NULL:
 * out of memory. */
static element *P(work_of)(heddle_context *c, size_t i)
{
	return heddle_context_rank(c) ? malloc(heddle_extent(c, i, 0) * sizeof(element)) : heddle_ptr(c, i);
}

/* A := R and V. A fourth tile becomes a copy of V. */
static int P(geqrt_task)(heddle_context *c)
{
	struct P(view) a = P(strip)(c, 0);
	struct hd_party p = hd_dense_party(c);
	element *work = P(work_of)(c, 2);
	int k = hd_dense_smaller(a.m, a.n), copied = work && heddle_context_n_data(c) == 4;
	if (work)
		P(geqrt_party)(&p, a, P(factor)(c, 1, k), work);
	struct P(view) v = copied ? P(strip)(c, 3) : a;
	struct hd_range share = hd_share(&p, copied ? k : 0);
	for (int j = share.first; j < share.first + share.n; j++)
		for (int i = j + 1; i < a.m; i++)
			*P(at)(v, i, j) = *P(at)(a, i, j);
	return hd_dense_drop_work(c, work);
}

/* The member's share of datum i, to which Q is applied: of its rows (or columns) from `first` on. */
static struct P(view) P(applied_share)(const heddle_context *c, size_t i, int first)
{
	struct hd_party p = hd_dense_party(c);
	struct P(view) a = P(tile)(c, i);
	int left = hd_dense_apply_of(c).side == CblasLeft;
	a = left ? P(part)(a, first, 0, a.m - first, a.n) : P(part)(a, 0, first, a.m, a.n - first);
	return P(share)(&p, a, left);
}

static int P(gemqrt_task)(heddle_context *c)
{
	struct P(view) v = P(strip)(c, 1);
	element *work = P(work_of)(c, 3);
	v.n = hd_dense_smaller(v.m, v.n);
	if (work)
		P(gemqrt)
	(hd_dense_apply_of(c), v, P(factor)(c, 2, v.n), P(applied_share)(c, 0, hd_dense_first_of(c)), work);
	return hd_dense_drop_work(c, work);
}

static int P(tsqrt_task)(heddle_context *c)
{
	struct P(view) a = P(tile)(c, 1);
	struct hd_party p = hd_dense_party(c);
	element *work = P(work_of)(c, 3);
	if (work)
		P(tsqrt_party)(&p, P(triangle)(c, 0), a, P(factor)(c, 2, a.n), work);
	return hd_dense_drop_work(c, work);
}

static int P(ttqrt_task)(heddle_context *c)
{
	struct P(view) a = P(tile)(c, 1);
	struct hd_party p = hd_dense_party(c);
	element *work = P(work_of)(c, 3);
	if (work)
		P(ttqrt_party)(&p, P(triangle)(c, 0), a, hd_dense_first_of(c), P(factor)(c, 2, a.n), work);
	return hd_dense_drop_work(c, work);
}

static int P(tsmqr_task)(heddle_context *c)
{
	struct P(view) v = P(tile)(c, 2);
	element *work = P(work_of)(c, 4);
	if (work)
		P(tsmqr)
	(hd_dense_apply_of(c), v, P(factor)(c, 3, v.n), P(applied_share)(c, 0, hd_dense_first_of(c)),
	 P(applied_share)(c, 1, 0), work);
	return hd_dense_drop_work(c, work);
}

static int P(ttmqr_task)(heddle_context *c)
{
	struct P(view) v = P(tile)(c, 2);
	element *work = P(work_of)(c, 4);
	if (work)
		P(ttmqr)
	(hd_dense_apply_of(c), v, P(factor)(c, 3, v.n), P(applied_share)(c, 0, hd_dense_first_of(c)),
	 P(applied_share)(c, 1, 0), work);
	return hd_dense_drop_work(c, work);
}

static int P(rank_task)(heddle_context *c)
{
	const struct hd_dense_rank_values *v = heddle_value_ptr(c, 0);
	struct P(view) r = P(tile)(c, 0);
	for (int i = 0; i < r.m && i < r.n; i++)
		if (*P(at)(r, i, i) == 0)
			return hd_dense_return(c, hd_dense_judge_rank(v, i + 1));
	return 0;
}

static int P(set_task)(heddle_context *c)
{
	const struct hd_dense_set_values *v = heddle_value_ptr(c, 0);
	struct P(view) a = P(tile)(c, 0);
	for (int j = 0; j < a.n; j++)
		for (int i = (int)v->first; i < a.m; i++)
			*P(at)(a, i, j) = v->row + (size_t)i == v->column + (size_t)j ? (real)v->diagonal : 0;
	return 0;
}

/* B := A^H. */
static int P(transpose_task)(heddle_context *c)
{
	struct P(view) b = P(tile)(c, 0), a = P(tile)(c, 1);
	for (int j = 0; j < b.n; j++)
		for (int i = 0; i < b.m; i++)
			*P(at)(b, i, j) = CONJ(*P(at)(a, j, i));
	return 0;
}

/* How many of the `rows` of a datum, a strip of a tile, are above the tile's diagonal; rows_below: how many are not. */
static double P(rows_above)(const struct heddle_size *size, double rows)
{
	const struct hd_dense_qr_values *v = size->values[0];
	return v->first < rows ? v->first : rows;
}

static double P(rows_below)(const struct heddle_size *size, double rows)
{
	return rows - P(rows_above)(size, rows);
}

/* For m >= n these are m n^2 - n^3 / 3 products and as many sums. */
static double P(geqrt_flops)(const struct heddle_size *size)
{
	double m = P(rows_below)(size, hd_dense_extent(size, 0, 0)), n = hd_dense_extent(size, 0, 1), k = m < n ? m : n;
	if (m == 0)
		return 1; /* a strip without rows: models need a number above 0 */
	return (COMPLEX ? 16 : 4) * (m * n * k - (m + n) * k * k / 2 + k * k * k / 3);
}

/* The number of columns (if Q is applied from the left) or rows of datum 0, to which Q is applied. */
static double P(applied_to)(const struct heddle_size *size)
{
	const struct hd_dense_qr_values *v = size->values[0];
	return hd_dense_extent(size, 0, v->side == HEDDLE_DENSE_LEFT ? 1 : 0);
}

static double P(gemqrt_flops)(const struct heddle_size *size)
{
	double m = P(rows_below)(size, hd_dense_extent(size, 1, 0)), n = hd_dense_extent(size, 1, 1), k = m < n ? m : n;
	return (COMPLEX ? 8 : 2) * P(applied_to)(size) * (2 * m * k - k * k);
}

static double P(tsqrt_flops)(const struct heddle_size *size)
{
	double m = hd_dense_extent(size, 1, 0), n = hd_dense_extent(size, 1, 1);
	return (COMPLEX ? 8 : 2) * m * n * n;
}

static double P(tsmqr_flops)(const struct heddle_size *size)
{
	double m = hd_dense_extent(size, 2, 0), k = hd_dense_extent(size, 2, 1);
	return (COMPLEX ? 8 : 2) * P(applied_to)(size) * 2 * m * k;
}

static double P(ttqrt_flops)(const struct heddle_size *size)
{
	double n = hd_dense_extent(size, 1, 1), rows = hd_dense_extent(size, 1, 0), full = P(rows_above)(size, rows);
	double m = rows - full < n ? rows - full : n;
	return (COMPLEX ? 8 : 2) * ((full + m) * n * n - m * m * n + m * m * m / 3);
}

static double P(ttmqr_flops)(const struct heddle_size *size)
{
	double k = hd_dense_extent(size, 2, 1), rows = hd_dense_extent(size, 2, 0), full = P(rows_above)(size, rows);
	double m = rows - full < k ? rows - full : k;
	return (COMPLEX ? 8 : 2) * P(applied_to)(size) * (2 * (full + m) * k - m * m);
}
