/* dm, dmda, dmdar and dmdas on worked examples, and calibration. */
#include "fake_sched.h"

/* --- dm and its kin ----------------------------------------------------------------------------------------------- */

/* 10 us on a CPU, 3 us on the GPU. GPU: 3 6 9; the fourth would end at 12 there, at 10 on a CPU. */
static void dm_worker_that_ends_first_is_chosen(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {10, 3}, .samples = {99, 99}};
	heddle_sched s;
	fake_open(&s, "dm", NULL, 2, 1);
	fake_start(&s);
	make_tasks(7);
	for (int i = 0; i < 7; i++)
		tasks[i].codelet = &c;
	ready_all(&s, 7, -1);
	ASSERT_PICKS(&s, 0, 3, -1);
	ASSERT_PICKS(&s, 1, 4, -1);
	ASSERT_PICKS(&s, 2, 0, 1, 2, 5, 6, -1);
	fake_close(&s);
}

static void dm_tasks_of_one_batch_see_each_other(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "dm", NULL, 2, 0);
	fake_start(&s);
	make_tasks(4);
	heddle_task *batch[] = {&tasks[0], &tasks[1], &tasks[2], &tasks[3]};
	for (int i = 0; i < 4; i++)
		tasks[i].ready = 1;
	s.policy->ready(s.state, batch, 4, -1);
	ASSERT_PICKS(&s, 0, 0, 2, -1);
	ASSERT_PICKS(&s, 1, 1, 3, -1);
	fake_close(&s);
}

static void dm_running_and_picked_tasks_count(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {10, 3}, .samples = {99, 99}};
	heddle_sched s;
	fake_open(&s, "dm", NULL, 1, 1);
	fake_start(&s);
	make_tasks(3);
	tasks[0].codelet = tasks[1].codelet = tasks[2].codelet = &c;
	s.now = 100;
	s.free_at[0] = 103;
	s.free_at[1] = 106.5;
	fake_ready(&s, &tasks[0], -1); /* 113 or 109.5 */
	ASSERT_PICKS(&s, 1, 0);
	s.free_at[1] = 109.5;          /* the core counts it now, the policy must not any more */
	fake_ready(&s, &tasks[1], -1); /* 113 or 112.5 */
	fake_ready(&s, &tasks[2], -1); /* 113 or 115.5 */
	ASSERT_PICKS(&s, 0, 2, -1);
	ASSERT_PICKS(&s, 1, 1, -1);
	fake_close(&s);
}

static void dm_equal_ends_first_worker(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "dm", NULL, 3, 0);
	fake_start(&s);
	make_tasks(4);
	ready_all(&s, 4, -1);
	ASSERT_PICKS(&s, 0, 0, 3, -1);
	ASSERT_PICKS(&s, 1, 1, -1);
	ASSERT_PICKS(&s, 2, 2, -1);
	fake_close(&s);
}

struct placement {
	const char *policy, *options;
	uint64_t bytes; /* of its datum, which is in main memory; 1 us each */
	double cpu_free, gpu_free;
	double bus; /* bandwidth that the two links of 1 MB/s share; 0: none */
};

/* delta is 10 on the CPU and 2 on the GPU: where does the task go? */
static unsigned place_one(struct placement p)
{
	heddle_sched s;
	fake_open(&s, p.policy, p.options, 1, 1);
	unsigned bus_0 = 0;
	struct heddle_bus bus = {.bandwidth = p.bus};
	struct heddle_link links[] = {{0, 1, 1, 0, &bus_0, p.bus > 0}, {1, 0, 1, 0, &bus_0, p.bus > 0}};
	s.platform.buses = &bus;
	s.platform.n_buses = p.bus > 0;
	s.platform.links = links;
	s.platform.n_links = 2;
	fake_start(&s);
	heddle_data d = {.bytes = p.bytes, .valid = 1};
	make_tasks(1);
	tasks[0].n_data = 1;
	tasks[0].data[0] = &d;
	s.free_at[0] = p.cpu_free;
	s.free_at[1] = p.gpu_free;
	fake_ready(&s, &tasks[0], -1);
	unsigned w = fake_pick(&s, 1) ? 1 : 0;
	assert_true(w || fake_pick(&s, 0));
	fake_close(&s);
	return w;
}
#define PLACE(...) place_one((struct placement){__VA_ARGS__})

