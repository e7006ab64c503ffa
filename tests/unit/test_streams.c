/* Accelerators with several streams: as many kernels as streams run at the same time, each with the private copies of
 * its stream. That kernels overlap is shown by kernels that wait for each other: they could not end otherwise. */
#define _GNU_SOURCE
#include "program.h"
#include <heddle/platform.h>
#include <heddle/trace.h>
#include <heddle/model.h>

static heddle_runtime *start_streams(int n, int caller_works)
{
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 1;
	config.emulated_streams = n;
	config.caller_works = caller_works;
	return start_with(&config);
}

/* Where kernels meet: each waits until `expected` have come. */
struct meeting {
	int expected;
	atomic_int here, running, most, order;
	void *addresses[8], *streams[8];
};

static void meet(struct meeting *m)
{
	m->here++;
	wait_for(&m->here, m->expected);
}

static heddle_codelet *codelet(heddle_runtime *rt, const char *name, heddle_kernel kernel)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = name, .cpu = kernel, .emulated = kernel);
	assert_non_null(c);
	return c;
}

static int meet_others(heddle_context *c)
{
	meet(pointer_value(c));
	return 0;
}

static void as_many_kernels_run_at_once_as_there_are_streams(void **state)
{
	(void)state;
	for (int n = 2; n <= 4; n++)
		for (int caller_works = 0; caller_works < 2; caller_works++) {
			heddle_runtime *rt = start_streams(n, caller_works);
			heddle_codelet *guest = codelet(rt, "guest", meet_others);
			for (int round = 0; round < 3; round++) {
				struct meeting m = {.expected = n}, *address = &m;
				for (int i = 0; i < n; i++)
					assert_ok(heddle_submit(rt, heddle_call(guest), heddle_value(address)));
				assert_ok(heddle_wait_all(rt));
			}
			assert_ok(heddle_stop(rt));
		}
}

static int count_running(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	int now = ++m->running, most = m->most;
	while (now > most && !atomic_compare_exchange_weak(&m->most, &most, now))
		;
	if (m->order == heddle_get(c, 1, int))
		m->order++;
	give_others_time();
	m->running--;
	return 0;
}

static void kernels_of_one_stream_run_in_order(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(1, 0);
	heddle_codelet *counted = codelet(rt, "counted", count_running);
	struct meeting m = {0}, *address = &m;
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(counted), heddle_value(address), heddle_value(i)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(m.most, 1);
	assert_int_equal(m.order, 20);
	assert_ok(heddle_stop(rt));
}

static void no_more_kernels_run_at_once_than_there_are_streams(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(3, 0);
	heddle_codelet *counted = codelet(rt, "counted", count_running);
	struct meeting m = {0}, *address = &m;
	for (int i = 0; i < 60; i++)
		assert_ok(heddle_submit(rt, heddle_call(counted), heddle_value(address), heddle_value(i)));
	assert_ok(heddle_wait_all(rt));
	assert_in_range(m.most, 1, 3);
	assert_ok(heddle_stop(rt));
}

/* --- Private copies ----------------------------------------------------------------------------------------------- */

static int use_scratch(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	int i = heddle_get(c, 1, int);
	long *mine = heddle_ptr(c, 0);
	*mine = i;
	m->addresses[i] = mine;
	m->streams[i] = heddle_stream(c);
	meet(m); /* all have written */
	return *mine == i ? 0 : heddle_fail(c, 1, "another kernel has written into this one's scratch buffer");
}

