/* multiprio, and the heap that it needs, on the worked examples of its paper, and on random tasks. */
#include "fake_sched.h"
#include "policies/multiprio.h"
#include "policies/parts/heap.h"

/* --- heap --------------------------------------------------------------------------------------------------------- */

static void heap_walk_is_in_the_order_of_removal(void **unused)
{
	(void)unused;
	struct hd_heap heap = {0};
	struct hd_rng rng;
	hd_rng_seed(&rng, 7);
	for (uint32_t i = 0; i < 300; i++) {
		assert_true(hd_heap_reserve(&heap, hd_heap_n(&heap) + 1));
		double gain = (double)(hd_rng_next(&rng) % 4) / 4, criticality = (double)(hd_rng_next(&rng) % 3) / 2;
		hd_heap_push(&heap, (struct hd_heap_entry){hd_heap_key(gain, criticality), i, i});
		if (i % 7 == 0)
			hd_heap_remove(&heap, hd_rng_next(&rng) % hd_heap_n(&heap));
	}
	struct hd_heap_walk walk;
	uint32_t slots[HD_HEAP_WALK];
	hd_heap_walk_init(&walk, &heap);
	for (int i = 0; i < HD_HEAP_WALK; i++)
		slots[i] = hd_heap_at(&heap, hd_heap_walk_next(&walk))->slot;
	assert_true(hd_heap_walk_next(&walk) == SIZE_MAX);
	for (int i = 0; i < HD_HEAP_WALK; i++) {
		assert_int_equal(hd_heap_at(&heap, 0)->slot, slots[i]);
		struct hd_heap_entry top = *hd_heap_at(&heap, 0);
		hd_heap_remove(&heap, 0);
		const struct hd_heap_entry *next = hd_heap_n(&heap) ? hd_heap_at(&heap, 0) : NULL;
		assert_true(!next || next->key < top.key || (next->key == top.key && next->order > top.order));
	}
	hd_heap_fini(&heap);
}

/* --- multiprio ---------------------------------------------------------------------------------------------------- */

/* Of the task last made ready. */
static double gain_of(const heddle_sched *s, unsigned class_id)
{
	return hd_multiprio_scores(s->state, class_id).gain;
}

/* Table II. */
static void multiprio_gain_is_that_of_table_2(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {1, 20}}, {.time = {5, 10}}, {.time = {20, 10}}};
	const double a1[] = {1, 0.631, 0.236}, a2[] = {0, 0.368, 0.763};
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	set_codelets(codelets, 3);
	for (int i = 0; i < 3; i++) {
		fake_ready(&s, &tasks[i], -1);
		assert_true(fabs(gain_of(&s, 0) - a1[i]) < 1e-3);
		assert_true(fabs(gain_of(&s, 1) - a2[i]) < 1e-3);
	}
	fake_close(&s);
}

static void multiprio_gain_of_one_class_or_equal_times(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {5, NAN}}, {.time = {7, 7}}};
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	set_codelets(codelets, 2);
	tasks[0].workers = 1;
	fake_ready(&s, &tasks[0], -1);
	assert_true(gain_of(&s, 0) == 1 && isnan(gain_of(&s, 1)));
	fake_ready(&s, &tasks[1], -1);
	assert_true(gain_of(&s, 0) == 0.5 && gain_of(&s, 1) == 0.5);
	fake_close(&s);
}

/* Figure 3: task 2 releases 4 and 5 alone and 6 together with 3, which also releases 7 together with another. */
static void make_figure_3(void)
{
	make_tasks(8);
	const unsigned n_preds[] = {0, 0, 0, 0, 1, 1, 2, 2};
	for (int i = 0; i < 8; i++)
		tasks[i].n_preds = n_preds[i];
	tasks[5].workers = 1; /* the GPU cannot run it, so there task 2 releases less */
	tasks[2].n_successors = 3;
	memcpy(tasks[2].successors, (heddle_task *[]){&tasks[4], &tasks[5], &tasks[6]},
	       3 * sizeof *tasks[2].successors);
	tasks[3].n_successors = 2;
	memcpy(tasks[3].successors, (heddle_task *[]){&tasks[6], &tasks[7]}, 2 * sizeof *tasks[3].successors);
}

