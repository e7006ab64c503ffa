/* src/trace: makespan, critical path, bounds, and trace files, on traces made by hand. */
#include "traces.h"
#include <math.h>
#include "machine/machine.h"

/* --- Makespan and critical path ----------------------------------------------------------------------------------- */

static void expect_path(const struct heddle_trace *trace, const uint64_t *expected, size_t n_expected)
{
	uint64_t *ids = NULL;
	size_t n = 0;
	OK(heddle_trace_critical_path(trace, &ids, &n));
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ids[i], expected[i]);
	free(ids);
}

static void makespan_of_diamond_counts_from_its_submission(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	assert_true(heddle_trace_makespan(trace) == 40);
	trace->tasks[0].ready = 95; /* it had to wait for data */
	assert_true(heddle_trace_makespan(trace) == 45);
	trace->n_tasks = 0;
	assert_true(heddle_trace_makespan(trace) == 0);
	heddle_trace_free(trace);
	heddle_trace_free(NULL);
}

static void path_of_diamond_follows_later_branch(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	expect_path(trace, (const uint64_t[]){4, 2, 1}, 3);
	trace->tasks[2].end = 130.5; /* now the other branch is later, and it waited for nothing but 1 */
	trace->tasks[3].start = 130.5;
	expect_path(trace, (const uint64_t[]){4, 3, 1}, 3);
	heddle_trace_free(trace);
}

static void path_of_busy_worker_goes_through_its_previous_task(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	trace->n_edges = 1; /* 1 before 2 only */
	trace->tasks[3].worker = 1;
	expect_path(trace, (const uint64_t[]){4, 3}, 2);
	trace->n_tasks = 0;
	expect_path(trace, NULL, 0);
	heddle_trace_free(trace);
}

/* --- Bounds ------------------------------------------------------------------------------------------------------- */

static void bounds_of_diamond_are_area_and_longest_path(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	struct heddle_bounds bounds;
	OK(heddle_trace_bounds(trace, NULL, NULL, 0, &bounds)); /* 10, 20, 10, 10 us */
	assert_true(fabs(bounds.area - 25) < 1e-9);
	assert_true(fabs(bounds.critical_path - 40) < 1e-9);
	assert_true(bounds.mixed == bounds.critical_path);
	trace->n_edges = 0;
	OK(heddle_trace_bounds(trace, NULL, NULL, 0, &bounds));
	assert_true(fabs(bounds.critical_path - 20) < 1e-9);
	assert_true(bounds.mixed == bounds.area);
	heddle_trace_free(trace);
}

/* Times by codelet and class. */
static double from_table(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	const double(*table)[2] = arg;
	return table[trace->tasks[task].codelet][class_id];
}

/* Two tasks of 10 us or 1 us, three of 2 us or 1 us. All of the first kind go to the card, and 5/9 of the second to the
 * core: 6 x = 2 + 3 (1 - x), T = 10/3. */
static void bounds_of_two_classes_share_a_type(void **state)
{
	(void)state;
	struct heddle_trace *trace = make_trace(two_classes, 5, 0);
	double times[2][2] = {{10, 1}, {2, 1}};
	for (size_t i = 0; i < 5; i++) {
		set_task(trace, i, 0, (double)i, (double)i + 1);
		trace->tasks[i].codelet = i >= 2;
	}
	struct heddle_bounds bounds;
	OK(heddle_trace_bounds(trace, from_table, times, 0, &bounds));
	assert_true(fabs(bounds.area - 10.0 / 3) < 1e-9);
	assert_true(fabs(bounds.critical_path - 1) < 1e-12);
	times[1][1] = NAN; /* now the core has 6 us of work that only it can do */
	OK(heddle_trace_bounds(trace, from_table, times, 0, &bounds));
	assert_true(fabs(bounds.area - 6) < 1e-9);
	assert_true(fabs(bounds.critical_path - 2) < 1e-12);
	heddle_trace_free(trace);
}

/* On the card, the first codelet is four times as fast and the second is as fast as on the core. */
static double own_size(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)arg;
	return trace->tasks[task].bytes / (class_id == 1 && trace->tasks[task].codelet == 0 ? 4 : 1);
}

