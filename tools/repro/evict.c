/* mp-evict: figure 4 of H. Tayeb and others, "Dynamic tasks scheduling with multiple priorities on heterogeneous
 * computing systems", IPDPSW 2024: how much multiprio's eviction keeps the GPU busy. Without eviction, CPUs take tasks
 * at the end of the graph that the GPU would have ended sooner, and the GPU waits for them. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { TILE = 960, TILES = 20, MACHINES = 2, CASES = 4 };
enum { WITHOUT, WITH }; /* eviction */

static const struct machine {
	const char *platform;
	size_t n_cpus;
	int is_judged;
} machines[MACHINES] = {{"gpu1-cpu6", 6, 1}, {"haswell-k40m", 16, 0}};
static const enum heddle_dense_precision precisions[] = {HEDDLE_DENSE_SINGLE, HEDDLE_DENSE_DOUBLE};
static const char *const precision_names[] = {"single", "double"};

/* A case is a machine and a precision. Its two runs are without and with eviction. */
static size_t machine_of(size_t i)
{
	return i / 2;
}

struct figures_of_run {
	double seconds, gpu_idle, cpu_idle; /* idle: % of the makespan */
	/* number of tasks of the practical critical path; % of the makespan outside these tasks */
	double path_tasks, path_waits;
};

static int on_gpu(const struct heddle_platform *p, unsigned worker)
{
	return strcmp(p->classes[p->workers[worker].class_id].kind, "cpu") != 0;
}

/* The GPU has one stream, whose tasks do not overlap, so the sum of their times is its busy time. */
static void take_idle(const struct heddle_trace *trace, struct figures_of_run *f)
{
	double busy[2] = {0, 0}, workers[2] = {0, 0}, span = heddle_trace_makespan(trace);
	for (size_t i = 0; i < trace->n_tasks; i++)
		busy[on_gpu(trace->platform, trace->tasks[i].worker)] += trace->tasks[i].end - trace->tasks[i].start;
	for (unsigned w = 0; w < trace->platform->n_workers; w++)
		workers[on_gpu(trace->platform, w)]++;
	f->seconds = span * 1e-6;
	f->cpu_idle = 100 * (1 - busy[0] / (workers[0] * span));
	f->gpu_idle = 100 * (1 - busy[1] / (workers[1] * span));
}

static const struct heddle_trace_task *task_of(const struct heddle_trace *trace, uint64_t id)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].id == id)
			return &trace->tasks[i];
	return NULL;
}

static int take_path(const struct heddle_trace *trace, struct figures_of_run *f)
{
	uint64_t *ids;
	size_t n;
	double busy = 0;
	if (heddle_trace_critical_path(trace, &ids, &n))
		return tool_library_error("no critical path");
	for (size_t i = 0; i < n; i++) {
		const struct heddle_trace_task *task = task_of(trace, ids[i]);
		busy += task ? task->end - task->start : 0;
	}
	free(ids);
	f->path_tasks = (double)n;
	f->path_waits = 100 * (1 - busy / heddle_trace_makespan(trace));
	return TOOL_OK;
}

/* --- The report --------------------------------------------------------------------------------------------------- */

static char *case_text(size_t i)
{
	return tool_format("%zu CPUs, %s", machines[machine_of(i)].n_cpus, precision_names[i % 2]);
}

static void add_row(struct repro_report *report, size_t i, struct repro_row row)
{
	char *name = case_text(i), *quantity = tool_format("%s: %s", name, row.quantity);
	int is_judged = machines[machine_of(i)].is_judged;
	repro_row(report, quantity, row.unit, is_judged ? row.paper : NAN, row.ours,
	          is_judged ? row.accepted : repro_shown());
	free(quantity);
	free(name);
}

static void add_rows(struct repro_report *report, size_t i, const struct figures_of_run f[2])
{
	static char idle_without[] = "GPU idle without eviction", idle_with[] = "GPU idle with eviction",
	            time[] = "makespan without / with",
	            path_without[] = "tasks on the practical critical path, without",
	            path_with[] = "tasks on the practical critical path, with",
	            waits_without[] = "makespan that no task of that path runs, without",
	            waits_with[] = "makespan that no task of that path runs, with";
	const struct repro_range shown = repro_shown();
	add_row(report, i, (struct repro_row){idle_without, "%", 29, f[WITHOUT].gpu_idle, repro_at_least(20)});
	add_row(report, i, (struct repro_row){idle_with, "%", 1, f[WITH].gpu_idle, repro_at_most(3)});
	add_row(report, i, (struct repro_row){time, "", NAN, f[WITHOUT].seconds / f[WITH].seconds, repro_at_least(1)});
	add_row(report, i, (struct repro_row){path_without, "", NAN, f[WITHOUT].path_tasks, shown});
	add_row(report, i, (struct repro_row){path_with, "", NAN, f[WITH].path_tasks, shown});
	add_row(report, i, (struct repro_row){waits_without, "%", NAN, f[WITHOUT].path_waits, shown});
	add_row(report, i, (struct repro_row){waits_with, "%", NAN, f[WITH].path_waits, shown});
}

