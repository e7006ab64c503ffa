/* Waits that the program ends itself: on_wait of struct heddle_config, and heddle_cancel_all. */
#include "list_policy.h"

struct interrupts {
	atomic_int open;  /* what the kernels wait for */
	atomic_int begun; /* kernels that have begun */
	atomic_int said;  /* what on_wait returns */
	atomic_int packs; /* copies that have begun to move */
	int opens;        /* 1: on_wait opens the gate */
	int calls;        /* of on_wait; only the thread of the test waits */
	int checked;      /* what heddle_selfcheck has said then */
	heddle_runtime *rt;
	heddle_task *task; /* that the test waits for */
	heddle_codelet *add;
};

static int look_around(void *arg)
{
	struct interrupts *i = arg;
	i->calls++;
	if (i->rt && !i->checked)
		i->checked = heddle_selfcheck(i->rt);
	if (i->opens)
		i->open = 1;
	return i->said;
}

static int pass(heddle_context *c)
{
	struct interrupts *i = heddle_get(c, 0, struct interrupts *);
	i->begun++;
	wait_for(&i->open, 1);
	return 0;
}

static int write_zeros(heddle_context *c)
{
	memset(heddle_ptr(c, 0), 0, heddle_extent(c, 0, 0) * sizeof(long));
	return 0;
}

static heddle_runtime *start_looking(struct interrupts *i, int caller_works)
{
	struct heddle_config config = small_config();
	config.on_wait = look_around;
	config.on_wait_arg = i;
	config.caller_works = caller_works;
	return start_with(&config);
}

static void every_wait_can_be_ended_and_begun_again(void **state)
{
	(void)state;
	struct interrupts at = {.said = 1}, *i = &at;
	heddle_runtime *rt = start_looking(i, 0);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "pass", .cpu = pass);
	heddle_data *d;
	heddle_group *g;
	heddle_task *t;
	long x = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_group_create(rt, &g));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(i), heddle_in_group(g), heddle_out(&t)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INTERRUPTED);
	assert_says("on_wait");
	assert_int_equal(heddle_group_wait(g), HEDDLE_E_INTERRUPTED);
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_INTERRUPTED);
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_INTERRUPTED);
	assert_int_equal(i->calls, 4);
	assert_ok(heddle_selfcheck(rt));
	i->said = 0;
	i->opens = 1;
	assert_ok(heddle_task_wait(t));
	assert_ok(heddle_acquire(d, HEDDLE_RW)); /* what was given up before holds nobody up */
	assert_ok(heddle_release(d));
	assert_ok(heddle_group_wait(g));
	assert_ok(heddle_wait_all(rt));
	heddle_task_release(t);
	heddle_group_free(g);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* Lets the kernel end, and what follows it be done, before it ends the first wait. */
static int end_task_first(void *arg)
{
	struct interrupts *i = arg;
	struct heddle_stats stats;
	if (i->calls++)
		return 0;
	i->open = 1;
	while (!heddle_task_done(i->task))
		sched_yield();
	heddle_runtime_stats(i->rt, &stats); /* when this returns, the core has seen to the task's end */
	return 1;
}

