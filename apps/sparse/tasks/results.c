/* R as a sparse matrix. */
#include <sparse/tasks/parts.h>
#include <sparse/tasks/rank.h>
#include <stdlib.h>
#include <string.h>

/* The elements of R that are not zero: first counted, then written, column by column of each part. */
struct elements {
	const heddle_sparse_qr *qr;
	struct heddle_sparse_matrix *r;
	int64_t *next; /* of each column: how many there are, or where the next one goes */
	int writing;
};

static int take(void *arg, const struct hd_sparse_part *p)
{
	struct elements *e = arg;
	for (size_t j = 0; j < p->columns; j++) {
		int64_t *next = &e->next[p->front->columns[p->column + j]];
		for (size_t i = 0; i < p->rows && p->row + i <= p->column + j; i++) {
			if (hd_sparse_value_at(p, i, j, e->qr->precision) == 0)
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

static int fill(struct elements *e, const struct hd_sparse_visitor *v)
{
	size_t n = e->r->columns;
	int status = hd_sparse_visit_r(v);
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
	return hd_sparse_visit_r(v);
}

int heddle_sparse_r(heddle_sparse_qr *qr, struct heddle_sparse_matrix *out)
{
	int status = hd_sparse_check_results("heddle_sparse_r", qr);
	if (status >= 0 && !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_r needs a place for its result");
	if (status >= 0)
		status = hd_sparse_find_rank(qr);
	if (status < 0)
		return status;
	size_t n = qr->analysis->columns;
	struct heddle_sparse_matrix r = {.precision = qr->precision, .rows = n, .columns = n};
	struct elements e = {.qr = qr, .r = &r, .next = calloc(n + 1, sizeof *e.next)};
	status = e.next ? fill(&e, &(struct hd_sparse_visitor){qr, 0, take, &e}) : hd_sparse_no_memory("R");
	free(e.next);
	if (status < 0) {
		heddle_sparse_matrix_free(&r);
		return status;
	}
	*out = r;
	return 0;
}
