/* heteroprio, laheteroprio and autoheteroprio, task by task: buckets, orders, the gate, tasks held ahead, locality,
 * averages. */
#include "fake_sched.h"
#include <unistd.h>
#include "policies/parts/locality.h"

/* Table 1 of the paper: A is for CPUs, B for GPUs. */
static heddle_codelet for_cpu = {.name = "A", .time = {1, 2}, .samples = {99, 99}};
static heddle_codelet for_gpu = {.name = "B", .time = {2, 1}, .samples = {99, 99}};

static void open_with(heddle_sched *s, const char *policy, const char *options, unsigned n_cpu, unsigned n_gpu)
{
	fake_open(s, policy, options, n_cpu, n_gpu);
	fake_start(s);
}

/* Tasks 0 .. n-1, each of the codelet with that name: "BABA". */
static void make_typed(const char *types)
{
	make_tasks(strlen(types));
	for (size_t i = 0; types[i]; i++)
		tasks[i].codelet = types[i] == 'A' ? &for_cpu : &for_gpu;
}

/* --- Buckets and orders ------------------------------------------------------------------------------------------- */

static void heteroprio_each_class_takes_first_what_it_gains_most_with(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "gate=no,ahead=1", 1, 1);
	make_typed("BABABABA");
	ready_all(&s, 8, -1);
	ASSERT_PICKS(&s, 0, 1, 3);
	ASSERT_PICKS(&s, 1, 0, 2, 4, 6, 5);
	ASSERT_PICKS(&s, 0, 7, -1);
	fake_close(&s);
}

static void heteroprio_users_order_comes_first(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "gate=no,ahead=1,order=cpu : B>A;cuda: A", 1, 1);
	make_typed("BABABA");
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 0, 0, 2);
	ASSERT_PICKS(&s, 1, 1, 3, 5, 4, -1);
	fake_close(&s);
}

static void heteroprio_reports_its_orders_and_since_when(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "", 1, 1);
	make_typed("ABA");
	for (int i = 0; i < 3; i++) {
		s.now = 10 * (i + 1);
		fake_ready(&s, &tasks[i], -1);
	}
	assert_true(fake_report(&s, "cpu: order changed") == 2);
	assert_true(fake_report(&s, "cpu order 1: A") == 10);
	assert_true(fake_report(&s, "cpu order 2: A > B") == 20);
	assert_true(fake_report(&s, "cuda order 2: B > A") == 20);
	fake_close(&s);
}

/* Ten buckets, each more urgent than all before: the last eight orders are reported, by their first eight buckets. */
static void heteroprio_reports_the_last_orders_when_there_were_many(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "bucket=priority", 1, 1);
	make_tasks(10);
	for (int i = 0; i < 10; i++) {
		tasks[i].priority = i;
		s.now = i;
		fake_ready(&s, &tasks[i], -1);
	}
	assert_true(fake_report(&s, "cpu: order changed") == 10);
	assert_true(fake_report(&s, "cpu order 3: 2 > 1 > 0") == 2);
	assert_true(fake_report(&s, "cpu order 10: 9 > 8 > 7 > 6 > 5 > 4 > 3 > 2") == 9);
	for (size_t i = 0; i < s.n_reports; i++)
		assert_null(strstr(s.report_names[i], "order 2:"));
	fake_close(&s);
}

static void heteroprio_order_of_an_unknown_class_is_refused(void **unused)
{
	(void)unused;
	heddle_sched s;
	static const char *const wrong[] = {"order=gpu: A", "order=cpu: A; gpu: B", "order=A > B"};
	for (int i = 0; i < 3; i++) {
		fake_open(&s, "heteroprio", wrong[i], 1, 1);
		assert_int_equal(s.policy->create(&s, &s.state), HEDDLE_E_INVALID);
		assert_non_null(strstr(heddle_last_error(), "order"));
		hd_policy_options_free(s.values);
	}
}

