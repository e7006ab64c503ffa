/* Many more workers than cores, and many threads that submit at once: nobody is forgotten, and nobody is overtaken by
 * more than the bound that each test says, in tasks. What would wait for a worker or thread that is left out never
 * ends. */
#include <pthread.h>
#include <stdio.h>
#include "program.h"

enum { MOST_WORKERS = 128 };

/* Policies under which no worker is without a task while there is one. */
static const char *const greedy[] = {"eager", "prio", "ws", "lws"};
static const unsigned crowds[] = {2, 64, MOST_WORKERS};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static heddle_runtime *start_crowd(const char *sched, unsigned n_workers, int caller_works)
{
	struct heddle_platform *p = crowded_machine(n_workers);
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	config.sched = sched;
	config.caller_works = caller_works;
	assert_non_null(p);
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	return rt;
}

/* Calls test(policy, number of workers, caller_works) for several choices. */
static void for_each_crowd(void (*test)(const char *, unsigned, int))
{
	for (size_t n = 0; n < COUNT(crowds); n++)
		test("eager", crowds[n], n == 1);
	for (size_t s = 1; s < COUNT(greedy); s++)
		test(greedy[s], 64, s == 1);
}

/* Where kernels wait for each other without keeping the few cores busy. */
struct place {
	pthread_mutex_t lock;
	pthread_cond_t changed;
};
#define A_PLACE                                                     \
	{                                                           \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER \
	}

/* --- All workers at once ------------------------------------------------------------------------------------------ */

struct meeting {
	struct place place;
	unsigned n, arrived;
};

/* Lasts until so many kernels run at once. */
static int meet(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	pthread_mutex_lock(&m->place.lock);
	if (++m->arrived == m->n)
		pthread_cond_broadcast(&m->place.changed);
	while (m->arrived < m->n)
		pthread_cond_wait(&m->place.changed, &m->place.lock);
	pthread_mutex_unlock(&m->place.lock);
	return 0;
}

static void meet_all(heddle_runtime *rt, heddle_codelet *codelet, struct meeting *meeting)
{
	meeting->arrived = 0;
	for (unsigned i = 0; i < meeting->n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(meeting)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(meeting->arrived, meeting->n);
}

/* As many tasks as workers, each of which lasts until all of them run; the second time some workers sleep. */
static void test_meeting(const char *sched, unsigned n_workers, int caller_works)
{
	heddle_runtime *rt = start_crowd(sched, n_workers, caller_works);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "meet", .cpu = meet);
	struct meeting m = {.place = A_PLACE, .n = n_workers}, *meeting = &m;
	for (int round = 0; round < 3; round++) {
		meet_all(rt, codelet, meeting);
		give_others_time();
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(heddle_stop(rt));
}

static void every_worker_gets_one_of_as_many_tasks(void **state)
{
	(void)state;
	for_each_crowd(test_meeting);
}

/* One task makes as many ready as there are workers, most of which sleep: all must be woken. */
static void test_fan_out(const char *sched, unsigned n_workers, int caller_works)
{
	heddle_runtime *rt = start_crowd(sched, n_workers, caller_works);
	heddle_codelet *begin = heddle_codelet_new(rt, .name = "begin", .cpu = pass_gate);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "meet", .cpu = meet);
	struct meeting m = {.place = A_PLACE, .n = n_workers}, *meeting = &m;
	atomic_int gate = 0, *opened = &gate;
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(begin), heddle_rw(d), heddle_value(opened)));
	for (unsigned i = 0; i < n_workers; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_value(meeting)));
	give_others_time();
	gate = 1;
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(meeting->arrived, n_workers);
	assert_ok(heddle_stop(rt));
}

static void every_worker_is_woken_for_what_one_task_makes_ready(void **state)
{
	(void)state;
	for_each_crowd(test_fan_out);
}

static int meet_or_not(heddle_context *c)
{
	return pointer_value(c) ? meet(c) : 0;
}

/* Tiny tasks before, of the same codelet: so the workers take several of them at a time, and among them some that last
 * until all workers have one. */
