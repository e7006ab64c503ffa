/* Policies without models on worked examples of their rules, and every shipped policy on random tasks: each task is
 * given once, to a worker that can run it, and none is kept for ever. */
#include "fake_sched.h"

/* --- eager, prio -------------------------------------------------------------------------------------------------- */

static void eager_any_priorities_first_in_first_out(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "eager", NULL, 2, 0);
	fake_start(&s);
	make_tasks(4);
	tasks[2].priority = 9;
	ready_all(&s, 4, -1);
	ASSERT_PICKS(&s, 1, 0, 1);
	ASSERT_PICKS(&s, 0, 2, 3, -1);
	assert_true(fake_report(&s, "longest queue") == 4);
	fake_close(&s);
}

static void eager_batch_keeps_its_order(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "eager", NULL, 1, 1);
	fake_start(&s);
	make_tasks(3);
	heddle_task *batch[] = {&tasks[2], &tasks[0], &tasks[1]};
	for (int i = 0; i < 3; i++)
		tasks[i].ready = 1;
	s.policy->ready(s.state, batch, 3, 0);
	ASSERT_PICKS(&s, 0, 2, 0, 1, -1);
	fake_close(&s);
}

static void prio_equal_priorities_first_in_first_out(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "prio", NULL, 2, 0);
	fake_start(&s);
	make_tasks(6);
	const int priorities[] = {0, 5, -3, 5, 0, 7};
	for (int i = 0; i < 6; i++)
		tasks[i].priority = priorities[i];
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 0, 5, 1, 3, 0, 4, 2, -1);
	fake_close(&s);
}

/* Worker 1's tasks stand before worker 0's, and there are many of them. */
static void central_head_bound_elsewhere_is_passed(const char *policy)
{
	heddle_sched s;
	enum { N = 2000 };
	fake_open(&s, policy, NULL, 3, 0);
	fake_start(&s);
	make_tasks(N + 1);
	for (int i = 0; i < N; i++)
		tasks[i].workers = 1 << 1;
	ready_all(&s, N + 1, -1);
	ASSERT_PICKS(&s, 0, N);
	fake_questions = 0;
	for (int i = 0; i < 100; i++)
		ASSERT_PICKS(&s, 0, -1);
	assert_true(fake_questions <= 200);
	for (int i = 0; i < N; i++)
		ASSERT_PICKS(&s, 1, i);
	assert_true(fake_report(&s, "refiled under their exact set") == N);
	fake_close(&s);
}

static void eager_head_bound_elsewhere_is_passed(void **unused)
{
	(void)unused;
	central_head_bound_elsewhere_is_passed("eager");
}

static void prio_head_bound_elsewhere_is_passed(void **unused)
{
	(void)unused;
	central_head_bound_elsewhere_is_passed("prio");
}

static void eager_classes_that_cannot_run_are_not_asked(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "eager", NULL, 2, 2);
	fake_start(&s);
	make_tasks(1000);
	for (int i = 0; i < 999; i++)
		tasks[i].workers = i % 2 ? 0x3 : 0xc; /* the CPUs, the GPUs */
	ready_all(&s, 1000, -1);
	ASSERT_PICKS(&s, 0, 1, 3, 5);
	ASSERT_PICKS(&s, 3, 0, 2, 4);
	assert_true(fake_report(&s, "refiled under their exact set") == 0);
	for (int i = 7; i < 999; i += 2)
		ASSERT_PICKS(&s, 1, i);
	ASSERT_PICKS(&s, 1, 999, -1);
	fake_close(&s);
}