/* The wait is over all the same: who has acquired a datum can release it. */
static void what_has_come_when_the_wait_is_ended_is_there(void **state)
{
	(void)state;
	enum { ACQUIRE, TASK_WAIT, GROUP_WAIT, WAIT_ALL, N_WAITS };
	for (int k = 0; k < N_WAITS; k++) {
		struct heddle_config config = small_config();
		struct interrupts at = {.open = 0}, *i = &at;
		heddle_data *d;
		heddle_group *g;
		long x = 1;
		config.on_wait = end_task_first;
		config.on_wait_arg = i;
		i->rt = start_with(&config);
		heddle_codelet *c = heddle_codelet_new(i->rt, .name = "pass", .cpu = pass);
		assert_ok(heddle_variable(i->rt, &x, sizeof x, &d));
		assert_ok(heddle_group_create(i->rt, &g));
		assert_ok(heddle_submit(i->rt, heddle_call(c), heddle_rw(d), heddle_value(i), heddle_in_group(g),
		                        heddle_out(&i->task)));
		switch (k) {
		case ACQUIRE: assert_ok(heddle_acquire(d, HEDDLE_RW)); break;
		case TASK_WAIT: assert_ok(heddle_task_wait(i->task)); break;
		case GROUP_WAIT: assert_ok(heddle_group_wait(g)); break;
		default: assert_ok(heddle_wait_all(i->rt));
		}
		assert_int_equal(i->calls, 1);
		assert_ok(heddle_selfcheck(i->rt));
		assert_int_equal(heddle_release(d), k == ACQUIRE ? 0 : HEDDLE_E_STATE);
		assert_ok(heddle_submit(i->rt, heddle_call(c), heddle_rw(d), heddle_value(i)));
		assert_ok(heddle_wait_all(i->rt));
		heddle_task_release(i->task);
		heddle_group_free(g);
		assert_ok(heddle_stop(i->rt));
	}
}

/* --- Unregistration ----------------------------------------------------------------------------------------------- */

/* A runtime whose last worker, an accelerator, runs a kernel that stays until the gate is opened. */
static heddle_runtime *start_staying(struct interrupts *i, int caller_works)
{
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.on_wait = look_around;
	config.on_wait_arg = i;
	config.caller_works = caller_works;
	i->rt = start_with(&config);
	return i->rt;
}

static unsigned last_worker(heddle_runtime *rt)
{
	return (unsigned)heddle_runtime_platform(rt)->n_workers - 1;
}

static void expect_interrupted(const struct interrupts *i, heddle_data *d)
{
	heddle_runtime *rt = i->rt;
	assert_int_equal(heddle_unregister(d), HEDDLE_E_INTERRUPTED);
	assert_says("on_wait");
	assert_ok(i->checked);
	assert_ok(heddle_selfcheck(rt));
}

static void an_interrupted_unregistration_leaves_the_datum(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		struct interrupts at = {.said = 1}, *i = &at;
		heddle_runtime *rt = start_staying(i, caller_works);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "pass", .cpu = pass);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
		heddle_data *d;
		long x = 1;
		assert_ok(heddle_variable(rt, &x, sizeof x, &d));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(i), heddle_on(last_worker(rt))));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		expect_interrupted(i, d);
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		expect_interrupted(i, d);
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		i->open = 1;
		i->said = 0;
		assert_ok(heddle_acquire(d, HEDDLE_R));
		assert_int_equal(x, 4);
		assert_ok(heddle_release(d));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x, 5);
		assert_ok(heddle_stop(rt));
	}
}

