/* Policies of the program: what they hear; and when they do what a policy must not do, an error that names them, where
 * the core would trust a shipped one. */
#include <malloc.h>
#include "list_policy.h"
#include "program.h"

enum manner { HONEST, GIVES_TWICE, IGNORES_CAN_RUN, FAILS_WITH_MINUS_1, FAILS_WITH_3, FAILS_WITH_REASON };

/* For the policy below, which has no other way to hear of it; set while there is no runtime. */
static enum manner manner;
static atomic_int n_done, runs[2];

enum { MANY = 100 };
struct careless {
	heddle_task *queue[MANY], *given;
	int n;
};

static int careless_create(heddle_sched *sched, void **state)
{
	if (manner == FAILS_WITH_MINUS_1)
		return -1;
	if (manner == FAILS_WITH_3)
		return 3;
	if (manner == FAILS_WITH_REASON)
		return heddle_sched_fail(sched, HEDDLE_E_MEMORY, "no room for %d thoughts", 42);
	*state = calloc(1, sizeof(struct careless));
	return *state ? 0 : HEDDLE_E_MEMORY;
}

static void careless_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct careless *s = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++)
		s->queue[s->n++] = batch[i];
}

/* First in, first out; from worker 0 alone. */
static heddle_task *careless_pick(void *state, unsigned worker)
{
	struct careless *s = state;
	if (worker != 0)
		return NULL;
	if (manner == GIVES_TWICE && s->given) {
		heddle_task *again = s->given;
		s->given = NULL;
		manner = HONEST;
		return again;
	}
	if (s->n == 0 || (manner == HONEST && !heddle_task_can_run(s->queue[0], worker)))
		return NULL;
	s->given = s->queue[0];
	memmove(s->queue, s->queue + 1, (size_t)--s->n * sizeof s->queue[0]);
	return s->given;
}

static void careless_done(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	(void)task;
	(void)worker;
	n_done++;
}

static const struct heddle_policy careless = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "careless",
                                              .summary = "errs",
                                              .source = "this test",
                                              .create = careless_create,
                                              .destroy = free,
                                              .ready = careless_ready,
                                              .pick = careless_pick,
                                              .done = careless_done};

static int count_run(heddle_context *c)
{
	runs[heddle_context_worker(c)]++;
	return 0;
}

/* `platform`: NULL for threads. */
static heddle_runtime *start_careless(const char *platform, enum manner how, heddle_codelet **codelet)
{
	assert_ok(heddle_policy_register(&careless));
	struct heddle_config config = small_config();
	config.sched = "careless";
	config.platform = platform;
	manner = how;
	n_done = runs[0] = runs[1] = 0;
	heddle_runtime *rt = platform ? start_with(&config) : start_cpus(config, 2);
	*codelet =
	    heddle_codelet_new(rt, .name = "count", .cpu = count_run, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	assert_non_null(*codelet);
	return rt;
}

static void task_given_twice_runs_once_and_is_reported(void **state)
{
	heddle_codelet *codelet;
	heddle_runtime *rt = start_careless(*state, GIVES_TWICE, &codelet);
	struct heddle_stats stats;
	heddle_task *t; /* while the program has it, its memory is no other task's */
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&t)));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_STATE);
	assert_says("policy careless");
	assert_says("count (task 0), which is not ready");
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, 3);
	assert_int_equal(stats.tasks_failed, 0);
	assert_int_equal(n_done, 3);
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_wait_all(rt)); /* reported once */
	assert_ok(heddle_stop(rt));
}

static void task_given_to_a_worker_that_cannot_run_it_fails(void **state)
{
	heddle_codelet *codelet;
	heddle_runtime *rt = start_careless(*state, IGNORES_CAN_RUN, &codelet);
	struct heddle_stats stats;
	heddle_task *misplaced, *reader;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d), heddle_on(1), heddle_named("misplaced"),
	                        heddle_out(&misplaced)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_out(&reader)));
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_STATE);
	assert_says("policy careless");
	assert_says("misplaced");
	assert_says("cannot run");
	assert_int_equal(heddle_task_wait(misplaced), HEDDLE_E_STATE);
	assert_says("careless");
	assert_int_equal(heddle_task_wait(reader), HEDDLE_E_CANCELLED);
	assert_int_equal(runs[1], 0);
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, 1);
	assert_int_equal(n_done, 2);
	heddle_task_release(misplaced);
	heddle_task_release(reader);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

/* The kernel of a worker of another kind, which does not exist. */
static void task_given_to_a_worker_without_its_kernel_fails(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&careless));
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.sched = "careless";
	manner = IGNORES_CAN_RUN;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "elsewhere", .emulated = nothing);
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_STATE);
	assert_says("elsewhere");
	assert_ok(heddle_stop(rt));
}