static void heteroprio_priorities_can_be_buckets(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "bucket=priority,gate=no,ahead=1", 1, 1);
	make_tasks(6);
	const int priorities[] = {1, 5, -2, 5, 0, 3};
	for (int i = 0; i < 6; i++)
		tasks[i].priority = priorities[i];
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 1, 1, 3, 5, 0);
	ASSERT_PICKS(&s, 0, 4, 2, -1);
	fake_close(&s);
}

/* Each is more urgent than all before it. */
static void heteroprio_a_thousand_buckets_have_a_place_each(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "bucket=priority,gate=no,ahead=1", 1, 0);
	make_tasks(1000);
	for (int i = 0; i < 1000; i++) {
		tasks[i].priority = i;
		fake_ready(&s, &tasks[i], -1);
	}
	assert_true(fake_report(&s, "cpu: order changed") == 1000);
	assert_true(fake_report(&s, "cpu order 1000: 999 > 998 > 997 > 996 > 995 > 994 > 993 > 992") == 0);
	for (int i = 1000; i-- > 0;)
		ASSERT_PICKS(&s, 0, i);
	ASSERT_PICKS(&s, 0, -1);
	fake_close(&s);
}

static void heteroprio_bound_tasks_stand_in_nobodys_way(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=1", 2, 1);
	make_typed("BBBB");
	tasks[0].workers = 2; /* the second CPU worker, though slow, and though the bucket is nearly empty */
	tasks[1].workers = 4;
	ready_all(&s, 4, -1);
	ASSERT_PICKS(&s, 1, 0);
	ASSERT_PICKS(&s, 2, 1, 2, 3, -1);
	fake_close(&s);
}

/* --- The gate ----------------------------------------------------------------------------------------------------- */

/* 5 times slower on CPUs, 2 GPUs: CPUs take while there are 10 tasks or more. */
static void gate_opens_when_the_fast_class_has_enough(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=1", 2, 2);
	make_tasks(11);
	for (int i = 0; i < 9; i++)
		fake_ready(&s, &tasks[i], -1);
	ASSERT_PICKS(&s, 0, -1);
	fake_ready(&s, &tasks[9], -1);
	fake_ready(&s, &tasks[10], -1);
	ASSERT_PICKS(&s, 0, 0);
	ASSERT_PICKS(&s, 1, 1);
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 2, 2);
	assert_true(fake_report(&s, "refused: the class is too slow") == 2);
	fake_close(&s);
}

/* 4 tasks B, which the GPU wants more: 4 us of work before those of "plain" (10 and 2 us); 4 + 3 * 2 >= 10. */
static void gate_by_order_counts_what_the_fast_class_wants_more(void **unused)
{
	(void)unused;
	static const char *const gates[] = {"gate=bucket,ahead=1,order=cpu: plain; cuda: B",
	                                    "gate=order,ahead=1,order=cpu: plain; cuda: B"};
	for (int i = 0; i < 2; i++) {
		heddle_sched s;
		open_with(&s, "heteroprio", gates[i], 1, 1);
		make_typed("BBBBppp");
		for (int t = 4; t < 7; t++)
			tasks[t].codelet = &plain;
		ready_all(&s, 7, -1);
		ASSERT_PICKS(&s, 0, i ? 4 : 0); /* B: 4 of them, 2 times slower */
		fake_close(&s);
	}
}

static void gate_is_open_while_times_are_unknown(void **unused)
{
	(void)unused;
	heddle_codelet unknown = {.name = "unknown", .time = {NAN, 1}};
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=1", 1, 1);
	make_tasks(1);
	tasks[0].codelet = &unknown;
	ready_all(&s, 1, -1);
	ASSERT_PICKS(&s, 0, 0);
	fake_close(&s);
}

/* --- Tasks held ahead --------------------------------------------------------------------------------------------- */

static void worker_holds_a_task_ahead_and_fetches_its_data(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=2", 1, 2);
	make_typed("BBBBBB");
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 1, 0); /* and holds 1 */
	assert_int_equal(tasks[0].fetched_to, -1);
	assert_int_equal(tasks[1].fetched_to, 1);
	ASSERT_PICKS(&s, 2, 2); /* and holds 3 */
	ASSERT_PICKS(&s, 1, 1); /* and holds 4; 5 is left, for two GPUs */
	ASSERT_PICKS(&s, 2, 3); /* fewer tasks than workers: it takes no more */
	ASSERT_PICKS(&s, 2, 5);
	ASSERT_PICKS(&s, 2, 4, -1); /* stolen */
	assert_true(fake_report(&s, "stolen from what another worker held") == 1);
	fake_close(&s);
}

