/* How many sizes a model remembers: which leave, what stays of them, in memory, in files and in a runtime. */
#include <heddle/graph.h>
#include <heddle/trace.h>
#include "../sanitized.h"
#include "internals.h"
#include "perf/internal.h"
#include "perf_fixture.h"

enum { BOUND = 1000, MANY = SANITIZED ? 200000 : 1000000, FEW = 20000 };

static const struct heddle_codelet_desc affine = {.name = "affine", .model = HEDDLE_MODEL_AFFINE};

/* 1, n and sqrt(n), n being the bytes */
static size_t three_regressors(const struct heddle_size *size, double *x, size_t max)
{
	const double all[] = {1, size->bytes, sqrt(size->bytes)};
	for (size_t k = 0; k < 3 && k < max; k++)
		x[k] = all[k];
	return 3;
}

static const struct heddle_codelet_desc linear = {
    .name = "linear", .model = HEDDLE_MODEL_LINEAR, .regressors = three_regressors};

static struct hd_perf *open_bounded(const char *dir, size_t most)
{
	struct hd_perf *perf = open_perf(dir);
	hd_perf_bound(perf, most);
	return perf;
}

static void assert_consistent(const struct hd_perf *perf, uint64_t n_users)
{
	const char *codelet = "";
	uint64_t n = 0;
	const char *wrong = hd_perf_check(perf, &codelet, &n);
	if (wrong)
		fail_msg("the model of %s: %s", codelet, wrong);
	assert_int_equal(n, n_users);
}

/* us that the codelets of these tests take */
static double true_time(const struct heddle_codelet_desc *codelet, double bytes)
{
	switch (codelet->model) {
	case HEDDLE_MODEL_POWER: return 0.01 * pow(bytes, 1.5);
	case HEDDLE_MODEL_AFFINE: return 3 + 0.5 * bytes;
	default: return 7 + 0.25 * bytes + 2 * sqrt(bytes);
	}
}

/* Measures n sizes once, from 1 byte to 10 n bytes, in an order in which large and small ones alternate. */
static void measure_once(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double bytes = 1 + 10.0 * (double)(i * 7919 % n);
		hd_perf_record(entry_of(perf, codelet, bytes), 0, true_time(codelet, bytes));
	}
}

static size_t n_entries_of(struct hd_perf *perf, const struct heddle_codelet_desc *codelet)
{
	struct hd_perf_model *model;
	assert_int_equal(hd_perf_model(perf, codelet, &model), 0);
	return model->n_entries;
}

/* --- What a model takes ------------------------------------------------------------------------------------------- */

static void a_million_sizes_take_the_room_of_a_thousand(void **state)
{
	(void)state;
	static const struct heddle_codelet_desc *const codelets[] = {&gemm, &power};
	for (size_t k = 0; k < COUNT(codelets); k++) {
		struct hd_perf *perf = open_bounded("none", BOUND);
		struct hd_perf_model *model;
		measure_once(perf, codelets[k], MANY);
		assert_int_equal(hd_perf_model(perf, codelets[k], &model), 0);
		assert_int_equal(model->n_entries, BOUND);
		assert_true(model->n_buckets <= 2 * BOUND);
		assert_consistent(perf, 0);
		hd_perf_close(perf);
	}
}

static void without_a_bound_all_sizes_stay(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", 0);
	measure_once(perf, &gemm, FEW);
	assert_int_equal(n_entries_of(perf, &gemm), FEW);
	assert_consistent(perf, 0);
	hd_perf_close(perf);
}

/* --- Which leave -------------------------------------------------------------------------------------------------- */

static void sizes_measured_often_outlast_those_measured_once(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", 100);
	for (double bytes = 0.25; bytes < 12; bytes++)
		record(entry_of(perf, &power, 1e9 + bytes), 0, HD_PERF_OWN, 42);
	measure_once(perf, &power, FEW);
	for (double bytes = 0.25; bytes < 12; bytes++)
		assert_int_equal(entry_of(perf, &power, 1e9 + bytes)->cells[0].samples, HD_PERF_OWN);
	hd_perf_close(perf);
}