static void multiprio_nod_is_that_of_figure_3(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	make_figure_3();
	fake_ready(&s, &tasks[2], -1);
	assert_true(hd_multiprio_scores(s.state, 0).nod == 2.5 && hd_multiprio_scores(s.state, 1).nod == 1.5);
	fake_ready(&s, &tasks[3], -1);
	assert_true(hd_multiprio_scores(s.state, 0).nod == 1 && hd_multiprio_scores(s.state, 1).nod == 1);
	assert_true(hd_multiprio_scores(s.state, 0).largest_nod == 2.5);
	ASSERT_PICKS(&s, 1, 2, 3, -1);
	fake_close(&s);
}

/* The largest NOD so far is that of task 3 when this is made ready, and that of task 2 then. */
static void multiprio_larger_nod_is_first_though_ready_later(void **unused)
{
	(void)unused;
	static const char *const options[] = {"first=gain", "first=criticality"};
	for (int i = 0; i < 2; i++) {
		heddle_sched s;
		fake_open(&s, "multiprio", options[i], 1, 1);
		fake_start(&s);
		make_figure_3();
		tasks[3].order = 2;
		tasks[2].order = 3;
		fake_ready(&s, &tasks[3], -1);
		fake_ready(&s, &tasks[2], -1);
		ASSERT_PICKS(&s, 1, 2, 3, -1);
		fake_close(&s);
	}
}

static void multiprio_equals_in_the_order_of_submission(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	make_tasks(5);
	const int order[] = {3, 1, 4, 0, 2};
	for (int i = 0; i < 5; i++)
		fake_ready(&s, &tasks[order[i]], -1);
	ASSERT_PICKS(&s, 1, 0, 1, 2, 3, 4, -1);
	fake_close(&s);
}

/* Equation 3: a written datum counts with its square. Looking at one task only is the order of the heap; looking at two
 * does not find the third. */
static void multiprio_nearest_to_its_data_is_taken(void **unused)
{
	(void)unused;
	static const char *const options[] = {"n=1", "n=2", NULL};
	for (int n = 0; n < 3; n++) {
		heddle_data small = {.bytes = 10, .valid = 2}, large = {.bytes = 99, .valid = 2},
		            far = {.bytes = 1000, .valid = 1};
		heddle_sched s;
		fake_open(&s, "multiprio", options[n], 1, 1);
		fake_start(&s);
		make_tasks(3);
		heddle_data *data[] = {&far, &large, &small};
		const enum heddle_mode modes[] = {HEDDLE_RW, HEDDLE_R, HEDDLE_RW};
		for (int i = 0; i < 3; i++) {
			tasks[i].data[0] = data[i];
			tasks[i].mode[0] = modes[i];
			tasks[i].n_data = 1;
		}
		ready_all(&s, 3, -1);
		if (n == 0)
			ASSERT_PICKS(&s, 1, 0, 1, 2, -1);
		else if (n == 1)
			ASSERT_PICKS(&s, 1, 1, 2, 0, -1);
		else
			ASSERT_PICKS(&s, 1, 2, 1, 0, -1);
		fake_close(&s);
	}
}

/* The second task's gain on the GPU is 3/4, the first one's 1: near data help it only if that is near enough. */
static void multiprio_gain_must_be_within_epsilon(void **unused)
{
	(void)unused;
	for (int wide = 0; wide <= 1; wide++) {
		heddle_codelet codelets[] = {{.time = {21, 1}}, {.time = {11, 1}}};
		heddle_data d = {.bytes = 10, .valid = 2};
		heddle_sched s;
		fake_open(&s, "multiprio", wide ? "epsilon=0.3" : "epsilon=0.2", 1, 1);
		fake_start(&s);
		set_codelets(codelets, 2);
		tasks[1].data[0] = &d;
		tasks[1].mode[0] = HEDDLE_R;
		tasks[1].n_data = 1;
		ready_all(&s, 2, -1);
		ASSERT_PICKS(&s, 1, wide ? 1 : 0);
		fake_close(&s);
	}
}