/* Every pair of workers is a set of its own: more than the table holds. */
static void eager_more_sets_than_room_all_run(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "eager", NULL, 16, 0);
	fake_start(&s);
	size_t n = 0;
	make_tasks(240);
	for (unsigned a = 0; a < 16; a++)
		for (unsigned b = 0; b < 16; b++)
			if (a != b)
				tasks[n++].workers = (uint64_t)1 << a | (uint64_t)1 << b;
	ready_all(&s, n, -1);
	size_t given = 0;
	for (size_t before = 1; before; given += before) {
		before = 0;
		for (unsigned w = 0; w < 16; w++)
			before += fake_pick(&s, w) != NULL;
	}
	assert_int_equal(given, n);
	assert_true(fake_report(&s, "sets of workers") == 2 + 16 + 32); /* full */
	for (int i = 0; i < 20; i++) {
		tasks[i] = fake_task(&plain, 1000, 0);
		tasks[i].workers = i < 19 ? 0x3000 : 0xc000;
		fake_ready(&s, &tasks[i], -1);
	}
	ASSERT_PICKS(&s, 14, 19, -1); /* found behind others though there is no set for any of them */
	ASSERT_PICKS(&s, 13, 0, 1);
	fake_close(&s);
}

/* --- random ------------------------------------------------------------------------------------------------------- */

/* How many of 4000 tasks each of 2 CPUs and 1 GPU is given. */
static void draw_many(const char *options, heddle_codelet *codelet, size_t given[3])
{
	heddle_sched s;
	fake_open(&s, "random", options, 2, 1);
	fake_start(&s);
	make_tasks(4000);
	for (int i = 0; i < 4000; i++)
		tasks[i].codelet = codelet;
	ready_all(&s, 4000, -1);
	for (unsigned w = 0; w < 3; w++)
		for (given[w] = 0; fake_pick(&s, w);)
			given[w]++;
	assert_int_equal(given[0] + given[1] + given[2], 4000);
	fake_close(&s);
}

static void random_speeds_are_proportions(void **unused)
{
	(void)unused;
	heddle_codelet unknown = {.name = "new", .time = {10, NAN}};
	size_t given[3];
	draw_many(NULL, &plain, given); /* 1 : 1 : 5 */
	assert_in_range(given[0], 500, 640);
	assert_in_range(given[1], 500, 640);
	assert_in_range(given[2], 2740, 2980);
	draw_many("models=no", &plain, given); /* 1 : 1 : 13.33 */
	assert_in_range(given[0], 210, 310);
	draw_many(NULL, &unknown, given);
	assert_in_range(given[1], 210, 310);
}

static void random_bound_tasks_go_where_they_can(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "random", NULL, 4, 2);
	fake_start(&s);
	make_tasks(600);
	for (unsigned i = 0; i < 600; i++)
		tasks[i].workers = (uint64_t)1 << i % 6;
	ready_all(&s, 600, -1);
	for (unsigned w = 0; w < 6; w++)
		for (unsigned i = w; i < 600; i += 6)
			ASSERT_PICKS(&s, w, (int)i);
	fake_close(&s);
}

/* The first worker drawn is most often one that may not take the task. Among the two that may, the GPU is five times as
 * likely as the CPU all the same. */
static void random_few_workers_keep_their_proportions(void **unused)
{
	(void)unused;
	heddle_sched s;
	size_t given = 0;
	fake_open(&s, "random", NULL, 8, 1);
	fake_start(&s);
	make_tasks(4000);
	for (int i = 0; i < 4000; i++)
		tasks[i].workers = 1 << 3 | 1 << 8;
	ready_all(&s, 4000, -1);
	while (fake_pick(&s, 3))
		given++;
	assert_in_range(given, 580, 760);
	while (fake_pick(&s, 8))
		given++;
	assert_int_equal(given, 4000);
	fake_close(&s);
}

/* --- ws, lws ------------------------------------------------------------------------------------------------------ */

