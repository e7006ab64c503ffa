/* The clock: of a runtime in virtual time, and as policies see it. */
#include <pthread.h>
#include "program.h"

struct watched {
	heddle_runtime *rt;
	atomic_int stop, backwards;
};

static void *read_the_clock(void *arg)
{
	struct watched *w = arg;
	double last = 0;
	while (!w->stop) {
		double now = heddle_now(w->rt);
		w->backwards += now < last;
		last = now;
	}
	return NULL;
}

/* Under ThreadSanitizer: virtual time is changed by one thread and read by another. */
static void virtual_time_can_be_read_while_it_passes(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = "haswell-k40m";
	struct watched w = {.rt = start_with(&config)};
	heddle_codelet *codelet =
	    heddle_codelet_new(w.rt, .name = "ten", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	pthread_t reader;
	assert_int_equal(pthread_create(&reader, NULL, read_the_clock, &w), 0);
	for (int i = 0; i < 2000; i++)
		assert_ok(heddle_submit(w.rt, heddle_call(codelet)));
	assert_ok(heddle_wait_all(w.rt));
	w.stop = 1;
	pthread_join(reader, NULL);
	assert_int_equal(w.backwards, 0);
	assert_ok(heddle_stop(w.rt));
}

/* --- A policy that looks at the clock whenever it is called ------------------------------------------------------- */

struct timekeeper {
	heddle_sched *sched;
	heddle_task *top;
	double last;
};
static atomic_int went_back;

static void look(struct timekeeper *k)
{
	double now = heddle_sched_now(k->sched);
	went_back += now < k->last;
	k->last = now;
}

static int timekeeper_create(heddle_sched *sched, void **state)
{
	struct timekeeper *k = calloc(1, sizeof *k);
	if (!k)
		return HEDDLE_E_MEMORY;
	k->sched = sched;
	*state = k;
	return 0;
}

static void timekeeper_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct timekeeper *k = state;
	(void)releaser;
	look(k);
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = k->top;
		k->top = batch[i];
	}
}

static heddle_task *timekeeper_pick(void *state, unsigned worker)
{
	struct timekeeper *k = state;
	(void)worker;
	look(k);
	heddle_task *t = k->top;
	if (t)
		k->top = heddle_task_link(t)->next;
	return t;
}

static void timekeeper_done(void *state, heddle_task *task, unsigned worker)
{
	(void)task;
	(void)worker;
	look(state);
}

static const struct heddle_policy timekeeper = {.abi = HEDDLE_POLICY_ABI,
                                                .name = "timekeeper",
                                                .summary = "looks at the clock",
                                                .source = "this test",
                                                .create = timekeeper_create,
                                                .destroy = free,
                                                .ready = timekeeper_ready,
                                                .pick = timekeeper_pick,
                                                .done = timekeeper_done};

/* Threads read the clock before they take the lock, and a worker that has run several tasks reports when each ended. */
static void time_never_goes_back_for_a_policy(void **state)
{
	(void)state;
	assert_ok(heddle_policy_register(&timekeeper));
	struct heddle_config config = small_config();
	config.n_cpu = -1;
	config.sched = "timekeeper";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	for (int i = 0; i < 200000; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(went_back, 0);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(virtual_time_can_be_read_while_it_passes),
	    cmocka_unit_test(time_never_goes_back_for_a_policy),
	};
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
