/* Several kernels at once on one worker in virtual time: when they end, and what policies and statistics see of it. All
 * on examples worked by hand. */
#include <math.h>
#include <heddle/trace.h>
#include "engine/virtual/virtual.h"
#include "program.h"

/* A worker with streams, whose class has the given keys, one that is slower, and one that runs what nobody else can. */
#define MACHINE(keys)                                             \
	"version: 1\nname: streams\nnodes:\n- {name: ram}\n"      \
	"classes:\n- {name: many, kind: cpu, " keys "}\n"         \
	"- {name: slow, kind: cpu}\n- {name: other, kind: cpu}\n" \
	"workers:\n- {name: many, class: many, node: ram}\n"      \
	"- {name: slow, class: slow, node: ram}\n- {name: other, class: other, node: ram}\n"
enum { MANY, SLOW, OTHER };

static heddle_runtime *start_streams(const char *machine, const char *policy)
{
	struct heddle_config config = small_config();
	config.sched = policy;
	config.calibrate = 0;
	config.trace = 1;
	return start_on(&config, machine);
}

/* What the trace says of the task with this number. */
static struct heddle_trace_task traced(const struct heddle_trace *trace, uint64_t id)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].id == id)
			return trace->tasks[i];
	fail_msg("task %d is not in the trace", (int)id);
	return (struct heddle_trace_task){0};
}

/* The trace of all tasks, after which the runtime is stopped. */
static struct heddle_trace *finish(heddle_runtime *rt)
{
	struct heddle_trace *trace;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

/* Tasks 0, 1 ... ran from start[i] to end[i], to the last bit. */
static void assert_times(struct heddle_trace *trace, size_t n, const double *start, const double *end)
{
	for (size_t i = 0; i < n; i++) {
		struct heddle_trace_task t = traced(trace, i);
		if (t.start != start[i] || t.end != end[i])
			fail_msg("task %zu ran from %.17g to %.17g, not from %.17g to %.17g", i, t.start, t.end,
			         start[i], end[i]);
	}
	heddle_trace_free(trace);
}

static double sixty(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == MANY ? 60 : NAN;
}

static double tens(const struct heddle_size *size, unsigned class_id)
{
	return class_id == MANY ? 10 * size->bytes / 8 : NAN;
}

static double ten_or_22(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == MANY ? 10 : class_id == SLOW ? 22 : NAN;
}

static double twenty_on_the_other(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == OTHER ? 20 : NAN;
}

/* --- When kernels end --------------------------------------------------------------------------------------------- */

/* Three kernels of 60 us: two at the rate .6, then one alone. */
static void two_kernels_at_once_end_when_their_rate_says(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 2, sharing: [1, .6]"), "eager");
	heddle_codelet *codelet = given(rt, "sixty", sixty);
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_times(finish(rt), 3, (double[]){0, 0, 100}, (double[]){100, 100, 160});
}

/* At 20 the first kernel has 40 us left, and takes 80 for them beside the second, which then has 20 left. */
static void kernel_that_begins_later_slows_the_first_down(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 2"), "eager");
	heddle_codelet *before = given(rt, "before", twenty_on_the_other), *codelet = given(rt, "sixty", sixty);
	struct heddle_stats stats;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	assert_ok(heddle_submit(rt, heddle_call(before), heddle_w(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.makespan == 120);
	assert_true(stats.busy == 20 + 120); /* the worker was busy all the time, however many kernels it ran */
	assert_true(stats.idle == 3 * 120 - stats.busy);
	assert_true(stats.transfer_wait == 0);
	assert_times(finish(rt), 3, (double[]){0, 0, 20}, (double[]){20, 100, 120});
}

/* Kernels of 10, 20, 30 and 40 us, of which each has 10 us left when the one before ends. */
static void rate_grows_when_a_kernel_ends(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 4, sharing: [1, .5, .5, .25]"), "eager");
	heddle_codelet *codelet = given(rt, "tens", tens);
	for (size_t i = 1; i <= 4; i++) {
		heddle_data *d;
		assert_ok(heddle_vector(rt, NULL, i, 8, &d));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d)));
	}
	assert_times(finish(rt), 4, (double[4]){0}, (double[]){40, 60, 80, 90});
}