static void with_fewer_tasks_than_workers_nobody_hoards(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=2", 4, 0);
	make_tasks(3);
	ready_all(&s, 3, -1);
	ASSERT_PICKS(&s, 0, 0);
	ASSERT_PICKS(&s, 1, 1);
	ASSERT_PICKS(&s, 2, 2, -1);
	assert_true(fake_report(&s, "stolen from what another worker held") == 0);
	fake_close(&s);
}

static void what_others_hold_is_not_stolen_by_another_class(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=2,gate=no", 1, 1);
	make_typed("BB");
	ready_all(&s, 2, -1);
	ASSERT_PICKS(&s, 1, 0);
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 1, 1);
	fake_close(&s);
}

static void a_worker_that_found_nothing_finds_what_comes_later(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=3", 2, 0);
	make_tasks(8);
	ASSERT_PICKS(&s, 0, -1);
	ready_all(&s, 3, -1);
	ASSERT_PICKS(&s, 0, 0); /* holds 1 and 2 */
	ASSERT_PICKS(&s, 1, 2, 1, -1);
	ASSERT_PICKS(&s, 0, -1);
	fake_ready(&s, &tasks[3], -1);
	ASSERT_PICKS(&s, 1, 3, -1);
	fake_close(&s);
}

/* Worker 0 may not; what it learns must not keep worker 1 from asking. */
static void a_task_for_one_worker_is_found_after_another_was_refused(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "heteroprio", "ahead=1", 3, 0);
	make_tasks(3);
	tasks[0].workers = 2;
	tasks[1].workers = 4;
	ready_all(&s, 2, -1);
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 1, 0, -1);
	ASSERT_PICKS(&s, 2, 1, -1);
	tasks[2].workers = 2;
	fake_ready(&s, &tasks[2], -1);
	ASSERT_PICKS(&s, 0, -1);
	ASSERT_PICKS(&s, 2, -1);
	ASSERT_PICKS(&s, 1, 2);
	fake_close(&s);
}

/* --- Locality ----------------------------------------------------------------------------------------------------- */

/* Reads x, 100 bytes valid on node 1; writes y, 30 bytes valid on node 2. */
static heddle_data x = {100, 1 << 1}, y = {30, 1 << 2};

static void add_data(heddle_task *t)
{
	t->n_data = 2;
	t->data[0] = &x;
	t->mode[0] = HEDDLE_R;
	t->data[1] = &y;
	t->mode[1] = HEDDLE_RW;
}

static void scores_of_a_hand_made_distribution(void **unused)
{
	(void)unused;
	const struct {
		enum hd_locality how;
		double score[3];
	} rows[] = {
	    {HD_LOCALITY_WORKER, {0, 0, 1}},
	    {HD_LOCALITY_LCS, {-130, -30, -100}},
	    {HD_LOCALITY_LS_SDH, {0, 100, 30}},
	    {HD_LOCALITY_LS_SDH2, {0, 100, 900}},
	    {HD_LOCALITY_LS_SDHB, {0, 100, 30000}},
	    {HD_LOCALITY_LC_SMWB, {-160, -60, -100}},
	    {HD_LOCALITY_LC_SMWB_N, {-145, -45, -100}},
	};
	heddle_sched s;
	fake_open(&s, "laheteroprio", NULL, 1, 2);
	make_tasks(1);
	add_data(&tasks[0]);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct hd_presence present[3];
		double scores[3];
		hd_locality_scores(rows[i].how, &tasks[0], 2, 3, present, scores);
		for (unsigned node = 0; node < 3; node++)
			if (scores[node] != rows[i].score[node])
				fail_msg("score %d, node %u: %g", (int)rows[i].how, node, scores[node]);
	}
	hd_policy_options_free(s.values);
}

