/* Tiny tasks that a worker takes several at a time: never so that others have to wait for a long one among them. */
#include "program.h"

enum { WARM = 20000, LONG = 8, MAX_NOTED = 64 };

/* Who ran, in order. */
struct notes {
	atomic_int n;
	int who[MAX_NOTED];
};

static int note(heddle_context *c)
{
	struct notes *notes = pointer_value(c);
	int i = notes->n++;
	if (i < MAX_NOTED)
		notes->who[i] = heddle_get(c, 1, int);
	return 0;
}

static double ten_ms(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10000;
}

/* Runs so many tiny tasks that the typical time of their codelet is known to be tiny. */
static void run_tiny_tasks(heddle_runtime *rt)
{
	heddle_codelet *tiny = heddle_codelet_new(rt, .name = "tiny", .cpu = nothing);
	for (int i = 0; i < WARM; i++)
		assert_ok(heddle_submit(rt, heddle_call(tiny)));
	assert_ok(heddle_wait_all(rt));
}

/* One worker; tasks that become ready together, each with an urgent successor: their ends are told one by one, so that
 * the order is task, successor, task, successor. */
static void ends_are_told_one_by_one(enum heddle_model_kind model)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.sched = "prio";
	heddle_runtime *rt = start_with(&config);
	run_tiny_tasks(rt);
	heddle_codelet *task = heddle_codelet_new(rt, .name = "task", .cpu = note, .model = model, .time = ten_ms);
	heddle_codelet *successor = heddle_codelet_new(rt, .name = "successor", .cpu = note);
	struct notes notes = {0}, *noted = &notes;
	long x[LONG + 1];
	heddle_data *d[LONG + 1];
	for (int i = 0; i <= LONG; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	assert_ok(heddle_acquire(d[LONG], HEDDLE_RW));
	for (int i = 0, who; i < LONG; i++) {
		who = 2 * i;
		assert_ok(heddle_submit(rt, heddle_call(task), heddle_r(d[LONG]), heddle_w(d[i]), heddle_value(noted),
		                        heddle_value(who)));
		who++;
		assert_ok(heddle_submit(rt, heddle_call(successor), heddle_r(d[i]), heddle_value(noted),
		                        heddle_value(who), heddle_priority(1)));
	}
	assert_ok(heddle_release(d[LONG]));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(notes.n, 2 * LONG);
	int first = model == HEDDLE_MODEL_GIVEN ? 2 * LONG : 2; /* later they are known to be tiny */
	for (int i = 0; i < first; i++)
		assert_int_equal(notes.who[i], i);
	assert_ok(heddle_stop(rt));
}

static void tasks_that_a_model_says_are_long_are_not_batched(void **state)
{
	(void)state;
	ends_are_told_one_by_one(HEDDLE_MODEL_GIVEN);
}

static void tasks_that_have_never_run_are_not_batched(void **state)
{
	(void)state;
	ends_are_told_one_by_one(HEDDLE_MODEL_NONE);
}

/* --- Tiny tasks before a long one --------------------------------------------------------------------------------- */

/* Waits for all successors of the tiny tasks. */
static int be_long(heddle_context *c)
{
	wait_for(pointer_value(c), heddle_get(c, 1, int));
	return 0;
}

/* All are ready together, the long one last, or in their midst: were it in one batch with some of the tiny ones, these
 * would not be seen to have ended, and their successors, for which it waits, would never run. */
static void batch_ends_before_a_long_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cpus(small_config(), 2); /* the other one runs the successors */
	run_tiny_tasks(rt);
	heddle_codelet *tiny = heddle_codelet_new(rt, .name = "tiny", .cpu = nothing);
	heddle_codelet *successor = heddle_codelet_new(rt, .name = "successor", .cpu = count_up);
	heddle_codelet *longer =
	    heddle_codelet_new(rt, .name = "long", .cpu = be_long, .model = HEDDLE_MODEL_GIVEN, .time = ten_ms);
	long x[LONG + 1];
	heddle_data *d[LONG + 1];
	for (int i = 0; i <= LONG; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	for (int round = 0; round < 20; round++) {
		atomic_int n = 0, *counted = &n;
		const int all = LONG;
		assert_ok(heddle_acquire(d[LONG], HEDDLE_RW));
		for (int i = 0; i < LONG; i++) {
			assert_ok(heddle_submit(rt, heddle_call(tiny), heddle_r(d[LONG]), heddle_w(d[i])));
			if (i == round % LONG)
				assert_ok(heddle_submit(rt, heddle_call(longer), heddle_r(d[LONG]),
				                        heddle_value(counted), heddle_value(all)));
		}
		for (int i = 0; i < LONG; i++)
			assert_ok(heddle_submit(rt, heddle_call(successor), heddle_r(d[i]), heddle_value(counted)));
		assert_ok(heddle_release(d[LONG]));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_that_a_model_says_are_long_are_not_batched),
	    cmocka_unit_test(tasks_that_have_never_run_are_not_batched),
	    cmocka_unit_test(batch_ends_before_a_long_task),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
