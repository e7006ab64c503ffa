/* src/policies/parts/queue.h: the queues that policies are made of. */
#include "fake_sched.h"
#include "policies/parts/queue.h"

static void deque_front_back_and_middle(void **unused)
{
	(void)unused;
	struct hd_deque q = {0};
	make_tasks(5);
	assert_null(hd_deque_pop_front(&q));
	hd_deque_push_back(&q, &tasks[0]);
	hd_deque_push_back(&q, &tasks[1]);
	hd_deque_push_back(&q, &tasks[2]);
	hd_deque_push_back(&q, &tasks[3]);
	hd_deque_push_back(&q, &tasks[4]);
	hd_deque_remove(&q, &tasks[2]);
	hd_deque_remove(&q, &tasks[4]);
	assert_ptr_equal(hd_deque_pop_front(&q), &tasks[0]);
	hd_deque_remove(&q, &tasks[1]);
	hd_deque_remove(&q, &tasks[3]);
	assert_null(hd_deque_pop_front(&q));
	hd_deque_push_back(&q, &tasks[2]);
	assert_ptr_equal(hd_deque_pop_front(&q), &tasks[2]);
	assert_null(hd_deque_pop_front(&q));
}

enum { N_MODEL = 300 };

struct model {
	heddle_task *tasks[N_MODEL]; /* most urgent first, oldest first among equals */
	size_t n;
};

static void model_insert(struct model *m, heddle_task *t)
{
	size_t i = m->n++;
	for (; i && m->tasks[i - 1]->priority < t->priority; i--)
		m->tasks[i] = m->tasks[i - 1];
	m->tasks[i] = t;
}

static void model_remove(struct model *m, const heddle_task *t)
{
	size_t i = 0;
	while (m->tasks[i] != t)
		i++;
	for (m->n--; i < m->n; i++)
		m->tasks[i] = m->tasks[i + 1];
}

/* First, last, and both walks along the most urgent level. */
static void assert_same_top(struct hd_levels *q, const struct model *m)
{
	assert_int_equal(q->n, m->n);
	heddle_task *t = hd_levels_first(q);
	if (!m->n) {
		assert_null(t);
		assert_null(hd_levels_last(q));
		assert_null(hd_levels_least(q));
		return;
	}
	size_t level = 0;
	for (; level < m->n && m->tasks[level]->priority == m->tasks[0]->priority; level++) {
		assert_ptr_equal(t, m->tasks[level]);
		t = hd_levels_newer(q, t);
	}
	assert_null(t);
	assert_ptr_equal(hd_levels_least(q), m->tasks[m->n - 1]);
	t = hd_levels_last(q);
	while (level--) {
		assert_ptr_equal(t, m->tasks[level]);
		t = hd_levels_older(q, t);
	}
	assert_null(t);
}

static void random_step(struct hd_rng *rng, struct hd_levels *q, struct model *m, heddle_task *pool)
{
	heddle_task *t = &pool[hd_rng_next(rng) % N_MODEL];
	if (t->ready) { /* in the queue: it, or one of the ends, leaves */
		uint64_t which = hd_rng_next(rng) % 4;
		if (which == 0)
			hd_levels_remove(q, t);
		else if (which == 3)
			hd_levels_remove(q, t = hd_levels_least(q));
		else
			hd_levels_remove_urgent(q, t = which == 1 ? hd_levels_first(q) : hd_levels_last(q));
		model_remove(m, t);
		t->ready = 0;
	} else {
		hd_levels_push(q, t);
		model_insert(m, t);
		t->ready = 1;
	}
}

static void levels_random_steps_keep_the_order(void **unused)
{
	(void)unused;
	static const int spreads[] = {1, 2, 10, 1000000};
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct hd_levels q = {0};
		struct model m = {.n = 0};
		struct hd_rng rng;
		hd_rng_seed(&rng, seed);
		int spread = spreads[seed % 4];
		for (unsigned i = 0; i < N_MODEL; i++) {
			tasks[i] = fake_task(&plain, i, (int)(hd_rng_next(&rng) % (unsigned)spread) - spread / 2);
			tasks[i].link.u.word = i;
		}
		tasks[0].priority = INT_MAX;
		tasks[1].priority = INT_MIN;
		for (int step = 0; step < 1500; step++) {
			random_step(&rng, &q, &m, tasks);
			assert_same_top(&q, &m);
		}
		for (unsigned i = 0; i < N_MODEL; i++)
			assert_int_equal(tasks[i].link.u.word, i); /* the policy's word is never touched */
		for (size_t i = 0; i < m.n; i++)
			assert_ptr_equal(hd_levels_pop_first(&q), m.tasks[i]);
		assert_null(hd_levels_pop_first(&q));
	}
}

static void levels_flat_ignores_priorities(void **unused)
{
	(void)unused;
	struct hd_levels q = {.flat = 1};
	make_tasks(4);
	for (int i = 0; i < 4; i++) {
		tasks[i].priority = i;
		hd_levels_push(&q, &tasks[i]);
	}
	assert_ptr_equal(hd_levels_last(&q), &tasks[3]);
	hd_levels_remove(&q, &tasks[1]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[0]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[2]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[3]);
	assert_null(hd_levels_pop_first(&q));
}

/* Thousands of priorities that make the tree of levels a list: popping must not walk the list again and again. */
static void levels_thousands_of_priorities_are_not_quadratic(void **unused)
{
	(void)unused;
	struct hd_levels q = {0};
	enum { N = 4096 };
	make_tasks(N);
	for (int i = 0; i < N; i++) {
		tasks[i].priority = i % 2 ? i : -i;
		hd_levels_push(&q, &tasks[i]);
	}
	fake_priorities = 0;
	for (int i = 0; i < N; i++)
		assert_non_null(hd_levels_pop_first(&q));
	assert_true(fake_priorities < 40 * N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deque_front_back_and_middle),
	    cmocka_unit_test(levels_random_steps_keep_the_order),
	    cmocka_unit_test(levels_flat_ignores_priorities),
	    cmocka_unit_test(levels_thousands_of_priorities_are_not_quadratic),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
