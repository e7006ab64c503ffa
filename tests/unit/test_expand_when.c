/* Which hierarchical tasks the setting `expand` expands, and with which of their sub-graphs, on machines where every
 * time is known. */
#include "internals.h"
#include "virtual_machine.h"

/* The codelets of a test. Tasks of `parts` have several sub-graphs. */
static struct {
	heddle_codelet *work, *whole, *parts, *outer, *wide;
	heddle_data **written;              /* by the tasks in one of `wide` */
	unsigned n_small, n_large, n_outer; /* how often each of the sub-graphs was used */
} scene;

/* n tasks of `us` on each class, on the task's datum. */
static int submit_tasks(heddle_context *c, int n, double us)
{
	int status = 0;
	for (int i = 0; i < n && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(scene.work), LASTS(us),
		                       heddle_rw(heddle_context_data(c, 0)));
	return status;
}

static int two_tasks(heddle_context *c)
{
	return submit_tasks(c, 2, 10);
}

static int many_small_tasks(heddle_context *c)
{
	scene.n_small++;
	return submit_tasks(c, 30, 10);
}

static int two_large_tasks(heddle_context *c)
{
	scene.n_large++;
	return submit_tasks(c, 2, 20);
}

/* Hierarchical tasks, each of which needs the one before. */
static int many_whole_tasks(heddle_context *c)
{
	enum { TASKS = 64 };
	int status = 0;
	scene.n_outer++;
	for (int i = 0; i < TASKS && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(scene.whole), LASTS_EACH(100, 1),
		                       heddle_rw(heddle_context_data(c, 0)));
	return status;
}

/* Hierarchical tasks that do not need each other. */
enum { WIDE = 60 };

static int wide_tasks(heddle_context *c)
{
	int status = 0;
	for (int i = 0; i < WIDE && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(scene.whole), LASTS_EACH(50, 5),
		                       heddle_rw(scene.written[i]));
	return status;
}

static heddle_codelet *new_hierarchical(const struct machine *m, const char *name, int (*subgraph)(heddle_context *))
{
	heddle_codelet *c = heddle_codelet_new(m->rt, .name = name, .cpu = machine_kernel, .cuda = machine_kernel,
	                                       .model = HEDDLE_MODEL_GIVEN, .time = machine_time,
	                                       .footprint = machine_footprint, .subgraph = subgraph);
	assert_non_null(c);
	return c;
}

static void start_deciding(struct machine *m, const char *expand)
{
	static const struct heddle_subgraph sizes[] = {{"small", many_small_tasks}, {"large", two_large_tasks}};
	m->expand = expand;
	machine_start(m);
	scene.n_small = scene.n_large = scene.n_outer = 0;
	scene.work = m->work;
	scene.whole = new_hierarchical(m, "whole", two_tasks);
	scene.outer = new_hierarchical(m, "outer", many_whole_tasks);
	scene.wide = new_hierarchical(m, "wide", wide_tasks);
	scene.parts = heddle_codelet_new(m->rt, .name = "parts", .cpu = machine_kernel, .cuda = machine_kernel,
	                                 .model = HEDDLE_MODEL_GIVEN, .time = machine_time,
	                                 .footprint = machine_footprint, .subgraphs = sizes, .n_subgraphs = 2);
	assert_non_null(scene.parts);
}

/* How many of two tasks are expanded that take so long on a CPU and on a GPU, while the GPU is busy for `busy` us. */
static uint64_t expanded(const char *expand, double on_cpu, double on_gpu, double busy)
{
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d[2];
	start_deciding(&m, expand);
	machine_data(&m, 2, d);
	if (busy > 0) {
		heddle_task *t;
		WORK(&m, busy, heddle_on(1));
		WORK(&m, 1, heddle_on(0), heddle_out(&t)); /* the long one has begun when it has ended */
		OK(heddle_task_wait(t));
		heddle_task_release(t);
	}
	for (size_t i = 0; i < 2; i++)
		OK(heddle_submit(m.rt, heddle_call(scene.whole), LASTS_EACH(on_cpu, on_gpu), heddle_w(d[i])));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	uint64_t n = machine_stats(&m).tasks_expanded;
	OK(heddle_stop(m.rt));
	return n;
}

