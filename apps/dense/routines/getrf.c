/* Tiled right-looking LU factorisation, with or without partial pivoting. If there is a right-hand side B, each step
 * also updates B, which becomes L^-1 P B.
 *
 * With pivoting, step k factorises the tiles of column k from the diagonal down in one task, a panel. Each column right
 * of it then has its rows interchanged (laswp), its tile of row k solved with L (trsm), and the tiles below updated
 * (gemm). The interchanges that columns of L still lack are made at the end, all panels at once, because nothing waits
 * for them. Without pivoting, the panel is a task on the tile of the diagonal, and one trsm per tile below it.
 * (Buttari, Langou, Kurzak, Dongarra: A class of parallel tiled linear algebra algorithms for multicore architectures,
 * 2009, section 4, pivots within pairs of tiles instead; LAPACK's pivoting is kept here, for its results and
 * stability.)
 *
 * HEDDLE_DENSE_PRIORITY_STARPU is 2 (t - k) for the diagonal or the panel, and for other tasks less the row and the
 * column of their tile (as in Chameleon's pzgetrf_nopiv and StarPU's LU examples). */
#include <dense/codelets/lu.h>
#include <dense/routines/lu.h>
#include <stdlib.h>

/* The priority of a task on tile (m, n) in step k. A row m or column n that equals k is not subtracted. */
static void set_expert(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, size_t m, size_t n)
{
	const heddle_dense_matrix *a = x->m[0];
	size_t t = a->nt < a->mt ? a->nt : a->mt;
	if (!x->m[1]) /* solvers have no expert priorities */
		hd_dense_expert(flow, 2 * (long long)(t - k) - (long long)(m > k ? m : 0) - (long long)(n > k ? n : 0));
}

/* A task on the tiles of a column of C from row m of tiles on, and on the parts [from, to) of the pivots. */
struct column_task {
	enum hd_dense_op op;
	const heddle_dense_matrix *c;
	size_t j, m;
	enum heddle_mode pivots;
	size_t from, to;
};

static void insert_column(struct hd_dense_flow *flow, const struct hd_dense_args *x, const struct column_task *task,
                          struct heddle_item value)
{
	struct heddle_item *items = malloc((3 + task->c->mt + x->pivots->count) * sizeof *items);
	if (!items) {
		if (flow->status >= 0)
			flow->status = hd_dense_no_memory("a task on a column of tiles");
		return;
	}
	size_t n = 2, n_tiles = task->c->mt - task->m;
	struct hd_dense_extra cut = {&n_tiles, sizeof n_tiles};
	int is_cut = flow->refined && hd_lu_column_is_cut(task->c, task->m, task->j) &&
	             (task->op != HD_DENSE_GETRF_PANEL || hd_lu_pivots_fit(x->pivots, task->from, task->c));
	items[n++] = value;
	for (size_t i = task->m; i < task->c->mt; i++)
		items[n++] = heddle_rw(hd_dense_tile(task->c, i, task->j));
	for (size_t p = task->from; p < task->to; p++)
		items[n++] = heddle_access(task->pivots, x->pivots->parts[p]);
	flow->times = (int)n_tiles;
	hd_dense_insert_cut(flow, task->op, n, items, is_cut ? &cut : NULL);
	free(items);
}

void hd_dense_laswp_insert(struct hd_dense_flow *flow, const struct hd_dense_args *x, const heddle_dense_matrix *c,
                           const struct hd_dense_interchanges *which)
{
	struct hd_dense_laswp_values v = {hd_dense_first_row(c, which->from), c->mt - which->from, which->backward};
	struct column_task task = {HD_DENSE_LASWP, c, which->column, which->from, HEDDLE_R, which->from, which->to};
	insert_column(flow, x, &task, heddle_value(v));
}

