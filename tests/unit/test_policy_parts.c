/* Decisions inside policies, on small machines in virtual time: which tasks multiprio looks at, how long dada expects a
 * batch to take, the dates of mapped tasks, scores of locality; and the heap by itself. */
#include "../machine.h"
#include "internals.h"
#include "policies/parts/batch_mapping.h"
#include "policies/parts/heap.h"
#include "policies/parts/locality.h"
#include "probe.h"
#include "virtual_machine.h"

/* A figure of the policy's report. */
struct figure {
	const char *name;
	double value;
};

static void find_figure(void *arg, const char *name, double value, const char *unit)
{
	struct figure *f = arg;
	(void)unit;
	if (strcmp(name, f->name) == 0)
		f->value = value;
}

static double reported(const struct machine *m, const char *name)
{
	struct figure f = {.name = name, .value = NAN};
	OK(heddle_policy_report(m->rt, find_figure, &f));
	if (isnan(f.value))
		fail_msg("policy %s does not report '%s'", heddle_runtime_policy(m->rt), name);
	return f.value;
}

/* --- Heap --------------------------------------------------------------------------------------------------------- */

static void push(struct hd_heap *h, double score, uint32_t slot)
{
	assert_true(hd_heap_reserve(h, hd_heap_n(h) + 1));
	hd_heap_push(h, (struct hd_heap_entry){.key = hd_heap_key(score, 0), .order = slot, .slot = slot});
}

static size_t place_of(const struct hd_heap *h, uint32_t slot)
{
	size_t place = 0;
	while (hd_heap_at(h, place)->slot != slot)
		place++;
	return place;
}

/* Takes all out, and checks that each is not before the one taken out before. */
static void assert_comes_out_in_order(struct hd_heap *h, size_t n)
{
	uint64_t last = UINT64_MAX;
	assert_int_equal(hd_heap_n(h), n);
	for (; n > 0; n--) {
		assert_true(hd_heap_at(h, 0)->key <= last);
		last = hd_heap_at(h, 0)->key;
		hd_heap_remove(h, 0);
	}
	hd_heap_fini(h);
}

/* The front holds the scores from 1000 on. The rest is a tree of which one half has small scores and the other large
 * ones: the last entry, which is large, takes the place of one among the small ones, and has to rise from there. */
static void entry_that_replaces_a_removed_one_may_have_to_rise(void **state)
{
	(void)state;
	struct hd_heap h = {0};
	for (uint32_t i = 0; i < HD_HEAP_FRONT; i++)
		push(&h, 2000 - i, i);
	static const double rest[] = {100, 50, 90, 20, 30, 80, 85, 10, 15, 25, 27, 70, 75};
	const uint32_t n = HD_HEAP_FRONT + sizeof rest / sizeof *rest;
	for (uint32_t i = HD_HEAP_FRONT; i < n; i++)
		push(&h, rest[i - HD_HEAP_FRONT], i);
	assert_int_equal(h.n_rest, sizeof rest / sizeof *rest);
	hd_heap_remove(&h, place_of(&h, HD_HEAP_FRONT + 7)); /* the score 10, below 20, below 50: 75 comes there */
	for (size_t i = 1; i < h.n_rest; i++)
		assert_true(h.rest[i].key <= h.rest[(i - 1) / 2].key);
	assert_comes_out_in_order(&h, n - 1);
}

/* One entry more than the front has room for, which comes after all of them. */
static void first_entry_behind_the_front_is_behind_it(void **state)
{
	(void)state;
	struct hd_heap h = {0};
	for (uint32_t i = 0; i < HD_HEAP_FRONT + 2; i++)
		push(&h, 2000 - i, i);
	assert_int_equal(h.n_front, HD_HEAP_FRONT);
	assert_int_equal(h.rest[0].slot, HD_HEAP_FRONT);
	assert_comes_out_in_order(&h, HD_HEAP_FRONT + 2);
}

/* Removals anywhere, between insertions: what comes out is always sorted. */
static void removal_anywhere_keeps_the_order(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct hd_heap h = {0};
		struct hd_rng rng;
		hd_rng_seed(&rng, seed);
		for (uint32_t i = 0; i < 600; i++) {
			push(&h, (double)(hd_rng_next(&rng) % 1000), i);
			if (i % 3 == 2)
				hd_heap_remove(&h, hd_rng_next(&rng) % hd_heap_n(&h));
		}
		assert_comes_out_in_order(&h, 400);
	}
}

static int slot_is_even(const void *arg, const struct hd_heap_entry *entry)
{
	(void)arg;
	return entry->slot % 2 == 0;
}

