/* What policies do with the tasks that they have when other workers are driven, in virtual time: each policy runs every
 * task, also those that became ready under another cluster set; most go on as they are. */
#include "internals.h"
#include "overlapping.h"

enum { TASKS = 200 };

static heddle_runtime *begin(const char *policy)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	config.sched = policy;
	return start_overlapping(&config, 1, 0);
}

static heddle_codelet *task_of(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "task", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                          .time = shared_evenly);
}

static void submit_some(heddle_runtime *rt, heddle_codelet *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_priority((int)(i * 7 % 5))));
}

static void finish(heddle_runtime *rt)
{
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* How many tasks each worker has run. */
static void count_runs(heddle_runtime *rt, unsigned n[static N_OVERLAPPING])
{
	struct heddle_trace *trace;
	memset(n, 0, N_OVERLAPPING * sizeof *n);
	assert_ok(heddle_trace_take(rt, &trace));
	for (size_t i = 0; i < trace->n_tasks; i++)
		n[trace->tasks[i].worker]++;
	heddle_trace_free(trace);
}

/* Bit w: worker w has run a task. */
static unsigned who_ran(heddle_runtime *rt)
{
	unsigned n[N_OVERLAPPING], who = 0;
	count_runs(rt, n);
	for (unsigned w = 0; w < N_OVERLAPPING; w++)
		who |= (unsigned)(n[w] > 0) << w;
	return who;
}

static void tasks_of_one_cluster_set_run_on_another(const struct heddle_policy *policy)
{
	heddle_runtime *rt = begin(policy->name);
	heddle_codelet *c = task_of(rt);
	drive(rt, pairs, 2);
	submit_some(rt, c, TASKS);
	drive(rt, pairs, 2); /* no change; what was submitted enters */
	double born = rt->sched.born;
	drive(rt, all_cores, 1);
	submit_some(rt, c, TASKS);
	drive(rt, singles, 4);
	assert_true((rt->sched.born == born) == (policy->changed || policy->take_back));
	drive(rt, mixed, 3);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt) & (1u << 2 | 1u << 3 | 1u << PAIR), 1u << 2 | 1u << 3 | 1u << PAIR);
	finish(rt);
}

/* Fewer cores, and more of them again. */
static void cores_come_and_go(const struct heddle_policy *policy)
{
	heddle_runtime *rt = begin(policy->name);
	heddle_codelet *c = task_of(rt);
	drive(rt, (unsigned[]){PAIR}, 1);
	submit_some(rt, c, TASKS);
	drive(rt, (unsigned[]){3}, 1);
	submit_some(rt, c, TASKS);
	drive(rt, (unsigned[]){OTHER_PAIR, 0, 1}, 3);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt) & (3u | 1u << OTHER_PAIR), 3u | 1u << OTHER_PAIR);
	finish(rt);
}

/* The worker of some tasks retires while they wait for it, behind others that anybody can run. */
static void stuck_tasks_wait_for_their_worker(const struct heddle_policy *policy)
{
	heddle_runtime *rt = begin(policy->name);
	heddle_codelet *c = task_of(rt);
	for (unsigned i = 0; i < 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(1)));
	submit_some(rt, c, 50);
	drive(rt, singles, 4);
	drive(rt, pairs, 2);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("waits for a worker that is retired, such as single1");
	assert_int_equal(rt->count.ready, 0);
	assert_ok(heddle_selfcheck(rt));
	drive(rt, mixed, 3);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	drive(rt, singles, 4);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

/* Nobody would find them. */
static void stuck_tasks_can_be_cancelled(const struct heddle_policy *policy)
{
	heddle_runtime *rt = begin(policy->name);
	heddle_codelet *c = task_of(rt);
	heddle_group *group;
	assert_ok(heddle_group_create(rt, &group));
	for (unsigned i = 0; i < 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(1), heddle_in_group(group)));
	drive(rt, singles, 4);
	drive(rt, pairs, 2);
	assert_true(heddle_group_cancel(group) >= 90);
	assert_int_equal(heddle_group_wait(group), HEDDLE_E_CANCELLED);
	heddle_group_free(group);
	heddle_wait_all(rt);
	finish(rt);
}

/* Each policy of the library. */
static void with_each(void (*test)(const struct heddle_policy *))
{
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++)
		test(all[i]);
	free(all);
}

static void each_runs_tasks_of_another_cluster_set(void **state)
{
	(void)state;
	with_each(tasks_of_one_cluster_set_run_on_another);
	with_each(cores_come_and_go);
}

static void each_policy_leaves_tasks_of_retired_workers_to_these_workers(void **state)
{
	(void)state;
	with_each(stuck_tasks_wait_for_their_worker);
}

static void stuck_tasks_of_each_can_be_cancelled(void **state)
{
	(void)state;
	with_each(stuck_tasks_can_be_cancelled);
}

/* --- Policies that place tasks ------------------------------------------------------------------------------------ */

static const char *const placing[] = {"dm", "dmda", "dmdar", "dmdas", "heft", "dada", "random"};

