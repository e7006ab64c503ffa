/* Finds the data of a recorded graph if tasks have named children of partitions or plans.
 *
 * Data of a graph have no children. So a datum whose children were named becomes several data, its *pieces*: elements
 * that belong to exactly the same handles form one piece. A task uses the pieces of each handle that it has named. So
 * the graph has the dependencies between elements: for example between a task that writes a block and a task that reads
 * these elements through a halo, through a tile of another plan, or through the whole datum. */
#ifndef HD_TASKGRAPH_PIECES_H
#define HD_TASKGRAPH_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct hd_recorder;

#define HD_NO_HANDLE UINT32_MAX

struct hd_piece {
	uint64_t bytes;
	uint32_t handle; /* the handle that consists of this piece alone; HD_NO_HANDLE: none */
};

/* The uses of a handle. */
struct hd_handle_use {
	uint32_t is_named;   /* 1: a task, an acquire or a change of a layout names it */
	uint32_t n_accesses; /* number of accesses by which tasks and acquires name it */
};

struct hd_pieces {
	struct hd_piece *pieces; /* owns */
	size_t n, max;
	uint32_t *list; /* owns; numbers of pieces */
	size_t n_list, max_list;
	/* own; by registration number: the pieces of handle i are list[first[i]] to list[end[i] - 1] */
	size_t *first, *end;
};

/* Finds the pieces of the handles i < n_handles for which use[i].is_named is 1. HEDDLE_E_MEMORY. The caller must call
 * hd_pieces_free even after an error. */
int hd_pieces_make(struct hd_pieces *out, const struct hd_recorder *recorder, const struct hd_handle_use *use,
                   size_t n_handles);
void hd_pieces_free(struct hd_pieces *pieces);

#endif
