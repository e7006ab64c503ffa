/* ah-warm: figure 8 of C. Flint, B. Bramas, "Finding new heuristics for automated task prioritizing in heterogeneous
 * computing" (2020): each heuristic is run 16 times in a row, and every run begins with the averages that earlier runs
 * have saved. Does the makespan become shorter? The paper fits a line and finds that it does not.
 *
 * Here runs are in virtual time, with noisy execution times and different seeds. Makespans are divided by the mean of
 * the 16 runs of their heuristic, so that all heuristics have the same weight, and a line is fitted to all of them. "No
 * trend" means that the whole confidence interval of the change from the first run to the last lies within TOLERANCE.
 * It is not enough that the interval contains 0, because an experiment with too much noise would pass. */
#include "repro.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands/lab.h"
#include "shared/workload.h"

enum { RUNS = 16, TILE = 960, TILES = 40, QUICK_TILES = 20, SMALL_TILES = 16 };
#define NOISE 0.05
#define TOLERANCE 2.0 /* % of the makespan */
#define SPARSE_MATRIX "TF15"

/* Small graphs have no verdict: they show that a first run on too few tasks does not learn enough. */
enum scene_kind { LARGE, SMALL, SPARSE };
static const struct scene {
	const char *platform;
	enum scene_kind kind;
} scenes[] = {
    {"intel-v100", LARGE},  {"haswell-k40m", LARGE},  {"intel-v100", SMALL}, {"haswell-k40m", SMALL},
#ifdef HEDDLE_HAVE_SPARSE
    {"intel-v100", SPARSE}, {"haswell-k40m", SPARSE},
#endif
};
enum { DRAWN = 2, SCENES = sizeof scenes / sizeof *scenes };

static size_t tiles_of(const struct repro_report *report, size_t scene)
{
	return scenes[scene].kind == SMALL ? SMALL_TILES : report->quick ? QUICK_TILES : TILES;
}

/* The work of the scene, in one word; the caller frees it. */
static char *word_of(const struct repro_report *report, size_t scene)
{
	size_t tiles = tiles_of(report, scene);
	return scenes[scene].kind == SPARSE ? tool_format("sparse QR of %s", SPARSE_MATRIX)
	                                    : tool_format("%zu x %zu tiles", tiles, tiles);
}

static size_t n_scenes(const struct repro_report *report)
{
	return report->quick ? DRAWN : SCENES;
}

struct series {
	double ms[HD_HEURISTICS][RUNS], relative[HD_HEURISTICS][RUNS]; /* relative: ms / mean of the heuristic */
};

/* --- Running ------------------------------------------------------------------------------------------------------ */

struct runs {
	struct heddle_config config;
	const struct heddle_platform *platform;
	struct work what;
	const char *memory; /* the file in which averages are kept from run to run */
};

static uint64_t seed_of(const struct repro_report *report, size_t scene, int h, int run)
{
	return ((report->seed * SCENES + scene) * HD_HEURISTICS + (uint64_t)h) * RUNS + (uint64_t)run;
}

static int run_once(const struct runs *runs, int h, uint64_t seed, double *ms)
{
	char name[32], *options = tool_format("heuristic=%s,memory=%s", lab_heuristic_name(h, name), runs->memory);
	struct heddle_config config = runs->config;
	struct outcome outcome;
	config.sched = "autoheteroprio";
	config.sched_options = options;
	config.seed = seed;
	int status = work_sim(&config, runs->platform, &runs->what, &outcome);
	free(options);
	if (status)
		return status;
	*ms = outcome.seconds * 1e3;
	outcome_free(&outcome);
	return TOOL_OK;
}

static int run_heuristic(const struct runs *runs, const struct repro_report *report, size_t scene, int h,
                         struct series *s)
{
	double mean = 0;
	int status = TOOL_OK;
	remove(runs->memory);
	for (int i = 0; i < RUNS && !status; i++) {
		status = run_once(runs, h, seed_of(report, scene, h, i), &s->ms[h][i]);
		mean += s->ms[h][i] / RUNS;
	}
	remove(runs->memory);
	for (int i = 0; i < RUNS; i++)
		s->relative[h][i] = s->ms[h][i] / mean;
	return status;
}

