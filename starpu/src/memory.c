/* Memory of programs, pinned where a device gains by it. */
#include "internal.h"

/* What is pinned: by starpu_malloc, to be unpinned by starpu_free. The lock protects the list. */
struct pinned {
	void *memory;
	struct pinned *next;
};
static struct pinned *all_pinned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t alignment = 64; /* changed before other threads allocate */

/* Bytes that STARPU_MALLOC_COUNT counts. Relaxed: a limit of memory is only a rough one. */
static _Atomic size_t counted;

size_t hd_starpu_counted(void)
{
	return counted;
}

static bool has_devices(void)
{
	return starpu_cuda_worker_get_count() || starpu_opencl_worker_get_count();
}

static void pin(void *memory, size_t size)
{
	struct pinned *p = malloc(sizeof *p);
	if (!p || heddle_memory_pin(hd_starpu_runtime, memory, size)) { /* copies are only slower */
		free(p);
		return;
	}
	p->memory = memory;
	pthread_mutex_lock(&lock);
	p->next = all_pinned;
	all_pinned = p;
	pthread_mutex_unlock(&lock);
}

static void unpin(void *memory)
{
	pthread_mutex_lock(&lock);
	struct pinned **place = &all_pinned;
	while (*place && (*place)->memory != memory)
		place = &(*place)->next;
	struct pinned *p = *place;
	if (p)
		*place = p->next;
	pthread_mutex_unlock(&lock);
	if (p && hd_starpu_runtime)
		heddle_memory_unpin(hd_starpu_runtime, memory);
	free(p);
}

void hd_starpu_unpin_all(void)
{
	while (all_pinned)
		unpin(all_pinned->memory);
}

int starpu_malloc_flags(void **memory, size_t size, int flags)
{
	bool counts = flags & STARPU_MALLOC_COUNT,
	     may_exceed = flags & (STARPU_MALLOC_NORECLAIM | STARPU_MEMORY_OVERFLOW);
	starpu_ssize_t left = counts && !may_exceed ? starpu_memory_get_available(STARPU_MAIN_RAM) : -1;
	*memory = NULL;
	if (left >= 0 && size > (size_t)left)
		return -ENOMEM;
	if (posix_memalign(memory, alignment, size ? size : 1))
		return -ENOMEM;
	if (counts)
		counted += size;
	if ((flags & STARPU_MALLOC_PINNED) && !hd_starpu_virtual && has_devices())
		pin(*memory, size);
	return 0;
}

int starpu_malloc(void **memory, size_t size)
{
	return starpu_malloc_flags(memory, size, STARPU_MALLOC_PINNED);
}

int starpu_free(void *memory)
{
	unpin(memory);
	free(memory);
	return 0;
}

int starpu_free_flags(void *memory, size_t size, int flags)
{
	if (flags & STARPU_MALLOC_COUNT)
		counted -= size;
	return starpu_free(memory);
}

int starpu_free_noflag(void *memory, size_t size)
{
	(void)size;
	return starpu_free(memory);
}

void starpu_malloc_set_align(size_t align)
{
	if (align > alignment)
		alignment = align;
}

int starpu_memory_pin(void *memory, size_t size)
{
	int status = hd_starpu_runtime ? heddle_memory_pin(hd_starpu_runtime, memory, size) : 0;
	return hd_starpu_errno(status);
}

int starpu_memory_unpin(void *memory, size_t size)
{
	(void)size;
	if (hd_starpu_runtime)
		heddle_memory_unpin(hd_starpu_runtime, memory);
	return 0;
}

uintptr_t starpu_malloc_on_node_flags(unsigned node, size_t size, int flags)
{
	void *memory = NULL;
	if (node == STARPU_MAIN_RAM)
		starpu_malloc_flags(&memory, size, flags);
	return (uintptr_t)memory;
}

uintptr_t starpu_malloc_on_node(unsigned node, size_t size)
{
	return starpu_malloc_on_node_flags(node, size, STARPU_MALLOC_PINNED);
}

void starpu_free_on_node_flags(unsigned node, uintptr_t address, size_t size, int flags)
{
	if (node == STARPU_MAIN_RAM)
		starpu_free_flags((void *)address, size, flags);
}

void starpu_free_on_node(unsigned node, uintptr_t address, size_t size)
{
	starpu_free_on_node_flags(node, address, size, STARPU_MALLOC_PINNED);
}

void starpu_malloc_on_node_set_default_flags(unsigned node, int flags)
{
	(void)node, (void)flags;
}
