/* The ring through which tasks enter the graph: gaps, refusals, and which submissions enter the core. */
#include <pthread.h>
#include "program.h"
#include "internals.h"
#include "state/task_pool.h"

/* --- Gaps --------------------------------------------------------------------------------------------------------- */

/* What the test does for a thread that was stopped between taking a ticket and storing its task. */
struct gap {
	heddle_runtime *rt;
	heddle_task *task;
	uint64_t ticket;
};

static struct gap begin_gap(heddle_runtime *rt)
{
	struct gap gap = {.rt = rt};
	hd_core_enter(rt);
	gap.task = hd_task_make(rt, NULL, 0);
	hd_core_leave(rt);
	assert_non_null(gap.task);
	gap.task->order = rt->gate.n_closings;
	gap.ticket = atomic_fetch_add(&rt->ring.tail, 1);
	return gap;
}

static void end_gap(const struct gap *gap)
{
	hd_ring_put(&gap->rt->ring, gap->ticket, gap->task);
}

struct behind {
	heddle_runtime *rt;
	heddle_codelet *digit;
	heddle_data *data;
	heddle_task *task;
	int (*call)(struct behind *); /* what must wait for the end of the gap */
	atomic_int stage;
	int status;
};

static int submit_digit(struct behind *b, const long digit)
{
	return heddle_submit(b->rt, heddle_call(b->digit), heddle_rw(b->data), heddle_value(digit),
	                     heddle_out(&b->task));
}

static void *submit_then_call(void *arg)
{
	struct behind *b = arg;
	b->status = submit_digit(b, 1);
	b->stage = 1;
	if (!b->status)
		b->status = b->call(b);
	b->stage = 2;
	return NULL;
}

static int wait_for_all(struct behind *b)
{
	heddle_task_release(b->task);
	return heddle_wait_all(b->rt);
}

static int wait_for_task(struct behind *b)
{
	int status = heddle_task_wait(b->task);
	heddle_task_release(b->task);
	return status;
}

static int acquire_and_release(struct behind *b)
{
	int status = heddle_acquire(b->data, HEDDLE_RW);
	heddle_task_release(b->task);
	return status ? status : heddle_release(b->data);
}

static int submit_in_core(struct behind *b)
{
	heddle_task_release(b->task);
	hd_core_enter(b->rt);
	hd_revoke(b->rt);
	hd_core_leave(b->rt);
	int status = submit_digit(b, 2);
	heddle_task_release(b->task);
	return status;
}

static double one_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size, (void)class_id;
	return 1;
}

/* A runtime without a worker that sleeps: the worker has no thread until somebody waits, or the time is virtual. So the
 * gate is open after the first submission. */
static heddle_runtime *start_open(const char *platform)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.platform = platform;
	config.caller_works = !platform;
	heddle_runtime *rt = start_with(&config);
	assert_ok(heddle_submit(rt, heddle_call(given(rt, "first", one_us))));
	return rt;
}

/* Submits behind a gap, and then calls what must not return before the gap has ended. */
static void call_behind_gap(const char *platform, int (*call)(struct behind *))
{
	struct behind b = {.rt = start_open(platform), .call = call};
	b.digit = heddle_codelet_new(b.rt, .name = "digit", .cpu = times_ten_plus, .model = HEDDLE_MODEL_GIVEN,
	                             .time = one_us);
	long x = 0;
	pthread_t thread;
	assert_ok(heddle_variable(b.rt, &x, sizeof x, &b.data));
	struct gap gap = begin_gap(b.rt);
	assert_int_equal(pthread_create(&thread, NULL, submit_then_call, &b), 0);
	wait_for(&b.stage, 1);
	give_others_time();
	assert_int_equal(b.stage, 1);
	assert_ok(heddle_selfcheck(b.rt));
	end_gap(&gap);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(b.status);
	assert_ok(heddle_unregister(b.data));
	assert_ok(heddle_stop(b.rt));
	if (!platform)
		assert_int_equal(x, call == submit_in_core ? 12 : 1);
}

