/* The tasks of the factorisation, for one precision: see codelets.c. */

static int P(fail_on_value)(heddle_context *c, const struct hd_sparse_factor_value *v, int64_t e)
{
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	element value = ((const element *)v->values)[a->source[e]];
	return fail_on_element(c, a, e, isnan(REAL(value)) || isnan(IMAG(value)));
}

/* The target of an assembly, and the number of the next datum that has part of it. */
struct P(target) {
	const heddle_context *c;
	size_t next, row, column; /* of the front, where the tile begins */
};

static int P(add_source)(void *arg, const struct hd_sparse_source *s)
{
	struct P(target) *t = arg;
	struct P(view) from = P(datum)(t->c, t->next++), to = P(datum)(t->c, 0);
	P(sparse_add_piece)
	(&s->piece, P(part)(from, (int)s->row, (int)s->column, (int)s->piece.rows, (int)s->piece.columns), to, t->row,
	 t->column);
	return 0;
}

/* Data: the tile; the parts of the children's contributions that are in it. */
static int P(assemble_task)(heddle_context *c)
{
	const struct hd_sparse_factor_value *v = heddle_value_ptr(c, 0);
	const struct heddle_sparse_analysis *analysis = v->qr->analysis;
	size_t tile = v->qr->options.tile;
	struct P(target) target = {c, 1, v->row * tile, v->column * tile};
	const struct hd_sparse_own own = {analysis, &analysis->fronts[v->front], v->values, target.row, target.column};
	struct P(view) to = P(datum)(c, 0);
	if (check_values(c, v))
		return -1;
	for (int j = 0; j < to.n; j++)
		memset(P(at)(to, 0, j), 0, (size_t)to.m * sizeof(element));
	hd_sparse_tile_sources(v->qr, v->front, v->row, v->column, P(add_source), &target);
	int64_t bad = P(sparse_add_own)(&own, to);
	return bad < 0 ? 0 : P(fail_on_value)(c, v, bad);
}

/* Data: the packed factors, the workspace, the contribution of the root, if it has one, and in_use. */
static int P(subtree_task)(heddle_context *c)
{
	const struct hd_sparse_factor_value *v = heddle_value_ptr(c, 0);
	const struct hd_sparse_job job = hd_sparse_job(v->qr, v->front);
	struct P(view) contribution = P(view)(NULL, 0, 0, 1);
	if (check_values(c, v))
		return -1;
	if (heddle_context_n_data(c) > 3)
		contribution = P(datum)(c, 2);
	int64_t bad = P(sparse_subtree_factorise)(&job, v->values, heddle_ptr(c, 0), contribution, heddle_ptr(c, 1));
	return bad < 0 ? 0 : P(fail_on_value)(c, v, bad);
}
