/* heddle trace FILE: summarises a trace, draws it or its task graph, or converts it. */
#include "shared/experiment.h"
#include "shared/trace_bounds.h"
#include "trace/trace.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_WIDTH = 0x5000, KEY_HEIGHT, KEY_TITLE, KEY_NO_PATH, KEY_NO_TRANSFERS, KEY_DAG, KEY_LEVELS, KEY_NO_LAYOUTS };

struct options {
	const char *file, *output;
	struct heddle_gantt_options gantt;
	struct heddle_dag_options dag;
	int draws_dag;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "Draw (.png, .svg, .pdf) or convert (.json: Chrome and Perfetto, .paje: ViTE, .csv)", 0},
    {"width", KEY_WIDTH, "POINTS", 0, "Width of the picture", 0},
    {"height", KEY_HEIGHT, "POINTS", 0, "Height of the picture", 0},
    {"title", KEY_TITLE, "TEXT", 0, "Title of the picture", 0},
    {"no-critical-path", KEY_NO_PATH, NULL, 0, "Do not outline the critical path", 0},
    {"no-transfers", KEY_NO_TRANSFERS, NULL, 0, "Do not draw the links", 0},
    {"dag", KEY_DAG, NULL, 0, "Draw the task graph instead, sub-graphs in boxes (also .dot: Graphviz)", 1},
    {"levels", KEY_LEVELS, "N", 0, "With --dag: only N levels of it; 1 is what the program has submitted itself", 1},
    {"no-layouts", KEY_NO_LAYOUTS, NULL, 0, "With --dag: without the changes of layouts", 1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case 'o': o->output = arg; return 0;
	case KEY_WIDTH: o->gantt.width = tool_real(state, "--width", arg, 100, 20000); return 0;
	case KEY_HEIGHT: o->gantt.height = tool_real(state, "--height", arg, 100, 20000); return 0;
	case KEY_TITLE: o->gantt.title = o->dag.title = arg; return 0;
	case KEY_DAG: o->draws_dag = 1; return 0;
	case KEY_LEVELS: o->dag.levels = (unsigned)tool_int(state, "--levels", arg, 1, INT_MAX); return 0;
	case KEY_NO_LAYOUTS: o->dag.layouts = 0; return 0;
	case KEY_NO_PATH: o->gantt.critical_path = 0; return 0;
	case KEY_NO_TRANSFERS: o->gantt.transfers = 0; return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			tool_option_error(state, "one trace at a time: \"%s\" is too much", arg);
		o->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		tool_option_error(state, "which trace? `heddle run` and `heddle sim` write one with --trace FILE");
		return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "FILE",
    .doc = "Summarises a trace: makespan, what each worker, codelet and link did, critical path, lower bounds. "
           "With -o, draws it as a Gantt chart or converts it; with --dag -o, draws its task graph.",
};

/* Whether the times of all tasks are those of the platform. A task of a graph may have other times. */
static int platform_knows(const struct heddle_trace *trace)
{
	int knows = trace->virtual_time && trace->platform->n_kernels > 0;
	for (size_t i = 0; i < trace->n_tasks && knows; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		unsigned class_id = trace->platform->workers[t->worker].class_id;
		knows = !isnan(heddle_platform_time(trace->platform, trace->codelets[t->codelet].name, class_id,
		                                    t->bytes, t->flops));
	}
	return knows;
}

/* Fills *bounds, with NAN if they are unknown. *source: a text about the source of the times. */
static int find_bounds(const struct heddle_trace *trace, struct heddle_bounds *bounds, const char **source)
{
	if (platform_knows(trace)) {
		*source = "kernel times of the platform";
		return heddle_trace_bounds(trace, NULL, NULL, 0, bounds);
	}
	int status = measured_bounds(trace, NULL, bounds);
	*source = isnan(bounds->mixed) ? "nothing: a class did not run every kind of task" : "mean times of this trace";
	return status;
}

