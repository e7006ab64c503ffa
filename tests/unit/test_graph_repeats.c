/* Whether a simulation of a recorded graph repeats that of the program. */
#include "graphs.h"

enum { TILE = 960 };

static double five(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 5;
}

static int anywhere(unsigned worker, const heddle_task *task, void *arg)
{
	(void)worker;
	(void)task;
	(void)arg;
	return 1;
}

/* What is submitted between two ordinary tasks on `d`, with their codelet. */
struct between {
	const char *what;
	void (*submit)(heddle_runtime *rt, heddle_codelet *c, heddle_data *d);
	int repeats;
};

static void submit_nothing(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	(void)rt;
	(void)c;
	(void)d;
}

static void submit_acquire(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	(void)rt;
	(void)c;
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
}

static void submit_synchronisation(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	(void)c;
	assert_ok(heddle_submit(rt, heddle_rw(d)));
}

static void submit_reduction(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	assert_ok(heddle_data_set_reduction(d, c, c));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_redux(d)));
}

static void submit_child(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(d, 0))));
	assert_ok(heddle_unpartition(d));
}

static void submit_choosy(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_codelet *choosy = heddle_codelet_new(rt, .name = "choosy", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                            .time = five, .can_run = anywhere);
	(void)c;
	assert_ok(heddle_submit(rt, heddle_call(choosy), heddle_rw(d)));
}

/* The given times of this codelet are not those that the platform has for its name, which a graph takes. */
static void submit_slow(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_codelet *slow =
	    heddle_codelet_new(rt, .name = "sgemm", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = five);
	(void)c;
	assert_ok(heddle_submit(rt, heddle_call(slow), heddle_rw(d)));
}

/* A graph does not say that tasks end later than their kernels. */
static void submit_late(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_codelet *late = heddle_codelet_new(rt, .name = "late", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = five, .event_time = five);
	(void)c;
	assert_ok(heddle_submit(rt, heddle_call(late), heddle_rw(d)));
}

/* A graph does not say that its times are wrong. */
static void submit_misjudged(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_codelet *misjudged =
	    heddle_codelet_new(rt, .name = "misjudged", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = five);
	(void)c;
	assert_ok(heddle_codelet_set_true_time(misjudged, five));
	assert_ok(heddle_submit(rt, heddle_call(misjudged), heddle_rw(d)));
}

/* The platform's times of this codelet go by bytes. Both tasks have one entry in its model, although a graph has one
 * access for a datum that a task names twice. */
static void submit_named_twice(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_codelet *gemm = heddle_codelet_new(rt, .name = "sgemm", .cpu = nothing);
	heddle_data *e;
	(void)c;
	assert_ok(heddle_vector(rt, NULL, 8, sizeof(double), &e));
	assert_ok(heddle_submit(rt, heddle_call(gemm), heddle_w(e), heddle_r(d)));
	assert_ok(heddle_submit(rt, heddle_call(gemm), heddle_r(d), heddle_r(d)));
}

static void submit_temporary(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_data *e;
	assert_ok(heddle_vector(rt, NULL, 8, sizeof(double), &e));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(e), heddle_r(d)));
	assert_ok(heddle_unregister_async(e));
}

/* The graph does not know the datum. */
static void submit_unused(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	heddle_data *e;
	(void)c;
	(void)d;
	assert_ok(heddle_vector(rt, NULL, 8, sizeof(double), &e));
	assert_ok(heddle_unregister_async(e));
}

static void wait_for_all(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	(void)c;
	(void)d;
	assert_ok(heddle_wait_all(rt));
}

static void submit_to_worker(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(0)));
}

static void do_nothing(void *arg, int status)
{
	(void)arg;
	(void)status;
}

static void submit_with_callback(heddle_runtime *rt, heddle_codelet *c, heddle_data *d)
{
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_then(do_nothing, NULL)));
}