static void policy_that_cannot_be_made_says_why(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = NULL;
	assert_ok(heddle_policy_register(&careless));
	assert_null(heddle_codelet_new(NULL, .name = "stale")); /* leaves a message of its own */
	config.sched = "careless";
	manner = FAILS_WITH_MINUS_1;
	assert_int_equal(heddle_start(&config, &rt), -1);
	assert_says("policy careless could not be made: its create returned -1");
	manner = FAILS_WITH_3;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_INVALID);
	assert_says("policy careless could not be made: its create returned 3");
	manner = FAILS_WITH_REASON;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_MEMORY);
	assert_says("no room for 42 thoughts");
	assert_null(rt);
}

static int cannot_unpack(void **object, const void *buffer, size_t size)
{
	(void)object;
	(void)buffer;
	(void)size;
	return -1;
}
static void destroy_nothing(void *object)
{
	(void)object;
}
static const struct heddle_type stubborn = {
    .name = "stubborn", .size = one_byte, .pack = pack_nothing, .unpack = cannot_unpack, .destroy = destroy_nothing};

static const struct heddle_policy counting = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "counting",
                                              .summary = "counts",
                                              .source = "this test",
                                              .create = list_create,
                                              .destroy = list_destroy,
                                              .ready = list_ready,
                                              .pick = list_pick,
                                              .done = careless_done};

static void every_picked_task_is_reported_done(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&counting));
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.sched = "counting";
	n_picked = n_done = 0;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	unsigned last = (unsigned)heddle_runtime_platform(rt)->n_workers - 1; /* the accelerator */
	heddle_data *d;
	int object = 0;
	assert_ok(heddle_object(rt, &object, &stubborn, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_on(last)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_on(0)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("type stubborn: packing or unpacking failed");
	assert_int_equal(n_picked, 2);
	assert_int_equal(n_done, 2);
	assert_ok(heddle_stop(rt));
}

/* What the core does not set in a new task must not be looked at: memory need not be 0. */
static void tasks_in_memory_that_was_used_before_are_taken(void **state)
{
	heddle_codelet *codelet;
	mallopt(M_PERTURB, 0x55);
	heddle_runtime *rt = start_careless(*state, HONEST, &codelet);
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	int status = heddle_wait_all(rt);
	mallopt(M_PERTURB, 0);
	assert_ok(status);
	assert_int_equal(n_done, 10);
	assert_ok(heddle_stop(rt));
}

static heddle_sched *regrouping;

static int regrouping_create(heddle_sched *sched, void **state)
{
	regrouping = sched;
	return list_create(sched, state);
}

/* Puts each worker into a group of its own, too late: some are in the list of group 0 already. */
static void regrouping_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	for (unsigned w = 0; w < heddle_sched_platform(regrouping)->n_workers; w++)
		heddle_sched_group(regrouping, w, w);
	list_ready(state, batch, n, releaser);
}

static const struct heddle_policy regrouper = {.abi = HEDDLE_POLICY_ABI,
                                               .name = "regrouper",
                                               .summary = "makes groups outside its create",
                                               .source = "this test",
                                               .create = regrouping_create,
                                               .destroy = list_destroy,
                                               .ready = regrouping_ready,
                                               .pick = list_pick};

static void groups_made_too_late_are_reported_and_change_nothing(void **state)
{
	assert_ok(heddle_policy_register(&regrouper));
	struct heddle_config config = small_config();
	config.sched = "regrouper";
	config.platform = *state;
	heddle_runtime *rt = *state ? start_with(&config) : start_cpus(config, 2);
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "nothing", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	struct heddle_stats stats;
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_STATE);
	assert_says("policy regrouper calls heddle_sched_group outside its create");
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, 10);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(task_given_twice_runs_once_and_is_reported, NULL),
	    cmocka_unit_test_prestate(task_given_twice_runs_once_and_is_reported, simulated),
	    cmocka_unit_test_prestate(task_given_to_a_worker_that_cannot_run_it_fails, NULL),
	    cmocka_unit_test_prestate(task_given_to_a_worker_that_cannot_run_it_fails, simulated),
	    cmocka_unit_test(task_given_to_a_worker_without_its_kernel_fails),
	    cmocka_unit_test(policy_that_cannot_be_made_says_why),
	    cmocka_unit_test(every_picked_task_is_reported_done),
	    cmocka_unit_test_prestate(tasks_in_memory_that_was_used_before_are_taken, NULL),
	    cmocka_unit_test_prestate(tasks_in_memory_that_was_used_before_are_taken, simulated),
	    cmocka_unit_test_prestate(groups_made_too_late_are_reported_and_change_nothing, NULL),
	    cmocka_unit_test_prestate(groups_made_too_late_are_reported_and_change_nothing, simulated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
