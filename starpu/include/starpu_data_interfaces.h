/* Kinds of data: how they are registered, and how kernels see them.
 *
 * A kernel gets, for each datum, the address of a structure below, which describes the copy in the memory of the
 * kernel's worker. Kernels should read it by the macros STARPU_..._GET_... . On CPUs and CUDA devices `ptr` is the
 * address, `dev_handle` is the same, and `offset` is 0. On OpenCL devices `dev_handle` is a cl_mem and `offset` the
 * number of bytes after its beginning, which is often not 0: Heddle puts several data into one memory object. The dense
 * kinds begin with the same fields. */
#ifndef HEDDLE_STARPU_DATA_INTERFACES_H
#define HEDDLE_STARPU_DATA_INTERFACES_H

#include <starpu_data.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_data_interface_id {
	STARPU_UNKNOWN_INTERFACE_ID = -1,
	STARPU_VARIABLE_INTERFACE_ID = 0,
	STARPU_VECTOR_INTERFACE_ID,
	STARPU_MATRIX_INTERFACE_ID,
	STARPU_BLOCK_INTERFACE_ID,
	STARPU_TENSOR_INTERFACE_ID,
	STARPU_CSR_INTERFACE_ID,
	STARPU_BCSR_INTERFACE_ID,
	STARPU_COO_INTERFACE_ID,
	STARPU_VOID_INTERFACE_ID,
	STARPU_MAX_INTERFACE_ID
};

/* --- A value ------------------------------------------------------------------------------------------------------ */

struct starpu_variable_interface {
	enum starpu_data_interface_id id;
	size_t elemsize;
	uintptr_t ptr, dev_handle;
	size_t offset;
};
/* One value of `size` bytes at `ptr`. For all kinds: home_node -1 registers a temporary, whose buffer the first task
 * that writes it allocates; any other home node than STARPU_MAIN_RAM is refused with a line on standard error, and the
 * datum is a temporary then, too. */
void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr, size_t size);
size_t starpu_variable_get_elemsize(starpu_data_handle_t handle);
/* For all kinds: the address in main memory, for a datum that the program has acquired. */
uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle);
#define STARPU_VARIABLE_OF_(i) ((struct starpu_variable_interface *)(i))
#define STARPU_VARIABLE_GET_PTR(i) (STARPU_VARIABLE_OF_(i)->ptr)
#define STARPU_VARIABLE_GET_DEV_HANDLE(i) (STARPU_VARIABLE_OF_(i)->dev_handle)
#define STARPU_VARIABLE_GET_OFFSET(i) (STARPU_VARIABLE_OF_(i)->offset)
#define STARPU_VARIABLE_GET_ELEMSIZE(i) (STARPU_VARIABLE_OF_(i)->elemsize)

/* --- A vector ----------------------------------------------------------------------------------------------------- */

struct starpu_vector_interface {
	enum starpu_data_interface_id id;
	size_t elemsize;
	uintptr_t ptr, dev_handle;
	size_t offset;
	uint32_t nx, slice_base; /* slice_base: of a part, the index of its first element in the whole */
	size_t allocsize;
};
void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr, uint32_t nx,
                                 size_t elemsize);
uint32_t starpu_vector_get_nx(starpu_data_handle_t handle);
size_t starpu_vector_get_elemsize(starpu_data_handle_t handle);
uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle);
#define STARPU_VECTOR_OF_(i) ((struct starpu_vector_interface *)(i))
#define STARPU_VECTOR_GET_PTR(i) (STARPU_VECTOR_OF_(i)->ptr)
#define STARPU_VECTOR_GET_DEV_HANDLE(i) (STARPU_VECTOR_OF_(i)->dev_handle)
#define STARPU_VECTOR_GET_OFFSET(i) (STARPU_VECTOR_OF_(i)->offset)
#define STARPU_VECTOR_GET_NX(i) (STARPU_VECTOR_OF_(i)->nx)
#define STARPU_VECTOR_GET_ELEMSIZE(i) (STARPU_VECTOR_OF_(i)->elemsize)
#define STARPU_VECTOR_GET_ALLOCSIZE(i) (STARPU_VECTOR_OF_(i)->allocsize)
#define STARPU_VECTOR_GET_SLICE_BASE(i) (STARPU_VECTOR_OF_(i)->slice_base)

/* --- A matrix ----------------------------------------------------------------------------------------------------- */

/* nx is the contiguous dimension; lines of it begin `ld` elements apart. */
struct starpu_matrix_interface {
	enum starpu_data_interface_id id;
	size_t elemsize;
	uintptr_t ptr, dev_handle;
	size_t offset;
	uint32_t nx, ny, ld;
	size_t allocsize;
};
void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr, uint32_t ld, uint32_t nx,
                                 uint32_t ny, size_t elemsize);
uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle);
uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle);
#define STARPU_MATRIX_OF_(i) ((struct starpu_matrix_interface *)(i))
#define STARPU_MATRIX_GET_PTR(i) (STARPU_MATRIX_OF_(i)->ptr)
#define STARPU_MATRIX_GET_DEV_HANDLE(i) (STARPU_MATRIX_OF_(i)->dev_handle)
#define STARPU_MATRIX_GET_OFFSET(i) (STARPU_MATRIX_OF_(i)->offset)
#define STARPU_MATRIX_GET_NX(i) (STARPU_MATRIX_OF_(i)->nx)
#define STARPU_MATRIX_GET_NY(i) (STARPU_MATRIX_OF_(i)->ny)
#define STARPU_MATRIX_GET_LD(i) (STARPU_MATRIX_OF_(i)->ld)
#define STARPU_MATRIX_GET_ELEMSIZE(i) (STARPU_MATRIX_OF_(i)->elemsize)
#define STARPU_MATRIX_GET_ALLOCSIZE(i) (STARPU_MATRIX_OF_(i)->allocsize)

/* --- A block, of three dimensions --------------------------------------------------------------------------------- */

struct starpu_block_interface {
	enum starpu_data_interface_id id;
	size_t elemsize;
	uintptr_t ptr, dev_handle;
	size_t offset;
	uint32_t nx, ny, nz, ldy, ldz;
};
void starpu_block_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                uint32_t nx, uint32_t ny, uint32_t nz, size_t elemsize);
uint32_t starpu_block_get_nx(starpu_data_handle_t handle);
uint32_t starpu_block_get_ny(starpu_data_handle_t handle);
uint32_t starpu_block_get_nz(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle);
uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_block_get_elemsize(starpu_data_handle_t handle);
#define STARPU_BLOCK_OF_(i) ((struct starpu_block_interface *)(i))
#define STARPU_BLOCK_GET_PTR(i) (STARPU_BLOCK_OF_(i)->ptr)
#define STARPU_BLOCK_GET_DEV_HANDLE(i) (STARPU_BLOCK_OF_(i)->dev_handle)
#define STARPU_BLOCK_GET_OFFSET(i) (STARPU_BLOCK_OF_(i)->offset)
#define STARPU_BLOCK_GET_NX(i) (STARPU_BLOCK_OF_(i)->nx)
#define STARPU_BLOCK_GET_NY(i) (STARPU_BLOCK_OF_(i)->ny)
#define STARPU_BLOCK_GET_NZ(i) (STARPU_BLOCK_OF_(i)->nz)
#define STARPU_BLOCK_GET_LDY(i) (STARPU_BLOCK_OF_(i)->ldy)
#define STARPU_BLOCK_GET_LDZ(i) (STARPU_BLOCK_OF_(i)->ldz)
#define STARPU_BLOCK_GET_ELEMSIZE(i) (STARPU_BLOCK_OF_(i)->elemsize)

/* --- A tensor, of four dimensions --------------------------------------------------------------------------------- */

struct starpu_tensor_interface {
	enum starpu_data_interface_id id;
	size_t elemsize;
	uintptr_t ptr, dev_handle;
	size_t offset;
	uint32_t nx, ny, nz, nt, ldy, ldz, ldt;
};
void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr, uint32_t ldy, uint32_t ldz,
                                 uint32_t ldt, uint32_t nx, uint32_t ny, uint32_t nz, uint32_t nt, size_t elemsize);
uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle);
uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle);
#define STARPU_TENSOR_OF_(i) ((struct starpu_tensor_interface *)(i))
#define STARPU_TENSOR_GET_PTR(i) (STARPU_TENSOR_OF_(i)->ptr)
#define STARPU_TENSOR_GET_DEV_HANDLE(i) (STARPU_TENSOR_OF_(i)->dev_handle)
#define STARPU_TENSOR_GET_OFFSET(i) (STARPU_TENSOR_OF_(i)->offset)
#define STARPU_TENSOR_GET_NX(i) (STARPU_TENSOR_OF_(i)->nx)
#define STARPU_TENSOR_GET_NY(i) (STARPU_TENSOR_OF_(i)->ny)
#define STARPU_TENSOR_GET_NZ(i) (STARPU_TENSOR_OF_(i)->nz)
#define STARPU_TENSOR_GET_NT(i) (STARPU_TENSOR_OF_(i)->nt)
#define STARPU_TENSOR_GET_LDY(i) (STARPU_TENSOR_OF_(i)->ldy)
#define STARPU_TENSOR_GET_LDZ(i) (STARPU_TENSOR_OF_(i)->ldz)
#define STARPU_TENSOR_GET_LDT(i) (STARPU_TENSOR_OF_(i)->ldt)
#define STARPU_TENSOR_GET_ELEMSIZE(i) (STARPU_TENSOR_OF_(i)->elemsize)

