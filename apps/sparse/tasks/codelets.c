/* The codelets of the factorisation: the assembly of a tile, and a subtree; and the making of all codelets. */
#include <sparse/tasks/codelets.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char letters[] = {'d', 's', 'z', 'c'}; /* of the precisions */

/* Fails the task because of element e of F. */
static int fail_on_element(heddle_context *c, const struct heddle_sparse_analysis *a, int64_t e, int is_nan)
{
	size_t i = hd_sparse_search(a->row_start, a->rows + 1, (size_t)e + 1) - 1;
	int64_t row = a->row_order[i], column = a->column_order[a->column[e]];
	return heddle_fail(c, 1, "matrix A has %s in row %lld, column %lld (counted from 1)",
	                   is_nan ? "NaN" : "an infinite value", (long long)(a->transposed ? column : row) + 1,
	                   (long long)(a->transposed ? row : column) + 1);
}

/* Kernels do not run in virtual time, where a factorisation needs no values. */
static int check_values(heddle_context *c, const struct hd_sparse_factor_value *v)
{
	if (v->values || v->qr->analysis->n_elements == 0)
		return 0;
	return heddle_fail(c, 1, "the factorisation was submitted without values: only virtual time needs none");
}

#define HD_TEMPLATE <sparse/tasks/codelets_template.h>
#include <dense/kernels/precisions.h>

const struct hd_sparse_codelet hd_sparse_codelets[] = {
    {HD_SPARSE_ASSEMBLE, "sparse_assemble", HD_SPARSE_FOUR(assemble_task), 0x9a9a9a, hd_sparse_assembly_time},
    {HD_SPARSE_SUBTREE, "sparse_subtree", HD_SPARSE_FOUR(subtree_task), 0x6b4c9a, hd_sparse_subtree_time},
    {.name = NULL},
};

/* --- Models ------------------------------------------------------------------------------------------------------- */

/* The values of all tasks begin with this one. */
static double flops_of(const struct heddle_size *size)
{
	const double *flops = size->values[0];
	return *flops;
}

/* Subtrees differ in their operations, not in the shapes of their data alone. */
static uint64_t flops_footprint(const struct heddle_size *size)
{
	double flops = flops_of(size);
	uint64_t bits;
	memcpy(&bits, &flops, sizeof bits);
	return bits;
}

static size_t regressors_of(const struct heddle_size *size, double *x, size_t max)
{
	double flops = flops_of(size);
	size_t n = 0;
	if (flops > 0 && n < max)
		x[n++] = flops;
	if (n < max)
		x[n++] = size->bytes;
	return n;
}

/* Whether the runtime's platform has times for kernels, but none for this one on any class. */
static int lacks_time(const struct heddle_platform *platform, const char *name)
{
	for (size_t i = 0; i < platform->n_kernels; i++)
		if (strcmp(platform->kernels[i].codelet, name) == 0)
			return 0;
	return platform->n_kernels > 0;
}

static int make(struct heddle_sparse *sparse, const struct hd_sparse_codelet *row, int precision)
{
	char name[40];
	snprintf(name, sizeof name, "%c%s", letters[precision], row->name);
	struct heddle_codelet_desc desc = {
	    .name = name,
	    .cpu = row->kernels[precision],
	    .model = HEDDLE_MODEL_LINEAR,
	    .regressors = regressors_of,
	    .flops = flops_of,
	    .footprint = flops_footprint,
	    .color = row->color,
	};
	if (lacks_time(heddle_runtime_platform(sparse->rt), name)) {
		desc.model = HEDDLE_MODEL_GIVEN;
		desc.time = row->time;
	}
	return heddle_codelet_create(sparse->rt, &desc, &sparse->codelets[precision][row->op]);
}

int hd_sparse_make_codelets(struct heddle_sparse *sparse)
{
	const struct hd_sparse_codelet *const tables[] = {hd_sparse_codelets, hd_sparse_solve_codelets};
	int status = hd_sparse_find_rates(sparse);
	for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++)
		for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
			for (const struct hd_sparse_codelet *row = tables[t]; row->name && status >= 0; row++)
				status = make(sparse, row, precision);
	return status;
}