static void dmda_transfers_delay_and_cost(void **unused)
{
	(void)unused;
	assert_int_equal(PLACE("dm", NULL, 20, 0, 0, 0), 1);
	assert_int_equal(PLACE("dmda", NULL, 5, 0, 0, 0), 0); /* 10, or 5 + 2 + 5 */
	assert_int_equal(PLACE("dmda", NULL, 3, 0, 0, 0), 1); /* 10, or 3 + 2 + 3 */
	/* 35, or 30 + 2 + 4: fetched meanwhile, yet not for nothing */
	assert_int_equal(PLACE("dmda", NULL, 4, 25, 30, 0), 0);
	assert_int_equal(PLACE("dmda", NULL, 2, 25, 30, 0), 1); /* 35, or 30 + 2 + 2 */
}

static void dmda_hidden_transfers_may_be_free(void **unused)
{
	(void)unused;
	assert_int_equal(PLACE("dmda", "hidden=no", 20, 0, 0, 0), 0);   /* 10, or 20 + 2 */
	assert_int_equal(PLACE("dmda", "hidden=no", 7, 0, 0, 0), 1);    /* 10, or 7 + 2 */
	assert_int_equal(PLACE("dmda", "hidden=no", 20, 25, 30, 0), 1); /* 35, or 30 + 2 */
	assert_int_equal(PLACE("dmda", "hidden=no", 40, 25, 30, 0), 0); /* 35, or 40 + 2 */
}

static void dmda_transfers_are_weighted(void **unused)
{
	(void)unused;
	assert_int_equal(PLACE("dmda", "beta=0", 20, 0, 0, 0), 1);
	assert_int_equal(PLACE("dmda", "beta=2", 3, 0, 0, 0), 0);         /* 10, or 6 + 2 + 6 */
	assert_int_equal(PLACE("dmda", "contention=all", 3, 0, 0, 0), 0); /* the same: one accelerator, both ways */
	assert_int_equal(PLACE("dmda", NULL, 3, 0, 0, 1), 0); /* the same: the links share what one can take */
	assert_int_equal(PLACE("dmda", NULL, 3, 0, 0, 2), 1); /* enough for both */
	assert_int_equal(PLACE("dmda", "contention=none", 3, 0, 0, 1), 1);
}

static void dmda_data_are_prefetched_where_the_task_will_run(void **unused)
{
	(void)unused;
	for (int prefetch = 0; prefetch < 2; prefetch++) {
		heddle_sched s;
		fake_open(&s, "dmda", prefetch ? NULL : "prefetch=no", 2, 3);
		fake_start(&s);
		make_tasks(1);
		s.free_at[2] = s.free_at[4] = 50;
		fake_ready(&s, &tasks[0], -1);
		assert_int_equal(tasks[0].fetched_to, prefetch ? 2 : -1);
		ASSERT_PICKS(&s, 3, 0);
		fake_close(&s);
	}
}

