/* Submission: from the program's items to a task in the graph.
 *
 * The thread that holds the *lease* (rt->lease is its token) submits into an inbox of its own, without the core lock,
 * and puts up to HD_INBOX_SIZE tasks into the graph at a time. A thread that needs the tasks earlier, because it waits
 * or because its worker has nothing to do, drains the inbox under the lock; it revokes the lease before it sleeps. No
 * task is lost, and the order of submissions is kept:
 *
 *  - After it has stored a task in a slot, the submitting thread reads the lease again. If it still holds the lease,
 *    any thread that revokes the lease later also drains the inbox and sees the slot. If it does not, it drains the
 *    inbox itself before it returns. (Both sides use sequentially consistent operations: see heddle_runtime.lease.) So
 *    other threads need to drain one inbox only: that of the thread which had the lease last (rt->inlet.filled).
 *  - A thread without the lease never fills its inbox. Under the lock, it revokes the lease, drains the inbox of the
 *    thread that held it, and puts its own task into the graph; then it gets the lease itself. So when thread B submits
 *    after thread A has returned from submitting, A's task is in the graph before B's.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime.h"

/* The thread's inbox in the runtime that it used last. Only its thread looks at it. */
static _Thread_local struct {
	uint64_t uid;
	struct hd_inbox *inbox;
} cached;

/* A thread that has ended leaves its inbox, perhaps with submitted tasks in it, to the next thread with its token. */
static struct hd_inbox *find_inbox(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t token = hd_thread_token();
	for (struct hd_inbox *i = rt->inlet.inboxes; i; i = i->next)
		if (i->thread == token)
			return i;
	struct hd_inbox *inbox = aligned_alloc(HD_CACHE_LINE, sizeof *inbox);
	if (!inbox) {
		hd_no_memory("an inbox");
		return NULL;
	}
	memset(inbox, 0, sizeof *inbox);
	inbox->rt = rt;
	inbox->thread = token;
	inbox->next = rt->inlet.inboxes;
	rt->inlet.inboxes = inbox;
	return inbox;
}

static struct hd_inbox *my_inbox(heddle_runtime *rt)
{
	if (HD_LIKELY(cached.uid == rt->uid))
		return cached.inbox;
	if (hd_check_process(rt))
		return NULL;
	hd_core_enter(rt);
	struct hd_inbox *inbox = find_inbox(rt);
	hd_core_leave(rt);
	if (inbox) {
		cached.uid = rt->uid;
		cached.inbox = inbox;
	}
	return inbox;
}

void hd_inbox_forget(void)
{
	cached.uid = 0;
}

/* --- The graph's side --------------------------------------------------------------------------------------------- */

static void enter(heddle_runtime *rt, heddle_task *t)
{
	rt->outcome.stats.tasks_submitted += t->kind == HD_TASK_CODELET;
	hd_core_insert(rt, t);
}

/* Returns 1 if one of the task's data is closed: it was partitioned or unregistered after the submitting thread checked
 * it. Then *refusal says which datum, and the task is freed. The submission of such a task has not returned yet: before
 * a datum is closed, the lease is revoked and the inbox drained. */
static int refuse(heddle_runtime *rt, heddle_task *t, struct hd_refusal *refusal)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const heddle_data *d = t->accesses[i].data;
		enum hd_closed why = hd_data_closed(d);
		if (HD_LIKELY(why == HD_OPEN))
			continue;
		refusal->why = why;
		hd_data_name(d, refusal->name, sizeof refusal->name);
		if (t->extra) {
			free(t->extra->before);
			t->extra->before = NULL;
		}
		t->refs = 1; /* the program gets no reference: heddle_submit_items fails */
		hd_task_unref(rt, t);
		return 1;
	}
	return 0;
}

/* Lets a task into the graph or refuses it. Its data were checked when n_closings was at least `looked`. */
static void admit(heddle_runtime *rt, heddle_task *t, uint64_t looked, struct hd_refusal *refusal)
{
	if (HD_UNLIKELY(rt->inlet.n_closings != looked) && refuse(rt, t, refusal))
		return;
	enter(rt, t);
}

