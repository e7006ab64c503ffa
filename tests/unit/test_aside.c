/* Tasks that a policy gives to a worker whose kernel waits, and that the worker must not begin yet: other workers run
 * them. */
#include "internals.h"
#include "program.h"

/* The queue of the policy gives the worker whose kernel waits all that comes before the child. The child ends when a
 * worker of another kind has run what it can of that. */
enum { N_BEFORE = 20 };
struct before {
	heddle_runtime *rt;
	heddle_codelet *child;
	atomic_int held, submitted, gate, n_ended;
};

static int open_gate(heddle_context *c)
{
	struct before *b = heddle_get(c, 0, struct before *);
	b->gate = 1;
	wait_for(&b->n_ended, N_BEFORE);
	return 0;
}

static int hold(heddle_context *c)
{
	struct before *b = heddle_get(c, 0, struct before *);
	b->held = 1;
	wait_for(&b->gate, 1);
	return 0;
}

static int count_before(heddle_context *c)
{
	heddle_get(c, 0, struct before *)->n_ended++;
	return 0;
}

static int wait_for_opener(heddle_context *c)
{
	struct before *b = heddle_get(c, 0, struct before *);
	heddle_group *group = NULL;
	wait_for(&b->submitted, 1);
	heddle_group_create(b->rt, &group);
	heddle_submit(b->rt, heddle_call(b->child), heddle_on(0), heddle_value(b), heddle_in_group(group));
	int status = heddle_group_wait(group);
	heddle_group_free(group);
	return status;
}

/* First in, first out; counts what it hears of the tasks that it has given each worker. */
static struct hd_task_queue fifo;
static atomic_int n_given[2], n_started[2], n_done[2];

static int fifo_create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = NULL;
	fifo.first = NULL;
	return 0;
}

static void fifo_destroy(void *state)
{
	(void)state;
}

static void fifo_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)releaser;
	for (size_t i = 0; i < n; i++)
		hd_queue_push(&fifo, batch[i]);
}

static heddle_task *fifo_pick(void *state, unsigned worker)
{
	struct hd_task_queue others = fifo;
	heddle_task *found = NULL;
	(void)state;
	fifo.first = NULL;
	while (others.first) {
		heddle_task *t = hd_queue_pop(&others);
		if (!found && heddle_task_can_run(t, worker))
			found = t;
		else
			hd_queue_push(&fifo, t);
	}
	n_given[worker] += found != NULL;
	return found;
}

static void fifo_started(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	(void)task;
	n_started[worker]++;
}

static void fifo_done(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	(void)task;
	n_done[worker]++;
}

static const struct heddle_policy fifo_policy = {.abi = HEDDLE_POLICY_ABI,
                                                 .name = "fifo",
                                                 .summary = "the oldest task that the worker can run",
                                                 .source = "this test",
                                                 .create = fifo_create,
                                                 .destroy = fifo_destroy,
                                                 .ready = fifo_ready,
                                                 .pick = fifo_pick,
                                                 .started = fifo_started,
                                                 .done = fifo_done};

static void what_a_waiting_worker_was_given_is_for_workers_of_other_kinds_too(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	assert_ok(heddle_policy_register(&fifo_policy));
	config.sched = "fifo";
	config.n_cpu = config.n_emulated = 1;
	struct before before = {.rt = start_with(&config)}, *b = &before;
	b->child = heddle_codelet_new(b->rt, .name = "child", .cpu = open_gate);
	heddle_codelet *holds = heddle_codelet_new(b->rt, .name = "hold", .emulated = hold);
	heddle_codelet *waits = heddle_codelet_new(b->rt, .name = "waits", .cpu = wait_for_opener);
	heddle_codelet *here = heddle_codelet_new(b->rt, .name = "here", .cpu = nothing);
	heddle_codelet *both = heddle_codelet_new(b->rt, .name = "both", .cpu = count_before, .emulated = count_before);
	assert_ok(heddle_submit(b->rt, heddle_call(holds), heddle_value(b)));
	wait_for(&b->held, 1);
	assert_ok(heddle_submit(b->rt, heddle_call(waits), heddle_on(0), heddle_value(b)));
	for (int i = 0; i < N_BEFORE; i++) {
		assert_ok(heddle_submit(b->rt, heddle_call(here), heddle_on(0)));
		assert_ok(heddle_submit(b->rt, heddle_call(both), heddle_value(b)));
	}
	b->submitted = 1;
	assert_ok(heddle_wait_all(b->rt));
	assert_int_equal(b->n_ended, N_BEFORE);
	for (int w = 0; w < 2; w++) {
		assert_int_equal(n_started[w], n_given[w]);
		assert_int_equal(n_done[w], n_given[w]);
	}
	assert_ok(heddle_stop(b->rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_a_waiting_worker_was_given_is_for_workers_of_other_kinds_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