static void ws_idle_worker_steals_from_the_most_loaded(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "ws", NULL, 3, 0);
	fake_start(&s);
	make_tasks(7);
	for (int i = 0; i < 7; i++)
		fake_ready(&s, &tasks[i], i < 2 ? 1 : 2); /* 0, 1 released by worker 1; 2 .. 6 by worker 2 */
	ASSERT_PICKS(&s, 0, 6, 5, 4);                     /* the newest of the longest queue */
	ASSERT_PICKS(&s, 1, 0);                           /* owners: the oldest */
	ASSERT_PICKS(&s, 2, 2, 3, 1, -1);
	assert_true(fake_report(&s, "stolen") == 4);
	fake_close(&s);
}

static void ws_submitted_tasks_go_round_to_those_that_can(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "ws", NULL, 3, 1);
	fake_start(&s);
	make_tasks(8);
	tasks[2].workers = 1;
	ready_all(&s, 8, -1); /* 1 2 (0) 1 2 3 0 1 */
	ASSERT_PICKS(&s, 1, 0, 3, 7);
	ASSERT_PICKS(&s, 2, 1, 4);
	ASSERT_PICKS(&s, 3, 5);
	ASSERT_PICKS(&s, 0, 2, 6, -1);
	fake_close(&s);
}

static void lws_owner_newest_thief_oldest_of_the_nearest(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "lws", NULL, 4, 0);
	fake_start(&s);
	make_tasks(9);
	for (int i = 0; i < 9; i++)
		fake_ready(&s, &tasks[i], i < 6 ? 3 : 1); /* 0 .. 5 at distance 3 of worker 0, 6 7 8 at distance 1 */
	ASSERT_PICKS(&s, 0, 6, 7);
	ASSERT_PICKS(&s, 3, 5, 4);
	ASSERT_PICKS(&s, 1, 8, 0); /* its own, then worker 3's oldest: workers 0 and 2 are nearer and have nothing */
	ASSERT_PICKS(&s, 2, 1);
	fake_close(&s);
}

static void lws_priorities_come_before_age_unless_ignored(void **unused)
{
	(void)unused;
	for (int honoured = 0; honoured < 2; honoured++) {
		heddle_sched s;
		fake_open(&s, "lws", honoured ? NULL : "priorities=no", 2, 0);
		fake_start(&s);
		make_tasks(6);
		tasks[2].priority = tasks[3].priority = 8;
		ready_all(&s, 6, 0);
		if (honoured) {
			ASSERT_PICKS(&s, 0, 3);
			ASSERT_PICKS(&s, 1, 2, 0);
		} else {
			ASSERT_PICKS(&s, 0, 5);
			ASSERT_PICKS(&s, 1, 0, 1);
		}
		fake_close(&s);
	}
}

static void ws_victims_in_turn_as_starpu(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "ws", "victim=turn", 4, 0);
	fake_start(&s);
	make_tasks(9);
	for (int i = 0; i < 9; i++)
		fake_ready(&s, &tasks[i], 1 + i % 3);
	ASSERT_PICKS(&s, 0, 6, 7, 8, 3, 4, 5); /* victims 1 2 3 1 2 3 */
	fake_close(&s);
}

/* Tasks that any worker can run are in one list, those for CPUs only in another: age is compared across the two. */
static void ages_are_compared_across_sets_of_workers(void **unused)
{
	(void)unused;
	static const struct {
		const char *policy;
		int own[2], stolen;
	} cases[] = {{"lws", {4, 3}, 0}, {"ws", {0, 1}, 4}};
	for (int c = 0; c < 2; c++) {
		heddle_sched s;
		fake_open(&s, cases[c].policy, NULL, 2, 1);
		fake_start(&s);
		make_tasks(5);
		tasks[1].workers = tasks[3].workers = 0x3;
		ready_all(&s, 5, 0);
		ASSERT_PICKS(&s, 1, cases[c].stolen);
		ASSERT_PICKS(&s, 0, cases[c].own[0], cases[c].own[1]);
		fake_close(&s);
	}
}

