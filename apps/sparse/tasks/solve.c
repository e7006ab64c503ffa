/* Right-hand sides: products with Q^H go up the tree, products with Q down, as tasks on rows of tiles of the fronts;
 * R is solved from the root, R^H from the leaves.
 *
 * B of a front has its rows: rows of the right-hand side where they are rows of F, and rows that its children have
 * contributed. Q^H of the front leaves rows of R^-H A^H b in the first of them, rows for the parent, and rows that are
 * left over. The subtree's B has the rows of all of its fronts. Blocks of right-hand sides have tasks of their own. */
#include <sparse/tasks/rank.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block of right-hand sides. */
struct block {
	struct hd_sparse_flow flow;
	size_t columns;
	heddle_data **b; /* owns; of front f, or of the subtree whose root it is, from qr->rhs_at[f] on */
	heddle_data **z; /* owns; of front f: a row for each of its columns */
	struct hd_sparse_array in, out;
};

static const struct hd_sparse_front *front_of(const struct block *x, size_t f)
{
	return &x->flow.qr->analysis->fronts[f];
}

/* Data of front f in B. */
static heddle_data **rows_of(const struct block *x, size_t f)
{
	return x->b + x->flow.qr->rhs_at[f];
}

static heddle_data *tile_of(const struct block *x, size_t f, size_t i, size_t k)
{
	return x->flow.qr->nodes[f].tiles[i + k * hd_sparse_grid(x->flow.qr, front_of(x, f)->n_rows)];
}