/* More kinds than the linear program takes, of two ratios between the classes. All of the first codelet goes to the
 * card, and of the second what evens it out; its first task alone would suggest the contrary, and so would its last. */
static void bounds_of_many_sizes_are_merged_exactly(void **state)
{
	(void)state;
	enum { N = 3000 };
	struct heddle_trace *trace = make_trace(two_classes, N, 0);
	double sums[2] = {0};
	for (size_t i = 0; i < N; i++) {
		set_task(trace, i, 0, (double)i, (double)i + 1);
		trace->tasks[i].codelet = i % 2;
		trace->tasks[i].bytes =
		    i == 0 || i == N - 2 ? 500 + (double)i : (1 + sqrt((double)i)) * (i % 2 ? 1 : 0.01);
		sums[i % 2] += trace->tasks[i].bytes;
	}
	struct heddle_bounds bounds;
	OK(heddle_trace_bounds(trace, own_size, NULL, 0, &bounds));
	double expected = (sums[0] / 4 + sums[1]) / 2;
	assert_true(fabs(bounds.area - expected) < 1e-9 * expected);
	heddle_trace_free(trace);
}

static void bounds_without_times_or_with_circle_are_refused(void **state)
{
	(void)state;
	struct heddle_bounds bounds = {.mixed = 3};
	struct heddle_trace *trace = diamond();
	trace->tasks[3].codelet = 1;
	assert_int_equal(heddle_trace_bounds(trace, NULL, NULL, 0, &bounds), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "other"));
	trace->tasks[3].codelet = 0;
	trace->edges[0] = (struct heddle_trace_edge){4, 1};
	static const struct heddle_trace_edge circle[] = {{4, 1}, {1, 2}, {1, 3}, {2, 4}};
	memcpy(trace->edges, circle, sizeof circle);
	assert_int_equal(heddle_trace_bounds(trace, NULL, NULL, 0, &bounds), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "circle"));
	double negative[2][2] = {{-1, 1}, {1, 1}};
	assert_int_equal(heddle_trace_bounds(trace, from_table, negative, 0, &bounds), HEDDLE_E_INVALID);
	assert_true(bounds.mixed == 3); /* written only on success */
	trace->n_tasks = trace->n_edges = 0;
	OK(heddle_trace_bounds(trace, NULL, NULL, 0, &bounds));
	assert_true(bounds.mixed == 0);
	heddle_trace_free(trace);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static void expect_same_platform(const struct heddle_platform *a, const struct heddle_platform *b)
{
	char *text[2] = {NULL};
	size_t length[2];
	OK(hd_platform_format(a, &text[0], &length[0]));
	OK(hd_platform_format(b, &text[1], &length[1]));
	assert_int_equal(length[0], length[1]);
	assert_memory_equal(text[0], text[1], length[0]);
	free(text[0]);
	free(text[1]);
}

static void expect_same(const struct heddle_trace *a, const struct heddle_trace *b)
{
	assert_string_equal(a->policy, b->policy);
	assert_int_equal(a->virtual_time, b->virtual_time);
	expect_same_platform(a->platform, b->platform);
	assert_int_equal(a->n_codelets, b->n_codelets);
	for (size_t i = 0; i < a->n_codelets; i++) {
		assert_string_equal(a->codelets[i].name, b->codelets[i].name);
		assert_int_equal(a->codelets[i].color, b->codelets[i].color);
	}
	assert_int_equal(a->n_tasks, b->n_tasks);
	assert_memory_equal(a->tasks, b->tasks, a->n_tasks * sizeof *a->tasks); /* no padding: see the structure */
	assert_int_equal(a->n_edges, b->n_edges);
	assert_memory_equal(a->edges, b->edges, a->n_edges * sizeof *a->edges);
	assert_int_equal(a->n_transfers, b->n_transfers);
	for (size_t i = 0; i < a->n_transfers; i++) {
		const struct heddle_trace_transfer *x = &a->transfers[i], *y = &b->transfers[i];
		assert_true(x->from == y->from && x->to == y->to && x->start == y->start && x->end == y->end);
		assert_true(x->bytes == y->bytes && x->data == y->data && x->reason == y->reason);
	}
}

