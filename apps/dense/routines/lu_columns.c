/* Sub-graphs of tasks of LU with pivoting on a column of tiles that are cut into smaller tiles.
 *
 * A panel on tiles is a factorisation of a tall matrix of smaller tiles, whose rows are those of all its tiles. So its
 * sub-graph is the routine itself, on the smaller tiles below each other and on the pivots, which are cut in the same
 * way. Interchanges of rows become one task per column of smaller tiles. */
#include <dense/codelets/lu.h>
#include <dense/routines/lu.h>
#include <stdlib.h>
#include <string.h>

/* --- Pivots ------------------------------------------------------------------------------------------------------- */

/* Plans pieces of widths[0] pivots, which are cut in turn; the pointer of a datum (heddle_data_user) is its plan. */
static int plan(heddle_data *pivots, const size_t *widths)
{
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_VECTOR, .tile_x = *widths};
	heddle_plan *made;
	if (*widths == 0 || heddle_data_user(pivots))
		return 0;
	int status = heddle_plan_create(pivots, &filter, &made);
	for (size_t i = 0; status >= 0 && i < heddle_plan_size(made); i++)
		status = plan(heddle_plan_child(made, i), widths + 1);
	return status < 0 ? status : heddle_data_set_user(pivots, made);
}

int hd_lu_plan_pivots(heddle_dense_pivots *pivots, const heddle_dense_matrix *a)
{
	size_t widths[HD_DENSE_WIDTHS];
	int status = 0;
	hd_dense_widths(a, widths);
	pthread_mutex_lock(&a->dense->making);
	if (pivots->widths[0] == 0)
		memcpy(pivots->widths, widths, sizeof widths);
	for (size_t k = 0; k < pivots->count && status >= 0; k++)
		status = plan(pivots->parts[k], pivots->widths);
	pthread_mutex_unlock(&a->dense->making);
	return status;
}

int hd_lu_pivots_fit(const heddle_dense_pivots *pivots, size_t k, const heddle_dense_matrix *a)
{
	size_t widths[HD_DENSE_WIDTHS];
	hd_dense_widths(a, widths);
	return heddle_data_user(pivots->parts[k]) && memcmp(widths, pivots->widths, sizeof widths) == 0;
}

/* --- Tiles below each other --------------------------------------------------------------------------------------- */

int hd_lu_column_is_cut(const heddle_dense_matrix *c, size_t first, size_t j)
{
	const heddle_dense_matrix *top = hd_dense_refined(hd_dense_tile(c, first, j));
	for (size_t i = first; i < c->mt; i++) {
		const heddle_dense_matrix *part = hd_dense_refined(hd_dense_tile(c, i, j));
		if (!part || part->shape.tile != top->shape.tile)
			return 0;
		if (i + 1 < c->mt && part->shape.rows % part->shape.tile != 0)
			return 0;
	}
	return 1;
}

/* The smaller tiles of the first n data of a task as one matrix, which the caller frees; it owns none of them. */
static heddle_dense_matrix *stack(const heddle_context *c, size_t n, const struct hd_dense_parent *p, size_t row)
{
	const heddle_dense_matrix *top = hd_dense_refined(heddle_context_data(c, 0));
	size_t mt = 0, rows = 0;
	for (size_t i = 0; i < n; i++) {
		const heddle_dense_matrix *part = hd_dense_refined(heddle_context_data(c, i));
		mt += part->mt;
		rows += part->shape.rows;
	}
	heddle_dense_matrix *all = calloc(1, sizeof *all + mt * top->nt * sizeof(heddle_data *));
	if (!all)
		return NULL;
	all->dense = p->dense;
	all->shape = top->shape;
	all->shape.rows = rows;
	all->mt = mt;
	all->nt = top->nt;
	all->temporary = top->temporary;
	all->row = row;
	all->unit = top->unit;
	for (size_t i = 0, above = 0; i < n; i++) {
		const heddle_dense_matrix *part = hd_dense_refined(heddle_context_data(c, i));
		for (size_t t = 0; t < part->mt * part->nt; t++)
			all->tiles[above + t % part->mt + t / part->mt * mt] = part->tiles[t];
		above += part->mt;
	}
	return all;
}

/* Pivots for the matrix `a`: the data of the task from `first` on or, if `pieces`, the pieces of datum `first`. The
 * caller frees the pivots, which own no datum. */
static heddle_dense_pivots *pivots_of(const heddle_context *c, size_t first, const heddle_dense_matrix *a, int pieces)
{
	const heddle_plan *cut = pieces ? heddle_data_user(heddle_context_data(c, first)) : NULL;
	size_t n = pieces ? heddle_plan_size(cut) : heddle_context_n_data(c) - first;
	heddle_dense_pivots *pivots = calloc(1, sizeof *pivots + n * sizeof(heddle_data *));
	if (!pivots)
		return NULL;
	pivots->dense = a->dense;
	pivots->rows = a->shape.rows;
	pivots->n = a->shape.rows < a->shape.columns ? a->shape.rows : a->shape.columns;
	pivots->tile = a->shape.tile;
	pivots->count = n;
	hd_dense_widths(a, pivots->widths);
	for (size_t k = 0; k < n; k++)
		pivots->parts[k] = pieces ? heddle_plan_child(cut, k) : heddle_context_data(c, first + k);
	return pivots;
}

/* --- Sub-graphs --------------------------------------------------------------------------------------------------- */

static void interchange_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	for (size_t j = 0; j < x->m[0]->nt; j++)
		hd_dense_laswp_insert(flow, x, x->m[0],
		                      &(struct hd_dense_interchanges){j, 0, x->pivots->count, x->backward});
}

int hd_lu_subgraph(heddle_context *c)
{
	const struct hd_dense_parent *p = heddle_value_ptr(c, 1);
	const size_t *n_tiles = heddle_value_ptr(c, 2);
	int is_panel = p->op == HD_DENSE_GETRF_PANEL, status;
	const struct hd_dense_lu_values *panel = heddle_value_ptr(c, 0);
	const struct hd_dense_laswp_values *laswp = heddle_value_ptr(c, 0);
	struct hd_dense_flow flow = hd_dense_flow_inside(p);
	struct hd_dense_args x = {.regular = is_panel && panel->must_be_regular,
	                          .backward = !is_panel && laswp->backward};
	x.m[0] = stack(c, *n_tiles, p, is_panel ? panel->row : laswp->row);
	x.pivots = x.m[0] ? pivots_of(c, *n_tiles, x.m[0], is_panel) : NULL;
	if (x.pivots)
		status = hd_dense_flow_run(&flow, is_panel ? hd_dense_getrf_tasks : interchange_tasks, &x);
	else
		status = hd_dense_no_memory("a column of smaller tiles");
	free(x.pivots);
	free(x.m[0]);
	return status < 0 ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}
