/* One precision of subtree.h. */

/* Assembles front f in A, which lies above the contributions of its children, the first of which is at `children`. */
static int64_t P(assemble)(const struct hd_sparse_job *job, size_t f, const element *values, struct P(view) a,
                           element *children)
{
	const struct hd_sparse_front *fronts = job->analysis->fronts, *front = &fronts[f];
	const struct hd_sparse_own own = {.analysis = job->analysis, .front = front, .values = values};
	memset(a.a, 0, (size_t)a.m * (size_t)a.n * sizeof(element));
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling) {
		const struct hd_sparse_front *child = &fronts[c];
		const struct hd_sparse_piece all = {child, 0, 0, child->n_contributed, hd_sparse_rest(child)};
		int rows = (int)child->n_contributed;
		P(sparse_add_piece)(&all, P(view)(children, rows, (int)hd_sparse_rest(child), rows), a, 0, 0);
		children += contribution_of(child);
	}
	return P(sparse_add_own)(&own, a);
}

/* Moves the contribution of the front A down, column by column; `to` is not above it. */
static void P(move_contribution)(const struct hd_sparse_front *front, struct P(view) a, struct P(view) to)
{
	size_t rows = front->n_contributed;
	for (int j = 0; rows > 0 && j < to.n; j++)
		memmove(P(at)(to, 0, j), P(at)(a, (int)front->n_pivots, (int)front->n_pivots + j),
		        rows * sizeof(element));
}

int64_t P(sparse_subtree_factorise)(const struct hd_sparse_job *job, const element *values, element *packed,
                                    struct P(view) contribution, element *work)
{
	size_t most_rows;
	element *top = work, *small = work + stack_of(job, &most_rows);
	for (size_t f = job->tree->first_front; f <= job->tree->root; f++) {
		const struct hd_sparse_front *front = &job->analysis->fronts[f];
		element *children = top - contributions_to(job->analysis, front);
		struct P(view) a = P(view)(top, (int)front->n_rows, (int)front->n_columns, (int)front->n_rows);
		int64_t bad = P(assemble)(job, f, values, a, children);
		if (bad >= 0)
			return bad;
		P(sparse_factorise)(front, &job->packing, a, packed + job->packed_at[f], small);
		int rows = (int)front->n_contributed;
		struct P(view) to = P(view)(children, rows, (int)hd_sparse_rest(front), rows);
		P(move_contribution)(front, a, f == job->tree->root ? contribution : to);
		top = children + contribution_of(front);
	}
	return -1;
}

struct P(view) P(sparse_rows_of)(const struct hd_sparse_job *job, size_t f, struct P(view) b)
{
	size_t first = job->row_at[f] - job->row_at[job->tree->first_front];
	return P(part)(b, (int)first, 0, (int)job->analysis->fronts[f].n_rows, b.n);
}

struct P(view) P(sparse_columns_of)(const struct hd_sparse_job *job, size_t f, struct P(view) z)
{
	size_t first = job->column_at[f] - job->column_at[job->tree->first_front];
	return P(part)(z, (int)first, 0, (int)job->analysis->fronts[f].n_columns, z.n);
}

/* The contributed rows of front f in B. */
static struct P(view) P(contributed)(const struct hd_sparse_job *job, size_t f, struct P(view) b)
{
	const struct hd_sparse_front *front = &job->analysis->fronts[f];
	int rows = (int)front->n_contributed;
	return P(part)(P(sparse_rows_of)(job, f, b), rows ? (int)front->n_pivots : 0, 0, rows, b.n);
}

static struct P(factors) P(factors_of)(const struct hd_sparse_job *job, size_t f, const element *packed)
{
	return (struct P(factors)){&job->analysis->fronts[f], &job->packing, packed + job->packed_at[f]};
}

