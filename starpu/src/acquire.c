/* The program's own access to data: acquire, acquire with a callback, release, invalidate, copy. */
#include "internal.h"
#include <sched.h>

/* Protects the lists of held accesses and the counts of all handles. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- Modes -------------------------------------------------------------------------------------------------------- */

static int make_turns(struct starpu_data_state *h)
{
	static char byte; /* nobody reads or writes it */
	heddle_data *turns;
	int status = 0;
	pthread_mutex_lock(&lock);
	if (!h->turns && !(status = heddle_variable(hd_starpu_runtime, &byte, 1, &turns)))
		h->turns = turns;
	pthread_mutex_unlock(&lock);
	return status;
}

static struct heddle_item ordered_item(const struct starpu_data_state *h, enum starpu_data_access_mode mode)
{
	int plain = mode & (STARPU_RW | STARPU_SCRATCH | STARPU_REDUX);
	if (plain & STARPU_SCRATCH)
		return heddle_scratch(h->data);
	if (plain & STARPU_REDUX)
		return heddle_redux(h->data);
	if (plain == STARPU_R)
		return heddle_r(h->data);
	if (mode & STARPU_COMMUTE)
		return heddle_commute(h->data);
	return plain == STARPU_W ? heddle_w(h->data) : heddle_rw(h->data);
}

/* An unordered access neither waits nor is waited for, but takes its turn: two tasks of which one writes do not run at
 * the same time. Accesses to data with plans are always ordered, by when the task is submitted to Heddle. */
size_t hd_handle_items(struct starpu_data_state *h, enum starpu_data_access_mode mode, bool unordered,
                       struct heddle_item *items, int *status)
{
	items[0] = ordered_item(h, mode);
	unordered = (unordered || h->unordered) && (mode & STARPU_RW);
	if (unordered && h->has_plans)
		return 1;
	if (unordered) {
		items[0].what &= HEDDLE_RW;
		if (!items[0].what)
			items[0].what = HEDDLE_RW; /* it commutes by its turns */
		items[0] = heddle_unordered(items[0]);
		if (!h->turns && (*status = make_turns(h)))
			return 0;
	}
	if (!h->turns || !(mode & STARPU_RW))
		return 1;
	items[1] = heddle_commute(h->turns);
	return 2;
}

int hd_handle_prepare(struct starpu_data_state *h, enum starpu_data_access_mode mode)
{
	if (h->has_value || (mode & STARPU_SCRATCH))
		return 0;
	if (h->init && (mode & (STARPU_R | STARPU_REDUX))) {
		h->has_value = true;
		heddle_codelet *init = hd_codelet_init_of(h);
		return init ? heddle_submit(hd_starpu_runtime, heddle_call(init), heddle_w(h->data))
		            : HEDDLE_E_NO_WORKER;
	}
	if (mode & (STARPU_W | STARPU_REDUX))
		h->has_value = true;
	return 0;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

int starpu_data_acquire(starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	int plain = mode & STARPU_RW;
	if (!plain)
		return -EINVAL;
	int status = hd_handle_prepare(h, mode);
	if (!status)
		status = heddle_acquire(h->data, (enum heddle_mode)plain);
	if (status)
		return hd_starpu_complain(__func__, status);
	pthread_mutex_lock(&lock);
	h->n_acquired++;
	pthread_mutex_unlock(&lock);
	return 0;
}
_Static_assert((int)STARPU_R == (int)HEDDLE_R && (int)STARPU_W == (int)HEDDLE_W, "an acquired mode is Heddle's");

int starpu_data_acquire_on_node(starpu_data_handle_t h, int node, enum starpu_data_access_mode mode)
{
	(void)node;
	return starpu_data_acquire(h, mode);
}

/* Tries: an external task asks for the datum. If it has not got it when the submission is over, nobody wants it any
 * more, and it ends as soon as its turn comes. */
enum try_state { TRYING, ACQUIRED, GIVEN_UP };

static void get_or_end(struct hd_gate *gate)
{
	bool ends;
	pthread_mutex_lock(&lock);
	ends = gate->tried == GIVEN_UP;
	if (!ends) {
		gate->tried = ACQUIRED;
		gate->next = gate->handle->held;
		gate->handle->held = gate;
	}
	pthread_mutex_unlock(&lock);
	if (ends)
		hd_gate_open(gate);
}

int starpu_data_acquire_try(starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	struct heddle_stats stats;
	struct hd_gate *gate = hd_gate_new(1);
	if (!gate)
		return -ENOMEM;
	gate->begin = get_or_end;
	gate->handle = h;
	struct heddle_item items[HD_ITEMS_OF_DATUM];
	int status = hd_handle_prepare(h, mode);
	size_t n = status ? 0 : hd_handle_items(h, mode, false, items, &status);
	if (!status)
		status = hd_gate_submit(gate, n, items, NULL);
	if (status) {
		free(gate);
		return hd_starpu_complain(__func__, status);
	}
	for (;;) {
		/* where no other task is unfinished and the program has not acquired the datum, the turn comes soon */
		bool alone = !heddle_runtime_stats(hd_starpu_runtime, &stats) && stats.live_tasks <= 1;
		pthread_mutex_lock(&lock);
		bool acquired = gate->tried == ACQUIRED, waits = !acquired && alone && !h->n_acquired && !h->held;
		if (!acquired && !waits)
			gate->tried = GIVEN_UP;
		pthread_mutex_unlock(&lock);
		if (!waits)
			return acquired ? 0 : -EAGAIN;
		sched_yield();
	}
}

/* --- With a callback ---------------------------------------------------------------------------------------------- */

static void run_callback(struct hd_gate *gate)
{
	struct starpu_data_state *h = gate->handle;
	struct hd_starpu_here before = hd_starpu_here;
	void (*callback)(void *) = gate->callback;
	void *arg = gate->arg;
	pthread_mutex_lock(&lock);
	gate->next = h->held;
	h->held = gate;
	pthread_mutex_unlock(&lock);
	hd_starpu_here = (struct hd_starpu_here){.worker = before.worker, .acquired = gate};
	callback(arg); /* may release, and so free the gate */
	hd_starpu_here = before;
}

int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t h, enum starpu_data_access_mode mode,
                                                  void (*callback)(void *), void *arg, int sequential_consistency)
{
	int status = hd_handle_prepare(h, mode);
	struct hd_gate *gate = hd_gate_new(1);
	if (!gate)
		return -ENOMEM;
	gate->begin = run_callback;
	gate->callback = callback;
	gate->arg = arg;
	gate->handle = h;
	struct heddle_item items[HD_ITEMS_OF_DATUM];
	size_t n = status ? 0 : hd_handle_items(h, mode, !sequential_consistency, items, &status);
	if (!status)
		status = hd_gate_submit(gate, n, items, NULL);
	if (status)
		free(gate);
	return hd_starpu_complain(__func__, status);
}

