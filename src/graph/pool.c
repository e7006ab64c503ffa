/* Memory of tasks: size classes in steps of one cache line, carved out of slabs that are given back when the runtime stops.
 * A task's memory is reused as soon as it has ended, so what is taken from the system grows with the window, not with the
 * number of tasks. Free tasks change hands in bundles: walking a list that another thread has made would cost a
 * cache miss per task, under the lock. */
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
	pool->classes = calloc(HD_SIZE_CLASSES, sizeof *pool->classes);
	pool->slabs = NULL;
	pool->bytes = 0;
	return pool->classes ? 0 : hd_no_memory("the task pool");
}

void hd_pool_close(struct hd_task_pool *pool)
{
	struct slab *slab = pool->slabs;
	while (slab) {
		struct slab *next = slab->next;
		free(slab);
		slab = next;
	}
	free(pool->classes);
}

/* A free task joins the open bundle; a full one is put away whole. */
static void give(struct hd_size_class *c, heddle_task *t)
{
	t->link.next = c->open;
	c->open = t;
	if (++c->n_open < HD_BUNDLE)
		return;
	t->link.prev = c->bundles;
	c->bundles = t;
	c->open = NULL;
	c->n_open = 0;
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
	for (size_t i = SLAB_TASKS; i-- > 0;) { /* backwards: the lists then run upwards, as the prefetcher likes it */
		heddle_task *t = (heddle_task *)(void *)(first + i * size);
		t->size_class = (uint8_t)size_class;
		atomic_init(&t->state, HD_ENDED);
		t->extra = NULL;
		give(&pool->classes[size_class], t);
	}
	return 0;
}

heddle_task *hd_pool_take_bundle(struct hd_task_pool *pool, unsigned size_class)
{
	struct hd_size_class *c = &pool->classes[size_class];
	if (!c->bundles && !c->open && grow(pool, size_class))
		return NULL;
	heddle_task *first = c->bundles;
	if (first) {
		c->bundles = first->link.prev;
	} else {
		first = c->open;
		c->open = NULL;
		c->n_open = 0;
	}
	return first;
}

heddle_task *hd_pool_take(struct hd_task_pool *pool, unsigned size_class)
{
	struct hd_size_class *c = &pool->classes[size_class];
	if (!c->open) {
		heddle_task *bundle = hd_pool_take_bundle(pool, size_class);
		c->open = bundle;
		c->n_open = 0;
		for (const heddle_task *t = bundle; t; t = t->link.next)
			c->n_open++;
	}
	heddle_task *t = c->open;
	if (t) {
		c->open = t->link.next;
		c->n_open--;
	}
	return t;
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
	give(&pool->classes[t->size_class], t);
}

void hd_pool_each(const struct hd_task_pool *pool, void (*f)(const heddle_task *, void *), void *arg)
{
	for (const struct slab *slab = pool->slabs; slab; slab = slab->next)
		for (size_t i = 0; i < SLAB_TASKS; i++)
			f((const heddle_task *)(const void *)((const char *)(slab + 1) + i * slab->task_size), arg);
}
