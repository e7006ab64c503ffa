/* Functions that register data. Variables, vectors, matrices and the other kinds are described as lists of strided
 * arrays. A replica of an object is a cell that holds an address. */
#include "register.h"
#include <stdlib.h>
#include <string.h>
#include "codelet.h"
#include "errands.h"
#include "expand.h"
#include "plan.h"
#include "submit_items.h"
#include "graph/scratch_redux.h"
#include "memory/handle_end.h"
#include "misuse/misuse.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"

int heddle_variable(heddle_runtime *rt, void *value, size_t size, heddle_data **out)
{
	return hd_data_create(rt, &(struct heddle_part){.base = value, .elem_size = size}, 1, NULL, out);
}

int heddle_vector(heddle_runtime *rt, void *x, size_t n, size_t elem_size, heddle_data **out)
{
	return hd_data_create(
	    rt, &(struct heddle_part){.base = x, .elem_size = elem_size, .n_dims = 1, .n = {n}, .stride = {1}}, 1, NULL,
	    out);
}

int heddle_matrix(heddle_runtime *rt, void *a, size_t m, size_t n, size_t ld, size_t elem_size, heddle_data **out)
{
	if (a && ld < m)
		return hd_error(HEDDLE_E_INVALID, "leading dimension %zu is less than the %zu rows", ld, m);
	return hd_data_create(
	    rt,
	    &(struct heddle_part){
	        .base = a, .elem_size = elem_size, .n_dims = 2, .n = {m, n}, .stride = {1, a ? ld : m}},
	    1, NULL, out);
}

int heddle_block(heddle_runtime *rt, void *a, size_t nx, size_t ny, size_t nz, size_t ldy, size_t ldz, size_t elem_size,
                 heddle_data **out)
{
	return hd_data_create(rt,
	                      &(struct heddle_part){.base = a,
	                                            .elem_size = elem_size,
	                                            .n_dims = 3,
	                                            .n = {nx, ny, nz},
	                                            .stride = {1, a ? ldy : nx, a ? ldz : nx * ny}},
	                      1, NULL, out);
}

int heddle_tensor(heddle_runtime *rt, const struct heddle_part *part, heddle_data **out)
{
	return part ? hd_data_create(rt, part, 1, NULL, out)
	            : hd_error(HEDDLE_E_INVALID, "a tensor needs its description");
}

/* Merges dimension d of an array with the one below it, if nothing lies between them. Returns whether it could. */
static int merge_dimension(size_t *n, size_t *stride, size_t n_dims, size_t d)
{
	size_t dense, merged;
	if (__builtin_mul_overflow(stride[d - 1], n[d - 1], &dense) ||
	    __builtin_mul_overflow(n[d - 1], n[d], &merged) || stride[d] != dense)
		return 0;
	n[d - 1] = merged;
	memmove(&n[d], &n[d + 1], (n_dims - d - 1) * sizeof *n);
	memmove(&stride[d], &stride[d + 1], (n_dims - d - 1) * sizeof *stride);
	return 1;
}

/* Registers an array whose extents `n`, and strides behind them, the function may change. */
static int register_merged(heddle_runtime *rt, struct heddle_part *part, size_t n_dims, size_t *n, heddle_data **out)
{
	size_t left = n_dims, *stride = n + n_dims;
	for (size_t d = n_dims; d-- > 1 && left > HEDDLE_MAX_DIMS;)
		left -= (size_t)merge_dimension(n, stride, left, d);
	if (left > HEDDLE_MAX_DIMS)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "heddle_ndim: of %zu dimensions %zu have something between them, more than %d", n_dims,
		                left, HEDDLE_MAX_DIMS);
	part->n_dims = (unsigned)left;
	memcpy(part->n, n, left * sizeof *n);
	memcpy(part->stride, stride, left * sizeof *stride);
	return hd_data_create(rt, part, 1, NULL, out);
}

int heddle_ndim(heddle_runtime *rt, const struct heddle_array *array, heddle_data **out)
{
	size_t n_dims = array ? array->n_dims : 0, dense = 1;
	const size_t *stride = array && array->base ? array->stride : NULL;
	if (!array || (n_dims && !array->n) || (stride && n_dims && stride[0] != 1))
		return hd_error(HEDDLE_E_INVALID, "heddle_ndim needs extents, and strides that begin with 1");
	size_t *n = n_dims < SIZE_MAX / sizeof *n / 2 ? malloc((2 * n_dims + 1) * sizeof *n) : NULL;
	if (!n)
		return hd_no_memory("an array of many dimensions");
	for (size_t d = 0; d < n_dims; d++) {
		n[d] = array->n[d];
		n[n_dims + d] = stride ? stride[d] : dense;
		dense *= n[d]; /* an overflow is found when the array is registered */
	}
	struct heddle_part part = {.base = array->base, .elem_size = array->elem_size};
	int status = register_merged(rt, &part, n_dims, n, out);
	free(n);
	return status;
}

