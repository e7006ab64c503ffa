/* What include/heddle/clusters.h and policy.h promise of counts and of the end of tasks, when other workers are driven
 * and when tasks are cancelled. */
#include <heddle/policy.h>
#include "overlapping.h"

/* --- A policy that counts ----------------------------------------------------------------------------------------- */

/* An instance. Under the core lock. */
struct counter {
	heddle_task *first; /* the newest that is ready */
	double n_picked;
};

/* Of all instances. */
static struct {
	int created, picked, done, twice;
	heddle_task *at_worker[N_OVERLAPPING + 1][8];
} all;

static int counter_create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = calloc(1, sizeof(struct counter));
	all.created++;
	return *state ? 0 : HEDDLE_E_MEMORY;
}

static void counter_destroy(void *state)
{
	free(state);
}

static void counter_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct counter *c = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = c->first;
		c->first = batch[i];
	}
}

/* The place of the task among those that the worker was given, NULL for a free one; NULL: there is none. */
static heddle_task **place_of(const heddle_task *t, unsigned worker)
{
	for (size_t i = 0; i < sizeof all.at_worker[0] / sizeof *all.at_worker[0]; i++)
		if (all.at_worker[worker][i] == t)
			return &all.at_worker[worker][i];
	return NULL;
}

static heddle_task *counter_pick(void *state, unsigned worker)
{
	struct counter *c = state;
	heddle_task *t = c->first, **place = place_of(NULL, worker);
	if (!t || !place || !heddle_task_can_run(t, worker))
		return NULL;
	c->first = heddle_task_link(t)->next;
	c->n_picked++;
	all.picked++;
	*place = t;
	return t;
}

static void counter_done(void *state, heddle_task *task, unsigned worker)
{
	heddle_task **place = place_of(task, worker);
	(void)state;
	all.done++;
	all.twice += !place;
	if (place)
		*place = NULL;
}

static void counter_report(void *state, heddle_sched *sched)
{
	heddle_sched_count(sched, "picked", ((struct counter *)state)->n_picked, "tasks");
}

/* The policy places no task for a worker, so it has none to give back. */
static heddle_task *counter_take_back(void *state, unsigned worker)
{
	(void)state;
	(void)worker;
	return NULL;
}

static struct heddle_policy counter = {.abi = HEDDLE_POLICY_ABI,
                                       .name = "counter",
                                       .summary = "the newest task first, counted",
                                       .source = "this test",
                                       .create = counter_create,
                                       .destroy = counter_destroy,
                                       .ready = counter_ready,
                                       .pick = counter_pick,
                                       .done = counter_done,
                                       .report = counter_report};
static struct heddle_policy keeper; /* the policy `counter` with take_back */

/* --- Counts ------------------------------------------------------------------------------------------------------- */

enum { SOME = 20 };

static void add(void *arg, const char *name, double value, const char *unit)
{
	assert_string_equal(name, "picked");
	assert_string_equal(unit, "tasks");
	*(double *)arg += value;
}

/* What the policy says that it has picked; -1: it says nothing. */
static double picked_by_policy(heddle_runtime *rt)
{
	double counts = -1, report = -1;
	assert_ok(heddle_policy_counts(rt, add, &counts));
	assert_ok(heddle_policy_report(rt, add, &report));
	assert_true(counts == report);
	return counts < 0 ? counts : counts + 1;
}

static void run_some(heddle_runtime *rt, heddle_codelet *c)
{
	for (int i = 0; i < SOME; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
}

/* The runtime's own counts, which have grown as SOME tasks have made them grow, if there were `some`, or not at all. */
static void expect_counts(heddle_runtime *rt, struct heddle_stats *before, int some)
{
	struct heddle_stats now;
	uint64_t n = some ? SOME : 0;
	assert_ok(heddle_runtime_stats(rt, &now));
	assert_int_equal(now.tasks_submitted, before->tasks_submitted + n);
	assert_int_equal(now.tasks_executed, before->tasks_executed + n);
	assert_int_equal(now.sched_picks - now.sched_picks_empty, before->sched_picks - before->sched_picks_empty + n);
	assert_true(now.sched_picks >= before->sched_picks && now.sched_picks_empty >= before->sched_picks_empty);
	assert_true(now.sched_batches >= before->sched_batches + (n ? 1 : 0));
	assert_true(now.sched_time >= before->sched_time && now.busy >= before->busy);
	*before = now;
}

/* Drives other workers; how many tasks the policy's instance has picked then and after SOME more tasks; -1: there is
 * none. */
static void expect_after_change(heddle_runtime *rt, heddle_codelet *c, const unsigned *workers, size_t n,
                                const double picked[2])
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_workers_drive(rt, workers, n));
	expect_counts(rt, &stats, 0);
	assert_true(picked_by_policy(rt) == picked[0]);
	run_some(rt, c);
	expect_counts(rt, &stats, 1);
	assert_true(picked_by_policy(rt) == picked[1]);
	assert_ok(heddle_selfcheck(rt));
}