/* The worker may hold one task more than it has streams, whatever its pipeline: the datum of the third task comes while
 * the others run, and it begins when the first ends. */
static void next_data_come_while_all_streams_run(void **state)
{
	static const char machine[] =
	    "version: 1\nname: streams\nnodes:\n- {name: ram}\n- {name: gpu}\n"
	    "classes:\n- {name: many, kind: cpu, streams: 2}\nworkers:\n- {name: gpu, class: many, node: gpu}\n"
	    "links:\n- {from: ram, to: gpu, bandwidth_mbs: 1000}\n- {from: gpu, to: ram, bandwidth_mbs: 1000}\n";
	(void)state;
	heddle_runtime *rt = start_streams(machine, "eager");
	heddle_codelet *codelet = given(rt, "sixty", sixty);
	static char bytes[10000];
	for (int i = 0; i < 3; i++) {
		heddle_data *d;
		assert_ok(heddle_vector(rt, bytes, 10000, 1, &d));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
	}
	/* Data arrive at 10, 20, 30. At 20 the first kernel has 50 us left, at 120 the second 10 us, at 140 the third
	 * 50 us. */
	assert_times(finish(rt), 3, (double[]){10, 20, 120}, (double[]){120, 140, 190});
}

static double hundred(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == MANY ? 100 : NAN;
}

/* Contributions on both slots need a neutral copy each, which takes 100 us alone; the third finds one there. */
static void private_copies_belong_to_slots(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 2"), "eager");
	heddle_codelet *codelet = given(rt, "sixty", sixty);
	heddle_data *sum, *buffer;
	assert_ok(heddle_variable(rt, NULL, 8, &sum));
	assert_ok(heddle_variable(rt, NULL, 8, &buffer));
	assert_ok(heddle_data_set_reduction(sum, given(rt, "init", hundred), given(rt, "combine", sixty)));
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_redux(sum), heddle_scratch(buffer)));
	assert_times(finish(rt), 3, (double[]){0, 0, 320}, (double[]){320, 320, 380});
}

/* --- What follows ------------------------------------------------------------------------------------------------- */

static unsigned placed_on_slow(const char *machine, int n)
{
	heddle_runtime *rt = start_streams(machine, "dm");
	heddle_codelet *codelet = given(rt, "work", ten_or_22);
	unsigned slow = 0;
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	struct heddle_trace *trace = finish(rt);
	for (size_t i = 0; i < trace->n_tasks; i++)
		slow += trace->tasks[i].worker == SLOW;
	heddle_trace_free(trace);
	return slow;
}

/* A task of 10 us takes 5 us of a worker that runs two at full rate: the fifth would end at 25 there, at 22 on the slow
 * worker. If kernels gain nothing from running at once, the third would end at 30. */
static void policies_see_how_fast_all_streams_are_together(void **state)
{
	(void)state;
	assert_int_equal(placed_on_slow(MACHINE("streams: 2, sharing: [1, 1]"), 4), 0);
	assert_int_equal(placed_on_slow(MACHINE("streams: 2, sharing: [1, 1]"), 5), 1);
	assert_int_equal(placed_on_slow(MACHINE("streams: 2"), 2), 0);
	assert_int_equal(placed_on_slow(MACHINE("streams: 2"), 3), 1);
}

static void note_idle(void *arg, const char *name, double value, const char *unit)
{
	(void)unit;
	if (strcmp(name, "many: idle") == 0)
		*(double *)arg = value;
}

