/* The allocator of each node: blocks.c. The core lock is held unless a comment says otherwise. */
#ifndef HD_BLOCKS_H
#define HD_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

struct hd_block;
struct hd_cell;
struct hd_memory;
struct hd_wanted;

/* blocks.c: the allocator of each node. */
/* Takes a block of exactly this size: one that was kept, or a new one. NULL when the node has none left. */
struct hd_block *hd_block_take(heddle_runtime *rt, unsigned node, size_t size);
/* The same, but NULL if none is kept. */
struct hd_block *hd_block_take_kept(heddle_runtime *rt, unsigned node, size_t size);
/* Asks for a block, which is allocated when the lock is left. The tasks that wait for room on the node are tried again
 * when the block is there, and also when it could not be had: `refused` of the memory says so then. */
void hd_block_want(heddle_runtime *rt, unsigned node, size_t size);
/* Gives a block back. */
void hd_block_give(heddle_runtime *rt, struct hd_block *b);
/* Makes a memory keep no blocks: they will be given back to the system. Returns whether there were any. */
int hd_blocks_drop(heddle_runtime *rt, struct hd_memory *m);
/* The same if they take room that is needed for so many bytes more. */
void hd_blocks_make_way(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* For hd_core_leave. Returns the blocks that are to be given back to the system, for hd_blocks_free, and copies what is
 * wanted. */
struct hd_block *hd_blocks_unload(heddle_runtime *rt, struct hd_wanted *wanted);
/* Gives a list of blocks back to the system. Needs no lock. */
void hd_blocks_free(heddle_runtime *rt, struct hd_block *list);
/* Destroys the objects of a list. Needs no lock, and should not be called with it: the program's functions may take
 * long. */
void hd_objects_destroy(struct hd_cell *list);
/* Allocates the wanted blocks, as far as that is possible, and returns them in a list. Needs no lock. */
struct hd_block *hd_blocks_make(heddle_runtime *rt, struct hd_wanted *wanted);
/* Hands what hd_blocks_make has made to the allocators. */
void hd_blocks_deliver(heddle_runtime *rt, const struct hd_wanted *wanted, struct hd_block *made);

#endif
