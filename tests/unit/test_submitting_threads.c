/* Submission by several threads, and by kernels that run while their submitter waits for room. */
#include <pthread.h>
#include "program.h"

struct turns {
	heddle_runtime *rt;
	heddle_codelet *nothing, *times_ten_plus;
	heddle_data *data;
	atomic_int turn;
};

static void *submit_second(void *arg)
{
	struct turns *s = arg;
	const long digit = 2;
	int status = heddle_submit(s->rt, heddle_call(s->nothing));
	s->turn = 1;
	wait_for(&s->turn, 2);
	status |= heddle_submit(s->rt, heddle_call(s->times_ten_plus), heddle_rw(s->data), heddle_value(digit));
	s->turn = 3;
	return status ? s : NULL;
}

/* What one thread has submitted comes before what another submits afterwards, though the tasks of both
 * lie in the ring. */
static void tasks_of_two_threads_run_in_the_order_of_submission(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	heddle_runtime *rt = start_with(&config);
	struct turns s = {.rt = rt, .nothing = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing)};
	s.times_ten_plus = heddle_codelet_new(rt, .name = "digit", .cpu = times_ten_plus);
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	long x = 0;
	const long digit = 1;
	atomic_int gate = 0, *gate_address = &gate;
	pthread_t thread;
	void *failed;
	assert_ok(heddle_variable(rt, &x, sizeof x, &s.data));
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate_address)));
	assert_int_equal(pthread_create(&thread, NULL, submit_second, &s), 0);
	wait_for(&s.turn, 1);
	assert_ok(heddle_submit(rt, heddle_call(s.nothing)));
	assert_ok(heddle_submit(rt, heddle_call(s.times_ten_plus), heddle_rw(s.data), heddle_value(digit)));
	s.turn = 2;
	wait_for(&s.turn, 3);
	gate = 1;
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_ok(heddle_unregister(s.data));
	assert_int_equal(x, 12);
	assert_ok(heddle_stop(rt));
}

/* --- Many at once ------------------------------------------------------------------------------------------------- */

enum { THREADS = 50, ROUNDS = 4, OWN_TASKS = 30 };

struct crowd {
	heddle_runtime *rt;
	heddle_codelet *in_order;
	heddle_data *shared;
	atomic_int turn; /* how many tasks on `shared` have been submitted */
};

struct member {
	struct crowd *crowd;
	int id, status;
	long own; /* how many of its tasks on a datum of its own have run */
	heddle_data *data;
};

/* Fails unless it is the task whose turn it is. */
static int take_turn(heddle_context *c)
{
	long *turn = heddle_ptr(c, 0);
	return heddle_get(c, 0, long) == (*turn)++ ? 0
	                                           : heddle_fail(c, 1, "task %ld runs too early or too late", *turn);
}

static int submit_turn(struct crowd *crowd, heddle_data *data, const long turn)
{
	return heddle_submit(crowd->rt, heddle_call(crowd->in_order), heddle_rw(data), heddle_value(turn));
}

/* Each round: tasks on a datum of its own, at the same time as all other threads; then one on the shared datum, after
 * the submission of the thread before it has returned. */
static void *submit_rounds(void *arg)
{
	struct member *m = arg;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < OWN_TASKS; i++)
			m->status |= submit_turn(m->crowd, m->data, round * OWN_TASKS + i);
		const int turn = round * THREADS + m->id;
		wait_for(&m->crowd->turn, turn);
		m->status |= submit_turn(m->crowd, m->crowd->shared, turn);
		m->crowd->turn = turn + 1;
	}
	return NULL;
}