static void filter_keeps_the_order(void **state)
{
	(void)state;
	struct hd_heap h = {0};
	struct hd_rng rng;
	hd_rng_seed(&rng, 3);
	for (uint32_t i = 0; i < 600; i++)
		push(&h, (double)(hd_rng_next(&rng) % 1000), i);
	hd_heap_filter(&h, slot_is_even, NULL);
	for (size_t i = 0; i < hd_heap_n(&h); i++)
		assert_int_equal(hd_heap_at(&h, i)->slot % 2, 0);
	assert_comes_out_in_order(&h, 300);
}

/* --- multiprio ---------------------------------------------------------------------------------------------------- */

/* Three equal tasks that read one datum each, of which the third alone has it on the GPU. With n = 2 it is not looked
 * at before one of the others has gone. */
static void multiprio_looks_at_n_tasks_and_no_more(void **state)
{
	(void)state;
	for (int n = 1; n <= 3; n++) {
		char options[16];
		snprintf(options, sizeof options, "n=%d", n);
		struct machine m = {.gpus = 1, .sched = "multiprio", .options = options};
		heddle_data *d[3];
		machine_start(&m);
		machine_data(&m, 3, d);
		WORK(&m, 1, heddle_r(d[2]));
		OK(heddle_wait_all(m.rt));
		for (int i = 0; i < 3; i++)
			WORK(&m, 10, heddle_r(d[i]));
		struct heddle_trace *trace = machine_trace(&m);
		static const uint64_t expected[3][3] = {{1, 2, 3}, {1, 3, 2}, {3, 1, 2}};
		for (size_t i = 0; i < 3; i++) /* by their start */
			assert_int_equal(trace->tasks[i + 1].id, expected[n - 1][i]);
		heddle_trace_free(trace);
		OK(heddle_stop(m.rt));
	}
}

/* --- dada --------------------------------------------------------------------------------------------------------- */

/* Ten tasks of 1 us on one CPU, which become ready together: they fit when their sum is at most (2 + alpha) lambda. The
 * one that they wait for has a lambda of its own: its 1 us, for no task may be longer. */
static void dada_accepts_up_to_2_plus_alpha_lambda(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		double alpha;
	} cases[] = {{"alpha=0,epsilon=1e-8", 0}, {"alpha=0.5,epsilon=1e-8", 0.5}, {"alpha=1,epsilon=1e-8", 1}};
	for (size_t i = 0; i < 3; i++) {
		struct machine m = {.cpus = 1, .sched = "dada", .options = cases[i].options};
		heddle_data *d;
		machine_start(&m);
		machine_data(&m, 1, &d);
		WORK(&m, 1, heddle_w(d));
		for (int t = 0; t < 10; t++)
			WORK(&m, 1, heddle_r(d));
		OK(heddle_wait_all(m.rt));
		assert_true(reported(&m, "batches") == 2);
		double lambda = 2 * reported(&m, "lambda kept, mean") - 1, expected = 10 / (2 + cases[i].alpha);
		if (!(lambda >= expected && lambda <= expected + 1e-6))
			fail_msg("lambda is %.9g instead of %.9g with alpha %g", lambda, expected, cases[i].alpha);
		OK(heddle_stop(m.rt));
	}
}

/* --- Dates of mapped tasks ---------------------------------------------------------------------------------------- */

/* Each CPU begins with a task of its own. CPU 0 runs one of 10 us and three more wait for it there; CPU 1 is busy for
 * 20 us. What comes then ends earlier on CPU 1, although CPU 0 is free earlier than that. */
static void tasks_queued_before_count_for_a_later_batch(void **state)
{
	(void)state;
	static const char *const policies[] = {"heft", "dada"};
	for (int p = 0; p < 2; p++) {
		struct machine m = {.cpus = 2, .sched = policies[p]};
		heddle_data *d[7];
		heddle_task *quick;
		machine_start(&m);
		machine_data(&m, 7, d);
		WORK(&m, 1, heddle_r(d[0]), heddle_on(1), heddle_out(&quick));
		for (int i = 0; i < 4; i++)
			WORK(&m, 10, heddle_r(d[1]), heddle_on(0));
		WORK(&m, 19, heddle_r(d[2]), heddle_on(1));
		OK(heddle_task_wait(quick)); /* it is 1 us now */
		heddle_task_release(quick);
		WORK(&m, 5, heddle_r(d[3]));
		struct heddle_trace *trace = machine_trace(&m);
		const struct heddle_trace_task *late = task_of(trace, 6);
		assert_int_equal(late->worker, 1);
		assert_true(late->ready == 1 && late->start == 20);
		heddle_trace_free(trace);
		OK(heddle_stop(m.rt));
	}
}

