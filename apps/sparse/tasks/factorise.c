/* A factorisation: its places, its tolerance, and its tasks, front by front in postorder. */
#include <sparse/tasks/rank.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

static int check(const heddle_sparse *sparse, const heddle_sparse_analysis *analysis,
                 enum heddle_dense_precision precision, const struct heddle_sparse_options *o)
{
	static const char function[] = "heddle_sparse_qr_create";
	if (!sparse || !analysis)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a sparse context and an analysis", function);
	if ((unsigned)precision >= HEDDLE_DENSE_PRECISIONS)
		return heddle_error(HEDDLE_E_INVALID, "%s: precision %d is not a value of enum heddle_dense_precision",
		                    function, (int)precision);
	if ((unsigned)o->priority > HEDDLE_SPARSE_PRIORITY_NONE)
		return heddle_error(HEDDLE_E_INVALID, "%s: priority %d is not a value of enum heddle_sparse_priority",
		                    function, (int)o->priority);
	if (o->tile > INT32_MAX / 64 || o->inner > INT32_MAX / 64)
		return heddle_error(HEDDLE_E_INVALID, "%s: tiles of order %zu with inner blocking %zu are too large",
		                    function, o->tile, o->inner);
	if (o->relax != 0 && !(o->relax >= 1))
		return heddle_error(HEDDLE_E_INVALID, "%s: relax is %g, it must be 0 or at least 1", function,
		                    o->relax);
	if (isnan(o->tolerance))
		return heddle_error(HEDDLE_E_INVALID, "%s: tolerance is nan, it must be a number", function);
	return 0;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The options with their defaults. Tiles that are larger than all fronts become smaller, because workspaces have room
 * for a whole tile. */
static struct heddle_sparse_options settle(const struct heddle_sparse_analysis *a,
                                           const struct heddle_sparse_options *options)
{
	enum { TILE = 256, INNER = 32 };
	struct heddle_sparse_options o = *options;
	size_t largest = TILE;
	for (size_t f = 0; f < a->n_fronts; f++)
		largest = larger(largest, larger(a->fronts[f].n_rows, a->fronts[f].n_columns));
	o.tile = smaller(o.tile ? o.tile : TILE, largest);
	o.inner = smaller(o.inner ? o.inner : INNER, o.tile);
	return o;
}

/* Where what belongs to each front begins. */
static void place_fronts(heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		int is_tree = front->subtree != HD_SPARSE_NONE;
		const struct hd_sparse_subtree *tree = is_tree ? &a->subtrees[front->subtree] : NULL;
		if (is_tree && f > tree->first_front)
			qr->packed_at[f] = qr->packed_at[f - 1] + hd_sparse_packed(front - 1, &qr->packing);
		qr->row_at[f + 1] = qr->row_at[f] + front->n_rows;
		qr->column_at[f + 1] = qr->column_at[f] + front->n_columns;
		qr->rhs_at[f + 1] =
		    qr->rhs_at[f] + (is_tree ? (size_t)(tree->root == f) : hd_sparse_grid(qr, front->n_rows));
	}
}

/* Numbers the rows of Q^H B: a row of R has the number of its pivot; the other rows, in the order of the fronts, get
 * the numbers of pivots without a row, and then numbers behind all pivots. */
static void place_rows(heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	size_t gap = 0, f_gap = 0,
	       empty = a->rows - hd_sparse_search(a->row_start, a->rows, (size_t)a->row_start[a->rows]);
	int64_t next = (int64_t)a->columns, *kept = qr->kept;
	for (size_t f = 0; f <= a->n_fronts; f++) {
		const struct hd_sparse_front *front = f < a->n_fronts ? &a->fronts[f] : NULL;
		size_t rows = front ? front->n_rows : empty, r_rows = front ? hd_sparse_r_rows(front) : 0;
		size_t contributed = front ? front->n_contributed : 0;
		for (size_t i = 0; i < rows; i++, kept++) {
			*kept = i < r_rows ? (int64_t)(front->first_pivot + i) : -1;
			if (i < r_rows + contributed)
				continue;
			for (; f_gap < a->n_fronts &&
			       hd_sparse_r_rows(&a->fronts[f_gap]) + gap >= a->fronts[f_gap].n_pivots;
			     f_gap++)
				gap = 0;
			*kept =
			    f_gap < a->n_fronts
			        ? (int64_t)(a->fronts[f_gap].first_pivot + hd_sparse_r_rows(&a->fronts[f_gap]) + gap++)
			        : next++;
		}
	}
}