static void calls_that_need_all_tasks_wait_for_a_gap(void **state)
{
	(void)state;
	static int (*const calls[])(struct behind *) = {wait_for_all, wait_for_task, acquire_and_release,
	                                                submit_in_core};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		call_behind_gap(NULL, calls[i]);
		call_behind_gap("haswell-k40m", calls[i]);
	}
}

/* The submission after which a slot would be used for the second time waits as well, and no task is lost. */
static void *submit_many(void *arg)
{
	struct other *o = arg;
	for (o->value = 0; o->value < 3L * HD_RING_SIZE && !o->status; o->value++)
		o->status = heddle_submit(o->rt, heddle_call(o->codelet), heddle_rw(o->data));
	return NULL;
}

static void ring_full_behind_a_gap_loses_nothing(void **state)
{
	(void)state;
	enum { THREADS = 8 };
	heddle_runtime *rt = start_open(NULL);
	struct other others[THREADS];
	pthread_t threads[THREADS];
	long x[THREADS] = {0};
	heddle_codelet *count = heddle_codelet_new(rt, .name = "count", .cpu = increment);
	struct gap gap = begin_gap(rt);
	for (size_t i = 0; i < THREADS; i++) {
		others[i] = (struct other){.rt = rt, .codelet = count};
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &others[i].data));
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &others[i]), 0);
	give_others_time();
	end_gap(&gap);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_ok(others[i].status);
		assert_ok(heddle_unregister(others[i].data));
		assert_int_equal(x[i], 3 * HD_RING_SIZE);
	}
	assert_ok(heddle_stop(rt));
}

static void wait_until_all_sleep(heddle_runtime *rt)
{
	for (int asleep = 0; !asleep;) {
		sched_yield();
		hd_core_enter(rt);
		asleep = rt->count.asleep == rt->n_workers;
		hd_core_leave(rt);
	}
}

static int all_sleep(heddle_runtime *rt)
{
	hd_core_enter(rt);
	int asleep = rt->count.asleep == rt->n_workers;
	for (size_t i = 0; i < rt->n_workers; i++)
		asleep &= rt->workers[i].state == HD_SLEEPING;
	hd_core_leave(rt);
	return asleep;
}

/* The submission of the task in the gap has found the gate open, because the worker was busy. So the worker must stay
 * awake when it has nothing more to do. */
static void worker_does_not_sleep_while_there_is_a_gap(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	atomic_int open = 0, *gate_address = &open;
	heddle_task *t;
	wait_until_all_sleep(rt);
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address), heddle_out(&t)));
	struct gap gap = begin_gap(rt);
	open = 1;
	while (!heddle_task_done(t))
		sched_yield();
	for (int i = 0; i < 100; i++) {
		assert_false(all_sleep(rt));
		give_others_time();
	}
	end_gap(&gap);
	wait_until_all_sleep(rt);
	hd_core_enter(rt);
	assert_false(hd_submitted_unseen(rt));
	hd_core_leave(rt);
	heddle_task_release(t);
	assert_ok(heddle_stop(rt));
}

/* --- Refusals ----------------------------------------------------------------------------------------------------- */

static struct {
	atomic_int looks, go_on;
} pause_; /* of a thread in its submission, after its data were looked at and before it has a ticket */

static uint64_t pause_footprint(const struct heddle_size *size)
{
	(void)size;
	pause_.looks = 1;
	wait_for(&pause_.go_on, 1);
	return 0;
}

static void *submit_once(void *arg)
{
	struct other *o = arg;
	o->status = heddle_submit(o->rt, heddle_call(o->codelet), heddle_rw(o->data), heddle_out(&o->task));
	return NULL;
}

/* Another thread closes the datum meanwhile, and opens the gate again: the submission must tell its program. The datum
 * is not freed before the task runs that uses it, for which somebody must wait. */