/* --- Summary ------------------------------------------------------------------------------------------------------ */

static int by_id(const void *a, const void *b)
{
	const struct heddle_trace_task *const *x = a, *const *y = b;
	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

/* The time spent in kernels on the practical critical path, in us, and the number of tasks on it. */
static int path_time(const struct heddle_trace *trace, double *time, size_t *n)
{
	uint64_t *ids;
	if (heddle_trace_critical_path(trace, &ids, n))
		return -1;
	const struct heddle_trace_task **tasks = tool_alloc(trace->n_tasks * sizeof *tasks);
	for (size_t i = 0; i < trace->n_tasks; i++)
		tasks[i] = &trace->tasks[i];
	qsort(tasks, trace->n_tasks, sizeof *tasks, by_id);
	*time = 0;
	for (size_t i = 0; i < *n; i++) {
		const struct heddle_trace_task key = {.id = ids[i]}, *wanted = &key;
		const struct heddle_trace_task *const *found =
		    bsearch(&wanted, tasks, trace->n_tasks, sizeof *tasks, by_id);
		if (found)
			*time += (*found)->end - (*found)->start;
	}
	free(tasks);
	free(ids);
	return 0;
}

static const struct table_column columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT},
    {"platform", NULL, NULL, TABLE_AS_TEXT},
    {"clock", NULL, NULL, TABLE_AS_TEXT},
    {"workers", NULL, NULL, 0},
    {"tasks", NULL, NULL, 0},
    {"failed", NULL, NULL, 0},
    {"makespan_ms", "makespan", "ms", 3},
    {"rate_gflops", "rate", "Gflop/s", 1},
    {"idle_percent", "workers idle", "%", 1},
    {"transfers", NULL, NULL, 0},
    {"moved_mib", "moved", "MiB", 1},
    {"path_tasks", "critical path", "tasks", 0},
    {"path_ms", "kernels on it", "ms", 3},
    {"path_percent", "share of makespan", "%", 1},
    {"area_bound_ms", "area bound", "ms", 3},
    {"path_bound_ms", "critical path bound", "ms", 3},
    {"of_bound_percent", "bound / makespan", "%", 1},
    {"bounds_from", "bounds from", NULL, TABLE_AS_TEXT},
};

static int add_facts(struct table *facts, const struct heddle_trace *trace)
{
	double flops = 0, moved = 0, failed = 0, makespan = heddle_trace_makespan(trace), path = NAN;
	size_t path_tasks = 0;
	struct heddle_bounds bounds;
	const char *source;
	if (find_bounds(trace, &bounds, &source) || path_time(trace, &path, &path_tasks))
		return tool_library_error("the trace cannot be analysed");
	struct hd_duty *duties = tool_needed(hd_trace_duties(trace));
	double idle = hd_trace_idle(trace, duties);
	free(duties);
	for (size_t i = 0; i < trace->n_tasks; i++) {
		flops += trace->tasks[i].flops;
		failed += trace->tasks[i].status != 0;
	}
	for (size_t i = 0; i < trace->n_transfers; i++)
		moved += (double)trace->transfers[i].bytes;
	table_text(facts, "%s", trace->policy);
	table_text(facts, "%s", trace->platform->name);
	table_text(facts, "%s", trace->virtual_time ? "virtual" : "real");
	table_number(facts, (double)trace->platform->n_workers);
	table_number(facts, (double)trace->n_tasks);
	table_number(facts, failed);
	table_number(facts, makespan * 1e-3);
	table_number(facts, makespan > 0 && flops > 0 ? flops / makespan * 1e-3 : NAN);
	table_number(facts, 100 * idle);
	table_number(facts, (double)trace->n_transfers);
	table_number(facts, moved / 0x1p20);
	table_number(facts, (double)path_tasks);
	table_number(facts, path * 1e-3);
	table_number(facts, makespan > 0 ? 100 * path / makespan : NAN);
	table_number(facts, bounds.area * 1e-3);
	table_number(facts, bounds.critical_path * 1e-3);
	table_number(facts, makespan > 0 ? 100 * bounds.mixed / makespan : NAN);
	table_text(facts, "%s", source);
	return TOOL_OK;
}