/* The victim's queue starts with tasks for GPUs only, which do not hide the one that a CPU can take. */
static void lws_thief_finds_what_its_class_can_run(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "lws", NULL, 1, 1);
	fake_start(&s);
	make_tasks(501);
	for (int i = 0; i < 500; i++)
		tasks[i].workers = 1 << 1;
	ready_all(&s, 501, 1);
	ASSERT_PICKS(&s, 0, 500, -1);
	ASSERT_PICKS(&s, 1, 499, 498);
	fake_close(&s);
}

/* --- All of them, on anything ------------------------------------------------------------------------------------- */

/* A machine, four codelets of which models know this or that, and N_RANDOM tasks, all drawn. */
enum { N_RANDOM = 400, AT_ONCE = 3 };
static heddle_codelet codelets[4];
static heddle_data data[8];

static void draw_problem(heddle_sched *s, const char *policy, struct hd_rng *rng)
{
	unsigned n_cpu = 1 + (unsigned)(hd_rng_next(rng) % 6), n_gpu = (unsigned)(hd_rng_next(rng) % 4);
	fake_open(s, policy, NULL, n_cpu, n_gpu);
	s->calibrate = (unsigned)(hd_rng_next(rng) % 4);
	for (int i = 0; i < 8; i++)
		data[i] = (heddle_data){.bytes = hd_rng_next(rng) % 50, .valid = (uint32_t)hd_rng_next(rng) | 1};
	for (int i = 0; i < 4; i++) {
		codelets[i] = (heddle_codelet){.name = "c", .time = {NAN, NAN}};
		for (int c = 0; c < 2 && hd_rng_next(rng) % 2; c++) {
			codelets[i].time[c] = hd_rng_uniform(rng) * 10;
			codelets[i].samples[c] = (unsigned)(hd_rng_next(rng) % 8);
		}
	}
	uint64_t all = ((uint64_t)1 << (n_cpu + n_gpu)) - 1;
	for (unsigned i = 0; i < N_RANDOM; i++) {
		tasks[i] = fake_task(&codelets[hd_rng_next(rng) % 4], i, (int)(hd_rng_next(rng) % 5) - 2);
		uint64_t some = hd_rng_next(rng) & all;
		tasks[i].workers = hd_rng_next(rng) % 3 && some ? some : all;
		tasks[i].n_data = hd_rng_next(rng) % 4;
		for (size_t k = 0; k < tasks[i].n_data; k++)
			tasks[i].data[k] = &data[hd_rng_next(rng) % 8];
	}
}

/* Ends the task if it runs, as the core would: with a sample more. */
static int end_if_running(heddle_sched *s, heddle_task *t)
{
	if (t->worker < 0 || t->done)
		return 0;
	t->codelet->samples[s->workers[t->worker].class_id]++;
	fake_done(s, t);
	return 1;
}

/* Pushes and picks in random order, with tasks that end some time after they were picked. */
static void run_randomly(const char *policy, struct hd_rng *rng)
{
	heddle_sched s;
	unsigned holding[FAKE_WORKERS] = {0}, pushed = 0, ended = 0, refused = 0;
	draw_problem(&s, policy, rng);
	fake_start(&s);
	fake_memory = hd_rng_next(rng) % 2 ? -1 : (long)(hd_rng_next(rng) % 3); /* often there is none left */
	unsigned n_workers = (unsigned)s.platform.n_workers;
	while (ended < N_RANDOM) {
		unsigned w = (unsigned)(hd_rng_next(rng) % n_workers);
		s.now += hd_rng_uniform(rng);
		if (pushed < N_RANDOM && hd_rng_next(rng) % 3 == 0)
			fake_ready(&s, &tasks[pushed++], (int)(hd_rng_next(rng) % (n_workers + 1)) - 1);
		heddle_task *t = holding[w] < AT_ONCE ? fake_pick(&s, w) : NULL;
		holding[w] += t != NULL;
		refused = t || holding[w] ? 0 : refused + 1;
		heddle_task *running = &tasks[hd_rng_next(rng) % N_RANDOM];
		if (end_if_running(&s, running)) {
			holding[running->worker]--;
			ended++;
		}
		if (refused > 200 * n_workers && pushed == N_RANDOM)
			fail_msg("%s keeps %u tasks for ever", policy, N_RANDOM - ended);
	}
	fake_memory = -1;
	fake_close(&s);
}

