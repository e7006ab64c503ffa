/* Memory for data. */
#ifndef HEDDLE_STARPU_STDLIB_H
#define HEDDLE_STARPU_STDLIB_H

#include <starpu_data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags: STARPU_MALLOC_PINNED pins. STARPU_MALLOC_COUNT counts the memory, and fails if data and counted memory would
 * exceed STARPU_LIMIT_CPU_MEM (in MiB) together, unless STARPU_MALLOC_NORECLAIM or STARPU_MEMORY_OVERFLOW is there. The
 * others have no effect. */
#define STARPU_MALLOC_PINNED 0x1
#define STARPU_MALLOC_COUNT 0x2
#define STARPU_MALLOC_NORECLAIM 0x4
#define STARPU_MEMORY_WAIT 0x8
#define STARPU_MEMORY_OVERFLOW 0x10
#define STARPU_MALLOC_SIMULATION_FOLDED 0x20
#define STARPU_MALLOC_SIMULATION_UNIQUE 0
#define STARPU_MALLOC_NORMAL 0

/* Memory in main memory, pinned where a device gains by it, aligned to 64 bytes or as starpu_malloc_set_align says. 0
 * or -ENOMEM. starpu_free and its like find out by themselves whether memory was pinned. Call them before
 * starpu_shutdown, or after it for memory without a device. */
int starpu_malloc(void **memory, size_t size);
int starpu_malloc_flags(void **memory, size_t size, int flags);
int starpu_free(void *memory);
int starpu_free_flags(void *memory, size_t size, int flags);
int starpu_free_noflag(void *memory, size_t size);
void starpu_malloc_set_align(size_t align);
int starpu_memory_pin(void *memory, size_t size);
int starpu_memory_unpin(void *memory, size_t size);
/* Memory on a node: only main memory; 0 for other nodes, whose memory belongs to Heddle. */
uintptr_t starpu_malloc_on_node(unsigned node, size_t size);
uintptr_t starpu_malloc_on_node_flags(unsigned node, size_t size, int flags);
void starpu_free_on_node(unsigned node, uintptr_t address, size_t size);
void starpu_free_on_node_flags(unsigned node, uintptr_t address, size_t size, int flags);
/* Without effect: the flags with which kinds of data allocate. */
void starpu_malloc_on_node_set_default_flags(unsigned node, int flags);

#ifdef __cplusplus
}
#endif
#endif
