/* The options of `heddle run` and `heddle sim`: see experiment.h. */
#include "experiment.h"
#include "graph_facts.h"
#include <heddle/settings.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SEED = 0x2000, KEY_TRACE, KEY_GANTT, KEY_DAG, KEY_EXPLAIN, KEY_SCHED_OPTIONS, KEY_RECORD };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How to schedule it:", 2},
    {"seed", KEY_SEED, "SEED", 0, "Seed of all random numbers (default 0)", 0},
    {"sched", 's', "POLICY", 0, "Scheduling policy, or auto; `heddle policies` lists them", 0},
    {"sched-options", KEY_SCHED_OPTIONS, "NAME=VALUE,...", 0,
     "Tunables of the policy; `heddle policies POLICY` lists them", 0},
    {NULL, 0, NULL, 0, "What to show:", 3},
    {"record", KEY_RECORD, "FILE", 0, "Write the graph of tasks: .json, for `heddle sim FILE`, or .dot", 0},
    {"trace", KEY_TRACE, "FILE", 0, "Write a trace, for `heddle trace`", 0},
    {"gantt", KEY_GANTT, "PICTURE", 0, "Draw a Gantt chart: .png, .svg or .pdf", 0},
    {"dag", KEY_DAG, "PICTURE", 0, "Draw the task graph, sub-graphs in boxes: .png, .svg, .pdf or .dot", 0},
    {"explain", KEY_EXPLAIN, NULL, 0,
     "Also show what each worker, codelet, link and memory did, and what the policy reports", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct experiment *e = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &e->settings;
		state->child_inputs[1] = &e->format;
		state->child_inputs[2] = &e->what;
		state->child_inputs[3] = &e->clusters;
		return 0;
	case 's': e->sched = arg; return 0;
	case KEY_SCHED_OPTIONS: e->sched_options = arg; return 0;
	case KEY_SEED: e->seed = arg; return 0;
	case KEY_RECORD: e->what.record = arg; return 0;
	case KEY_TRACE: e->trace = arg; return 0;
	case KEY_GANTT: e->gantt = arg; return 0;
	case KEY_DAG: e->dag = arg; return 0;
	case KEY_EXPLAIN: e->explain = 1; return 0;
	case ARGP_KEY_ARG:
		if (e->application)
			tool_option_error(state, "unexpected argument \"%s\"", arg);
		e->application = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_set_argp, 0, NULL, 0},
                                             {&tool_format_argp, 0, NULL, 0},
                                             {&work_argp, 0, NULL, 0},
                                             {&tool_auto_clusters_argp, 0, NULL, 0},
                                             {0}};
const struct argp experiment_argp = {.options = options, .parser = parse, .children = children};

void experiment_init(struct experiment *e)
{
	*e = (struct experiment){.format = TABLE_TEXT};
	work_init(&e->what);
}

void experiment_free(struct experiment *e)
{
	heddle_graph_free(e->what.graph);
	e->what.graph = NULL;
}

static int check_application(struct experiment *e)
{
	if (!e->application)
		return tool_usage_error(
		    "which application? Give one, as in `heddle run cholesky --n 4096 --tile 256` or "
		    "`heddle sim getrf --platform haswell-k40m`; `heddle run --help` lists them; `heddle sim` also "
		    "takes a graph: a file in .json, .dot or .stg, or random:n=1000");
	return e->leave_unsettled ? work_open_unsettled(&e->what, e->application) : work_open(&e->what, e->application);
}

int experiment_check_files(const struct experiment *e)
{
	int status = TOOL_OK;
	if (e->gantt && !summary_is_picture(e->gantt))
		return tool_usage_error("--gantt is \"%s\": it must end in .png, .svg or .pdf", e->gantt);
	if (e->dag && !summary_is_graph(e->dag))
		return tool_usage_error("--dag is \"%s\": it must end in .png, .svg, .pdf, .dot or .gv", e->dag);
	if (e->gantt)
		status = tool_check_writable(e->gantt);
	if (!status && e->dag)
		status = tool_check_writable(e->dag);
	if (!status && e->trace)
		status = tool_check_writable(e->trace);
	if (!status && e->what.record)
		status = graph_check_output(e->what.record, "--record");
	return status;
}

int experiment_config(struct experiment *e, struct heddle_config *config)
{
	int status = check_application(e);
	if (!status)
		status = experiment_check_files(e);
	if (!status)
		status = tool_config_init(config, &e->settings);
	if (status)
		return status;
	if (e->seed && heddle_setting_set(config, "seed", e->seed))
		return tool_usage_error("--%s", heddle_last_error());
	if (e->sched)
		config->sched = e->sched;
	if (e->clusters)
		config->clusters = e->clusters;
	if (e->sched_options)
		config->sched_options = e->sched_options;
	config->time_policy |= e->explain;
	work_seed(&e->what, config->seed);
	return TOOL_OK;
}

int experiment_write(const struct experiment *e, const struct heddle_trace *trace, const struct heddle_bounds *bounds)
{
	if (e->trace && heddle_trace_save(trace, e->trace))
		return tool_library_error("the trace was not written");
	if (e->dag && heddle_trace_dag(trace, e->dag, NULL))
		return tool_library_error("the graph was not drawn");
	return e->gantt ? summary_draw(trace, e->gantt, bounds->mixed) : TOOL_OK;
}
