/* What a factorisation has found: R, and the columns that depend on others. The thread borrows the data one by one. */
#include <sparse/tasks/tasks.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rectangle of R: rows of pivots from `row` of a front on, and columns of it from `column` on. */
struct part {
	const struct hd_sparse_front *front;
	size_t row, column, rows, columns;
	const char *first; /* element; the others by bytes */
	size_t elem, ld;
};
/* Returns 0, or a negative status, which ends the visits. */
typedef int (*visit_part)(void *arg, const struct part *part);

/* Which parts are meant. */
struct visitor {
	heddle_sparse_qr *qr;
	int diagonal; /* those with elements of the diagonal alone */
	visit_part visit;
	void *arg;
};

static double _Complex value_at(const struct part *p, size_t i, size_t j, enum heddle_dense_precision precision)
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

static int visit_tile(const struct visitor *v, heddle_data *data, struct part *p)
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

static int visit_tiles(const struct visitor *v, size_t f)
{
	const heddle_sparse_qr *qr = v->qr;
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	struct part p = {.front = front, .elem = hd_sparse_element_size(qr->precision)};
	int status = 0;
	for (size_t i = 0; status >= 0 && i < hd_sparse_grid(qr, hd_sparse_r_rows(front)); i++)
		for (size_t k = i; status >= 0 && k < (v->diagonal && i + 1 < nt ? i + 1 : nt); k++) {
			heddle_data *tile = qr->nodes[f].tiles[i + k * mt];
			p.row = i * qr->options.tile;
			p.column = k * qr->options.tile;
			if (tile)
				status = visit_tile(v, tile, &p);
		}
	return status;
}

static int visit_packed(const struct visitor *v, const struct hd_sparse_front *front, const char *packed)
{
	struct part p = {.front = front, .elem = hd_sparse_element_size(v->qr->precision)};
	int status = 0;
	for (struct hd_sparse_panel panel = hd_sparse_panel(front, &v->qr->packing, 0, 0);
	     panel.columns > 0 && status >= 0; panel = hd_sparse_next_panel(front, &v->qr->packing, &panel)) {
		p.first = packed + panel.r * p.elem;
		p.ld = panel.r_ld;
		p.column = panel.first;
		p.rows = panel.r_rows;
		p.columns = panel.columns;
		if (!v->diagonal || panel.first < hd_sparse_r_rows(front))
			status = v->visit(v->arg, &p);
	}
	return status;
}

static int visit_subtree(const struct visitor *v, size_t number)
{
	const heddle_sparse_qr *qr = v->qr;
	const struct hd_sparse_subtree *tree = &qr->analysis->subtrees[number];
	heddle_data *data = qr->nodes[tree->root].packed;
	int status = acquire(data);
	if (status < 0)
		return status;
	const char *packed = heddle_data_ptr(data);
	size_t elem = hd_sparse_element_size(qr->precision);
	for (size_t f = tree->first_front; status >= 0 && f <= tree->root; f++)
		status = visit_packed(v, &qr->analysis->fronts[f], packed + qr->packed_at[f] * elem);
	heddle_release(data);
	return status;
}

static int visit_r(const struct visitor *v)
{
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	int status = 0;
	for (size_t f = 0; status >= 0 && f < a->n_fronts; f++) {
		if (hd_sparse_is_inside(a, f))
			continue;
		status =
		    a->fronts[f].subtree == HD_SPARSE_NONE ? visit_tiles(v, f) : visit_subtree(v, a->fronts[f].subtree);
	}
	return status;
}

static int check(const char *function, const heddle_sparse_qr *qr)
{
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a factorisation", function);
	if (!qr->submitted)
		return heddle_error(HEDDLE_E_STATE, "%s: call heddle_sparse_factorise first", function);
	if (!qr->values && qr->analysis->n_elements > 0)
		return heddle_error(HEDDLE_E_STATE, "%s: the factorisation was submitted without values", function);
	return 0;
}

/* --- Rank --------------------------------------------------------------------------------------------------------- */

/* Marks the pivots of a part whose |r_jj| is large enough. */
struct marks {
	const heddle_sparse_qr *qr;
	char *regular; /* of each column */
};

