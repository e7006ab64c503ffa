/* heft and dada on the worked examples and properties of their papers. */
#include "fake_sched.h"
#include "bounds/bounds.h"

/* Makes tasks 0 .. n-1 ready in one batch. */
static void ready_batch(heddle_sched *s, size_t n)
{
	static heddle_task *batch[sizeof tasks / sizeof *tasks];
	for (size_t i = 0; i < n; i++) {
		batch[i] = &tasks[i];
		tasks[i].ready = 1;
	}
	s->policy->ready(s->state, batch, n, -1);
}

/* --- heft --------------------------------------------------------------------------------------------------------- */

/* S: 5, 1, 8, 2. GPU: task 2 until 1, task 0 until 3, then task 3 until 7 there or until 8 on a CPU; task 1 until 13
 * there or until 6 on a CPU. */
static void heft_largest_speedup_is_placed_first(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {10, 2}}, {.time = {6, 6}}, {.time = {8, 1}}, {.time = {8, 4}}};
	heddle_sched s;
	fake_open(&s, "heft", NULL, 2, 1);
	fake_start(&s);
	set_codelets(codelets, 4);
	ready_batch(&s, 4);
	ASSERT_PICKS(&s, 0, 1, -1);
	ASSERT_PICKS(&s, 1, -1);
	ASSERT_PICKS(&s, 2, 2, 0, 3, -1);
	fake_close(&s);
}

/* Tasks for the GPU alone come first, those for CPUs alone last, whatever they take. */
static void heft_one_sided_tasks_are_first_and_last(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {1, NAN}}, {.time = {1, 1}}, {.time = {NAN, 9}}};
	heddle_sched s;
	fake_open(&s, "heft", NULL, 1, 1);
	fake_start(&s);
	set_codelets(codelets, 3);
	tasks[0].workers = 1;
	tasks[2].workers = 2;
	ready_batch(&s, 3);
	ASSERT_PICKS(&s, 0, 1, 0, -1);
	ASSERT_PICKS(&s, 1, 2, -1);
	fake_close(&s);
}

/* 3 us on the GPU and 5 to bring the data: a CPU ends at 7 if it has them. Counted before execution, so not hidden
 * either. */
static void heft_transfer_counts_before_execution(void **unused)
{
	(void)unused;
	heddle_codelet codelets[] = {{.time = {7, 3}}, {.time = {7, 3}}, {.time = {30, 3}}};
	heddle_data a = {.bytes = 5, .valid = 1}, b = {.bytes = 3, .valid = 1}, c = {.bytes = 8, .valid = 1};
	heddle_sched s;
	fake_open(&s, "heft", NULL, 1, 1);
	fake_start(&s);
	set_codelets(codelets, 3);
	heddle_data *data[] = {&a, &b, &c};
	for (int i = 0; i < 3; i++) {
		tasks[i].data[0] = data[i];
		tasks[i].n_data = 1;
	}
	fake_ready(&s, &tasks[0], -1);
	fake_ready(&s, &tasks[1], -1);
	fake_ready(&s, &tasks[2], -1);
	assert_int_equal(tasks[0].fetched_to, 0); /* 7 or 8 */
	assert_int_equal(tasks[1].fetched_to, 1); /* 14 or 6 */
	assert_int_equal(tasks[2].fetched_to, 1); /* 37 or 6 + 8 + 3 */
	assert_true(fake_report(&s, "expected time of transfers") == 3 + 8);
	fake_close(&s);
}

/* The last of a large batch gains most from the GPU: it is placed first, unless there is no memory to sort all. */
static void large_batch_is_placed_as_a_whole(void **unused)
{
	(void)unused;
	enum { LARGE = 3000 };
	heddle_codelet gains = {.time = {1e6, 1}, .samples = {99, 99}};
	for (int is_dada = 0; is_dada <= 1; is_dada++)
		for (int memory = 0; memory <= 1; memory++) {
			heddle_sched s;
			fake_open(&s, is_dada ? "dada" : "heft", NULL, 3, 1);
			fake_start(&s);
			make_tasks(LARGE);
			tasks[LARGE - 1].codelet = &gains;
			fake_memory = memory ? -1 : 0;
			ready_batch(&s, LARGE);
			fake_memory = -1;
			if (is_dada)
				assert_true((fake_report(&s, "batches") == 1) == memory);
			else
				assert_true((fake_pick(&s, 3) == &tasks[LARGE - 1]) == memory);
			int picked = !is_dada;
			for (unsigned w = 0; w < 4; w++)
				while (fake_pick(&s, w))
					picked++;
			assert_int_equal(picked, LARGE);
			fake_close(&s);
		}
}

