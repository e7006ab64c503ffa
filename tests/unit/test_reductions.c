/* Reductions: what is refused, what is cancelled, the tasks that combine the contributions. */
#include "accelerator.h"
#include "program.h"

static double thousand_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1000;
}

static double hundred_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 100;
}

static heddle_runtime *start_virtual(int trace)
{
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	config.trace = trace;
	return start_with(&config);
}

static heddle_runtime *reduced(int n_contributions, heddle_data **sum)
{
	heddle_runtime *rt = start_virtual(1);
	heddle_codelet *ten = given(rt, "ten", ten_us);
	assert_ok(heddle_variable(rt, NULL, 8, sum));
	assert_ok(heddle_data_set_reduction(*sum, given(rt, "init", hundred_us), given(rt, "combine", thousand_us)));
	for (int i = 0; i < n_contributions; i++)
		assert_ok(heddle_submit(rt, heddle_call(ten), heddle_redux(*sum), heddle_on((unsigned)i)));
	assert_ok(heddle_submit(rt, heddle_call(ten), heddle_r(*sum), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	return rt;
}

static void init_kernels_take_their_time(void **state)
{
	(void)state;
	heddle_data *sum;
	heddle_runtime *rt = reduced(1, &sum);
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.busy == 100 + 10 + 1000 + 10);
	assert_ok(heddle_stop(rt));
}

static int has_edge(const struct heddle_trace *trace, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < trace->n_edges; i++)
		if (trace->edges[i].from == from && trace->edges[i].to == to)
			return 1;
	return 0;
}

static double time_by_name(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)class_id;
	(void)arg;
	return strcmp(trace->codelets[trace->tasks[task].codelet].name, "combine") == 0 ? 1000 : 10;
}

/* Contributions 0 and 1; REDUCE is number 2, the reader 3, the steps 4 and 5. */
static void steps_of_a_reduction_have_edges(void **state)
{
	(void)state;
	heddle_data *sum;
	heddle_runtime *rt = reduced(2, &sum);
	struct heddle_trace *trace;
	struct heddle_bounds bounds;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 5);
	assert_true(has_edge(trace, 0, 4) && has_edge(trace, 1, 4) && has_edge(trace, 4, 5) && has_edge(trace, 5, 3));
	assert_int_equal(trace->n_edges, 4);
	assert_ok(heddle_trace_bounds(trace, time_by_name, NULL, 0, &bounds));
	assert_true(bounds.critical_path == 10 + 1000 + 1000 + 10);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void reduction_may_be_cancelled_while_a_contribution_is_evicted(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(1);
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .cpu = write_ones);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = nothing);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fail_always);
	double *x = calloc(N, sizeof *x);
	heddle_data *sum, *other;
	assert_non_null(x);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &sum));
	assert_ok(heddle_vector(rt, NULL, N, sizeof *x, &other));
	assert_ok(heddle_data_set_reduction(sum, init, combine));
	heddle_task *good, *failed; /* waited for one by one: a wait for all would end the reduction */
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_redux(sum), heddle_out(&good)));
	assert_ok(heddle_task_wait(good));
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_redux(sum), heddle_out(&failed)));
	assert_int_equal(heddle_task_wait(failed), HEDDLE_E_KERNEL);
	heddle_task_release(good);
	heddle_task_release(failed);
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(other)));
	while (!evictions(rt)) /* begun: it lasts 8 ms */
		sched_yield();
	assert_ok(heddle_unregister_async(sum));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
	free(x);
}

static void reduction_that_some_worker_could_not_begin_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	heddle_codelet *init = heddle_codelet_new(rt, .name = "init", .emulated = nothing);
	heddle_codelet *combine = heddle_codelet_new(rt, .name = "combine", .cpu = add_value);
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 1, sizeof(long), &d));
	assert_int_equal(heddle_data_set_reduction(d, init, combine), HEDDLE_E_INVALID);
	assert_says("init");
	assert_ok(heddle_stop(rt));
}

static void reduction_whose_two_copies_fit_no_memory_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start_accelerator(0);
	const struct heddle_implementation there = {"emulated", NULL, nothing};
	heddle_codelet *here = heddle_codelet_new(rt, .name = "here", .cpu = nothing);
	heddle_codelet *only_there =
	    heddle_codelet_new(rt, .name = "only_there", .implementations = &there, .n_implementations = 1);
	heddle_data *small, *large;
	assert_ok(heddle_vector(rt, NULL, N / 2, sizeof(double), &small));
	assert_ok(heddle_vector(rt, NULL, N, sizeof(double), &large));
	assert_ok(heddle_data_set_reduction(small, here, only_there));
	assert_int_equal(heddle_data_set_reduction(large, here, only_there), HEDDLE_E_NO_FIT);
	assert_says("only_there");
	assert_ok(heddle_data_set_reduction(large, here, here)); /* main memory has no limit */
	assert_ok(heddle_submit(rt, heddle_call(here), heddle_redux(large)));
	assert_ok(heddle_unregister(large));
	assert_ok(heddle_stop(rt));
}

/* In virtual time no kernel runs, and the contributions are combined all the same. */
static void reduction_in_virtual_time_is_completed_by_combining_tasks(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = HEDDLE_SOURCE_DIR "/platforms/gpu1-cpu6.yaml";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "spotrf", .cpu = nothing);
	heddle_data *d;
	struct heddle_stats stats;
	assert_ok(heddle_vector(rt, NULL, N, sizeof(float), &d));
	assert_ok(heddle_data_set_reduction(d, codelet, codelet));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_redux(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.tasks_executed > 20);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(init_kernels_take_their_time),
	    cmocka_unit_test(steps_of_a_reduction_have_edges),
	    cmocka_unit_test(reduction_may_be_cancelled_while_a_contribution_is_evicted),
	    cmocka_unit_test(reduction_that_some_worker_could_not_begin_is_refused),
	    cmocka_unit_test(reduction_whose_two_copies_fit_no_memory_is_refused),
	    cmocka_unit_test(reduction_in_virtual_time_is_completed_by_combining_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