static int mark(void *arg, const struct part *p)
{
	struct marks *m = arg;
	for (size_t j = 0; j < p->columns; j++) {
		size_t row = p->column + j;
		if (row >= p->row && row < p->row + p->rows &&
		    cabs(value_at(p, row - p->row, j, m->qr->precision)) > m->qr->tolerance)
			m->regular[p->front->first_pivot + row] = 1;
	}
	return 0;
}

int64_t heddle_sparse_deficient_columns(heddle_sparse_qr *qr, const int64_t **columns)
{
	int status = check("heddle_sparse_deficient_columns", qr);
	if (status < 0)
		return status;
	if (!qr->deficient) {
		size_t n = qr->analysis->columns;
		struct marks marks = {qr, calloc(n + 1, 1)};
		int64_t *found = malloc((n + 1) * sizeof *found);
		const struct visitor v = {qr, 1, mark, &marks};
		status = marks.regular && found ? visit_r(&v) : hd_sparse_no_memory("the rank of a factorisation");
		qr->n_deficient = 0;
		for (size_t j = 0; status >= 0 && j < n; j++)
			if (!marks.regular[j])
				found[qr->n_deficient++] = qr->analysis->column_order[j];
		free(marks.regular);
		if (status < 0) {
			free(found);
			return status;
		}
		qr->deficient = found;
	}
	if (columns)
		*columns = qr->deficient;
	return qr->n_deficient;
}

/* --- R ------------------------------------------------------------------------------------------------------------ */

/* The elements of R that are not zero: first counted, then written, column by column of each part. */
struct elements {
	const heddle_sparse_qr *qr;
	struct heddle_sparse_matrix *r;
	int64_t *next; /* of each column: how many there are, or where the next one goes */
	int writing;
};

static int take(void *arg, const struct part *p)
{
	struct elements *e = arg;
	for (size_t j = 0; j < p->columns; j++) {
		int64_t *next = &e->next[p->front->columns[p->column + j]];
		for (size_t i = 0; i < p->rows && p->row + i <= p->column + j; i++) {
			if (value_at(p, i, j, e->qr->precision) == 0)
				continue;
			if (e->writing) {
				e->r->row[*next] = (int64_t)(p->front->first_pivot + p->row + i);
				memcpy((char *)e->r->values + (size_t)*next * p->elem,
				       p->first + (i + j * p->ld) * p->elem, p->elem);
			}
			++*next;
		}
	}
	return 0;
}

static int fill(struct elements *e, const struct visitor *v)
{
	size_t n = e->r->columns;
	int status = visit_r(v);
	int64_t *start = e->r->column_start = malloc((n + 1) * sizeof *start);
	if (status < 0 || !start)
		return status < 0 ? status : hd_sparse_no_memory("R");
	start[0] = 0;
	for (size_t j = 0; j < n; j++) {
		start[j + 1] = start[j] + e->next[j];
		e->next[j] = start[j];
	}
	size_t count = (size_t)start[n] + 1;
	e->r->row = malloc(count * sizeof *e->r->row);
	e->r->values = malloc(count * hd_sparse_element_size(e->r->precision));
	if (!e->r->row || !e->r->values)
		return hd_sparse_no_memory("R");
	e->writing = 1;
	return visit_r(v);
}

int heddle_sparse_r(heddle_sparse_qr *qr, struct heddle_sparse_matrix *out)
{
	int status = check("heddle_sparse_r", qr);
	if (status < 0)
		return status;
	if (!out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_r needs a place for its result");
	size_t n = qr->analysis->columns;
	struct heddle_sparse_matrix r = {.precision = qr->precision, .rows = n, .columns = n};
	struct elements e = {.qr = qr, .r = &r, .next = calloc(n + 1, sizeof *e.next)};
	status = e.next ? fill(&e, &(struct visitor){qr, 0, take, &e}) : hd_sparse_no_memory("R");
	free(e.next);
	if (status < 0) {
		heddle_sparse_matrix_free(&r);
		return status;
	}
	*out = r;
	return 0;
}
