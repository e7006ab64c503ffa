/* The codelets of right-hand sides: rows that go up the tree with Q^H, or down with Q; triangles of R. */
#include <sparse/tasks/codelets.h>
#include <dense/kernels/blas3.h>

/* Fails the task because of this column of F. */
static int fail_on_column(heddle_context *c, const struct hd_sparse_solve_value *v, int64_t column)
{
	const struct heddle_sparse_analysis *a = v->qr->analysis;
	return heddle_fail(
	    c, 1,
	    "matrix A has not full rank: its %s %lld (counted from 1) depends on others within the tolerance %g, "
	    "or R overflows or underflows there; heddle_sparse_solve finds a solution, or says so",
	    a->transposed ? "row" : "column", (long long)a->column_order[column] + 1, v->tolerance);
}

/* The row of tiles of a front that a task works on. */
static size_t first_row(const struct hd_sparse_solve_value *v)
{
	return v->row * v->qr->options.tile;
}

static const struct hd_sparse_front *front_of(const struct hd_sparse_solve_value *v)
{
	return &v->qr->analysis->fronts[v->front];
}

#define HD_TEMPLATE <sparse/tasks/solve_codelets_template.h>
#include <dense/kernels/precisions.h>

const struct hd_sparse_codelet hd_sparse_solve_codelets[] = {
    {HD_SPARSE_ROWS_UP, "sparse_rows_up", HD_SPARSE_FOUR(rows_up_task), 0x8a9ba8, hd_sparse_solve_time},
    {HD_SPARSE_ROWS_DOWN, "sparse_rows_down", HD_SPARSE_FOUR(rows_down_task), 0x8a9ba8, hd_sparse_solve_time},
    {HD_SPARSE_ROWS_OUT, "sparse_rows_out", HD_SPARSE_FOUR(rows_out_task), 0x8a9ba8, hd_sparse_solve_time},
    {HD_SPARSE_ROWS_EMPTY, "sparse_rows_empty", HD_SPARSE_FOUR(rows_empty_task), 0x8a9ba8, hd_sparse_solve_time},
    {HD_SPARSE_BACK, "sparse_back", HD_SPARSE_FOUR(back_task), 0xb07060, hd_sparse_solve_time},
    {HD_SPARSE_COLUMNS_UP, "sparse_columns_up", HD_SPARSE_FOUR(columns_up_task), 0x8a9ba8, hd_sparse_solve_time},
    {HD_SPARSE_FORWARD, "sparse_forward", HD_SPARSE_FOUR(forward_task), 0xb07060, hd_sparse_solve_time},
    {HD_SPARSE_SUBTREE_UP, "sparse_subtree_up", HD_SPARSE_FOUR(subtree_up_task), 0x6b4c9a, hd_sparse_solve_time},
    {HD_SPARSE_SUBTREE_DOWN, "sparse_subtree_down", HD_SPARSE_FOUR(subtree_down_task), 0x6b4c9a, hd_sparse_solve_time},
    {HD_SPARSE_SUBTREE_BACK, "sparse_subtree_back", HD_SPARSE_FOUR(subtree_back_task), 0x6b4c9a, hd_sparse_solve_time},
    {HD_SPARSE_SUBTREE_FORWARD, "sparse_subtree_forward", HD_SPARSE_FOUR(subtree_forward_task), 0x6b4c9a,
     hd_sparse_solve_time},
    {.name = NULL},
};