/* From 0 to 100 and from 20 to 120: at no time the worker is idle. */
static void autoheteroprio_sees_no_idleness_while_a_stream_runs(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 2"), "autoheteroprio");
	heddle_codelet *before = given(rt, "before", twenty_on_the_other), *codelet = given(rt, "sixty", sixty);
	double idle = -1;
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, 8, &d));
	assert_ok(heddle_submit(rt, heddle_call(before), heddle_w(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_policy_report(rt, note_idle, &idle));
	assert_true(idle == 0);
	assert_times(finish(rt), 3, (double[]){0, 0, 20}, (double[]){20, 100, 120});
}

static double sixty_in_traces(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)trace;
	(void)task;
	(void)arg;
	return class_id == MANY ? 60 : NAN;
}

/* Two kernels at once do 1.2 times as much as one: 480 us of work take 400. */
static void no_bound_is_above_what_all_streams_reach(void **state)
{
	(void)state;
	heddle_runtime *rt = start_streams(MACHINE("streams: 2, sharing: [1, .6]"), "eager");
	heddle_codelet *codelet = given(rt, "sixty", sixty);
	struct heddle_bounds bounds;
	for (int i = 0; i < 8; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet)));
	struct heddle_trace *trace = finish(rt);
	assert_true(fabs(heddle_trace_makespan(trace) - 400) < 1e-9);
	assert_ok(heddle_trace_bounds(trace, sixty_in_traces, NULL, 10, &bounds));
	assert_true(fabs(bounds.area - 400) < 1e-9 && fabs(bounds.mixed - 400) < 1e-9);
	trace->virtual_time = 0; /* then 60 us is what kernels took beside others */
	assert_ok(heddle_trace_bounds(trace, sixty_in_traces, NULL, 10, &bounds));
	assert_true(fabs(bounds.area - 240) < 1e-9);
	heddle_trace_free(trace);
}

/* --- The law alone ------------------------------------------------------------------------------------------------ */

static void kernels_due_together_end_together_in_order(void **state)
{
	(void)state;
	double sharing[] = {1, .7, .49}, ends = 0;
	struct heddle_class class_ = {.streams = 3, .sharing = sharing};
	struct hd_kernel kernels[3];
	struct hd_streams s = {.clock = {.class_ = &class_}, .kernels = kernels};
	uint64_t order;
	double due = hd_shared_clock(&s.clock, 0.1) + 1.0 / 3;
	for (unsigned i = 0; i < 3; i++)
		hd_streams_begin(&s, &(struct hd_kernel){.due = due, .order = 9 - i, .slot = i});
	for (unsigned i = 3; i-- > 0;) {
		double now = hd_streams_next(&s, &order);
		assert_int_equal(order, 9 - i);
		assert_true(i == 2 || now == ends);
		ends = now;
		assert_int_equal(hd_streams_end(&s, now), i);
	}
	assert_int_equal(s.clock.n, 0);
	assert_true(fabs(ends - (0.1 + 1 / (3 * .49))) < 1e-12);
	due = hd_shared_clock(&s.clock, 0.7) + 0.1; /* a kernel alone ends exactly then, whatever ran before */
	hd_streams_begin(&s, &(struct hd_kernel){.due = due});
	assert_true(hd_streams_next(&s, &order) == 0.7 + 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_kernels_at_once_end_when_their_rate_says),
	    cmocka_unit_test(kernel_that_begins_later_slows_the_first_down),
	    cmocka_unit_test(rate_grows_when_a_kernel_ends),
	    cmocka_unit_test(next_data_come_while_all_streams_run),
	    cmocka_unit_test(private_copies_belong_to_slots),
	    cmocka_unit_test(policies_see_how_fast_all_streams_are_together),
	    cmocka_unit_test(autoheteroprio_sees_no_idleness_while_a_stream_runs),
	    cmocka_unit_test(no_bound_is_above_what_all_streams_reach),
	    cmocka_unit_test(kernels_due_together_end_together_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
