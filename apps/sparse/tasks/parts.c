/* R, part by part: tiles, panels that are packed, and rows of fronts that the search for the rank has changed. */
#include <sparse/tasks/parts.h>
#include <stdlib.h>
#include <string.h>

double _Complex hd_sparse_value_at(const struct hd_sparse_part *p, size_t i, size_t j,
                                   enum heddle_dense_precision precision)
{
	const void *x = p->first + (i + j * p->ld) * p->elem;
	if (precision == HEDDLE_DENSE_DOUBLE)
		return *(const double *)x;
	if (precision == HEDDLE_DENSE_SINGLE)
		return *(const float *)x;
	if (precision == HEDDLE_DENSE_COMPLEX_DOUBLE)
		return *(const double _Complex *)x;
	return *(const float _Complex *)x;
}

static int acquire(heddle_data *data)
{
	int status;
	do
		status = heddle_acquire(data, HEDDLE_R);
	while (status == HEDDLE_E_INTERRUPTED);
	return status;
}

static struct hd_sparse_part part_of(const struct hd_sparse_visitor *v, size_t f)
{
	return (struct hd_sparse_part){.front = &v->qr->analysis->fronts[f],
	                               .elem = hd_sparse_element_size(v->qr->precision)};
}

static int visit_tile(const struct hd_sparse_visitor *v, heddle_data *data, struct hd_sparse_part *p)
{
	struct heddle_part memory;
	int status = acquire(data);
	if (status < 0)
		return status;
	heddle_data_part(data, 0, &memory);
	p->first = memory.base;
	p->ld = memory.stride[1];
	size_t rows = hd_sparse_r_rows(p->front) - p->row;
	p->rows = rows < memory.n[0] ? rows : memory.n[0];
	p->columns = memory.n[1];
	status = v->visit(v->arg, p);
	heddle_release(data);
	return status;
}

static int visit_tiles(const struct hd_sparse_visitor *v, size_t f)
{
	const struct heddle_sparse_qr *qr = v->qr;
	struct hd_sparse_part p = part_of(v, f);
	size_t mt = hd_sparse_grid(qr, p.front->n_rows), nt = hd_sparse_grid(qr, p.front->n_columns);
	int status = 0;
	for (size_t i = 0; status >= 0 && i < hd_sparse_grid(qr, hd_sparse_r_rows(p.front)); i++)
		for (size_t k = i; status >= 0 && k < (v->diagonal && i + 1 < nt ? i + 1 : nt); k++) {
			heddle_data *tile = qr->nodes[f].tiles[i + k * mt];
			p.row = i * qr->options.tile;
			p.column = k * qr->options.tile;
			if (tile)
				status = visit_tile(v, tile, &p);
		}
	return status;
}

static int visit_packed(const struct hd_sparse_visitor *v, size_t f, const char *packed)
{
	struct hd_sparse_part p = part_of(v, f);
	int status = 0;
	for (struct hd_sparse_panel panel = hd_sparse_panel(p.front, &v->qr->packing, 0, 0);
	     panel.columns > 0 && status >= 0; panel = hd_sparse_next_panel(p.front, &v->qr->packing, &panel)) {
		p.first = packed + panel.r * p.elem;
		p.ld = panel.r_ld;
		p.column = panel.first;
		p.rows = panel.r_rows;
		p.columns = panel.columns;
		if (!v->diagonal || panel.first < hd_sparse_r_rows(p.front))
			status = v->visit(v->arg, &p);
	}
	return status;
}

static int visit_changed(const struct hd_sparse_visitor *v, size_t f)
{
	struct hd_sparse_part p = part_of(v, f);
	p.first = v->qr->nodes[f].changed_r;
	p.rows = p.ld = p.front->n_pivots;
	p.columns = p.front->n_columns;
	return v->visit(v->arg, &p);
}