static void panel(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k)
{
	const heddle_dense_matrix *a = x->m[0];
	struct hd_dense_lu_values v = {hd_dense_first_row(a, k), x->m[1] || x->regular, flow->options.info};
	set_expert(flow, x, k, k, k);
	insert_column(flow, x, &(struct column_task){HD_DENSE_GETRF_PANEL, a, k, k, HEDDLE_W, k, k + 1},
	              heddle_value(v));
}

/* The same without pivoting. */
static void diagonal_and_column(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k)
{
	const heddle_dense_matrix *a = x->m[0];
	struct hd_dense_lu_values v = {hd_dense_first_row(a, k), 1, flow->options.info};
	struct hd_dense_triangle_values u = {
	    HEDDLE_DENSE_RIGHT, HEDDLE_DENSE_UPPER, HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NON_UNIT, {1, 0},
	};
	set_expert(flow, x, k, k, k);
	hd_dense_insert(flow, HD_DENSE_GETRF_NOPIV, heddle_rw(hd_dense_tile(a, k, k)), heddle_value(v));
	for (size_t m = k + 1; m < a->mt; m++) {
		set_expert(flow, x, k, m, k);
		hd_dense_insert(flow, HD_DENSE_TRSM, heddle_rw(hd_dense_tile(a, m, k)),
		                heddle_r(hd_dense_tile(a, k, k)), heddle_value(u));
	}
}

/* The update of columns `left` to `right` - 1 of C in step k; C is A or the right-hand side. */
struct columns {
	const heddle_dense_matrix *c;
	size_t left, right;
	struct hd_dense_block block; /* size of the blocks of tiles for products */
};

static void update(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k, const struct columns *which)
{
	const heddle_dense_matrix *a = x->m[0], *c = which->c;
	struct hd_dense_triangle_values l = {
	    HEDDLE_DENSE_LEFT, HEDDLE_DENSE_LOWER, HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_UNIT, {1, 0},
	};
	for (size_t j = which->left; j < which->right; j++) {
		set_expert(flow, x, k, k, j);
		if (x->pivots)
			hd_dense_laswp_insert(flow, x, c, &(struct hd_dense_interchanges){j, k, k + 1, 0});
		hd_dense_insert(flow, HD_DENSE_TRSM, heddle_rw(hd_dense_tile(c, k, j)),
		                heddle_r(hd_dense_tile(a, k, k)), heddle_value(l));
	}
	struct hd_dense_block_product p = {
	    .c = c,
	    .a = a,
	    .b = c,
	    .k = k,
	    .left = which->left,
	    .right = which->right,
	    .values = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, {-1, 0}, {1, 0}, 0},
	};
	for (p.first = k + 1; p.first < a->mt; p.first = p.end) {
		p.end = hd_dense_block_end(p.first, which->block.down, a->mt);
		set_expert(flow, x, k, p.first, which->left);
		hd_dense_insert_block(flow, &p);
	}
}

/* Updates the columns of C from `left` on, in blocks. The column of the next panel is a separate block, because the
 * panel waits for it. */
static void update_all(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t k,
                       const heddle_dense_matrix *c, size_t left)
{
	const heddle_dense_matrix *a = x->m[0];
	struct columns which = {.c = c, .left = left};
	which.block = hd_dense_block(flow, c, a->mt - k - 1, c->nt - left);
	for (; which.left < c->nt; which.left = which.right) {
		which.right =
		    hd_dense_block_end(which.left, which.left == k + 1 && c == a ? 1 : which.block.across, c->nt);
		update(flow, x, k, &which);
	}
}

void hd_dense_getrf_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1];
	size_t t = a->mt < a->nt ? a->mt : a->nt;
	if (x->pivots && flow->refined && !flow->inside && flow->status >= 0)
		flow->status = hd_lu_plan_pivots(x->pivots, a);
	for (size_t k = 0; k < t; k++) {
		if (x->pivots)
			panel(flow, x, k);
		else
			diagonal_and_column(flow, x, k);
		update_all(flow, x, k, a, k + 1);
		if (b)
			update_all(flow, x, k, b, 0);
	}
	set_expert(flow, x, 0, 2 * t, 2 * t);
	for (size_t j = 0; x->pivots && j + 1 < t; j++)
		hd_dense_laswp_insert(flow, x, a, &(struct hd_dense_interchanges){j, j + 1, t, 0});
}

