/* Products with the Q of a QR factorisation.
 *
 * Q = Q(0) Q(1) ..., one factor per column of tiles. Each factor is the product of the reflections of its triangles,
 * then of its eliminations, in the order of the factorisation. From the left, Q^H C applies the factors from the first
 * to the last, Q C from the last to the first; from the right, vice versa.
 */
#include <dense/routines/qr.h>

/* The number of tiles of C to which the reflections of one row of tiles are applied. */
static size_t n_applied(const struct hd_qr_target *to)
{
	return to->how.side == HEDDLE_DENSE_LEFT ? to->c->nt : to->c->mt;
}

/* The j-th tile of C to which the reflections of row i of A are applied. */
static struct hd_qr_datum tile(const struct hd_qr_target *to, size_t i, size_t j)
{
	return to->how.side == HEDDLE_DENSE_LEFT ? hd_qr_tile(to->c, i, j) : hd_qr_tile(to->c, j, i);
}

void hd_qr_apply_triangle(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k, size_t i)
{
	const heddle_dense_qr *qr = to->qr;
	size_t t = i + k * qr->mt;
	struct hd_qr_datum v = qr->copies[t] ? hd_qr_factor(qr->copies[t], to->fit) : hd_qr_tile(to->a, i, k);
	struct hd_qr_task task = {
	    .op = HD_DENSE_GEMQRT,
	    .values = to->how,
	    .data = {[1] = v, hd_qr_factor(qr->triangles[t], to->fit), hd_qr_work_space(qr)},
	    .n_data = 4,
	    .rows = hd_qr_rows(qr, i),
	    .columns = hd_qr_columns(qr, k),
	    .widths = qr->widths,
	};
	for (size_t j = to->first; j < n_applied(to); j++) {
		task.data[0] = tile(to, i, j);
		hd_qr_insert(flow, &task);
	}
}

void hd_qr_apply_elimination(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k,
                             const struct hd_qr_elimination *e)
{
	const heddle_dense_qr *qr = to->qr;
	struct hd_qr_task task = {
	    .op = e->square ? HD_DENSE_TSMQR : HD_DENSE_TTMQR,
	    .values = to->how,
	    .data = {[2] = hd_qr_tile(to->a, e->killed, k),
	             hd_qr_factor(qr->eliminations[e->killed + k * qr->mt], to->fit),
	             hd_qr_work_space(qr)},
	    .n_data = 5,
	    .rows = hd_qr_rows(qr, e->killed),
	    .columns = hd_qr_columns(qr, k),
	    .widths = qr->widths,
	};
	for (size_t j = to->first; j < n_applied(to); j++) {
		task.data[0] = tile(to, e->killer, j);
		task.data[1] = tile(to, e->killed, j);
		hd_qr_insert(flow, &task);
	}
}

static void apply_triangles(struct hd_dense_flow *flow, const struct hd_qr_target *to, size_t k)
{
	for (size_t i = k; i < to->qr->mt; i++)
		if (hd_qr_is_triangle(to->qr, i, k))
			hd_qr_apply_triangle(flow, to, k, i);
}

void hd_dense_ormqr_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_qr *qr = x->qr;
	enum heddle_dense_trans trans = x->trans_a == HEDDLE_DENSE_NO_TRANS ? x->trans_a : HEDDLE_DENSE_CONJ_TRANS;
	struct hd_qr_target to = {.qr = qr, .a = x->m[0], .c = x->m[1], .how = {.side = x->side, .trans = trans}};
	int forward = (x->side == HEDDLE_DENSE_LEFT) == (trans != HEDDLE_DENSE_NO_TRANS);
	if (flow->status >= 0)
		flow->status = hd_qr_plan_strips(x->qr, to.a, to.c, &to.fit);
	for (size_t step = 0; step < qr->kt; step++) {
		size_t k = forward ? step : qr->kt - 1 - step, n = qr->mt - k - 1;
		const struct hd_qr_elimination *list = hd_qr_column(qr->tree, k);
		if (forward)
			apply_triangles(flow, &to, k);
		for (size_t e = 0; e < n; e++)
			hd_qr_apply_elimination(flow, &to, k, &list[forward ? e : n - 1 - e]);
		if (!forward)
			apply_triangles(flow, &to, k);
	}
}

static int check(const struct hd_dense_args *x)
{
	int status = hd_qr_check("ormqr", x->qr, x->m[0]);
	if (status < 0)
		return status;
	const struct heddle_dense_shape *a = &x->m[0]->shape, *c = &x->m[1]->shape;
	if (x->trans_a == HEDDLE_DENSE_TRANS && hd_dense_is_complex(a->precision))
		return heddle_error(HEDDLE_E_INVALID,
		                    "ormqr: complex matrices can be multiplied by Q or Q^H (HEDDLE_DENSE_CONJ_TRANS), "
		                    "not by the transpose of Q");
	if (c->uplo == HEDDLE_DENSE_GENERAL && (x->side == HEDDLE_DENSE_LEFT ? c->rows : c->columns) == a->rows)
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "ormqr: Q is %zu x %zu, C is %zu x %zu and multiplied from the %s",
	                    a->rows, a->rows, c->rows, c->columns, x->side == HEDDLE_DENSE_LEFT ? "left" : "right");
}

static const struct hd_dense_operation ormqr = {"ormqr", "AC", check, hd_dense_ormqr_tasks};

int heddle_dense_ormqr_submit(enum heddle_dense_side side, enum heddle_dense_trans trans, heddle_dense_matrix *a,
                              heddle_dense_qr *qr, heddle_dense_matrix *c, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, c}, .side = side, .trans_a = trans, .qr = qr};
	return hd_dense_submit(&ormqr, &x, options);
}

int heddle_dense_ormqr(heddle_dense *dense, enum heddle_dense_side side, enum heddle_dense_trans trans,
                       const struct heddle_dense_array *a, heddle_dense_qr *qr, const struct heddle_dense_array *c,
                       const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.side = side, .trans_a = trans, .qr = qr};
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .mode = HEDDLE_R},
	    {.name = "C", .array = c, .mode = HEDDLE_RW},
	};
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "ormqr needs a heddle_dense_qr");
	struct heddle_dense_options settled = options ? *options : (struct heddle_dense_options){.tile = 0};
	settled.tile = qr->shape.tile;
	return hd_dense_call(dense, &ormqr, &x, operands, &settled);
}
