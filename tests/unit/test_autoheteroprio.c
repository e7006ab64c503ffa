/* Heteroprio's priorities: the 28 heuristics on values computed by hand, and whole runs in virtual time. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "program.h"
#include <heddle/dense.h>
#include "policies/parts/heuristics.h"

static void assert_near(double got, double expected, const char *what)
{
	if (!(fabs(got - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("%s: %.12g instead of %.12g", what, got, expected);
}

/* --- Scores ------------------------------------------------------------------------------------------------------- */

/* Name number `h` of HD_HEURISTIC_NAMES. */
static const char *name_of(int h, char *buffer)
{
	const char *names = HD_HEURISTIC_NAMES;
	for (; h > 0; h--)
		names = strchr(names, '|') + 1;
	size_t length = strcspn(names, "|");
	memcpy(buffer, names, length);
	buffer[length] = '\0';
	return buffer;
}

struct row {
	const char *name;
	double fast, slow; /* the score on the class that takes 1, and on the one that takes 2 */
};

/* w = 1 or 2, the other one 2 or 1: diff = 1 or -1, rel = 2 or 1/2, prel = 2. NOD = 2, URT = 0.5, R = 3, need = 0.25 or
 * -0.25, shares 0.75 and 0.25. */
static void scores_agree_with_the_formulas(void **state)
{
	(void)state;
	const double e = exp(1), c = exp(-0.5);
	const double g = sqrt(0.5) * sqrt(1.5), half = 1 / (1 + exp(-0.5)) - 0.5, two = 1 / (1 + exp(-2)) - 0.5;
	const struct row rows[] = {
	    {"NTC", 1 + 0.3 * 2 * c, -1 + 0.3 * 2 * c},
	    {"BEST_NODS_SCORE", 2, 2 * (2 * c - 1)},
	    {"BEST_NODS", 2, 2},
	    {"URT", 0.5, 0.5},
	    {"URT_LC", 10.5, -9.5},
	    {"URT_LC_need", 10.5 + 2 * 0.75 * 0.25 * 0.25, -9.5},
	    {"URTxD", 0.5, -0.5},
	    {"URTxDn", 1.5, -1.5},
	    {"URTxRD", 1, 0.25},
	    {"URTxRDn", 3, 0.75},
	    {"URTxD_f1", 1.5 + 1 * 0.25, -1.5 - 2 * 0.25},
	    {"URTxD_f2", 1.5 + 1 * 0.25, -1.5},
	    {"URTxD_f3", 1.5, -1.5 - 2 * 0.25},
	    {"URTxD_L1", 1.8 * 2, 0},
	    {"URTxD_L2", 1.5 * log(1 + e), 1.5 * log(1 + 1 / e)},
	    {"URTxD_L3", g * 1.5 * 2 - (1 - g) * log(1 + 1 / e), -(1 - g) * log(1 + e)},
	    {"URTxD_L4", half * 1.5 * 2 - two / e, -two * e},
	    {"URTxD_L5", log(1.8) * atan(1.5), log(1.8) * atan(-0.5)},
	    {"URTxD_L6", 1.8 * atan(1) + 0.5, 1.8 * atan(-1) + 0.5},
	    {"URTxD_L7", 1.8 * 1.5, 1.8 * -0.5},
	    {"URT/s", 0.5, 0.25},
	    {"URT/s_2", 1.5, -0.25},
	    {"URT/s_diff", 1.5, -0.75},
	    {"URTxRelD", 0.5 * 4, 0.5 * 2 / 2},
	    {"UTC", 1 + 0.3 * 0.5 * c, -1 + 0.3 * 0.5 * c},
	    {"NOD/s", 2, 1},
	    {"NODxR", 6, 3},
	    {"NODxRD", 8, 2},
	};
	const struct hd_quantities fast = {1, 2, 2, 0.5, 3, 0.25, 0.75, 0.25},
	                           slow = {2, 1, 2, 0.5, 3, -0.25, 0.25, 0.75};
	char name[32];
	assert_int_equal(sizeof rows / sizeof *rows, HD_HEURISTICS);
	for (int h = 0; h < (int)HD_HEURISTICS; h++) {
		assert_string_equal(name_of(h, name), rows[h].name);
		assert_near(hd_heuristic_score((enum hd_heuristic)h, HD_CONSTANTS_PAPER, &fast), rows[h].fast, name);
		assert_near(hd_heuristic_score((enum hd_heuristic)h, HD_CONSTANTS_PAPER, &slow), rows[h].slow, name);
	}
	assert_near(hd_heuristic_score(HD_URT_LC, HD_CONSTANTS_STARPU, &fast), 1.25, "URT_LC of StarPU");
}