/* --- steal -------------------------------------------------------------------------------------------------------- */

/* The GPUs get four tasks each, the CPUs none. A thief takes the newest. */
static void worker_without_tasks_steals(void **unused)
{
	(void)unused;
	heddle_codelet fast = {.time = {100, 1}, .samples = {99, 99}};
	static const char *const values[] = {"steal=no", "steal=class", "steal=all"};
	for (int is_dada = 0; is_dada <= 1; is_dada++)
		for (int steal = 0; steal < 3; steal++) {
			heddle_sched s;
			fake_open(&s, is_dada ? "dada" : "heft", values[steal], 1, 2);
			fake_start(&s);
			make_tasks(8);
			for (int i = 0; i < 8; i++)
				tasks[i].codelet = &fast;
			ready_batch(&s, 8);
			for (int i = 0; i < 4; i++)
				assert_non_null(fake_pick(&s, 1));
			const heddle_task *stolen = fake_pick(&s, 1);
			assert_true((stolen != NULL) == (steal > 0));
			assert_true(!stolen || stolen->order == 7);
			assert_true((fake_pick(&s, 0) != NULL) == (steal == 2));
			assert_true(fake_report(&s, "stolen") == steal);
			fake_close(&s);
		}
}

/* All four are for the first worker, as the second is busy for long; it can run the second task alone. */
static void thief_leaves_tasks_that_it_cannot_run(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "heft", "steal=all", 2, 0);
	fake_start(&s);
	make_tasks(4);
	for (int i = 0; i < 4; i++)
		tasks[i].workers = i == 1 ? 3 : 1;
	s.free_at[1] = 1e9;
	ready_batch(&s, 4);
	ASSERT_PICKS(&s, 1, 1, -1);
	ASSERT_PICKS(&s, 0, 0, 2, 3, -1);
	assert_true(fake_report(&s, "stolen") == 1);
	fake_close(&s);
}

/* --- dada --------------------------------------------------------------------------------------------------------- */

struct instance {
	unsigned n, n_cpu, n_gpu;
	double cpu[8], gpu[8]; /* INFINITY: not there */
};

static double optimum_of(const struct instance *in)
{
	static struct heddle_class classes[2] = {{.streams = 1}, {.streams = 1}};
	static struct heddle_platform platform = {.classes = classes, .n_classes = 2};
	struct hd_costed graph;
	double makespan = NAN;
	assert_int_equal(hd_costed_init(&graph, &platform, in->n), 0);
	graph.workers[0] = in->n_cpu;
	graph.workers[1] = in->n_gpu;
	for (unsigned i = 0; i < in->n; i++) {
		graph.times[2 * i] = isinf(in->cpu[i]) ? NAN : in->cpu[i];
		graph.times[2 * i + 1] = isinf(in->gpu[i]) ? NAN : in->gpu[i];
	}
	assert_int_equal(hd_optimum(&graph, &makespan), 0);
	hd_costed_free(&graph);
	return makespan;
}

static struct instance random_instance(struct hd_rng *rng)
{
	struct instance in = {.n = 1 + (unsigned)(hd_rng_next(rng) % 8),
	                      .n_cpu = 1 + (unsigned)(hd_rng_next(rng) % 3),
	                      .n_gpu = (unsigned)(hd_rng_next(rng) % 3)};
	for (unsigned i = 0; i < in.n; i++) {
		unsigned sides = (unsigned)(hd_rng_next(rng) % 10);
		in.cpu[i] = sides == 0 && in.n_gpu ? INFINITY : 1 + 99 * hd_rng_uniform(rng);
		in.gpu[i] = sides == 1 || !in.n_gpu ? INFINITY : 1 + (sides < 6 ? 20 : 99) * hd_rng_uniform(rng);
	}
	return in;
}

