/* Memory of tasks: size classes in steps of one cache line, carved out of slabs that are given back when the runtime stops.
 * A task's memory is reused as soon as it has ended, so what is taken from the system grows with the window, not with the
 * number of tasks. */
#include "graph.h"
#include <stdlib.h>

enum { SLAB_TASKS = 128 };

struct slab {
	struct slab *next;
	size_t task_size;
	char pad[HD_SIZE_STEP - sizeof(struct slab *) - sizeof(size_t)]; /* tasks begin on a cache line */
};

int hd_pool_open(struct hd_task_pool *pool)
{
	pool->free = calloc(HD_SIZE_CLASSES, sizeof *pool->free);
	pool->slabs = NULL;
	pool->bytes = 0;
	return pool->free ? 0 : hd_no_memory("the task pool");
}

void hd_pool_close(struct hd_task_pool *pool)
{
	struct slab *slab = pool->slabs;
	while (slab) {
		struct slab *next = slab->next;
		free(slab);
		slab = next;
	}
	free(pool->free);
}

static int grow(struct hd_task_pool *pool, unsigned size_class)
{
	size_t size = (size_t)(size_class + 1) * HD_SIZE_STEP;
	struct slab *slab = aligned_alloc(HD_CACHE_LINE, sizeof(struct slab) + SLAB_TASKS * size);
	if (!slab)
		return hd_no_memory("tasks");
	slab->task_size = size;
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->bytes += sizeof(struct slab) + SLAB_TASKS * size;
	char *first = (char *)(slab + 1);
	for (size_t i = SLAB_TASKS; i-- > 0;) { /* backwards: the list then runs upwards, as the prefetcher likes it */
		heddle_task *t = (heddle_task *)(void *)(first + i * size);
		t->size_class = (uint16_t)size_class;
		atomic_init(&t->state, HD_ENDED);
		t->link.next = pool->free[size_class];
		pool->free[size_class] = t;
	}
	return 0;
}

heddle_task *hd_pool_take(struct hd_task_pool *pool, unsigned size_class, size_t want)
{
	if (!pool->free[size_class] && grow(pool, size_class))
		return NULL;
	heddle_task *first = pool->free[size_class], *last = first;
	while (--want && last->link.next)
		last = last->link.next;
	pool->free[size_class] = last->link.next;
	last->link.next = NULL;
	return first;
}

heddle_task *hd_pool_take_large(struct hd_task_pool *pool, size_t size)
{
	(void)pool;
	heddle_task *t = aligned_alloc(HD_CACHE_LINE, (size + HD_CACHE_LINE - 1) / HD_CACHE_LINE * HD_CACHE_LINE);
	if (!t) {
		hd_no_memory("a task");
		return NULL;
	}
	t->size_class = HD_SIZE_CLASSES;
	t->link.next = NULL;
	return t;
}

void hd_pool_give(struct hd_task_pool *pool, heddle_task *t)
{
	if (t->size_class == HD_SIZE_CLASSES) {
		free(t);
		return;
	}
	t->link.next = pool->free[t->size_class];
	pool->free[t->size_class] = t;
}

void hd_pool_each(const struct hd_task_pool *pool, void (*f)(const heddle_task *, void *), void *arg)
{
	for (const struct slab *slab = pool->slabs; slab; slab = slab->next)
		for (size_t i = 0; i < SLAB_TASKS; i++)
			f((const heddle_task *)(const void *)((const char *)(slab + 1) + i * slab->task_size), arg);
}
