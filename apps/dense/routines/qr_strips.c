/* Sub-graphs of tasks of QR on tiles that are cut into strips of columns.
 *
 * LAPACK's kernels go through the columns of a tile block by block, ib columns each: they reduce a block, and apply its
 * reflectors to the columns to its right. If the width of strips is a multiple of ib, the work can be done strip by
 * strip, with the same V and T as for the whole tile. So a tile may be factorised whole, and its reflectors applied by
 * strips, or vice versa. Strips have all rows of the tile; the tasks on them get the row of the diagonal.
 *
 * This is not possible with the square tiles that heddle_dense_refine makes. So each tile that is cut gets a second
 * plan, of strips as wide as its smaller tiles, before the first task of QR on the matrix. The copies of V, and T, have
 * strips if the tile has strips. */
#include <dense/routines/qr.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* --- Plans -------------------------------------------------------------------------------------------------------- */

/* The strips into which a datum is cut. */
struct cut {
	const size_t *widths; /* see struct heddle_dense_qr */
	/* strips whose width is no multiple of this are not made, nor are narrower strips inside them */
	size_t multiple;
};

/* The width of the strips of a datum with `columns` columns; 0: it is not cut. */
static size_t width_of(const size_t *widths, size_t columns)
{
	while (*widths > 0 && *widths >= columns)
		widths++;
	return *widths;
}

static int plan_below(heddle_data *data, size_t columns, const struct cut *cut);

/* Plans strips in a datum with `columns` columns, and stores the plan in *out, unless there are too few columns. The
 * strips are cut in turn: the pointer of each strip (heddle_data_user) is its plan. */
static int plan(heddle_data *data, size_t columns, const struct cut *cut, heddle_plan **out)
{
	size_t width = width_of(cut->widths, columns);
	if (width == 0 || width % cut->multiple != 0)
		return 0;
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_COLUMNS, .tile_y = width};
	heddle_plan *made;
	int status = heddle_plan_create(data, &filter, &made);
	for (size_t k = 0; status >= 0 && k < heddle_plan_size(made); k++)
		status = plan_below(heddle_plan_child(made, k), smaller(width, columns - k * width), cut);
	if (status >= 0)
		*out = made;
	return status;
}

/* Plans strips in a strip or in a datum of the factorisation, and sets the datum's pointer (heddle_data_set_user) to
 * the plan. */
static int plan_below(heddle_data *data, size_t columns, const struct cut *cut)
{
	heddle_plan *strips = NULL;
	if (!data || heddle_data_user(data))
		return 0;
	int status = plan(data, columns, cut, &strips);
	return status < 0 || !strips ? status : heddle_data_set_user(data, strips);
}

static int plan_tiles(const heddle_dense_matrix *a)
{
	size_t widths[HD_DENSE_WIDTHS];
	int status = 0;
	hd_dense_widths(a, widths);
	for (size_t t = 0; t < a->mt * a->nt && status >= 0; t++) {
		heddle_dense_matrix *part = hd_dense_refined(a->tiles[t]);
		if (part && !part->strips)
			status = plan(a->tiles[t], part->shape.columns, &(struct cut){widths, 1}, &part->strips);
	}
	return status;
}

static int plan_factors(heddle_dense_qr *qr, const heddle_dense_matrix *a)
{
	const struct cut of_t = {qr->widths, qr->inner}, of_v = {qr->widths, 1};
	int status = 0;
	for (size_t t = 0; t < qr->mt * qr->kt && status >= 0; t++) {
		const heddle_dense_matrix *part = hd_dense_refined(a->tiles[t]);
		size_t columns = part ? part->shape.columns : 0;
		if (!part)
			continue;
		status = plan_below(qr->triangles[t], columns, &of_t);
		if (status >= 0)
			status = plan_below(qr->eliminations[t], columns, &of_t);
		if (status >= 0)
			status = plan_below(qr->copies[t], columns, &of_v);
	}
	return status;
}

int hd_qr_plan_strips(heddle_dense_qr *qr, const heddle_dense_matrix *a, const heddle_dense_matrix *c, int *fit)
{
	size_t widths[HD_DENSE_WIDTHS];
	int status = 0;
	*fit = 0;
	if (!a->parts && !c->parts)
		return 0;
	hd_dense_widths(a, widths);
	pthread_mutex_lock(&qr->dense->making);
	if (qr->widths[0] == 0)
		memcpy(qr->widths, widths, sizeof widths);
	*fit = memcmp(qr->widths, widths, sizeof widths) == 0;
	status = plan_tiles(a);
	if (status >= 0 && c != a)
		status = plan_tiles(c);
	if (status >= 0 && *fit)
		status = plan_factors(qr, a);
	pthread_mutex_unlock(&qr->dense->making);
	return status;
}