void P(sparse_subtree_up)(const struct hd_sparse_job *job, const element *packed, const struct hd_sparse_array *in,
                          struct P(view) b, element *work)
{
	const struct hd_sparse_front *fronts = job->analysis->fronts;
	for (size_t f = job->tree->first_front; f <= job->tree->root; f++) {
		struct P(view) own = P(sparse_rows_of)(job, f, b);
		P(sparse_get_own)(&fronts[f], in, 0, own);
		for (size_t c = fronts[f].first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling)
			P(sparse_raise)(fronts[c].up_row, P(contributed)(job, c, b), 0, own);
		const struct P(factors) q = P(factors_of)(job, f, packed);
		P(sparse_apply)(&q, CblasConjTrans, own, work);
	}
}

void P(sparse_subtree_down)(const struct hd_sparse_job *job, const element *packed, struct P(view) b,
                            const struct hd_sparse_array *out, element *work)
{
	const struct hd_sparse_front *fronts = job->analysis->fronts;
	for (size_t f = job->tree->root + 1; f-- > job->tree->first_front;) {
		struct P(view) own = P(sparse_rows_of)(job, f, b);
		if (f < job->tree->root && fronts[f].n_contributed > 0)
			P(sparse_lower)
		(fronts[f].up_row, P(sparse_rows_of)(job, fronts[f].parent, b), 0, P(contributed)(job, f, b));
		const struct P(factors) q = P(factors_of)(job, f, packed);
		P(sparse_apply)(&q, CblasNoTrans, own, work);
		P(sparse_put_own)(&fronts[f], own, 0, out);
	}
}

int64_t P(sparse_subtree_back)(const struct hd_sparse_job *job, const element *packed, struct P(view) b,
                               const struct hd_sparse_array *x, double tolerance, element *work)
{
	for (size_t f = job->tree->root + 1; f-- > job->tree->first_front;) {
		const struct hd_sparse_front *front = &job->analysis->fronts[f];
		struct P(view) c = P(sparse_rows_of)(job, f, b);
		c.m = (int)hd_sparse_r_rows(front);
		const struct P(factors) r = P(factors_of)(job, f, packed);
		int bad = P(sparse_back)(&r, c, x, tolerance, work);
		if (bad >= 0)
			return (int64_t)front->first_pivot + bad;
	}
	return -1;
}

void P(sparse_add_rest)(const struct hd_sparse_front *child, struct P(view) z, struct P(view) to)
{
	for (int j = 0; j < to.n; j++)
		for (size_t i = 0; i < hd_sparse_rest(child); i++)
			*P(at)(to, (int)child->up_column[i], j) += *P(at)(z, (int)(child->n_pivots + i), j);
}

void P(sparse_begin_columns)(const struct hd_sparse_front *front, const struct hd_sparse_array *in, struct P(view) z)
{
	int pivots = (int)front->n_pivots;
	P(sparse_get)(in, NULL, front->first_pivot, P(part)(z, 0, 0, pivots, z.n));
	for (int j = 0; j < z.n; j++)
		memset(P(at)(z, pivots, j), 0, (size_t)(z.m - pivots) * sizeof(element));
}

int64_t P(sparse_subtree_forward)(const struct hd_sparse_job *job, const element *packed,
                                  const struct hd_sparse_array *in, struct P(view) z, double tolerance)
{
	const struct hd_sparse_front *fronts = job->analysis->fronts;
	for (size_t f = job->tree->first_front; f <= job->tree->root; f++) {
		struct P(view) own = P(sparse_columns_of)(job, f, z);
		P(sparse_begin_columns)(&fronts[f], in, own);
		for (size_t c = fronts[f].first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling)
			P(sparse_add_rest)(&fronts[c], P(sparse_columns_of)(job, c, z), own);
		const struct P(factors) r = P(factors_of)(job, f, packed);
		int bad = P(sparse_forward)(&r, own, tolerance);
		if (bad >= 0)
			return (int64_t)fronts[f].first_pivot + bad;
	}
	return -1;
}