/* The delay of an exposed transfer belongs to the backlog of its worker until the task is picked. */
static void dmda_exposed_transfer_is_backlog(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {28, 2}, .samples = {99, 99}};
	heddle_data far = {.bytes = 12, .valid = 1}, here = {.bytes = 1, .valid = 3};
	heddle_sched s;
	fake_open(&s, "dmda", NULL, 1, 1);
	fake_start(&s);
	make_tasks(9);
	for (int i = 0; i < 9; i++) {
		tasks[i].codelet = &c;
		tasks[i].n_data = 1;
		tasks[i].data[0] = i ? &here : &far;
	}
	for (int i = 0; i < 8; i++)
		/* 28, or 12 + 2 + 12, then 16, 18 ... 28: the last is equal, and CPUs come first */
		fake_ready(&s, &tasks[i], -1);
	ASSERT_PICKS(&s, 0, 7, -1);
	s.now = 5;
	s.free_at[0] = 0;
	fake_ready(&s, &tasks[8], -1); /* 33, or 5 + 26 + 2: equal again */
	ASSERT_PICKS(&s, 0, 8, -1);
	ASSERT_PICKS(&s, 1, 0, 1, 2, 3, 4, 5, 6, -1);
	assert_true(fabs(fake_report(&s, "expected wait for data") - 12.0 / 9) < 1e-6);
	fake_close(&s);
}

/* Tasks 0 .. n-1 for one GPU, each with a datum that is not there; returns with the policy started. */
static void fill_gpu(heddle_sched *s, const char *policy, const char *options, heddle_data *data, size_t n)
{
	fake_open(s, policy, options, 0, 1);
	s->classes[0] = s->classes[1];
	s->workers[0].class_id = 0;
	s->platform.n_classes = 1;
	fake_start(s);
	make_tasks(n);
	for (size_t i = 0; i < n; i++) {
		data[i] = (heddle_data){.bytes = 100, .valid = 1};
		tasks[i].n_data = 1;
		tasks[i].data[0] = &data[i];
	}
}

static void dmdar_fewest_missing_bytes_first(void **unused)
{
	(void)unused;
	heddle_data data[6];
	heddle_sched s;
	fill_gpu(&s, "dmdar", NULL, data, 6);
	data[2].bytes = 30;
	data[4].bytes = 30;
	tasks[1].priority = 9; /* not dmdar's business */
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 0, 2, 4, 0);
	data[5].valid = 2;
	ASSERT_PICKS(&s, 0, 5, 1, 3, -1);
	assert_true(fake_report(&s, "picked before older ones that lack more data") == 3);
	fake_close(&s);
}

static void dmdar_looks_no_further_than_its_window(void **unused)
{
	(void)unused;
	heddle_data data[6];
	heddle_sched s;
	fill_gpu(&s, "dmdar", "window=3", data, 6);
	data[2].bytes = 30;
	data[3].bytes = 20;
	ready_all(&s, 6, -1);
	ASSERT_PICKS(&s, 0, 2, 3, 0, 1, 4, 5, -1);
	fake_close(&s);
}

static void dmdas_priority_then_bytes_then_age(void **unused)
{
	(void)unused;
	heddle_data data[7];
	heddle_sched s;
	fill_gpu(&s, "dmdas", NULL, data, 7);
	const int priorities[] = {1, 3, 3, 2, 3, 2, 1};
	for (int i = 0; i < 7; i++)
		tasks[i].priority = priorities[i];
	data[2].bytes = 50;
	data[0].valid = 2;
	ready_all(&s, 7, -1);
	ASSERT_PICKS(&s, 0, 2, 1, 4, 3, 5, 0, 6, -1);
	fake_close(&s);
}

static void dmda_bound_tasks_go_where_they_can(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "dmda", NULL, 3, 1);
	fake_start(&s);
	make_tasks(3);
	tasks[0].workers = 1 << 2;
	tasks[1].workers = 1 << 2 | 1 << 1;
	tasks[2].workers = 1 << 0;
	ready_all(&s, 3, -1);
	ASSERT_PICKS(&s, 2, 0, -1);
	ASSERT_PICKS(&s, 1, 1, -1);
	ASSERT_PICKS(&s, 0, 2, -1);
	fake_close(&s);
}

/* --- Calibration -------------------------------------------------------------------------------------------------- */

/* 4 samples wanted, 1 known on the CPU: 7 of the 20 equal tasks are spread, fewest first; the others follow what is
 * known. */