static int set_work(const struct repro_report *report, size_t scene, struct work *out)
{
	if (scenes[scene].kind == SPARSE) {
		work_init(out);
		out->quiet = 1;
		return work_open(out, "sparse-qr:matrix=" SPARSE_MATRIX ",tile=256,priorities=none");
	}
	*out = (struct work){.name = "cholesky",
	                     .problem = {.precision = HEDDLE_DENSE_SINGLE,
	                                 .n = tiles_of(report, scene) * TILE,
	                                 .options = {.tile = TILE, .priority = HEDDLE_DENSE_PRIORITY_NONE}},
	                     .repeat = 1};
	return TOOL_OK;
}

static int run_scene(const struct repro_report *report, size_t scene, struct runs *runs, struct series *s)
{
	struct heddle_platform *platform;
	int status = tool_load_platform(scenes[scene].platform, &platform);
	if (status)
		return status;
	double begun = tool_wall_clock();
	struct recording recording;
	recording_init(&recording, (size_t)HD_HEURISTICS * RUNS);
	runs->platform = platform;
	status = set_work(report, scene, &runs->what);
	runs->what.recording = &recording;
	char *word = word_of(report, scene);
	for (int h = 0; h < HD_HEURISTICS && !status; h++) {
		char *text = tool_progress_text(h, HD_HEURISTICS, "heuristics", tool_wall_clock() - begun);
		tool_progress("%s, %s: %s", platform->name, word, text);
		free(text);
		status = run_heuristic(runs, report, scene, h, s);
	}
	free(word);
	recording_free(&recording);
	heddle_platform_free(platform);
	return status;
}

static int run_all(const struct repro_report *report, struct series all[SCENES])
{
	struct tool_settings none = {.n = 0};
	char *memory = tool_format("%s/%s-averages.yaml", report->directory, report->id);
	struct runs runs = {.memory = memory};
	int status = tool_config_init(&runs.config, &none);
	runs.config.virtual_time.noise = NOISE;
	for (size_t i = 0; i < n_scenes(report) && !status; i++)
		status = run_scene(report, i, &runs, &all[i]);
	free(memory);
	return status;
}

/* --- The report --------------------------------------------------------------------------------------------------- */

/* By how much the first run is longer than the mean of the other runs, in %: the mean over heuristics. */
static double first_run(const struct series *s)
{
	double first = 0;
	for (int h = 0; h < HD_HEURISTICS; h++)
		first += s->relative[h][0] / HD_HEURISTICS;
	return 100 * (first / ((RUNS - first) / (RUNS - 1)) - 1);
}

static void add_row(struct repro_report *report, size_t scene, struct repro_row row)
{
	char *word = word_of(report, scene),
	     *quantity = tool_format("%s, %s: %s", scenes[scene].platform, word, row.quantity);
	repro_row(report, quantity, row.unit, row.paper, row.ours,
	          scenes[scene].kind == SMALL ? repro_shown() : row.accepted);
	free(quantity);
	free(word);
}

static void add_rows(struct repro_report *report, size_t scene, const struct series *s)
{
	static char change[] = "change from run 1 to run 16, by the fitted line",
	            low[] = "95 % confidence interval of the change, from",
	            high[] = "95 % confidence interval of the change, to",
	            first[] = "first run longer than the mean of the others by",
	            page[] = "Page's rank test; a trend if beyond +-1.96";
	const struct repro_blocks blocks = {.values = s->relative[0], .n_blocks = HD_HEURISTICS, .n = RUNS};
	const struct repro_range near = repro_within(0, TOLERANCE);
	struct repro_slope line = repro_slope_of(&blocks);
	double percent = 100 * (RUNS - 1);
	add_row(report, scene, (struct repro_row){change, "%", 0, percent * line.slope, repro_shown()});
	add_row(report, scene, (struct repro_row){low, "%", NAN, percent * line.low, near});
	add_row(report, scene, (struct repro_row){high, "%", NAN, percent * line.high, near});
	add_row(report, scene, (struct repro_row){first, "%", 0, first_run(s), repro_at_most(TOLERANCE)});
	add_row(report, scene, (struct repro_row){page, "deviations", NAN, repro_page_z(&blocks), repro_shown()});
}