static struct heddle_part line(void *base, size_t n, size_t elem_size)
{
	return (struct heddle_part){.base = base, .elem_size = elem_size, .n_dims = 1, .n = {n}, .stride = {1}};
}

int heddle_csr(heddle_runtime *rt, size_t n_rows, size_t nnz, void *values, uint32_t *column, uint32_t *row_start,
               size_t elem_size, heddle_data **out)
{
	if (n_rows == SIZE_MAX)
		return hd_error(HEDDLE_E_INVALID, "%zu rows are more than memory has", n_rows);
	const struct heddle_part parts[] = {line(values, nnz, elem_size), line(column, nnz, sizeof *column),
	                                    line(row_start, n_rows + 1, sizeof *row_start)};
	return hd_data_create(rt, parts, 3, NULL, out);
}

int heddle_bcsr(heddle_runtime *rt, const struct heddle_blocks *b, heddle_data **out)
{
	size_t plane;
	if (!b || b->n_rows == SIZE_MAX || __builtin_mul_overflow(b->r, b->c, &plane))
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_bcsr needs a matrix, of no more rows and blocks than memory has");
	const struct heddle_part parts[] = {{.base = b->values,
	                                     .elem_size = b->elem_size,
	                                     .n_dims = 3,
	                                     .n = {b->r, b->c, b->nnz},
	                                     .stride = {1, b->r, plane}},
	                                    line(b->column, b->nnz, sizeof *b->column),
	                                    line(b->row_start, b->n_rows + 1, sizeof *b->row_start)};
	return hd_data_create(rt, parts, 3, NULL, out);
}

int heddle_coo(heddle_runtime *rt, size_t nnz, void *values, uint32_t *row, uint32_t *column, size_t elem_size,
               heddle_data **out)
{
	const struct heddle_part parts[] = {line(values, nnz, elem_size), line(row, nnz, sizeof *row),
	                                    line(column, nnz, sizeof *column)};
	return hd_data_create(rt, parts, 3, NULL, out);
}

int heddle_parts(heddle_runtime *rt, const char *type, const struct heddle_part *parts, size_t n_parts,
                 heddle_data **out)
{
	if (!parts || n_parts == 0)
		return hd_error(HEDDLE_E_INVALID, "%s: a datum has at least one part", type ? type : "data");
	return hd_data_create(rt, parts, n_parts, NULL, out);
}

/* Each replica of an object is a cell with the address of an object on that node, which `unpack` has created and
 * `destroy` will free. */
static int is_complete(const struct heddle_type *type)
{
	int own = type->allocate || type->copy || type->release;
	return type->name && type->size &&
	       (own ? type->allocate && type->copy && type->release : type->pack && type->unpack && type->destroy);
}

/* Makes an object of a handle that no other thread knows yet. */
static int make_object(heddle_data *d, const struct heddle_type *type)
{
	struct hd_data_extra *extra = hd_data_extra(d);
	if (!extra)
		return HEDDLE_E_MEMORY;
	extra->type = type;
	d->traits |= HD_DATA_OBJECT | (type->allocate ? HD_DATA_OWN_MEMORY : 0);
	d->shape = hd_hash(hd_hash_string(type->name), d->bytes);
	hd_data_set_caveats(d, HD_OPEN);
	return 0;
}

