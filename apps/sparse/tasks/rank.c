/* Dead pivots: columns of which at most the tolerance is left when the columns before them are eliminated, decided one
 * after the other as SuiteSparseQR does (Davis: Algorithm 915, 2011; Heath: Some extensions of an algorithm for sparse
 * linear least squares problems, 1982).
 *
 * SuiteSparseQR gives the row of a dead pivot to the next one. Here the places of rows are known before values are, and
 * so are tasks. So the factorisation takes no notice: A P = Q R holds, with an |r_jj| that is too small. If there is
 * one, the thread that asks for the rank goes through R once more, from the leaves to the root. It takes away the row
 * of a dead pivot, and eliminates it against the rows of later pivots in this front and in fronts above: these have all
 * of its columns. What is left of the row in the end is zero. These reflectors, Z, make Q Z of Q, and R anew; the row
 * of a dead pivot in it is empty, and |r_jj| is what SuiteSparseQR finds. A pivot without a row, of which the structure
 * of A says that it is dead, may come alive by a row that another one has left: its own row, which was zero, gets it.
 *
 * Where all pivots are alive, this costs a look at the diagonal. Where some are dead, R of all fronts above is kept a
 * second time, and one thread does all of it, with products of matrices: d dead rows take 4 d operations per element
 * of R that is right of them. */
#include <sparse/tasks/parts.h>
#include <sparse/tasks/rank.h>
#include <dense/kernels/blas3.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "base/grow.h"

int hd_sparse_check_results(const char *function, const struct heddle_sparse_qr *qr)
{
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a factorisation", function);
	if (!qr->submitted)
		return heddle_error(HEDDLE_E_STATE, "%s: call heddle_sparse_factorise first", function);
	if (heddle_runtime_is_virtual(qr->sparse->rt))
		return heddle_error(
		    HEDDLE_E_STATE,
		    "%s: in virtual time nothing is computed, so the factorisation has no results: use a "
		    "runtime without config.platform",
		    function);
	if (!qr->values && qr->analysis->n_elements > 0)
		return heddle_error(HEDDLE_E_STATE, "%s: the factorisation was submitted without values", function);
	return 0;
}

/* --- A front ------------------------------------------------------------------------------------------------------ */

/* Rows of dead pivots, on their way up. */
struct rows {
	size_t n, room, columns;
	int64_t *number; /* owns; of n rows of Q^H B */
	void *d;         /* owns; room x columns, column-major without gaps */
};

/* A front whose pivots are decided. */
struct search {
	const heddle_sparse_qr *qr;
	struct hd_sparse_rank *rank;
	const struct hd_sparse_front *front;
	void *r; /* n_pivots x n_columns, without gaps */
	struct rows dead;
	int status;
};

static void free_rows(struct rows *rows)
{
	free(rows->number);
	free(rows->d);
	*rows = (struct rows){.n = 0};
}

static int allocate_rows(size_t room, size_t columns, size_t elem, struct rows *out)
{
	out->room = room;
	out->columns = columns;
	out->number = hd_sparse_allocate(room, sizeof *out->number);
	out->d = calloc(room * columns + 1, elem);
	if (out->number && out->d)
		return 0;
	free_rows(out);
	return hd_sparse_no_memory("the rows of dead pivots");
}

/* Copies rows into others, whose column up[j] is column j of these; NULL: column j. */
static void copy_rows(const struct rows *from, size_t first_column, const int64_t *up, size_t elem, struct rows *to)
{
	for (size_t j = first_column; j < from->columns; j++) {
		size_t column = up ? (size_t)up[j] : j - first_column;
		memcpy((char *)to->d + (to->n + column * to->room) * elem,
		       (const char *)from->d + j * from->room * elem, from->n * elem);
	}
	memcpy(to->number + to->n, from->number, from->n * sizeof *to->number);
	to->n += from->n;
}

/* Makes room for as many rows more. */
static void reserve(struct search *s, size_t more)
{
	struct rows larger = {.n = 0};
	size_t elem = hd_sparse_element_size(s->qr->precision);
	if (s->status < 0 || s->dead.n + more <= s->dead.room)
		return;
	s->status = allocate_rows(2 * (s->dead.n + more), s->dead.columns, elem, &larger);
	if (s->status < 0)
		return;
	copy_rows(&s->dead, 0, NULL, elem, &larger);
	free_rows(&s->dead);
	s->dead = larger;
}

