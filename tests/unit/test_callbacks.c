/* Callbacks: those that submit the next one, and one that ends the handle it was released for. */
#include "program.h"

static void unregister_in_callback(void *arg, int status)
{
	struct other *o = arg;
	o->status = status ? status : heddle_unregister_async(o->data);
}

/* The thread that releases the datum runs the callback itself, and the handle is gone when it comes back. */
static void callback_run_by_release_may_end_the_handle(void **state)
{
	struct other o = {.rt = start_where(*state)};
	heddle_data *other;
	long x = 0;
	assert_ok(heddle_variable(o.rt, &x, sizeof x, &other));
	for (int i = 0; i < 20; i++) {
		assert_ok(heddle_variable(o.rt, &o.value, sizeof o.value, &o.data));
		assert_ok(heddle_acquire(o.data, HEDDLE_RW));
		assert_ok(heddle_submit(o.rt, heddle_r(o.data), heddle_then(unregister_in_callback, &o)));
		assert_ok(heddle_acquire(other, HEDDLE_R)); /* the task is in the graph now, not on its way */
		assert_ok(heddle_release(other));
		assert_ok(heddle_release(o.data));
		assert_ok(heddle_wait_all(o.rt));
		assert_ok(o.status);
	}
	assert_ok(heddle_stop(o.rt));
}

/* A callback that submits the next one, to another runtime or to the same. */
struct chain {
	heddle_runtime *rt[2];
	atomic_int left, deepest;
};

static void submit_next(void *arg, int status)
{
	static _Thread_local int depth;
	struct chain *chain = arg;
	(void)status;
	if (++depth > chain->deepest)
		chain->deepest = depth;
	int left = chain->left--;
	if (left > 0)
		heddle_submit(chain->rt[left % 2], heddle_then(submit_next, chain));
	depth--;
}

/* The chain is so long that the workers fall asleep: then no task stays in the ring. */
enum { CHAIN_LENGTH = 50000 };

static void chain_of_callbacks_does_not_nest(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	struct chain chain = {.rt = {rt, rt}, .left = CHAIN_LENGTH};
	assert_ok(heddle_submit(rt, heddle_then(submit_next, &chain)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(chain.left, -1);
	assert_int_equal(chain.deepest, 1);
	assert_ok(heddle_stop(rt));
}

static void callbacks_between_two_runtimes_nest_at_most_two_deep(void **state)
{
	(void)state;
	struct chain chain = {.rt = {start(), start()}, .left = CHAIN_LENGTH};
	assert_ok(heddle_submit(chain.rt[0], heddle_then(submit_next, &chain)));
	for (int left = 0; left >= 0;) { /* once more after the last has begun: others may still be submitting */
		left = chain.left;
		for (int i = 0; i < 2; i++)
			assert_ok(heddle_wait_all(chain.rt[i]));
	}
	assert_in_range(chain.deepest, 1, 2);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_stop(chain.rt[i]));
}

int main(void)
{
	static char simulated[] = "gpu1-cpu6";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(callback_run_by_release_may_end_the_handle, NULL),
	    cmocka_unit_test_prestate(callback_run_by_release_may_end_the_handle, simulated),
	    cmocka_unit_test(chain_of_callbacks_does_not_nest),
	    cmocka_unit_test(callbacks_between_two_runtimes_nest_at_most_two_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