/* Makes a handle, of an object if it has a type, and makes the handle known to other threads. */
static int create(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan,
                  const struct heddle_type *type, heddle_data **out)
{
	heddle_data *d = NULL;
	int status = hd_handle_make(rt, parts, n, plan, out ? &d : NULL);
	if (status)
		return status;
	hd_core_enter(rt);
	status = type ? make_object(d, type) : 0;
	if (status)
		hd_data_reuse(d);
	else
		status = hd_handle_list(d);
	if (!status && rt->recorder)
		hd_record_data(rt->recorder, d);
	if (!status && HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_registered(d);
	hd_core_leave(rt);
	if (!status)
		*out = d;
	return status;
}

int heddle_object(heddle_runtime *rt, void *object, const struct heddle_type *type, heddle_data **out)
{
	if (!object || !type || !is_complete(type))
		return hd_error(HEDDLE_E_INVALID,
		                "an object needs its address and a type with name, size, pack, unpack, destroy, or "
		                "with name, size, allocate, copy, release");
	void **cell = malloc(sizeof *cell);
	if (!cell)
		return hd_no_memory("a handle");
	*cell = object;
	size_t size = type->size(object);
	int status = create(rt, &(struct heddle_part){.base = cell, .elem_size = size ? size : 1}, 1, NULL, type, out);
	if (status)
		free(cell);
	return status;
}

/* Checks that some memory node can hold the data of a reduction's tasks. The check is made here, because the runtime
 * itself submits these tasks and could report their error to nobody. */
static int check_room(const heddle_data *d, const heddle_codelet *codelet, uint64_t n_copies)
{
	char name[80];
	if (!codelet->max_bytes || d->bytes <= codelet->max_bytes / n_copies)
		return 0;
	char *who = hd_format("%s needs %llu cop%s of %s, that is", codelet->desc.name, (unsigned long long)n_copies,
	                      n_copies == 1 ? "y" : "ies", hd_data_name_unlocked(d, name, sizeof name));
	int status = hd_no_fit(who ? who : codelet->desc.name, n_copies * d->bytes, codelet->max_bytes);
	free(who);
	return status;
}

/* Checks the kernels of a reduction. Any worker may run the first contribution, so each worker that can run one must be
 * able to run `init`. */
static int check_reduction(const heddle_data *d, const heddle_codelet *init, const heddle_codelet *combine)
{
	const heddle_runtime *rt = d->rt;
	if (init->rt != rt || combine->rt != rt)
		return hd_error(HEDDLE_E_INVALID, "codelets and datum belong to different runtimes");
	for (size_t i = 0; i < rt->n_classes && rt->engine->runs_kernels; i++)
		if (!init->kernels[i] && !rt->platform->classes[i].service)
			return hd_error(HEDDLE_E_INVALID,
			                "codelet %s has no kernel for class %s: a reduction can begin on any worker",
			                init->desc.name, rt->platform->classes[i].name);
	if (rt->engine->runs_kernels && !combine->n_able)
		return hd_codelet_no_worker(combine);
	int status = check_room(d, init, 1);
	return status ? status : check_room(d, combine, 2);
}

int heddle_data_set_reduction(heddle_data *d, heddle_codelet *init, heddle_codelet *combine)
{
	if (!d || !init || !combine)
		return hd_error(HEDDLE_E_INVALID, "a reduction needs a datum, an init and a combine codelet");
	int status = hd_data_check(d, "heddle_data_set_reduction");
	if (!status)
		status = check_reduction(d, init, combine);
	if (status)
		return status;
	hd_core_enter(d->rt); /* a worker may be allocating `extra` for a private copy */
	struct hd_data_extra *extra = hd_data_extra(d);
	if (extra) {
		extra->redux_init = init;
		extra->redux_combine = combine;
		d->traits |= HD_DATA_REDUCIBLE;
	}
	hd_core_leave(d->rt);
	return extra ? 0 : HEDDLE_E_MEMORY;
}

/* --- Handles ------------------------------------------------------------------------------------------------------ */

int hd_data_create(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out)
{
	return create(rt, parts, n, plan, NULL, out);
}

void hd_data_destroy(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	hd_private_drop(d, 0);
	hd_plans_free(d);
	hd_reduction_drop(d);
	hd_data_free(d);
}

int hd_data_check_open(const heddle_data *d, const char *what)
{
	HD_HELD(&d->rt->lock);
	char name[80];
	enum hd_closed why = hd_data_closed(d);
	if (hd_expansion_cover(d->rt, d))
		return hd_error(
		    HEDDLE_E_STATE,
		    "%s: %s belongs to the hierarchical task that is being expanded: only who has submitted "
		    "that may do so",
		    what, hd_data_name(d, name, sizeof name));
	return why == HD_OPEN ? 0 : hd_data_closed_error(hd_data_name(d, name, sizeof name), why, what);
}

int hd_data_check_open_unlocked(const heddle_data *d, const char *what)
{
	hd_core_enter(d->rt);
	int status = hd_data_check_open(d, what);
	hd_core_leave(d->rt);
	return status;
}

int heddle_data_set_name(heddle_data *d, const char *name)
{
	if (!d || !name)
		return hd_error(HEDDLE_E_INVALID, "a datum and a name are needed");
	int status = hd_data_check(d, "heddle_data_set_name");
	if (status)
		return status;
	char *copy = strdup(name);
	/* other threads may be reading the name for a message, or allocating `extra` for a private copy */
	hd_core_enter(d->rt);
	struct hd_data_extra *extra = copy ? hd_data_extra(d) : NULL;
	if (extra) {
		free(extra->name);
		extra->name = copy;
		if (d->rt->recorder)
			hd_record_data_name(d->rt->recorder, d, copy);
	}
	hd_core_leave(d->rt);
	if (!extra)
		free(copy);
	return extra ? 0 : hd_no_memory("a name");
}