static void open_rows(struct block *x)
{
	const struct heddle_sparse_qr *qr = x->flow.qr;
	for (size_t f = 0; f < qr->analysis->n_fronts; f++) {
		const struct hd_sparse_front *front = front_of(x, f);
		size_t n = qr->rhs_at[f + 1] - qr->rhs_at[f];
		if (front->subtree != HD_SPARSE_NONE && n > 0) {
			const struct hd_sparse_job job = hd_sparse_job(qr, front->subtree);
			size_t rows = hd_sparse_subtree_rows(&job);
			*rows_of(x, f) = hd_sparse_register(&x->flow, rows ? rows : 1, x->columns);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			rows_of(x, f)[i] =
			    hd_sparse_register(&x->flow, hd_sparse_rows_of_tile(qr, front, i), x->columns);
	}
}

/* The value of a task of front f, or of subtree f. */
static struct hd_sparse_solve_value value_of(const struct block *x, size_t f)
{
	const struct heddle_sparse_qr *qr = x->flow.qr;
	return (struct hd_sparse_solve_value){
	    .rates = hd_sparse_rates(qr), .qr = qr, .front = f, .in = x->in, .out = x->out, .tolerance = qr->tolerance};
}

static void submit_with(struct block *x, const struct hd_sparse_solve_value *v)
{
	hd_sparse_submit_with(&x->flow, heddle_value(*v));
}

static int add_rows(void *arg, const struct hd_sparse_source *s)
{
	struct block *x = arg;
	hd_sparse_add(&x->flow, heddle_r(rows_of(x, s->front)[s->tile_row]));
	return 0;
}

/* --- Q ------------------------------------------------------------------------------------------------------------ */

/* A product with the reflectors of a front. */
struct product {
	struct block *x;
	enum heddle_dense_trans trans;
	size_t f;
};

/* Applies the reflectors of an elimination to B. */
static void apply(void *arg, const struct hd_sparse_elimination *e)
{
	const struct product *p = arg;
	struct block *x = p->x;
	struct heddle_sparse_qr *qr = x->flow.qr;
	const struct heddle_dense_qr_tile_task task = {
	    .kernel = e->kind == HD_SPARSE_GEQRT   ? HEDDLE_DENSE_GEMQRT
	              : e->kind == HD_SPARSE_TSQRT ? HEDDLE_DENSE_TSMQR
	                                           : HEDDLE_DENSE_TTMQR,
	    .precision = qr->precision,
	    .trans = p->trans,
	    .top = e->kind == HD_SPARSE_GEQRT ? NULL : rows_of(x, p->f)[e->top],
	    .tile = rows_of(x, p->f)[e->tile],
	    .v = tile_of(x, p->f, e->tile, e->k),
	    .t = hd_sparse_factor(&qr->nodes[p->f], hd_sparse_grid(qr, front_of(x, p->f)->n_rows), e),
	    .work = qr->tile_work,
	};
	if (x->flow.status >= 0)
		x->flow.status = heddle_dense_qr_tile_submit(qr->sparse->dense, &task);
}

static void apply_front(struct block *x, enum heddle_dense_trans trans, size_t f)
{
	size_t mt = hd_sparse_grid(x->flow.qr, front_of(x, f)->n_rows);
	size_t nt = hd_sparse_grid(x->flow.qr, front_of(x, f)->n_columns), kt = mt < nt ? mt : nt;
	int backward = trans == HEDDLE_DENSE_NO_TRANS;
	struct product p = {x, trans, f};
	for (size_t step = 0; step < kt; step++) {
		const struct hd_sparse_column column =
		    hd_sparse_column(x->flow.qr, front_of(x, f), backward ? kt - 1 - step : step);
		hd_sparse_each_elimination(&column, backward, apply, &p);
	}
}

/* The task of a codelet for each row of tiles of front f, on B. */
static void each_row(struct block *x, enum hd_sparse_op op, size_t f, int kept)
{
	const struct heddle_sparse_qr *qr = x->flow.qr;
	struct hd_sparse_solve_value v = value_of(x, f);
	v.kept = kept;
	for (v.row = 0; v.row < hd_sparse_grid(qr, front_of(x, f)->n_rows); v.row++) {
		heddle_data *b = rows_of(x, f)[v.row];
		size_t first = v.row * qr->options.tile, rows = hd_sparse_rows_of_tile(qr, front_of(x, f), v.row);
		hd_sparse_task(&x->flow, op, 0);
		hd_sparse_add(&x->flow, op == HD_SPARSE_ROWS_OUT ? heddle_r(b) : heddle_w(b));
		if (op == HD_SPARSE_ROWS_UP)
			hd_sparse_up_sources(qr, f, v.row, add_rows, x);
		if (op == HD_SPARSE_ROWS_DOWN)
			hd_sparse_down_sources(qr, f, first, rows, add_rows, x);
		if (op == HD_SPARSE_ROWS_DOWN && x->z)
			hd_sparse_add(&x->flow, heddle_r(x->z[f]));
		submit_with(x, &v);
	}
}

/* Begins the task of a subtree. */
static void subtree_task(struct block *x, enum hd_sparse_op op, size_t root, struct heddle_item data)
{
	hd_sparse_task(&x->flow, op, 0);
	hd_sparse_add(&x->flow, data);
	hd_sparse_add(&x->flow, heddle_r(x->flow.qr->nodes[root].packed));
}

/* B := Q^H B. If there is an array `out`, copies the kept rows to it. */
static void up(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	for (size_t f = 0; f < a->n_fronts; f++) {
		if (hd_sparse_is_inside(a, f))
			continue;
		if (a->fronts[f].subtree != HD_SPARSE_NONE) {
			struct hd_sparse_solve_value v = value_of(x, a->fronts[f].subtree);
			subtree_task(x, HD_SPARSE_SUBTREE_UP, f, heddle_w(*rows_of(x, f)));
			hd_sparse_add(&x->flow, heddle_scratch(x->flow.qr->small_work));
			submit_with(x, &v);
			continue;
		}
		each_row(x, HD_SPARSE_ROWS_UP, f, 0);
		apply_front(x, HEDDLE_DENSE_CONJ_TRANS, f);
		if (x->out.data)
			each_row(x, HD_SPARSE_ROWS_OUT, f, 1);
	}
}

/* out := Q B. */
static void down(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	for (size_t f = a->n_fronts; f-- > 0;) {
		if (hd_sparse_is_inside(a, f))
			continue;
		if (a->fronts[f].subtree != HD_SPARSE_NONE) {
			struct hd_sparse_solve_value v = value_of(x, a->fronts[f].subtree);
			subtree_task(x, HD_SPARSE_SUBTREE_DOWN, f, heddle_w(*rows_of(x, f)));
			hd_sparse_add(&x->flow, heddle_scratch(x->flow.qr->small_work));
			hd_sparse_down_sources(x->flow.qr, f, 0, a->fronts[f].n_rows, add_rows, x);
			if (x->z)
				hd_sparse_add(&x->flow, heddle_r(x->z[f]));
			submit_with(x, &v);
			continue;
		}
		each_row(x, HD_SPARSE_ROWS_DOWN, f, 0);
		apply_front(x, HEDDLE_DENSE_NO_TRANS, f);
		each_row(x, HD_SPARSE_ROWS_OUT, f, 0);
	}
}

/* --- R ------------------------------------------------------------------------------------------------------------ */

/* What must have been computed before the last rows of R of front f: the first of its parent. */
static void add_parent(struct block *x, size_t f)
{
	if (!hd_sparse_is_root(front_of(x, f)))
		hd_sparse_add(&x->flow, heddle_r(*rows_of(x, front_of(x, f)->parent)));
}

/* What must have been computed before the last rows of R of a subtree: the first rows of each parent that is not in
 * the subtree. */
static void add_parents(struct block *x, const struct hd_sparse_subtree *tree)
{
	for (size_t f = tree->first_front; f <= tree->root; f++)
		if (front_of(x, f)->parent > tree->root)
			add_parent(x, f);
}

/* The tiles of R in row i of tiles. */
static void add_r(struct block *x, size_t f, size_t i)
{
	for (size_t k = i; k < hd_sparse_grid(x->flow.qr, front_of(x, f)->n_columns); k++)
		hd_sparse_add(&x->flow, heddle_r(tile_of(x, f, i, k)));
}

static void back_front(struct block *x, size_t f)
{
	size_t rows = hd_sparse_grid(x->flow.qr, hd_sparse_r_rows(front_of(x, f)));
	struct hd_sparse_solve_value v = value_of(x, f);
	for (size_t i = rows; i-- > 0;) {
		v.row = i;
		hd_sparse_task(&x->flow, HD_SPARSE_BACK, 0);
		hd_sparse_add(&x->flow, heddle_rw(rows_of(x, f)[i]));
		hd_sparse_add(&x->flow, heddle_scratch(x->flow.qr->small_work));
		add_r(x, f, i);
		if (i + 1 < rows)
			hd_sparse_add(&x->flow, heddle_r(rows_of(x, f)[i + 1]));
		else
			add_parent(x, f);
		submit_with(x, &v);
	}
}

/* out := R^-1 B, from the root. */
static void back(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	for (size_t f = a->n_fronts; f-- > 0;) {
		if (hd_sparse_is_inside(a, f))
			continue;
		if (a->fronts[f].subtree == HD_SPARSE_NONE) {
			back_front(x, f);
			continue;
		}
		struct hd_sparse_solve_value v = value_of(x, a->fronts[f].subtree);
		subtree_task(x, HD_SPARSE_SUBTREE_BACK, f, heddle_rw(*rows_of(x, f)));
		hd_sparse_add(&x->flow, heddle_scratch(x->flow.qr->small_work));
		add_parents(x, &a->subtrees[a->fronts[f].subtree]);
		submit_with(x, &v);
	}
}

static void forward_front(struct block *x, size_t f)
{
	struct hd_sparse_solve_value v = value_of(x, f);
	const struct hd_sparse_front *fronts = x->flow.qr->analysis->fronts;
	hd_sparse_task(&x->flow, HD_SPARSE_COLUMNS_UP, 0);
	hd_sparse_add(&x->flow, heddle_w(x->z[f]));
	for (size_t c = fronts[f].first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling) {
		size_t tree = fronts[c].subtree;
		hd_sparse_add(&x->flow,
		              heddle_r(x->z[tree == HD_SPARSE_NONE ? c : x->flow.qr->analysis->subtrees[tree].root]));
	}
	submit_with(x, &v);
	for (v.row = 0; v.row < hd_sparse_grid(x->flow.qr, hd_sparse_r_rows(&fronts[f])); v.row++) {
		hd_sparse_task(&x->flow, HD_SPARSE_FORWARD, 0);
		hd_sparse_add(&x->flow, heddle_rw(x->z[f]));
		add_r(x, f, v.row);
		submit_with(x, &v);
	}
}

/* Z := R^-H in, from the leaves. */
static void forward(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	for (size_t f = 0; f < a->n_fronts; f++) {
		if (hd_sparse_is_inside(a, f))
			continue;
		size_t columns = a->fronts[f].n_columns;
		if (a->fronts[f].subtree != HD_SPARSE_NONE) {
			const struct hd_sparse_job job = hd_sparse_job(x->flow.qr, a->fronts[f].subtree);
			columns = hd_sparse_subtree_columns(&job);
		}
		x->z[f] = hd_sparse_register(&x->flow, columns, x->columns);
		if (a->fronts[f].subtree == HD_SPARSE_NONE) {
			forward_front(x, f);
			continue;
		}
		struct hd_sparse_solve_value v = value_of(x, a->fronts[f].subtree);
		subtree_task(x, HD_SPARSE_SUBTREE_FORWARD, f, heddle_w(x->z[f]));
		submit_with(x, &v);
	}
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

static int open_block(struct heddle_sparse_qr *qr, int with_z, struct block *x)
{
	size_t n = qr->analysis->n_fronts;
	*x = (struct block){.flow = {.qr = qr}};
	x->b = calloc(qr->rhs_at[n] + 1, sizeof *x->b);
	if (with_z)
		x->z = calloc(n + 1, sizeof *x->z);
	if (x->b && (x->z || !with_z))
		return 0;
	free(x->b);
	free(x->z);
	return hd_sparse_no_memory("right-hand sides");
}

static int close_block(struct block *x)
{
	const struct heddle_sparse_qr *qr = x->flow.qr;
	for (size_t i = 0; i < qr->rhs_at[qr->analysis->n_fronts]; i++)
		hd_sparse_drop(&x->b[i]);
	for (size_t f = 0; x->z && f < qr->analysis->n_fronts; f++)
		hd_sparse_drop(&x->z[f]);
	free(x->b);
	free(x->z);
	hd_sparse_flow_end(&x->flow);
	return x->flow.status;
}

static void least_squares(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	struct hd_sparse_array to = x->out;
	x->in.place = a->row_order;
	x->out = (struct hd_sparse_array){.data = NULL};
	up(x);
	x->out = to;
	x->out.place = a->column_order;
	back(x);
}

static void least_norm(struct block *x)
{
	const struct heddle_sparse_analysis *a = x->flow.qr->analysis;
	struct hd_sparse_solve_value v = value_of(x, 0);
	x->in.place = a->column_order;
	x->out.place = a->row_order;
	forward(x);
	x->in = (struct hd_sparse_array){.data = NULL};
	down(x);
	v.row = x->columns;
	hd_sparse_task(&x->flow, HD_SPARSE_ROWS_EMPTY, 0);
	submit_with(x, &v);
}

static void q_h(struct block *x)
{
	x->in.place = x->flow.qr->analysis->row_order;
	up(x);
}

static void q(struct block *x)
{
	x->out.place = x->flow.qr->analysis->row_order;
	down(x);
}

/* Submits `tasks` for each block of right-hand sides. */
static int each_block(struct heddle_sparse_qr *qr, void (*tasks)(struct block *x), const struct heddle_dense_array *in,
                      const struct heddle_dense_array *out)
{
	size_t elem = hd_sparse_element_size(qr->precision);
	int status = 0;
	for (size_t j = 0; status >= 0 && j < in->columns; j += HD_SPARSE_RHS) {
		struct block x;
		status = open_block(qr, tasks == least_norm, &x);
		if (status < 0)
			return status;
		x.columns = in->columns - j < HD_SPARSE_RHS ? in->columns - j : HD_SPARSE_RHS;
		x.in = (struct hd_sparse_array){(char *)in->data + j * in->ld * elem, in->ld, NULL};
		x.out = (struct hd_sparse_array){(char *)out->data + j * out->ld * elem, out->ld, NULL};
		open_rows(&x);
		tasks(&x);
		status = close_block(&x);
	}
	return status;
}

static int check_state(const char *function, const struct heddle_sparse_qr *qr)
{
	if (!qr->submitted)
		return heddle_error(HEDDLE_E_STATE, "%s: call heddle_sparse_factorise first", function);
	if (qr->options.drop_q)
		return heddle_error(HEDDLE_E_STATE,
		                    "%s: reflectors were dropped (drop_q of struct heddle_sparse_options)", function);
	return 0;
}

static int check_array(const char *function, const struct heddle_sparse_qr *qr, const char *name,
                       const struct heddle_dense_array *a, size_t rows)
{
	if (!a)
		return heddle_error(HEDDLE_E_INVALID, "%s: array %s is NULL", function, name);
	if (a->columns > INT_MAX) /* BLAS counts them by int */
		return heddle_error(HEDDLE_E_INVALID, "%s: array %s has %zu columns, at most %d are allowed", function,
		                    name, a->columns, INT_MAX);
	if (a->precision == qr->precision && a->rows == rows && a->ld >= rows && (a->data || a->columns == 0 || !rows))
		return 0;
	return heddle_error(HEDDLE_E_INVALID,
	                    "%s: array %s has precision %d, %zu rows and leading dimension %zu; it must have data, the "
	                    "precision %d of the factorisation, and %zu rows",
	                    function, name, (int)a->precision, a->rows, a->ld, (int)qr->precision, rows);
}

int64_t hd_sparse_structural_deficiency(const struct heddle_sparse_analysis *a)
{
	for (size_t f = 0; f < a->n_fronts; f++)
		for (size_t j = 0; j < a->fronts[f].n_pivots; j++)
			if ((size_t)a->fronts[f].stair[j] <= j)
				return (int64_t)(a->fronts[f].first_pivot + j);
	return -1;
}

/* 0 if the arrays fit, or an error. */
static int check_solve(const struct heddle_sparse_qr *qr, const struct heddle_dense_array *b,
                       const struct heddle_dense_array *x)
{
	static const char function[] = "heddle_sparse_solve";
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a factorisation", function);
	const struct heddle_sparse_analysis *a = qr->analysis;
	int status = check_state(function, qr);
	if (status >= 0)
		status = check_array(function, qr, "b", b, a->transposed ? a->columns : a->rows);
	if (status >= 0)
		status = check_array(function, qr, "x", x, a->transposed ? a->rows : a->columns);
	if (status >= 0 && b->columns != x->columns)
		status = heddle_error(HEDDLE_E_INVALID, "%s: b has %zu columns and x has %zu", function, b->columns,
		                      x->columns);
	if (status >= 0 && b->data && b->data == x->data && b->columns > 0)
		status = heddle_error(HEDDLE_E_INVALID, "%s: b and x are the same memory; b is read while x is written",
		                      function);
	return status;
}

int heddle_sparse_solve_submit(heddle_sparse_qr *qr, const struct heddle_dense_array *b,
                               const struct heddle_dense_array *x)
{
	int status = check_solve(qr, b, x);
	if (status < 0)
		return status;
	const struct heddle_sparse_analysis *a = qr->analysis;
	int64_t column = hd_sparse_structural_deficiency(a);
	if (column >= 0)
		return heddle_error(HEDDLE_E_KERNEL,
		                    "matrix A has not full rank: whatever its values are, its %s %lld (counted from 1) "
		                    "depends on others; heddle_sparse_solve finds a solution",
		                    a->transposed ? "row" : "column", (long long)a->column_order[column] + 1);
	return each_block(qr, a->transposed ? least_norm : least_squares, b, x);
}

static int solve(heddle_sparse_qr *qr, const struct heddle_dense_array *b, const struct heddle_dense_array *x)
{
	struct hd_sparse_scope scope;
	int status = hd_sparse_scope_open(qr->sparse, &scope);
	if (status < 0)
		return status;
	return hd_sparse_scope_close(qr->sparse, &scope, heddle_sparse_solve_submit(qr, b, x));
}

int heddle_sparse_solve(heddle_sparse_qr *qr, const struct heddle_dense_array *b, const struct heddle_dense_array *x)
{
	int status = check_solve(qr, b, x);
	if (status >= 0)
		status = hd_sparse_check_results("heddle_sparse_solve", qr);
	if (status >= 0)
		status = hd_sparse_find_rank(qr);
	if (status < 0)
		return status;
	return qr->rank->n_dead > 0 ? hd_sparse_solve_basic(qr, b, x) : solve(qr, b, x);
}

/* Rows of F without elements belong to no front: they are copied. */
static void copy_empty(const struct heddle_sparse_qr *qr, enum heddle_dense_trans trans, size_t elem,
                       const struct heddle_dense_array *from, const struct heddle_dense_array *to)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	const int64_t *kept = qr->kept + qr->row_at[a->n_fronts];
	size_t first = hd_sparse_search(a->row_start, a->rows, (size_t)a->row_start[a->rows]);
	for (size_t i = first; i < a->rows; i++) {
		size_t own = (size_t)a->row_order[i], position = (size_t)kept[i - first];
		size_t source = trans == HEDDLE_DENSE_NO_TRANS ? position : own;
		size_t target = trans == HEDDLE_DENSE_NO_TRANS ? own : position;
		for (size_t j = 0; j < from->columns; j++)
			memcpy((char *)to->data + (target + j * to->ld) * elem,
			       (const char *)from->data + (source + j * from->ld) * elem, elem);
	}
}

int hd_sparse_multiply_q(struct heddle_sparse_qr *qr, enum heddle_dense_trans trans,
                         const struct heddle_dense_array *in, const struct heddle_dense_array *out)
{
	int is_product = trans == HEDDLE_DENSE_NO_TRANS;
	struct hd_sparse_scope scope;
	int status = is_product ? hd_sparse_turn(qr, trans, in) : 0;
	if (status >= 0)
		status = hd_sparse_scope_open(qr->sparse, &scope);
	if (status < 0)
		return status;
	status = hd_sparse_scope_close(qr->sparse, &scope, each_block(qr, is_product ? q : q_h, in, out));
	if (status < 0)
		return status;
	copy_empty(qr, trans, hd_sparse_element_size(qr->precision), in, out);
	return is_product ? 0 : hd_sparse_turn(qr, trans, out);
}

/* C := the product, by way of an array that has the result. */
static int apply_q(heddle_sparse_qr *qr, enum heddle_dense_trans trans, const struct heddle_dense_array *c)
{
	size_t elem = hd_sparse_element_size(qr->precision);
	struct heddle_dense_array result = *c;
	result.ld = c->rows;
	result.data = hd_sparse_allocate(c->columns, c->rows * elem);
	if (!result.data)
		return hd_sparse_no_memory("the product with Q");
	int status = hd_sparse_multiply_q(qr, trans, c, &result);
	for (size_t j = 0; status >= 0 && j < c->columns; j++)
		memcpy((char *)c->data + j * c->ld * elem, (char *)result.data + j * result.ld * elem, c->rows * elem);
	free(result.data);
	return status;
}

int heddle_sparse_apply_q(heddle_sparse_qr *qr, enum heddle_dense_trans trans, const struct heddle_dense_array *c)
{
	static const char function[] = "heddle_sparse_apply_q";
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a factorisation", function);
	int status = check_state(function, qr);
	if (status >= 0)
		status = check_array(function, qr, "C", c, qr->analysis->rows);
	if (status >= 0 && ((unsigned)trans > HEDDLE_DENSE_CONJ_TRANS ||
	                    (trans == HEDDLE_DENSE_TRANS && qr->precision >= HEDDLE_DENSE_COMPLEX_DOUBLE)))
		return heddle_error(HEDDLE_E_INVALID, "%s: C can be multiplied by Q or Q^H, not by transposition %d",
		                    function, (int)trans);
	if (status < 0 || c->rows == 0 || c->columns == 0)
		return status;
	status = hd_sparse_check_results(function, qr);
	if (status >= 0)
		status = hd_sparse_find_rank(qr);
	return status < 0 ? status : apply_q(qr, trans, c);
}
