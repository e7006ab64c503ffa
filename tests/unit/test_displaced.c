/* Tasks that the policy has and no driven worker finds: when they are taken from it, and when it is left alone. */
#include <heddle/policy.h>
#include "internals.h"
#include "list_policy.h"
#include "overlapping.h"

static heddle_codelet *user(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "task", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                          .time = shared_evenly);
}

static void submit_some(heddle_runtime *rt, heddle_codelet *c, int n)
{
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
}

static void finish(heddle_runtime *rt)
{
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

/* --- Nothing moves ------------------------------------------------------------------------------------------------ */

static void count_figure(void *arg, const char *name, double value, const char *unit)
{
	(void)name;
	(void)value;
	(void)unit;
	++*(int *)arg;
}

static int n_figures(heddle_runtime *rt)
{
	int n = 0;
	assert_ok(heddle_policy_counts(rt, count_figure, &n));
	return n;
}

/* A policy that has no tasks goes on, with what it has counted, when nothing moves or tasks are cancelled. */
static void policies_without_tasks_go_on(void **state)
{
	struct heddle_config config = small_config();
	(void)state;
	config.sched = "autoheteroprio";
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_overlapping(&config, virtual_time, 0);
		heddle_codelet *c = user(rt);
		submit_some(rt, c, 20);
		assert_ok(heddle_wait_all(rt));
		drive(rt, pairs, 2);
		int n = n_figures(rt);
		assert_true(n > 0);
		assert_int_equal(heddle_cancel_all(rt), 0);
		assert_int_equal(n_figures(rt), n);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(0)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
		assert_int_equal(n_figures(rt), n);
		drive(rt, singles, 4);
		assert_ok(heddle_wait_all(rt));
		finish(rt);
	}
}

static int n_created;

static int create_and_count(heddle_sched *sched, void **out)
{
	first_ready = NULL;
	n_created++;
	return list_create(sched, out);
}

static const struct heddle_policy lasting = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "lasting",
                                             .summary = "goes on when others are driven",
                                             .source = "this test",
                                             .create = create_and_count,
                                             .destroy = list_destroy,
                                             .ready = list_ready,
                                             .pick = list_pick,
                                             .changed = list_destroy};

static void settle(heddle_runtime *rt)
{
	hd_core_enter(rt);
	hd_drain(rt);
	hd_core_settle(rt);
	hd_core_leave(rt);
}

/* Tasks that driven workers can run are cancelled: the policy goes on, and gives them to whoever asks. One that only a
 * retired worker can run would be given to nobody, so another instance is made. */
static void policies_go_on_unless_cancelled_tasks_are_stuck(void **state)
{
	struct heddle_config config = small_config();
	(void)state;
	assert_ok(heddle_policy_register(&lasting));
	config.sched = "lasting";
	for (int stuck = 0; stuck < 2; stuck++) {
		heddle_runtime *rt = start_overlapping(&config, 1, 0);
		heddle_codelet *c = user(rt);
		submit_some(rt, c, 4); /* one for each worker */
		settle(rt);
		if (stuck)
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(1)));
		submit_some(rt, c, 20);
		settle(rt);
		drive(rt, pairs, 2);
		n_created = 0;
		assert_true(heddle_cancel_all(rt) > 0);
		assert_int_equal(n_created, stuck);
		assert_ok(heddle_selfcheck(rt));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
		finish(rt);
	}
}

static heddle_event *event_of_task;
static atomic_int is_detached, may_end, has_begun;

static int detach(heddle_context *c)
{
	event_of_task = heddle_detach(c);
	is_detached = 1;
	return event_of_task ? 0 : -1;
}

static int wait_for_the_test(heddle_context *c)
{
	(void)c;
	has_begun = 1;
	wait_for(&may_end, 1);
	return 0;
}

/* Called after a while in which the waiting thread has found nothing to do. */
static int fulfil(void *arg)
{
	(void)arg;
	if (event_of_task)
		heddle_fulfill(event_of_task, 0);
	event_of_task = NULL;
	return 0;
}

/* How many tasks the policy has. */
static size_t n_ready(heddle_runtime *rt)
{
	hd_core_enter(rt);
	size_t n = rt->count.ready;
	hd_core_leave(rt);
	return n;
}

