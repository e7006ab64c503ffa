/* What goes wrong only with thousands of a thing: tasks that wait for the same, callbacks that submit callbacks. */
#include <pthread.h>
#include "program.h"

/* --- Tokens ------------------------------------------------------------------------------------------------------- */

enum { N_COMMUTING = 10000 };

/* Tasks that commute on two data and note the order in which they run. */
struct commuting {
	heddle_runtime *rt;
	long order[N_COMMUTING], n;
};

static int note_order(heddle_context *c)
{
	struct commuting *s = pointer_value(c);
	s->order[s->n++] = heddle_get(c, 1, long);
	return 0;
}

static void *wait_for_all(void *arg)
{
	struct commuting *s = arg;
	return heddle_wait_all(s->rt) ? s : NULL;
}

/* The first one gives up one datum while it still has the other: all that wait for it then wait for the other
 * instead. */
static void thousands_may_wait_for_two_tokens_on_a_small_stack(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.window = 0;
	static struct commuting s, *scene = &s;
	s = (struct commuting){.rt = start_with(&config)};
	heddle_codelet *note = heddle_codelet_new(s.rt, .name = "note", .cpu = note_order);
	heddle_data *a, *b;
	long x = 0, y = 0;
	assert_ok(heddle_variable(s.rt, &x, sizeof x, &a));
	assert_ok(heddle_variable(s.rt, &y, sizeof y, &b));
	for (long i = 0; i < N_COMMUTING; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(note), heddle_commute(a), heddle_commute(b),
		                        heddle_value(scene), heddle_value(i)));
	pthread_t thread;
	pthread_attr_t small;
	void *failed;
	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, 1 << 18), 0);
	assert_int_equal(pthread_create(&thread, &small, wait_for_all, &s), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(s.n, N_COMMUTING);
	for (long i = 0; i < N_COMMUTING; i++)
		assert_int_equal(s.order[i], i);
	assert_int_equal(pthread_attr_destroy(&small), 0);
	assert_ok(heddle_stop(s.rt));
}

/* --- Callbacks ---------------------------------------------------------------------------------------------------- */

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

/* So long that the workers fall asleep: then nothing stays in an inbox. */
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

static void callbacks_between_two_runtimes_nest_no_deeper_than_those_are_many(void **state)
{
	(void)state;
	struct chain chain = {.rt = {start(), start()}, .left = CHAIN_LENGTH};
	assert_ok(heddle_submit(chain.rt[0], heddle_then(submit_next, &chain)));
	while (chain.left >= 0)
		for (int i = 0; i < 2; i++)
			assert_ok(heddle_wait_all(chain.rt[i]));
	assert_in_range(chain.deepest, 1, 2);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_stop(chain.rt[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(thousands_may_wait_for_two_tokens_on_a_small_stack),
	    cmocka_unit_test(chain_of_callbacks_does_not_nest),
	    cmocka_unit_test(callbacks_between_two_runtimes_nest_no_deeper_than_those_are_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