static void dm_tasks_without_samples_are_spread(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {10, NAN}, .samples = {1, 0}};
	heddle_sched s;
	fake_open(&s, "dm", NULL, 2, 1);
	s.calibrate = 4;
	fake_start(&s);
	make_tasks(20);
	for (int i = 0; i < 20; i++)
		tasks[i].codelet = &c;
	ready_all(&s, 20, -1);
	ASSERT_PICKS(&s, 2, 0, 2, 4, 6, -1);
	assert_true(fake_report(&s, "placed to calibrate models") == 7);
	fake_close(&s);
}

static void dm_ended_tasks_make_room_for_more_samples(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {NAN, 1}, .samples = {0, 99}};
	heddle_sched s;
	fake_open(&s, "dm", NULL, 1, 1);
	s.calibrate = 2;
	fake_start(&s);
	make_tasks(6);
	for (int i = 0; i < 6; i++)
		tasks[i].codelet = &c;
	for (int i = 0; i < 3; i++)
		fake_ready(&s, &tasks[i], -1);
	ASSERT_PICKS(&s, 0, 0, 1, -1);
	fake_done(&s, &tasks[0]); /* ended, and its time was rejected: one of two on its way */
	fake_ready(&s, &tasks[3], -1);
	fake_ready(&s, &tasks[4], -1);
	ASSERT_PICKS(&s, 0, 3, -1);
	c.samples[0] = 2;
	c.time[0] = 0.5;
	fake_done(&s, &tasks[1]);
	s.free_at[1] = 9;
	fake_ready(&s, &tasks[5], -1); /* known everywhere now */
	ASSERT_PICKS(&s, 0, 5, -1);
	ASSERT_PICKS(&s, 1, 2, 4, -1);
	fake_close(&s);
}

static void dm_without_any_model_fewest_tasks_for_the_speed(void **unused)
{
	(void)unused;
	heddle_codelet c = {.name = "c", .time = {NAN, NAN}, .samples = {0, 0}};
	heddle_sched s;
	fake_open(&s, "dm", NULL, 2, 1);
	fake_start(&s);
	make_tasks(16);
	for (int i = 0; i < 16; i++)
		tasks[i].codelet = &c;
	/* one sample each is wanted even without calibration: 0 and 1; then 13.33 on the GPU per CPU */
	ready_all(&s, 16, -1);
	ASSERT_PICKS(&s, 0, 0, -1);
	ASSERT_PICKS(&s, 1, 14, -1);
	assert_true(fake_report(&s, "placed to calibrate models") == 2);
	assert_true(fake_report(&s, "placed without a model") == 14);
	fake_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dm_worker_that_ends_first_is_chosen),
	    cmocka_unit_test(dm_tasks_of_one_batch_see_each_other),
	    cmocka_unit_test(dm_running_and_picked_tasks_count),
	    cmocka_unit_test(dm_equal_ends_first_worker),
	    cmocka_unit_test(dmda_transfers_delay_and_cost),
	    cmocka_unit_test(dmda_hidden_transfers_may_be_free),
	    cmocka_unit_test(dmda_transfers_are_weighted),
	    cmocka_unit_test(dmda_data_are_prefetched_where_the_task_will_run),
	    cmocka_unit_test(dmda_exposed_transfer_is_backlog),
	    cmocka_unit_test(dmdar_fewest_missing_bytes_first),
	    cmocka_unit_test(dmdar_looks_no_further_than_its_window),
	    cmocka_unit_test(dmdas_priority_then_bytes_then_age),
	    cmocka_unit_test(dmda_bound_tasks_go_where_they_can),
	    cmocka_unit_test(dm_tasks_without_samples_are_spread),
	    cmocka_unit_test(dm_ended_tasks_make_room_for_more_samples),
	    cmocka_unit_test(dm_without_any_model_fewest_tasks_for_the_speed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