static double dada_makespan(const struct instance *in, const char *options)
{
	heddle_codelet codelets[8] = {{0}};
	heddle_sched s;
	fake_open(&s, "dada", options, in->n_cpu, in->n_gpu);
	fake_start(&s);
	for (unsigned i = 0; i < in->n; i++)
		codelets[i] = (heddle_codelet){.time = {in->cpu[i], in->gpu[i]}};
	set_codelets(codelets, in->n);
	for (unsigned i = 0; i < in->n; i++) {
		if (isinf(in->cpu[i]))
			tasks[i].workers &= ~((1u << in->n_cpu) - 1);
		if (isinf(in->gpu[i]))
			tasks[i].workers &= (1u << in->n_cpu) - 1;
	}
	ready_batch(&s, in->n);
	double makespan = 0;
	unsigned picked = 0;
	for (unsigned w = 0; w < in->n_cpu + in->n_gpu; w++) {
		double load = 0;
		for (heddle_task *t; (t = fake_pick(&s, w)); picked++)
			load += w < in->n_cpu ? in->cpu[t - tasks] : in->gpu[t - tasks];
		makespan = fmax(makespan, load);
	}
	assert_int_equal(picked, in->n);
	fake_close(&s);
	return makespan;
}

static void dada_random_instances_within_twice_the_optimum(void **unused)
{
	(void)unused;
	struct hd_rng rng;
	hd_rng_seed(&rng, 2014);
	double worst = 0;
	for (int i = 0; i < 10000; i++) {
		struct instance in = random_instance(&rng);
		double upper = 0;
		for (unsigned t = 0; t < in.n; t++)
			upper += isinf(in.cpu[t])   ? in.gpu[t]
			         : isinf(in.gpu[t]) ? in.cpu[t]
			                            : fmax(in.cpu[t], in.gpu[t]);
		double optimum = optimum_of(&in);
		double makespan = dada_makespan(&in, "alpha=0,epsilon=1e-6");
		if (makespan > 2 * (optimum + 1e-6 * upper) * (1 + 1e-12))
			fail_msg("instance %d: %g, the optimum is %g", i, makespan, optimum);
		worst = fmax(worst, makespan / optimum);
	}
	assert_true(worst > 1.3); /* the instances are not all easy */
}

/* A datum that the task writes is on the second GPU: affinity keeps it there, plain dual approximation does not
 * know. */
static void dada_written_data_attract(void **unused)
{
	(void)unused;
	for (int alpha = 0; alpha <= 1; alpha++) {
		heddle_data written = {.bytes = 8, .valid = 1 << 2}, read = {.bytes = 99, .valid = 1 << 1};
		heddle_sched s;
		fake_open(&s, "dada", alpha ? "alpha=0.5" : "alpha=0", 1, 2);
		fake_start(&s);
		make_tasks(1);
		tasks[0].data[0] = &read;
		tasks[0].mode[0] = HEDDLE_R;
		tasks[0].data[1] = &written;
		tasks[0].mode[1] = HEDDLE_RW;
		tasks[0].n_data = 2;
		fake_ready(&s, &tasks[0], -1);
		ASSERT_PICKS(&s, alpha ? 2 : 1, 0);
		assert_true(fake_report(&s, "placed by affinity") == alpha);
		fake_close(&s);
	}
}

/* Six tasks of 2 us that all write there: with alpha = 1/2 and lambda near 12 / 5, only one of them may stay. */
static void dada_affinity_is_limited_by_alpha(void **unused)
{
	(void)unused;
	heddle_data d = {.bytes = 8, .valid = 1 << 2};
	heddle_sched s;
	fake_open(&s, "dada", "alpha=0.5", 1, 2);
	fake_start(&s);
	make_tasks(6);
	for (int i = 0; i < 6; i++) {
		tasks[i].data[0] = &d;
		tasks[i].mode[0] = HEDDLE_W;
		tasks[i].n_data = 1;
	}
	ready_batch(&s, 6);
	assert_true(fake_report(&s, "placed by affinity") == 1);
	assert_non_null(fake_pick(&s, 1));
	assert_non_null(fake_pick(&s, 1));
	assert_non_null(fake_pick(&s, 2));
	assert_true(fake_report(&s, "lambda iterations") > 5);
	fake_close(&s);
}