/* The task waits on its node: of the two GPUs, the one there takes it first, before an older one. */
static void task_waits_on_the_node_with_the_best_score(void **unused)
{
	(void)unused;
	static const struct {
		const char *options;
		int first_of_worker_1;
	} rows[] = {
	    {"locality=LcS,ahead=1", 1},     {"locality=LS_SDH,ahead=1", 1},  {"locality=LS_SDH2,ahead=1", 0},
	    {"locality=LS_SDHB,ahead=1", 0}, {"locality=LC_SMWB,ahead=1", 1}, {"locality=worker,ahead=1", 0},
	    {"locality=none,ahead=1", 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		heddle_sched s;
		open_with(&s, "laheteroprio", rows[i].options, 1, 2);
		make_typed("BB");
		add_data(&tasks[1]);
		fake_ready(&s, &tasks[0], 0); /* on node 0, where it was released */
		fake_ready(&s, &tasks[1], 2);
		ASSERT_PICKS(&s, 1, rows[i].first_of_worker_1);
		ASSERT_PICKS(&s, 2, 1 - rows[i].first_of_worker_1, -1);
		fake_close(&s);
	}
}

/* Nothing is anywhere: the releaser's node, though there are more tasks in its list. */
static void equal_scores_leave_the_task_where_it_was_released(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "laheteroprio", "locality=LS_SDH,ahead=1", 1, 2);
	make_typed("BBB");
	for (int i = 0; i < 3; i++)
		fake_ready(&s, &tasks[i], i < 2 ? 1 : 2);
	ASSERT_PICKS(&s, 2, 2);
	ASSERT_PICKS(&s, 1, 0, 1, -1);
	fake_close(&s);
}

/* Its own node's list of every bucket, in its order, comes before the other nodes' lists. */
static void own_list_of_an_unwanted_bucket_comes_before_other_lists(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "laheteroprio", "locality=worker,ahead=1,gate=no", 1, 2);
	make_typed("BAB");
	fake_ready(&s, &tasks[0], 2);
	fake_ready(&s, &tasks[1], 1);
	fake_ready(&s, &tasks[2], 1);
	ASSERT_PICKS(&s, 1, 2, 1, 0, -1);
	assert_true(fabs(fake_report(&s, "taken from the own node's lists") - 100 * 2 / 3.0) < 1e-9);
	fake_close(&s);
}

static void distance_is_half_likeness_of_orders_half_time(void **unused)
{
	(void)unused;
	const size_t order[] = {0, 1, 2}, same[] = {0, 1, 2}, reversed[] = {2, 1, 0}, swapped[] = {1, 0, 2};
	assert_true(fabs(hd_locality_distance(order, same, 3, 0.4) - 0.7) < 1e-12);
	assert_true(fabs(hd_locality_distance(order, reversed, 3, 0.4) - 0.2) < 1e-12);
	assert_true(fabs(hd_locality_distance(order, swapped, 3, 0) - 0.25) < 1e-12);
}

/* Three nodes with one GPU class on 1 and 2, CPUs on 0: the orders of the GPUs are alike, so with equal links a GPU
 * turns to the list of the CPUs, who want other things, before that of the other GPU. */
static void list_of_workers_with_other_wishes_is_nearer(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "laheteroprio", "locality=worker,ahead=1,gate=no", 1, 2);
	struct heddle_link links[6];
	size_t n = 0;
	for (unsigned from = 0; from < 3; from++)
		for (unsigned to = 0; to < 3; to++)
			if (from != to)
				links[n++] = (struct heddle_link){.from = from, .to = to, .bandwidth = 1000};
	s.platform.links = links;
	s.platform.n_links = n;
	fake_start(&s);
	make_typed("BAAA");
	fake_ready(&s, &tasks[0], 2); /* both codelets are met: the orders are known */
	fake_ready(&s, &tasks[1], 2);
	fake_ready(&s, &tasks[2], 0);
	fake_ready(&s, &tasks[3], 2);
	ASSERT_PICKS(&s, 1, 2, 0, 1);
	fake_close(&s);
}