static void sizes_measured_often_and_long_ago_leave_for_others_like_them(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", 10);
	for (int i = 0; i < 100; i++)
		record(entry_of(perf, &gemm, 1 + i), 0, 20, 42);
	assert_int_equal(entry_of(perf, &gemm, 100)->cells[0].samples, 20);
	assert_int_equal(entry_of(perf, &gemm, 1)->cells[0].samples, 0);
	assert_consistent(perf, 0);
	hd_perf_close(perf);
}

static void the_size_used_longest_ago_leaves_first(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", 3);
	for (int i = 1; i <= 3; i++)
		record(entry_of(perf, &gemm, i), 0, 1, i);
	entry_of(perf, &gemm, 1); /* so 2 is the oldest */
	record(entry_of(perf, &gemm, 4), 0, 1, 4);
	assert_int_equal(entry_of(perf, &gemm, 1)->cells[0].samples, 1);
	assert_int_equal(entry_of(perf, &gemm, 3)->cells[0].samples, 1);
	assert_int_equal(entry_of(perf, &gemm, 2)->cells[0].samples, 0);
	hd_perf_close(perf);
}

static void sizes_in_use_stay(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", 10);
	struct hd_perf_entry *used[100];
	for (size_t i = 0; i < COUNT(used); i++) {
		used[i] = entry_of(perf, &gemm, 1 + (double)i);
		hd_perf_use(used[i]);
		hd_perf_use(used[i]);
	}
	measure_once(perf, &gemm, FEW);
	assert_int_equal(n_entries_of(perf, &gemm), COUNT(used) + 1); /* and the size that was asked for last */
	assert_consistent(perf, 2 * COUNT(used));
	for (size_t i = 0; i < COUNT(used); i++) {
		assert_ptr_equal(entry_of(perf, &gemm, 1 + (double)i), used[i]);
		hd_perf_leave(used[i]);
	}
	assert_consistent(perf, COUNT(used));
	for (size_t i = 0; i < COUNT(used); i++)
		hd_perf_leave(used[i]);
	assert_int_equal(n_entries_of(perf, &gemm), 10);
	assert_consistent(perf, 0);
	hd_perf_close(perf);
}

/* --- What stays of those that left -------------------------------------------------------------------------------- */

/* After sizes from 1 to 10 n bytes, of which only those of about `last` bytes are still remembered. */
static void assert_law(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, double tolerance)
{
	static const double sizes[] = {31, 555, 12345, 199990};
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct hd_perf_entry *e = entry_of(perf, codelet, sizes[i] + 0.5);
		assert_int_equal(e->cells[0].samples, 0);
		assert_near(hd_perf_time(e, 0), true_time(codelet, sizes[i] + 0.5), tolerance);
	}
}

/* The sizes still remembered in the end are too close together for a law, so that it must come from those that left. */
static void forget_all_but_one_size(struct hd_perf *perf, const struct heddle_codelet_desc *codelet)
{
	for (double i = 0; i < 2 * BOUND; i++) {
		double bytes = 5000 + i / 1024;
		hd_perf_record(hd_perf_entry(entry_of(perf, codelet, 0.5)->model, 1000000 + (uint64_t)i,
		                             &(struct heddle_size){.bytes = bytes}),
		               0, true_time(codelet, bytes));
	}
	hd_perf_refit(entry_of(perf, codelet, 0.5)->model, 0);
}