static void add_notes(struct repro_report *report)
{
	repro_note(report,
	           "The paper's graph is the QR factorisation of a sparse matrix. Here it is a Cholesky factorisation, "
	           "and without --quick the QR factorisation of " SPARSE_MATRIX " as well. The paper gives a slope of "
	           "0.001 in the unit of its figure, on a V100 node.");
	repro_note(
	    report,
	    "In virtual time the models know the times of kernels from the start. Only the averages of each codelet "
	    "(NOD, NRT, execution shares) and the idle shares are learnt from run to run. In the paper the first "
	    "run also had to measure times.");
	repro_note(
	    report,
	    "A first run may be shorter than the others: the paper only asks whether later runs become shorter.");
	if (!report->quick)
		repro_note(report, "The small graphs have no verdict. They show when the paper's claim fails: when the "
		                   "first run has too "
		                   "few tasks to learn from.");
	repro_note(report, "Execution times vary by %g %%; every run has a seed of its own.", 100 * NOISE);
}

static int write_data(struct repro_report *report, const struct series all[SCENES])
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT},  {"graph", NULL, NULL, TABLE_AS_TEXT},
	    {"heuristic", NULL, NULL, TABLE_AS_TEXT}, {"run", NULL, NULL, 0},
	    {"makespan_ms", NULL, NULL, 2},           {"of_mean", NULL, NULL, 4},
	};
	struct table table;
	char name[32];
	table_init(&table, "runs", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t scene = 0; scene < n_scenes(report); scene++)
		for (int i = 0; i < HD_HEURISTICS * RUNS; i++) {
			table_text(&table, "%s", scenes[scene].platform);
			char *word = word_of(report, scene);
			table_text(&table, "%s", word);
			free(word);
			table_text(&table, "%s", lab_heuristic_name(i / RUNS, name));
			table_number(&table, i % RUNS + 1);
			table_number(&table, all[scene].ms[i / RUNS][i % RUNS]);
			table_number(&table, all[scene].relative[i / RUNS][i % RUNS]);
		}
	int status = repro_data(report, "runs", &table);
	table_free(&table);
	return status;
}

enum { POINTS = HD_HEURISTICS * RUNS };

/* Makes two series of a scene: every makespan as a point, and the mean of each run as a line. Both series own their
 * values and names. */
static void make_series(const struct series *s, size_t scene, struct heddle_chart_series out[2])
{
	double *x = tool_alloc(2 * POINTS * sizeof *x), *y = tool_alloc(2 * POINTS * sizeof *y);
	for (size_t i = 0; i < POINTS; i++) {
		size_t run = i % RUNS;
		x[i] = x[POINTS + run] =
		    (double)run + 0.85 + 0.3 * (double)scene; /* the points of two scenes stand side by side */
		y[i] = 100 * s->relative[i / RUNS][run];
		y[POINTS + run] += y[i] / HD_HEURISTICS;
	}
	out[0] =
	    (struct heddle_chart_series){tool_format("%s, each heuristic", scenes[scene].platform), x, y, POINTS, 0};
	out[1] = (struct heddle_chart_series){tool_format("%s, mean", scenes[scene].platform), x + POINTS, y + POINTS,
	                                      RUNS, 1};
}

static int draw(struct repro_report *report, const struct series all[SCENES])
{
	struct heddle_chart_series series[2 * DRAWN];
	for (size_t scene = 0; scene < DRAWN; scene++)
		make_series(&all[scene], scene, &series[2 * scene]);
	const struct heddle_chart chart = {
	    .title = "autoheteroprio, 16 runs in a row of each heuristic (simulated)",
	    .x_label = "run",
	    .y_label = "makespan (% of its heuristic's mean)",
	    .series = series,
	    .n_series = 2 * DRAWN,
	};
	int status = repro_chart(report, &chart);
	for (size_t i = 0; i < 2 * DRAWN; i++)
		free((void *)(uintptr_t)series[i].name);
	for (size_t i = 0; i < 2 * DRAWN; i += 2) {
		free((void *)(uintptr_t)series[i].x);
		free((void *)(uintptr_t)series[i].y);
	}
	return status;
}

int repro_ah_warm(struct repro_report *report)
{
	struct series *all = tool_alloc(SCENES * sizeof *all);
	int status = run_all(report, all);
	if (!status) {
		repro_where(
		    report,
		    "virtual time (simulated), platforms %s and %s: Cholesky, tiles of %d, single precision, seed %llu",
		    scenes[0].platform, scenes[1].platform, TILE, (unsigned long long)report->seed);
		for (size_t i = 0; i < n_scenes(report); i++)
			add_rows(report, i, &all[i]);
		add_notes(report);
		status = write_data(report, all);
	}
	if (!status)
		status = draw(report, all);
	free(all);
	return status;
}