static void streams_have_scratch_buffers_of_their_own(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(3, 0);
	heddle_codelet *scratch = codelet(rt, "scratch", use_scratch);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	struct meeting m = {.expected = 3}, *address = &m;
	for (int i = 0; i < 3; i++)
		assert_ok(
		    heddle_submit(rt, heddle_call(scratch), heddle_scratch(d), heddle_value(address), heddle_value(i)));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < 3; i++) {
		assert_non_null(m.streams[i]);
		assert_ptr_not_equal(m.addresses[i], m.addresses[(i + 1) % 3]);
		assert_ptr_not_equal(m.streams[i], m.streams[(i + 1) % 3]);
	}
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static int zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static int contribute(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	if (m->expected)
		meet(m); /* all have a copy now */
	*(long *)heddle_ptr(c, 0) += heddle_get(c, 1, long);
	return 0;
}

static void streams_reduce_into_copies_of_their_own(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(4, 0);
	heddle_codelet *contributor = codelet(rt, "contributor", contribute);
	heddle_data *d;
	long sum = 1000;
	assert_ok(heddle_variable(rt, &sum, sizeof sum, &d));
	assert_ok(heddle_data_set_reduction(d, codelet(rt, "zero", zero), codelet(rt, "add", add)));
	struct meeting first = {.expected = 4}, later = {0}, *meeting = &first;
	long expected = sum;
	for (long i = 1; i <= 40; i++) {
		assert_ok(heddle_submit(rt, heddle_call(contributor), heddle_redux(d), heddle_value(meeting),
		                        heddle_value(i)));
		expected += i;
		if (i == 4)
			meeting = &later;
	}
	assert_ok(heddle_unregister(d));
	assert_int_equal(sum, expected);
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, 40 + 4); /* one copy per stream was added */
	assert_ok(heddle_stop(rt));
}

static int wait_for_flag(heddle_context *c)
{
	wait_for(pointer_value(c), 1);
	return 0;
}

/* Of four tasks, the first holds a stream until the last has run. The third is bound to the first one's stream, for
 * both streams have one bound task when it is picked; the last one may not wait behind it. */
