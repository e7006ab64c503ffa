/* Tasks that end by events: when they end, who may fulfill the events, what waits meanwhile. */
#include <pthread.h>
#include "detached.h"
#include "list_policy.h"

/* --- When the task ends ------------------------------------------------------------------------------------------- */

static void task_ends_when_its_event_is_fulfilled_and_its_worker_runs_others_meanwhile(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s), *after;
	assert_ok(heddle_submit(s.rt, heddle_call(s.increment), heddle_rw(s.d), heddle_out(&after)));
	assert_ok(heddle_selfcheck(s.rt));
	assert_false(heddle_task_done(t));
	assert_int_equal(s.rt->count.detached, 1);
	*s.out.data[0] = 41; /* the data are the task's until it ends */
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_true(heddle_task_done(t));
	assert_ok(heddle_task_wait(after));
	assert_ok(heddle_unregister(s.d));
	assert_int_equal(s.x, 42);
	heddle_task_release(after);
	end(&s, t);
}

static void task_ends_with_the_last_of_several_events(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_task *t;
	s.out.per_task = 3;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at), heddle_out(&t)));
	wait_for(&s.out.n, 3);
	assert_ok(heddle_fulfill(s.out.events[1], 0));
	assert_ok(heddle_fulfill(s.out.events[2], 0));
	assert_ok(heddle_selfcheck(s.rt));
	assert_false(heddle_task_done(t));
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_ok(heddle_wait_all(s.rt));
	end(&s, t);
}

static void task_ends_with_its_kernel_if_that_returns_last(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_task *t;
	atomic_int leave = 0;
	s.out.leave = &leave;
	s.out.per_task = 2;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at), heddle_out(&t)));
	wait_for(&s.out.n, 2);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_ok(heddle_fulfill(s.out.events[1], 0));
	assert_ok(heddle_selfcheck(s.rt));
	assert_false(heddle_task_done(t));
	leave = 1;
	assert_ok(heddle_task_wait(t));
	assert_int_equal(s.rt->count.detached, 0);
	end(&s, t);
}

static int fulfill_at_once(heddle_context *c)
{
	heddle_event *e = heddle_detach(c);
	++*(long *)heddle_ptr(c, 0);
	return e ? heddle_fulfill(e, 0) : 1;
}

static void kernel_may_fulfill_its_own_event(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_codelet *c = heddle_codelet_new(s.rt, .name = "at once", .cpu = fulfill_at_once);
	for (int i = 0; i < 1000; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(c), heddle_rw(s.d)));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_unregister(s.d));
	assert_int_equal(s.x, 1000);
	assert_int_equal(s.rt->events.n_made, 1); /* used again and again */
	assert_ok(heddle_stop(s.rt));
}

/* --- What waits for it -------------------------------------------------------------------------------------------- */

struct waiting {
	struct scene *s;
	heddle_task *task;
	int (*wait)(struct waiting *w);
	atomic_int stage;
	int status;
};

static int wait_task(struct waiting *w)
{
	return heddle_task_wait(w->task);
}
static int wait_all(struct waiting *w)
{
	return heddle_wait_all(w->s->rt);
}
static int acquire(struct waiting *w)
{
	int status = heddle_acquire(w->s->d, HEDDLE_R);
	return status ? status : heddle_release(w->s->d);
}
static int unregister(struct waiting *w)
{
	return heddle_unregister(w->s->d);
}
static int stop(struct waiting *w)
{
	heddle_task_release(w->task);
	return heddle_stop(w->s->rt);
}

static void *wait_in_thread(void *arg)
{
	struct waiting *w = arg;
	w->stage = 1;
	w->status = w->wait(w);
	w->stage = 2;
	return NULL;
}

static void every_wait_waits_for_an_event_and_reports_no_deadlock(void **state)
{
	(void)state;
	int (*const waits[])(struct waiting *) = {wait_task, wait_all, acquire, unregister, stop};
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		struct scene s;
		struct waiting w = {.s = &s, .wait = waits[i]};
		pthread_t thread;
		w.task = begin_waiting(&s);
		assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &w), 0);
		wait_for(&w.stage, 1);
		give_others_time();
		assert_int_equal(w.stage, 1);
		assert_ok(heddle_fulfill(s.out.events[0], 0));
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_ok(w.status);
		if (waits[i] != stop)
			end(&s, w.task);
	}
}