static void by_class_expands_what_would_end_first_on_a_cpu(void **state)
{
	(void)state;
	assert_int_equal(expanded("class", 10, 100, 0), 2);
	assert_int_equal(expanded("class", 100, 10, 0), 0);
	assert_int_equal(expanded("class", 100, 10, 500), 2); /* the GPU is faster, and not free */
	assert_int_equal(expanded("class", 100, 10, 50), 0);
	assert_int_equal(expanded("always", 100, 10, 0), 2);
	assert_int_equal(expanded("never", 10, 100, 500), 0);
}

/* Tasks that accelerators are much faster with stay whole while these need them. */
static void adaptive_keeps_whole_what_accelerators_are_fast_with(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d[8];
	start_deciding(&m, "adaptive");
	machine_data(&m, 8, d);
	for (size_t i = 0; i < 8; i++)
		OK(heddle_submit(m.rt, heddle_call(scene.whole), LASTS_EACH(1000, 2), heddle_w(d[i])));
	OK(heddle_wait_all(m.rt));
	/* one is tried, to learn what its sub-graph takes */
	assert_true(machine_stats(&m).tasks_expanded <= 1);
	OK(heddle_stop(m.rt));
}

/* How many of many tasks are expanded that leave a GPU 42 us of work, while an idle CPU would take 20 us for the
 * sub-graph of one, and 15 us to copy its datum. */
static uint64_t expanded_near_the_end(int begins_on_gpu)
{
	enum { TASKS = 28 };
	struct machine m = {.cpus = 1, .gpus = 1, .sched = "dmdas"};
	heddle_data *d[TASKS];
	start_deciding(&m, "adaptive");
	machine_data(&m, TASKS, d);
	for (size_t i = 0; i < TASKS; i++)
		WORK(&m, 1, heddle_w(d[i]), heddle_on(begins_on_gpu ? 1 : 0));
	OK(heddle_wait_all(m.rt));
	for (size_t i = 0; i < TASKS; i++)
		OK(heddle_submit(m.rt, heddle_call(scene.whole), LASTS_EACH(1000, 1.5), heddle_rw(d[i])));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	uint64_t n = machine_stats(&m).tasks_expanded;
	OK(heddle_stop(m.rt));
	return n;
}

/* What CPUs take from an accelerator to write it has to come back, which takes another 15 us. */
static void adaptive_counts_the_way_back_to_the_accelerator(void **state)
{
	(void)state;
	assert_true(expanded_near_the_end(0) > 1);
	assert_int_equal(expanded_near_the_end(1), 1); /* the one that is tried */
}

/* The sub-graph of a task has 64 tasks of 100 us, which are hierarchical, too, and need 200 us of 32 CPUs. Were these
 * tasks whole, a path of four of them would take 400 us, and the GPU has work for 300 us. */
static void adaptive_expects_that_tasks_are_expanded_again(void **state)
{
	enum { TASKS = 30 };
	struct machine m = {.cpus = 32, .gpus = 1, .sched = "dmdas"};
	heddle_data *d[TASKS];
	(void)state;
	start_deciding(&m, "adaptive");
	machine_data(&m, TASKS, d);
	for (size_t i = 0; i < TASKS; i++)
		OK(heddle_submit(m.rt, heddle_call(scene.outer), LASTS_EACH(1000, 10), heddle_w(d[i])));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	assert_true(scene.n_outer > 1); /* not only the one that is tried */
	OK(heddle_stop(m.rt));
}

/* How many tasks of a sub-graph for all workers a CPU gets that write data of the GPUs. Before, these have run tasks
 * that took `us`, and each of which had to wait for a datum. */
