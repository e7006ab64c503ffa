/* What was submitted is known to the policy in time, and what a worker has taken is not stuck with it. */
#include "probe.h"
#include "program.h"

/* Which task ran when. */
struct order {
	heddle_runtime *rt;
	heddle_codelet *task, *gate;
	atomic_int gate_is_open, ran;
	int place_of_urgent; /* how many ran before the urgent one */
};

enum { BEHIND = 430, URGENT = 1000, NEAR = 4 };

/* About 20 us: much longer than a scheduling decision. */
static void take_a_while(heddle_runtime *rt)
{
	double start = heddle_now(rt);
	while (heddle_now(rt) - start < 20)
		;
}

static int note_place(heddle_context *c)
{
	struct order *o = pointer_value(c);
	int before = o->ran++;
	if (heddle_get(c, 1, int) == URGENT)
		o->place_of_urgent = before;
	take_a_while(o->rt);
	return 0;
}

static void submit_many_then_an_urgent_one(struct order *o)
{
	for (int i = 0; i <= BEHIND; i++) {
		int priority = i < BEHIND ? 0 : URGENT;
		assert_ok(heddle_submit(o->rt, heddle_call(o->task), heddle_value(o), heddle_value(priority),
		                        heddle_priority(priority)));
	}
}

static int submit_from_a_kernel(heddle_context *c)
{
	submit_many_then_an_urgent_one(pointer_value(c));
	return 0;
}

static void begin(struct order *o, heddle_kernel first)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.sched = "prio";
	*o = (struct order){.rt = start_with(&config)};
	o->task = heddle_codelet_new(o->rt, .name = "task", .cpu = note_place);
	o->gate = heddle_codelet_new(o->rt, .name = "gate", .cpu = first);
}

/* The program does not wait, which would show everything to the workers, but goes on with something else. */
static void end(struct order *o)
{
	wait_for(&o->ran, BEHIND + 1);
	assert_in_range(o->place_of_urgent, 0, NEAR);
	assert_ok(heddle_stop(o->rt));
}

static void urgent_task_submitted_behind_many_runs_first(void **state)
{
	(void)state;
	struct order order, *o = &order;
	begin(o, pass_gate);
	atomic_int *gate_address = &o->gate_is_open;
	assert_ok(heddle_submit(o->rt, heddle_call(o->gate), heddle_value(gate_address)));
	submit_many_then_an_urgent_one(o);
	o->gate_is_open = 1;
	end(o);
}

static void urgent_task_submitted_by_a_kernel_runs_first(void **state)
{
	(void)state;
	struct order order, *o = &order;
	begin(o, submit_from_a_kernel);
	assert_ok(heddle_submit(o->rt, heddle_call(o->gate), heddle_value(o)));
	end(o);
}

/* --- Tasks taken at once ------------------------------------------------------------------------------------------ */

static atomic_int n_tiny, n_gates;

/* Tiny, but for the one that finds a gate. */
static int tiny_or_gate(heddle_context *c)
{
	if (pointer_value(c)) {
		n_gates++;
		return pass_gate(c);
	}
	n_tiny++;
	return 0;
}

static void submit_tiny(heddle_runtime *rt, heddle_codelet *codelet, int n)
{
	atomic_int *none = NULL;
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(none)));
}

/* While one task takes much longer than others of its codelet, all those submitted behind it run. */
static void run_tiny_tasks_behind_a_long_one(heddle_runtime *rt, heddle_codelet *codelet, heddle_codelet *gate)
{
	enum { TINY = 60 };
	size_t n_workers = heddle_runtime_platform(rt)->n_workers;
	atomic_int all_busy = 0, *busy_address = &all_busy, long_one = 0, *long_address = &long_one;
	n_tiny = n_gates = 0;
	for (size_t i = 0; i < n_workers; i++)
		assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(busy_address)));
	wait_for(&n_gates, (int)n_workers);
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(long_address)));
	submit_tiny(rt, codelet, TINY);
	all_busy = 1;
	wait_for(&n_tiny, TINY); /* while the long one goes on */
	long_one = 1;
	assert_ok(heddle_wait_all(rt));
}

