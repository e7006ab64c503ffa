/* Filters: a datum as several. */
#ifndef HEDDLE_STARPU_DATA_FILTERS_H
#define HEDDLE_STARPU_DATA_FILTERS_H

#include <stdarg.h>
#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a child of another kind than its parent is: one of the objects below. */
struct starpu_data_interface_ops;

/* How a datum is cut. `filter_func` fills the structure of child `id` of `n` from that of the parent; Heddle calls it
 * in main memory alone, when the filter is applied, and finds from the addresses which window of the parent the child
 * is. So a child must be a window of the parent: at most as many dimensions, each with the stride of a dimension of the
 * parent. Children that share elements can only be read. A parent without memory yet has an address that stands for
 * none. */
struct starpu_data_filter {
	void (*filter_func)(void *parent_interface, void *child_interface, struct starpu_data_filter *filter,
	                    unsigned id, unsigned n);
	unsigned nchildren;
	/* replaces nchildren, if not NULL */
	unsigned (*get_nchildren)(struct starpu_data_filter *filter, starpu_data_handle_t parent);
	/* the kind of a child; NULL: that of the parent */
	struct starpu_data_interface_ops *(*get_child_ops)(struct starpu_data_filter *filter, unsigned id);
	unsigned filter_arg;
	void *filter_arg_ptr;
};
extern struct starpu_data_interface_ops starpu_interface_variable_ops, starpu_interface_vector_ops,
    starpu_interface_matrix_ops, starpu_interface_block_ops, starpu_interface_tensor_ops;

/* Cuts the datum: tasks may use the children at once, by starpu_data_get_sub_data. Does not wait. */
void starpu_data_partition(starpu_data_handle_t handle, struct starpu_data_filter *filter);
/* Puts the children together again, on any node: the value is where the next task needs it. Does not wait; the children
 * must not be used any more. */
void starpu_data_unpartition(starpu_data_handle_t handle, unsigned gathering_node);
/* Cuts the datum by the first filter, its children by the second, and so on. */
void starpu_data_map_filters(starpu_data_handle_t handle, unsigned nfilters, ...);
void starpu_data_vmap_filters(starpu_data_handle_t handle, unsigned nfilters, va_list filters);
int starpu_data_get_nb_children(starpu_data_handle_t handle);
starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle, unsigned i);
/* A child of a child: `depth` indices, from the outermost. */
starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t handle, unsigned depth, ...);
starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t handle, unsigned depth, va_list indices);

/* Plans: writes the handles of the children to `children`. Tasks may name the datum, its children, and those of several
 * plans at once, in any order; Heddle splits and gathers by itself, without waiting. */
void starpu_data_partition_plan(starpu_data_handle_t handle, struct starpu_data_filter *filter,
                                starpu_data_handle_t *children);
/* These only say what Heddle finds out by itself, and do nothing. */
void starpu_data_partition_submit(starpu_data_handle_t handle, unsigned n, starpu_data_handle_t *children);
void starpu_data_partition_readonly_submit(starpu_data_handle_t handle, unsigned n, starpu_data_handle_t *children);
void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t handle, unsigned n,
                                                    starpu_data_handle_t *children);
void starpu_data_unpartition_submit(starpu_data_handle_t handle, unsigned n, starpu_data_handle_t *children,
                                    int gathering_node);
void starpu_data_unpartition_readonly_submit(starpu_data_handle_t handle, unsigned n, starpu_data_handle_t *children,
                                             int gathering_node);
void starpu_data_partition_not_automatic(starpu_data_handle_t handle);
/* Ends a plan, and its children with it. Does not wait. */
void starpu_data_partition_clean(starpu_data_handle_t handle, unsigned n, starpu_data_handle_t *children);

/* Filters of a vector: nearly equal parts; the same with `filter_arg_ptr` elements (cast from an integer) of both
 * neighbours, which the vector must have at its ends, too; two parts of `filter_arg` and the other elements; parts of
 * the lengths in the array filter_arg_ptr, of uint32_t or of long; single elements as variables. */
#define STARPU_FILTER_(name)                                                                                     \
	void name(void *parent_interface, void *child_interface, struct starpu_data_filter *filter, unsigned id, \
	          unsigned n)
STARPU_FILTER_(starpu_vector_filter_block);
STARPU_FILTER_(starpu_vector_filter_block_shadow);
STARPU_FILTER_(starpu_vector_filter_divide_in_2);
STARPU_FILTER_(starpu_vector_filter_list);
STARPU_FILTER_(starpu_vector_filter_list_long);
STARPU_FILTER_(starpu_vector_filter_pick_variable);
/* Filters of a matrix: parts along x, along y, both with shadows; one line of y, as a vector (filter_arg_ptr: the first
 * one); one element as a variable. */
STARPU_FILTER_(starpu_matrix_filter_block);
STARPU_FILTER_(starpu_matrix_filter_block_shadow);
STARPU_FILTER_(starpu_matrix_filter_vertical_block);
STARPU_FILTER_(starpu_matrix_filter_vertical_block_shadow);
STARPU_FILTER_(starpu_matrix_filter_pick_vector_y);
STARPU_FILTER_(starpu_matrix_filter_pick_variable);
/* Filters of a block and of a tensor: parts along x, y, z, t. */
STARPU_FILTER_(starpu_block_filter_block);
STARPU_FILTER_(starpu_block_filter_vertical_block);
STARPU_FILTER_(starpu_block_filter_depth_block);
STARPU_FILTER_(starpu_tensor_filter_block);
STARPU_FILTER_(starpu_tensor_filter_vertical_block);
STARPU_FILTER_(starpu_tensor_filter_depth_block);
STARPU_FILTER_(starpu_tensor_filter_time_block);
struct starpu_data_interface_ops *starpu_vector_filter_pick_variable_child_ops(struct starpu_data_filter *filter,
                                                                               unsigned id);
struct starpu_data_interface_ops *starpu_matrix_filter_pick_vector_child_ops(struct starpu_data_filter *filter,
                                                                             unsigned id);
struct starpu_data_interface_ops *starpu_matrix_filter_pick_variable_child_ops(struct starpu_data_filter *filter,
                                                                               unsigned id);
/* Part `id` of n elements in `parts` nearly equal parts, the longer ones first: its length, and the offset in bytes for
 * elements that lie ld * elemsize bytes apart. */
void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned parts, size_t elemsize, unsigned id,
                                                        unsigned ld, unsigned *length, size_t *offset);

#ifdef __cplusplus
}
#endif
#endif