/* --- Sparse matrices ---------------------------------------------------------------------------------------------- */

/* Compressed rows: `nzval` has the values, `colind` their columns, `rowptr` where each row begins, and an end. The
 * numbers in both begin at `firstentry`. */
struct starpu_csr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz, nrow, firstentry;
	size_t elemsize;
	uintptr_t nzval;
	uint32_t *colind, *rowptr;
};
void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz, uint32_t nrow, uintptr_t nzval,
                              uint32_t *colind, uint32_t *rowptr, uint32_t firstentry, size_t elemsize);
uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle);
size_t starpu_csr_get_elemsize(starpu_data_handle_t handle);
#define STARPU_CSR_OF_(i) ((struct starpu_csr_interface *)(i))
#define STARPU_CSR_GET_NNZ(i) (STARPU_CSR_OF_(i)->nnz)
#define STARPU_CSR_GET_NROW(i) (STARPU_CSR_OF_(i)->nrow)
#define STARPU_CSR_GET_NZVAL(i) (STARPU_CSR_OF_(i)->nzval)
#define STARPU_CSR_GET_COLIND(i) (STARPU_CSR_OF_(i)->colind)
#define STARPU_CSR_GET_ROWPTR(i) (STARPU_CSR_OF_(i)->rowptr)
#define STARPU_CSR_GET_FIRSTENTRY(i) (STARPU_CSR_OF_(i)->firstentry)
#define STARPU_CSR_GET_ELEMSIZE(i) (STARPU_CSR_OF_(i)->elemsize)

/* Compressed rows of dense blocks of r x c values. */
struct starpu_bcsr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz, nrow, r, c, firstentry; /* nnz: blocks */
	size_t elemsize;
	uintptr_t nzval;
	uint32_t *colind, *rowptr;
};
void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz, uint32_t nrow,
                               uintptr_t nzval, uint32_t *colind, uint32_t *rowptr, uint32_t firstentry, uint32_t r,
                               uint32_t c, size_t elemsize);
uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle);
size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle);
#define STARPU_BCSR_OF_(i) ((struct starpu_bcsr_interface *)(i))
#define STARPU_BCSR_GET_NNZ(i) (STARPU_BCSR_OF_(i)->nnz)
#define STARPU_BCSR_GET_NROW(i) (STARPU_BCSR_OF_(i)->nrow)
#define STARPU_BCSR_GET_NZVAL(i) (STARPU_BCSR_OF_(i)->nzval)
#define STARPU_BCSR_GET_COLIND(i) (STARPU_BCSR_OF_(i)->colind)
#define STARPU_BCSR_GET_ROWPTR(i) (STARPU_BCSR_OF_(i)->rowptr)
#define STARPU_BCSR_GET_FIRSTENTRY(i) (STARPU_BCSR_OF_(i)->firstentry)
#define STARPU_BCSR_GET_R(i) (STARPU_BCSR_OF_(i)->r)
#define STARPU_BCSR_GET_C(i) (STARPU_BCSR_OF_(i)->c)
#define STARPU_BCSR_GET_ELEMSIZE(i) (STARPU_BCSR_OF_(i)->elemsize)

/* Coordinates: value k lies at (rows[k], columns[k]) of an nx x ny matrix. */
struct starpu_coo_interface {
	enum starpu_data_interface_id id;
	uint32_t nx, ny, n_values;
	size_t elemsize;
	uintptr_t values;
	uint32_t *columns, *rows;
};
void starpu_coo_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nx, uint32_t ny, uint32_t n_values,
                              uint32_t *columns, uint32_t *rows, uintptr_t values, size_t elemsize);
#define STARPU_COO_OF_(i) ((struct starpu_coo_interface *)(i))
#define STARPU_COO_GET_COLUMNS(i) (STARPU_COO_OF_(i)->columns)
#define STARPU_COO_GET_ROWS(i) (STARPU_COO_OF_(i)->rows)
#define STARPU_COO_GET_VALUES(i) (STARPU_COO_OF_(i)->values)
#define STARPU_COO_GET_NX(i) (STARPU_COO_OF_(i)->nx)
#define STARPU_COO_GET_NY(i) (STARPU_COO_OF_(i)->ny)
#define STARPU_COO_GET_NVALUES(i) (STARPU_COO_OF_(i)->n_values)
#define STARPU_COO_GET_ELEMSIZE(i) (STARPU_COO_OF_(i)->elemsize)

/* A datum without contents, by which tasks are ordered. */
void starpu_void_data_register(starpu_data_handle_t *handle);

/* --- Kinds of the program ----------------------------------------------------------------------------------------- */

