/* The tiled QR factorisation, with any tree (qr_tree.c).
 *
 * In column k of tiles, geqrt makes triangles of some tiles; then each tile below the diagonal is eliminated against a
 * triangle above, by tsqrt if it is a full tile, by ttqrt if it is a triangle itself. All of this is applied to the
 * columns to the right.
 *
 * geqrt leaves R and V in one tile. Eliminations then change R alone, while V is applied to the rest of the row. As
 * tasks use whole tiles, each elimination would wait until V has been applied everywhere. So geqrt leaves a copy of V
 * in a temporary tile for these tasks, which is freed after the last of them. (PLASMA and Chameleon do the same.)
 */
#include <dense/routines/qr.h>

static void make_triangle(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t i)
{
	const heddle_dense_qr *qr = x->qr;
	size_t t = i + k * qr->mt;
	struct heddle_item items[] = {
	    {0},
	    {0},
	    heddle_rw(hd_dense_tile(x->m[0], i, k)),
	    heddle_w(qr->triangles[t]),
	    heddle_scratch(qr->work),
	    heddle_w(qr->copies[t]),
	};
	hd_dense_insert_items(flow, HD_DENSE_GEQRT, qr->copies[t] ? 6 : 5, items);
}

static void eliminate(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k,
                      const struct hd_qr_elimination *e)
{
	const heddle_dense_qr *qr = x->qr;
	hd_dense_insert(flow, e->square ? HD_DENSE_TSQRT : HD_DENSE_TTQRT,
	                heddle_rw(hd_dense_tile(x->m[0], e->killer, k)),
	                heddle_rw(hd_dense_tile(x->m[0], e->killed, k)),
	                heddle_w(qr->eliminations[e->killed + k * qr->mt]), heddle_scratch(qr->work));
}

void hd_dense_geqrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_qr *qr = x->qr;
	if (flow->status >= 0)
		flow->status = hd_qr_copies_open(x->qr);
	for (size_t k = 0; k < qr->kt; k++) {
		struct hd_qr_target rest = {qr, x->m[0], x->m[0], {HEDDLE_DENSE_LEFT, HEDDLE_DENSE_CONJ_TRANS}, k + 1};
		const struct hd_qr_elimination *list = hd_qr_column(qr->tree, k);
		for (size_t i = k; i < qr->mt; i++) {
			if (!hd_qr_is_triangle(qr, i, k))
				continue;
			make_triangle(flow, x, k, i);
			hd_qr_apply_triangle(flow, &rest, k, i);
		}
		for (const struct hd_qr_elimination *e = list; e < list + qr->mt - k - 1; e++) {
			eliminate(flow, x, k, e);
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