static int summarise(const struct heddle_trace *trace, enum table_format format)
{
	struct table facts, details[SUMMARY_TABLES], *tables[1 + SUMMARY_TABLES] = {&facts};
	table_init(&facts, "trace", NULL, columns, sizeof columns / sizeof *columns);
	facts.single = 1;
	int status = add_facts(&facts, trace);
	summary_init(details);
	if (!status)
		summary_add(details, trace);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		tables[1 + i] = &details[i];
	if (!status)
		table_print(stdout, format, tables, 1 + SUMMARY_OF_TRACE);
	table_free(&facts);
	for (size_t i = 0; i < SUMMARY_TABLES; i++)
		table_free(&details[i]);
	return status;
}

/* --- Pictures and other formats ----------------------------------------------------------------------------------- */

static const struct {
	const char *extension;
	enum heddle_trace_format format;
} conversions[] = {
    {".json", HEDDLE_TRACE_CHROME},
    {".paje", HEDDLE_TRACE_PAJE},
    {".csv", HEDDLE_TRACE_CSV},
};
enum { N_CONVERSIONS = sizeof conversions / sizeof *conversions };

static int conversion_of(const char *path)
{
	int i = 0;
	while (i < N_CONVERSIONS && strcasecmp(tool_extension(path), conversions[i].extension) != 0)
		i++;
	return i;
}

static int check_output(const struct options *o)
{
	const char *path = o->output;
	if (o->draws_dag && (!path || !summary_is_graph(path)))
		return tool_usage_error("--dag needs --output FILE that ends in .svg, .png, .pdf, .dot or .gv");
	if (!o->draws_dag && (o->dag.levels || !o->dag.layouts))
		return tool_usage_error("--levels and --no-layouts go with --dag");
	if (!path)
		return TOOL_OK;
	if (o->draws_dag)
		return tool_check_writable(path);
	if (!summary_is_picture(path) && conversion_of(path) == N_CONVERSIONS)
		return tool_usage_error("--output is \"%s\": it must end in .png, .svg, .pdf, .json, .paje or .csv",
		                        path);
	return tool_check_writable(path);
}

static int draw(const struct heddle_trace *trace, const struct options *o)
{
	struct heddle_gantt_options gantt = o->gantt;
	struct heddle_bounds bounds;
	const char *source;
	if (find_bounds(trace, &bounds, &source) == 0 && !isnan(bounds.mixed))
		gantt.lower_bound = bounds.mixed;
	if (trace->n_transfers == 0)
		gantt.transfers = 0;
	if (heddle_trace_gantt(trace, o->output, &gantt))
		return tool_library_error("the chart was not drawn");
	return TOOL_OK;
}

int tool_trace(int argc, char **argv)
{
	struct options o = {.gantt = {.transfers = 1, .critical_path = 1}, .dag = {.layouts = 1}};
	struct heddle_trace *trace;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = check_output(&o);
	if (status)
		return status;
	if (heddle_trace_load(o.file, &trace))
		return tool_failure("%s", heddle_last_error());
	if (!o.output)
		status = summarise(trace, o.format);
	else if (o.draws_dag)
		status =
		    heddle_trace_dag(trace, o.output, &o.dag) ? tool_library_error("the graph was not drawn") : TOOL_OK;
	else if (summary_is_picture(o.output))
		status = draw(trace, &o);
	else if (heddle_trace_export(trace, conversions[conversion_of(o.output)].format, o.output))
		status = tool_library_error("the trace was not converted");
	heddle_trace_free(trace);
	return status;
}