static struct hd_mapping mapping;
static double ends[3][2]; /* of the two workers: with nothing placed, as a task is placed, and brought up to date */

static void open_mapping(heddle_sched *sched)
{
	OK(hd_mapping_init(&mapping, sched, 0));
	for (unsigned w = 0; w < 2; w++)
		heddle_sched_open(sched, w, 1); /* for the policy of this test, which is another one */
}

static void note_ends(int when)
{
	for (unsigned w = 0; w < 2; w++)
		ends[when][w] = hd_dates_of(&mapping.dates, w);
}

static void place_some(heddle_task *t)
{
	struct hd_mapping_worker *w = &mapping.workers[1];
	hd_dates_renew(&mapping.dates);
	note_ends(0);
	hd_mapping_place(&mapping, t, 1, 30);
	note_ends(1);
	hd_dates_renew(&mapping.dates);
	note_ends(2);
	assert_int_equal(w->load, 1);
	assert_ptr_equal(hd_mapping_pick(&mapping, 1), t);
	assert_true(mapping.dates.workers[1].queued == 0 && !w->queue.first);
	hd_mapping_done(&mapping, t, 1);
	assert_int_equal(w->load, 0);
}

/* A task that is placed counts until it is picked, also when dates are made anew in between. */
static void date_of_a_worker_includes_its_queue(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2, .sched = "probe"};
	heddle_data *d;
	probe_set((struct probe){.on_create = open_mapping, .on_ready = place_some});
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_r(d));
	OK(heddle_wait_all(m.rt));
	static const double expected[3][2] = {{0, 0}, {0, 30}, {0, 30}};
	assert_memory_equal(ends, expected, sizeof ends);
	hd_mapping_fini(&mapping);
	OK(heddle_stop(m.rt));
}

static unsigned ran_on;

static int note_worker(heddle_context *c)
{
	ran_on = heddle_context_worker(c);
	return 0;
}

/* Tasks about which nothing is known, each submitted when the one before has ended, all go to the first worker: what
 * has ended is no load. On threads, for in virtual time all is known. */
static void tasks_that_have_ended_are_no_load(void **state)
{
	(void)state;
	static const char *const policies[] = {"heft", "dada"};
	for (int p = 0; p < 2; p++) {
		struct heddle_config config;
		heddle_runtime *rt;
		OK(heddle_config_init(&config));
		config.n_cpu = cores_up_to(2);
		config.bind = 0;
		config.model_dir = "none";
		config.sched = policies[p];
		OK(heddle_start(&config, &rt));
		heddle_codelet *codelet =
		    heddle_codelet_new(rt, .name = "unknown", .cpu = note_worker, .model = HEDDLE_MODEL_NONE);
		for (int i = 0; i < 5; i++) {
			OK(heddle_submit(rt, heddle_call(codelet)));
			OK(heddle_wait_all(rt));
			assert_int_equal(ran_on, 0);
		}
		OK(heddle_stop(rt));
	}
}

/* --- Locality ----------------------------------------------------------------------------------------------------- */

static double scores[HD_LOCALITY_LC_SMWB_N + 1][2]; /* of a task, on main memory and on the GPU */
static uint64_t scored;                             /* which */

static void note_scores(heddle_task *t)
{
	if (heddle_task_order(t) != scored)
		return;
	struct hd_presence present[2];
	for (int how = HD_LOCALITY_NONE; how <= HD_LOCALITY_LC_SMWB_N; how++)
		hd_locality_scores((enum hd_locality)how, t, 1, 2, present, scores[how]);
}

static void start_scoring(struct machine *m, uint64_t order)
{
	*m = (struct machine){.cpus = 1, .gpus = 1, .sched = "probe"};
	memset(scores, 0xff, sizeof scores);
	scored = order;
	probe_set((struct probe){.on_ready = note_scores});
	machine_start(m);
}

static void assert_scores(enum hd_locality how, double in_main_memory, double on_gpu)
{
	if (scores[how][0] != in_main_memory || scores[how][1] != on_gpu)
		fail_msg("score %d: %g and %g instead of %g and %g", how, scores[how][0], scores[how][1],
		         in_main_memory, on_gpu);
}

