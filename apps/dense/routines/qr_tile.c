/* Single tasks of the tiled QR factorisation, for programs whose matrix is no rectangle of tiles. */
#include <dense/kernels/qr.h>
#include <dense/routines/qr.h>

/* A kernel: its codelet, whether it has a tile on top, and whether it applies reflectors. */
static const struct kernel {
	enum hd_dense_op op;
	int pair, applies;
} kernels[] = {
    [HEDDLE_DENSE_GEQRT] = {HD_DENSE_GEQRT, 0, 0}, [HEDDLE_DENSE_GEMQRT] = {HD_DENSE_GEMQRT, 0, 1},
    [HEDDLE_DENSE_TSQRT] = {HD_DENSE_TSQRT, 1, 0}, [HEDDLE_DENSE_TSMQR] = {HD_DENSE_TSMQR, 1, 1},
    [HEDDLE_DENSE_TTQRT] = {HD_DENSE_TTQRT, 1, 0}, [HEDDLE_DENSE_TTMQR] = {HD_DENSE_TTMQR, 1, 1},
};

static int check(const heddle_dense *dense, const struct heddle_dense_qr_tile_task *t)
{
	static const char function[] = "heddle_dense_qr_tile_submit";
	if (!dense || !t)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a dense context and a task", function);
	if ((unsigned)t->kernel > HEDDLE_DENSE_TTMQR || (unsigned)t->precision >= HEDDLE_DENSE_PRECISIONS ||
	    (unsigned)t->trans > HEDDLE_DENSE_CONJ_TRANS)
		return heddle_error(
		    HEDDLE_E_INVALID,
		    "%s: kernel %d, precision %d, transposition %d: one of them is not a value of its enumeration",
		    function, (int)t->kernel, (int)t->precision, (int)t->trans);
	const struct kernel *k = &kernels[t->kernel];
	if (!t->tile || !t->t || !t->work || (k->pair && !t->top) || (k->applies && !t->v))
		return heddle_error(HEDDLE_E_INVALID, "%s: kernel %d lacks its tile, T, workspace, tile on top or V",
		                    function, (int)t->kernel);
	if (k->applies && t->trans == HEDDLE_DENSE_TRANS && hd_dense_is_complex(t->precision))
		return heddle_error(HEDDLE_E_INVALID,
		                    "%s: complex tiles can be multiplied by Q or Q^H (HEDDLE_DENSE_CONJ_TRANS), not by "
		                    "the transpose of Q",
		                    function);
	return 0;
}

static struct hd_dense_qr_values values_of(const struct heddle_dense_qr_tile_task *t)
{
	return (struct hd_dense_qr_values){.side = HEDDLE_DENSE_LEFT,
	                                   .trans = t->trans == HEDDLE_DENSE_NO_TRANS ? HEDDLE_DENSE_NO_TRANS
	                                                                              : HEDDLE_DENSE_CONJ_TRANS};
}

static void add_cut(struct hd_qr_task *task, heddle_data *data)
{
	task->data[task->n_data++] = (struct hd_qr_datum){data, heddle_data_user(data), 1};
}

/* Submits a task that may become tasks on strips. */
static int submit_cut(heddle_dense *dense, const struct heddle_dense_qr_tile_task *t)
{
	const struct kernel *k = &kernels[t->kernel];
	struct hd_dense_flow flow = {.dense = dense,
	                             .precision = t->precision,
	                             .options = {.priority = HEDDLE_DENSE_PRIORITY_NONE},
	                             .top = t->priority};
	size_t widths[HD_DENSE_WIDTHS] = {0};
	struct hd_qr_task task = {
	    .op = k->op, .values = values_of(t), .rows = t->rows, .columns = t->columns, .widths = widths};
	for (size_t i = 0; i < HD_DENSE_WIDTHS - 1 && t->widths[i] > 0; i++)
		widths[i] = t->widths[i];
	if (k->pair)
		add_cut(&task, t->top);
	add_cut(&task, t->tile);
	if (k->applies)
		add_cut(&task, t->v);
	add_cut(&task, t->t);
	task.data[task.n_data++] = (struct hd_qr_datum){t->work, NULL, 0};
	if (t->kernel == HEDDLE_DENSE_GEQRT && t->v)
		add_cut(&task, t->v);
	hd_qr_insert(&flow, &task);
	return flow.status;
}

int heddle_dense_qr_tile_submit(heddle_dense *dense, const struct heddle_dense_qr_tile_task *t)
{
	int status = check(dense, t);
	if (status < 0)
		return status;
	if (t->widths)
		return submit_cut(dense, t);
	const struct kernel *k = &kernels[t->kernel];
	const struct hd_dense_qr_values values = values_of(t);
	struct heddle_item items[9]; /* as many as ttmqr has: a codelet, a priority, five data, a value, a group */
	size_t n = 0;
	items[n++] = heddle_call(dense->codelets[t->precision][k->op]);
	items[n++] = heddle_priority(t->priority);
	if (k->pair)
		items[n++] = heddle_rw(t->top);
	items[n++] = heddle_rw(t->tile);
	if (k->applies)
		items[n++] = heddle_r(t->v);
	items[n++] = heddle_access(k->applies ? HEDDLE_R : HEDDLE_W, t->t);
	items[n++] = heddle_scratch(t->work);
	if (t->kernel == HEDDLE_DENSE_GEQRT && t->v)
		items[n++] = heddle_w(t->v);
	items[n++] = heddle_value(values);
	if (t->group)
		items[n++] = heddle_in_group(t->group);
	return heddle_submit_items(dense->rt, n, items);
}

size_t heddle_dense_qr_workspace(size_t rows, size_t inner)
{
	return hd_qr_work((int)rows, (int)inner);
}
