/* The memory of tasks. There are size classes, in steps of one cache line. Tasks lie in slabs, which are allocated from
 * an arena and freed when the runtime stops. A task that is larger than the largest class has a slab of its own, which
 * is freed with the task. The memory of a task is reused as soon as the task has ended, so memory use grows with the
 * window, not with the number of tasks.
 *
 * A submitting thread takes free tasks in bundles. Taking them one by one from a list that another thread has made
 * would cost one cache miss per task, under the lock. */
#include "task_pool.h"
#include <stdlib.h>

enum { SLAB_TASKS = 128 };

struct slab {
	struct slab *next, **prev_next;
	size_t task_size, n_tasks;
	/* so that the tasks, which follow, begin on a cache line */
	char pad[HD_SIZE_STEP - 2 * sizeof(void *) - 2 * sizeof(size_t)];
};

static heddle_task *task_in(const struct slab *slab, size_t i)
{
	return (heddle_task *)((uintptr_t)(slab + 1) + i * slab->task_size);
}

static int is_large(unsigned size_class)
{
	return size_class == HD_SIZE_CLASSES;
}

static size_t slab_bytes(const struct slab *slab)
{
	return sizeof(struct slab) + slab->n_tasks * slab->task_size;
}

struct slab *hd_pool_make(struct hd_task_pool *pool, size_t task_size, int held)
{
	size_t rounded = hd_round_up(task_size, HD_SIZE_STEP), n_tasks = 1;
	unsigned size_class = hd_size_class(task_size);
	if (!is_large(size_class))
		n_tasks = SLAB_TASKS;
	size_t bytes = sizeof(struct slab) + n_tasks * rounded;
	struct slab *slab = is_large(size_class) ? aligned_alloc(HD_CACHE_LINE, bytes)
	                                         : hd_fresh_take(&pool->memory, bytes, HD_CACHE_LINE, held);
	if (!slab) {
		hd_no_memory("tasks");
		return NULL;
	}
	*slab = (struct slab){.task_size = rounded, .n_tasks = n_tasks};
	for (size_t i = 0; i < n_tasks; i++) {
		heddle_task *t = task_in(slab, i);
		t->size_class = (uint8_t)size_class;
		atomic_init(&t->state, HD_OUTSIDE);
		t->extra = NULL;
		t->link.next = NULL;
	}
	return slab;
}

static void remove_slab(struct hd_task_pool *pool, struct slab *slab)
{
	*slab->prev_next = slab->next;
	if (slab->next)
		slab->next->prev_next = slab->prev_next;
	pool->bytes -= slab_bytes(slab);
	free(slab);
}

int hd_pool_open(struct hd_task_pool **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : hd_no_memory("the task pool");
}

void hd_pool_close(struct hd_task_pool *pool)
{
	if (!pool)
		return;
	for (struct slab *slab = pool->slabs, *next; slab; slab = next) {
		next = slab->next;
		if (is_large(task_in(slab, 0)->size_class))
			free(slab);
	}
	hd_fresh_close(&pool->memory);
	free(pool);
}

heddle_task *hd_pool_add(struct hd_task_pool *pool, struct slab *slab)
{
	slab->next = pool->slabs;
	slab->prev_next = &pool->slabs;
	if (slab->next)
		slab->next->prev_next = &slab->next;
	pool->slabs = slab;
	pool->bytes += slab_bytes(slab);
	heddle_task *first = task_in(slab, 0);
	if (is_large(first->size_class))
		return first;
	/* backwards, so that the lists have ascending addresses, which hardware prefetchers follow */
	for (size_t i = slab->n_tasks; i-- > 0;)
		hd_pool_give(pool, task_in(slab, i));
	return hd_pool_take_bundle(pool, first->size_class);
}

heddle_task *hd_pool_take_bundle(struct hd_task_pool *pool, unsigned size_class)
{
	if (is_large(size_class))
		return NULL;
	struct hd_size_class *c = &pool->classes[size_class];
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

/* Puts all tasks of the bundle except the first into the open bundle, which is empty. */
static void open_bundle(struct hd_size_class *c, heddle_task *bundle)
{
	c->open = bundle->link.next;
	c->n_open = 0;
	for (const heddle_task *t = c->open; t; t = t->link.next)
		c->n_open++;
}

heddle_task *hd_pool_take(struct hd_task_pool *pool, size_t task_size)
{
	unsigned size_class = hd_size_class(task_size);
	struct hd_size_class *c = &pool->classes[size_class];
	if (!is_large(size_class) && c->open) {
		heddle_task *t = c->open;
		c->open = t->link.next;
		c->n_open--;
		return t;
	}
	heddle_task *bundle = hd_pool_take_bundle(pool, size_class);
	if (!bundle) {
		struct slab *slab = hd_pool_make(pool, task_size, 1);
		bundle = slab ? hd_pool_add(pool, slab) : NULL;
	}
	if (bundle && !is_large(size_class))
		open_bundle(c, bundle);
	return bundle;
}

size_t hd_pool_task_size(const heddle_task *t)
{
	return is_large(t->size_class) ? ((const struct slab *)(const void *)t - 1)->task_size
	                               : (size_t)(t->size_class + 1) * HD_SIZE_STEP;
}

void hd_pool_remove(struct hd_task_pool *pool, heddle_task *t)
{
	remove_slab(pool, (struct slab *)(void *)t - 1);
}

void hd_pool_each(const struct hd_task_pool *pool, void (*f)(const heddle_task *, void *), void *arg)
{
	for (const struct slab *slab = pool->slabs; slab; slab = slab->next)
		for (size_t i = 0; i < slab->n_tasks; i++)
			f(task_in(slab, i), arg);
}