/* --- autoheteroprio ----------------------------------------------------------------------------------------------- */

static void orders_are_computed_at_the_first_push_and_every_nth(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "autoheteroprio", "refresh=3", 1, 1);
	make_tasks(7);
	const double expected[] = {1, 1, 1, 2, 2, 2, 3};
	for (int i = 0; i < 7; i++) {
		fake_ready(&s, &tasks[i], -1);
		assert_true(fake_report(&s, "orders computed") == expected[i]);
	}
	assert_true(fake_report(&s, "cpu: order changed") == 1); /* by the first alone */
	tasks[0].ready = 0;
	tasks[7] = fake_task(&for_cpu, 7, 0);
	fake_ready(&s, &tasks[7], -1); /* a codelet met for the first time */
	assert_true(fake_report(&s, "orders computed") == 4);
	fake_close(&s);
}

static void idle_share_is_what_workers_did_not_run(void **unused)
{
	(void)unused;
	heddle_sched s;
	open_with(&s, "autoheteroprio", "gate=no,ahead=1", 2, 1);
	make_typed("AA");
	s.now = 1000; /* no tasks: does not count */
	ready_all(&s, 2, -1);
	heddle_task *first = fake_pick(&s, 0), *second = fake_pick(&s, 2);
	s.policy->started(s.state, first, 0);
	s.now = 1004;
	s.policy->started(s.state, second, 2);
	s.now = 1006;
	fake_done(&s, first); /* 6 of 2 * 6 us; the GPU 2 of 6 */
	assert_true(fabs(fake_report(&s, "cpu: idle") - 50) < 1e-9);
	assert_true(fabs(fake_report(&s, "cuda: idle") - 400 / 6.0) < 1e-9);
	s.now = 1010;
	fake_done(&s, second); /* 6 of 20 us */
	s.now = 9999;
	assert_true(fabs(fake_report(&s, "cpu: idle") - 70) < 1e-9);
	assert_true(fabs(fake_report(&s, "cuda: idle") - 40) < 1e-9);
	fake_close(&s);
}

static void class_without_samples_tries_a_task_first(void **unused)
{
	(void)unused;
	heddle_codelet new = {.name = "new", .time = {NAN, 1}, .samples = {0, 99}};
	heddle_sched s;
	fake_open(&s, "autoheteroprio", NULL, 1, 1);
	s.calibrate = 1;
	fake_start(&s);
	make_typed("AAA");
	tasks[1].codelet = tasks[2].codelet = &new;
	ready_all(&s, 3, -1);
	ASSERT_PICKS(&s, 0, 1); /* before the older task 0; one sample is enough */
	ASSERT_PICKS(&s, 1, 2);
	assert_true(fake_report(&s, "tried to calibrate models") == 1);
	assert_true(fake_report(&s, "cpu takes: new") == 0); /* known as a bucket, and not counted twice */
	fake_close(&s);
}

/* A trial changes the times: whom the gate has refused is the faster now, and the other is refused. */
static void refused_class_asks_again_when_times_change(void **unused)
{
	(void)unused;
	heddle_codelet changing = {.name = "changing", .time = {10, 1}, .samples = {99, 99}};
	heddle_sched s;
	fake_open(&s, "autoheteroprio", "ahead=1", 1, 1);
	s.calibrate = 1;
	fake_start(&s);
	make_tasks(2);
	tasks[0].codelet = tasks[1].codelet = &changing;
	fake_ready(&s, &tasks[0], -1);
	ASSERT_PICKS(&s, 0, -1);
	changing.time[1] = 1000;
	changing.samples[1] = 0;
	fake_ready(&s, &tasks[1], -1);
	ASSERT_PICKS(&s, 1, 1);
	fake_done(&s, &tasks[1]);
	ASSERT_PICKS(&s, 1, -1);
	ASSERT_PICKS(&s, 0, 0);
	fake_close(&s);
}