static void laws_keep_what_sizes_taught_that_left(void **state)
{
	static const struct {
		const struct heddle_codelet_desc *codelet;
		double tolerance; /* groups of sizes stand for their members: sums of two terms are not exact */
	} cases[] = {{&power, 1e-3}, {&affine, 0.02}, {&linear, 0.02}};
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct hd_perf *perf = open_bounded(*state, BOUND);
		measure_once(perf, cases[k].codelet, FEW);
		forget_all_but_one_size(perf, cases[k].codelet);
		assert_law(perf, cases[k].codelet, cases[k].tolerance);
		assert_int_equal(hd_perf_save(perf), 0);
		hd_perf_close(perf);

		perf = open_bounded(*state, BOUND); /* as it was stored */
		assert_true(n_entries_of(perf, cases[k].codelet) <= BOUND);
		assert_law(perf, cases[k].codelet, cases[k].tolerance);
		assert_string_equal(hd_perf_warnings(perf), "");
		hd_perf_close(perf);
	}
}

static void laws_follow_a_change_though_many_sizes_left(void **state)
{
	(void)state;
	struct hd_perf *perf = open_bounded("none", BOUND);
	measure_once(perf, &power, FEW);
	for (size_t i = 0; i < (size_t)20 * FEW; i++) {
		double bytes = 2 + 10.0 * (double)(i % FEW);
		hd_perf_record(entry_of(perf, &power, bytes), 0, 3 * true_time(&power, bytes));
	}
	assert_near(hd_perf_time(entry_of(perf, &power, 12345), 0), 3 * true_time(&power, 12345), 0.06);
	hd_perf_close(perf);
}

/* --- In files ----------------------------------------------------------------------------------------------------- */

static void a_file_with_more_sizes_than_the_bound_is_learnt_from(void **state)
{
	struct hd_perf *perf = open_bounded(*state, 0);
	measure_once(perf, &power, 5000);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	perf = open_bounded(*state, 100);
	assert_int_equal(n_entries_of(perf, &power), 100);
	assert_near(hd_perf_time(entry_of(perf, &power, 17.5), 0), true_time(&power, 17.5), 0.02);
	assert_consistent(perf, 0);
	assert_int_equal(hd_perf_save(perf), 0); /* nothing was measured: the file stays as it is */
	hd_perf_close(perf);
	perf = open_bounded(*state, 0);
	assert_int_equal(n_entries_of(perf, &power), 5000);
	hd_perf_close(perf);
}

static void the_law_of_a_file_knows_the_sizes_that_left(void **state)
{
	struct hd_perf *perf = open_bounded(*state, 100);
	measure_once(perf, &power, FEW);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	struct heddle_model_entry *entries;
	size_t n;
	assert_int_equal(heddle_models_load(*state, &entries, &n), 0);
	assert_int_equal(n, 100);
	double a, b;
	assert_int_equal(sscanf(entries[0].law, "%lf * bytes^%lf", &a, &b), 2);
	assert_near(b, 1.5, 1e-3);
	heddle_models_free(entries, n);
}

static void contribution_of_forgotten_sizes_of_other_classes_stays_in_the_file(void **state)
{
	struct hd_perf *perf = open_bounded(*state, 10), *other;
	for (double i = 1; i < 100; i++)
		record(entry_of(perf, &power, i), 1, 1, i); /* on the accelerator */
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	assert_int_equal(hd_perf_open(&other_machine, *state, 0, &other), 0);
	record(entry_of(other, &power, 7), 1, 1, 2);
	assert_int_equal(hd_perf_save(other), 0);
	hd_perf_close(other);
	perf = open_bounded(*state, 10);
	struct hd_perf_entry *e = entry_of(perf, &power, 20.5);
	assert_near(hd_perf_time(e, 1), 20.5, 0.01);
	assert_int_equal(hd_perf_fit(e->model, 1)->past_sizes, 90);
	hd_perf_close(perf);
}

