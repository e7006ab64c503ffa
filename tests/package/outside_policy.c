/* A plug-in outside Heddle's tree, with two policies made of the installed parts: "outside-levels" has one queue by
 * priority, "outside-heap" one heap by priority. Both do what prio does. */
#include <heddle.h>
#include <heddle/parts/heap.h>
#include <heddle/parts/queue.h>
#include <heddle/plugin.h>
#include <stdlib.h>

static int levels_create(heddle_sched *sched, void **state)
{
	*state = calloc(1, sizeof(struct hd_levels));
	return *state ? 0 : heddle_sched_fail(sched, HEDDLE_E_MEMORY, "no memory for a queue");
}

static void levels_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)releaser;
	for (size_t i = 0; i < n; i++)
		hd_levels_push(state, batch[i]);
}

static heddle_task *levels_pick(void *state, unsigned worker)
{
	heddle_task *t = hd_levels_first(state);
	if (!t || !heddle_task_can_run(t, worker))
		return NULL;
	hd_levels_remove_urgent(state, t);
	return t;
}

/* Tasks stay in their slots, which are not used again: this is a test. */
struct heap {
	struct hd_heap heap;
	heddle_task *slots[1000];
	uint32_t n;
};

static int heap_create(heddle_sched *sched, void **state)
{
	struct heap *heap = *state = calloc(1, sizeof *heap);
	if (!heap || !hd_heap_reserve(&heap->heap, sizeof heap->slots / sizeof *heap->slots))
		return heddle_sched_fail(sched, HEDDLE_E_MEMORY, "no memory for a heap");
	return 0;
}

static void heap_destroy(void *state)
{
	struct heap *heap = state;
	hd_heap_fini(&heap->heap);
	free(heap);
}

static void heap_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct heap *heap = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = heap->n++;
		heap->slots[slot] = batch[i];
		uint64_t key =
		    (uint64_t)((int64_t)heddle_task_priority(batch[i]) - INT_MIN); /* as an unsigned number */
		hd_heap_push(&heap->heap, (struct hd_heap_entry){.key = key, .order = slot, .slot = slot});
	}
}

static heddle_task *heap_pick(void *state, unsigned worker)
{
	struct heap *heap = state;
	if (!hd_heap_n(&heap->heap))
		return NULL;
	heddle_task *t = heap->slots[hd_heap_at(&heap->heap, 0)->slot];
	if (!heddle_task_can_run(t, worker))
		return NULL;
	hd_heap_remove(&heap->heap, 0);
	return t;
}

#define POLICY(policy_name, policy_summary) \
	.abi = HEDDLE_POLICY_ABI, .name = policy_name, .summary = policy_summary, .source = "a test of Heddle's"

static const struct heddle_policy levels = {POLICY("outside-levels", "one queue by priority"), .create = levels_create,
                                            .destroy = free, .ready = levels_ready, .pick = levels_pick};
static const struct heddle_policy of_heap = {POLICY("outside-heap", "one heap by priority"), .create = heap_create,
                                             .destroy = heap_destroy, .ready = heap_ready, .pick = heap_pick};

static int start(void)
{
	int status = heddle_policy_register(&levels);
	return status ? status : heddle_policy_register(&of_heap);
}

const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, "outside", "policies of the installed parts", start};