static void find_origins(heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	for (size_t i = 0; i < qr->row_at[a->n_fronts]; i++)
		qr->origins[i].child = HD_SPARSE_NONE;
	for (size_t c = 0; c < a->n_fronts; c++)
		for (size_t i = 0; i < a->fronts[c].n_contributed; i++)
			qr->origins[qr->row_at[a->fronts[c].parent] + (size_t)a->fronts[c].up_row[i]] =
			    (struct hd_sparse_origin){c, i};
}

static int make_workspaces(heddle_sparse_qr *qr)
{
	struct hd_sparse_flow flow = {.qr = qr};
	size_t small = HD_SPARSE_RHS * qr->options.tile;
	for (size_t s = 0; s < qr->analysis->n_subtrees; s++) {
		const struct hd_sparse_job job = hd_sparse_job(qr, s);
		small = larger(small, hd_sparse_subtree_small_work(&job));
	}
	qr->tile_work = hd_sparse_register(&flow, heddle_dense_qr_workspace(qr->options.tile, qr->packing.inner), 1);
	qr->small_work = hd_sparse_register(&flow, small, 1);
	if (flow.status >= 0)
		flow.status = heddle_variable(qr->sparse->rt, &qr->in_use_value, 1, &qr->in_use);
	return flow.status;
}

/* Kernels count rows and columns by int. */
static int fits(const heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	for (size_t f = 0; f < a->n_fronts; f++) {
		size_t tree = a->fronts[f].subtree, first = tree == HD_SPARSE_NONE ? f : a->subtrees[tree].first_front;
		if (qr->row_at[f + 1] - qr->row_at[first] > INT_MAX ||
		    qr->column_at[f + 1] - qr->column_at[first] > INT_MAX)
			return 0;
	}
	return 1;
}

/* Cuts subtrees off that suit the runtime's machine, unless the options of the analysis say which. */
static int cut(heddle_sparse_qr *qr)
{
	if (qr->analysis->cut_is_given)
		return 0;
	struct hd_sparse_machine machine = hd_sparse_machine_of(qr->sparse, qr->precision, qr->options.tile);
	int status = hd_sparse_cut_for(qr->analysis, machine, &qr->cut);
	qr->analysis = status < 0 ? qr->analysis : qr->cut;
	return status;
}

static int allocate(heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	size_t n = a->n_fronts + 1;
	qr->nodes = calloc(n, sizeof *qr->nodes);
	qr->packed_at = calloc(4 * n, sizeof *qr->packed_at);
	if (!qr->nodes || !qr->packed_at)
		return hd_sparse_no_memory("the fronts of a factorisation");
	qr->row_at = qr->packed_at + n;
	qr->column_at = qr->row_at + n;
	qr->rhs_at = qr->column_at + n;
	place_fronts(qr);
	if (!fits(qr))
		return heddle_error(HEDDLE_E_UNSUPPORTED,
		                    "a front, or the fronts of a subtree together, have more than "
		                    "2^31 rows or columns");
	qr->kept = malloc((qr->row_at[a->n_fronts] + a->rows + 1) * sizeof *qr->kept);
	qr->origins = malloc((qr->row_at[a->n_fronts] + 1) * sizeof *qr->origins);
	if (!qr->kept || !qr->origins)
		return hd_sparse_no_memory("the rows of a factorisation");
	place_rows(qr);
	find_origins(qr);
	return make_workspaces(qr);
}

