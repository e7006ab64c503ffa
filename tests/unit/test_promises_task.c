/* What include/heddle/task.h promises: what a kernel sees, what is copied, when callbacks and functions of size are
 * called. */
#include <math.h>
#include <pthread.h>
#include <heddle/policy.h>
#include <heddle/trace.h>
#include "program.h"

static void stop_well(heddle_runtime *rt)
{
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* --- Inside a kernel ---------------------------------------------------------------------------------------------- */

struct seen {
	atomic_int wrong;
	heddle_runtime *rt;
	float *a;
	char *line;
};

/* Data: a 3 x 4 matrix whose columns lie 5 apart, two parts of a sparse matrix, a scalar; values: this, and one
 * more. */
static int look_around(heddle_context *c)
{
	struct seen *s = pointer_value(c);
	struct heddle_part part;
	int wrong = heddle_context_n_data(c) != 3 || heddle_context_runtime(c) != s->rt;
	wrong |= (heddle_context_worker(c) != 1) << 1;
	wrong |= (heddle_ptr(c, 0) != s->a || heddle_ld(c, 0) != 5 || heddle_extent(c, 0, 0) != 3) << 2;
	wrong |= (heddle_extent(c, 0, 1) != 4 || heddle_extent(c, 0, 2) != 1 || heddle_extent(c, 2, 0) != 1) << 3;
	wrong |= (heddle_context_part(c, 1, 2, &part) != 0 || part.n[0] != 4 || part.elem_size != 4) << 4;
	wrong |= (heddle_context_part(c, 1, 3, &part) != HEDDLE_E_INVALID) << 5;
	wrong |= (heddle_context_part(c, 3, 0, &part) != HEDDLE_E_INVALID || heddle_ptr(c, 3)) << 6;
	wrong |= (heddle_get(c, 1, int) != 42 || heddle_value_ptr(c, 2)) << 7;
	s->wrong = wrong;
	return 0;
}

static void kernel_sees_its_data_values_and_place(void **state)
{
	(void)state;
	const struct heddle_config config = small_config();
	heddle_runtime *rt = start_cpus(config, 2);
	float a[20] = {0}, values[2] = {0};
	uint32_t column[2] = {0}, row_start[4] = {0};
	double scalar = 0;
	int more = 42;
	heddle_data *matrix, *sparse, *variable;
	struct seen s = {.wrong = -1, .rt = rt, .a = a}, *seen = &s;
	assert_ok(heddle_matrix(rt, a, 3, 4, 5, sizeof a[0], &matrix));
	assert_ok(heddle_csr(rt, 3, 2, values, column, row_start, sizeof values[0], &sparse));
	assert_ok(heddle_variable(rt, &scalar, sizeof scalar, &variable));
	heddle_codelet *c = heddle_codelet_new(rt, .name = "look", .cpu = look_around);
	/* in any order: data and values are numbered among themselves */
	assert_ok(heddle_submit(rt, heddle_value(seen), heddle_on(1), heddle_r(matrix), heddle_value(more),
	                        heddle_r(sparse), heddle_call(c), heddle_rw(variable)));
	stop_well(rt);
	assert_int_equal(s.wrong, 0);
}

static int fail_shortly(heddle_context *c)
{
	char reason[32] = "line 7 is torn";
	int status = heddle_fail(c, 5, "%s", reason);
	memset(reason, '?', sizeof reason);
	return status;
}

static int fail_in_silence(heddle_context *c)
{
	(void)c;
	return -17;
}

static int fail_with_nothing(heddle_context *c)
{
	return heddle_fail(c, 0, "no number");
}

static void sentence_of_a_failed_kernel_is_copied(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "short", .cpu = fail_shortly))));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("short");
	assert_says("line 7 is torn");
	assert_says("returned 5");
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "silent", .cpu = fail_in_silence))));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("silent");
	assert_says("returned -17");
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "numb", .cpu = fail_with_nothing))));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("no number");
	assert_ok(heddle_stop(rt));
}

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