static void another_kind_of_law_starts_without_what_was_forgotten(void **state)
{
	const struct heddle_codelet_desc kinds[] = {
	    {.name = "power", .model = HEDDLE_MODEL_POWER},
	    {.name = "power", .model = HEDDLE_MODEL_LINEAR, .regressors = three_regressors},
	    {.name = "power"},
	    {.name = "power", .model = HEDDLE_MODEL_AFFINE}};
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct hd_perf *perf = open_bounded(*state, 10);
		for (double i = 1; i < 100; i++)
			record(entry_of(perf, &kinds[k], i), 0, 1, i);
		assert_string_equal(hd_perf_warnings(perf), "");
		assert_int_equal(hd_perf_save(perf), 0);
		hd_perf_close(perf);
	}
}

static void damaged_numbers_of_forgotten_sizes_are_found(void **state)
{
	static const char *const numbers[] = {"[1, 2]", "[1, 2, -3]", "[1, 2, x]", "[]"};
	for (size_t i = 0; i < COUNT(numbers); i++) {
		char *path = hd_format("%s/power.yaml", (char *)*state);
		FILE *f = fopen(path, "w");
		fprintf(f,
		        "# Heddle performance models of one codelet; see docs/models.md\nversion: 1\ncodelet: power\n"
		        "law: power\nentries: []\npast:\n- {class: cpu, sizes: 3, numbers: %s}\ncomplete: true\n",
		        numbers[i]);
		fclose(f);
		free(path);
		struct hd_perf *perf = open_perf(*state);
		entry_of(perf, &power, 7);
		assert_non_null(strstr(hd_perf_warnings(perf), "power.yaml.damaged"));
		hd_perf_close(perf);
	}
}

/* --- In a runtime ------------------------------------------------------------------------------------------------- */

static int no_kernel(heddle_context *c)
{
	(void)c;
	return 0;
}

static uint64_t footprint_of_value(const struct heddle_size *size)
{
	return *(const uint64_t *)size->values[0];
}

static double time_of_value(const struct heddle_size *size, unsigned class_id)
{
	(void)class_id;
	return 1 + (double)(*(const uint64_t *)size->values[0] % 7);
}

static heddle_runtime *start_bounded(const char *platform, int most, int trace)
{
	struct heddle_config config;
	heddle_runtime *rt;
	assert_int_equal(heddle_config_init(&config), 0);
	config.n_cpu = 1;
	config.bind = 0;
	config.model_dir = "none";
	config.sched = "eager";
	config.platform = platform;
	config.model_sizes = most;
	config.trace = trace;
	config.window = 256;
	assert_int_equal(heddle_start(&config, &rt), 0);
	return rt;
}

static size_t n_entries_in(heddle_runtime *rt, heddle_codelet *codelet)
{
	hd_lock(&rt->lock);
	size_t n = codelet->model->n_entries;
	hd_unlock(&rt->lock);
	return n;
}

static void submit_sizes(heddle_runtime *rt, heddle_codelet *codelet, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n; i++)
		assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_value(i)), 0);
}

/* Also if all unfinished tasks have different sizes, and more of them are unfinished than the model may remember. */
static void tasks_of_many_sizes_leave_few_behind(void **state)
{
	(void)state;
	static const char *const platforms[] = {NULL, "haswell-k40m"};
	for (size_t p = 0; p < COUNT(platforms); p++)
		for (int most = 1; most <= 100; most += 99) {
			heddle_runtime *rt = start_bounded(platforms[p], most, 0);
			heddle_codelet *codelet = heddle_codelet_new(
			    rt, .name = "many sizes", .cpu = no_kernel, .time = time_of_value,
			    .model = p ? HEDDLE_MODEL_GIVEN : HEDDLE_MODEL_HISTORY, .footprint = footprint_of_value);
			submit_sizes(rt, codelet, 0, FEW);
			assert_int_equal(heddle_selfcheck(rt), 0);
			assert_true(n_entries_in(rt, codelet) <= (size_t)most + 256 + 2);
			assert_int_equal(heddle_wait_all(rt), 0);
			assert_int_equal(heddle_selfcheck(rt), 0);
			assert_true(n_entries_in(rt, codelet) <= (size_t)most + 1);
			assert_int_equal(heddle_stop(rt), 0);
		}
}