/* A has two successors B, one of which has another predecessor: NOD 1.5; R = 1 + 1; half of B is thought to go to each
 * class, so NRT is 1/2 * 2 * 1.5 on the CPU and 1/2 * 1 * 1.5 on the GPU. Then one A without successors: all is halved;
 * it takes 4 us on the CPU. */
static void averages_over_successors_are_remembered(void **unused)
{
	(void)unused;
	heddle_codelet longer = {.name = "A", .time = {4, 2}, .samples = {99, 99}};
	char dir[] = "/tmp/heddle-heteroprio-XXXXXX", options[256], path[128], text[4096] = "";
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/m.yaml", dir);
	snprintf(options, sizeof options, "memory=%s", path);
	heddle_sched s;
	open_with(&s, "autoheteroprio", options, 1, 1);
	make_typed("ABBA");
	tasks[3].codelet = &longer;
	tasks[0].successors[0] = &tasks[1];
	tasks[0].successors[1] = &tasks[2];
	tasks[0].n_successors = 2;
	tasks[1].n_preds = 2;
	tasks[2].n_preds = 1;
	fake_ready(&s, &tasks[0], -1);
	fake_ready(&s, &tasks[3], -1);
	fake_close(&s);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	const char *a = strstr(text, "- codelet: 'A'\n  tasks: 2\n  walks: 2\n  nod: 0.75\n  released: 1\n");
	assert_non_null(a);
	assert_non_null(strstr(a, "  - class: 'cpu'\n    time: 2.5\n    samples: 2\n    nrt: 0.75\n    executed: 0\n"));
	assert_non_null(strstr(a, "  - class: 'cuda'\n    time: 2\n    samples: 2\n    nrt: 0.375\n    executed: 0\n"));
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests_of_heteroprio[] = {
	    cmocka_unit_test(heteroprio_each_class_takes_first_what_it_gains_most_with),
	    cmocka_unit_test(heteroprio_users_order_comes_first),
	    cmocka_unit_test(heteroprio_reports_its_orders_and_since_when),
	    cmocka_unit_test(heteroprio_reports_the_last_orders_when_there_were_many),
	    cmocka_unit_test(heteroprio_order_of_an_unknown_class_is_refused),
	    cmocka_unit_test(heteroprio_priorities_can_be_buckets),
	    cmocka_unit_test(heteroprio_a_thousand_buckets_have_a_place_each),
	    cmocka_unit_test(heteroprio_bound_tasks_stand_in_nobodys_way),
	    cmocka_unit_test(gate_opens_when_the_fast_class_has_enough),
	    cmocka_unit_test(gate_by_order_counts_what_the_fast_class_wants_more),
	    cmocka_unit_test(gate_is_open_while_times_are_unknown),
	    cmocka_unit_test(worker_holds_a_task_ahead_and_fetches_its_data),
	    cmocka_unit_test(with_fewer_tasks_than_workers_nobody_hoards),
	    cmocka_unit_test(what_others_hold_is_not_stolen_by_another_class),
	    cmocka_unit_test(a_worker_that_found_nothing_finds_what_comes_later),
	    cmocka_unit_test(a_task_for_one_worker_is_found_after_another_was_refused),
	    cmocka_unit_test(scores_of_a_hand_made_distribution),
	    cmocka_unit_test(task_waits_on_the_node_with_the_best_score),
	    cmocka_unit_test(equal_scores_leave_the_task_where_it_was_released),
	    cmocka_unit_test(own_list_of_an_unwanted_bucket_comes_before_other_lists),
	    cmocka_unit_test(distance_is_half_likeness_of_orders_half_time),
	    cmocka_unit_test(list_of_workers_with_other_wishes_is_nearer),
	    cmocka_unit_test(orders_are_computed_at_the_first_push_and_every_nth),
	    cmocka_unit_test(idle_share_is_what_workers_did_not_run),
	    cmocka_unit_test(class_without_samples_tries_a_task_first),
	    cmocka_unit_test(refused_class_asks_again_when_times_change),
	    cmocka_unit_test(averages_over_successors_are_remembered),
	};
	return cmocka_run_group_tests(tests_of_heteroprio, NULL, NULL);
}