static void record_says_whether_a_simulation_of_the_graph_repeats_the_program(void **state)
{
	(void)state;
	static const struct between all[] = {
	    {"nothing", submit_nothing, 1},
	    {"acquire", submit_acquire, 0},
	    {"synchronisation", submit_synchronisation, 0},
	    {"reduction", submit_reduction, 0},
	    {"child", submit_child, 0},
	    {"can_run", submit_choosy, 0},
	    {"other times", submit_slow, 0},
	    {"end by event", submit_late, 0},
	    {"times that models do not say", submit_misjudged, 0},
	    {"datum named twice", submit_named_twice, 0},
	    {"temporary", submit_temporary, 1},
	    {"datum that no task uses", submit_unused, 0},
	    {"wait", wait_for_all, 0},
	    {"worker", submit_to_worker, 0},
	    {"callback", submit_with_callback, 0},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		heddle_runtime *rt = start_virtual("haswell-k40m", "dmda", 1);
		heddle_codelet *c =
		    heddle_codelet_new(rt, .name = "given", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = five);
		heddle_data *d;
		struct hd_program program;
		assert_ok(heddle_vector(rt, NULL, 8, sizeof(double), &d));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d)));
		all[i].submit(rt, c, d);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(hd_program_record(rt, &program));
		if (program.repeats != all[i].repeats)
			fail_msg("%s: %d", all[i].what, program.repeats);
		hd_program_free(&program);
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_stop(rt));
	}
}

/* A GPU with room for three tiles, whose tasks go there. */
static heddle_runtime *start_small(int trace)
{
	struct heddle_platform *p;
	struct heddle_config config;
	heddle_runtime *rt;
	assert_ok(heddle_config_init(&config));
	config.sched = "dmda";
	config.trace = trace;
	assert_ok(heddle_platform_load("gpu1-cpu6", &p));
	p->nodes[1].capacity = (uint64_t)3 * TILE * TILE * sizeof(float);
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	heddle_platform_free(p);
	return rt;
}

static heddle_data *make_tile(heddle_runtime *rt)
{
	heddle_data *d;
	assert_ok(heddle_matrix(rt, NULL, TILE, TILE, TILE, sizeof(float), &d));
	return d;
}

/* Each round has a temporary of its own. Whoever keeps them writes them back when the GPU is full. */
static void submit_rounds(heddle_runtime *rt, heddle_data *d)
{
	heddle_codelet *gemm = heddle_codelet_new(rt, .name = "sgemm", .cpu = nothing);
	for (int i = 0; i < 20; i++) {
		heddle_data *temporary = make_tile(rt);
		assert_ok(heddle_submit(rt, heddle_call(gemm), heddle_r(d), heddle_w(temporary)));
		assert_ok(heddle_submit(rt, heddle_call(gemm), heddle_r(temporary), heddle_rw(d)));
		assert_ok(heddle_unregister_async(temporary));
	}
	assert_ok(heddle_wait_all(rt));
}

static struct heddle_stats stats_of(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats;
}

static void program_that_unregisters_temporaries_is_repeated(void **state)
{
	(void)state;
	struct hd_program program;
	heddle_runtime *rt = start_small(1);
	heddle_data *d = make_tile(rt);
	submit_rounds(rt, d);
	assert_ok(hd_program_record(rt, &program));
	const struct heddle_stats first = stats_of(rt);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
	assert_true(program.repeats);
	assert_int_equal(program.n_ends, 20);
	rt = start_small(0);
	assert_ok(hd_program_submit(&program, rt));
	const struct heddle_stats again = stats_of(rt);
	assert_ok(heddle_stop(rt));
	assert_true(again.makespan == first.makespan && again.bytes_moved == first.bytes_moved);
	rt = start_small(0); /* the graph alone keeps its data */
	assert_ok(heddle_graph_submit(program.graph, rt));
	assert_true(stats_of(rt).bytes_moved > first.bytes_moved);
	assert_ok(heddle_stop(rt));
	hd_program_free(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(record_says_whether_a_simulation_of_the_graph_repeats_the_program),
	    cmocka_unit_test(program_that_unregisters_temporaries_is_repeated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