/* Puts the tasks of an inbox into the graph. Returns whether there were any. */
static int drain_one(heddle_runtime *rt, struct hd_inbox *inbox)
{
	/* pairs: the store of tail in push. Sequentially consistent, so that this load cannot come before the store of
	 * the lease in hd_revoke: otherwise this thread could miss the slot and the submitting thread the
	 * revocation. */
	uint32_t tail = atomic_load_explicit(&inbox->tail, memory_order_seq_cst);
	int any = inbox->head != tail;
	while (inbox->head != tail) {
		heddle_task *t = inbox->slots[inbox->head++ % HD_INBOX_SIZE];
		if (tail - inbox->head > 1)
			hd_task_fetch(inbox->slots[(inbox->head + 1) % HD_INBOX_SIZE]);
		admit(rt, t, inbox->n_closings, &inbox->refusal);
	}
	return any;
}

int hd_drain(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	return rt->inlet.filled && drain_one(rt, rt->inlet.filled);
}

void hd_revoke(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	/* pairs: the loads of the lease in push */
	atomic_store_explicit(&rt->lease, 0, memory_order_seq_cst);
}

/* Takes the memory of a task from the thread's list of free tasks. If the list is empty, a bundle from the pool fills
 * it. */
static heddle_task *take_memory(heddle_runtime *rt, struct hd_inbox *inbox, size_t size)
{
	size_t size_class = (size - 1) / HD_SIZE_STEP;
	if (HD_UNLIKELY(size_class >= HD_SIZE_CLASSES)) {
		hd_core_enter(rt);
		heddle_task *large = hd_pool_take_large(&rt->pool, size);
		hd_core_leave(rt);
		return large;
	}
	heddle_task *t = inbox->free[size_class];
	if (HD_UNLIKELY(!t)) {
		hd_core_enter(rt);
		t = hd_pool_take_bundle(&rt->pool, (unsigned)size_class);
		hd_core_leave(rt);
		if (!t)
			return NULL;
	}
	inbox->free[size_class] = t->link.next;
	if (t->link.next)
		hd_task_fetch(t->link.next); /* for the next submission: its lines are in another core's cache */
	return t;
}

static void give_memory(struct hd_inbox *inbox, heddle_task *t)
{
	if (t->size_class == HD_SIZE_CLASSES) {
		hd_core_enter(inbox->rt);
		hd_pool_give(&inbox->rt->pool, t);
		hd_core_leave(inbox->rt);
		return;
	}
	t->link.next = inbox->free[t->size_class];
	inbox->free[t->size_class] = t;
}

static int below_throttle(heddle_runtime *rt, void *arg)
{
	(void)arg;
	return hd_live(rt) - rt->count.held <= rt->inlet.throttle || (rt->count.held && hd_core_still(rt));
}

/* The number of unfinished tasks at which submission waits; 0: no limit. The window shrinks in proportion to the length
 * of tasks that take less than TINY_US, from TINY_WINDOW down to PER_WORKER for each worker: with more tasks in the
 * graph than the second level cache has room for each task costs more, and the schedules of tiny tasks do not get
 * better. */
static uint64_t window_of(const heddle_runtime *rt)
{
	enum { TINY_WINDOW = 2048, PER_WORKER = 256 };
	static const double TINY_US = 2;
	uint64_t window = (uint64_t)rt->config.window;
	if (HD_LIKELY(rt->inlet.mean_us >= TINY_US))
		return window;
	uint64_t least = rt->n_workers < 2 ? 2 * PER_WORKER : PER_WORKER * rt->n_workers;
	uint64_t tiny = (uint64_t)(rt->inlet.mean_us / TINY_US * TINY_WINDOW);
	if (tiny < least)
		tiny = least < TINY_WINDOW ? least : TINY_WINDOW;
	return window < tiny ? window : tiny;
}

/* If the window is full, waits until a quarter of it is free again. ACQUIRE tasks in force (rt->count.held) do not
 * count, and the wait ends when all other tasks wait for them, since only the program can release them. A deadlock is
 * not reported here, but by the next wait of the program. */
static void throttle(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	uint64_t window = window_of(rt);
	if (HD_LIKELY(!window || hd_live(rt) - rt->count.held < window) || hd_inside())
		return;
	rt->inlet.throttle = window - (window + 3) / 4;
	hd_wait_until(rt, below_throttle, NULL);
}

/* How many tasks the thread may submit until the next flush: as many as the window and the inbox have room for. */
static uint32_t new_budget(heddle_runtime *rt)
{
	uint64_t window = window_of(rt), live = hd_live(rt) - rt->count.held;
	if (!window || window >= live + HD_INBOX_SIZE)
		return HD_INBOX_SIZE;
	return window > live ? (uint32_t)(window - live) : 0;
}

