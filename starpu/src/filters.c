/* The shipped filters: each fills the structure of a child from that of its parent. */
#include "internal.h"

/* Part `id` of n elements in `parts`. */
static void cut(size_t n, unsigned parts, unsigned id, size_t *first, size_t *length)
{
	size_t each = n / parts, longer = n % parts;
	*length = each + (id < longer);
	*first = id * each + (id < longer ? id : longer);
}

void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned parts, size_t elemsize, unsigned id,
                                                        unsigned ld, unsigned *length, size_t *offset)
{
	size_t first, many;
	cut(n, parts, id, &first, &many);
	*length = (unsigned)many;
	*offset = first * ld * elemsize;
}

/* The whole length of a dimension with shadows on both sides is that of its middle and `shadow` on each side. */
static void cut_with_shadow(size_t n, size_t shadow, unsigned parts, unsigned id, size_t *first, size_t *length)
{
	cut(n - 2 * shadow, parts, id, first, length);
	*length += 2 * shadow;
}

static size_t shadow_of(const struct starpu_data_filter *filter)
{
	return (uintptr_t)filter->filter_arg_ptr;
}

#define HD_FILTER(name)                                                                                          \
	void name(void *parent_interface, void *child_interface, struct starpu_data_filter *filter, unsigned id, \
	          unsigned n)

/* --- Vectors ------------------------------------------------------------------------------------------------------ */

static void part_of_vector(const struct starpu_vector_interface *whole, struct starpu_vector_interface *part,
                           size_t first, size_t length)
{
	*part = *whole;
	part->nx = (uint32_t)length;
	part->ptr += first * whole->elemsize;
	part->dev_handle = part->ptr;
	part->slice_base += (uint32_t)first;
	part->allocsize = length * whole->elemsize;
}

HD_FILTER(starpu_vector_filter_block)
{
	const struct starpu_vector_interface *whole = parent_interface;
	size_t first, length;
	(void)filter;
	cut(whole->nx, n, id, &first, &length);
	part_of_vector(whole, child_interface, first, length);
}

HD_FILTER(starpu_vector_filter_block_shadow)
{
	const struct starpu_vector_interface *whole = parent_interface;
	size_t first, length;
	cut_with_shadow(whole->nx, shadow_of(filter), n, id, &first, &length);
	part_of_vector(whole, child_interface, first, length);
}

HD_FILTER(starpu_vector_filter_divide_in_2)
{
	const struct starpu_vector_interface *whole = parent_interface;
	size_t first_length = filter->filter_arg;
	(void)n;
	part_of_vector(whole, child_interface, id ? first_length : 0, id ? whole->nx - first_length : first_length);
}

HD_FILTER(starpu_vector_filter_list)
{
	const uint32_t *lengths = filter->filter_arg_ptr;
	size_t first = 0;
	(void)n;
	for (unsigned i = 0; i < id; i++)
		first += lengths[i];
	part_of_vector(parent_interface, child_interface, first, lengths[id]);
}

HD_FILTER(starpu_vector_filter_list_long)
{
	const long *lengths = filter->filter_arg_ptr;
	size_t first = 0;
	(void)n;
	for (unsigned i = 0; i < id; i++)
		first += (size_t)lengths[i];
	part_of_vector(parent_interface, child_interface, first, (size_t)lengths[id]);
}

static void pick_variable(uintptr_t at, size_t elemsize, struct starpu_variable_interface *out)
{
	*out = (struct starpu_variable_interface){
	    .id = STARPU_VARIABLE_INTERFACE_ID, .elemsize = elemsize, .ptr = at, .dev_handle = at};
}

HD_FILTER(starpu_vector_filter_pick_variable)
{
	const struct starpu_vector_interface *whole = parent_interface;
	(void)n;
	pick_variable(whole->ptr + (shadow_of(filter) + id) * whole->elemsize, whole->elemsize, child_interface);
}

struct starpu_data_interface_ops *starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *filter,
                                                                               unsigned id)
{
	(void)filter, (void)id;
	return &starpu_interface_variable_ops;
}

