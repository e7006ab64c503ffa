/* Registering data of the shipped kinds. */
#include "internal.h"

/* Whether the buffer is the program's; other nodes than main memory are not. */
static bool in_main_memory(const char *function, int home_node)
{
	if (home_node > STARPU_MAIN_RAM)
		fprintf(stderr, "heddle: %s: the home node of data is main memory or -1; node %d stands for -1\n",
		        function, home_node);
	return home_node == STARPU_MAIN_RAM;
}

/* Registers a dense datum whose structure is filled, its address included. */
static void register_dense(const char *function, struct starpu_data_state *h, starpu_data_handle_t *out)
{
	struct hd_shape shape;
	h->kind->shape(&h->interface, &shape);
	h->has_buffer = shape.address != 0;
	struct heddle_part part = {.base = (void *)shape.address, .elem_size = shape.elem_size, .n_dims = shape.n_dims};
	for (unsigned d = 0; d < shape.n_dims; d++) {
		size_t below = d ? part.stride[d - 1] * part.n[d - 1] : 1;
		part.n[d] = shape.n[d];
		part.stride[d] = h->has_buffer && shape.ld[d] > below ? shape.ld[d] : below;
	}
	hd_handle_registered(function, h, heddle_tensor(hd_starpu_runtime, &part, &h->data), out);
}

#define HD_NEW(kind)                                       \
	struct starpu_data_state *h = hd_handle_new(kind); \
	if (!h) {                                          \
		*out = NULL;                               \
		return;                                    \
	}                                                  \
	if (!in_main_memory(__func__, home_node))          \
	ptr = 0

void starpu_variable_data_register(starpu_data_handle_t *out, int home_node, uintptr_t ptr, size_t size)
{
	HD_NEW(STARPU_VARIABLE_INTERFACE_ID);
	h->interface.variable = (struct starpu_variable_interface){
	    .id = STARPU_VARIABLE_INTERFACE_ID, .elemsize = size, .ptr = ptr, .dev_handle = ptr};
	register_dense(__func__, h, out);
}

void starpu_vector_data_register(starpu_data_handle_t *out, int home_node, uintptr_t ptr, uint32_t nx, size_t elemsize)
{
	HD_NEW(STARPU_VECTOR_INTERFACE_ID);
	h->interface.vector = (struct starpu_vector_interface){.id = STARPU_VECTOR_INTERFACE_ID,
	                                                       .nx = nx,
	                                                       .elemsize = elemsize,
	                                                       .ptr = ptr,
	                                                       .dev_handle = ptr,
	                                                       .allocsize = nx * elemsize};
	register_dense(__func__, h, out);
}

void starpu_matrix_data_register(starpu_data_handle_t *out, int home_node, uintptr_t ptr, uint32_t ld, uint32_t nx,
                                 uint32_t ny, size_t elemsize)
{
	HD_NEW(STARPU_MATRIX_INTERFACE_ID);
	h->interface.matrix = (struct starpu_matrix_interface){.id = STARPU_MATRIX_INTERFACE_ID,
	                                                       .nx = nx,
	                                                       .ny = ny,
	                                                       .ld = ld,
	                                                       .elemsize = elemsize,
	                                                       .ptr = ptr,
	                                                       .dev_handle = ptr,
	                                                       .allocsize = (size_t)nx * ny * elemsize};
	register_dense(__func__, h, out);
}

void starpu_block_data_register(starpu_data_handle_t *out, int home_node, uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                uint32_t nx, uint32_t ny, uint32_t nz, size_t elemsize)
{
	HD_NEW(STARPU_BLOCK_INTERFACE_ID);
	h->interface.block = (struct starpu_block_interface){.id = STARPU_BLOCK_INTERFACE_ID,
	                                                     .nx = nx,
	                                                     .ny = ny,
	                                                     .nz = nz,
	                                                     .ldy = ldy,
	                                                     .ldz = ldz,
	                                                     .elemsize = elemsize,
	                                                     .ptr = ptr,
	                                                     .dev_handle = ptr};
	register_dense(__func__, h, out);
}

void starpu_tensor_data_register(starpu_data_handle_t *out, int home_node, uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                 uint32_t ldt, uint32_t nx, uint32_t ny, uint32_t nz, uint32_t nt, size_t elemsize)
{
	HD_NEW(STARPU_TENSOR_INTERFACE_ID);
	h->interface.tensor = (struct starpu_tensor_interface){.id = STARPU_TENSOR_INTERFACE_ID,
	                                                       .nx = nx,
	                                                       .ny = ny,
	                                                       .nz = nz,
	                                                       .nt = nt,
	                                                       .ldy = ldy,
	                                                       .ldz = ldz,
	                                                       .ldt = ldt,
	                                                       .elemsize = elemsize,
	                                                       .ptr = ptr,
	                                                       .dev_handle = ptr};
	register_dense(__func__, h, out);
}

/* Three dense arrays of one dimension. */
static void register_sparse(const char *function, struct starpu_data_state *h, const size_t *n, const size_t *elem_size,
                            starpu_data_handle_t *out)
{
	struct heddle_part parts[3];
	h->has_buffer = true;
	for (unsigned i = 0; i < 3; i++) {
		void *base;
		memcpy(&base, (char *)&h->interface + h->kind->address[i], sizeof base);
		parts[i] = (struct heddle_part){
		    .base = base, .elem_size = elem_size[i], .n_dims = 1, .n = {n[i]}, .stride = {1}};
		h->has_buffer = h->has_buffer && base;
	}
	for (unsigned i = 0; i < 3; i++)
		if (!h->has_buffer)
			parts[i].base = NULL;
	hd_handle_registered(function, h, heddle_parts(hd_starpu_runtime, "sparse", parts, 3, &h->data), out);
}

