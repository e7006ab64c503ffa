/* When workers are driven: what statistics, traces and their exports say of it. */
#include <math.h>
#include "overlapping.h"
#include "scratch.h"
#include "trace/trace.h"

/* Takes 40 us on a single core, 20 on two, 10 on four. */
static heddle_codelet *evenly(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "use", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                          .time = shared_evenly);
}

static heddle_runtime *start_traced(int virtual_time)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	return start_overlapping(&config, virtual_time, 0);
}

static void run_some(heddle_runtime *rt, heddle_codelet *c, int n)
{
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
}

static struct heddle_trace *take(heddle_runtime *rt)
{
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	return trace;
}

/* Four tasks on single cores until 40, one on all of them until 50, one on a pair until 70. */
static heddle_runtime *run_three_cluster_sets(void)
{
	heddle_runtime *rt = start_traced(1);
	heddle_codelet *c = evenly(rt);
	run_some(rt, c, 4);
	drive(rt, all_cores, 1);
	run_some(rt, c, 1);
	drive(rt, pairs, 2);
	run_some(rt, c, 1);
	return rt;
}

static void expect_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void expect_stats(heddle_runtime *rt, double busy, double idle)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	expect_near(stats.busy, busy);
	expect_near(stats.idle, idle);
	if (idle > 0)
		expect_near(stats.driven, busy + idle);
}

static void cores_that_are_driven_count(void **state)
{
	(void)state;
	heddle_runtime *rt = run_three_cluster_sets();
	expect_stats(rt, 4 * 40 + 4 * 10 + 2 * 20, 2 * 20);
	drive(rt, singles, 2);
	run_some(rt, evenly(rt), 1);
	expect_stats(rt, 240 + 40, 40 + 40);
	assert_ok(heddle_stop(rt));
}

/* With threads nobody knows the times, but the cores have always some worker that is driven. */
static void all_cores_are_driven_whatever_the_cluster_set(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced(0);
	heddle_codelet *c = evenly(rt);
	struct heddle_stats stats;
	for (int i = 0; i < 4; i++) {
		drive(rt, i % 2 ? all_cores : pairs, i % 2 ? 1 : 2);
		run_some(rt, c, 5);
	}
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_true(fabs(stats.busy + stats.idle - 4 * stats.makespan) < 1e-6 * stats.makespan);
		drive(rt, singles, 2); /* after the last task: of no concern */
	}
	struct heddle_trace *trace = take(rt);
	assert_int_equal(trace->n_drives, 4 + 2 + 3 * 3 + 3);
	struct hd_duty *duties = hd_trace_duties(trace);
	double driven = 0;
	for (unsigned w = 0; w < N_OVERLAPPING; w++)
		driven += n_cores(w) * duties[w].driven;
	assert_true(fabs(driven - 4 * heddle_trace_makespan(trace)) < 1e-6 * driven);
	assert_true(isnan(hd_duty_idle(&duties[0]))); /* it retired before the first task could run */
	free(duties);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void expect_duty(const struct hd_duty *duty, size_t n, double busy, double driven, double there)
{
	assert_int_equal(duty->n, n);
	expect_near(duty->busy, busy);
	expect_near(duty->driven, driven);
	expect_near(duty->there, there);
}