static void scores_at_the_limits_are_numbers(void **state)
{
	(void)state;
	const struct hd_quantities nothing_at_all = {0}, idle_free = {.own = 1, .other = 2},
	                           huge = {1e-9, 1e9, 5, 1e9, 1e9, 1, 0, 1}, slow = {1e9, 1e-9, 5, 1e9, 1e9, -1, 1, 0};
	const struct hd_quantities *const all[] = {&nothing_at_all, &idle_free, &huge, &slow};
	for (int h = 0; h < (int)HD_HEURISTICS; h++)
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)
			if (isnan(hd_heuristic_score((enum hd_heuristic)h, HD_CONSTANTS_PAPER, all[i])))
				fail_msg("heuristic %d, case %zu", h, i);
	/* URT -> 0: L3 keeps -log(1 + e^-diff), L4 -e^-diff / 2. */
	assert_near(hd_heuristic_score(HD_URTXD_L3, HD_CONSTANTS_PAPER, &idle_free), -log(1 + exp(-1)), "L3");
	assert_near(hd_heuristic_score(HD_URTXD_L4, HD_CONSTANTS_PAPER, &idle_free), -0.5 * exp(-1), "L4");
}

/* --- Quantities --------------------------------------------------------------------------------------------------- */

/* Three types on two classes, in us: 100/50, 20/80, and 10 on the first only. */
static const double tasks_of[] = {1, 2, 7}, nod_of[] = {4, 2, 1}, released_of[] = {60, 30, 0};
static const double costs[] = {100, 50, 20, 80, 10, NAN}, nrts[] = {10, 40, 0, 20, 5, 0},
                    shares[] = {0.2, 0.8, 1, 0, 1, 0};
static const double idle[] = {0.1, 0.5};

static struct hd_heuristic_types three_types(void)
{
	return (struct hd_heuristic_types){.n_types = 3,
	                                   .n_classes = 2,
	                                   .tasks = tasks_of,
	                                   .nod = nod_of,
	                                   .released = released_of,
	                                   .cost = costs,
	                                   .nrt = nrts,
	                                   .share = shares,
	                                   .idle = idle,
	                                   .missing = HD_MISSING_SAME};
}

static void least_costs_are_one_on_average_after_normalisation(void **state)
{
	(void)state;
	struct hd_heuristic_types types = three_types();
	double scale = hd_types_scale(&types); /* 10 tasks, 1*50 + 2*20 + 7*10 = 160 us */
	assert_near(scale, 10.0 / 160, "scale");
	struct hd_quantities q = hd_types_quantities(&types, scale, 0, 1);
	assert_near(q.own, 50 * scale, "w");
	assert_near(q.other, 100 * scale, "w'");
	assert_near(q.nod, 4, "NOD");
	assert_near(q.released, 60 * scale, "R");
	assert_near(q.urt, (10 * 0.1 + 40 * 0.5) * scale, "URT");
	assert_near(q.need, 0.4, "need");
	assert_near(q.share_own, 0.8, "share");
	assert_near(q.share_other, 0.2, "other share");
}

static void missing_class_costs_the_same_or_very_much(void **state)
{
	(void)state;
	struct hd_heuristic_types types = three_types();
	assert_near(hd_types_quantities(&types, 1, 2, 0).other, 10, "same");
	assert_near(hd_types_quantities(&types, 1, 2, 1).own, 10, "same");
	types.missing = HD_MISSING_HUGE;
	assert_near(hd_types_quantities(&types, 1, 2, 0).other, 10000, "huge");
	assert_near(hd_types_quantities(&types, 1, 2, 1).own, 10000, "huge");
	assert_near(hd_types_scale(&types), 10.0 / 160, "scale without the missing ones");
}