/* Of many tasks that are placed for workers which retire, the change itself moves a few; the others follow when workers
 * have nothing else to do. */
static void few_tasks_are_placed_anew_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof placing / sizeof *placing; i++) {
		heddle_runtime *rt = begin(placing[i]);
		submit_some(rt, task_of(rt), TASKS);
		drive(rt, singles, 4);
		assert_true(n_placed(rt) == TASKS);
		drive(rt, all_cores, 1);
		double first = n_placed(rt);
		assert_true(first > TASKS && first <= TASKS + 32);
		assert_ok(heddle_wait_all(rt));
		assert_true(n_placed(rt) > first);
		assert_int_equal(who_ran(rt) >> ALL & 1, 1);
		finish(rt);
	}
}

/* The tasks of one core, when three others join it: a few are placed anew at once, others when the new cores have
 * nothing to do, so that each runs its part. No task that has come back is placed twice. */
static void new_cores_get_their_share(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof placing / sizeof *placing; i++) {
		heddle_runtime *rt = begin(placing[i]);
		unsigned n[N_OVERLAPPING];
		drive(rt, singles, 1);
		submit_some(rt, task_of(rt), TASKS);
		drive(rt, singles, 1);
		double born = rt->sched.born;
		drive(rt, singles, 4);
		double first = n_placed(rt);
		assert_true(first > TASKS && first <= TASKS + 32);
		assert_ok(heddle_wait_all(rt));
		assert_true(rt->sched.born == born);
		assert_true(n_placed(rt) > first && n_placed(rt) <= 2 * TASKS);
		count_runs(rt, n);
		unsigned off = strcmp(placing[i], "random") == 0 ? 10 : 2;
		for (unsigned w = 0; w < 4; w++)
			assert_in_range(n[w], TASKS / 4 - off, TASKS / 4 + off);
		finish(rt);
	}
}

/* What urgent tasks worker 0 has, nobody else can run; one of them begins a chain on worker 1. Returns when all have
 * ended, us; `more`: two cores join the two while the tasks are queued. */
static double end_of_chain(const char *policy, int more)
{
	heddle_runtime *rt = begin(policy);
	heddle_codelet *c = task_of(rt);
	heddle_data *d;
	struct heddle_stats stats;
	drive(rt, singles, 2);
	assert_ok(heddle_vector(rt, NULL, 1, 8, &d));
	for (int i = 0; i < 100; i++)
		assert_ok(i == 1 ? heddle_submit(rt, heddle_call(c), heddle_w(d), heddle_on(0))
		                 : heddle_submit(rt, heddle_call(c), heddle_on(0)));
	for (int i = 0; i < 90; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(1)));
	drive(rt, singles, 2); /* no change; what was submitted enters */
	if (more)
		drive(rt, singles, 4);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	finish(rt);
	return stats.makespan;
}

/* Tasks that come back to be shared, and stay where they were, do not come behind less urgent ones. */
static void new_cores_reverse_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof placing / sizeof *placing; i++)
		assert_true(end_of_chain(placing[i], 1) <= end_of_chain(placing[i], 0));
}

/* What new cores were to get, fewer cores need not get. */
static void nothing_is_shared_with_fewer_cores(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof placing / sizeof *placing; i++) {
		heddle_runtime *rt = begin(placing[i]);
		drive(rt, singles, 1);
		submit_some(rt, task_of(rt), TASKS);
		drive(rt, singles, 1);
		drive(rt, singles, 4);
		assert_true(rt->dispatch.to_share > 0);
		drive(rt, singles, 4); /* no change: the new ones stay new */
		assert_true(rt->dispatch.to_share > 0 && rt->workers[1].joined && !rt->workers[0].joined);
		drive(rt, singles, 2);
		assert_int_equal(rt->dispatch.to_share, 0);
		assert_ok(heddle_wait_all(rt));
		finish(rt);
	}
}

/* No worker is driven, so none finds that it has nothing to do. */
static void nobody_is_driven(const struct heddle_policy *policy)
{
	heddle_runtime *rt = begin(policy->name);
	submit_some(rt, task_of(rt), TASKS);
	drive(rt, singles, 4);
	drive(rt, NULL, 0);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("waits for a worker that is retired");
	assert_int_equal(rt->count.ready, 0);
	drive(rt, all_cores, 1);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

static void all_workers_may_retire(void **state)
{
	(void)state;
	with_each(nobody_is_driven);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_runs_tasks_of_another_cluster_set),
	    cmocka_unit_test(each_policy_leaves_tasks_of_retired_workers_to_these_workers),
	    cmocka_unit_test(stuck_tasks_of_each_can_be_cancelled),
	    cmocka_unit_test(few_tasks_are_placed_anew_at_once),
	    cmocka_unit_test(new_cores_get_their_share),
	    cmocka_unit_test(new_cores_reverse_nothing),
	    cmocka_unit_test(nothing_is_shared_with_fewer_cores),
	    cmocka_unit_test(all_workers_may_retire),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
