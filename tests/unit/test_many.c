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

/* --- Data that the program leaves to heddle_stop ------------------------------------------------------------------ */

/* The program's data are older than the temporaries, some of them acquired: were each looked for from the newest on, this
 * would take minutes. */
static void stop_takes_time_in_proportion_to_the_data_left(void **state)
{
	(void)state;
	enum { N_LEFT = 100000 };
	heddle_runtime *rt = start();
	long *x = calloc(N_LEFT, sizeof *x);
	assert_non_null(x);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	for (int i = 0; i < N_LEFT; i++) {
		heddle_data *d;
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d));
		if (i % 1000 == 0)
			assert_ok(heddle_acquire(d, HEDDLE_R));
		if (i % 100 == 0)
			assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d)));
	}
	for (int i = 0; i < N_LEFT; i++)
		assert_ok(heddle_variable(rt, NULL, sizeof(long), &(heddle_data *){NULL}));
	assert_ok(heddle_stop(rt));
	for (int i = 0; i < N_LEFT; i++)
		assert_int_equal(x[i], i % 100 == 0);
	free(x);
}

static void stop_puts_pieces_of_pieces_together(void **state)
{
	(void)state;
	enum { N = 64 };
	heddle_runtime *rt = start();
	long x[N] = {0};
	heddle_data *whole;
	assert_ok(heddle_vector(rt, x, N, sizeof x[0], &whole));
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = increment);
	struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_data *d = whole;
	for (int n = N; n > 1; n /= 2) { /* the second half of the second half, and so on */
		assert_ok(heddle_partition(d, &halves, NULL));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(heddle_child(d, 0))));
		d = heddle_child(d, 1);
	}
	assert_ok(heddle_stop(rt));
	long sum = 0;
	for (int i = 0; i < N; i++)
		sum += x[i];
	assert_int_equal(sum, 6);
	assert_int_equal(x[0] + x[32] + x[48] + x[56] + x[60] + x[62], 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(thousands_may_wait_for_two_tokens_on_a_small_stack),
	    cmocka_unit_test(chain_of_callbacks_does_not_nest),
	    cmocka_unit_test(stop_takes_time_in_proportion_to_the_data_left),
	    cmocka_unit_test(stop_puts_pieces_of_pieces_together),
	    cmocka_unit_test(callbacks_between_two_runtimes_nest_no_deeper_than_those_are_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