static void other_class_is_the_slowest_or_the_second_slowest(void **state)
{
	(void)state;
	const double one = 1, cost[] = {3, 9, 5}, zero[] = {0, 0, 0}, idles[] = {0.1, 0.2, 0.4};
	const struct hd_heuristic_types types = {.n_types = 1,
	                                         .n_classes = 3,
	                                         .tasks = &one,
	                                         .nod = &one,
	                                         .released = &one,
	                                         .cost = cost,
	                                         .nrt = zero,
	                                         .share = zero,
	                                         .idle = idles};
	assert_near(hd_types_quantities(&types, 1, 0, 0).other, 9, "of the first");
	assert_near(hd_types_quantities(&types, 1, 0, 1).other, 5, "of the slowest");
	assert_near(hd_types_quantities(&types, 1, 0, 2).other, 9, "of the third");
	assert_near(hd_types_quantities(&types, 1, 0, 1).need, 0.2 - 0.4, "need against the second slowest");
}

/* --- Orders ------------------------------------------------------------------------------------------------------- */

static void assert_order(enum hd_heuristic h, const struct hd_heuristic_types *types, size_t class_id,
                         const size_t *expected)
{
	size_t order[8];
	double scores[8];
	for (size_t i = 0; i < types->n_types; i++)
		order[i] = types->n_types - 1 - i;
	hd_heuristic_order(h, types, class_id, order, scores);
	assert_memory_equal(order, expected, types->n_types * sizeof *order);
}
#define ASSERT_ORDER(h, types, class_id, ...) assert_order(h, types, class_id, (const size_t[]){__VA_ARGS__})

static void orders_are_by_decreasing_scores_first_type_first_among_equals(void **state)
{
	(void)state;
	struct hd_heuristic_types types = three_types();
	ASSERT_ORDER(HD_URTXDN, &types, 0, 1, 2, 0); /* 1 gains there, 2 has no other class, 0 loses */
	ASSERT_ORDER(HD_URTXDN, &types, 1, 0, 2, 1);
	const double same[] = {1, 1, 1};
	types.nod = same;
	ASSERT_ORDER(HD_BEST_NODS_SCORE, &types, 1, 0, 2, 1); /* NOD 1, 1 and less */
}

/* Section 5.1. NOD 5, 4, 3, 2; fast on class 0: types 0, 2 and 3; on class 1: 1, and 2, whose costs differ by 1 %. */
static void best_nods_fills_ranks_from_both_ends(void **state)
{
	(void)state;
	const double counts[] = {1, 1, 1, 1}, nod[] = {5, 4, 3, 2}, cost[] = {1, 2, 2, 1, 1, 1.01, 1, 3}, zero[8] = {0};
	const struct hd_heuristic_types types = {.n_types = 4,
	                                         .n_classes = 2,
	                                         .tasks = counts,
	                                         .nod = nod,
	                                         .released = zero,
	                                         .cost = cost,
	                                         .nrt = zero,
	                                         .share = zero,
	                                         .idle = zero};
	ASSERT_ORDER(HD_BEST_NODS, &types, 0, 0, 2, 3, 1); /* 0 first, 1 last, 2 second, 3 third */
	ASSERT_ORDER(HD_BEST_NODS, &types, 1, 1, 2, 3, 0); /* 0 last, 1 first, 2 second, 3 third */
}

/* --- The worked example: section 3.3, tables 1 and 2, figure 4 ---------------------------------------------------- */

enum { N_EXAMPLE = 10, SECOND = 1000000 };

/* Figure 3 did not survive. This one has what the text says: the only root is A1, C2 has 3 successors, and with the
 * priorities of table 2 it takes 7, 5 and 5 s. Predecessors by number. */
static const struct {
	char type;
	int n_preds, preds[2];
} example[N_EXAMPLE] = {
    {'A', 0, {0}}, {'B', 1, {0}}, {'A', 2, {0, 1}}, {'C', 1, {0}}, {'C', 1, {1}},
    {'B', 1, {1}}, {'C', 1, {4}}, {'A', 1, {4}},    {'B', 1, {0}}, {'C', 1, {4}},
};