int heddle_dense_qr_cut(heddle_dense *dense, enum heddle_dense_precision precision, heddle_data *data, size_t columns,
                        size_t multiple, const size_t *widths)
{
	if (!dense || (unsigned)precision >= HEDDLE_DENSE_PRECISIONS || !data || multiple == 0 || !widths)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_qr_cut needs a dense context, a precision, a datum, "
		                    "a multiple of at least 1, and widths");
	int status = hd_dense_hierarchical_codelets(dense, precision);
	return status < 0 ? status : plan_below(data, columns, &(struct cut){widths, multiple});
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* The value of a task that may become tasks on strips, besides struct hd_dense_parent. */
struct hd_qr_strips {
	heddle_plan *plans[HD_QR_DATA]; /* NULL: this datum is not cut */
	size_t rows, columns;           /* see struct hd_qr_task */
	size_t widths[HD_DENSE_WIDTHS];
};

/* The number of data to which the task applies reflectors, which V, T and the workspace follow; 0: the task makes
 * reflectors. */
static size_t n_applied(enum hd_dense_op op)
{
	return op == HD_DENSE_GEMQRT ? 1 : op == HD_DENSE_TSMQR || op == HD_DENSE_TTMQR ? 2 : 0;
}

/* Whether all data of a task that makes reflectors are cut, except the workspace. */
static int factors_are_cut(const struct hd_qr_task *t)
{
	size_t work = t->op == HD_DENSE_GEQRT ? 2 : 3;
	for (size_t i = 0; i < t->n_data; i++)
		if (i != work && !t->data[i].strips)
			return 0;
	return 1;
}

/* Whether reflectors may be applied by strips: the data that they are applied to have strips; or these data are cut but
 * too narrow for strips, and V and T have strips. From the right, strips of rows would be needed, which do not
 * exist. */
static int applied_is_cut(const struct hd_qr_task *t, size_t n)
{
	const struct hd_qr_datum *c = t->data, *v = c + n;
	if (t->values.side != HEDDLE_DENSE_LEFT)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!c[i].is_cut || !c[i].strips != !c[0].strips)
			return 0;
	return c[0].strips || (v[0].strips && v[1].strips);
}

/* Sets *s to the plans of the task's data. Returns 0 if the task must run whole. */
static int find_strips(const struct hd_qr_task *t, struct hd_qr_strips *s)
{
	size_t n = n_applied(t->op);
	if (n > 0 ? !applied_is_cut(t, n) : !factors_are_cut(t))
		return 0;
	*s = (struct hd_qr_strips){.rows = t->rows, .columns = t->columns};
	memcpy(s->widths, t->widths, sizeof s->widths);
	for (size_t i = 0; i < t->n_data; i++)
		s->plans[i] = t->data[i].strips;
	if (n > 0 && (!s->plans[n] || !s->plans[n + 1])) /* strips of V cannot be used without strips of T */
		s->plans[n] = s->plans[n + 1] = NULL;
	return 1;
}

void hd_qr_insert(struct hd_dense_flow *flow, const struct hd_qr_task *t)
{
	static const enum heddle_mode geqrt[] = {HEDDLE_RW, HEDDLE_W, HEDDLE_SCRATCH, HEDDLE_W},
	                              tpqrt[] = {HEDDLE_RW, HEDDLE_RW, HEDDLE_W, HEDDLE_SCRATCH},
	                              gemqrt[] = {HEDDLE_RW, HEDDLE_R, HEDDLE_R, HEDDLE_SCRATCH},
	                              tpmqrt[] = {HEDDLE_RW, HEDDLE_RW, HEDDLE_R, HEDDLE_R, HEDDLE_SCRATCH};
	static const enum heddle_mode *const applying[] = {tpqrt, gemqrt, tpmqrt};
	const enum heddle_mode *modes = t->op == HD_DENSE_GEQRT ? geqrt : applying[n_applied(t->op)];
	struct heddle_item items[2 + HD_QR_DATA + 1] = {{0}};
	struct hd_qr_strips strips;
	struct hd_dense_extra extra = {&strips, sizeof strips};
	for (size_t i = 0; i < t->n_data; i++)
		items[2 + i] = heddle_access(modes[i], t->data[i].data);
	items[2 + t->n_data] = heddle_value(t->values);
	hd_dense_insert_cut(flow, t->op, 3 + t->n_data, items, find_strips(t, &strips) ? &extra : NULL);
}