/* Its plans are what they were: open, ended, or with children that are partitioned. */
static void plans_outlive_an_interrupted_unregistration(void **state)
{
	static const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	(void)state;
	for (int temporary = 0; temporary < 2; temporary++) {
		struct interrupts at = {.said = 1}, *i = &at;
		heddle_runtime *rt = start_staying(i, 0);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "pass", .cpu = pass);
		heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
		heddle_codelet *zero = heddle_codelet_new(rt, .name = "zero", .cpu = write_zeros);
		heddle_data *d;
		heddle_plan *plan, *ended;
		long x[8] = {0};
		assert_ok(heddle_vector(rt, temporary ? NULL : x, 8, sizeof *x, &d));
		assert_ok(heddle_plan_create(d, &halves, &plan));
		assert_ok(heddle_plan_create(d, &halves, &ended));
		if (!temporary)
			assert_ok(heddle_submit(rt, heddle_call(zero), heddle_w(d)));
		heddle_data *first = heddle_plan_child(plan, 0), *second = heddle_plan_child(plan, 1);
		assert_ok(heddle_submit(rt, heddle_call(zero), heddle_w(first))); /* the second may have no value yet */
		assert_ok(heddle_partition(first, &halves, NULL));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(first, 0)), heddle_value(i),
		                        heddle_on(last_worker(rt))));
		heddle_data *of_ended = heddle_plan_child(ended, 0);
		if (!temporary)
			assert_ok(heddle_plan_destroy(ended));
		for (int k = 0; k < 2; k++)
			expect_interrupted(i, d);
		if (!temporary)
			assert_int_equal(heddle_submit(rt, heddle_call(add), heddle_rw(of_ended)), HEDDLE_E_STATE);
		assert_int_equal(heddle_submit(rt, heddle_call(add), heddle_rw(first)), HEDDLE_E_STATE);
		i->open = 1;
		i->said = 0;
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(heddle_child(first, 0))));
		assert_ok(heddle_unpartition(first));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(first)));
		assert_ok(heddle_acquire(first, HEDDLE_R));
		assert_int_equal(*(long *)heddle_data_ptr(first), 2);
		assert_ok(heddle_release(first));
		assert_ok(heddle_submit(rt, heddle_call(zero), heddle_w(second)));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
		assert_ok(heddle_unregister(d));
		assert_int_equal(x[0], temporary ? 0 : 3);
		assert_ok(heddle_stop(rt));
	}
}

static struct interrupts *packing;

static int pack_slowly(const void *object, void *buffer, size_t size)
{
	packing->packs++;
	wait_for(&packing->open, 1);
	memcpy(buffer, object, size);
	return 0;
}

static size_t size_of_long(const void *object)
{
	(void)object;
	return sizeof(long);
}

static int unpack_long(void **object, const void *buffer, size_t size)
{
	if (!*object)
		*object = malloc(size);
	memcpy(*object, buffer, size);
	return 0;
}

/* Makes an object, 1, in *x, that an accelerator has changed to 2. A copy back would wait for the gate, and on_wait
 * wants each wait to end. */
static heddle_data *make_away(struct interrupts *i, long *x)
{
	static const struct heddle_type type = {
	    .name = "long", .size = size_of_long, .pack = pack_slowly, .unpack = unpack_long, .destroy = free};
	heddle_data *d;
	*i = (struct interrupts){.open = 1};
	packing = i;
	*x = 1;
	heddle_runtime *rt = start_staying(i, 0);
	i->add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	assert_ok(heddle_object(rt, x, &type, &d));
	assert_ok(heddle_submit(rt, heddle_call(i->add), heddle_rw(d), heddle_on(last_worker(rt))));
	assert_ok(heddle_wait_all(rt));
	i->open = i->packs = 0;
	i->said = 1;
	return d;
}

/* When nothing but a copy is left to wait for, the unregistration is not interrupted. */
static void copies_of_what_ends_are_waited_for(void **state)
{
	(void)state;
	struct interrupts at, *i = &at;
	long x;
	heddle_data *d = make_away(i, &x);
	heddle_runtime *rt = i->rt;
	i->calls = 0;
	i->opens = 1;
	assert_ok(heddle_unregister(d));
	assert_true(i->calls > 0);
	assert_int_equal(x, 2);
	i->opens = 0;
	i->said = 0;
	assert_ok(heddle_stop(rt));
}

/* What was asked for is granted and waits for a copy when the wait is ended: nobody touches it, and it ends when the
 * copy has arrived. */
static void a_copy_arrives_although_nobody_waits_for_it(void **state)
{
	static const enum heddle_mode modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W};
	(void)state;
	for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
		struct interrupts at, *i = &at;
		long x;
		heddle_data *d = make_away(i, &x);
		heddle_runtime *rt = i->rt;
		if (modes[k] == HEDDLE_W) { /* a copy that has begun to move ends before the program writes */
			assert_ok(heddle_prefetch(d, 0));
			wait_for(&i->packs, 1);
		}
		assert_int_equal(heddle_acquire(d, modes[k]), HEDDLE_E_INTERRUPTED);
		assert_ok(i->checked);
		assert_ok(heddle_selfcheck(rt));
		i->said = 0;
		i->open = 1;
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_submit(rt, heddle_call(i->add), heddle_rw(d), heddle_on(last_worker(rt))));
		assert_ok(heddle_acquire(d, HEDDLE_R));
		assert_int_equal(x, 3);
		assert_ok(heddle_release(d));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
	}
}