/* Read: 100 bytes, everywhere. Written: 300 bytes that are on the GPU alone, and 200 in main memory alone. */
static void scores_count_read_and_written_pieces(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *read, *there, *here;
	start_scoring(&m, 1);
	OK(heddle_variable(m.rt, NULL, 100, &read));
	OK(heddle_variable(m.rt, NULL, 300, &there));
	OK(heddle_variable(m.rt, NULL, 200, &here));
	WORK(&m, 10, heddle_r(read), heddle_w(there), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(read), heddle_rw(there), heddle_rw(here));
	OK(heddle_wait_all(m.rt));
	assert_scores(HD_LOCALITY_NONE, 0, 0);
	assert_scores(HD_LOCALITY_WORKER, 0, 1);
	assert_scores(HD_LOCALITY_LCS, -(LATENCY + 0.3), -(LATENCY + 0.2));
	assert_scores(HD_LOCALITY_LS_SDH, 100 + 200, 100 + 300);
	assert_scores(HD_LOCALITY_LS_SDH2, 100 + 200 * 200, 100 + 300 * 300);
	assert_scores(HD_LOCALITY_LS_SDHB, 100 + 1000 * 200, 100 + 1000 * 300);
	/* What is missing of the written ones counts 2 - 1/2 times, since half of the pieces are there. */
	assert_scores(HD_LOCALITY_LC_SMWB, -300 * 1.5, -200 * 1.5);
	/* Or 2 - 2/3 times, since the task writes two of its three data. */
	assert_scores(HD_LOCALITY_LC_SMWB_N, -300 * (2 - 2.0 / 3), -200 * (2 - 2.0 / 3));
	OK(heddle_stop(m.rt));
}

/* A task writes two data that are on the GPU, and reads one that is not. */
static void scores_of_several_written_pieces(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *read, *first, *second;
	start_scoring(&m, 1);
	OK(heddle_variable(m.rt, NULL, 100, &read));
	OK(heddle_variable(m.rt, NULL, 300, &first));
	OK(heddle_variable(m.rt, NULL, 200, &second));
	WORK(&m, 10, heddle_w(first), heddle_w(second), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(read), heddle_w(first), heddle_rw(second));
	OK(heddle_wait_all(m.rt));
	assert_scores(HD_LOCALITY_LS_SDHB, 100, 1000 * 500 * 2);
	assert_scores(HD_LOCALITY_LC_SMWB, -500 * 2, -100);
	OK(heddle_stop(m.rt));
}

/* A task that commutes writes. */
static void scores_count_commuting_pieces_as_written(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *d;
	start_scoring(&m, 1);
	OK(heddle_variable(m.rt, NULL, 300, &d));
	WORK(&m, 10, heddle_w(d), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_commute(d));
	OK(heddle_wait_all(m.rt));
	assert_scores(HD_LOCALITY_LS_SDH, 0, 300);
	assert_scores(HD_LOCALITY_LS_SDH2, 0, 300 * 300);
	assert_scores(HD_LOCALITY_LS_SDHB, 0, 1000 * 300);
	assert_scores(HD_LOCALITY_LC_SMWB, -300 * 2, 0);
	assert_scores(HD_LOCALITY_LC_SMWB_N, -300, 0);
	OK(heddle_stop(m.rt));
}

/* What a scratch buffer holds is nowhere yet. */
static void scores_do_not_count_scratch(void **state)
{
	(void)state;
	struct machine m;
	heddle_data *d;
	start_scoring(&m, 0);
	OK(heddle_variable(m.rt, NULL, 300, &d));
	WORK(&m, 10, heddle_scratch(d));
	OK(heddle_wait_all(m.rt));
	assert_scores(HD_LOCALITY_LS_SDH, 0, 0);
	assert_scores(HD_LOCALITY_LC_SMWB, 0, 0);
	assert_scores(HD_LOCALITY_LC_SMWB_N, 0, 0);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(entry_that_replaces_a_removed_one_may_have_to_rise),
	    cmocka_unit_test(first_entry_behind_the_front_is_behind_it),
	    cmocka_unit_test(removal_anywhere_keeps_the_order),
	    cmocka_unit_test(filter_keeps_the_order),
	    cmocka_unit_test(multiprio_looks_at_n_tasks_and_no_more),
	    cmocka_unit_test(dada_accepts_up_to_2_plus_alpha_lambda),
	    cmocka_unit_test(tasks_queued_before_count_for_a_later_batch),
	    cmocka_unit_test(date_of_a_worker_includes_its_queue),
	    cmocka_unit_test(tasks_that_have_ended_are_no_load),
	    cmocka_unit_test(scores_count_read_and_written_pieces),
	    cmocka_unit_test(scores_of_several_written_pieces),
	    cmocka_unit_test(scores_count_commuting_pieces_as_written),
	    cmocka_unit_test(scores_do_not_count_scratch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