static void datum_closed_during_a_submission_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_open(NULL);
	struct other o = {.rt = rt};
	o.codelet = heddle_codelet_new(rt, .name = "pause", .cpu = increment, .footprint = pause_footprint);
	heddle_codelet *other = heddle_codelet_new(rt, .name = "other", .cpu = nothing);
	pthread_t thread;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &o.data));
	assert_ok(heddle_submit(rt, heddle_call(other), heddle_w(o.data)));
	pause_.looks = pause_.go_on = 0;
	assert_int_equal(pthread_create(&thread, NULL, submit_once, &o), 0);
	wait_for(&pause_.looks, 1);
	assert_ok(heddle_unregister_async(o.data));
	assert_ok(heddle_submit(rt, heddle_call(other)));
	assert_true(rt->gate.limit > rt->ring.tail);
	pause_.go_on = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(o.status, HEDDLE_E_STATE);
	assert_null(o.task);
	assert_ok(heddle_stop(rt));
}

/* --- Which submissions enter the core ----------------------------------------------------------------------------- */

static uint64_t entries(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.core_entries;
}

static atomic_int n_holding;

/* Says that it runs, then waits for the gate. */
static int hold(heddle_context *c)
{
	n_holding++;
	return pass_gate(c);
}

/* Waits until the thread of a worker that holds `n` tasks has seen to everything. Returns the worker's state. */
static int state_at_rest(heddle_runtime *rt, const struct hd_worker *w, unsigned n)
{
	for (;; sched_yield()) {
		hd_core_enter(rt);
		int state = w->in_flight == n ? w->state : HD_AWAKE;
		hd_core_leave(rt);
		if (state == HD_ATTENDING || state == HD_SLEEPING)
			return state;
	}
}

/* A sleeping worker that has no kernel for a task does not make its submission enter the core. */
static void worker_that_cannot_run_a_task_may_sleep_on(void **state)
{
	(void)state;
	enum { TASKS = 10 * HD_RING_RUN };
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .emulated = hold);
	heddle_codelet *none = heddle_codelet_new(rt, .name = "nothing", .emulated = nothing);
	atomic_int gate = 0, *gate_address = &gate;
	wait_until_all_sleep(rt);
	n_holding = 0;
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address)));
	assert_ok(heddle_submit(rt, heddle_call(none)));
	/* A task counts as running before the thread of its worker is awake, so the kernel itself says so. Then that
	 * thread must be done with the other task, too: it enters the core for what it begins. */
	wait_for(&n_holding, 1);
	while (state_at_rest(rt, &rt->workers[1], 2) != HD_ATTENDING)
		sched_yield();
	uint64_t before = entries(rt);
	for (int i = 0; i < TASKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(none)));
	/* One for each time that the gate is used up, one for each bundle of free tasks, and another if that is new. */
	assert_in_range(entries(rt) - before, 1, TASKS / HD_RING_RUN + 2 * TASKS / HD_BUNDLE + 4);
	gate = 1;
	assert_ok(heddle_stop(rt));
}

/* An accelerator that finds a task in the ring itself, and can hold no more then, does not count as asleep: submissions
 * need not wake it. */
static void full_accelerator_is_not_asleep(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	struct hd_worker *w = &rt->workers[1];
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .emulated = hold);
	atomic_int gate = 0, *gate_address = &gate;
	n_holding = 0;
	wait_until_all_sleep(rt); /* or the CPU worker would look into the ring below */
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address)));
	wait_for(&n_holding, 1);
	assert_int_equal(state_at_rest(rt, w, 1), HD_SLEEPING);
	hd_core_enter(rt); /* the next submission stays in the ring, as if somebody looked there */
	rt->gate.room = rt->gate.patience = rt->ring.tail + 1;
	hd_core_leave(rt);
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address)));
	hd_core_enter(rt);
	assert_int_equal(w->in_flight, 1);
	hd_core_wake(rt, &w->wake);
	hd_core_leave(rt);
	assert_int_equal(state_at_rest(rt, w, 2), HD_ATTENDING);
	gate = 1;
	assert_ok(heddle_stop(rt));
}