static heddle_runtime *start_counting(const char *sched, int virtual_time, int with_device)
{
	struct heddle_config config = small_config();
	config.sched = sched;
	config.time_policy = 1;
	memset(&all, 0, sizeof all);
	return start_overlapping(&config, virtual_time, with_device);
}

static heddle_codelet *evenly(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "evenly", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                          .time = shared_evenly);
}

/* A policy that is made anew counts from 0; the runtime's counts go on all the same. */
static void counts_of_the_runtime_outlive_the_policys(void **state)
{
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_counting("counter", virtual_time, 0);
		heddle_codelet *c = evenly(rt);
		struct heddle_stats stats = {0};
		(void)state;
		run_some(rt, c);
		expect_counts(rt, &stats, 1);
		assert_true(picked_by_policy(rt) == SOME);
		for (int i = 0; i < 3; i++) {
			expect_after_change(rt, c, i % 2 ? singles : pairs, i % 2 ? 4 : 2, (const double[]){-1, SOME});
			assert_int_equal(all.created, 2 + i);
		}
		assert_ok(heddle_stop(rt));
		assert_int_equal(all.picked, 4 * SOME);
		assert_int_equal(all.done, 4 * SOME);
		assert_int_equal(all.twice, 0);
	}
}

/* One that gives tasks back stays, and goes on counting. */
static void a_policy_that_stays_goes_on_counting(void **state)
{
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_counting("keeper", virtual_time, 0);
		heddle_codelet *c = evenly(rt);
		(void)state;
		run_some(rt, c);
		expect_after_change(rt, c, pairs, 2, (const double[]){SOME, 2 * SOME});
		expect_after_change(rt, c, singles, 1, (const double[]){2 * SOME, 3 * SOME});
		expect_after_change(rt, c, all_cores, 1, (const double[]){3 * SOME, 4 * SOME});
		assert_int_equal(all.created, 1);
		assert_ok(heddle_stop(rt));
		assert_int_equal(all.done, 4 * SOME);
		assert_int_equal(all.twice, 0);
	}
}

/* --- The end of cancelled tasks ----------------------------------------------------------------------------------- */

struct ends {
	atomic_int open, began, n_called, n_cancelled;
};

static int stay(heddle_context *c)
{
	struct ends *e = pointer_value(c);
	e->began++;
	wait_for(&e->open, 1);
	return 0;
}

static void count_end(void *arg, int status)
{
	struct ends *e = arg;
	e->n_called++;
	e->n_cancelled += status == HEDDLE_E_CANCELLED;
}

/* One task runs on the device when all are cancelled; of the others some are staged there, some are with the policy,
 * and some wait for the first. Each has its callback called once. The policy is told once of each that it has given
 * away, for the worker that it gave it to, whether it ran or not. */
static void all_are_told_once_that_a_cancelled_task_is_done(void **state)
{
	enum { DEVICE = N_OVERLAPPING };
	(void)state;
	heddle_runtime *rt = start_counting("counter", 0, 1);
	struct ends ends = {.open = 0}, *e = &ends;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "stay", .cpu = stay);
	heddle_codelet *never = heddle_codelet_new(rt, .name = "never", .cpu = nothing);
	heddle_data *d;
	heddle_task *task;
	long x = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(e), heddle_on(DEVICE),
	                        heddle_then(count_end, e)));
	wait_for(&ends.began, 1);
	for (int i = 0; i < SOME; i++)
		assert_ok(heddle_submit(rt, heddle_call(never), heddle_on(DEVICE), heddle_then(count_end, e)));
	for (int i = 0; i < SOME; i++)
		assert_ok(heddle_submit(rt, heddle_call(never), heddle_rw(d), heddle_then(count_end, e)));
	assert_ok(heddle_submit(rt, heddle_call(never), heddle_r(d), heddle_out(&task)));
	assert_int_equal(heddle_cancel_all(rt), 2 * SOME + 1);
	assert_ok(heddle_selfcheck(rt));
	ends.open = 1;
	assert_int_equal(heddle_task_wait(task), HEDDLE_E_CANCELLED);
	assert_says("the program has cancelled all tasks");
	heddle_task_release(task);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(ends.n_called, 2 * SOME + 1);
	assert_int_equal(ends.n_cancelled, 2 * SOME);
	assert_true(all.picked >= 1);
	assert_int_equal(all.done, all.picked);
	assert_int_equal(all.twice, 0);
}

static int make_known(void **state)
{
	(void)state;
	keeper = counter;
	keeper.name = "keeper";
	keeper.take_back = counter_take_back;
	assert_ok(heddle_policy_register(&counter));
	return heddle_policy_register(&keeper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_of_the_runtime_outlive_the_policys),
	    cmocka_unit_test(a_policy_that_stays_goes_on_counting),
	    cmocka_unit_test(all_are_told_once_that_a_cancelled_task_is_done),
	};
	return cmocka_run_group_tests(tests, make_known, NULL);
}