static void free_turn(struct hd_sparse_turn *turn)
{
	free(turn->row);
	free(turn->v);
	free(turn->t);
}

static int make_turn(size_t pivots, size_t rows, size_t elem, struct hd_sparse_turn *turn)
{
	*turn = (struct hd_sparse_turn){.n_pivots = pivots, .n_rows = rows};
	turn->row = hd_sparse_allocate(pivots + rows, sizeof *turn->row);
	turn->v = calloc(rows * pivots + 1, elem);
	turn->t = calloc(pivots * pivots + 1, elem);
	if (turn->row && turn->v && turn->t)
		return 0;
	free_turn(turn);
	return hd_sparse_no_memory("the reflectors of dead pivots");
}

static int keep_turn(struct hd_sparse_rank *rank, const struct hd_sparse_turn *turn)
{
	if (HD_GROW(rank->turns, rank->n_turns, rank->room, 16) < 0)
		return hd_sparse_no_memory("the reflectors of dead pivots");
	rank->turns[rank->n_turns++] = *turn;
	return 0;
}

#define HD_TEMPLATE <sparse/tasks/rank_template.h>
#include <dense/kernels/precisions.h>

/* --- The tree ----------------------------------------------------------------------------------------------------- */

/* Triangles are solved with 1 / r_jj, which is infinite for the smallest numbers of a precision. */
static int has_reciprocal(double left, enum heddle_dense_precision precision)
{
	return left == 0 || 1 / left <= (hd_sparse_is_single(precision) ? FLT_MAX : DBL_MAX);
}

static int fail_on_range(const struct heddle_sparse_analysis *a, size_t column, double left)
{
	return heddle_error(HEDDLE_E_KERNEL,
	                    "R %s in %s %lld (counted from 1) of A, or before it: its elements are too %s for their "
	                    "precision; scale A",
	                    left < 1 ? "underflows" : "overflows", a->transposed ? "row" : "column",
	                    (long long)a->column_order[column] + 1, left < 1 ? "small" : "large");
}

/* Marks the pivots of a part whose |r_jj| is large enough. Where R has overflowed, |r_jj| is infinite or NaN: what is
 * left of a column is computed with all that is above it. */
struct marks {
	const heddle_sparse_qr *qr;
	char *dead;
};

static int mark(void *arg, const struct hd_sparse_part *p)
{
	struct marks *m = arg;
	for (size_t j = 0; j < p->columns; j++) {
		size_t row = p->column + j, pivot = p->front->first_pivot + row;
		if (row < p->row || row >= p->row + p->rows)
			continue;
		double left = cabs(hd_sparse_value_at(p, row - p->row, j, m->qr->precision));
		int is_alive = left > m->qr->tolerance;
		if (!isfinite(left) || (is_alive && !has_reciprocal(left, m->qr->precision)))
			return fail_on_range(m->qr->analysis, pivot, left);
		if (is_alive)
			m->dead[pivot] = 0;
	}
	return 0;
}

/* Whether pivots of the front that have rows are too small. */
static int has_small(const struct hd_sparse_front *front, const char *dead)
{
	for (size_t j = 0; j < hd_sparse_r_rows(front); j++)
		if (dead[front->first_pivot + j])
			return 1;
	return 0;
}

/* The rows that the children of front f have left, in its columns. */
static int gather(const heddle_sparse_qr *qr, size_t f, struct rows *left, struct rows *out)
{
	const struct hd_sparse_front *fronts = qr->analysis->fronts;
	size_t n = 0, elem = hd_sparse_element_size(qr->precision);
	for (size_t c = fronts[f].first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling)
		n += left[c].n;
	int status = allocate_rows(n, fronts[f].n_columns, elem, out);
	for (size_t c = fronts[f].first_child; c != HD_SPARSE_NONE && status >= 0; c = fronts[c].next_sibling) {
		if (left[c].n > 0)
			copy_rows(&left[c], 0, fronts[c].up_column, elem, out);
		free_rows(&left[c]);
	}
	return status;
}

/* What is left behind the pivots, for the parent. */
static int leave(const struct search *s, struct rows *out)
{
	size_t elem = hd_sparse_element_size(s->qr->precision), pivots = s->front->n_pivots;
	if (s->dead.n == 0 || hd_sparse_is_root(s->front))
		return 0;
	int status = allocate_rows(s->dead.n, s->dead.columns - pivots, elem, out);
	if (status >= 0)
		copy_rows(&s->dead, pivots, NULL, elem, out);
	return status;
}