/* And so are the names of tasks. */
static void description_of_a_codelet_is_copied(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	char name[] = "careful", kind[] = "cpu", own[] = "variant", task[] = "Wednesday";
	int modes[] = {HEDDLE_RW};
	struct heddle_implementation all[] = {{kind, own, increment}};
	struct heddle_codelet_desc desc = {
	    .name = name, .implementations = all, .n_implementations = 1, .modes = modes, .n_modes = 1};
	heddle_codelet *c;
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_codelet_create(rt, &desc, &c));
	memset(name, '?', sizeof name - 1);
	memset(kind, '?', sizeof kind - 1);
	memset(own, '?', sizeof own - 1);
	memset(all, 0, sizeof all);
	modes[0] = 77;
	assert_string_equal(heddle_codelet_name(c), "careful");
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_r(d)), HEDDLE_E_INVALID);
	assert_says("careful: datum 0 is accessed as R, the codelet says RW");
	assert_int_equal(heddle_submit(rt, heddle_call(c)), HEDDLE_E_INVALID);
	int code = 3;
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code), heddle_named(task)));
	memset(task, '?', sizeof task - 1);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("Wednesday");
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, 1);
}

static atomic_int n_flops, n_footprints, n_times, wrong_size;

static void check_size(const struct heddle_size *s)
{
	int right = s->bytes == 96 + 8 && s->n_data == 2 && s->n_values == 1 && *(const int *)s->values[0] > 0;
	right &= s->parts[0]->n[0] == 3 && s->parts[0]->n[1] == 4 && !s->parts[0]->base && !s->parts[1]->base;
	wrong_size += !right;
}

static double flops_of(const struct heddle_size *s)
{
	check_size(s);
	n_flops++;
	return 1000;
}

static uint64_t footprint_of(const struct heddle_size *s)
{
	check_size(s);
	n_footprints++;
	return *(const uint32_t *)s->values[0];
}

static double time_of(const struct heddle_size *s, unsigned class_id)
{
	check_size(s);
	n_times++;
	return class_id ? (double)NAN : 10.0 * *(const int *)s->values[0];
}

/* Two footprints, by the value: the time of each class is asked for once per footprint, and rules. */
static void functions_of_size_see_the_task(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "sized", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                       .flops = flops_of, .footprint = footprint_of, .time = time_of);
	heddle_data *a, *b;
	struct heddle_stats stats;
	n_flops = n_footprints = n_times = wrong_size = 0;
	assert_ok(heddle_matrix(rt, NULL, 3, 4, 3, 8, &a));
	assert_ok(heddle_variable(rt, NULL, 8, &b));
	for (int i = 0; i < 10; i++) {
		int length = 1 + i % 2;
		assert_ok(
		    heddle_submit(rt, heddle_call(c), heddle_rw(a), heddle_r(b), heddle_value(length), heddle_on(0)));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.busy == 5 * 10 + 5 * 20);
	assert_int_equal(wrong_size, 0);
	assert_int_equal(n_footprints, 10);
	assert_int_equal(n_times, 2 * (int)heddle_runtime_platform(rt)->n_classes);
	assert_in_range(n_flops, 1, 10);
	assert_ok(heddle_stop(rt));
}

static atomic_int asking, asked_at_once;

static int one_at_a_time(unsigned worker, const heddle_task *task, void *arg)
{
	(void)worker;
	asked_at_once += asking++ > 0;
	int allowed = heddle_task_priority(task) == 3 && arg == &asking;
	sched_yield();
	asking--;
	return allowed;
}

struct asked {
	heddle_runtime *rt;
	heddle_codelet *codelet;
};

static void *submit_some(void *arg)
{
	const struct asked *a = arg;
	for (int i = 0; i < 300; i++)
		if (heddle_submit(a->rt, heddle_call(a->codelet), heddle_priority(3)))
			return arg;
	return NULL;
}