int hd_dense_check_lu(const char *routine, const struct hd_dense_args *x, int square)
{
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1];
	const heddle_dense_pivots *p = x->pivots;
	if (a->shape.uplo != HEDDLE_DENSE_GENERAL || (b && b->shape.uplo != HEDDLE_DENSE_GENERAL))
		return heddle_error(HEDDLE_E_INVALID, "%s needs all tiles of its matrices, this one is a triangle",
		                    routine);
	if (square && a->shape.rows != a->shape.columns)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a square matrix, this one is %zu x %zu", routine,
		                    a->shape.rows, a->shape.columns);
	if (b && b->shape.rows != a->shape.rows)
		return heddle_error(HEDDLE_E_INVALID, "%s: A has %zu rows and B has %zu", routine, a->shape.rows,
		                    b->shape.rows);
	if (p && (p->dense != a->dense || p->tile != a->shape.tile || p->rows != a->shape.rows ||
	          p->n != (a->shape.rows < a->shape.columns ? a->shape.rows : a->shape.columns)))
		return heddle_error(HEDDLE_E_INVALID, "%s: the pivots were created for a matrix of another shape",
		                    routine);
	return 0;
}

static int check_pivoted(const struct hd_dense_args *x)
{
	if (!x->pivots)
		return heddle_error(HEDDLE_E_INVALID, "getrf needs a place for its pivots");
	return hd_dense_check_lu("getrf", x, 0);
}

static int check_nopiv(const struct hd_dense_args *x)
{
	return hd_dense_check_lu("getrf_nopiv", x, 0);
}

static int open_pivots(struct hd_dense_args *x)
{
	return heddle_dense_pivots_create(x->m[0], x->ipiv, &x->pivots);
}

static int close_pivots(struct hd_dense_args *x, int status)
{
	return hd_dense_pivots_finish(x->pivots, status);
}

struct hd_dense_args hd_dense_pivoted(int *ipiv)
{
	return (struct hd_dense_args){.ipiv = ipiv, .open = open_pivots, .close = close_pivots};
}

static const struct hd_dense_operation getrf = {"getrf", "A", check_pivoted, hd_dense_getrf_tasks};
const struct hd_dense_operation hd_dense_getrf_nopiv_operation = {"getrf_nopiv", "A", check_nopiv,
                                                                  hd_dense_getrf_tasks};

int heddle_dense_getrf_submit(heddle_dense_matrix *a, heddle_dense_pivots *pivots,
                              const struct heddle_dense_options *options)
{
	return hd_dense_submit(&getrf, &(struct hd_dense_args){.m = {a}, .pivots = pivots}, options);
}

int heddle_dense_getrf(heddle_dense *dense, const struct heddle_dense_array *a, int *ipiv,
                       const struct heddle_dense_options *options)
{
	struct hd_dense_args x = hd_dense_pivoted(ipiv);
	struct hd_dense_operand operand = {.name = "A", .array = a, .mode = HEDDLE_RW};
	return hd_dense_call(dense, &getrf, &x, &operand, options);
}

int heddle_dense_getrf_nopiv_submit(heddle_dense_matrix *a, const struct heddle_dense_options *options)
{
	return hd_dense_submit(&hd_dense_getrf_nopiv_operation, &(struct hd_dense_args){.m = {a}}, options);
}

int heddle_dense_getrf_nopiv(heddle_dense *dense, const struct heddle_dense_array *a,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.ipiv = NULL};
	struct hd_dense_operand operand = {.name = "A", .array = a, .mode = HEDDLE_RW};
	return hd_dense_call(dense, &hd_dense_getrf_nopiv_operation, &x, &operand, options);
}