int starpu_data_acquire_cb(starpu_data_handle_t h, enum starpu_data_access_mode mode, void (*callback)(void *),
                           void *arg)
{
	return starpu_data_acquire_cb_sequential_consistency(h, mode, callback, arg, 1);
}

int starpu_data_acquire_on_node_cb(starpu_data_handle_t h, int node, enum starpu_data_access_mode mode,
                                   void (*callback)(void *), void *arg)
{
	(void)node;
	return starpu_data_acquire_cb(h, mode, callback, arg);
}

int starpu_data_acquire_on_node_cb_sequential_consistency(starpu_data_handle_t h, int node,
                                                          enum starpu_data_access_mode mode, void (*callback)(void *),
                                                          void *arg, int sequential_consistency)
{
	(void)node;
	return starpu_data_acquire_cb_sequential_consistency(h, mode, callback, arg, sequential_consistency);
}

/* The access that a release ends: the one whose callback the thread runs; otherwise one of starpu_data_acquire;
 * otherwise one whose callback has returned. All accesses that are held at the same time only read, or there is one.
 * NULL: one of starpu_data_acquire. */
static struct hd_gate *take_held(struct starpu_data_state *h)
{
	struct hd_gate *own = hd_starpu_here.acquired, **place = &h->held;
	if (own && own->handle == h) {
		while (*place != own)
			place = &(*place)->next;
		hd_starpu_here.acquired = NULL;
	} else if (h->n_acquired) {
		h->n_acquired--;
		return NULL;
	}
	struct hd_gate *gate = *place;
	if (gate)
		*place = gate->next;
	return gate;
}

void starpu_data_release(starpu_data_handle_t h)
{
	pthread_mutex_lock(&lock);
	struct hd_gate *gate = take_held(h);
	pthread_mutex_unlock(&lock);
	if (gate)
		hd_gate_open(gate);
	else
		hd_starpu_complain(__func__, heddle_release(h->data));
}

void starpu_data_release_on_node(starpu_data_handle_t h, int node)
{
	(void)node;
	starpu_data_release(h);
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

void starpu_data_invalidate_submit(starpu_data_handle_t h)
{
	if (!h->kind->n_parts)
		return;
	h->has_value = false;
	/* a piece without a value would take that of the whole away; objects keep their value */
	if (!h->has_plans && !h->ops)
		hd_starpu_complain(__func__, heddle_forget(h->data));
}

void starpu_data_invalidate(starpu_data_handle_t h)
{
	starpu_data_invalidate_submit(h);
}

int starpu_data_cpy_priority(starpu_data_handle_t to, starpu_data_handle_t from, int asynchronous,
                             void (*callback)(void *), void *arg, int priority)
{
	(void)priority;
	int status = hd_handle_prepare(from, STARPU_R);
	if (!status && to->kind->n_parts)
		status = heddle_copy(to->data, from->data);
	to->has_value = true;
	if (!status && callback) {
		/* a task without a function that comes after the copy */
		struct starpu_task *task = starpu_task_create_sync(to, STARPU_R);
		if (!task)
			return -ENOMEM;
		task->callback_func = callback;
		task->callback_arg = arg;
		int error = starpu_task_submit(task);
		if (error)
			return error;
	}
	if (!status && !asynchronous) {
		status = heddle_acquire(to->data, HEDDLE_R);
		if (!status)
			status = heddle_release(to->data);
	}
	return hd_starpu_complain("starpu_data_cpy", status);
}

int starpu_data_cpy(starpu_data_handle_t to, starpu_data_handle_t from, int asynchronous, void (*callback)(void *),
                    void *arg)
{
	return starpu_data_cpy_priority(to, from, asynchronous, callback, arg, 0);
}