/* CPU-1, GPU-1 and CPU-2, in one memory, with the costs of table 1. */
static heddle_runtime *start_example(const char *policy, const char *options)
{
	static char node_name[] = "ram", cpu[] = "cpu", gpu[] = "gpu", cuda[] = "cuda",
	            names[3][8] = {"CPU-1", "GPU-1", "CPU-2"}, codelets[3][2] = {"A", "B", "C"};
	struct heddle_node node = {.name = node_name};
	struct heddle_class classes[] = {
	    {.name = cpu, .kind = cpu, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
	    {.name = gpu, .kind = cuda, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1}};
	struct heddle_worker workers[] = {{.name = names[0], .core = -1},
	                                  {.name = names[1], .class_id = 1, .core = -1},
	                                  {.name = names[2], .core = -1}};
	const double seconds[3][2] = {{1, 2}, {2, 1}, {1, 1}};
	struct heddle_kernel_time kernels[6];
	for (unsigned k = 0; k < 6; k++)
		kernels[k] = (struct heddle_kernel_time){.codelet = codelets[k / 2],
		                                         .class_id = k % 2,
		                                         .gflops = 1e9,
		                                         .latency = SECOND * seconds[k / 2][k % 2]};
	struct heddle_platform platform = {.name = node_name,
	                                   .nodes = &node,
	                                   .n_nodes = 1,
	                                   .classes = classes,
	                                   .n_classes = 2,
	                                   .workers = workers,
	                                   .n_workers = 3,
	                                   .kernels = kernels,
	                                   .n_kernels = 6};
	struct heddle_config config = small_config();
	config.sched = policy;
	config.sched_options = options;
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, &platform, 1, &rt));
	return rt;
}

/* Makespan in s. */
static double run_example(heddle_runtime *rt)
{
	heddle_codelet *codelets[3];
	heddle_task *all[N_EXAMPLE];
	for (int c = 0; c < 3; c++) {
		const char name[] = {(char)('A' + c), '\0'};
		codelets[c] = heddle_codelet_new(rt, .name = name, .cpu = nothing, .cuda = nothing, .flops = one_flop);
		assert_non_null(codelets[c]);
	}
	double start = heddle_now(rt);
	for (int i = 0; i < N_EXAMPLE; i++) {
		struct heddle_item items[4] = {heddle_call(codelets[example[i].type - 'A']), heddle_out(&all[i])};
		size_t n = 2;
		for (int p = 0; p < example[i].n_preds; p++)
			items[n++] = heddle_after(all[example[i].preds[p]]);
		assert_ok(heddle_submit_items(rt, n, items));
	}
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < N_EXAMPLE; i++)
		heddle_task_release(all[i]);
	return (heddle_now(rt) - start) / SECOND;
}

static void example_of_the_paper_takes_7_5_and_5_seconds(void **state)
{
	(void)state;
	const struct {
		const char *options;
		double seconds;
	} cases[] = {
	    {"order=cpu: B > C > A; gpu: A > C > B,ahead=1,gate=no", 7},
	    {"order=cpu: A > C > B; gpu: B > C > A,ahead=1,gate=no", 5},
	    {"order=cpu: C > A > B; gpu: B > C > A,ahead=1,gate=no", 5},
	};
	for (int i = 0; i < 3; i++) {
		heddle_runtime *rt = start_example("heteroprio", cases[i].options);
		assert_near(run_example(rt), cases[i].seconds, cases[i].options);
		assert_ok(heddle_stop(rt));
	}
}

/* --- From run to run ---------------------------------------------------------------------------------------------- */