int heddle_sparse_qr_create(heddle_sparse *sparse, const heddle_sparse_analysis *analysis,
                            enum heddle_dense_precision precision, const struct heddle_sparse_options *options,
                            heddle_sparse_qr **out)
{
	static const struct heddle_sparse_options defaults;
	int status = check(sparse, analysis, precision, options ? options : &defaults);
	if (status < 0)
		return status;
	if (!out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_qr_create needs a place for its result");
	heddle_sparse_qr *qr = calloc(1, sizeof *qr);
	if (!qr)
		return hd_sparse_no_memory("a factorisation");
	qr->sparse = sparse;
	qr->analysis = analysis;
	qr->precision = precision;
	qr->options = settle(analysis, options ? options : &defaults);
	qr->packing = (struct hd_sparse_packing){qr->options.inner, !qr->options.drop_q};
	for (size_t i = 0; i < 2 && qr->options.strips[i] > 0; i++)
		qr->widths[i] = qr->options.strips[i];
	status = cut(qr);
	status = status < 0 ? status : allocate(qr);
	if (status < 0) {
		heddle_sparse_qr_destroy(qr);
		return status;
	}
	*out = qr;
	return 0;
}

/* A task without a kernel that writes in_use ends after all that read it. If there is no memory for it, the bound does
 * not count what is being freed. */
static void wait_for_tasks(heddle_sparse_qr *qr)
{
	heddle_task *task;
	if (heddle_submit(qr->sparse->rt, heddle_rw(qr->in_use), heddle_out(&task)) < 0)
		return;
	while (heddle_task_wait(task) == HEDDLE_E_INTERRUPTED)
		;
	heddle_task_release(task);
}

static void drop_all(heddle_sparse_qr *qr)
{
	for (size_t f = 0; qr->nodes && qr->packed_at && f < qr->analysis->n_fronts; f++)
		hd_sparse_drop_front(qr, f);
}

int heddle_sparse_qr_destroy(heddle_sparse_qr *qr)
{
	if (!qr)
		return 0;
	int status = qr->in_use ? heddle_may_wait(qr->sparse->rt) : 0;
	if (status < 0)
		return status;
	while (qr->in_use && heddle_unregister(qr->in_use) == HEDDLE_E_INTERRUPTED)
		; /* which waits for all tasks that use this structure */
	drop_all(qr);
	hd_sparse_drop(&qr->tile_work);
	hd_sparse_drop(&qr->small_work);
	hd_sparse_rank_free(qr->rank);
	free(qr->kept);
	free(qr->origins);
	free(qr->packed_at);
	free(qr->nodes);
	hd_sparse_cut_free(qr->cut);
	free(qr);
	return 0;
}

/* --- Factorising -------------------------------------------------------------------------------------------------- */

#define HD_TEMPLATE <sparse/tasks/norms_template.h>
#include <dense/kernels/precisions.h>

/* SuiteSparseQR's tolerance, if the program has none. */
static int find_tolerance(heddle_sparse_qr *qr, const void *values)
{
	static int (*const largest[])(const struct heddle_sparse_analysis *a, const void *values, double *out) = {
	    hd_d_largest_column, hd_s_largest_column, hd_z_largest_column, hd_c_largest_column};
	const struct heddle_sparse_analysis *a = qr->analysis;
	double norm = 0;
	qr->tolerance = qr->options.tolerance;
	if (qr->options.tolerance != 0 || !values)
		return 0;
	int status = largest[qr->precision](a, values, &norm);
	double eps = hd_sparse_is_single(qr->precision) ? FLT_EPSILON : DBL_EPSILON;
	qr->tolerance = 20 * (double)(a->rows + a->columns) * eps * norm;
	return status;
}

static int submit_fronts(heddle_sparse_qr *qr)
{
	struct hd_sparse_memory memory = {.bound = 0};
	struct hd_sparse_flow flow = {.qr = qr};
	if (qr->options.relax > 0) {
		/* a larger product is no size_t */
		memory.bound = (size_t)fmin((double)hd_sparse_peak(qr) * qr->options.relax, 0x1p63);
		flow.memory = &memory;
	}
	if (qr->options.priority == HEDDLE_SPARSE_PRIORITY_PATH && !(flow.levels = hd_sparse_levels_new(qr)))
		flow.status = hd_sparse_no_memory("priorities");
	for (size_t f = 0; f < qr->analysis->n_fronts && flow.status >= 0; f++)
		hd_sparse_front_tasks(&flow, f);
	hd_sparse_memory_free(&memory);
	free(flow.levels);
	hd_sparse_flow_end(&flow);
	return flow.status;
}

int heddle_sparse_factorise_submit(heddle_sparse_qr *qr, const void *values)
{
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_factorise needs a factorisation");
	int status = qr->options.relax > 0 ? heddle_may_wait(qr->sparse->rt) : 0;
	if (status < 0)
		return status;
	if (qr->options.relax > 0 && qr->submitted)
		wait_for_tasks(qr); /* what is there from the last time counts, too, until it is freed */
	drop_all(qr);
	hd_sparse_rank_free(qr->rank);
	qr->rank = NULL;
	qr->values = values;
	status = find_tolerance(qr, values);
	if (status >= 0)
		status = submit_fronts(qr);
	qr->submitted = status >= 0;
	return status;
}

int heddle_sparse_factorise(heddle_sparse_qr *qr, const void *values)
{
	struct hd_sparse_scope scope;
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_factorise needs a factorisation");
	int status = hd_sparse_scope_open(qr->sparse, &scope);
	if (status < 0)
		return status;
	return hd_sparse_scope_close(qr->sparse, &scope, heddle_sparse_factorise_submit(qr, values));
}