static void given_times_do_not_change_when_sizes_are_forgotten(void **state)
{
	(void)state;
	double ends[2];
	for (int bounded = 0; bounded < 2; bounded++) {
		heddle_runtime *rt = start_bounded("haswell-k40m", bounded, 0);
		heddle_codelet *codelet =
		    heddle_codelet_new(rt, .name = "given", .cpu = no_kernel, .time = time_of_value,
		                       .model = HEDDLE_MODEL_GIVEN, .footprint = footprint_of_value);
		for (int again = 0; again < 3; again++)
			submit_sizes(rt, codelet, 0, 1000);
		assert_int_equal(heddle_wait_all(rt), 0);
		ends[bounded] = heddle_now(rt);
		assert_int_equal(heddle_stop(rt), 0);
	}
	assert_true(ends[0] > 0 && ends[0] == ends[1]);
}

/* A recorded graph has the times of all its tasks, and a trace their footprints, though the model has forgotten most of
 * these sizes. Then the next recording begins, and they leave. */
static void recordings_keep_the_sizes_of_their_tasks(void **state)
{
	(void)state;
	enum { N = 500 };
	heddle_runtime *rt = start_bounded("haswell-k40m", 10, 1);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "given", .cpu = no_kernel, .time = time_of_value,
	                                             .model = HEDDLE_MODEL_GIVEN, .footprint = footprint_of_value);
	submit_sizes(rt, codelet, 0, N);
	assert_int_equal(heddle_wait_all(rt), 0);
	assert_int_equal(heddle_selfcheck(rt), 0);
	assert_int_equal(n_entries_in(rt, codelet), N);
	struct heddle_graph *graph;
	assert_int_equal(heddle_graph_record(rt, &graph), 0);
	for (size_t i = 0; i < N; i++)
		assert_true(graph->times[i * graph->n_classes] == 1 + (double)(i % 7));
	heddle_graph_free(graph);
	struct heddle_trace *trace;
	assert_int_equal(heddle_trace_take(rt, &trace), 0);
	assert_int_equal(trace->n_tasks, N);
	heddle_trace_free(trace);
	submit_sizes(rt, codelet, N, 1); /* the next recording */
	assert_int_equal(heddle_wait_all(rt), 0);
	assert_int_equal(heddle_selfcheck(rt), 0);
	assert_int_equal(n_entries_in(rt, codelet), 10);
	assert_int_equal(heddle_stop(rt), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_million_sizes_take_the_room_of_a_thousand),
	    cmocka_unit_test(without_a_bound_all_sizes_stay),
	    cmocka_unit_test(sizes_measured_often_outlast_those_measured_once),
	    cmocka_unit_test(sizes_measured_often_and_long_ago_leave_for_others_like_them),
	    cmocka_unit_test(the_size_used_longest_ago_leaves_first),
	    cmocka_unit_test(sizes_in_use_stay),
	    IN_DIR(laws_keep_what_sizes_taught_that_left),
	    cmocka_unit_test(laws_follow_a_change_though_many_sizes_left),
	    IN_DIR(a_file_with_more_sizes_than_the_bound_is_learnt_from),
	    IN_DIR(the_law_of_a_file_knows_the_sizes_that_left),
	    IN_DIR(contribution_of_forgotten_sizes_of_other_classes_stays_in_the_file),
	    IN_DIR(another_kind_of_law_starts_without_what_was_forgotten),
	    IN_DIR(damaged_numbers_of_forgotten_sizes_are_found),
	    cmocka_unit_test(tasks_of_many_sizes_leave_few_behind),
	    cmocka_unit_test(given_times_do_not_change_when_sizes_are_forgotten),
	    cmocka_unit_test(recordings_keep_the_sizes_of_their_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