/* Revokes the lease and puts all submitted tasks into the graph. This repeats, because settling runs callbacks without
 * the lock, and other threads may submit meanwhile. */
static void drain_all(heddle_runtime *rt)
{
	hd_revoke(rt);
	while (hd_drain(rt)) {
		hd_core_settle(rt);
		hd_revoke(rt);
	}
}

/* Takes the answer for the thread's own task out of its inbox. */
static void take_refusal(struct hd_inbox *inbox, struct hd_refusal *out)
{
	out->why = HD_OPEN;
	if (HD_LIKELY(inbox->refusal.why == HD_OPEN))
		return;
	*out = inbox->refusal;
	inbox->refusal.why = HD_OPEN;
}

/* Puts everything submitted so far into the graph, then `t`; NULL: the new task lies in the inbox already. Gives the
 * thread the lease, unless some worker sleeps: tasks in an inbox would not wake it. HEDDLE_E_STATE: the task was
 * refused.
 *
 * Kernels and callbacks that this thread runs meanwhile may submit through the same inbox. So what concerns this task
 * (`looked`, the refusal) is taken out of the inbox before they run. */
static int flush(heddle_runtime *rt, struct hd_inbox *inbox, heddle_task *t)
{
	hd_core_enter(rt);
	hd_core_clock(rt, rt->engine->now(rt));
	rt->dispatch.releaser = -1;
	const uint64_t looked = inbox->n_closings;
	int any = !t && drain_one(rt, inbox); /* the lease was revoked while push stored the task in its slot */
	struct hd_refusal refusal;
	take_refusal(inbox, &refusal);
	if (any)
		hd_core_settle(rt);
	drain_all(rt);
	throttle(rt);
	drain_all(rt);
	if (t) {
		admit(rt, t, looked, &refusal);
		hd_core_settle(rt);
		drain_all(rt);
	}
	inbox->budget = new_budget(rt);
	inbox->n_closings = rt->inlet.n_closings;
	rt->inlet.filled = inbox;
	/* pairs: the loads of the lease in push, of this thread and of the one that held the lease before */
	atomic_store_explicit(&rt->lease, rt->count.asleep ? 0 : inbox->thread, memory_order_seq_cst);
	hd_core_leave(rt);
	return HD_LIKELY(refusal.why == HD_OPEN) ? 0 : hd_data_closed_error(refusal.name, refusal.why, "heddle_submit");
}

/* Submits a task. A slot is free, since the budget is at most the size of the inbox and every flush empties it. */
static int push(heddle_runtime *rt, struct hd_inbox *inbox, heddle_task *t)
{
	/* pairs: the stores of the lease in hd_revoke and flush. A thread that has lost the lease must flush: other
	 * threads may have submitted since, and their tasks come first. */
	if (HD_UNLIKELY(inbox->budget == 0) ||
	    HD_UNLIKELY(atomic_load_explicit(&rt->lease, memory_order_seq_cst) != inbox->thread))
		return flush(rt, inbox, t);
	inbox->budget--;
	/* Relaxed, pairs with nothing: only this thread writes the tail. */
	uint32_t tail = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
	inbox->slots[tail % HD_INBOX_SIZE] = t;
	/* pairs: the load in drain_one. Sequentially consistent, so that the load of the lease below cannot come before
	 * it. */
	atomic_store_explicit(&inbox->tail, tail + 1, memory_order_seq_cst);
	/* pairs: the store of the lease in hd_revoke */
	if (HD_UNLIKELY(atomic_load_explicit(&rt->lease, memory_order_seq_cst) != inbox->thread))
		return flush(rt, inbox, NULL);
	return 0;
}

/* --- Tasks of the core -------------------------------------------------------------------------------------------- */

static void clear(heddle_runtime *rt, heddle_task *t)
{
	uint8_t size_class = t->size_class;
	memset(t, 0, offsetof(heddle_task, state));
	/* Relaxed, pairs with nothing: the task is not in the graph. Only heddle_dump may read its state meanwhile, and
	 * it skips tasks that are not in the graph. */
	atomic_store_explicit(&t->state, HD_OUTSIDE, memory_order_relaxed);
	t->size_class = size_class;
	t->cancelled = t->waited = 0;
	t->refs = 1;
	t->special = rt->n_nodes == 1 ? HD_TASK_ONE_NODE : 0;
	t->link.u.ptr = rt; /* see hd_task_runtime */
}