static uint64_t expanded_inside(unsigned gpus, double us)
{
	enum { READ = 10 };
	struct machine m = {.cpus = 1, .gpus = gpus, .sched = "dmdas"};
	heddle_data *written[WIDE], *read[READ], *d;
	start_deciding(&m, "adaptive");
	machine_data(&m, WIDE, written);
	machine_data(&m, READ, read);
	machine_data(&m, 1, &d);
	scene.written = written;
	for (unsigned i = 0; i < WIDE; i++)
		WORK(&m, 1, heddle_w(written[i]), heddle_on(1 + i % gpus));
	for (unsigned i = 0; i < READ; i++)
		WORK(&m, us, heddle_r(read[i]), heddle_on(1 + i % gpus));
	OK(heddle_wait_all(m.rt));
	OK(heddle_submit(m.rt, heddle_call(scene.wide), LASTS_EACH(1000, 500), heddle_rw(d)));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	uint64_t n = machine_stats(&m).tasks_expanded - 1;
	OK(heddle_stop(m.rt));
	return n;
}

static void adaptive_takes_nothing_from_accelerators_that_wait_for_their_links(void **state)
{
	(void)state;
	assert_true(expanded_inside(2, 500) > 0);
	assert_int_equal(expanded_inside(2, 1), 0);
	assert_true(expanded_inside(1, 1) > 0); /* it shares its data with none */
}

/* Runs as many tasks of two sub-graphs one after the other. */
static void run_parts(const char *expand, int n)
{
	struct machine m = {.cpus = 2};
	heddle_data *d;
	start_deciding(&m, expand);
	machine_data(&m, 1, &d);
	for (int i = 0; i < n; i++)
		OK(heddle_submit(m.rt, heddle_call(scene.parts), LASTS(1000), heddle_rw(d)));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).tasks_expanded, n);
	OK(heddle_stop(m.rt));
}

/* Each sub-graph is tried once, then the one with the least work is used. The other settings use the first. */
static void adaptive_chooses_the_sub_graph_with_the_least_work(void **state)
{
	enum { TASKS = 12 };
	(void)state;
	run_parts("adaptive", TASKS);
	assert_int_equal(scene.n_small, 1);
	assert_int_equal(scene.n_large, TASKS - 1);
	run_parts("always", TASKS);
	assert_int_equal(scene.n_small, TASKS);
	run_parts("class", TASKS);
	assert_int_equal(scene.n_small, TASKS);
}

/* To bring pieces together that lie elsewhere takes virtual time, to cut a datum takes none. */
static void changes_of_layouts_take_the_time_of_their_copies(void **state)
{
	struct machine m = {.cpus = 1, .gpus = 1};
	const double gathering = 2 * (LATENCY + 5); /* each half goes to main memory by itself */
	heddle_data *d;
	heddle_plan *plan;
	(void)state;
	machine_start(&m);
	OK(heddle_vector(m.rt, NULL, UNIT / 4, 4, &d));
	OK(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	WORK(&m, 10, heddle_w(d), heddle_on(1));
	for (size_t i = 0; i < 2; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(plan, i)), heddle_on(1));
	WORK(&m, 10, heddle_r(d), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_true(fabs(heddle_now(m.rt) - (30 + gathering + 10)) < 1e-6);
	WORK(&m, 10, heddle_rw(heddle_plan_child(plan, 0)), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(plan, 1)), heddle_on(1));
	double before = heddle_now(m.rt);
	OK(heddle_acquire(d, HEDDLE_R));
	OK(heddle_release(d));
	assert_true(fabs(heddle_now(m.rt) - before - (20 + gathering)) < 1e-6);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_class_expands_what_would_end_first_on_a_cpu),
	    cmocka_unit_test(adaptive_keeps_whole_what_accelerators_are_fast_with),
	    cmocka_unit_test(adaptive_counts_the_way_back_to_the_accelerator),
	    cmocka_unit_test(adaptive_expects_that_tasks_are_expanded_again),
	    cmocka_unit_test(adaptive_takes_nothing_from_accelerators_that_wait_for_their_links),
	    cmocka_unit_test(adaptive_chooses_the_sub_graph_with_the_least_work),
	    cmocka_unit_test(changes_of_layouts_take_the_time_of_their_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