static void traces_say_who_was_driven(void **state)
{
	(void)state;
	heddle_runtime *rt = run_three_cluster_sets();
	struct heddle_trace *trace = take(rt), *back;
	assert_int_equal(trace->n_drives, 5 + 3);
	struct hd_duty *duties = hd_trace_duties(trace);
	for (unsigned w = 0; w < PAIR; w++)
		expect_duty(&duties[w], 1, 40, 40, 40);
	assert_int_equal(duties[PAIR].n + duties[OTHER_PAIR].n, 1);
	expect_near(duties[PAIR].driven, 20);
	expect_duty(&duties[ALL], 1, 10, 10, 10);
	expect_near(hd_trace_idle(trace, duties), 40.0 / 280);
	free(duties);
	struct hd_absences absences;
	assert_ok(hd_trace_absences(trace, -5, 70, &absences));
	assert_int_equal(absences.n, 4 + 2 + 2);
	const struct hd_absence *all = &absences.list[absences.first[ALL]];
	assert_true(all[0].from == -5 && all[0].to == 40 && all[1].to == 70);
	expect_near(all[1].from, 50);
	hd_absences_free(&absences);
	assert_ok(heddle_trace_save(trace, file("a.trace")));
	assert_ok(heddle_trace_load(file("a.trace"), &back));
	assert_int_equal(back->n_drives, trace->n_drives);
	for (size_t i = 0; i < trace->n_drives; i++) {
		const struct heddle_trace_drive *x = &trace->drives[i], *y = &back->drives[i];
		assert_true(x->at == y->at && x->worker == y->worker && x->driven == y->driven);
	}
	heddle_trace_free(back);
	heddle_trace_free(trace);
	/* The next trace begins with those that are driven by then, which is not what the platform says. */
	run_some(rt, evenly(rt), 2);
	trace = take(rt);
	assert_int_equal(trace->n_drives, 4 + 2);
	duties = hd_trace_duties(trace);
	expect_duty(&duties[PAIR], 1, 20, 20, 20);
	expect_duty(&duties[0], 0, 0, 0, 0);
	expect_near(hd_trace_idle(trace, duties), 0);
	free(duties);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void drive_all(void *arg, int status)
{
	assert_ok(status);
	assert_ok(heddle_workers_drive(arg, all_cores, 1));
}

static double by_data(const struct heddle_size *size, unsigned class_id)
{
	(void)class_id;
	return size->bytes > 0 ? 100 : 20;
}

static void drive_singles_and_take(void *arg, int status)
{
	assert_ok(status);
	assert_ok(heddle_workers_drive(arg, singles, N_CORES));
	heddle_trace_free(take(arg));
}

/* A kernel runs when a trace is taken, and its worker has retired: in the next trace, in which the worker is never
 * driven, it is there as long as its kernel. */
static void a_kernel_outlasts_its_worker_and_a_trace(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced(1);
	heddle_codelet *c = given(rt, "use", by_data);
	double x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	drive(rt, pairs, 2);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(PAIR)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(OTHER_PAIR), heddle_then(drive_singles_and_take, rt)));
	assert_ok(heddle_wait_all(rt));
	struct heddle_trace *trace = take(rt);
	struct hd_duty *duties = hd_trace_duties(trace);
	assert_int_equal(trace->n_drives, 0);
	expect_duty(&duties[PAIR], 1, 100, 0, 100);
	expect_duty(&duties[OTHER_PAIR], 0, 0, 0, 0);
	free(duties);
	heddle_trace_free(trace);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static double by_worker(const struct heddle_size *size, unsigned class_id)
{
	return class_id == 0 && size->bytes > 0 ? 100 : 40.0 / (1 << class_id);
}

/* A worker that retires is there until its kernel has ended, but its cores are not driven twice. */
static void a_kernel_outlasts_its_worker(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced(1);
	heddle_codelet *c = given(rt, "use", by_worker);
	double x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(1), heddle_then(drive_all, rt)));
	assert_ok(heddle_wait_all(rt));
	run_some(rt, c, 1);
	assert_ok(heddle_unregister(d));
	struct heddle_trace *trace = take(rt);
	struct hd_duty *duties = hd_trace_duties(trace);
	expect_duty(&duties[0], 1, 100, 40, 100);
	expect_duty(&duties[1], 1, 40, 40, 40);
	expect_duty(&duties[ALL], 1, 10, 70, 70);
	expect_near(hd_trace_idle(trace, duties), 1 - (100 + 40 + 4 * 10) / (4 * 110.0));
	expect_stats(rt, 180, 260);
	free(duties);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* Kernels that end long after their workers were retired: more time than these were driven. */
static void kernels_may_be_busier_than_what_is_driven(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced(1);
	heddle_codelet *c = given(rt, "use", by_worker);
	double x = 0;
	heddle_data *d;
	struct heddle_stats stats;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (unsigned w = 0; w < 4; w++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d), heddle_on(w)));
	drive(rt, singles, 4); /* no change, but they begin, at 0 */
	drive(rt, singles, 1);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	expect_stats(rt, 4 * 100, 0);
	assert_ok(heddle_runtime_stats(rt, &stats));
	expect_near(stats.driven, 100);
	assert_ok(heddle_stop(rt));
}

/* What a trace says of tasks that began before the trace before it was taken: other workers were driven already. */
static void tasks_may_run_while_a_trace_is_taken(void **state)
{
	(void)state;
	heddle_runtime *rt = start_traced(1);
	heddle_codelet *c = given(rt, "use", by_worker);
	double x = 0;
	heddle_data *d;
	heddle_task *first;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	drive(rt, mixed, 3);
	run_some(rt, c, 1);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(PAIR), heddle_out(&first)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(3)));
	assert_ok(heddle_task_wait(first));
	heddle_task_release(first);
	heddle_trace_free(take(rt));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	struct heddle_trace *trace = take(rt);
	assert_int_equal(trace->n_tasks, 1);
	assert_int_equal(trace->n_drives, 3);
	struct hd_duty *duties = hd_trace_duties(trace);
	expect_duty(&duties[0], 0, 0, 0, 0);
	expect_duty(&duties[3], 1, 40, 40, 40);
	expect_duty(&duties[PAIR], 0, 0, 40, 40);
	expect_near(hd_trace_idle(trace, duties), 0.75);
	free(duties);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static char *exported(const struct heddle_trace *trace, enum heddle_trace_format format)
{
	size_t length;
	assert_ok(heddle_trace_export(trace, format, file("exported")));
	return contents(file("exported"), &length);
}