/* The gains on the GPU are 1 and 0.98, but the second task releases another. */
static void multiprio_gains_within_the_tolerance_tie(void **unused)
{
	(void)unused;
	for (int tie = 0; tie <= 1; tie++) {
		heddle_codelet codelets[] = {{.time = {110, 10}}, {.time = {106, 10}}, {.time = {1, 1}}};
		heddle_sched s;
		fake_open(&s, "multiprio", tie ? "tie=0.05" : NULL, 1, 1);
		fake_start(&s);
		set_codelets(codelets, 3);
		tasks[1].successors[0] = &tasks[2];
		tasks[1].n_successors = 1;
		tasks[2].n_preds = 1;
		ready_all(&s, 2, -1);
		ASSERT_PICKS(&s, 1, tie, 1 - tie, -1);
		assert_true(fake_report(&s, "tries whose first task the second score decides") == tie);
		fake_close(&s);
	}
}

/* 100 us on the CPU, 1 on a GPU: the CPU takes one only while the GPUs have more than 100 us to do. */
static heddle_codelet slow = {.name = "slow", .time = {100, 1}, .samples = {99, 99}};

static void make_slow_tasks(size_t n)
{
	make_tasks(n);
	for (size_t i = 0; i < n; i++)
		tasks[i].codelet = &slow;
}

static void multiprio_slower_class_takes_what_the_best_cannot_do_soon(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	make_slow_tasks(102);
	ready_all(&s, 102, -1);
	ASSERT_PICKS(&s, 0, 0, 1, -1);
	assert_true(fake_report(&s, "taken by a class that is not the best") == 2);
	assert_true(fake_report(&s, "best remaining work left") == 100);
	ASSERT_PICKS(&s, 1, 2, 3);
	fake_close(&s);
}

static void multiprio_share_counts_workers_of_the_best_class(void **unused)
{
	(void)unused;
	for (int share = 0; share <= 1; share++) {
		heddle_sched s;
		fake_open(&s, "multiprio", share ? "share=yes" : NULL, 1, 2);
		fake_start(&s);
		make_slow_tasks(150);
		ready_all(&s, 150, -1);
		ASSERT_PICKS(&s, 0, share ? -1 : 0);
		fake_close(&s);
	}
}

/* A stream of 4 runs a task in 4 us beside 3 others: 26 of them are more than 100 us of work for streams. */
static void multiprio_time_may_be_that_of_a_stream(void **unused)
{
	(void)unused;
	static const char *const options[] = {NULL, "stream=worker", "stream=worker,share=yes"};
	for (unsigned streams = 1; streams <= 4; streams += 3) {
		for (int i = 0; i < 3; i++) {
			heddle_sched s;
			fake_open(&s, "multiprio", options[i], 1, 1);
			s.classes[1].streams = streams;
			fake_start(&s);
			make_slow_tasks(26);
			ready_all(&s, 26, -1);
			ASSERT_PICKS(&s, 0, streams > 1 && i == 1 ? 0 : -1);
			fake_close(&s);
		}
	}
}

/* The CPU takes a task: what the GPU has left to do is less by the microsecond that the task takes there, or by the 100
 * that it takes here. */
static void multiprio_accounting_is_what_a_taken_task_subtracts(void **unused)
{
	(void)unused;
	for (int taken = 0; taken <= 1; taken++) {
		heddle_sched s;
		fake_open(&s, "multiprio", taken ? "accounting=taken" : NULL, 1, 1);
		fake_start(&s);
		make_slow_tasks(150);
		ready_all(&s, 150, -1);
		ASSERT_PICKS(&s, 0, 0, taken ? -1 : 1);
		assert_true(fake_report(&s, "best remaining work left") == (taken ? 50 : 148));
		fake_close(&s);
	}
}

/* Two GPUs: 150 tasks are for the second alone, the first task is for all. The CPU leaves it to the first GPU, which
 * will begin it soon. */
static void multiprio_remaining_work_is_that_of_a_node(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 2);
	fake_start(&s);
	make_slow_tasks(151);
	for (size_t i = 0; i < 151; i++)
		tasks[i].workers = i ? 4 : 7;
	ready_all(&s, 151, -1);
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 1, 0, -1);
	fake_close(&s);
}

static void multiprio_without_eviction_takes_anything(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", "eviction=no", 1, 1);
	fake_start(&s);
	make_slow_tasks(1);
	ready_all(&s, 1, -1);
	ASSERT_PICKS(&s, 0, 0);
	fake_close(&s);
}