/* --- The end of the runtime --------------------------------------------------------------------------------------- */

/* The first call wants the wait to end, the second one lets the kernel that runs end. */
static int end_and_open(void *arg)
{
	struct interrupts *i = arg;
	if (++i->calls > 1)
		i->open = 1;
	return i->calls == 1;
}

/* A kernel runs, and n tasks wait for it, when the runtime is to stop. Returns how many of them have run. */
static int stop_waiting_for(int n, heddle_kernel before, int wanted)
{
	struct interrupts at = {.open = 0}, *i = &at;
	struct heddle_config config = small_config();
	atomic_int ran = 0, *count = &ran;
	heddle_data *d;
	long x = 1;
	config.on_wait = end_and_open;
	config.on_wait_arg = i;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "pass", .cpu = pass);
	heddle_codelet *first = heddle_codelet_new(rt, .name = "first", .cpu = before);
	heddle_codelet *counts = heddle_codelet_new(rt, .name = "count", .cpu = count_up);
	heddle_task *t;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(first), heddle_out(&t)));
	i->calls = 1; /* this wait is not to end early, however long it lasts */
	assert_int_equal(heddle_task_wait(t), before == fail_always ? HEDDLE_E_KERNEL : 0);
	heddle_task_release(t);
	i->calls = 0;
	i->open = 0;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(i)));
	for (int k = 0; k < n; k++)
		assert_ok(heddle_submit(rt, heddle_call(counts), heddle_rw(d), heddle_value(count)));
	wait_for(&i->begun, 1); /* or it would be cancelled with the others */
	assert_int_equal(heddle_stop(rt), wanted);
	assert_true(i->calls > 1);
	return ran;
}

static void an_interrupted_stop_cancels_what_has_not_begun(void **state)
{
	(void)state;
	assert_int_equal(stop_waiting_for(5, nothing, HEDDLE_E_INTERRUPTED), 0);
	assert_says("5 tasks that had not begun were cancelled");
	assert_int_equal(stop_waiting_for(0, nothing, 0), 0);
	assert_int_equal(stop_waiting_for(5, fail_always, HEDDLE_E_KERNEL), 0); /* a failure is told rather */
	assert_says("first (task 0)");
}

/* A simulation looks around, too, and heddle_cancel_all leaves nothing for heddle_stop to wait for. */
static void a_simulation_is_interrupted_and_cancelled(void **state)
{
	enum { MANY = 5000 };
	(void)state;
	struct interrupts at = {.said = 1};
	struct heddle_config config = small_config();
	struct heddle_stats stats;
	config.on_wait = look_around;
	config.on_wait_arg = &at;
	config.platform = "haswell-k40m";
	config.window = 0;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = given(rt, "ten", ten_us);
	for (int k = 0; k < MANY; k++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INTERRUPTED);
	int n = heddle_cancel_all(rt);
	assert_true(n > 0 && n < MANY);
	assert_ok(heddle_selfcheck(rt));
	at.said = 0;
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_says("the program has cancelled all tasks");
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed + (uint64_t)n, MANY);
	assert_ok(heddle_stop(rt));
	assert_int_equal(heddle_cancel_all(NULL), HEDDLE_E_INVALID);
}

/* The only worker is that of the thread that waits; on_wait gives it a task. */
struct giving {
	heddle_runtime *rt;
	heddle_codelet *leaf;
	heddle_group *none; /* without tasks */
	heddle_event *event;
	int said, status, cancelled;
	atomic_int calls, ran, n_started, n_done;
};