static char *drawn(const struct heddle_trace *trace)
{
	size_t length;
	assert_ok(heddle_trace_gantt(trace, file("chart.svg"), NULL));
	return contents(file("chart.svg"), &length);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;
	while ((text = strstr(text, what)) != NULL) {
		n++;
		text++;
	}
	return n;
}

/* Each of the texts is in the export once; `each` as often as a worker was retired for a while; neither is there if
 * none ever was. */
static void expect_export(const struct heddle_trace *trace, enum heddle_trace_format format, const char *each,
                          const char *const texts[3])
{
	char *text = exported(trace, format);
	int some = trace->n_drives > 0;
	assert_int_equal(count(text, each), some ? 4 + 2 + 2 : 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(count(text, texts[i]), some);
	free(text);
}

static void exports_show_who_was_retired(void **state)
{
	(void)state;
	heddle_runtime *rt = run_three_cluster_sets();
	struct heddle_trace *trace = take(rt);
	static const char *const csv[] = {"retired,,,single3,cpu,,,40,70", "retired,,,all,cpu*4,,,0,40,",
	                                  "retired,,,all,cpu*4,,,50"};
	static const char *const chrome[] = {"\"tid\":3,\"ts\":40,\"dur\":30,\"name\":\"retired\"",
	                                     "\"tid\":6,\"ts\":0,\"dur\":40,\"name\":\"retired\"",
	                                     "\"tid\":6,\"ts\":50,\"dur\":20,\"name\":\"retired\""};
	static const char *const paje[] = {"\n6 0.04 S w3 retired - -\n", "\n6 0.04 S w6 idle - -\n",
	                                   " retired S \"retired\""};
	for (int i = 0; i < 2; i++) {
		expect_export(trace, HEDDLE_TRACE_CSV, "\nretired,", csv);
		expect_export(trace, HEDDLE_TRACE_CHROME, "\"name\":\"retired\"", chrome);
		expect_export(trace, HEDDLE_TRACE_PAJE, " retired - -\n", paje);
		trace->n_drives = 0;
		for (size_t w = 0; w < trace->platform->n_workers; w++)
			trace->platform->workers[w].core = -1, trace->platform->workers[w].retired = 0;
	}
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

/* The rows of the chart are white where workers were retired, with a line: twice as many shapes as times. */
static void charts_show_who_was_retired(void **state)
{
	(void)state;
	heddle_runtime *rt = run_three_cluster_sets();
	struct heddle_trace *trace = take(rt);
	char *with = drawn(trace);
	trace->n_drives = 0;
	for (size_t w = 0; w < trace->platform->n_workers; w++)
		trace->platform->workers[w].core = -1, trace->platform->workers[w].retired = 0;
	char *without = drawn(trace);
	static const char grey[] = "rgb(72.15";
	assert_int_equal(count(without, grey), 0);
	assert_int_equal(count(with, grey), 4 + 2 + 2 + 1); /* and the legend */
	free(with);
	free(without);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void wrong_changes_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *line, *said;
	} cases[] = {
	    {"driven 1 7 1", "a worker that the platform does not have"},
	    {"driven 1 0 2", "neither 1"},
	    {"driven 1 0", "driven"},
	    {"driven x 0 1", "time"},
	    {"driven 1 0 1 1", "more fields"},
	    {"driven 2 0 1\ndriven 1 0 0", "out of order"},
	};
	heddle_runtime *rt = start_traced(1);
	struct heddle_trace *trace = take(rt), *back;
	assert_ok(heddle_trace_save(trace, file("a.trace")));
	size_t length;
	char *good = contents(file("a.trace"), &length), *end = strstr(good, "\nend ");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = hd_format("%.*s\n%s%s", (int)(end - good), good, cases[i].line, end);
		assert_ok(hd_file_write(file("b.trace"), text, strlen(text)));
		assert_int_equal(heddle_trace_load(file("b.trace"), &back), HEDDLE_E_FORMAT);
		assert_says(cases[i].said);
		free(text);
	}
	free(good);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cores_that_are_driven_count),
	    cmocka_unit_test(all_cores_are_driven_whatever_the_cluster_set),
	    cmocka_unit_test(traces_say_who_was_driven),
	    cmocka_unit_test(a_kernel_outlasts_its_worker),
	    cmocka_unit_test(a_kernel_outlasts_its_worker_and_a_trace),
	    cmocka_unit_test(kernels_may_be_busier_than_what_is_driven),
	    cmocka_unit_test(tasks_may_run_while_a_trace_is_taken),
	    cmocka_unit_test(exports_show_who_was_retired),
	    cmocka_unit_test(charts_show_who_was_retired),
	    cmocka_unit_test(wrong_changes_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