static void multiprio_evicted_task_is_left_to_the_best_class(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	make_slow_tasks(30);
	ready_all(&s, 30, -1);
	ASSERT_PICKS(&s, 1, 0);
	ASSERT_PICKS(&s, 0, -1);
	assert_true(fake_report(&s, "evictions") == 10);
	assert_true(fake_report(&s, "picks given up after too many tries") == 1);
	fake_done(&s, &tasks[0]);
	ASSERT_PICKS(&s, 0, -1); /* nothing runs: no end to its tries */
	assert_true(fake_report(&s, "evictions") == 29);
	for (int i = 1; i < 30; i++)
		ASSERT_PICKS(&s, 1, i);
	assert_true(fake_report(&s, "best remaining work left") == 0);
	fake_close(&s);
}

/* Tasks taken elsewhere leave entries behind: they go, and others with the same slots are not mistaken for them. */
static void multiprio_entries_of_gone_tasks_leave(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 2);
	fake_start(&s);
	make_tasks(4000);
	for (int i = 0; i < 4000; i++) {
		fake_ready(&s, &tasks[i], -1);
		if (i % 4 == 3)
			ASSERT_PICKS(&s, 1, i - 3, i - 2, i - 1, i, -1);
		assert_true(hd_multiprio_room(s.state, 2).n_entries <= 2 * 4 + 65);
	}
	assert_true(hd_multiprio_room(s.state, 0).n_slots == 64);
	ASSERT_PICKS(&s, 2, -1);
	ASSERT_PICKS(&s, 0, -1);
	assert_true(hd_multiprio_room(s.state, 0).n_entries == 0 && hd_multiprio_room(s.state, 2).n_entries == 0);
	fake_close(&s);
}

/* More tasks than the news of a class have room for become ready before any worker looks for one. */
static void multiprio_every_heap_gets_all_tasks(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 2);
	fake_start(&s);
	make_tasks(1000);
	ready_all(&s, 1000, -1);
	for (int i = 0; i < 1000; i++)
		ASSERT_PICKS(&s, i < 500 ? 1 : 2, i);
	ASSERT_PICKS(&s, 1, -1);
	ASSERT_PICKS(&s, 2, -1);
	fake_close(&s);
}

/* The worker can run none of the first `n` tasks of its heap, so it looks at the ones behind them, too: these are
 * skipped if they were taken elsewhere. */
static void multiprio_gone_tasks_behind_the_window_are_not_taken(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {5, 5}}, {.time = {5, 5}}, {.time = {5, 5}}};
	heddle_sched s;
	fake_open(&s, "multiprio", "n=1", 2, 1);
	fake_start(&s);
	set_codelets(codelets, 3);
	tasks[0].workers = 1u << 1;
	ready_all(&s, 3, -1);
	ASSERT_PICKS(&s, 2, 1);
	ASSERT_PICKS(&s, 0, 2, -1);
	ASSERT_PICKS(&s, 1, 0, -1);
	fake_close(&s);
}

static void multiprio_without_memory_tasks_wait_in_a_queue(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	fake_start(&s);
	make_tasks(3);
	tasks[1].workers = 1;
	fake_memory = 0;
	ready_all(&s, 3, -1);
	fake_memory = -1;
	ASSERT_PICKS(&s, 1, 0, 2, -1);
	ASSERT_PICKS(&s, 0, 1, -1);
	fake_close(&s);
}

static void multiprio_models_that_lack_samples_get_them(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "new", .time = {NAN, NAN}};
	heddle_sched s;
	fake_open(&s, "multiprio", NULL, 1, 1);
	s.calibrate = 1;
	fake_start(&s);
	make_tasks(3);
	for (int i = 0; i < 3; i++)
		tasks[i].codelet = &c;
	fake_ready(&s, &tasks[0], -1);
	ASSERT_PICKS(&s, 1, -1);
	ASSERT_PICKS(&s, 0, 0);
	fake_ready(&s, &tasks[1], -1); /* one is on its way on the CPU */
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 1, 1);
	fake_ready(&s, &tasks[2], -1);
	ASSERT_PICKS(&s, 1, 2);
	fake_close(&s);
}

/* --- multiprio on random tasks ------------------------------------------------------------------------------------ */