/* Submits tasks that wait for a datum of the program. Returns how often that entered the core. */
static uint64_t submit_waiting_tasks(heddle_runtime *rt, heddle_codelet *codelet, heddle_data *held, int n)
{
	uint64_t before = entries(rt);
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(held)));
	return entries(rt) - before;
}

/* The worker's thread sleeps in truth. */
static void pretend(struct hd_worker *w, enum hd_worker_state state)
{
	hd_core_enter(w->rt);
	hd_worker_enter(w, state);
	hd_core_leave(w->rt);
}

/* While another worker looks into the ring, tasks that nobody can be given enter the core less and less often; if all
 * sleep, each does. */
static void tasks_that_nobody_is_given_enter_less_often(void **state)
{
	(void)state;
	enum { TASKS = 512 };
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_cpus(config, 2);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	heddle_data *held;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &held));
	assert_ok(heddle_acquire(held, HEDDLE_RW));
	wait_until_all_sleep(rt);
	assert_in_range(submit_waiting_tasks(rt, add, held, TASKS), TASKS, 2 * TASKS);
	wait_until_all_sleep(rt);
	pretend(&rt->workers[0], HD_SPINNING);
	assert_in_range(submit_waiting_tasks(rt, add, held, TASKS), 7, 7 + TASKS / HD_RING_RUN + TASKS / HD_BUNDLE + 4);
	pretend(&rt->workers[0], HD_SLEEPING);
	assert_ok(heddle_release(held));
	assert_ok(heddle_unregister(held));
	assert_int_equal(x, 2 * TASKS);
	assert_ok(heddle_stop(rt));
}

/* Tasks lie in the ring. When the only worker that would look into the ring begins a long task, another worker is woken
 * to do so. */
static void long_task_of_the_lookout_wakes_another_worker(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_cpus(config, 2);
	struct hd_worker *w = &rt->workers[0];
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	heddle_codelet *slow = heddle_codelet_new(rt, .name = "slow", .cpu = nothing); /* its time is not known */
	heddle_data *held;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &held));
	assert_ok(heddle_acquire(held, HEDDLE_W));
	wait_until_all_sleep(rt);
	pretend(w, HD_SPINNING);
	submit_waiting_tasks(rt, add, held, 5);
	hd_core_enter(rt);
	assert_true(hd_submitted_unseen(rt));
	hd_worker_enter(w, HD_AWAKE);
	heddle_task *t = w->slots[0].task = hd_task_make(rt, slow, 0);
	w->slots[0].start = rt->now;
	hd_gate_worker_begins(rt);
	hd_worker_enter(w, HD_SLEEPING);
	w->slots[0].task = NULL;
	hd_task_unref(rt, t);
	assert_int_equal(rt->inlet.step, 0);
	assert_int_equal(rt->gate.room, 0);
	hd_core_leave(rt);
	for (int unseen = 1; unseen; sched_yield()) {
		hd_core_enter(rt);
		unseen = hd_submitted_unseen(rt);
		hd_core_leave(rt);
	}
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_release(held));
	assert_ok(heddle_stop(rt));
}

/* Makes the runtime believe that the machine can run so many threads at the same time. */
static void pretend_threads(heddle_runtime *rt, size_t n)
{
	hd_core_enter(rt);
	rt->n_threads = n;
	hd_core_leave(rt);
}

static heddle_runtime *start_three(void)
{
	static const char yaml[] = "version: 1\nname: three\nnodes:\n  - {name: ram}\nclasses:\n"
	                           "  - {name: cpu, kind: cpu}\nworkers:\n"
	                           "  - {name: cpu, class: cpu, node: ram, count: 3}\n";
	struct heddle_platform *platform;
	heddle_runtime *rt;
	struct heddle_config config = small_config();
	assert_ok(heddle_platform_parse("test", yaml, strlen(yaml), &platform));
	assert_ok(heddle_start_on(&config, platform, 0, &rt));
	heddle_platform_free(platform);
	wait_until_all_sleep(rt);
	return rt;
}