/* Nothing moves, but a task will end by an event: the policy keeps the tasks that only retired workers can run. */
static void a_wait_for_an_event_changes_nothing(void **state)
{
	enum { N_KEPT = 20 };
	struct heddle_config config = small_config();
	(void)state;
	config.sched = "eager";
	config.on_wait = fulfil;
	is_detached = may_end = has_begun = 0;
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *c = user(rt), *d = heddle_codelet_new(rt, .name = "detach", .cpu = detach),
	               *w = heddle_codelet_new(rt, .name = "wait", .cpu = wait_for_the_test);
	heddle_task *t;
	drive(rt, pairs, 2);
	assert_ok(heddle_submit(rt, heddle_call(d), heddle_on(OTHER_PAIR), heddle_out(&t)));
	assert_ok(heddle_submit(rt, heddle_call(w), heddle_on(PAIR)));
	wait_for(&is_detached, 1);
	wait_for(&has_begun, 1);
	for (int i = 0; i < N_KEPT; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(PAIR)));
	while (n_ready(rt) < N_KEPT) /* another thread may have been asked to make what was submitted known */
		sched_yield();
	drive(rt, singles, 4);
	may_end = 1;
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	assert_int_equal(n_ready(rt), N_KEPT);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("waits for a worker that is retired");
	drive(rt, pairs, 2);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

/* --- Tasks of workers that are out -------------------------------------------------------------------------------- */

/* A policy that does not ask which workers are driven: it places each task by its number. */
static struct {
	heddle_task *first[4];
} stubborn;

static int stubborn_create(heddle_sched *sched, void **state)
{
	(void)sched;
	stubborn.first[0] = stubborn.first[1] = stubborn.first[2] = stubborn.first[3] = NULL;
	*state = &stubborn;
	return 0;
}

static void stubborn_destroy(void *state)
{
	(void)state;
}

static void stubborn_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task **place = &stubborn.first[heddle_task_order(batch[i]) % 4];
		heddle_task_link(batch[i])->next = *place;
		*place = batch[i];
	}
}

static heddle_task *stubborn_pick(void *state, unsigned worker)
{
	(void)state;
	heddle_task *t = worker < 4 ? stubborn.first[worker] : NULL;
	if (t)
		stubborn.first[worker] = heddle_task_link(t)->next;
	return t;
}

static void policies_may_place_on_retired_workers(void **state)
{
	enum { TASKS = 1000 };
	static const struct heddle_policy policy = {.abi = HEDDLE_POLICY_ABI,
	                                            .name = "stubborn",
	                                            .summary = "by number",
	                                            .source = "this test",
	                                            .create = stubborn_create,
	                                            .destroy = stubborn_destroy,
	                                            .ready = stubborn_ready,
	                                            .pick = stubborn_pick,
	                                            .take_back = stubborn_pick};
	struct heddle_config config = small_config();
	(void)state;
	config.sched = policy.name;
	assert_ok(heddle_policy_register(&policy));
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		heddle_runtime *rt = start_overlapping(&config, virtual_time, 0);
		heddle_codelet *c = user(rt);
		for (int i = 0; i < TASKS; i++) {
			assert_ok(heddle_submit(rt, heddle_call(c)));
			if (i == TASKS / 2)
				drive(rt, singles, 1);
		}
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
		drive(rt, singles, 4);
		assert_ok(heddle_wait_all(rt));
		finish(rt);
	}
}

/* Many tasks that only retired workers can run, and behind them one for a worker that has nothing to do: it gets it,
 * though nobody waits, and not all in one critical section. */
static void many_that_only_retired_workers_can_run(void **state)
{
	enum { TASKS = 1000 };
	struct heddle_config config = small_config();
	(void)state;
	config.sched = "dm";
	is_detached = may_end = has_begun = 0;
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *c = user(rt), *w = heddle_codelet_new(rt, .name = "wait", .cpu = wait_for_the_test,
	                                                      .model = HEDDLE_MODEL_GIVEN, .time = shared_evenly);
	heddle_task *t;
	drive(rt, pairs, 1);
	assert_ok(heddle_submit(rt, heddle_call(w), heddle_on(PAIR)));
	wait_for(&has_begun, 1);
	for (int i = 0; i < TASKS; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(PAIR)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_out(&t)));
	settle(rt);
	hd_core_enter(rt);
	hd_workers_retire_others(rt, (const char[N_OVERLAPPING]){[2] = 1});
	hd_core_settle(rt);
	assert_true(rt->count.parked < TASKS / 2);
	hd_core_leave(rt);
	while (!heddle_task_done(t))
		sched_yield();
	heddle_task_release(t);
	may_end = 1;
	drive(rt, pairs, 2);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(policies_without_tasks_go_on),
	    cmocka_unit_test(policies_go_on_unless_cancelled_tasks_are_stuck),
	    cmocka_unit_test(a_wait_for_an_event_changes_nothing),
	    cmocka_unit_test(policies_may_place_on_retired_workers),
	    cmocka_unit_test(many_that_only_retired_workers_can_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