/* --- Matrices ----------------------------------------------------------------------------------------------------- */

static void part_of_matrix(const struct starpu_matrix_interface *whole, struct starpu_matrix_interface *part,
                           unsigned dim, size_t first, size_t length)
{
	*part = *whole;
	*(dim ? &part->ny : &part->nx) = (uint32_t)length;
	part->ptr += first * (dim ? whole->ld : 1) * whole->elemsize;
	part->dev_handle = part->ptr;
	part->allocsize = (size_t)part->nx * part->ny * whole->elemsize;
}

#define HD_MATRIX(name, dim, extent)                                                       \
	HD_FILTER(name)                                                                    \
	{                                                                                  \
		const struct starpu_matrix_interface *whole = parent_interface;            \
		size_t first, length;                                                      \
		(void)filter;                                                              \
		cut(whole->extent, n, id, &first, &length);                                \
		part_of_matrix(whole, child_interface, dim, first, length);                \
	}                                                                                  \
	HD_FILTER(name##_shadow)                                                           \
	{                                                                                  \
		const struct starpu_matrix_interface *whole = parent_interface;            \
		size_t first, length;                                                      \
		cut_with_shadow(whole->extent, shadow_of(filter), n, id, &first, &length); \
		part_of_matrix(whole, child_interface, dim, first, length);                \
	}
HD_MATRIX(starpu_matrix_filter_block, 0, nx)
HD_MATRIX(starpu_matrix_filter_vertical_block, 1, ny)

HD_FILTER(starpu_matrix_filter_pick_vector_y)
{
	const struct starpu_matrix_interface *whole = parent_interface;
	uintptr_t at = whole->ptr + (shadow_of(filter) + id) * whole->ld * whole->elemsize;
	struct starpu_vector_interface *out = child_interface;
	(void)n;
	*out = (struct starpu_vector_interface){.id = STARPU_VECTOR_INTERFACE_ID,
	                                        .nx = whole->nx,
	                                        .elemsize = whole->elemsize,
	                                        .ptr = at,
	                                        .dev_handle = at,
	                                        .allocsize = whole->nx * whole->elemsize};
}

struct starpu_data_interface_ops *starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *filter,
                                                                             unsigned id)
{
	(void)filter, (void)id;
	return &starpu_interface_vector_ops;
}

HD_FILTER(starpu_matrix_filter_pick_variable)
{
	const struct starpu_matrix_interface *whole = parent_interface;
	const uint32_t *position = filter->filter_arg_ptr; /* column and line */
	(void)id, (void)n;
	pick_variable(whole->ptr + (position[0] + (size_t)position[1] * whole->ld) * whole->elemsize, whole->elemsize,
	              child_interface);
}

struct starpu_data_interface_ops *starpu_matrix_filter_pick_variable_child_ops(struct starpu_data_filter *filter,
                                                                               unsigned id)
{
	(void)filter, (void)id;
	return &starpu_interface_variable_ops;
}

/* --- Blocks and tensors ------------------------------------------------------------------------------------------- */

#define HD_CUT(kind, name, extent, ld_)                                           \
	HD_FILTER(starpu_##kind##_filter_##name)                                  \
	{                                                                         \
		const struct starpu_##kind##_interface *whole = parent_interface; \
		struct starpu_##kind##_interface *part = child_interface;         \
		size_t first, length;                                             \
		(void)filter;                                                     \
		cut(whole->extent, n, id, &first, &length);                       \
		*part = *whole;                                                   \
		part->extent = (uint32_t)length;                                  \
		part->ptr += first * (ld_)*whole->elemsize;                       \
		part->dev_handle = part->ptr;                                     \
	}
HD_CUT(block, block, nx, 1)
HD_CUT(block, vertical_block, ny, whole->ldy)
HD_CUT(block, depth_block, nz, whole->ldz)
HD_CUT(tensor, block, nx, 1)
HD_CUT(tensor, vertical_block, ny, whole->ldy)
HD_CUT(tensor, depth_block, nz, whole->ldz)
HD_CUT(tensor, time_block, nt, whole->ldt)