static void trace_saved_and_loaded_is_the_same(void **state)
{
	(void)state;
	struct heddle_trace *traces[] = {diamond(), rich(), make_trace(two_cores, 0, 0)}, *back;
	for (size_t i = 0; i < 3; i++) {
		OK(heddle_trace_save(traces[i], file("a.trace")));
		OK(heddle_trace_load(file("a.trace"), &back));
		expect_same(traces[i], back);
		heddle_trace_free(back);
		heddle_trace_free(traces[i]);
	}
}

static void trace_of_random_numbers_is_loaded_bit_for_bit(void **state)
{
	(void)state;
	enum { N = 5000 };
	struct hd_rng rng;
	hd_rng_seed(&rng, 7);
	struct heddle_trace *trace = make_trace(two_cores, N, 0), *back;
	double now = 0;
	for (size_t i = 0; i < N; i++) {
		double start = now;
		now += ldexp(hd_rng_uniform(&rng), (int)(i % 40) - 20);
		set_task(trace, i, 0, start, now);
		trace->tasks[i].ready = ldexp(hd_rng_uniform(&rng) - 0.5, (int)(hd_rng_next(&rng) % 2000) - 1000);
		trace->tasks[i].bytes = (double)(hd_rng_next(&rng) >> (i % 64));
		trace->tasks[i].flops = floor(1e9 * hd_rng_uniform(&rng)) / 1000;
	}
	OK(heddle_trace_save(trace, file("a.trace")));
	OK(heddle_trace_load(file("a.trace"), &back));
	expect_same(trace, back);
	heddle_trace_free(back);
	heddle_trace_free(trace);
}

/* Loads a text; returns the status. */
static int load_text(const char *text, size_t length)
{
	struct heddle_trace *trace;
	OK(hd_file_write(file("b.trace"), text, length));
	int status = heddle_trace_load(file("b.trace"), &trace);
	if (status == 0)
		heddle_trace_free(trace);
	return status;
}

static void trace_with_a_damaged_line_is_refused_naming_it(void **state)
{
	(void)state;
	static const struct {
		const char *old, *new, *said;
	} cases[] = {
	    {"heddle-trace 1", "heddle-trace 8", "version 8"},
	    {"heddle-trace 1", "something", "not a trace"},
	    {"clock virtual", "clock maybe", "clock"},
	    {"codelet 00ff00", "codelet 00FF00", "colour"},
	    {"codelet 00ff00 work", "codelet 00ff00", "name"},
	    {"task 1 0 0", "tusk 1 0 0", "\"tusk\""},
	    {"task 1 0 0", "task 1 2 0", "codelet"},
	    {"task 1 0 0", "task 1 0 9", "worker"},
	    {"task 1 0 0", "task 1 x 0", "codelet"},
	    {"task 1 0 0", "task 1  0 0", "codelet"},
	    {"task 1 0 0", "task 99999999999999999999 0 0", "id"},
	    {"task 1 0 0 0.1", "task 1 0 0 nan", "ready"},
	    {"task 1 0 0 0.1 0.1", "task 1 0 0 0.1 0.1e999", "picked"},
	    {"task 1 0 0 0.1 0.1 0.1", "task 1 0 0 0.1 0.1 9", "ends before"},
	    {" 0 0 8 0 0\n", " 0 0 8 0\n", "footprint"},
	    {" 0 0 8 0 0\n", " 0 0 8 0 0 0\n", "more fields"},
	    {" 0 0 8 0 0\n", " 0 0 -8 0 0\n", "bytes"},
	    {"task 4 ", "task 2 ", "out of order"},
	    {"task 4 ", "task 3 ", "of another"},
	    {"transfer 0 1 -5", "transfer 0 2 -5", "memory node"},
	    {"transfer 0 1 0 ", "transfer 0 1 -6 ", "out of order"},
	    {"8 8 1\n", "8 8 3\n", "reason"},
	    {"edge 1 3", "edge 3 3", "itself"},
	    {"edge 1 4", "edge 1 2", "out of order"},
	    {"edge 1 4", "task 1 4", "\"task\" after \"edge\""},
	    {"end 4 3 3", "end 5 3 3", "missing"},
	    {"end 4 3 3\n", "end 4 3 3\nend 4 3 3\n", "\"end\" after"},
	};
	struct heddle_trace *trace = rich();
	OK(heddle_trace_save(trace, file("a.trace")));
	heddle_trace_free(trace);
	size_t length = 0;
	char *good = contents(file("a.trace"), &length);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strstr(good, cases[i].old);
		if (!at)
			fail_msg("case %zu: no \"%s\" in\n%s", i, cases[i].old, good);
		char *text = hd_format("%.*s%s%s", (int)(at - good), good, cases[i].new, at + strlen(cases[i].old)),
		     line[32];
		size_t number = 1 + (size_t)(strncmp(cases[i].old, "end 4 3 3\n", 10) == 0);
		for (const char *p = good; p < at; p++)
			number += *p == '\n';
		snprintf(line, sizeof line, "b.trace:%zu: ", number);
		assert_int_equal(load_text(text, strlen(text)), HEDDLE_E_FORMAT);
		if (!strstr(heddle_last_error(), line) || !strstr(heddle_last_error(), cases[i].said))
			fail_msg("case %zu: \"%s\" lacks \"%s\" or \"%s\"", i, heddle_last_error(), line,
			         cases[i].said);
		free(text);
	}
	free(good);
}

