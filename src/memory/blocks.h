/* The allocator of each node: blocks.c. The caller holds the core lock unless a comment says otherwise. */
#ifndef HD_MEMORY_BLOCKS_H
#define HD_MEMORY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

struct hd_block;
struct hd_cell;
struct hd_memory;
struct hd_wanted;
struct heddle_type;

/* Takes a block of exactly this size, a kept block if possible, otherwise a new one. NULL: the node is full. */
struct hd_block *hd_block_take(heddle_runtime *rt, unsigned node, size_t size);
/* Takes a kept block of exactly this size. NULL: none is kept. */
struct hd_block *hd_block_take_kept(heddle_runtime *rt, unsigned node, size_t size);
/* Asks for a block, which is allocated when the lock is released. If the allocation fails, hd_memory.refused is set. In
 * both cases the tasks that wait for room on the node are then tried again. */
void hd_block_want(heddle_runtime *rt, unsigned node, size_t size);
/* Gives a block back to the allocator. */
void hd_block_give(heddle_runtime *rt, struct hd_block *b);
/* Gives all kept blocks of a memory back to the system. Returns whether there were any. */
int hd_blocks_drop(heddle_runtime *rt, struct hd_memory *m);
/* Gives all kept blocks of a memory back to the system if they occupy room that `bytes` more bytes need. */
void hd_blocks_make_way(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* Called by hd_core_leave. Returns the blocks that hd_blocks_free is to give back to the system, and copies the list of
 * wanted blocks to *wanted. */
struct hd_block *hd_blocks_unload(heddle_runtime *rt, struct hd_wanted *wanted);
/* Gives a list of blocks back to the system. Needs no lock. */
void hd_blocks_free(heddle_runtime *rt, struct hd_block *list);
/* The object in a cell on a node. If there is none, the type allocates one like `like`; of several threads that call
 * this the first one provides it. NULL: no memory. Needs no lock. */
void *hd_object_ensure(void **cell, const struct heddle_type *type, const void *like, unsigned node);
/* Destroys the objects of a list. Called without the lock, because the program's functions may take long. */
void hd_objects_destroy(struct hd_cell *list);
/* Allocates the wanted blocks, as far as possible, and returns them in a list. Sets the sizes of these blocks in
 * *wanted to 0. Called without the lock. */
struct hd_block *hd_blocks_make(heddle_runtime *rt, struct hd_wanted *wanted);
/* Gives the blocks that hd_blocks_make has made to the allocators. */
void hd_blocks_deliver(heddle_runtime *rt, const struct hd_wanted *wanted, struct hd_block *made);

#endif
