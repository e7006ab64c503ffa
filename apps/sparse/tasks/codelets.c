/* The codelets of the factorisation: the assembly of a tile, and a subtree; and the making of all codelets. */
#include <sparse/tasks/codelets.h>
#include <stdio.h>
#include <string.h>

/* Fails the task because of element e of F. */
static int fail_on_element(heddle_context *c, const struct heddle_sparse_analysis *a, int64_t e, int is_nan)
{
	size_t i = hd_sparse_search(a->row_start, a->rows + 1, (size_t)e + 1) - 1;
	int64_t row = a->row_order[i], column = a->column_order[a->column[e]];
	return heddle_fail(c, 1, "matrix A has %s in row %lld, column %lld (counted from 1)",
	                   is_nan ? "NaN" : "an infinite value", (long long)(a->transposed ? column : row) + 1,
	                   (long long)(a->transposed ? row : column) + 1);
}

#define HD_TEMPLATE <sparse/tasks/codelets_template.h>
#include <dense/kernels/precisions.h>

const struct hd_sparse_codelet hd_sparse_codelets[] = {
    {HD_SPARSE_ASSEMBLE, "sparse_assemble", HD_SPARSE_FOUR(assemble_task), 0x9a9a9a},
    {HD_SPARSE_SUBTREE, "sparse_subtree", HD_SPARSE_FOUR(subtree_task), 0x6b4c9a},
    {.name = NULL},
};

static double flops_of(const struct heddle_size *size)
{
	const struct hd_sparse_factor_value *v = size->values[0];
	return v->flops;
}

static int make(struct heddle_sparse *sparse, const struct hd_sparse_codelet *row, int precision)
{
	static const char letters[] = {'d', 's', 'z', 'c'};
	char name[40];
	snprintf(name, sizeof name, "%c%s", letters[precision], row->name);
	const struct heddle_codelet_desc desc = {
	    .name = name,
	    .cpu = row->kernels[precision],
	    .flops = flops_of,
	    .color = row->color,
	};
	return heddle_codelet_create(sparse->rt, &desc, &sparse->codelets[precision][row->op]);
}

int hd_sparse_make_codelets(struct heddle_sparse *sparse)
{
	const struct hd_sparse_codelet *const tables[] = {hd_sparse_codelets, hd_sparse_solve_codelets};
	int status = 0;
	for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++)
		for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
			for (const struct hd_sparse_codelet *row = tables[t]; row->name && status >= 0; row++)
				status = make(sparse, row, precision);
	return status;
}