static void trace_cut_short_anywhere_is_refused(void **state)
{
	(void)state;
	struct heddle_trace *trace = rich();
	OK(heddle_trace_save(trace, file("a.trace")));
	heddle_trace_free(trace);
	size_t length = 0;
	char *good = contents(file("a.trace"), &length);
	OK(load_text(good, length));
	OK(load_text(good, length - 1)); /* only the last newline is missing */
	for (size_t n = length - 2; n > 0; n -= n > 7 ? 7 : 1)
		assert_int_equal(load_text(good, n), HEDDLE_E_FORMAT);
	assert_int_equal(load_text(good, 0), HEDDLE_E_FORMAT);
	free(good);
}

static const char parts[] = "heddle-trace 7\npolicy eager\nclock real\nplatform version: 1\nplatform name: one\n"
                            "platform nodes:\nplatform - {name: ram}\nplatform classes:\n"
                            "platform - {name: cpu, kind: cpu}\nplatform workers:\n"
                            "platform - {name: core, class: cpu, node: ram}\ncodelet 0072b2 work\n"
                            "task 2 0 0 0 0 4 6 0 0 8 0 5\ntask 3 0 0 0 0 6 7 0 0 8 0 5\nended 3 9\nend 2 0 0\n"
                            "codelet 0072b3 more\ntask 1 1 0 0 0 0 2 0 0 8 0 5\ntask_name 1 late\n"
                            "inside 1 0\nend 3 0 0\n";

static void trace_in_parts_is_one_in_order(void **state)
{
	(void)state;
	struct heddle_trace *trace;
	OK(hd_file_write(file("a.trace"), parts, strlen(parts)));
	OK(heddle_trace_load(file("a.trace"), &trace));
	assert_int_equal(trace->n_tasks, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace->tasks[i].id, i + 1);
	assert_string_equal(trace->codelets[trace->tasks[0].codelet].name, "more");
	assert_string_equal(heddle_name_of(&trace->task_names, 1), "late");
	assert_int_equal(trace->tasks[0].inside, 1);
	assert_true(trace->tasks[2].ended == 9);
	OK(heddle_trace_save(trace, file("b.trace"))); /* as a whole */
	heddle_trace_free(trace);
}

static void trace_in_parts_that_is_cut_has_the_whole_ones(void **state)
{
	(void)state;
	size_t length = strlen(parts), first = (size_t)(strstr(parts, "end 2 0 0\n") - parts) + 10;
	struct heddle_trace *trace;
	for (size_t n = length; n > 0; n--) {
		OK(hd_file_write(file("a.trace"), parts, n));
		int status = heddle_trace_load(file("a.trace"), &trace);
		assert_int_equal(status, n >= first - 1 ? 0 : HEDDLE_E_FORMAT);
		if (status)
			continue;
		assert_int_equal(trace->n_tasks, n == length ? 3 : 2);
		heddle_trace_free(trace);
	}
}

