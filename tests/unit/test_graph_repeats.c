/* Whether a simulation of a recorded graph repeats that of the program. */
#include "graphs.h"

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
	    {"datum named twice", submit_named_twice, 0},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		heddle_runtime *rt = start_virtual("haswell-k40m", "dmda", 1);
		heddle_codelet *c =
		    heddle_codelet_new(rt, .name = "given", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = five);
		heddle_data *d;
		struct heddle_graph *g;
		int repeats;
		assert_ok(heddle_vector(rt, NULL, 8, sizeof(double), &d));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d)));
		all[i].submit(rt, c, d);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(hd_graph_record(rt, &g, &repeats));
		if (repeats != all[i].repeats)
			fail_msg("%s: %d", all[i].what, repeats);
		heddle_graph_free(g);
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_stop(rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(record_says_whether_a_simulation_of_the_graph_repeats_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