static void can_run_is_asked_by_one_thread_at_a_time(void **state)
{
	(void)state;
	struct asked a = {.rt = start()};
	pthread_t threads[4];
	a.codelet =
	    heddle_codelet_new(a.rt, .name = "asked", .cpu = nothing, .can_run = one_at_a_time, .can_run_arg = &asking);
	asking = asked_at_once = 0;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_some, &a), 0);
	for (int i = 0; i < 4; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(heddle_submit(a.rt, heddle_call(a.codelet)), HEDDLE_E_NO_WORKER);
	stop_well(a.rt);
	assert_int_equal(asked_at_once, 0);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

struct ended {
	heddle_runtime *rt;
	atomic_int n, status, submitted;
};

static void note_end(void *arg, int status)
{
	struct ended *e = arg;
	e->status = status;
	e->n++;
	e->submitted += heddle_submit(e->rt);
}

static void callback_hears_how_its_task_ended(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	struct ended good = {.rt = rt, .status = 1}, bad = good, cancelled = good, after = good;
	heddle_task *task;
	heddle_data *d;
	long x = 0;
	int none = 0, code = 2;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(none), heddle_then(note_end, &good)));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(code), heddle_w(d), heddle_then(note_end, &bad),
	                        heddle_out(&task)));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_value(none), heddle_r(d),
	                        heddle_then(note_end, &cancelled)));
	assert_ok(heddle_submit(rt, heddle_after(task), heddle_then(note_end, &after)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(good.status, 0);
	assert_int_equal(bad.status, HEDDLE_E_KERNEL);
	assert_int_equal(cancelled.status, HEDDLE_E_CANCELLED);
	assert_int_equal(after.status, HEDDLE_E_CANCELLED);
	assert_int_equal(good.n + bad.n + cancelled.n + after.n, 4);
	assert_int_equal(good.submitted + bad.submitted + cancelled.submitted + after.submitted, 0);
	heddle_task_release(task);
	stop_well(rt);
}

static void reference_to_a_task_may_outlive_it_or_go_first(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	atomic_int open = 0, *gate = &open;
	heddle_codelet *stay = heddle_codelet_new(rt, .name = "stay", .cpu = pass_gate);
	heddle_task *early, *late, *behind;
	assert_int_equal(heddle_task_done(NULL), 0);
	heddle_task_release(NULL);
	assert_int_equal(heddle_task_wait(NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate), heddle_out(&early)));
	assert_ok(heddle_submit(rt, heddle_call(stay), heddle_value(gate), heddle_out(&late)));
	assert_ok(heddle_submit(rt, heddle_after(late), heddle_out(&behind)));
	heddle_task_release(early);
	assert_int_equal(heddle_task_done(late), 0);
	assert_int_equal(heddle_task_done(behind), 0);
	open = 1;
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(heddle_task_done(late), 1);
	assert_ok(heddle_task_wait(late));
	assert_ok(heddle_task_wait(behind));
	heddle_task_release(late);
	heddle_task_release(behind);
	stop_well(rt);
}

static int is_not_on(heddle_context *c)
{
	return heddle_get(c, 0, unsigned) != heddle_context_worker(c);
}

static void task_for_one_worker_runs_nowhere_else(void **state)
{
	(void)state;
	const struct heddle_config config = small_config();
	heddle_runtime *rt = start_cpus(config, 2);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "is not on", .cpu = is_not_on);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned worker = i / 7 % 2;
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(worker), heddle_on(worker)));
	}
	stop_well(rt);
}

/* --- In traces ---------------------------------------------------------------------------------------------------- */

static uint32_t color_of(const struct heddle_trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->n_codelets; i++)
		if (strcmp(trace->codelets[i].name, name) == 0)
			return trace->codelets[i].color;
	fail_msg("no codelet %s in the trace", name);
	return 0;
}

static struct heddle_trace *traced(heddle_runtime *rt, heddle_codelet *c, uint64_t *n_before)
{
	struct heddle_trace *trace;
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		assert_true(t->ready <= t->picked && t->picked <= t->start && t->start <= t->end);
		assert_true(t->id >= *n_before);
	}
	*n_before += trace->n_tasks;
	return trace;
}

/* A trace has what was recorded since the last one; a codelet has its own colour, or leaves it to charts. */
static void trace_has_the_news(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	uint64_t n = 0;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *own = heddle_codelet_new(rt, .name = "own", .cpu = nothing, .color = 0x123456);
	heddle_codelet *any = heddle_codelet_new(rt, .name = "any", .cpu = nothing);
	struct heddle_trace *first = traced(rt, own, &n), *second = traced(rt, any, &n);
	assert_int_equal(first->n_tasks, 1);
	assert_int_equal(second->n_tasks, 1);
	assert_int_equal(color_of(first, "own"), 0x123456);
	assert_int_equal(color_of(second, "any"), 0);
	heddle_trace_free(first);
	heddle_trace_free(second);
	heddle_trace_free(NULL);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernel_sees_its_data_values_and_place),
	    cmocka_unit_test(sentence_of_a_failed_kernel_is_copied),
	    cmocka_unit_test(description_of_a_codelet_is_copied),
	    cmocka_unit_test(functions_of_size_see_the_task),
	    cmocka_unit_test(can_run_is_asked_by_one_thread_at_a_time),
	    cmocka_unit_test(callback_hears_how_its_task_ended),
	    cmocka_unit_test(reference_to_a_task_may_outlive_it_or_go_first),
	    cmocka_unit_test(task_for_one_worker_runs_nowhere_else),
	    cmocka_unit_test(trace_has_the_news),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
