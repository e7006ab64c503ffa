/* Tasks on tiles that are cut into smaller tiles: the sub-graph of such a task is the same routine on the smaller
 * tiles.
 *
 * So no sub-graphs have to be written: a routine of routines/ does to matrices what the task does to its tiles, and the
 * values of the task are the arguments of the routine. A task has no sub-graph if some of its tiles are not cut, or if
 * their smaller tiles do not fit together. */
#include <dense/codelets/lu.h>
#include <dense/internal.h>

static void gemm_args(struct hd_dense_args *x, const void *values)
{
	const struct hd_dense_gemm_values *v = values;
	x->trans_a = v->trans_a;
	x->trans_b = v->trans_b;
	x->alpha = v->alpha;
	x->beta = v->beta;
}

static void syrk_args(struct hd_dense_args *x, const void *values)
{
	const struct hd_dense_syrk_values *v = values;
	x->uplo = v->uplo;
	x->trans_a = v->trans;
	x->alpha = v->alpha;
	x->beta = v->beta;
}

static void symm_args(struct hd_dense_args *x, const void *values)
{
	const struct hd_dense_symm_values *v = values;
	x->side = v->side;
	x->uplo = v->uplo;
	x->alpha = v->alpha;
	x->beta = v->beta;
}

static void triangle_args(struct hd_dense_args *x, const void *values)
{
	const struct hd_dense_triangle_values *v = values;
	x->side = v->side;
	x->uplo = v->uplo;
	x->trans_a = v->trans;
	x->diag = v->diag;
	x->alpha = v->alpha;
}

static void diagonal_args(struct hd_dense_args *x, const void *values)
{
	const struct hd_dense_diagonal_values *v = values;
	x->uplo = v->uplo;
	x->diag = v->diag;
}

static void no_args(struct hd_dense_args *x, const void *values)
{
	(void)x;
	(void)values;
}

/* The routine for the sub-graph of each codelet. The task's first datum is the routine's last matrix; the other data
 * are the earlier matrices, in the same order. The codelets of QR, and of LU with pivoting, have other sub-graphs. */
static const struct row {
	const struct hd_dense_operation *operation; /* NULL: there is no sub-graph */
	void (*args)(struct hd_dense_args *x, const void *values);
	size_t n_data;
} rows[HD_DENSE_N_OPS] = {
    [HD_DENSE_GEMM] = {&hd_dense_gemm_operation, gemm_args, 3},
    [HD_DENSE_SYRK] = {&hd_dense_syrk_operation, syrk_args, 2},
    [HD_DENSE_HERK] = {&hd_dense_herk_operation, syrk_args, 2},
    [HD_DENSE_SYMM] = {&hd_dense_symm_operation, symm_args, 3},
    [HD_DENSE_HEMM] = {&hd_dense_hemm_operation, symm_args, 3},
    [HD_DENSE_TRSM] = {&hd_dense_trsm_operation, triangle_args, 2},
    [HD_DENSE_TRMM] = {&hd_dense_trmm_operation, triangle_args, 2},
    [HD_DENSE_POTRF] = {&hd_dense_potrf_operation, diagonal_args, 1},
    [HD_DENSE_TRTRI] = {&hd_dense_trtri_operation, diagonal_args, 1},
    [HD_DENSE_LAUUM] = {&hd_dense_lauum_operation, diagonal_args, 1},
    [HD_DENSE_GETRF_NOPIV] = {&hd_dense_getrf_nopiv_operation, no_args, 1},
};

/* The index, among the routine's matrices, of the matrix that datum `i` of the task is cut into. */
static size_t place_of(const struct row *row, size_t i)
{
	return i == 0 ? row->n_data - 1 : i - 1;
}

int hd_dense_may_expand(enum hd_dense_op op, size_t n, const struct heddle_item *items)
{
	const struct row *row = &rows[op];
	struct hd_dense_args x = {.m = {NULL}};
	size_t n_data = 0;
	if (!row->operation)
		return 0;
	for (size_t i = 2; i < n; i++) {
		if (items[i].what == HEDDLE_ITEM_VALUE) {
			row->args(&x, items[i].ptr);
			continue;
		}
		if (n_data == row->n_data)
			return 0; /* the task is a product of blocks of tiles */
		heddle_dense_matrix *part = hd_dense_refined(items[i].ptr);
		if (!part)
			return 0;
		x.m[place_of(row, n_data++)] = part;
	}
	/* a routine on a triangle that it overwrites would leave the other tiles without a value */
	if (items[2].what == HEDDLE_W && x.uplo != HEDDLE_DENSE_GENERAL && row->n_data == 2)
		return 0;
	for (size_t i = 1; i < n_data; i++)
		if (x.m[i]->shape.tile != x.m[0]->shape.tile)
			return 0;
	return !row->operation->check || row->operation->check(&x) >= 0;
}

struct hd_dense_flow hd_dense_flow_inside(const struct hd_dense_parent *p)
{
	return (struct hd_dense_flow){
	    .dense = p->dense,
	    .precision = p->precision,
	    .options = {.priority = p->priorities, .info = p->info},
	    .no_expert = 1,
	    .inside = 1,
	    .top = p->priority,
	    .width = p->width,
	};
}

/* Sets the unit of levels: the tasks of a sub-graph are on smaller tiles, so a path across the matrix has more of them,
 * and each task weighs less. */
static void measure(struct hd_dense_flow *flow, const struct hd_dense_parent *p, size_t tile)
{
	flow->step = p->step / (int)((p->tile + tile - 1) / tile);
	flow->rest = p->rest;
}

static int subgraph(heddle_context *c)
{
	const struct hd_dense_parent *p = heddle_value_ptr(c, 1);
	const struct row *row = &rows[p->op];
	struct hd_dense_args x = {.m = {NULL}};
	struct hd_dense_flow flow = hd_dense_flow_inside(p);
	row->args(&x, heddle_value_ptr(c, 0));
	for (size_t i = 0; i < row->n_data; i++)
		x.m[place_of(row, i)] = hd_dense_refined(heddle_context_data(c, i));
	if (p->step > 0)
		measure(&flow, p, x.m[0]->shape.tile);
	int status = hd_dense_flow_run(&flow, row->operation->tasks, &x);
	return status < 0 ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}

hd_dense_subgraph hd_dense_subgraph_of(enum hd_dense_op op)
{
	if (op >= HD_DENSE_GEQRT && op <= HD_DENSE_TTMQR)
		return hd_qr_subgraph;
	if (op == HD_DENSE_GETRF_PANEL || op == HD_DENSE_LASWP)
		return hd_lu_subgraph;
	return rows[op].operation ? subgraph : NULL;
}