static int write_data(struct repro_report *report, struct figures_of_run f[CASES][2])
{
	static const struct table_column columns[] = {
	    {"cpus", NULL, NULL, 0},
	    {"precision", NULL, NULL, TABLE_AS_TEXT},
	    {"eviction", NULL, NULL, TABLE_AS_TEXT},
	    {"makespan_ms", NULL, NULL, 2},
	    {"gpu_idle_percent", NULL, NULL, 1},
	    {"cpu_idle_percent", NULL, NULL, 1},
	    {"path_tasks", NULL, NULL, 0},
	    {"path_waits_percent", NULL, NULL, 1},
	};
	struct table table;
	table_init(&table, "runs", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < 2 * CASES; i++) {
		const struct figures_of_run *run = &f[i / 2][i % 2];
		table_number(&table, (double)machines[machine_of(i / 2)].n_cpus);
		table_text(&table, "%s", precision_names[i / 2 % 2]);
		table_text(&table, "%s", i % 2 == WITH ? "yes" : "no");
		table_number(&table, run->seconds * 1e3);
		table_number(&table, run->gpu_idle);
		table_number(&table, run->cpu_idle);
		table_number(&table, run->path_tasks);
		table_number(&table, run->path_waits);
	}
	int status = repro_data(report, "runs", &table);
	table_free(&table);
	return status;
}

static int draw(struct repro_report *report, struct figures_of_run f[CASES][2])
{
	struct hd_bar bars[2 * CASES];
	char *names[2 * CASES];
	for (size_t i = 0; i < 2 * CASES; i++) {
		char *name = case_text(i / 2);
		names[i] = tool_format("%s, %s eviction", name, i % 2 == WITH ? "with" : "without");
		bars[i] = (struct hd_bar){names[i], f[i / 2][i % 2].gpu_idle, NAN, NAN,
		                          machines[machine_of(i / 2)].is_judged ? i % 2 == WITH ? 1 : 29 : NAN};
		free(name);
	}
	const struct hd_bars picture = {
	    .title = "multiprio, Cholesky of 20 x 20 tiles of 960 (simulated)",
	    .x_label = "idle share of the GPU (%)",
	    .value_label = "Heddle",
	    .marker_label = "Tayeb et al., 2024",
	    .color = 0x56b4e9,
	    .marker_color = 0xd55e00,
	    .bars = bars,
	    .n = 2 * CASES,
	};
	int status = repro_bars(report, &picture);
	for (size_t i = 0; i < 2 * CASES; i++)
		free(names[i]);
	return status;
}

static void add_notes(struct repro_report *report)
{
	repro_note(report,
	           "The caption of figure 4 says 6 CPUs, the text 16. Six are judged, on gpu1-cpu6; sixteen, on "
	           "haswell-k40m with one GPU and 16 CPUs, are shown. Both have the same kernel times.");
	repro_note(report,
	           "The paper does not give the precision, so both are judged. It has no machine's name either: "
	           "ours is a K40m with cores of its time.");
	repro_note(report,
	           "The charts show both schedules of 6 CPUs in single precision, as the paper's do: the tasks of "
	           "the practical critical path are outlined.");
}

/* --- The experiment ----------------------------------------------------------------------------------------------- */

static void plan(struct repro_run *runs, struct heddle_platform *const *platforms, uint64_t seed)
{
	for (size_t i = 0; i < 2 * CASES; i++)
		runs[i] = (struct repro_run){
		    .problem = {.routine = "potrf",
		                .n = (size_t)TILES * TILE,
		                .precision = precisions[i / 2 % 2],
		                .options = {.tile = TILE, .priority = HEDDLE_DENSE_PRIORITY_NONE}},
		    .platform = platforms[machine_of(i / 2)],
		    .sched = "multiprio",
		    .sched_options = i % 2 == WITH ? "eviction=yes" : "eviction=no",
		    .seed = seed,
		    .keep_trace = 1,
		};
}

static int report_all(struct repro_report *report, const struct repro_run *runs)
{
	struct figures_of_run f[CASES][2];
	int status = TOOL_OK;
	for (size_t i = 0; i < 2 * CASES && !status; i++) {
		take_idle(runs[i].outcome.trace, &f[i / 2][i % 2]);
		status = take_path(runs[i].outcome.trace, &f[i / 2][i % 2]);
	}
	if (status)
		return status;
	repro_where(report, "virtual time (simulated), platforms %s and %s with one GPU: Cholesky, %d x %d tiles of %d",
	            machines[0].platform, machines[1].platform, TILES, TILES, TILE);
	for (size_t i = 0; i < CASES; i++)
		add_rows(report, i, f[i]);
	add_notes(report);
	status = write_data(report, f);
	if (!status)
		status = repro_gantt(report, "without", runs[WITHOUT].outcome.trace);
	if (!status)
		status = repro_gantt(report, "with", runs[WITH].outcome.trace);
	return status ? status : draw(report, f);
}

int repro_mp_evict(struct repro_report *report)
{
	struct heddle_platform *platforms[MACHINES] = {NULL, NULL};
	struct repro_run runs[2 * CASES];
	int status = TOOL_OK;
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = repro_machine(machines[i].platform, 1, machines[i].n_cpus, &platforms[i]);
	if (!status) {
		plan(runs, platforms, report->seed);
		status = repro_simulate(runs, 2 * CASES);
		if (!status)
			status = report_all(report, runs);
		repro_runs_free(runs, 2 * CASES);
	}
	for (size_t i = 0; i < MACHINES; i++)
		heddle_platform_free(platforms[i]);
	return status;
}