/* 2 us on either GPU; with cp the one that has the data is nearer, without it is not known. */
static void dada_cp_counts_transfers(void **unused)
{
	(void)unused;
	for (int cp = 0; cp <= 1; cp++) {
		heddle_data read = {.bytes = 5, .valid = 1 << 2};
		heddle_sched s;
		fake_open(&s, "dada", cp ? "cp=yes" : NULL, 1, 2);
		fake_start(&s);
		make_tasks(1);
		tasks[0].data[0] = &read;
		tasks[0].mode[0] = HEDDLE_R;
		tasks[0].n_data = 1;
		fake_ready(&s, &tasks[0], -1);
		ASSERT_PICKS(&s, cp ? 2 : 1, 0);
		fake_close(&s);
	}
}

/* The first GPU has 1000 us to go, so lambda must be 400 us at least for (2 + alpha) lambda to hold them. Half of that
 * is room for the four tasks of 10 us where their datum is: none has to leave. */
static void dada_largest_backlog_is_part_of_the_first_guess(void **unused)
{
	(void)unused;
	heddle_codelet codelets[4];
	heddle_data d = {.bytes = 8, .valid = 1 << 2};
	heddle_sched s;
	fake_open(&s, "dada", "alpha=0.5", 1, 2);
	fake_start(&s);
	for (int i = 0; i < 4; i++)
		codelets[i] = (heddle_codelet){.name = "better on a CPU", .time = {2, 10}};
	set_codelets(codelets, 4);
	for (int i = 0; i < 4; i++) {
		tasks[i].data[0] = &d;
		tasks[i].mode[0] = HEDDLE_W;
		tasks[i].n_data = 1;
	}
	s.free_at[1] = 1000;
	ready_batch(&s, 4);
	assert_true(fake_report(&s, "placed by affinity") == 4);
	for (int i = 0; i < 4; i++)
		assert_non_null(fake_pick(&s, 2));
	fake_close(&s);
}

static void dada_backlog_is_where_loads_start(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "dada", NULL, 1, 2);
	fake_start(&s);
	make_tasks(2);
	s.free_at[0] = s.free_at[2] = 100;
	/* 9 later than the others: longer than the 2 us of a task there, shorter than 10 on the CPU */
	s.free_at[1] = 109;
	fake_ready(&s, &tasks[0], -1);
	ASSERT_PICKS(&s, 2, 0);
	fake_close(&s);
}

/* 40 us of tasks for one CPU, so lambda is 40 / (2 + alpha) us. The other CPU has retired: neither what it still has to
 * do, nor that it has nothing to do and the first has, makes lambda larger. */
static void dada_retired_workers_do_not_count(void **unused)
{
	(void)unused;
	for (unsigned busy = 0; busy < 2; busy++) {
		heddle_sched s;
		fake_open(&s, "dada", "alpha=0.5", 2, 0);
		fake_start(&s);
		make_tasks(4);
		s.out = 1 << 1;
		s.free_at[busy] = 1000;
		ready_batch(&s, 4);
		assert_true(fake_report(&s, "lambda kept, mean") < 40 / 2.5 + 1);
		ASSERT_PICKS(&s, 0, 0, 1, 2, 3, -1);
		fake_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(heft_largest_speedup_is_placed_first),
	    cmocka_unit_test(heft_one_sided_tasks_are_first_and_last),
	    cmocka_unit_test(heft_transfer_counts_before_execution),
	    cmocka_unit_test(large_batch_is_placed_as_a_whole),
	    cmocka_unit_test(worker_without_tasks_steals),
	    cmocka_unit_test(thief_leaves_tasks_that_it_cannot_run),
	    cmocka_unit_test(dada_random_instances_within_twice_the_optimum),
	    cmocka_unit_test(dada_written_data_attract),
	    cmocka_unit_test(dada_affinity_is_limited_by_alpha),
	    cmocka_unit_test(dada_cp_counts_transfers),
	    cmocka_unit_test(dada_backlog_is_where_loads_start),
	    cmocka_unit_test(dada_retired_workers_do_not_count),
	    cmocka_unit_test(dada_largest_backlog_is_part_of_the_first_guess),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