/* How the value of a copy gets to another one. Heddle calls any_to_any if it is there, otherwise ram_to_ram; for
 * memories of devices, any_to_any alone. async_data is NULL: the copy is made when the function returns 0. */
struct starpu_data_copy_methods {
	int (*any_to_any)(void *src_interface, unsigned src_node, void *dst_interface, unsigned dst_node,
	                  void *async_data);
	int (*ram_to_ram)(void *src_interface, unsigned src_node, void *dst_interface, unsigned dst_node);
	int (*can_copy)(void *src_interface, unsigned src_node, void *dst_interface, unsigned dst_node,
	                unsigned handling_node); /* not called */
};
/* A kind of data of the program: a structure of interface_size bytes describes a copy on a node, and begins with what
 * the program likes. Heddle calls register_data_handle once, at registration; allocate_data_on_node (bytes, or a
 * negative number), free_data_on_node and the copy methods for copies on other nodes, and for a datum without a home in
 * main memory at registration; get_size at registration; the others for the functions of their names. Kernels get the
 * structure of the copy, and may change it. Fields that are not named here are not called. */
struct starpu_data_interface_ops {
	enum starpu_data_interface_id interfaceid;
	size_t interface_size;
	const char *name;
	void (*register_data_handle)(starpu_data_handle_t handle, int home_node, void *interface);
	starpu_ssize_t (*allocate_data_on_node)(void *interface, unsigned node);
	void (*free_data_on_node)(void *interface, unsigned node);
	const struct starpu_data_copy_methods *copy_methods;
	size_t (*get_size)(starpu_data_handle_t handle);
	void *(*to_pointer)(void *interface, unsigned node);
	int (*pointer_is_inside)(void *interface, unsigned node, void *ptr);
	int (*pack_data)(starpu_data_handle_t handle, unsigned node, void **ptr, starpu_ssize_t *count);
	int (*unpack_data)(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
	/* not called */
	size_t (*get_alloc_size)(starpu_data_handle_t handle);
	uint32_t (*footprint)(starpu_data_handle_t handle);
	uint32_t (*alloc_footprint)(starpu_data_handle_t handle);
	int (*compare)(void *interface_a, void *interface_b);
	int (*alloc_compare)(void *interface_a, void *interface_b);
	void (*display)(starpu_data_handle_t handle, FILE *f);
	starpu_ssize_t (*describe)(void *interface, char *text, size_t size);
	void (*init)(void *interface);
	int is_multiformat, dontcache;
};
/* Registers a datum of such a kind; *interface is copied. Filters, void and sparse kinds of Heddle know nothing of it.
 */
void starpu_data_register(starpu_data_handle_t *handle, int home_node, void *interface,
                          struct starpu_data_interface_ops *ops);
/* A number for a kind of the program. */
int starpu_data_interface_get_next_id(void);
/* For copy methods: copies bytes between main memories. -ENOSYS: a node is the memory of a device. */
int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
                          unsigned dst_node, size_t size, void *async_data);

/* --- All kinds ---------------------------------------------------------------------------------------------------- */

/* Of a kernel's datum of any kind. */
#define STARPU_GET_INTERFACE_ID_(i) (*(enum starpu_data_interface_id *)(i))

/* A datum of the kind and shape of another one, as a temporary. */
void starpu_data_register_same(starpu_data_handle_t *handle, starpu_data_handle_t like);
enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle);
/* Bytes of the value. */
size_t starpu_data_get_size(starpu_data_handle_t handle);
size_t starpu_data_get_alloc_size(starpu_data_handle_t handle);
/* The address in main memory: of the program's buffer, or of a datum that the program has acquired; NULL: the datum is
 * not there, or `node` is not main memory. */
void *starpu_data_get_local_ptr(starpu_data_handle_t handle);
void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node);
int starpu_data_pointer_is_inside(starpu_data_handle_t handle, unsigned node, void *ptr);
/* The handle whose memory in main memory begins at `ptr`; NULL: there is none. Takes time in proportion to the number
 * of handles. */
starpu_data_handle_t starpu_data_lookup(const void *ptr);
/* Whether the node has memory for the datum now. */
int starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle, unsigned node);
/* The structure with which the datum is described on a node; in main memory with its address. Valid until the next call
 * for the handle in any thread. */
void *starpu_data_get_interface_on_node(starpu_data_handle_t handle, unsigned node);
/* Copies the value of an acquired datum into new memory, *ptr, which the caller frees with starpu_free or
 * starpu_free_flags, and *size: bytes; and back. With `ptr` NULL, starpu_data_pack only stores the size.
 * starpu_data_unpack frees `ptr`. 0, -ENOMEM, -EINVAL. */
int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *size);
int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t size);

#ifdef __cplusplus
}
#endif
#endif