static size_t task_size(size_t n_accesses, size_t value_bytes)
{
	return sizeof(heddle_task) + n_accesses * sizeof(struct hd_access) + value_bytes;
}

heddle_task *hd_task_make(heddle_runtime *rt, heddle_codelet *codelet, size_t n_accesses)
{
	HD_HELD(&rt->lock);
	size_t size = task_size(n_accesses, 0), size_class = (size - 1) / HD_SIZE_STEP;
	heddle_task *t = size_class < HD_SIZE_CLASSES ? hd_pool_take(&rt->pool, (unsigned)size_class)
	                                              : hd_pool_take_large(&rt->pool, size);
	if (!t)
		return NULL;
	clear(rt, t);
	t->codelet = codelet;
	t->kind = codelet ? HD_TASK_CODELET : HD_TASK_SYNC;
	t->n_accesses = (uint32_t)n_accesses;
	if (codelet)
		t->footprint = codelet->footprint_seed;
	return t;
}

void hd_task_set_access(heddle_task *t, size_t i, heddle_data *d, unsigned mode)
{
	struct hd_access *a = &t->accesses[i];
	memset(a, 0, sizeof *a);
	a->data = d;
	a->mode = mode & 0x1f;
	a->index = (uint32_t)i;
	if (t->codelet)
		t->footprint = hd_fold(t->footprint, d->shape);
}

void hd_control_begin(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	hd_core_clock(rt, rt->engine->now(rt));
	rt->dispatch.releaser = -1;
	drain_all(rt);
	throttle(rt);
	drain_all(rt);
}

heddle_task *hd_control_make(heddle_runtime *rt, int kind, size_t n_accesses)
{
	HD_HELD(&rt->lock);
	heddle_task *t = hd_task_make(rt, NULL, n_accesses);
	if (!t)
		return NULL;
	t->kind = (uint8_t)kind;
	t->special = 0; /* no ONE_NODE: controls also stage data that have no memory or no value yet */
	return t;
}

void hd_control_enter(heddle_runtime *rt, heddle_task *t)
{
	HD_HELD(&rt->lock);
	enter(rt, t);
	hd_core_settle(rt);
}

/* --- Tasks of the program ----------------------------------------------------------------------------------------- */

static void discard(struct hd_inbox *inbox, heddle_task *t)
{
	if (t->extra) {
		free(t->extra->before);
		free(t->extra->name);
		free(t->extra);
		t->extra = NULL;
	}
	give_memory(inbox, t);
}

/* Stores the task where each heddle_out wants it; `t` is NULL if the submission failed. */
static void hand_out(heddle_task *t, size_t n, const struct heddle_item *items)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].what == HEDDLE_ITEM_OUT && items[i].ptr)
			*(heddle_task **)(uintptr_t)items[i].ptr = t;
}

static int submit(heddle_runtime *rt, size_t n, const struct heddle_item *items)
{
	struct hd_request q;
	int status = hd_request_read(rt, n, items, &q);
	if (HD_UNLIKELY(status))
		return status;
	struct hd_inbox *inbox = my_inbox(rt);
	size_t value_bytes = q.n_values ? hd_rounded(q.n_values * sizeof(uint32_t)) + q.value_bytes : 0;
	heddle_task *t = inbox ? take_memory(rt, inbox, task_size(q.n_data, value_bytes)) : NULL;
	if (HD_UNLIKELY(!t))
		return hd_check_process(rt) ? HEDDLE_E_STATE : HEDDLE_E_MEMORY;
	clear(rt, t);
	status = hd_request_fill(rt, t, n, items, &q);
	if (HD_UNLIKELY(status)) {
		discard(inbox, t);
		return status;
	}
	if (HD_UNLIKELY(t->refs > 1))
		hand_out(t, n, items);
	return push(rt, inbox, t);
}

int heddle_submit_items(heddle_runtime *rt, size_t n, const struct heddle_item *items)
{
	if (HD_UNLIKELY(!rt || (n && !items)))
		return hd_error(HEDDLE_E_INVALID, "a task needs a runtime and its items");
	int status = submit(rt, n, items);
	if (HD_UNLIKELY(status))
		hand_out(NULL, n, items);
	return status;
}