static void random_tasks(struct hd_rng *rng, heddle_codelet *codelets, heddle_data *data, size_t n, unsigned n_workers)
{
	for (int c = 0; c < 4; c++)
		codelets[c] = (heddle_codelet){.time = {exp(9 * hd_rng_uniform(rng)), exp(9 * hd_rng_uniform(rng))},
		                               .samples = {99, 99, 99}};
	for (int i = 0; i < 8; i++)
		data[i] = (heddle_data){.bytes = 1 + hd_rng_next(rng) % 1000, .valid = 1u << hd_rng_next(rng) % 3};
	make_tasks(n);
	for (size_t i = 0; i < n; i++) {
		heddle_task *t = &tasks[i];
		t->codelet = &codelets[hd_rng_next(rng) % 4];
		t->n_data = hd_rng_next(rng) % 3;
		for (size_t j = 0; j < t->n_data; j++) {
			t->data[j] = &data[hd_rng_next(rng) % 8];
			t->mode[j] = hd_rng_next(rng) % 2 ? HEDDLE_R : HEDDLE_RW;
		}
		if (hd_rng_next(rng) % 5 == 0)
			t->workers = 1u << hd_rng_next(rng) % n_workers;
	}
}

/* All workers take what they are given, then one task ends, until none is left. */
static void drain(heddle_sched *s, struct hd_rng *rng, size_t n)
{
	static heddle_task *running[4096];
	size_t n_running = 0;
	for (size_t done = 0; done < n; done++) {
		for (unsigned w = 0; w < s->platform.n_workers; w++)
			for (heddle_task *t; (t = fake_pick(s, w));)
				running[n_running++] = t;
		if (!n_running)
			fail_msg("%zu tasks are left, and every worker refuses them", n - done);
		size_t i = hd_rng_next(rng) % n_running;
		fake_done(s, running[i]);
		running[i] = running[--n_running];
	}
}

static void multiprio_random_tasks_are_all_taken(void **unused)
{
	(void)unused;
	struct hd_rng rng;
	hd_rng_seed(&rng, 38);
	heddle_codelet codelets[4];
	heddle_data data[8];
	for (int i = 0; i < 500; i++) {
		heddle_sched s;
		fake_open(&s, "multiprio", i % 2 ? NULL : "epsilon=1,max_tries=2,n=64", 1 + (unsigned)i % 4,
		          (unsigned)i % 3);
		fake_start(&s);
		size_t n = 1 + hd_rng_next(&rng) % 200;
		random_tasks(&rng, codelets, data, n, (unsigned)s.platform.n_workers);
		ready_all(&s, n, -1);
		drain(&s, &rng, n);
		assert_true(fake_report(&s, "best remaining work left") == 0);
		fake_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(heap_walk_is_in_the_order_of_removal),
	    cmocka_unit_test(multiprio_gain_is_that_of_table_2),
	    cmocka_unit_test(multiprio_gain_of_one_class_or_equal_times),
	    cmocka_unit_test(multiprio_nod_is_that_of_figure_3),
	    cmocka_unit_test(multiprio_larger_nod_is_first_though_ready_later),
	    cmocka_unit_test(multiprio_equals_in_the_order_of_submission),
	    cmocka_unit_test(multiprio_nearest_to_its_data_is_taken),
	    cmocka_unit_test(multiprio_gain_must_be_within_epsilon),
	    cmocka_unit_test(multiprio_gains_within_the_tolerance_tie),
	    cmocka_unit_test(multiprio_slower_class_takes_what_the_best_cannot_do_soon),
	    cmocka_unit_test(multiprio_share_counts_workers_of_the_best_class),
	    cmocka_unit_test(multiprio_accounting_is_what_a_taken_task_subtracts),
	    cmocka_unit_test(multiprio_time_may_be_that_of_a_stream),
	    cmocka_unit_test(multiprio_remaining_work_is_that_of_a_node),
	    cmocka_unit_test(multiprio_without_eviction_takes_anything),
	    cmocka_unit_test(multiprio_evicted_task_is_left_to_the_best_class),
	    cmocka_unit_test(multiprio_entries_of_gone_tasks_leave),
	    cmocka_unit_test(multiprio_every_heap_gets_all_tasks),
	    cmocka_unit_test(multiprio_gone_tasks_behind_the_window_are_not_taken),
	    cmocka_unit_test(multiprio_without_memory_tasks_wait_in_a_queue),
	    cmocka_unit_test(multiprio_models_that_lack_samples_get_them),
	    cmocka_unit_test(multiprio_random_tasks_are_all_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