static char *scratch_file(char *dir, const char *name)
{
	char *path = NULL;
	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

static char *contents(const char *path)
{
	char *text = calloc(1, 16384);
	FILE *f = fopen(path, "r");
	assert_non_null(text);
	assert_non_null(f);
	assert_true(fread(text, 1, 16383, f) > 0);
	fclose(f);
	return text;
}

/* One run of the example that remembers; how many tasks of type C the file then knows, of which one run has 4. */
static int remembered_run(const char *path)
{
	char options[512];
	snprintf(options, sizeof options, "memory=%s", path);
	heddle_runtime *rt = start_example("autoheteroprio", options);
	run_example(rt);
	assert_ok(heddle_stop(rt));
	char *text = contents(path), *c = strstr(text, "- codelet: 'C'\n  tasks: ");
	assert_non_null(c);
	assert_non_null(strstr(text, "complete: yes"));
	int n = atoi(c + 24);
	free(text);
	return n;
}

static int open_scratch(void **state)
{
	char dir[] = "/tmp/heddle-autoheteroprio-XXXXXX";
	*state = mkdtemp(dir) ? strdup(dir) : NULL;
	return *state ? 0 : -1;
}

static int close_scratch(void **state)
{
	static const char *const names[] = {"m.yaml", "m.yaml.damaged"};
	for (int i = 0; i < 2; i++) {
		char *path = scratch_file(*state, names[i]);
		unlink(path);
		free(path);
	}
	rmdir(*state);
	free(*state);
	return 0;
}

static void second_run_starts_with_what_the_first_learnt(void **state)
{
	char *path = scratch_file(*state, "m.yaml");
	assert_int_equal(remembered_run(path), 4);
	assert_int_equal(remembered_run(path), 8);
	free(path);
}

static double ten(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10;
}

static int never_called(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Runs a task of a codelet with this name, which need be neither UTF-8 nor printable. */
static void run_one_named(const char *path, const char *name)
{
	char options[512];
	snprintf(options, sizeof options, "memory=%s", path);
	heddle_runtime *rt = start_example("autoheteroprio", options);
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = name, .cpu = never_called, .model = HEDDLE_MODEL_GIVEN, .time = ten);
	assert_non_null(c);
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

static void memory_keeps_any_name(void **state)
{
	static const char *const names[] = {"plain", "it's",   "caf\xe9", "two\nlines",
	                                    "\x01",  "100%41", " end ",   "\xc3\xa9"};
	char *path = scratch_file(*state, "m.yaml"), *aside = scratch_file(*state, "m.yaml.damaged");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		unlink(path);
		run_one_named(path, names[i]);
		run_one_named(path, names[i]);
		char *text = contents(path);
		if (access(aside, F_OK) == 0 || !strstr(text, "\n  tasks: 2\n") || strstr(text, "\n  tasks: 1\n"))
			fail_msg("%s: the second run has not found what the first one had learnt:\n%s", names[i], text);
		free(text);
	}
	free(path);
	free(aside);
}

static void damaged_memory_is_set_aside(void **state)
{
	char *path = scratch_file(*state, "m.yaml"), *aside = scratch_file(*state, "m.yaml.damaged");
	static const char *const damages[] = {"version: 1\nuse: [", "version: 1\nuse: []\nbuckets: []\n", "?",
	                                      "version: 1\n"};
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fputs(damages[i], f);
		fclose(f);
		unlink(aside);
		assert_int_equal(remembered_run(path), 4);
		assert_int_equal(access(aside, F_OK), 0);
	}
	free(path);
	free(aside);
}

static void memory_with_a_negative_figure_is_damaged(void **state)
{
	char *path = scratch_file(*state, "m.yaml"), *aside = scratch_file(*state, "m.yaml.damaged");
	remembered_run(path);
	char *text = contents(path), *nod = strstr(text, "nod: ");
	assert_non_null(nod);
	nod[5] = '-';
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(remembered_run(path), 4);
	assert_int_equal(access(aside, F_OK), 0);
	free(text);
	free(path);
	free(aside);
}

static void memory_of_another_version_is_refused_and_left(void **state)
{
	char *path = scratch_file(*state, "m.yaml"), options[512];
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("version: 2\nwhat: ever\n", f);
	fclose(f);
	snprintf(options, sizeof options, "memory=%s", path);
	struct heddle_config config = small_config();
	config.sched = "autoheteroprio";
	config.sched_options = options;
	heddle_runtime *rt;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_FORMAT);
	assert_says("version 2");
	assert_int_equal(access(path, F_OK), 0);
	free(path);
}

static void every_heuristic_runs_the_example_within_all_work_in_turn(void **state)
{
	(void)state;
	for (int h = 0; h < (int)HD_HEURISTICS; h++) {
		char options[64] = "heuristic=", name[32];
		strcat(options, name_of(h, name));
		heddle_runtime *rt = start_example("autoheteroprio", options);
		double seconds = run_example(rt);
		if (!(seconds >= 4 && seconds <= 10)) /* the critical path is 4 */
			fail_msg("%s: %g s", options, seconds);
		assert_ok(heddle_stop(rt));
	}
}