static void commuting_tasks_wait_for_their_turn(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t;
	begin(&s);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_commute(s.d), heddle_value(s.at)));
	wait_for(&s.out.n, 1);
	assert_ok(heddle_submit(s.rt, heddle_call(s.nothing), heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	assert_int_equal(s.out.n, 1);
	assert_ok(heddle_selfcheck(s.rt));
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	wait_for(&s.out.n, 2);
	assert_ok(heddle_fulfill(s.out.events[1], 0));
	assert_ok(heddle_wait_all(s.rt));
	end(&s, t);
}

static int refuse;
static heddle_task *pick_unless_refusing(void *state, unsigned worker)
{
	return refuse ? NULL : list_pick(state, worker);
}
static const struct heddle_policy refusing = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "refusing",
                                              .summary = "refuses",
                                              .source = "this test",
                                              .create = list_create,
                                              .destroy = list_destroy,
                                              .ready = list_ready,
                                              .pick = pick_unless_refusing};

/* The thread that fulfills it is the last that could have changed anything. */
static void deadlock_after_the_last_event_is_reported(void **state)
{
	(void)state;
	struct scene s;
	assert_ok(heddle_policy_register(&refusing));
	struct heddle_config config = small_config();
	config.sched = "refusing";
	begin_with(&s, &config);
	struct waiting w = {.s = &s, .wait = wait_all};
	pthread_t thread;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_rw(s.d), heddle_value(s.at)));
	wait_for(&s.out.n, 1);
	assert_ok(heddle_submit(s.rt, heddle_call(s.nothing), heddle_rw(s.d)));
	assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &w), 0);
	wait_for(&w.stage, 1);
	give_others_time();
	hd_lock(&s.rt->lock);
	refuse = 1;
	hd_unlock(&s.rt->lock);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(w.status, HEDDLE_E_DEADLOCK);
	hd_lock(&s.rt->lock);
	refuse = 0;
	hd_unlock(&s.rt->lock);
	assert_ok(heddle_submit(s.rt, heddle_call(s.nothing)));
	assert_ok(heddle_stop(s.rt));
}

/* --- Who fulfills it ---------------------------------------------------------------------------------------------- */

static void fulfill_in_callback(void *arg, int status)
{
	struct scene *s = arg;
	heddle_fulfill(s->out.events[0], status);
}

static int fulfill_other(heddle_context *c)
{
	const struct outside *o = pointer_value(c);
	return heddle_fulfill(o->events[0], 0);
}

static void callback_or_another_kernel_may_fulfill_it(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s);
	assert_ok(heddle_submit(s.rt, heddle_call(s.nothing), heddle_then(fulfill_in_callback, &s)));
	assert_ok(heddle_task_wait(t));
	end(&s, t);
	t = begin_waiting(&s);
	heddle_codelet *c = heddle_codelet_new(s.rt, .name = "other", .cpu = fulfill_other);
	assert_ok(heddle_submit(s.rt, heddle_call(c), heddle_value(s.at)));
	assert_ok(heddle_task_wait(t));
	end(&s, t);
}

static void submit_more(void *arg, int status)
{
	struct scene *s = arg;
	if (!status)
		heddle_submit(s->rt, heddle_call(s->increment), heddle_rw(s->d));
}

/* The thread that fulfills the event runs the callback of the task. */
static void callback_of_the_task_may_submit(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_task *t;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at), heddle_then(submit_more, &s),
	                        heddle_out(&t)));
	wait_for(&s.out.n, 1);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_unregister(s.d));
	assert_int_equal(s.x, 1);
	end(&s, t);
}

/* Therefore another thread that is in heddle_wait_all sees no moment in which no task is unfinished. */
static void what_a_thread_submits_before_it_fulfills_enters_the_graph_before_the_task_ends(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct scene s;
	heddle_task *t;
	config.n_cpu = 1;
	config.caller_works = 1; /* nobody works now: what is submitted stays in the ring */
	begin_with(&s, &config);
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at)));
	assert_ok(heddle_submit(s.rt, heddle_call(s.nothing), heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(s.increment), heddle_rw(s.d)));
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	hd_lock(&s.rt->lock);
	uint64_t live = hd_live(s.rt);
	hd_unlock(&s.rt->lock);
	assert_int_equal(live, 3);
	end(&s, t);
	assert_int_equal(s.x, 3);
}

/* Events that threads of the program fulfill: kernels put them in, threads take them out. */
enum { PLACES = 64 };
struct pool {
	pthread_mutex_t lock;
	heddle_event *events[PLACES];
	atomic_int taken, left; /* events fulfilled; those still to come */
	int n;
};

static int into_pool(heddle_context *c)
{
	struct pool *p = pointer_value(c);
	heddle_event *e = heddle_detach(c);
	if (!e)
		return 1;
	++*(long *)heddle_ptr(c, 0);
	pthread_mutex_lock(&p->lock);
	int room = p->n < PLACES;
	if (room)
		p->events[p->n++] = e;
	pthread_mutex_unlock(&p->lock);
	if (room)
		return 0;
	p->left--;
	return heddle_fulfill(e, 0);
}