/* Strip k of datum i, or the datum if it is not cut. */
static struct hd_qr_datum strip(const struct hd_qr_task *t, size_t i, size_t k)
{
	if (!t->data[i].strips)
		return t->data[i];
	heddle_data *data = heddle_plan_child(t->data[i].strips, k);
	return (struct hd_qr_datum){data, heddle_data_user(data), 1};
}

/* The same task for strip k of V alone. The data that reflectors are applied to are not set. */
static struct hd_qr_task task_on_strip(const struct hd_qr_task *t, size_t k)
{
	struct hd_qr_task s = *t;
	size_t n = n_applied(t->op), width = width_of(t->widths, t->columns);
	if (n > 0 && !t->data[n].strips)
		return s;
	s.values.first += (int)(k * width);
	s.columns = smaller(width, t->columns - k * width);
	for (size_t i = n; i < t->n_data; i++)
		s.data[i] = strip(t, i, k);
	return s;
}

/* Applies the reflectors that the task `made` has made of strip k to the later strips of task `t`. */
static void apply_to_rest(struct hd_dense_flow *flow, const struct hd_qr_task *t, const struct hd_qr_task *made,
                          size_t k)
{
	struct hd_qr_task a = *made;
	int alone = t->op == HD_DENSE_GEQRT;
	a.values.side = HEDDLE_DENSE_LEFT;
	a.values.trans = HEDDLE_DENSE_CONJ_TRANS;
	a.op = alone ? HD_DENSE_GEMQRT : t->op == HD_DENSE_TSQRT ? HD_DENSE_TSMQR : HD_DENSE_TTMQR;
	a.n_data = alone ? 4 : 5;
	for (size_t i = alone ? 1 : 2; i < a.n_data; i++)
		a.data[i] = made->data[i - 1];
	if (alone && t->n_data > 3)
		a.data[1] = made->data[3]; /* the copy of V */
	for (size_t j = k + 1; j < heddle_plan_size(t->data[0].strips); j++) {
		a.data[0] = strip(t, 0, j);
		if (!alone)
			a.data[1] = strip(t, 1, j);
		hd_qr_insert(flow, &a);
	}
}

static void make_reflectors(struct hd_dense_flow *flow, const struct hd_qr_task *t)
{
	for (size_t k = 0; k < heddle_plan_size(t->data[0].strips); k++) {
		const struct hd_qr_task made = task_on_strip(t, k);
		/* Even if no row is left: the strips of T and of the copy of V need a value. */
		hd_qr_insert(flow, &made);
		if (t->op != HD_DENSE_GEQRT || (size_t)made.values.first < t->rows)
			apply_to_rest(flow, t, &made, k);
	}
}

static size_t n_strips(const struct hd_qr_datum *datum)
{
	return datum->strips ? heddle_plan_size(datum->strips) : 1;
}

static void apply_reflectors(struct hd_dense_flow *flow, const struct hd_qr_task *t)
{
	size_t n = n_applied(t->op), last = n_strips(&t->data[n]) - 1;
	for (size_t step = 0; step <= last; step++) {
		struct hd_qr_task a = task_on_strip(t, t->values.trans == HEDDLE_DENSE_NO_TRANS ? last - step : step);
		if (t->op == HD_DENSE_GEMQRT && (size_t)a.values.first >= t->rows)
			continue;
		for (size_t j = 0; j < n_strips(&t->data[0]); j++) {
			for (size_t i = 0; i < n; i++)
				a.data[i] = strip(t, i, j);
			hd_qr_insert(flow, &a);
		}
	}
}

static void strip_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	if (n_applied(x->task->op) > 0)
		apply_reflectors(flow, x->task);
	else
		make_reflectors(flow, x->task);
}

int hd_qr_subgraph(heddle_context *c)
{
	const struct hd_dense_parent *p = heddle_value_ptr(c, 1);
	const struct hd_qr_strips *s = heddle_value_ptr(c, 2);
	const struct hd_dense_qr_values *values = heddle_value_ptr(c, 0);
	struct hd_dense_flow flow = hd_dense_flow_inside(p);
	flow.unit = p->width / HD_DENSE_APART; /* there is room for a sub-graph of each task */
	struct hd_qr_task task = {
	    .op = p->op,
	    .values = *values,
	    .n_data = heddle_context_n_data(c),
	    .rows = s->rows,
	    .columns = s->columns,
	    .widths = s->widths,
	};
	for (size_t i = 0; i < task.n_data; i++)
		task.data[i] = (struct hd_qr_datum){heddle_context_data(c, i), s->plans[i], 1};
	int status = hd_dense_flow_run(&flow, strip_tasks, &(struct hd_dense_args){.task = &task});
	return status < 0 ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}
