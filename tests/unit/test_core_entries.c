/* How often the core is entered, and for how long. The clock of this program stands in for that of the library. It
 * moves only when the test moves it, so that kernels are as long as the test says, and idle workers are idle for as
 * long. */
#include "engine/threads/threads.h"
#include "internals.h"
#include "list_policy.h"

/* --- The clock ---------------------------------------------------------------------------------------------------- */

enum { MANY_THREADS = 64, FEW_READINGS = 4 };

static _Atomic uint64_t now_ns = 1000000;
static atomic_uint n_threads, n_readings[MANY_THREADS]; /* of each thread */
static _Thread_local unsigned self;                     /* 1 + the number of the calling thread */

double hd_clock_us(void)
{
	static _Thread_local uint64_t last;
	static _Thread_local unsigned in_vain;
	uint64_t ns = now_ns;
	if (!self)
		self = ++n_threads;
	if (self > MANY_THREADS)
		abort();
	n_readings[self - 1]++;
	in_vain = ns == last ? in_vain + 1 : 0;
	last = ns;
	if (in_vain > FEW_READINGS)
		sched_yield(); /* others may need its core to move the clock */
	return (double)ns * 1e-3;
}

static void advance(double us)
{
	now_ns += (uint64_t)(us * 1000);
}

/* --- A program ---------------------------------------------------------------------------------------------------- */

enum { WORKERS = 5, TASKS = 512, NEWS = 5, LOOKS = 10 };

static struct {
	atomic_int open, holding; /* the gate, and how many are behind it */
	unsigned threads[WORKERS];
	atomic_int known; /* how many of these */
} program;

static int hold(heddle_context *c)
{
	(void)c;
	program.holding++;
	wait_for(&program.open, 1);
	return 0;
}

static int tell_thread(heddle_context *c)
{
	program.threads[heddle_context_worker(c)] = self - 1;
	program.known++;
	return 0;
}

static int last_some_us(heddle_context *c)
{
	advance(heddle_get(c, 0, double));
	return 0;
}

static uint64_t entries(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.core_entries;
}

/* Lets ready tasks begin, whoever looks into the ring. */
static void settle(heddle_runtime *rt)
{
	hd_core_enter(rt);
	hd_drain_all(rt);
	hd_core_settle(rt);
	hd_core_leave(rt);
}

static void hold_worker_0(heddle_runtime *rt)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "hold", .cpu = hold);
	program.open = program.holding = 0;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_on(0)));
	settle(rt);
	wait_for(&program.holding, 1);
}

/* --- Workers that are busy ---------------------------------------------------------------------------------------- */

/* Runs tasks of `us` us, which are expected to take as long, on one worker: each after the other if there is a datum.
 * Returns how often the core is entered meanwhile. */
static uint64_t entries_of_tasks(double us, heddle_runtime *rt, heddle_data *chain)
{
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "task", .cpu = last_some_us, .model = HEDDLE_MODEL_NONE);
	hd_note_length(codelet, us);
	hold_worker_0(rt);
	for (int i = 0; i < TASKS && chain; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(chain), heddle_value(us)));
	for (int i = 0; i < TASKS && !chain; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(us)));
	settle(rt);
	uint64_t before = entries(rt);
	program.open = 1;
	assert_ok(heddle_wait_all(rt));
	return entries(rt) - before;
}

static heddle_runtime *start_one(void)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	return start_with(&config);
}

static void tiny_tasks_are_run_in_bursts(void **state)
{
	(void)state;
	heddle_runtime *rt = start_one();
	assert_in_range(entries_of_tasks(0.01, rt, NULL), TASKS / HD_MAX_BURST, TASKS / 4 + 16);
	assert_ok(heddle_stop(rt));
}

static void a_longer_task_costs_one_entry(void **state)
{
	(void)state;
	heddle_runtime *rt = start_one();
	heddle_data *chain;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &chain));
	assert_in_range(entries_of_tasks(20, rt, chain), TASKS, TASKS + TASKS / 10);
	assert_in_range(entries_of_tasks(60, rt, NULL), TASKS, TASKS + TASKS / 10);
	assert_ok(heddle_unregister(chain));
	assert_ok(heddle_stop(rt));
}

static void short_tasks_share_an_entry(void **state)
{
	(void)state;
	heddle_runtime *rt = start_one();
	assert_in_range(entries_of_tasks(10, rt, NULL), TASKS / 8, TASKS / 8 + 32);
	assert_in_range(entries_of_tasks(20, rt, NULL), TASKS / 4, TASKS / 4 + 32);
	assert_ok(heddle_stop(rt));
}

/* Fails if the worker has been given more than a quarter of the tasks that were ready. */
static int note_share(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	hd_core_enter(rt);
	size_t held = rt->workers[0].in_flight, ready_for_last = rt->count.ready + 1;
	hd_core_leave(rt);
	advance(heddle_get(c, 0, double));
	return held > 1 && ready_for_last < 4 * held;
}

/* However few tasks are ready: those that a worker has taken cannot be run by others. */
static void a_worker_takes_no_more_than_its_share(void **state)
{
	(void)state;
	heddle_runtime *rt = start_one();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "task", .cpu = note_share, .model = HEDDLE_MODEL_NONE);
	const double us = 10;
	hd_note_length(codelet, us);
	for (int n = 1; n <= 64; n++) {
		hold_worker_0(rt);
		for (int i = 0; i < n; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(us)));
		settle(rt);
		program.open = 1;
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

/* --- Workers that are idle ---------------------------------------------------------------------------------------- */

static int is_asleep(struct hd_worker *w)
{
	return atomic_load(&w->wake.state) == 2; /* its thread is in the system */
}