static void *empty_pool(void *arg)
{
	struct pool *p = arg;
	while (p->left > 0) {
		heddle_event *e = NULL;
		pthread_mutex_lock(&p->lock);
		if (p->n > 0)
			e = p->events[--p->n];
		pthread_mutex_unlock(&p->lock);
		if (!e) {
			sched_yield();
			continue;
		}
		p->left--;
		p->taken += heddle_fulfill(e, 0) == 0;
	}
	return NULL;
}

/* Tiny tasks, which workers run in bursts, and many threads that end them. */
static void fifty_threads_fulfill_at_once(void **state)
{
	(void)state;
	enum { N_THREADS = 50, N_DATA = 16, N_TASKS = 4000 };
	struct scene s;
	struct heddle_config config = small_config();
	begin_with(&s, &config);
	struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = N_TASKS}, *at = &pool;
	heddle_codelet *c = heddle_codelet_new(s.rt, .name = "pool", .cpu = into_pool);
	long x[N_DATA] = {0};
	heddle_data *d[N_DATA];
	pthread_t threads[N_THREADS];
	for (int i = 0; i < N_DATA; i++)
		assert_ok(heddle_variable(s.rt, &x[i], sizeof x[i], &d[i]));
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, empty_pool, at), 0);
	for (int i = 0; i < N_TASKS; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(c), heddle_rw(d[i % N_DATA]), heddle_value(at)));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_selfcheck(s.rt));
	assert_ok(heddle_stop(s.rt)); /* threads may not have come back from heddle_fulfill yet */
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (int i = 0; i < N_DATA; i++)
		assert_int_equal(x[i], N_TASKS / N_DATA);
}

/* --- Accelerators ------------------------------------------------------------------------------------------------- */

static void *add_and_fulfill(void *arg)
{
	struct outside *o = arg;
	for (int i = 0; i < 4; i++) {
		wait_for(&o->n, i + 1);
		++*o->data[i];
		heddle_fulfill(o->events[i], 0);
	}
	return NULL;
}

/* The memory has room for one datum: data of tasks whose events are out must not be evicted, nor copied away. */
static void data_stay_on_the_accelerator(void **state)
{
	(void)state;
	enum { N = 1000 };
	static long v[4][N];
	struct scene s;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 1;
	config.emulated_memory = sizeof v[0] * 5 / 4;
	begin_with(&s, &config);
	heddle_data *d[4];
	pthread_t thread;
	for (int i = 0; i < 4; i++) {
		v[i][0] = 10 * i;
		assert_ok(heddle_vector(s.rt, v[i], N, sizeof v[i][0], &d[i]));
		assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_rw(d[i]), heddle_value(s.at)));
	}
	wait_for(&s.out.n, 1);
	for (int i = 0; i < 4; i++)
		assert_ok(heddle_prefetch(d[i], 1));
	give_others_time();
	assert_ok(heddle_selfcheck(s.rt));
	assert_int_equal(s.out.n, 1);
	assert_int_equal(pthread_create(&thread, NULL, add_and_fulfill, &s.out), 0);
	assert_ok(heddle_wait_all(s.rt));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(heddle_stop(s.rt));
	for (int i = 0; i < 4; i++)
		assert_int_equal(v[i][0], 10 * i + 1);
}

/* The task that fills the window ends by an event, which the thread fulfils afterwards. */
static void giving_up_does_not_wait_for_the_window(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct outside out = {.n = 0}, *at = &out;
	config.window = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *leave = heddle_codelet_new(rt, .name = "leave", .cpu = detach);
	heddle_data *d;
	long x = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(leave), heddle_value(at)));
	wait_for(&out.n, 1);
	assert_ok(heddle_data_give_up(d));
	assert_ok(heddle_fulfill(out.events[0], 0));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_ends_when_its_event_is_fulfilled_and_its_worker_runs_others_meanwhile),
	    cmocka_unit_test(task_ends_with_the_last_of_several_events),
	    cmocka_unit_test(task_ends_with_its_kernel_if_that_returns_last),
	    cmocka_unit_test(kernel_may_fulfill_its_own_event),
	    cmocka_unit_test(every_wait_waits_for_an_event_and_reports_no_deadlock),
	    cmocka_unit_test(commuting_tasks_wait_for_their_turn),
	    cmocka_unit_test(deadlock_after_the_last_event_is_reported),
	    cmocka_unit_test(callback_or_another_kernel_may_fulfill_it),
	    cmocka_unit_test(callback_of_the_task_may_submit),
	    cmocka_unit_test(what_a_thread_submits_before_it_fulfills_enters_the_graph_before_the_task_ends),
	    cmocka_unit_test(fifty_threads_fulfill_at_once),
	    cmocka_unit_test(data_stay_on_the_accelerator),
	    cmocka_unit_test(giving_up_does_not_wait_for_the_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