/* Tasks for one worker only, slow ones too, among others: nobody waits for ever. */
static void bound_tasks_are_run_by_their_workers(void **state)
{
	(void)state;
	static const char *const policies[] = {"heteroprio", "laheteroprio", "autoheteroprio"};
	for (int p = 0; p < 3; p++) {
		heddle_runtime *rt = start_example(policies[p], NULL);
		heddle_codelet *b =
		    heddle_codelet_new(rt, .name = "B", .cpu = nothing, .cuda = nothing, .flops = one_flop);
		assert_non_null(b);
		for (unsigned i = 0; i < 40; i++)
			assert_ok(i % 4 < 3 ? heddle_submit(rt, heddle_call(b), heddle_on(i * 7 % 3))
			                    : heddle_submit(rt, heddle_call(b)));
		assert_ok(heddle_wait_all(rt));
		struct heddle_stats stats;
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_int_equal(stats.tasks_executed, 40);
		assert_ok(heddle_stop(rt));
	}
}

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

static double cholesky(const char *machine, const char *policy, enum heddle_dense_priority priority, size_t tiles)
{
	struct heddle_platform *platform;
	struct heddle_config config = small_config();
	config.sched = policy;
	heddle_runtime *rt;
	heddle_dense *dense;
	struct heddle_dense_report report;
	const struct heddle_dense_problem problem = {
	    .precision = HEDDLE_DENSE_SINGLE, .n = 960 * tiles, .options = {.tile = 960, .priority = priority}};
	char path[256];
	snprintf(path, sizeof path, "%s/platforms/%s.yaml", HEDDLE_SOURCE_DIR, machine);
	assert_ok(heddle_platform_load(path, &platform));
	assert_ok(heddle_start_on(&config, platform, 1, &rt));
	assert_ok(heddle_dense_open(rt, &dense));
	assert_ok(heddle_dense_graph(dense, &problem, &report));
	heddle_dense_close(dense);
	assert_ok(heddle_stop(rt));
	heddle_platform_free(platform);
	return report.gflops;
}

static void cholesky_without_priorities_is_within_a_sixth_of_dmdas_with_them(void **state)
{
	(void)state;
	static const char *const machines[] = {"haswell-k40m", "intel-v100"};
	for (int m = 0; m < 2; m++)
		for (size_t tiles = 20; tiles <= 40; tiles += 20) {
			double ours = cholesky(machines[m], "autoheteroprio", HEDDLE_DENSE_PRIORITY_NONE, tiles),
			       expert = cholesky(machines[m], "dmdas", HEDDLE_DENSE_PRIORITY_PATH, tiles);
			if (ours < 5 * expert / 6)
				fail_msg("%s, %zu tiles: %g GFlop/s, dmdas %g", machines[m], tiles, ours, expert);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scores_agree_with_the_formulas),
	    cmocka_unit_test(scores_at_the_limits_are_numbers),
	    cmocka_unit_test(least_costs_are_one_on_average_after_normalisation),
	    cmocka_unit_test(missing_class_costs_the_same_or_very_much),
	    cmocka_unit_test(other_class_is_the_slowest_or_the_second_slowest),
	    cmocka_unit_test(orders_are_by_decreasing_scores_first_type_first_among_equals),
	    cmocka_unit_test(best_nods_fills_ranks_from_both_ends),
	    cmocka_unit_test(example_of_the_paper_takes_7_5_and_5_seconds),
	    cmocka_unit_test(every_heuristic_runs_the_example_within_all_work_in_turn),
	    cmocka_unit_test(bound_tasks_are_run_by_their_workers),
	    cmocka_unit_test(cholesky_without_priorities_is_within_a_sixth_of_dmdas_with_them),
	    cmocka_unit_test_setup_teardown(second_run_starts_with_what_the_first_learnt, open_scratch, close_scratch),
	    cmocka_unit_test_setup_teardown(memory_keeps_any_name, open_scratch, close_scratch),
	    cmocka_unit_test_setup_teardown(damaged_memory_is_set_aside, open_scratch, close_scratch),
	    cmocka_unit_test_setup_teardown(memory_with_a_negative_figure_is_damaged, open_scratch, close_scratch),
	    cmocka_unit_test_setup_teardown(memory_of_another_version_is_refused_and_left, open_scratch, close_scratch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