static void task_bound_to_a_busy_stream_holds_up_nobody(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 0;
	config.n_emulated = 1;
	config.emulated_streams = 2;
	config.pipeline = 4;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *held = codelet(rt, "held", wait_for_flag), *count = codelet(rt, "count", count_up);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	for (int i = 0; i < 20; i++) {
		atomic_int last_ran = 0, all_there = 0, *last = &last_ran, *all = &all_there;
		assert_ok(heddle_submit(rt, heddle_call(held), heddle_scratch(d), heddle_value(last)));
		assert_ok(heddle_submit(rt, heddle_call(held), heddle_scratch(d), heddle_value(all)));
		assert_ok(heddle_submit(rt, heddle_call(held), heddle_scratch(d), heddle_value(all)));
		assert_ok(heddle_submit(rt, heddle_call(count), heddle_value(last)));
		give_others_time();
		all_there = 1;
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- What else a kernel may do on a stream ------------------------------------------------------------------------ */

static int meet_and_fail(heddle_context *c)
{
	meet(pointer_value(c));
	int code = heddle_get(c, 1, int);
	return code ? heddle_fail(c, code, "row %d is bad", code) : 0;
}

static void kernel_that_fails_leaves_those_on_other_streams_alone(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(3, 0);
	heddle_codelet *guest = codelet(rt, "guest", meet_and_fail);
	/* HEDDLE_PENDING is what a driver returns for a kernel that has not ended; a kernel may return it, too. */
	static const int codes[] = {23, HEDDLE_PENDING, -5};
	for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
		struct meeting m = {.expected = 3}, *address = &m;
		int none = 0, code = codes[k];
		char words[40];
		assert_ok(heddle_submit(rt, heddle_call(guest), heddle_value(address), heddle_value(none)));
		assert_ok(heddle_submit(rt, heddle_call(guest), heddle_value(address), heddle_value(code)));
		assert_ok(heddle_submit(rt, heddle_call(guest), heddle_value(address), heddle_value(none)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
		snprintf(words, sizeof words, "row %d is bad", code);
		assert_says(words);
		snprintf(words, sizeof words, "returned %d on", code);
		assert_says(words);
	}
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_failed, 3);
	assert_int_equal(stats.tasks_executed, 6);
	assert_ok(heddle_stop(rt));
}

static int submit_another(heddle_context *c)
{
	struct other *o = pointer_value(c);
	if (heddle_get(c, 1, int) == 0) /* one is enough, and they run at the same time */
		o->status = heddle_wait_all(o->rt);
	return heddle_submit(o->rt, heddle_call(o->codelet), heddle_rw(o->data));
}

static void kernel_on_a_stream_may_submit_but_not_wait(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(2, 0);
	struct other other = {.rt = rt, .codelet = codelet(rt, "increment", increment)}, *address = &other;
	assert_ok(heddle_variable(rt, &other.value, sizeof other.value, &other.data));
	heddle_codelet *parent = codelet(rt, "parent", submit_another);
	for (int i = 0; i < 50; i++)
		assert_ok(heddle_submit(rt, heddle_call(parent), heddle_value(address), heddle_value(i)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(other.status, HEDDLE_E_STATE);
	assert_ok(heddle_unregister(other.data));
	assert_int_equal(other.value, 50);
	assert_ok(heddle_stop(rt));
}

static heddle_event *detached[8];

static int detach(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	detached[heddle_get(c, 1, int)] = heddle_detach(c);
	m->here++;
	return 0;
}

/* A task that ends by an event leaves its stream when its kernel has returned. */
static void tasks_that_wait_for_events_hold_no_stream(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(2, 0);
	heddle_codelet *later = codelet(rt, "later", detach);
	struct meeting m = {0}, *address = &m;
	for (int i = 0; i < 8; i++)
		assert_ok(heddle_submit(rt, heddle_call(later), heddle_value(address), heddle_value(i)));
	wait_for(&m.here, 8);
	assert_ok(heddle_selfcheck(rt));
	for (int i = 0; i < 8; i++)
		assert_ok(heddle_fulfill(detached[i], 0));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

static int count_cores(heddle_context *c)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set))
		return 1;
	*(int *)pointer_value(c) = CPU_COUNT(&set);
	return 0;
}

/* The thread that starts the runtime is bound to the core of worker 0; threads of streams may run anywhere. */
static void streams_are_not_bound_to_the_core_of_the_caller(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	cpu_set_t set;
	int cores = 0, *address = &cores;
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.caller_works = 1;
	config.bind = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *count = codelet(rt, "count_cores", count_cores);
	assert_ok(heddle_submit(rt, heddle_call(count), heddle_value(address), heddle_on(1)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(cores, CPU_COUNT(&set));
	assert_ok(heddle_stop(rt));
}

static int note_stream(heddle_context *c)
{
	*(void **)pointer_value(c) = heddle_stream(c);
	return 0;
}

static void a_cpu_has_no_stream(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	void *stream = &rt, *address = &stream;
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "note", note_stream)), heddle_value(address)));
	assert_ok(heddle_wait_all(rt));
	assert_null(stream);
	assert_ok(heddle_stop(rt));
}

/* --- Measured times ----------------------------------------------------------------------------------------------- */

/* Begins and ends when another kernel has: the two run at once for a while. */
static int run_beside_another(heddle_context *c)
{
	struct meeting *m = pointer_value(c);
	meet(m);
	give_others_time();
	m->running++;
	wait_for(&m->running, m->expected);
	return 0;
}

/* An emulated accelerator with two streams. */
static heddle_runtime *start_sharing(double *sharing)
{
	struct heddle_config config = small_config();
	struct heddle_platform *p;
	heddle_runtime *rt;
	config.trace = 1;
	assert_ok(heddle_platform_discover(0, &p));
	assert_ok(heddle_platform_add_emulated(p, 0, 0, 0, 1));
	struct heddle_class *class_ = &p->classes[p->n_classes - 1];
	class_->streams = 2;
	class_->pipeline = 3;
	class_->sharing = sharing;
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	class_->sharing = NULL; /* it was copied */
	heddle_platform_free(p);
	return rt;
}