static void test_tiny_tasks(const char *sched, unsigned n_workers, int caller_works)
{
	heddle_runtime *rt = start_crowd(sched, n_workers, caller_works);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "meet or not", .cpu = meet_or_not);
	struct meeting m = {.place = A_PLACE, .n = n_workers}, *meeting = &m, *none = NULL;
	for (unsigned i = 0; i < 2000; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(none)));
	for (unsigned i = 0; i < n_workers; i++)
		for (unsigned k = 0; k < 8; k++)
			if (k == 3)
				assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(meeting)));
			else
				assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(none)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(meeting->arrived, n_workers);
	assert_ok(heddle_stop(rt));
}

static void tasks_behind_a_long_one_reach_other_workers(void **state)
{
	(void)state;
	for_each_crowd(test_tiny_tasks);
}

/* --- No worker far ahead of another ------------------------------------------------------------------------------- */

enum { AHEAD = 2 }; /* tasks that a worker may have had more than another one that has nothing to do */

struct race {
	struct place place;
	unsigned n_workers, n_tasks, started, least, had[MOST_WORKERS];
};

static unsigned least_had(const struct race *race)
{
	unsigned least = race->had[0];
	for (unsigned w = 1; w < race->n_workers; w++)
		least = race->had[w] < least ? race->had[w] : least;
	return least;
}

/* Lasts until the worker is no longer ahead of all others, or no task is left for them. A worker that got none while
 * there are some would keep all others here. */
static int keep_pace(heddle_context *c)
{
	struct race *race = pointer_value(c);
	pthread_mutex_lock(&race->place.lock);
	unsigned mine = ++race->had[heddle_context_worker(c)], least = least_had(race);
	if (++race->started == race->n_tasks || least > race->least)
		pthread_cond_broadcast(&race->place.changed);
	race->least = least;
	while (race->started < race->n_tasks && mine > race->least + AHEAD)
		pthread_cond_wait(&race->place.changed, &race->place.lock);
	pthread_mutex_unlock(&race->place.lock);
	return 0;
}

static void test_race(const char *sched, unsigned n_workers, int caller_works)
{
	heddle_runtime *rt = start_crowd(sched, n_workers, caller_works);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "keep pace", .cpu = keep_pace);
	struct race r = {.place = A_PLACE, .n_workers = n_workers, .n_tasks = 20 * n_workers}, *race = &r;
	for (unsigned i = 0; i < r.n_tasks; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_value(race)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(r.started, r.n_tasks);
	assert_ok(heddle_stop(rt));
}

static void no_worker_is_left_behind(void **state)
{
	(void)state;
	for_each_crowd(test_race);
}

/* --- Many threads that submit ------------------------------------------------------------------------------------- */

enum { N_THREADS = 50, N_EACH = 100 };

/* A task, and when it was submitted, on a clock that counts calls of heddle_submit and returns from it. */
struct ticket {
	atomic_uint *clock, *started;
	unsigned before, after, start;
};

struct submitter {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	heddle_data *own, *sum;
	atomic_uint *ready;
	struct ticket tickets[N_EACH];
	long value;
	int failed;
	pthread_t thread;
};

static int note_start(heddle_context *c)
{
	struct ticket *t = pointer_value(c);
	t->start = (*t->started)++;
	return 0;
}

static void *submit_tickets(void *arg)
{
	struct submitter *s = arg;
	++*s->ready;
	while (*s->ready < N_THREADS)
		sched_yield();
	for (unsigned i = 0; i < N_EACH; i++) {
		struct ticket *t = &s->tickets[i];
		t->before = (*t->clock)++;
		s->failed |= heddle_submit(s->rt, heddle_call(s->codelet), heddle_value(t));
		t->after = (*t->clock)++;
	}
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	unsigned x = (*(const struct ticket *const *)a)->start, y = (*(const struct ticket *const *)b)->start;
	return x < y ? -1 : x > y;
}

/* One worker, first come first served: a task whose submission had returned before that of another began is run before
 * the other one, whoever submitted them. */