static int decide_front(heddle_sparse_qr *qr, struct hd_sparse_rank *rank, size_t f, struct rows *left)
{
	static void (*const decide[])(struct search * s) = {hd_d_decide, hd_s_decide, hd_z_decide, hd_c_decide};
	struct search s = {.qr = qr, .rank = rank, .front = &qr->analysis->fronts[f]};
	s.status = gather(qr, f, left, &s.dead);
	if (s.status >= 0 && (s.dead.n > 0 || has_small(s.front, rank->dead))) {
		s.status = hd_sparse_copy_r(qr, f, &s.r);
		if (s.status >= 0)
			decide[qr->precision](&s);
		if (s.status >= 0)
			s.status = leave(&s, &left[f]);
		qr->nodes[f].changed_r = s.r;
	}
	free_rows(&s.dead);
	return s.status;
}

static int decide_all(heddle_sparse_qr *qr, struct hd_sparse_rank *rank)
{
	size_t n = qr->analysis->n_fronts;
	struct rows *left = calloc(n + 1, sizeof *left);
	int status = left ? 0 : hd_sparse_no_memory("the rank of a factorisation");
	for (size_t f = 0; f < n && status >= 0; f++)
		status = decide_front(qr, rank, f, left);
	for (size_t f = 0; left && f < n; f++) {
		free_rows(&left[f]);
		if (status < 0) {
			free(qr->nodes[f].changed_r);
			qr->nodes[f].changed_r = NULL;
		}
	}
	free(left);
	return status;
}

static int fill(heddle_sparse_qr *qr, struct hd_sparse_rank *rank)
{
	size_t n = qr->analysis->columns;
	rank->dead = malloc(n + 1);
	rank->columns = malloc((n + 1) * sizeof *rank->columns);
	if (!rank->dead || !rank->columns)
		return hd_sparse_no_memory("the rank of a factorisation");
	memset(rank->dead, 1, n);
	struct marks marks = {qr, rank->dead};
	int status = hd_sparse_wait_for_r(qr);
	if (status >= 0)
		status = hd_sparse_visit_r(&(struct hd_sparse_visitor){qr, 1, mark, &marks});
	if (status >= 0 && memchr(rank->dead, 1, n))
		status = decide_all(qr, rank);
	for (size_t j = 0; j < n; j++)
		if (rank->dead[j])
			rank->columns[rank->n_dead++] = qr->analysis->column_order[j];
	return status;
}

int hd_sparse_find_rank(heddle_sparse_qr *qr)
{
	int status = heddle_may_wait(qr->sparse->rt);
	if (status < 0 || qr->rank)
		return status;
	struct hd_sparse_rank *rank = calloc(1, sizeof *rank);
	status = rank ? fill(qr, rank) : hd_sparse_no_memory("the rank of a factorisation");
	if (status < 0)
		hd_sparse_rank_free(rank);
	else
		qr->rank = rank;
	return status;
}

void hd_sparse_rank_free(struct hd_sparse_rank *rank)
{
	if (!rank)
		return;
	for (size_t i = 0; i < rank->n_turns; i++)
		free_turn(&rank->turns[i]);
	free(rank->turns);
	free(rank->dead);
	free(rank->columns);
	free(rank);
}

int hd_sparse_turn(const heddle_sparse_qr *qr, enum heddle_dense_trans trans, const struct heddle_dense_array *c)
{
	static int (*const turn[])(const struct hd_sparse_turn *turn, CBLAS_TRANSPOSE trans,
	                           const struct heddle_dense_array *c) = {hd_d_turn, hd_s_turn, hd_z_turn, hd_c_turn};
	int is_product = trans == HEDDLE_DENSE_NO_TRANS, status = 0;
	size_t n = qr->rank ? qr->rank->n_turns : 0;
	for (size_t i = 0; i < n && status >= 0; i++)
		status = turn[qr->precision](&qr->rank->turns[is_product ? n - 1 - i : i],
		                             is_product ? CblasNoTrans : CblasConjTrans, c);
	return status;
}

int64_t heddle_sparse_deficient_columns(heddle_sparse_qr *qr, const int64_t **columns)
{
	int status = hd_sparse_check_results("heddle_sparse_deficient_columns", qr);
	if (status >= 0)
		status = hd_sparse_find_rank(qr);
	if (status < 0)
		return status;
	if (columns)
		*columns = qr->rank->columns;
	return qr->rank->n_dead;
}