/* All workers of the machine; skips the test where there is only one. */
static heddle_runtime *start_several_workers(const char *sched)
{
	struct heddle_config config = small_config();
	config.n_cpu = -1;
	config.sched = sched;
	heddle_runtime *rt = start_with(&config);
	if (heddle_runtime_platform(rt)->n_workers < 2) {
		assert_ok(heddle_stop(rt));
		skip();
	}
	return rt;
}

enum { ROUNDS = 20 };

static void tiny_tasks_behind_an_unexpectedly_long_one_run_elsewhere(void **state)
{
	(void)state;
	heddle_runtime *rt = start_several_workers("eager");
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "tiny", .cpu = tiny_or_gate);
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = tiny_or_gate);
	submit_tiny(rt, codelet, 2000); /* now its tasks are known to be tiny */
	assert_ok(heddle_wait_all(rt));
	for (int round = 0; round < ROUNDS; round++)
		run_tiny_tasks_behind_a_long_one(rt, codelet, gate);
	assert_ok(heddle_stop(rt));
}

static double one_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1;
}

/* What the policy sees: lock core. */
static heddle_sched *asked;
static int asking;
static double latest; /* us from now, of the worker that is free last */

static void keep_sched(heddle_sched *sched)
{
	asked = sched;
}

static void ask_who_is_free(heddle_task *t)
{
	(void)t;
	for (unsigned w = 0; asking && w < heddle_sched_platform(asked)->n_workers; w++) {
		double us = heddle_sched_worker_free_at(asked, w) - heddle_sched_now(asked);
		latest = us > latest ? us : latest;
	}
}

/* The time of those tasks counts where they run: when all have ended, every worker is free, also the one that had taken
 * them first. */
static void worker_whose_tasks_ran_elsewhere_is_not_expected_to_run_them(void **state)
{
	(void)state;
	probe_set((struct probe){.on_create = keep_sched, .on_ready = ask_who_is_free});
	asking = 0;
	latest = -1;
	heddle_runtime *rt = start_several_workers("probe");
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "tiny", .cpu = tiny_or_gate, .model = HEDDLE_MODEL_GIVEN, .time = one_us);
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = tiny_or_gate, .model = HEDDLE_MODEL_NONE);
	for (int round = 0; round < ROUNDS; round++)
		run_tiny_tasks_behind_a_long_one(rt, codelet, gate);
	asking = 1;
	submit_tiny(rt, codelet, 1);
	assert_ok(heddle_wait_all(rt));
	assert_true(latest == 0);
	assert_ok(heddle_stop(rt));
}

static void stay_a_while(void *arg, int status)
{
	(void)arg;
	assert_ok(status);
	give_others_time();
}

/* One worker takes many tasks, the first of them long, and runs a callback before it begins: meanwhile the other one
 * runs what it has taken itself and finds nothing more. It must not fall asleep for good. */
static void tiny_tasks_of_a_worker_that_is_held_up_run_elsewhere(void **state)
{
	(void)state;
	enum { TINY = 60 };
	heddle_runtime *rt = start_several_workers("eager");
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "tiny", .cpu = tiny_or_gate);
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 1, &d));
	for (int round = 0; round < 3; round++) {
		atomic_int all = 0, *all_address = &all, long_one = 0, *long_address = &long_one, *none = NULL;
		submit_tiny(rt, codelet, 2000); /* now its tasks are known to be tiny */
		assert_ok(heddle_wait_all(rt));
		n_tiny = 0;
		assert_ok(heddle_submit(rt, heddle_call(gate), heddle_value(all_address), heddle_w(d),
		                        heddle_then(stay_a_while, NULL)));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(long_address), heddle_r(d)));
		for (int i = 0; i < TINY; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(none), heddle_r(d)));
		give_others_time();
		all = 1;
		wait_for(&n_tiny, TINY); /* while the long one goes on */
		long_one = 1;
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(urgent_task_submitted_behind_many_runs_first),
	    cmocka_unit_test(urgent_task_submitted_by_a_kernel_runs_first),
	    cmocka_unit_test(tiny_tasks_behind_an_unexpectedly_long_one_run_elsewhere),
	    cmocka_unit_test(worker_whose_tasks_ran_elsewhere_is_not_expected_to_run_them),
	    cmocka_unit_test(tiny_tasks_of_a_worker_that_is_held_up_run_elsewhere),
	};
	return cmocka_run_group_tests_name("submission", tests, NULL, NULL);
}
