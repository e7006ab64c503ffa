/* While a task writes a datum, no copy of it is made. */
#include "internals.h"
#include "list_policy.h"
#include "program.h"

enum { ON_FIRST_GPU = 20, NODE_OF_SECOND_GPU = 2 }; /* of haswell-k40m: 20 CPU cores, then the GPUs */

/* A policy that fetches the data of every task that begins to the second GPU, whatever the task does with them. */
static void guesser_started(void *state, heddle_task *t, unsigned worker)
{
	(void)state;
	(void)worker;
	heddle_task_prefetch(t, NODE_OF_SECOND_GPU);
}

static const struct heddle_policy guesser = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "guesser",
                                             .summary = "fetches what is being written",
                                             .source = "this test",
                                             .create = list_create,
                                             .destroy = list_destroy,
                                             .ready = list_ready,
                                             .pick = list_pick,
                                             .started = guesser_started};

static double a_second(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1e6;
}

static void datum_that_is_being_written_is_not_fetched(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&guesser));
	struct heddle_config config = small_config();
	config.platform = "haswell-k40m";
	config.sched = "guesser";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *slow = heddle_codelet_new(rt, .name = "slow", .cpu = nothing, .cuda = nothing,
	                                          .model = HEDDLE_MODEL_GIVEN, .time = a_second);
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 1000, sizeof(double), &d));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(slow), heddle_rw(d), heddle_on(ON_FIRST_GPU)));
	assert_ok(heddle_wait_all(rt));
	assert_true(heddle_data_valid_on(d, 1));
	assert_false(heddle_data_valid_on(d, NODE_OF_SECOND_GPU)); /* it would be an old value */
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.prefetches, 2); /* after each of the tasks */
	assert_int_equal(stats.transfers, 2);  /* the first one to its worker, and the copy of what it wrote */
	assert_int_equal(d->n_writers, 0);
	assert_ok(heddle_stop(rt));
}

/* Two contributions of a worker to one reduction are staged at once and use the same private copy: it is written until
 * both have ended. */
static void copy_is_written_until_its_last_user_has_ended(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = "haswell-k40m";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *slow = heddle_codelet_new(rt, .name = "slow", .cpu = nothing, .cuda = nothing,
	                                          .model = HEDDLE_MODEL_GIVEN, .time = a_second);
	heddle_data *d;
	heddle_task *tasks[2];
	assert_ok(heddle_vector(rt, NULL, 1000, sizeof(double), &d));
	assert_ok(heddle_data_set_reduction(d, slow, slow));
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(slow), heddle_redux(d), heddle_on(ON_FIRST_GPU),
		                        heddle_out(&tasks[i])));
	assert_ok(heddle_task_wait(tasks[0]));
	assert_non_null(d->extra->privates);
	assert_int_equal(d->extra->privates->copy->n_writers, 1);
	assert_ok(heddle_task_wait(tasks[1]));
	assert_int_equal(d->extra->privates->copy->n_writers, 0);
	for (int i = 0; i < 2; i++)
		heddle_task_release(tasks[i]);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(datum_that_is_being_written_is_not_fetched),
	    cmocka_unit_test(copy_is_written_until_its_last_user_has_ended),
	};
	return cmocka_run_group_tests_name("write lock", tests, NULL, NULL);
}