/* The gate is closed by the last worker that would look into the ring, not by each that falls asleep. */
static void worker_falls_asleep_while_another_looks(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three();
	struct hd_worker *w = rt->workers;
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	heddle_data *held;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &held));
	assert_ok(heddle_acquire(held, HEDDLE_W));
	pretend(&w[0], HD_SPINNING);
	pretend(&w[1], HD_SPINNING);
	submit_waiting_tasks(rt, add, held, 3);
	assert_true(rt->gate.room > 0);
	hd_core_enter(rt);
	assert_true(hd_gate_others_look(&w[1]));
	hd_core_leave(rt);
	pretend(&w[1], HD_SLEEPING);
	assert_true(rt->gate.room > 0);
	hd_core_enter(rt);
	assert_false(hd_gate_others_look(&w[0]));
	hd_core_leave(rt);
	pretend(&w[0], HD_SLEEPING);
	assert_int_equal(rt->gate.room, 0);
	assert_ok(heddle_release(held));
	assert_ok(heddle_stop(rt));
}

/* Wakes nobody soon who would take the place of another: see the top of inlet.c. */
static void more_awake_workers_than_threads_make_the_gate_patient(void **state)
{
	(void)state;
	heddle_runtime *rt = start_three();
	pretend(&rt->workers[0], HD_SPINNING);
	pretend(&rt->workers[1], HD_SPINNING);
	for (size_t threads = 1; threads <= 2; threads++) {
		pretend_threads(rt, threads);
		hd_core_enter(rt);
		hd_gate_open(rt, 1);
		assert_int_equal(rt->inlet.step, threads == 1);
		hd_core_leave(rt);
	}
	pretend(&rt->workers[0], HD_SLEEPING);
	pretend(&rt->workers[1], HD_SLEEPING);
	assert_ok(heddle_stop(rt));
}

static atomic_int n_ran;

static int count_run(heddle_context *c)
{
	(void)c;
	n_ran++;
	return 0;
}

/* A task costs two entries of the core, that of its submission and that of its end, in which the worker falls
 * asleep. */
static void worker_without_a_thread_for_it_sleeps_at_once(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *count = heddle_codelet_new(rt, .name = "count", .cpu = count_run);
	n_ran = 0;
	assert_ok(heddle_submit(rt, heddle_call(count)));
	wait_until_all_sleep(rt);
	pretend_threads(rt, 0);
	uint64_t before = entries(rt);
	assert_ok(heddle_submit(rt, heddle_call(count)));
	wait_for(&n_ran, 2);
	while (atomic_load(&rt->workers[0].wake.state) != 2) /* 2: its thread sleeps */
		sched_yield();
	assert_int_equal(entries(rt) - before, 2 + 1);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(calls_that_need_all_tasks_wait_for_a_gap),
	    cmocka_unit_test(ring_full_behind_a_gap_loses_nothing),
	    cmocka_unit_test(worker_does_not_sleep_while_there_is_a_gap),
	    cmocka_unit_test(datum_closed_during_a_submission_is_refused),
	    cmocka_unit_test(worker_that_cannot_run_a_task_may_sleep_on),
	    cmocka_unit_test(full_accelerator_is_not_asleep),
	    cmocka_unit_test(tasks_that_nobody_is_given_enter_less_often),
	    cmocka_unit_test(long_task_of_the_lookout_wakes_another_worker),
	    cmocka_unit_test(worker_falls_asleep_while_another_looks),
	    cmocka_unit_test(more_awake_workers_than_threads_make_the_gate_patient),
	    cmocka_unit_test(worker_without_a_thread_for_it_sleeps_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