/* Waits until the threads of the workers but the first have read the clock a few times more, or sleep. */
static void wait_for_readings(heddle_runtime *rt)
{
	unsigned before[WORKERS];
	for (unsigned i = 1; i < WORKERS; i++)
		before[i] = n_readings[program.threads[i]];
	for (unsigned i = 1; i < WORKERS; i++)
		while (n_readings[program.threads[i]] - before[i] < FEW_READINGS && !is_asleep(&rt->workers[i]))
			sched_yield();
}

/* Moves the clock on by more than the time between two looks into the ring. */
static void let_look(heddle_runtime *rt)
{
	advance(1.5);
	wait_for_readings(rt);
}

/* The first worker is held in a kernel, and the others have nothing to do but to look into the ring. */
static heddle_runtime *start_idle(heddle_data **held)
{
	heddle_runtime *rt = start_cpus(small_config(), WORKERS);
	heddle_codelet *tell = heddle_codelet_new(rt, .name = "tell", .cpu = tell_thread);
	program.known = 0;
	hd_core_enter(rt);
	rt->n_threads = 2 * WORKERS; /* otherwise some would sleep at once on a machine with few cores */
	hd_core_leave(rt);
	for (unsigned i = 0; i < WORKERS; i++)
		assert_ok(heddle_submit(rt, heddle_call(tell), heddle_on(i)));
	settle(rt);
	wait_for(&program.known, WORKERS);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_variable(rt, NULL, sizeof(long), held));
	assert_ok(heddle_acquire(*held, HEDDLE_W));
	for (unsigned spinning = 0; spinning < WORKERS; sched_yield()) {
		hd_core_enter(rt);
		spinning = 0;
		for (unsigned i = 0; i < WORKERS; i++)
			spinning += rt->workers[i].state == HD_SPINNING;
		hd_core_leave(rt);
	}
	hold_worker_0(rt);
	for (int i = 0; i < 2; i++)
		let_look(rt); /* one of them has seen all that was submitted */
	return rt;
}

static void stop_idle(heddle_runtime *rt, heddle_data *held)
{
	program.open = 1;
	assert_ok(heddle_release(held));
	assert_ok(heddle_unregister(held));
	assert_ok(heddle_stop(rt));
}

static void idle_workers_leave_the_core_alone(void **state)
{
	(void)state;
	heddle_data *held;
	heddle_runtime *rt = start_idle(&held);
	uint64_t before = entries(rt);
	for (int i = 0; i < LOOKS; i++)
		let_look(rt);
	assert_int_equal(entries(rt) - before, 1); /* that of the question */
	stop_idle(rt, held);
}

static void one_idle_worker_looks_into_the_ring_for_all(void **state)
{
	(void)state;
	heddle_data *held;
	heddle_runtime *rt = start_idle(&held);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	for (int i = 0; i < NEWS; i++) {
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(held)));
		uint64_t before = entries(rt), head = rt->inlet.head;
		assert_true(rt->ring.tail > head);
		let_look(rt);
		let_look(rt);
		assert_int_equal(entries(rt) - before, 1 + 1);
		assert_int_equal(rt->ring.tail, rt->inlet.head);
	}
	stop_idle(rt, held);
}

/* A thread that asks while another is in the core may enter once more than is needed. */
static void workers_that_are_idle_for_long_sleep(void **state)
{
	(void)state;
	heddle_data *held;
	heddle_runtime *rt = start_idle(&held);
	uint64_t before = entries(rt);
	advance(50);
	for (unsigned i = 1; i < WORKERS; i++)
		while (!is_asleep(&rt->workers[i]))
			sched_yield();
	assert_in_range(entries(rt) - before, 1, 1 + 2 * (WORKERS - 1));
	before = entries(rt);
	for (int i = 0; i < LOOKS; i++) {
		advance(1000);
		give_others_time(); /* one that slept for a time only would wake now */
		wait_for_readings(rt);
	}
	assert_int_equal(entries(rt) - before, 1);
	stop_idle(rt, held);
}

/* --- How long ----------------------------------------------------------------------------------------------------- */

static heddle_task *slow_pick(void *list, unsigned worker)
{
	heddle_task *t = list_pick(list, worker);
	if (t)
		advance(1000);
	return t;
}

static const struct heddle_policy slow = {.abi = HEDDLE_POLICY_ABI,
                                          .name = "slow",
                                          .summary = "takes a millisecond",
                                          .source = "this test",
                                          .create = list_create,
                                          .destroy = list_destroy,
                                          .ready = list_ready,
                                          .pick = slow_pick};

static void the_time_in_the_core_is_in_us(void **state)
{
	(void)state;
	enum { PICKS = 10 };
	struct heddle_config config = small_config();
	struct heddle_stats stats;
	assert_ok(heddle_policy_register(&slow));
	config.sched = "slow";
	config.time_core = config.time_policy = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *none = heddle_codelet_new(rt, .name = "none", .cpu = nothing);
	for (int i = 0; i < PICKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(none)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(n_picked, PICKS);
	assert_true(fabs(stats.core_time - PICKS * 1000) < 1e-3);
	assert_true(fabs(stats.sched_time - PICKS * 1000) < 1e-3);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tiny_tasks_are_run_in_bursts),
	    cmocka_unit_test(a_longer_task_costs_one_entry),
	    cmocka_unit_test(short_tasks_share_an_entry),
	    cmocka_unit_test(a_worker_takes_no_more_than_its_share),
	    cmocka_unit_test(idle_workers_leave_the_core_alone),
	    cmocka_unit_test(one_idle_worker_looks_into_the_ring_for_all),
	    cmocka_unit_test(workers_that_are_idle_for_long_sleep),
	    cmocka_unit_test(the_time_in_the_core_is_in_us),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