void starpu_csr_data_register(starpu_data_handle_t *out, int home_node, uint32_t nnz, uint32_t nrow, uintptr_t ptr,
                              uint32_t *colind, uint32_t *rowptr, uint32_t firstentry, size_t elemsize)
{
	HD_NEW(STARPU_CSR_INTERFACE_ID);
	h->interface.csr = (struct starpu_csr_interface){.id = STARPU_CSR_INTERFACE_ID,
	                                                 .nnz = nnz,
	                                                 .nrow = nrow,
	                                                 .firstentry = firstentry,
	                                                 .elemsize = elemsize,
	                                                 .nzval = ptr,
	                                                 .colind = colind,
	                                                 .rowptr = rowptr};
	register_sparse(__func__, h, (size_t[]){nnz, nnz, (size_t)nrow + 1},
	                (size_t[]){elemsize, sizeof(uint32_t), sizeof(uint32_t)}, out);
}

void starpu_bcsr_data_register(starpu_data_handle_t *out, int home_node, uint32_t nnz, uint32_t nrow, uintptr_t ptr,
                               uint32_t *colind, uint32_t *rowptr, uint32_t firstentry, uint32_t r, uint32_t c,
                               size_t elemsize)
{
	HD_NEW(STARPU_BCSR_INTERFACE_ID);
	h->interface.bcsr = (struct starpu_bcsr_interface){.id = STARPU_BCSR_INTERFACE_ID,
	                                                   .nnz = nnz,
	                                                   .nrow = nrow,
	                                                   .r = r,
	                                                   .c = c,
	                                                   .firstentry = firstentry,
	                                                   .elemsize = elemsize,
	                                                   .nzval = ptr,
	                                                   .colind = colind,
	                                                   .rowptr = rowptr};
	register_sparse(__func__, h, (size_t[]){(size_t)nnz * r * c, nnz, (size_t)nrow + 1},
	                (size_t[]){elemsize, sizeof(uint32_t), sizeof(uint32_t)}, out);
}

void starpu_coo_data_register(starpu_data_handle_t *out, int home_node, uint32_t nx, uint32_t ny, uint32_t n_values,
                              uint32_t *columns, uint32_t *rows, uintptr_t ptr, size_t elemsize)
{
	HD_NEW(STARPU_COO_INTERFACE_ID);
	h->interface.coo = (struct starpu_coo_interface){.id = STARPU_COO_INTERFACE_ID,
	                                                 .nx = nx,
	                                                 .ny = ny,
	                                                 .n_values = n_values,
	                                                 .elemsize = elemsize,
	                                                 .values = ptr,
	                                                 .columns = columns,
	                                                 .rows = rows};
	register_sparse(__func__, h, (size_t[]){n_values, n_values, n_values},
	                (size_t[]){elemsize, sizeof(uint32_t), sizeof(uint32_t)}, out);
}

void starpu_void_data_register(starpu_data_handle_t *out)
{
	struct starpu_data_state *h = hd_handle_new(STARPU_VOID_INTERFACE_ID);
	*out = NULL;
	if (!h)
		return;
	h->has_buffer = true;
	hd_handle_registered(__func__, h, heddle_variable(hd_starpu_runtime, NULL, 0, &h->data), out);
}

void starpu_data_register_same(starpu_data_handle_t *out, starpu_data_handle_t like)
{
	union hd_interface i = like->interface;
	if (like->ops) {
		starpu_data_register(out, -1, like->object->interface, like->ops);
		return;
	}
	switch (i.id) {
	case STARPU_VARIABLE_INTERFACE_ID: starpu_variable_data_register(out, -1, 0, i.variable.elemsize); break;
	case STARPU_VECTOR_INTERFACE_ID: starpu_vector_data_register(out, -1, 0, i.vector.nx, i.vector.elemsize); break;
	case STARPU_MATRIX_INTERFACE_ID:
		starpu_matrix_data_register(out, -1, 0, i.matrix.nx, i.matrix.nx, i.matrix.ny, i.matrix.elemsize);
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		starpu_block_data_register(out, -1, 0, i.block.nx, i.block.nx * i.block.ny, i.block.nx, i.block.ny,
		                           i.block.nz, i.block.elemsize);
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		starpu_tensor_data_register(out, -1, 0, i.tensor.nx, i.tensor.nx * i.tensor.ny,
		                            i.tensor.nx * i.tensor.ny * i.tensor.nz, i.tensor.nx, i.tensor.ny,
		                            i.tensor.nz, i.tensor.nt, i.tensor.elemsize);
		break;
	case STARPU_CSR_INTERFACE_ID:
		starpu_csr_data_register(out, -1, i.csr.nnz, i.csr.nrow, 0, NULL, NULL, i.csr.firstentry,
		                         i.csr.elemsize);
		break;
	case STARPU_BCSR_INTERFACE_ID:
		starpu_bcsr_data_register(out, -1, i.bcsr.nnz, i.bcsr.nrow, 0, NULL, NULL, i.bcsr.firstentry, i.bcsr.r,
		                          i.bcsr.c, i.bcsr.elemsize);
		break;
	case STARPU_COO_INTERFACE_ID:
		starpu_coo_data_register(out, -1, i.coo.nx, i.coo.ny, i.coo.n_values, NULL, NULL, 0, i.coo.elemsize);
		break;
	default: starpu_void_data_register(out);
	}
}