/* Fronts first ... last of a subtree. */
static int visit_subtree(const struct hd_sparse_visitor *v, size_t first, size_t last)
{
	const struct heddle_sparse_qr *qr = v->qr;
	heddle_data *data = qr->nodes[qr->analysis->subtrees[qr->analysis->fronts[first].subtree].root].packed;
	int status = acquire(data);
	if (status < 0)
		return status;
	const char *packed = heddle_data_ptr(data);
	size_t elem = hd_sparse_element_size(qr->precision);
	for (size_t f = first; status >= 0 && f <= last; f++)
		status =
		    qr->nodes[f].changed_r ? visit_changed(v, f) : visit_packed(v, f, packed + qr->packed_at[f] * elem);
	heddle_release(data);
	return status;
}

int hd_sparse_visit_front(const struct hd_sparse_visitor *v, size_t f)
{
	if (v->qr->nodes[f].changed_r)
		return visit_changed(v, f);
	if (v->qr->analysis->fronts[f].subtree == HD_SPARSE_NONE)
		return visit_tiles(v, f);
	return visit_subtree(v, f, f);
}

int hd_sparse_visit_r(const struct hd_sparse_visitor *v)
{
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	int status = 0;
	for (size_t f = 0; status >= 0 && f < a->n_fronts; f++) {
		size_t tree = a->fronts[f].subtree;
		if (tree == HD_SPARSE_NONE)
			status = hd_sparse_visit_front(v, f);
		else if (a->subtrees[tree].root == f)
			status = visit_subtree(v, a->subtrees[tree].first_front, f);
	}
	return status;
}

/* --- Whether all of R is there ------------------------------------------------------------------------------------ */

/* Waits for the tiles of R of a front right of the diagonal. */
static int wait_for_tiles(struct hd_sparse_flow *flow, size_t f)
{
	const struct heddle_sparse_qr *qr = flow->qr;
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	heddle_task *task = NULL;
	flow->n = 0;
	for (size_t i = 0; i < hd_sparse_grid(qr, hd_sparse_r_rows(front)); i++)
		for (size_t k = i + 1; k < nt; k++)
			if (qr->nodes[f].tiles[i + k * mt])
				hd_sparse_add(flow, heddle_r(qr->nodes[f].tiles[i + k * mt]));
	if (flow->n == 0)
		return flow->status;
	hd_sparse_add(flow, heddle_out(&task));
	hd_sparse_submit(flow);
	int status = flow->status;
	while (status >= 0 && (status = heddle_task_wait(task)) == HEDDLE_E_INTERRUPTED)
		status = 0;
	heddle_task_release(task);
	return status;
}

int hd_sparse_wait_for_r(struct heddle_sparse_qr *qr)
{
	struct hd_sparse_flow flow = {.qr = qr};
	int status = 0;
	for (size_t f = 0; status >= 0 && f < qr->analysis->n_fronts; f++)
		if (qr->nodes[f].tiles)
			status = wait_for_tiles(&flow, f);
	hd_sparse_flow_end(&flow);
	return status;
}

/* --- Copies ------------------------------------------------------------------------------------------------------- */

/* Copies the part, as far as it is R's, into the rows of a front. */
static int copy(void *arg, const struct hd_sparse_part *p)
{
	char *to = arg;
	for (size_t j = 0; j < p->columns; j++) {
		size_t column = p->column + j, rows = column < p->row ? 0 : column + 1 - p->row;
		rows = rows < p->rows ? rows : p->rows;
		memcpy(to + (p->row + column * p->front->n_pivots) * p->elem, p->first + j * p->ld * p->elem,
		       rows * p->elem);
	}
	return 0;
}

int hd_sparse_copy_r(const struct heddle_sparse_qr *qr, size_t f, void **out)
{
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t column = front->n_pivots * hd_sparse_element_size(qr->precision);
	char *r = calloc(front->n_columns, column);
	if (!r)
		return hd_sparse_no_memory("R of a front");
	int status = hd_sparse_visit_front(&(struct hd_sparse_visitor){qr, 0, copy, r}, f);
	if (status < 0)
		free(r);
	else
		*out = r;
	return status;
}