/* The sum of the times, us, that the models of `n` codelets have learnt, each from one task. */
static double learnt(heddle_runtime *rt, size_t n)
{
	struct heddle_platform *p;
	double us = 0;
	assert_ok(heddle_platform_measured(rt, "here", &p));
	assert_int_equal(p->n_kernels, n);
	for (size_t i = 0; i < n; i++)
		us += p->kernels[i].table[0].us;
	heddle_platform_free(p);
	return us;
}

/* Runs pairs of kernels, each of a codelet of its own. Returns what the models have learnt; *span: the times from
 * launch to end; *busy: the time in which a kernel ran. */
static double run_pairs(double *sharing, double *span, double *busy)
{
	enum { PAIRS = 3 };
	static const char *const names[2 * PAIRS] = {"a", "b", "c", "d", "e", "f"};
	heddle_runtime *rt = start_sharing(sharing);
	struct heddle_trace *trace;
	heddle_data *d;
	long value = 0;
	assert_ok(heddle_variable(rt, &value, sizeof value, &d));
	for (int i = 0; i < PAIRS; i++) {
		struct meeting m = {.expected = 2}, *address = &m;
		for (int k = 0; k < 2; k++)
			assert_ok(heddle_submit(rt, heddle_call(codelet(rt, names[2 * i + k], run_beside_another)),
			                        heddle_r(d), heddle_value(address)));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_tasks, 2 * PAIRS);
	*span = *busy = 0;
	for (size_t i = 0; i < trace->n_tasks; i += 2) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		*span += t[0].end - t[0].start + t[1].end - t[1].start;
		*busy += (t[0].end > t[1].end ? t[0].end : t[1].end) - t[0].start;
		assert_true(t[1].start < t[0].end);
	}
	heddle_trace_free(trace);
	double us = learnt(rt, 2 * PAIRS);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
	return us;
}

static int is_near(double x, double y)
{
	return x > y - 1e-6 && x < y + 1e-6;
}

static void learnt_times_of_kernels_at_once_add_up_to_the_busy_time(void **state)
{
	(void)state;
	double span, busy, us = run_pairs(NULL, &span, &busy);
	assert_true(is_near(us, busy));
	assert_false(is_near(us, span));
}

static void learnt_times_are_those_of_a_kernel_alone_where_the_platform_says_how_they_share(void **state)
{
	(void)state;
	double alone[] = {1, 1}, span, busy, us = run_pairs(alone, &span, &busy);
	assert_true(is_near(us, span));
	double slower[] = {1, 0.75};
	us = run_pairs(slower, &span, &busy);
	assert_true(is_near(us, busy - (span - busy) + 1.5 * (span - busy)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_many_kernels_run_at_once_as_there_are_streams),
	    cmocka_unit_test(kernels_of_one_stream_run_in_order),
	    cmocka_unit_test(no_more_kernels_run_at_once_than_there_are_streams),
	    cmocka_unit_test(streams_have_scratch_buffers_of_their_own),
	    cmocka_unit_test(streams_reduce_into_copies_of_their_own),
	    cmocka_unit_test(task_bound_to_a_busy_stream_holds_up_nobody),
	    cmocka_unit_test(kernel_that_fails_leaves_those_on_other_streams_alone),
	    cmocka_unit_test(kernel_on_a_stream_may_submit_but_not_wait),
	    cmocka_unit_test(tasks_that_wait_for_events_hold_no_stream),
	    cmocka_unit_test(streams_are_not_bound_to_the_core_of_the_caller),
	    cmocka_unit_test(a_cpu_has_no_stream),
	    cmocka_unit_test(learnt_times_of_kernels_at_once_add_up_to_the_busy_time),
	    cmocka_unit_test(learnt_times_are_those_of_a_kernel_alone_where_the_platform_says_how_they_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