static void trace_in_parts_with_wrong_records_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *old, *new, *said;
	} cases[] = {
	    {"end 3", "end 4", "missing"},           {"task 1 1 0", "task 1 1 7", "worker"},
	    {"task 1 1 0", "task 2 1 0", "id"},      {"task_name 1", "edge 1 2\ntask 1", "\"task\" after \"edge\""},
	    {"end 2", "platform x\nend 2", "after"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strstr(parts, cases[i].old);
		char *text = hd_format("%.*s%s%s", (int)(at - parts), parts, cases[i].new, at + strlen(cases[i].old));
		assert_int_equal(load_text(text, strlen(text)), HEDDLE_E_FORMAT);
		if (!strstr(heddle_last_error(), cases[i].said))
			fail_msg("case %zu: \"%s\" lacks \"%s\"", i, heddle_last_error(), cases[i].said);
		free(text);
	}
}

static void trace_with_random_bytes_changed_is_loaded_or_refused(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 11);
	struct heddle_trace *trace = rich();
	OK(heddle_trace_save(trace, file("a.trace")));
	heddle_trace_free(trace);
	size_t length = 0, n_refused = 0;
	char *good = contents(file("a.trace"), &length);
	for (size_t i = 0; i < 300; i++) {
		char *text = malloc(length);
		memcpy(text, good, length);
		for (size_t k = 0; k <= i % 3; k++)
			text[hd_rng_next(&rng) % length] = " 0129-.\n\\eX\xff"[hd_rng_next(&rng) % 12];
		int status = load_text(text, length);
		assert_true(status == 0 || status == HEDDLE_E_FORMAT || status == HEDDLE_E_UNKNOWN);
		n_refused += status != 0;
		free(text);
	}
	assert_true(n_refused > 100);
	free(good);
}

static void trace_in_memory_with_wrong_records_is_refused(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond(), *none;
	trace->tasks[1].worker = 2;
	assert_int_equal(heddle_trace_save(trace, file("a.trace")), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "task 2 of 4"));
	assert_int_equal(heddle_trace_gantt(trace, file("a.png"), NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_export(trace, HEDDLE_TRACE_CSV, file("a.csv")), HEDDLE_E_INVALID);
	trace->tasks[1].worker = 0;
	trace->tasks[1].start = NAN;
	assert_int_equal(heddle_trace_save(trace, file("a.trace")), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_save(NULL, file("a.trace")), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_load(file("absent.trace"), &none), HEDDLE_E_IO);
	assert_non_null(strstr(heddle_last_error(), "absent.trace"));
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(makespan_of_diamond_counts_from_its_submission),
	    cmocka_unit_test(path_of_diamond_follows_later_branch),
	    cmocka_unit_test(path_of_busy_worker_goes_through_its_previous_task),
	    cmocka_unit_test(bounds_of_diamond_are_area_and_longest_path),
	    cmocka_unit_test(bounds_of_two_classes_share_a_type),
	    cmocka_unit_test(bounds_of_many_sizes_are_merged_exactly),
	    cmocka_unit_test(bounds_without_times_or_with_circle_are_refused),
	    cmocka_unit_test(trace_saved_and_loaded_is_the_same),
	    cmocka_unit_test(trace_of_random_numbers_is_loaded_bit_for_bit),
	    cmocka_unit_test(trace_with_a_damaged_line_is_refused_naming_it),
	    cmocka_unit_test(trace_cut_short_anywhere_is_refused),
	    cmocka_unit_test(trace_in_parts_is_one_in_order),
	    cmocka_unit_test(trace_in_parts_that_is_cut_has_the_whole_ones),
	    cmocka_unit_test(trace_in_parts_with_wrong_records_is_refused),
	    cmocka_unit_test(trace_with_random_bytes_changed_is_loaded_or_refused),
	    cmocka_unit_test(trace_in_memory_with_wrong_records_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