static struct giving giving;

static int detach(heddle_context *c)
{
	return !(giving.event = heddle_detach(c));
}

static int run_leaf(heddle_context *c)
{
	(void)c;
	giving.ran++;
	return 0;
}

static int give_a_task(void *arg)
{
	(void)arg;
	if (giving.calls++)
		return 0;
	giving.status = heddle_submit(giving.rt, heddle_call(giving.leaf));
	if (!giving.said) {
		giving.cancelled = heddle_group_cancel(giving.none);
		heddle_fulfill(giving.event, 0);
	}
	return giving.said;
}

static void note_started(void *state, heddle_task *t, unsigned worker)
{
	(void)state;
	(void)t;
	(void)worker;
	giving.n_started++;
}

static void note_done(void *state, heddle_task *t, unsigned worker)
{
	(void)state;
	(void)t;
	(void)worker;
	giving.n_done++;
}

static const struct heddle_policy counter = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "counter",
                                             .summary = "counts what begins and ends",
                                             .source = "this test",
                                             .create = list_create,
                                             .destroy = list_destroy,
                                             .ready = list_ready,
                                             .pick = list_pick,
                                             .started = note_started,
                                             .done = note_done};

static void start_giving(const char *sched, int said)
{
	struct heddle_config config = small_config();
	giving = (struct giving){.said = said};
	config.n_cpu = 1;
	config.caller_works = 1;
	config.sched = sched;
	config.on_wait = give_a_task;
	giving.rt = start_with(&config);
	giving.leaf = heddle_codelet_new(giving.rt, .name = "leaf", .cpu = run_leaf);
	heddle_codelet *c = heddle_codelet_new(giving.rt, .name = "detach", .cpu = detach);
	assert_ok(heddle_group_create(giving.rt, &giving.none));
	assert_ok(heddle_submit(giving.rt, heddle_call(c)));
}

static void stop_giving(void)
{
	assert_ok(giving.status);
	assert_int_equal(giving.cancelled, 0);
	assert_int_equal(giving.ran, 1);
	assert_ok(heddle_selfcheck(giving.rt));
	heddle_group_free(giving.none);
	assert_ok(heddle_stop(giving.rt));
}

static void what_on_wait_submits_runs_although_the_wait_ends(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&counter));
	for (int k = 0; k < 2; k++) {
		start_giving(k ? "counter" : "eager", 1);
		assert_int_equal(heddle_wait_all(giving.rt), HEDDLE_E_INTERRUPTED);
		assert_says("on_wait");
		assert_ok(heddle_selfcheck(giving.rt));
		heddle_fulfill(giving.event, 0);
		assert_ok(heddle_wait_all(giving.rt));
		stop_giving();
	}
}

/* What a worker was given before others are cancelled. */
static void a_policy_hears_once_that_a_task_begins(void **state)
{
	(void)state;
	start_giving("counter", 0);
	assert_ok(heddle_wait_all(giving.rt));
	stop_giving();
	assert_int_equal(giving.n_started, 2);
	assert_int_equal(giving.n_done, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_wait_can_be_ended_and_begun_again),
	    cmocka_unit_test(what_has_come_when_the_wait_is_ended_is_there),
	    cmocka_unit_test(an_interrupted_unregistration_leaves_the_datum),
	    cmocka_unit_test(plans_outlive_an_interrupted_unregistration),
	    cmocka_unit_test(copies_of_what_ends_are_waited_for),
	    cmocka_unit_test(a_copy_arrives_although_nobody_waits_for_it),
	    cmocka_unit_test(an_interrupted_stop_cancels_what_has_not_begun),
	    cmocka_unit_test(a_simulation_is_interrupted_and_cancelled),
	    cmocka_unit_test(what_on_wait_submits_runs_although_the_wait_ends),
	    cmocka_unit_test(a_policy_hears_once_that_a_task_begins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