static void submit_all_at_once(const struct heddle_config *config)
{
	struct crowd crowd = {.rt = start_with(config)};
	crowd.in_order = heddle_codelet_new(crowd.rt, .name = "in order", .cpu = take_turn);
	long turns = 0;
	struct member members[THREADS];
	pthread_t threads[THREADS];
	assert_ok(heddle_variable(crowd.rt, &turns, sizeof turns, &crowd.shared));
	for (int i = 0; i < THREADS; i++) {
		members[i] = (struct member){.crowd = &crowd, .id = i};
		assert_ok(heddle_variable(crowd.rt, &members[i].own, sizeof(long), &members[i].data));
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_rounds, &members[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_ok(members[i].status);
	}
	assert_ok(heddle_wait_all(crowd.rt));
	assert_ok(heddle_selfcheck(crowd.rt));
	for (int i = 0; i < THREADS; i++) {
		assert_ok(heddle_unregister(members[i].data));
		assert_int_equal(members[i].own, ROUNDS * OWN_TASKS);
	}
	assert_ok(heddle_unregister(crowd.shared));
	assert_int_equal(turns, ROUNDS * THREADS);
	assert_ok(heddle_stop(crowd.rt));
}

/* Also with a window that all threads wait for, and with a worker that nobody drives while nobody waits. */
static void tasks_of_fifty_threads_run_in_the_order_of_submission(void **state)
{
	(void)state;
	static const int windows[] = {0, 1, 60};
	for (size_t i = 0; i < 2 * sizeof windows / sizeof *windows; i++) {
		struct heddle_config config = small_config();
		config.window = windows[i / 2];
		config.caller_works = (int)i % 2;
		submit_all_at_once(&config);
	}
}

struct spawner {
	heddle_codelet *count;
	atomic_int ran, spawn_at;
};

static int count_run(heddle_context *c)
{
	((struct spawner *)pointer_value(c))->ran++;
	return 0;
}

static int count_and_spawn(heddle_context *c)
{
	struct spawner *s = pointer_value(c);
	int status = 0;
	if (s->ran++ == s->spawn_at)
		for (int i = 0; i < 40; i++)
			status |= heddle_submit(heddle_context_runtime(c), heddle_call(s->count), heddle_value(s));
	return status;
}

/* The thread that waits for room runs kernels meanwhile, which submit, too. */
static void kernel_run_by_a_throttled_thread_may_submit(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.window = 200;
	for (int at = 0; at < 60; at++) {
		heddle_runtime *rt = start_with(&config);
		struct spawner s = {.count = heddle_codelet_new(rt, .name = "count", .cpu = count_run), .spawn_at = at},
		               *spawner = &s;
		heddle_codelet *spawn = heddle_codelet_new(rt, .name = "spawn", .cpu = count_and_spawn);
		for (int i = 0; i < 400; i++)
			assert_ok(heddle_submit(rt, heddle_call(spawn), heddle_value(spawner)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(s.ran, 440);
		assert_ok(heddle_stop(rt));
	}
}

/* --- A full window ------------------------------------------------------------------------------------------------ */

enum { WINDOW = 8, ROOM_AGAIN = WINDOW / 4 };

struct gate {
	atomic_int begun, open;
};

/* Says that it has begun, and lasts until its gate is open. */
static int stay_until_open(heddle_context *c)
{
	struct gate *gate = pointer_value(c);
	gate->begun = 1;
	wait_for(&gate->open, 1);
	return 0;
}

/* A thread that submits one task more than the window has room for. */
struct submitter {
	heddle_runtime *rt;
	heddle_codelet *stay;
	heddle_data *data;             /* what each task writes; NULL: nothing */
	struct gate gates[WINDOW + 1]; /* per task */
	atomic_int submitted;          /* calls that have returned */
};

static void *submit_one_too_many(void *arg)
{
	struct submitter *s = arg;
	int status = 0;
	for (int i = 0; i <= WINDOW; i++) {
		struct gate *gate = &s->gates[i];
		status |= s->data ? heddle_submit(s->rt, heddle_call(s->stay), heddle_rw(s->data), heddle_value(gate))
		                  : heddle_submit(s->rt, heddle_call(s->stay), heddle_value(gate));
		s->submitted++;
		if (i == 0 && !s->data) /* while the worker is busy the program submits without the lock */
			wait_for(&gate->begun, 1);
	}
	return status ? s : NULL;
}

static heddle_runtime *start_with_window(void)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.window = WINDOW;
	return start_with(&config);
}

/* As soon as a quarter of the window is free: the other tasks do not end before the submission has returned. */
static void throttled_thread_goes_on_when_a_quarter_of_the_window_is_free(void **state)
{
	(void)state;
	struct submitter s = {.rt = start_with_window()};
	s.stay = heddle_codelet_new(s.rt, .name = "stay", .cpu = stay_until_open);
	pthread_t thread;
	void *failed;
	assert_int_equal(pthread_create(&thread, NULL, submit_one_too_many, &s), 0);
	wait_for(&s.submitted, WINDOW);
	give_others_time();
	assert_int_equal(s.submitted, WINDOW);
	for (int i = 0; i < ROOM_AGAIN; i++)
		s.gates[i].open = 1;
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	for (int i = ROOM_AGAIN; i <= WINDOW; i++)
		s.gates[i].open = 1;
	assert_ok(heddle_stop(s.rt));
}

/* All tasks wait for a datum that the program has, so the window would stay full for as long as it has that. It is
 * given back only after the last submission. */
static void window_full_of_tasks_that_wait_for_the_program_lets_more_in(void **state)
{
	(void)state;
	struct submitter s = {.rt = start_with_window()};
	s.stay = heddle_codelet_new(s.rt, .name = "stay", .cpu = stay_until_open);
	long x = 0;
	pthread_t thread;
	void *failed;
	for (int i = 0; i <= WINDOW; i++)
		s.gates[i].open = 1;
	assert_ok(heddle_variable(s.rt, &x, sizeof x, &s.data));
	assert_ok(heddle_acquire(s.data, HEDDLE_RW));
	assert_int_equal(pthread_create(&thread, NULL, submit_one_too_many, &s), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_ok(heddle_release(s.data));
	assert_ok(heddle_stop(s.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_of_two_threads_run_in_the_order_of_submission),
	    cmocka_unit_test(tasks_of_fifty_threads_run_in_the_order_of_submission),
	    cmocka_unit_test(kernel_run_by_a_throttled_thread_may_submit),
	    cmocka_unit_test(throttled_thread_goes_on_when_a_quarter_of_the_window_is_free),
	    cmocka_unit_test(window_full_of_tasks_that_wait_for_the_program_lets_more_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