static void later_tasks_overtake_no_earlier_task(void **state)
{
	(void)state;
	static struct submitter threads[N_THREADS];
	static const struct ticket *order[N_THREADS * N_EACH];
	atomic_uint clock = 0, started = 0, ready = 0;
	heddle_runtime *rt = start_crowd("eager", 1, 0);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "note start", .cpu = note_start);
	for (size_t i = 0; i < N_THREADS; i++) {
		threads[i] = (struct submitter){.rt = rt, .codelet = codelet, .ready = &ready};
		for (size_t k = 0; k < N_EACH; k++) {
			threads[i].tickets[k] = (struct ticket){.clock = &clock, .started = &started};
			order[i * N_EACH + k] = &threads[i].tickets[k];
		}
		assert_int_equal(pthread_create(&threads[i].thread, NULL, submit_tickets, &threads[i]), 0);
	}
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(started, N_THREADS * N_EACH);
	qsort(order, COUNT(order), sizeof *order, by_start);
	unsigned latest = 0; /* when the submission of one that has started began */
	for (size_t i = 0; i < COUNT(order); i++) {
		if (order[i]->after < latest)
			fail_msg("submitted at %u, it ran after one whose submission began at %u", order[i]->after,
			         latest);
		latest = order[i]->before > latest ? order[i]->before : latest;
	}
	assert_ok(heddle_stop(rt));
}

static int zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static void *submit_sums(void *arg)
{
	struct submitter *s = arg;
	++*s->ready;
	while (*s->ready < N_THREADS)
		sched_yield();
	for (long i = 1; i <= N_EACH; i++) {
		s->failed |= heddle_submit(s->rt, heddle_call(s->codelet), heddle_rw(s->own), heddle_value(i));
		s->failed |= heddle_submit(s->rt, heddle_call(s->codelet), heddle_redux(s->sum), heddle_value(i));
	}
	s->failed |= heddle_acquire(s->own, HEDDLE_R);
	s->failed |= heddle_release(s->own);
	return NULL;
}

/* Each thread waits for its own datum while the others submit on. */
static void test_sums(const char *sched, unsigned n_workers, int caller_works)
{
	static struct submitter threads[N_THREADS];
	atomic_uint ready = 0;
	long total = 0;
	heddle_data *sum;
	heddle_runtime *rt = start_crowd(sched, n_workers, caller_works);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "add", .cpu = add_value);
	assert_ok(heddle_variable(rt, &total, sizeof total, &sum));
	assert_ok(heddle_data_set_reduction(sum, heddle_codelet_new(rt, .name = "zero", .cpu = zero),
	                                    heddle_codelet_new(rt, .name = "combine", .cpu = add)));
	for (size_t i = 0; i < N_THREADS; i++) {
		struct submitter *s = &threads[i];
		*s = (struct submitter){.rt = rt, .codelet = codelet, .ready = &ready, .sum = sum};
		assert_ok(heddle_variable(rt, &s->value, sizeof s->value, &s->own));
		assert_int_equal(pthread_create(&s->thread, NULL, submit_sums, s), 0);
	}
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	for (size_t i = 0; i < N_THREADS; i++) {
		assert_int_equal(threads[i].failed, 0);
		assert_int_equal(threads[i].value, N_EACH * (N_EACH + 1) / 2);
	}
	assert_int_equal(total, N_THREADS * N_EACH * (N_EACH + 1) / 2);
}

static void fifty_threads_submit_and_wait_at_once(void **state)
{
	(void)state;
	for (size_t n = 0; n < COUNT(crowds); n++)
		test_sums(greedy[n % COUNT(greedy)], crowds[n], n == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_worker_gets_one_of_as_many_tasks),
	    cmocka_unit_test(every_worker_is_woken_for_what_one_task_makes_ready),
	    cmocka_unit_test(tasks_behind_a_long_one_reach_other_workers),
	    cmocka_unit_test(no_worker_is_left_behind),
	    cmocka_unit_test(later_tasks_overtake_no_earlier_task),
	    cmocka_unit_test(fifty_threads_submit_and_wait_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
