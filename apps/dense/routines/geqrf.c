/* The tiled QR factorisation, with any tree (qr_tree.c).
 *
 * In column k of tiles, geqrt makes triangles of some tiles; then each tile below the diagonal is eliminated against a
 * triangle above it, by tsqrt if the tile is full, by ttqrt if it is a triangle. All reflectors are applied to the
 * columns to the right.
 *
 * geqrt leaves R and V in one tile. Eliminations then change R alone, while V is applied to the rest of the row. Tasks
 * use whole tiles, so each elimination would have to wait until V has been applied to the whole row. So geqrt leaves a
 * copy of V in a temporary tile for the tasks that apply V; the tile is freed after the last of these tasks. (PLASMA
 * and Chameleon do the same.)
 */
#include <dense/routines/qr.h>

static void make_triangle(struct hd_dense_flow *flow, const struct hd_qr_target *rest, size_t k, size_t i)
{
	const heddle_dense_qr *qr = rest->qr;
	size_t t = i + k * qr->mt;
	struct hd_qr_task task = {
	    .op = HD_DENSE_GEQRT,
	    .data = {hd_qr_tile(rest->a, i, k), hd_qr_factor(qr->triangles[t], rest->fit), hd_qr_work_space(qr)},
	    .n_data = 3,
	    .rows = hd_qr_rows(qr, i),
	    .columns = hd_qr_columns(qr, k),
	    .widths = qr->widths,
	};
	if (qr->copies[t])
		task.data[task.n_data++] = hd_qr_factor(qr->copies[t], rest->fit);
	hd_qr_insert(flow, &task);
}

static void eliminate(struct hd_dense_flow *flow, const struct hd_qr_target *rest, size_t k,
                      const struct hd_qr_elimination *e)
{
	const heddle_dense_qr *qr = rest->qr;
	const struct hd_qr_task task = {
	    .op = e->square ? HD_DENSE_TSQRT : HD_DENSE_TTQRT,
	    .data = {hd_qr_tile(rest->a, e->killer, k), hd_qr_tile(rest->a, e->killed, k),
	             hd_qr_factor(qr->eliminations[e->killed + k * qr->mt], rest->fit), hd_qr_work_space(qr)},
	    .n_data = 4,
	    .rows = hd_qr_rows(qr, e->killed),
	    .columns = hd_qr_columns(qr, k),
	    .widths = qr->widths,
	};
	hd_qr_insert(flow, &task);
}

void hd_dense_geqrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_qr *qr = x->qr;
	struct hd_qr_target rest = {
	    .qr = qr, .a = x->m[0], .c = x->m[0], .how = {HEDDLE_DENSE_LEFT, HEDDLE_DENSE_CONJ_TRANS, 0}};
	if (flow->status >= 0)
		flow->status = hd_qr_copies_open(x->qr);
	if (flow->status >= 0)
		flow->status = hd_qr_plan_strips(x->qr, rest.a, rest.c, &rest.fit);
	for (size_t k = 0; k < qr->kt; k++) {
		const struct hd_qr_elimination *list = hd_qr_column(qr->tree, k);
		rest.first = k + 1;
		for (size_t i = k; i < qr->mt; i++) {
			if (!hd_qr_is_triangle(qr, i, k))
				continue;
			make_triangle(flow, &rest, k, i);
			hd_qr_apply_triangle(flow, &rest, k, i);
		}
		for (const struct hd_qr_elimination *e = list; e < list + qr->mt - k - 1; e++) {
			eliminate(flow, &rest, k, e);
			hd_qr_apply_elimination(flow, &rest, k, e);
		}
	}
}

static int check(const struct hd_dense_args *x)
{
	return hd_qr_check("geqrf", x->qr, x->m[0]);
}

static const struct hd_dense_operation geqrf = {"geqrf", "A", check, hd_dense_geqrf_tasks};

int heddle_dense_geqrf_submit(heddle_dense_matrix *a, heddle_dense_qr *qr, const struct heddle_dense_options *options)
{
	int status = hd_dense_submit(&geqrf, &(struct hd_dense_args){.m = {a}, .qr = qr}, options);
	if (qr)
		hd_qr_copies_close(qr);
	return status;
}

int heddle_dense_geqrf(heddle_dense *dense, const struct heddle_dense_array *a, heddle_dense_qr **out,
                       const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.qr = NULL};
	struct hd_dense_operand operand = {.name = "A", .array = a, .mode = HEDDLE_RW};
	struct heddle_dense_options settled;
	struct heddle_dense_shape shape;
	int status = hd_qr_settle("geqrf", dense, a, options, &settled, &shape);
	if (status >= 0)
		status = heddle_dense_qr_create(dense, &shape, &settled, &x.qr);
	if (status < 0)
		return status;
	status = hd_dense_call(dense, &geqrf, &x, &operand, &settled);
	hd_qr_copies_close(x.qr);
	if (status < 0 || !out)
		return hd_qr_finish(x.qr, status);
	*out = x.qr;
	return 0;
}