static void any_policy_random_tasks_each_runs_once(void **unused)
{
	(void)unused;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (uint64_t seed = 0; seed < 60; seed++) {
		for (size_t i = 0; all[i]; i++) {
			struct hd_rng rng;
			hd_rng_seed(&rng, seed);
			run_randomly(all[i]->name, &rng);
		}
	}
	free(all);
}

/* A worker that alone can run what is left gets it, however much others hold. */
static void any_policy_all_picks_empty_the_queue(void **unused)
{
	(void)unused;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++) {
		heddle_sched s;
		struct hd_rng rng;
		hd_rng_seed(&rng, 7);
		fake_open(&s, all[i]->name, NULL, 5, 2);
		fake_start(&s);
		make_tasks(1000);
		for (unsigned k = 0; k < 1000; k++) {
			tasks[k].workers = hd_rng_next(&rng) % 127 + 1;
			tasks[k].priority = (int)(hd_rng_next(&rng) % 7);
			fake_ready(&s, &tasks[k], (int)(hd_rng_next(&rng) % 8) - 1);
		}
		size_t given = 0;
		for (size_t round = 1; round; given += round) {
			round = 0;
			for (unsigned w = 0; w < 7; w++)
				round += fake_pick(&s, w) != NULL;
		}
		assert_int_equal(given, 1000);
		fake_close(&s);
	}
	free(all);
}

static void any_policy_no_memory_to_start_is_an_error(void **unused)
{
	(void)unused;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++) {
		heddle_sched s;
		fake_open(&s, all[i]->name, NULL, 3, 2);
		int status = HEDDLE_E_MEMORY;
		long n = 0;
		for (; status == HEDDLE_E_MEMORY; n++) {
			assert_true(n < 200);
			fake_memory = n;
			status = all[i]->create(&s, &s.state);
			if (status == HEDDLE_E_MEMORY)
				assert_non_null(strstr(heddle_last_error(), "out of memory"));
		}
		fake_memory = -1;
		assert_int_equal(status, HEDDLE_OK);
		assert_true(n > 1); /* each allocates something */
		fake_close(&s);
	}
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(eager_any_priorities_first_in_first_out),
	    cmocka_unit_test(eager_batch_keeps_its_order),
	    cmocka_unit_test(prio_equal_priorities_first_in_first_out),
	    cmocka_unit_test(eager_head_bound_elsewhere_is_passed),
	    cmocka_unit_test(prio_head_bound_elsewhere_is_passed),
	    cmocka_unit_test(eager_classes_that_cannot_run_are_not_asked),
	    cmocka_unit_test(eager_more_sets_than_room_all_run),
	    cmocka_unit_test(random_speeds_are_proportions),
	    cmocka_unit_test(random_bound_tasks_go_where_they_can),
	    cmocka_unit_test(random_few_workers_keep_their_proportions),
	    cmocka_unit_test(ws_idle_worker_steals_from_the_most_loaded),
	    cmocka_unit_test(ws_submitted_tasks_go_round_to_those_that_can),
	    cmocka_unit_test(lws_owner_newest_thief_oldest_of_the_nearest),
	    cmocka_unit_test(lws_priorities_come_before_age_unless_ignored),
	    cmocka_unit_test(ws_victims_in_turn_as_starpu),
	    cmocka_unit_test(ages_are_compared_across_sets_of_workers),
	    cmocka_unit_test(lws_thief_finds_what_its_class_can_run),
	    cmocka_unit_test(any_policy_random_tasks_each_runs_once),
	    cmocka_unit_test(any_policy_all_picks_empty_the_queue),
	    cmocka_unit_test(any_policy_no_memory_to_start_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
