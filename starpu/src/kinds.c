/* Kinds of data: what a kernel's structure of each kind says, and how Heddle's arrays fill it. */
#include "internal.h"

static void variable_shape(const union hd_interface *i, struct hd_shape *out)
{
	*out = (struct hd_shape){0, {1, 1, 1, 1}, {1}, i->variable.elemsize, i->variable.ptr};
}

static void vector_shape(const union hd_interface *i, struct hd_shape *out)
{
	*out = (struct hd_shape){1, {i->vector.nx, 1, 1, 1}, {1}, i->vector.elemsize, i->vector.ptr};
}

static void matrix_shape(const union hd_interface *i, struct hd_shape *out)
{
	const struct starpu_matrix_interface *m = &i->matrix;
	*out = (struct hd_shape){2, {m->nx, m->ny, 1, 1}, {1, m->ld}, m->elemsize, m->ptr};
}

static void block_shape(const union hd_interface *i, struct hd_shape *out)
{
	const struct starpu_block_interface *b = &i->block;
	*out = (struct hd_shape){3, {b->nx, b->ny, b->nz, 1}, {1, b->ldy, b->ldz}, b->elemsize, b->ptr};
}

static void tensor_shape(const union hd_interface *i, struct hd_shape *out)
{
	const struct starpu_tensor_interface *t = &i->tensor;
	*out = (struct hd_shape){4, {t->nx, t->ny, t->nz, t->nt}, {1, t->ldy, t->ldz, t->ldt}, t->elemsize, t->ptr};
}

static void variable_place(union hd_interface *i, uintptr_t address, const size_t *ld)
{
	(void)ld;
	i->variable.ptr = i->variable.dev_handle = address;
	i->variable.offset = 0;
}

static void vector_place(union hd_interface *i, uintptr_t address, const size_t *ld)
{
	(void)ld;
	i->vector.ptr = i->vector.dev_handle = address;
	i->vector.offset = 0;
}

static void matrix_place(union hd_interface *i, uintptr_t address, const size_t *ld)
{
	i->matrix.ptr = i->matrix.dev_handle = address;
	i->matrix.offset = 0;
	i->matrix.ld = (uint32_t)ld[1];
}

static void block_place(union hd_interface *i, uintptr_t address, const size_t *ld)
{
	i->block.ptr = i->block.dev_handle = address;
	i->block.offset = 0;
	i->block.ldy = (uint32_t)ld[1];
	i->block.ldz = (uint32_t)ld[2];
}

static void tensor_place(union hd_interface *i, uintptr_t address, const size_t *ld)
{
	i->tensor.ptr = i->tensor.dev_handle = address;
	i->tensor.offset = 0;
	i->tensor.ldy = (uint32_t)ld[1];
	i->tensor.ldz = (uint32_t)ld[2];
	i->tensor.ldt = (uint32_t)ld[3];
}

#define HD_AT(structure, field) offsetof(struct starpu_##structure##_interface, field)
#define HD_DENSE(kind, ID)                   \
	static const struct hd_kind kind = { \
	    STARPU_##ID##_INTERFACE_ID, 1, {HD_AT(kind, ptr)}, kind##_shape, kind##_place}
HD_DENSE(variable, VARIABLE);
HD_DENSE(vector, VECTOR);
HD_DENSE(matrix, MATRIX);
HD_DENSE(block, BLOCK);
HD_DENSE(tensor, TENSOR);
#define HD_SPARSE(kind, ID, a, b, c)         \
	static const struct hd_kind kind = { \
	    STARPU_##ID##_INTERFACE_ID, 3, {HD_AT(kind, a), HD_AT(kind, b), HD_AT(kind, c)}, NULL, NULL}
HD_SPARSE(csr, CSR, nzval, colind, rowptr);
HD_SPARSE(bcsr, BCSR, nzval, colind, rowptr);
HD_SPARSE(coo, COO, values, rows, columns);
static const struct hd_kind nothing = {STARPU_VOID_INTERFACE_ID, 0, {0}, NULL, NULL};

/* By which filters name the kinds of children. */
#define HD_OPS(kind, ID)                                                   \
	struct starpu_data_interface_ops starpu_interface_##kind##_ops = { \
	    .interfaceid = STARPU_##ID##_INTERFACE_ID, .interface_size = sizeof(struct starpu_##kind##_interface)}
HD_OPS(variable, VARIABLE);
HD_OPS(vector, VECTOR);
HD_OPS(matrix, MATRIX);
HD_OPS(block, BLOCK);
HD_OPS(tensor, TENSOR);

const struct hd_kind *hd_kind_of(enum starpu_data_interface_id id)
{
	static const struct hd_kind *const kinds[STARPU_MAX_INTERFACE_ID] = {
	    [STARPU_VARIABLE_INTERFACE_ID] = &variable, [STARPU_VECTOR_INTERFACE_ID] = &vector,
	    [STARPU_MATRIX_INTERFACE_ID] = &matrix,     [STARPU_BLOCK_INTERFACE_ID] = &block,
	    [STARPU_TENSOR_INTERFACE_ID] = &tensor,     [STARPU_CSR_INTERFACE_ID] = &csr,
	    [STARPU_BCSR_INTERFACE_ID] = &bcsr,         [STARPU_COO_INTERFACE_ID] = &coo,
	    [STARPU_VOID_INTERFACE_ID] = &nothing};
	return (unsigned)id < STARPU_MAX_INTERFACE_ID ? kinds[id] : NULL;
}
